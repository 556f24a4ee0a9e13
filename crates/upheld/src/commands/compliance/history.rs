//! Since which commit something violates: the same audit of the files as they were.

use std::collections::{BTreeMap, BTreeSet};

use upheld_answers::Progress;
use upheld_answers::compliance::{AuditQuestion, Organisation};
use upheld_loader::git::{Commit, commits};
use upheld_model::Diagnostic;

use crate::commands::{Session, say};
use crate::load::try_snapshot;
use crate::render::bar::Bar;
use crate::report::compliance::{Audit, Began};

/// So many commits are looked at, the latest first.
const MOST: usize = 1_000;

/// Says of each violation that nobody noted a cause of in which commit it began.
pub(super) fn trace(session: &Session<'_>, question: &AuditQuestion, report: &mut Audit) -> Result<(), Diagnostic> {
    let mut open: BTreeSet<String> =
        report.violations().filter(|own| own.cause.is_none()).map(|own| own.id.clone()).collect();
    if open.is_empty() {
        return Ok(());
    }
    let commits = commits(&session.settings.files.value, MOST)?;
    let bar = Bar::new("commits");
    bar.expect(commits.len() as u64);
    let mut began: BTreeMap<String, Began> = BTreeMap::new();
    let (mut after, mut unreadable) = (None, 0_usize);
    for commit in &commits {
        match violating(session, question, commit) {
            Some(ids) => {
                let (there, not_yet): (BTreeSet<String>, BTreeSet<String>) =
                    open.into_iter().partition(|id| ids.contains(id));
                began.extend(not_yet.into_iter().map(|id| (id, began_with(after))));
                open = there;
                after = Some(commit);
            }
            None => unreadable += 1,
        }
        bar.done(1);
        if open.is_empty() {
            break;
        }
    }
    bar.finish();
    // Older commits were not looked at; what is in the first one began with it.
    let first = commits.last().filter(|_| commits.len() < MOST).and(after);
    began.extend(open.into_iter().map(|id| {
        let since = first.map_or_else(
            || after.map_or(Began::Uncommitted, |oldest| Began::Before(told(oldest))),
            |first| Began::With(told(first)),
        );
        (id, since)
    }));
    report.tell_since(&began);
    if unreadable > 0 {
        let commits = if unreadable == 1 { "1 commit".to_owned() } else { format!("{unreadable} commits") };
        say(&format!(
            "note: the files of {commits} cannot be read; what began there is said to have begun with the next one"
        ));
    }
    Ok(())
}

/// The ids of what violated in a commit; nothing if its files cannot be read.
fn violating(session: &Session<'_>, question: &AuditQuestion, commit: &Commit) -> Option<BTreeSet<String>> {
    let loaded = try_snapshot(&session.settings, Some(&commit.id)).ok()?;
    // Without objects whose tags must agree nothing violates.
    let Ok(organisation) = Organisation::of(&loaded.snapshot, question.policies.as_deref(), session.options().now)
    else {
        return Some(BTreeSet::new());
    };
    // What the question names may not have been there.
    let everything = AuditQuestion { policies: question.policies.clone(), no_fixes: true, ..AuditQuestion::default() };
    let audited = organisation.audit(&everything).ok()?;
    Some(audited.audit.violations().map(|check| check.id.clone()).collect())
}

fn began_with(commit: Option<&Commit>) -> Began {
    commit.map_or(Began::Uncommitted, |commit| Began::With(told(commit)))
}

fn told(commit: &Commit) -> crate::report::compliance::Commit {
    crate::report::compliance::Commit {
        id: commit.short().to_owned(),
        author: commit.author.clone(),
        at: commit.at,
        subject: commit.subject.clone(),
    }
}
