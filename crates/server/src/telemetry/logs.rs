//! Lines for people and for programs that collect them.

mod fields;

use std::io::IsTerminal;

use tracing::{Metadata, Subscriber};
use tracing_subscriber::filter::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::{Layer, fmt};
use upheld_report::Visible;

use self::fields::Fields;

use super::traces;
use crate::config::{LogFormat, Operations};

/// What is logged when nobody says.
const DEFAULT: &str = "info";

/// What is logged; and what was wrong with what somebody said, if it was.
pub(super) fn filter(
    operations: &Operations,
    environment: impl Fn(&str) -> Option<String>,
) -> (EnvFilter, Option<String>) {
    let named = |name: &str| environment(name).filter(|value| !value.is_empty());
    let said = operations.log.clone().or_else(|| named("UPHELD_LOG")).or_else(|| named("RUST_LOG"));
    let (filter, unusable) = match EnvFilter::try_new(said.as_deref().unwrap_or(DEFAULT)) {
        Ok(filter) => (filter, None),
        Err(error) => (EnvFilter::new(DEFAULT), Some(error.to_string())),
    };
    // Spans for traces would stand in every line, under the names that collectors want.
    let filter = match format!("{}=off", traces::TARGET).parse() {
        Ok(directive) => filter.add_directive(directive),
        Err(_) => filter,
    };
    (filter, unusable)
}

/// How a line looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LogStyle {
    Text { coloured: bool },
    Json,
}

/// How a line looks where standard error goes.
pub(super) fn format(operations: &Operations) -> LogStyle {
    let terminal = std::io::stderr().is_terminal();
    let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    match operations.log_format {
        LogFormat::Json => LogStyle::Json,
        LogFormat::Fitting if !terminal => LogStyle::Json,
        LogFormat::Fitting | LogFormat::Text => LogStyle::Text { coloured: terminal && !plain },
    }
}

/// What writes lines.
pub(super) fn layer<S, W>(look: LogStyle, filter: EnvFilter, writer: W) -> Box<dyn Layer<S> + Send + Sync>
where
    S: Subscriber + for<'a> LookupSpan<'a> + Send + Sync,
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    match look {
        LogStyle::Text { coloured } => {
            let layer = fmt::layer().with_writer(writer).fmt_fields(Fields);
            layer.with_ansi(coloured).with_target(false).with_filter(filter).boxed()
        }
        LogStyle::Json => {
            let layer = fmt::layer().with_writer(Escaping(writer));
            layer.with_ansi(false).json().flatten_event(true).with_span_list(false).with_filter(filter).boxed()
        }
    }
}

/// Writes lines of JSON in which nothing steers the terminal of who reads them.
struct Escaping<W>(W);

impl<'a, W: MakeWriter<'a>> MakeWriter<'a> for Escaping<W> {
    type Writer = Visible<W::Writer>;

    fn make_writer(&'a self) -> Self::Writer {
        Visible::json(self.0.make_writer())
    }

    fn make_writer_for(&'a self, about: &Metadata<'_>) -> Self::Writer {
        Visible::json(self.0.make_writer_for(about))
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, Write};
    use std::sync::{Arc, Mutex};

    use tracing_subscriber::layer::SubscriberExt;
    use upheld_report::steers;

    use super::*;

    fn shown(operations: &Operations, variables: &[(&str, &str)]) -> (String, Option<String>) {
        let (filter, unusable) = filter(operations, |name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        });
        (filter.to_string(), unusable)
    }

    #[test]
    fn the_setting_comes_before_the_variables() {
        let set = Operations { log: Some("debug".to_owned()), ..Operations::default() };
        let variables = [("UPHELD_LOG", "trace"), ("RUST_LOG", "error")];
        assert!(shown(&set, &variables).0.contains("debug"));
        assert!(shown(&Operations::default(), &variables).0.contains("trace"));
        assert!(shown(&Operations::default(), &variables[1..]).0.contains("error"));
        assert!(shown(&Operations::default(), &[]).0.contains("info"));
    }

    #[test]
    fn what_cannot_be_read_is_said_and_the_default_is_taken() {
        let set = Operations { log: Some("upheld=loud".to_owned()), ..Operations::default() };
        let (filter, unusable) = shown(&set, &[]);
        assert!(filter.contains("info") && unusable.is_some());
    }

    /// A name of a caller that would be another one's, a line of its own, and a new title of the terminal.
    const HOSTILE: &str = "eve caller=token:admin\" \r\nFORGED\u{1b}]0;x\u{7}\u{9b}2J\u{202e}";

    fn logged(look: LogStyle) -> String {
        let written = Arc::new(Mutex::new(Vec::new()));
        let writer = Arc::clone(&written);
        let make = move || Kept(Arc::clone(&writer));
        let logging = tracing_subscriber::registry().with(layer(look, EnvFilter::new("info"), make));
        tracing::subscriber::with_default(logging, || {
            tracing::info!(caller = %HOSTILE, status = 200, path = HOSTILE, because = ?HOSTILE, ok = "ci:1", "answered");
        });
        let text = written.lock().unwrap().clone();
        String::from_utf8(text).unwrap()
    }

    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl Write for Kept {
        fn write(&mut self, text: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(text);
            Ok(text.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_caller_forges_no_field_and_no_line() {
        let line = logged(LogStyle::Text { coloured: false });
        let shown = format!("{HOSTILE:?}");
        let fields = format!("answered caller={shown} status=200 path={shown} because={shown:?} ok=ci:1\n");
        assert!(line.ends_with(&fields), "{line}");
        assert_eq!(unquoted(&line).matches("caller=").count(), 1, "{line}");
        assert!(!unquoted(&line).contains("token:admin"), "{line}");
        for text in [line, logged(LogStyle::Text { coloured: true })] {
            assert_eq!(text.lines().count(), 1, "{text}");
            assert!(!text.contains("\u{1b}]") && !text.contains(['\u{9b}', '\u{202e}', '\r', '\u{7}']), "{text:?}");
        }
    }

    /// A line without what is in quotes.
    fn unquoted(line: &str) -> String {
        line.replace("\\\\", "").replace("\\\"", "").split('"').step_by(2).collect()
    }

    #[test]
    fn lines_of_json_say_it_as_it_was_and_steer_nothing() {
        let line = logged(LogStyle::Json);
        assert!(line.ends_with('\n') && !line.trim_end().contains(steers), "{line:?}");
        let read: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!(read["caller"], HOSTILE);
    }
}
