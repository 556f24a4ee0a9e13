//! How paths of requests are read.

use super::measure::measured;
use super::{By, Decide, DecideScratch, Decided, Measure, Outcome, Strictness};
use crate::ask::Hit;
use crate::decide::index;
use crate::decide::load::Load;
use crate::decide::path::{self, BadPath, PathReading, ReadPath, Readings};
use crate::decide::request::{Maybe, NormalizedRequest, Path, Request};
use crate::decide::rule::Rule;
use crate::decide::tally::Tally;
use crate::decide::truth::Truth;
use crate::decide::value::{Combined, PossibleEffect, Unknowns, Value};
use crate::work;

/// Beyond so many policies that may be about a path that is not known, the request is undecided.
pub const MOST_DOUBTS: usize = 16;

/// In how many ways the path of a request is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ReadIn {
    /// In none, or it is not known which path it is.
    #[default]
    None,
    /// In one, or there is no path.
    One,
    Several,
}

impl ReadIn {
    pub(super) fn of(path: Path<'_>) -> Self {
        match path {
            Path::Is(_) | Path::Absent => Self::One,
            Path::Several(_) => Self::Several,
            Path::Unknown => Self::None,
        }
    }
}

/// Whether too many policies may be about a path that is not known, or that cannot be read: clients choose paths, and such a path costs
/// no more than others.
#[cold]
pub(super) fn is_too_doubtful(hits: &[Hit<Measure>]) -> bool {
    hits.iter().filter(|hit| hit.measure.target == Truth::Error).count() > MOST_DOUBTS
}

impl Decide {
    /// What the automata of all patterns weigh; more than [`MOST_WEIGHT`](crate::decide::MOST_WEIGHT) should not be let in.
    pub fn weight(&self) -> usize {
        self.load.patterns
    }

    /// What the policies cost.
    pub fn load(&self) -> Load {
        self.load
    }

    /// The longest text, in bytes, that is held against patterns.
    pub fn longest_text(&self) -> usize {
        self.longest
    }

    /// How requests are looked at.
    pub fn strictness(&self) -> Strictness {
        self.strictness
    }

    /// The same policies, for paths that are read in this way.
    #[must_use]
    pub fn reading_paths(self, paths: PathReading) -> Self {
        Self { paths, ..self }
    }

    /// The same policies, with unknown ones treated in this way.
    #[must_use]
    pub fn treating_unknowns(self, unknowns: Unknowns) -> Self {
        Self { unknowns, ..self }
    }

    /// How unknown policies are treated.
    pub fn unknowns(&self) -> Unknowns {
        self.unknowns
    }

    /// How paths are read.
    pub fn paths(&self) -> PathReading {
        self.paths
    }

    /// A request with its path as it is read.
    pub fn asked<'r>(&self, request: &'r Request, room: &'r mut Readings) -> NormalizedRequest<'r> {
        let path = match (&request.resource.path, self.strictness) {
            (Maybe::Is(path), _) if path.len() > self.longest => Path::Unknown,
            (Maybe::Is(path), Strictness::Compat) => Path::Is(path.as_str()),
            (Maybe::Is(path), Strictness::Strict) => match path::read(path, self.paths, room) {
                Ok(ReadPath::One(path)) => Path::Is(path),
                Ok(ReadPath::Several(readings)) => Path::Several(readings),
                Err(_) => Path::Unknown,
            },
            (Maybe::Absent, _) => Path::Absent,
            (Maybe::Unknown, _) => Path::Unknown,
        };
        NormalizedRequest { request, path, longest: self.longest }
    }

    /// Why the path of a request cannot be read.
    pub fn bad_path(&self, request: &Request) -> Option<BadPath> {
        match (&request.resource.path, self.strictness) {
            (Maybe::Is(path), _) if path.len() > self.longest => Some(BadPath::TooLong),
            (Maybe::Is(path), Strictness::Strict) => path::read(path, self.paths, &mut Readings::default()).err(),
            _ => None,
        }
    }

    /// Whether a request is undecided because too many policies may be about a path that is not known.
    pub fn is_too_doubtful(&self, request: &Request, hits: &[Hit<Measure>]) -> bool {
        ReadIn::of(self.asked(request, &mut Readings::default()).path) == ReadIn::None && is_too_doubtful(hits)
    }

    /// Calls `sit` with the policies that may be about a request whose path is read in several ways, or in none. Where the path is not
    /// known, it is settled after so many doubts, and the other policies are not looked at.
    #[cold]
    pub(super) fn look_in_doubt(
        &self,
        asked: NormalizedRequest<'_>,
        most_doubts: usize,
        found: &mut index::Scratch,
        some: &mut Vec<u32>,
        sit: &mut dyn FnMut(u32, Truth),
    ) {
        let most_doubts = if ReadIn::of(asked.path) == ReadIn::None { most_doubts } else { usize::MAX };
        let mut most = most_doubts.saturating_mul(2);
        loop {
            let end = self.index.candidates(asked, most, found, some);
            let mut doubts = 0;
            for slot in some.iter().copied() {
                let target = self.in_slot(slot).map_or(Truth::Error, |rule| rule.target.covers(asked));
                doubts += usize::from(target == Truth::Error);
                if target != Truth::False {
                    sit(slot, target);
                }
                if doubts > most_doubts {
                    return;
                }
            }
            if end.is_continue() {
                return;
            }
            most = usize::MAX;
        }
    }

    /// A decision that some readings of the path do not lead to is none: algorithms may hide what cannot be told of single policies.
    pub(super) fn in_every_reading(
        &self,
        request: &Request,
        read: ReadIn,
        decided: Decided,
        hits: &[Hit<Measure>],
        room: &mut Readings,
    ) -> Decided {
        // Nothing opens on a denial.
        if read == ReadIn::One || matches!(decided.outcome, Outcome::Undecided | Outcome::Deny) {
            return decided;
        }
        let asked = self.asked(request, room);
        let mut scratch = DecideScratch::default();
        let undecided = || {
            let value = Value::Unknown(PossibleEffect::Either);
            Decided { value, outcome: Outcome::Undecided, by: By::Nobody, ..decided }
        };
        let readings = match asked.path {
            Path::Several(readings) => readings,
            Path::Is(_) | Path::Absent => return decided,
            // Clients choose the path: one that nobody can read must not get past a deny because an algorithm hides what is not known.
            Path::Unknown => {
                let (root, about) = self.fold_with_doubts(asked, &mut scratch, hits);
                // What it rests on then is what permits in spite of all doubts.
                let careful = self.decided(root, about);
                return if careful.outcome == decided.outcome { careful } else { undecided() };
            }
        };
        let steps: usize = hits.iter().map(|hit| hit.measure.steps).sum();
        if steps.saturating_mul(readings.len()) > self.load.most_steps() {
            return undecided();
        }
        // What is known of each policy holds in every reading, so all readings come to the same.
        let is_known =
            hits.iter().all(|Hit { measure, .. }| measure.target == Truth::True && measure.conditions != Truth::Error);
        if is_known && !self.sets.iter().any(|set| set.target.reads_path()) {
            return decided;
        }
        for reading in readings {
            work::steps(steps as u64);
            let asked = NormalizedRequest { path: Path::Is(reading), ..asked };
            let measured = |hit: &Hit<Measure>| {
                let rule = self.rule(hit.entry)?;
                let measure = measured(rule, rule.target.covers(asked), asked);
                (measure.target != Truth::False).then_some(Hit { measure, ..*hit })
            };
            let own: Vec<Hit<Measure>> = hits.iter().filter_map(measured).collect();
            let (root, about) = self.fold(asked, &mut scratch, &own, self.algorithm());
            if self.decided(root, about).outcome != decided.outcome {
                return undecided();
            }
        }
        decided
    }

    /// What policies say of a request whose path is not known, where no set permits only because a deny is hidden.
    pub(super) fn fold_with_doubts(
        &self,
        asked: NormalizedRequest<'_>,
        scratch: &mut DecideScratch,
        hits: &[Hit<Measure>],
    ) -> (Combined, bool) {
        let doubtful = self.doubts_about_the_path(asked, hits);
        let combine = |set: usize, tally: &Tally, algorithm| match doubtful.get(set) {
            Some(true) => tally.combine_with_doubts(algorithm, self.unknowns),
            _ => tally.combine(algorithm, self.unknowns),
        };
        self.fold_with(asked, scratch, hits, self.algorithm(), |_| None, combine)
    }

    /// In which sets the path is among what is not known: of a policy, or of a set in it.
    fn doubts_about_the_path(&self, asked: NormalizedRequest<'_>, hits: &[Hit<Measure>]) -> Vec<bool> {
        let mut doubtful = vec![false; self.sets.len()];
        for hit in hits.iter().filter(|hit| hit.measure.applies() == Truth::Error) {
            if let (Some(head), true) = (self.head(hit.entry), self.rule(hit.entry).is_some_and(Rule::reads_path)) {
                mark(&mut doubtful, head.set);
            }
        }
        // Inner sets stand after those that they are in.
        for (number, (set, node)) in self.sets.iter().zip(&self.nodes).enumerate().rev() {
            let inside = doubtful.get(number) == Some(&true);
            if let Some(parent) = node.parent
                && (inside || (set.target.reads_path() && set.target.covers(asked) == Truth::Error))
            {
                mark(&mut doubtful, parent);
            }
        }
        doubtful
    }
}

fn mark(doubtful: &mut [bool], set: u32) {
    if let Some(doubt) = doubtful.get_mut(set as usize) {
        *doubt = true;
    }
}
