//! What two sets of policies do not have in common: by what policies say, not by what they are called. Order is part of it only where
//! the first that applies decides.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;

use crate::ask::EntryId;
use crate::decide::cells::hint;
use crate::decide::family::Decide;
use crate::decide::rule::{Rule, Set, Status, Target};
use crate::decide::value::{Algorithm, Effect, Rank};

/// What is otherwise on two sides.
#[derive(Clone, Debug, Default)]
pub(super) struct Changes {
    /// Policies.
    pub(super) rules: Vec<ChangedRule>,
    /// Sets by their numbers, outer ones first.
    pub(super) sets: Vec<ChangedSet>,
}

/// A policy on both sides, as far as it is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ChangedRule {
    pub(super) before: Option<EntryId>,
    pub(super) after: Option<EntryId>,
}

/// A set on both sides, as far as it is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ChangedSet {
    pub(super) before: Option<usize>,
    pub(super) after: Option<usize>,
    pub(super) what: SetChange,
}

/// What is otherwise in a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SetChange {
    /// It came or went.
    Whole,
    /// How its members are combined.
    Algorithm,
    /// What it says when no member does.
    Default,
    /// Which requests it is about, or where it stands.
    Target,
}

impl Changes {
    /// All differences.
    pub(super) fn between(before: &Decide, after: &Decide) -> Self {
        let mut changes = Self::default();
        let pairs = changes.pair_sets(before, after);
        let mut leftover = Leftover::default();
        let in_order = |decide: &Decide| decide.algorithm() == Algorithm::FirstApplicable;
        if !in_order(before)
            && !in_order(after)
            && let Some((gone, came)) = before.unshared_rules(after)
        {
            let (gone, came) = without_equals(before, &gone, after, &came);
            leftover.gone.extend(gone.into_iter().filter(|entry| is_on(before, *entry)));
            leftover.came.extend(came.into_iter().filter(|entry| is_on(after, *entry)));
            changes.rules = leftover.by_name(before, after);
            return changes;
        }
        let (own, other) = (Members::of(before), Members::of(after));
        for (before_set, after_set) in pairs {
            let of = |members: &Members, set: Option<usize>| {
                set.map_or(&[][..], |set| members.0.get(set).map_or(&[], Vec::as_slice)).to_vec()
            };
            let in_order = [before.set(before_set.unwrap_or(usize::MAX)), after.set(after_set.unwrap_or(usize::MAX))]
                .into_iter()
                .flatten()
                .any(|set| set.algorithm == Algorithm::FirstApplicable);
            let (gone, came) = match (before_set, after_set) {
                (Some(_), Some(_)) => unlike(before, &of(&own, before_set), after, &of(&other, after_set), in_order),
                _ => (of(&own, before_set), of(&other, after_set)),
            };
            leftover.gone.extend(gone.into_iter().filter(|entry| is_on(before, *entry)));
            leftover.came.extend(came.into_iter().filter(|entry| is_on(after, *entry)));
        }
        changes.rules = leftover.by_name(before, after);
        changes
    }

    /// Whether nothing is otherwise.
    pub(super) fn is_empty(&self) -> bool {
        self.rules.is_empty() && self.sets.is_empty()
    }

    /// Sets that are the same ones: they have the same name in sets that are the same. The outermost ones always are.
    fn pair_sets(&mut self, before: &Decide, after: &Decide) -> Vec<(Option<usize>, Option<usize>)> {
        type Name<'n> = (Option<usize>, &'n str, usize);
        fn named<'d>(
            decide: &'d Decide,
            number: usize,
            count: &mut FxHashMap<(Option<usize>, &'d str), usize>,
        ) -> Name<'d> {
            let parent = decide.parent_of(number);
            let name = decide.set(number).filter(|_| number > 0).map_or("", |set| set.name.as_str());
            let counted = count.entry((parent, name)).or_default();
            *counted += 1;
            (parent, name, *counted)
        }
        let mut pairs = Vec::new();
        let (mut counts, mut known): (FxHashMap<_, usize>, FxHashMap<Name<'_>, usize>) = Default::default();
        for (number, _) in after.sets().enumerate() {
            known.insert(named(after, number, &mut counts), number);
        }
        let mut counts = FxHashMap::default();
        // Which set after is which one before, by its number before.
        let mut same: Vec<Option<usize>> = Vec::new();
        let mut paired: FxHashSet<usize> = FxHashSet::default();
        for (number, set) in before.sets().enumerate() {
            let (parent, name, count) = named(before, number, &mut counts);
            let parent_after = parent.map(|parent| same.get(parent).copied().flatten());
            let found = match parent_after {
                // What stood in a set that is gone is gone with it.
                Some(None) => None,
                Some(Some(parent)) => known.get(&(Some(parent), name, count)).copied(),
                None => known.get(&(None, name, count)).copied(),
            };
            same.push(found);
            paired.extend(found);
            pairs.push((Some(number), found));
            let other = found.and_then(|found| after.set(found));
            let change = |what| ChangedSet { before: Some(number), after: found, what };
            match other {
                None => self.sets.push(change(SetChange::Whole)),
                Some(other) => self.sets.extend(differences(set, other, number == 0).map(change)),
            }
        }
        for (number, _) in after.sets().enumerate().filter(|(number, _)| !paired.contains(number)) {
            pairs.push((None, Some(number)));
            self.sets.push(ChangedSet { before: None, after: Some(number), what: SetChange::Whole });
        }
        if let Some(moved) = moved_set(before, after, &same) {
            self.sets.push(moved);
        }
        pairs
    }
}

/// A set that no longer stands where it stood, if it may matter: then nothing is told of where.
fn moved_set(before: &Decide, after: &Decide, same: &[Option<usize>]) -> Option<ChangedSet> {
    let is_first = |decide: &Decide| decide.sets().any(|set| set.algorithm == Algorithm::FirstApplicable);
    if same.len() < 2 || !(is_first(before) || is_first(after)) {
        return None;
    }
    // Sets and policies in one order: where policies between them change, or sets, all of it is looked at.
    let is_moved = |number: &usize| {
        let found = same.get(*number).copied().flatten();
        found.is_none_or(|found| before.order_of_set(*number) != after.order_of_set(found))
    };
    (1..same.len()).find(is_moved).map(|_| ChangedSet { before: Some(0), after: Some(0), what: SetChange::Target })
}

fn differences(before: &Set, after: &Set, is_outermost: bool) -> impl Iterator<Item = SetChange> {
    let default = |set: &Set| if is_outermost { Some(set.default.unwrap_or(Effect::Deny)) } else { set.default };
    let moved = !is_outermost && Rank::of(before.priority) != Rank::of(after.priority);
    let all = [
        (before.algorithm != after.algorithm, SetChange::Algorithm),
        (default(before) != default(after), SetChange::Default),
        (!is_same_target(&before.target, &after.target) || moved, SetChange::Target),
    ];
    all.into_iter().filter(|(differs, _)| *differs).map(|(_, change)| change)
}

fn is_same_target(one: &Target, other: &Target) -> bool {
    one.subjects == other.subjects && one.resources == other.resources && one.actions == other.actions
}

/// Whether two policies say the same, whatever they are called.
pub(super) fn is_same(one: &Rule, other: &Rule) -> bool {
    one.effect == other.effect
        && Rank::of(one.priority) == Rank::of(other.priority)
        && one.status == other.status
        && is_same_target(&one.target, &other.target)
        && one.conditions == other.conditions
}

fn is_on(decide: &Decide, entry: EntryId) -> bool {
    decide.rule(entry).is_some_and(|rule| rule.status == Status::On)
}

/// The policies of each set, in the order of evaluation.
struct Members(Vec<Vec<EntryId>>);

impl Members {
    fn of(decide: &Decide) -> Self {
        let all = 0..decide.rules().len();
        let sets = decide.sets().count();
        if sets == 1 {
            return Self(vec![all.map(EntryId::new).collect()]);
        }
        let mut members = vec![Vec::new(); sets];
        for entry in all.map(EntryId::new) {
            if let Some(own) = decide.set_number(entry).and_then(|set| members.get_mut(set)) {
                own.push(entry);
            }
        }
        Self(members)
    }
}

/// How far apart policies may be that were not moved but have others between them now.
const NEAR: usize = 12;

/// The policies of two sets that are not the same ones. Snapshots that came out of each other share most policies, so those are told
/// by where they are kept.
fn unlike(
    before: &Decide,
    own: &[EntryId],
    after: &Decide,
    other: &[EntryId],
    in_order: bool,
) -> (Vec<EntryId>, Vec<EntryId>) {
    let rule = |decide: &Decide, all: &[EntryId], place: usize| -> Option<*const Rule> {
        decide.shared_rule(all.get(place)?.index()).map(Arc::as_ptr)
    };
    let is_shared = |one: usize, two: usize| match (rule(before, own, one), rule(after, other, two)) {
        (Some(one), Some(two)) => std::ptr::eq(one, two),
        _ => false,
    };
    let (mut gone, mut came) = (Vec::new(), Vec::new());
    let mut kept: Vec<(usize, usize)> = Vec::new();
    let (mut one, mut two) = (0, 0);
    while one < own.len() || two < other.len() {
        if is_shared(one, two) {
            kept.push((one, two));
            (one, two) = (one + 1, two + 1);
            continue;
        }
        let found = (1..NEAR).find_map(|distance| {
            [(one + distance, two), (one, two + distance), (one + distance, two + distance)]
                .into_iter()
                .find(|(one, two)| is_shared(*one, *two))
        });
        let (next_one, next_two) = found.unwrap_or((one + 1, two + 1));
        gone.extend(one..next_one.min(own.len()));
        came.extend(two..next_two.min(other.len()));
        (one, two) = (next_one, next_two);
    }
    if !gone.is_empty() && !came.is_empty() {
        pair_by_content(before, own, &mut gone, after, other, &mut came, &mut kept);
    }
    if in_order {
        for (one, two) in out_of_order(&mut kept) {
            gone.push(one);
            came.push(two);
        }
    }
    let entries =
        |places: Vec<usize>, all: &[EntryId]| places.iter().filter_map(|place| all.get(*place)).copied().collect();
    (entries(gone, own), entries(came, other))
}

/// Policies that are on one side only, by what they say.
fn without_equals(before: &Decide, gone: &[EntryId], after: &Decide, came: &[EntryId]) -> (Vec<EntryId>, Vec<EntryId>) {
    let (mut one, mut two) = ((0..gone.len()).collect(), (0..came.len()).collect());
    pair_by_content(before, gone, &mut one, after, came, &mut two, &mut Vec::new());
    let left = |all: &[EntryId], places: &[usize]| places.iter().filter_map(|place| all.get(*place)).copied().collect();
    (left(gone, &one), left(came, &two))
}

/// Takes those out that say the same.
fn pair_by_content(
    before: &Decide,
    own: &[EntryId],
    gone: &mut Vec<usize>,
    after: &Decide,
    other: &[EntryId],
    came: &mut Vec<usize>,
    kept: &mut Vec<(usize, usize)>,
) {
    let rule = |decide, all: &[EntryId], place: usize| -> Option<&Rule> {
        let decide: &Decide = decide;
        decide.rule(*all.get(place)?)
    };
    let mut by_key: FxHashMap<Key<'_>, Vec<usize>> = FxHashMap::default();
    for place in gone.iter().rev() {
        if let Some(rule) = rule(before, own, *place) {
            by_key.entry(key(rule)).or_default().push(*place);
        }
    }
    let mut paired: FxHashSet<usize> = FxHashSet::default();
    came.retain(|two| {
        let Some(new) = rule(after, other, *two) else { return true };
        let Some(candidates) = by_key.get_mut(&key(new)) else { return true };
        let is_like = |one: &usize| rule(before, own, *one).is_some_and(|old| is_same(old, new));
        let Some(at) = candidates.iter().rposition(is_like) else { return true };
        let one = candidates.remove(at);
        paired.insert(one);
        kept.push((one, *two));
        false
    });
    gone.retain(|one| !paired.contains(one));
}

/// Something that policies have in common that say the same.
type Key<'r> = (Effect, Rank, [usize; 3], &'r str, &'r str);

fn key(rule: &Rule) -> Key<'_> {
    let sizes = rule.target.clauses().map(|(_, alternatives)| alternatives.len());
    let mut hints = rule.target.clauses().into_iter().flat_map(|(_, alternatives)| alternatives);
    let mut next = || hints.next().and_then(|matcher| matcher.tests.first()).map_or("", hint);
    let (one, other) = (next(), next());
    (rule.effect, Rank::of(rule.priority), sizes, one, other)
}

/// Pairs that do not follow each other on both sides, beside as many as possible that do.
fn out_of_order(kept: &mut [(usize, usize)]) -> Vec<(usize, usize)> {
    kept.sort_unstable_by_key(|(_, two)| *two);
    if kept.windows(2).all(|pair| matches!(pair, [(one, _), (other, _)] if one < other)) {
        return Vec::new();
    }
    // The longest run of places that rise: of each length, the pair that ends lowest.
    let (mut ends, mut previous): (Vec<usize>, Vec<Option<usize>>) = Default::default();
    for (number, (one, _)) in kept.iter().enumerate() {
        let length = ends.partition_point(|end| kept.get(*end).is_some_and(|(known, _)| known < one));
        previous.push(length.checked_sub(1).and_then(|before| ends.get(before)).copied());
        match ends.get_mut(length) {
            Some(end) => *end = number,
            None => ends.push(number),
        }
    }
    let mut rising: FxHashSet<usize> = FxHashSet::default();
    let mut at = ends.last().copied();
    while let Some(number) = at {
        rising.insert(number);
        at = previous.get(number).copied().flatten();
    }
    kept.iter().enumerate().filter(|(number, _)| !rising.contains(number)).map(|(_, pair)| *pair).collect()
}

/// Policies that are on one side only.
#[derive(Default)]
struct Leftover {
    gone: Vec<EntryId>,
    came: Vec<EntryId>,
}

impl Leftover {
    /// Those with the same name are one policy that says something else now.
    fn by_name(self, before: &Decide, after: &Decide) -> Vec<ChangedRule> {
        let name = |decide: &Decide, entry: EntryId| decide.rule(entry).map(|rule| rule.name.clone());
        let mut known: FxHashMap<SmolStr, Vec<EntryId>> = FxHashMap::default();
        for entry in self.came.iter().rev() {
            if let Some(name) = name(after, *entry) {
                known.entry(name).or_default().push(*entry);
            }
        }
        let mut paired: FxHashSet<EntryId> = FxHashSet::default();
        let mut all = Vec::new();
        for entry in self.gone {
            let found = name(before, entry).and_then(|name| known.get_mut(&name)?.pop());
            paired.extend(found);
            all.push(ChangedRule { before: Some(entry), after: found });
        }
        let new = self.came.into_iter().filter(|entry| !paired.contains(entry));
        all.extend(new.map(|entry| ChangedRule { before: None, after: Some(entry) }));
        all
    }
}
