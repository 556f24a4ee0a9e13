//! The family merge: from a ruling about one facet of an object to a report.

mod weigh;

use std::cmp::Reverse;
use std::sync::Arc;

use upheld_engine::merge::family::reason;
use upheld_engine::merge::{About as Facets, Column, Layered, Leaf, Merge, Merged, Question, ResolvedReach, Target};
use upheld_engine::words::{EndNames, Words, layer_rung_name};
use upheld_engine::{Candidate as Ruled, EntryId, PolicyId, PolicyKind, Ruling, Snapshot};
use upheld_model::layers::{Reference, Section};
use upheld_model::{Code, Config, Content, Lookup, NodeRef, Object, Policy, Reason, State, Sym};

use super::fields::set_by;
use super::sentences::{Closest, Grants, missing_port, other_targets};
use super::{
    About, At, Candidate, DecidingRung, DefaultRow, Depth, Family, Field, Outcome, Overridden, Phrase, Remark, Report,
    Sentence, Skipped, Source, brief, each_once,
};
use crate::stamp::edition;

pub use self::weigh::{Weighed, weigh};

/// What the system that a kind belongs to knows beyond the family.
pub trait Vocabulary: std::fmt::Debug {
    /// What a result means for a caller, for kinds that permit and refuse.
    fn access(&self, answer: &Layered) -> Access;
    /// A reason in words of users, where it names something that only the system knows.
    fn because(&self, reason: &Reason) -> Option<String>;
    /// What else is worth knowing.
    fn remarks(&self) -> Vec<Phrase>;
}

/// What a result means for a caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Kinds of this sort do not permit or refuse.
    NotAsked,
    /// The caller may.
    Allowed,
    /// The caller may not.
    Refused,
    /// The caller may not, but nothing checks it.
    NotEnforced,
    /// It depends on an identity that is not known.
    ByIdentity,
}

/// What is asked of one kind.
#[derive(Clone, Copy, Debug)]
pub struct AskedLayers<'a> {
    /// Where policies and objects are looked up.
    pub snapshot: &'a Snapshot,
    /// The kind of policy.
    pub kind: &'a PolicyKind,
    /// Its policies.
    pub merge: &'a Merge,
    /// What its system knows beyond the family.
    pub vocabulary: &'a dyn Vocabulary,
    /// Texts of names and values.
    pub lookup: &'a Lookup<'a>,
    /// Whose configuration.
    pub subject: &'a Object,
    /// Which part of it.
    pub about: Facets<'a>,
    /// What the caller is called.
    pub from: Option<&'a str>,
    /// What the called one is called.
    pub to: Option<&'a str>,
    /// Where in the subject it holds.
    pub place: &'a str,
    /// The part of the subject that calls, where each has policies of its own.
    pub part: Option<u32>,
    /// How much is looked into.
    pub depth: Depth,
    /// Which policies that do not match are listed.
    pub skipped: &'a Skipped,
}

/// Asks and explains. `None` for a kind that has no such facet.
pub fn explain(asked: &AskedLayers<'_>) -> Option<Report> {
    let question = asked.question()?;
    let closest = |most: usize| Ruling::nearest(asked.merge, &question, most.max(1), |_, _, distance| distance);
    let listed = if asked.depth >= Depth::Explained { asked.skipped } else { &Skipped::NONE };
    let ruling = match (asked.depth, listed) {
        (Depth::Explained | Depth::All, Skipped::All | Skipped::AtMost(_)) => closest(listed.most()),
        _ => {
            let matched = Ruling::matched(asked.merge, &question);
            // Where nothing matches, the headline names what comes closest.
            let is_enough = asked.depth <= Depth::Answer || !matched.candidates.is_empty();
            if is_enough { matched } else { closest(0) }
        }
    };
    let named = listed.named().and_then(|name| asked.merge.slot_of(asked.snapshot.symbols().get(name)?));
    let named = named.and_then(|slot| asked.merge.policy(slot)).map_or(&[][..], |policy| &policy.entries);
    let ruling = ruling.with_others(asked.merge, &question, named.iter().copied());
    Some(Reporter { asked, question, ruling: &ruling }.report().with_skipped(listed))
}

struct Reporter<'a> {
    asked: &'a AskedLayers<'a>,
    question: Question<'a>,
    ruling: &'a Ruling<Merge>,
}

impl Reporter<'_> {
    fn report(&self) -> Report {
        let AskedLayers { snapshot, kind, from, to, place, .. } = self.asked;
        let Weighed { policies, outcome, verdict, access } = self.asked.weighed(&self.ruling.answer);
        let undecided = outcome == Outcome::Undecided;
        let name = |id: PolicyId| snapshot.policy(id).map_or("", |policy| snapshot.text(policy.name)).to_owned();
        let policies = each_once(policies.into_iter().map(name));
        let fields = if undecided { Vec::new() } else { self.fields() };
        Report {
            family: Family::Merge,
            kind: self.kind().to_owned(),
            semantics: edition(snapshot, kind).map(str::to_owned),
            about: About {
                what: self.between(),
                scope: Some(snapshot.text(self.asked.subject.scope).to_owned()),
                from: from.map(str::to_owned),
                to: to.map(str::to_owned),
                place: Some((*place).to_owned()),
                ..About::default()
            },
            headline: self.headline(&policies, outcome, access).into(),
            verdict,
            outcome,
            summary: summary(&fields, outcome, access),
            result: if undecided { serde_json::Value::Null } else { self.result() },
            policies,
            fields,
            rung: self.deciding_rung(),
            ranking: self.ranking(outcome).map(Phrase::from),
            candidates: self.ruling.candidates.iter().map(|candidate| self.candidate(candidate)).collect(),
            left_out: self.ruling.left_out,
            default: Some(self.default_row()),
            notes: self.notes(outcome),
            next: Vec::new(),
            detail: None,
        }
    }

    fn kind(&self) -> &str {
        self.asked.snapshot.text(self.asked.kind.name)
    }

    fn words(&self) -> Words<'_> {
        // Tags that the asker made up are too long for a sentence.
        let short = |label: &&str| !label.contains('=');
        let ends = EndNames {
            source: self.asked.from.filter(short).unwrap_or("the caller"),
            destination: self.asked.to.filter(short).unwrap_or("the called one"),
        };
        Words { lookup: self.asked.lookup, ends }
    }

    fn default_row(&self) -> DefaultRow {
        let (snapshot, default) = (self.asked.snapshot, &self.ruling.default);
        let reason = self.because(default.state, &default.reason);
        DefaultRow::of_kind(snapshot, self.asked.kind, default.state, reason)
    }

    fn because(&self, state: State, reason: &Reason) -> Phrase {
        let phrase = Phrase::because(&self.words(), state, reason);
        match self.asked.vocabulary.because(reason) {
            Some(text) => Phrase { text, ..phrase },
            None => phrase,
        }
    }

    /// Why a candidate ended as it did; what is about something else says about what.
    fn why(&self, candidate: &Ruled<()>) -> Phrase {
        let phrase = self.because(candidate.state, &candidate.reason);
        let entry = self.asked.merge.entry(candidate.entry);
        let Some(ResolvedReach::Objects(reference, found)) = entry.map(|entry| &entry.reach) else { return phrase };
        match (candidate.reason.code, reference.section) {
            (Code::SkipDangling, Some(Section::Named(port) | Section::Port(port))) => {
                return self.missing_port(phrase, reference, port);
            }
            (Code::SkipOtherTarget, _) => {}
            _ => return phrase,
        }
        let name = |target: &Target| {
            let object = self.asked.snapshot.objects().get(target.object)?;
            Some(self.asked.snapshot.text(object.name).to_owned())
        };
        let names = each_once(found.iter().filter_map(name));
        let text = other_targets(self.asked.lookup.text(reference.kind), &names);
        Phrase { text, ..phrase.with("targets", names) }
    }

    /// Why a port means nothing: the ports of what was meant without it.
    fn missing_port(&self, phrase: Phrase, reference: &Reference, port: Sym) -> Phrase {
        let snapshot = self.asked.snapshot;
        let whole = Reference { section: None, ..reference.clone() };
        let found = snapshot.targets().map(|targets| targets.resolve(&whole, self.asked.subject.scope));
        let objects = found.into_iter().flatten().filter_map(|target| snapshot.objects().get(target.object));
        let ports = objects.flat_map(|object| &object.parts).map(|part| snapshot.text(part.section).to_owned());
        let mut ports = each_once(ports);
        if ports.is_empty() {
            return phrase;
        }
        ports.sort_unstable();
        let lookup = self.asked.lookup;
        let text = missing_port(lookup.text(reference.kind), lookup.text(port), &ports);
        Phrase { text, ..phrase.with("ports", ports) }
    }

    fn answer(&self) -> &Layered {
        &self.ruling.answer
    }

    fn policy(&self, entry: EntryId) -> Option<&Policy> {
        self.asked.snapshot.policy(self.asked.merge.entry(entry)?.policy)
    }

    fn policy_name(&self, entry: EntryId) -> String {
        self.policy(entry).map_or("", |policy| self.asked.snapshot.text(policy.name)).to_owned()
    }

    fn result(&self) -> serde_json::Value {
        let mut values: Vec<serde_json::Value> =
            self.answer().results.iter().filter_map(Merged::config).map(|config| json(&config)).collect();
        if values.len() > 1 { serde_json::Value::Array(values) } else { values.pop().unwrap_or_default() }
    }

    fn fields(&self) -> Vec<Field> {
        let results = &self.answer().results;
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
                let layer = self.answer().entries.get(leaf.by).copied();
                let policy = layer.map(|entry| self.policy_name(entry)).unwrap_or_default();
                let from = vec![Source { policy, via: None, at: value.at.and_then(|at| self.at(at)) }];
                let over = leaf.overridden.iter().map(|over| self.over(layer, over.by, &over.value)).collect();
                fields.push(Field {
                    path: path.to_owned(),
                    value: Some(json(value)),
                    scope: None,
                    from,
                    reason: None,
                    over,
                });
            }
        }
    }

    fn over(&self, by: Option<EntryId>, layer: usize, value: &Arc<Config>) -> Overridden {
        let beaten = self.answer().entries.get(layer).copied();
        let separation = by.zip(beaten).and_then(|(by, beaten)| self.asked.merge.separate(beaten, by));
        Overridden {
            value: json(value),
            policy: beaten.map(|entry| self.policy_name(entry)).unwrap_or_default(),
            scope: None,
            via: None,
            at: value.at.and_then(|at| self.at(at)),
            taken_by: by.map(|entry| self.policy_name(entry)),
            reason: separation.map(|one| self.because(State::Lost, &reason(one))).unwrap_or_default(),
        }
    }

    fn at(&self, node: NodeRef) -> Option<At> {
        At::of(self.asked.snapshot.files(), node)
    }

    /// What it is about, for sentences.
    fn between(&self) -> String {
        let place = self.asked.place;
        match (self.asked.from, self.asked.to) {
            (Some(from), Some(to)) => format!("{from} → {to} ({place})"),
            (Some(only), None) | (None, Some(only)) if place.is_empty() => only.to_owned(),
            (Some(only), None) | (None, Some(only)) => format!("{only} ({place})"),
            (None, None) => place.to_owned(),
        }
    }

    fn headline(&self, policies: &[String], outcome: Outcome, access: Access) -> Sentence {
        let (kind, about) = (self.kind().to_owned(), self.between());
        let grants = match access {
            Access::Allowed => Grants::Allowed,
            Access::Refused => Grants::Refused,
            Access::NotEnforced => Grants::NotEnforced,
            Access::NotAsked | Access::ByIdentity => Grants::NotAsked,
        };
        match outcome {
            Outcome::Undecided => match self.ruling.in_state(State::Unknown).next() {
                Some(unknown) => Sentence::Undecided {
                    kind,
                    about,
                    policy: Some(self.policy_name(unknown.entry)),
                    because: Some(self.because(State::Unknown, &unknown.reason)),
                },
                None => Sentence::ByIdentity { kind, about },
            },
            Outcome::Decided => {
                let won = self.ruling.in_state(State::Won).chain(self.ruling.in_state(State::Kept)).next();
                let because = won.map(|won| Phrase::won_by(&self.words(), &won.reason));
                let policy = policies.first().cloned().unwrap_or_default();
                Sentence::Chosen { kind, about, policy, because: because.unwrap_or_default(), grants }
            }
            Outcome::Merged | Outcome::Aggregated => {
                Sentence::Merged { kind, about, policies: policies.to_vec(), grants }
            }
            Outcome::Default => {
                let means = self.asked.snapshot.text(self.asked.kind.default_means);
                let closest = self.ruling.candidates.first().filter(|_| !self.is_nowhere());
                let closest = closest
                    .map(|closest| Closest { policy: self.policy_name(closest.entry), because: self.why(closest) });
                let means = (means != "no policy of this kind matches").then(|| means.to_owned());
                let policies = self.asked.merge.len();
                Sentence::NoneMatches { kind, about, means, policies, closest, grants }
            }
        }
    }

    /// Whether nothing can be attached, so that no policy is closer than another. Nothing is farther than that.
    fn is_nowhere(&self) -> bool {
        let farthest = |ruling: &Ruling<Merge>| {
            ruling.candidates.iter().any(|candidate| candidate.reason.code == Code::SkipNoPart)
        };
        farthest(self.ruling)
            || (self.ruling.left_out > 0
                && farthest(&Ruling::nearest(self.asked.merge, &self.question, 1, |_, _, distance| Reverse(distance))))
    }

    /// Fields that would change if a policy were renamed.
    fn arbitrary_fields(&self) -> usize {
        let Layered { entries, results, .. } = self.answer();
        let arbitrary = |leaf: &Leaf<'_>| {
            leaf.overridden.iter().any(|over| {
                let pair = entries.get(leaf.by).copied().zip(entries.get(over.by).copied());
                let separation = pair.and_then(|(by, beaten)| self.asked.merge.separate(by, beaten));
                separation.is_some_and(|one| matches!(one.column, Column::Title | Column::Identity))
            })
        };
        results.iter().flat_map(Merged::leaves).filter(arbitrary).count()
    }

    fn deciding_rung(&self) -> Option<DecidingRung> {
        let rungs = self.asked.merge.ladder(self.asked.about.facet())?.rungs();
        DecidingRung::of(rungs, self.ruling.decided?, |rung| layer_rung_name(rung, self.asked.lookup))
    }

    fn ranking(&self, outcome: Outcome) -> Option<Sentence> {
        let rungs = self.asked.merge.ladder(self.asked.about.facet()).map_or(&[][..], |ladder| ladder.rungs());
        match (self.deciding_rung(), outcome) {
            (Some(DecidingRung { number, of, name, arbitrary, .. }), _) => {
                Some(Sentence::Rung { number, of, name, arbitrary, not_needed: None })
            }
            (None, Outcome::Merged) => {
                let names = rungs.iter().map(|rung| layer_rung_name(*rung, self.asked.lookup));
                Some(Sentence::RankingLayers { rungs: names.collect() })
            }
            (None, Outcome::Undecided) => Some(Sentence::RankingUndecided),
            (None, Outcome::Decided) => Some(Sentence::RankingOnlyOne),
            (None, _) => None,
        }
    }

    fn candidate(&self, candidate: &Ruled<()>) -> Candidate {
        let (snapshot, merge) = (self.asked.snapshot, self.asked.merge);
        let entry = merge.entry(candidate.entry);
        let facet = self.asked.about.facet();
        let several = entry.is_some_and(|entry| merge.entries_of(entry.slot, facet).nth(1).is_some());
        Candidate {
            state: candidate.state,
            policy: self.policy_name(candidate.entry),
            scope: self.policy(candidate.entry).map(|policy| snapshot.text(policy.scope).to_owned()),
            item: entry.filter(|_| several).map(|entry| entry.item as usize),
            facts: Vec::new(),
            distance: None,
            reason: self.why(candidate),
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
                _ => fields.push(set_by(path, json(config), policy, config.at.and_then(|at| self.at(at)))),
            }
        }
        fields
    }

    fn notes(&self, outcome: Outcome) -> Vec<Phrase> {
        let mut notes = Vec::new();
        if self.deciding_rung().is_some_and(|rung| rung.arbitrary) {
            let tied = self.ruling.in_state(State::Lost).next().map(|lost| self.policy_name(lost.entry));
            notes.extend(tied.map(|before| Remark::Tie { before }.into()));
        }
        let tied = self.deciding_rung().is_some_and(|rung| rung.arbitrary);
        if let (Outcome::Merged | Outcome::Decided, false, fields @ 1..) = (outcome, tied, self.arbitrary_fields()) {
            notes.push(Remark::TiedFields { fields }.into());
        }
        notes.extend(self.asked.vocabulary.remarks());
        notes
    }
}

fn summary(fields: &[Field], outcome: Outcome, access: Access) -> String {
    let word = match (access, outcome) {
        (_, Outcome::Undecided) => "undecided",
        (Access::Allowed, _) => "allowed",
        (Access::NotEnforced, _) => "would be refused",
        (Access::Refused, _) => "refused",
        (Access::ByIdentity, _) => "by identity",
        (Access::NotAsked, _) => return brief(fields),
    };
    word.to_owned()
}

fn json(config: &Config) -> serde_json::Value {
    serde_json::to_value(config).unwrap_or_default()
}
