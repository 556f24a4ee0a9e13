//! `audit`: who violates, hard or soft?

use std::time::Instant;

use upheld_answers::compliance::{AuditQuestion, Audited};
use upheld_answers::formats::audit::{Among, Baseline, Beside, Failing, Listed};

use super::history::trace;
use super::{asked, load};
use crate::cli::{Audit, FailOn};
use crate::commands::{Session, baseline, refuse, say};
use crate::exit::Exit;
use crate::render::compliance;
use crate::report::compliance::Level;

pub(in crate::commands) fn run(session: &Session<'_>, audit: &Audit) -> Exit {
    let Some(loaded) = load(session, None) else { return Exit::Failed };
    let Some(asked) = asked(session, &loaded, &audit.organisation) else { return Exit::Failed };
    let previous = match audit.baseline.as_deref().map(|file| baseline("audit", file, Baseline::read)).transpose() {
        Ok(previous) => previous,
        Err(problem) => return refuse(&[problem]),
    };
    let question = AuditQuestion {
        workspace: audit.workspace.clone(),
        policy: audit.policy.clone(),
        kind: audit.kind.clone(),
        object: audit.object.clone(),
        person: audit.person.person.clone(),
        policies: audit.organisation.policies.clone(),
        no_fixes: audit.no_fixes,
        list_passes: audit.more.all,
    };
    let started = Instant::now();
    let audited = loaded.beside_digest(|| asked.audit(&question));
    let (audited, passing) = match audited.and_then(|audited| Ok((audited, asked.passing(&question)?))) {
        Ok(asked) => asked,
        Err(problems) => return refuse(&problems),
    };
    let Audited { audit: mut report, notes } = audited.beside(loaded.warnings.as_slice(), loaded.snapshot.files());
    if audit.more.history
        && let Err(problem) = trace(session, &question, &mut report)
    {
        return refuse(&[problem]);
    }
    // Who says what time it is wants the same answer again.
    let took = session.common.now.is_none().then(|| started.elapsed());
    for note in notes {
        say(&note);
    }
    let report = match &previous {
        Some(previous) => previous.compared(report),
        None => report,
    };
    let failing = Failing {
        from: match audit.fail_on {
            FailOn::Enforce => Level::Enforce,
            FailOn::Warn => Level::Warn,
            FailOn::Audit => Level::Audit,
        },
        among: if audit.fail_on_new { Among::New } else { Among::All },
    };
    let listed = if audit.more.all { Listed::All } else { Listed::Violations };
    let beside = Beside { passing: &passing, listed, failing, took };
    compliance::print(&report, session.settings.output.value, &session.screen, &beside);
    if failing.any(&report) {
        Exit::No
    } else if report.gaps.is_empty() {
        Exit::Yes
    } else {
        // What was not looked at may violate.
        Exit::Undecided
    }
}
