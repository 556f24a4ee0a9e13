//! `candidates` and `values`: what could be chosen without breaking a policy?

use serde_json::json;
use upheld_answers::compliance::{OfferedObjects, OfferedValues, RecordedValue, RefusedObject, RefusedValue};

use super::{Question, answer};
use crate::cli::{Candidates, Format, Values};
use crate::commands::Session;
use crate::exit::Exit;
use crate::render::table::{Align, Table};
use crate::render::text::{Text, text};
use crate::render::{print_names, style};

pub(in crate::commands) fn candidates(session: &Session<'_>, wanted: &Candidates) -> Exit {
    let Candidates { object, kind, role, person, organisation } = wanted;
    let question = Question { about: "candidates", organisation, person, plan: None };
    let body = json!({"object": object, "kind": kind, "role": role});
    let offered: Result<OfferedObjects, Exit> = answer(session, &question, &body, |asked| {
        asked.candidates(object, kind, role.as_deref(), person.person.as_deref())
    });
    let offered = match offered {
        Ok(offered) => offered,
        Err(exit) => return exit,
    };
    let (names, reasons) = (&offered.candidates, &offered.refused);
    let screen = &session.screen;
    match screen.format {
        Format::Name => print_names(names),
        Format::Json | Format::Yaml | Format::Jsonl => screen.print_data(&json!(offered)),
        Format::Table | Format::Wide => {
            let mut text = text!("{}\n", style::paint(style::ANSWER, &offered.answer));
            if !names.is_empty() {
                text.push_str("\n");
                text.extend(names.iter().map(|name| text!("  {}\n", name)));
            }
            let shown = if screen.verbose || names.is_empty() { reasons.len() } else { 0 };
            if shown > 0 {
                text.push_str(text!("\n{}\n", style::paint(style::HEADING, "  NOT OFFERED")));
                let reason =
                    |RefusedObject { reference, because }: &RefusedObject| text!("  {}: {}\n", reference, because);
                text.extend(reasons.iter().map(reason));
            } else if !reasons.is_empty() {
                let more = text!("\n  {} not offered: --verbose says why\n", reasons.len());
                text.push_str(style::paint(style::DIM, &more));
            }
            screen.print(&text);
        }
    }
    Exit::Yes
}

pub(in crate::commands) fn values(session: &Session<'_>, wanted: &Values) -> Exit {
    let Values { object, tag, person, organisation } = wanted;
    let question = Question { about: "values", organisation, person, plan: None };
    let body = json!({"object": object, "tag": tag});
    let offered: Result<OfferedValues, Exit> =
        answer(session, &question, &body, |asked| asked.values(object, tag, person.person.as_deref()));
    let offered = match offered {
        Ok(offered) => offered,
        Err(exit) => return exit,
    };
    let screen = &session.screen;
    match screen.format {
        Format::Name => print_names(&offered.values),
        Format::Json | Format::Yaml | Format::Jsonl => screen.print_data(&json!(offered)),
        Format::Table | Format::Wide => {
            let policies = |list: &[RecordedValue], value: &String| {
                list.iter().find(|known| known.value == *value).map(|known| known.policies.join(", "))
            };
            let accepted = |value: &String| {
                let recorded =
                    policies(&offered.recorded, value).map(|own| format!(", and recorded as a violation of {own}"));
                let kept = policies(&offered.kept, value).map(|own| format!("; the violation of {own} stays"));
                format!("accepted{}{}", recorded.unwrap_or_default(), kept.unwrap_or_default())
            };
            let rows = offered.values.iter().map(|value| (value.clone(), accepted(value)));
            let refused = offered.refused.iter().cloned();
            let refused = refused.map(|RefusedValue { value, because }| (value, because));
            let rows: Vec<(String, String)> = rows.chain(refused).collect();
            let mut table = Table::new(&[("VALUE", Align::Left), ("ANSWER", Align::Left)]);
            for (value, told) in &rows {
                table.row(style::HEADING, [value.clone(), told.clone()]);
            }
            let table = if rows.is_empty() { Text::default() } else { text!("\n{}", table.render(screen.width, 1)) };
            screen.print(&text!("{}\n{}", style::paint(style::ANSWER, &offered.answer), table));
        }
    }
    Exit::Yes
}
