//! Reports for people, of all families alike: the answer, the result with its origin, then who won, lost and did not match.

mod details;
mod fields;
mod overview;

use serde_json::Value as Json;
use upheld_model::State;

pub(crate) use self::details::fixes;
use self::details::{decision, relation};
pub(crate) use self::fields::field;
use self::fields::fields;
pub(crate) use self::overview::overview;
use super::style::{ANSWER, DIM, WARNING, by_state, paint, state};
use super::table::{Align, Table, indented, wrap};
use super::text::{Text, text};
use super::{Screen, visible};
use crate::cli::Format;
use crate::report::{Candidate, DefaultRow, Fact, Family, Holds, Report};

/// How many rows of a sort are shown before "and N more".
const ROWS: usize = 8;

/// How many ways of requests are shown before "and N more".
const WAYS: usize = 4;

/// One report in full.
pub(crate) fn one(report: &Report, screen: &Screen) -> Text {
    let mut text = paint(ANSWER, &wrap(&visible(&report.headline.text), screen.width)) + "\n";
    text.push_str(ways(report, screen));
    if let Some(description) =
        report.decision().and_then(|detail| detail.reason.as_deref()).filter(|_| !report.policies.is_empty())
    {
        text.push_str("\n");
        text.push_str(indented(&format!("\"{}\"", visible(description)), 2, screen.width));
    }
    for part in [fields(&report.fields, screen), candidates(report, screen)] {
        if !part.is_empty() {
            text.push_str("\n");
            text.push_str(part);
        }
    }
    text.push_str(report.decision().map(|detail| decision(report, detail, screen)).unwrap_or_default());
    text.push_str(report.relation().map(|detail| relation(detail, screen)).unwrap_or_default());
    let ranking = report.ranking.iter().map(|ranking| text!("{}", ranking.text));
    let notes = report.notes.iter().map(|note| paint(WARNING, &format!("! {} ({})", visible(&note.text), note.code)));
    for remark in ranking.chain(notes) {
        text.push_str("\n");
        text.push_str(indented(&remark, 2, screen.width));
    }
    text
}

/// The ways of requests through gateways that get this answer.
fn ways(report: &Report, screen: &Screen) -> Text {
    if report.family != Family::Hierarchy {
        return Text::default();
    }
    let limit = if screen.verbose { usize::MAX } else { WAYS };
    let ways = &report.about.holds_for;
    let mut text: Text = ways.iter().take(limit).map(|way| paint(DIM, &text!("  {}\n", visible(way)))).collect();
    more(ways.len(), limit, "ways", &mut text);
    text
}

/// Every policy that was looked at; what it was matched and ranked by are the columns between.
fn candidates(report: &Report, screen: &Screen) -> Text {
    let wide = screen.format == Format::Wide;
    let names = columns_of(&report.candidates);
    let numeric = |name: &str| {
        let mut facts = report.candidates.iter().flat_map(|candidate| &candidate.facts);
        facts.find(|fact| fact.name == name).is_some_and(|fact| fact.value.is_number())
    };
    let headings: Vec<String> = names.iter().map(|name| name.to_uppercase()).collect();
    let mut columns = vec![("STATE", Align::Left), ("POLICY", Align::Left)];
    columns.extend(
        headings
            .iter()
            .zip(&names)
            .map(|(heading, name)| (heading.as_str(), if numeric(name) { Align::Right } else { Align::Left })),
    );
    if wide {
        columns.push(("CODE", Align::Left));
    }
    columns.extend([("BECAUSE", Align::Left), ("AT", Align::Left)]);
    let mut table = Table::new(&columns);
    let limit = |state: State| match (&screen.wanted, state.matched()) {
        // What was asked for is shown.
        (Some(wanted), false) => wanted.most(),
        _ if screen.verbose => usize::MAX,
        _ => ROWS,
    };
    let (shown, cut) = by_state(&report.candidates, limit, |candidate| candidate.state);
    let left_out = cut + report.left_out;
    let mut rows = 0;
    for candidate in shown {
        table.row(state(candidate.state), cells(candidate, &names, screen));
        rows += 1;
    }
    if let Some(default) = report.default.as_ref().filter(|default| is_shown(report, default, screen)) {
        table.row(state(default.state), default_cells(default, &names, screen));
        rows += 1;
    }
    if rows == 0 {
        return Text::default();
    }
    let mut text = table.render(screen.width, 2);
    if left_out > 0 {
        text.push_str(paint(DIM, &text!("  … and {} more (--verbose shows all)\n", left_out)));
    }
    text
}

/// What candidates were matched and ranked by, in the order that all of them have it in: not every one has everything.
fn columns_of(candidates: &[Candidate]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for candidate in candidates {
        let mut place = 0;
        for fact in &candidate.facts {
            match names.iter().position(|name| *name == fact.name) {
                Some(known) => place = place.max(known + 1),
                None => {
                    names.insert(place, &fact.name);
                    place += 1;
                }
            }
        }
    }
    names
}

/// The default of decisions is always worth a row; others only where they stand.
fn is_shown(report: &Report, default: &DefaultRow, screen: &Screen) -> bool {
    default.state == State::Won || report.family == Family::Decide || screen.verbose
}

fn cells(candidate: &Candidate, names: &[&str], screen: &Screen) -> Vec<String> {
    let mut cells = vec![candidate.state.word().to_owned(), candidate.title()];
    for name in names {
        let own: Vec<String> =
            candidate.facts.iter().filter(|fact| fact.name == *name).map(|fact| fact_text(fact, screen)).collect();
        cells.push(if own.is_empty() { "-".to_owned() } else { own.join("; ") });
    }
    if screen.format == Format::Wide {
        cells.push(candidate.reason.code.to_string());
    }
    cells.extend([candidate.reason.text.clone(), place(candidate.at.as_ref())]);
    cells
}

fn default_cells(default: &DefaultRow, names: &[&str], screen: &Screen) -> Vec<String> {
    let mut cells = vec![default.state.word().to_owned(), default.name.clone()];
    let effect = names.contains(&"effect");
    cells.extend(names.iter().map(|name| if *name == "effect" { default.means.clone() } else { "-".to_owned() }));
    if screen.format == Format::Wide {
        cells.push(default.reason.code.to_string());
    }
    let because = match default.state {
        State::Won if effect || default.means == default.reason.text => default.reason.text.clone(),
        State::Won => format!("{}: {}", default.means, default.reason.text),
        _ => default.reason.text.clone(),
    };
    cells.extend([because, place(default.at.as_ref())]);
    cells
}

/// A value, with a mark where it says what is wanted.
fn fact_text(fact: &Fact, screen: &Screen) -> String {
    let value = match &fact.value {
        Json::String(text) => text.clone(),
        other => other.to_string(),
    };
    let mark = match (fact.holds, screen.ascii) {
        (None, _) => return value,
        (Some(Holds::Yes), false) => "✓",
        (Some(Holds::Yes), true) => "ok",
        (Some(Holds::No), false) => "✗",
        (Some(Holds::No), true) => "no",
        (Some(Holds::Unknown), _) => "?",
    };
    match fact.others {
        0 => format!("{value} {mark}"),
        others => format!("{value} (+{others}) {mark}"),
    }
}

fn place(at: Option<&crate::report::At>) -> String {
    at.map(ToString::to_string).unwrap_or_default()
}

fn more(count: usize, limit: usize, noun: &str, text: &mut Text) {
    if count > limit {
        text.push_str(paint(DIM, &text!("  … and {} more {} (--verbose shows all)\n", count - limit, noun)));
    }
}
