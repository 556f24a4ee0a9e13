//! Explanations for people: the answer, the result with its origin, then who won, lost and did not match.

use anstyle::Style;
use unicode_width::UnicodeWidthStr;
use upheld_model::State;

use super::style::{ANSWER, DIM, WARNING, by_state, paint, state};
use super::table::{Align, Table, indented, wrap};
use super::{Screen, visible};
use crate::cli::Format;
use crate::report::{Candidate, Explanation, Field, Outcome, is_within};

/// How many rows of a sort are shown before "and N more".
const ROWS: usize = 8;

/// How many places of a proxy are shown before "and N more".
const PLACES: usize = 40;

/// One kind in full.
pub(crate) fn one(explanation: &Explanation, screen: &Screen) -> String {
    let mut text = paint(ANSWER, &wrap(&visible(&explanation.answer), screen.width)) + "\n";
    let limit = if screen.verbose { usize::MAX } else { ROWS };
    if !explanation.fields.is_empty() {
        text.push('\n');
        text.push_str(&fields(&explanation.fields, limit, screen.width));
    }
    text.push('\n');
    text.push_str(&candidates(explanation, screen));
    let mut remarks = Vec::new();
    if !explanation.ranking.is_empty() {
        remarks.push(explanation.ranking.clone());
    }
    remarks.extend(explanation.notes.iter().map(|note| paint(WARNING, &format!("! {} ({})", note.text, note.code))));
    for remark in remarks {
        text.push('\n');
        text.push_str(&indented(&remark, 2, screen.width));
    }
    text
}

fn fields(fields: &[Field], limit: usize, width: Option<usize>) -> String {
    let shown = fields.iter().take(limit);
    let widest = |of: fn(&Field) -> String| shown.clone().map(|field| of(field).width()).max().unwrap_or(0);
    let (names, values) = (widest(Field::name), widest(Field::text).clamp(30, 60));
    let padded = |text: String, width: usize| format!("{text}{}", " ".repeat(width.saturating_sub(text.width())));
    let mut text = String::new();
    for field in shown {
        let at = field.at.as_ref().map(ToString::to_string).unwrap_or_default();
        let (name, value) = (padded(field.name(), names), padded(field.text(), values));
        let fits = width.is_none_or(|width| 8 + names + values + at.width() <= width);
        if fits {
            text.push_str(format!("  {name}   {value}   {}", paint(DIM, &at)).trim_end());
            text.push('\n');
        } else {
            text.push_str(format!("  {name}   {value}").trim_end());
            text.push('\n');
            text.push_str(&indented(&paint(DIM, &at), 5 + names, None));
        }
        for over in &field.over {
            let at = over.at.as_ref().map(|at| format!(", {at}")).unwrap_or_default();
            let because = if over.because.is_empty() { String::new() } else { format!(": {}", over.because) };
            let line = format!("over {} of {}{at}{because}", one_line(&over.value), over.policy);
            text.push_str(&indented(&paint(DIM, &line), 5 + names, width));
        }
    }
    more(fields.len(), limit, "fields", &mut text);
    text
}

/// A value in one line.
fn one_line(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::String(text) => visible(text),
        other => other.to_string(),
    }
}

fn candidates(explanation: &Explanation, screen: &Screen) -> String {
    let wide = screen.format == Format::Wide;
    // Layers are not ranked by tags.
    let counted = explanation.place.is_none();
    let mut columns = vec![("STATE", Align::Left), ("POLICY", Align::Left)];
    if counted {
        columns.extend([("TAGS", Align::Right), ("EXACT", Align::Right), ("WILD", Align::Right)]);
    }
    if wide {
        columns.push(("CODE", Align::Left));
    }
    columns.extend([("BECAUSE", Align::Left), ("AT", Align::Left)]);
    let mut table = Table::new(&columns);
    let limit = if screen.verbose { usize::MAX } else { ROWS };
    let (shown, left_out) = by_state(&explanation.candidates, limit, |candidate| candidate.state);
    for candidate in shown {
        table.row(state(candidate.state), candidate_cells(candidate, &columns));
    }
    let default = &explanation.default;
    if default.state == State::Won || screen.verbose {
        let mut cells = vec![default.state.word().to_owned(), default.name.clone()];
        if counted {
            cells.extend(["-", "-", "-"].map(str::to_owned));
        }
        if wide {
            cells.push(default.code.to_owned());
        }
        cells.extend([
            if default.state == State::Won { default.means.clone() } else { default.because.clone() },
            String::new(),
        ]);
        table.row(state(default.state), cells);
    }
    let mut text = table.render(screen.width, 2);
    if left_out > 0 {
        text.push_str(&paint(DIM, &format!("  … and {left_out} more (--verbose shows all)")));
        text.push('\n');
    }
    text
}

fn candidate_cells(candidate: &Candidate, columns: &[(&str, Align)]) -> Vec<String> {
    let has = |name: &str| columns.iter().any(|(known, _)| *known == name);
    let number = |number: Option<u32>| number.map_or("-".to_owned(), |number| number.to_string());
    let name = match candidate.selector {
        Some(selector) => format!("{}[{selector}]", candidate.policy),
        None => candidate.policy.clone(),
    };
    let mut cells = vec![candidate.state.word().to_owned(), name];
    if has("TAGS") {
        let counts = [candidate.tags, candidate.exact.map(u32::from), candidate.wildcards.map(u32::from)];
        cells.extend(counts.map(number));
    }
    if has("CODE") {
        cells.push(candidate.code.to_owned());
    }
    cells.extend([candidate.because.clone(), candidate.at.as_ref().map(ToString::to_string).unwrap_or_default()]);
    cells
}

fn more(count: usize, limit: usize, noun: &str, text: &mut String) {
    if count > limit {
        text.push_str(&paint(DIM, &format!("  … and {} more {noun} (--verbose shows all)\n", count - limit)));
    }
}

/// All kinds, a line each.
pub(crate) fn overview(answer: &str, explanations: &[Explanation], details: Option<&str>, screen: &Screen) -> String {
    let placed = explanations.iter().any(|explanation| explanation.place.is_some());
    let mut columns = vec![("KIND", Align::Left)];
    if placed {
        columns.push(("FOR", Align::Left));
    }
    columns.extend([("RESULT", Align::Left), ("FROM", Align::Left), ("BEAT", Align::Right), ("NOTE", Align::Left)]);
    let mut table = Table::new(&columns);
    let limit = if screen.verbose { usize::MAX } else { PLACES };
    for explanation in explanations.iter().take(limit) {
        let decided = matches!(explanation.outcome, Outcome::Decided | Outcome::Merged);
        let beaten = explanation.candidates.iter().filter(|candidate| candidate.state == State::Lost).count();
        let from = match (explanation.policies.as_slice(), explanation.outcome) {
            ([], Outcome::Undecided) => "(undecided)".to_owned(),
            ([], _) => explanation.default.name.clone(),
            ([only], _) => only.clone(),
            (several, Outcome::Merged) if several.len() <= 3 => several.join(", "),
            (several, Outcome::Merged) => format!("{} policies", several.len()),
            (several, _) => {
                let noun = if explanation.granted.is_some() { "grants" } else { "policies" };
                format!("{} {noun} (all apply)", several.len())
            }
        };
        let beat = if decided { beaten.to_string() } else { "-".to_owned() };
        let mut cells = vec![explanation.kind.clone()];
        if placed {
            cells.push(place(explanation));
        }
        cells.extend([explanation.summary.clone(), from, beat, note(explanation)]);
        table.row(Style::new(), cells);
    }
    let mut text = paint(ANSWER, &wrap(answer, screen.width)) + "\n\n";
    text.push_str(&table.render(screen.width, if placed { 2 } else { 1 }));
    more(explanations.len(), limit, "rows", &mut text);
    if let Some(details) = details {
        text.push_str(&format!("\n  Details: {details}\n"));
    }
    text
}

/// Where in a proxy an explanation holds: `→ meshservice/backend`, `inbound http`, `inbound http ← all others`.
fn place(explanation: &Explanation) -> String {
    match (explanation.place.as_deref(), &explanation.from, &explanation.to) {
        (Some("outbound"), _, Some(to)) => format!("→ {to}"),
        (Some(place), _, Some(to)) if place.starts_with("outbound") => format!("{place} → {to}"),
        (Some(place), Some(from), Some(_)) => format!("{place} ← {from}"),
        (Some(place), ..) => place.to_owned(),
        (None, ..) => String::new(),
    }
}

fn note(explanation: &Explanation) -> String {
    let tie = explanation.rung.as_ref().is_some_and(|rung| rung.arbitrary);
    let told = || explanation.notes.iter().map(|note| format!("! {} ({})", note.text, note.code)).collect::<Vec<_>>();
    match explanation.outcome {
        // Layers have the tie among their notes.
        _ if tie && explanation.place.is_none() => "! tie, won by name (UP201)".to_owned(),
        _ if !explanation.notes.is_empty() => told().join("; "),
        Outcome::Default => explanation.default.means.clone(),
        Outcome::Undecided => "! a fact is missing".to_owned(),
        Outcome::Decided if explanation.granted == Some(false) && explanation.place.is_none() => {
            "the winner does not grant it".to_owned()
        }
        _ => String::new(),
    }
}

/// One field: its value, and what every matching policy says of it.
pub(crate) fn field(path: &str, explanation: &Explanation, screen: &Screen) -> String {
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
    let found = within(&explanation.fields);
    let origin = found.first().map(|field| {
        let at = field.at.as_ref().map(|at| format!(", {at}")).unwrap_or_default();
        format!("   from {}{at}", field.policy)
    });
    let mut text = if explanation.outcome == Outcome::Undecided {
        paint(ANSWER, &wrap(&visible(&explanation.answer), screen.width)) + "\n\n"
    } else {
        paint(ANSWER, &format!("{path} = {}", show(&found))) + &origin.unwrap_or_default() + "\n\n"
    };
    let mut table = Table::new(&[
        ("STATE", Align::Left),
        ("POLICY", Align::Left),
        ("VALUE", Align::Left),
        ("BECAUSE", Align::Left),
        ("AT", Align::Left),
    ]);
    if explanation.place.is_some() {
        layered_rows(&found, &mut table);
        text.push_str(&table.render(screen.width, 2));
        return text;
    }
    for candidate in explanation.candidates.iter().filter(|candidate| candidate.matched()) {
        let own = within(&candidate.fields);
        let at = own.first().and_then(|field| field.at.as_ref()).or(candidate.at.as_ref());
        let cells = [
            candidate.state.word().to_owned(),
            candidate.policy.clone(),
            show(&own),
            candidate.because.clone(),
            at.map(ToString::to_string).unwrap_or_default(),
        ];
        table.row(state(candidate.state), cells);
    }
    let default = &explanation.default;
    let cells = [default.state.word(), &default.name, "not set", &default.because, ""].map(str::to_owned);
    table.row(state(default.state), cells);
    text.push_str(&table.render(screen.width, 2));
    text
}

/// Layers are beaten field by field: who sets each leaf, and whom it overrode.
fn layered_rows(found: &[Field], table: &mut Table) {
    let several = found.len() > 1;
    let value = |field: &Field, text: String| if several { format!("{}: {text}", field.path) } else { text };
    for field in found {
        let at = |at: &Option<crate::report::At>| at.as_ref().map(ToString::to_string).unwrap_or_default();
        let because = if field.over.is_empty() { "nobody else sets it" } else { "the best layer that sets it" };
        let cells = [
            State::Won.word().to_owned(),
            field.policy.clone(),
            value(field, field.text()),
            because.to_owned(),
            at(&field.at),
        ];
        table.row(state(State::Won), cells);
        for over in &field.over {
            let because = format!("{} is better: {}", field.policy, over.because);
            let cells = [
                State::Lost.word().to_owned(),
                over.policy.clone(),
                value(field, one_line(&over.value)),
                because,
                at(&over.at),
            ];
            table.row(state(State::Lost), cells);
        }
    }
}
