//! One kind whose policies are layers, one place: from the ruling of the engine to what users read.

use std::sync::Arc;

use upheld_dialects::kuma::layered::RULE_MATCHES_TAG;
use upheld_dialects::kuma::permission::{self, Enforcement, Verdict, verdict};
use upheld_dialects::kuma::remarks::{self, Detail};
use upheld_dialects::kuma::rules::Rules;
use upheld_engine::merge::family::reason;
use upheld_engine::merge::{About, Column, Layered, Leaf, Merge, Merged, Question, Subject};
use upheld_engine::words::{Ends, Words, layer_rung_name};
use upheld_engine::{EntryId, ObjectId, Ruling};
use upheld_model::{Code, Config, Content, Fault, Lookup, NodeRef, Param, Policy, State};

use super::explanation::{Candidate, DecidingRung, DefaultRow, Explanation, Note, Outcome, parameters};
use super::payload::Over;
use super::{At, Field};
use crate::stamp::edition;

/// What is asked of one kind.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AskedLayers<'a> {
    pub rules: &'a Rules<'a>,
    pub lookup: &'a Lookup<'a>,
    /// Whose configuration.
    pub subject: ObjectId,
    pub about: About<'a>,
    /// How the caller is called.
    pub from: Option<&'a str>,
    /// How the called one is called.
    pub to: Option<&'a str>,
    /// Where in the subject it holds.
    pub place: &'a str,
    /// The part of the subject that calls, where each has policies of its own.
    pub part: Option<u32>,
    /// How much is told.
    pub detail: Detail,
}

/// Asks and explains. `None` for a kind that has no such facet, and for an object of another snapshot.
pub(crate) fn explain(asked: &AskedLayers<'_>) -> Option<Explanation> {
    let merge = asked.rules.merge;
    merge.kind().facet(asked.about.facet())?;
    let object = asked.rules.snapshot.objects().get(asked.subject)?;
    let subject = asked.part.map_or_else(|| Subject::of(object), |part| Subject::part(object, part));
    let question = Question { subject, about: asked.about };
    // Why others do not match is for those who look closely.
    let ruling = match asked.detail {
        Detail::Full => Ruling::explain(merge, &question),
        Detail::Brief => Ruling::matched(merge, &question),
    };
    Some(Teller { asked, merge, ruling: &ruling }.explanation())
}

struct Teller<'a> {
    asked: &'a AskedLayers<'a>,
    merge: &'a Merge,
    ruling: &'a Ruling<Merge>,
}

impl Teller<'_> {
    fn explanation(&self) -> Explanation {
        let Rules { snapshot, kind, .. } = self.asked.rules;
        let outcome = self.outcome();
        let undecided = outcome == Outcome::Undecided;
        let policies = if undecided { Vec::new() } else { self.standing() };
        let fields = if undecided { Vec::new() } else { self.fields() };
        let verdict = if undecided { None } else { self.verdict() };
        let granted = match verdict {
            Some(Verdict::Allowed) => Some(true),
            Some(Verdict::Refused) => Some(false),
            Some(Verdict::Unknown) | None => None,
        }
        // What is not enforced refuses nobody.
        .filter(|_| self.enforcement() != Enforcement::Off);
        Explanation {
            kind: self.kind().to_owned(),
            semantics: edition(snapshot, kind).map(str::to_owned),
            mesh: self.mesh(),
            from: self.asked.from.map(str::to_owned),
            to: self.asked.to.map(str::to_owned),
            place: Some(self.asked.place.to_owned()),
            answer: self.answer(&policies, outcome, verdict),
            outcome,
            granted,
            summary: self.summary(&fields, outcome, verdict),
            result: if undecided { serde_json::Value::Null } else { self.result() },
            policies,
            fields,
            rung: self.deciding_rung(),
            ranking: self.ranking(outcome),
            candidates: self.ruling.candidates.iter().map(|candidate| self.candidate(candidate)).collect(),
            default: DefaultRow {
                state: self.ruling.default.state,
                name: snapshot.text(kind.default_name).to_owned(),
                means: snapshot.text(kind.default_means).to_owned(),
                because: self.words().because(self.ruling.default.state, &self.ruling.default.reason),
                code: self.ruling.default.reason.code.text(),
            },
            notes: self.notes(),
        }
    }

    fn kind(&self) -> &str {
        self.asked.rules.name()
    }

    fn mesh(&self) -> String {
        let snapshot = self.asked.rules.snapshot;
        let object = snapshot.objects().get(self.asked.subject);
        object.map_or_else(String::new, |object| snapshot.text(object.scope).to_owned())
    }

    fn words(&self) -> Words<'_> {
        // Tags that the asker made up are too long for a sentence.
        let short = |label: &&str| !label.contains('=');
        let ends = Ends {
            source: self.asked.from.filter(short).unwrap_or("the caller"),
            destination: self.asked.to.filter(short).unwrap_or("the called one"),
        };
        Words { lookup: self.asked.lookup, ends }
    }

    fn answer_of(&self) -> &Layered {
        &self.ruling.answer
    }

    fn outcome(&self) -> Outcome {
        let kept = self.ruling.in_state(State::Kept).count();
        let depends = self.asked.from.is_some() && self.verdict() == Some(Verdict::Unknown);
        match (self.answer_of().undecided || depends, self.ruling.in_state(State::Won).count() + kept) {
            (true, _) => Outcome::Undecided,
            (false, 0) => Outcome::Default,
            (false, 1) => Outcome::Decided,
            (false, _) => Outcome::Merged,
        }
    }

    fn policy(&self, entry: EntryId) -> Option<&Policy> {
        self.asked.rules.snapshot.policy(self.merge.entry(entry)?.policy)
    }

    fn policy_name(&self, entry: EntryId) -> String {
        self.policy(entry).map_or("", |policy| self.asked.rules.snapshot.text(policy.name)).to_owned()
    }

    /// Names of the policies that the result comes from, the best first.
    fn standing(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        let stands = |state| matches!(state, State::Won | State::Kept);
        for candidate in self.ruling.candidates.iter().filter(|candidate| stands(candidate.state)) {
            let name = self.policy_name(candidate.entry);
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    fn result(&self) -> serde_json::Value {
        let values = self.answer_of().results.iter().filter_map(Merged::config);
        let mut values: Vec<serde_json::Value> =
            values.map(|config| serde_json::to_value(config.as_ref()).unwrap_or_default()).collect();
        if values.len() > 1 { serde_json::Value::Array(values) } else { values.pop().unwrap_or_default() }
    }

    fn fields(&self) -> Vec<Field> {
        let results = &self.answer_of().results;
        let mut fields = Vec::new();
        for (number, merged) in results.iter().enumerate() {
            let prefix = if results.len() > 1 { format!("[{number}].") } else { String::new() };
            for leaf in merged.leaves() {
                let path = format!("{prefix}{}", leaf.path);
                if let Some(value) = leaf.value {
                    self.add_fields(&path, value, &leaf, &mut fields);
                }
            }
        }
        fields
    }

    /// A leaf; lists are opened, so that every line has its own place.
    fn add_fields(&self, path: &str, value: &Arc<Config>, leaf: &Leaf<'_>, fields: &mut Vec<Field>) {
        match &value.content {
            Content::List(items) if !items.is_empty() => {
                for (number, item) in items.iter().enumerate() {
                    self.add_fields(&format!("{path}[{number}]"), item, leaf, fields);
                }
            }
            Content::Map(entries) if !entries.is_empty() => {
                for (key, value) in entries {
                    self.add_fields(&format!("{path}.{key}"), value, leaf, fields);
                }
            }
            _ => {
                let layer = self.answer_of().entries.get(leaf.by).copied();
                fields.push(Field {
                    path: path.to_owned(),
                    value: serde_json::to_value(value.as_ref()).unwrap_or_default(),
                    policy: layer.map(|entry| self.policy_name(entry)).unwrap_or_default(),
                    at: value.at.and_then(|at| self.at(at)),
                    over: leaf.overridden.iter().map(|over| self.over(layer, over.by, &over.value)).collect(),
                });
            }
        }
    }

    fn over(&self, by: Option<EntryId>, layer: usize, value: &Arc<Config>) -> Over {
        let beaten = self.answer_of().entries.get(layer).copied();
        let separation = by.zip(beaten).and_then(|(by, beaten)| self.merge.separate(by, beaten));
        Over {
            value: serde_json::to_value(value.as_ref()).unwrap_or_default(),
            policy: beaten.map(|entry| self.policy_name(entry)).unwrap_or_default(),
            because: separation.map(|one| self.words().because(State::Won, &reason(one))).unwrap_or_default(),
            at: value.at.and_then(|at| self.at(at)),
        }
    }

    fn at(&self, node: NodeRef) -> Option<At> {
        At::of(self.asked.rules.snapshot.files(), node)
    }

    fn enforcement(&self) -> Enforcement {
        let object = self.asked.rules.snapshot.objects().get(self.asked.subject);
        object.map_or(Enforcement::Unknown, |object| permission::enforcement(self.asked.rules, object))
    }

    fn verdict(&self) -> Option<Verdict> {
        verdict(self.kind(), self.asked.about, self.answer_of(), self.asked.lookup)
    }

    /// What it is about, for sentences.
    fn between(&self) -> String {
        match (self.asked.from, self.asked.to) {
            (Some(from), Some(to)) => format!("{from} → {to} ({})", self.asked.place),
            (Some(only), None) | (None, Some(only)) => {
                if self.asked.place.is_empty() {
                    only.to_owned()
                } else {
                    format!("{only} ({})", self.asked.place)
                }
            }
            (None, None) => self.asked.place.to_owned(),
        }
    }

    fn answer(&self, policies: &[String], outcome: Outcome, verdict: Option<Verdict>) -> String {
        let (kind, between) = (self.kind(), self.between());
        let off = self.enforcement() == Enforcement::Off;
        let gist = match verdict {
            Some(Verdict::Allowed) => format!("{between} is allowed. "),
            Some(Verdict::Refused) if off => {
                format!("{between} would be refused, but the mesh has no mutual TLS: nothing is enforced. ")
            }
            Some(Verdict::Refused) => format!("{between} is refused. "),
            Some(Verdict::Unknown) | None => String::new(),
        };
        match outcome {
            Outcome::Undecided => self.undecided(&between),
            Outcome::Decided => {
                let won = self.ruling.in_state(State::Won).chain(self.ruling.in_state(State::Kept)).next();
                let by = won.map_or_else(String::new, |won| self.words().won_by(&won.reason));
                let winner = policies.first().map_or("", String::as_str);
                format!("{gist}{winner} decides {kind} for {between}: {by}.")
            }
            Outcome::Merged | Outcome::Aggregated => match policies {
                [only] => format!("{gist}{kind} for {between} comes from {only}."),
                several => {
                    format!("{gist}{kind} for {between} comes from {} policies: {}.", several.len(), several.join(", "))
                }
            },
            Outcome::Default => {
                let means = self.asked.rules.snapshot.text(self.asked.rules.kind.default_means);
                let unsaid = means == "no policy of this kind matches";
                let consequence = if unsaid { String::new() } else { format!(": {means}") };
                let nothing = format!("{gist}No {kind} policy speaks about {between}{consequence}.");
                match (self.ruling.candidates.first(), self.merge.policies().count()) {
                    (None, 1) => format!("{nothing} The one there is says nothing of the sort."),
                    (None, count) => format!("{nothing} The {count} there are say nothing of the sort."),
                    (Some(closest), _) => {
                        let name = self.policy_name(closest.entry);
                        format!("{nothing} Closest is {name} ({}).", self.because(closest))
                    }
                }
            }
        }
    }

    fn undecided(&self, between: &str) -> String {
        let kind = self.kind();
        match self.ruling.in_state(State::Unknown).next() {
            Some(unknown) => format!(
                "{kind} for {between} is undecided: {} could change it ({}).",
                self.policy_name(unknown.entry),
                self.because(unknown)
            ),
            None => format!(
                "{kind} for {between} is undecided: it depends on who the caller proves to be; ask with `--from spiffe://…`."
            ),
        }
    }

    /// Why, in a few words; what only the listing of routes and labels needs is put in words of users.
    fn because(&self, candidate: &upheld_engine::Candidate<()>) -> String {
        let reason = &candidate.reason;
        let text = |param: &Param| match param {
            Param::Text(symbol) => Some(self.asked.lookup.text(*symbol)),
            _ => None,
        };
        let [_, key, want, _] = &reason.params;
        match reason.code {
            Code::SkipTag | Code::SkipTagAbsent if text(key) == Some(RULE_MATCHES_TAG) => {
                "only for requests that a rule of its route takes".to_owned()
            }
            Code::SkipTag | Code::SkipTagAbsent if text(want) == Some("") => {
                "is about real resources, which it refers to by labels".to_owned()
            }
            _ => self.words().because(candidate.state, reason),
        }
    }

    fn summary(&self, fields: &[Field], outcome: Outcome, verdict: Option<Verdict>) -> String {
        let off = self.enforcement() == Enforcement::Off;
        match (verdict, outcome, fields) {
            (_, Outcome::Undecided, _) => "undecided".to_owned(),
            (Some(Verdict::Allowed), ..) => "allowed".to_owned(),
            (Some(Verdict::Refused), ..) if off => "would be refused".to_owned(),
            (Some(Verdict::Refused), ..) => "refused".to_owned(),
            (Some(Verdict::Unknown), ..) => "by identity".to_owned(),
            (None, _, []) => "none".to_owned(),
            (None, _, [only]) => format!("{}: {}", only.name(), only.text()),
            (None, _, [first, rest @ ..]) => format!("{}: {} (+{} more)", first.name(), first.text(), rest.len()),
        }
    }

    /// Fields that would change if a policy were renamed.
    fn arbitrary_fields(&self) -> usize {
        let Layered { entries, results, .. } = self.answer_of();
        let arbitrary = |leaf: &Leaf<'_>| {
            leaf.overridden.iter().any(|over| {
                let pair = entries.get(leaf.by).copied().zip(entries.get(over.by).copied());
                let separation = pair.and_then(|(by, beaten)| self.merge.separate(by, beaten));
                separation.is_some_and(|one| matches!(one.column, Column::Title | Column::Identity))
            })
        };
        results.iter().flat_map(Merged::leaves).filter(arbitrary).count()
    }

    fn deciding_rung(&self) -> Option<DecidingRung> {
        let number = self.ruling.decided?;
        let rungs = self.merge.ladder(self.asked.about.facet())?.rungs();
        let rung = rungs.get(number)?;
        Some(DecidingRung {
            number: number + 1,
            of: rungs.len(),
            name: layer_rung_name(*rung, self.asked.lookup),
            code: rung.code().text(),
            arbitrary: rung.arbitrary(),
        })
    }

    fn ranking(&self, outcome: Outcome) -> String {
        let rungs = self.merge.ladder(self.asked.about.facet()).map_or(&[][..], |ladder| ladder.rungs());
        let names: Vec<String> = rungs.iter().map(|rung| layer_rung_name(*rung, self.asked.lookup)).collect();
        match (self.deciding_rung(), outcome) {
            (Some(rung), _) => format!("Decided on rung {} of {} ({}).", rung.number, rung.of, rung.name),
            (None, Outcome::Merged) => format!("Layers are ordered by {}.", names.join(", ")),
            (None, Outcome::Undecided) => "Undecided: a missing fact could change a field.".to_owned(),
            (None, Outcome::Decided) => "Only one layer, so no rung was needed.".to_owned(),
            (None, _) => String::new(),
        }
    }

    fn candidate(&self, candidate: &upheld_engine::Candidate<()>) -> Candidate {
        let entry = self.merge.entry(candidate.entry);
        let facet = self.asked.about.facet();
        let several = entry.is_some_and(|entry| self.merge.entries_of(entry.slot, facet).nth(1).is_some());
        Candidate {
            state: candidate.state,
            policy: self.policy_name(candidate.entry),
            selector: entry.filter(|_| several).map(|entry| entry.item as usize),
            tags: None,
            exact: None,
            wildcards: None,
            because: self.because(candidate),
            code: candidate.reason.code.text(),
            parameters: parameters(candidate.reason.code, &candidate.reason.params, self.asked.lookup),
            at: entry.and_then(|entry| self.at(entry.at)),
            fields: match (candidate.state, entry) {
                (State::Skip | State::Off, _) | (_, None) => Vec::new(),
                (_, Some(entry)) => self.own_fields(&entry.config, &self.policy_name(candidate.entry)),
            },
        }
    }

    /// What a layer says on its own.
    fn own_fields(&self, config: &Arc<Config>, policy: &str) -> Vec<Field> {
        let mut fields = Vec::new();
        let mut waiting = vec![(String::new(), config)];
        while let Some((path, config)) = waiting.pop() {
            match &config.content {
                Content::List(items) if !items.is_empty() => {
                    waiting.extend(
                        items.iter().enumerate().rev().map(|(number, item)| (format!("{path}[{number}]"), item)),
                    );
                }
                Content::Map(entries) if !entries.is_empty() => {
                    let dot = if path.is_empty() { "" } else { "." };
                    waiting.extend(entries.iter().rev().map(|(key, value)| (format!("{path}{dot}{key}"), value)));
                }
                _ => fields.push(Field {
                    path,
                    value: serde_json::to_value(config.as_ref()).unwrap_or_default(),
                    policy: policy.to_owned(),
                    at: config.at.and_then(|at| self.at(at)),
                    over: Vec::new(),
                }),
            }
        }
        fields
    }

    fn notes(&self) -> Vec<Note> {
        let mut notes = Vec::new();
        if let Some(rung) = self.deciding_rung().filter(|rung| rung.arbitrary) {
            let text = format!("a tie: only the order of names decides ({})", rung.name);
            notes.push(Note { code: Fault::ArbitraryTie.code(), text });
        }
        if let (Outcome::Merged, count @ 1..) = (self.outcome(), self.arbitrary_fields()) {
            let fields = if count == 1 { "1 field rests".to_owned() } else { format!("{count} fields rest") };
            let text = format!("a tie: {fields} on the order of names alone");
            notes.push(Note { code: Fault::ArbitraryTie.code(), text });
        }
        let Self { asked, .. } = self;
        let remarks = remarks::of(asked.rules, asked.lookup, asked.subject, asked.about, asked.detail);
        notes.extend(remarks.into_iter().map(|(fault, text)| Note { code: fault.code(), text }));
        notes
    }
}
