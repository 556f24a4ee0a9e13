//! Small decision diagrams over parts of a request that have one of several points each, with any labels at the end.
//!
//! A node asks whether a part is at one of its points. If it is, the part is settled; if not, the node after it may ask for the next
//! point of the same part, and whoever is at none of those that are asked for is at the last point, which is never asked for. So every
//! way through a diagram is a request that could be, and equal functions are one node.

use rustc_hash::{FxHashMap, FxHashSet};

use super::formula::PathPoint;
use super::{Bound, Bounds};
use crate::order::number;
use crate::work;

/// Steps that are counted together: each of them is short.
const TOGETHER: usize = 64;

/// A function of a request: a node, or a label that all requests get.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Ref(u32);

const LEAF: u32 = 1 << 31;

impl Ref {
    /// The same label for all.
    pub(super) const fn leaf(label: u32) -> Self {
        Self(label | LEAF)
    }

    /// The label, if all get the same.
    pub(super) fn label(self) -> Option<u32> {
        (self.0 & LEAF != 0).then_some(self.0 & !LEAF)
    }
}

/// Whether a part is at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Node {
    part: u32,
    point: u32,
    yes: Ref,
    no: Ref,
}

/// How much may be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Limits {
    /// Nodes of the diagrams of one class of paths.
    pub(super) nodes: usize,
    /// Steps in all.
    pub(super) steps: usize,
}

/// What there was too much of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Full {
    /// Nodes.
    Nodes,
    /// Steps.
    Steps,
}

impl Full {
    /// The bound that was met at paths of a class.
    pub(super) fn bound(self, at: &PathPoint, bounds: &Bounds) -> Bound {
        match self {
            Self::Nodes => Bound::Nodes(bounds.nodes, at.path.as_deref().unwrap_or_default().into()),
            Self::Steps => Bound::Steps(bounds.steps),
        }
    }
}

/// How two functions become one.
pub(super) trait Operation {
    /// The label where the labels are these.
    fn labels(&mut self, one: u32, other: u32) -> u32;

    /// The function, where it can be told without looking further.
    fn shortcut(&self, one: Ref, other: Ref) -> Option<Ref> {
        let _ = (one, other);
        None
    }
}

/// How deep diagrams may be: walks go so deep into each other.
const DEEPEST: usize = 1500;
/// How many results are remembered.
const REMEMBERED: usize = 1 << 13;

/// Diagrams that share their nodes.
#[derive(Debug)]
pub(super) struct Diagram {
    nodes: Vec<Node>,
    unique: FxHashMap<Node, u32>,
    /// Results by what they are of, for one operation at a time.
    memory: Vec<Remembered>,
    era: u32,
    steps: usize,
    limits: Limits,
}

#[derive(Clone, Copy, Debug)]
struct Remembered {
    of: (Ref, Ref),
    era: u32,
    result: Ref,
}

impl Diagram {
    pub(super) fn new(limits: Limits) -> Self {
        let nothing = Remembered { of: (Ref(0), Ref(0)), era: 0, result: Ref(0) };
        let memory = vec![nothing; REMEMBERED];
        Self { nodes: Vec::new(), unique: FxHashMap::default(), memory, era: 0, steps: 0, limits }
    }

    /// Forgets all nodes.
    pub(super) fn clear(&mut self) {
        const SMALL: usize = 1 << 12;
        self.nodes.clear();
        if self.unique.capacity() > SMALL {
            self.unique = FxHashMap::default();
        } else {
            self.unique.clear();
        }
    }

    /// One label where a part is at a point, and one everywhere else.
    pub(super) fn test(&mut self, part: u32, points: &[(u32, u32)], otherwise: u32) -> Result<Ref, Full> {
        let mut all = Ref::leaf(otherwise);
        for (point, label) in points.iter().rev() {
            all = self.node(part, *point, Ref::leaf(*label), all)?;
        }
        Ok(all)
    }

    /// The function that is `yes` where a part is at a point, and `no` everywhere else; they ask for nothing before that.
    pub(super) fn node(&mut self, part: u32, point: u32, yes: Ref, no: Ref) -> Result<Ref, Full> {
        if yes == self.last(no, part) {
            return Ok(no);
        }
        let node = Node { part, point, yes, no };
        if let Some(known) = self.unique.get(&node) {
            return Ok(Ref(*known));
        }
        if self.nodes.len() >= self.limits.nodes {
            return Err(Full::Nodes);
        }
        let own = number(self.nodes.len());
        self.nodes.push(node);
        self.unique.insert(node, own);
        Ok(Ref(own))
    }

    /// Both functions together.
    pub(super) fn apply(&mut self, one: Ref, other: Ref, operation: &mut impl Operation) -> Result<Ref, Full> {
        self.era += 1;
        self.combine(one, other, operation, 0)
    }

    /// Other labels in the place of those that there are.
    pub(super) fn map(&mut self, one: Ref, label: impl FnMut(u32) -> u32) -> Result<Ref, Full> {
        struct Map<F>(F);
        impl<F: FnMut(u32) -> u32> Operation for Map<F> {
            fn labels(&mut self, one: u32, _: u32) -> u32 {
                (self.0)(one)
            }
        }
        self.apply(one, Ref::leaf(0), &mut Map(label))
    }

    fn combine(&mut self, one: Ref, other: Ref, operation: &mut impl Operation, depth: usize) -> Result<Ref, Full> {
        if let Some(known) = operation.shortcut(one, other) {
            return Ok(known);
        }
        if let (Some(one), Some(other)) = (one.label(), other.label()) {
            return Ok(Ref::leaf(operation.labels(one, other)));
        }
        let place = place(one, other);
        if let Some(known) = self.memory.get(place)
            && known.era == self.era
            && known.of == (one, other)
        {
            return Ok(known.result);
        }
        self.steps += 1;
        if self.steps.is_multiple_of(TOGETHER) {
            work::steps(TOGETHER as u64);
        }
        if self.steps > self.limits.steps || depth > DEEPEST {
            return Err(Full::Steps);
        }
        let asked = [one, other].into_iter().filter_map(|function| self.get(function));
        let Some((part, point)) = asked.map(|node| (node.part, node.point)).min() else { return Err(Full::Steps) };
        let (one_yes, one_no) = self.split(one, part, point);
        let (other_yes, other_no) = self.split(other, part, point);
        let yes = self.combine(one_yes, other_yes, operation, depth + 1)?;
        let no = self.combine(one_no, other_no, operation, depth + 1)?;
        let result = self.node(part, point, yes, no)?;
        if let Some(remembered) = self.memory.get_mut(place) {
            *remembered = Remembered { of: (one, other), era: self.era, result };
        }
        Ok(result)
    }

    fn get(&self, function: Ref) -> Option<Node> {
        match function.label() {
            Some(_) => None,
            None => self.nodes.get(function.0 as usize).copied(),
        }
    }

    /// What is left of a function where a part is at a point, and where it is at a later one.
    fn split(&self, function: Ref, part: u32, point: u32) -> (Ref, Ref) {
        match self.get(function) {
            Some(node) if node.part == part && node.point == point => (node.yes, node.no),
            Some(node) if node.part == part => (self.last(function, part), function),
            _ => (function, function),
        }
    }

    /// What is left of a function where a part is at its last point.
    fn last(&self, mut function: Ref, part: u32) -> Ref {
        while let Some(node) = self.get(function)
            && node.part == part
        {
            function = node.no;
        }
        function
    }

    /// All labels that some request gets, in order.
    pub(super) fn labels(&self, function: Ref) -> Vec<u32> {
        let (mut known, mut found): (FxHashSet<Ref>, Vec<u32>) = Default::default();
        let mut waiting = vec![function];
        while let Some(function) = waiting.pop() {
            if known.insert(function) {
                found.extend(function.label());
                waiting.extend(self.get(function).into_iter().flat_map(|node| [node.yes, node.no]));
            }
        }
        found.sort_unstable();
        found
    }

    /// The way to a label that costs least: what each part that is asked for must be.
    pub(super) fn way(&self, function: Ref, label: u32, cost: impl Fn(u32, u32) -> u32) -> Option<Vec<Choice>> {
        let mut costs: FxHashMap<Ref, Option<u32>> = FxHashMap::default();
        self.cost(function, label, &cost, &mut costs)?;
        let known = |function: Ref| match function.label() {
            Some(own) => (own == label).then_some(0),
            None => costs.get(&function).copied().flatten(),
        };
        let (mut way, mut at): (Vec<Choice>, Ref) = (Vec::new(), function);
        while let Some(Node { part, point, yes, no }) = self.get(at) {
            if way.last().is_none_or(|last| last.part != part) {
                way.push(Choice { part, at: None, not: Vec::new() });
            }
            let choice = way.last_mut()?;
            let taken = known(yes).map(|left| left + cost(part, point));
            if taken.is_some_and(|taken| known(no).is_none_or(|left| taken < left)) {
                choice.at = Some(point);
                at = yes;
            } else {
                choice.not.push(point);
                at = no;
            }
        }
        Some(way)
    }

    /// What the way to a label costs at least. Nodes come after those that they lead to.
    fn cost(
        &self,
        function: Ref,
        label: u32,
        cost: &impl Fn(u32, u32) -> u32,
        costs: &mut FxHashMap<Ref, Option<u32>>,
    ) -> Option<u32> {
        let mut below: Vec<u32> = Vec::new();
        let (mut known, mut waiting): (FxHashSet<Ref>, Vec<Ref>) = (FxHashSet::default(), vec![function]);
        while let Some(function) = waiting.pop() {
            if let Some(node) = self.get(function)
                && known.insert(function)
            {
                below.push(function.0);
                waiting.extend([node.yes, node.no]);
            }
        }
        below.sort_unstable();
        let of = |function: Ref, costs: &FxHashMap<Ref, Option<u32>>| match function.label() {
            Some(own) => (own == label).then_some(0),
            None => costs.get(&function).copied().flatten(),
        };
        for own in below {
            let Some(Node { part, point, yes, no }) = self.get(Ref(own)) else { continue };
            let (yes, no) = (of(yes, costs).map(|left| left + cost(part, point)), of(no, costs));
            costs.insert(Ref(own), yes.into_iter().chain(no).min());
        }
        of(function, costs)
    }
}

/// What a part must be on a way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Choice {
    /// Which part.
    pub(super) part: u32,
    /// At which point; nothing if it is none of those that are asked for.
    pub(super) at: Option<u32>,
    /// Those that are asked for, and where it is not.
    pub(super) not: Vec<u32>,
}

fn place(one: Ref, other: Ref) -> usize {
    let mixed = (u64::from(one.0) << 32 | u64::from(other.0)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    usize::try_from(mixed >> 40).unwrap_or_default() % REMEMBERED
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Parts with three points each.
    const PARTS: u32 = 4;
    const POINTS: u32 = 3;

    struct Sum;
    impl Operation for Sum {
        fn labels(&mut self, one: u32, other: u32) -> u32 {
            (one * 3 + other) % 5
        }
    }

    struct Greatest;
    impl Operation for Greatest {
        fn labels(&mut self, one: u32, other: u32) -> u32 {
            one.max(other)
        }
    }

    fn limits() -> Limits {
        Limits { nodes: 10_000, steps: 1_000_000 }
    }

    /// The label of a request by walking.
    fn at(diagram: &Diagram, mut function: Ref, request: &[u32]) -> u32 {
        while let Some(node) = diagram.get(function) {
            let is_there = request[node.part as usize] == node.point;
            // Whoever is at a point answers no to all later ones of the part.
            function = if is_there { node.yes } else { node.no };
        }
        function.label().unwrap()
    }

    fn requests() -> Vec<Vec<u32>> {
        (0..POINTS.pow(PARTS))
            .map(|number| (0..PARTS).map(|part| number / POINTS.pow(part) % POINTS).collect())
            .collect()
    }

    proptest! {
        #[test]
        fn a_diagram_is_the_function_that_it_is_made_of(
            tests in prop::collection::vec((0..PARTS, 0..POINTS - 1, 0..5_u32, 0..5_u32), 1..8),
        ) {
            let mut diagram = Diagram::new(limits());
            let mut all = Ref::leaf(0);
            for (part, point, yes, no) in &tests {
                let test = diagram.test(*part, &[(*point, *yes)], *no).unwrap();
                all = diagram.apply(all, test, &mut Sum).unwrap();
            }
            let expected = |request: &[u32]| tests.iter().fold(0, |sum, (part, point, yes, no)| {
                Sum.labels(sum, if request[*part as usize] == *point { *yes } else { *no })
            });
            let mut labels: Vec<u32> = requests().iter().map(|request| expected(request)).collect();
            for (request, label) in requests().iter().zip(&labels) {
                prop_assert_eq!(at(&diagram, all, request), *label);
            }
            labels.sort_unstable();
            labels.dedup();
            prop_assert_eq!(&diagram.labels(all), &labels);
            for label in labels {
                let way = diagram.way(all, label, |_, _| 1).unwrap();
                let mut request = vec![0; PARTS as usize];
                for choice in way {
                    request[choice.part as usize] = choice.at.unwrap_or_else(|| {
                        (0..POINTS).rev().find(|point| !choice.not.contains(point)).unwrap()
                    });
                }
                prop_assert_eq!(expected(&request), label);
            }
        }

        #[test]
        fn equal_functions_are_one(order in Just((0..PARTS).collect::<Vec<_>>()).prop_shuffle()) {
            let mut diagram = Diagram::new(limits());
            let mut made = Vec::new();
            for order in [order, (0..PARTS).collect()] {
                let mut all = Ref::leaf(1);
                for part in order {
                    let test = diagram.test(part, &[(0, 1), (1, 2)], 3).unwrap();
                    all = diagram.apply(all, test, &mut Greatest).unwrap();
                }
                made.push(all);
            }
            prop_assert_eq!(made[0], made[1]);
        }
    }

    #[test]
    fn what_is_too_much_is_said() {
        let mut diagram = Diagram::new(Limits { nodes: 3, steps: 1_000 });
        let mut all = Ref::leaf(0);
        let full = (0..9).find_map(|part| {
            let made = diagram.test(part, &[(0, 1)], 0).and_then(|test| diagram.apply(all, test, &mut Sum));
            made.map(|made| all = made).err()
        });
        assert_eq!(full, Some(Full::Nodes));
        let mut diagram = Diagram::new(Limits { nodes: 1_000, steps: 3 });
        let mut all = Ref::leaf(0);
        let full = (0..9).find_map(|part| {
            let made = diagram.test(part, &[(0, 1)], 0).and_then(|test| diagram.apply(all, test, &mut Sum));
            made.map(|made| all = made).err()
        });
        assert_eq!(full, Some(Full::Steps));
    }
}
