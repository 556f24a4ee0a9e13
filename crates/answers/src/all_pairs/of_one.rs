//! One policy: what it costs follows what it can match.

use std::sync::Arc;

use upheld_dialects::dialect::Ends;
use upheld_engine::{KindId, PolicyId, Question, Resolve, Scratch, Select, Snapshot};
use upheld_model::Side;

use super::{Tally, ends_of, tally_ends};

/// How often a policy of a kind that selects counts; nothing for a policy or a kind of another snapshot.
pub(crate) fn tally_of(snapshot: &Snapshot, kind: KindId, policy: PolicyId) -> Option<Tally> {
    let (all, own) = ends_of_policy(snapshot, kind, policy)?;
    let mesh = snapshot.policy(policy)?.scope;
    let resolve_all = snapshot.kind(kind)?.select()?.resolve == Resolve::All;
    let of = all.callers.len() * all.called.len();
    let none = Tally { resolve_all, of, ..Tally::default() };
    let Some(select) = snapshot.select(kind, mesh) else { return Some(none) };
    // Cells cost what all policies want, so few pairs are asked one by one.
    if own.callers.len() * own.called.len() <= select.len() {
        return Some(Tally { resolve_all, of, ..asked(select, &own, policy) });
    }
    let tallies = tally_ends(snapshot, kind, mesh, &own, &()).tallies();
    Some(tallies.get(&Some(policy)).map_or(none, |tally| Tally { resolve_all, of, ..*tally }))
}

/// Everybody under a kind that selects, and those whom a policy may match.
pub(crate) fn ends_of_policy(snapshot: &Snapshot, kind: KindId, policy: PolicyId) -> Option<(Arc<Ends>, Ends)> {
    let policy = snapshot.policy(policy)?;
    let all = ends_of(snapshot, kind, policy.scope);
    let needs = |side| snapshot.select(kind, policy.scope)?.needs(policy.name, snapshot.symbols(), side);
    let own = all.having(needs(Side::Source).as_deref(), needs(Side::Destination).as_deref());
    Some((all, own))
}

fn asked(select: &Select, ends: &Ends, policy: PolicyId) -> Tally {
    let mut tally = Tally::default();
    let mut reached = vec![0_usize; ends.called.len()];
    let mut scratch = Scratch::default();
    for (_, caller) in &ends.callers {
        let before = tally.pairs;
        for ((_, called), times) in ends.called.iter().zip(&mut reached) {
            let question = Question { source: Some(caller), destination: Some(called) };
            let stands = select.standing(&question, &mut scratch).iter().any(|entry| entry.policy == policy);
            tally.pairs += usize::from(stands);
            *times += usize::from(stands);
        }
        tally.proxies += usize::from(tally.pairs > before);
    }
    tally.destinations = reached.iter().filter(|times| **times > 0).count();
    tally
}
