//! From the text of a regular expression to its tree.

use std::iter::Peekable;
use std::str::Chars;

use super::Mistake;

/// A part of an expression.
#[derive(Clone, Debug)]
pub(super) enum Node {
    /// One letter of a set.
    One(Set),
    /// The start of the text.
    Start,
    /// The end of the text.
    End,
    /// One after the other.
    All(Vec<Node>),
    /// One of them.
    Either(Vec<Node>),
    /// At least and at most as often; any number of times without an end.
    Repeat(Box<Node>, u32, Option<u32>),
}

/// A set of letters.
#[derive(Clone, Debug, Default)]
pub(super) struct Set {
    except: bool,
    ranges: Vec<(char, char)>,
    either_case: bool,
}

impl Set {
    /// Whether a letter is in it.
    pub(super) fn has(&self, letter: char) -> bool {
        let within = |letter: char| self.ranges.iter().any(|(first, last)| (*first..=*last).contains(&letter));
        let other = [letter.to_ascii_lowercase(), letter.to_ascii_uppercase()];
        (within(letter) || self.either_case && other.into_iter().any(within)) != self.except
    }
}

/// How deep groups may be.
const DEPTH_LIMIT: usize = 64;
/// How often something may be repeated.
const REPEAT_LIMIT: u32 = 1_000;

/// Reads an expression.
pub(super) fn parse(text: &str) -> Result<Node, Mistake> {
    let (text, either_case) = text.strip_prefix("(?i)").map_or((text, false), |text| (text, true));
    let mut reader = Reader { letters: text.chars().peekable(), depth: 0, either_case };
    let node = reader.either()?;
    if reader.letters.next().is_some() {
        Err(Mistake::Broken("a group is closed that was not opened"))
    } else {
        Ok(node)
    }
}

struct Reader<'t> {
    letters: Peekable<Chars<'t>>,
    depth: usize,
    either_case: bool,
}

impl Reader<'_> {
    fn either(&mut self) -> Result<Node, Mistake> {
        let mut nodes = vec![self.all()?];
        while self.letters.next_if_eq(&'|').is_some() {
            nodes.push(self.all()?);
        }
        Ok(Node::Either(nodes))
    }

    fn all(&mut self) -> Result<Node, Mistake> {
        let mut nodes = Vec::new();
        while let Some(letter) = self.letters.next_if(|letter| !matches!(letter, '|' | ')')) {
            let node = self.one(letter)?;
            nodes.push(self.repeated(node)?);
        }
        Ok(Node::All(nodes))
    }

    fn one(&mut self, letter: char) -> Result<Node, Mistake> {
        Ok(match letter {
            '.' => Node::One(Set { except: true, ranges: vec![('\n', '\n')], either_case: false }),
            '^' => Node::Start,
            '$' => Node::End,
            '(' => self.group()?,
            '[' => Node::One(self.class()?),
            '\\' => Node::One(self.escape()?),
            '*' | '+' | '?' => return Err(Mistake::Broken("there is nothing to repeat")),
            letter => Node::One(self.only(letter)),
        })
    }

    fn only(&self, letter: char) -> Set {
        Set { except: false, ranges: vec![(letter, letter)], either_case: self.either_case }
    }

    fn group(&mut self) -> Result<Node, Mistake> {
        self.depth += 1;
        if self.depth > DEPTH_LIMIT {
            return Err(Mistake::NotSupported("its groups are too deep"));
        }
        if self.letters.next_if_eq(&'?').is_some() {
            match self.letters.next() {
                Some(':') => {}
                Some('P' | '<') => drop(self.letters.by_ref().find(|letter| *letter == '>')),
                _ => return Err(Mistake::NotSupported("groups with flags")),
            }
        }
        let node = self.either()?;
        self.depth -= 1;
        self.letters.next_if_eq(&')').map(|_| node).ok_or(Mistake::Broken("a group is not closed"))
    }

    fn repeated(&mut self, mut node: Node) -> Result<Node, Mistake> {
        loop {
            let (least, most) = match self.letters.peek() {
                Some('*') => (0, None),
                Some('+') => (1, None),
                Some('?') => (0, Some(1)),
                Some('{') => match self.count()? {
                    Some(bounds) => bounds,
                    None => return Ok(node),
                },
                _ => return Ok(node),
            };
            self.letters.next();
            // How much is taken at once makes no difference for a whole text.
            self.letters.next_if_eq(&'?');
            node = Node::Repeat(Box::new(node), least, most);
        }
    }

    /// The bounds in braces, up to the brace at the end; none if the brace is a letter.
    fn count(&mut self) -> Result<Option<(u32, Option<u32>)>, Mistake> {
        let inside: String = self.letters.clone().skip(1).take_while(|letter| *letter != '}').collect();
        let (least, most) = inside.split_once(',').map_or((inside.as_str(), None), |(least, most)| (least, Some(most)));
        let Ok(first) = least.parse::<u32>() else { return Ok(None) };
        let last = match most {
            None => Some(first),
            Some("") => None,
            Some(most) => match most.parse() {
                Ok(most) => Some(most),
                Err(_) => return Ok(None),
            },
        };
        if last.is_some_and(|last| last < first) || first.max(last.unwrap_or_default()) > REPEAT_LIMIT {
            return Err(Mistake::Broken("it repeats something an invalid number of times"));
        }
        // The last brace is taken by the caller, as any other sign of repetition.
        for _ in 0..=inside.chars().count() {
            self.letters.next();
        }
        Ok(Some((first, last)))
    }

    fn class(&mut self) -> Result<Set, Mistake> {
        let mut set = Set { either_case: self.either_case, ..Set::default() };
        set.except = self.letters.next_if_eq(&'^').is_some();
        let mut first = true;
        loop {
            let letter = self.letters.next().ok_or(Mistake::Broken("a set of letters is not closed"))?;
            match letter {
                ']' if !first => return Ok(set),
                '[' if self.letters.peek() == Some(&':') => return Err(Mistake::NotSupported("named sets of letters")),
                '\\' => {
                    let more = self.escape()?;
                    match more.ranges.as_slice() {
                        _ if more.except => return Err(Mistake::NotSupported("an empty set of letters")),
                        [(from, to)] if from == to => self.range(*from, &mut set)?,
                        ranges => set.ranges.extend(ranges),
                    }
                }
                letter => self.range(letter, &mut set)?,
            }
            first = false;
        }
    }

    fn range(&mut self, from: char, set: &mut Set) -> Result<(), Mistake> {
        let mut ahead = self.letters.clone();
        let to = match (ahead.next(), ahead.next()) {
            (Some('-'), Some(to)) if to != ']' => {
                self.letters.next();
                self.letters.next();
                if to == '\\' { self.letters.next().unwrap_or(to) } else { to }
            }
            _ => from,
        };
        if to < from {
            return Err(Mistake::Broken("a range of letters ends before it begins"));
        }
        set.ranges.push((from, to));
        Ok(())
    }

    fn escape(&mut self) -> Result<Set, Mistake> {
        let letter = self.letters.next().ok_or(Mistake::Broken("it ends with a backslash"))?;
        let ranges = match letter.to_ascii_lowercase() {
            'd' => vec![('0', '9')],
            'w' => vec![('0', '9'), ('A', 'Z'), ('a', 'z'), ('_', '_')],
            's' => vec![(' ', ' '), ('\t', '\r')],
            _ if letter == 'n' => vec![('\n', '\n')],
            _ if letter == 't' => vec![('\t', '\t')],
            _ if letter == 'r' => vec![('\r', '\r')],
            _ if letter.is_ascii_alphanumeric() => return Err(Mistake::NotSupported("a letter after a backslash")),
            _ => return Ok(self.only(letter)),
        };
        Ok(Set { except: letter.is_ascii_uppercase(), ranges, either_case: false })
    }
}
