//! Effective policies of gateways for people: what holds, from whom, and what was overridden.

use anstyle::Style;
use serde_json::Value as Json;

use super::style::{ANSWER, DIM, HEADING, WARNING, paint};
use super::table::{Align, Table, indented, wrap};
use super::{Screen, visible};
use crate::cli::Format;
use crate::report::GatewayReport;

/// How many ways are shown before "and N more".
const WAYS: usize = 4;

/// One report in full.
pub(crate) fn one(report: &GatewayReport, screen: &Screen) -> String {
    let mut text = paint(ANSWER, &wrap(&visible(&report.answer), screen.width)) + "\n";
    let limit = if screen.verbose { usize::MAX } else { WAYS };
    for way in report.ways.iter().take(limit) {
        text.push_str(&paint(DIM, &format!("  {}\n", visible(way))));
    }
    if report.ways.len() > limit {
        text.push_str(&paint(DIM, &format!("  … and {} more ways (--verbose shows all)\n", report.ways.len() - limit)));
    }
    let wide = screen.format == Format::Wide;
    if !report.fields.is_empty() {
        let mut columns =
            vec![("FIELD", Align::Left), ("VALUE", Align::Left), ("FROM", Align::Left), ("AT", Align::Left)];
        if wide {
            columns.extend([("SCOPE", Align::Left), ("VIA", Align::Left)]);
        }
        columns.push(("BECAUSE", Align::Left));
        let mut table = Table::new(&columns);
        for field in &report.fields {
            let of = |what: fn(&crate::report::Source) -> String| {
                field.from.iter().map(what).filter(|text| !text.is_empty()).collect::<Vec<_>>().join(", ")
            };
            let at = field.from.first().and_then(|source| source.at.as_ref()).map(ToString::to_string);
            let mut cells = vec![
                field.field.clone(),
                brief(&field.value, screen.verbose),
                of(|source| source.policy.clone()),
                at.unwrap_or_default(),
            ];
            if wide {
                cells.extend([field.scope.to_owned(), of(|source| source.via.clone())]);
            }
            cells.push(field.because.clone());
            table.row(Style::new(), cells);
        }
        text.push('\n');
        text.push_str(&table.render(screen.width, 2));
    }
    if !report.overridden.is_empty() {
        text.push_str(&format!("\n  {}\n", paint(HEADING, "OVERRIDDEN")));
        let mut table = Table::new(&[
            ("FIELD", Align::Left),
            ("VALUE", Align::Left),
            ("FROM", Align::Left),
            ("AT", Align::Left),
            ("BECAUSE", Align::Left),
        ]);
        for lost in &report.overridden {
            let at = lost.at.as_ref().map(ToString::to_string).unwrap_or_default();
            let value = brief(&lost.value, screen.verbose);
            table.row(DIM, [lost.field.clone(), value, lost.policy.clone(), at, lost.because.clone()]);
        }
        text.push_str(&table.render(screen.width, 2));
    }
    if !report.merge.is_empty() {
        text.push('\n');
        text.push_str(&indented(&report.merge, 2, screen.width));
    }
    for broken in &report.broken {
        text.push('\n');
        text.push_str(&indented(&paint(WARNING, &format!("! {}", visible(broken))), 2, screen.width));
    }
    text
}

/// A value in a few words: `{allowOrigins: [1 item]}`.
fn brief(value: &Json, verbose: bool) -> String {
    if verbose {
        return visible(&value.to_string());
    }
    shortened(value, 2)
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
