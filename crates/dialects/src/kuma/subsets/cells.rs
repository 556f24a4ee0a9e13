//! The cells of a group, each with the classes that it lies in.
//!
//! A choice for one key rules out the classes that say something else of it, so the walk goes key by key and carries along
//! what is left. Where nothing is left it turns back: what it takes is proportional to what it finds.

use std::borrow::Cow;

use super::classes::{Class, Classes, Mark};
use super::limits::TooManyCells;
use super::{Subset, Tag};

/// A key with the values that a group knows of it.
#[derive(Debug)]
pub(super) struct Dimension {
    key: usize,
    /// The numbers of the tags, sorted by value.
    tags: Vec<usize>,
}

/// By what cells made of some sorted tags differ; the first changes fastest.
pub(super) fn dimensions(classes: &Classes<'_>, tags: &[usize]) -> Vec<Dimension> {
    let mut dimensions: Vec<Dimension> = Vec::new();
    for tag in tags {
        let Some(key) = classes.key_of(*tag) else { continue };
        match dimensions.last_mut().filter(|last| last.key == key) {
            Some(last) => last.tags.push(*tag),
            None => dimensions.push(Dimension { key, tags: vec![*tag] }),
        }
    }
    dimensions
}

/// How many cells there are, up to the largest number.
pub(super) fn cell_count(dimensions: &[Dimension]) -> usize {
    dimensions.iter().fold(1, |count: usize, dimension| count.saturating_mul(dimension.tags.len() + 1))
}

/// A cell: for each dimension, from the last to the first, which of its tags it has. They count from the last tag to the
/// first, then comes none of them.
pub(super) type Digits = [usize];

/// Visits the cells that lie in some of the classes, in the order of their digits.
pub(super) fn visit_cells(
    classes: &Classes<'_>,
    dimensions: &[Dimension],
    candidates: &[usize],
    visit: impl FnMut(&Digits, &[usize]) -> Result<(), TooManyCells>,
) -> Result<(), TooManyCells> {
    Walk { classes, digits: Vec::with_capacity(dimensions.len()), visit }.choose(dimensions, candidates)
}

/// A cell in words.
pub(super) fn subset_of(classes: &Classes<'_>, dimensions: &[Dimension], digits: &Digits) -> Subset {
    let mut tags = Vec::with_capacity(dimensions.len());
    for (dimension, digit) in dimensions.iter().zip(digits.iter().rev()) {
        match dimension.chosen(*digit) {
            Some(tag) => tags.extend(classes.tag(tag)),
            None => {
                let all = dimension.tags.iter().filter_map(|tag| classes.tag(*tag));
                tags.extend(all.map(|tag| Tag { not: true, ..tag }));
            }
        }
    }
    Subset { tags }
}

struct Walk<'w, 's, V> {
    classes: &'w Classes<'s>,
    digits: Vec<usize>,
    visit: V,
}

impl<V: FnMut(&Digits, &[usize]) -> Result<(), TooManyCells>> Walk<'_, '_, V> {
    /// Chooses for the remaining dimensions in every way, given what the choices so far have left.
    fn choose(&mut self, dimensions: &[Dimension], left: &[usize]) -> Result<(), TooManyCells> {
        if left.is_empty() {
            return Ok(());
        }
        let Some((dimension, others)) = dimensions.split_last() else {
            return (self.visit)(&self.digits, left);
        };
        let sorted = Sorted::new(self.classes, dimension, left);
        for digit in 0..=dimension.tags.len() {
            self.digits.push(digit);
            self.choose(others, &sorted.left_by(digit))?;
            self.digits.pop();
        }
        Ok(())
    }
}

impl Dimension {
    /// The tag that a digit stands for, unless it stands for none of them.
    fn chosen(&self, digit: usize) -> Option<usize> {
        self.tags.iter().rev().nth(digit).copied()
    }

    fn digit_of(&self, tag: usize) -> Option<usize> {
        let place = self.tags.binary_search(&tag).ok()?;
        Some(self.tags.len() - 1 - place)
    }

    /// Whether a choice leaves a class with these marks on the key.
    fn admits(&self, digit: usize, marks: &[Mark]) -> bool {
        let chosen = self.chosen(digit);
        marks.iter().all(|mark| match chosen {
            Some(tag) => (mark.tag == tag) != mark.not,
            None => mark.not && self.tags.iter().all(|tag| *tag == mark.tag),
        })
    }
}

/// Classes by what they say of one key.
struct Sorted<'d, 's> {
    dimension: &'d Dimension,
    /// Nothing: every choice leaves them.
    silent: Vec<usize>,
    /// One value: one digit leaves them. Sorted.
    decided: Vec<(usize, usize)>,
    /// Something negated or contradictory, which Kuma's own items hardly ever do.
    odd: Vec<(usize, &'s [Mark])>,
}

impl<'d, 's> Sorted<'d, 's> {
    fn new(classes: &'s Classes<'_>, dimension: &'d Dimension, left: &[usize]) -> Self {
        let mut sorted = Self { dimension, silent: Vec::new(), decided: Vec::new(), odd: Vec::new() };
        for class in left {
            match classes.get(*class).map_or(&[][..], |found: &Class<'_>| found.marks_on(dimension.key)) {
                [] => sorted.silent.push(*class),
                [Mark { tag, not: false, .. }] => {
                    sorted.decided.extend(dimension.digit_of(*tag).map(|digit| (digit, *class)));
                }
                marks => sorted.odd.push((*class, marks)),
            }
        }
        sorted.decided.sort_unstable();
        sorted
    }

    /// The classes that a choice leaves, sorted.
    fn left_by(&self, digit: usize) -> Cow<'_, [usize]> {
        let from = self.decided.partition_point(|(other, _)| *other < digit);
        let decided = self.decided.iter().skip(from).take_while(|(other, _)| *other == digit).map(|(_, class)| *class);
        let odd = self.odd.iter().filter(|(_, marks)| self.dimension.admits(digit, marks)).map(|(class, _)| *class);
        let mut others = decided.chain(odd).peekable();
        if others.peek().is_none() {
            return Cow::Borrowed(&self.silent);
        }
        let mut left: Vec<usize> = self.silent.iter().copied().chain(others).collect();
        left.sort_unstable();
        Cow::Owned(left)
    }
}
