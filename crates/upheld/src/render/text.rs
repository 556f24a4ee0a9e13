//! Text for people. Its lines and styles are ours; whatever else comes into it is shown in it, and ends no line and steers no terminal.

use std::borrow::Cow;
use std::fmt::Display;
use std::ops::{Add, AddAssign};

use crate::report::{steers, visible};

/// Lines and styles of this program around words of anybody.
///
/// It is made of other texts, of literals, and with [`text!`] of all that can be displayed. Nothing else gets in, so a name in a
/// document is a name on the screen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Text(String);

/// What can stand in a text: another one as it is, all others in one line that steers nothing.
pub(crate) trait Piece {
    /// As it stands there.
    fn piece(&self) -> Cow<'_, str>;
}

impl<T: Display + ?Sized> Piece for T {
    fn piece(&self) -> Cow<'_, str> {
        Cow::Owned(visible(&self.to_string()))
    }
}

impl Piece for Text {
    fn piece(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.0)
    }
}

impl Piece for &Text {
    fn piece(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.0)
    }
}

/// A text of a layout and pieces, as `format!` makes one. The layout is a literal; `concat!` keeps names out of its braces, which would
/// come into the text as they are.
macro_rules! text {
    ($layout:literal $(, $piece:expr)* $(,)?) => {
        $crate::render::text::Text::laid_out(format!(concat!($layout) $(, $crate::render::text::Piece::piece(&$piece))*))
    };
}

pub(crate) use text;

impl Text {
    /// What `text!`, tables and styles made of pieces. It is for nothing else.
    pub(crate) fn laid_out(text: String) -> Self {
        Self(text)
    }

    /// What a library rendered with styles of its own: those stay, whatever else steers is shown.
    pub(in crate::render) fn rendered(text: &str) -> Self {
        let mut shown = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find(|character| character != '\n' && steers(character)) {
            let (before, after) = rest.split_at(at);
            shown.push_str(before);
            let end = style_end(after).or_else(|| after.chars().next().map(char::len_utf8)).unwrap_or(after.len());
            let (one, others) = after.split_at(end);
            shown.push_str(&if style_end(one).is_some() { one.to_owned() } else { visible(one) });
            rest = others;
        }
        shown.push_str(rest);
        Self(shown)
    }

    /// The lines of a document, each after an indent.
    pub(crate) fn of_lines(lines: &str, indent: &'static str) -> Self {
        lines.lines().map(|line| text!("{}{}\n", Self::from(indent), line)).collect()
    }

    /// Texts with something between them.
    pub(crate) fn joined(texts: impl IntoIterator<Item = Self>, between: &'static str) -> Self {
        texts.into_iter().enumerate().fold(Self::default(), |mut all, (place, text)| {
            if place > 0 {
                all.push_str(between);
            }
            all + text
        })
    }

    /// Adds a text or a literal.
    pub(crate) fn push_str(&mut self, more: impl Into<Self>) {
        self.0.push_str(&more.into().0);
    }

    /// Whether there is nothing in it.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// As it goes to a screen.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// Where a style that begins here ends: `ESC [`, numbers, `m`.
fn style_end(text: &str) -> Option<usize> {
    let parameters = text.strip_prefix("\u{1b}[")?;
    let end = parameters.find(|character: char| !character.is_ascii_digit() && character != ';')?;
    parameters.get(end..)?.starts_with('m').then_some("\u{1b}[".len() + end + 1)
}

impl From<&'static str> for Text {
    fn from(literal: &'static str) -> Self {
        Self(literal.to_owned())
    }
}

impl From<&Self> for Text {
    fn from(text: &Self) -> Self {
        text.clone()
    }
}

impl<T: Into<Self>> AddAssign<T> for Text {
    fn add_assign(&mut self, more: T) {
        self.push_str(more);
    }
}

impl<T: Into<Self>> Add<T> for Text {
    type Output = Self;

    fn add(mut self, more: T) -> Self {
        self.push_str(more);
        self
    }
}

impl Extend<Self> for Text {
    fn extend<I: IntoIterator<Item = Self>>(&mut self, texts: I) {
        texts.into_iter().for_each(|text| self.push_str(text));
    }
}

impl FromIterator<Self> for Text {
    fn from_iter<I: IntoIterator<Item = Self>>(texts: I) -> Self {
        let mut all = Self::default();
        all.extend(texts);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_shown_and_texts_stay() {
        let name = "n\u{1b}[2J\r\n\u{202e}";
        let own = text!("\u{1b}[1m{:<3}\u{1b}[0m\n", 7);
        assert_eq!(own.as_str(), "\u{1b}[1m7  \u{1b}[0m\n");
        assert_eq!(text!("{}{}!\n", own, name).as_str(), "\u{1b}[1m7  \u{1b}[0m\nn\\u{1b}[2J\\r\\n\\u{202e}!\n");
        assert_eq!(Text::of_lines("a\r\n b\u{7}", "> ").as_str(), "> a\n>  b\\u{7}\n");
    }

    #[test]
    fn styles_of_a_library_stay_and_nothing_else_steers() {
        let rendered =
            Text::rendered("\u{1b}[1m\u{1b}[38;5;9merror\u{1b}[0m: \u{1b}]0;x\u{7}\u{1b}[2J\u{9b}31m\u{1b}[");
        assert_eq!(
            rendered.as_str(),
            "\u{1b}[1m\u{1b}[38;5;9merror\u{1b}[0m: \\u{1b}]0;x\\u{7}\\u{1b}[2J\\u{9b}31m\\u{1b}["
        );
    }
}
