//! From a request to the policies that may be about it, without looking at the others.
//!
//! Whatever a policy asks for that can be looked up by equality becomes an *atom*: this role, that group, this operation.
//! Each combination of alternatives becomes an *entry* at the end of its path pattern in a trie. A decision collects the
//! atoms of its request, walks the path once, and keeps the entries whose atoms are there. What is no atom (orderings,
//! regular expressions, negations) is verified for those only.

mod atoms;
mod build;
mod keys;
mod trie;

use std::sync::Arc;

use rustc_hash::FxHashMap;
use smol_str::SmolStr;

use self::atoms::{AtomKind, Atoms, Patterns};
pub(super) use self::build::Renumbered;
use self::trie::{Trie, Walk};
use super::request::{Asked, Fact, Maybe, Names, Request};
use super::rule::{Rule, Test};
use super::truth::Truth;

/// The atom that every request has.
const ANY: u32 = 0;
/// No number.
const NONE: u32 = u32::MAX;
/// Lists up to this length are read from end to end; longer ones are looked up by atom.
const SHORT: u32 = 16;

/// Entries by path and atom.
#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    atoms: Atoms,
    roles: Patterns,
    apps: Patterns,
    /// How often each atom is asked for: entries are found by what is rare.
    counts: Vec<u32>,
    trie: Trie,
    /// Lists of entries; the first holds those without a path.
    lists: Vec<List>,
    entries: Vec<Entry>,
    /// Where the entries of an atom begin in a long list, and how many there are.
    runs: FxHashMap<(u32, u32), (u32, u32)>,
    combinations: Vec<Combination>,
    /// How many policies came and went since all was built.
    changes: usize,
}

#[derive(Clone, Copy, Debug, Default)]
struct List {
    start: u32,
    length: u32,
}

/// One combination of alternatives, with all that can be told of it by numbers.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// An atom that the request must have.
    key: u32,
    /// Another one.
    also: u32,
    /// The policy.
    rule: u32,
    /// What must be verified besides; [`NONE`] if nothing.
    verify: u32,
    methods: Methods,
    /// What the atoms are about.
    needs: Kinds,
}

/// Which alternatives an entry stands for.
#[derive(Clone, Copy, Debug)]
struct Combination {
    subject: u32,
    resource: u32,
    action: u32,
    /// Whether the trie has told already that the path fits.
    path: PathIs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PathIs {
    Told,
    Open,
}

/// A set of methods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Methods(u16);

/// A set of things that atoms are about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Kinds(u16);

impl Kinds {
    const ALL: Self = Self(u16::MAX);

    /// What must be looked up for an atom of a kind.
    fn one(kind: AtomKind) -> Self {
        Self(match kind {
            AtomKind::RolePattern => 1 << AtomKind::Role as u16,
            AtomKind::AppPattern => 1 << AtomKind::App as u16,
            kind => 1 << kind as u16,
        })
    }

    fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    fn has(self, kind: AtomKind) -> bool {
        self.0 & 1 << kind as u16 != 0
    }
}

/// Methods that are told apart by a bit; all others share one.
const METHODS: [&str; 9] = ["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "TRACE", "CONNECT"];

impl Methods {
    const ALL: Self = Self(0x7ff);
    const OTHER: Self = Self(0x200);
    const ABSENT: Self = Self(0x400);

    fn one(method: &str) -> Self {
        let known = METHODS.iter().position(|known| known.eq_ignore_ascii_case(method));
        known.map_or(Self::OTHER, |place| Self(1 << place))
    }

    fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    fn both(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// Room to look things up in, reused between requests.
#[derive(Debug, Default)]
pub(super) struct Room {
    /// The atoms of the request, as a list and as bits.
    present: Vec<u32>,
    bits: Vec<u64>,
    /// What was looked up so far; most policies ask for little.
    collected: Kinds,
    walk: Walk,
}

impl Room {
    fn start(&mut self, atoms: usize) {
        for atom in self.present.drain(..) {
            if let Some(word) = self.bits.get_mut(atom as usize / 64) {
                *word = 0;
            }
        }
        self.collected = Kinds::default();
        let words = atoms / 64 + 1;
        if self.bits.len() < words {
            self.bits.resize(words, 0);
        }
        self.put(ANY);
    }

    fn put(&mut self, atom: u32) {
        if let Some(word) = self.bits.get_mut(atom as usize / 64) {
            let bit = 1 << (atom % 64);
            if *word & bit == 0 {
                *word |= bit;
                self.present.push(atom);
            }
        }
    }

    fn has(&self, atom: u32) -> bool {
        self.bits.get(atom as usize / 64).is_some_and(|word| word & 1 << (atom % 64) != 0)
    }
}

impl Index {
    /// Calls `sit` with every rule that may be about the request and whether it is; a rule may come more than once, then the
    /// best truth counts. Exact only for requests without unknown facts: see [`is_known`].
    pub(super) fn find(&self, asked: Asked<'_>, rules: &[Arc<Rule>], room: &mut Room, mut sit: impl FnMut(u32, Truth)) {
        room.start(self.atoms.len());
        let method = match &asked.request.action.method {
            Maybe::Is(method) => Methods::one(method),
            Maybe::Absent | Maybe::Unknown => Methods::ABSENT,
        };
        let Room { walk, .. } = room;
        let mut walk = std::mem::take(walk);
        self.scan(0, method, asked, rules, room, &mut sit);
        if let Maybe::Is(path) = asked.path {
            self.trie.walk(path, &mut walk);
            for list in walk.lists() {
                self.scan(*list, method, asked, rules, room, &mut sit);
            }
        }
        room.walk = walk;
    }

    fn scan(
        &self,
        list: u32,
        method: Methods,
        asked: Asked<'_>,
        rules: &[Arc<Rule>],
        room: &mut Room,
        sit: &mut impl FnMut(u32, Truth),
    ) {
        let Some(List { start, length }) = self.lists.get(list as usize) else { return };
        let mut look = |start: u32, length: u32, room: &mut Room| {
            let (start, end) = (start as usize, (start + length) as usize);
            for entry in self.entries.get(start..end).unwrap_or_default() {
                if !entry.methods.has(method) {
                    continue;
                }
                let missing = entry.needs.without(room.collected);
                if missing != Kinds::default() {
                    self.collect(asked.request, missing, room);
                }
                if room.has(entry.key) && room.has(entry.also) {
                    match self.verify(entry, asked, rules) {
                        Truth::False => {}
                        truth => sit(entry.rule, truth),
                    }
                }
            }
        };
        if *length <= SHORT {
            look(*start, *length, room);
            return;
        }
        self.collect(asked.request, Kinds::ALL.without(room.collected), room);
        let mut at = 0;
        while let Some(atom) = room.present.get(at).copied() {
            if let Some((start, length)) = self.runs.get(&(list, atom)) {
                look(*start, *length, room);
            }
            at += 1;
        }
    }

    fn verify(&self, entry: &Entry, asked: Asked<'_>, rules: &[Arc<Rule>]) -> Truth {
        if entry.verify == NONE {
            return Truth::True;
        }
        let combination = self.combinations.get(entry.verify as usize);
        let (Some(combination), Some(rule)) = (combination, rules.get(entry.rule as usize)) else {
            return Truth::Error;
        };
        let told = |test: &Test| combination.path == PathIs::Told && matches!(test, Test::Path(_));
        let alternatives = [
            (&rule.target.subjects, combination.subject),
            (&rule.target.actions, combination.action),
            (&rule.target.resources, combination.resource),
        ];
        alternatives.into_iter().fold(Truth::True, |truth, (matchers, place)| match truth {
            Truth::False => Truth::False,
            // A clause without alternatives fits all.
            truth => truth.and(matchers.get(place as usize).map_or(Truth::True, |one| one.covers_but(asked, told))),
        })
    }

    /// Puts the atoms of a request into the room, those of some kinds.
    fn collect(&self, request: &Request, kinds: Kinds, room: &mut Room) {
        room.collected = room.collected.with(kinds);
        let Request { subject, action, resource, .. } = request;
        let texts = [
            (AtomKind::Id, &subject.id),
            (AtomKind::SubjectType, &subject.kind),
            (AtomKind::App, &resource.app),
            (AtomKind::Type, &resource.kind),
            (AtomKind::ResourceId, &resource.id),
            (AtomKind::Operation, &action.operation),
        ];
        if kinds.has(AtomKind::Role) {
            for role in subject.roles.known() {
                self.put(AtomKind::Role, role, room);
                self.roles.find(role, |atom| room.put(atom));
            }
        }
        if kinds.has(AtomKind::Group) {
            for group in subject.groups.known() {
                self.put(AtomKind::Group, group, room);
            }
        }
        if kinds.has(AtomKind::Claim) {
            for (name, fact) in &subject.claims.0 {
                if let Some(atom) = self.atoms.claim(name, fact) {
                    room.put(atom);
                }
            }
        }
        for (kind, value) in texts {
            if let Maybe::Is(text) = value
                && kinds.has(kind)
            {
                self.put(kind, text, room);
            }
        }
        if let Maybe::Is(app) = &resource.app
            && kinds.has(AtomKind::App)
        {
            self.apps.find(app, |atom| room.put(atom));
        }
    }

    fn put(&self, kind: AtomKind, text: &str, room: &mut Room) {
        if let Some(atom) = self.atoms.get(kind, text.as_bytes()) {
            room.put(atom);
        }
    }

    /// How many steps the last walk took, for tests of hostile patterns.
    #[cfg(test)]
    pub(super) fn steps(room: &Room) -> usize {
        room.walk.steps()
    }
}

/// Whether all is known that atoms stand for; otherwise every policy must be looked at.
pub(super) fn is_known(asked: Asked<'_>) -> bool {
    let Request { subject, action, resource, .. } = asked.request;
    let known = |value: &Maybe<SmolStr>| !matches!(value, Maybe::Unknown);
    let names = |names: &Names| !matches!(names, Names::Unknown);
    let texts = [&subject.id, &subject.kind, &action.method, &action.operation, &resource.app, &resource.kind];
    !matches!(asked.path, Maybe::Unknown)
        && texts.into_iter().chain([&resource.id]).all(known)
        && names(&subject.roles)
        && names(&subject.groups)
        && subject.claims.0.iter().all(|(_, fact)| *fact != Fact::Unknown)
}
