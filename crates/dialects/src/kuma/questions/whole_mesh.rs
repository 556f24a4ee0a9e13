//! Every caller and everything that is called in a mesh, under one kind of layers: the same questions as for one connection.

use std::collections::{BTreeMap, HashMap};

use upheld_engine::{Granularity, KindId, PolicyId, Snapshot};
use upheld_model::Sym;

use super::layers::{Layers, MadeUp};
use crate::dialect::LayeredPair;
use crate::kuma::ends::{Connection, End, Is, Member, caller_parts, destinations, proxies};
use crate::kuma::identity::SPIFFE_ID;

/// What holds for each pair; `None` for kinds of other families. Pairs that no policy speaks about are left out.
pub(in crate::kuma) fn layered_pairs(snapshot: &Snapshot, kind: KindId, mesh: Sym) -> Option<Vec<LayeredPair>> {
    let governs = snapshot.kind(kind).filter(|kind| kind.merge().is_some())?.governs;
    let own = snapshot.policies().iter().filter(|(_, policy)| policy.kind == governs && policy.scope == mesh);
    let ids: HashMap<&str, PolicyId> = own.map(|(id, policy)| (snapshot.text(policy.name), id)).collect();
    let mut lookup = snapshot.lookup();
    let identity = lookup.symbol(SPIFFE_ID);
    let (connection, nobody) = (everybody(snapshot, mesh), MadeUp::default());
    let mut found: BTreeMap<(String, String), LayeredPair> = BTreeMap::new();
    for group in Layers::new(snapshot, &lookup, &connection, Some(kind), identity, &nobody).groups() {
        for (from, to) in group.pairs.iter().filter_map(|pair| pair.split_once(" → ")) {
            let pair = found.entry((from.to_owned(), to.to_owned())).or_insert_with(|| LayeredPair {
                from: from.to_owned(),
                to: to.to_owned(),
                policies: Vec::new(),
                granted: None,
            });
            for report in &group.reports {
                let own = report.policies.iter().filter_map(|name| ids.get(name.as_str()).copied());
                let new: Vec<PolicyId> = own.filter(|id| !pair.policies.contains(id)).collect();
                pair.policies.extend(new);
                pair.granted = pair.granted.or(report.verdict.granted());
            }
        }
    }
    Some(found.into_values().collect())
}

/// Every proxy calls everything that can be called.
fn everybody(snapshot: &Snapshot, mesh: Sym) -> Connection {
    let own = proxies(snapshot).filter(|(_, proxy)| proxy.scope == mesh);
    let caller = |(id, proxy): (_, &upheld_model::Object)| Member {
        label: snapshot.text(proxy.name).to_owned(),
        parts: caller_parts(proxy),
        is: Some(Is::Proxy(id)),
    };
    let end = |members: Vec<Member>| End { label: String::new(), members, inbounds: Vec::new() };
    Connection {
        mesh,
        source: Some(end(own.map(caller).collect())),
        destination: Some(end(destinations(snapshot, mesh, Granularity::Inbound))),
    }
}
