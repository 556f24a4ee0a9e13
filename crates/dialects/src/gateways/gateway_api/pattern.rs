//! Regular expressions of routes, which must match a whole text.
//!
//! They are run as a set of states, so that no expression takes more than its length times that of the text.

mod parse;

use self::parse::{Node, Set};

/// A regular expression.
#[derive(Clone, Debug)]
pub struct Pattern {
    program: Vec<Instruction>,
}

/// Why a text is not a regular expression here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// It is none anywhere.
    Broken(&'static str),
    /// It may be one elsewhere, but this cannot be read here.
    NotSupported(&'static str),
}

#[derive(Clone, Debug)]
enum Instruction {
    /// Takes one letter.
    One(Set),
    /// Only at the start.
    Start,
    /// Only at the end.
    End,
    /// Goes on in two places.
    Split(usize, usize),
    /// The whole expression was found.
    Done,
}

/// How many instructions a repeated expression may come to.
const PROGRAM_LIMIT: usize = 20_000;

impl Pattern {
    /// Reads an expression.
    pub fn new(text: &str) -> Result<Self, Mistake> {
        let mut pattern = Self { program: Vec::new() };
        pattern.compile(&parse::parse(text)?)?;
        pattern.program.push(Instruction::Done);
        Ok(pattern)
    }

    /// Whether it matches a whole text.
    pub fn matches(&self, text: &str) -> bool {
        let letters: Vec<char> = text.chars().collect();
        let mut states = States::new(self.program.len());
        self.enter(0, &mut states, Edges { start: true, end: letters.is_empty() });
        for (at, letter) in letters.iter().enumerate() {
            let mut next = States::new(self.program.len());
            let end = at + 1 == letters.len();
            for state in &states.list {
                if let Some(Instruction::One(set)) = self.program.get(*state)
                    && set.has(*letter)
                {
                    self.enter(state + 1, &mut next, Edges { start: false, end });
                }
            }
            states = next;
        }
        states.list.iter().any(|state| matches!(self.program.get(*state), Some(Instruction::Done)))
    }

    /// Adds a state and all that are reached from it without a letter.
    fn enter(&self, state: usize, states: &mut States, here: Edges) {
        let mut open = vec![state];
        while let Some(state) = open.pop() {
            if !states.add(state) {
                continue;
            }
            match self.program.get(state) {
                Some(Instruction::Split(one, other)) => open.extend([*other, *one]),
                Some(Instruction::Start) if here.start => open.push(state + 1),
                Some(Instruction::End) if here.end => open.push(state + 1),
                _ => {}
            }
        }
    }

    fn compile(&mut self, node: &Node) -> Result<(), Mistake> {
        if self.program.len() > PROGRAM_LIMIT {
            return Err(Mistake::NotSupported("it repeats too much"));
        }
        match node {
            Node::One(set) => self.program.push(Instruction::One(set.clone())),
            Node::Start => self.program.push(Instruction::Start),
            Node::End => self.program.push(Instruction::End),
            Node::All(nodes) => nodes.iter().try_for_each(|node| self.compile(node))?,
            Node::Either(nodes) => self.either(nodes)?,
            Node::Repeat(node, least, most) => {
                for _ in 0..*least {
                    self.compile(node)?;
                }
                match most {
                    Some(most) => {
                        for _ in *least..*most {
                            self.optional(node)?;
                        }
                    }
                    None => self.any_number(node)?,
                }
            }
        }
        Ok(())
    }

    fn optional(&mut self, node: &Node) -> Result<(), Mistake> {
        let split = self.hole();
        self.compile(node)?;
        self.fill(split, split + 1, self.program.len());
        Ok(())
    }

    fn any_number(&mut self, node: &Node) -> Result<(), Mistake> {
        let split = self.hole();
        self.compile(node)?;
        self.program.push(Instruction::Split(split, split));
        self.fill(split, split + 1, self.program.len());
        Ok(())
    }

    fn either(&mut self, nodes: &[Node]) -> Result<(), Mistake> {
        let mut ends = Vec::new();
        for (index, node) in nodes.iter().enumerate() {
            if index + 1 == nodes.len() {
                self.compile(node)?;
            } else {
                let split = self.hole();
                self.compile(node)?;
                ends.push(self.hole());
                self.fill(split, split + 1, self.program.len());
            }
        }
        for end in ends {
            self.fill(end, self.program.len(), self.program.len());
        }
        Ok(())
    }

    fn hole(&mut self) -> usize {
        self.program.push(Instruction::Done);
        self.program.len() - 1
    }

    fn fill(&mut self, hole: usize, one: usize, other: usize) {
        if let Some(instruction) = self.program.get_mut(hole) {
            *instruction = Instruction::Split(one, other);
        }
    }
}

/// Of which edges of the text this is one.
#[derive(Clone, Copy)]
struct Edges {
    start: bool,
    end: bool,
}

/// States, each once.
struct States {
    list: Vec<usize>,
    known: Vec<bool>,
}

impl States {
    fn new(count: usize) -> Self {
        Self { list: Vec::new(), known: vec![false; count] }
    }

    fn add(&mut self, state: usize) -> bool {
        let Some(known) = self.known.get_mut(state) else { return false };
        let is_new = !std::mem::replace(known, true);
        if is_new {
            self.list.push(state);
        }
        is_new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pattern: &str, text: &str, expected: bool) {
        assert_eq!(Pattern::new(pattern).unwrap().matches(text), expected, "{pattern} {text}");
    }

    #[test]
    fn whole_texts_match() {
        check("/a/.*", "/a/b/c", true);
        check("/a/.*", "/a", false);
        check("/a", "/ab", false);
        check("", "", true);
        check("^/v[0-9]+(?:/.*)?$", "/v12/x", true);
        check("^/v[0-9]+(?:/.*)?$", "/vx", false);
        check("/(users|orders)/\\d{2,3}", "/orders/123", true);
        check("/(users|orders)/\\d{2,3}", "/orders/1234", false);
        check("[^/]+", "a/b", false);
        check("a{0}b?", "", true);
        check("(a*)*b", "aaab", true);
        check("(?i)/ABC", "/abc", true);
        check(r"/a\.b", "/axb", false);
        check(r"[\w.-]+", "a.b-c_1", true);
        check("[]a]", "]", true);
    }

    #[test]
    fn hostile_expressions_are_fast() {
        let pattern = Pattern::new("(a|a)*(a|a)*(a|a)*b").unwrap();
        assert!(!pattern.matches(&"a".repeat(5_000)));
        assert!(Pattern::new(&"(".repeat(100_000)).is_err());
        assert!(Pattern::new("((a{1000}){1000}){1000}").is_err());
    }

    #[test]
    fn mistakes_are_told_from_what_is_not_supported() {
        for broken in ["[", "(", ")", "*", "a{2,1}", "\\", "[b-a]"] {
            assert!(matches!(Pattern::new(broken), Err(Mistake::Broken(_))), "{broken}");
        }
        for unknown in [r"\bword", r"\p{Greek}", "[[:alpha:]]"] {
            assert!(matches!(Pattern::new(unknown), Err(Mistake::NotSupported(_))), "{unknown}");
        }
    }
}
