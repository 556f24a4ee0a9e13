//! Rules held against pairs, in names.

use smol_str::SmolStr;
use upheld_model::{State, Timestamp};

use super::Comply;
use super::facts::{ObjectId, Pair};
use super::family::{Complied, Question, RuleResult, Verdict};
use super::passing::Sides;
use super::policies::RuleOf;
use super::policy::{Level, Policy, Rule, Strategy};
use crate::ask::{EntryId, Hit, Scratch, ask};
use crate::ruling::{Candidate, Ruling};
use crate::witness::Silent;

/// Which rule and which pair: values are content, not identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FindingId {
    /// The pair.
    pub pair: Pair,
    /// The rule.
    pub entry: EntryId,
}

/// A rule held against two objects, in names. Ordered by scope, policy, rule and sides.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// Where the pair lives, as a reference.
    pub scope: Option<SmolStr>,
    /// The policy.
    pub policy: SmolStr,
    /// The rule, from 0.
    pub rule: usize,
    /// The first side of the policy.
    pub a: SideOf,
    /// The second side of the policy.
    pub b: SideOf,
    /// What must hold.
    pub strategy: Strategy,
    /// How seriously the policy is taken.
    pub level: Level,
    /// Whether it holds, and why.
    pub verdict: Verdict,
    /// What becomes of that: HARD, SOFT, PASS, or OFF if a waiver covers it.
    pub state: State,
    /// The waiver that covers it.
    pub waiver: Option<SmolStr>,
}

/// Which rule and which objects, in names: what outlives a program.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FindingName {
    /// Where the pair lives, as a reference.
    pub scope: Option<SmolStr>,
    /// The policy.
    pub policy: SmolStr,
    /// The rule, from 0.
    pub rule: usize,
    /// The first side of the policy, as a reference.
    pub a: SmolStr,
    /// The second side.
    pub b: SmolStr,
}

impl Finding {
    /// Which rule and which objects.
    pub fn name(&self) -> FindingName {
        let Self { scope, policy, rule, a, b, .. } = self;
        let (a, b) = (a.object.clone(), b.object.clone());
        FindingName { scope: scope.clone(), policy: policy.clone(), rule: *rule, a, b }
    }

    /// Whether it is about the same rule and pair.
    pub fn is_same(&self, other: &Self) -> bool {
        self.identity() == other.identity()
    }

    /// What findings are sorted by, and told apart by.
    pub fn identity(&self) -> (Option<&str>, &str, usize, &str, &str) {
        (self.scope.as_deref(), &self.policy, self.rule, &self.a.object, &self.b.object)
    }
}

/// One side of a finding.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SideOf {
    /// The object, as a reference.
    pub object: SmolStr,
    /// How people call it.
    pub name: Option<SmolStr>,
    /// The tag.
    pub tag: SmolStr,
    /// All its values in order.
    pub values: Vec<SmolStr>,
}

impl Comply {
    /// Asks about a pair, and tells every rule that it violates: what holds is not told.
    pub fn violated_by(
        &self,
        question: &Question<'_>,
        scratch: &mut Scratch<Self>,
        mut tell: impl FnMut(State, &Hit<RuleResult>),
    ) -> Complied {
        let complied = ask(self, question, scratch, &mut Silent);
        for (place, hit) in scratch.hits().iter().enumerate() {
            tell(complied.state(place), hit);
        }
        complied
    }

    /// Everything that was found out about a pair, in names and in order: rules that do not speak to it are left out.
    pub fn findings_of(&self, question: &Question<'_>, ruling: &Ruling<Self>) -> Vec<Finding> {
        let named = |candidate: &Candidate<RuleResult>| {
            self.named(question.pair, candidate.entry, &candidate.measure?, candidate.state, question.now)
        };
        let mut findings: Vec<Finding> = ruling.candidates.iter().filter_map(named).collect();
        findings.sort();
        findings
    }

    /// A rule held against a pair, in names.
    pub fn named(
        &self,
        pair: Pair,
        entry: EntryId,
        held: &RuleResult,
        state: State,
        now: Timestamp,
    ) -> Option<Finding> {
        let RuleOf { policy, rule, number, swapped, .. } = self.policies.rule(entry)?;
        let [first, second] = swapped.turn([pair.a, pair.b]);
        let [own, others] = held.values.map(|values| self.texts(values));
        Some(Finding {
            scope: pair.scope.map(|scope| self.reference(scope)),
            policy: policy.id.clone(),
            rule: number,
            a: self.side(first, &rule.a, own),
            b: self.side(second, &rule.b, others),
            strategy: policy.strategy,
            level: policy.level_at(now),
            verdict: held.verdict,
            state,
            waiver: held.waiver.map(|waiver| SmolStr::new(self.symbols.text(waiver))),
        })
    }

    /// A finding by its identity, with the values that its sides have now; its state is given.
    pub fn name(&self, id: FindingId, state: State, now: Timestamp) -> Option<Finding> {
        let held = self.held(id.entry, id.pair, now)?;
        self.named(id.pair, id.entry, &held, state, now)
    }

    fn side(&self, object: ObjectId, tag: &SmolStr, values: Vec<SmolStr>) -> SideOf {
        let name = self.described(object).and_then(|described| described.name.clone());
        SideOf { object: self.reference(object), name, tag: tag.clone(), values }
    }

    /// Which rule and pair a finding is about.
    pub fn identify(&self, finding: &Finding) -> Option<FindingId> {
        self.find(finding.identity())
    }

    /// Which rule and pair have these names. A policy may have turned its sides round since.
    pub fn find_named(&self, name: &FindingName) -> Option<FindingId> {
        let FindingName { scope, policy, rule, a, b } = name;
        let kind_of = |reference: &str| self.subject_of(self.lookup(reference).ok()?);
        let turned = self.policy(policy)?.a != kind_of(a)?;
        let (a, b) = if turned { (b, a) } else { (a, b) };
        self.find((scope.as_deref(), policy, *rule, a, b))
    }

    fn find(&self, (scope, policy, rule, a, b): (Option<&str>, &str, usize, &str, &str)) -> Option<FindingId> {
        let known = self.policy(policy)?;
        let (kind, swapped) = self.profile.pair(known.a, known.b)?;
        let entry = *self.policies.entries_of(policy).get(rule)?;
        let (first, second) = (self.lookup(a).ok()?, self.lookup(b).ok()?);
        let [a, b] = swapped.turn([first, second]);
        let scope = match scope {
            Some(scope) => Some(self.lookup(scope).ok()?),
            None => None,
        };
        Some(FindingId { pair: Pair { kind, a, b, scope }, entry })
    }

    /// The names of a rule and a pair, in the order that the policy has now; and, where its sides are of different sorts, in the order that
    /// it would have if they were turned round.
    pub fn names_of(&self, id: FindingId) -> Option<(FindingName, Option<FindingName>)> {
        let Sides { policy, rule, a, b, scope } = self.sides_of(id)?;
        let scope = scope.map(|scope| self.reference(scope));
        let (a, b) = (self.reference(a), self.reference(b));
        let name = FindingName { scope, policy: policy.clone(), rule, a, b };
        let turns = self.policy(policy).is_some_and(|own| own.a != own.b);
        let turned = turns.then(|| FindingName { a: name.b.clone(), b: name.a.clone(), ..name.clone() });
        Some((name, turned))
    }

    /// Whether a waiver in force covers what violates.
    pub fn is_waived(&self, id: FindingId, now: Timestamp) -> bool {
        self.covering(id.entry, id.pair, now).is_some()
    }

    /// The level of the policy of a rule at a moment.
    pub fn level_of(&self, entry: EntryId, now: Timestamp) -> Level {
        self.policies.level(entry, now)
    }

    /// The rule of an entry, with its policy; nothing if there is no such rule any more.
    pub fn rule_of(&self, entry: EntryId) -> Option<(&Policy, &Rule)> {
        self.policies.rule(entry).map(|own| (own.policy, own.rule))
    }
}
