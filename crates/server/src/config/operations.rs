//! What operators see of a server.

use std::path::PathBuf;

/// Logs, traces and the decision log.
#[derive(Clone, Debug, Default)]
pub struct Operations {
    /// What is logged, as `info` or `info,upheld_server::request=warn`. `UPHELD_LOG` decides when left out, then `RUST_LOG`, then it
    /// is `info`.
    pub log: Option<String>,
    /// How a line of the log looks.
    pub log_format: LogFormat,
    /// Where traces go: the address of a collector that takes OTLP over gRPC, as `http://localhost:4317`, or with `https`.
    /// `OTEL_EXPORTER_OTLP_ENDPOINT` decides when left out; without either there are none.
    pub otlp: Option<String>,
    /// Who vouches for a collector with `https`, as PEM. `OTEL_EXPORTER_OTLP_CERTIFICATE` decides when left out; without either, those whom
    /// browsers trust.
    pub otlp_authority: Option<PathBuf>,
    /// Where decisions are written down; nowhere when left out.
    pub decision_log: Option<DecisionLog>,
}

/// How a line of the log looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogFormat {
    /// Text on a terminal, JSON elsewhere.
    #[default]
    Fitting,
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

/// How decisions are written down: one JSON object a line.
#[derive(Clone, Debug)]
pub struct DecisionLog {
    /// Where to.
    pub to: DecisionLogTo,
    /// Which part of the permits is written, from 0 to 1. Everything else always is.
    pub sample_permits: f64,
    /// What must not be written: JSON pointers into the request, where `*` is any name or place, as `/subject/claims/*`.
    pub redact: Vec<String>,
    /// A file that has grown to this many bytes is put aside.
    pub rotate_bytes: u64,
    /// So many files that were put aside are kept.
    pub keep_files: usize,
    /// Decisions that may wait to be written.
    pub queue: usize,
    /// What happens to a decision when so many wait.
    pub when_full: WhenFull,
}

/// Where decisions are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DecisionLogTo {
    /// To standard output.
    Stdout,
    /// To a file, which is continued if it is there.
    File(PathBuf),
}

/// What happens to a decision that finds no place in the queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WhenFull {
    /// Its request waits: no answer without a line.
    Block,
    /// It is not written, and counted.
    #[default]
    Drop,
}

impl DecisionLog {
    /// Everything is written, and nothing is hidden.
    pub fn new(to: DecisionLogTo) -> Self {
        Self {
            to,
            sample_permits: 1.0,
            redact: Vec::new(),
            rotate_bytes: 64 << 20,
            keep_files: 8,
            queue: 8192,
            when_full: WhenFull::default(),
        }
    }
}
