//! What would changes do?

use serde::Deserialize;

use crate::comply::changes::{self, Change};
use upheld_engine::comply::{Class, Finding};
use upheld_governance::{AfterChange, Outcome, Plan, Seeker, Step, words};
use upheld_model::{Diagnostic, Diagnostics, Fault, Files, Severity, SourceId};
use upheld_syntax::Format;
use upheld_syntax::parse;

use super::Organisation;
use crate::question::Refused;
use upheld_report::compliance::{Planned, PlannedFlip, PlannedStep, check_of, standing};

/// Changes as they were written, and who makes those that name nobody.
#[derive(Clone, Debug)]
pub struct Changes<'t> {
    /// What diagnostics call the text.
    pub name: &'t str,
    /// How the text is written.
    pub format: Format,
    /// The text.
    pub text: String,
    /// Who makes them; an end-user when left out.
    pub person: Option<&'t str>,
    /// What the plan must be called, if somebody looked at it before.
    pub plan: Option<&'t str>,
}

/// A plan, and whether it is harmless.
#[derive(Clone, Debug, Deserialize)]
pub struct WhatIf {
    /// What would happen.
    pub plan: Planned,
    /// Whether all changes would be made, and no violation begins or is taken more seriously.
    pub clean: bool,
}

impl Organisation<'_> {
    /// What changes would do; nothing is changed.
    pub fn what_if(&self, changes: &Changes<'_>) -> Result<WhatIf, Refused> {
        let steps = steps(self, changes)?;
        let id = self.governed.plan_id(self.now, &steps);
        if let Some(expected) = changes.plan.filter(|expected| *expected != id) {
            let message = format!("the plan is `{id}` now, not `{expected}`: the files or the changes moved");
            return Err(Diagnostic::error(Fault::Moved, message).help("look at the new plan before you go on").into());
        }
        let plan = self.governed.what_if(self.now, &steps);
        let done = plan.decisions.iter().all(|decision| decision.outcome.is_done());
        let clean = done && plan.added.is_empty() && plan.raised.is_empty();
        Ok(WhatIf { plan: planned(self, &steps, &plan, id), clean })
    }
}

/// The changes, each with who makes it.
fn steps(asked: &Organisation<'_>, changes: &Changes<'_>) -> Result<Vec<Step>, Refused> {
    let usual = asked.asker(changes.person, Some(Class::EndUser))?;
    let (file, mut problems) = parse(changes.name, changes.format, changes.text.clone(), SourceId::new(0));
    let mut found = Diagnostics::default();
    let read: Vec<Change> = changes::read(SourceId::new(0), &file.tree, asked.comply().profile(), &usual, &mut found);
    problems.extend(found);
    if problems.iter().any(|problem| problem.severity == Severity::Error) {
        let mut files = Files::default();
        files.push(file);
        return Err(Refused { question: Some(files), diagnostics: problems });
    }
    if read.is_empty() {
        let message = format!("`{}` has no changes", changes.name);
        let help =
            "a change is `{verb: setTags, object: project/a, tags: {environment: [prod]}}`: see docs/compliance.md";
        return Err(Diagnostic::error(Fault::IncompleteQuestion, message).help(help).into());
    }
    Ok(read.into_iter().map(|change| (change.actor, change.action)).collect())
}

fn planned(asked: &Organisation<'_>, steps: &[Step], plan: &Plan, id: String) -> Planned {
    let (comply, files) = (asked.comply(), asked.snapshot.files());
    let mut trial = asked.governed.trial(asked.now);
    let mut reported = Vec::with_capacity(steps.len());
    for ((actor, action), decision) in steps.iter().zip(&plan.decisions) {
        let mut violations = Vec::with_capacity(decision.violations.len());
        for violation in &decision.violations {
            let mut check = check_of(comply, files, violation);
            if decision.outcome == Outcome::Blocked {
                check.fixed_by(comply.profile(), &trial.ways(&Seeker::new(actor.clone()), action, violation));
            }
            violations.push(check);
        }
        let refusal = decision.refusal.as_ref().map(|refusal| words::refusal(comply.profile(), refusal));
        let (what, outcome) = (words::action(action), decision.outcome.word().into());
        reported.push(PlannedStep { what, outcome, refusal, violations });
    }
    let after = |violations: &[Finding]| violations.iter().map(|own| check_of(comply, files, own)).collect();
    let flipped = plan.flipped.iter().map(|flip| PlannedFlip {
        a: flip.a.to_string(),
        b: flip.b.to_string(),
        then: match flip.then {
            AfterChange::Allowed => "allowed".into(),
            AfterChange::Refused => "refused".into(),
        },
    });
    Planned {
        answer: String::new(),
        id,
        based_on: asked.governed.digest(asked.now),
        steps: reported,
        added: after(&plan.added),
        removed: plan.removed.iter().map(|own| standing(&asked.governed, files, own)).collect(),
        waived: after(&plan.waived),
        unwaived: after(&plan.unwaived),
        raised: after(&plan.raised),
        lowered: after(&plan.lowered),
        kept: plan.kept,
        flipped: flipped.collect(),
    }
    .finished()
}
