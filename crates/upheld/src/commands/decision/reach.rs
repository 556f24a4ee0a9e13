//! `reach`: who may reach what, among all that is known?

use upheld_answers::{ReachQuestion, Refused, Stamp, World};
use upheld_dialects::access::Edition;
use upheld_engine::Snapshot;
use upheld_model::State;

use super::{now, read_as};
use crate::cli::{self, AccessRequest, Format};
use crate::commands::{Session, print_refused, say};
use crate::exit::Exit;
use crate::render::table::{Align, Table};
use crate::render::text::{Text, text};
use crate::render::{Screen, diagnostics, print_names, stamp, style};
use crate::report::{Closest, Reach, ReachedAction, ReachedEntity, ReachedRow};

pub(in crate::commands) fn run(session: &Session<'_>, wanted: &cli::Reach) -> Exit {
    let question = match question(session, wanted) {
        Ok(question) => question,
        Err(refused) => {
            diagnostics::print(&refused.question.unwrap_or_default(), &refused.diagnostics);
            return Exit::Failed;
        }
    };
    let Some(loaded) = session.load_beside(wanted.request.request.as_deref()) else { return Exit::Failed };
    let options = session.options();
    match World::new(&loaded.snapshot, &options).reach(&question) {
        Ok(reach) => print(&session.screen, &loaded.snapshot, &reach),
        Err(refused) => return print_refused(&loaded, &refused),
    }
    Exit::Yes
}

fn question(session: &Session<'_>, wanted: &cli::Reach) -> Result<ReachQuestion, Refused> {
    now(session)?;
    let AccessRequest { subject, action, resource, env, request } = wanted.request.clone();
    Ok(ReachQuestion {
        subject,
        action,
        resource,
        env,
        given: request.as_deref().map(|file| read_as(file, Edition::Strict)).transpose()?,
        kind: wanted.kind.clone(),
        denied: session.screen.verbose,
        limit: wanted.limit.and_then(|limit| usize::try_from(limit).ok()),
        after: wanted.after.clone(),
        ..ReachQuestion::default()
    })
}

fn print(screen: &Screen, snapshot: &Snapshot, reach: &Reach) {
    match screen.format {
        Format::Json | Format::Yaml => screen.print_data(&reach.document(snapshot)),
        Format::Jsonl => reach.items.iter().for_each(|row| screen.print_data(row)),
        // Whoever reads names alone must not take what is undecided for permitted.
        Format::Name => {
            let permitted = reach.items.iter().filter(|row| row.decision == "permit");
            print_names(permitted.map(|row| found(row).join(" ")));
            if reach.counts.undecided > 0 {
                say(&format!("note: {} undecided; -o table lists them", reach.counts.undecided));
            }
        }
        Format::Table | Format::Wide => screen.print(&text(screen, snapshot, reach)),
    }
}

/// What was found for a row, in the order of the columns.
fn found(row: &ReachedRow) -> Vec<String> {
    let (subject, resource) = (row.subject.as_ref(), row.resource.as_ref());
    let (subject, resource) = (subject.map(ReachedEntity::word), resource.map(ReachedEntity::word));
    [subject, resource, row.action.as_ref().map(ReachedAction::words)].into_iter().flatten().collect()
}

fn text(screen: &Screen, snapshot: &Snapshot, reach: &Reach) -> Text {
    let mut text = text!("{}\n", style::paint(style::ANSWER, &reach.headline.text));
    if !reach.items.is_empty() {
        let sought: Vec<String> = reach.sought.iter().map(|part| part.to_uppercase()).collect();
        let columns = sought.iter().map(String::as_str).chain(["DECISION", "POLICY", "BECAUSE"]);
        let columns: Vec<(&str, Align)> = columns.map(|column| (column, Align::Left)).collect();
        let mut table = Table::new(&columns);
        for row in &reach.items {
            let mut cells = found(row);
            cells.extend([row.decision.to_owned(), policy(row), because(row)]);
            let style = match row.decision {
                "permit" => style::state(State::Pass),
                "deny" => style::DIM,
                _ => style::WARNING,
            };
            table.row(style, cells);
        }
        text.push_str(text!("\n{}", table.render(screen.width, 1)));
    }
    let mut hints = Vec::new();
    if reach.counts.denied > 0 && !screen.verbose {
        hints.push(format!("{} denied: --verbose lists them", reach.counts.denied));
    }
    if let Some(next) = &reach.next {
        hints.push(format!("there may be more: --after {next}"));
    }
    if !hints.is_empty() {
        let hints: Text = hints.iter().map(|hint| text!("  {}\n", hint)).collect();
        text.push_str(text!("\n{}", style::paint(style::DIM, &hints)));
    }
    let from = Stamp::new(snapshot, reach.semantics.as_deref());
    text + stamp(&from, screen)
}

fn policy(row: &ReachedRow) -> String {
    row.policy.clone().unwrap_or_else(|| "-".to_owned())
}

/// Why, and what comes with it: whoever reads the word must not miss it.
fn because(row: &ReachedRow) -> String {
    if let Some(Closest { policy, because }) = &row.missing {
        return format!("depends on {policy}: {}", because.text);
    }
    let ids: Vec<&str> = row.obligations.iter().map(|duty| duty.id.as_str()).collect();
    let obligations = if ids.is_empty() { String::new() } else { format!("obligations: {}", ids.join(", ")) };
    match (&row.reason, obligations.is_empty()) {
        (Some(reason), true) => reason.clone(),
        (Some(reason), false) => format!("{reason}; {obligations}"),
        (None, true) => "-".to_owned(),
        (None, false) => obligations,
    }
}
