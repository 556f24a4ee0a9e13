//! What becomes of every value that policies write, at every place and for every connection that there is: which never count, which are
//! lost because something takes the place of a whole, and what only a name or an age decides.
//!
//! ```text
//! places, classes of connections ──ask──▶ reports ──▶ values by where they are written ──▶ findings
//! ```
//!
//! All of it is read off the reports that `explain` prints; nothing is evaluated here.

mod told;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;
use upheld_dialects::dialect::{Finding, Listing};
use upheld_dialects::dialects;
use upheld_engine::{KindId, PolicyKind};
use upheld_model::{Code, Diagnostic, Fault, Sym};
use upheld_report::{At, Depth, Family, Field, Overridden, Report};

use super::values::{is_set, leaves};
use crate::all_pairs::tally;
use crate::{Options, Words, World};

/// So many questions of one kind or system are asked; beyond that, nothing is said about its values.
const MOST: usize = 10_000;

/// What is to be said of the values of all policies that are merged.
pub(super) fn findings(world: &World<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    let snapshot = world.snapshot();
    let layered = snapshot.kinds().iter().filter(|(_, kind)| kind.merge().is_some() && has_policies(world, kind));
    for (kind, known) in layered {
        let mut values = Values::default();
        let (mut asked, mut whole) = (0, true);
        for mesh in dialects().flat_map(|dialect| dialect.scopes(snapshot)) {
            whole &= values.connections(world, kind, mesh, &mut asked);
        }
        found.extend(if whole { values.findings(world) } else { vec![too_many(snapshot.text(known.name))] });
    }
    for dialect in dialects() {
        let (questions, listing) = dialect.questions(snapshot, MOST);
        // Decisions have no values that others could override.
        if questions.iter().find_map(|words| decides(world, words)) == Some(true) {
            continue;
        }
        if listing == Listing::Cut {
            found.push(too_many(dialect.name()));
            continue;
        }
        let mut values = Values::default();
        for words in &questions {
            values.ask(world, words, 1);
        }
        found.extend(values.findings(world));
    }
    found
}

fn has_policies(world: &World<'_>, kind: &PolicyKind) -> bool {
    world.snapshot().policies().iter().any(|(_, policy)| policy.kind == kind.governs)
}

/// Whether the answer to a question is a decision, if there is one.
fn decides(world: &World<'_>, words: &Words) -> Option<bool> {
    let answer = world.question(words).and_then(|question| world.answer_to(&question, Depth::Answer)).ok()?;
    Some(answer.reports.first()?.family == Family::Decide)
}

fn too_many(what: &str) -> Finding {
    let message =
        format!("{what} has more than {MOST} sorts of questions: which of its values count was not looked at");
    Finding::from(Diagnostic::note(Fault::Limit, message)).about(what)
}

/// Where a value is written: file, line, column, and the field that it is.
type Written = (String, usize, usize, String);

/// What became of values.
#[derive(Default)]
struct Values {
    all: BTreeMap<Written, Value>,
    ties: BTreeMap<(String, String, &'static str), Tie>,
}

/// What became of one value.
struct Value {
    family: Family,
    kind: String,
    policy: String,
    at: At,
    /// For how many questions it was written.
    reached: u64,
    /// For how many of them it holds.
    holds: u64,
    /// Who goes before, each with what is lost of it.
    losses: BTreeMap<String, Loss>,
    example: String,
}

/// What is lost of a value to one policy.
#[derive(Default)]
struct Loss {
    questions: u64,
    at: Option<At>,
    /// What the other one says nothing about, and is lost with the whole all the same.
    unsaid: BTreeSet<String>,
    /// Lists of the other one that do not have all of the items.
    lists: BTreeSet<String>,
    /// Whether all of a policy was lost at once.
    all_of_it: bool,
    example: String,
}

/// Two policies that only an arbitrary rung tells apart.
struct Tie {
    kind: String,
    winner: (String, Option<At>),
    loser: (String, Option<At>),
    fields: BTreeSet<String>,
    /// Whether they say the same.
    agree: bool,
    code: Code,
    questions: u64,
    example: String,
}

impl Values {
    /// Asks about all connections of a mesh, once for each cell; whether that were not too many.
    fn connections(&mut self, world: &World<'_>, kind: KindId, mesh: Sym, asked: &mut usize) -> bool {
        let snapshot = world.snapshot();
        let pairs = tally(snapshot, kind, mesh, &());
        *asked += pairs.layered_cell_count();
        if *asked > MOST {
            return false;
        }
        let options = Options { mesh: Some(snapshot.text(mesh).to_owned()), ..world.options().clone() };
        let here = World::new(snapshot, &options);
        let kind = snapshot.kind(kind).map(|kind| snapshot.text(kind.name).to_owned());
        for (from, to, count) in pairs.layered_cells() {
            let (from, to) = (Some(snapshot.text(from).to_owned()), Some(to.to_owned()));
            let words = Words { kind: kind.clone(), from, to, ..Words::default() };
            self.ask(&here, &words, count);
        }
        true
    }

    /// Asks a question that stands for so many.
    fn ask(&mut self, world: &World<'_>, words: &Words, count: u64) {
        // Who does not match writes no value here.
        let answer = world.question(words).and_then(|question| world.answer_to(&question, Depth::Answer));
        for report in answer.iter().flat_map(|answer| &answer.reports) {
            self.add(report, count);
        }
    }

    fn add(&mut self, report: &Report, count: u64) {
        let example = report.about.holds_for.first().unwrap_or(&report.about.what);
        for field in &report.fields {
            for source in &field.from {
                if let Some(value) = self.value(report, field, &source.policy, source.at.as_ref()) {
                    value.reached += count;
                    value.holds += count;
                }
            }
            for over in &field.over {
                if let Some(value) = self.value(report, field, &over.policy, over.at.as_ref()) {
                    value.reached += count;
                    value.lost(report, field, over, count, example);
                }
                self.tied(report, field, over, count, example);
            }
        }
    }

    fn value(&mut self, report: &Report, field: &Field, policy: &str, at: Option<&At>) -> Option<&mut Value> {
        let at = at?;
        let written = (at.file().to_owned(), at.line(), at.column(), field.path.clone());
        let example = report.about.holds_for.first().unwrap_or(&report.about.what);
        Some(self.all.entry(written).or_insert_with(|| Value {
            family: report.family,
            kind: report.kind.clone(),
            policy: policy.to_owned(),
            at: at.clone(),
            reached: 0,
            holds: 0,
            losses: BTreeMap::new(),
            example: example.clone(),
        }))
    }

    /// Two values of which only the names or the age of their policies say which counts.
    fn tied(&mut self, report: &Report, field: &Field, over: &Overridden, count: u64, example: &str) {
        let arbitrary =
            [Code::MergeOlder, Code::MergeNewer, Code::MergeNameOrder, Code::MergeIdentity, Code::MergeLastIdentity];
        let Some(code) = arbitrary.into_iter().find(|code| code.text() == over.reason.code) else { return };
        let Some(winner) = field.from.iter().find(|source| Some(&source.policy) == over.taken_by.as_ref()) else {
            return;
        };
        let key = (winner.policy.clone(), over.policy.clone(), code.text());
        let tie = self.ties.entry(key).or_insert_with(|| Tie {
            kind: report.kind.clone(),
            winner: (winner.policy.clone(), winner.at.clone()),
            loser: (over.policy.clone(), over.at.clone()),
            fields: BTreeSet::new(),
            agree: true,
            code,
            questions: 0,
            example: example.to_owned(),
        });
        // A question counts once, whatever number of its fields they share.
        if tie.fields.is_empty() || tie.fields.contains(&field.path) {
            tie.questions += count;
        }
        tie.fields.insert(field.path.clone());
        tie.agree &= field.value.as_ref() == Some(&over.value);
    }
}

impl Value {
    fn lost(&mut self, report: &Report, field: &Field, over: &Overridden, count: u64, example: &str) {
        let Some(winner) = &over.taken_by else { return };
        let at = field.from.iter().find(|source| source.policy == *winner).and_then(|source| source.at.clone());
        let all_of_it = field.value.is_none();
        let loss = self.losses.entry(winner.clone()).or_default();
        loss.questions += count;
        loss.at = loss.at.take().or(at);
        loss.all_of_it |= all_of_it;
        if loss.example.is_empty() {
            example.clone_into(&mut loss.example);
        }
        // What nothing stands in the place of was lost with its whole policy.
        let stands = field.value.as_ref().unwrap_or(&report.result);
        if !over.value.is_object() && !over.value.is_array() {
            return;
        }
        let theirs = leaves(stands.clone());
        for (path, own) in leaves(over.value.clone()) {
            let full = [field.path.as_str(), path.as_str()]
                .into_iter()
                .filter(|part| !part.is_empty() && !all_of_it_path(part));
            let full = full.collect::<Vec<_>>().join(".");
            match (theirs.get(&path), own) {
                (Some(Json::Array(kept)), Json::Array(items)) if items.iter().any(|item| !kept.contains(item)) => {
                    loss.lists.insert(full);
                }
                (None, _) if !is_set(&theirs, &path) => drop(loss.unsaid.insert(full)),
                _ => {}
            }
        }
    }
}

/// Whether a path is no path, but the whole of a policy.
fn all_of_it_path(path: &str) -> bool {
    path.starts_with('(')
}
