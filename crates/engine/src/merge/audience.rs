//! Who is attached to whom: which policies speak to an object at all, and to which of its parts.
//!
//! Every alternative of every policy is filed under one fact or tag that it cannot do without, the one that the fewest
//! share. An object then meets only what is filed under its own facts and tags, and what needs none.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use upheld_model::layers::{Audience, Condition};
use upheld_model::{Object, Part, Sym, TagSet, Want};

/// What policies are attached to: an object as matching sees it.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'o> {
    /// What is known of it as a whole.
    pub facts: &'o TagSet,
    /// Its parts.
    pub parts: &'o [Part],
    /// The only part that counts for who is attached; `None` for all of them.
    pub only: Option<u32>,
}

impl<'o> Subject<'o> {
    /// An object.
    pub fn of(object: &'o Object) -> Self {
        Self { facts: &object.facts, parts: &object.parts, only: None }
    }

    /// A part of an object: policies that are attached to other parts do not count.
    pub fn part(object: &'o Object, part: u32) -> Self {
        Self { only: Some(part), ..Self::of(object) }
    }
}

/// A policy that is attached to a subject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Admitted {
    /// Its place among the policies of the index.
    pub slot: u32,
    /// The parts of the subject that it is attached to, in order.
    pub parts: Vec<u32>,
}

impl Admitted {
    /// Whether it is attached to a part.
    pub fn has(&self, part: u32) -> bool {
        self.parts.binary_search(&part).is_ok()
    }
}

/// Why an audience does not have a subject; what it would take is counted in the order of the conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outside {
    /// A fact has another value, or none.
    Fact(Condition),
    /// No part has the role.
    NoPart,
    /// No part has the name or port.
    Section(Sym),
    /// A tag of a part has another value, or none; of the part that came nearest.
    Tag(Sym, Want, Option<Sym>),
}

/// The parts of a subject that an audience has; an error if there are none.
pub fn parts_of(audience: &Audience, subject: Subject<'_>) -> Result<Vec<u32>, Outside> {
    if let Some(failed) = audience.conditions.iter().find(|condition| !holds(**condition, subject.facts)) {
        return Err(Outside::Fact(*failed));
    }
    let mut why = Outside::NoPart;
    let mut parts = Vec::new();
    for (number, part) in subject.parts.iter().enumerate().filter(|(_, part)| audience.roles.has(part.role)) {
        if subject.only.is_some_and(|only| only as usize != number) {
            continue;
        }
        if let Some(section) = audience.section.filter(|section| part.section != *section) {
            if why == Outside::NoPart {
                why = Outside::Section(section);
            }
            continue;
        }
        match audience.tags.iter().find(|(key, want)| !wanted(&part.tags, *key, *want)) {
            Some((key, want)) => why = Outside::Tag(*key, *want, part.tags.get(*key).and_then(|tag| tag.value)),
            None => parts.extend(u32::try_from(number)),
        }
    }
    if parts.is_empty() { Err(why) } else { Ok(parts) }
}

/// Whether a condition holds of some facts.
pub fn holds(condition: Condition, facts: &TagSet) -> bool {
    match condition {
        Condition::Is(key, value) => facts.get(key).is_some_and(|tag| tag.value == Some(value)),
        Condition::AbsentOr(key, value) => facts.get(key).is_none_or(|tag| tag.value == Some(value)),
        Condition::Absent(key) => facts.get(key).is_none(),
    }
}

fn wanted(tags: &TagSet, key: Sym, want: Want) -> bool {
    tags.get(key).is_some_and(|tag| match want {
        Want::Any => true,
        Want::Exactly(value) => tag.value == Some(value),
    })
}

/// Something that a subject must have for an alternative to count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Need {
    Fact(Sym, Sym),
    /// A fact that it must not have.
    NoFact(Sym),
    Tag(Sym, Sym),
    Section(Sym),
}

/// All audiences of the policies of an index.
#[derive(Clone, Debug, Default)]
pub struct Audiences {
    /// By slot.
    all: Vec<Arc<[Audience]>>,
    /// Alternatives by what they cannot do without.
    filed: FxHashMap<Need, Vec<(u32, u32)>>,
    /// Facts under whose absence some alternative is filed.
    absent: Vec<Sym>,
    /// Alternatives that need nothing in particular.
    open: Vec<(u32, u32)>,
}

/// Room to work in, and how much was done.
#[derive(Clone, Debug, Default)]
pub struct AdmitScratch {
    met: Vec<(u32, u32)>,
    /// How many alternatives were held against a subject so far.
    pub looked_at: u64,
}

impl Audiences {
    /// Files the audiences of policies, which get slots in the order given.
    pub fn new(all: Vec<Arc<[Audience]>>) -> Self {
        let mut index = Self { all, ..Self::default() };
        index.file();
        index
    }

    /// The same with other audiences for a slot, which may be the next one.
    #[must_use]
    pub fn with(&self, slot: usize, audiences: Arc<[Audience]>) -> Self {
        let mut all = self.all.clone();
        match all.get_mut(slot) {
            Some(old) => *old = audiences,
            None => all.push(audiences),
        }
        Self::new(all)
    }

    /// The audiences of a slot.
    pub fn of(&self, slot: u32) -> &[Audience] {
        self.all.get(slot as usize).map_or(&[], |audiences| audiences.as_ref())
    }

    /// The policies that are attached to a subject, by slot.
    pub fn admit(&self, subject: Subject<'_>, scratch: &mut AdmitScratch) -> Vec<Admitted> {
        let met = &mut scratch.met;
        met.clear();
        met.extend(&self.open);
        let facts = subject.facts.as_slice().iter().filter_map(|tag| Some(Need::Fact(tag.key, tag.value?)));
        let absent = self.absent.iter().filter(|key| subject.facts.get(**key).is_none()).map(|key| Need::NoFact(*key));
        let tags = subject.parts.iter().flat_map(|part| {
            let tags = part.tags.as_slice().iter().filter_map(|tag| Some(Need::Tag(tag.key, tag.value?)));
            tags.chain([Need::Section(part.section)])
        });
        for need in facts.chain(absent).chain(tags) {
            met.extend(self.filed.get(&need).into_iter().flatten());
        }
        met.sort_unstable();
        met.dedup();
        let mut admitted: Vec<Admitted> = Vec::new();
        for (slot, number) in met.iter().copied() {
            scratch.looked_at += 1;
            let Some(audience) = self.of(slot).get(number as usize) else { continue };
            let Ok(mut parts) = parts_of(audience, subject) else { continue };
            match admitted.last_mut().filter(|last| last.slot == slot) {
                Some(last) => {
                    last.parts.append(&mut parts);
                    last.parts.sort_unstable();
                    last.parts.dedup();
                }
                None => admitted.push(Admitted { slot, parts }),
            }
        }
        admitted
    }

    /// All audiences of all policies.
    pub fn iter(&self) -> impl Iterator<Item = &Audience> {
        self.all.iter().flat_map(|audiences| audiences.iter())
    }

    fn file(&mut self) {
        let alternatives = || {
            let all = self.all.iter().enumerate();
            all.flat_map(|(slot, audiences)| audiences.iter().enumerate().map(move |(number, one)| (slot, number, one)))
        };
        let mut shared: FxHashMap<Need, usize> = FxHashMap::default();
        for (_, _, audience) in alternatives() {
            for (need, _) in needs(audience) {
                *shared.entry(need).or_default() += 1;
            }
        }
        let (mut filed, mut open): (FxHashMap<Need, Vec<_>>, Vec<_>) = (FxHashMap::default(), Vec::new());
        let mut absent = Vec::new();
        for (slot, number, audience) in alternatives() {
            let place = (u32::try_from(slot).unwrap_or(u32::MAX), u32::try_from(number).unwrap_or(u32::MAX));
            let Some((need, or)) = needs(audience).min_by_key(|(need, _)| shared.get(need)) else {
                open.push(place);
                continue;
            };
            for need in std::iter::once(need).chain(or) {
                filed.entry(need).or_default().push(place);
                absent.extend(if let Need::NoFact(key) = need { Some(key) } else { None });
            }
        }
        absent.sort_unstable();
        absent.dedup();
        (self.filed, self.open, self.absent) = (filed, open, absent);
    }
}

/// What an audience cannot do without; where there is a second one, either of the two.
pub(super) fn needs(audience: &Audience) -> impl Iterator<Item = (Need, Option<Need>)> {
    let facts = audience.conditions.iter().map(|condition| match *condition {
        Condition::Is(key, value) => (Need::Fact(key, value), None),
        Condition::AbsentOr(key, value) => (Need::Fact(key, value), Some(Need::NoFact(key))),
        Condition::Absent(key) => (Need::NoFact(key), None),
    });
    let tags = audience.tags.iter().filter_map(|(key, want)| match want {
        Want::Exactly(value) => Some((Need::Tag(*key, *value), None)),
        Want::Any => None,
    });
    facts.chain(tags).chain(audience.section.map(|section| (Need::Section(section), None)))
}
