//! What all requests of a region must get: a region is written as policies are, and everything that could be asked is looked at.

use serde_json::json;
use upheld_engine::decide::shifts::{Bounds, Breach as Found, Certainty as Tried, Claim, Held, held};
use upheld_engine::decide::{Decide, Outcome, Rule};
use upheld_engine::{KindId, Snapshot};
use upheld_model::tree::Value;
use upheld_model::{Diagnostics, SourceId};
use upheld_report::{At, Breach, Certainty, Example, Holding, Proof, Report, Size, Standing};

use super::policy::PolicyReader;
use super::shapes::{Fields, action, resource, subject};
use super::shifts::{OneSide, words};
use crate::shape::{Shape, list, optional};

/// What a region looks like.
pub fn shape() -> Shape {
    Shape::Object(vec![
        optional("subjects", list(subject()), "the subjects; everybody when left out"),
        optional("resources", list(resource()), "the resources; everything when left out"),
        optional("actions", list(action()), "the actions; anything when left out"),
        optional("conditions", list(Shape::Opaque), "further conditions; all must hold"),
    ])
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

impl OneSide<'_> {
    fn breach(&self, found: &Found) -> Breach {
        let report = self.report(&found.example);
        let words = words(&found.example, self.named());
        let certainty = match &found.certainty {
            // What the directory adds to a request may lead to something else.
            Tried::Sure if report.verdict.word() != found.decision.outcome.word() => {
                Certainty::May { unless: vec!["the directory".to_owned()] }
            }
            Tried::Sure => Certainty::Sure,
            Tried::May(names) => Certainty::May { unless: names.iter().map(ToString::to_string).collect() },
        };
        let policies = Standing::of(&report).policies;
        let says = match found.decision.outcome {
            Outcome::Permit => "permits",
            Outcome::Deny => "denies",
            Outcome::Undecided | Outcome::Foreign => "leaves undecided",
        };
        Breach {
            at: written(self.snapshot, self.decide, &report),
            policies,
            says: says.to_owned(),
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
