//! Lines for people and for programs that collect them.

use std::io::IsTerminal;

use tracing::Subscriber;
use tracing_subscriber::filter::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::{Layer, fmt};

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
    let layer = fmt::layer().with_writer(writer);
    match look {
        LogStyle::Text { coloured } => layer.with_ansi(coloured).with_target(false).with_filter(filter).boxed(),
        LogStyle::Json => {
            layer.with_ansi(false).json().flatten_event(true).with_span_list(false).with_filter(filter).boxed()
        }
    }
}

#[cfg(test)]
mod tests {
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
}
