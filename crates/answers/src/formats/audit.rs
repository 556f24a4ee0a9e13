//! Audits for other tools. Each format comes from the same report, so each carries the same violations.

mod csv;
mod html;
mod junit;
mod markdown;
mod policy_report;
mod prometheus;
mod sarif;

use std::time::Duration;

pub use self::sarif::Baseline;
use super::{json, yaml};
use crate::report::compliance::Audit;

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
    /// As a page.
    Html,
    /// As metrics.
    Prometheus,
}

/// What some formats tell beside the audit itself.
#[derive(Clone, Debug, Default)]
pub struct Beside<'a> {
    /// A previous run, which SARIF compares with.
    pub baseline: Option<&'a Baseline>,
    /// How long the audit took, for metrics.
    pub took: Option<Duration>,
}

impl Format {
    /// Whether the format lists checks that passed, so that the audit has to hold them.
    pub fn lists_passes(self) -> bool {
        matches!(self, Self::Junit | Self::PolicyReport | Self::OpenReports)
    }

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
            Self::Html => "text/html; charset=utf-8",
            Self::Prometheus => "text/plain; version=0.0.4; charset=utf-8",
        }
    }

    /// An audit in this format.
    pub fn text(self, audit: &Audit, beside: &Beside<'_>) -> String {
        match self {
            Self::Json => json(&audit.document()),
            Self::Yaml => yaml(&audit.document()).unwrap_or_default(),
            Self::JsonLines => {
                let lines = audit.violations().filter_map(|check| serde_json::to_string(check).ok());
                lines.map(|line| line + "\n").collect()
            }
            Self::Names => audit.violations().map(|check| format!("{}\n", check.id)).collect(),
            Self::Csv => csv::document(audit),
            Self::Sarif => json(&sarif::document(audit, beside.baseline)),
            Self::Junit => junit::document(audit),
            Self::PolicyReport => policy_report::documents(audit, &policy_report::OLD),
            Self::OpenReports => policy_report::documents(audit, &policy_report::OPEN),
            Self::Markdown => markdown::document(audit),
            Self::Html => html::page(audit),
            Self::Prometheus => prometheus::metrics(audit, beside.took),
        }
    }
}
