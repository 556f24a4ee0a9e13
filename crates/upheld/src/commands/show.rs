//! `show`: one policy or object, with what it says and where it counts.

use upheld_answers::shown::Shown;
use upheld_answers::{Survival, World};
use upheld_dialects::dialects;
use upheld_engine::Snapshot;

use super::{Session, print_refused};
use crate::cli::{Format, Show};
use crate::exit::Exit;
use crate::render::print_names;
use crate::render::style::{ANSWER, DIM, paint};
use crate::render::text::{Text, text};
use crate::report::At;

pub(super) fn run(session: &Session<'_>, show: &Show) -> Exit {
    let Some(loaded) = session.load() else { return Exit::Failed };
    let options = session.options();
    let world = World::new(&loaded.snapshot, &options);
    let shown = match world.show(&show.name) {
        Ok(shown) => shown,
        Err(refused) => match world.show_related(&show.name) {
            Some(related) => return super::compliance::show::run(session, &related),
            None => return print_refused(&loaded, &refused),
        },
    };
    let survival = match if show.fields { world.survival(&shown.identity()) } else { Ok(None) } {
        Ok(survival) => survival,
        Err(refused) => return print_refused(&loaded, &refused),
    };
    match session.screen.format {
        Format::Table | Format::Wide => {
            let fields = survival.map(|survival| fields(&survival)).unwrap_or_default();
            session.screen.print(&(text(&shown, &loaded.snapshot) + fields));
        }
        Format::Name => print_names([shown.identity()]),
        _ => {
            let mut document = shown.json(&loaded.snapshot);
            if let (Some(survival), Some(fields)) = (survival, document.as_object_mut()) {
                fields.insert("survival".to_owned(), serde_json::json!(survival));
            }
            session.screen.print_data(&document);
        }
    }
    Exit::Yes
}

/// In how many results each field is what holds.
fn fields(survival: &Survival) -> Text {
    let (results, stands) = (survival.results, survival.stands);
    let mut text = text!("\n  matches in {} results, stands in {} of them\n", results, stands);
    for fate in &survival.fields {
        let dies = fate.dies.iter().map(|death| format!("; {} to {}", death.results, death.to));
        let dies: String = dies.collect();
        let (field, at, lives, of) = (&fate.field, &fate.at, fate.lives, fate.of);
        text.push_str(text!("  {}  {}  alive in {} of {}{}\n", field, at, lives, of, dies));
    }
    text
}

fn text(shown: &Shown, snapshot: &Snapshot) -> Text {
    let at = At::of(snapshot.files(), shown.node).map(|at| at.to_string()).unwrap_or_default();
    // Policies about requests are in no mesh, classes of gateways in no namespace.
    let nowhere = dialects().any(|dialect| dialect.is_in_no_scope(&shown.kind, &shown.mesh));
    let mesh = if nowhere { String::new() } else { format!(" in {}", shown.mesh) };
    let mut text = paint(ANSWER, &format!("{} {}{mesh}", shown.kind, shown.name));
    text.push_str(text!("   {}\n", paint(DIM, &at)));
    if let Some(created) = &shown.created {
        text.push_str(text!("  created {}\n", created));
    }
    if !shown.computed.is_empty() {
        let computed: Vec<String> = shown.computed.iter().map(|(name, value)| format!("{name} {value}")).collect();
        text.push_str(text!("  {}\n", computed.join(", ")));
    }
    for (kind, tally) in &shown.counts {
        text.push_str(text!("  {}\n", tally.sentence(kind)));
    }
    if let Some((names, of)) = &shown.attached {
        let shown: Vec<&str> = names.iter().take(8).map(String::as_str).collect();
        let more = if names.len() > shown.len() { ", …" } else { "" };
        let list = if shown.is_empty() { String::new() } else { format!(": {}{more}", shown.join(", ")) };
        text.push_str(text!("  attached to {} of {} proxies{}\n", names.len(), of, list));
    }
    for (role, section, tags) in &shown.parts {
        text.push_str(text!("  {} {}  {}\n", role, section, tags));
    }
    text.push_str("\n");
    text.push_str(source(shown, snapshot));
    text
}

/// The document as it was written.
fn source(shown: &Shown, snapshot: &Snapshot) -> Text {
    let written = snapshot.files().value(shown.node).and_then(|value| {
        let text = snapshot.files().get(shown.node.source)?.tree.text();
        let (start, end) = (value.span().start as usize, value.span().end as usize);
        let line = text.get(..start)?.rfind('\n').map_or(0, |newline| newline + 1);
        Some((text.get(start..end)?, start - line))
    });
    let (written, column) = written.unwrap_or_default();
    // What stands within a list begins further to the right.
    let moved = |line: &str| {
        let blanks = line.len() - line.trim_start_matches(' ').len();
        let line = format!("  {}", line.get(blanks.min(column)..).unwrap_or_default());
        text!("{}\n", line.trim_end())
    };
    written.trim_end().lines().filter(|line| *line != "---").map(moved).collect()
}
