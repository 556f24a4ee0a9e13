//! The other way round: from a pattern of paths to the policies whose patterns have a path in common with it.

use rustc_hash::{FxHashMap, FxHashSet};

use super::Index;
use super::entry_list::EntryList;
use super::trie::Trie;
use crate::decide::glob::Glob;

impl Index {
    /// The slots of policies that may be about a path that one of these patterns covers, each once, in any order. Some of them
    /// may not be: segments with wildcards are not held against each other.
    pub(in crate::decide) fn near<'g>(&self, globs: impl IntoIterator<Item = &'g Glob>) -> Vec<u32> {
        let mut lists = FxHashSet::default();
        // The first list has those that do not ask for a path.
        lists.insert(0);
        let mut walk = NearWalk::new(&self.trie);
        for glob in globs {
            walk.walk(glob, &mut lists);
        }
        let mut lists: Vec<u32> = lists.into_iter().collect();
        lists.sort_unstable();
        let entries = lists.iter().filter_map(|list| self.lists.get(*list as usize)).flat_map(EntryList::slots);
        let mut slots: Vec<u32> = entries.collect();
        slots.sort_unstable();
        slots.dedup();
        slots
    }
}

/// Walks a pattern and the tree together.
struct NearWalk<'t> {
    trie: &'t Trie,
    /// Where texts lead from each node, once somebody asks.
    literals: Option<FxHashMap<u32, Vec<u32>>>,
}

impl<'t> NearWalk<'t> {
    fn new(trie: &'t Trie) -> Self {
        Self { trie, literals: None }
    }

    /// Adds the lists of all patterns that may have a path in common with this one.
    fn walk(&mut self, glob: &Glob, lists: &mut FxHashSet<u32>) {
        use crate::decide::glob::Segment;
        let segments = glob.segments();
        let mut known: FxHashSet<(u32, usize)> = FxHashSet::default();
        let mut waiting = vec![(0_u32, 0_usize)];
        while let Some((node, place)) = waiting.pop() {
            if !known.insert((node, place)) {
                continue;
            }
            lists.extend(self.trie.rest_lists(node));
            match segments.get(place) {
                None if glob.rest().is_none() => lists.extend(self.trie.list_at(node)),
                // A whole rest of the path may be anything.
                None => {
                    lists.extend(self.trie.list_at(node));
                    waiting.extend(self.all_after(node).into_iter().map(|to| (to, place)));
                }
                Some(Segment::Literal(text)) => {
                    waiting.extend(self.trie.after(node, text).into_iter().map(|to| (to, place + 1)));
                }
                Some(Segment::Any | Segment::Pattern(_)) => {
                    waiting.extend(self.all_after(node).into_iter().map(|to| (to, place + 1)));
                }
                Some(Segment::Many) => {
                    let all = self.all_after(node);
                    waiting.extend(all.iter().map(|to| (*to, place + 1)));
                    waiting.extend(all.iter().map(|to| (*to, place)));
                }
            }
        }
    }

    /// The nodes to which any one segment may lead.
    fn all_after(&mut self, node: u32) -> Vec<u32> {
        let literals = self.literals.get_or_insert_with(|| self.trie.literal_edges());
        let mut all = self.trie.wild_after(node, |_| true);
        all.extend(literals.get(&node).into_iter().flatten());
        all
    }
}
