//! Mutants of one policy.

use std::sync::Arc;

use smol_str::format_smolstr;

use super::super::condition::Condition;
use super::super::examine::{field, want, wanted};
use super::super::rule::{Clause, Matcher, Rule, Target, Test};
use super::paths::widened;
use super::same::{is_same, is_taken_for_granted};
use super::values::fewer;
use super::{Body, Mutation, alternatives_told, matcher_told, without};

/// A mutant of a policy.
pub(super) struct Made {
    pub(super) mutation: Mutation,
    pub(super) place: Option<(Clause, usize)>,
    pub(super) body: Body,
}

/// All of them; those that certainly decide alike are left out.
pub(super) fn mutants(rule: &Arc<Rule>, by_order: bool) -> impl Iterator<Item = Made> + use<> {
    let mut maker = Maker { rule, made: Vec::new() };
    // One that never applies says nothing in any form.
    if !rule.conditions.contains(&Condition::Never) {
        maker.whole(by_order);
        for (clause, alternatives) in rule.target.clauses() {
            maker.clause(clause, alternatives);
        }
        maker.conditions();
        maker.duties();
    }
    maker.made.into_iter()
}

struct Maker<'r> {
    rule: &'r Rule,
    made: Vec<Made>,
}

impl Maker<'_> {
    fn whole(&mut self, by_order: bool) {
        let rule = self.rule;
        if let Some(effect) = rule.effect.opposite() {
            self.add(Mutation::Effect { was: rule.effect, becomes: effect }, None, Rule { effect, ..rule.clone() });
        }
        self.made.push(Made { mutation: Mutation::Removed, place: None, body: Body::Nothing });
        if by_order && rule.priority != 0.0 {
            let moved = Arc::new(Rule { priority: 0.0, ..rule.clone() });
            let mutation = Mutation::Priority { was: rule.priority };
            self.made.push(Made { mutation, place: None, body: Body::Moved(moved) });
        }
    }

    fn clause(&mut self, clause: Clause, alternatives: &[Matcher]) {
        // An alternative without its only test fits all, and so does the clause.
        if alternatives.len() == 1 || alternatives.iter().any(|one| one.tests.len() == 1) {
            let mutation = Mutation::Everything { clause, asks: alternatives_told(alternatives) };
            self.alternatives(clause, 0, mutation, Vec::new());
        }
        for (place, matcher) in alternatives.iter().enumerate() {
            if alternatives.len() > 1 {
                let mutation = Mutation::Alternative { clause, asks: matcher_told(matcher) };
                self.alternatives(clause, place, mutation, without(alternatives, place));
            }
            for (mutation, changed) in of_matcher(clause, matcher) {
                let mut all = alternatives.to_vec();
                if let Some(known) = all.get_mut(place) {
                    *known = changed;
                }
                self.alternatives(clause, place, mutation, all);
            }
        }
    }

    /// A policy with these alternatives of a clause, unless they fit the same.
    fn alternatives(&mut self, clause: Clause, place: usize, mutation: Mutation, all: Vec<Matcher>) {
        let target = &self.rule.target;
        let known = target.clauses().into_iter().find(|(known, _)| *known == clause);
        if known.is_none_or(|(_, before)| is_same(before, &all)) {
            return;
        }
        let target = match clause {
            Clause::Subjects => Target { subjects: all, ..target.clone() },
            Clause::Resources => Target { resources: all, ..target.clone() },
            Clause::Actions => Target { actions: all, ..target.clone() },
            Clause::Conditions => return,
        };
        self.add(mutation, Some((clause, place)), Rule { target, ..self.rule.clone() });
    }

    fn conditions(&mut self) {
        let rule = self.rule;
        for (place, condition) in rule.conditions.iter().enumerate() {
            let conditions = without(&rule.conditions, place);
            if !conditions.contains(condition) && !is_taken_for_granted(condition) {
                let asks = format_smolstr!("{} {}", condition.word(), wanted(condition));
                let changed = Rule { conditions, ..rule.clone() };
                self.add(Mutation::Condition { asks }, Some((Clause::Conditions, place)), changed);
            }
        }
    }

    fn duties(&mut self) {
        let rule = self.rule;
        for (place, duty) in rule.duties.iter().enumerate() {
            let duties = without(&rule.duties, place);
            // A duty of the other effect never comes.
            if duty.on == rule.effect && !duties.contains(duty) {
                let mutation = Mutation::Duty { binding: duty.binding, id: duty.id.clone() };
                self.add(mutation, None, Rule { duties, ..rule.clone() });
            }
        }
    }

    fn add(&mut self, mutation: Mutation, place: Option<(Clause, usize)>, rule: Rule) {
        self.made.push(Made { mutation, place, body: Body::Rule(Box::new(rule)) });
    }
}

/// An alternative with one thing otherwise; without its only test it is another matter.
fn of_matcher(clause: Clause, matcher: &Matcher) -> Vec<(Mutation, Matcher)> {
    let mut made = Vec::new();
    for (place, test) in matcher.tests.iter().enumerate() {
        if matcher.tests.len() > 1 {
            let less = Matcher { tests: without(&matcher.tests, place) };
            let mutation = Mutation::Test { clause, was: matcher_told(matcher), becomes: matcher_told(&less) };
            made.push((mutation, less));
        }
        for changed in fewer(test) {
            let mutation = Mutation::Values { field: field(test), was: want(test), becomes: want(&changed) };
            made.push((mutation, replaced(matcher, place, changed)));
        }
        for (was, becomes, changed) in widened(test) {
            let mutation = Mutation::Values { field: field(test), was, becomes };
            made.push((mutation, replaced(matcher, place, changed)));
        }
    }
    made
}

fn replaced(matcher: &Matcher, place: usize, test: Test) -> Matcher {
    let mut changed = matcher.clone();
    if let Some(known) = changed.tests.get_mut(place) {
        *known = test;
    }
    changed
}
