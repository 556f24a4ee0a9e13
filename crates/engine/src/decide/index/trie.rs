//! Path patterns as a tree of segments, walked once for a path with all nodes that are still possible.

use regex::Regex;

use super::NONE;
use super::atoms::{AtomKind, Atoms, Slots};
use crate::decide::glob::{Glob, Like, Segment};

/// The tree. The first node is the root.
#[derive(Clone, Debug)]
pub(super) struct Trie {
    nodes: Vec<Node>,
    segments: Atoms,
    /// By node and segment.
    literals: Edges,
    /// Segments with wildcards in them, with the node that they lead to.
    likes: Vec<(Like, u32)>,
    /// Whole rests of a path, with the list that they lead to.
    rests: Vec<(Regex, u32)>,
    /// How many nodes take any number of segments.
    loops: u32,
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
}

impl Default for Node {
    fn default() -> Self {
        Self { any: NONE, many: NONE, list: NONE, repeats: NONE, likes: (0, 0), rests: (0, 0) }
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
        let (segments, literals, likes, rests) = (Atoms::default(), Edges::default(), Vec::new(), Vec::new());
        Self { nodes: vec![Node::default()], segments, literals, likes, rests, loops: 0 }
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
                let text = self.trie.segments.intern(AtomKind::Id, text.as_bytes());
                if let Some(to) = self.trie.literals.follow(from, text) {
                    return to;
                }
                let to = self.new_node(Node::default());
                self.trie.literals.add(from, text, to);
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
        self.trie.nodes.shrink_to_fit();
        self.trie.literals.all.shrink_to_fit();
        (self.trie, self.lists)
    }
}

fn extended((start, length): (u32, u32), at: u32) -> (u32, u32) {
    if length == 0 { (at, 1) } else { (start, length + 1) }
}

/// Where a segment leads from a node.
#[derive(Clone, Debug, Default)]
struct Edges {
    all: Vec<(u32, u32, u32)>,
    slots: Slots,
}

impl Edges {
    fn follow(&self, node: u32, segment: u32) -> Option<u32> {
        let is = |edge: u32| self.all.get(edge as usize).is_some_and(|(from, by, _)| *from == node && *by == segment);
        let edge = self.slots.find(edge_hash(node, segment), is)?;
        self.all.get(edge as usize).map(|(.., to)| *to)
    }

    fn add(&mut self, node: u32, segment: u32, to: u32) {
        let number = u32::try_from(self.all.len()).unwrap_or(NONE);
        self.all.push((node, segment, to));
        let all = &self.all;
        let hash_of = |edge: u32| all.get(edge as usize).map_or(0, |(node, segment, _)| edge_hash(*node, *segment));
        self.slots.insert(edge_hash(node, segment), number, hash_of);
    }
}

fn edge_hash(node: u32, segment: u32) -> u64 {
    (u64::from(node) << 32 | u64::from(segment)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
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
        self.now.clear();
        self.now.push(0);
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

    /// A node that takes more segments is reached from itself and from its parent; once is enough.
    fn reach_again(&mut self, node: u32, repeats: u32) {
        if let Some(reached) = self.reached.get_mut(repeats as usize)
            && *reached != self.step
        {
            *reached = self.step;
            self.next.push(node);
        }
    }
}

impl Trie {
    /// Finds the lists of all patterns that cover a path.
    pub(super) fn walk(&self, path: &str, walk: &mut Walk) {
        walk.start(self.loops as usize);
        let mut at = 0;
        for segment in path.split('/') {
            walk.step += 1;
            walk.next.clear();
            let text = self.segments.get(AtomKind::Id, segment.as_bytes());
            let now = std::mem::take(&mut walk.now);
            for number in &now {
                #[cfg(test)]
                {
                    walk.steps += 1;
                }
                if let Some(node) = self.nodes.get(*number as usize) {
                    self.leave(*number, node, segment, text, walk);
                    if node.rests.1 > 0 {
                        self.try_rests(node, path.get(at..).unwrap_or_default(), walk);
                    }
                }
            }
            walk.now = now;
            std::mem::swap(&mut walk.now, &mut walk.next);
            at += segment.len() + 1;
            if walk.now.is_empty() {
                return;
            }
        }
        for number in &walk.now {
            match self.nodes.get(*number as usize).map_or(NONE, |node| node.list) {
                NONE => {}
                list => walk.lists.push(list),
            }
        }
    }

    fn leave(&self, number: u32, node: &Node, segment: &str, text: Option<u32>, walk: &mut Walk) {
        if let Some(to) = text.and_then(|text| self.literals.follow(number, text)) {
            walk.next.push(to);
        }
        if node.any != NONE {
            walk.next.push(node.any);
        }
        if node.many != NONE
            && let Some(many) = self.nodes.get(node.many as usize)
        {
            walk.reach_again(node.many, many.repeats);
        }
        if node.repeats != NONE {
            walk.reach_again(number, node.repeats);
        }
        let (start, length) = node.likes;
        for (like, to) in self.likes.iter().skip(start as usize).take(length as usize) {
            if like.covers(segment) {
                walk.next.push(*to);
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
