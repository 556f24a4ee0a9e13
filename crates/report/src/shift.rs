//! What changes between two sets of documents: every result that is otherwise, grouped by what makes it so.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use crate::{At, Family, Phrase, Report, Shifting, Verdict};

/// All that is otherwise.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Shifts {
    /// The sentence that answers.
    pub headline: Phrase,
    /// What it comes to: nothing changes, something does, or nobody can tell.
    pub verdict: Comparison,
    /// The documents that are not the same.
    pub changed: Vec<ChangedDocument>,
    /// How many results were compared, and how many are otherwise.
    pub counts: ShiftCounts,
    /// What is otherwise: what lets more through first.
    pub shifts: Vec<Shift>,
    /// Violations that begin and end.
    pub violations: Vec<ShiftedViolation>,
    /// How far the answer reaches, and what was not compared.
    pub notes: Vec<Phrase>,
    /// After how many questions about places the answer ends, where it does before the last: it can be asked for from there on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<usize>,
    /// Whose results are otherwise, where that was counted; nothing for what nobody owns.
    #[serde(skip)]
    pub owners: BTreeMap<Option<String>, u64>,
}

/// What a comparison comes to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Comparison {
    /// No result changes.
    #[default]
    Equal,
    /// Some do.
    Differs,
    /// None was found that does, but not all could be compared.
    Undecided,
}

/// How many results there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ShiftCounts {
    /// Results that there are before and after.
    pub compared: u64,
    /// Those that are otherwise.
    pub changed: u64,
    /// Results of things that were not there before.
    pub began: u64,
    /// Results of things that are not there any more.
    pub ended: u64,
    /// Kinds of requests that are decided otherwise, among all that are possible.
    pub requests: u64,
    /// Shifts that let more through.
    pub widened: u64,
    /// Places that the changed documents cannot reach, and that were not asked about.
    #[serde(default, skip_serializing_if = "is_none")]
    pub beyond: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "that is how it is called")]
fn is_none(count: &u64) -> bool {
    *count == 0
}

impl std::ops::AddAssign for ShiftCounts {
    fn add_assign(&mut self, more: Self) {
        self.compared += more.compared;
        self.changed += more.changed;
        self.began += more.began;
        self.ended += more.ended;
        self.requests += more.requests;
        self.widened += more.widened;
        self.beyond += more.beyond;
    }
}

/// What became of the lines of a log whose requests are decided again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReplayCounts {
    /// Lines with something in them.
    pub lines: u64,
    /// Requests that were decided twice.
    pub compared: u64,
    /// Those that are decided otherwise.
    pub changed: u64,
    /// Those that the default effect decides now, and no policy.
    pub by_default: u64,
    /// Those whose decision now rests on something that the line hides.
    pub hidden: u64,
    /// Those of which nobody says what was decided.
    pub unknown: u64,
    /// Lines that cannot be read.
    pub bad: u64,
}

/// A document that is not the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ChangedDocument {
    /// What happened to it.
    pub change: Change,
    /// Its type.
    pub kind: String,
    /// The mesh or namespace that it is in.
    pub scope: String,
    /// Its name.
    pub name: String,
    /// Where it is written; where it was, if it is gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<At>,
}

impl ChangedDocument {
    /// `KIND/SCOPE/NAME`.
    pub fn id(&self) -> String {
        format!("{}/{}/{}", self.kind, self.scope, self.name)
    }
}

/// What happened to a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Change {
    /// It was not there before.
    Added,
    /// It says something else.
    Edited,
    /// It is not there any more.
    Removed,
}

impl Change {
    /// In a word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Edited => "edited",
            Self::Removed => "removed",
        }
    }
}

/// Questions whose answers are otherwise, in the same way and for the same reason.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Shift {
    /// The family of the kind.
    pub family: Family,
    /// The kind of policy.
    pub kind: String,
    /// The mesh or namespace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// Whether more is let through than before.
    pub direction: Direction,
    /// The changed documents that make it so.
    pub causes: Vec<Cause>,
    /// What was.
    pub before: Standing,
    /// What is.
    pub after: Standing,
    /// The fields that are otherwise.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<FieldShift>,
    /// How many questions.
    pub size: Size,
    /// One of them.
    pub example: Example,
    /// Whether it is known that it happens.
    #[serde(flatten)]
    pub certainty: Certainty,
}

/// Whether more is let through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Direction {
    /// What was denied, or could not be decided, is permitted.
    Widened,
    /// What was permitted is not any more.
    Narrowed,
    /// Neither.
    Neither,
}

impl Direction {
    /// From one verdict to another.
    pub fn between(before: Verdict, after: Verdict) -> Self {
        match (before, after) {
            (Verdict::Deny | Verdict::Undecided | Verdict::Error | Verdict::Unset, Verdict::Permit) => Self::Widened,
            (Verdict::Permit, Verdict::Deny | Verdict::Undecided | Verdict::Error | Verdict::Unset) => Self::Narrowed,
            _ => Self::Neither,
        }
    }
}

/// A changed document that makes answers otherwise.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Cause {
    /// What happened to it.
    pub change: Change,
    /// Its name; what a setting is called that stands in no document.
    pub name: String,
    /// Its type.
    pub kind: String,
    /// What it is about, in a few words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub says: Option<String>,
    /// Where.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<At>,
}

impl Cause {
    /// `retry-all (edited)`.
    pub fn title(&self) -> String {
        format!("{} ({})", self.name, self.change.word())
    }
}

/// Who decides, and what comes of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Standing {
    /// What it comes to.
    pub verdict: Verdict,
    /// The policies that the result comes from, or what the default is called.
    pub policies: Vec<String>,
    /// The result in a few words.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub summary: String,
    /// Whether only the order of names, or age, decides.
    pub arbitrary: bool,
}

impl Standing {
    /// What a report says.
    pub fn of(report: &Report) -> Self {
        Self {
            verdict: report.verdict,
            policies: report.standing().into_iter().map(str::to_owned).collect(),
            summary: report.summary.clone(),
            arbitrary: report.is_tie(),
        }
    }
}

/// A field that is otherwise.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FieldShift {
    /// Its path.
    pub field: String,
    /// Its value before, in one line; nothing if it was not set.
    pub before: Option<String>,
    /// Its value after.
    pub after: Option<String>,
}

/// How many questions there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Size {
    /// So many connections of those that there are.
    Connections(u64),
    /// So many places at gateways, routes and backends.
    Places(u64),
    /// So many kinds of requests, each of which may be any number of requests.
    Requests(u64),
    /// So many requests that somebody made.
    KnownRequests(u64),
}

impl Size {
    /// The number.
    pub fn count(self) -> u64 {
        match self {
            Self::Connections(count) | Self::Places(count) | Self::Requests(count) | Self::KnownRequests(count) => {
                count
            }
        }
    }

    /// Together with as many more of the same sort.
    #[must_use]
    pub fn plus(self, more: u64) -> Self {
        match self {
            Self::Connections(count) => Self::Connections(count + more),
            Self::Places(count) => Self::Places(count + more),
            Self::Requests(count) => Self::Requests(count + more),
            Self::KnownRequests(count) => Self::KnownRequests(count + more),
        }
    }

    /// In words.
    pub fn text(self) -> String {
        let (count, one, many) = match self {
            Self::Connections(count) => (count, "connection", "connections"),
            Self::Places(count) => (count, "place", "places"),
            Self::Requests(count) => (count, "kind of request", "kinds of requests"),
            Self::KnownRequests(count) => (count, "known request", "known requests"),
        };
        format!("{count} {}", if count == 1 { one } else { many })
    }
}

/// A question whose answer is otherwise.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Example {
    /// In words: `web-1 → backend-1`, `role=user GET /admin/health`.
    pub what: String,
    /// The command that asks it.
    pub command: String,
    /// The same as words of `/v1/explain`.
    pub question: Json,
}

/// Whether a shift is known to happen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", tag = "certainty")]
pub enum Certainty {
    /// The example was asked on both sides.
    Sure,
    /// It happens only if something can be otherwise that was not looked into.
    #[serde(rename_all = "camelCase")]
    May {
        /// What was not looked into.
        unless: Vec<String>,
    },
}

/// A violation that begins or ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ShiftedViolation {
    /// Whether it is there now and was not, or the other way round.
    pub turn: Turn,
    /// Its policy.
    pub policy: String,
    /// `hard`, `soft` or `waived`: how it stands, or stood before it ended.
    pub state: &'static str,
    /// All of it in one line.
    pub message: String,
    /// The workspace that it is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
}

/// Whether something begins or ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Turn {
    /// It is there now.
    Begins,
    /// It is not there any more.
    Ends,
}

impl Shifts {
    /// Whether something must stay as it is and does not, or nobody can tell.
    pub fn breaks_invariants(&self) -> bool {
        self.notes.iter().any(|note| note.code == crate::sentences::INVARIANT_NOTE)
    }

    /// Together with what else is otherwise.
    #[must_use]
    pub fn with(mut self, more: Self) -> Self {
        self.verdict = match (self.verdict, more.verdict) {
            (Comparison::Differs, _) | (_, Comparison::Differs) => Comparison::Differs,
            (Comparison::Undecided, _) | (_, Comparison::Undecided) => Comparison::Undecided,
            (Comparison::Equal, Comparison::Equal) => Comparison::Equal,
        };
        self.counts += more.counts;
        self.changed.extend(more.changed);
        self.shifts.extend(more.shifts);
        self.violations.extend(more.violations);
        self.notes.extend(more.notes);
        self.next = self.next.or(more.next);
        for (owner, results) in more.owners {
            *self.owners.entry(owner).or_default() += results;
        }
        self
    }

    /// In the order in which everything is printed, with its sentence.
    #[must_use]
    pub fn finished(mut self) -> Self {
        self.shifts.sort_by(order);
        let is_sure = |shift: &&Shift| shift.certainty == Certainty::Sure;
        self.counts.widened = self.shifts.iter().filter(|shift| shift.direction == Direction::Widened).count() as u64;
        let requests = self.shifts.iter().filter_map(|shift| match shift.size {
            Size::Requests(count) => Some(count),
            _ => None,
        });
        self.counts.requests = requests.sum();
        let happens = self.shifts.iter().any(|shift| is_sure(&shift)) || !self.violations.is_empty();
        let happens = happens || self.counts.began + self.counts.ended > 0;
        self.verdict = match (happens, self.verdict) {
            (true, _) => Comparison::Differs,
            (false, Comparison::Undecided) => Comparison::Undecided,
            // What may happen is not known to be equal.
            (false, _) if !self.shifts.is_empty() => Comparison::Undecided,
            (false, _) => Comparison::Equal,
        };
        self.headline = Shifting::Compared {
            documents: self.changed.len(),
            verdict: self.verdict,
            counts: self.counts,
            begin: self.turned(Turn::Begins),
            end: self.turned(Turn::Ends),
        }
        .into();
        self
    }

    /// How many violations begin or end.
    pub fn turned(&self, turn: Turn) -> usize {
        self.violations.iter().filter(|violation| violation.turn == turn).count()
    }

    /// As programs get it.
    pub fn document(&self, before: &str, after: &str) -> Json {
        let mut document = json!(self);
        if let Some(fields) = document.as_object_mut() {
            fields.insert("apiVersion".to_owned(), json!("upheld/v2"));
            fields.insert("kind".to_owned(), json!("Shifts"));
            fields.insert("snapshots".to_owned(), json!({"before": before, "after": after}));
        }
        document
    }
}

/// What lets more through first, then what lets less through, then the largest.
fn order(one: &Shift, other: &Shift) -> Ordering {
    let decides = |shift: &Shift| shift.family != Family::Decide;
    let key = |shift: &Shift| (shift.direction, decides(shift), shift.causes.clone());
    let larger = || other.size.count().cmp(&one.size.count());
    let by_name = || {
        let name = |shift: &Shift| (shift.kind.clone(), shift.scope.clone(), shift.before.clone(), shift.after.clone());
        name(one).cmp(&name(other)).then_with(|| one.fields.cmp(&other.fields))
    };
    key(one).cmp(&key(other)).then_with(larger).then_with(by_name)
}
