//! Looks for the smallest changes of a request that turn a decision round.
//!
//! First all that take one change, then all that take two, and so on, until some are found. What could be changed next is read
//! off the policies: what a policy lacks that would help, and what makes one apply that stands in the way. Whether a change
//! helps is never worked out here: the changed request is asked.

use crate::decide::path::Readings;
use rustc_hash::FxHashSet;
use smol_str::SmolStr;

use super::edit::Edit;
use super::reach::{self, Reach};
use crate::ask::{EntryId, Hit, Scratch, ask};
use crate::decide::cells::{Field, Given, nearby};
use crate::decide::condition::Condition;
use crate::decide::family::{By, Decide, Decided, Measure, Outcome};
use crate::decide::request::{NormalizedRequest, Request};
use crate::decide::rule::{Rule, Set, Status, Target, Test};
use crate::decide::truth::Truth;
use crate::decide::value::{Algorithm, Effect};
use crate::shortlist::Shortlist;
use crate::witness::Silent;

/// Changes of a request that are made together.
const MOST_EDITS: usize = 4;
/// Policies of each effect that are looked at: those that miss by the least.
const MOST_POLICIES: usize = 64;
/// Sets that are looked at.
const MOST_SETS: usize = 64;
/// Requests that are asked for each number of changes.
const MOST_ASKED: usize = 2_000;
/// Changes of the same size that are reported.
const MOST_FOUND: usize = 16;

/// Changes of a request, and the policy that decides then and does not apply now.
pub(super) type Found = (Vec<Edit>, Option<EntryId>);

/// The smallest changes of a request that lead to an outcome.
pub(super) fn smallest(decide: &Decide, request: &Request, hits: &[Hit<Measure>], wanted: Outcome) -> Vec<Found> {
    let mut search = Search::new(decide, request, hits, wanted);
    (1..=MOST_EDITS).map(|edits| search.with(edits)).find(|found| !found.is_empty()).unwrap_or_default()
}

struct Search<'d> {
    decide: &'d Decide,
    request: &'d Request,
    wanted: Outcome,
    /// Policies that would help if they applied, the nearest first.
    goals: Vec<&'d Rule>,
    sets: Vec<&'d Set>,
    /// All changes that may help; those of one part stand together.
    edits: Vec<Edit>,
    /// Policies that apply now.
    applying: Vec<EntryId>,
    scratch: Scratch<Decide>,
    seen: FxHashSet<Vec<usize>>,
    asked: usize,
    found: Vec<(Vec<usize>, Decided)>,
}

impl<'d> Search<'d> {
    fn new(decide: &'d Decide, request: &'d Request, hits: &[Hit<Measure>], wanted: Outcome) -> Self {
        let effect = if wanted == Outcome::Permit { Effect::Permit } else { Effect::Deny };
        let mut buffer = Readings::default();
        let asked = decide.asked(request, &mut buffer);
        let near = |rules: &mut dyn Iterator<Item = &'d Rule>| {
            let far = |rule: &Rule| {
                let distance = reach::distance(&rule.target, &rule.conditions, asked);
                // Whoever lacks only a condition is about the request already.
                (distance, rule.target.covers(asked) != Truth::True)
            };
            let mut nearest = Shortlist::of(MOST_POLICIES);
            rules.for_each(|rule| nearest.offer(far(rule), || rule));
            nearest.into_items().collect::<Vec<_>>()
        };
        let on = || decide.rules().iter().map(AsRef::as_ref).filter(|rule: &&Rule| rule.status == Status::On);
        let goals = near(&mut on().filter(|rule| rule.effect == effect));
        let others = near(&mut on().filter(|rule| rule.effect != effect));
        let sets: Vec<&Set> = decide.sets().filter(|set| !set.target.is_everything()).take(MOST_SETS).collect();
        let rules: Vec<&Rule> = goals.iter().chain(&others).copied().collect();
        let edits = edits(nearby(decide, &rules, &sets, request), request);
        let applies = |hit: &&Hit<Measure>| hit.measure.applies() == Truth::True;
        let applying = hits.iter().filter(applies).map(|hit| hit.entry).collect();
        let (scratch, seen, found) = Default::default();
        Self { decide, request, wanted, goals, sets, edits, applying, scratch, seen, asked: 0, found }
    }

    /// All that take so many changes, the easiest first.
    fn with(&mut self, edits: usize) -> Vec<Found> {
        self.seen.clear();
        self.asked = 0;
        self.look(&[], edits);
        let mut found = std::mem::take(&mut self.found);
        let effort =
            |chosen: &[usize]| chosen.iter().filter_map(|edit| self.edits.get(*edit)).map(Edit::effort).sum::<u32>();
        found.sort_by_key(|(chosen, _)| effort(chosen));
        let mut all: Vec<Found> = Vec::new();
        for (chosen, decided) in found {
            let (edits, entry): Found = (self.chosen(&chosen).cloned().collect(), self.newly(&decided));
            // Another value of the same part that leads to the same is nothing new.
            let is_like =
                |known: &Found| known.1 == entry && edits.iter().zip(&known.0).all(|(edit, known)| edit.is_like(known));
            if !all.iter().any(is_like) && all.len() < MOST_FOUND {
                all.push((edits, entry));
            }
        }
        all
    }

    fn chosen(&self, chosen: &[usize]) -> impl Iterator<Item = &Edit> {
        chosen.iter().filter_map(|edit| self.edits.get(*edit))
    }

    /// The policy that decides, if it does not apply now.
    fn newly(&self, decided: &Decided) -> Option<EntryId> {
        match decided.by {
            By::Policy(entry) => Some(entry).filter(|entry| !self.applying.contains(entry)),
            By::Default | By::Algorithm | By::Nobody => None,
        }
    }

    fn look(&mut self, chosen: &[usize], left: usize) {
        if self.asked >= MOST_ASKED {
            return;
        }
        self.asked += 1;
        let mut state = self.request.clone();
        self.chosen(chosen).for_each(|edit| edit.apply(&mut state));
        let decided = ask(self.decide, &&state, &mut self.scratch, &mut Silent);
        if decided.outcome == self.wanted {
            self.found.push((chosen.to_vec(), decided));
            return;
        }
        if left == 0 {
            return;
        }
        for edit in self.next(&state, left) {
            let is_free = |one: &Edit| self.chosen(chosen).all(|other| one.goes_with(other));
            if !self.edits.get(edit).is_some_and(is_free) {
                continue;
            }
            let mut more = [chosen, &[edit]].concat();
            // In one order: who asks comes before what may be theirs.
            more.sort_unstable();
            if self.seen.insert(more.clone()) {
                self.look(&more, left - 1);
            }
        }
    }

    /// What could be changed next.
    fn next(&self, state: &Request, left: usize) -> Vec<usize> {
        let mut buffer = Readings::default();
        let asked = self.decide.asked(state, &mut buffer);
        let mut next = Next { search: self, asked, left, edits: Vec::new() };
        for rule in &self.goals {
            next.reach(&rule.target, &rule.conditions);
        }
        for hit in self.scratch.hits() {
            let Some(rule) = self.decide.rule(hit.entry) else { continue };
            if self.is_in_the_way(hit, rule) {
                next.avoid(&rule.target, &rule.conditions);
            }
            // Whoever is surely about a request and has a condition that does not hold says nothing, and is in doubt no more.
            if hit.measure.target == Truth::Error && self.is_judged_alone(hit) {
                next.reach(&rule.target, &[]);
            }
        }
        for set in &self.sets {
            next.reach(&set.target, &[]);
            next.avoid(&set.target, &[]);
        }
        next.edits
    }

    /// A policy that says the opposite, or of which nobody can tell; where only one may be about a request, any other.
    fn is_in_the_way(&self, hit: &Hit<Measure>, rule: &Rule) -> bool {
        let helps =
            matches!((self.wanted, rule.effect), (Outcome::Permit, Effect::Permit) | (Outcome::Deny, Effect::Deny));
        match hit.measure.applies() {
            Truth::Error => true,
            Truth::True if !helps => true,
            Truth::True | Truth::False => self.is_judged_alone(hit),
        }
    }

    /// Whether only one may be about a request where a policy stands.
    fn is_judged_alone(&self, hit: &Hit<Measure>) -> bool {
        self.decide.set_of(hit.entry).is_some_and(|set| set.algorithm == Algorithm::OnlyOneApplicable)
    }
}

/// Gathers what could be changed next.
struct Next<'s, 'd, 'r> {
    search: &'s Search<'d>,
    asked: NormalizedRequest<'r>,
    /// How many changes may be made.
    left: usize,
    edits: Vec<usize>,
}

impl Next<'_, '_, '_> {
    /// Towards something that would help if it applied: the first part of it that does not fit, in every way. The others come
    /// when this one fits.
    fn reach(&mut self, target: &Target, conditions: &[Condition]) {
        match reach::first_miss(target, conditions, self.asked, self.left) {
            Some(Reach::Tests(tests)) => tests.into_iter().for_each(|test| self.turn(test, Truth::True)),
            Some(Reach::Condition(condition)) => self.turn_condition(condition, Truth::True),
            None => {}
        }
    }

    /// Away from something that stands in the way: one clause of it must not fit, so no alternative of it may.
    fn avoid(&mut self, target: &Target, conditions: &[Condition]) {
        let asked = self.asked;
        for (_, alternatives) in target.clauses() {
            for matcher in alternatives.iter().filter(|matcher| matcher.covers(asked) != Truth::False) {
                for test in &matcher.tests {
                    self.turn(test, Truth::False);
                }
            }
        }
        for condition in conditions.iter().filter(|condition| condition.holds(asked) != Truth::False) {
            self.turn_condition(condition, Truth::False);
        }
    }

    fn turn(&mut self, test: &Test, wanted: Truth) {
        let fields = reach::fields(test, self.asked.request);
        let before = test.holds(self.asked);
        self.add(&fields, |asked| is_turned(before, test.holds(asked), wanted));
    }

    fn turn_condition(&mut self, condition: &Condition, wanted: Truth) {
        let before = condition.holds(self.asked);
        // An expression may take several changes.
        let any = self.left > 1 && matches!(condition, Condition::Expression(_));
        let fields = reach::fields_of_condition(condition, self.asked);
        self.add(&fields, |asked| any || is_turned(before, condition.holds(asked), wanted));
    }

    fn add(&mut self, fields: &[Field], helps: impl Fn(NormalizedRequest<'_>) -> bool) {
        for (number, edit) in self.search.edits.iter().enumerate().filter(|(_, edit)| fields.contains(edit.field())) {
            if self.edits.contains(&number) {
                continue;
            }
            // Of several names that fit, all must go: each is a step.
            let is_step = matches!(edit, Edit::Remove(..));
            let mut state = self.asked.request.clone();
            edit.apply(&mut state);
            let mut buffer = Readings::default();
            if is_step || helps(self.search.decide.asked(&state, &mut buffer)) {
                self.edits.push(number);
            }
        }
    }
}

/// Whether a change goes where it should. What is not known does not count where algorithms hide it, so it may do instead of
/// what is false.
fn is_turned(before: Truth, after: Truth, wanted: Truth) -> bool {
    match wanted {
        Truth::True => after == Truth::True,
        Truth::False | Truth::Error => after != Truth::True && after != before,
    }
}

/// All changes that lead to these values.
fn edits(values: std::collections::BTreeMap<Field, Vec<Given>>, request: &Request) -> Vec<Edit> {
    let mut edits = Vec::new();
    for (field, values) in values {
        let names = match field {
            Field::Roles => &request.subject.roles,
            Field::Groups => &request.subject.groups,
            _ => {
                edits.extend(values.into_iter().map(|given| Edit::Set(field.clone(), given)));
                continue;
            }
        };
        let is_new = |name: &SmolStr| !names.known().contains(name);
        let added = values.into_iter().flat_map(|given| given.names()).filter(is_new);
        edits.extend(added.map(|name| Edit::Add(field.clone(), name)));
        edits.extend(names.known().iter().map(|name| Edit::Remove(field.clone(), name.clone())));
        if !names.are_all_known() {
            edits.push(Edit::Set(field, Given::Names(Vec::new())));
        }
    }
    edits
}
