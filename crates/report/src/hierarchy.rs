//! The family hierarchy: what policies come to at a place, from the ruling to a report.

use std::sync::Arc;

use serde_json::{Map, Value as Json};
use upheld_engine::hierarchy::answer::Exception;
use upheld_engine::hierarchy::wholes::WholeJoin;
use upheld_engine::hierarchy::{Attachment, Effective, Entry, Field as Folded, Hierarchy, Lost, Member, Question, Via};
use upheld_engine::words::{EndNames, Words, place_rung_name};
use upheld_engine::{Candidate as Ruled, HierarchyFold, Place, PolicyKind, Ruling, Snapshot};
use upheld_model::{Code, Config, Fault, Lookup, NodeRef, Param, Reason, State};

use super::{
    About, At, Candidate, DecidingRung, Fact, Family, Field, Outcome, Overridden, Phrase, Remark, Report, Sentence,
    Source, Verdict, brief, each_once,
};
use crate::stamp::edition;

/// What the system that places belong to calls them.
pub trait Places: std::fmt::Debug {
    /// The scope of a place, in a word: `route`, `gateway`.
    fn scope(&self, place: Place) -> Option<&'static str>;
    /// What says something at a place without a policy.
    fn own(&self, place: Place) -> String;
    /// How a policy is attached to a place: `target reference to Route default/shop#cart`.
    fn via(&self, place: Place, via: Via) -> String;
    /// The same in a few words, for a table: `targetRef Route#cart`.
    fn form(&self, place: Place, via: Via) -> String;
    /// The name of a field as its documents have it.
    fn field(&self, name: &str) -> String;
    /// What is wrong, so that requests fail; nothing where the policies say it themselves.
    fn problems(&self, answer: &Effective) -> Vec<String>;
    /// How levels meet, the nearest first.
    fn joins(&self) -> Vec<String>;
}

/// What was asked of one kind, and what was ruled.
#[derive(Clone, Copy, Debug)]
pub struct AskedPlaces<'a> {
    /// Where policies and objects are looked up.
    pub snapshot: &'a Snapshot,
    /// The kind of policy.
    pub kind: &'a PolicyKind,
    /// Texts of names and values.
    pub lookup: &'a Lookup<'a>,
    /// What places are called.
    pub places: &'a dyn Places,
    /// The policies of the kind.
    pub policies: &'a Hierarchy,
    /// What was asked of them.
    pub question: &'a Question<'a>,
    /// What they came to.
    pub ruling: &'a Ruling<Hierarchy>,
}

/// Reports what was ruled about a target.
pub fn report(asked: &AskedPlaces<'_>, target: &str) -> Report {
    Reporter { asked }.report(target)
}

struct Reporter<'a> {
    asked: &'a AskedPlaces<'a>,
}

impl Reporter<'_> {
    fn report(&self, target: &str) -> Report {
        let AskedPlaces { snapshot, kind, .. } = self.asked;
        finished(Report {
            family: Family::Hierarchy,
            kind: snapshot.text(kind.name).to_owned(),
            semantics: edition(snapshot, kind).map(str::to_owned),
            about: About { what: target.to_owned(), ..About::default() },
            headline: Phrase::default(),
            verdict: Verdict::Unset,
            outcome: Outcome::Default,
            policies: Vec::new(),
            summary: String::new(),
            result: Json::Null,
            fields: self.fields(),
            rung: self.deciding_rung(),
            ranking: Some(self.ranking().into()),
            candidates: self.candidates(),
            left_out: 0,
            default: None,
            notes: self.notes(),
            next: Vec::new(),
            detail: None,
        })
    }

    fn answer(&self) -> &Effective {
        &self.asked.ruling.answer
    }

    fn words(&self) -> Words<'_> {
        Words { lookup: self.asked.lookup, ends: EndNames { source: "", destination: "" } }
    }

    /// Fields that hold, then values that nothing took the place of; each with what it overrides.
    fn fields(&self) -> Vec<Field> {
        let mut fields: Vec<Field> = self.answer().fields.iter().filter_map(|field| self.field(field)).collect();
        for (folded, lost) in self.answer().losses() {
            let path = folded.map_or_else(|| ALL_OF_IT.to_owned(), |field| self.path(field));
            add(&mut fields, path, self.overridden(lost));
        }
        for (field, by) in self.answer().omitted.iter().flat_map(|field| field.by.iter().map(move |by| (field, *by))) {
            let said = if field.by.len() > 1 { self.said(field, by) } else { None };
            let Some(value) = said.or_else(|| field.value.clone()) else { continue };
            let lost = Lost { by, value, to: by, exception: Exception::None };
            let everywhere = self.asked.question.omits.contains(&field.name.as_str());
            let code = if everywhere { Code::MergeNotPassedOn } else { Code::MergeNotAtReference };
            let reason = Reason::new(code, &[]);
            let reason = Phrase::because(&self.words(), State::Lost, &reason);
            let over = Overridden { taken_by: None, reason, ..self.overridden(&lost) };
            add(&mut fields, self.path(field), over);
        }
        fields
    }

    /// The path of a field, as its documents have it.
    fn path(&self, field: &Folded) -> String {
        self.asked.places.field(&field.title())
    }

    fn field(&self, field: &Folded) -> Option<Field> {
        let value = field.value.as_ref()?;
        let reason = self.asked.policies.why_holds(self.asked.question, self.answer(), field);
        Some(Field {
            path: self.path(field),
            value: Some(json(value)),
            scope: field.by.first().and_then(|place| self.scope(*place)).map(str::to_owned),
            from: field.by.iter().map(|place| self.source(field, *place)).collect(),
            reason: Some(Phrase::because(&self.words(), State::Won, &reason)),
            over: Vec::new(),
        })
    }

    /// The scope that somebody sits in, in a word.
    fn scope(&self, place: usize) -> Option<&'static str> {
        self.asked.places.scope(self.answer().order.get(place)?.place)
    }

    fn source(&self, field: &Folded, place: usize) -> Source {
        let said = self.said(field, place).or_else(|| field.value.clone());
        let at = said.and_then(|value| value.at).or_else(|| self.written(place));
        Source { policy: self.name(place), via: self.via(place), at: at.and_then(|at| self.at(at)) }
    }

    /// How somebody is attached.
    fn via(&self, place: usize) -> Option<String> {
        self.answer().order.get(place).map(|member| self.asked.places.via(member.place, member.attachment.via))
    }

    /// What somebody says to a field that several have a part in.
    fn said(&self, field: &Folded, place: usize) -> Option<Arc<Config>> {
        let scopes = self.answer().scopes.iter();
        let mut joined = scopes.filter_map(|own| own.folded.get(&field.name));
        joined.find_map(|joined| joined.parts.iter().find(|part| part.by == place)).map(|part| part.value.clone())
    }

    fn overridden(&self, lost: &Lost) -> Overridden {
        let reason = self.asked.policies.why_lost(self.asked.question, self.answer(), lost);
        let at = lost.value.at.or_else(|| self.written(lost.by));
        Overridden {
            value: json(&lost.value),
            policy: self.name(lost.by),
            scope: self.scope(lost.by).map(str::to_owned),
            via: self.via(lost.by),
            at: at.and_then(|at| self.at(at)),
            taken_by: Some(self.name(lost.to)),
            reason: Phrase::because(&self.words(), State::Lost, &reason),
        }
    }

    fn candidate(&self, candidate: &Ruled<Attachment>) -> Candidate {
        let entry = self.asked.policies.entry(candidate.entry);
        let at = candidate.measure.map(|attachment| attachment.at).or_else(|| self.document(entry?));
        let snapshot = self.asked.snapshot;
        Candidate {
            state: candidate.state,
            policy: self.name_at(entry, candidate.place),
            scope: entry.map(|entry| snapshot.text(entry.namespace).to_owned()),
            item: None,
            facts: self.facts(candidate, entry),
            distance: None,
            reason: Phrase::because(&self.words(), candidate.state, &candidate.reason),
            at: at.and_then(|at| self.at(at)),
            fields: Vec::new(),
        }
    }

    /// Everything that is attached. Who is at several places, and says something at one of them, is not listed for the others.
    fn candidates(&self) -> Vec<Candidate> {
        let mut candidates: Vec<Candidate> = Vec::new();
        for candidate in &self.asked.ruling.candidates {
            let candidate = self.candidate(candidate);
            let is_silent = candidate.reason.code == Code::MergeSilent.text();
            if !is_silent || !candidates.iter().any(|known| known.policy == candidate.policy) {
                candidates.push(candidate);
            }
        }
        candidates
    }

    /// Where somebody stands in the order of folding, and what that order looks at.
    fn facts(&self, candidate: &Ruled<Attachment>, entry: Option<&Entry>) -> Vec<Fact> {
        let is_meant = |member: &Member| (member.entry, member.place) == (candidate.entry, candidate.place);
        let Some(place) = self.answer().order.iter().position(is_meant) else { return Vec::new() };
        let mut facts = vec![Fact::plain("order", place + 1)];
        facts.extend(
            candidate
                .measure
                .map(|attachment| Fact::plain("attached", self.asked.places.form(candidate.place, attachment.via))),
        );
        facts.extend(
            entry
                .map(|entry| entry.attachments.weight)
                .filter(|weight| *weight != 0)
                .map(|weight| Fact::plain("weight", weight)),
        );
        facts.extend(entry.and_then(|entry| entry.created).map(|created| Fact::plain("created", created.to_string())));
        facts
    }

    fn notes(&self) -> Vec<Phrase> {
        let problems = self.problems().into_iter().map(|problem| Remark::Problem { problem }.into());
        problems.chain(self.ageless().map(|policies| Remark::NoCreationTime { policies }.into())).collect()
    }

    /// Policies without a creation time, where age decides something.
    fn ageless(&self) -> Option<Vec<String>> {
        let answer = self.answer();
        let (policies, question) = (self.asked.policies, self.asked.question);
        let mut reasons = answer
            .fields
            .iter()
            .map(|field| policies.why_holds(question, answer, field))
            .chain(answer.losses().map(|(_, lost)| policies.why_lost(question, answer, lost)));
        let is_unknown = |reason: Reason| {
            matches!(reason.code, Code::MergeOlder | Code::MergeNewer) && reason.params.contains(&Param::Time(None))
        };
        let ageless =
            (0..answer.order.len()).filter(|place| self.entry(*place).is_some_and(|own| own.created.is_none()));
        reasons.any(is_unknown).then(|| each_once(ageless.map(|place| self.name(place))))
    }

    /// What is wrong, so that requests fail.
    fn problems(&self) -> Vec<String> {
        let known = self.asked.places.problems(self.answer());
        if !known.is_empty() || self.answer().broken.is_empty() {
            return known;
        }
        let is_broken = |candidate: &&Ruled<Attachment>| {
            let broken = self.answer().broken.iter().filter_map(|place| self.answer().order.get(*place));
            broken.into_iter().any(|member| (member.entry, member.place) == (candidate.entry, candidate.place))
        };
        let broken = self.asked.ruling.candidates.iter().filter(is_broken).map(|candidate| {
            let name = self.name_at(self.asked.policies.entry(candidate.entry), candidate.place);
            format!("{name}: {}", self.words().because(candidate.state, &candidate.reason))
        });
        broken.collect()
    }

    fn entry(&self, place: usize) -> Option<&Entry> {
        self.asked.policies.entry(self.answer().order.get(place)?.entry)
    }

    /// `namespace/name`, or the rule that says something itself.
    fn name(&self, place: usize) -> String {
        let member = self.answer().order.get(place);
        member.map_or_else(String::new, |member| self.name_at(self.asked.policies.entry(member.entry), member.place))
    }

    fn name_at(&self, entry: Option<&Entry>, place: Place) -> String {
        let text = |symbol| self.asked.snapshot.text(symbol);
        entry.map_or_else(
            || self.asked.places.own(place),
            |entry| format!("{}/{}", text(entry.namespace), text(entry.name)),
        )
    }

    /// Where a policy was written.
    fn written(&self, place: usize) -> Option<NodeRef> {
        match self.entry(place) {
            Some(entry) => self.document(entry),
            None => Some(self.answer().order.get(place)?.attachment.at),
        }
    }

    fn document(&self, entry: &Entry) -> Option<NodeRef> {
        self.asked.snapshot.policy(entry.policy).map(|policy| policy.at)
    }

    fn at(&self, node: NodeRef) -> Option<At> {
        At::of(self.asked.snapshot.files(), node)
    }

    /// Where one policy stands alone: the rung on which it goes before the best of the others.
    fn deciding_rung(&self) -> Option<DecidingRung> {
        let rungs = self.asked.policies.kind().rank.rungs();
        DecidingRung::of(rungs, self.asked.ruling.decided?, |rung| place_rung_name(rung, self.asked.lookup))
    }

    /// How policies meet.
    fn ranking(&self) -> Sentence {
        let kind = self.asked.policies.kind();
        if let Some(profile) = kind.profile {
            return Sentence::RankingProfile { profile: self.asked.snapshot.text(profile).to_owned() };
        }
        if let HierarchyFold::Wholes(rules) = &kind.fold {
            return Sentence::RankingWholes { merges: rules.across == Some(WholeJoin::AsTheBetterSays) };
        }
        match self.asked.places.joins().as_slice() {
            [] | [_] => Sentence::RankingFields,
            [_, parents @ ..] => Sentence::RankingLevels { joins: parents.to_vec() },
        }
    }
}

/// Adds a value that does not count to its field.
fn add(fields: &mut Vec<Field>, path: String, over: Overridden) {
    match fields.iter_mut().find(|field| field.path == path) {
        Some(field) => field.over.push(over),
        None => {
            let (from, over) = (Vec::new(), vec![over]);
            fields.push(Field { path, value: None, scope: None, from, reason: None, over });
        }
    }
}

/// What a whole policy that does not count is called among fields.
const ALL_OF_IT: &str = "(all of it)";

/// A rule that answers with an error: policies do not matter there.
pub fn broken(mut report: Report, why: &str, lookup: &Lookup<'_>) -> Report {
    let words = Words { lookup, ends: EndNames { source: "", destination: "" } };
    for candidate in report.candidates.iter_mut().filter(|candidate| candidate.state != State::Off) {
        candidate.state = State::Off;
        candidate.reason = Phrase::because(&words, State::Off, &Reason::new(Code::OffReplaced, &[]));
    }
    if !report.notes.iter().any(|known| known.text == why) {
        report.notes.push(Remark::Problem { problem: why.to_owned() }.into());
    }
    finished(Report { fields: Vec::new(), rung: None, ranking: None, ..report })
}

/// With everything that follows from fields, candidates and problems.
pub fn finished(mut report: Report) -> Report {
    let own = |candidate: &&Candidate| candidate.stands() && !candidate.policy.starts_with('(');
    let policies = each_once(report.candidates.iter().filter(own).map(|candidate| candidate.policy.clone()));
    let is_problem = |note: &&Phrase| note.code == Fault::BrokenPolicy.code();
    let problems: Vec<String> = report.notes.iter().filter(is_problem).map(|note| note.text.clone()).collect();
    let set = report.fields.iter().filter(|field| field.value.is_some()).count();
    let over = report.fields.iter().flat_map(|field| &field.over);
    let overridden = over.filter(|over| over.taken_by.is_some()).count();
    let tied = tied(&mut report);
    let (kind, about) = (report.kind.clone(), report.about.what.clone());
    let shared = |candidate: &Candidate| candidate.reason.code == Code::OffSharedPort.text();
    let broken = problems.len();
    let headline = match (broken, policies.is_empty()) {
        (0, true) => Sentence::NoPolicy { kinds: vec![kind], about, fields: set },
        (0, false) => Sentence::Effective { kind, about, policies: policies.clone(), fields: set, overridden, tied },
        _ if report.candidates.iter().any(shared) => Sentence::Refused { kind, about },
        _ => Sentence::Broken { about, problems },
    };
    let (verdict, outcome) = match (broken, policies.len()) {
        (1.., _) => (Verdict::Error, Outcome::Default),
        (0, 0) if set == 0 => (Verdict::Unset, Outcome::Default),
        (0, 0 | 1) => (Verdict::Set, Outcome::Decided),
        (0, _) => (Verdict::Set, Outcome::Merged),
    };
    let held: Vec<Field> = report.fields.iter().filter(|field| field.value.is_some()).cloned().collect();
    let summary = if verdict == Verdict::Error { "an error".to_owned() } else { brief(&held) };
    let result: Map<String, Json> = held.into_iter().filter_map(|field| Some((field.path, field.value?))).collect();
    let result = if result.is_empty() { Json::Null } else { Json::Object(result) };
    Report { headline: headline.into(), verdict, outcome, policies, summary, result, ..report }
}

/// How many fields rest on the order of names alone; a note says so, once.
fn tied(report: &mut Report) -> usize {
    let arbitrary = [Code::MergeIdentity, Code::MergeLastIdentity].map(Code::text);
    let by_name = |field: &&Field| field.reason.as_ref().is_some_and(|reason| arbitrary.contains(&&*reason.code));
    let fields = report.fields.iter().filter(by_name).count();
    report.notes.retain(|note| note.code != Fault::ArbitraryTie.code());
    if fields > 0 {
        report.notes.push(Remark::TiedFields { fields }.into());
    }
    fields
}

fn json(value: &Config) -> Json {
    serde_json::to_value(value).unwrap_or_default()
}
