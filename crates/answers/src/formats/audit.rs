//! Audits for other tools. Each format comes from the same report, so each carries the same violations.

mod baseline;
mod csv;
mod failing;
mod junit;
mod markdown;
mod policy_report;
mod prometheus;
mod sarif;

use std::io::{self, Write};
use std::time::Duration;

pub use self::baseline::Baseline;
pub use self::failing::{Among, Failing};
use super::{visible, write_json, write_json_line, yaml};
use crate::report::compliance::{Audit, NothingPassing, Passing};

pub(crate) use self::sarif::SCHEMA as SARIF_SCHEMA;

/// How an audit is written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// One JSON document with everything.
    Json,
    /// One YAML document with everything.
    Yaml,
    /// A violation a line, as JSON.
    JsonLines,
    /// The fingerprint of a violation a line.
    Names,
    /// For spreadsheets.
    Csv,
    /// For code scanning.
    Sarif,
    /// As XML that pipelines read.
    Junit,
    /// For Kubernetes tools.
    PolicyReport,
    /// For newer Kubernetes tools.
    OpenReports,
    /// As a comment on a change.
    Markdown,
    /// As metrics.
    Prometheus,
}

/// What some formats tell beside the audit itself.
#[derive(Clone, Copy, Debug)]
pub struct Beside<'a> {
    /// What passed, for formats that list it.
    pub passing: &'a dyn Passing,
    /// Whether reports for Kubernetes list it, too.
    pub listed: Listed,
    /// Which violations fail the run.
    pub failing: Failing,
    /// How long the audit took, for metrics.
    pub took: Option<Duration>,
}

/// What reports for Kubernetes list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Listed {
    /// What does not pass: a cluster keeps each of them.
    #[default]
    Violations,
    /// Every check.
    All,
}

impl Default for Beside<'_> {
    fn default() -> Self {
        Self { passing: &NothingPassing, listed: Listed::default(), failing: Failing::default(), took: None }
    }
}

impl Format {
    /// The media type of the text.
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Yaml | Self::PolicyReport | Self::OpenReports => "application/yaml",
            Self::JsonLines => "application/jsonl",
            Self::Names => "text/plain; charset=utf-8",
            Self::Csv => "text/csv; charset=utf-8",
            Self::Sarif => "application/sarif+json",
            Self::Junit => "application/xml",
            Self::Markdown => "text/markdown; charset=utf-8",
            Self::Prometheus => "text/plain; version=0.0.4; charset=utf-8",
        }
    }

    /// An audit in this format.
    pub fn text(self, audit: &Audit, beside: &Beside<'_>) -> String {
        let mut text = Vec::new();
        // Writing into memory does not fail.
        self.write(audit, beside, &mut text).ok();
        String::from_utf8(text).unwrap_or_default()
    }

    /// Writes an audit in this format, piece by piece where there can be millions of lines.
    pub fn write(self, audit: &Audit, beside: &Beside<'_>, out: &mut dyn Write) -> io::Result<()> {
        let text = match self {
            Self::Junit => return junit::write(audit, beside, out),
            Self::PolicyReport => return policy_report::write(audit, beside, &policy_report::OLD, out),
            Self::OpenReports => return policy_report::write(audit, beside, &policy_report::OPEN, out),
            Self::JsonLines => {
                return audit.violations().try_for_each(|check| write_json_line(check, out));
            }
            Self::Names => {
                return audit.violations().try_for_each(|check| writeln!(out, "{}", visible(&check.id)));
            }
            Self::Json => return write_json(&audit.document(), out),
            Self::Csv => return csv::write(audit, out),
            Self::Sarif => return write_json(&sarif::document(audit), out),
            Self::Yaml => yaml(&audit.document()).unwrap_or_default(),
            Self::Markdown => markdown::document(audit),
            Self::Prometheus => prometheus::metrics(audit, beside.took),
        };
        out.write_all(text.as_bytes())
    }
}
