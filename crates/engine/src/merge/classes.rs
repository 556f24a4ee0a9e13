//! Subjects that no policy can tell apart are one class and are answered once.

use rustc_hash::{FxHashMap, FxHashSet};
use upheld_model::layers::{Audience, Condition};
use upheld_model::{Role, Sym, TagSet, Want};

use super::audience::{Need, Subject};
use super::index::Merge;

/// Subjects in cells with equal answers, for some kinds at once.
#[derive(Clone, Debug, Default)]
pub struct Classes {
    sees: Sees,
    known: FxHashMap<Seen, usize>,
}

impl Classes {
    /// No classes yet; told apart is what policies of these indexes can tell apart.
    pub fn new<'m>(merges: impl IntoIterator<Item = &'m Merge>) -> Self {
        let mut sees = Sees::default();
        for audience in merges.into_iter().flat_map(|merge| merge.audiences().iter()) {
            sees.add(audience);
        }
        Self::seeing(sees)
    }

    pub(super) fn seeing(sees: Sees) -> Self {
        Self { sees, known: FxHashMap::default() }
    }

    /// The class of a subject; a new one has the next number.
    pub fn classify(&mut self, subject: Subject<'_>) -> usize {
        let next = self.known.len();
        *self.known.entry(self.sees.of(subject)).or_insert(next)
    }

    /// The class of a subject, if there is one.
    pub fn locate(&self, subject: Subject<'_>) -> Option<usize> {
        self.known.get(&self.sees.of(subject)).copied()
    }

    /// What can be told apart.
    pub fn sees(&self) -> &Sees {
        &self.sees
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }
}

/// What some audience looks at: what it does not see cannot tell two subjects apart.
#[derive(Clone, Debug, Default)]
pub struct Sees {
    facts: FxHashSet<(Sym, Sym)>,
    /// Facts of which it matters whether they are there.
    fact_keys: FxHashSet<Sym>,
    tags: FxHashSet<(Sym, Sym)>,
    /// Tags of which it matters whether they are there.
    tag_keys: FxHashSet<Sym>,
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

/// What is seen of some tags; a value that nobody names is only seen to be there.
type SeenTags = Vec<(Sym, Option<Sym>)>;

/// What is seen of a subject. Subjects of which the same is seen get the same answers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Seen {
    facts: SeenTags,
    /// A part that nobody sees holds the place of those after it: answers number parts.
    parts: Vec<Option<(Role, Option<Sym>, SeenTags)>>,
    only: Option<u32>,
}

impl Sees {
    /// Looks at what an audience looks at, too.
    pub fn add(&mut self, audience: &Audience) {
        for condition in &audience.conditions {
            match *condition {
                Condition::Is(key, value) => drop(self.facts.insert((key, value))),
                Condition::AbsentOr(key, value) => {
                    self.facts.insert((key, value));
                    self.fact_keys.insert(key);
                }
                Condition::Absent(key) => drop(self.fact_keys.insert(key)),
            }
        }
        for (key, want) in &audience.tags {
            match want {
                Want::Exactly(value) => drop(self.tags.insert((*key, *value))),
                Want::Any => drop(self.tag_keys.insert(*key)),
            }
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
        with.facts.is_subset(&self.facts)
            && with.fact_keys.is_subset(&self.fact_keys)
            && with.tags.is_subset(&self.tags)
            && with.tag_keys.is_subset(&self.tag_keys)
            && with.sections.is_subset(&self.sections)
            && (with.outbounds == Outbounds::Unseen || self.outbounds == Outbounds::Seen)
    }

    /// What is seen of a subject.
    pub fn of(&self, subject: Subject<'_>) -> Seen {
        let hidden = |role: Role| role == Role::Outbound && self.outbounds == Outbounds::Unseen;
        let parts = subject.parts.iter().map(|part| {
            let section = Some(part.section).filter(|section| self.sections.contains(section));
            let seen = || (part.role, section, seen(&part.tags, &self.tags, &self.tag_keys));
            (!hidden(part.role)).then(seen)
        });
        let mut parts: Vec<_> = parts.collect();
        while matches!(parts.last(), Some(None)) {
            parts.pop();
        }
        Seen { facts: seen(subject.facts, &self.facts, &self.fact_keys), parts, only: subject.only }
    }

    /// Everything seen of a subject that an audience may be unable to do without.
    pub(super) fn needs_met_by(&self, subject: Subject<'_>) -> Vec<Need> {
        let facts = subject.facts.as_slice().iter().filter_map(|tag| Some((tag.key, tag.value?)));
        let facts = facts.filter(|pair| self.facts.contains(pair)).map(|(key, value)| Need::Fact(key, value));
        let absent = self.fact_keys.iter().filter(|key| subject.facts.get(**key).is_none());
        let absent = absent.map(|key| Need::NoFact(*key));
        let tags = subject.parts.iter().flat_map(|part| {
            let tags = part.tags.as_slice().iter().filter_map(|tag| Some((tag.key, tag.value?)));
            let tags = tags.filter(|pair| self.tags.contains(pair)).map(|(key, value)| Need::Tag(key, value));
            let section = Some(part.section).filter(|section| self.sections.contains(section));
            tags.chain(section.map(Need::Section))
        });
        let mut met: Vec<Need> = facts.chain(absent).chain(tags).collect();
        met.sort_unstable();
        met.dedup();
        met
    }
}

fn seen(tags: &TagSet, named: &FxHashSet<(Sym, Sym)>, keys: &FxHashSet<Sym>) -> SeenTags {
    let seen = tags.as_slice().iter().filter_map(|tag| {
        let value = tag.value.filter(|value| named.contains(&(tag.key, *value)));
        (value.is_some() || keys.contains(&tag.key)).then_some((tag.key, value))
    });
    seen.collect()
}
