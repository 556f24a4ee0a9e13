//! `audit`: who violates, hard or soft?

use std::time::Instant;

use upheld_answers::compliance::{AuditQuestion, Audited};
use upheld_answers::formats::audit::{Baseline, Beside};
use upheld_engine::comply::Level;
use upheld_model::{Diagnostic, Fault};

use super::history::trace;
use super::{asked, load};
use crate::cli::{Audit, FailOn};
use crate::commands::{Session, refuse, say};
use crate::exit::Exit;
use crate::render::compliance;
use crate::report::compliance::{Audit as Report, CheckState};

pub(in crate::commands) fn run(session: &Session<'_>, audit: &Audit) -> Exit {
    let Some(loaded) = load(session, None) else { return Exit::Failed };
    let Some(asked) = asked(session, &loaded, &audit.organisation) else { return Exit::Failed };
    let previous = match audit.baseline.as_deref().map(baseline).transpose() {
        Ok(previous) => previous,
        Err(problem) => return refuse(&[problem]),
    };
    let output = session.settings.output.value;
    let question = AuditQuestion {
        workspace: audit.workspace.clone(),
        policy: audit.policy.clone(),
        kind: audit.kind.clone(),
        object: audit.object.clone(),
        person: audit.person.person.clone(),
        policies: audit.organisation.policies.clone(),
        no_fixes: audit.no_fixes,
        list_passes: compliance::lists_passes(output),
    };
    let started = Instant::now();
    let Audited { audit: mut report, notes } = match asked.audit(&question) {
        Ok(audited) => audited,
        Err(problems) => return refuse(&problems),
    };
    if audit.history
        && let Err(problem) = trace(session, &question, &mut report)
    {
        return refuse(&[problem]);
    }
    // Who says what time it is wants the same answer again.
    let took = session.common.now.is_none().then(|| started.elapsed());
    for note in notes {
        say(&note);
    }
    compliance::print(&report, output, &session.screen, &Beside { baseline: previous.as_ref(), took });
    exit_of(&report, audit.fail_on)
}

/// No if anything violates a policy of the level that counts.
fn exit_of(report: &Report, fail_on: FailOn) -> Exit {
    let counts = |level: Level| match fail_on {
        FailOn::Enforce => level == Level::Enforce,
        FailOn::Warn => matches!(level, Level::Enforce | Level::Warn),
        FailOn::Audit => level != Level::Off,
    };
    let fails = report
        .violations()
        .any(|check| check.state != CheckState::Waived && Level::of(check.level.name()).is_some_and(counts));
    if fails { Exit::No } else { Exit::Yes }
}

/// What an earlier run found.
fn baseline(file: &str) -> Result<Baseline, Diagnostic> {
    let unreadable = |problem: String| {
        Diagnostic::error(Fault::Unreadable, format!("cannot read the baseline `{file}`: {problem}"))
            .help("it is made by `upheld audit -o sarif`")
    };
    let text = std::fs::read_to_string(file).map_err(|error| unreadable(error.to_string()))?;
    Baseline::read(&text).map_err(unreadable)
}
