//! What policies ask for, as tests that are joined: the same tests in many policies are one.

use rustc_hash::FxHashMap;

use super::diagram::{Diagram, Full, Operation, Ref};
use super::space::Space;
use crate::ask::EntryId;
use crate::decide::cells::AtomsBuilder;
use crate::decide::condition::Condition;
use crate::decide::expression::{Clause, Joined};
use crate::decide::family::Decide;
use crate::decide::glob::{Glob, Token};
use crate::decide::rule::{Matcher, PathPattern, Rule, Status, Target, Test};
use crate::decide::truth::Truth;
use crate::order::number;

/// Tests by their numbers, joined.
#[derive(Clone, Debug)]
pub(super) enum Formula {
    Test(u32),
    Not(Box<Self>),
    All(Vec<Self>),
    Any(Vec<Self>),
}

/// A truth as a label.
pub(super) const fn label(truth: Truth) -> u32 {
    match truth {
        Truth::False => 0,
        Truth::True => 1,
        Truth::Error => 2,
    }
}

/// The truth of a label.
pub(super) const fn truth(label: u32) -> Truth {
    match label {
        0 => Truth::False,
        1 => Truth::True,
        _ => Truth::Error,
    }
}

pub(super) const FALSE: Ref = Ref::leaf(label(Truth::False));
pub(super) const TRUE: Ref = Ref::leaf(label(Truth::True));

/// All of both.
pub(super) struct And;

impl Operation for And {
    fn labels(&mut self, one: u32, other: u32) -> u32 {
        label(truth(one).and(truth(other)))
    }

    fn shortcut(&self, one: Ref, other: Ref) -> Option<Ref> {
        match (one, other) {
            (FALSE, _) | (_, FALSE) => Some(FALSE),
            (TRUE, same) | (same, TRUE) => Some(same),
            (one, other) => (one == other).then_some(one),
        }
    }
}

/// One of both.
pub(super) struct Or;

impl Operation for Or {
    fn labels(&mut self, one: u32, other: u32) -> u32 {
        label(truth(one).or(truth(other)))
    }

    fn shortcut(&self, one: Ref, other: Ref) -> Option<Ref> {
        match (one, other) {
            (TRUE, _) | (_, TRUE) => Some(TRUE),
            (FALSE, same) | (same, FALSE) => Some(same),
            (one, other) => (one == other).then_some(one),
        }
    }
}

impl Formula {
    /// Which requests a target is about.
    pub(super) fn of_target<'d>(target: &'d Target, tests: &mut AtomsBuilder<'d>) -> Self {
        let clauses = target.clauses().into_iter().filter(|(_, alternatives)| !alternatives.is_empty());
        let any = |alternatives: &'d [Matcher], tests: &mut AtomsBuilder<'d>| {
            Self::Any(alternatives.iter().map(|one| Self::of_matcher(one, Truth::False, tests)).collect())
        };
        Self::All(clauses.map(|(_, alternatives)| any(alternatives, tests)).collect())
    }

    fn of_matcher<'d>(matcher: &'d Matcher, absent: Truth, tests: &mut AtomsBuilder<'d>) -> Self {
        let one = |test: &'d Test| match test {
            // Of what is not there, nobody can say that it is something else.
            Test::Not(inner) => Self::Not(Box::new(Self::of_matcher(inner, Truth::Error, tests))),
            _ => Self::Test(tests.test(test, absent)),
        };
        Self::All(matcher.tests.iter().map(one).collect())
    }

    /// What must hold besides.
    pub(super) fn of_conditions<'d>(rule: &'d Rule, tests: &mut AtomsBuilder<'d>) -> Self {
        let one = |condition: &'d Condition| match condition {
            Condition::Expression(expression) if expression.has_few_clauses() => {
                Self::of_clause(expression.whole(), tests)
            }
            _ => Self::Test(tests.condition(condition)),
        };
        Self::All(rule.conditions.iter().map(one).collect())
    }

    fn of_clause<'d>(clause: Clause<'d>, tests: &mut AtomsBuilder<'d>) -> Self {
        let each = |all: Vec<Clause<'d>>, tests: &mut AtomsBuilder<'d>| {
            all.into_iter().map(|one| Self::of_clause(one, tests)).collect()
        };
        match clause.joined() {
            Joined::Alone => Self::Test(tests.clause(clause)),
            Joined::Always(true) => Self::All(Vec::new()),
            Joined::Always(false) => Self::Any(Vec::new()),
            Joined::Not(inner) => Self::Not(Box::new(Self::of_clause(inner, tests))),
            Joined::All(all) => Self::All(each(all, tests)),
            Joined::Any(any) => Self::Any(each(any, tests)),
        }
    }

    /// For all requests with a path of a class.
    pub(super) fn holds(&self, space: &Space<'_>, at: &PathPoint, diagram: &mut Diagram) -> Result<Ref, Full> {
        match self {
            Self::Test(test) => space.holds(*test, at, diagram),
            Self::Not(inner) => {
                let inner = inner.holds(space, at, diagram)?;
                diagram.map(inner, |one| label(!truth(one)))
            }
            Self::All(all) => all.iter().try_fold(TRUE, |known, one| {
                if known == FALSE {
                    return Ok(FALSE);
                }
                let one = one.holds(space, at, diagram)?;
                diagram.apply(known, one, &mut And)
            }),
            Self::Any(any) => any.iter().try_fold(FALSE, |known, one| {
                if known == TRUE {
                    return Ok(TRUE);
                }
                let one = one.holds(space, at, diagram)?;
                diagram.apply(known, one, &mut Or)
            }),
        }
    }
}

/// Paths that are not told apart: those of a class, or that there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PathPoint {
    /// The patterns that cover it, in order.
    pub(super) covered_by: Vec<u32>,
    /// A path; nothing if there is none.
    pub(super) path: Option<String>,
}

/// The patterns of paths, each once.
#[derive(Debug, Default)]
pub(super) struct Globs<'d> {
    pub(super) all: Vec<&'d Glob>,
    known: FxHashMap<&'d str, u32>,
}

impl<'d> Globs<'d> {
    /// The number of a pattern.
    pub(super) fn number(&mut self, glob: &'d Glob) -> u32 {
        let Self { all, known } = self;
        *known.entry(glob.text()).or_insert_with(|| {
            all.push(glob);
            number(all.len() - 1)
        })
    }

    /// What they are made of.
    pub(super) fn tokens(&self) -> Vec<Vec<Token>> {
        self.all.iter().map(|glob| glob.tokens()).collect()
    }
}

/// Which paths a policy or set may be about.
#[derive(Clone, Debug)]
pub(super) enum Reach<'d> {
    /// All of them, and requests without a path.
    All,
    /// Those that one of these patterns covers.
    Globs(Vec<&'d Glob>),
}

impl<'d> Reach<'d> {
    /// Each alternative must ask for a path, or there is no limit.
    pub(super) fn of(target: &'d Target) -> Self {
        let globs = |matcher: &'d Matcher| -> Option<Vec<&'d Glob>> {
            matcher.tests.iter().find_map(|test| match test {
                Test::Path(patterns) => patterns
                    .iter()
                    .map(|pattern| match pattern {
                        PathPattern::Glob(glob) => Some(glob),
                        PathPattern::Foreign(..) | PathPattern::Broken(_) => None,
                    })
                    .collect(),
                _ => None,
            })
        };
        if target.resources.is_empty() {
            return Self::All;
        }
        let all: Option<Vec<Vec<&Glob>>> = target.resources.iter().map(globs).collect();
        all.map_or(Self::All, |all| Self::Globs(all.into_iter().flatten().collect()))
    }

    /// The policies that may be about some of them.
    pub(super) fn entries(&self, decide: &Decide) -> Vec<EntryId> {
        match self {
            Self::All => (0..decide.rules().len())
                .map(EntryId::new)
                .filter(|entry| decide.rule(*entry).is_some_and(|rule| rule.status == Status::On))
                .collect(),
            Self::Globs(globs) => decide.near(globs.iter().copied()),
        }
    }

    /// The numbers of the patterns; nothing for all paths.
    pub(super) fn wanted(&self, globs: &mut Globs<'d>) -> Option<Vec<u32>> {
        match self {
            Self::All => None,
            Self::Globs(some) => Some(some.iter().map(|glob| globs.number(glob)).collect()),
        }
    }
}
