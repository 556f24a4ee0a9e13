//! `waivers`: which cover something, and which are good for nothing any more?

use serde_json::json;
use upheld_answers::compliance::WaiverQuestion;

use super::{Question, answer};
use crate::cli::{Format, Person, Waivers};
use crate::commands::Session;
use crate::exit::Exit;
use crate::render::table::{Align, Table};
use crate::render::text::{Text, text};
use crate::render::{print_names, style};
use crate::report::compliance::{ListedWaivers, WaiverLine, WaiverState};
use crate::report::counted;

pub(in crate::commands) fn run(session: &Session<'_>, wanted: &Waivers) -> Exit {
    let body = WaiverQuestion { unused: wanted.unused, expired: wanted.expired, expiring: wanted.expiring };
    let question =
        Question { about: "waivers", organisation: &wanted.organisation, person: &Person::default(), plan: None };
    let listed = answer(session, &question, &body, |asked| Ok(asked.waivers(&body)));
    let ListedWaivers { waivers: lines, all } = match listed {
        Ok(listed) => listed,
        Err(exit) => return exit,
    };
    let screen = &session.screen;
    match screen.format {
        Format::Json | Format::Yaml => screen.print_data(&json!({"waivers": lines})),
        Format::Jsonl => lines.iter().for_each(|line| screen.print_data(line)),
        Format::Name => print_names(lines.iter().map(|line| &line.id)),
        Format::Table | Format::Wide => screen.print(&text(&lines, all, screen.width)),
    }
    Exit::Yes
}

fn text(lines: &[WaiverLine], all: usize, width: Option<usize>) -> Text {
    let count = |state: WaiverState| lines.iter().filter(|line| line.state == state).count();
    let told: Vec<String> = WaiverState::ALL
        .into_iter()
        .filter(|state| count(*state) > 0)
        .map(|state| format!("{} {}", count(state), state.name()))
        .collect();
    let answer = match (lines.len(), all) {
        (0, 0) => "There are no waivers.".to_owned(),
        (0, all) => format!("None of {} is like that.", counted(all, "waiver", "waivers")),
        (some, _) => format!("{}: {}.", counted(some, "waiver", "waivers"), told.join(", ")),
    };
    let mut text = text!("{}\n", style::paint(style::ANSWER, &answer));
    if lines.is_empty() {
        return text;
    }
    let mut table = Table::new(&[
        ("WAIVER", Align::Left),
        ("STATE", Align::Left),
        ("POLICY", Align::Left),
        ("COVERS", Align::Right),
        ("UNTIL", Align::Left),
        ("REASON", Align::Left),
    ]);
    for line in lines {
        table.row(
            style::HEADING,
            [
                line.id.clone(),
                line.state.name().to_owned(),
                line.policy.clone(),
                line.covers.to_string(),
                line.expires.clone().unwrap_or_else(|| "-".to_owned()),
                line.reason.clone(),
            ],
        );
    }
    text.push_str("\n");
    text.push_str(table.render(width, 1));
    text
}
