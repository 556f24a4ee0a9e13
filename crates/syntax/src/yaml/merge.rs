//! The merge key: `<<: *base` and `<<: [*first, *second]` bring the entries of other maps into a map.
//!
//! In goes a map that is about to end, out comes the same map without `<<`: its own entries, then what the merged maps
//! add. A key that the map has itself wins, then the first map of the list wins.

use std::collections::HashSet;

use upheld_model::{Fault, Kind};

use super::{Open, Reader, problems};

/// Only this key, written plain, merges.
pub(super) const KEY: &str = "<<";

impl Reader<'_> {
    /// Dissolves the value of the key `<<` into the innermost map.
    pub(super) fn merge(&mut self, map: &Open, key: u32) {
        let mut entries = Vec::new();
        let mut merged = Vec::new();
        for entry in self.tree.children(map.node).chunks_exact(2) {
            match *entry {
                [name, value] if name == key => merged = self.maps_to_merge(value),
                _ => entries.extend_from_slice(entry),
            }
        }
        let mut names: HashSet<&str> = entries.iter().step_by(2).map(|&key| self.tree.text(key, self.text)).collect();
        for map in merged {
            for entry in self.tree.children(map).chunks_exact(2) {
                if entry.first().is_some_and(|&key| names.insert(self.tree.text(key, self.text))) {
                    entries.extend_from_slice(entry);
                }
            }
        }
        let moves = Moves::of(map.node, &entries, |node| self.tree.size(node));
        self.tree.replace_children(&entries);
        self.anchors.follow(map.anchors_before, |node| moves.target(node));
    }

    fn maps_to_merge(&mut self, value: u32) -> Vec<u32> {
        let maps = match self.tree.kind(value) {
            Some(Kind::List) => self.tree.children(value),
            _ => vec![value],
        };
        if let Some(&other) = maps.iter().find(|&&map| self.tree.kind(map) != Some(Kind::Map)) {
            let span = self.tree.span(other).unwrap_or_default();
            self.spoiled = true;
            self.found.add(Fault::WrongType, |source| problems::merged_value(source, span));
            return Vec::new();
        }
        maps
    }
}

/// Where the parts of a map go when its entries are put anew.
struct Moves {
    /// The map itself, which stays.
    map: u32,
    /// Old first node, old end, new first node; in the order of the old nodes.
    ranges: Vec<(u32, u32, u32)>,
}

impl Moves {
    fn of(map: u32, children: &[u32], size: impl Fn(u32) -> usize) -> Self {
        let mut next = map + 1;
        let mut ranges = Vec::with_capacity(children.len());
        for &child in children {
            let size = u32::try_from(size(child)).unwrap_or(u32::MAX);
            ranges.push((child, child + size, next));
            next += size;
        }
        ranges.sort_unstable();
        Self { map, ranges }
    }

    /// The new number of a node, unless it is gone.
    fn target(&self, node: u32) -> Option<u32> {
        if node <= self.map {
            return Some(node);
        }
        let candidate = self.ranges.partition_point(|&(start, _, _)| start <= node).checked_sub(1)?;
        let &(start, end, new) = self.ranges.get(candidate)?;
        (node < end).then(|| new + (node - start))
    }
}
