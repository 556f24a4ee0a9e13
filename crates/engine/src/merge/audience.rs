//! Who is attached to whom: which policies speak to an object at all, and to which of its parts.
//!
//! Every alternative of every policy is filed under one fact or tag that it cannot do without, the one that the fewest
//! share. An object then meets only what is filed under its own facts and tags, and what needs none.

use std::sync::Arc;

use upheld_model::layers::{Audience, Condition};
use upheld_model::{Object, Pages, Part, Shards, Sym, TagSet, Want};

use crate::apart::{Lack, lacking};
use crate::buckets::FlatBuckets;

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
pub enum AudienceMiss {
    /// A fact has another value, or none.
    Fact(Condition),
    /// No part has the role.
    NoPart,
    /// No part has the name or port.
    Section(Sym),
    /// A tag of a part has another value, or is not there.
    Tag(Sym, Want, Option<Sym>),
    /// So many tags are wanted; each is there, but no part has all of them.
    Apart(usize),
}

/// The parts of a subject that an audience has; an error if there are none.
pub fn parts_of(audience: &Audience, subject: Subject<'_>) -> Result<Vec<u32>, AudienceMiss> {
    if let Some(failed) = audience.conditions.iter().find(|condition| !holds(**condition, subject.facts)) {
        return Err(AudienceMiss::Fact(*failed));
    }
    let mut why = AudienceMiss::NoPart;
    let mut parts = Vec::new();
    for (number, part) in subject.parts.iter().enumerate().filter(|(_, part)| audience.roles.has(part.role)) {
        if subject.only.is_some_and(|only| only as usize != number) {
            continue;
        }
        if let Some(section) = audience.section.filter(|section| part.section != *section) {
            if why == AudienceMiss::NoPart {
                why = AudienceMiss::Section(section);
            }
            continue;
        }
        match audience.tags.iter().find(|(key, want)| !wanted(&part.tags, *key, *want)) {
            Some((key, want)) => why = AudienceMiss::Tag(*key, *want, part.tags.get(*key).and_then(|tag| tag.value)),
            None => parts.extend(u32::try_from(number)),
        }
    }
    if parts.is_empty() { Err(why) } else { Ok(parts) }
}

/// Why not, for people: what one part lacks, unless another part has it.
pub(super) fn of_all_parts(why: AudienceMiss, audience: &Audience, subject: Subject<'_>) -> AudienceMiss {
    if !matches!(why, AudienceMiss::Tag(..)) {
        return why;
    }
    let own = subject.parts.iter().enumerate().filter(|(number, part)| {
        audience.roles.has(part.role)
            && subject.only.is_none_or(|only| only as usize == *number)
            && audience.section.is_none_or(|section| part.section == section)
    });
    match lacking(&audience.tags, &own.map(|(_, part)| &part.tags), None) {
        Some(Lack::Tag(key, want, have)) => AudienceMiss::Tag(key, want, have),
        Some(Lack::Together(tags)) => AudienceMiss::Apart(tags),
        None => why,
    }
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

/// All audiences of the policies of an index. A clone shares what it does not change.
#[derive(Clone, Debug, Default)]
pub struct Audiences {
    /// By slot.
    all: Pages<Alternatives>,
    /// Alternatives by what they cannot do without.
    filed: FlatBuckets<Need, (u32, u32)>,
    /// How many alternatives cannot do without something.
    shared: Shards<Need, u32>,
    /// Facts under whose absence some alternative is filed.
    absent: Vec<Sym>,
    /// Alternatives that need nothing in particular.
    open: Vec<(u32, u32)>,
}

/// The audiences of a policy.
#[derive(Clone, Debug, Default)]
struct Alternatives {
    all: Arc<[Audience]>,
    /// What each is filed under; nothing for those that are open.
    under: Arc<[Option<Need>]>,
}

/// Room to work in, and how much was done.
#[derive(Clone, Debug, Default)]
pub struct AdmitScratch {
    met: Vec<(u32, u32)>,
    /// How many alternatives were held against a subject so far.
    pub looked_at: u64,
}

impl Audiences {
    /// Takes the audiences of some slots out, and puts others in.
    pub(super) fn change(&mut self, gone: &[u32], came: &[(u32, &[Audience])]) {
        for slot in gone {
            self.unfile(*slot);
        }
        // All are counted before the first is filed under what the fewest share.
        for need in came.iter().flat_map(|(_, audiences)| audiences.iter()).flat_map(needs).map(|(need, _)| need) {
            let count = self.shared.get(&need).copied().unwrap_or_default();
            self.shared.insert(need, count + 1);
        }
        let mut filed = Vec::new();
        for (slot, audiences) in came {
            let under: Arc<[Option<Need>]> = audiences.iter().map(|audience| self.rarest(audience)).collect();
            for ((number, audience), need) in (0..).zip(*audiences).zip(under.iter()) {
                match need {
                    Some(need) => filed.extend(both(audience, *need).map(|need| (need, (*slot, number)))),
                    None => self.open.push((*slot, number)),
                }
            }
            let alternatives = Alternatives { all: (*audiences).into(), under };
            self.all.put(*slot as usize, alternatives, Alternatives::default);
        }
        self.absent.extend(filed.iter().filter_map(|(need, _)| need.absent()));
        self.absent.sort_unstable();
        self.absent.dedup();
        self.open.sort_unstable();
        self.filed.add_all(filed);
    }

    fn unfile(&mut self, slot: u32) {
        let Some(place) = self.all.get_mut(slot as usize) else { return };
        let Alternatives { all, under } = std::mem::take(place);
        for (audience, need) in all.iter().zip(under.iter()) {
            for (need, _) in needs(audience) {
                match self.shared.get(&need).copied() {
                    Some(count) if count > 1 => drop(self.shared.insert(need, count - 1)),
                    _ => drop(self.shared.remove(&need)),
                }
            }
            for need in need.iter().flat_map(|need| both(audience, *need)) {
                self.filed.take(&need, |(known, _)| *known == slot);
                if let Some(key) = need.absent().filter(|_| self.filed.get(&need).is_empty()) {
                    self.absent.retain(|known| *known != key);
                }
            }
        }
        if under.contains(&None) {
            self.open.retain(|(known, _)| *known != slot);
        }
    }

    /// What an alternative is filed under: what the fewest share.
    fn rarest(&self, audience: &Audience) -> Option<Need> {
        let shared = |need: &Need| self.shared.get(need).copied().unwrap_or_default();
        needs(audience).map(|(need, _)| need).min_by_key(shared)
    }

    /// The audiences of a slot.
    pub fn of(&self, slot: u32) -> &[Audience] {
        self.all.get(slot as usize).map_or(&[], |alternatives| &alternatives.all)
    }

    /// How many pages and shards two of them do not share.
    pub(super) fn unshared(&self, other: &Self) -> usize {
        self.all.unshared(&other.all) + self.filed.unshared(&other.filed) + self.shared.unshared(&other.shared)
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
            met.extend(self.filed.get(&need));
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
        self.all.iter().flat_map(|alternatives| alternatives.all.iter())
    }
}

impl Need {
    /// The fact that must not be there.
    fn absent(self) -> Option<Sym> {
        match self {
            Self::NoFact(key) => Some(key),
            Self::Fact(..) | Self::Tag(..) | Self::Section(_) => None,
        }
    }
}

/// A need of an audience, and the one that does as well.
fn both(audience: &Audience, need: Need) -> impl Iterator<Item = Need> {
    let or = needs(audience).find(|(known, _)| *known == need).and_then(|(_, or)| or);
    std::iter::once(need).chain(or)
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
