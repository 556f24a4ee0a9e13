//! Which requests are decided otherwise by other policies, among all that there could be: what the engine found, as reports say it.

mod describe;

use serde_json::json;
use upheld_engine::decide::shifts as engine;
use upheld_engine::decide::{Decide, Request};
use upheld_engine::{EntryId, KindId, Snapshot};
use upheld_report::{
    At, Cause, Change, ChangedDocument, Comparison, Depth, Direction, Example, Family, Report, Shift, Shifting, Shifts,
    Size, Standing, decide,
};

use self::describe::says;
pub use self::describe::words;
use super::authzen::directory::DIRECTORY;
use super::claim::POLICY_SET;
use super::decider::{Decider, WhichKind, deciders};
use super::invariants::certainty;
use super::{Edition, MANIFEST};
use crate::question::Words;

/// What is decided otherwise, for every kind of policies that decides requests on both sides.
pub(super) fn possible_shifts(before: &Snapshot, after: &Snapshot, changed: &[ChangedDocument]) -> Option<Shifts> {
    let mut all: Option<Shifts> = None;
    for (kind, decide) in deciders(after) {
        let name = kind_name(after, kind);
        let known = deciders(before).find(|(other, _)| kind_name(before, *other) == name);
        let Some((own, policies)) = known else { continue };
        if policies.rules().is_empty() && decide.rules().is_empty() {
            continue;
        }
        let sides = Sides { before: OneSide::of(before, own, policies), after: OneSide::of(after, kind, decide) };
        let found = sides.shifts(name, changed);
        all = Some(match all {
            Some(all) => all.with(found),
            None => found,
        });
    }
    all
}

/// The command that asks about a request.
pub(super) fn example_of(request: &Request) -> String {
    words(request, None).command(None)
}

/// Who asks for what, in one line: `role=ops GET /admin`.
fn asked(words: &Words, report: &Report) -> String {
    // Whoever is known by an id is in the report's own words.
    let who = words.subject.iter().filter(|part| !part.starts_with("id="));
    who.map(String::as_str).chain([report.about.what.as_str()]).collect::<Vec<_>>().join(" ")
}

fn kind_name(snapshot: &Snapshot, kind: KindId) -> &str {
    snapshot.kind(kind).map_or("", |kind| snapshot.text(kind.name))
}

/// The policies of a kind in both snapshots.
struct Sides<'s> {
    before: OneSide<'s>,
    after: OneSide<'s>,
}

pub(super) struct OneSide<'s> {
    pub(super) snapshot: &'s Snapshot,
    kind: KindId,
    pub(super) decide: &'s Decide,
    /// Whether another kind decides requests, too: then questions must name theirs.
    among_others: bool,
}

impl<'s> OneSide<'s> {
    pub(super) fn of(snapshot: &'s Snapshot, kind: KindId, decide: &'s Decide) -> Self {
        let among_others = deciders(snapshot).filter(|(_, decide)| !decide.rules().is_empty()).count() > 1;
        Self { snapshot, kind, decide, among_others }
    }

    /// The kind, where questions must name it.
    pub(super) fn named(&self) -> Option<&'s str> {
        Some(kind_name(self.snapshot, self.kind)).filter(|_| self.among_others)
    }

    /// What a request gets, with all that is known of it.
    pub(super) fn report(&self, request: &Request) -> Report {
        let name = kind_name(self.snapshot, self.kind);
        let report = |request: &Request| decide(self.snapshot, self.kind, self.decide, request, Depth::Answer);
        match Decider::of(self.snapshot, WhichKind::Named(name), Edition::Strict) {
            Ok(decider) => report(&decider.complete(request.clone(), None)),
            Err(_) => report(request),
        }
    }

    fn cause(&self, change: Change, entry: EntryId) -> Option<Cause> {
        let rule = self.decide.rule(entry)?;
        Some(Cause {
            change,
            name: rule.name.to_string(),
            kind: kind_name(self.snapshot, self.kind).to_owned(),
            says: Some(says(rule)),
            at: At::of(self.snapshot.files(), rule.at),
        })
    }

    fn set_cause(&self, change: Change, number: usize) -> Option<Cause> {
        let set = self.decide.sets().nth(number)?;
        let at = set.at.and_then(|at| At::of(self.snapshot.files(), at));
        Some(Cause { change, name: set.name.to_string(), kind: POLICY_SET.to_owned(), says: None, at })
    }
}

impl Sides<'_> {
    fn shifts(&self, kind: &str, changed: &[ChangedDocument]) -> Shifts {
        let verdict = engine::shifts(self.before.decide, self.after.decide, &engine::Bounds::default());
        let shifts = verdict.shifts().iter().map(|shift| self.shift(kind, shift)).collect();
        let mut all = Shifts { shifts, ..Shifts::default() };
        match verdict {
            engine::Verdict::Equal { changed: 0, .. } => {}
            engine::Verdict::Equal { changed, classes } => {
                let classes = classes as u64;
                all.notes.push(Shifting::EveryRequest { kind: kind.to_owned(), policies: changed, classes }.into());
            }
            engine::Verdict::Differs(_) => all.verdict = Comparison::Differs,
            engine::Verdict::Undecided { bound, .. } => {
                all.verdict = Comparison::Undecided;
                all.notes.push(Shifting::Bound { kind: kind.to_owned(), bound: bound.text() }.into());
            }
        }
        // Policies may be the same, and what is filled in before they are asked may not.
        if changed.iter().any(|document| document.kind == DIRECTORY) {
            all.verdict = if all.shifts.is_empty() { Comparison::Undecided } else { all.verdict };
            let because = "policies are compared for requests as they come to them".to_owned();
            all.notes.push(Shifting::NotCompared { what: "what the directory adds".to_owned(), because }.into());
        }
        all
    }

    fn shift(&self, kind: &str, shift: &engine::Shift) -> Shift {
        let [was, is] = [self.before.report(&shift.example), self.after.report(&shift.example)];
        let [before, after] = [&was, &is].map(Standing::of);
        let words = words(&shift.example, self.after.named());
        Shift {
            family: Family::Decide,
            kind: kind.to_owned(),
            scope: None,
            direction: Direction::between(before.verdict, after.verdict),
            causes: self.causes(shift.cause),
            before,
            after,
            fields: Vec::new(),
            size: Size::Requests(shift.classes),
            example: Example { what: asked(&words, &is), command: words.command(None), question: json!(words) },
            certainty: certainty(&shift.certainty, &[(&was, shift.before), (&is, shift.after)]),
        }
    }

    fn causes(&self, cause: engine::Cause) -> Vec<Cause> {
        let setting = |name: &str| {
            let root = self.after.decide.sets().next();
            let at = root.and_then(|root| At::of(self.after.snapshot.files(), root.at?));
            let (name, kind) = (name.to_owned(), MANIFEST.to_owned());
            Some(Cause { change: Change::Edited, name, kind, says: None, at })
        };
        let found = match cause {
            engine::Cause::Added(entry) => self.after.cause(Change::Added, entry),
            engine::Cause::Removed(entry) => self.before.cause(Change::Removed, entry),
            engine::Cause::Edited(_, entry) => self.after.cause(Change::Edited, entry),
            engine::Cause::Algorithm => setting("algorithm"),
            engine::Cause::Default => setting("defaultEffect"),
            engine::Cause::Set(Some(_), Some(number)) => self.after.set_cause(Change::Edited, number),
            engine::Cause::Set(None, Some(number)) => self.after.set_cause(Change::Added, number),
            engine::Cause::Set(Some(number), None) => self.before.set_cause(Change::Removed, number),
            engine::Cause::Set(None, None) => None,
        };
        found.into_iter().collect()
    }
}
