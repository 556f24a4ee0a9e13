//! Which items are listed together.

use std::cmp::Reverse;

use super::bits::Bits;
use super::cells::{Dimension, cell_count, dimensions};
use super::classes::Classes;
use super::cliques::maximal_cliques;
use super::limits::{Effort, TooManyCells};

/// Which items are listed together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grouping {
    /// Those that meet pairwise, as Kuma does it; cells of two groups may overlap and disagree.
    Cliques,
    /// Those that are connected, as Kuma did it before and can still be told to. Cells of two groups overlap and disagree
    /// only if all tags of an item of one group occur in the other one as well.
    Components,
    /// Those that are connected, together with the groups where all their tags occur. Rules of two groups never overlap,
    /// so a client is in one rule or in none, and that rule has its [exact items](super::exact_items), provided that no
    /// tag of an item is negated and the client has a tag.
    Exact,
}

/// Items that are listed together.
#[derive(Debug)]
pub(super) struct Group {
    /// By what its cells differ.
    pub(super) dimensions: Vec<Dimension>,
    /// The classes, of this group or not, that its cells can lie in.
    pub(super) candidates: Vec<usize>,
    items: Vec<usize>,
}

/// All groups, in the order in which Kuma lists them: by the numbers of their items as text, backwards.
pub(super) fn groups(
    classes: &Classes<'_>,
    grouping: Grouping,
    effort: &mut Effort,
) -> Result<Vec<Group>, TooManyCells> {
    let neighbours = neighbours(classes, effort)?;
    let mut groups = Vec::new();
    let mut add = |members: &[usize], effort: &mut Effort| {
        groups.push(group(classes, members, effort)?);
        Ok(())
    };
    match grouping {
        Grouping::Cliques => maximal_cliques(&neighbours, effort, add)?,
        Grouping::Components => components(&neighbours).iter().try_for_each(|members| add(members, effort))?,
        Grouping::Exact => {
            let components = components(&neighbours);
            closed(classes, components, effort)?.iter().try_for_each(|members| add(members, effort))?;
        }
    }
    let text = |group: &Group| group.items.iter().map(ToString::to_string).collect::<Vec<_>>().join(":");
    groups.sort_by_cached_key(|group| Reverse(text(group)));
    Ok(groups)
}

fn group(classes: &Classes<'_>, members: &[usize], effort: &mut Effort) -> Result<Group, TooManyCells> {
    let tags = classes.tags_of(members);
    let dimensions = dimensions(classes, &tags);
    effort.add_cells(cell_count(&dimensions))?;
    let items = classes.items_of(members);
    effort.keep(items.len())?;
    effort.spend(classes.steps_within(&tags))?;
    Ok(Group { dimensions, candidates: classes.within(&tags), items })
}

/// For each class all others that it meets.
fn neighbours(classes: &Classes<'_>, effort: &mut Effort) -> Result<Vec<Bits>, TooManyCells> {
    let count = classes.count();
    let mut with_tag: Vec<Vec<usize>> = vec![Vec::new(); classes.tag_count()];
    for (number, class) in classes.iter().enumerate() {
        for tag in class.positive_tags() {
            if let Some(with_tag) = with_tag.get_mut(tag) {
                with_tag.push(number);
            }
        }
    }
    let words = Bits::none(count).steps();
    effort.keep((count + classes.key_count()).saturating_mul(words))?;
    effort.spend(with_tag.iter().map(Vec::len).sum::<usize>().saturating_mul(words))?;

    // Two do not meet if they have different values for the same key, so for each tag only few others stay.
    let mut neighbours = vec![Bits::all(count); count];
    for (number, neighbours) in neighbours.iter_mut().enumerate() {
        neighbours.remove(number);
    }
    let silent_on_key = silent_on_key(classes);
    for (tag, with_tag) in with_tag.iter().enumerate() {
        let Some((key, silent)) = classes.key_of(tag).and_then(|key| Some((key, silent_on_key.get(key)?))) else {
            continue;
        };
        let mut compatible = silent.clone();
        let says_only_this = |number: &&usize| classes.get(**number).is_some_and(|class| class.positive_on(key) == 1);
        with_tag.iter().filter(says_only_this).for_each(|number| compatible.insert(*number));
        for number in with_tag {
            if let Some(neighbours) = neighbours.get_mut(*number) {
                neighbours.keep_only(&compatible);
            }
        }
    }
    Ok(neighbours)
}

/// For each key the classes without a positive tag of it.
fn silent_on_key(classes: &Classes<'_>) -> Vec<Bits> {
    let mut silent_on_key = vec![Bits::all(classes.count()); classes.key_count()];
    for (number, class) in classes.iter().enumerate() {
        for mark in class.marks.iter().filter(|mark| !mark.not) {
            if let Some(silent) = silent_on_key.get_mut(mark.key) {
                silent.remove(number);
            }
        }
    }
    silent_on_key
}

fn components(neighbours: &[Bits]) -> Vec<Vec<usize>> {
    let mut waiting = Bits::all(neighbours.len());
    let mut components = Vec::new();
    for first in 0..neighbours.len() {
        if !waiting.contains(first) {
            continue;
        }
        waiting.remove(first);
        let mut component = vec![first];
        let mut place = 0;
        while let Some(near) = component.get(place).and_then(|member| neighbours.get(*member)) {
            let reached = waiting.and(near);
            waiting.remove_all(&reached);
            component.extend(reached.iter());
            place += 1;
        }
        components.push(component);
    }
    components
}

/// Joins groups until the cells of each lie in items of its own only. If a cell with a client lies in an item, then the item
/// and whatever else speaks about the client are in the group, so the cell knows all of them.
fn closed(
    classes: &Classes<'_>,
    mut open: Vec<Vec<usize>>,
    effort: &mut Effort,
) -> Result<Vec<Vec<usize>>, TooManyCells> {
    let mut closed: Vec<Vec<usize>> = Vec::new();
    while let Some(mut members) = open.pop() {
        loop {
            members.sort_unstable();
            let tags = classes.tags_of(&members);
            effort.spend(classes.steps_within(&tags))?;
            let mut strangers = classes.within(&tags);
            strangers.retain(|class| members.binary_search(class).is_err());
            if strangers.is_empty() {
                break;
            }
            effort.spend(classes.count())?;
            let has_stranger =
                |group: &mut Vec<usize>| group.iter().any(|class| strangers.binary_search(class).is_ok());
            members.extend(open.extract_if(.., has_stranger).flatten());
            members.extend(closed.extract_if(.., has_stranger).flatten());
        }
        closed.push(members);
    }
    Ok(closed)
}
