//! Where relationships are written: documents are read again as they were read, and each says where it stood.

use smol_str::SmolStr;
use upheld_engine::Snapshot;
use upheld_model::{Diagnostics, NodeRef, Sym};

use super::build::Twice;
use super::{Collector, Documented, Organisations};
use crate::comply::tagged::Schema;
use crate::recognise::{Documents, Kustomizations, is_builtin};

/// The places of all relationships between two objects, for each two.
pub(in crate::comply) fn written_between(
    snapshot: &Snapshot,
    kind: Sym,
    wanted: &[(SmolStr, SmolStr)],
) -> Vec<Vec<Option<NodeRef>>> {
    let documented = snapshot.companion::<Organisations>().and_then(|all| all.get(kind));
    let places = documented.and_then(|own| places(snapshot, kind, own, wanted));
    places.unwrap_or_else(|| vec![Vec::new(); wanted.len()])
}

fn places(
    snapshot: &Snapshot,
    kind: Sym,
    documented: &Documented,
    wanted: &[(SmolStr, SmolStr)],
) -> Option<Vec<Vec<Option<NodeRef>>>> {
    let (files, mut found) = (snapshot.files(), Diagnostics::default());
    let documents = Documents::of(files.iter(), Kustomizations::in_snapshot(snapshot), &mut found);
    let is_builtin = |at| is_builtin(files, at);
    let mut collector = Collector::new(files, snapshot.kinds().as_slice(), snapshot.symbols(), is_builtin);
    for (document, _) in documents.offered() {
        collector.take(&document);
    }
    let mut own = collector.kinds.into_iter().find(|own| own.name == kind)?;
    own.open_collections(Twice::among(files), &mut found);
    let base = &documented.base;
    let draft = own.facts(base.draft(), &Schema::of(base.schema()), files, &mut found);
    Some(wanted.iter().map(|(a, b)| draft.facts.written_between(a, b)).collect())
}
