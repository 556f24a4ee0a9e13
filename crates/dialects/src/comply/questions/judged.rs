//! Which rules an answer rests on: what tests of policies count.

use std::collections::BTreeSet;

use upheld_engine::Snapshot;
use upheld_engine::comply::{Class, Comply, Filter, Finding, Level, Verdict};
use upheld_governance::Action;
use upheld_model::{NodeRef, Sym};
use upheld_report::compliance::Check;

use super::audit::{AuditQuestion, narrowed};
use super::change_request::{ChangeRequest, action};
use super::{Organisation, Organisations};

/// How a rule fared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fared {
    /// It held, and both sides had values to compare.
    Held,
    /// It was violated.
    Violated,
}

/// A rule of a policy, and how it fared. The rule is counted from 0.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct JudgedRule {
    /// The policy.
    pub policy: String,
    /// The rule.
    pub rule: usize,
    /// How it fared.
    pub fared: Fared,
}

/// A rule that tests can judge.
#[derive(Clone, Debug)]
pub struct KnownRule {
    /// The kind of policies of its organisation.
    pub kind: Sym,
    /// Its policy.
    pub policy: String,
    /// Which one, from 0.
    pub rule: usize,
    /// What it asks, in words.
    pub asks: String,
    /// Where its policy was written.
    pub at: Option<NodeRef>,
}

/// All rules of policies that are not off.
pub fn rules(snapshot: &Snapshot) -> Vec<KnownRule> {
    let mut all = Vec::new();
    for (kind, documented) in snapshot.companion::<Organisations>().into_iter().flat_map(Organisations::iter) {
        let comply = documented.organisation.comply();
        for policy in comply.policies().into_iter().filter(|policy| policy.level != Level::Off) {
            let [a, b] = [policy.a, policy.b].map(|subject| comply.profile().subject_name(subject));
            all.extend(policy.rules.iter().enumerate().map(|(number, rule)| KnownRule {
                kind,
                policy: policy.id.to_string(),
                rule: number,
                asks: format!("{a} {} ~ {b} {}", rule.a, rule.b),
                at: policy.at,
            }));
        }
    }
    all
}

/// Policies that are off, so that no test could judge them.
pub fn switched_off(snapshot: &Snapshot) -> Vec<NodeRef> {
    let organisations = snapshot.companion::<Organisations>().into_iter().flat_map(Organisations::iter);
    let policies = organisations.flat_map(|(_, documented)| documented.organisation.comply().policies());
    policies.filter(|policy| policy.level == Level::Off).filter_map(|policy| policy.at).collect()
}

/// The rules of checks that were told.
pub fn judged(checks: &[Check]) -> BTreeSet<JudgedRule> {
    let told = checks.iter().filter(|check| !check.vacuous).map(|check| JudgedRule {
        policy: check.policy.clone(),
        rule: check.rule,
        fared: if check.state.is_violation() { Fared::Violated } else { Fared::Held },
    });
    told.collect()
}

impl Organisation<'_> {
    /// The rules that an audit judges.
    pub fn judged_by_audit(&self, question: &AuditQuestion) -> BTreeSet<JudgedRule> {
        let Ok(narrowed) = narrowed(self, question) else { return BTreeSet::new() };
        let comply = self.comply();
        let held = comply.rules_with_evidence(&narrowed.filter, self.now).into_iter();
        let held = held.map(|(policy, rule)| JudgedRule { policy: policy.into(), rule, fared: Fared::Held });
        let violated = self.governed.violations(&narrowed.filter, self.now).into_iter().map(|found| of(&found));
        held.chain(violated).collect()
    }

    /// The rules that would be judged if a change was made: those about what it makes, or about the object that it changes.
    pub fn judged_by_change(&self, request: &ChangeRequest) -> BTreeSet<JudgedRule> {
        let (Ok(actor), Ok(action)) =
            (self.asker(request.person.as_deref(), Some(Class::EndUser)), action(self, request))
        else {
            return BTreeSet::new();
        };
        let mut after = self.governed.clone();
        if !after.act(self.now, &actor, &action).outcome.is_done() {
            return BTreeSet::new();
        }
        let comply = after.comply();
        let found = match &action {
            Action::Link { a, b, .. } => match (comply.lookup(a), comply.lookup(b)) {
                (Ok(a), Ok(b)) => comply.findings_between(a, b, self.now),
                _ => Vec::new(),
            },
            Action::SetTags { object, .. } => self.around(comply, object),
            Action::Create(new) => self.around(comply, &new.object),
            _ => Vec::new(),
        };
        found.iter().filter(|found| found.verdict != Verdict::BothEmpty).map(of).collect()
    }

    fn around(&self, comply: &Comply, object: &str) -> Vec<Finding> {
        let Ok(object) = comply.lookup(object) else { return Vec::new() };
        comply.checks(&Filter { object: Some(object), ..Filter::default() }, self.now)
    }
}

fn of(found: &Finding) -> JudgedRule {
    let fared = if found.verdict.holds() { Fared::Held } else { Fared::Violated };
    JudgedRule { policy: found.policy.to_string(), rule: found.rule, fared }
}
