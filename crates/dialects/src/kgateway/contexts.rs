//! Contexts: which policies of a kind meet at which level. Equal contexts are resolved once.

use std::sync::{Arc, PoisonError};

use rustc_hash::FxHashSet;
use upheld_engine::merge::levels::{FieldLayer, Folded, Level, fold};

use super::kinds::{Semantics, Subject};
use super::resolver::Resolver;
use super::rules::Priority;
use super::scopes::{Bracket, Place, Resolved, Scope};

/// What a result depends on: the policies of a kind by level, the best first, and how levels meet.
pub(super) type Context = (Subject, Vec<(Vec<usize>, Priority)>);

impl Resolver<'_> {
    /// What the policies of brackets come to.
    pub(super) fn scope(&self, place: Place, brackets: Vec<Bracket>, priorities: Vec<Priority>) -> Scope {
        let mut brackets = brackets;
        brackets.retain(|bracket| !bracket.attached.is_empty());
        let subject = |policy: usize| self.policies.get(policy).map(|entry| entry.subject);
        let attached = brackets.iter().flat_map(|bracket| bracket.attached.iter());
        let subjects: FxHashSet<Subject> = attached.filter_map(|attached| subject(attached.policy)).collect();
        let mut resolved = Vec::new();
        for subject in Subject::ALL.into_iter().filter(|subject| subjects.contains(subject)) {
            resolved.push(self.resolve(subject, self.levels(subject, &brackets, &priorities)));
        }
        Scope { place, brackets, priorities, resolved, builtin: None }
    }

    /// The policies of a kind by level, the best first, each once.
    fn levels(&self, subject: Subject, brackets: &[Bracket], priorities: &[Priority]) -> Vec<(Vec<usize>, Priority)> {
        let mut levels: Vec<(Vec<usize>, Priority)> =
            priorities.iter().map(|priority| (Vec::new(), *priority)).collect();
        for bracket in brackets {
            let Some((policies, _)) = levels.get_mut(bracket.level) else { continue };
            let before = policies.len();
            let all = bracket.attached.iter().map(|attached| attached.policy);
            policies
                .extend(all.filter(|policy| self.policies.get(*policy).is_some_and(|entry| entry.subject == subject)));
            self.settle(subject, bracket, before, policies);
        }
        for (policies, _) in &mut levels {
            let mut seen = FxHashSet::default();
            policies.retain(|policy| seen.insert(*policy));
        }
        levels
    }

    /// Kinds that do not keep the order of brackets.
    fn settle(&self, subject: Subject, bracket: &Bracket, before: usize, policies: &mut Vec<usize>) {
        if self.semantics == Semantics::Ep11268 {
            return;
        }
        let added = policies.len() > before;
        match subject {
            // A policy for a port stands alone.
            Subject::BackendTls if bracket.section.is_some() && added => drop(policies.drain(..before)),
            // By age, wherever they are attached.
            Subject::BackendConfig if added => policies
                .sort_by_cached_key(|policy| self.policies.get(*policy).map(|entry| (entry.created, entry.identity()))),
            // Whoever comes last has the last word.
            Subject::DirectResponse => policies.get_mut(before..).unwrap_or_default().reverse(),
            _ => {}
        }
    }

    fn resolve(&self, subject: Subject, levels: Vec<(Vec<usize>, Priority)>) -> Arc<Resolved> {
        let key = (subject, levels);
        let known = self.contexts.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        if let Some(known) = known {
            return known;
        }
        let folded = self.fold(&key);
        let policies = key.1.iter().flat_map(|(policies, _)| policies.iter().copied()).collect();
        let mut contexts = self.contexts.lock().unwrap_or_else(PoisonError::into_inner);
        let number = contexts.len();
        contexts.entry(key).or_insert_with(|| Arc::new(Resolved { subject, policies, folded, number })).clone()
    }

    fn fold(&self, (subject, levels): &Context) -> Folded {
        let level = |(policies, priority): &(Vec<usize>, Priority)| {
            let mut level = Level { inheritance: priority.inheritance(), ..Level::default() };
            for number in policies {
                match self.policies.get(*number) {
                    Some(entry) if entry.errors.is_empty() => {
                        level.layers.push(FieldLayer { by: *number, fields: entry.fields.clone() });
                    }
                    Some(_) => level.broken.push(*number),
                    None => {}
                }
            }
            level
        };
        let levels: Vec<Level> = levels.iter().map(level).collect();
        self.rules.get(subject).map(|rules| fold(rules, &levels)).unwrap_or_default()
    }
}
