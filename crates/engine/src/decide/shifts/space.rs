//! All requests, as far as policies tell them apart: each part of a request has a few points, and each test is true, false or not to be
//! known at each of them. What a test says of a point is asked of the test itself.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use smol_str::SmolStr;

use super::diagram::{Choice, Diagram, Full, Ref};
use super::formula::{FALSE, Globs, Or, PathPoint, TRUE, label};
use super::paths::spelled;
use crate::decide::cells::{
    Atom, Atoms, Bounds as CellBounds, Extent, Field, Given, NotFalse, Part, Text, classes, entangled, fresh,
};
use crate::decide::condition::Condition;
use crate::decide::fact_test::FactOf;
use crate::decide::family::Decide;
use crate::decide::path::Readings;
use crate::decide::request::{Fact, Request};
use crate::decide::rule::{PathPattern, Test};
use crate::decide::truth::Truth;
use crate::order::number;

/// The tests of policies on two sides, over parts of a request.
#[derive(Debug)]
pub(super) struct Space<'d> {
    atoms: Atoms<'d>,
    /// What each test depends on.
    shapes: Vec<Shape>,
    parts: Vec<Variable>,
}

/// What a test depends on.
#[derive(Clone, Debug)]
enum Shape {
    /// The path alone: these patterns, and what is true of no path.
    Path(Vec<u32>, Truth),
    /// Nothing.
    Always(Truth),
    /// Where a part is at these points it is otherwise than elsewhere.
    Points { part: u32, points: Vec<(u32, u32)>, otherwise: Truth },
    /// Whether there is a name of one of these sorts.
    Names(Vec<u32>),
    /// Who owns the resource; whoever is at one of these points owns nothing.
    Owned { id: u32, nobody: Vec<u32>, owner: u32, absent: Truth },
    /// It may be true, false or not to be known, whatever else is: that is more than can be.
    Free(u32),
}

/// A part of a request that has one of several points, or a question about it.
#[derive(Clone, Debug)]
enum Variable {
    /// A field with its values; the last point is a value that no test names.
    Field { field: Field, values: Vec<Given>, absent: Option<u32>, last: Given },
    /// Whether there is a name of a sort among roles or groups.
    Name { field: Field, name: SmolStr },
    /// Who owns the resource: the subject, nobody knows, somebody else; last, nobody.
    Owner,
    /// Whether a test holds of which that is all that is known here.
    Free(u32),
}

/// The points of something that is only known to be true, not to be known, or false.
const FREE: [(u32, u32); 2] = [(0, label(Truth::True)), (1, label(Truth::Error))];

/// Values of facts that are looked at.
const MOST_POINTS: usize = 1 << 12;
/// States of patterns of names.
const MOST_STATES: usize = 1 << 16;

impl<'d> Space<'d> {
    /// Of tests, for requests as these policies look at them. Patterns of paths get numbers.
    pub(super) fn of(atoms: Atoms<'d>, decide: &'d Decide, globs: &mut Globs<'d>) -> Self {
        let shapes = vec![Shape::Always(Truth::Error); atoms.all.len()];
        let mut builder = SpaceBuilder { decide, shapes, parts: Vec::new(), free: Vec::new() };
        let mut fields: BTreeMap<Field, Vec<u32>> = BTreeMap::new();
        let mut owned: Vec<(u32, Truth)> = Vec::new();
        for (own, atom) in (0..).zip(&atoms.all) {
            match atom {
                Atom::Test(Test::Path(patterns), absent) => match globs_of(patterns, globs) {
                    Some(patterns) => builder.shape(own, Shape::Path(patterns, *absent)),
                    None => builder.free.push(own),
                },
                Atom::Test(Test::OwnedBySubject, absent) => owned.push((own, *absent)),
                Atom::Condition(Condition::Always) => builder.shape(own, Shape::Always(Truth::True)),
                Atom::Condition(Condition::Never) => builder.shape(own, Shape::Always(Truth::False)),
                atom => match atom.reads() {
                    Some(Field::Path) | None => builder.free.push(own),
                    Some(field) => fields.entry(field).or_default().push(own),
                },
            }
        }
        let owners: Vec<Field> = Field::owners().filter(|_| !owned.is_empty()).collect();
        let entangled = entangled(&atoms, &fields, &owners);
        if !owned.is_empty() {
            fields.entry(Field::SubjectId).or_default();
        }
        // Who owns something is told beside the texts that the id of the subject is compared with, and beside nothing else.
        let is_clause = |atom: &u32| matches!(atoms.all.get(*atom as usize), Some(Atom::Clause(_)));
        let id_is_plain = fields.get(&Field::SubjectId).is_none_or(|own| !own.iter().any(is_clause));
        let owner_is_plain = id_is_plain && owners.iter().all(|field| !fields.contains_key(field));
        let mut all: Vec<(Field, Vec<u32>)> = fields.into_iter().collect();
        all.sort_by_key(|(field, _)| order(field));
        for (field, own) in &all {
            let is_compared = own.iter().any(|atom| {
                matches!(
                    atoms.all.get(*atom as usize),
                    Some(Atom::Test(Test::Fact(_), _) | Atom::Condition(_) | Atom::Clause(_))
                )
            });
            match field {
                field if entangled.contains(field) => builder.free.extend(own),
                Field::Roles | Field::Groups => builder.names(&atoms, field, own),
                Field::SubjectId
                | Field::SubjectType
                | Field::Type
                | Field::ResourceId
                | Field::Method
                | Field::Operation
                    if !is_compared =>
                {
                    let owns = *field == Field::SubjectId && !owned.is_empty();
                    builder.texts(&atoms, field, own, &owned, owns && owner_is_plain);
                }
                field => builder.values(&atoms, field, own),
            }
        }
        if !owner_is_plain {
            builder.free.extend(owned.iter().map(|(own, _)| *own));
        }
        let free = std::mem::take(&mut builder.free);
        for own in free {
            let part = builder.part(Variable::Free(own));
            builder.shape(own, Shape::Free(part));
        }
        let SpaceBuilder { shapes, parts, .. } = builder;
        Self { atoms, shapes, parts }
    }

    /// Where a test holds, for all requests with a path of a class.
    pub(super) fn holds(&self, test: u32, at: &PathPoint, diagram: &mut Diagram) -> Result<Ref, Full> {
        let leaf = |truth: Truth| Ref::leaf(label(truth));
        match self.shapes.get(test as usize) {
            None => Ok(leaf(Truth::Error)),
            Some(Shape::Always(truth)) => Ok(leaf(*truth)),
            Some(Shape::Path(_, absent)) if at.path.is_none() => Ok(leaf(*absent)),
            Some(Shape::Path(patterns, _)) => {
                Ok(leaf(patterns.iter().any(|pattern| at.covered_by.binary_search(pattern).is_ok()).into()))
            }
            Some(Shape::Points { part, points, otherwise }) => diagram.test(*part, points, label(*otherwise)),
            Some(Shape::Names(names)) => names.iter().try_fold(FALSE, |known, name| {
                let has = diagram.node(*name, 0, TRUE, FALSE)?;
                diagram.apply(known, has, &mut Or)
            }),
            Some(Shape::Owned { id, nobody, owner, absent }) => {
                let points = [(0, label(Truth::True)), (1, label(Truth::Error)), (2, label(Truth::False))];
                let mut all = diagram.test(*owner, &points, label(*absent))?;
                for point in nobody.iter().rev() {
                    all = diagram.node(*id, *point, leaf(*absent), all)?;
                }
                Ok(all)
            }
            Some(Shape::Free(part)) => diagram.test(*part, &FREE, label(Truth::False)),
        }
    }

    /// What it costs to ask for a point: examples have little in them, and nothing of which it is not known how to make it so.
    pub(super) fn cost(&self, part: u32, _: u32) -> u32 {
        match self.parts.get(part as usize) {
            Some(Variable::Free(_)) => 64,
            _ => 1,
        }
    }

    /// A request on a way, and the tests of which it is only known what they must be.
    pub(super) fn request(&self, way: &[Choice], at: &PathPoint) -> (Request, Vec<Open>) {
        let (mut request, mut open): (Request, Vec<Open>) = Default::default();
        for Choice { part, at, not } in way {
            match self.parts.get(*part as usize) {
                Some(Variable::Field { field, values, absent, last }) => {
                    let given = at.and_then(|point| values.get(point as usize));
                    let may_be_absent = absent.is_some_and(|absent| !not.contains(&absent)) && *field != Field::Method;
                    match given {
                        Some(given) => field.put(given, &mut request),
                        None if may_be_absent => {}
                        None => field.put(last, &mut request),
                    }
                }
                Some(Variable::Name { field, name }) if at.is_some() => {
                    let mut names = match field {
                        Field::Groups => request.subject.groups.known().to_vec(),
                        _ => request.subject.roles.known().to_vec(),
                    };
                    names.push(name.clone());
                    field.put(&Given::Names(names), &mut request);
                }
                Some(Variable::Owner) => {
                    let owner = match at {
                        Some(0) => Given::OwnId,
                        Some(1) => Given::Fact(Fact::Bool(true)),
                        Some(2) => Given::Text(fresh(request.subject.id.known().map_or(&[], std::slice::from_ref))),
                        _ => Given::Absent,
                    };
                    if let Some(field) = Field::owners().next() {
                        field.put(&owner, &mut request);
                    }
                }
                Some(Variable::Free(test)) => open.push(Open {
                    test: *test,
                    truth: match at {
                        Some(0) => Truth::True,
                        Some(_) => Truth::Error,
                        None => Truth::False,
                    },
                }),
                Some(Variable::Name { .. }) | None => {}
            }
        }
        if let Some(path) = &at.path {
            Field::Path.put(&Given::Text(spelled(path).into()), &mut request);
        }
        (request, open)
    }

    /// Changes of a request that may make a test hold, or not.
    pub(super) fn suggestions(&self, decide: &Decide, open: Open, request: &Request) -> Vec<(Field, Given)> {
        let mut room = Readings::default();
        match self.atoms.all.get(open.test as usize) {
            Some(Atom::Condition(Condition::Expression(expression))) => {
                expression.suggestions(decide.asked(request, &mut room))
            }
            Some(Atom::Clause(clause)) => clause.suggestions(decide.asked(request, &mut room)),
            Some(atom) => match atom.reads() {
                Some(field) => {
                    let (own, bounds) = (&[open.test][..], CellBounds { points: 64, ..CellBounds::default() });
                    let values = Part { atoms: &self.atoms, field: &field, own, bounds }.values();
                    values.points.into_iter().map(|point| (field.clone(), point.given)).collect()
                }
                None => Vec::new(),
            },
            None => Vec::new(),
        }
    }

    /// What a test says of a request.
    pub(super) fn says(&self, decide: &Decide, test: u32, request: &Request) -> Truth {
        let mut room = Readings::default();
        let asked = decide.asked(request, &mut room);
        self.atoms.all.get(test as usize).map_or(Truth::Error, |atom| atom.holds(asked))
    }

    /// What sentences call a test.
    pub(super) fn name(&self, test: u32) -> SmolStr {
        match self.atoms.all.get(test as usize) {
            Some(Atom::Condition(Condition::Expression(expression))) => expression.text().into(),
            Some(Atom::Condition(condition)) => condition.word().into(),
            Some(Atom::Clause(clause)) => clause.text().into(),
            Some(Atom::Test(Test::Fact(test), _)) => test.title(),
            Some(Atom::Test(Test::OwnedBySubject, _)) => SmolStr::new_static("owner"),
            Some(Atom::Test(test, _)) => crate::decide::cells::hint(test).into(),
            None => SmolStr::default(),
        }
    }
}

/// A test of which it is only known what it must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Open {
    pub(super) test: u32,
    pub(super) truth: Truth,
}

/// Those that cut most come first; who owns something comes after who somebody is.
fn order(field: &Field) -> u32 {
    match field {
        Field::Method => 0,
        Field::Operation => 1,
        Field::SubjectType => 2,
        Field::Type => 3,
        Field::App => 4,
        Field::Roles => 5,
        Field::Groups => 6,
        Field::Fact(FactOf::Subject, _) => 7,
        Field::SubjectId => 8,
        Field::ResourceId => 9,
        Field::Fact(..) => 10,
        Field::Address => 11,
        Field::Time => 12,
        Field::Path => 13,
    }
}

fn globs_of<'d>(patterns: &'d [PathPattern], globs: &mut Globs<'d>) -> Option<Vec<u32>> {
    let one = |pattern: &'d PathPattern| match pattern {
        PathPattern::Glob(glob) => Some(globs.number(glob)),
        PathPattern::Foreign(..) | PathPattern::Broken(_) => None,
    };
    patterns.iter().map(one).collect()
}

struct SpaceBuilder<'d> {
    decide: &'d Decide,
    shapes: Vec<Shape>,
    parts: Vec<Variable>,
    free: Vec<u32>,
}

impl<'d> SpaceBuilder<'d> {
    fn shape(&mut self, test: u32, shape: Shape) {
        if let Some(known) = self.shapes.get_mut(test as usize) {
            *known = shape;
        }
    }

    fn part(&mut self, variable: Variable) -> u32 {
        self.parts.push(variable);
        number(self.parts.len() - 1)
    }

    /// A field that is compared with texts: each text that the same tests name is a point, and so is that there is none.
    fn texts(&mut self, atoms: &Atoms<'d>, field: &Field, own: &[u32], owned: &[(u32, Truth)], with_owner: bool) {
        let mut named: BTreeMap<SmolStr, Vec<u32>> = BTreeMap::new();
        for test in own {
            let Some(Atom::Test(inner, _)) = atoms.all.get(*test as usize) else { continue };
            for text in crate::decide::cells::named_texts(inner) {
                // Methods are compared in any case.
                let text = if *field == Field::Method { text.to_ascii_uppercase().into() } else { text.clone() };
                let known = named.entry(text).or_default();
                if known.last() != Some(test) {
                    known.push(*test);
                }
            }
        }
        if with_owner {
            // Who has an empty id owns nothing, whatever else is asked of it.
            named.entry(SmolStr::default()).or_default().push(u32::MAX);
        }
        let texts: Vec<SmolStr> = named.keys().cloned().collect();
        let (mut values, mut nobody): (Vec<Given>, Vec<u32>) = Default::default();
        let mut by_tests: FxHashMap<Vec<u32>, u32> = FxHashMap::default();
        let mut points: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for (text, tests) in named {
            let point = number(values.len());
            if *by_tests.entry(tests.clone()).or_insert(point) == point {
                if tests.contains(&u32::MAX) {
                    nobody.push(point);
                }
                for test in tests {
                    points.entry(test).or_default().push(point);
                }
                values.push(Given::Text(text));
            }
        }
        let absent = number(values.len());
        nobody.push(absent);
        values.push(Given::Absent);
        let last = Given::Text(if *field == Field::Method { common_method(&texts) } else { fresh(&texts) });
        for test in own {
            let Some(atom) = atoms.all.get(*test as usize) else { continue };
            let otherwise = self.holds(atom, field, &last);
            let some = points.get(test).into_iter().flatten().chain([&absent]);
            let truths = some.filter_map(|point| Some((*point, self.holds(atom, field, values.get(*point as usize)?))));
            let points = truths.filter(|(_, truth)| *truth != otherwise).map(|(point, truth)| (point, label(truth)));
            let points = points.collect();
            self.shape(*test, Shape::Points { part: number(self.parts.len()), points, otherwise });
        }
        let id = self.part(Variable::Field { field: field.clone(), values, absent: Some(absent), last });
        if with_owner {
            let owner = self.part(Variable::Owner);
            for (test, absent) in owned {
                self.shape(*test, Shape::Owned { id, nobody: nobody.clone(), owner, absent: *absent });
            }
        }
    }

    fn holds(&self, atom: &Atom<'_>, field: &Field, given: &Given) -> Truth {
        let (mut request, mut room) = (Request::default(), Readings::default());
        field.put(given, &mut request);
        atom.holds(self.decide.asked(&request, &mut room))
    }

    /// Any other field: the values that its tests tell apart, if those are all.
    fn values(&mut self, atoms: &Atoms<'d>, field: &Field, own: &[u32]) {
        let bounds = CellBounds { points: MOST_POINTS, states: MOST_STATES, ..CellBounds::default() };
        let found = Part { atoms, field, own, bounds }.values();
        if found.extent != Extent::All {
            self.free.extend(own);
            return;
        }
        let mut points = found.points;
        // Where most tests are false, little must be said.
        let by_weight = |place: &usize| {
            points.get(*place).map_or((usize::MAX, true), |point| (point.marks.len(), point.given != Given::Absent))
        };
        let Some(last) = (0..points.len()).min_by_key(by_weight) else { return };
        let last = points.remove(last);
        let truth_in = |marks: &[crate::decide::cells::Mark], test: u32| match marks
            .iter()
            .find(|mark| mark.atom == test)
            .map(|mark| mark.truth)
        {
            Some(NotFalse::True) => Truth::True,
            Some(NotFalse::Error) => Truth::Error,
            None => Truth::False,
        };
        for test in own {
            let otherwise = truth_in(&last.marks, *test);
            let truths = (0..).zip(&points).map(|(place, point)| (place, truth_in(&point.marks, *test)));
            let differing = truths.filter(|(_, truth)| *truth != otherwise).map(|(place, truth)| (place, label(truth)));
            let shape = Shape::Points { part: number(self.parts.len()), points: differing.collect(), otherwise };
            self.shape(*test, shape);
        }
        let values = points.into_iter().map(|point| point.given).collect();
        self.part(Variable::Field { field: field.clone(), values, absent: None, last: last.given });
    }

    /// Roles and groups: whether there is a name that these tests ask for, sort by sort.
    fn names(&mut self, atoms: &Atoms<'d>, field: &Field, own: &[u32]) {
        let (mut patterns, mut test_of) = (Vec::new(), Vec::new());
        let mut asked = Vec::new();
        for test in own {
            match atoms.all.get(*test as usize).and_then(Atom::patterns) {
                Some(all) => {
                    test_of.resize(test_of.len() + all.len(), *test);
                    patterns.extend(all);
                    asked.push(*test);
                }
                // What another system makes of it.
                None => self.free.push(*test),
            }
        }
        let (sorts, complete) = classes(&patterns, Text::Name, MOST_STATES);
        if !complete {
            self.free.extend(asked);
            return;
        }
        let mut by_tests: FxHashMap<Vec<u32>, u32> = FxHashMap::default();
        let mut names: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for sort in sorts {
            let mut tests: Vec<u32> =
                sort.covered_by.iter().filter_map(|pattern| test_of.get(*pattern as usize)).copied().collect();
            tests.sort_unstable();
            tests.dedup();
            if !tests.is_empty() && !by_tests.contains_key(&tests) {
                let part = self.part(Variable::Name { field: field.clone(), name: sort.example.into() });
                by_tests.insert(tests.clone(), part);
                for test in tests {
                    names.entry(test).or_default().push(part);
                }
            }
        }
        for test in asked {
            self.shape(test, Shape::Names(names.remove(&test).unwrap_or_default()));
        }
    }
}

/// A method that people know and that none of these is.
fn common_method(texts: &[SmolStr]) -> SmolStr {
    let common = ["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"].map(SmolStr::new_static);
    common.into_iter().find(|method| !texts.contains(method)).unwrap_or_else(|| fresh(texts))
}
