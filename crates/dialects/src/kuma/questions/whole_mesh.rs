//! Every caller and everything that is called in a mesh, under one kind of layers: the same questions as for one connection.

use upheld_engine::{Granularity, KindId, Snapshot};
use upheld_model::Sym;

use super::layers::{Layers, MadeUp};
use crate::dialect::LayeredCells;
use crate::kuma::ends::{Connection, End, Is, Member, caller_parts, destinations, proxies};
use crate::kuma::identity::SPIFFE_ID;

/// What holds for each cell of pairs; `None` for kinds of other families.
pub(in crate::kuma) fn layered_cells(snapshot: &Snapshot, kind: KindId, mesh: Sym) -> Option<LayeredCells> {
    snapshot.kind(kind).filter(|kind| kind.merge().is_some())?;
    let mut lookup = snapshot.lookup();
    let identity = lookup.symbol(SPIFFE_ID);
    let connection = everybody(snapshot, mesh);
    let made_up = MadeUp::of_gateways(snapshot, &mut lookup, &connection);
    Some(Layers::new(snapshot, &lookup, &connection, Some(kind), identity, &made_up).cells())
}

/// Every proxy calls everything that can be called.
fn everybody(snapshot: &Snapshot, mesh: Sym) -> Connection {
    let own = proxies(snapshot).filter(|(_, proxy)| proxy.scope == mesh);
    let caller = |(id, proxy): (_, &upheld_model::Object)| Member {
        label: snapshot.text(proxy.name).to_owned(),
        parts: caller_parts(proxy),
        is: Some(Is::Proxy(id)),
    };
    let end = |members: Vec<Member>| End { label: String::new(), members, inbounds: Vec::new(), assumed: None };
    Connection {
        mesh,
        source: Some(end(own.map(caller).collect())),
        destination: Some(end(destinations(snapshot, mesh, Granularity::Inbound))),
    }
}
