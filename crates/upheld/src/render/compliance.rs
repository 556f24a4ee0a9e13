//! Audits in all formats. Each comes from the same report, so each carries the same violations.

mod answers;
mod csv;
mod html;
mod junit;
mod markdown;
mod policy_report;
mod prometheus;
mod sarif;
mod table;
#[cfg(test)]
mod tests;

use std::time::Duration;

use anstyle::{AnsiColor, Style};

pub(crate) use answers::{planned, relation, remedy, ruled};
pub(crate) use sarif::Baseline;

use super::{Screen, print_plain, yaml};
use crate::cli::{Findings, Format, Output, Results};
use crate::report::compliance::Audit;

/// What would be refused.
const HARD: Style = AnsiColor::Red.on_default().bold();
/// What was accepted and needs follow-up.
const SOFT: Style = AnsiColor::Yellow.on_default().bold();
/// What is fine.
const PASS: Style = AnsiColor::Green.on_default();

/// What some formats tell beside the audit itself.
#[derive(Debug, Default)]
pub(crate) struct Beside<'a> {
    /// A previous run, which SARIF compares with.
    pub(crate) baseline: Option<&'a Baseline>,
    /// How long the audit took, for metrics.
    pub(crate) took: Option<Duration>,
}

/// Whether a format lists checks that passed, so that the audit has to hold them.
pub(crate) fn lists_passes(output: Output) -> bool {
    matches!(output, Output::Record(Results::Junit) | Output::Report(Findings::PolicyReport | Findings::OpenReports))
}

/// Prints an audit.
pub(crate) fn print(audit: &Audit, output: Output, screen: &Screen, beside: &Beside<'_>) {
    let text = text(audit, output, screen, beside);
    if matches!(output, Output::Print(Format::Table | Format::Wide)) { screen.print(&text) } else { print_plain(&text) }
}

/// An audit in a format.
fn text(audit: &Audit, output: Output, screen: &Screen, beside: &Beside<'_>) -> String {
    match output {
        Output::Print(Format::Json) => pretty(&audit.document()),
        Output::Print(Format::Yaml) => yaml(&audit.document()).unwrap_or_default(),
        Output::Print(Format::Jsonl) => {
            audit.violations().filter_map(|check| serde_json::to_string(check).ok()).map(|line| line + "\n").collect()
        }
        Output::Print(Format::Name) => audit.violations().map(|check| format!("{}\n", check.id)).collect(),
        Output::Record(Results::Junit) => junit::document(audit),
        Output::Report(Findings::Csv) => csv::document(audit),
        Output::Report(Findings::Sarif) => pretty(&sarif::document(audit, beside.baseline)),
        Output::Report(Findings::PolicyReport) => policy_report::documents(audit, &policy_report::OLD),
        Output::Report(Findings::OpenReports) => policy_report::documents(audit, &policy_report::OPEN),
        Output::Report(Findings::Markdown) => markdown::document(audit),
        Output::Report(Findings::Html) => html::page(audit),
        Output::Report(Findings::Prometheus) => prometheus::metrics(audit, beside.took),
        Output::Print(Format::Table | Format::Wide) | Output::Draw(_) | Output::Record(Results::Tap) => {
            table::all(audit, screen)
        }
    }
}

fn pretty(document: &impl serde::Serialize) -> String {
    serde_json::to_string_pretty(document).map(|text| text + "\n").unwrap_or_default()
}
