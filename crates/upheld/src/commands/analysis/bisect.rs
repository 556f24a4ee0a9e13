//! `bisect`: at which commit did an answer change?

use serde_json::json;
use upheld_answers::World;
use upheld_loader::git::{Commit, commits_between};
use upheld_model::{Diagnostic, Fault};

use crate::cli::{Bisect, Format};
use crate::commands::{Session, parsed, refuse, say};
use crate::exit::Exit;
use crate::load::try_snapshot;
use crate::render::text::{Text, text};
use crate::render::{print_names, style};
use crate::report::Report;

/// So many commits are looked at, which takes twenty steps at most.
const MOST: usize = 1_000_000;

pub(in crate::commands) fn run(session: &Session<'_>, wanted: &Bisect) -> Exit {
    match find(session, wanted) {
        Ok(found) => print(session, wanted, found),
        Err(problem) => refuse(&[problem]),
    }
}

/// What an answer comes to, in words.
type Answered = Vec<String>;

struct Found {
    before: Answered,
    after: Answered,
    /// The commit that changed it; nothing if both ends say the same.
    commit: Option<Commit>,
}

fn find(session: &Session<'_>, wanted: &Bisect) -> Result<Found, Diagnostic> {
    let at = |revision: &str| -> Result<Answered, Diagnostic> {
        answer(session, wanted, revision).ok_or_else(|| {
            let message = format!("the files of `{revision}` cannot be read");
            Diagnostic::error(Fault::Unreadable, message).help(format!("`upheld list --at {revision}` says why"))
        })?
    };
    let commits = commits_between(&session.settings.files.value, &wanted.good, &wanted.bad, MOST)?;
    let (before, after) = (at(&wanted.good)?, at(&wanted.bad)?);
    if before == after {
        return Ok(Found { before, after, commit: None });
    }
    // Oldest first: the first one at which the answer is not the good one.
    let commits: Vec<Commit> = commits.into_iter().rev().collect();
    let (mut good, mut bad, mut unreadable) = (0, commits.len().saturating_sub(1), 0);
    while good < bad {
        let middle = usize::midpoint(good, bad);
        let Some(commit) = commits.get(middle) else { break };
        match answer(session, wanted, &commit.id) {
            Some(Ok(said)) if said == before => good = middle + 1,
            Some(_) => bad = middle,
            // What cannot be read changed nothing that anybody saw.
            None => {
                unreadable += 1;
                good = middle + 1;
            }
        }
    }
    if unreadable > 0 {
        say(&format!("note: {unreadable} commits on the way cannot be read; the change may be in one of them"));
    }
    let commit = commits.into_iter().nth(good);
    let after = commit.as_ref().and_then(|commit| answer(session, wanted, &commit.id)?.ok()).unwrap_or(after);
    Ok(Found { before, after, commit })
}

/// What the question gets at a revision; nothing if its files cannot be read. A question that is refused is an answer, too.
fn answer(session: &Session<'_>, wanted: &Bisect, revision: &str) -> Option<Result<Answered, Diagnostic>> {
    let loaded = try_snapshot(&session.settings, Some(revision)).ok()?;
    let question = parsed(session, &wanted.question.words(), wanted.question.access.request.as_deref())?;
    let options = session.options();
    Some(match World::new(&loaded.snapshot, &options).answer(&question) {
        Ok(answer) => Ok(answer.reports.iter().map(told).collect()),
        Err(refused) => Ok(refused.diagnostics.into_iter().map(|problem| problem.message).collect()),
    })
}

/// What a report comes to, without where it stands.
fn told(report: &Report) -> String {
    let fields: Vec<String> = report.fields.iter().map(|field| format!("{}: {}", field.name(), field.text())).collect();
    let what = if fields.is_empty() { report.verdict.word().to_owned() } else { fields.join("; ") };
    format!("{} {}: {what}", report.kind, report.about.what)
}

fn print(session: &Session<'_>, wanted: &Bisect, found: Found) -> Exit {
    let Found { before, after, commit } = found;
    let screen = &session.screen;
    let told = |commit: &Commit| {
        json!({
            "id": commit.id, "author": commit.author, "time": commit.at.to_string(), "subject": commit.subject,
        })
    };
    match screen.format {
        Format::Json | Format::Yaml | Format::Jsonl => screen.print_data(&json!({
            "apiVersion": "upheld/v2", "kind": "Bisected", "good": wanted.good, "bad": wanted.bad,
            "commit": commit.as_ref().map(told), "before": before, "after": after,
        })),
        Format::Name => print_names(commit.iter().map(|commit| &commit.id)),
        Format::Table | Format::Wide => {
            let text = match &commit {
                None => text!("The answer is the same at {} and at {}.\n", wanted.good, wanted.bad),
                Some(commit) => {
                    let day = commit.at.to_string();
                    let day = day.get(..10).unwrap_or_default();
                    let headline =
                        format!("It changed with {} by {} on {day}: {}", commit.short(), commit.author, commit.subject);
                    let lines = |lines: &[String]| lines.iter().map(|line| text!("    {}\n", line)).collect::<Text>();
                    let more = format!("upheld diff {0}~1..{0}", commit.short());
                    text!(
                        "{}\n\n  before\n{}  after\n{}\n  Everything that it changed: {}\n",
                        style::paint(style::ANSWER, &headline),
                        lines(&before),
                        lines(&after),
                        more
                    )
                }
            };
            screen.print(&text);
        }
    }
    Exit::Yes
}
