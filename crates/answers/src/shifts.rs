//! The one primitive of analysis: the questions whose answer changes from one world to another, grouped by what makes it so.
//!
//! ```text
//! two worlds ──▶ changed documents
//!            ├─▶ connections: both in cells, cell against cell, asked where a policy on either side is not the same
//!            ├─▶ places at gateways and routes: asked on both sides
//!            ├─▶ violations that begin and end
//!            └─▶ requests: all that are possible, by the dialect that can tell
//! ```
//!
//! A difference is what two reports say: nothing is evaluated here. What would change if a policy went is `shifts` between the
//! world with it and the one without; that nothing changes is proved by there being none.

mod causes;
mod local;
mod pairs;
mod places;
#[cfg(test)]
pub(crate) mod tests;

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use upheld_dialects::comply::questions::{AtMoment, turned};
use upheld_dialects::{changed, dialects};
use upheld_model::Side;
use upheld_report::{
    Cause, Certainty, Comparison, Direction, Example, FieldShift, Report, Shift, ShiftCounts, ShiftedViolation,
    Shifting, Shifts, Size, Standing, Turn, Verdict, one_line,
};

use self::causes::Causes;
pub(crate) use self::pairs::{is_about_connections, kinds as kinds_of_connections, scopes};
use crate::progress::Progress;
use crate::{Words, World};

/// What changes from one world to another.
pub(crate) fn shifts(before: &World<'_>, after: &World<'_>, progress: &dyn Progress) -> Shifts {
    shifts_of_owners(before, after, Owners::NotCounted, progress)
}

/// What changes at places from a number on: where an earlier answer ended.
pub(crate) fn more_shifts(before: &World<'_>, after: &World<'_>, from: usize) -> Shifts {
    let changed = changed(before.snapshot(), after.snapshot());
    let causes = Causes::of(&changed);
    let compared =
        Compared { before, after, causes: &causes, owners: Owners::NotCounted, among: None, walk: Walk::Reached, from };
    let before_it = not_compared(format!("What comes before question {from}"), "an earlier answer has it");
    let all = before_it.with(compared.places());
    Shifts { changed, ..all }.finished()
}

/// Whether it is counted whose results are otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owners {
    /// It is.
    Counted,
    /// Nobody wants to know.
    NotCounted,
}

/// The same, and whose results these are.
pub(crate) fn shifts_of_owners(
    before: &World<'_>,
    after: &World<'_>,
    owners: Owners,
    progress: &dyn Progress,
) -> Shifts {
    let changed = changed(before.snapshot(), after.snapshot());
    let causes = Causes::of(&changed);
    let mut all = Shifts { violations: violations(before, after), ..Shifts::default() };
    if owners == Owners::Counted {
        for violation in &all.violations {
            *all.owners.entry(violation.workspace.clone()).or_default() += 1;
        }
    }
    let compared = Compared { before, after, causes: &causes, owners, among: None, walk: Walk::Reached, from: 0 };
    all = all.with(compared.pairs(progress)).with(compared.places());
    for dialect in dialects() {
        if let Some(possible) = dialect.possible_shifts(before.snapshot(), after.snapshot(), &changed) {
            all = all.with(possible);
        }
    }
    Shifts { changed, ..all }.finished()
}

/// What nobody could look at: whether it is otherwise is not known.
fn not_compared(what: String, because: impl Into<String>) -> Shifts {
    let note = Shifting::NotCompared { what, because: because.into() };
    Shifts { verdict: Comparison::Undecided, notes: vec![note.into()], ..Shifts::default() }
}

/// What is otherwise in the answers to one question, or to one and another that was asked before.
pub(crate) fn shifts_of(before: &World<'_>, after: &World<'_>, answers: &Answers<'_>) -> Shifts {
    let changed = changed(before.snapshot(), after.snapshot());
    let compared = Compared {
        before,
        after,
        causes: &Causes::of(&changed),
        owners: Owners::NotCounted,
        among: None,
        walk: Walk::Reached,
        from: 0,
    };
    let size = if answers.words.to.is_some() { Size::Connections(1) } else { Size::Places(1) };
    let found = compared.otherwise(answers, size);
    let counts =
        ShiftCounts { compared: answers.after.len() as u64, changed: found.len() as u64, ..ShiftCounts::default() };
    Shifts { changed: changed.clone(), counts, shifts: found, ..Shifts::default() }.finished()
}

/// What changes for some connections.
pub(crate) fn shifts_among(before: &World<'_>, after: &World<'_>, among: &Among<'_>) -> Shifts {
    let changed = changed(before.snapshot(), after.snapshot());
    let causes = Causes::of(&changed);
    let compared = Compared {
        before,
        after,
        causes: &causes,
        owners: Owners::NotCounted,
        among: Some(among),
        walk: Walk::Reached,
        from: 0,
    };
    Shifts { changed: changed.clone(), ..compared.pairs(&()) }.finished()
}

/// Some connections.
pub(crate) struct Among<'a> {
    /// Under this kind of policy, or under all.
    pub(crate) kind: Option<&'a str>,
    /// Whether an end is looked at, by its mesh, its side and its name.
    pub(crate) fits: &'a dyn Fn(&str, Side, &str) -> bool,
}

/// Two worlds, and what is not the same in them.
struct Compared<'w, 's> {
    before: &'w World<'s>,
    after: &'w World<'s>,
    causes: &'w Causes<'w>,
    owners: Owners,
    /// The connections that are looked at; all if nobody chose.
    among: Option<&'w Among<'w>>,
    walk: Walk,
    /// How many questions about places are left out: an earlier answer has them.
    from: usize,
}

/// Which places are asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Walk {
    /// Those that the changed documents can reach.
    Reached,
    /// All of them: what the others are held against.
    #[cfg(test)]
    Whole,
}

/// Violations that begin and end.
fn violations(before: &World<'_>, after: &World<'_>) -> Vec<ShiftedViolation> {
    let at = |world: &World<'_>| world.options().now;
    let [was, is] = [before, after].map(|world| AtMoment { snapshot: world.snapshot(), moment: at(world) });
    let mut all = Vec::new();
    for workspace in turned(was, is, &[]) {
        for (turn, violations) in [(Turn::Begins, workspace.opened), (Turn::Ends, workspace.closed)] {
            all.extend(violations.into_iter().map(|violation| ShiftedViolation {
                turn,
                policy: violation.policy,
                state: violation.state.name(),
                message: violation.message,
                workspace: workspace.workspace.clone(),
            }));
        }
    }
    all
}

/// The answers on both sides: reports about the same are held against each other.
pub(crate) struct Answers<'a> {
    /// What is asked.
    pub(crate) words: &'a Words,
    /// Whether it was asked before.
    pub(crate) asked: Asked,
    /// The reports before.
    pub(crate) before: &'a [Report],
    /// The reports now.
    pub(crate) after: &'a [Report],
}

/// Whether both sides answer one question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// The same on both sides.
    Same,
    /// Something else was asked before: what a kind says of the one is held against what it says of the other.
    Another,
}

impl Compared<'_, '_> {
    /// What is otherwise in the answers to a question that stands for so many.
    fn otherwise(&self, answers: &Answers<'_>, size: Size) -> Vec<Shift> {
        let about = |report: &Report| {
            let what = (answers.asked == Asked::Same).then(|| report.about.what.clone());
            (report.kind.clone(), what, report.about.place.clone())
        };
        let mut shifts = Vec::new();
        for is in answers.after {
            match answers.before.iter().find(|was| about(was) == about(is)) {
                Some(was) => shifts.extend(self.between(answers.words, Some(was), Some(is), size)),
                None => shifts.extend(self.between(answers.words, None, Some(is), size)),
            }
        }
        let gone = answers.before.iter().filter(|was| !answers.after.iter().any(|is| about(is) == about(was)));
        shifts.extend(gone.filter_map(|was| self.between(answers.words, Some(was), None, size)));
        shifts
    }

    /// The difference of two reports about the same; nothing if they come to the same.
    fn between(&self, words: &Words, before: Option<&Report>, after: Option<&Report>, size: Size) -> Option<Shift> {
        let report = after.or(before)?;
        let (was, is) = (standing(before, after), standing(after, before));
        let fields = fields(before, after);
        // Who nobody speaks about on one side is as if it were not there on the other.
        let nothing = |report: Option<&Report>| report.is_none_or(|report| !report.speaks());
        let same = was.verdict == is.verdict && fields.is_empty() && results(before) == results(after);
        if same || (nothing(before) && nothing(after) && was.verdict == is.verdict) {
            return None;
        }
        let words = Words { kind: Some(report.kind.clone()), ..words.clone() };
        Some(Shift {
            family: report.family,
            kind: report.kind.clone(),
            scope: report.about.scope.clone(),
            direction: Direction::between(was.verdict, is.verdict),
            causes: self.causes.of_change(&report.kind, &was.policies, &is.policies),
            before: was,
            after: is,
            fields,
            size,
            example: Example {
                what: report.about.holds_for.first().unwrap_or(&report.about.what).clone(),
                command: words.command(self.after.options().mesh.as_deref()),
                question: serde_json::to_value(&words).unwrap_or_default(),
            },
            certainty: Certainty::Sure,
        })
    }
}

fn results(report: Option<&Report>) -> Option<&serde_json::Value> {
    report.map(|report| &report.result).filter(|result| !result.is_null())
}

/// Who decides; where nobody is asked, what stands is what a kind has by default.
fn standing(report: Option<&Report>, other: Option<&Report>) -> Standing {
    let default = || {
        let name = other.and_then(|other| other.default.as_ref()).map_or("(none)", |default| &default.name);
        Standing { verdict: Verdict::Unset, policies: vec![name.to_owned()], summary: String::new(), arbitrary: false }
    };
    report.map_or_else(default, Standing::of)
}

/// The fields that are otherwise.
fn fields(before: Option<&Report>, after: Option<&Report>) -> Vec<FieldShift> {
    let values = |report: Option<&Report>| -> BTreeMap<String, String> {
        let fields = report.into_iter().flat_map(|report| &report.fields);
        fields.filter_map(|field| Some((field.path.clone(), one_line(field.value.as_ref()?)))).collect()
    };
    let (was, is) = (values(before), values(after));
    let all: BTreeSet<&String> = was.keys().chain(is.keys()).collect();
    let shift = |field: &String| FieldShift {
        field: field.clone(),
        before: was.get(field).cloned(),
        after: is.get(field).cloned(),
    };
    all.into_iter().map(shift).filter(|shift| shift.before != shift.after).collect()
}

/// What is otherwise, put together: shifts that differ only in how many questions there are become one.
#[derive(Default)]
struct Gathered {
    all: BTreeMap<Key, Shift>,
}

type Key = (String, Option<String>, Vec<Cause>, Standing, Standing, Vec<FieldShift>);

impl Gathered {
    fn add(&mut self, shift: Shift) {
        let Shift { kind, scope, causes, before, after, fields, .. } = shift.clone();
        match self.all.entry((kind, scope, causes, before, after, fields)) {
            Entry::Occupied(mut known) => known.get_mut().size = known.get().size.plus(shift.size.count()),
            Entry::Vacant(place) => drop(place.insert(shift)),
        }
    }

    fn shifts(self) -> Vec<Shift> {
        self.all.into_values().collect()
    }
}
