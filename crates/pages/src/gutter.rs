//! A policy line by line, as it was written, and beside each line in how many results what it says is alive.

use maud::{Markup, html};
use serde_json::Value as Json;
use upheld_report::{counted, visible};

use crate::seen::Seen;

/// The lines of a document; where nobody has its text, of the document itself.
pub(crate) fn table(shown: &Json, survival: &Json) -> Markup {
    let (text, first) = (shown.raw("source/text"), shown.number("source/line").max(1));
    let plain = serde_json::to_string_pretty(shown.part("document")).unwrap_or_default();
    let rows = match text.trim() {
        "" => whole(&plain, first),
        one if is_packed(one) => unpacked(one, first),
        _ => whole(text, first),
    };
    let fates = survival.items("fields");
    html! {
        table.src {
            @if !fates.is_empty() {
                thead { tr { th.line scope="col" { "Line" } th scope="col" { "Alive at" } th scope="col" { "What it says, and where it dies" } } }
            }
            tbody {
                @for row in rows {
                    @let own: Vec<&Json> = fates.iter().filter(|fate| row.has(fate)).collect();
                    tr #(format!("L{}", row.number)) class=[state(&own)] {
                        th.line scope="row" { (row.number) }
                        @if !fates.is_empty() { td.alive { @for fate in &own { (alive(fate)) } } }
                        td {
                            code { (visible(&row.text.replace('\t', "    "))) }
                            @for fate in &own { (deaths(fate)) }
                        }
                    }
                }
            }
        }
    }
}

/// What becomes of all of it, in a sentence; empty where nobody counted.
pub(crate) fn sentence(survival: &Json) -> String {
    let fields = survival.items("fields");
    let (results, stands) = (survival.number("results"), survival.number("stands"));
    let dead = fields.iter().filter(|fate| fate.number("lives") == 0).count();
    let matches = counted(usize::try_from(results).unwrap_or(usize::MAX), "result", "results");
    let stands = if results == 1 && stands == 1 { "it".to_owned() } else { format!("{stands} of them") };
    match (survival.is_null(), results) {
        (true, _) => String::new(),
        (_, 0) => "It matches nowhere.".to_owned(),
        _ if fields.is_empty() => format!("It matches in {matches} and stands in {stands}."),
        _ => {
            let dead = match dead {
                0 => "every field that it sets is alive somewhere".to_owned(),
                1 => "one field that it sets is alive nowhere".to_owned(),
                dead => format!("{dead} fields that it sets are alive nowhere"),
            };
            format!("It matches in {matches} and stands in {stands}; {dead}.")
        }
    }
}

/// A line of a document, as it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Row {
    number: u64,
    text: String,
    /// The line of the file in which it stands.
    line: u64,
    /// The columns that it has there, if the file has all of the document in one line.
    columns: Option<(u64, u64)>,
}

impl Row {
    /// Whether a field is written there.
    fn has(&self, fate: &Json) -> bool {
        let (line, column) = (fate.number("at/line"), fate.number("at/column"));
        line == self.line && self.columns.is_none_or(|(from, to)| (from..to).contains(&column))
    }
}

fn whole(text: &str, first: u64) -> Vec<Row> {
    let row = |(number, line): (u64, &str)| Row { number, text: line.to_owned(), line: number, columns: None };
    (first..).zip(text.lines()).map(row).collect()
}

/// Whether a document is JSON in one line, as stores keep it.
fn is_packed(text: &str) -> bool {
    text.starts_with('{') && !text.contains('\n') && serde_json::from_str::<Json>(text).is_ok()
}

/// JSON of one line in several.
fn unpacked(text: &str, line: u64) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    let (mut own, mut depth, mut from) = (String::new(), 0_usize, 1);
    let (mut quoted, mut escaped) = (false, false);
    let mut letters = (1..).zip(text.chars()).peekable();
    let mut end = |own: &mut String, from: &mut u64, depth: usize, column: u64| {
        if !own.trim().is_empty() {
            let (number, text) = (rows.len() as u64 + 1, std::mem::take(own));
            rows.push(Row { number, text, line, columns: Some((*from, column)) });
        }
        *own = "  ".repeat(depth);
        *from = column;
    };
    while let Some((column, letter)) = letters.next() {
        if quoted {
            own.push(letter);
            quoted = escaped || letter != '"';
            escaped = letter == '\\' && !escaped;
            continue;
        }
        match letter {
            '{' | '[' => {
                own.push(letter);
                let closed = letters.next_if(|(_, next)| matches!(next, '}' | ']'));
                match closed {
                    Some((_, next)) => own.push(next),
                    None => {
                        depth += 1;
                        end(&mut own, &mut from, depth, column + 1);
                    }
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                end(&mut own, &mut from, depth, column);
                own.push(letter);
            }
            ',' => {
                own.push(letter);
                end(&mut own, &mut from, depth, column + 1);
            }
            ':' => own.push_str(": "),
            letter if letter.is_whitespace() => {}
            letter => {
                quoted = letter == '"';
                own.push(letter);
            }
        }
    }
    end(&mut own, &mut from, 0, u64::MAX);
    rows
}

/// Dead lines look dead.
fn state(own: &[&Json]) -> Option<&'static str> {
    match own {
        [] => None,
        own if own.iter().all(|fate| fate.number("lives") == 0) => Some("dead"),
        _ => Some("set"),
    }
}

fn alive(fate: &Json) -> Markup {
    let (lives, of) = (fate.number("lives"), fate.number("of"));
    html! {
        div data-fate=(fate.raw("field")) {
            svg.live viewBox=(format!("0 0 {} 1", of.max(1))) preserveAspectRatio="none" aria-hidden="true" { rect width=(lives) height="1" {} }
            (lives) " of " (of) @if lives == 0 { " " b.st.off { "DEAD" } }
        }
    }
}

/// Who goes before it, and where.
fn deaths(fate: &Json) -> Markup {
    const SHOWN: usize = 2;
    let all = fate.items("dies");
    html! {
        @if !all.is_empty() {
            small.hint {
                @for (number, death) in all.iter().take(SHOWN).enumerate() {
                    @if number > 0 { ", " }
                    (death.number("results")) @if death.number("results") == 1 { " loses to " } @else { " lose to " } (death.text("to"))
                }
                @if all.len() > SHOWN { " and others" }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_document_in_one_line_is_shown_in_several_and_columns_lead_to_them() {
        let text = r#"{"a":"x, \"{y}\"","b":[],"c":{"d":[1,{"e":null}]}}"#;
        let rows = unpacked(text, 1);
        let pretty = serde_json::to_string_pretty(&serde_json::from_str::<Json>(text).unwrap()).unwrap();
        assert_eq!(rows.iter().map(|row| row.text.as_str()).collect::<Vec<_>>(), pretty.lines().collect::<Vec<_>>());
        for (sought, wanted) in [("\"a\"", 2), ("\"b\"", 3), ("\"e\"", 8), ("null", 8)] {
            let column = text.find(sought).unwrap() as u64 + 1;
            let fate = json!({"at": {"line": 1, "column": column}});
            let found: Vec<u64> = rows.iter().filter(|row| row.has(&fate)).map(|row| row.number).collect();
            assert_eq!(found, [wanted], "{sought}");
        }
    }

    #[test]
    fn what_becomes_of_a_policy_is_a_sentence() {
        let field =
            |lives: u64| json!({"field": "a", "at": {"line": 1, "column": 1}, "lives": lives, "of": 3, "dies": []});
        let told = sentence(&json!({"results": 3, "stands": 2, "fields": [field(2), field(0)]}));
        assert_eq!(told, "It matches in 3 results and stands in 2 of them; one field that it sets is alive nowhere.");
        assert_eq!(sentence(&Json::Null), "");
        assert_eq!(sentence(&json!({"results": 0})), "It matches nowhere.");
    }
}
