//! Audits in all formats. Each comes from the same report, so each carries the same violations.

mod answers;
mod table;
#[cfg(test)]
mod tests;

use anstyle::{AnsiColor, Style};

pub(crate) use answers::{fix_plan, planned, ruled};
use upheld_answers::formats::audit::{Beside, Format as Text};

#[cfg(feature = "server")]
use super::print_document;
use super::{Screen, print_pieces};
use crate::cli::{Findings, Format, Output, Results};
use crate::report::compliance::Audit;

/// What would be refused.
const HARD: Style = AnsiColor::Red.on_default().bold();
/// What was accepted and needs follow-up.
const SOFT: Style = AnsiColor::Yellow.on_default().bold();
/// What is fine.
const PASS: Style = AnsiColor::Green.on_default();

/// The format of the text; none for what people read on terminals.
fn format(output: Output) -> Option<Text> {
    Some(match output {
        Output::Print(Format::Json) => Text::Json,
        Output::Print(Format::Yaml) => Text::Yaml,
        Output::Print(Format::Jsonl) => Text::JsonLines,
        Output::Print(Format::Name) => Text::Names,
        Output::Record(Results::Junit) => Text::Junit,
        Output::Report(Findings::Csv) => Text::Csv,
        Output::Report(Findings::Sarif) => Text::Sarif,
        Output::Report(Findings::PolicyReport) => Text::PolicyReport,
        Output::Report(Findings::OpenReports) => Text::OpenReports,
        Output::Report(Findings::Markdown) => Text::Markdown,
        Output::Report(Findings::Prometheus) => Text::Prometheus,
        Output::Print(Format::Table | Format::Wide)
        | Output::Draw(_)
        | Output::Report(Findings::Github | Findings::Html)
        | Output::Record(Results::Tap)
        | Output::Patch => {
            return None;
        }
    })
}

/// The page of an audit, as one file.
#[cfg(feature = "server")]
fn page(audit: &Audit) -> String {
    let document = audit.document_of(upheld_pages::MOST_IN_A_FILE);
    upheld_pages::audit_file(&serde_json::to_value(document).unwrap_or_default())
}

/// Prints an audit.
pub(crate) fn print(audit: &Audit, output: Output, screen: &Screen, beside: &Beside<'_>) {
    #[cfg(feature = "server")]
    if output.is_page() {
        return print_document(&page(audit));
    }
    match format(output) {
        Some(format) => print_pieces(|out| format.write(audit, beside, out)),
        None => screen.print(&table::all(audit, screen)),
    }
}

#[cfg(test)]
/// An audit in a format.
fn text(audit: &Audit, output: Output, screen: &Screen, beside: &Beside<'_>) -> String {
    #[cfg(feature = "server")]
    if output.is_page() {
        return page(audit);
    }
    format(output).map_or_else(|| table::all(audit, screen).as_str().to_owned(), |format| format.text(audit, beside))
}
