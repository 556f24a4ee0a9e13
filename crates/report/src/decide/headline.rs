//! The sentence that answers a request.

use upheld_engine::decide::{
    Algorithm, By, Decided, Doubtful, Effect, Examined, Measure, Path, PossibleEffect, Readings, SpeaksBy, Truth,
};
use upheld_engine::{EntryId, Hit};
use upheld_model::State;

use super::rows::missed;
use super::{Candidate, Holds, Reporter, Sentence};
use crate::sentences::{Closest, Could, Doubt, Preference, Rivalry};

impl Reporter<'_> {
    pub(super) fn headline(&self, candidates: &[Candidate]) -> Sentence {
        let (place, decision) = (self.about.place.clone(), self.decided.outcome.word().to_owned());
        match self.decided.by {
            By::Policy(entry) => {
                let rivalry = self.rival(entry).map(|rival| {
                    let algorithm = self.between(entry, rival);
                    Rivalry { algorithm: algorithm.word().to_owned(), why: self.preference(algorithm, entry) }
                });
                Sentence::Decided { place, decision, policy: self.name(entry), rivalry }
            }
            By::Default => self.by_default(decision, candidates),
            By::Algorithm => self.by_set(decision),
            By::Nobody => Sentence::Doubtful { place, could: could(&self.decided), doubt: self.doubt(candidates) },
        }
    }

    /// A policy that says the opposite and applies, or may do so.
    fn rival(&self, entry: EntryId) -> Option<EntryId> {
        let opposes = |hit: &&Hit<Measure>| {
            hit.entry != entry && hit.measure.applies() != Truth::False && self.effect(hit.entry) != self.effect(entry)
        };
        self.hits.iter().find(opposes).map(|hit| hit.entry)
    }

    /// The algorithm that chose between two policies: that of their set, or the outermost one.
    fn between(&self, one: EntryId, other: EntryId) -> Algorithm {
        let set = |entry| self.decide.set_of(entry).and_then(|set| set.at.map(|at| (at, set.algorithm)));
        match (set(one), set(other)) {
            (Some((one, algorithm)), Some((other, _))) if one == other => algorithm,
            _ => self.decide.algorithm(),
        }
    }

    fn preference(&self, algorithm: Algorithm, entry: EntryId) -> Preference {
        let denies = self.effect(entry) == Some(Effect::Deny);
        let priority = self.decide.rule(entry).map(|rule| rule.priority).unwrap_or_default();
        match algorithm {
            Algorithm::FirstApplicable => Preference::First(priority),
            Algorithm::PriorityDenyOverrides => Preference::Highest(priority),
            Algorithm::DenyOverrides | Algorithm::OrderedDenyOverrides if denies => Preference::DenyOverrides,
            Algorithm::PermitOverrides | Algorithm::OrderedPermitOverrides if !denies => Preference::PermitOverrides,
            Algorithm::DenyUnlessPermit if denies => Preference::NoPermit,
            Algorithm::DenyUnlessPermit => Preference::PermitIsEnough,
            Algorithm::PermitUnlessDeny if denies => Preference::DenyIsEnough,
            Algorithm::PermitUnlessDeny => Preference::NoDeny,
            _ => Preference::OthersDoNotCount,
        }
    }

    fn by_default(&self, decision: String, candidates: &[Candidate]) -> Sentence {
        let opposes = |candidate: &&Candidate| {
            let effect = candidate.facts.iter().find(|fact| fact.name == "effect").and_then(|fact| fact.value.as_str());
            candidate.state == State::Skip && effect != Some(self.decided.outcome.word())
        };
        let nearest = candidates.iter().find(opposes).map(|candidate| {
            let clauses = || candidate.facts.iter().filter_map(|fact| fact.holds);
            (candidate, clauses().filter(|holds| *holds == Holds::Yes).count(), clauses().count())
        });
        let nearest = nearest.filter(|(_, fits, _)| *fits > 0);
        let closest = nearest
            .as_ref()
            .map(|(candidate, ..)| Closest { policy: candidate.policy.clone(), because: candidate.reason.clone() });
        let (fits, clauses) = nearest.map_or((0, 0), |(_, fits, clauses)| (fits, clauses));
        let (place, policies) = (self.about.place.clone(), self.decide.rules().len());
        Sentence::ByDefault { place, decision, policies, closest, fits, clauses }
    }

    /// A set decides itself: the outermost one by its algorithm, one inside also by its default.
    fn by_set(&self, decision: String) -> Sentence {
        let place = self.about.place.clone();
        let speaking = self.speaking();
        let set = speaking.filter(|speaking| !speaking.outermost).map(|speaking| speaking.set.name.to_string());
        match (speaking.map(|speaking| speaking.how), set) {
            (Some(SpeaksBy::Default), Some(set)) => Sentence::BySetDefault { place, decision, set },
            (_, set) => {
                let algorithm = speaking.map_or(self.decide.algorithm(), |speaking| speaking.set.algorithm);
                Sentence::ByAlgorithm { place, decision, algorithm: algorithm.word().to_owned(), set }
            }
        }
    }

    fn doubt(&self, candidates: &[Candidate]) -> Doubt {
        if let Some(entry) = self.decide.failing(self.request) {
            return Doubt::Policy(self.unknown(Doubtful::Policy(entry)));
        }
        if candidates.is_empty() {
            return Doubt::NotLookedInto;
        }
        match self.decide.culprits(self.request, &self.hits).first() {
            Some(doubtful) => {
                let unknown = self.unknown(*doubtful);
                let is_path = unknown.because.parameters.get("field").is_some_and(|field| field == "path");
                match (self.decide.bad_path(self.request).filter(|_| is_path), doubtful) {
                    (Some(bad), _) => Doubt::Path(bad.sentence().to_owned()),
                    (None, Doubtful::Policy(_)) => Doubt::Policy(unknown),
                    (None, Doubtful::Set(_)) => Doubt::Set(unknown),
                }
            }
            None if self.readings().len() > 1 => {
                Doubt::Path(format!("can be read as {}, which is not decided alike", self.readings().join(" or ")))
            }
            None => {
                let conflicting = candidates.iter().filter(|candidate| candidate.state == State::Kept);
                Doubt::Conflict(conflicting.map(|candidate| (candidate.policy.clone(), effect_of(candidate))).collect())
            }
        }
    }

    /// The ways in which the path is read, if there are several.
    fn readings(&self) -> Vec<String> {
        let mut room = Readings::default();
        match self.decide.asked(self.request, &mut room).path {
            Path::Several(readings) => readings.iter().map(ToString::to_string).collect(),
            Path::Is(_) | Path::Absent | Path::Unknown => Vec::new(),
        }
    }

    /// A policy or set of which nobody can tell, with what is not known.
    fn unknown(&self, doubtful: Doubtful) -> Closest {
        let (policy, examined) = match doubtful {
            Doubtful::Policy(entry) => (self.name(entry), self.decide.examine(entry, self.request)),
            Doubtful::Set(number) => (self.set_name(number), self.decide.examine_set(number, self.request)),
        };
        let because = examined.as_ref().and_then(Examined::first_unknown).map(missed);
        Closest { policy, because: because.unwrap_or_default() }
    }
}

fn effect_of(candidate: &Candidate) -> String {
    let effect = candidate.facts.iter().find(|fact| fact.name == "effect");
    effect.and_then(|fact| fact.value.as_str()).unwrap_or_default().to_owned()
}

fn could(decided: &Decided) -> Could {
    match decided.could() {
        Some(PossibleEffect::Permit) => Could::Permit,
        Some(PossibleEffect::Deny) => Could::Deny,
        _ => Could::Both,
    }
}
