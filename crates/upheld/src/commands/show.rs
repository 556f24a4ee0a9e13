//! `show`: one policy or object, with what it says and where it counts.

use upheld_answers::shown::Shown;
use upheld_answers::{Survival, World};
use upheld_dialects::dialects;
use upheld_engine::Snapshot;

use super::{Session, print_refused};
use crate::cli::{Format, Show};
use crate::exit::Exit;
use crate::render::print_plain;
use crate::render::style::{ANSWER, DIM, paint};
use crate::report::{At, visible};

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
            session.screen.print(&(text(&shown, &loaded.snapshot) + &fields));
        }
        Format::Name => print_plain(&format!("{}\n", shown.identity())),
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
fn fields(survival: &Survival) -> String {
    let (results, stands) = (survival.results, survival.stands);
    let mut text = format!("\n  matches in {results} results, stands in {stands} of them\n");
    for fate in &survival.fields {
        let dies = fate.dies.iter().map(|death| format!("; {} to {}", death.results, visible(&death.to)));
        let dies: String = dies.collect();
        let (field, at, lives, of) = (visible(&fate.field), &fate.at, fate.lives, fate.of);
        text.push_str(&format!("  {field}  {at}  alive in {lives} of {of}{dies}\n"));
    }
    text
}

fn text(shown: &Shown, snapshot: &Snapshot) -> String {
    let at = At::of(snapshot.files(), shown.node).map(|at| at.to_string()).unwrap_or_default();
    // Policies about requests are in no mesh, classes of gateways in no namespace.
    let nowhere = dialects().any(|dialect| dialect.is_in_no_scope(&shown.kind, &shown.mesh));
    let mesh = if nowhere { String::new() } else { format!(" in {}", shown.mesh) };
    let mut text = paint(ANSWER, &format!("{} {}{mesh}", shown.kind, shown.name));
    text.push_str(&format!("   {}\n", paint(DIM, &at)));
    if let Some(created) = &shown.created {
        text.push_str(&format!("  created {created}\n"));
    }
    if !shown.computed.is_empty() {
        let computed: Vec<String> = shown.computed.iter().map(|(name, value)| format!("{name} {value}")).collect();
        text.push_str(&format!("  {}\n", computed.join(", ")));
    }
    for (kind, tally) in &shown.counts {
        text.push_str(&format!("  {}\n", tally.sentence(kind)));
    }
    if let Some((names, of)) = &shown.attached {
        let shown: Vec<&str> = names.iter().take(8).map(String::as_str).collect();
        let more = if names.len() > shown.len() { ", …" } else { "" };
        let list = if shown.is_empty() { String::new() } else { format!(": {}{more}", shown.join(", ")) };
        text.push_str(&format!("  attached to {} of {of} proxies{list}\n", names.len()));
    }
    for (role, section, tags) in &shown.parts {
        text.push_str(&format!("  {role} {section}  {tags}\n"));
    }
    text.push('\n');
    text.push_str(&source(shown, snapshot));
    text
}

/// The document as it was written.
fn source(shown: &Shown, snapshot: &Snapshot) -> String {
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
        format!("  {}", line.get(blanks.min(column)..).unwrap_or_default()).trim_end().to_owned() + "\n"
    };
    written.trim_end().lines().filter(|line| *line != "---").map(moved).collect()
}
