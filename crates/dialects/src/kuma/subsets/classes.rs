//! Items as small integers: tags get numbers, and items with the same subset are one class.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use smol_str::SmolStr;

use super::{Subset, Tag};

/// All distinct subsets of some items.
#[derive(Debug)]
pub(super) struct Classes<'s> {
    /// Tags by number, sorted by key and value as Kuma sorts them.
    tags: Vec<NumberedTag<'s>>,
    all: Vec<Class<'s>>,
    /// For each tag the classes of which it is the rarest positive tag, so that a class is found in one place only.
    by_rarest_tag: Vec<Vec<usize>>,
    without_positive_tag: Vec<usize>,
    class_of_item: Vec<usize>,
}

#[derive(Debug)]
struct NumberedTag<'s> {
    key_number: usize,
    key: &'s SmolStr,
    value: &'s SmolStr,
}

/// Items with the same subset.
#[derive(Debug)]
pub(super) struct Class<'s> {
    pub(super) subset: &'s Subset,
    /// The tags of the subset, sorted.
    pub(super) marks: Vec<Mark>,
    /// The items, in their order.
    pub(super) items: Vec<usize>,
}

/// A tag of a subset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Mark {
    /// The number of the key.
    pub(super) key: usize,
    /// The number of the tag, that is of key and value.
    pub(super) tag: usize,
    /// Whether it is negated.
    pub(super) not: bool,
}

impl<'s> Classes<'s> {
    pub(super) fn of(subsets: &'s [Subset]) -> Self {
        let tags = numbered_tags(subsets);
        let numbers: FxHashMap<(&str, &str), usize> =
            tags.iter().enumerate().map(|(number, tag)| ((tag.key.as_str(), tag.value.as_str()), number)).collect();
        let mark = |tag: &Tag| {
            let number = *numbers.get(&(tag.key.as_str(), tag.value.as_str()))?;
            Some(Mark { key: tags.get(number)?.key_number, tag: number, not: tag.not })
        };
        let mut all: Vec<Class<'s>> = Vec::new();
        let mut class_of_item = Vec::with_capacity(subsets.len());
        let mut known: FxHashMap<Vec<Mark>, usize> = FxHashMap::default();
        for (item, subset) in subsets.iter().enumerate() {
            let mut marks: Vec<Mark> = subset.tags.iter().filter_map(mark).collect();
            marks.sort_unstable();
            marks.dedup();
            let number = known.get(&marks).copied().unwrap_or(all.len());
            class_of_item.push(number);
            match all.get_mut(number) {
                Some(class) => class.items.push(item),
                None => {
                    // What contradicts itself does not even meet its like, so these stay apart.
                    let positive = marks.iter().filter(|mark| !mark.not);
                    if positive.is_sorted_by(|mark, next| mark.key < next.key) {
                        known.insert(marks.clone(), number);
                    }
                    all.push(Class { subset, marks, items: vec![item] });
                }
            }
        }
        let by_rarest_tag = vec![Vec::new(); tags.len()];
        let mut classes = Self { tags, all, by_rarest_tag, without_positive_tag: Vec::new(), class_of_item };
        classes.index();
        classes
    }

    fn index(&mut self) {
        let mut uses = vec![0_usize; self.tags.len()];
        for tag in self.all.iter().flat_map(Class::positive_tags) {
            if let Some(uses) = uses.get_mut(tag) {
                *uses += 1;
            }
        }
        for (number, class) in self.all.iter().enumerate() {
            let rarest = class.positive_tags().min_by_key(|tag| uses.get(*tag));
            match rarest.and_then(|tag| self.by_rarest_tag.get_mut(tag)) {
                Some(found_here) => found_here.push(number),
                None => self.without_positive_tag.push(number),
            }
        }
    }

    pub(super) fn count(&self) -> usize {
        self.all.len()
    }

    pub(super) fn tag_count(&self) -> usize {
        self.tags.len()
    }

    pub(super) fn key_count(&self) -> usize {
        self.tags.last().map_or(0, |last| last.key_number + 1)
    }

    pub(super) fn get(&self, class: usize) -> Option<&Class<'s>> {
        self.all.get(class)
    }

    pub(super) fn class_of(&self, item: usize) -> Option<usize> {
        self.class_of_item.get(item).copied()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Class<'s>> {
        self.all.iter()
    }

    pub(super) fn key_of(&self, tag: usize) -> Option<usize> {
        self.tags.get(tag).map(|tag| tag.key_number)
    }

    /// A tag in words, not negated.
    pub(super) fn tag(&self, tag: usize) -> Option<Tag> {
        self.tags.get(tag).map(|tag| Tag { key: tag.key.clone(), value: tag.value.clone(), not: false })
    }

    /// The tags of some classes, sorted.
    pub(super) fn tags_of(&self, classes: &[usize]) -> Vec<usize> {
        let classes = classes.iter().filter_map(|class| self.get(*class));
        let mut tags: Vec<usize> = classes.flat_map(|class| class.marks.iter().map(|mark| mark.tag)).collect();
        tags.sort_unstable();
        tags.dedup();
        tags
    }

    /// All classes, sorted, that a cell made of these tags can lie in: their positive tags and all their keys are among
    /// them.
    pub(super) fn within(&self, tags: &[usize]) -> Vec<usize> {
        let has_key = |key: usize| tags.binary_search_by_key(&Some(key), |tag| self.key_of(*tag)).is_ok();
        let fits = |mark: &Mark| if mark.not { has_key(mark.key) } else { tags.binary_search(&mark.tag).is_ok() };
        let found = tags.iter().filter_map(|tag| self.by_rarest_tag.get(*tag)).flatten();
        let mut within: Vec<usize> = (self.without_positive_tag.iter().chain(found))
            .filter(|class| self.get(**class).is_some_and(|class| class.marks.iter().all(fits)))
            .copied()
            .collect();
        within.sort_unstable();
        within
    }

    /// How long [`within`](Self::within) takes.
    pub(super) fn steps_within(&self, tags: &[usize]) -> usize {
        let found = tags.iter().filter_map(|tag| self.by_rarest_tag.get(*tag));
        self.without_positive_tag.len() + tags.len() + found.map(Vec::len).sum::<usize>()
    }

    /// The items of some classes, in their order.
    pub(super) fn items_of(&self, classes: &[usize]) -> Vec<usize> {
        let classes = classes.iter().filter_map(|class| self.get(*class));
        let mut items: Vec<usize> = classes.flat_map(|class| class.items.iter().copied()).collect();
        items.sort_unstable();
        items
    }
}

impl Class<'_> {
    /// What it says of a key.
    pub(super) fn marks_on(&self, key: usize) -> &[Mark] {
        let from = self.marks.partition_point(|mark| mark.key < key);
        let to = self.marks.partition_point(|mark| mark.key <= key);
        self.marks.get(from..to).unwrap_or_default()
    }

    /// How many positive tags of a key it has; more than one contradict each other.
    pub(super) fn positive_on(&self, key: usize) -> usize {
        self.marks_on(key).iter().filter(|mark| !mark.not).count()
    }

    pub(super) fn positive_tags(&self) -> impl Iterator<Item = usize> {
        self.marks.iter().filter(|mark| !mark.not).map(|mark| mark.tag)
    }
}

fn numbered_tags(subsets: &[Subset]) -> Vec<NumberedTag<'_>> {
    let tags = subsets.iter().flat_map(|subset| &subset.tags);
    let distinct: BTreeSet<(&SmolStr, &SmolStr)> = tags.map(|tag| (&tag.key, &tag.value)).collect();
    let mut numbered: Vec<NumberedTag<'_>> = Vec::with_capacity(distinct.len());
    for (key, value) in distinct {
        let key_number = match numbered.last() {
            Some(last) if last.key == key => last.key_number,
            Some(last) => last.key_number + 1,
            None => 0,
        };
        numbered.push(NumberedTag { key_number, key, value });
    }
    numbered
}
