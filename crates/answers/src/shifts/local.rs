//! Only where it matters: a change of a few policies costs what they match, not what there is.
//!
//! Where nothing changed but policies, an answer can change only where one of them has a say, before or after. What a policy of a kind that
//! selects has a say about is found by its selectors; what layers have a say about, by the proxies that they are attached to.

use std::sync::Arc;

use upheld_dialects::dialect::{Chosen, Ends, LayeredReach, SomePairs};
use upheld_dialects::dialects;
use upheld_engine::{Granularity, KindId, PolicyId, Snapshot};
use upheld_model::{Policy, Side as End, Sym};

use super::causes::Causes;
use super::pairs::{Side, found, is_object};
use crate::all_pairs::{ends_of, layered, tally_ends};
use crate::progress::Progress;

/// The pairs that some changed policies have a say about.
pub(super) struct Local<'s> {
    snapshots: [&'s Snapshot; 2],
    found: [(KindId, Sym); 2],
    own: Own,
    /// How many pairs there are in all.
    pub(super) all: u64,
}

/// Whom they have a say about.
enum Own {
    /// These, under a kind that selects.
    Selected(Box<[Ends; 2]>),
    /// These, under a kind of layers; no pair is in two of the parts.
    Layered(Vec<SomePairs>),
}

impl<'s> Local<'s> {
    pub(super) fn of(snapshots: [&'s Snapshot; 2], causes: &Causes<'_>, kind: &str, mesh: &str) -> Option<Self> {
        let [was, is] = snapshots;
        let found = [found(was, kind, mesh)?, found(is, kind, mesh)?];
        let (all, own) = match is.kind(found[1].0)?.merge() {
            Some(_) => layers(snapshots, found, causes)?,
            None => selections(snapshots, found, causes)?,
        };
        Some(Self { snapshots, found, own, all })
    }

    /// Both sides of each part.
    pub(super) fn parts(self, progress: &dyn Progress) -> impl Iterator<Item = [Side<'s>; 2]> {
        let Self { snapshots: [was, is], found: [old, new], own, .. } = self;
        let (ends, parts) = match own {
            Own::Selected(ends) => (Some(ends), Vec::new()),
            Own::Layered(parts) => (None, parts),
        };
        let selected = ends.map(|ends| {
            let [was_ends, is_ends] = &*ends;
            let side = |snapshot: &'s Snapshot, (kind, mesh): (KindId, Sym), ends: &Ends| {
                Side::numbered(snapshot, Some(tally_ends(snapshot, kind, mesh, ends, progress)))
            };
            [side(was, old, was_ends), side(is, new, is_ends)]
        });
        let layered = parts.into_iter().map(move |part| {
            let side = |snapshot: &'s Snapshot, (kind, mesh): (KindId, Sym)| {
                Side::numbered(snapshot, layered(snapshot, kind, mesh, &part))
            };
            [side(was, old), side(is, new)]
        });
        selected.into_iter().chain(layered)
    }
}

/// Whether a policy is not the same.
fn is_changed(causes: &Causes<'_>, snapshot: &Snapshot, policy: &Policy) -> bool {
    let [kind, scope, name] = [policy.kind, policy.scope, policy.name].map(|symbol| snapshot.text(symbol));
    causes.has(kind, scope, name)
}

/// Those who call through a changed policy, and those who are called where one is.
fn layers(snapshots: [&Snapshot; 2], found: [(KindId, Sym); 2], causes: &Causes<'_>) -> Option<(u64, Own)> {
    let is_policy =
        |name: &str| snapshots.iter().any(|snapshot| governs(snapshot, name)) && !is_object(snapshots, name);
    if !causes.kinds().all(is_policy) {
        return None;
    }
    let mut reach = LayeredReach::default();
    let mut counts = Vec::new();
    for (snapshot, (kind, mesh)) in snapshots.into_iter().zip(found) {
        let changed = |policy: &Policy| is_changed(causes, snapshot, policy);
        let LayeredReach { callers, called } =
            dialects().find_map(|dialect| dialect.layered_reach(snapshot, kind, mesh, &changed))?;
        reach.callers.extend(callers);
        reach.called.extend(called);
        let ends = dialects().find_map(|dialect| dialect.ends(snapshot, mesh, Granularity::Inbound))?;
        counts.push((ends.callers.len(), ends.called.len()));
    }
    let [was, is] = counts.as_slice() else { return None };
    if was != is {
        return None;
    }
    let LayeredReach { callers, called } = reach;
    let mut parts = Vec::new();
    if !called.is_empty() {
        let callers = if callers.is_empty() { Chosen::All } else { Chosen::Elsewhere(callers.clone()) };
        parts.push(SomePairs { callers, called: Chosen::At(called) });
    }
    if !callers.is_empty() {
        parts.push(SomePairs { callers: Chosen::At(callers), called: Chosen::All });
    }
    Some(((is.0 * is.1) as u64, Own::Layered(parts)))
}

/// Whom a changed policy may match.
fn selections(snapshots: [&Snapshot; 2], found: [(KindId, Sym); 2], causes: &Causes<'_>) -> Option<(u64, Own)> {
    let ([was, is], [old, new]) = (snapshots, found);
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
        snapshot.policy(policy).is_some_and(|policy| is_changed(causes, snapshot, policy))
    };
    let concerned =
        [was_select.concerned(|policy| changed(was, policy)), is_select.concerned(|policy| changed(is, policy))];
    let [was_concerned, is_concerned] = &concerned;
    let all = (is_ends.callers.len() * is_ends.called.len()) as u64;
    // The same objects, read twice, come in the same order.
    let callers: Vec<bool> = (was_ends.callers.iter().zip(&is_ends.callers))
        .map(|((_, was), (_, is))| was_concerned.may_match(End::Source, was) || is_concerned.may_match(End::Source, is))
        .collect();
    let called: Vec<bool> = (was_ends.called.iter().zip(&is_ends.called))
        .map(|((_, was), (_, is))| {
            was_concerned.may_match(End::Destination, was) || is_concerned.may_match(End::Destination, is)
        })
        .collect();
    let same_order =
        was_ends.callers.iter().zip(&is_ends.callers).all(|((one, _), (other, _))| was.text(*one) == is.text(*other))
            && was_ends.called.iter().zip(&is_ends.called).all(|((one, _), (other, _))| one == other);
    if !same_order {
        return None;
    }
    let ends = ends.map(|all: Arc<Ends>| Ends::new(kept(&all.callers, &callers), kept(&all.called, &called)));
    Some((all, Own::Selected(Box::new(ends))))
}

fn kept<T: Clone>(all: &[T], wanted: &[bool]) -> Vec<T> {
    all.iter().zip(wanted).filter(|(_, wanted)| **wanted).map(|(one, _)| one.clone()).collect()
}

/// Whether documents of a type are policies.
fn governs(snapshot: &Snapshot, name: &str) -> bool {
    let mut kinds = snapshot.kinds().iter().filter(|(_, kind)| snapshot.text(kind.governs) == name);
    kinds.any(|(_, kind)| kind.hierarchy().is_none())
}

/// Whether documents of a type are policies that no other kind of policy looks at.
fn governs_alone(snapshot: &Snapshot, name: &str) -> bool {
    let mut kinds = snapshot.kinds().iter().filter(|(_, kind)| snapshot.text(kind.governs) == name);
    kinds.any(|(_, kind)| kind.merge().is_none() && kind.hierarchy().is_none())
}
