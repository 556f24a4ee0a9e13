//! Requests that were decided again, for people.

use upheld_answers::replay::Replayed;

use super::style::{ANSWER, DIM, WARNING, paint};
use super::table::{Align, Table, indented, wrap};
use super::text::{Text, text};
use super::{Screen, visible};
use crate::report::{Direction, Shift, Standing};

/// What would be decided otherwise, what lets more through first.
pub(crate) fn text(replayed: &Replayed, screen: &Screen) -> Text {
    let shifts = &replayed.shifts;
    let mut text = paint(ANSWER, &wrap(&shifts.headline.text, screen.width)) + "\n";
    if !shifts.shifts.is_empty() {
        let columns =
            [("REQUESTS", Align::Right), ("BEFORE", Align::Left), ("NOW", Align::Left), ("FOR EXAMPLE", Align::Left)];
        let mut table = Table::new(&columns);
        for shift in &shifts.shifts {
            let style = if shift.direction == Direction::Widened { WARNING } else { anstyle::Style::new() };
            table.row(style, row(shift));
        }
        text.push_str(text!("\n{}", table.render(screen.width, 3)));
    }
    if !replayed.bad.is_empty() {
        text.push_str("\n");
        for bad in &replayed.bad {
            let line = format!("{}:{}: {}", visible(&bad.file), bad.line, visible(&bad.message));
            text.push_str(indented(&paint(DIM, &line), 2, screen.width));
        }
    }
    if let Some(first) = shifts.shifts.first() {
        text.push_str(text!("\n  {}\n", paint(DIM, &format!("One of them in full: {}", first.example.command))));
    }
    text
}

fn row(shift: &Shift) -> [String; 4] {
    let side = |standing: &Standing| {
        format!("{} by {}", standing.verdict.word().to_uppercase(), visible(&standing.policies.join(", ")))
    };
    [shift.size.count().to_string(), side(&shift.before), side(&shift.after), visible(&shift.example.what)]
}
