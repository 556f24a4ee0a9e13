//! Cells that policies suggest: every combination of the values that their tests tell apart, part by part of a request.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;
use smol_str::SmolStr;

use super::dimension::{Field, Given};
use super::values::{Extent, Part, Point, Values, fresh};
use super::{Atom, Atoms, Cell, Mark};
use crate::decide::condition::Condition;
use crate::decide::fact_test::FactOf;
use crate::decide::family::Decide;
use crate::decide::request::Request;
use crate::decide::rule::Test;

/// How far to go. Counts, not times: the same policies give the same cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// States in which patterns can be while they are told apart.
    pub states: usize,
    /// Values of one part of a request.
    pub points: usize,
    /// Combinations that are looked at.
    pub cells: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { states: 1 << 18, points: 1 << 12, cells: 1 << 16 }
    }
}

/// Why there may be cells that were not found.
#[derive(Clone, Debug, PartialEq)]
pub enum Gap {
    /// Policies ask something of this part of a request of which not all answers are known.
    Sampled(Field),
    /// More values of this part, or more states of its patterns, than a bound allows.
    Bounded(Field),
    /// Whether an expression holds is found out by evaluating it, never by looking for values.
    Expression(SmolStr),
    /// There are so many combinations, and fewer are looked at.
    Cells(u128),
}

/// Cells with representatives that the policies themselves suggest.
#[derive(Clone, Debug)]
pub struct Suggested<'d> {
    atoms: Atoms<'d>,
    dimensions: Vec<Dimension>,
    /// Tests that are held against a whole request.
    joint: Vec<u32>,
    gaps: Vec<Gap>,
    bounds: Bounds,
}

/// A part of a request with values that its tests tell apart.
#[derive(Clone, Debug)]
struct Dimension {
    field: Field,
    points: Vec<Point>,
}

impl<'d> Suggested<'d> {
    /// Of policies.
    pub fn of(decide: &'d Decide, bounds: Bounds) -> Self {
        let atoms = Atoms::of(decide);
        let mut parts: BTreeMap<Field, Vec<u32>> = BTreeMap::new();
        let (mut joint, mut gaps) = (Vec::new(), Vec::new());
        for (number, atom) in (0..).zip(&atoms.all) {
            match atom.reads() {
                Some(field) => parts.entry(field).or_default().push(number),
                None => joint.push(number),
            }
            if let Atom::Condition(Condition::Expression(expression)) = atom {
                gaps.push(Gap::Expression(expression.text().into()));
            }
        }
        let owned = atoms.all.iter().any(|atom| matches!(atom, Atom::Test(Test::OwnedBySubject, _)));
        let owners: Vec<Field> = Field::owners().filter(|_| owned).collect();
        for field in owners.iter().chain([Field::SubjectId].iter().filter(|_| owned)) {
            parts.entry(field.clone()).or_default();
        }
        let entangled = entangled(&atoms, &parts, &owners);
        let (mut dimensions, mut ids) = (Vec::with_capacity(parts.len()), Vec::new());
        for (field, own) in &parts {
            let part = Part { atoms: &atoms, field, own, bounds };
            let Values { mut points, extent, .. } = part.values();
            // Values that only joint tests tell apart: who has no id owns nothing.
            let more = match field {
                Field::SubjectId if owned => vec![Given::Absent],
                field if owners.contains(field) => vec![Given::OwnId, Given::Text(fresh(&ids)), Given::Absent],
                _ => Vec::new(),
            };
            for given in more {
                if !points.iter().any(|point| point.given == given) {
                    points.push(part.point(given));
                }
            }
            if *field == Field::SubjectId {
                ids = points.iter().filter_map(|point| point.given.text()).collect();
            }
            let is_entangled = entangled.contains(field);
            if is_entangled {
                // What holds of the part alone need not hold of it beside the others.
                for point in &mut points {
                    point.marks.clear();
                }
                joint.extend(own);
            }
            match extent {
                Extent::Bounded => gaps.push(Gap::Bounded(field.clone())),
                Extent::All if !is_entangled => {}
                Extent::All | Extent::Sampled => gaps.push(Gap::Sampled(field.clone())),
            }
            dimensions.push(Dimension { field: field.clone(), points });
        }
        let mut suggested = Self { atoms, dimensions, joint, gaps, bounds };
        let combinations = suggested.combinations();
        if combinations > bounds.cells as u128 {
            suggested.gaps.push(Gap::Cells(combinations));
        }
        suggested
    }

    /// The tests, which know the cell of any request.
    pub fn atoms(&self) -> &Atoms<'d> {
        &self.atoms
    }

    /// Why there may be more cells. If nothing is said, every request of which nothing is unknown, and whose path everybody
    /// reads alike, is in one of these cells.
    pub fn gaps(&self) -> &[Gap] {
        &self.gaps
    }

    /// The cells, each once with a request in it, made one after the other.
    pub fn cells(&self) -> impl Iterator<Item = (Cell, Request)> {
        let mut known = FxHashSet::default();
        let most = self.combinations().min(self.bounds.cells as u128);
        // Without joint tests no two combinations are alike.
        let is_new = move |(cell, _): &(Cell, Request)| self.joint.is_empty() || known.insert(cell.clone());
        (0..most).map(|combination| self.combined(combination)).filter(is_new)
    }

    fn combinations(&self) -> u128 {
        self.dimensions.iter().fold(1, |all, dimension| all.saturating_mul(dimension.points.len() as u128))
    }

    fn combined(&self, mut combination: u128) -> (Cell, Request) {
        let (mut request, mut marks): (Request, Vec<Mark>) = Default::default();
        for Dimension { field, points } in &self.dimensions {
            let count = (points.len() as u128).max(1);
            let place = usize::try_from(combination % count).unwrap_or_default();
            combination /= count;
            if let Some(Point { given, marks: own }) = points.get(place) {
                field.put(given, &mut request);
                marks.extend(own);
            }
        }
        marks.extend(self.atoms.marks(self.joint.iter().copied(), &request));
        marks.sort_unstable();
        (Cell(marks.into()), request)
    }
}

/// Facts that cannot have any value whatever others have: one leads into another, or has a name that also leads somewhere, or
/// names an owner.
pub(in crate::decide) fn entangled(
    atoms: &Atoms<'_>,
    parts: &BTreeMap<Field, Vec<u32>>,
    owners: &[Field],
) -> FxHashSet<Field> {
    let facts = |of: FactOf| {
        parts.keys().filter_map(move |field| match field {
            Field::Fact(own, path) if *own == of => Some((field, path)),
            _ => None,
        })
    };
    let mut entangled: FxHashSet<Field> = FxHashSet::default();
    for of in [FactOf::Subject, FactOf::Resource, FactOf::Action, FactOf::Environment] {
        for (field, path) in facts(of) {
            for (other, longer) in facts(of).filter(|(_, other)| other.len() > path.len()) {
                if longer.starts_with(path) {
                    entangled.extend([field.clone(), other.clone()]);
                }
            }
        }
    }
    for atom in &atoms.all {
        let Atom::Test(Test::Fact(test), _) = atom else { continue };
        // A whole name counts before the way that its parts lead.
        let whole = Field::Fact(test.of, vec![test.name.clone()]);
        if test.path.as_slice() != [test.name.clone()] {
            let led_to = Field::of_fact(test);
            // Expressions only go the way of the parts.
            let is_clause = |own: &u32| matches!(atoms.all.get(*own as usize), Some(Atom::Clause(_)));
            let is_read_otherwise = parts.get(&led_to).is_some_and(|own| own.iter().any(is_clause));
            if parts.contains_key(&whole) {
                entangled.extend([whole, led_to]);
            } else if is_read_otherwise {
                entangled.insert(led_to);
            }
        }
    }
    entangled.extend(owners.iter().filter(|field| parts.get(*field).is_some_and(|own| !own.is_empty())).cloned());
    entangled
}
