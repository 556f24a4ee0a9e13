//! The identity that a proxy has in the mesh.

use upheld_engine::Snapshot;
use upheld_model::Sym;

use crate::kuma::identity::{readiness, selecting};
use crate::kuma::meta::Meta;

/// The SPIFFE ID of a proxy. `None` while its identity is not ready.
pub(super) fn spiffe_id(snapshot: &Snapshot, mesh: Sym, proxy: &Meta<'_>) -> Option<String> {
    let identity = selecting(snapshot, mesh, proxy).filter(|identity| readiness(*identity) == Some(true))?;
    crate::kuma::identity::spiffe_id(snapshot.text(mesh), identity, proxy)
}
