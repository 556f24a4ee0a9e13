//! What an answer says: one shape for all families, made from a ruling, seen by all renderers, and the JSON that programs get.
//!
//! ```text
//! ruling ──▶ select · merge · hierarchy · decide · relation ──▶ Report ──▶ terminal, JSON, YAML
//!            (a vocabulary for each family)      ▲
//!                                                └── sentences, phrase: every word is made here
//! ```

mod answer;
mod candidate;
pub mod compliance;
mod decide;
mod decision;
pub mod drawing;
mod fields;
mod hierarchy;
mod invariant;
mod merge;
mod mutation;
mod phrase;
mod reach;
mod refused;
mod relation;
mod request;
mod select;
mod sentences;
mod several;
mod shell;
mod shift;
mod skipped;
pub mod stamp;
mod status;
mod tested;
mod visible;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use upheld_model::{Files, Label, NodeRef, State};

pub use self::answer::Answer;
pub use self::candidate::{Candidate, DecidingRung, DefaultRow, Fact, Holds};
pub use self::decide::{
    DecisionDetail, Depth, Otherwise, PatchOperation, WouldFlip, decide, decide_about, decision_of, missing,
    report_decision,
};
pub use self::decision::{Decision, Duty, unknown_policies};
pub use self::drawing::Drawing;
pub use self::fields::{Field, Overridden, Source, is_within, leaves, one_line};
pub use self::hierarchy::{AskedPlaces, Places, broken, finished, report as report_places};
pub use self::invariant::{Breach, Proof, Proved};
pub use self::merge::{Access, AskedLayers, Vocabulary, Weighed, explain as report_layers, weigh as weigh_layers};
pub use self::mutation::{MutationReport, SuggestedTest, Survivor, UNNOTICED, mutated, untested};
pub use self::phrase::Phrase;
pub use self::reach::{Reach, ReachCounts, ReachedAction, ReachedEntity, ReachedRow};
pub use self::refused::{Refused, diagnostic_json};
pub use self::relation::{OutOfScope, RelationDetail, relation};
pub use self::request::{OTHERS, asked as request_document, of_number};
pub use self::select::{AskedPair, End, explain as report_pair};
pub use self::sentences::undecided::names_others;
pub use self::sentences::{
    Closest, Could, Doubt, Gap, Grants, Holding, Mutated, Preference, Reaching, Remark, Rivalry, Sentence, Shifting,
    counted,
};
pub use self::several::{Counted, Several};
pub use self::shell::{explain_command, quoted};
pub use self::shift::{
    Cause, Certainty, Change, ChangedDocument, Comparison, Direction, Example, FieldShift, ReplayCounts, Shift,
    ShiftCounts, ShiftedViolation, Shifts, Size, Standing, Turn,
};
pub use self::skipped::Skipped;
pub use self::stamp::Stamp;
pub use self::status::{
    AncestorStatus, Condition, FieldStatus, ListenerStatus, ObjectStatus, PolicyStatus, Reference, list as status_list,
};
pub use self::tested::{
    Coverage, CoveredClause, CoveredPolicy, Difference, INVARIANT, Summary, TestReport, TestState, Tested,
};
pub use self::visible::{Visible, steers, visible, visible_json, visible_lines};

/// What the policies of one kind come to for one thing, and why.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// How policies of this kind are resolved.
    pub family: Family,
    /// The kind of policy.
    pub kind: String,
    /// The edition of the rules.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub semantics: Option<String>,
    /// What was asked about.
    pub about: About,
    /// The sentence that answers.
    pub headline: Phrase,
    /// What it comes to.
    pub verdict: Verdict,
    /// How it came about.
    pub outcome: Outcome,
    /// The policies that the result comes from, best first.
    pub policies: Vec<String>,
    /// The result in a few words.
    pub summary: String,
    /// The result as it was written; a list when several apply.
    pub result: Json,
    /// The result field by field, with origin and what each field overrides.
    pub fields: Vec<Field>,
    /// The rung that decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rung: Option<DecidingRung>,
    /// How ranking went.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ranking: Option<Phrase>,
    /// Policies that were looked at, best first; of those that do not match, the nearest.
    pub candidates: Vec<Candidate>,
    /// How many other policies do not match; there are none where it is left out.
    #[serde(skip_serializing_if = "is_zero")]
    pub left_out: usize,
    /// What becomes of the default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<DefaultRow>,
    /// What else is worth knowing.
    pub notes: Vec<Phrase>,
    /// Commands that lead on from here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub next: Vec<String>,
    /// What only this family has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<Detail>,
}

/// The families of policies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Family {
    /// The most specific policy, or all that match.
    Select,
    /// Layers of configuration.
    Merge,
    /// Configuration attached to places of a hierarchy.
    Hierarchy,
    /// Permit or deny.
    Decide,
    /// Rules about the tags of related objects.
    Comply,
}

impl Family {
    /// All families.
    pub const ALL: [Self; 5] = [Self::Select, Self::Merge, Self::Hierarchy, Self::Decide, Self::Comply];

    /// What it is called, in reports and elsewhere.
    pub fn name(self) -> &'static str {
        match self {
            Self::Select => "select",
            Self::Merge => "merge",
            Self::Hierarchy => "hierarchy",
            Self::Decide => "decide",
            Self::Comply => "comply",
        }
    }
}

/// What was asked about.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct About {
    /// In words: `web-1 → backend-1`, `Route shop/cart rule 0`.
    pub what: String,
    /// The mesh or namespace that it lives in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// Who calls; one of two related objects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Who is called; the other object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Where in a proxy it holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// Everything with this answer: connections, or ways of requests through gateways.
    #[serde(rename = "for", skip_serializing_if = "Vec::is_empty")]
    pub holds_for: Vec<String>,
    /// The request that was decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<Json>,
}

/// What an answer comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Verdict {
    /// Policies set something.
    Set,
    /// No policy does; the default stands.
    Unset,
    /// It is permitted.
    Permit,
    /// It is denied.
    Deny,
    /// The request is for another decision point.
    Foreign,
    /// A fact is missing that could change the answer.
    Undecided,
    /// Requests are answered with an error.
    Error,
    /// Two objects comply.
    Pass,
    /// They do not, which is accepted.
    Soft,
    /// They do not, and the change that leads there is refused.
    Hard,
    /// They do not, and that is waived.
    Waived,
}

impl Verdict {
    /// As it is printed.
    pub fn word(self) -> &'static str {
        match self {
            Self::Set => "set",
            Self::Unset => "unset",
            Self::Permit => "permit",
            Self::Deny => "deny",
            Self::Foreign => "foreign",
            Self::Undecided => "undecided",
            Self::Error => "error",
            Self::Pass => "pass",
            Self::Soft => "soft",
            Self::Hard => "hard",
            Self::Waived => "waived",
        }
    }

    /// For kinds that grant: whether the caller may.
    pub fn granted(self) -> Option<bool> {
        match self {
            Self::Permit => Some(true),
            Self::Deny => Some(false),
            _ => None,
        }
    }
}

/// How an answer came about.
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

/// What only one family has.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Detail {
    /// Of a decision.
    Decision(Box<DecisionDetail>),
    /// Of two related objects.
    Relation(Box<RelationDetail>),
}

impl Report {
    /// With some of the policies that do not match; the others are counted.
    #[must_use]
    pub fn with_skipped(mut self, skipped: &Skipped) -> Self {
        let (before, mut listed) = (self.candidates.len(), 0);
        self.candidates.retain(|candidate| {
            let is_listed = candidate.matched() || skipped.lists(candidate, listed);
            listed += usize::from(!candidate.matched());
            is_listed
        });
        self.left_out += before - self.candidates.len();
        self
    }

    /// Who stands, by a word: policies, or what the default is called.
    pub fn standing(&self) -> Vec<&str> {
        match (self.outcome, self.policies.as_slice()) {
            (Outcome::Undecided, _) => vec!["(undecided)"],
            (_, []) => vec![self.default.as_ref().map_or("(none)", |default| &default.name)],
            (_, policies) => policies.iter().map(String::as_str).collect(),
        }
    }

    /// Whether only the order of names decided.
    pub fn is_tie(&self) -> bool {
        let by_field = self.family == Family::Hierarchy
            && self.notes.iter().any(|note| note.code == upheld_model::Fault::ArbitraryTie.code());
        by_field || self.rung.as_ref().is_some_and(|rung| rung.arbitrary)
    }

    /// Every place that it names.
    pub fn places(&self) -> impl Iterator<Item = &At> {
        let sources = self.fields.iter().flat_map(|field| &field.from).filter_map(|source| source.at.as_ref());
        let over = self.fields.iter().flat_map(|field| &field.over).filter_map(|over| over.at.as_ref());
        let candidates = self.candidates.iter().filter_map(|candidate| candidate.at.as_ref());
        sources.chain(over).chain(candidates)
    }

    /// Whether policies refuse, and nothing checks it.
    pub fn is_unenforced(&self) -> bool {
        self.headline.parameters.get("grants").is_some_and(|grants| grants == "notEnforced")
    }

    /// Whether some policy says something here.
    pub fn speaks(&self) -> bool {
        !self.policies.is_empty() || self.outcome == Outcome::Undecided
    }

    /// What is special about a decision.
    pub fn decision(&self) -> Option<&DecisionDetail> {
        match &self.detail {
            Some(Detail::Decision(detail)) => Some(detail),
            _ => None,
        }
    }

    /// What is special about two related objects.
    pub fn relation(&self) -> Option<&RelationDetail> {
        match &self.detail {
            Some(Detail::Relation(detail)) => Some(detail),
            _ => None,
        }
    }

    /// Whether the default stands.
    pub fn is_by_default(&self) -> bool {
        self.default.as_ref().is_some_and(|default| default.state == State::Won)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde wants")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// Names, each once, in the order in which they come.
pub fn each_once<T: PartialEq>(names: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut all: Vec<T> = Vec::new();
    for name in names {
        if !all.contains(&name) {
            all.push(name);
        }
    }
    all
}

/// A result in a few words: its first field, and how many more there are.
pub fn brief(fields: &[Field]) -> String {
    match fields {
        [] => "none".to_owned(),
        [only] => format!("{}: {}", only.name(), only.text()),
        [first, rest @ ..] => format!("{}: {} (+{} more)", first.name(), first.text(), rest.len()),
    }
}

/// A place in a file.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct At {
    file: String,
    line: usize,
    column: usize,
}

impl At {
    /// The place of a value.
    pub fn of(files: &Files, node: NodeRef) -> Option<Self> {
        let place = files.locate(node)?;
        Some(Self { file: place.file.to_owned(), line: place.line, column: place.column })
    }

    /// The place of what a diagnostic is about.
    pub fn of_label(files: &Files, label: &Label) -> Option<Self> {
        let place = files.locate_span(label.source, label.span)?;
        Some(Self { file: place.file.to_owned(), line: place.line, column: place.column })
    }

    /// File and line.
    pub(crate) fn line_of(&self) -> (&str, usize) {
        (&self.file, self.line)
    }

    /// The name of the file.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The line, from one.
    pub fn line(&self) -> usize {
        self.line
    }

    /// The column in characters, from one.
    pub fn column(&self) -> usize {
        self.column
    }
}

impl std::fmt::Display for At {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}
