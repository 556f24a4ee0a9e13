//! From a request to the policies that may be about it, without looking at the others.
//!
//! Whatever a policy asks for that can be looked up by equality becomes an *atom*: this role, that group, this operation.
//! Each combination of alternatives becomes an *entry* at the end of its path pattern in a trie. A decision collects the
//! atoms of its request, walks the path once, and keeps the entries whose atoms are there. What is not an atom (orderings,
//! regular expressions, negations) is verified for those only.

//!
//! Policies are known by their slots, which they keep as long as they are there. An index is changed by changing a clone of it: all
//! that a change does not touch is shared.

mod atoms;
mod build;
mod entry_list;
mod keys;
mod layers;
mod near;
mod together;
mod trie;

use std::ops::ControlFlow;

use smol_str::SmolStr;
use upheld_model::Pages;

use self::atoms::{AtomKind, Atoms, Patterns};
use self::entry_list::EntryList;
use self::trie::{Trie, Walk};
use super::request::{Action, Fact, Maybe, NormalizedRequest, Path, Request, Resource, Subject};
use super::rule::{Rule, Test};
use super::truth::Truth;

/// The atom that every request has.
const ANY: u32 = 0;
/// No number.
const NONE: u32 = u32::MAX;

/// The list of entries without a path.
const WITHOUT_PATH: u32 = 0;
/// The list of all others, whatever their paths: where the path of a request is not known.
const WITH_PATH: u32 = 1;
/// How many lists do not stand in the tree.
const BESIDE_TREE: u32 = 2;

/// Entries by path and atom.
#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    atoms: Atoms,
    roles: Patterns,
    apps: Patterns,
    /// How often each atom is asked for: entries are found by what is rare.
    counts: Pages<u32, 256>,
    trie: Trie,
    /// Lists of entries; those with a path stand in the list of their path, and in one for all paths.
    lists: Pages<EntryList, 256>,
    combinations: Pages<Combination>,
}

/// One combination of alternatives, with all that can be told of it by numbers.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// An atom that the request must have.
    key: u32,
    /// Another one.
    also: u32,
    /// The slot of the policy.
    slot: u32,
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
    /// The whole policy is looked at, not one combination.
    Whole,
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

    fn both(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    fn has(self, kind: AtomKind) -> bool {
        self.0 & 1 << kind as u16 != 0
    }

    fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// What a request does not tell: it may have any atom of these.
    fn unknown(request: &Request) -> Self {
        let Request { subject, action, resource, .. } = request;
        let claims = subject.claims.are_all_listed() && subject.claims.iter().all(|(_, fact)| *fact != Fact::Unknown);
        let unknown = [
            (AtomKind::Role, !subject.roles.are_all_known()),
            (AtomKind::Group, !subject.groups.are_all_known()),
            (AtomKind::Claim, !claims),
        ];
        let texts = texts_of(subject, action, resource).map(|(kind, value)| (kind, *value == Maybe::Unknown));
        let all = unknown.into_iter().chain(texts).filter(|(_, is_unknown)| *is_unknown);
        all.fold(Self::default(), |all, (kind, _)| all.with(Self::one(kind)))
    }
}

/// What is looked up as one text.
fn texts_of<'r>(
    subject: &'r Subject,
    action: &'r Action,
    resource: &'r Resource,
) -> [(AtomKind, &'r Maybe<SmolStr>); 6] {
    [
        (AtomKind::Id, &subject.id),
        (AtomKind::SubjectType, &subject.kind),
        (AtomKind::App, &resource.app),
        (AtomKind::Type, &resource.kind),
        (AtomKind::ResourceId, &resource.id),
        (AtomKind::Operation, &action.operation),
    ]
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

/// Where things are put while they are looked up, reused between requests.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    atoms: Present,
    walk: Walk,
}

/// The atoms of a request, as a list and as bits.
#[derive(Debug, Default)]
struct Present {
    list: Vec<u32>,
    bits: Vec<u64>,
    /// What was looked up so far; most policies ask for little.
    collected: Kinds,
    /// What the request does not tell, as far as policies ask for it: all of these atoms may be there.
    unknown: Kinds,
}

impl Present {
    fn start(&mut self, atoms: usize, unknown: Kinds) {
        for atom in self.list.drain(..) {
            if let Some(word) = self.bits.get_mut(atom as usize / 64) {
                *word = 0;
            }
        }
        self.collected = Kinds::default();
        self.unknown = unknown;
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
                self.list.push(atom);
            }
        }
    }

    fn has(&self, atom: u32) -> bool {
        self.bits.get(atom as usize / 64).is_some_and(|word| word & 1 << (atom % 64) != 0)
    }
}

impl Index {
    /// Calls `sit` with the slot of every policy that may be about the request and whether it is; a policy may come more than
    /// once, then the best truth counts. The path must be known, or absent.
    pub(super) fn find<'r>(
        &self,
        asked: NormalizedRequest<'_>,
        rule: impl Fn(u32) -> Option<&'r Rule>,
        scratch: &mut Scratch,
        mut sit: impl FnMut(u32, Truth),
    ) {
        let Scratch { atoms, walk } = scratch;
        let method = self.start(asked.request, atoms);
        let mut sit = |slot: u32, truth: Truth| {
            sit(slot, truth);
            ControlFlow::Continue(())
        };
        let _ = self.scan(WITHOUT_PATH, method, asked, &rule, atoms, &mut sit);
        if let Path::Is(path) = asked.path {
            self.trie.walk(path, walk);
            for list in walk.lists() {
                let _ = self.scan(*list, method, asked, &rule, atoms, &mut sit);
            }
        }
    }

    /// The slots of policies that may be about a request whose path is read in several ways, or in none: each once. Whether they are
    /// is to be found out. Readings share what they have in common while the tree is walked, and no list is read twice. Most paths have
    /// one reading. Breaks off after so many; a policy that is found in several ways counts for each.
    #[cold]
    pub(super) fn candidates(
        &self,
        asked: NormalizedRequest<'_>,
        most: usize,
        scratch: &mut Scratch,
        slots: &mut Vec<u32>,
    ) -> ControlFlow<()> {
        let Scratch { atoms, walk } = scratch;
        let method = self.start(asked.request, atoms);
        let of_path: &[u32] = match asked.path {
            Path::Unknown => &[WITH_PATH],
            Path::Several(readings) => {
                self.trie.walk_all(readings, walk);
                walk.lists()
            }
            Path::Is(_) | Path::Absent => &[],
        };
        slots.clear();
        // A policy that is not at hand may be about the request.
        let not_at_hand = |_: u32| None;
        let mut put = |slot: u32, _: Truth| {
            slots.push(slot);
            if slots.len() < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        let mut lists = std::iter::once(&WITHOUT_PATH).chain(of_path);
        let end = lists.try_for_each(|list| self.scan(*list, method, asked, &not_at_hand, atoms, &mut put));
        slots.sort_unstable();
        slots.dedup();
        end
    }

    /// Forgets the atoms of the last request; the method of this one.
    #[inline]
    fn start(&self, request: &Request, atoms: &mut Present) -> Methods {
        atoms.start(self.atoms.len(), Kinds::unknown(request).both(self.atoms.kinds()));
        match &request.action.method {
            Maybe::Is(method) => Methods::one(method),
            Maybe::Absent => Methods::ABSENT,
            Maybe::Unknown => Methods::ALL,
        }
    }

    fn scan<'r>(
        &self,
        list: u32,
        method: Methods,
        asked: NormalizedRequest<'_>,
        rule: &impl Fn(u32) -> Option<&'r Rule>,
        atoms: &mut Present,
        sit: &mut impl FnMut(u32, Truth) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let mut look = |entries: &[Entry], atoms: &mut Present| {
            for entry in entries {
                // Of a method that is not known, each test may hold, also where no method passes all of them.
                if !entry.methods.has(method) && method != Methods::ALL {
                    continue;
                }
                let missing = entry.needs.without(atoms.collected);
                if missing != Kinds::default() {
                    self.collect(asked.request, missing, atoms);
                }
                if atoms.has(entry.key) && atoms.has(entry.also) {
                    let in_doubt = method == Methods::ALL || entry.needs.meets(atoms.unknown);
                    let truth = if in_doubt {
                        rule(entry.slot).map_or(Truth::Error, |rule| rule.target.covers(asked))
                    } else {
                        self.verify(entry, asked, rule)
                    };
                    match truth {
                        Truth::False => {}
                        truth => sit(entry.slot, truth)?,
                    }
                }
            }
            ControlFlow::Continue(())
        };
        match self.lists.get(list as usize) {
            None => {}
            Some(EntryList::Short(entries)) => look(entries.as_slice(), atoms)?,
            Some(EntryList::Long(runs)) => {
                self.collect(asked.request, Kinds::ALL.without(atoms.collected), atoms);
                let mut at = 0;
                while let Some(atom) = atoms.list.get(at) {
                    if let Some(entries) = runs.get(atom) {
                        look(entries.as_slice(), atoms)?;
                    }
                    at += 1;
                }
            }
        }
        ControlFlow::Continue(())
    }

    fn verify<'r>(
        &self,
        entry: &Entry,
        asked: NormalizedRequest<'_>,
        rule: &impl Fn(u32) -> Option<&'r Rule>,
    ) -> Truth {
        if entry.verify == NONE {
            return Truth::True;
        }
        let combination = self.combinations.get(entry.verify as usize);
        let (Some(combination), Some(rule)) = (combination, rule(entry.slot)) else {
            return Truth::Error;
        };
        if combination.path == PathIs::Whole {
            return rule.target.covers(asked);
        }
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

    /// Collects the atoms of a request, those of some kinds.
    fn collect(&self, request: &Request, kinds: Kinds, present: &mut Present) {
        present.collected = present.collected.with(kinds);
        let Request { subject, action, resource, .. } = request;
        if kinds.has(AtomKind::Role) {
            for role in subject.roles.known() {
                self.put(AtomKind::Role, role, present);
                self.roles.find(role, |atom| present.put(atom));
            }
        }
        if kinds.has(AtomKind::Group) {
            for group in subject.groups.known() {
                self.put(AtomKind::Group, group, present);
            }
        }
        if kinds.has(AtomKind::Claim) {
            for (name, fact) in &subject.claims {
                if let Some(atom) = self.atoms.claim(name, fact) {
                    present.put(atom);
                }
            }
        }
        for (kind, value) in texts_of(subject, action, resource) {
            if let Maybe::Is(text) = value
                && kinds.has(kind)
            {
                self.put(kind, text, present);
            }
        }
        if let Maybe::Is(app) = &resource.app
            && kinds.has(AtomKind::App)
        {
            self.apps.find(app, |atom| present.put(atom));
        }
        let unknown = kinds.both(present.unknown);
        if unknown != Kinds::default() {
            self.atoms.of_kinds(unknown).for_each(|atom| present.put(atom));
        }
    }

    fn put(&self, kind: AtomKind, text: &str, present: &mut Present) {
        if let Some(atom) = self.atoms.get(kind, text.as_bytes()) {
            present.put(atom);
        }
    }

    /// What a change has copied.
    #[cfg(test)]
    pub(super) fn unshared(&self, other: &Self) -> Unshared {
        let Self { atoms, roles, apps, counts, trie, lists, combinations } = self;
        let Unshared { pages, items } = trie.unshared(&other.trie);
        let shards: usize = lists.iter().zip(other.lists.iter()).map(|(own, other)| own.unshared(other)).sum();
        let pages = pages + counts.unshared(&other.counts) + lists.unshared(&other.lists) + shards;
        Unshared {
            pages: pages + combinations.unshared(&other.combinations),
            items: items + atoms.unshared(&other.atoms) + roles.unshared(&other.roles) + apps.unshared(&other.apps),
        }
    }

    /// How many steps the last walk took, for tests of hostile patterns.
    #[cfg(test)]
    pub(super) fn steps(scratch: &Scratch) -> usize {
        scratch.walk.steps()
    }
}

/// What two indexes do not share.
#[cfg(test)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unshared {
    /// Pages and shards.
    pub(super) pages: usize,
    /// Items beside those that are frozen.
    pub(super) items: usize,
}
