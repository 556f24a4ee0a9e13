//! How far a policy is from applying to a request, without a word about it: of thousands, only the nearest are worth words.

use upheld_model::Code;

use super::request::NormalizedRequest;
use super::rule::{Clause, Matcher, Rule};
use super::truth::Truth;

/// What a policy lacks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shortfall {
    /// How many clauses and conditions do not hold, or are not known to.
    pub parts: u32,
    /// How many clauses are false.
    pub clauses: usize,
    /// How many conditions are false.
    pub conditions: usize,
    /// How many tests do not hold, of the alternatives that fit best.
    pub tests: usize,
}

/// The alternative of a clause that fits best.
#[derive(Clone, Copy)]
pub(super) struct Best<'r> {
    pub(super) place: usize,
    pub(super) matcher: &'r Matcher,
    pub(super) truth: Truth,
    /// How many of its tests do not hold.
    tests: usize,
}

impl<'r> Best<'r> {
    /// Of some alternatives; none of none.
    pub(super) fn of(alternatives: &'r [Matcher], asked: NormalizedRequest<'_>) -> Option<Self> {
        let mut best: Option<Self> = None;
        for (place, matcher) in alternatives.iter().enumerate() {
            let truth = matcher.covers(asked);
            let fails = matcher.tests.iter().filter(|_| truth != Truth::True);
            let tests = fails.filter(|test| test.holds(asked) != Truth::True).count();
            if best.is_none_or(|best| (badness(truth), tests) < (badness(best.truth), best.tests)) {
                best = Some(Self { place, matcher, truth, tests });
            }
            if truth == Truth::True {
                break;
            }
        }
        best
    }

    /// The code of the first thing that it lacks; false before unknown.
    fn code(&self, clause: Clause, asked: NormalizedRequest<'_>) -> Option<Code> {
        let any = |truth: Truth| self.matcher.tests.iter().any(|test| test.holds(asked) == truth);
        let first = [Truth::False, Truth::Error].into_iter().find(|truth| any(*truth))?;
        Some(code_of(first, clause))
    }
}

impl Shortfall {
    /// Of a policy.
    pub fn of(rule: &Rule, asked: NormalizedRequest<'_>) -> Self {
        let mut all = Self::default();
        for (_, alternatives) in rule.target.clauses() {
            let Some(best) = Best::of(alternatives, asked) else { continue };
            all.parts += u32::from(best.truth != Truth::True);
            all.clauses += usize::from(best.truth == Truth::False);
            all.tests += best.tests;
        }
        for truth in rule.conditions.iter().map(|condition| condition.holds(asked)) {
            all.parts = all.parts.saturating_add(u32::from(truth != Truth::True));
            all.conditions += usize::from(truth == Truth::False);
            all.tests += usize::from(truth != Truth::True);
        }
        all
    }

    /// The code of the first thing that a policy lacks; false before unknown.
    pub(super) fn code(rule: &Rule, asked: NormalizedRequest<'_>) -> Code {
        let of = |wanted: Truth| {
            let mut clauses = rule.target.clauses().into_iter();
            let clause = clauses.find_map(|(clause, alternatives)| {
                Best::of(alternatives, asked).filter(|best| best.truth == wanted)?.code(clause, asked)
            });
            let mut conditions = rule.conditions.iter();
            let mut condition = || conditions.any(|condition| condition.holds(asked) == wanted);
            clause.or_else(|| condition().then(|| code_of(wanted, Clause::Conditions)))
        };
        of(Truth::False).or_else(|| of(Truth::Error)).unwrap_or(Code::SkipCondition)
    }
}

/// Why a test does not hold.
pub(super) fn code_of(truth: Truth, clause: Clause) -> Code {
    match (truth, clause) {
        (Truth::Error, _) => Code::UnknownFact,
        (_, Clause::Subjects) => Code::SkipSubject,
        (_, Clause::Resources) => Code::SkipResource,
        (_, Clause::Actions) => Code::SkipAction,
        (_, Clause::Conditions) => Code::SkipCondition,
    }
}

fn badness(truth: Truth) -> u8 {
    match truth {
        Truth::True => 0,
        Truth::Error => 1,
        Truth::False => 2,
    }
}
