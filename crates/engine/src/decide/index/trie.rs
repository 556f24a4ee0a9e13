//! Path patterns as a tree of segments, walked once for a path with all nodes that are still possible.

use regex::Regex;

use super::NONE;
use super::keys::{Key, LongTexts, Slots};
use crate::decide::glob::{Glob, Like, Segment};

/// The tree. The first node is the root.
#[derive(Clone, Debug)]
pub(super) struct Trie {
    nodes: Vec<Node>,
    /// By node and segment.
    literals: Edges,
    /// Segments with wildcards in them, with the node that they lead to.
    likes: Vec<(Like, u32)>,
    /// Whole rests of a path, with the list that they lead to.
    rests: Vec<(Regex, u32)>,
    /// How many nodes take any number of segments.
    loops: u32,
    /// Where all paths lead that begin with a slash, if they lead to one node.
    below_slash: u32,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    /// Where any segment leads.
    any: u32,
    /// Where one or more segments lead.
    many: u32,
    /// The list of entries whose pattern ends here.
    list: u32,
    /// Its number among the nodes that take more segments.
    repeats: u32,
    likes: (u32, u32),
    rests: (u32, u32),
    literals: Literals,
}

/// Whether texts lead on from a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Literals {
    None,
    Some,
}

impl Default for Node {
    fn default() -> Self {
        Self {
            any: NONE,
            many: NONE,
            list: NONE,
            repeats: NONE,
            likes: (0, 0),
            rests: (0, 0),
            literals: Literals::None,
        }
    }
}

/// Patterns on their way into a tree.
#[derive(Debug, Default)]
pub(super) struct Builder {
    trie: Trie,
    likes: Vec<(u32, Like, String, u32)>,
    rests: Vec<(u32, Regex, u32)>,
    lists: u32,
}

impl Default for Trie {
    fn default() -> Self {
        let (literals, likes, rests) = (Edges::default(), Vec::new(), Vec::new());
        Self { nodes: vec![Node::default()], literals, likes, rests, loops: 0, below_slash: NONE }
    }
}

impl Builder {
    /// For lists from a number on.
    pub(super) fn new(lists: u32) -> Self {
        Self { lists, ..Self::default() }
    }

    /// The number of the list for all entries with a pattern.
    pub(super) fn list_of(&mut self, glob: &Glob) -> u32 {
        let node = glob.segments().iter().fold(0, |node, segment| self.follow(node, segment));
        if let Some(rest) = glob.rest() {
            let known = self.rests.iter().find(|(at, known, _)| *at == node && known.as_str() == rest.as_str());
            return match known {
                Some((.., list)) => *list,
                None => {
                    let list = self.new_list();
                    self.rests.push((node, rest.clone(), list));
                    list
                }
            };
        }
        match self.trie.nodes.get(node as usize).map_or(NONE, |node| node.list) {
            NONE => {
                let list = self.new_list();
                self.change(node, |node| node.list = list);
                list
            }
            list => list,
        }
    }

    fn new_list(&mut self) -> u32 {
        self.lists += 1;
        self.lists - 1
    }

    fn follow(&mut self, from: u32, segment: &Segment) -> u32 {
        let node = self.trie.nodes.get(from as usize).copied().unwrap_or_default();
        match segment {
            Segment::Literal(text) => {
                let text = text.as_bytes();
                if let Some(to) = self.trie.literals.follow(from, text, &Key::of(0, text)) {
                    return to;
                }
                let to = self.new_node(Node::default());
                self.trie.literals.add(from, text, to);
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
                let repeats = self.trie.loops;
                self.trie.loops += 1;
                let to = self.new_node(Node { repeats, ..Node::default() });
                self.change(from, |node| node.many = to);
                to
            }
            Segment::Like(like) => {
                let text = format!("{like:?}");
                let known = self.likes.iter().find(|(at, _, known, _)| *at == from && *known == text);
                if let Some((.., to)) = known {
                    return *to;
                }
                let to = self.new_node(Node::default());
                self.likes.push((from, like.clone(), text, to));
                to
            }
        }
    }

    fn new_node(&mut self, node: Node) -> u32 {
        self.trie.nodes.push(node);
        u32::try_from(self.trie.nodes.len() - 1).unwrap_or(NONE)
    }

    fn change(&mut self, node: u32, change: impl FnOnce(&mut Node)) {
        if let Some(node) = self.trie.nodes.get_mut(node as usize) {
            change(node);
        }
    }

    /// The finished tree, and how many lists there are.
    pub(super) fn finish(mut self) -> (Trie, u32) {
        let number = |count: usize| u32::try_from(count).unwrap_or(NONE);
        let mut likes = std::mem::take(&mut self.likes);
        likes.sort_by_key(|(node, ..)| *node);
        for (from, like, _, to) in likes {
            let at = number(self.trie.likes.len());
            self.trie.likes.push((like, to));
            self.change(from, |node| node.likes = extended(node.likes, at));
        }
        let mut rests = std::mem::take(&mut self.rests);
        rests.sort_by_key(|(node, ..)| *node);
        for (from, rest, list) in rests {
            let at = number(self.trie.rests.len());
            self.trie.rests.push((rest, list));
            self.change(from, |node| node.rests = extended(node.rests, at));
        }
        let root = self.trie.nodes.first().copied().unwrap_or_default();
        if root.any == NONE && root.many == NONE && root.likes.1 == 0 && root.rests.1 == 0 {
            self.trie.below_slash = self.trie.literals.follow(0, b"", &Key::of(0, b"")).unwrap_or(NONE);
        }
        self.trie.nodes.shrink_to_fit();
        self.trie.literals.all.shrink_to_fit();
        (self.trie, self.lists)
    }
}

/// How many bytes stand before the next slash. Segments are short, so eight bytes at a time are best.
fn up_to_slash(bytes: &[u8]) -> usize {
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

fn extended((start, length): (u32, u32), at: u32) -> (u32, u32) {
    if length == 0 { (at, 1) } else { (start, length + 1) }
}

/// Where a segment leads from a node.
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
    fn follow(&self, from: u32, segment: &[u8], key: &Key) -> Option<u32> {
        let is = |number: u32| {
            let edge = self.all.get(number as usize);
            edge.is_some_and(|edge| edge.from == from && self.long.is(&edge.by, key, segment))
        };
        let number = self.slots.find(key.hash(from), is)?;
        self.all.get(number as usize).map(|edge| edge.to)
    }

    fn add(&mut self, from: u32, segment: &[u8], to: u32) {
        let number = u32::try_from(self.all.len()).unwrap_or(NONE);
        let by = self.long.keep(Key::of(0, segment), segment);
        self.all.push(Edge { by, from, to });
        let all = &self.all;
        let hash_of = |number: u32| all.get(number as usize).map_or(0, |edge| edge.by.hash(edge.from));
        self.slots.insert(by.hash(from), number, hash_of);
    }
}

/// Room for walks, and what the last one found.
#[derive(Debug, Default)]
pub(super) struct Walk {
    now: Vec<u32>,
    next: Vec<u32>,
    /// The step at which each node that takes more segments was last reached.
    reached: Vec<u32>,
    step: u32,
    lists: Vec<u32>,
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

    fn start(&mut self, loops: usize) {
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
    fn step(&self, now: &[u32], segment: &[u8], rest: Option<&str>, next: &mut Vec<u32>, walk: &mut Walk) {
        let key = Key::of(0, segment);
        for number in now {
            #[cfg(test)]
            {
                walk.steps += 1;
            }
            let Some(node) = self.nodes.get(*number as usize) else { continue };
            if node.literals == Literals::Some
                && let Some(to) = self.literals.follow(*number, segment, &key)
            {
                next.push(to);
            }
            if node.any != NONE {
                next.push(node.any);
            }
            if node.many != NONE
                && let Some(many) = self.nodes.get(node.many as usize)
                && walk.reaches(many.repeats)
            {
                next.push(node.many);
            }
            if node.repeats != NONE && walk.reaches(node.repeats) {
                next.push(*number);
            }
            if node.likes.1 > 0 || node.rests.1 > 0 {
                self.try_likes(node, segment, next);
                self.try_rests(node, rest.unwrap_or_default(), walk);
            }
        }
    }

    fn try_likes(&self, node: &Node, segment: &[u8], next: &mut Vec<u32>) {
        let (start, length) = node.likes;
        let Ok(segment) = str::from_utf8(segment) else { return };
        for (like, to) in self.likes.iter().skip(start as usize).take(length as usize) {
            if like.covers(segment) {
                next.push(*to);
            }
        }
    }

    fn try_rests(&self, node: &Node, rest: &str, walk: &mut Walk) {
        let (start, length) = node.rests;
        for (regex, list) in self.rests.iter().skip(start as usize).take(length as usize) {
            if regex.is_match(rest) {
                walk.lists.push(*list);
            }
        }
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
