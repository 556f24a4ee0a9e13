//! The family decide: from a ruling about one request to a report.

mod changes;
mod detail;
mod rows;

use serde_json::json;
use upheld_engine::decide::{
    Algorithm, By, Decide, Decided, Doubtful, Effect, Examined, Measure, Outcome as Decision, Path, PossibleEffect,
    Readings, Request, SpeaksBy, Truth,
};
use upheld_engine::{EntryId, Hit, KindId, PolicyKind, Scratch, Silent, Snapshot, ask};
use upheld_model::State;

pub use self::changes::{PatchOperation, WouldFlip};
pub use self::detail::{DecisionDetail, Otherwise};
use self::rows::{Rows, missed};
use super::decision::uncertain;
use super::request::asked;
use super::{About, Candidate, Detail, Family, Holds, Outcome, Phrase, Report, Sentence, Skipped, Verdict};
use crate::sentences::undecided::{problem_of_path, too_many_doubts};
use crate::sentences::{Closest, Could, Doubt, Preference, Rivalry};
use crate::stamp::edition;

/// How much a report has, from the least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    /// The result and who gives it: only policies that match are looked at.
    Answer,
    /// The same, with a headline that says what was missing.
    Headline,
    /// The same, and why others do not match.
    Explained,
    /// The same, and what is odd about the documents that it rests on.
    All,
}

/// Decides a request and reports it.
pub fn decide(snapshot: &Snapshot, kind: KindId, decide: &Decide, request: &Request, depth: Depth) -> Report {
    decide_about(snapshot, kind, decide, request, About::request(request), depth, &Skipped::All)
}

/// The same for a request that stands for something else, in words of its own: what it is, and at which place it is decided; with so
/// many of the policies that do not match.
pub fn decide_about(
    snapshot: &Snapshot,
    kind: KindId,
    decide: &Decide,
    request: &Request,
    about: About,
    depth: Depth,
    skipped: &Skipped,
) -> Report {
    let mut scratch = Scratch::default();
    let decided = ask(decide, &request, &mut scratch, &mut Silent);
    let hits = scratch.hits();
    Reporter { snapshot, kind: snapshot.kind(kind), decide, request, about, skipped, decided, hits }.report(depth)
}

/// Reports a decision that was made already, given all policies that matched, with so many of those that do not.
pub fn report_decision(
    snapshot: &Snapshot,
    kind: KindId,
    decide: &Decide,
    request: &Request,
    decided: Decided,
    hits: &[Hit<Measure>],
    skipped: &Skipped,
) -> Report {
    let (kind, about) = (snapshot.kind(kind), About::request(request));
    Reporter { snapshot, kind, decide, request, about, skipped, decided, hits }.report(Depth::Explained)
}

impl About {
    /// A request, by what it says of itself.
    pub fn request(request: &Request) -> Self {
        Self { what: what(request), ..Self::default() }
    }
}

/// A decision in the words that tests use: `permit` by `admins`, or by `(default)`.
pub fn decision_of(report: &Report) -> (&'static str, Option<&str>) {
    let by_default = report.is_by_default().then_some(DEFAULT);
    (report.verdict.word(), report.policies.first().map(String::as_str).or(by_default))
}

/// What the default effect is called.
const DEFAULT: &str = "(default)";

struct Reporter<'a> {
    snapshot: &'a Snapshot,
    kind: Option<&'a PolicyKind>,
    decide: &'a Decide,
    request: &'a Request,
    about: About,
    skipped: &'a Skipped,
    decided: Decided,
    hits: &'a [Hit<Measure>],
}

impl Reporter<'_> {
    fn report(&self, depth: Depth) -> Report {
        let kind = self.kind;
        let all = depth >= Depth::Explained;
        let by_policy = matches!(self.decided.by, By::Policy(_) | By::Algorithm);
        let looks = all || (depth == Depth::Headline && !by_policy);
        let rows = looks.then(|| self.rows(if all { self.skipped.most() } else { 1 }));
        let verdict = match self.decided.outcome {
            Decision::Permit => Verdict::Permit,
            Decision::Deny => Verdict::Deny,
            Decision::Undecided => Verdict::Undecided,
            Decision::Foreign => Verdict::Foreign,
        };
        let decider = self.decider().map(|entry| self.name(entry));
        // Who asks for one policy by its name wants to know nothing of others.
        let headline = self.headline(rows.as_ref().filter(|_| self.skipped.named().is_none())).into();
        let Rows { candidates, left_out } = rows.filter(|_| all).unwrap_or_default();
        Report {
            family: Family::Decide,
            kind: kind.map(|kind| self.snapshot.text(kind.name).to_owned()).unwrap_or_default(),
            semantics: kind.and_then(|kind| edition(self.snapshot, kind)).map(str::to_owned),
            about: About { request: Some(asked(self.request)), ..self.about.clone() },
            headline,
            verdict,
            outcome: match self.decided.by {
                By::Policy(_) | By::Algorithm => Outcome::Decided,
                By::Default => Outcome::Default,
                By::Nobody => Outcome::Undecided,
            },
            policies: decider.into_iter().collect(),
            summary: verdict.word().to_owned(),
            result: json!(verdict.word()),
            fields: Vec::new(),
            rung: None,
            ranking: None,
            default: Some(self.default_row(looks)),
            candidates,
            left_out,
            notes: self.notes().into_iter().map(Phrase::from).collect(),
            next: Vec::new(),
            detail: Some(Detail::Decision(Box::new(self.detail(depth)))),
        }
        .with_skipped(self.skipped)
    }

    fn decider(&self) -> Option<EntryId> {
        match self.decided.by {
            By::Policy(entry) => Some(entry),
            By::Default | By::Algorithm | By::Nobody => None,
        }
    }

    fn name(&self, entry: EntryId) -> String {
        self.decide.rule(entry).map(|rule| rule.name.to_string()).unwrap_or_default()
    }

    fn effect(&self, entry: EntryId) -> Option<Effect> {
        self.decide.rule(entry).map(|rule| rule.effect)
    }
}

impl Reporter<'_> {
    /// The sentence that answers.
    fn headline(&self, rows: Option<&Rows>) -> Sentence {
        let (place, decision) = (self.about.place.clone(), self.decided.outcome.word().to_owned());
        match self.decided.by {
            By::Policy(entry) => {
                let rivalry = self.rival(entry).map(|rival| {
                    let algorithm = self.between(entry, rival);
                    Rivalry { algorithm: algorithm.word().to_owned(), why: self.preference(algorithm, entry) }
                });
                Sentence::Decided { place, decision, policy: self.name(entry), rivalry }
            }
            By::Default => self.by_default(decision, rows),
            By::Algorithm => self.by_set(decision),
            By::Nobody => Sentence::Doubtful { place, could: could(&self.decided), doubt: self.doubt(rows) },
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

    fn by_default(&self, decision: String, rows: Option<&Rows>) -> Sentence {
        let nearest = rows.and_then(|rows| self.nearest_rival(rows)).map(|candidate| {
            let clauses = || candidate.facts.iter().filter_map(|fact| fact.holds);
            let (fits, all) = (clauses().filter(|holds| *holds == Holds::Yes).count(), clauses().count());
            (candidate, fits, all)
        });
        let nearest = nearest.filter(|(_, fits, _)| *fits > 0);
        let (fits, clauses) = nearest.as_ref().map_or((0, 0), |(_, fits, clauses)| (*fits, *clauses));
        let closest = nearest.map(|(candidate, ..)| Closest { policy: candidate.policy, because: candidate.reason });
        let (place, policies) = (self.about.place.clone(), self.decide.rules().len());
        let uncertain = self.uncertain();
        Sentence::ByDefault { place, decision, policies, closest, fits, clauses, uncertain }
    }

    /// Policies that may apply although the default decides; they say the same.
    fn uncertain(&self) -> Vec<String> {
        uncertain(self.decide, &self.decided, self.hits)
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

    fn doubt(&self, rows: Option<&Rows>) -> Doubt {
        if let Some(entry) = self.decide.failing(self.request) {
            return Doubt::Policy(self.unknown(Doubtful::Policy(entry)));
        }
        if self.decide.takes_too_much(self.hits) {
            return Doubt::Steps(self.decide.load().most_steps());
        }
        if self.decide.is_too_doubtful(self.request, self.hits) {
            return Doubt::Path(too_many_doubts(&problem_of_path(self.decide, self.request)));
        }
        let Some(rows) = rows else { return Doubt::NotLookedInto };
        match self.decide.culprits(self.request, self.hits).first() {
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
                let conflicting = rows.candidates.iter().filter(|candidate| candidate.state == State::Kept);
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
        unknown(self.decide, self.request, doubtful)
    }
}

/// What an undecided answer depends on first, with what is not known of the request; nothing where policies contradict each other.
pub fn missing(decide: &Decide, request: &Request, hits: &[Hit<Measure>]) -> Option<Closest> {
    let first = || decide.culprits(request, hits).first().copied();
    let doubtful = decide.failing(request).map(Doubtful::Policy).or_else(first)?;
    Some(unknown(decide, request, doubtful))
}

fn unknown(decide: &Decide, request: &Request, doubtful: Doubtful) -> Closest {
    let (policy, examined) = match doubtful {
        Doubtful::Policy(entry) => (decide.rule(entry).map(|rule| &rule.name), decide.examine(entry, request)),
        Doubtful::Set(number) => (decide.sets().nth(number).map(|set| &set.name), decide.examine_set(number, request)),
    };
    let because = examined.as_ref().and_then(Examined::first_unknown).map(missed);
    let policy = policy.map(ToString::to_string).unwrap_or_default();
    Closest { policy, because: because.unwrap_or_default() }
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

/// `alice DELETE /api/audit/123`, as far as that was given.
fn what(request: &Request) -> String {
    use upheld_engine::decide::Maybe;
    let Request { subject, action, resource, .. } = request;
    let known = |part: &Maybe<smol_str::SmolStr>| match part {
        Maybe::Is(text) => Some(text.to_string()),
        Maybe::Unknown | Maybe::Absent => None,
    };
    let verb = known(&action.method).or_else(|| known(&action.operation));
    let object = known(&resource.path).or_else(|| known(&resource.id)).or_else(|| known(&resource.kind));
    let parts: Vec<String> = [known(&subject.id), verb, object].into_iter().flatten().collect();
    if parts.is_empty() { "the request".to_owned() } else { parts.join(" ") }
}
