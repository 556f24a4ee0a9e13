//! What operators of a server see, from the command line.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use upheld_server::config::{self, DecisionLog, DecisionLogTo};

/// Logs, traces and the decision log.
#[derive(Args, Clone, Debug)]
pub(crate) struct Operations {
    #[arg(
        long,
        value_name = "FILTER",
        help = "What to log: error, warn, info, debug, trace, or by part [default: $UPHELD_LOG, $RUST_LOG, info]"
    )]
    log: Option<String>,
    /// How to log [default: text on a terminal, json elsewhere]
    #[arg(long, value_enum, value_name = "FORMAT")]
    log_format: Option<LogFormat>,
    #[arg(
        long,
        value_name = "URL",
        help = "Send traces to this collector, by OTLP over gRPC [default: $OTEL_EXPORTER_OTLP_ENDPOINT]"
    )]
    otlp: Option<String>,
    #[arg(
        long,
        value_name = "FILE",
        help = "Who vouches for a collector with https, as PEM [default: $OTEL_EXPORTER_OTLP_CERTIFICATE, or those whom browsers trust]"
    )]
    otlp_authority: Option<PathBuf>,
    /// Log decisions to this file, one JSON object a line; - is standard output
    #[arg(long, value_name = "PATH")]
    decision_log: Option<PathBuf>,
    /// Log only this fraction of the permits, from 0 to 1
    #[arg(long, value_name = "PART", requires = "decision_log", value_parser = part)]
    sample_permits: Option<f64>,
    /// Redact this in logged requests, for example /subject/claims/*; repeatable
    #[arg(long, value_name = "POINTER", requires = "decision_log")]
    redact: Vec<String>,
    /// Rotate the decision log at this many bytes [default: 67108864]
    #[arg(long, value_name = "BYTES", requires = "decision_log")]
    decision_log_bytes: Option<u64>,
    /// Keep this many rotated files [default: 8]
    #[arg(long, value_name = "COUNT", requires = "decision_log")]
    decision_log_files: Option<usize>,
    /// When too many decisions wait to be written: drop them, or block their requests [default: drop]
    #[arg(long, value_enum, value_name = "HOW", requires = "decision_log")]
    decision_log_full: Option<WhenFull>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum LogFormat {
    /// For people
    Text,
    /// One JSON object a line
    Json,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum WhenFull {
    /// They are dropped and counted
    Drop,
    /// Their requests wait
    Block,
}

impl Operations {
    /// As the server wants it.
    pub(crate) fn config(&self) -> config::Operations {
        let log_format = match self.log_format {
            None => config::LogFormat::Fitting,
            Some(LogFormat::Text) => config::LogFormat::Text,
            Some(LogFormat::Json) => config::LogFormat::Json,
        };
        let (log, otlp, otlp_authority) = (self.log.clone(), self.otlp.clone(), self.otlp_authority.clone());
        config::Operations { log, log_format, otlp, otlp_authority, decision_log: self.decision_log() }
    }

    fn decision_log(&self) -> Option<DecisionLog> {
        let path = self.decision_log.as_ref()?;
        let stdout = path.as_os_str() == "-";
        let to = if stdout { DecisionLogTo::Stdout } else { DecisionLogTo::File(path.clone()) };
        let usual = DecisionLog::new(to);
        let when_full = match self.decision_log_full {
            None => usual.when_full,
            Some(WhenFull::Drop) => config::WhenFull::Drop,
            Some(WhenFull::Block) => config::WhenFull::Block,
        };
        Some(DecisionLog {
            sample_permits: self.sample_permits.unwrap_or(usual.sample_permits),
            redact: self.redact.clone(),
            rotate_bytes: self.decision_log_bytes.unwrap_or(usual.rotate_bytes),
            keep_files: self.decision_log_files.unwrap_or(usual.keep_files),
            when_full,
            ..usual
        })
    }
}

/// A number from 0 to 1.
fn part(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number| (0.0..=1.0).contains(number));
    number.ok_or_else(|| format!("`{text}` is not a number from 0 to 1"))
}
