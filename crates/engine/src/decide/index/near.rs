//! The other way round: from a pattern of paths to the policies whose patterns have a path in common with it.

use rustc_hash::{FxHashMap, FxHashSet};

use super::entry_list::EntryList;
use super::trie::Trie;
use super::{Index, WITHOUT_PATH};
use crate::decide::glob::{Glob, Segment};

impl Index {
    /// The slots of policies that may be about a path that one of these patterns covers, each once, in any order. Some of them
    /// may not be: segments with wildcards are not held against each other.
    pub(in crate::decide) fn near<'g>(&self, globs: impl IntoIterator<Item = &'g Glob>) -> Vec<u32> {
        let mut lists = FxHashSet::default();
        // The first list has those that do not ask for a path.
        lists.insert(WITHOUT_PATH);
        NearWalk { trie: &self.trie, globs: globs.into_iter().collect() }.walk(&mut lists);
        let mut lists: Vec<u32> = lists.into_iter().collect();
        lists.sort_unstable();
        let entries = lists.iter().filter_map(|list| self.lists.get(*list as usize)).flat_map(EntryList::slots);
        let mut slots: Vec<u32> = entries.collect();
        slots.sort_unstable();
        slots.dedup();
        slots
    }
}

/// Walks patterns and the tree together.
struct NearWalk<'t, 'g> {
    trie: &'t Trie,
    globs: Vec<&'g Glob>,
}

/// A node, with which pattern it was reached, and how many of the segments are behind.
type Reached = (u32, usize, usize);

impl NearWalk<'_, '_> {
    /// Adds the lists of all patterns that may have a path in common with one of these. All go on by one segment together, because
    /// where texts lead from a node is told only by looking at all texts.
    fn walk(&self, lists: &mut FxHashSet<u32>) {
        let mut known: FxHashSet<Reached> = FxHashSet::default();
        let mut now: Vec<Reached> = (0..self.globs.len()).map(|glob| (0, glob, 0)).collect();
        while !now.is_empty() {
            now.retain(|reached| known.insert(*reached));
            let literals = self.literals(&now);
            let mut next = Vec::new();
            for (node, glob, place) in now {
                lists.extend(self.trie.rest_lists(node));
                let after = |node: u32| {
                    let all = literals.get(&node).into_iter().flatten().copied();
                    all.chain(self.trie.wild_after(node, |_| true))
                };
                match self.segment(glob, place) {
                    Ahead::End => lists.extend(self.trie.list_at(node)),
                    // A whole rest of the path may be anything.
                    Ahead::Rest => {
                        lists.extend(self.trie.list_at(node));
                        next.extend(after(node).map(|to| (to, glob, place)));
                    }
                    Ahead::Segment(Segment::Literal(text)) => {
                        next.extend(self.trie.after(node, text).into_iter().map(|to| (to, glob, place + 1)));
                    }
                    Ahead::Segment(Segment::Any | Segment::Pattern(_)) => {
                        next.extend(after(node).map(|to| (to, glob, place + 1)));
                    }
                    Ahead::Segment(Segment::Many) => {
                        next.extend(after(node).flat_map(|to| [(to, glob, place), (to, glob, place + 1)]));
                    }
                }
            }
            now = next;
        }
    }

    /// Where texts lead from those nodes that are left by any segment.
    fn literals(&self, now: &[Reached]) -> FxHashMap<u32, Vec<u32>> {
        let is_wild = |reached: &&Reached| {
            !matches!(self.segment(reached.1, reached.2), Ahead::End | Ahead::Segment(Segment::Literal(_)))
        };
        let nodes = now.iter().filter(is_wild).map(|(node, ..)| *node).filter(|node| self.trie.has_literals(*node));
        let mut literals: FxHashMap<u32, Vec<u32>> = nodes.map(|node| (node, Vec::new())).collect();
        if !literals.is_empty() {
            self.trie.each_literal(|from, to| literals.get_mut(&from).into_iter().for_each(|all| all.push(to)));
        }
        literals
    }

    fn segment(&self, glob: usize, place: usize) -> Ahead<'_> {
        let Some(glob) = self.globs.get(glob) else { return Ahead::End };
        match (glob.segments().get(place), glob.rest()) {
            (Some(segment), _) => Ahead::Segment(segment),
            (None, Some(_)) => Ahead::Rest,
            (None, None) => Ahead::End,
        }
    }
}

/// What comes next in a pattern.
enum Ahead<'g> {
    Segment(&'g Segment),
    Rest,
    End,
}
