//! Fields of a line for people. A value ends where its quotes end, so no caller writes a field of its own.

use std::fmt::{self, Debug};

use tracing::field::{Field, Visit};
use tracing_subscriber::field::RecordFields;
use tracing_subscriber::fmt::FormatFields;
use tracing_subscriber::fmt::format::Writer;
use upheld_report::visible;

/// `message name=value name="a value"`.
pub(super) struct Fields;

impl<'w> FormatFields<'w> for Fields {
    fn format_fields<R: RecordFields>(&self, writer: Writer<'w>, fields: R) -> fmt::Result {
        let mut line = Line { writer, is_begun: false, written: Ok(()) };
        fields.record(&mut line);
        line.written
    }
}

struct Line<'w> {
    writer: Writer<'w>,
    is_begun: bool,
    written: fmt::Result,
}

impl Line<'_> {
    fn put(&mut self, field: &Field, value: &str) {
        if self.written.is_ok() {
            self.written = self.write(field.name(), value);
        }
    }

    fn write(&mut self, name: &str, value: &str) -> fmt::Result {
        if self.is_begun {
            self.writer.write_char(' ')?;
        }
        self.is_begun = true;
        if name == "message" {
            return self.writer.write_str(&visible(value));
        }
        let name = name.trim_start_matches("r#");
        let value = if is_plain(value) { value.to_owned() } else { visible(&format!("{value:?}")) };
        if self.writer.has_ansi_escapes() {
            write!(self.writer, "\u{1b}[3m{name}\u{1b}[0m\u{1b}[2m=\u{1b}[0m{value}")
        } else {
            write!(self.writer, "{name}={value}")
        }
    }
}

/// Whether a value needs no quotes: nobody takes it for several.
fn is_plain(value: &str) -> bool {
    let fits = |character: char| character.is_ascii_graphic() && !matches!(character, '"' | '=' | '\\');
    !value.is_empty() && value.chars().all(fits)
}

impl Visit for Line<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.put(field, value);
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.put(field, &format!("{value:?}"));
    }
}
