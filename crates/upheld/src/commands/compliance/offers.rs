//! `candidates` and `values`: what could be chosen without breaking a policy?

use super::{asked, load};
use crate::cli::{Candidates, Format, Values};
use crate::commands::{Session, refuse};
use crate::exit::Exit;
use crate::render::table::{Align, Table};
use crate::render::{print_plain, style};

pub(in crate::commands) fn candidates(session: &Session<'_>, wanted: &Candidates) -> Exit {
    let Some(loaded) = load(session, None) else { return Exit::Failed };
    let Some(asked) = asked(session, &loaded, &wanted.organisation) else { return Exit::Failed };
    let offered =
        match asked.candidates(&wanted.object, &wanted.kind, wanted.role.as_deref(), wanted.person.person.as_deref()) {
            Ok(offered) => offered,
            Err(problems) => return refuse(&problems),
        };
    let (names, reasons) = (&offered.candidates, &offered.refused);
    let screen = &session.screen;
    match screen.format {
        Format::Name => print_plain(&names.iter().map(|name| format!("{name}\n")).collect::<String>()),
        Format::Json | Format::Yaml | Format::Jsonl => screen.print_data(&offered.json()),
        Format::Table | Format::Wide => {
            let mut text = format!("{}\n", style::paint(style::ANSWER, &offered.answer));
            if !names.is_empty() {
                text.push('\n');
                text.extend(names.iter().map(|name| format!("  {name}\n")));
            }
            let shown = if screen.verbose || names.is_empty() { reasons.len() } else { 0 };
            if shown > 0 {
                text.push_str(&format!("\n{}\n", style::paint(style::HEADING, "  NOT OFFERED")));
                text.extend(reasons.iter().map(|(other, why)| format!("  {other}: {why}\n")));
            } else if !reasons.is_empty() {
                let more = format!("\n  {} not offered: --verbose says why\n", reasons.len());
                text.push_str(&style::paint(style::DIM, &more));
            }
            screen.print(&text);
        }
    }
    Exit::Yes
}

pub(in crate::commands) fn values(session: &Session<'_>, wanted: &Values) -> Exit {
    let Some(loaded) = load(session, None) else { return Exit::Failed };
    let Some(asked) = asked(session, &loaded, &wanted.organisation) else { return Exit::Failed };
    let offered = match asked.values(&wanted.object, &wanted.tag, wanted.person.person.as_deref()) {
        Ok(offered) => offered,
        Err(problems) => return refuse(&problems),
    };
    let screen = &session.screen;
    match screen.format {
        Format::Name => print_plain(&offered.values.iter().map(|value| format!("{value}\n")).collect::<String>()),
        Format::Json | Format::Yaml | Format::Jsonl => screen.print_data(&offered.json()),
        Format::Table | Format::Wide => {
            let recorded = |value: &String| offered.recorded.iter().find(|(known, _)| known == value);
            let accepted = |value: &String| match recorded(value) {
                Some((_, policies)) => format!("accepted, and recorded as a violation of {}", policies.join(", ")),
                None => "accepted".to_owned(),
            };
            let rows = offered.values.iter().map(|value| (value.clone(), accepted(value)));
            let rows: Vec<(String, String)> = rows.chain(offered.refused.iter().cloned()).collect();
            let mut table = Table::new(&[("VALUE", Align::Left), ("ANSWER", Align::Left)]);
            for (value, told) in &rows {
                table.row(style::HEADING, [value.clone(), told.clone()]);
            }
            let table = if rows.is_empty() { String::new() } else { format!("\n{}", table.render(screen.width, 1)) };
            screen.print(&format!("{}\n{table}", style::paint(style::ANSWER, &offered.answer)));
        }
    }
    Exit::Yes
}
