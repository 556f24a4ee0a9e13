//! What is wrong with access policies themselves: what the engine proves of one set, as diagnostics.

use std::sync::Arc;

use upheld_engine::decide::shifts::{Bounds, Finding as Proved, Problem, lint};
use upheld_engine::decide::{Decide, Effect, Load, Opening, Rule, Strictness, openings};
use upheld_engine::{EntryId, Snapshot};
use upheld_model::{Diagnostic, Fault, NodeRef};

use super::decider::deciders;
use super::shifts::example_of;
use crate::dialect::Finding;
use crate::recognise::first_span;

/// What is to be said of all sets of policies that decide requests.
pub(super) fn findings(snapshot: &Snapshot) -> Vec<Finding> {
    let mut found: Vec<Finding> = Vec::new();
    for (_, decide) in deciders(snapshot) {
        let set = OfSet { snapshot, decide };
        // Where a bound is met nothing was found out, and nothing is said.
        found.extend(lint(decide, &Bounds::default()).findings.iter().filter_map(|finding| set.told(finding)));
        found.extend(set.open_to_everybody());
        found.extend(set.literal_stars());
        found.extend(openings(decide).iter().map(|opening| set.opened(opening)));
        found.extend(set.expensive());
    }
    found
}

/// Steps of one request that are worth a note: about ten milliseconds.
const MANY_STEPS: usize = 1 << 22;

struct OfSet<'s> {
    snapshot: &'s Snapshot,
    decide: &'s Decide,
}

impl OfSet<'_> {
    fn told(&self, finding: &Proved) -> Option<Finding> {
        let policy = finding.policy?;
        let name = self.name(policy);
        let others: Vec<&str> = finding.others.iter().map(|other| self.name(other.policy)).collect();
        let others = others.join(", ");
        let told = match finding.problem {
            Problem::Impossible => {
                let message = format!("{name} can never apply: its conditions contradict each other");
                Diagnostic::error(Fault::ImpossibleMatch, message)
            }
            Problem::Shadowed | Problem::Covered => {
                let who = if finding.problem == Problem::Shadowed { others } else { format!("one of {others}") };
                let message = format!("{name} never decides: wherever it applies, {who} comes first");
                Diagnostic::error(Fault::Unreachable, message).help(format!("remove {name}, or let it come first"))
            }
            Problem::Outweighed => {
                let message = format!("{name} never decides: {others} always outweighs it");
                Diagnostic::warning(Fault::Outweighed, message)
                    .help(format!("remove {name}, or cut the other one to what it is meant for"))
            }
            Problem::Redundant => {
                let message = format!("{name} changes nothing: without it every request is decided in the same way");
                Diagnostic::note(Fault::Redundant, message).help(format!("remove {name}"))
            }
            Problem::SameAsDefault => {
                let message =
                    format!("{name} changes nothing: whatever it decides, the default decides in the same way");
                Diagnostic::note(Fault::SameAsDefault, message).help(format!("remove {name}"))
            }
            Problem::Tie => {
                let message = format!("{name} and {others} have one priority, and disagree about some requests");
                Diagnostic::warning(Fault::PriorityTie, message)
                    .help("give the one that should decide a higher priority")
            }
            // That a deny cuts a permit is what denies are for.
            Problem::Conflict | Problem::UnreachableDefault => return None,
        };
        let example = finding.others.iter().find_map(|other| other.example.as_ref());
        let told = match example {
            Some(request) => told.help(format!("for example: {}", example_of(request))),
            None => told,
        };
        let told = self.at(told, policy);
        let told = finding.others.iter().fold(told, |told, other| self.beside(told, other.policy));
        let told = Finding::from(told).about(name);
        let goes = matches!(
            finding.problem,
            Problem::Shadowed | Problem::Covered | Problem::Outweighed | Problem::Redundant | Problem::SameAsDefault
        );
        Some(match self.decide.rule(policy).filter(|_| goes) {
            Some(rule) => told.without(rule.at),
            None => told,
        })
    }

    /// Permits that nothing cuts to anything.
    fn open_to_everybody(&self) -> Vec<Finding> {
        let rules =
            self.decide.rules().iter().filter(|rule| rule.effect == Effect::Permit && rule.conditions.is_empty());
        let open = rules.filter(|rule| rule.target.is_wildcard());
        open.map(|rule| {
            let message = format!("{} permits everything to everybody", rule.name);
            let told = Diagnostic::warning(Fault::BroadWildcard, message).help("name who may do what with what");
            Finding::from(located(self.snapshot, told, rule.at)).about(rule.name.as_str())
        })
        .collect()
    }

    /// A denial that an algorithm passes over where a fact is unknown.
    fn opened(&self, opening: &Opening) -> Finding {
        let Opening { policy, set, fact, request } = opening;
        let name = self.name(*policy);
        let set = if set.is_empty() { "the combining algorithm".to_owned() } else { format!("the set {set}") };
        let message = format!("{set} permits requests that {name} denies, if the {fact} is unknown");
        let told = Diagnostic::warning(Fault::FailsOpen, message)
            .help(format!("for example: {}", example_of(request)))
            .help("`deny-overrides` leaves such requests undecided, and enforcement refuses them");
        Finding::from(self.at(told, *policy)).about(name)
    }

    /// The steps that the worst request takes, where they are many.
    fn expensive(&self) -> Option<Finding> {
        let load = self.decide.load();
        let steps = load.worst();
        if steps <= MANY_STEPS {
            return None;
        }
        let heaviest = self.decide.rules().iter().max_by_key(|rule| Load::of(rule).worst())?;
        let message = format!(
            "one request can take {steps} steps: {} states of patterns, {} nodes of expressions",
            load.patterns, load.expressions
        );
        let told = Diagnostic::note(Fault::Limit, message).help(format!(
            "{} has the largest part; write texts instead of patterns where you know them",
            heaviest.name
        ));
        Some(Finding::from(located(self.snapshot, told, heaviest.at)).about(heaviest.name.as_str()))
    }

    /// Stars that are meant as wildcards where there are none. Where they could keep nothing out, they are told when policies are read.
    fn literal_stars(&self) -> Vec<Finding> {
        let of_rule = |rule: &Arc<Rule>| {
            let name = rule.name.clone();
            let found = rule.target.literal_stars().into_iter().map(|(field, value)| {
                let message =
                    format!("{name}: `{field}: {value}` is compared as it is; the star stands for nothing else");
                let told = Diagnostic::warning(Fault::LiteralStar, message)
                    .help(format!("leave `{field}` out to mean all of them, or name those that you mean"));
                Finding::from(located(self.snapshot, told, rule.at)).about(format!("{name} {field} {value}"))
            });
            found.collect::<Vec<_>>()
        };
        let is_told =
            |rule: &&Arc<Rule>| self.decide.strictness() == Strictness::Strict && rule.effect != Effect::Permit;
        self.decide.rules().iter().filter(|rule| !is_told(rule)).flat_map(of_rule).collect()
    }

    fn name(&self, entry: EntryId) -> &str {
        self.decide.rule(entry).map_or("", |rule| rule.name.as_str())
    }

    fn at(&self, told: Diagnostic, entry: EntryId) -> Diagnostic {
        match self.decide.rule(entry) {
            Some(rule) => located(self.snapshot, told, rule.at),
            None => told,
        }
    }

    fn beside(&self, told: Diagnostic, entry: EntryId) -> Diagnostic {
        let at = self.decide.rule(entry).map(|rule| rule.at);
        match at.and_then(|at| Some((at.source, self.snapshot.files().value(at)?))) {
            Some((source, document)) => told.related(source, first_span(document), "the other one"),
            None => told,
        }
    }
}

fn located(snapshot: &Snapshot, told: Diagnostic, at: NodeRef) -> Diagnostic {
    match snapshot.files().value(at) {
        Some(document) => told.at(at.source, first_span(document), ""),
        None => told,
    }
}
