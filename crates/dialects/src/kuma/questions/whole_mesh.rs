//! Every caller and everything that is called in a mesh, under one kind of layers: the same questions as for one connection.

use upheld_engine::merge::Subject;
use upheld_engine::merge::audience::parts_of;
use upheld_engine::{Granularity, KindId, Snapshot, work};
use upheld_model::layers::Audience;
use upheld_model::{Facet, Object, Policy, Sym};

use super::layers::{INCOMING, Layers, MadeUp, OUTGOING};
use crate::dialect::{LayeredCells, LayeredReach, SomePairs};
use crate::kuma::edition::Edition;
use crate::kuma::egress;
use crate::kuma::ends::{Connection, End, Is, Member, caller_parts, destinations, proxies};
use crate::kuma::identity::SPIFFE_ID;
use crate::kuma::rules::Rules;

/// What holds for each cell of some pairs; `None` for kinds of other families.
pub(in crate::kuma) fn layered_cells(
    snapshot: &Snapshot,
    kind: KindId,
    mesh: Sym,
    among: &SomePairs,
) -> Option<LayeredCells> {
    snapshot.kind(kind).filter(|kind| kind.merge().is_some())?;
    let mut lookup = snapshot.lookup();
    let identity = lookup.symbol(SPIFFE_ID);
    let connection = everybody(snapshot, mesh, among);
    let made_up = MadeUp::of_gateways(snapshot, &mut lookup, &connection);
    Some(Layers::new(snapshot, &lookup, &connection, Some(kind), identity, &made_up).cells())
}

/// Whom some policies of a kind are for: those who call, if they speak about calls, and those who are called, if they speak about these.
/// What a zone egress has of a policy depends on who is called anywhere.
pub(in crate::kuma) fn layered_reach(
    snapshot: &Snapshot,
    kind: KindId,
    mesh: Sym,
    is_meant: &dyn Fn(&Policy) -> bool,
) -> Option<LayeredReach> {
    snapshot.kind(kind).filter(|kind| kind.merge().is_some())?;
    // Of a kind that has no policies nobody is told anything, not even that none matches.
    let rules = Rules::of(snapshot, kind, mesh)?;
    if rules.edition != Edition::V3 && egress::is_in_use(snapshot, mesh) {
        return None;
    }
    let mut lookup = snapshot.lookup();
    let connection = everybody(snapshot, mesh, &SomePairs::default());
    let made_up = MadeUp::of_gateways(snapshot, &mut lookup, &connection);
    let slots = rules.merge.policies().map(|(slot, _)| slot);
    let meant: Vec<u32> = slots.filter(|slot| rules.policy(*slot).is_some_and(is_meant)).collect();
    let audiences = |facets: &[Facet]| -> Vec<&Audience> {
        let speaks = |slot: &&u32| facets.iter().any(|facet| rules.merge.entries_of(**slot, *facet).next().is_some());
        meant.iter().filter(speaks).flat_map(|slot| rules.merge.audiences().of(*slot)).collect()
    };
    let (outgoing, incoming) = (audiences(&OUTGOING), audiences(&INCOMING));
    let mut reach = LayeredReach::default();
    for (id, proxy) in proxies(snapshot).filter(|(_, proxy)| proxy.scope == mesh) {
        work::step();
        let has = |audiences: &[&Audience], proxy: &Object| {
            audiences.iter().any(|audience| parts_of(audience, Subject::of(proxy)).is_ok())
        };
        let name = snapshot.text(proxy.name);
        if made_up.proxy(snapshot, id).is_some_and(|proxy| has(&outgoing, proxy)) {
            reach.callers.insert(name.to_owned());
        }
        if has(&incoming, proxy) {
            reach.called.insert(name.to_owned());
        }
    }
    Some(reach)
}

/// Every proxy calls everything that can be called, as far as these are among the pairs.
fn everybody(snapshot: &Snapshot, mesh: Sym, among: &SomePairs) -> Connection {
    let own = proxies(snapshot).filter(|(_, proxy)| proxy.scope == mesh);
    let own = own.filter(|(_, proxy)| among.callers.has(Some(snapshot.text(proxy.name))));
    let caller = |(id, proxy): (_, &Object)| Member {
        label: snapshot.text(proxy.name).to_owned(),
        parts: caller_parts(proxy),
        is: Some(Is::Proxy(id)),
    };
    let mut called = destinations(snapshot, mesh, Granularity::Inbound);
    called.retain(|member| {
        let proxy = match member.is {
            Some(Is::Inbound(id, _) | Is::Proxy(id)) => snapshot.objects().get(id),
            Some(Is::Resource(_)) | None => None,
        };
        among.called.has(proxy.map(|proxy| snapshot.text(proxy.name)))
    });
    let end = |members: Vec<Member>| End { label: String::new(), members, inbounds: Vec::new(), assumed: None };
    Connection { mesh, source: Some(end(own.map(caller).collect())), destination: Some(end(called)) }
}
