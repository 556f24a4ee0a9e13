//! Matching and resolving: which layers speak to a question, and what they come to.

use upheld_model::layers::{Condition, Pattern, Section, Unresolved};
use upheld_model::{Code, Facet, Param, Reason, Side, State, Sym, TagSet, Want};

use super::audience::{AdmitScratch, AudienceMiss, Subject, of_all_parts, parts_of};
use super::fold::Merged;
use super::index::{Column, Entry, Merge, ResolvedReach, Separation};
use super::targets::Target;
use crate::ask::{EntryId, Family, Fit, Hit, Place};
use crate::witness::Witness;
use crate::work;

/// What is asked: one facet of a subject.
#[derive(Clone, Copy, Debug)]
pub struct Question<'q> {
    /// Whose configuration.
    pub subject: Subject<'q>,
    /// For what.
    pub about: About<'q>,
}

/// What a question is about.
#[derive(Clone, Copy, Debug)]
pub enum About<'q> {
    /// The subject as a whole.
    Whole,
    /// A called object: the targets that concern it, the most specific first.
    Targets(&'q [Target]),
    /// A called service of which only tags are known.
    Service(&'q TagSet),
    /// A caller of a part, known by tags.
    Client {
        /// The part.
        part: u32,
        /// The caller's tags.
        tags: &'q TagSet,
    },
    /// A part, for a caller with these facts. Layers for callers of whom nothing is known here do not count.
    Inbound {
        /// The part.
        part: u32,
        /// What is known of the caller. It may have several values of one fact.
        caller: &'q [CallerFact<'q>],
    },
}

/// Something that a caller has, and what it is; nothing if that is not known.
pub type CallerFact<'q> = (Sym, Option<&'q str>);

/// Whether a pattern is about a caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum CallerFit {
    /// The caller has nothing of that name.
    Absent,
    /// What it has is something else.
    No,
    /// What it has is not known.
    Unknown,
    /// One of the values that it has fits.
    Yes,
}

impl CallerFit {
    pub(super) fn of(pattern: &Pattern, caller: &[CallerFact<'_>]) -> Self {
        let values = caller.iter().filter(|(key, _)| *key == pattern.key).map(|(_, text)| match text {
            Some(text) if pattern.fits(text) => Self::Yes,
            Some(_) => Self::No,
            None => Self::Unknown,
        });
        values.max().unwrap_or(Self::Absent)
    }
}

impl About<'_> {
    /// The facet.
    pub fn facet(self) -> Facet {
        match self {
            Self::Whole => Facet::Whole,
            Self::Targets(_) => Facet::Objects,
            Self::Service(_) => Facet::Services,
            Self::Client { .. } => Facet::Clients,
            Self::Inbound { .. } => Facet::Inbound,
        }
    }

    /// The part of the subject, if it is about one.
    pub fn part(self) -> Option<u32> {
        match self {
            Self::Client { part, .. } | Self::Inbound { part, .. } => Some(part),
            Self::Whole | Self::Targets(_) | Self::Service(_) => None,
        }
    }

    /// The end of the connection at which the subject is.
    pub fn side(self) -> Side {
        match self {
            Self::Client { .. } | Self::Inbound { .. } => Side::Destination,
            Self::Whole | Self::Targets(_) | Self::Service(_) => Side::Source,
        }
    }
}

/// The answer: layers and what they come to.
#[derive(Clone, Debug, Default)]
pub struct Layered {
    /// All layers that speak to the question, the best first.
    pub entries: Vec<EntryId>,
    /// What they come to; `by` is a place in `entries`. More than one where the kind keeps values of a field apart.
    pub results: Vec<Merged>,
    /// Whether a missing fact could change it.
    pub undecided: bool,
}

impl Family for Merge {
    type Question<'q> = Question<'q>;
    type Measure = ();
    type Answer = Layered;
    type Scratch = AdmitScratch;

    fn entries(&self) -> impl Iterator<Item = EntryId> {
        self.policies().flat_map(|(_, policy)| policy.entries.iter().copied())
    }

    fn find<W: Witness<()>>(&self, question: &Question<'_>, scratch: &mut AdmitScratch, hits: &mut Vec<Hit<()>>) {
        let facet = question.about.facet();
        for admitted in self.audiences.admit(question.subject, scratch) {
            if question.about.part().is_some_and(|part| !admitted.has(part)) {
                continue;
            }
            for (id, entry) in self.entries_of(admitted.slot, facet) {
                if let Ok((place, fit)) = reach(entry, question.about) {
                    hits.push(Hit::new(id, place, fit));
                }
            }
        }
    }

    fn check<W: Witness<()>>(
        &self,
        id: EntryId,
        question: &Question<'_>,
        witness: &mut W,
        mut sit: impl FnMut(Place, Fit<()>),
    ) {
        work::step();
        let Some(entry) = self.entry(id).filter(|entry| entry.facet == question.about.facet()) else { return };
        if let Err((distance, why)) = self.attached(entry, question) {
            witness.miss(id, distance, || why);
            return;
        }
        match reach(entry, question.about) {
            Ok((place, fit)) => sit(place, fit),
            Err(why) => witness.miss(id, 1, || why),
        }
    }

    fn resolve<W: Witness<()>>(
        &self,
        question: &Question<'_>,
        _: &mut AdmitScratch,
        hits: &mut Vec<Hit<()>>,
        witness: &mut W,
    ) -> Layered {
        hits.sort_by(|a, b| self.compare(b.entry, a.entry));
        hits.dedup_by_key(|hit| hit.entry);
        let entries: Vec<EntryId> = hits.iter().map(|hit| hit.entry).collect();
        let results = self.fold(&entries);
        let mut contributors: Vec<usize> = results.iter().flat_map(Merged::contributors).collect();
        contributors.sort_unstable();
        contributors.dedup();
        let certain = |place: &usize| hits.get(*place).is_some_and(|hit| hit.certain);
        let undecided = !contributors.iter().all(certain);
        let answer = Layered { entries, results, undecided };
        if W::RECORDS {
            self.tell(question, hits, &answer, &contributors, witness);
        }
        answer
    }
}

impl Merge {
    /// Whether the policy of an entry is attached to the subject, and to the part in question; else how far from it.
    fn attached(&self, entry: &Entry, question: &Question<'_>) -> Result<(), (u32, Reason)> {
        let audiences = self.audiences.of(entry.slot);
        let mut nearest: Option<(u32, Reason)> = None;
        let mut any = false;
        for audience in audiences {
            match parts_of(audience, question.subject) {
                Ok(parts) => {
                    any = true;
                    if question.about.part().is_none_or(|part| parts.contains(&part)) {
                        return Ok(());
                    }
                }
                Err(outside) => {
                    let why = outside_reason(of_all_parts(outside, audience, question.subject), question);
                    if nearest.is_none_or(|(known, _)| why.0 < known) {
                        nearest = Some(why);
                    }
                }
            }
        }
        let elsewhere = || (2, Reason::new(Code::SkipOtherPart, &[]));
        let shadow = self
            .policy(entry.slot)
            .is_some_and(|policy| policy.dangling.iter().any(|dangling| dangling.problem == Unresolved::Shadow));
        let dangling = || (4, Reason::new(if shadow { Code::SkipShadow } else { Code::SkipDangling }, &[]));
        Err(if any { elsewhere() } else { nearest.unwrap_or_else(dangling) })
    }

    fn tell<W: Witness<()>>(
        &self,
        question: &Question<'_>,
        hits: &[Hit<()>],
        answer: &Layered,
        contributors: &[usize],
        witness: &mut W,
    ) {
        let best = contributors.first().and_then(|place| hits.get(*place));
        // Who says nothing, or is better and says nothing that stays, was not beaten.
        let says = |hit: &&Hit<()>| self.entry(hit.entry).is_some_and(|entry| !entry.config.entries().is_empty());
        let beaten = contributors.first().and_then(|best| hits.iter().skip(best + 1).find(says));
        let alone = contributors.len() == 1;
        for (place, hit) in hits.iter().enumerate() {
            let contributes = contributors.contains(&place);
            if !hit.certain {
                let why = self.entry(hit.entry).and_then(|entry| unknown(entry, question.about));
                witness.state(hit, State::Unknown, || why.unwrap_or(Reason::new(Code::UnknownTag, &[])));
            } else if contributes && alone {
                let separation = beaten.and_then(|beaten| self.separate(hit.entry, beaten.entry));
                if let Some(separation) = separation {
                    witness.decided(separation.rung);
                }
                witness.state(hit, State::Won, || separation.map_or(Reason::new(Code::MergeOnly, &[]), reason));
            } else if contributes {
                let fields = answer.results.iter().flat_map(Merged::leaves).filter(|leaf| leaf.by == place).count();
                let fields = i64::try_from(fields).unwrap_or(i64::MAX);
                witness.state(hit, State::Kept, || Reason::new(Code::MergeSets, &[Param::Number(fields)]));
            } else {
                witness.state(hit, State::Lost, || self.taken(hit.entry, place, answer, best));
            }
        }
    }
}

impl Merge {
    /// Why a layer supplies nothing: by the layer that took the first of its fields. One without fields took part in nothing.
    fn taken(&self, entry: EntryId, place: usize, answer: &Layered, best: Option<&Hit<()>>) -> Reason {
        let mut leaves = answer.results.iter().flat_map(Merged::leaves);
        let over = leaves.find(|leaf| leaf.overridden.iter().any(|over| over.by == place)).map(|leaf| leaf.by);
        if over.is_none() && self.entry(entry).is_some_and(|entry| entry.config.entries().is_empty()) {
            return Reason::new(Code::MergeSets, &[Param::Number(0)]);
        }
        let by = over.and_then(|by| answer.entries.get(by).copied()).or_else(|| best.map(|best| best.entry));
        let separation = by.and_then(|by| self.separate(entry, by));
        let Some(separation) = separation else { return Reason::new(Code::MergeIdentity, &[]) };
        let title = by.and_then(|by| self.policy(self.entry(by)?.slot)).map(|policy| policy.title);
        match (reason(separation), title) {
            // Another layer than the best: it has a name.
            (Reason { code: Code::MergeRung, params: [mine, theirs, rung, _] }, Some(title))
                if answer.entries.len() > 2 =>
            {
                Reason::new(Code::MergeRung, &[mine, theirs, rung, Param::Text(title)])
            }
            (reason, _) => reason,
        }
    }
}

/// Where an entry sits for a question, given that its policy is attached to the subject.
fn reach(entry: &Entry, about: About<'_>) -> Result<(Place, Fit<()>), Reason> {
    let here = Ok((Place::default(), Fit::Yes(())));
    match (&entry.reach, about) {
        (ResolvedReach::Objects(reference, found), About::Targets(targets)) => {
            let place = targets.iter().position(|target| found.binary_search(target).is_ok());
            match place {
                Some(place) => Ok((Place(u32::try_from(place).unwrap_or(u32::MAX)), Fit::Yes(()))),
                None if found.is_empty() => {
                    let section = match reference.section {
                        Some(Section::Named(section) | Section::Port(section)) => Param::Text(section),
                        None => Param::Nothing,
                    };
                    Err(Reason::new(Code::SkipDangling, &[Param::Text(reference.kind), section]))
                }
                None if let Some(section) = other_section(found, targets) => {
                    Err(Reason::new(Code::SkipOtherSection, &[Param::Text(section)]))
                }
                None => Err(Reason::new(Code::SkipOtherTarget, &[Param::Text(reference.kind)])),
            }
        }
        (ResolvedReach::Tags(wants), About::Service(tags)) => fits(wants, tags, Side::Destination),
        (ResolvedReach::Tags(wants), About::Client { tags, .. }) => fits(wants, tags, Side::Source),
        (ResolvedReach::Callers(patterns), About::Inbound { caller, .. }) => {
            let mut fit = Fit::Yes(());
            for pattern in patterns {
                let want = [Param::Text(pattern.key)];
                match CallerFit::of(pattern, caller) {
                    CallerFit::Yes => {}
                    CallerFit::Unknown => fit = Fit::Unknown(()),
                    CallerFit::No => return Err(Reason::new(Code::SkipOtherCaller, &want)),
                    CallerFit::Absent => return Err(Reason::new(Code::SkipSomeCallers, &want)),
                }
            }
            Ok((Place::default(), fit))
        }
        _ => here,
    }
}

/// The reason that a difference gives.
pub fn reason(separation: Separation) -> Reason {
    let param = |(number, word): (i64, Option<Sym>)| word.map_or(Param::Number(number), Param::Text);
    let (mine, theirs) = (param(separation.mine), param(separation.theirs));
    match separation.column {
        Column::Mark(column) => Reason::new(Code::MergeRung, &[mine, theirs, Param::Text(column)]),
        Column::Title => Reason::new(Code::MergeNameOrder, &[theirs]),
        Column::Item => Reason::new(Code::MergeLaterItem, &[mine, theirs]),
        Column::Identity => Reason::new(Code::MergeIdentity, &[theirs]),
    }
}

/// A section of an object in question that an entry is about instead.
fn other_section(found: &[Target], targets: &[Target]) -> Option<Sym> {
    found.iter().find(|own| targets.iter().any(|target| target.object == own.object))?.section
}

fn fits(wants: &[(Sym, Sym)], tags: &TagSet, side: Side) -> Result<(Place, Fit<()>), Reason> {
    let mut fit = Fit::Yes(());
    for (key, want) in wants {
        let (side, key_param, want_param) = (Param::Side(side), Param::Text(*key), Param::Text(*want));
        match tags.get(*key).map(|tag| tag.value) {
            Some(Some(value)) if value == *want => {}
            Some(Some(value)) => {
                return Err(Reason::new(Code::SkipTag, &[side, key_param, want_param, Param::Text(value)]));
            }
            Some(None) => fit = Fit::Unknown(()),
            None => return Err(Reason::new(Code::SkipTagAbsent, &[side, key_param, want_param])),
        }
    }
    Ok((Place::default(), fit))
}

/// The tag or fact that is not known.
fn unknown(entry: &Entry, about: About<'_>) -> Option<Reason> {
    let (tags, side) = match about {
        About::Inbound { caller, .. } => {
            let ResolvedReach::Callers(patterns) = &entry.reach else { return None };
            let pattern = patterns.iter().find(|pattern| CallerFit::of(pattern, caller) == CallerFit::Unknown)?;
            return Some(Reason::new(Code::SkipSomeCallers, &[Param::Text(pattern.key)]));
        }
        About::Service(tags) => (tags, Side::Destination),
        About::Client { tags, .. } => (tags, Side::Source),
        _ => return None,
    };
    let ResolvedReach::Tags(wants) = &entry.reach else { return None };
    let (key, want) = wants.iter().find(|(key, _)| tags.get(*key).is_some_and(|tag| tag.value.is_none()))?;
    Some(Reason::new(Code::UnknownTag, &[Param::Side(side), Param::Text(*key), Param::Text(*want)]))
}

/// Why a subject is outside, and how far.
fn outside_reason(outside: AudienceMiss, question: &Question<'_>) -> (u32, Reason) {
    let value = |value: Option<Sym>| value.map_or(Param::Nothing, Param::Text);
    match outside {
        AudienceMiss::Fact(condition) => {
            let key = condition.key();
            let have = question.subject.facts.get(key).and_then(|tag| tag.value);
            let want = match condition {
                Condition::Is(_, want) | Condition::AbsentOr(_, want) => Some(want),
                Condition::Absent(_) => None,
            };
            (4, Reason::new(Code::SkipFact, &[Param::Text(key), value(want), value(have)]))
        }
        AudienceMiss::NoPart => (5, Reason::new(Code::SkipNoPart, &[])),
        AudienceMiss::Section(section) => (3, Reason::new(Code::SkipSection, &[Param::Text(section)])),
        AudienceMiss::Apart(tags) => {
            let tags = Param::Number(i64::try_from(tags).unwrap_or(i64::MAX));
            (3, Reason::new(Code::SkipTagsApart, &[Param::Side(question.about.side()), tags]))
        }
        AudienceMiss::Tag(key, want, have) => {
            let side = Param::Side(question.about.side());
            let want = match want {
                Want::Exactly(want) => Param::Text(want),
                Want::Any => Param::Nothing,
            };
            match have {
                Some(have) => (3, Reason::new(Code::SkipTag, &[side, Param::Text(key), want, Param::Text(have)])),
                None => (3, Reason::new(Code::SkipTagAbsent, &[side, Param::Text(key), want])),
            }
        }
    }
}
