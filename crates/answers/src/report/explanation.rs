//! One kind, one connection: from the ruling of the engine to what users read.

use std::collections::HashSet;

use serde::Serialize;
use serde_json::{Map, Value as Json, json};
use upheld_dialects::kuma;
use upheld_dialects::kuma::ends::Member;
use upheld_engine::words::{Ends, Words, rung_name};
use upheld_engine::{
    Column, EntryId, Granted, Grants, KindId, PolicyKind, Question, Resolve, Ruling, Rung, Select, SelectKind,
    Snapshot, Specificity,
};
use upheld_model::{Code, Fault, Lookup, Param, Policy, Reason, Side, State, Sym};

use super::{At, Field, leaves};
use crate::stamp::edition;

/// How a question ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// One policy stands.
    Decided,
    /// All that match apply.
    Aggregated,
    /// Several layers make the result.
    Merged,
    /// Nothing matches, the default stands.
    Default,
    /// A missing fact could change the answer.
    Undecided,
}

/// The answer for one kind and one connection.
#[derive(Clone, Debug, Serialize)]
pub struct Explanation {
    /// The kind of policy.
    pub kind: String,
    /// The edition of the rules.
    pub semantics: Option<String>,
    /// The mesh.
    pub mesh: String,
    /// Who calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Who is called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Where in a proxy it holds, for kinds whose policies are layers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// The sentence that answers.
    pub answer: String,
    /// How it ended.
    pub outcome: Outcome,
    /// For kinds that grant: whether this caller may.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub granted: Option<bool>,
    /// The policies that stand, best first.
    pub policies: Vec<String>,
    /// The result in a few words.
    pub summary: String,
    /// The result as it was written; a list when several apply.
    pub result: Json,
    /// The result leaf by leaf, with its origin.
    pub fields: Vec<Field>,
    /// The rung that decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rung: Option<DecidingRung>,
    /// How ranking went, in a sentence.
    pub ranking: String,
    /// All policies of the kind, best first.
    pub candidates: Vec<Candidate>,
    /// What becomes of the default.
    pub default: DefaultRow,
    /// What else is worth knowing.
    pub notes: Vec<Note>,
}

/// The rung that separated the winner from the runner-up.
#[derive(Clone, Debug, Serialize)]
pub struct DecidingRung {
    /// From one.
    pub number: usize,
    pub of: usize,
    pub name: String,
    pub code: &'static str,
    /// Whether renaming a policy would flip it.
    pub arbitrary: bool,
}

/// A policy that was looked at.
#[derive(Clone, Debug, Serialize, PartialEq)]
pub struct Candidate {
    /// What became of it.
    #[serde(serialize_with = "word")]
    pub state: State,
    /// Its name.
    pub policy: String,
    /// Which selector, for kinds that split a policy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selector: Option<usize>,
    /// How many tags match.
    pub tags: Option<u32>,
    /// How many of them exactly.
    pub exact: Option<u16>,
    /// How many of them by a wildcard.
    pub wildcards: Option<u16>,
    /// Why, in words.
    pub because: String,
    /// Why, in a code.
    pub code: &'static str,
    /// What the code is told with.
    pub parameters: Map<String, Json>,
    /// Where it was written.
    pub at: Option<At>,
    /// The policy's own configuration, for questions about one field.
    #[serde(skip)]
    pub fields: Vec<Field>,
}

impl Candidate {
    /// Whether it matches, as far as is known.
    pub fn matched(&self) -> bool {
        !matches!(self.state, State::Skip | State::Off)
    }
}

/// What stands when nothing matches.
#[derive(Clone, Debug, Serialize)]
pub struct DefaultRow {
    #[serde(serialize_with = "word")]
    pub state: State,
    pub name: String,
    pub means: String,
    pub because: String,
    pub code: &'static str,
}

/// Something else worth knowing.
#[derive(Clone, Debug, Serialize)]
pub struct Note {
    /// In a code.
    pub code: &'static str,
    /// In words.
    pub text: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde wants")]
pub(super) fn word<S: serde::Serializer>(state: &State, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(state.word())
}

/// What is asked of one kind.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked<'a> {
    pub snapshot: &'a Snapshot,
    pub lookup: &'a Lookup<'a>,
    pub kind: KindId,
    pub mesh: Sym,
    pub source: Option<&'a Member>,
    pub destination: Option<&'a Member>,
}

/// Asks and explains. `None` only for a kind of another snapshot.
pub(crate) fn explain(asked: &Asked<'_>) -> Option<Explanation> {
    let kind = asked.snapshot.kind(asked.kind)?;
    let choices = kind.select()?;
    let empty;
    let select = match asked.snapshot.select(asked.kind, asked.mesh) {
        Some(select) => select,
        None => {
            empty = Select::compile(choices, &[], asked.snapshot.symbols()).ok()?;
            &empty
        }
    };
    let question = Question {
        source: asked.source.map(|member| member.parts.as_slice()),
        destination: asked.destination.map(|member| member.parts.as_slice()),
    };
    let ruling = Ruling::explain(select, &question);
    Some(Teller { asked, kind, choices, select, ruling: &ruling }.explanation())
}

struct Teller<'a> {
    asked: &'a Asked<'a>,
    kind: &'a PolicyKind,
    choices: &'a SelectKind,
    select: &'a Select,
    ruling: &'a Ruling<Select>,
}

impl Teller<'_> {
    fn explanation(&self) -> Explanation {
        let snapshot = self.asked.snapshot;
        let outcome = self.outcome();
        // What a missing fact could change is no result.
        let standing = if outcome == Outcome::Undecided { Vec::new() } else { self.standing() };
        // A kind that splits policies may have several entries of one.
        let mut seen = HashSet::new();
        let payloads: Vec<&Policy> =
            standing.iter().filter_map(|entry| self.policy(*entry)).filter(|policy| seen.insert(policy.name)).collect();
        let policies: Vec<String> = payloads.iter().map(|policy| snapshot.text(policy.name).to_owned()).collect();
        let fields: Vec<Field> = (payloads.iter())
            .filter_map(|policy| Some(leaves(snapshot, policy.payload?, snapshot.text(policy.name))))
            .flatten()
            .collect();
        let mut values = payloads.iter().map(|policy| {
            let value = policy.payload.and_then(|payload| snapshot.files().value(payload));
            serde_json::to_value(value).unwrap_or_default()
        });
        let result = match self.choices.resolve {
            _ if outcome == Outcome::Undecided => Json::Null,
            Resolve::First => values.next().unwrap_or_default(),
            Resolve::All => values.collect(),
        };
        let granted = self.granted();
        Explanation {
            kind: snapshot.text(self.kind.name).to_owned(),
            semantics: edition(snapshot, self.kind).map(str::to_owned),
            mesh: self.asked.lookup.text(self.asked.mesh).to_owned(),
            from: self.end(Side::Source).map(str::to_owned),
            to: self.end(Side::Destination).map(str::to_owned),
            place: None,
            answer: self.answer(&policies, outcome, granted),
            outcome,
            granted,
            summary: self.summary(&payloads, &fields, outcome, granted),
            policies,
            result,
            fields,
            rung: self.deciding_rung(),
            ranking: self.ranking(),
            candidates: self.ruling.candidates.iter().map(|candidate| self.candidate(candidate)).collect(),
            default: DefaultRow {
                state: self.ruling.default.state,
                name: snapshot.text(self.kind.default_name).to_owned(),
                means: snapshot.text(self.kind.default_means).to_owned(),
                because: self.words().because(self.ruling.default.state, &self.ruling.default.reason),
                code: self.ruling.default.reason.code.text(),
            },
            notes: self.notes(),
        }
    }

    fn words(&self) -> Words<'_> {
        Words {
            lookup: self.asked.lookup,
            ends: Ends {
                source: called(self.asked.source, "the source"),
                destination: called(self.asked.destination, "the destination"),
            },
        }
    }

    fn standing(&self) -> Vec<EntryId> {
        let stands = |state| matches!(state, State::Won | State::Kept);
        self.ruling
            .candidates
            .iter()
            .filter(|candidate| stands(candidate.state))
            .map(|candidate| candidate.entry)
            .collect()
    }

    fn policy(&self, entry: EntryId) -> Option<&Policy> {
        self.asked.snapshot.policy(self.select.entry(entry)?.policy)
    }

    fn policy_name(&self, entry: EntryId) -> String {
        self.policy(entry).map_or("", |policy| self.asked.snapshot.text(policy.name)).to_owned()
    }

    /// The label of an end, if the kind looks at it.
    fn end(&self, side: Side) -> Option<&str> {
        let clients = self.choices.grants.and_then(Grants::field).is_some();
        let looks = self.choices.side(side).is_some() || (side == Side::Source && clients);
        let member = match side {
            Side::Source => self.asked.source,
            Side::Destination => self.asked.destination,
        };
        member.filter(|_| looks).map(|member| member.label.as_str())
    }

    fn between(&self) -> String {
        match (self.end(Side::Source), self.end(Side::Destination)) {
            (Some(source), Some(destination)) => format!("{source} → {destination}"),
            (Some(only), None) | (None, Some(only)) => only.to_owned(),
            (None, None) => String::new(),
        }
    }

    fn outcome(&self) -> Outcome {
        let answer = &self.ruling.answer;
        // One certain grant is enough, whatever else is not known.
        let grants = self.choices.grants == Some(Grants::Match) && answer.kept > 0;
        match self.choices.resolve {
            _ if answer.undecided && !grants => Outcome::Undecided,
            _ if answer.granted == Granted::Unknown => Outcome::Undecided,
            _ if answer.winner.is_none() => Outcome::Default,
            Resolve::First => Outcome::Decided,
            Resolve::All => Outcome::Aggregated,
        }
    }

    /// Whether the caller may, for kinds that say so and questions that name both ends.
    fn granted(&self) -> Option<bool> {
        let answer = &self.ruling.answer;
        let grants = self.choices.grants?;
        let asked = self.asked.source.is_some() && self.asked.destination.is_some();
        if !asked || self.outcome() == Outcome::Undecided {
            return None;
        }
        match grants {
            Grants::Match => Some(answer.kept > 0),
            Grants::Field(_) => Some(answer.granted == Granted::Yes),
        }
    }

    fn answer(&self, policies: &[String], outcome: Outcome, granted: Option<bool>) -> String {
        let kind = self.asked.snapshot.text(self.kind.name);
        let between = self.between();
        let winner = policies.first().map_or("", String::as_str);
        match outcome {
            Outcome::Undecided => self.undecided(kind, &between),
            Outcome::Default => self.nothing_matches(kind, &between),
            Outcome::Aggregated | Outcome::Merged => {
                let names = policies.join(", ");
                match (granted, policies.len()) {
                    (Some(_), 1) => format!("{between} is allowed by 1 {kind}: {names}."),
                    (Some(_), count) => format!("{between} is allowed by {count} {kind} policies: {names}."),
                    (None, 1) => format!("1 {kind} policy applies to {between}: {names}."),
                    (None, count) => format!("All {count} {kind} policies that match {between} apply: {names}."),
                }
            }
            Outcome::Decided => {
                let won = self.ruling.in_state(State::Won).next();
                let by = won.map_or_else(String::new, |won| self.words().won_by(&won.reason));
                let decides = format!("{winner} decides {kind} for {between}: {by}");
                match (granted, self.ruling.notes.first()) {
                    (Some(true), _) => format!("{decides}. It grants the connection."),
                    (Some(false), Some(note)) => {
                        format!(
                            "{decides}. It does not grant the connection: {}.",
                            self.words().because(State::Skip, note)
                        )
                    }
                    _ => format!("{decides}."),
                }
            }
        }
    }

    fn nothing_matches(&self, kind: &str, between: &str) -> String {
        let means = self.asked.snapshot.text(self.kind.default_means);
        let looked_at = self.select.len();
        let default = format!("No {kind} policy matches {between}");
        let consequence = if means == "no policy of this kind matches" { String::new() } else { format!(": {means}") };
        match self.ruling.candidates.first() {
            None => format!("{default}{consequence}. There is none in this mesh."),
            Some(closest) => format!(
                "{default}{consequence}. {looked_at} looked at; closest is {} ({}).",
                self.policy_name(closest.entry),
                self.words().because(closest.state, &closest.reason)
            ),
        }
    }

    fn undecided(&self, kind: &str, between: &str) -> String {
        let unknown = self.ruling.in_state(State::Unknown).next();
        let reason = unknown
            .map(|unknown| (self.policy_name(unknown.entry), self.words().because(State::Unknown, &unknown.reason)));
        match (reason, self.ruling.notes.first()) {
            (Some((policy, because)), _) => {
                format!("{kind} for {between} is undecided: {policy} could change it ({because}).")
            }
            (None, Some(note)) => {
                format!("{kind} for {between} is undecided: {}.", self.words().because(State::Unknown, note))
            }
            (None, None) => format!("{kind} for {between} is undecided."),
        }
    }

    fn summary(&self, policies: &[&Policy], fields: &[Field], outcome: Outcome, granted: Option<bool>) -> String {
        match (granted, outcome) {
            (_, Outcome::Undecided) => return "undecided".to_owned(),
            (Some(true), _) => return "allowed".to_owned(),
            (Some(false), _) => return "not allowed".to_owned(),
            (None, Outcome::Default) => return "none".to_owned(),
            (None, _) => {}
        }
        let is_route = self.asked.snapshot.text(self.kind.governs) == "TrafficRoute";
        let conf = policies.first().filter(|_| is_route).and_then(|policy| policy.payload);
        let native = conf.and_then(|conf| kuma::summary::route_summary(self.asked.snapshot.files().value(conf)?));
        native.unwrap_or_else(|| match fields {
            [] if policies.len() > 1 => format!("{} policies", policies.len()),
            [] => "1 policy".to_owned(),
            [only] => format!("{}: {}", only.name(), only.text()),
            [first, rest @ ..] => format!("{}: {} (+{} more)", first.name(), first.text(), rest.len()),
        })
    }

    fn deciding(&self) -> Option<(usize, Rung<Column>)> {
        let number = self.ruling.decided?;
        self.select.ladder().rungs().get(number).map(|rung| (number, *rung))
    }

    fn deciding_rung(&self) -> Option<DecidingRung> {
        let (number, rung) = self.deciding()?;
        Some(DecidingRung {
            number: number + 1,
            of: self.select.ladder().rungs().len(),
            name: rung_name(rung, self.asked.lookup),
            code: rung.code().text(),
            arbitrary: rung.arbitrary(),
        })
    }

    fn ranking(&self) -> String {
        let rungs = self.select.ladder().rungs();
        match (self.deciding(), self.choices.resolve) {
            (Some((number, rung)), _) => {
                let name = rung_name(rung, self.asked.lookup);
                let decided = format!("Decided on rung {} of {} ({name})", number + 1, rungs.len());
                match rungs.last() {
                    _ if rung.arbitrary() => format!("{decided}; renaming a policy would flip it."),
                    Some(last) if last.arbitrary() => {
                        format!("{decided}. {} was not needed.", capital(&rung_name(*last, self.asked.lookup)))
                    }
                    _ => format!("{decided}."),
                }
            }
            (None, _) if self.outcome() == Outcome::Undecided => {
                "Undecided: a missing fact could let another policy win.".to_owned()
            }
            (None, Resolve::All) if self.ruling.answer.kept > 0 => {
                "All that match apply; ranking only orders them.".to_owned()
            }
            (None, _) if self.ruling.answer.kept > 0 => "Only one policy matches, so no rung was needed.".to_owned(),
            (None, _) => String::new(),
        }
    }

    fn candidate(&self, candidate: &upheld_engine::Candidate<Specificity>) -> Candidate {
        let snapshot = self.asked.snapshot;
        let policy = self.policy(candidate.entry);
        let Reason { code, params } = &candidate.reason;
        let name = self.policy_name(candidate.entry);
        // Kinds that rank by something else than the match have no numbers to show here.
        let counted = self.select.ladder().rungs().iter().any(|rung| rung.column.of_match());
        let measure = candidate.measure.filter(|_| counted);
        Candidate {
            state: candidate.state,
            selector: self.select.entry(candidate.entry).and_then(|entry| entry.split),
            tags: measure.map(Specificity::tags),
            exact: measure.map(|measure| measure.exact),
            wildcards: measure.map(|measure| measure.wild),
            because: self.words().because(candidate.state, &candidate.reason),
            code: code.text(),
            parameters: parameters(*code, params, self.asked.lookup),
            at: policy.and_then(|policy| At::of(snapshot.files(), policy.at)),
            fields: (policy.and_then(|policy| policy.payload))
                .filter(|_| candidate.measure.is_some())
                .map(|payload| leaves(snapshot, payload, &name))
                .unwrap_or_default(),
            policy: name,
        }
    }

    fn notes(&self) -> Vec<Note> {
        let mut notes = Vec::new();
        if self.deciding().is_some_and(|(_, rung)| rung.arbitrary()) {
            let tied = self.ruling.in_state(State::Lost).next().map(|lost| self.policy_name(lost.entry));
            let text =
                format!("a tie: only the order of names puts it before {}", tied.as_deref().unwrap_or("the runner-up"));
            notes.push(Note { code: Fault::ArbitraryTie.code(), text });
        }
        if self.deciding().is_some_and(|(_, rung)| rung.column == Column::Tags)
            && let Some(winner) = self.ruling.in_state(State::Won).next()
        {
            let exact = |candidate: &upheld_engine::Candidate<Specificity>| candidate.measure.map_or(0, |m| m.exact);
            let beaten = self.ruling.in_state(State::Lost).find(|lost| exact(lost) > exact(winner));
            notes.extend(beaten.map(|beaten| Note {
                code: Fault::WildcardsOutrank.code(),
                text: format!(
                    "more tags win before exact values are compared: {} has {} exact values against {} and still lost",
                    self.policy_name(beaten.entry),
                    exact(beaten),
                    exact(winner)
                ),
            }));
        }
        notes
    }
}

/// A name; tags that the asker made up are too long for a sentence.
fn called<'m>(member: Option<&'m Member>, otherwise: &'m str) -> &'m str {
    member.map(|member| member.label.as_str()).filter(|label| !label.contains('=')).unwrap_or(otherwise)
}

pub(super) fn parameters(code: Code, params: &[Param; 4], lookup: &Lookup<'_>) -> Map<String, Json> {
    let value = |param: &Param| match param {
        Param::Number(number) => json!(number),
        Param::Text(symbol) => json!(lookup.text(*symbol)),
        Param::Side(side) => json!(side.word()),
        Param::Time(Some(moment)) => json!(moment.to_string()),
        // Lists of values are known to the family that was asked, which is another one here.
        Param::Nothing | Param::Time(None) | Param::Values(_) => Json::Null,
    };
    code.parameters().iter().zip(params).map(|(name, param)| ((*name).to_owned(), value(param))).collect()
}

fn capital(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map(|first| first.to_uppercase().chain(characters).collect()).unwrap_or_default()
}
