//! What can be looked up by equality, as small numbers.

use hashbrown::HashTable;

use crate::decide::glob::Wild;
use crate::decide::request::Fact;

/// What an atom is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AtomKind {
    /// The id of the subject.
    Id,
    /// The sort of the subject.
    SubjectType,
    /// A role by its name.
    Role,
    /// Roles that look alike.
    RolePattern,
    /// A group.
    Group,
    /// An application by its name.
    App,
    /// Applications that look alike.
    AppPattern,
    /// The sort of the resource.
    Type,
    /// The id of the resource.
    ResourceId,
    /// An operation.
    Operation,
    /// The name of a claim; no atom of its own, but its number stands before those of its values.
    Claim,
}

/// Numbers of values of claims begin here; each claim has one for each type of value.
const VALUES: u32 = 16;

/// Texts with a kind, numbered from one: zero is the atom that every request has.
#[derive(Clone, Debug, Default)]
pub(super) struct Atoms {
    bytes: Vec<u8>,
    spans: Vec<Span>,
    table: HashTable<u32>,
    used: u32,
}

#[derive(Clone, Copy, Debug)]
struct Span {
    kind: u32,
    start: u32,
    length: u32,
}

impl Atoms {
    /// How many there are, the one of every request included.
    pub(super) fn len(&self) -> usize {
        self.spans.len() + 1
    }

    /// Whether any atom is of a kind.
    pub(super) fn uses(&self, kind: AtomKind) -> bool {
        self.used & 1 << kind as u32 != 0
    }

    /// The atom of a text, if a policy has it.
    pub(super) fn get(&self, kind: AtomKind, text: &[u8]) -> Option<u32> {
        self.look_up(kind as u32, text)
    }

    /// The atom of a text, made if it is new.
    pub(super) fn intern(&mut self, kind: AtomKind, text: &[u8]) -> u32 {
        self.used |= 1 << kind as u32;
        self.make(kind as u32, text)
    }

    /// The atom of a claim with a value, if a policy has it.
    pub(super) fn claim(&self, name: &str, value: &Fact) -> Option<u32> {
        let name = self.get(AtomKind::Claim, name.as_bytes())?;
        with_value(name, value, |kind, text| self.look_up(kind, text))?
    }

    /// The atom of a claim with a value, made if it is new; none for values that cannot be looked up.
    pub(super) fn intern_claim(&mut self, name: &str, value: &Fact) -> Option<u32> {
        let name = self.intern(AtomKind::Claim, name.as_bytes());
        with_value(name, value, |kind, text| self.make(kind, text))
    }

    fn look_up(&self, kind: u32, text: &[u8]) -> Option<u32> {
        self.table.find(hash(kind, text), |atom| self.is(*atom, kind, text)).copied()
    }

    fn make(&mut self, kind: u32, text: &[u8]) -> u32 {
        if let Some(atom) = self.look_up(kind, text) {
            return atom;
        }
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        self.spans.push(Span { kind, start: number(self.bytes.len()), length: number(text.len()) });
        self.bytes.extend_from_slice(text);
        let atom = number(self.spans.len());
        let Self { bytes, spans, table, .. } = self;
        let hash_of = |atom: &u32| {
            let span = spans.get((*atom as usize).wrapping_sub(1));
            span.map_or(0, |span| hash(span.kind, text_of(bytes, span)))
        };
        table.insert_unique(hash(kind, text), atom, hash_of);
        atom
    }

    fn is(&self, atom: u32, kind: u32, text: &[u8]) -> bool {
        let span = self.spans.get((atom as usize).wrapping_sub(1));
        span.is_some_and(|span| span.kind == kind && text_of(&self.bytes, span) == text)
    }
}

fn text_of<'b>(bytes: &'b [u8], span: &Span) -> &'b [u8] {
    let start = span.start as usize;
    bytes.get(start..start + span.length as usize).unwrap_or_default()
}

/// Calls back with the kind and the bytes under which a value of a claim is known.
fn with_value<T>(name: u32, value: &Fact, act: impl FnOnce(u32, &[u8]) -> T) -> Option<T> {
    let kind = |kind: u32| name.checked_mul(4)?.checked_add(VALUES + kind);
    Some(match value {
        Fact::Text(text) => act(kind(0)?, text.as_bytes()),
        // Both zeros are equal, and what is no number equals nothing.
        Fact::Number(number) if !number.is_nan() => act(kind(1)?, &(number + 0.0).to_le_bytes()),
        Fact::Bool(truth) => act(kind(2)?, &[u8::from(*truth)]),
        _ => return None,
    })
}

/// Texts here are short, so a few multiplications are all it takes. Requests only look up what policies brought in.
pub(super) fn hash(kind: u32, text: &[u8]) -> u64 {
    const SPREAD: u64 = 0x517c_c1b7_2722_0a95;
    let mix = |hash: u64, word: u64| (hash.rotate_left(5) ^ word).wrapping_mul(SPREAD);
    let (words, rest) = text.as_chunks::<8>();
    let mut hash = mix(u64::from(kind), text.len() as u64);
    for word in words {
        hash = mix(hash, u64::from_le_bytes(*word));
    }
    let mut last = 0;
    for byte in rest {
        last = last << 8 | u64::from(*byte);
    }
    hash = mix(hash, last);
    hash ^ hash >> 29
}

/// Patterns that begin alike, with their atoms.
type SamePrefix = (Vec<u8>, Vec<(Wild, u32)>);

/// Patterns by the text with which all begins that they cover.
#[derive(Clone, Debug, Default)]
pub(super) struct Patterns {
    /// The lengths of those texts, shortest first.
    lengths: Vec<usize>,
    by_prefix: HashTable<SamePrefix>,
}

impl Patterns {
    /// Adds a pattern with its atom.
    pub(super) fn add(&mut self, pattern: &Wild, atom: u32) {
        let prefix = pattern.prefix().as_bytes();
        if let Err(place) = self.lengths.binary_search(&prefix.len()) {
            self.lengths.insert(place, prefix.len());
        }
        let known = self.by_prefix.find_mut(hash(0, prefix), |(known, _)| known == prefix);
        match known {
            Some((_, patterns)) if patterns.iter().any(|(_, known)| *known == atom) => {}
            Some((_, patterns)) => patterns.push((pattern.clone(), atom)),
            None => {
                let new = (prefix.to_vec(), vec![(pattern.clone(), atom)]);
                self.by_prefix.insert_unique(hash(0, prefix), new, |(known, _)| hash(0, known));
            }
        }
    }

    /// Calls back with the atoms of all patterns that cover a text.
    pub(super) fn find(&self, text: &str, mut found: impl FnMut(u32)) {
        for length in &self.lengths {
            let Some(prefix) = text.as_bytes().get(..*length) else { break };
            if let Some((_, patterns)) = self.by_prefix.find(hash(0, prefix), |(known, _)| known == prefix) {
                for (pattern, atom) in patterns {
                    if pattern.covers(text) {
                        found(*atom);
                    }
                }
            }
        }
    }
}
