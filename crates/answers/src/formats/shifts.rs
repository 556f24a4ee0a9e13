//! What changes, as a comment on a change.

use std::fmt::Write;

use upheld_report::{Certainty, Direction, Shift, Shifts, Turn};

use super::markdown_text;

/// Comments on changes may have so many characters, on the services that people use; a little is left for what stands around it.
const MOST: usize = 60_000;
/// So many shifts of one sort are told in full.
const SHOWN: usize = 20;

/// Markdown within the limits of review comments.
pub fn shifts_markdown(shifts: &Shifts) -> String {
    let mut text = format!("### {}\n", markdown_text(&shifts.headline.text));
    let (worse, others): (Vec<&Shift>, Vec<&Shift>) =
        shifts.shifts.iter().partition(|shift| shift.direction == Direction::Widened);
    section(&mut text, "Lets more through", &worse);
    section(&mut text, "Other results that change", &others);
    if !shifts.violations.is_empty() {
        text.push_str("\n#### Violations\n\n");
        for violation in shifts.violations.iter().take(SHOWN) {
            let sign = if violation.turn == Turn::Begins { "begins" } else { "ends" };
            put(&mut text, format_args!("- **{sign}** ({}) {}\n", violation.state, markdown_text(&violation.message)));
        }
        more(&mut text, shifts.violations.len());
    }
    if !shifts.changed.is_empty() {
        text.push_str("\n<details><summary>Changed documents</summary>\n\n");
        for document in shifts.changed.iter().take(SHOWN * 5) {
            let at =
                document.at.as_ref().map(|at| format!(" ({})", markdown_text(&at.to_string()))).unwrap_or_default();
            put(&mut text, format_args!("- {} {}{at}\n", document.change.word(), markdown_text(&document.id())));
        }
        text.push_str("\n</details>\n");
    }
    for note in &shifts.notes {
        put(&mut text, format_args!("\n{}\n", markdown_text(&note.text)));
    }
    if text.len() > MOST {
        let cut = (0..=MOST).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        text.truncate(cut);
        text.push_str("\n\n…cut here; `upheld diff -o json` has everything.\n");
    }
    text
}

fn section(text: &mut String, title: &str, shifts: &[&Shift]) {
    if shifts.is_empty() {
        return;
    }
    put(
        text,
        format_args!("\n#### {title}\n\n| What | Before | After | How many | Because of |\n|---|---|---|---|---|\n"),
    );
    for shift in shifts.iter().take(SHOWN) {
        let causes: Vec<String> = shift.causes.iter().map(|cause| markdown_text(&cause.title())).collect();
        let (before, after) = sides(shift);
        let may = if shift.certainty == Certainty::Sure { "" } else { " (may)" };
        put(
            text,
            format_args!(
                "| {} {} | {} | {}{may} | {} | {} |\n",
                markdown_text(&shift.kind),
                markdown_text(&shift.example.what),
                markdown_text(&before),
                markdown_text(&after),
                shift.size.text(),
                causes.join(", ")
            ),
        );
    }
    more(text, shifts.len());
}

fn sides(shift: &Shift) -> (String, String) {
    if shift.fields.is_empty() {
        let side = |standing: &upheld_report::Standing| {
            format!("{} by {}", standing.verdict.word(), standing.policies.join(", "))
        };
        return (side(&shift.before), side(&shift.after));
    }
    let values = |pick: fn(&upheld_report::FieldShift) -> &Option<String>| {
        let all = shift.fields.iter().map(|field| {
            let value = pick(field).as_deref().unwrap_or("not set");
            if field.field.is_empty() { value.to_owned() } else { format!("{}: {value}", field.field) }
        });
        all.collect::<Vec<_>>().join("; ")
    };
    (values(|field| &field.before), values(|field| &field.after))
}

fn more(text: &mut String, count: usize) {
    if count > SHOWN {
        put(text, format_args!("\n…and {} more.\n", count - SHOWN));
    }
}

fn put(text: &mut String, line: std::fmt::Arguments<'_>) {
    // Writing to a text does not fail.
    let _written = text.write_fmt(line);
}
