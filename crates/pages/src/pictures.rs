//! Pictures: who reaches whom, and when something was written. Drawn with classes only, so that the style sheet colours them; whatever they
//! say stands in a table or list beside them, too.

use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, html};
use serde_json::Value as Json;
use upheld_report::{counted, visible};

use crate::address::Address;
use crate::history::{between, changes};
use crate::seen::{Seen, joined};

/// Rows and columns that are drawn at the most; beyond that, neighbours are drawn as one.
const SIDE: usize = 32;
/// Different answers that have a colour and a letter of their own.
const COLOURS: usize = 8;
const LETTERS: [&str; COLOURS] = ["A", "B", "C", "D", "E", "F", "G", "H"];
/// How large a square is.
const SQUARE: usize = 22;
/// How wide a letter of a name is, at the most.
const LETTER: usize = 7;
/// So much of a name is written; the rest is in the table.
const LETTERS_OF_A_NAME: usize = 18;

/// Who may reach whom, or which policy governs, as squares: callers down, what is called across.
pub(crate) fn matrix(mesh: &Json) -> Markup {
    let cells = mesh.items("cells");
    let drawn = Drawn::of(cells);
    if drawn.rows.is_empty() || drawn.columns.is_empty() {
        return html! {};
    }
    // Names across lean to the right: they take less room than they are long.
    let long = |sides: &[Side]| sides.iter().map(|side| short(side).chars().count()).max().unwrap_or_default();
    let named = [long(&drawn.rows) * LETTER + 12, long(&drawn.columns) * LETTER * 2 / 3 + 12];
    let room = if drawn.is_aggregated() { [0, 0] } else { named };
    let (width, height) = (room[0] + drawn.columns.len() * SQUARE + room[1], room[1] + drawn.rows.len() * SQUARE);
    html! {
        figure.matrix {
            div.scroll role="region" aria-label="Picture of who reaches whom" tabindex="0" {
                svg viewBox=(format!("0 0 {width} {height}")) width=(width) height=(height) aria-hidden="true" {
                    @if !drawn.is_aggregated() { (names(&drawn, room)) }
                    @for (number, row) in drawn.squares.iter().enumerate() {
                        @let y = room[1] + number * SQUARE;
                        @for run in runs(row) {
                            @let x = room[0] + run.begin * SQUARE;
                            g class=(drawn.class(run.answer)) {
                                rect x=(x) y=(y) width=(run.length * SQUARE - 2) height=(SQUARE - 2) rx="2" { title { (drawn.told(number, &run)) } }
                                @if let Some(own) = letter(run.answer) { text x=(x + SQUARE / 2 - 1) y=(y + SQUARE / 2 + 3) { (own) } }
                            }
                        }
                    }
                }
            }
            ul.legend {
                @for (number, (answer, pairs)) in drawn.answers.iter().enumerate().take(COLOURS) {
                    li { (swatch(&drawn.class(Some(number)), letter(Some(number)))) " " (visible(answer)) " " small { (counted_pairs(*pairs)) } }
                }
                @let others: u64 = drawn.answers.iter().skip(COLOURS).map(|(_, pairs)| pairs).sum();
                @if others > 0 { li { (swatch("others", None)) " " (drawn.answers.len() - COLOURS) " other answers " small { (counted_pairs(others)) } } }
            }
            figcaption {
                "Callers down, what they call across"
                @if drawn.is_aggregated() { "; neighbours that differ are one square with the answer that most of their pairs have" }
                ". The tables say the same."
            }
        }
    }
}

/// Who the rows and columns are.
fn names(drawn: &Drawn, room: [usize; 2]) -> Markup {
    html! {
        @for (number, row) in drawn.rows.iter().enumerate() {
            text.name x=(room[0] - 8) y=(room[1] + number * SQUARE + SQUARE / 2 + 3) { (short(row)) }
        }
        @for (number, column) in drawn.columns.iter().enumerate() {
            @let (x, y) = (room[0] + number * SQUARE + SQUARE / 2, room[1] - 6);
            text.name.top x=(x) y=(y) transform=(format!("rotate(-40 {x} {y})")) { (short(column)) }
        }
    }
}

/// A name that fits, and how many are like it.
fn short(side: &Side) -> String {
    let name = visible(&side.first);
    let mark = if name.chars().count() > LETTERS_OF_A_NAME { "…" } else { "" };
    let more = if side.count > 1 { format!(" +{}", side.count - 1) } else { String::new() };
    format!("{}{mark}{more}", name.chars().take(LETTERS_OF_A_NAME).collect::<String>())
}

fn counted_pairs(pairs: u64) -> String {
    counted(usize::try_from(pairs).unwrap_or(usize::MAX), "pair", "pairs")
}

fn swatch(class: &str, letter: Option<&str>) -> Markup {
    html! {
        svg.swatch viewBox="0 0 22 22" width="18" height="18" aria-hidden="true" {
            g class=(class) { rect width="20" height="20" rx="2" {} @if let Some(letter) = letter { text x="10" y="14" { (letter) } } }
        }
    }
}

/// Callers, or what is called, that are drawn as one.
#[derive(Debug)]
struct Side {
    first: String,
    /// How many they are.
    count: u64,
}

/// A matrix that can be looked at.
#[derive(Debug)]
struct Drawn {
    rows: Vec<Side>,
    columns: Vec<Side>,
    /// What can be the answer, with how many pairs have it, the most frequent first.
    answers: Vec<(String, u64)>,
    /// By row and column, the answer that most pairs have.
    squares: Vec<Vec<Option<usize>>>,
    /// How many rows and columns there were.
    cells: [usize; 2],
}

impl Drawn {
    fn of(cells: &[Json]) -> Self {
        let mut pairs: BTreeMap<String, u64> = BTreeMap::new();
        for cell in cells {
            *pairs.entry(answer(cell)).or_default() += cell.number("pairs");
        }
        let mut answers: Vec<(String, u64)> = pairs.into_iter().collect();
        answers.sort_by(|(one, few), (other, many)| many.cmp(few).then_with(|| one.cmp(other)));
        let number: BTreeMap<&str, usize> =
            answers.iter().enumerate().map(|(number, (name, _))| (name.as_str(), number)).collect();
        let (rows, row_of) = side(cells, "from", "proxies");
        let (columns, column_of) = side(cells, "to", "destinations");
        let mut votes: Vec<Vec<BTreeMap<usize, u64>>> = vec![vec![BTreeMap::new(); columns.len()]; rows.len()];
        for cell in cells {
            let place = (row_of.get(&key(cell, "from", "proxies")), column_of.get(&key(cell, "to", "destinations")));
            let (Some(row), Some(column)) = place else { continue };
            let square = votes.get_mut(*row).and_then(|row| row.get_mut(*column));
            if let (Some(square), Some(answer)) = (square, number.get(answer(cell).as_str())) {
                *square.entry(*answer).or_default() += cell.number("pairs");
            }
        }
        let most = |square: &BTreeMap<usize, u64>| {
            square.iter().max_by(|one, other| one.1.cmp(other.1).then(other.0.cmp(one.0))).map(|(answer, _)| *answer)
        };
        let squares = votes.iter().map(|row| row.iter().map(most).collect()).collect();
        let cells = [row_of.len(), column_of.len()];
        Self { rows, columns, answers, squares, cells }
    }

    fn is_aggregated(&self) -> bool {
        self.cells != [self.rows.len(), self.columns.len()]
    }

    fn class(&self, answer: Option<usize>) -> String {
        let name = answer.and_then(|answer| self.answers.get(answer)).map(|(name, _)| name.as_str());
        match (answer, name) {
            (_, Some(NONE | DENIED)) => "none".to_owned(),
            (Some(number), _) if number < COLOURS => format!("c{number}"),
            (Some(_), _) => "others".to_owned(),
            (None, _) => "nothing".to_owned(),
        }
    }

    /// What stands at a square, in words.
    fn told(&self, row: usize, run: &Run) -> String {
        let name = |side: Option<&Side>| side.map(|side| like(&side.first, side.count)).unwrap_or_default();
        let called = match run.length {
            1 => name(self.columns.get(run.begin)),
            several => format!("{several} columns from {}", name(self.columns.get(run.begin))),
        };
        let answer = run.answer.and_then(|answer| self.answers.get(answer)).map_or("no pair", |(name, _)| name);
        format!("{} → {called}: {}", name(self.rows.get(row)), visible(answer))
    }
}

fn letter(answer: Option<usize>) -> Option<&'static str> {
    LETTERS.get(answer?).copied()
}

/// What a cell says where nobody says anything, and where nobody is let through.
const NONE: &str = "(none)";
const DENIED: &str = "not granted";

fn answer(cell: &Json) -> String {
    if cell.part("granted") == &Json::Bool(false) {
        return DENIED.to_owned();
    }
    let policies = joined(cell.items("policies"));
    if policies.is_empty() { NONE.to_owned() } else { policies }
}

fn like(first: &str, count: u64) -> String {
    let first = visible(first);
    if count > 1 { format!("{first} and {} more", count - 1) } else { first }
}

type Key<'j> = (&'j str, u64);

fn key<'j>(cell: &'j Json, name: &str, count: &str) -> Key<'j> {
    (cell.raw(name), cell.number(count))
}

/// One side of the matrix, neighbours together where there are too many; and where each of them went.
fn side<'j>(cells: &'j [Json], name: &str, count: &str) -> (Vec<Side>, BTreeMap<Key<'j>, usize>) {
    let all: BTreeSet<Key<'j>> = cells.iter().map(|cell| key(cell, name, count)).collect();
    let together = all.len().div_ceil(SIDE).max(1);
    let (mut sides, mut places): (Vec<Side>, BTreeMap<Key<'j>, usize>) = Default::default();
    for (number, (first, count)) in all.into_iter().enumerate() {
        let place = number / together;
        match sides.get_mut(place) {
            Some(side) => side.count += count,
            None => sides.push(Side { first: first.to_owned(), count }),
        }
        places.insert((first, count), place);
    }
    (sides, places)
}

/// Neighbours in a row with one answer.
#[derive(Debug, PartialEq, Eq)]
struct Run {
    answer: Option<usize>,
    begin: usize,
    length: usize,
}

fn runs(row: &[Option<usize>]) -> Vec<Run> {
    let mut all: Vec<Run> = Vec::new();
    for (place, answer) in row.iter().enumerate() {
        match all.last_mut() {
            Some(run) if run.answer == *answer => run.length += 1,
            _ => all.push(Run { answer: *answer, begin: place, length: 1 }),
        }
    }
    all
}

/// How high the timeline is, without what is written below.
const HEIGHT: u64 = 56;

/// Revisions from left to right, each as high as it has changes; newest last.
pub(crate) fn timeline(entries: &[Json]) -> Markup {
    const STEP: usize = 20;
    if entries.len() < 2 {
        return html! {};
    }
    let most =
        entries.iter().map(|entry| weight(entry.number("puts") + entry.number("deletions"))).max().unwrap_or(1).max(1);
    let width = entries.len() * STEP;
    let mut day = "";
    let bars: Vec<(usize, &Json, Option<&str>)> = entries
        .iter()
        .rev()
        .enumerate()
        .map(|(place, entry)| {
            let own = entry.raw("time").get(..10).unwrap_or_default();
            let begins = own != day;
            day = own;
            (place * STEP, entry, begins.then_some(own))
        })
        .collect();
    html! {
        figure.card.timeline {
            div.scroll role="region" aria-label="Timeline of revisions" tabindex="0" {
                svg viewBox=(format!("0 0 {} {}", width + 80, HEIGHT + 20)) width=(width + 80) height=(HEIGHT + 20) aria-hidden="true" {
                    line x1="0" x2=(width) y1=(HEIGHT) y2=(HEIGHT) {}
                    @for (x, entry, day) in bars {
                        @let (high, low) = heights(entry.number("puts"), entry.number("deletions"), most);
                        @let revision = entry.number("revision");
                        a href=(between(revision.saturating_sub(1), revision)) tabindex="-1" {
                            title { "revision " (revision) ": " (entry.text("message")) " (" (changes(entry)) ")" }
                            rect.reach x=(x) y="0" width=(STEP) height=(HEIGHT) {}
                            @if high > 0 { rect.put x=(x + 4) y=(HEIGHT - low - high) width="12" height=(high) {} }
                            @if low > 0 { rect.gone x=(x + 4) y=(HEIGHT - low) width="12" height=(low) {} }
                        }
                        @if let Some(day) = day { line.day x1=(x) x2=(x) y1="0" y2=(HEIGHT + 6) {} text x=(x + 2) y=(HEIGHT + 15) { (day) } }
                    }
                }
            }
            figcaption { "Each bar is a revision, as high as it has changes: written, and deleted below. The list says the same. " a href=(Address::of("/changes")) { "What the last one changes for whom" } }
        }
    }
}

/// A revision of a thousand changes is not a thousand times as high as one of a single change.
fn weight(changes: u64) -> u64 {
    u64::from(changes.saturating_add(1).ilog2()).max(1)
}

/// How high the two parts of a bar are.
fn heights(put: u64, deleted: u64, most: u64) -> (u64, u64) {
    let changes = put + deleted;
    let whole = (weight(changes) * (HEIGHT - 8)).checked_div(most).unwrap_or_default().max(4);
    let low = (whole * deleted).checked_div(changes).unwrap_or_default();
    let low = if deleted > 0 { low.max(2) } else { 0 };
    (whole.saturating_sub(low), low)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn cell(from: &str, to: &str, policies: &[&str]) -> Json {
        json!({"from": from, "proxies": 1, "to": to, "destinations": 1, "pairs": 1, "policies": policies})
    }

    #[test]
    fn every_pair_is_in_the_square_of_its_answer() {
        let cells = [cell("a", "x", &["p"]), cell("a", "y", &["p"]), cell("b", "x", &["q"]), cell("b", "y", &[])];
        let drawn = Drawn::of(&cells);
        assert_eq!(drawn.answers, [("p".to_owned(), 2), ("(none)".to_owned(), 1), ("q".to_owned(), 1)]);
        assert_eq!(drawn.squares, [[Some(0), Some(0)], [Some(2), Some(1)]]);
        assert!(!drawn.is_aggregated());
        assert_eq!(runs(&drawn.squares[0]), [Run { answer: Some(0), begin: 0, length: 2 }]);
        let shown = matrix(&json!({"cells": cells})).into_string();
        assert!(shown.contains("<title>a → 2 columns from x: p</title>"), "{shown}");
        assert!(shown.contains("<title>b → y: (none)</title>"), "{shown}");
    }

    #[test]
    fn however_many_there_are_a_picture_stays_one() {
        let names: Vec<String> = (0..300).map(|number| format!("s{number:03}")).collect();
        let cells: Vec<Json> = names
            .iter()
            .flat_map(|from| names.iter().map(move |to| cell(from, to, &[if from < to { "p" } else { "q" }])))
            .collect();
        let drawn = Drawn::of(&cells);
        assert!(drawn.is_aggregated() && drawn.rows.len() <= SIDE && drawn.columns.len() <= SIDE);
        assert_eq!(drawn.rows.iter().map(|side| side.count).sum::<u64>(), 300, "nobody is left out");
        assert_eq!(drawn.answers.iter().map(|(_, pairs)| pairs).sum::<u64>(), 90_000);
        assert!(matrix(&json!({"cells": cells})).into_string().len() < 60_000);
    }

    #[test]
    fn a_timeline_has_a_bar_for_each_revision() {
        let entry = |revision: u64, time: &str, put: usize| json!({"revision": revision, "time": time, "message": "m", "puts": put, "deletions": 1, "changes": [{"delete": "A/b/x"}]});
        let entries = [
            entry(3, "2026-01-02T08:00:00Z", 1000),
            entry(2, "2026-01-01T09:00:00Z", 0),
            entry(1, "2026-01-01T08:00:00Z", 1),
        ];
        let shown = timeline(&entries).into_string();
        assert_eq!(
            (shown.matches("<a href=\"/history?from=").count(), shown.matches("class=\"day\"").count()),
            (3, 2),
            "{shown}"
        );
        assert!(timeline(&entries[..1]).into_string().is_empty(), "one revision is no line");
        for (put, deleted, most) in [(0, 0, 1), (1, 0, 1), (0, 9, 4), (100_000, 3, 17)] {
            let (high, low) = heights(put, deleted, most);
            assert!(high + low <= HEIGHT && (low > 0) == (deleted > 0), "{put} {deleted}");
        }
    }
}
