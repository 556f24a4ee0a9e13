//! Colours. They never carry meaning alone.

use anstyle::{AnsiColor, Style};
use upheld_model::State;

/// For the sentence that answers.
pub(crate) const ANSWER: Style = Style::new().bold();
/// For headings of columns.
pub(crate) const HEADING: Style = Style::new().bold();
/// For what matters less.
pub(crate) const DIM: Style = Style::new().dimmed();
/// For what needs attention.
pub(crate) const WARNING: Style = AnsiColor::Yellow.on_default();

/// Text in a style.
pub(crate) fn paint(style: Style, text: &str) -> String {
    if style == Style::new() { text.to_owned() } else { format!("{style}{text}{style:#}") }
}

/// The style of a state.
pub(crate) fn state(state: State) -> Style {
    match state {
        State::Won | State::Kept => AnsiColor::Green.on_default().bold(),
        State::Unknown => WARNING,
        State::Lost | State::Skip | State::Off => DIM,
    }
}
