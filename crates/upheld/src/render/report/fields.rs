//! The fields of a result: what holds, from whom, and what each overrides.

use anstyle::Style;
use serde_json::Value as Json;
use upheld_model::State;

use super::{ROWS, more, place};
use crate::cli::Format;
use crate::render::style::{ANSWER, DIM, paint, state};
use crate::render::table::{Align, Table, wrap};
use crate::render::text::{Text, text};
use crate::render::{Screen, visible};
use crate::report::{Field, Outcome, Overridden, Report, Source, is_within, one_line};

/// All fields; below each what it overrides.
pub(super) fn fields(fields: &[Field], screen: &Screen) -> Text {
    if fields.is_empty() {
        return Text::default();
    }
    let limit = if screen.verbose { usize::MAX } else { ROWS };
    let wide = screen.format == Format::Wide;
    let shown: Vec<&Field> = fields.iter().take(limit).collect();
    let reasoned = shown.iter().any(|field| field.reason.is_some() || !field.over.is_empty());
    let mut columns = vec![("FIELD", Align::Left), ("VALUE", Align::Left), ("FROM", Align::Left), ("AT", Align::Left)];
    if wide {
        columns.extend([("SCOPE", Align::Left), ("VIA", Align::Left)]);
    }
    if reasoned {
        columns.push(("BECAUSE", Align::Left));
    }
    let mut table = Table::new(&columns);
    for field in &shown {
        let mut cells = vec![
            field.name(),
            field.value.as_ref().map_or_else(|| "(not set)".to_owned(), |value| brief(value, screen)),
            field.policies(),
            place(field.at()),
        ];
        if wide {
            cells.extend([field.scope.clone().unwrap_or_default(), via(&field.from)]);
        }
        if reasoned {
            cells.push(field.reason.as_ref().map(|reason| reason.text.clone()).unwrap_or_default());
        }
        table.row(Style::new(), cells);
        for over in &field.over {
            let mut cells =
                vec!["  over".to_owned(), brief(&over.value, screen), over.policy.clone(), place(over.at.as_ref())];
            if wide {
                cells.extend([over.scope.clone().unwrap_or_default(), String::new()]);
            }
            cells.push(lost_to(over));
            table.row(DIM, cells);
        }
    }
    let mut text = table.render(screen.width, 3);
    more(fields.len(), limit, "fields", &mut text);
    text
}

fn via(sources: &[Source]) -> String {
    sources.iter().filter_map(|source| source.via.as_deref()).collect::<Vec<_>>().join(", ")
}

fn lost_to(over: &Overridden) -> String {
    match (&over.taken_by, over.reason.text.as_str()) {
        (Some(by), "") => format!("lost to {by}"),
        (Some(by), reason) => format!("lost to {by}: {reason}"),
        (None, reason) => reason.to_owned(),
    }
}

/// One field: its value, and what every matching policy says of it.
pub(crate) fn field(path: &str, report: &Report, screen: &Screen) -> Text {
    let within = |fields: &[Field]| -> Vec<Field> {
        fields.iter().filter(|field| is_within(&field.path, path)).cloned().collect()
    };
    let show = |fields: &[Field]| match fields {
        [] => "not set".to_owned(),
        [only] if only.path == path => only.text(),
        several => {
            several.iter().map(|field| format!("{}: {}", field.path, field.text())).collect::<Vec<_>>().join(", ")
        }
    };
    let found = within(&report.fields);
    let origin = found.first().map(|field| {
        let at = field.at().map(|at| format!(", {at}")).unwrap_or_default();
        format!("   from {}{at}", field.policies())
    });
    let mut text = if report.outcome == Outcome::Undecided {
        paint(ANSWER, &wrap(&visible(&report.headline.text), screen.width)) + "\n\n"
    } else {
        text!("{}{}\n\n", paint(ANSWER, &format!("{path} = {}", show(&found))), origin.unwrap_or_default())
    };
    let mut table = Table::new(&[
        ("STATE", Align::Left),
        ("POLICY", Align::Left),
        ("VALUE", Align::Left),
        ("BECAUSE", Align::Left),
        ("AT", Align::Left),
    ]);
    if report.candidates.iter().all(|candidate| candidate.fields.is_empty()) || report.about.place.is_some() {
        layered_rows(&found, &mut table);
        text.push_str(table.render(screen.width, 2));
        return text;
    }
    for candidate in report.candidates.iter().filter(|candidate| candidate.matched()) {
        let own = within(&candidate.fields);
        let cells = [
            candidate.state.word().to_owned(),
            candidate.policy.clone(),
            show(&own),
            candidate.reason.text.clone(),
            place(own.first().and_then(Field::at).or(candidate.at.as_ref())),
        ];
        table.row(state(candidate.state), cells);
    }
    if let Some(default) = &report.default {
        let cells = [default.state.word(), &default.name, "not set", &default.reason.text, ""].map(str::to_owned);
        table.row(state(default.state), cells);
    }
    text.push_str(table.render(screen.width, 2));
    text
}

/// Layers are beaten field by field: who sets each leaf, and whom it overrode.
fn layered_rows(found: &[Field], table: &mut Table) {
    let several = found.len() > 1;
    let value = |field: &Field, text: String| if several { format!("{}: {text}", field.path) } else { text };
    for field in found {
        let because = match &field.reason {
            Some(reason) => reason.text.clone(),
            None if field.over.is_empty() => "no other policy sets it".to_owned(),
            None => "the best layer that sets it".to_owned(),
        };
        let cells =
            [State::Won.word().to_owned(), field.policies(), value(field, field.text()), because, place(field.at())];
        table.row(state(State::Won), cells);
        for over in &field.over {
            let cells = [
                State::Lost.word().to_owned(),
                over.policy.clone(),
                value(field, one_line(&over.value)),
                lost_to(over),
                place(over.at.as_ref()),
            ];
            table.row(state(State::Lost), cells);
        }
    }
}

/// A value in a few words: `{allowOrigins: [1 item]}`.
fn brief(value: &Json, screen: &Screen) -> String {
    if screen.verbose { visible(&value.to_string()) } else { shortened(value, 2) }
}

fn shortened(value: &Json, depth: usize) -> String {
    match value {
        Json::String(text) => visible(text),
        Json::Array(items) => match items.as_slice() {
            [] => "[]".to_owned(),
            [only] if !only.is_object() && !only.is_array() => format!("[{}]", shortened(only, 0)),
            [_] => "[1 item]".to_owned(),
            several => format!("[{} items]", several.len()),
        },
        Json::Object(fields) if fields.is_empty() => "{}".to_owned(),
        Json::Object(_) if depth == 0 => "{…}".to_owned(),
        Json::Object(fields) => {
            let shown =
                fields.iter().take(2).map(|(key, value)| format!("{}: {}", visible(key), shortened(value, depth - 1)));
            let more = if fields.len() > 2 { ", …" } else { "" };
            format!("{{{}{more}}}", shown.collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}
