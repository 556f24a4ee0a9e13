//! Requests in cells: the tests that policies write cut them, and all requests of a cell get the same answer.
//!
//! ```text
//! policies ──▶ Atoms          every test once; the cell of any request is the truths that they have
//! requests ──▶ RequestCells   the cells of given requests, each with a representative and its size
//! policies ──▶ Suggested      cells with representatives that the policies themselves suggest
//!                dimension      which part of a request a test reads
//!                values         values of a part that tests tell apart
//!                classes        texts by the patterns that cover them
//! a request ──▶ nearby        the values that some policies tell apart, as changes of this request
//! ```
//!
//! Law: asking a request gives the same answer as asking any other request of its cell.

mod addresses;
mod classes;
mod dimension;
mod moments;
mod nearby;
mod suggested;
mod values;

use std::mem::{Discriminant, discriminant};
use std::sync::Arc;

use rustc_hash::FxHashMap;
use smol_str::SmolStr;

use super::condition::Condition;
use super::expression::Clause;
use super::fact_test::Operator;
use super::family::Decide;
use super::glob::Wildcard;
use super::path::Readings;
use super::request::{Fact, NormalizedRequest, Path, Request};
use super::rule::{Matcher, PathPattern, Rule, Set, Status, Target, Test};
use super::truth::Truth;
use crate::order::number;
use crate::partition::{CellTable, Partition};

pub(super) use self::classes::{Text, classes};
pub(in crate::decide) use self::dimension::FieldRef;
pub use self::dimension::{Field, Given};
pub(super) use self::nearby::nearby;
pub(super) use self::suggested::entangled;
pub use self::suggested::{Bounds, Gap, Suggested};
pub(super) use self::values::{Extent, Part, fresh, named_texts};

/// The tests that policies write, each once.
#[derive(Clone, Debug)]
pub struct Atoms<'d> {
    decide: &'d Decide,
    pub(super) all: Vec<Atom<'d>>,
}

/// One test. What decides is a function of the truths of all of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Atom<'d> {
    /// What a field of an alternative asks for, and what is true of something that the request does not have.
    Test(&'d Test, Truth),
    /// What must hold besides; an expression as a whole.
    Condition(&'d Condition),
    /// A part of an expression.
    Clause(Clause<'d>),
}

/// Which requests: those in which every test has the truth that it has here.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cell(Arc<[Mark]>);

/// A test that is not false. Most tests are, for any request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Mark {
    pub(super) atom: u32,
    pub(super) truth: NotFalse,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum NotFalse {
    True,
    Error,
}

impl<'d> Atoms<'d> {
    /// All tests of policies that count, and of the sets that they are in.
    pub fn of(decide: &'d Decide) -> Self {
        let on = decide.rules().into_iter().filter(|rule| rule.status == Status::On);
        Self::among(decide, on.map(Arc::as_ref), decide.sets())
    }

    /// The tests of some policies and sets.
    fn among(
        decide: &'d Decide,
        rules: impl IntoIterator<Item = &'d Rule>,
        sets: impl IntoIterator<Item = &'d Set>,
    ) -> Self {
        let mut builder = AtomsBuilder::default();
        rules.into_iter().for_each(|rule| builder.rule(rule));
        sets.into_iter().for_each(|set| builder.target(&set.target));
        builder.finish(decide)
    }

    /// The policies that write them.
    pub fn decide(&self) -> &'d Decide {
        self.decide
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The cell of a request.
    pub fn locate(&self, request: &Request) -> Cell {
        Cell(self.marks(0..number(self.all.len()), request).into())
    }

    /// Which of some tests are not false for a request.
    fn marks(&self, some: impl Iterator<Item = u32> + Clone, request: &Request) -> Vec<Mark> {
        let mut room = Readings::default();
        let asked = self.decide.asked(request, &mut room);
        let Path::Several(readings) = asked.path else {
            return some.filter_map(|atom| mark(atom, self.all.get(atom as usize)?.holds(asked))).collect();
        };
        // Whoever decides asks every reading: what holds in each of them counts.
        let each = (0..).zip(readings).flat_map(|(place, reading): (u32, _)| {
            let asked = NormalizedRequest { path: Path::Is(reading), ..asked };
            let first = place * number(self.all.len());
            some.clone().filter_map(move |atom| mark(first + atom, self.all.get(atom as usize)?.holds(asked)))
        });
        each.collect()
    }
}

fn mark(atom: u32, truth: Truth) -> Option<Mark> {
    match truth {
        Truth::True => Some(Mark { atom, truth: NotFalse::True }),
        Truth::Error => Some(Mark { atom, truth: NotFalse::Error }),
        Truth::False => None,
    }
}

impl Atom<'_> {
    pub(super) fn holds(&self, asked: NormalizedRequest<'_>) -> Truth {
        match self {
            Self::Test(test, absent) => test.holds_or(asked, *absent),
            Self::Condition(condition) => condition.holds(asked),
            Self::Clause(clause) => clause.holds(asked),
        }
    }
}

/// Keeps each test once.
#[derive(Debug, Default)]
pub(super) struct AtomsBuilder<'d> {
    all: Vec<Atom<'d>>,
    /// By what most tests differ in.
    known: FxHashMap<(Option<Discriminant<Test>>, &'d str), Vec<u32>>,
}

impl<'d> AtomsBuilder<'d> {
    /// All tests so far, for requests as these policies look at them.
    pub(super) fn finish(self, decide: &'d Decide) -> Atoms<'d> {
        Atoms { decide, all: self.all }
    }

    fn rule(&mut self, rule: &'d Rule) {
        self.target(&rule.target);
        rule.conditions.iter().for_each(|condition| {
            self.condition(condition);
        });
    }

    fn target(&mut self, target: &'d Target) {
        for (_, alternatives) in target.clauses() {
            for matcher in alternatives {
                self.matcher(matcher, Truth::False);
            }
        }
    }

    fn matcher(&mut self, matcher: &'d Matcher, absent: Truth) {
        for test in &matcher.tests {
            match test {
                // Of what is not there, nobody can say that it is something else.
                Test::Not(inner) => self.matcher(inner, Truth::Error),
                _ => {
                    self.test(test, absent);
                }
            }
        }
    }

    /// The number of a test, given what is true of something that a request does not have.
    pub(super) fn test(&mut self, test: &'d Test, absent: Truth) -> u32 {
        // These know for themselves what it means that there is nothing.
        let knows = matches!(test, Test::Role(_) | Test::Group(_) | Test::Fact(_));
        let absent = if knows { Truth::False } else { absent };
        self.add((Some(discriminant(test)), hint(test)), Atom::Test(test, absent))
    }

    /// The number of a condition.
    pub(super) fn condition(&mut self, condition: &'d Condition) -> u32 {
        let hint = match condition {
            Condition::Expression(expression) => expression.text(),
            _ => condition.word(),
        };
        self.add((None, hint), Atom::Condition(condition))
    }

    /// The number of a part of an expression.
    pub(super) fn clause(&mut self, clause: Clause<'d>) -> u32 {
        self.add((None, clause.text()), Atom::Clause(clause))
    }

    fn add(&mut self, hint: (Option<Discriminant<Test>>, &'d str), atom: Atom<'d>) -> u32 {
        let known = self.known.entry(hint).or_default();
        if let Some(known) = known.iter().find(|number| self.all.get(**number as usize) == Some(&atom)) {
            return *known;
        }
        let own = number(self.all.len());
        known.push(own);
        self.all.push(atom);
        own
    }
}

/// A text in a test: equal tests have the same.
pub(super) fn hint(test: &Test) -> &str {
    let first = match test {
        Test::Id(texts)
        | Test::SubjectType(texts)
        | Test::Group(texts)
        | Test::Type(texts)
        | Test::ResourceId(texts)
        | Test::Method(texts)
        | Test::Operation(texts) => texts.first().map(SmolStr::as_str),
        Test::Role(patterns) | Test::App(patterns) => patterns.first().map(Wildcard::text),
        Test::Path(patterns) => patterns.first().map(PathPattern::text),
        Test::Fact(test) => match &test.operator {
            Operator::In(values) | Operator::NotIn(values) => match values.first() {
                Some(Fact::Text(text)) => Some(text.as_str()),
                _ => Some(test.name.as_str()),
            },
            _ => Some(test.name.as_str()),
        },
        Test::OwnedBySubject | Test::Not(_) => None,
    };
    first.unwrap_or_default()
}

/// The cells of given requests.
#[derive(Debug)]
pub struct RequestCells<'a, 'd, 'r> {
    atoms: &'a Atoms<'d>,
    table: CellTable<Cell, &'r Request>,
    /// What represents a cell that is none of these.
    nothing: Request,
}

impl<'a, 'd, 'r> RequestCells<'a, 'd, 'r> {
    /// Of requests, in the order in which each cell is met first.
    pub fn of(atoms: &'a Atoms<'d>, requests: impl IntoIterator<Item = &'r Request>) -> Self {
        let mut table = CellTable::default();
        for request in requests {
            table.add(atoms.locate(request), request);
        }
        Self { atoms, table, nothing: Request::default() }
    }
}

impl Partition for RequestCells<'_, '_, '_> {
    type Question<'p>
        = &'p Request
    where
        Self: 'p;
    type Cell = usize;

    fn cells(&self) -> impl Iterator<Item = usize> {
        self.table.cells()
    }

    fn representative(&self, cell: usize) -> &Request {
        self.table.first(cell).copied().unwrap_or(&self.nothing)
    }

    fn size(&self, cell: usize) -> u64 {
        self.table.size(cell)
    }

    fn locate(&self, request: &Request) -> Option<usize> {
        self.table.find(&self.atoms.locate(request))
    }
}
