//! The family select: from a ruling about one pair of ends to a report.

use std::collections::HashSet;

use serde_json::Value as Json;
use upheld_engine::words::{EndNames, Words, rung_name};
use upheld_engine::{
    Candidate as Ruled, Column, EntryId, Granted, Grants, KindId, PolicyKind, Question, Resolve, Ruling, Rung, Select,
    SelectKind, Snapshot, Specificity,
};
use upheld_model::tree::Value;
use upheld_model::{Lookup, Policy, Reason, Side, State, Sym, TagSet};

use super::sentences::{Closest, Grants as Granting};
use super::{
    About, At, Candidate, DecidingRung, DefaultRow, Depth, Fact, Family, Field, Outcome, Phrase, Remark, Report,
    Sentence, Skipped, Verdict, brief, leaves,
};
use crate::stamp::edition;

/// One end of a pair.
#[derive(Clone, Copy, Debug)]
pub struct End<'a> {
    /// What answers call it.
    pub label: &'a str,
    /// The tags of each of its parts.
    pub parts: &'a [TagSet],
}

/// What is asked of one kind.
#[derive(Clone, Copy, Debug)]
pub struct AskedPair<'a> {
    /// Where policies are looked up.
    pub snapshot: &'a Snapshot,
    /// Texts of names and values.
    pub lookup: &'a Lookup<'a>,
    /// The kind of policy.
    pub kind: KindId,
    /// Whose policies: those of one mesh.
    pub scope: Sym,
    /// Who calls.
    pub source: Option<End<'a>>,
    /// Who is called.
    pub destination: Option<End<'a>>,
    /// Whether policies that do not match are of interest, too.
    pub depth: Depth,
    /// Which of them are listed.
    pub skipped: &'a Skipped,
    /// Configurations of this kind in a few words, where there are better ones than its fields.
    pub summary: Option<fn(Value<'_>) -> Option<String>>,
}

/// Asks and explains. `None` only for a kind of another snapshot.
pub fn explain(asked: &AskedPair<'_>) -> Option<Report> {
    let kind = asked.snapshot.kind(asked.kind)?;
    let choices = kind.select()?;
    let empty;
    let select = match asked.snapshot.select(asked.kind, asked.scope) {
        Some(select) => select,
        None => {
            empty = Select::compile(choices, &[], asked.snapshot.symbols()).ok()?;
            &empty
        }
    };
    let question =
        Question { source: asked.source.map(|end| end.parts), destination: asked.destination.map(|end| end.parts) };
    let listed = if asked.depth >= Depth::Explained { asked.skipped } else { &Skipped::NONE };
    let symbols = asked.snapshot.symbols();
    let named = listed.named().and_then(|name| symbols.get(name)).into_iter();
    let named = named.flat_map(|name| select.entries_of(name, symbols));
    let ruling = ruled(select, &question, (asked.depth, listed.most())).with_others(select, &question, named);
    Some(Reporter { asked, kind, choices, select, ruling: &ruling }.report().with_skipped(listed))
}

/// What becomes of a question, with so many of the policies that do not match; the index is enough where none is wanted.
fn ruled(select: &Select, question: &Question<'_>, (depth, most): (Depth, usize)) -> Ruling<Select> {
    let matched = (most == 0).then(|| Ruling::matched(select, question));
    // Where nothing matches, the answer names what comes closest.
    match matched.filter(|ruling| depth <= Depth::Answer || ruling.answer.winner.is_some()) {
        Some(ruling) => {
            let matching: HashSet<EntryId> = ruling.candidates.iter().map(|candidate| candidate.entry).collect();
            ruling.without_others(select.len() - matching.len())
        }
        None => Ruling::nearest(select, question, most.max(1), |_, _, distance| distance),
    }
}

struct Reporter<'a> {
    asked: &'a AskedPair<'a>,
    kind: &'a PolicyKind,
    choices: &'a SelectKind,
    select: &'a Select,
    ruling: &'a Ruling<Select>,
}

impl Reporter<'_> {
    fn report(&self) -> Report {
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
        let verdict = self.verdict(outcome);
        Report {
            family: Family::Select,
            kind: snapshot.text(self.kind.name).to_owned(),
            semantics: edition(snapshot, self.kind).map(str::to_owned),
            about: About {
                what: self.between(),
                scope: Some(self.asked.lookup.text(self.asked.scope).to_owned()),
                from: self.end(Side::Source).map(str::to_owned),
                to: self.end(Side::Destination).map(str::to_owned),
                ..About::default()
            },
            headline: self.headline(&policies, outcome, verdict).into(),
            verdict,
            outcome,
            summary: self.own_summary(&payloads, verdict).unwrap_or_else(|| summary(&fields, policies.len(), verdict)),
            policies,
            result,
            fields,
            rung: self.deciding_rung(),
            ranking: self.ranking(outcome).map(Phrase::from),
            candidates: self.ruling.candidates.iter().map(|candidate| self.candidate(candidate)).collect(),
            left_out: self.ruling.left_out,
            default: Some(self.default_row()),
            notes: self.notes().into_iter().map(Phrase::from).collect(),
            next: Vec::new(),
            detail: None,
        }
    }

    fn words(&self) -> Words<'_> {
        Words {
            lookup: self.asked.lookup,
            ends: EndNames {
                source: called(self.asked.source, "the source"),
                destination: called(self.asked.destination, "the destination"),
            },
        }
    }

    fn default_row(&self) -> DefaultRow {
        let (snapshot, default) = (self.asked.snapshot, &self.ruling.default);
        let reason = self.because(default.state, &default.reason);
        DefaultRow::of_kind(snapshot, self.kind, default.state, reason)
    }

    fn because(&self, state: State, reason: &Reason) -> Phrase {
        Phrase::because(&self.words(), state, reason)
    }

    fn standing(&self) -> Vec<EntryId> {
        let stands = |candidate: &&Ruled<Specificity>| matches!(candidate.state, State::Won | State::Kept);
        self.ruling.candidates.iter().filter(stands).map(|candidate| candidate.entry).collect()
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
        let end = match side {
            Side::Source => self.asked.source,
            Side::Destination => self.asked.destination,
        };
        end.filter(|_| looks).map(|end| end.label)
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

    /// Whether the caller may, for kinds that say so and questions that name both ends; else whether something is set.
    fn verdict(&self, outcome: Outcome) -> Verdict {
        let answer = &self.ruling.answer;
        let both = self.asked.source.is_some() && self.asked.destination.is_some();
        let granted = match self.choices.grants.filter(|_| both) {
            Some(Grants::Match) => Some(answer.kept > 0),
            Some(Grants::Field(_)) => Some(answer.granted == Granted::Yes),
            None => None,
        };
        match (outcome, granted) {
            (Outcome::Undecided, _) => Verdict::Undecided,
            (_, Some(true)) => Verdict::Permit,
            (_, Some(false)) => Verdict::Deny,
            (Outcome::Default, None) => Verdict::Unset,
            (_, None) => Verdict::Set,
        }
    }

    fn headline(&self, policies: &[String], outcome: Outcome, verdict: Verdict) -> Sentence {
        let kind = self.asked.snapshot.text(self.kind.name).to_owned();
        let about = self.between();
        match outcome {
            Outcome::Undecided => {
                let unknown = self.ruling.in_state(State::Unknown).next();
                let note = self.ruling.notes.first();
                let because = unknown.map(|unknown| &unknown.reason).or(note);
                Sentence::Undecided {
                    kind,
                    about,
                    policy: unknown.map(|unknown| self.policy_name(unknown.entry)),
                    because: because.map(|reason| self.because(State::Unknown, reason)),
                }
            }
            Outcome::Default => {
                let means = self.asked.snapshot.text(self.kind.default_means);
                let closest = self.ruling.candidates.first().map(|closest| Closest {
                    policy: self.policy_name(closest.entry),
                    because: self.because(closest.state, &closest.reason),
                });
                let means = (means != "no policy of this kind matches").then(|| means.to_owned());
                let policies = self.select.len();
                Sentence::NoneMatches { kind, about, means, policies, closest, grants: Granting::NotAsked }
            }
            Outcome::Aggregated | Outcome::Merged => {
                let grants = if verdict == Verdict::Permit { Granting::Allowed } else { Granting::NotAsked };
                Sentence::AllApply { kind, about, policies: policies.to_vec(), grants }
            }
            Outcome::Decided => {
                let won = self.ruling.in_state(State::Won).next();
                let because = won.map(|won| Phrase::won_by(&self.words(), &won.reason));
                let grants = match (verdict, self.ruling.notes.first()) {
                    (Verdict::Permit, _) => Granting::Granted,
                    (Verdict::Deny, Some(note)) => Granting::NotGranted(self.because(State::Skip, note)),
                    _ => Granting::NotAsked,
                };
                let policy = policies.first().cloned().unwrap_or_default();
                Sentence::Chosen { kind, about, policy, because: because.unwrap_or_default(), grants }
            }
        }
    }

    fn own_summary(&self, policies: &[&Policy], verdict: Verdict) -> Option<String> {
        let payload = policies.first().filter(|_| verdict == Verdict::Set)?.payload?;
        self.asked.summary?(self.asked.snapshot.files().value(payload)?)
    }

    fn deciding(&self) -> Option<Rung<Column>> {
        self.select.ladder().rungs().get(self.ruling.decided?).copied()
    }

    fn deciding_rung(&self) -> Option<DecidingRung> {
        let rungs = self.select.ladder().rungs();
        DecidingRung::of(rungs, self.ruling.decided?, |rung| rung_name(rung, self.asked.lookup))
    }

    fn ranking(&self, outcome: Outcome) -> Option<Sentence> {
        let rungs = self.select.ladder().rungs();
        let last = rungs.last().filter(|last| last.arbitrary()).map(|last| rung_name(*last, self.asked.lookup));
        match (self.deciding_rung(), self.choices.resolve) {
            (Some(DecidingRung { number, of, name, arbitrary, .. }), _) => {
                Some(Sentence::Rung { number, of, name, arbitrary, not_needed: last.filter(|_| !arbitrary) })
            }
            (None, _) if outcome == Outcome::Undecided => Some(Sentence::RankingUndecided),
            (None, Resolve::All) if self.ruling.answer.kept > 0 => Some(Sentence::RankingAllApply),
            (None, _) if self.ruling.answer.kept > 0 => Some(Sentence::RankingOnlyOne),
            (None, _) => None,
        }
    }

    fn candidate(&self, candidate: &Ruled<Specificity>) -> Candidate {
        let snapshot = self.asked.snapshot;
        let policy = self.policy(candidate.entry);
        let name = self.policy_name(candidate.entry);
        // Kinds that rank by something else than the match have no numbers to show here.
        let counted = self.select.ladder().rungs().iter().any(|rung| rung.column.of_match());
        let measure = candidate.measure.filter(|_| counted);
        let facts = measure.map(|measure| {
            vec![
                Fact::plain("tags", measure.tags()),
                Fact::plain("exact", measure.exact),
                Fact::plain("wildcards", measure.wild),
            ]
        });
        Candidate {
            state: candidate.state,
            scope: policy.map(|policy| snapshot.text(policy.scope).to_owned()),
            item: self.select.entry(candidate.entry).and_then(|entry| entry.split),
            facts: facts.unwrap_or_default(),
            distance: None,
            reason: self.because(candidate.state, &candidate.reason),
            at: policy.and_then(|policy| At::of(snapshot.files(), policy.at)),
            fields: (policy.and_then(|policy| policy.payload))
                .filter(|_| candidate.measure.is_some())
                .map(|payload| leaves(snapshot, payload, &name))
                .unwrap_or_default(),
            policy: name,
        }
    }

    /// What lost to another policy, best first; pieces of the winner are no rivals.
    fn beaten(&self) -> impl Iterator<Item = &Ruled<Specificity>> {
        let policy = |entry: EntryId| self.select.entry(entry).map(|entry| entry.policy);
        let winner = self.ruling.answer.winner.and_then(policy);
        self.ruling.in_state(State::Lost).filter(move |lost| policy(lost.entry) != winner)
    }

    fn notes(&self) -> Vec<Remark> {
        let mut notes = Vec::new();
        if self.deciding().is_some_and(Rung::arbitrary) {
            let tied = self.beaten().next().map(|lost| self.policy_name(lost.entry));
            notes.extend(tied.map(|before| Remark::Tie { before }));
        }
        if self.deciding().is_some_and(|rung| rung.column == Column::Tags)
            && let Some(winner) = self.ruling.in_state(State::Won).next()
        {
            let exact =
                |candidate: &Ruled<Specificity>| candidate.measure.map_or(0, |measure| usize::from(measure.exact));
            let beaten = self.beaten().find(|lost| exact(lost) > exact(winner));
            notes.extend(beaten.map(|beaten| Remark::WildcardsWin {
                policy: self.policy_name(beaten.entry),
                exact: exact(beaten),
                against: exact(winner),
            }));
        }
        notes
    }
}

fn summary(fields: &[Field], policies: usize, verdict: Verdict) -> String {
    match verdict {
        Verdict::Undecided => "undecided".to_owned(),
        Verdict::Permit => "allowed".to_owned(),
        Verdict::Deny => "not allowed".to_owned(),
        Verdict::Unset => "none".to_owned(),
        _ if !fields.is_empty() => brief(fields),
        _ => super::counted(policies, "policy", "policies"),
    }
}

/// A name; tags that the asker made up are too long for a sentence.
fn called<'m>(end: Option<End<'m>>, otherwise: &'m str) -> &'m str {
    end.map(|end| end.label).filter(|label| !label.contains('=')).unwrap_or(otherwise)
}
