//! Colours. They never carry meaning alone.

use anstyle::{AnsiColor, Style};
use upheld_model::State;

use super::text::{Piece, Text};

/// For the sentence that answers.
pub(crate) const ANSWER: Style = Style::new().bold();
/// For headings of columns.
pub(crate) const HEADING: Style = Style::new().bold();
/// For what matters less.
pub(crate) const DIM: Style = Style::new().dimmed();
/// For what needs attention.
pub(crate) const WARNING: Style = AnsiColor::Yellow.on_default();

/// Text in a style.
pub(crate) fn paint(style: Style, text: &(impl Piece + ?Sized)) -> Text {
    let text = text.piece();
    Text::laid_out(if style == Style::new() { text.into_owned() } else { format!("{style}{text}{style:#}") })
}

/// Rows in the order in which people read them, at most so many of each state; and how many are left out.
pub(crate) fn by_state<T>(
    rows: &[T],
    most: impl Fn(State) -> usize,
    state_of: impl Fn(&T) -> State,
) -> (Vec<&T>, usize) {
    let (mut shown, mut left_out) = (Vec::new(), 0);
    for state in State::ALL {
        let of_state: Vec<&T> = rows.iter().filter(|row| state_of(row) == state).collect();
        left_out += of_state.len().saturating_sub(most(state));
        shown.extend(of_state.into_iter().take(most(state)));
    }
    (shown, left_out)
}

/// The style of a state.
pub(crate) fn state(state: State) -> Style {
    match state {
        State::Won | State::Kept => AnsiColor::Green.on_default().bold(),
        State::Hard => AnsiColor::Red.on_default().bold(),
        State::Soft | State::Unknown => WARNING,
        State::Pass => AnsiColor::Green.on_default(),
        State::Lost | State::Skip | State::Off => DIM,
    }
}
