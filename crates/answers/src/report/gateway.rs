//! What policies come to at a place of a gateway: from the ruling of the engine to what users read.

use std::sync::Arc;

use serde::Serialize;
use serde_json::Value as Json;
use upheld_dialects::gateway_api::Asked;
use upheld_dialects::gateway_api::scopes::SCOPES;
use upheld_engine::hierarchy::wholes::WholeJoin;
use upheld_engine::hierarchy::{Effective, Entry, Field, Hierarchy, Lost, Question, Sitting, Via};
use upheld_engine::words::{Ends, Words};
use upheld_engine::{Candidate as Ruled, HierarchyFold, Ruling};
use upheld_model::{Code, Config, NodeRef, Reason, State};

use super::explanation::parameters;
use super::{At, Candidate};
use crate::stamp::edition;

/// What the policies of one kind come to at one place.
#[derive(Clone, Debug, Serialize)]
pub struct GatewayReport {
    /// The kind of policy.
    pub kind: String,
    /// The edition of the rules.
    pub semantics: String,
    /// What is asked about.
    pub target: String,
    /// The ways of requests that get there; empty for other scopes.
    pub ways: Vec<String>,
    /// The first sentence.
    pub answer: String,
    /// What holds.
    pub fields: Vec<EffectiveField>,
    /// What does not.
    pub overridden: Vec<LostField>,
    /// How policies meet, in a sentence.
    pub merge: String,
    /// Policies that are wrong, so that nothing holds.
    pub broken: Vec<String>,
    /// Every policy that is attached, and what became of it.
    pub candidates: Vec<Candidate>,
}

/// A field that holds.
#[derive(Clone, Debug, Serialize, PartialEq)]
pub struct EffectiveField {
    /// Its name.
    pub field: String,
    /// Its value.
    pub value: Json,
    /// How near the policy is that sets it.
    pub scope: &'static str,
    /// Who sets it.
    pub from: Vec<Source>,
    /// Why it holds, in words.
    pub because: String,
    /// Why it holds, in a code.
    pub code: &'static str,
}

/// A policy that has a part in a field, and how it is attached.
#[derive(Clone, Debug, Serialize, PartialEq)]
pub struct Source {
    /// The policy.
    pub policy: String,
    /// How it is attached.
    pub via: String,
    /// Where it was written.
    pub at: Option<At>,
}

/// A value that does not hold.
#[derive(Clone, Debug, Serialize, PartialEq)]
pub struct LostField {
    /// Its name.
    pub field: String,
    /// The value that does not hold.
    pub value: Json,
    /// Who sets it.
    pub policy: String,
    /// Where it was written.
    pub at: Option<At>,
    /// Why it does not hold, in words.
    pub because: String,
    /// Why it does not hold, in a code.
    pub code: &'static str,
}

/// Asks, and tells what the policies come to.
pub(crate) fn tell(asked: &Asked<'_>, target: &str) -> GatewayReport {
    tell_ruling(asked, &asked.ruling(), target)
}

/// Tells what was ruled.
pub(crate) fn tell_ruling(asked: &Asked<'_>, ruling: &Ruling<Hierarchy>, target: &str) -> GatewayReport {
    asked.with(|policies, question| Teller { asked, policies, question, ruling }.report(target))
}

struct Teller<'a, 's> {
    asked: &'a Asked<'s>,
    policies: &'a Hierarchy,
    question: &'a Question<'a>,
    ruling: &'a Ruling<Hierarchy>,
}

impl Teller<'_, '_> {
    fn report(&self, target: &str) -> GatewayReport {
        let snapshot = self.asked.network().snapshot;
        let kind = self.asked.kind();
        let answer = self.answer();
        let mut overridden = Vec::new();
        for (field, lost) in answer.losses() {
            overridden.push(self.lost(field, lost));
        }
        let report = GatewayReport {
            kind: snapshot.text(kind.kind.name).to_owned(),
            semantics: edition(snapshot, kind.kind).unwrap_or_default().to_owned(),
            target: target.to_owned(),
            ways: Vec::new(),
            answer: String::new(),
            fields: answer.fields.iter().filter_map(|field| self.field(field)).collect(),
            overridden,
            merge: self.merge(),
            broken: self.broken(),
            candidates: self.ruling.candidates.iter().map(|candidate| self.candidate(candidate)).collect(),
        };
        finished(report)
    }

    fn answer(&self) -> &Effective {
        &self.ruling.answer
    }

    fn words(&self) -> Words<'_> {
        Words { lookup: &self.asked.lookup, ends: Ends { source: "", destination: "" } }
    }

    fn field(&self, field: &Field) -> Option<EffectiveField> {
        let value = field.value.as_ref()?;
        let reason = self.policies.why_holds(self.question, self.answer(), field);
        Some(EffectiveField {
            field: field.title(),
            value: json(value),
            scope: field.by.first().and_then(|place| self.scope(*place)).unwrap_or_default(),
            from: field.by.iter().map(|place| self.source(field, *place)).collect(),
            because: self.words().because(State::Won, &reason),
            code: reason.code.text(),
        })
    }

    /// The scope that somebody sits in, in a word.
    fn scope(&self, place: usize) -> Option<&'static str> {
        let (scope, _) = self.asked.place(self.answer().order.get(place)?.place)?;
        SCOPES.get(usize::from(scope)).copied()
    }

    fn source(&self, field: &Field, place: usize) -> Source {
        let said = self.said(field, place).or_else(|| field.value.clone());
        let at = said.and_then(|value| value.at).or_else(|| self.written(place));
        let via = self.answer().order.get(place).map(|member| self.via(place, &member.sitting));
        Source { policy: self.name(place), via: via.unwrap_or_default(), at: at.and_then(|at| self.at(at)) }
    }

    /// What somebody says to a field that several have a part in.
    fn said(&self, field: &Field, place: usize) -> Option<Arc<Config>> {
        let scopes = self.answer().scopes.iter();
        let mut joined = scopes.filter_map(|own| own.folded.get(&field.name));
        joined.find_map(|joined| joined.parts.iter().find(|part| part.by == place)).map(|part| part.value.clone())
    }

    fn lost(&self, field: Option<&Field>, lost: &Lost) -> LostField {
        let reason = self.policies.why_lost(self.question, self.answer(), lost);
        let words = self.words().because(State::Lost, &reason);
        let at = lost.value.at.or_else(|| self.written(lost.by));
        LostField {
            field: field.map_or_else(|| "(all of it)".to_owned(), Field::title),
            value: json(&lost.value),
            policy: self.name(lost.by),
            at: at.and_then(|at| self.at(at)),
            because: format!("lost to {}: {words}", self.name(lost.to)),
            code: reason.code.text(),
        }
    }

    fn candidate(&self, candidate: &Ruled<Sitting>) -> Candidate {
        let Reason { code, params } = &candidate.reason;
        let entry = self.policies.entry(candidate.entry);
        let at = candidate.measure.map(|sitting| sitting.at).or_else(|| self.document(entry?));
        Candidate {
            state: candidate.state,
            policy: self.name_at(entry, candidate.place),
            selector: None,
            tags: None,
            exact: None,
            wildcards: None,
            because: self.words().because(candidate.state, &candidate.reason),
            code: code.text(),
            parameters: parameters(*code, params, &self.asked.lookup),
            at: at.and_then(|at| self.at(at)),
            fields: Vec::new(),
        }
    }

    fn broken(&self) -> Vec<String> {
        let told = self.asked.broken(self.answer());
        if !told.is_empty() || self.answer().broken.is_empty() {
            return told;
        }
        let is_broken = |candidate: &&Ruled<Sitting>| {
            let broken = self.answer().broken.iter().filter_map(|place| self.answer().order.get(*place));
            broken.into_iter().any(|member| (member.entry, member.place) == (candidate.entry, candidate.place))
        };
        let broken = self.ruling.candidates.iter().filter(is_broken).map(|candidate| {
            let name = self.name_at(self.policies.entry(candidate.entry), candidate.place);
            format!("{name}: {}", self.words().because(candidate.state, &candidate.reason))
        });
        broken.collect()
    }

    fn entry(&self, place: usize) -> Option<&Entry> {
        self.policies.entry(self.answer().order.get(place)?.entry)
    }

    /// `namespace/name`, or the rule that says something itself.
    fn name(&self, place: usize) -> String {
        let member = self.answer().order.get(place);
        member.map_or_else(String::new, |member| self.name_at(self.policies.entry(member.entry), member.place))
    }

    fn name_at(&self, entry: Option<&Entry>, place: upheld_engine::Place) -> String {
        let snapshot = self.asked.network().snapshot;
        if let Some(entry) = entry {
            return format!("{}/{}", snapshot.text(entry.namespace), snapshot.text(entry.name));
        }
        let level = self.asked.place(place).map_or(0, |(_, level)| level);
        match self.asked.spot(place).map(|spot| (spot.rule, spot.object)) {
            Some((Some(rule), Some(object))) if level > 0 => {
                let [kind, scope, name] = [object.kind, object.scope, object.name].map(|symbol| snapshot.text(symbol));
                format!("(rule {rule} of {kind} {scope}/{name})")
            }
            _ => "(the rule itself)".to_owned(),
        }
    }

    /// How somebody is attached: `target reference to HTTPRoute default/shop#cart`.
    fn via(&self, place: usize, sitting: &Sitting) -> String {
        let word = match sitting.via {
            Via::Own => return "rule".to_owned(),
            Via::Listed => "extension reference of",
            Via::Named => "target reference to",
            Via::Selected => "target selector for",
        };
        let snapshot = self.asked.network().snapshot;
        let spot = self.answer().order.get(place).and_then(|member| self.asked.spot(member.place));
        let Some((spot, object)) = spot.and_then(|spot| Some((spot, spot.object?))) else { return String::new() };
        let [kind, scope, name] = [object.kind, object.scope, object.name].map(|symbol| snapshot.text(symbol));
        let section = spot.section.as_ref().map(|section| format!("#{section}")).unwrap_or_default();
        format!("{word} {kind} {scope}/{name}{section}")
    }

    /// Where a policy was written.
    fn written(&self, place: usize) -> Option<NodeRef> {
        match self.entry(place) {
            Some(entry) => self.document(entry),
            None => Some(self.answer().order.get(place)?.sitting.at),
        }
    }

    fn document(&self, entry: &Entry) -> Option<NodeRef> {
        self.asked.network().snapshot.policy(entry.policy).map(|policy| policy.at)
    }

    fn at(&self, node: NodeRef) -> Option<At> {
        At::of(self.asked.network().snapshot.files(), node)
    }

    /// How policies meet.
    fn merge(&self) -> String {
        let kind = self.policies.kind();
        if let Some(profile) = kind.profile {
            return format!("Merged by the profile {}.", self.asked.network().snapshot.text(profile));
        }
        if let HierarchyFold::Wholes(rules) = &kind.fold {
            let wider = match rules.across {
                Some(WholeJoin::AsTheBetterSays) => " Wider ones count only where its mergeType says so.",
                _ => "",
            };
            return format!("One policy holds at each target: the oldest that names it.{wider}");
        }
        match self.asked.joins().collect::<Vec<_>>().as_slice() {
            [] | [_] => "Merge: field by field, the first policy in this order wins.".to_owned(),
            [_, parents @ ..] => format!("Levels meet by {}, the nearest parent first.", parents.join(", ")),
        }
    }
}

/// A rule that answers with an error: policies do not matter there.
pub(crate) fn replaced(report: GatewayReport, why: &str) -> GatewayReport {
    let mut broken = report.broken;
    if !broken.iter().any(|known| known == why) {
        broken.push(why.to_owned());
    }
    let (fields, overridden, merge) = (Vec::new(), Vec::new(), String::new());
    finished(GatewayReport { fields, overridden, merge, broken, ..report })
}

/// How many policies the first sentence names.
const NAMED: usize = 3;

/// With the sentence that answers.
pub(crate) fn finished(mut report: GatewayReport) -> GatewayReport {
    let mut policies: Vec<&str> = Vec::new();
    let stands = |candidate: &&Candidate| matches!(candidate.state, State::Won | State::Kept);
    for candidate in report.candidates.iter().filter(stands) {
        if !candidate.policy.starts_with('(') && !policies.contains(&candidate.policy.as_str()) {
            policies.push(&candidate.policy);
        }
    }
    let count = |count: usize, one: &str, many: &str| {
        if count == 1 { format!("1 {one}") } else { format!("{count} {many}") }
    };
    let GatewayReport { kind, target, .. } = &report;
    let set = count(report.fields.len(), "field", "fields");
    report.answer = match (report.broken.as_slice(), policies.as_slice()) {
        ([], []) if report.fields.is_empty() => format!("No {kind} shapes {target}."),
        ([], []) => format!("No {kind} shapes {target}; the rules of the route set {set} themselves."),
        ([], shaping) => {
            let from = if shaping.len() > NAMED { format!("{} policies", shaping.len()) } else { shaping.join(", ") };
            let lost = count(report.overridden.len(), "value", "values");
            format!("{kind} of {target} comes from {from}; {set} set, {lost} overridden.")
        }
        _ if report.candidates.iter().any(|candidate| candidate.code == Code::OffSharedPort.text()) => {
            format!("No {kind} holds for {target}: the one that would is refused.")
        }
        (broken, _) => format!(
            "{target} answers with an error, because {} wrong.",
            if broken.len() == 1 { "something is".to_owned() } else { format!("{} things are", broken.len()) },
        ),
    };
    report
}

fn json(value: &Config) -> Json {
    serde_json::to_value(value).unwrap_or_default()
}
