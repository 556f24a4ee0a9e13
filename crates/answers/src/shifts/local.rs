//! Only where it matters: a change of a few policies costs what they match, not what there is.

use std::sync::Arc;

use upheld_dialects::dialect::Ends;
use upheld_engine::{KindId, PolicyId, Snapshot};
use upheld_model::{Side as End, Sym};

use super::causes::Causes;
use super::pairs::{Side, found};
use crate::all_pairs::{ends_of, tally_ends};
use crate::progress::Progress;

/// Differences are local: where only policies of a kind that selects changed, an answer can change only where one of them matches, before
/// or after.
pub(super) struct Local<'s> {
    snapshots: [&'s Snapshot; 2],
    found: [(KindId, Sym); 2],
    ends: [Ends; 2],
    /// How many pairs there are in all.
    pub(super) all: u64,
}

impl<'s> Local<'s> {
    pub(super) fn of(snapshots: [&'s Snapshot; 2], causes: &Causes<'_>, kind: &str, mesh: &str) -> Option<Self> {
        let [was, is] = snapshots;
        let found = [found(was, kind, mesh)?, found(is, kind, mesh)?];
        let [old, new] = found;
        let [was_select, is_select] = [was.select(old.0, old.1)?, is.select(new.0, new.1)?];
        // What is no policy may be an object that comes, goes or has other tags.
        let is_policy = |name: &str| snapshots.iter().any(|snapshot| governs_alone(snapshot, name));
        if !causes.kinds().all(is_policy) {
            return None;
        }
        let ends = [ends_of(was, old.0, old.1), ends_of(is, new.0, new.1)];
        let [was_ends, is_ends] = &ends;
        if was_ends.callers.len() != is_ends.callers.len() || was_ends.called.len() != is_ends.called.len() {
            return None;
        }
        let changed = |snapshot: &Snapshot, policy: PolicyId| {
            snapshot.policy(policy).is_some_and(|policy| {
                let [kind, scope, name] = [policy.kind, policy.scope, policy.name].map(|symbol| snapshot.text(symbol));
                causes.has(kind, scope, name)
            })
        };
        let concerned =
            [was_select.concerned(|policy| changed(was, policy)), is_select.concerned(|policy| changed(is, policy))];
        let [was_concerned, is_concerned] = &concerned;
        let all = (is_ends.callers.len() * is_ends.called.len()) as u64;
        // The same objects, read twice, come in the same order.
        let callers: Vec<bool> = (was_ends.callers.iter().zip(&is_ends.callers))
            .map(|((_, was), (_, is))| {
                was_concerned.may_match(End::Source, was) || is_concerned.may_match(End::Source, is)
            })
            .collect();
        let called: Vec<bool> = (was_ends.called.iter().zip(&is_ends.called))
            .map(|((_, was), (_, is))| {
                was_concerned.may_match(End::Destination, was) || is_concerned.may_match(End::Destination, is)
            })
            .collect();
        let same_order = was_ends
            .callers
            .iter()
            .zip(&is_ends.callers)
            .all(|((one, _), (other, _))| was.text(*one) == is.text(*other))
            && was_ends.called.iter().zip(&is_ends.called).all(|((one, _), (other, _))| one == other);
        if !same_order {
            return None;
        }
        let ends = ends.map(|all: Arc<Ends>| Ends::new(kept(&all.callers, &callers), kept(&all.called, &called)));
        Some(Self { snapshots, found, ends, all })
    }

    pub(super) fn sides(self, progress: &dyn Progress) -> [Side<'s>; 2] {
        let Self { snapshots: [was, is], found: [old, new], ends: [was_ends, is_ends], .. } = self;
        let side = |snapshot: &'s Snapshot, (kind, mesh): (KindId, Sym), ends: Ends| {
            Side::numbered(snapshot, Some(tally_ends(snapshot, kind, mesh, &ends, progress)))
        };
        [side(was, old, was_ends), side(is, new, is_ends)]
    }
}

fn kept<T: Clone>(all: &[T], wanted: &[bool]) -> Vec<T> {
    all.iter().zip(wanted).filter(|(_, wanted)| **wanted).map(|(one, _)| one.clone()).collect()
}

/// Whether documents of a type are policies that no other kind of policy looks at.
fn governs_alone(snapshot: &Snapshot, name: &str) -> bool {
    let mut kinds = snapshot.kinds().iter().filter(|(_, kind)| snapshot.text(kind.governs) == name);
    kinds.any(|(_, kind)| kind.merge().is_none() && kind.hierarchy().is_none())
}
