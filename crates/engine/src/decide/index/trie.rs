//! Path patterns as a tree of segments, walked once for a path with all nodes that are still possible.

use upheld_model::Pages;

#[cfg(test)]
use super::Unshared;
use super::keys::{Key, LongTexts, Slots};
use super::layers::{Growing, Layered, Settle};
use super::together::Trails;
use super::{BESIDE_TREE, NONE};
use crate::decide::glob::{Glob, Segment, SegmentPattern};
use crate::decide::pattern::Pattern;
use crate::order::number;

/// The tree. The first node is the root. It can grow at any time, and its clones do not see that; what it leads to stays.
#[derive(Clone, Debug)]
pub(super) struct Trie {
    nodes: Pages<Node, NODES>,
    /// By node and segment.
    literals: Layered<Edges>,
    /// Segments with wildcards in them, with the node that they lead to; those of one node are a chain.
    likes: Pages<Link<SegmentPattern>>,
    /// Whole rests of a path, with the list that they lead to; those of one node are a chain.
    rests: Pages<Link<Pattern>>,
    /// How many nodes take any number of segments.
    pub(super) loops: u32,
    /// How many lists there are; the first ones are not in the tree.
    lists: u32,
    /// Where all paths lead that begin with a slash, if they lead to one node.
    below_slash: u32,
}

/// Nodes of a page: few pages are to be shared, and little is to be copied.
const NODES: usize = 512;

#[derive(Clone, Copy, Debug)]
struct Node {
    /// Where any segment leads.
    any: u32,
    /// Where one or more segments lead.
    many: u32,
    /// The number of that node among those that take more segments.
    many_repeats: u32,
    /// The list of entries whose pattern ends here.
    list: u32,
    /// Its number among the nodes that take more segments.
    repeats: u32,
    /// The first of its segments with wildcards.
    likes: u32,
    /// The first of its rests.
    rests: u32,
    literals: Literals,
}

/// Whether texts lead on from a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Literals {
    None,
    Some,
}

/// One of several patterns at a node.
#[derive(Clone, Debug)]
struct Link<P> {
    pattern: P,
    to: u32,
    next: u32,
}

impl Default for Node {
    fn default() -> Self {
        Self {
            any: NONE,
            many: NONE,
            many_repeats: NONE,
            list: NONE,
            repeats: NONE,
            likes: NONE,
            rests: NONE,
            literals: Literals::None,
        }
    }
}

impl Default for Trie {
    fn default() -> Self {
        let nodes = std::iter::once(Node::default()).collect();
        let (literals, likes, rests) = (Layered::default(), Pages::default(), Pages::default());
        Self { nodes, literals, likes, rests, loops: 0, lists: BESIDE_TREE, below_slash: NONE }
    }
}

impl Trie {
    /// How many lists there are.
    pub(super) fn lists(&self) -> usize {
        self.lists as usize
    }

    /// See [`Layered::settle`].
    pub(super) fn settle(&mut self, when: Settle) {
        self.literals.settle(when);
    }

    #[cfg(test)]
    pub(super) fn unshared(&self, other: &Self) -> Unshared {
        let pages = [self.nodes.unshared(&other.nodes), self.likes.unshared(&other.likes)];
        let pages = pages.into_iter().sum::<usize>() + self.rests.unshared(&other.rests);
        Unshared { pages, items: self.literals.unshared(&other.literals) }
    }

    /// The number of the list for all entries with a pattern.
    pub(super) fn list_of(&mut self, glob: &Glob) -> u32 {
        let node = glob.segments().iter().fold(0, |node, segment| self.lead(node, segment));
        let list = match glob.rest() {
            Some(rest) => self.list_of_rest(node, rest),
            None => match self.node(node).list {
                NONE => {
                    let list = self.new_list();
                    self.change(node, |node| node.list = list);
                    list
                }
                list => list,
            },
        };
        let root = self.node(0);
        self.below_slash = if [root.any, root.many, root.likes, root.rests] == [NONE; 4] {
            self.follow(0, b"", &Key::of(0, b"")).unwrap_or(NONE)
        } else {
            NONE
        };
        list
    }

    fn list_of_rest(&mut self, node: u32, rest: &Pattern) -> u32 {
        let first = self.node(node).rests;
        if let Some(known) = chain(&self.rests, first).find(|link| link.pattern.as_str() == rest.as_str()) {
            return known.to;
        }
        let list = self.new_list();
        let link = number(self.rests.len());
        self.rests.push(Link { pattern: rest.clone(), to: list, next: first });
        self.change(node, |node| node.rests = link);
        list
    }

    fn new_list(&mut self) -> u32 {
        self.lists += 1;
        self.lists - 1
    }

    /// Where a segment of a pattern leads, made if it is new.
    fn lead(&mut self, from: u32, segment: &Segment) -> u32 {
        let node = self.node(from);
        match segment {
            Segment::Literal(text) => {
                let text = text.as_bytes();
                if let Some(to) = self.follow(from, text, &Key::of(0, text)) {
                    return to;
                }
                let to = self.new_node(Node::default());
                self.literals.add(|edges| edges.add(from, text, to));
                self.change(from, |node| node.literals = Literals::Some);
                to
            }
            Segment::Any if node.any != NONE => node.any,
            Segment::Any => {
                let to = self.new_node(Node::default());
                self.change(from, |node| node.any = to);
                to
            }
            Segment::Many if node.many != NONE => node.many,
            Segment::Many => {
                let repeats = self.loops;
                self.loops += 1;
                let to = self.new_node(Node { repeats, ..Node::default() });
                self.change(from, |node| (node.many, node.many_repeats) = (to, repeats));
                to
            }
            Segment::Pattern(like) => {
                if let Some(known) = chain(&self.likes, node.likes).find(|link| link.pattern.is_same_as(like)) {
                    return known.to;
                }
                let to = self.new_node(Node::default());
                let link = number(self.likes.len());
                self.likes.push(Link { pattern: like.clone(), to, next: node.likes });
                self.change(from, |node| node.likes = link);
                to
            }
        }
    }

    /// Where a text leads from a node.
    #[inline]
    fn follow(&self, from: u32, segment: &[u8], key: &Key) -> Option<u32> {
        let Layered { frozen, recent } = &self.literals;
        match frozen.follow(from, segment, key) {
            None if !recent.all.is_empty() => recent.follow(from, segment, key),
            found => found,
        }
    }

    /// Whether some patterns take whole rests of a path.
    pub(super) fn has_rests(&self) -> bool {
        !self.rests.is_empty()
    }

    fn node(&self, number: u32) -> Node {
        self.nodes.get(number as usize).copied().unwrap_or_default()
    }

    fn new_node(&mut self, node: Node) -> u32 {
        self.nodes.push(node);
        number(self.nodes.len() - 1)
    }

    fn change(&mut self, node: u32, change: impl FnOnce(&mut Node)) {
        if let Some(node) = self.nodes.get_mut(node as usize) {
            change(node);
        }
    }
}

/// For those who walk the tree with a pattern in place of a path.
impl Trie {
    /// The list of the patterns that end at a node.
    pub(super) fn list_at(&self, node: u32) -> Option<u32> {
        Some(self.node(node).list).filter(|list| *list != NONE)
    }

    /// The lists of whole rests after a node.
    pub(super) fn rest_lists(&self, node: u32) -> impl Iterator<Item = u32> {
        chain(&self.rests, self.node(node).rests).map(|link| link.to)
    }

    /// The nodes to which a segment leads.
    pub(super) fn after(&self, node: u32, segment: &str) -> Vec<u32> {
        let mut all = self.wild_after(node, |like| like.covers(segment));
        all.extend(self.follow(node, segment.as_bytes(), &Key::of(0, segment.as_bytes())));
        all
    }

    /// The nodes to which wildcards lead, some of those that stand in a segment.
    pub(super) fn wild_after(&self, number: u32, fits: impl Fn(&SegmentPattern) -> bool) -> Vec<u32> {
        let node = self.node(number);
        let again = if node.repeats == NONE { NONE } else { number };
        let mut all: Vec<u32> = [node.any, node.many, again].into_iter().filter(|to| *to != NONE).collect();
        all.extend(chain(&self.likes, node.likes).filter(|link| fits(&link.pattern)).map(|link| link.to));
        all
    }

    /// Whether texts lead on from a node.
    pub(super) fn has_literals(&self, node: u32) -> bool {
        self.node(node).literals == Literals::Some
    }

    /// Calls back with the node from which each text leads, and the one to which it does.
    pub(super) fn each_literal(&self, mut act: impl FnMut(u32, u32)) {
        for edge in self.literals.frozen.all.iter().chain(&self.literals.recent.all) {
            act(edge.from, edge.to);
        }
    }
}

/// The patterns of a node, from the first on.
fn chain<P>(links: &Pages<Link<P>>, first: u32) -> impl Iterator<Item = &Link<P>> {
    std::iter::successors(links.get(first as usize), |link| links.get(link.next as usize))
}

/// How many bytes stand before the next slash. Segments are short, so eight bytes at a time are best.
pub(super) fn up_to_slash(bytes: &[u8]) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let (words, rest) = bytes.as_chunks::<8>();
    let mut before = 0;
    for word in words {
        // A byte that is a slash becomes zero, and a zero borrows from its highest bit.
        let zero = u64::from_le_bytes(*word) ^ (ONES * u64::from(b'/'));
        let found = zero.wrapping_sub(ONES) & !zero & (ONES << 7);
        if found != 0 {
            return before + found.trailing_zeros() as usize / 8;
        }
        before += 8;
    }
    before + rest.iter().position(|byte| *byte == b'/').unwrap_or(rest.len())
}

/// Where texts lead from a node.
#[derive(Clone, Debug, Default)]
struct Edges {
    all: Vec<Edge>,
    slots: Slots,
    long: LongTexts,
}

#[derive(Clone, Copy, Debug)]
struct Edge {
    by: Key,
    from: u32,
    to: u32,
}

impl Edges {
    #[inline]
    fn follow(&self, from: u32, segment: &[u8], key: &Key) -> Option<u32> {
        let is = |number: u32| {
            let edge = self.all.get(number as usize);
            edge.is_some_and(|edge| edge.from == from && self.long.is(&edge.by, key, segment))
        };
        let number = self.slots.find(key.hash(from), is)?;
        self.all.get(number as usize).map(|edge| edge.to)
    }

    fn add(&mut self, from: u32, segment: &[u8], to: u32) -> u32 {
        let by = self.long.keep(Key::of(0, segment), segment);
        self.put(Edge { by, from, to })
    }

    fn put(&mut self, edge: Edge) -> u32 {
        let number = number(self.all.len());
        self.all.push(edge);
        let Self { all, slots, .. } = self;
        let hash_of = |number: u32| all.get(number as usize).map_or(0, |edge| edge.by.hash(edge.from));
        slots.insert(hash_of(number), number, hash_of);
        number
    }
}

impl Growing for Edges {
    fn len(&self) -> usize {
        self.all.len()
    }

    fn append(&mut self, other: Self) {
        let moved = self.long.append(&other.long);
        self.all.reserve_exact(other.all.len());
        for edge in other.all {
            self.put(Edge { by: moved(edge.by), ..edge });
        }
    }

    fn shrink(&mut self) {
        self.all.shrink_to_fit();
        self.long.shrink();
    }
}

/// Room for walks, and what the last one found.
#[derive(Debug, Default)]
pub(super) struct Walk {
    pub(super) now: Vec<u32>,
    pub(super) next: Vec<u32>,
    /// The step at which each node that takes more segments was last reached.
    reached: Vec<u32>,
    pub(super) step: u32,
    pub(super) lists: Vec<u32>,
    /// Room for paths that are walked together.
    pub(super) trails: Trails,
    #[cfg(test)]
    steps: usize,
}

impl Walk {
    /// The lists that the last walk led to.
    pub(super) fn lists(&self) -> &[u32] {
        &self.lists
    }

    #[cfg(test)]
    pub(super) fn steps(&self) -> usize {
        self.steps
    }

    pub(super) fn start(&mut self, loops: usize) {
        self.lists.clear();
        if self.reached.len() < loops || self.step > u32::MAX / 2 {
            self.reached.clear();
            self.reached.resize(loops, 0);
            self.step = 0;
        }
        #[cfg(test)]
        {
            self.steps = 0;
        }
    }

    /// Whether a node that takes more segments is reached for the first time in this step: it is reached from itself and
    /// from its parent, and once is enough.
    fn reaches(&mut self, repeats: u32) -> bool {
        match self.reached.get_mut(repeats as usize) {
            Some(reached) if *reached != self.step => {
                *reached = self.step;
                true
            }
            _ => false,
        }
    }
}

impl Trie {
    /// Finds the lists of all patterns that cover a path.
    pub(super) fn walk(&self, path: &str, walk: &mut Walk) {
        walk.start(self.loops as usize);
        let (mut now, mut next) = (std::mem::take(&mut walk.now), std::mem::take(&mut walk.next));
        let bytes = path.as_bytes();
        let mut start = 0;
        now.clear();
        if self.below_slash != NONE && bytes.first() == Some(&b'/') {
            now.push(self.below_slash);
            start = 1;
        } else {
            now.push(0);
        }
        while let Some(left) = bytes.get(start..) {
            let length = up_to_slash(left);
            let segment = left.get(..length).unwrap_or_default();
            next.clear();
            walk.step += 1;
            self.step(&now, segment, path.get(start..), &mut next, walk);
            std::mem::swap(&mut now, &mut next);
            if now.is_empty() || length == left.len() {
                break;
            }
            start += length + 1;
        }
        for number in &now {
            match self.nodes.get(*number as usize).map_or(NONE, |node| node.list) {
                NONE => {}
                list => walk.lists.push(list),
            }
        }
        (walk.now, walk.next) = (now, next);
    }

    /// Takes one segment; the rest of the path begins with it.
    #[expect(clippy::inline_always, reason = "every decision comes through here, and a call takes a tenth of it")]
    #[inline(always)]
    pub(super) fn step(&self, now: &[u32], segment: &[u8], rest: Option<&str>, next: &mut Vec<u32>, walk: &mut Walk) {
        let key = Key::of(0, segment);
        for number in now {
            #[cfg(test)]
            {
                walk.steps += 1;
            }
            let Some(node) = self.nodes.get(*number as usize) else { continue };
            if node.literals == Literals::Some
                && let Some(to) = self.follow(*number, segment, &key)
            {
                next.push(to);
            }
            if node.any != NONE {
                next.push(node.any);
            }
            if node.many != NONE && walk.reaches(node.many_repeats) {
                next.push(node.many);
            }
            if node.repeats != NONE && walk.reaches(node.repeats) {
                next.push(*number);
            }
            if node.likes != NONE || node.rests != NONE {
                self.try_likes(node, segment, next);
                self.try_rests(node, rest.unwrap_or_default(), walk);
            }
        }
    }

    fn try_likes(&self, node: &Node, segment: &[u8], next: &mut Vec<u32>) {
        let Ok(segment) = str::from_utf8(segment) else { return };
        next.extend(chain(&self.likes, node.likes).filter(|link| link.pattern.covers(segment)).map(|link| link.to));
    }

    fn try_rests(&self, node: &Node, rest: &str, walk: &mut Walk) {
        let found = chain(&self.rests, node.rests).filter(|link| link.pattern.is_match(rest));
        walk.lists.extend(found.map(|link| link.to));
    }
}

#[cfg(test)]
mod tests {
    use super::up_to_slash;

    #[test]
    fn slashes_are_found_at_every_place() {
        for before in 0..40 {
            for after in 0..20 {
                let text = format!(
                    "{}/{}",
                    "é.".repeat(before).get(..before).unwrap_or(&"a".repeat(before)),
                    "x/".repeat(after)
                );
                assert_eq!(up_to_slash(text.as_bytes()), text.find('/').unwrap(), "{text}");
            }
            assert_eq!(up_to_slash("a".repeat(before).as_bytes()), before);
        }
    }
}
