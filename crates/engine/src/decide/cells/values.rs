//! Values of one part of a request that its tests tell apart: each that policies name, one that nobody names, and none.

use std::cmp::Ordering;

use crate::decide::number::{Number, Step};
use rustc_hash::FxHashSet;
use smol_str::{SmolStr, ToSmolStr, format_smolstr};

use super::classes::{self, Text, classes};
use super::dimension::{Field, Given};
use super::{Atom, Atoms, Bounds, Mark, NotFalse, addresses, moments};
use crate::decide::condition::Condition;
use crate::decide::fact_test::Operator;
use crate::decide::family::Strictness;
use crate::decide::glob::{Token, Wildcard};
use crate::decide::request::{Fact, Facts, Request};
use crate::decide::rule::{PathPattern, Test};

/// Values of a part that its tests tell apart, each sort once, and how far they go.
#[derive(Clone, Debug, Default)]
pub(in crate::decide) struct Values {
    pub(in crate::decide) points: Vec<Point>,
    pub(in crate::decide) extent: Extent,
    known: FxHashSet<Vec<Mark>>,
}

/// A value, and which tests of the part are not false for it.
#[derive(Clone, Debug)]
pub(in crate::decide) struct Point {
    pub(in crate::decide) given: Given,
    pub(in crate::decide) marks: Vec<Mark>,
}

/// Whether every value is like one of those that were found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::decide) enum Extent {
    /// It is.
    #[default]
    All,
    /// There are tests of which not all values are known that they tell apart.
    Sampled,
    /// A bound was met.
    Bounded,
}

impl Values {
    fn add(&mut self, point: Point, bounds: Bounds) {
        if !self.known.contains(&point.marks) {
            if self.points.len() >= bounds.points {
                self.only(Extent::Bounded);
                return;
            }
            self.known.insert(point.marks.clone());
            self.points.push(point);
        }
    }

    /// What was said first stands.
    fn only(&mut self, extent: Extent) {
        if self.extent == Extent::All {
            self.extent = extent;
        }
    }
}

/// The tests of one part of a request.
pub(in crate::decide) struct Part<'a, 'd> {
    pub(in crate::decide) atoms: &'a Atoms<'d>,
    pub(in crate::decide) field: &'a Field,
    /// The tests by their numbers.
    pub(in crate::decide) own: &'a [u32],
    pub(in crate::decide) bounds: Bounds,
}

impl<'d> Part<'_, 'd> {
    /// Values that the tests tell apart. That there is none is one of them.
    pub(in crate::decide) fn values(&self) -> Values {
        let mut found = Values::default();
        let named = self.named_facts(&mut found);
        let texts = || named.iter().filter_map(text).cloned();
        let given: Vec<Given> = match self.field {
            Field::Path | Field::App => {
                self.classes(&mut found).into_iter().for_each(|class| found.add(class, self.bounds));
                // What nobody can read is a sort of its own.
                let bad = (*self.field == Field::Path).then_some(SmolStr::new_static("/%"));
                texts().chain(bad).map(Given::Text).collect()
            }
            Field::Roles | Field::Groups => {
                self.sets_of_names(&mut found);
                Vec::new()
            }
            Field::Time => {
                let (moments, all) = moments::moments(self.conditions());
                if !all {
                    found.only(Extent::Sampled);
                }
                moments.into_iter().map(Given::Moment).collect()
            }
            Field::Address => {
                let (addresses, all) = addresses::addresses(self.conditions());
                if !all || !named.is_empty() {
                    found.only(Extent::Sampled);
                }
                texts().chain(addresses).chain([SmolStr::new_static("?")]).map(Given::Text).collect()
            }
            Field::Fact(..) => {
                // Expressions tell values of every sort from what is not there.
                let sorts = [Fact::Bool(true), Fact::Bool(false), Fact::Null, Fact::Map(Facts::default())];
                let sorts = sorts.into_iter().filter(|_| self.clauses().next().is_some());
                among(named).into_iter().chain(sorts).map(Given::Fact).collect()
            }
            Field::SubjectId
            | Field::SubjectType
            | Field::Type
            | Field::ResourceId
            | Field::Method
            | Field::Operation => {
                let mut all: Vec<SmolStr> = self.tests().flat_map(named_texts).cloned().collect();
                all.extend(texts());
                all.push(fresh(&all));
                all.into_iter().map(Given::Text).collect()
            }
        };
        // Last, because a request that has something is the better example.
        for given in given.into_iter().chain([Given::Absent]) {
            self.add(given, &mut found);
        }
        found
    }

    fn own_atoms(&self) -> impl Iterator<Item = (u32, Atom<'d>)> + Clone {
        self.own.iter().filter_map(|number| Some((*number, *self.atoms.all.get(*number as usize)?)))
    }

    pub(super) fn tests(&self) -> impl Iterator<Item = &'d Test> {
        self.own_atoms().filter_map(|(_, atom)| match atom {
            Atom::Test(test, _) => Some(test),
            Atom::Condition(_) | Atom::Clause(_) => None,
        })
    }

    pub(super) fn conditions(&self) -> impl Iterator<Item = &'d Condition> + Clone {
        self.own_atoms().filter_map(|(_, atom)| match atom {
            Atom::Condition(condition) => Some(condition),
            Atom::Test(..) | Atom::Clause(_) => None,
        })
    }

    /// The values that tests of facts name. They are samples beside tests that also cover texts that they do not name, and where
    /// only a name with dots leads to a fact.
    fn named_facts(&self, found: &mut Values) -> Vec<Fact> {
        let are_samples = matches!(self.field, Field::Path | Field::App | Field::Method) || self.field.is_hidden();
        let mut facts = Vec::new();
        for test in self.tests() {
            if let Test::Fact(test) = test {
                if are_samples || !is_compared(&test.operator) {
                    found.only(Extent::Sampled);
                }
                facts.extend(named_facts(&test.operator));
            }
        }
        for (_, values) in self.clauses() {
            if are_samples {
                found.only(Extent::Sampled);
            }
            facts.extend(values);
        }
        facts
    }

    /// What parts of expressions compare it with.
    fn clauses(&self) -> impl Iterator<Item = (Field, Vec<Fact>)> {
        self.own_atoms().filter_map(|(_, atom)| match atom {
            Atom::Clause(clause) => clause.compared(),
            Atom::Test(..) | Atom::Condition(_) => None,
        })
    }

    fn add(&self, given: Given, found: &mut Values) {
        found.add(self.point(given), self.bounds);
    }

    /// A value with the tests that are not false for it.
    pub(super) fn point(&self, given: Given) -> Point {
        let marks = self.marks(self.own.iter().copied(), &given);
        Point { given, marks }
    }

    /// Which of some tests are not false for a value.
    fn marks(&self, some: impl Iterator<Item = u32> + Clone, given: &Given) -> Vec<Mark> {
        let mut request = Request::default();
        self.field.put(given, &mut request);
        self.atoms.marks(some, &request)
    }

    /// One text of each class: the patterns tell which tests cover it, all others are held against it.
    fn classes(&self, found: &mut Values) -> Vec<Point> {
        let kind = match (self.field, self.atoms.decide.strictness()) {
            (Field::Path, Strictness::Strict) => Text::PlainPath,
            (Field::Path, Strictness::Compat) => Text::Path,
            _ => Text::Name,
        };
        let (mut all, mut test_of, mut others): (Vec<Vec<Token>>, Vec<u32>, Vec<u32>) = Default::default();
        for (number, atom) in self.own_atoms() {
            match atom.patterns() {
                Some(patterns) => {
                    test_of.resize(test_of.len() + patterns.len(), number);
                    all.extend(patterns);
                }
                None => others.push(number),
            }
        }
        if self.tests().any(is_foreign) {
            found.only(Extent::Sampled);
        }
        let (classes, complete) = classes(&all, kind, self.bounds.states);
        if !complete {
            found.only(Extent::Bounded);
        }
        let point = |class: classes::Class| {
            // What stands for an escape is escaped itself.
            let escaped = if kind == Text::PlainPath {
                class.example.replace('?', "%3F").replace('#', "%23")
            } else {
                class.example
            };
            let given = Given::Text(escaped.into());
            let tests = class.covered_by.iter().filter_map(|pattern| test_of.get(*pattern as usize));
            let mut marks = self.marks(others.iter().copied(), &given);
            marks.extend(tests.map(|atom| Mark { atom: *atom, truth: NotFalse::True }));
            marks.sort_unstable();
            marks.dedup();
            Point { given, marks }
        };
        classes.into_iter().map(point).collect()
    }

    /// One name of each sort that some test asks for.
    pub(super) fn names(&self) -> Vec<Given> {
        let mut found = Values::default();
        self.classes(&mut found).into_iter().filter(|name| !name.marks.is_empty()).map(|name| name.given).collect()
    }

    /// As [`Self::values`]; of values that no test tells apart, these are taken before others.
    pub(super) fn values_with(&self, preferred: Vec<Given>) -> Vec<Given> {
        let mut found = Values::default();
        for given in preferred {
            self.add(given, &mut found);
        }
        for point in self.values().points {
            found.add(point, self.bounds);
        }
        found.points.into_iter().map(|point| point.given).collect()
    }

    /// Sets of names, one of each sort: a set passes the tests that one of its names passes. All single names are tried, and
    /// more together as far as the bound goes.
    fn sets_of_names(&self, found: &mut Values) {
        let names: Vec<Point> = self.classes(found).into_iter().filter(|name| !name.marks.is_empty()).collect();
        let bounds = Bounds { points: self.bounds.points.max(names.len() + 1), ..self.bounds };
        self.add(Given::Names(Vec::new()), found);
        let mut next = 0;
        while let Some(Point { given, marks }) = found.points.get(next).cloned() {
            if found.points.len() >= bounds.points {
                found.only(Extent::Bounded);
                return;
            }
            for name in &names {
                let mut both = [marks.as_slice(), &name.marks].concat();
                both.sort_unstable();
                both.dedup();
                let all = [given.names(), name.given.names()].concat();
                found.add(Point { given: Given::Names(all), marks: both }, bounds);
            }
            next += 1;
        }
    }
}

impl Atom<'_> {
    /// What it compares a text with; nothing if that is the business of another system, or if it asks for something else.
    pub(in crate::decide) fn patterns(&self) -> Option<Vec<Vec<Token>>> {
        let exactly = |name: &SmolStr| name.chars().map(Token::Character).collect();
        let test = match self {
            Self::Test(test, _) => test,
            Self::Condition(_) => return None,
            Self::Clause(clause) => {
                let (_, names) =
                    clause.compared().filter(|(field, _)| matches!(field, Field::Roles | Field::Groups))?;
                return Some(names.iter().filter_map(text).map(exactly).collect());
            }
        };
        match test {
            Test::Path(patterns) => patterns.iter().map(PathPattern::tokens).collect(),
            Test::Role(patterns) | Test::App(patterns) => patterns.iter().map(Wildcard::tokens).collect(),
            Test::Group(names) => Some(names.iter().map(exactly).collect()),
            _ => None,
        }
    }
}

/// Whether only another system knows what a test covers.
fn is_foreign(test: &Test) -> bool {
    match test {
        Test::Path(patterns) => patterns.iter().any(|pattern| matches!(pattern, PathPattern::Foreign(..))),
        Test::Role(patterns) | Test::App(patterns) => patterns.iter().any(|one| matches!(one, Wildcard::Foreign(..))),
        _ => false,
    }
}

pub(in crate::decide) fn named_texts(test: &Test) -> &[SmolStr] {
    match test {
        Test::Id(texts)
        | Test::SubjectType(texts)
        | Test::Type(texts)
        | Test::ResourceId(texts)
        | Test::Method(texts)
        | Test::Operation(texts) => texts,
        _ => &[],
    }
}

pub(super) fn text(fact: &Fact) -> Option<&SmolStr> {
    match fact {
        Fact::Text(text) => Some(text),
        _ => None,
    }
}

/// A text that none of these is, in capital or small letters.
pub(in crate::decide) fn fresh(texts: &[SmolStr]) -> SmolStr {
    let candidates =
        std::iter::once(SmolStr::new_static("other")).chain((1..).map(|number| format_smolstr!("other{number}")));
    let is_new = |candidate: &SmolStr| !texts.iter().any(|text| text.eq_ignore_ascii_case(candidate));
    candidates.take(texts.len() + 1).find(is_new).unwrap_or_default()
}

/// Whether all that an operator tells apart are the values that it names, and numbers between them.
fn is_compared(operator: &Operator) -> bool {
    match operator {
        Operator::In(_)
        | Operator::NotIn(_)
        | Operator::Order(..)
        | Operator::Exists
        | Operator::Absent
        | Operator::Never => true,
        Operator::Contains(_)
        | Operator::ContainsAny(_)
        | Operator::StartsWith(_)
        | Operator::EndsWith(_)
        | Operator::Regex(_)
        | Operator::Foreign(..)
        | Operator::Broken(_)
        | Operator::Within(_) => false,
    }
}

pub(super) fn named_facts(operator: &Operator) -> Vec<Fact> {
    let within = |wanted: &Fact| [wanted.clone(), Fact::List(vec![wanted.clone()])];
    match operator {
        Operator::In(values) | Operator::NotIn(values) => values.clone(),
        Operator::Order(_, bound) => vec![Fact::Number(*bound)],
        Operator::Contains(wanted) => within(wanted).to_vec(),
        Operator::ContainsAny(wanted) => wanted.iter().flat_map(within).collect(),
        // The hosts of a domain have a label before it.
        Operator::EndsWith(text) if text.starts_with('.') => vec![Fact::Text(format_smolstr!("{}{text}", fresh(&[])))],
        Operator::StartsWith(text) | Operator::EndsWith(text) => vec![Fact::Text(text.clone())],
        Operator::Within(networks) => networks.iter().map(|one| Fact::Text(one.network().to_smolstr())).collect(),
        Operator::Regex(_)
        | Operator::Foreign(..)
        | Operator::Broken(_)
        | Operator::Exists
        | Operator::Absent
        | Operator::Never => Vec::new(),
    }
}

/// Facts and those beside them: numbers between numbers, a text that is none of the texts, and one of each other sort.
fn among(mut facts: Vec<Fact>) -> Vec<Fact> {
    let texts: Vec<SmolStr> = facts.iter().filter_map(text).cloned().collect();
    let mut numbers: Vec<Number> = facts
        .iter()
        .filter_map(|fact| match fact {
            Fact::Number(number) if !number.to_f64().is_nan() => Some(*number),
            _ => None,
        })
        .collect();
    numbers.sort_by(|one, other| one.partial_cmp(other).unwrap_or(Ordering::Equal));
    let between = numbers.windows(2).filter_map(|pair| match pair {
        [low, high] => beside(*low, *high).into_iter().find(|one| low < one && one < high),
        _ => None,
    });
    let ends = [numbers.first().map(|low| low.moved(Step::Down)), numbers.last().map(|high| high.moved(Step::Up))];
    facts.push(Fact::Text(fresh(&texts)));
    facts.extend(between.chain(ends.into_iter().flatten()).map(Fact::Number));
    facts.extend([Fact::Number(Number::Whole(0)), Fact::List(Vec::new())]);
    facts
}

/// Numbers that may lie between two.
fn beside(low: Number, high: Number) -> Vec<Number> {
    let (least, most) = (low.to_f64(), high.to_f64());
    let after = low.whole().and_then(|whole| Number::of_whole(whole + 1));
    let floating = [least + 1.0, least + (most - least) / 2.0, least.next_up()].map(Number::from);
    after.into_iter().chain(floating).collect()
}
