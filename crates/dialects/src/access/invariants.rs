//! What all requests of a region must get: a region is written as policies are, and everything that could be asked is looked at.

use serde_json::json;
use upheld_engine::decide::shifts::{
    Bounds, Breach as Found, Certainty as Tried, Claim, Decision, Held, Shift, Verdict, held, shifts_within,
};
use upheld_engine::decide::{Decide, Outcome, Rule};
use upheld_engine::{KindId, Snapshot};
use upheld_model::tree::Value;
use upheld_model::{Diagnostics, SourceId};
use upheld_report::{At, Breach, Certainty, Example, Holding, Proof, Report, Size, Standing};

use super::policy::PolicyReader;
use super::shapes::{Fields, action, resource, subject};
use super::shifts::{OneSide, words};
use crate::shape::{Field, Shape, list, optional};

/// What a region looks like.
pub fn shape() -> Shape {
    Shape::Object(fields())
}

/// The fields of a region.
pub fn fields() -> Vec<Field> {
    vec![
        optional("subjects", list(subject()), "the subjects; everybody when left out"),
        optional("resources", list(resource()), "the resources; everything when left out"),
        optional("actions", list(action()), "the actions; anything when left out"),
        optional("conditions", list(Shape::Opaque), "further conditions; all must hold"),
    ]
}

/// Reads a region; every mistake is reported.
pub fn read(source: SourceId, region: Value<'_>, found: &mut Diagnostics) -> Option<Rule> {
    PolicyReader::new(Fields::default()).region(source, region, found)
}

/// Whether policies of a kind keep to a claim about all requests of a region.
pub fn proof(snapshot: &Snapshot, kind: KindId, decide: &Decide, region: &Rule, claim: Claim) -> Proof {
    let side = OneSide::of(snapshot, kind, decide);
    let told = |found: Vec<Found>| found.iter().map(|breach| side.breach(breach)).collect();
    match held(decide, region, claim, &Bounds::default()) {
        Held::Holds { classes } => Proof::of(Vec::new(), Holding::EveryRequest { classes }),
        Held::Broken(found) => Proof::of(told(found), Holding::EveryRequest { classes: 0 }),
        Held::Undecided { bound, found } => {
            let bound = bound.map(|bound| bound.text());
            Proof::bounded(told(found), bound, Holding::EveryRequest { classes: 0 })
        }
    }
}

/// Policies of one kind in a snapshot.
#[derive(Clone, Copy, Debug)]
pub struct Policies<'s> {
    /// Where they are.
    pub snapshot: &'s Snapshot,
    /// Their kind.
    pub kind: KindId,
    /// What they are asked by.
    pub decide: &'s Decide,
}

/// Whether policies decide all requests of a region as others did before.
pub fn kept(before: Policies<'_>, after: Policies<'_>, region: &Rule) -> Proof {
    let [was, is] = [before, after].map(|one| OneSide::of(one.snapshot, one.kind, one.decide));
    let verdict = shifts_within(was.decide, is.decide, region, &Bounds::default());
    let breaches = verdict.shifts().iter().map(|shift| turned(&was, &is, shift)).collect();
    let (bound, classes) = match verdict {
        Verdict::Equal { classes, .. } => (None, classes),
        Verdict::Differs(_) => (None, 0),
        Verdict::Undecided { bound, .. } => (Some(bound.text()), 0),
    };
    Proof::bounded(breaches, bound, Holding::AsBefore { classes })
}

/// Requests that get something else than before.
fn turned(before: &OneSide<'_>, after: &OneSide<'_>, shift: &Shift) -> Breach {
    let [was, is] = [before, after].map(|side| side.report(&shift.example));
    let words = words(&shift.example, after.named());
    let did = match shift.before.outcome {
        Outcome::Permit => "permitted",
        Outcome::Deny => "denied",
        Outcome::Undecided | Outcome::Foreign => "left undecided",
    };
    let policies = Standing::of(&is).policies;
    let instead_of = Standing::of(&was).policies;
    let who = if instead_of == policies { "it".to_owned() } else { instead_of.join(", ") };
    Breach {
        at: written(after.snapshot, after.decide, &is),
        policies,
        says: format!("{} what {who} {did} before:", verb(shift.after.outcome)),
        size: Size::Requests(shift.classes),
        example: Example { what: is.about.what.clone(), command: words.command(None), question: json!(words) },
        certainty: certainty(&shift.certainty, &[(&was, shift.before), (&is, shift.after)]),
    }
}

fn verb(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Permit => "permits",
        Outcome::Deny => "denies",
        Outcome::Undecided | Outcome::Foreign => "leaves undecided",
    }
}

/// Whether something is known to happen: what was found, and what somebody gets who asks with all that is known.
pub(super) fn certainty(tried: &Tried, answers: &[(&Report, Decision)]) -> Certainty {
    let is_so = |(report, found): &(&Report, Decision)| report.verdict.word() == found.outcome.word();
    match tried {
        Tried::Sure if answers.iter().all(is_so) => Certainty::Sure,
        // What the directory adds to a request may lead to something else.
        Tried::Sure => Certainty::May { unless: vec!["the directory".to_owned()] },
        Tried::May(names) => Certainty::May { unless: names.iter().map(ToString::to_string).collect() },
    }
}

impl OneSide<'_> {
    fn breach(&self, found: &Found) -> Breach {
        let report = self.report(&found.example);
        let words = words(&found.example, self.named());
        let certainty = certainty(&found.certainty, &[(&report, found.decision)]);
        let policies = Standing::of(&report).policies;
        Breach {
            at: written(self.snapshot, self.decide, &report),
            policies,
            says: verb(found.decision.outcome).to_owned(),
            size: Size::Requests(found.classes),
            example: Example { what: report.about.what.clone(), command: words.command(None), question: json!(words) },
            certainty,
        }
    }
}

/// Where the policy was written that decides.
fn written(snapshot: &Snapshot, decide: &Decide, report: &Report) -> Option<At> {
    let name = report.policies.first()?;
    let rule = decide.rules().iter().find(|rule| rule.name == name.as_str())?;
    At::of(snapshot.files(), rule.at)
}
