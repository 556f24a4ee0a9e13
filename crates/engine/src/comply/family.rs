//! The family: rules about tags, held against a pair of objects.
//!
//! Every rule about the pair ends in a state: PASS if it holds, OFF if a waiver covers that it does not, HARD if it refuses what
//! would make the pair, SOFT if that is accepted all the same.

use upheld_model::{Code, Param, Reason, State, Sym, Timestamp, ValuesId};

use super::Comply;
use super::facts::Pair;
use super::listing::ones;
use super::pairs::RuleSlot;
use super::policies::{RuleOf, RulePlace};
use super::policy::{Level, Policy, Strategy};
use super::profile::{Class, Effect, Subject, Swapped, Trigger};
use super::selection::{Columns, Selected};
use super::value_lists::NO_VALUES;
use super::waivers::Covered;
use crate::ask::{EntryId, Family, Fit, Hit, Place};
use crate::witness::Witness;

/// How does a pair fare?
#[derive(Clone, Copy, Debug)]
pub struct Question<'q> {
    /// Which two objects, and where they meet; whether or not they are related.
    pub pair: Pair,
    /// When.
    pub now: Timestamp,
    /// What a violation does to whoever brings it about.
    pub effect: Effect,
    /// Rules whose violation was accepted before, or is tolerated: they refuse nothing.
    pub accepted: &'q [EntryId],
}

/// How a rule fares between two objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleResult {
    /// Whether it holds, and why.
    pub verdict: Verdict,
    /// The values that it looked at, in the order of its policy.
    pub values: [ValuesId; 2],
    /// The waiver in force that covers that it does not hold.
    pub waiver: Option<Sym>,
}

/// Whether a rule holds, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Verdict {
    /// It does: the sides have a value in common.
    Common,
    /// It does: all values of the second side are among those of the first.
    Within,
    /// It does because neither side has the tag, which is not evidence.
    BothEmpty,
    /// It does not: nothing is in common.
    Disjoint,
    /// It does not: only one side has the tag.
    OneEmpty,
    /// It does not: the second side has values that the first has not.
    NotSubset,
    /// It does: the object has a value.
    Present,
    /// It does: all values of the object are among those that the policy names.
    Allowed,
    /// It does because the object has no value, which is not evidence.
    Untagged,
    /// It does not: the object has no value.
    Absent,
    /// It does not: the object has values that the policy does not name.
    NotAllowed,
}

impl Verdict {
    /// Whether the rule holds.
    pub fn holds(self) -> bool {
        match self {
            Self::Common | Self::Within | Self::BothEmpty | Self::Present | Self::Allowed | Self::Untagged => true,
            Self::Disjoint | Self::OneEmpty | Self::NotSubset | Self::Absent | Self::NotAllowed => false,
        }
    }

    /// Whether the rule holds only because there was nothing to look at.
    pub fn is_without_evidence(self) -> bool {
        matches!(self, Self::BothEmpty | Self::Untagged)
    }

    /// The code of the reason.
    pub fn code(self) -> Code {
        match self {
            Self::Common => Code::ComplyCommon,
            Self::Within => Code::ComplyWithin,
            Self::BothEmpty => Code::ComplyBothEmpty,
            Self::Disjoint => Code::ComplyDisjoint,
            Self::OneEmpty => Code::ComplyOneEmpty,
            Self::NotSubset => Code::ComplyNotSubset,
            Self::Present => Code::ComplyPresent,
            Self::Allowed => Code::ComplyAllowed,
            Self::Untagged => Code::ComplyUntagged,
            Self::Absent => Code::ComplyAbsent,
            Self::NotAllowed => Code::ComplyNotAllowed,
        }
    }

    /// Of a rule that does not hold between these values.
    fn violated(strategy: Strategy, values: [ValuesId; 2]) -> Self {
        let [first, _] = values;
        match strategy {
            Strategy::Intersection | Strategy::Subset if values.contains(&NO_VALUES) => Self::OneEmpty,
            Strategy::Intersection => Self::Disjoint,
            Strategy::Subset => Self::NotSubset,
            Strategy::Present | Strategy::PresentAmong if first == NO_VALUES => Self::Absent,
            Strategy::Present | Strategy::Among | Strategy::PresentAmong => Self::NotAllowed,
        }
    }

    /// Of a rule that holds between these values.
    pub(super) fn held(strategy: Strategy, values: [ValuesId; 2]) -> Self {
        let [first, _] = values;
        match strategy {
            Strategy::Intersection | Strategy::Subset if values == [NO_VALUES; 2] => Self::BothEmpty,
            Strategy::Intersection => Self::Common,
            Strategy::Subset => Self::Within,
            Strategy::Present => Self::Present,
            Strategy::Among if first == NO_VALUES => Self::Untagged,
            Strategy::Among | Strategy::PresentAmong => Self::Allowed,
        }
    }
}

/// How many rules a pair violates, and what that leads to. The hits stand in this order: those that refuse, those that are
/// accepted, those that are waived; what holds comes last, and only if somebody wants to know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Complied {
    /// Those that refuse.
    pub hard: usize,
    /// Those that are accepted.
    pub soft: usize,
    /// Those that a waiver covers.
    pub waived: usize,
}

impl Complied {
    /// One more that ends so; what holds is not counted.
    pub(super) fn count(&mut self, state: State) {
        match state {
            State::Hard => self.hard += 1,
            State::Soft => self.soft += 1,
            State::Off => self.waived += 1,
            _ => {}
        }
    }

    /// Both together.
    pub(super) fn plus(self, other: Self) -> Self {
        let Self { hard, soft, waived } = other;
        Self { hard: self.hard + hard, soft: self.soft + soft, waived: self.waived + waived }
    }

    /// The state of a hit by its place.
    pub fn state(self, place: usize) -> State {
        let Self { hard, soft, waived } = self;
        match place {
            _ if place < hard => State::Hard,
            _ if place < hard + soft => State::Soft,
            _ if place < hard + soft + waived => State::Off,
            _ => State::Pass,
        }
    }
}

impl Comply {
    /// What becomes of the pair if an end-user makes it now: how it fares in an audit.
    pub fn question(&self, pair: Pair, now: Timestamp) -> Question<'static> {
        let sides = self.profile.pairs.get(usize::from(pair.kind.0));
        let effect =
            sides.map_or(Effect::Record, |(a, b)| self.profile.effect(Trigger::Link, *a, *b, Some(Class::EndUser)));
        Question { pair, now, effect, accepted: &[] }
    }

    /// How one rule fares between two objects that its policy counts for, by their tags alone; nothing if it is about other pairs.
    pub(super) fn held(&self, entry: EntryId, pair: Pair, now: Timestamp) -> Option<RuleResult> {
        let RuleOf { policy, rule, pair: kind, swapped, .. } = self.policies.rule(entry)?;
        if kind != pair.kind {
            return None;
        }
        let [first, second] = swapped.turn([pair.a, pair.b]);
        let strategy = policy.strategy;
        let other =
            if strategy.is_alone() { self.known_values(&policy.values) } else { self.values_of(second, &rule.b) };
        let values = [self.values_of(first, &rule.a), other];
        Some(if self.lists.hold(strategy, values) {
            RuleResult { verdict: Verdict::held(strategy, values), values, waiver: None }
        } else {
            let waiver = self.waiver_of(policy, swapped, pair, now);
            RuleResult { verdict: Verdict::violated(strategy, values), values, waiver }
        })
    }

    /// The waiver in force that covers violations of a rule by a pair, whether or not there are any.
    pub(super) fn covering(&self, entry: EntryId, pair: Pair, now: Timestamp) -> Option<Sym> {
        let RuleOf { policy, swapped, .. } = self.policies.rule(entry)?;
        self.waiver_of(policy, swapped, pair, now)
    }

    #[inline]
    fn waiver_of(&self, policy: &Policy, swapped: Swapped, pair: Pair, now: Timestamp) -> Option<Sym> {
        if !self.waivers.concern(&policy.id) {
            return None;
        }
        let [a, b] = swapped.turn([pair.a, pair.b]).map(|side| self.reference(side));
        let scope = pair.scope.map(|scope| self.reference(scope));
        self.waivers.covering(Covered { policy: &policy.id, a: &a, b: &b, scope: scope.as_deref() }, now)
    }

    /// What a rule that is violated comes to.
    fn violated(&self, rule: &RuleSlot, values: [ValuesId; 2], question: &Question<'_>) -> RuleResult {
        let waiver =
            if self.waivers.all().is_empty() { None } else { self.covering(rule.entry, question.pair, question.now) };
        RuleResult { verdict: Verdict::violated(rule.strategy, values), values, waiver }
    }

    /// What becomes of a rule that fares so: the one place where that is decided.
    fn state(&self, hit: &Hit<RuleResult>, question: &Question<'_>) -> State {
        let RuleResult { verdict, waiver, .. } = hit.measure;
        if verdict.holds() {
            return State::Pass;
        }
        if waiver.is_some() {
            return State::Off;
        }
        let refuses = question.effect == Effect::Block
            && self.policies.level(hit.entry, question.now) == Level::Enforce
            && !question.accepted.contains(&hit.entry);
        if refuses { State::Hard } else { State::Soft }
    }

    /// Why a policy does not speak to a pair.
    fn other_pair(&self, policy: &Policy) -> Reason {
        Reason::new(Code::SkipPair, &[self.subject_param(policy.a), self.subject_param(policy.b)])
    }

    fn subject_param(&self, subject: Subject) -> Param {
        let symbol = self.symbols.get(self.profile.subject_name(subject));
        symbol.map_or(Param::Nothing, Param::Text)
    }

    /// Whether the policy of a rule counts for a pair.
    pub(super) fn is_in_scope(&self, entry: EntryId, pair: Pair) -> bool {
        let Some(RulePlace { table, word, bit }) = self.policies.place(entry) else { return false };
        let table = self.table(table).filter(|_| table == pair.kind);
        table.is_some_and(|table| {
            let signatures = table.signatures_of(pair.a, pair.b);
            table.rule(word, bit).is_some_and(|rule| table.applies(rule, signatures))
        })
    }

    /// Why the policy of a rule does not count for a pair, if it does not.
    fn out_of_scope(&self, entry: EntryId, pair: Pair) -> Option<Reason> {
        let RulePlace { table, word, bit } = self.policies.place(entry)?;
        let table = self.table(table)?;
        let (rule, columns) = (table.rule(word, bit)?, Columns::of(self));
        for (side, (object, signatures)) in [pair.a, pair.b].into_iter().zip(&table.sides).enumerate() {
            let Some(picks) = rule.only(side).and_then(|column| signatures.picks(column)) else { continue };
            let code = match columns.selected(object, picks) {
                Selected::Yes => continue,
                Selected::NotAmong => Code::SkipNotSelected,
                Selected::Excepted => Code::SkipExcepted,
            };
            let subject = self.side_of(pair.kind, side)?;
            return Some(Reason::new(code, &[self.subject_param(subject)]));
        }
        None
    }
}

impl Family for Comply {
    type Question<'q> = Question<'q>;
    type Measure = RuleResult;
    type Answer = Complied;
    type Scratch = ();

    fn entries(&self) -> impl Iterator<Item = EntryId> {
        self.policies.entries()
    }

    fn find<W: Witness<RuleResult>>(&self, question: &Question<'_>, (): &mut (), hits: &mut Vec<Hit<RuleResult>>) {
        let Question { pair, .. } = *question;
        let Some(table) = self.table(pair.kind) else { return };
        if self.is_exempt(pair.scope) {
            return;
        }
        let mut sit = |entry, measure| hits.push(Hit { entry, place: Place::default(), certain: true, measure });
        let signatures = table.signatures_of(pair.a, pair.b);
        for bits in &table.bits {
            let violated = table.verdict(bits, signatures, &self.lists);
            let rules = if W::RECORDS { bits.in_force() } else { violated };
            for bit in ones(rules) {
                let Some(rule) = bits.rule(bit) else { continue };
                // What is violated counts.
                if W::RECORDS && !table.applies(rule, signatures) {
                    continue;
                }
                let values = table.values(rule, signatures);
                let held = if violated >> bit & 1 == 1 {
                    self.violated(rule, values, question)
                } else {
                    RuleResult { verdict: Verdict::held(rule.strategy, values), values, waiver: None }
                };
                sit(rule.entry, held);
            }
        }
    }

    fn check<W: Witness<RuleResult>>(
        &self,
        entry: EntryId,
        question: &Question<'_>,
        witness: &mut W,
        mut sit: impl FnMut(Place, Fit<RuleResult>),
    ) {
        let Question { pair, now, .. } = *question;
        let Some(RuleOf { policy, pair: kind, .. }) = self.policies.rule(entry) else { return };
        if kind != pair.kind {
            let sides = self.profile.pairs.get(usize::from(pair.kind.0));
            let own = [policy.a, policy.b];
            let fitting = sides.map_or(0, |(a, b)| u32::from(own.contains(a)) + u32::from(own.contains(b)));
            witness.miss(entry, 2_u32.saturating_sub(fitting).max(1), || self.other_pair(policy));
        } else if self.is_exempt(pair.scope) {
            witness.off(entry, || Reason::new(Code::ComplyExempt, &[]));
        } else if policy.level == Level::Off {
            witness.off(entry, || Reason::new(Code::DecideOff, &[]));
        } else if let Some(reason) = self.out_of_scope(entry, pair) {
            witness.miss(entry, 1, || reason);
        } else if let Some(held) = self.held(entry, pair, now) {
            sit(Place::default(), Fit::Yes(held));
        }
    }

    fn resolve<W: Witness<RuleResult>>(
        &self,
        question: &Question<'_>,
        (): &mut (),
        hits: &mut Vec<Hit<RuleResult>>,
        witness: &mut W,
    ) -> Complied {
        let mut complied = Complied::default();
        for hit in hits.iter() {
            match self.state(hit, question) {
                State::Hard => complied.hard += 1,
                State::Soft => complied.soft += 1,
                State::Off => complied.waived += 1,
                _ => {}
            }
        }
        if W::RECORDS {
            // Entries are numbered as they came; that must not show.
            let name = |hit: &Hit<RuleResult>| self.policies.rule(hit.entry).map(|own| (&own.policy.id, own.number));
            hits.sort_by(|a, b| name(a).cmp(&name(b)));
        }
        let Complied { hard, soft, waived } = complied;
        if ![hard, soft, waived].contains(&hits.len()) {
            hits.sort_by_key(|hit| {
                let state = self.state(hit, question);
                (state == State::Pass, state)
            });
        }
        if W::RECORDS {
            for (place, hit) in hits.iter().enumerate() {
                witness.state(hit, complied.state(place), || reason(hit.measure));
            }
        }
        complied
    }
}

fn reason(held: RuleResult) -> Reason {
    let RuleResult { verdict, values, waiver } = held;
    match waiver {
        Some(waiver) => Reason::new(Code::ComplyWaived, &[Param::Text(waiver)]),
        None => Reason::new(verdict.code(), &values.map(Param::Values)),
    }
}
