//! Several kinds of policy, a line each.

use std::collections::BTreeSet;

use anstyle::Style;
use upheld_model::State;

use super::more;
use crate::render::Screen;
use crate::render::style::{ANSWER, paint};
use crate::render::table::{Align, Table, wrap};
use crate::render::text::{Text, text};
use crate::report::{Counted, Family, Outcome, Report, Several, Verdict};

/// How many rows are shown before "and N more".
const MOST: usize = 40;

/// All kinds, a line each.
pub(crate) fn overview(about: &str, reports: &[&Report], details: Option<&str>, screen: &Screen) -> Text {
    let placed = reports.iter().any(|report| !place(report).is_empty());
    let mut columns = vec![("KIND", Align::Left)];
    if placed {
        columns.push(("FOR", Align::Left));
    }
    columns.extend([("RESULT", Align::Left), ("FROM", Align::Left), ("BEAT", Align::Right), ("NOTE", Align::Left)]);
    let mut table = Table::new(&columns);
    let limit = if screen.verbose { usize::MAX } else { MOST };
    for report in reports.iter().take(limit) {
        let mut cells = vec![report.kind.clone()];
        if placed {
            cells.push(place(report));
        }
        cells.extend([report.summary.clone(), from(report), beat(report), note(report)]);
        table.row(Style::new(), cells);
    }
    let mut text = paint(ANSWER, &wrap(&sentence(reports, about, placed), screen.width)) + "\n\n";
    text.push_str(table.render(screen.width, if placed { 2 } else { 1 }));
    more(reports.len(), limit, "rows", &mut text);
    if let Some(details) = details {
        text.push_str(text!("\n  Details: {}\n", details));
    }
    text
}

/// The sentence over all of them.
fn sentence(reports: &[&Report], about: &str, placed: bool) -> String {
    let speaking: Vec<&str> =
        reports.iter().filter(|report| !report.policies.is_empty()).map(|report| report.kind.as_str()).collect();
    let several = Several {
        about: about.to_owned(),
        asked: reports.iter().map(|report| report.kind.as_str()).collect::<BTreeSet<_>>().len(),
        applied: speaking.iter().collect::<BTreeSet<_>>().len(),
        speaking: speaking.len(),
        ties: reports.iter().filter(|report| report.is_tie()).count(),
        undecided: reports.iter().filter(|report| report.outcome == Outcome::Undecided).count(),
        counted: if placed { Counted::Places } else { Counted::Kinds },
    };
    several.text()
}

fn from(report: &Report) -> String {
    match (report.policies.as_slice(), report.outcome) {
        ([], _) => report.standing().join(", "),
        ([only], _) => only.clone(),
        (several, Outcome::Merged) if several.len() <= 3 => several.join(", "),
        (several, Outcome::Merged) => format!("{} policies", several.len()),
        (several, _) => {
            let noun = if report.verdict.granted().is_some() { "grants" } else { "policies" };
            format!("{} {noun} (all apply)", several.len())
        }
    }
}

/// How many policies lost.
fn beat(report: &Report) -> String {
    let beaten = report.candidates.iter().filter(|candidate| candidate.state == State::Lost).count();
    let decided = matches!(report.outcome, Outcome::Decided | Outcome::Merged);
    if decided { beaten.to_string() } else { "-".to_owned() }
}

/// Where it holds: `→ meshservice/backend`, `inbound http`, `inbound http ← all others`, `HTTPRoute shop/cart rule 0`.
fn place(report: &Report) -> String {
    let about = &report.about;
    match (about.place.as_deref(), &about.from, &about.to) {
        (Some("outbound"), _, Some(to)) => format!("→ {to}"),
        (Some(place), _, Some(to)) if place.starts_with("outbound") => format!("{place} → {to}"),
        (Some(place), Some(from), Some(_)) => format!("{place} ← {from}"),
        (Some(place), ..) => place.to_owned(),
        (None, ..) if report.family == Family::Hierarchy => about.what.clone(),
        (None, ..) => String::new(),
    }
}

fn note(report: &Report) -> String {
    let notes: Vec<String> = report.notes.iter().map(|note| format!("! {} ({})", note.text, note.code)).collect();
    match report.outcome {
        _ if report.is_tie() && report.family == Family::Select => "! tie, won by name (UP201)".to_owned(),
        _ if !notes.is_empty() => notes.join("; "),
        Outcome::Default => report.default.as_ref().map(|default| default.means.clone()).unwrap_or_default(),
        Outcome::Undecided => "! a fact is missing".to_owned(),
        Outcome::Decided if report.verdict == Verdict::Deny && report.family == Family::Select => {
            "the winner does not grant it".to_owned()
        }
        _ => String::new(),
    }
}
