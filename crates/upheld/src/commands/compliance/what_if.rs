//! `what-if`: what would changes do?

use serde_json::json;
use sha2::{Digest, Sha256};
use upheld_dialects::comply::changes::{self, Change};
use upheld_engine::comply::{Class, Outcome, Plan, Step, Then, Violation};
use upheld_engine::words::comply as words;
use upheld_input::{Format as Reading, parse};
use upheld_model::{Diagnostic, Diagnostics, Fault, Files, SourceId};

use super::{Asked, asked, load};
use crate::cli::{Format, WhatIf};
use crate::commands::decision::read;
use crate::commands::{Session, refuse};
use crate::exit::Exit;
use crate::render::{compliance, diagnostics, print_plain};
use crate::report::compliance::{Planned, PlannedFlip, PlannedStep, begun, mended_refused, refused, violated};

pub(in crate::commands) fn run(session: &Session<'_>, wanted: &WhatIf) -> Exit {
    let Some(loaded) = load(session, Some(&wanted.changes)) else { return Exit::Failed };
    let Some(mut asked) = asked(session, &loaded, &wanted.organisation) else { return Exit::Failed };
    let (steps, told) = match steps(&asked, wanted) {
        Ok(steps) => steps,
        Err(BadChanges { files, problems }) => {
            diagnostics::print(&files, &problems);
            return Exit::Failed;
        }
    };
    let id = plan_id(&asked.comply.digest(), &told);
    if let Some(expected) = wanted.plan.as_deref().filter(|expected| *expected != id) {
        let message = format!("the plan is `{id}` now, not `{expected}`: the files or the changes moved");
        return refuse(&[Diagnostic::error(Fault::Moved, message).help("look at the new plan before you go on")]);
    }
    let plan = asked.comply.what_if(&steps);
    let planned = planned(&mut asked, &steps, &plan, id);
    let screen = &session.screen;
    match screen.format {
        Format::Json | Format::Yaml | Format::Jsonl => {
            screen.print_data(&json!({"apiVersion": "upheld/v1", "kind": "Plan", "plan": planned}));
        }
        Format::Name => print_plain(&format!("{}\n", planned.id)),
        Format::Table | Format::Wide => screen.print(&compliance::planned(&planned, screen)),
    }
    let refused = plan.decisions.iter().any(|decision| !decision.outcome.is_done());
    if refused || !plan.added.is_empty() { Exit::No } else { Exit::Yes }
}

struct BadChanges {
    files: Files,
    problems: Vec<Diagnostic>,
}

/// The changes of the file, each with who makes it, and their text.
fn steps(asked: &Asked<'_>, wanted: &WhatIf) -> Result<(Vec<Step>, String), BadChanges> {
    let bad = |problems| BadChanges { files: Files::default(), problems };
    let text = read(&wanted.changes).map_err(bad)?;
    let usual =
        asked.actor(wanted.person.person.as_deref(), Some(Class::EndUser)).map_err(|problem| bad(vec![problem]))?;
    let reading = Reading::of_name(&wanted.changes).unwrap_or_else(|| Reading::of_text(&text));
    let (file, mut problems) = parse(&wanted.changes, reading, text.clone(), SourceId::new(0));
    let mut found = Diagnostics::default();
    let read: Vec<Change> = changes::read(SourceId::new(0), &file.tree, asked.comply.profile(), &usual, &mut found);
    problems.extend(found);
    if problems.iter().any(|problem| problem.severity == upheld_model::Severity::Error) {
        let mut files = Files::default();
        files.push(file);
        return Err(BadChanges { files, problems });
    }
    if read.is_empty() {
        let message = format!("`{}` has no changes", wanted.changes);
        let help =
            "a change is `{verb: setTags, object: project/a, tags: {environment: [prod]}}`: see docs/compliance.md";
        return Err(bad(vec![Diagnostic::error(Fault::IncompleteQuestion, message).help(help)]));
    }
    let steps: Vec<Step> = read.into_iter().map(|change| (change.actor, change.action)).collect();
    // What is meant counts, not how it is written.
    let told = format!("{steps:?}");
    Ok((steps, told))
}

/// What the plan rests on: the state, and the changes.
fn plan_id(digest: &str, changes: &str) -> String {
    let mut hash = Sha256::new();
    hash.update(digest);
    hash.update([0]);
    hash.update(changes);
    hash.finalize().iter().take(6).map(|byte| format!("{byte:02x}")).collect()
}

fn planned(asked: &mut Asked<'_>, steps: &[Step], plan: &Plan, id: String) -> Planned {
    let told: Vec<PlannedStep> = steps
        .iter()
        .zip(&plan.decisions)
        .map(|((actor, action), decision)| {
            let violations = decision
                .violations
                .iter()
                .map(|violation| {
                    let files = asked.snapshot.files();
                    if decision.outcome != Outcome::Blocked {
                        return begun(&asked.comply, files, violation);
                    }
                    let mut check = refused(&asked.comply, files, violation);
                    check.fixes = mended_refused(&mut asked.comply, actor, action, violation);
                    check
                })
                .collect();
            let refusal = decision.refusal.as_ref().map(|refusal| words::refusal(asked.comply.profile(), refusal));
            PlannedStep { what: words::action(action), outcome: decision.outcome.word(), refusal, violations }
        })
        .collect();
    let (comply, files) = (&asked.comply, asked.snapshot.files());
    let after = |violations: &[Violation]| violations.iter().map(|own| begun(comply, files, own)).collect();
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
        removed: plan.removed.iter().map(|own| violated(comply, files, own)).collect(),
        waived: after(&plan.waived),
        unwaived: after(&plan.unwaived),
        kept: plan.kept,
        flipped: flipped.collect(),
    }
    .finished()
}
