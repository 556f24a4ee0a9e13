//! Subjects that no policy can tell apart are one class and are answered once.

use rustc_hash::FxHashSet;
use upheld_model::layers::{Audience, Condition};
use upheld_model::{Facet, Role, Sym, TagSet, Want};

use super::audience::{Need, Subject};
use super::index::Merge;
use crate::partition::{CellTable, Partition, Visible, VisibleTags};
use crate::work;

/// Subjects in cells with equal answers to every question about them, for some kinds at once. Of each class something is
/// kept that stands for its first subject: the subject itself, or its place in a list.
#[derive(Clone, Debug)]
pub struct Classes<R> {
    sees: Sees,
    table: CellTable<Seen, R>,
    /// The facts of what represents a class that is none of these.
    nothing: TagSet,
}

impl<R> Classes<R> {
    /// No classes yet; told apart is what policies of these indexes can tell apart.
    pub fn new<'m>(merges: impl IntoIterator<Item = &'m Merge>) -> Self {
        let mut sees = Sees::default();
        for audience in merges.into_iter().flat_map(|merge| merge.audiences().iter()) {
            sees.add(audience);
        }
        Self::seeing(sees)
    }

    /// The same, for questions about some facets: who says nothing about them tells nobody apart.
    pub fn about<'m>(merges: impl IntoIterator<Item = &'m Merge>, facets: &[Facet]) -> Self {
        let mut sees = Sees::default();
        for merge in merges {
            let speaks = |slot: &u32| facets.iter().any(|facet| merge.entries_of(*slot, *facet).next().is_some());
            let slots = merge.policies().map(|(slot, _)| slot).filter(speaks);
            slots.flat_map(|slot| merge.audiences().of(slot)).for_each(|audience| sees.add(audience));
        }
        Self::seeing(sees)
    }

    pub(super) fn seeing(sees: Sees) -> Self {
        Self { sees, table: CellTable::default(), nothing: TagSet::default() }
    }

    /// The class of a subject; a new one has the next number.
    pub fn add(&mut self, subject: Subject<'_>, first: R) -> usize {
        self.table.add(self.sees.of(subject), first)
    }

    /// What stands for the first subject of a class.
    pub fn first(&self, class: usize) -> Option<&R> {
        self.table.first(class)
    }

    /// The class of a subject, if there is one.
    pub fn find(&self, subject: Subject<'_>) -> Option<usize> {
        self.table.find(&self.sees.of(subject))
    }

    /// What can be told apart.
    pub fn sees(&self) -> &Sees {
        &self.sees
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }
}

impl<'o> Classes<Subject<'o>> {
    /// The class of a subject that may become the first of its class.
    pub fn classify(&mut self, subject: Subject<'o>) -> usize {
        self.add(subject, subject)
    }
}

impl<'o> Partition for Classes<Subject<'o>> {
    type Question<'p>
        = Subject<'p>
    where
        'o: 'p;
    type Cell = usize;

    fn cells(&self) -> impl Iterator<Item = usize> {
        self.table.cells()
    }

    fn representative(&self, class: usize) -> Subject<'_> {
        self.first(class).copied().unwrap_or(Subject { facts: &self.nothing, parts: &[], only: None })
    }

    fn size(&self, class: usize) -> u64 {
        self.table.size(class)
    }

    fn locate(&self, subject: Subject<'_>) -> Option<usize> {
        self.find(subject)
    }
}

/// What some audience looks at: what it does not see cannot tell two subjects apart.
#[derive(Clone, Debug, Default)]
pub struct Sees {
    facts: Visible,
    tags: Visible,
    sections: FxHashSet<Sym>,
    outbounds: Outbounds,
}

/// Whether some audience can have parts that call others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Outbounds {
    #[default]
    Unseen,
    Seen,
}

/// What is seen of a subject. Subjects of which the same is seen get the same answers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Seen {
    facts: VisibleTags,
    /// A part that nobody sees holds the place of those after it: answers number parts.
    parts: Vec<Option<(Role, Option<Sym>, VisibleTags)>>,
    only: Option<u32>,
}

impl Sees {
    /// Looks at what an audience looks at, too.
    pub fn add(&mut self, audience: &Audience) {
        work::step();
        for condition in &audience.conditions {
            match *condition {
                Condition::Is(key, value) => self.facts.add(key, Want::Exactly(value)),
                Condition::AbsentOr(key, value) => {
                    self.facts.add(key, Want::Exactly(value));
                    self.facts.add(key, Want::Any);
                }
                Condition::Absent(key) => self.facts.add(key, Want::Any),
            }
        }
        for (key, want) in &audience.tags {
            self.tags.add(*key, *want);
        }
        self.sections.extend(audience.section);
        if audience.roles.has(Role::Outbound) {
            self.outbounds = Outbounds::Seen;
        }
    }

    /// Whether it looks at everything that an audience looks at.
    pub fn covers(&self, audience: &Audience) -> bool {
        let mut with = Self::default();
        with.add(audience);
        self.facts.covers(&with.facts)
            && self.tags.covers(&with.tags)
            && with.sections.is_subset(&self.sections)
            && (with.outbounds == Outbounds::Unseen || self.outbounds == Outbounds::Seen)
    }

    /// What is seen of a subject.
    pub fn of(&self, subject: Subject<'_>) -> Seen {
        let hidden = |role: Role| role == Role::Outbound && self.outbounds == Outbounds::Unseen;
        let parts = subject.parts.iter().map(|part| {
            let section = Some(part.section).filter(|section| self.sections.contains(section));
            let seen = || (part.role, section, self.tags.of(&part.tags));
            (!hidden(part.role)).then(seen)
        });
        let mut parts: Vec<_> = parts.collect();
        while matches!(parts.last(), Some(None)) {
            parts.pop();
        }
        Seen { facts: self.facts.of(subject.facts), parts, only: subject.only }
    }

    /// Everything seen of a subject that an audience may be unable to do without.
    pub(super) fn needs_met_by(&self, subject: Subject<'_>) -> Vec<Need> {
        let facts = subject.facts.as_slice().iter().filter_map(|tag| Some((tag.key, tag.value?)));
        let facts =
            facts.filter(|(key, value)| self.facts.has(*key, *value)).map(|(key, value)| Need::Fact(key, value));
        let absent = self.facts.presences().filter(|key| subject.facts.get(*key).is_none());
        let absent = absent.map(Need::NoFact);
        let tags = subject.parts.iter().flat_map(|part| {
            let tags = part.tags.as_slice().iter().filter_map(|tag| Some((tag.key, tag.value?)));
            let tags =
                tags.filter(|(key, value)| self.tags.has(*key, *value)).map(|(key, value)| Need::Tag(key, value));
            let section = Some(part.section).filter(|section| self.sections.contains(section));
            tags.chain(section.map(Need::Section))
        });
        let mut met: Vec<Need> = facts.chain(absent).chain(tags).collect();
        met.sort_unstable();
        met.dedup();
        met
    }
}
