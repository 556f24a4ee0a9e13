//! The sets of tags that objects have. Real objects use few different ones: they come from templates and from habits.

use super::organisation::Tag;
use crate::workload::random::Random;

/// How many there are of a kind.
const COUNT: usize = 400;

/// Values by tag.
pub(super) type Archetype = Vec<Vec<u32>>;

/// Where objects stand in pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// They have the say.
    First,
    /// They have the say over some, and others over them.
    Middle,
    /// Others have the say over them.
    Second,
}

/// The values that every second side keeps to, and that every middle one keeps to.
const CORES: [usize; 2] = [2, 4];

/// Archetypes that all fit together, but for those of a thousand values that are planted.
pub(super) fn archetypes(side: Side, tags: &[Tag], planted: usize, random: &mut Random) -> Vec<Archetype> {
    let archetype = |_| {
        let values = |tag: &Tag| match (tag.open, random.below(1_000) < planted) {
            (false, false) => fitting(side, tag, random),
            // Something else than everybody else, or nothing at all.
            (false, true) if random.one_in(2) => u32::try_from(tag.values - 1).into_iter().collect(),
            (true, _) | (false, true) => Vec::new(),
        };
        tags.iter().map(values).collect()
    };
    (0..COUNT).map(archetype).collect()
}

/// Values that fit those of all others. Nested ones are inside those of every side that has the say; others have one in
/// common.
fn fitting(side: Side, tag: &Tag, random: &mut Random) -> Vec<u32> {
    let usual = tag.values - 1;
    let [inner, outer] = CORES.map(|core| core.min(usual));
    let mut values: Vec<usize> = Vec::new();
    if tag.nested {
        match side {
            Side::Second => values.extend((0..=random.below(2)).map(|_| random.below(inner))),
            Side::Middle => {
                values.extend(0..inner);
                values.extend((inner..outer).filter(|_| random.one_in(2)));
            }
            Side::First => {
                values.extend(0..outer);
                values.extend([0, 1].map(|_| random.below(usual)));
            }
        }
    } else {
        values.push(0);
        values.extend((0..random.below(3)).map(|_| random.below(usual)));
    }
    values.sort_unstable();
    values.dedup();
    values.into_iter().filter_map(|value| u32::try_from(value).ok()).collect()
}
