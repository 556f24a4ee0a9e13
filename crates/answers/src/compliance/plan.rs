//! What would changes do?

use sha2::{Digest, Sha256};
use upheld_dialects::comply::changes::{self, Change};
use upheld_engine::comply::{Class, Finding, Outcome, Plan, Step, Then};
use upheld_engine::words::comply as words;
use upheld_input::{Format, parse};
use upheld_model::{Diagnostic, Diagnostics, Fault, Files, Severity, SourceId};

use super::Organisation;
use crate::refused::Refused;
use crate::report::compliance::{Planned, PlannedFlip, PlannedStep, check_of, mended_refused, standing};

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
#[derive(Clone, Debug)]
pub struct WhatIf {
    /// What would happen.
    pub planned: Planned,
    /// Whether all changes would be made, and no violation begins.
    pub is_clean: bool,
}

impl Organisation<'_> {
    /// What changes would do; nothing is changed.
    pub fn what_if(&mut self, changes: &Changes<'_>) -> Result<WhatIf, Refused> {
        let steps = steps(self, changes)?;
        // What is meant counts, not how it is written.
        let id = plan_id(&self.comply.digest(), &format!("{steps:?}"));
        if let Some(expected) = changes.plan.filter(|expected| *expected != id) {
            let message = format!("the plan is `{id}` now, not `{expected}`: the files or the changes moved");
            return Err(Diagnostic::error(Fault::Moved, message).help("look at the new plan before you go on").into());
        }
        let plan = self.comply.what_if(&steps);
        let done = plan.decisions.iter().all(|decision| decision.outcome.is_done());
        let is_clean = done && plan.added.is_empty();
        Ok(WhatIf { planned: planned(self, &steps, &plan, id), is_clean })
    }
}

/// The changes, each with who makes it.
fn steps(asked: &Organisation<'_>, changes: &Changes<'_>) -> Result<Vec<Step>, Refused> {
    let usual = asked.actor(changes.person, Some(Class::EndUser))?;
    let (file, mut problems) = parse(changes.name, changes.format, changes.text.clone(), SourceId::new(0));
    let mut found = Diagnostics::default();
    let read: Vec<Change> = changes::read(SourceId::new(0), &file.tree, asked.comply.profile(), &usual, &mut found);
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

/// What the plan rests on: the state, and the changes.
fn plan_id(digest: &str, changes: &str) -> String {
    let mut hash = Sha256::new();
    hash.update(digest);
    hash.update([0]);
    hash.update(changes);
    hash.finalize().iter().take(6).map(|byte| format!("{byte:02x}")).collect()
}

fn planned(asked: &mut Organisation<'_>, steps: &[Step], plan: &Plan, id: String) -> Planned {
    let told: Vec<PlannedStep> = steps
        .iter()
        .zip(&plan.decisions)
        .map(|((actor, action), decision)| {
            let violations = decision
                .violations
                .iter()
                .map(|violation| {
                    let mut check = check_of(&asked.comply, asked.snapshot.files(), violation);
                    if decision.outcome == Outcome::Blocked {
                        check.fixes = mended_refused(&mut asked.comply, actor, action, violation);
                    }
                    check
                })
                .collect();
            let refusal = decision.refusal.as_ref().map(|refusal| words::refusal(asked.comply.profile(), refusal));
            PlannedStep { what: words::action(action), outcome: decision.outcome.word(), refusal, violations }
        })
        .collect();
    let (comply, files) = (&asked.comply, asked.snapshot.files());
    let after = |violations: &[Finding]| violations.iter().map(|own| check_of(comply, files, own)).collect();
    let flipped = plan.flipped.iter().map(|flip| PlannedFlip {
        a: flip.a.to_string(),
        b: flip.b.to_string(),
        then: match flip.then {
            Then::Allowed => "allowed",
            Then::Refused => "refused",
        },
    });
    Planned {
        answer: String::new(),
        id,
        based_on: comply.digest(),
        steps: told,
        added: after(&plan.added),
        removed: plan.removed.iter().map(|own| standing(comply, files, own)).collect(),
        waived: after(&plan.waived),
        unwaived: after(&plan.unwaived),
        kept: plan.kept,
        flipped: flipped.collect(),
    }
    .finished()
}
