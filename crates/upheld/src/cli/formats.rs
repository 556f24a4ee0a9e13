//! How answers can be printed.

use clap::ValueEnum;
use clap::builder::PossibleValue;
use upheld_dialects::schemas::Schemas;

/// What can be asked for with `--output`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Output {
    /// Answers.
    Print(Format),
    /// Drawings of graphs.
    Draw(Drawing),
    /// Results of tests.
    Record(Results),
    /// Findings of audits.
    Report(Findings),
    /// Edits of files as a diff.
    Patch,
}

impl Default for Output {
    fn default() -> Self {
        Self::Print(Format::Table)
    }
}

impl ValueEnum for Output {
    fn value_variants<'a>() -> &'a [Self] {
        &[
            Self::Print(Format::Table),
            Self::Print(Format::Wide),
            Self::Print(Format::Json),
            Self::Print(Format::Yaml),
            Self::Print(Format::Jsonl),
            Self::Print(Format::Name),
            Self::Draw(Drawing::Dot),
            Self::Draw(Drawing::Mermaid),
            Self::Draw(Drawing::Svg),
            Self::Record(Results::Junit),
            Self::Record(Results::Tap),
            Self::Report(Findings::Csv),
            Self::Report(Findings::Sarif),
            Self::Report(Findings::PolicyReport),
            Self::Report(Findings::OpenReports),
            Self::Report(Findings::Markdown),
            Self::Report(Findings::Github),
            Self::Report(Findings::Html),
            Self::Report(Findings::Prometheus),
            Self::Patch,
        ]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let (name, help) = match self {
            Self::Print(Format::Table) => ("table", "For people"),
            Self::Print(Format::Wide) => ("wide", "For people with a wide screen"),
            Self::Print(Format::Json) => ("json", "One JSON document with everything"),
            Self::Print(Format::Yaml) => ("yaml", "One YAML document with everything"),
            Self::Print(Format::Jsonl) => ("jsonl", "One JSON document a line"),
            Self::Print(Format::Name) => ("name", "Names only"),
            Self::Draw(Drawing::Dot) => ("dot", "A drawing for Graphviz (`graph` only)"),
            Self::Draw(Drawing::Mermaid) => ("mermaid", "A drawing for Mermaid (`graph` only)"),
            Self::Draw(Drawing::Svg) => ("svg", "A picture (`graph` only)"),
            Self::Record(Results::Junit) => ("junit", "JUnit XML for pipelines (`test`, `audit` and `lint` only)"),
            Self::Record(Results::Tap) => ("tap", "The Test Anything Protocol (`test` only)"),
            Self::Report(Findings::Csv) => ("csv", "For spreadsheets (`audit` only)"),
            Self::Report(Findings::Sarif) => ("sarif", "SARIF 2.1.0 for code scanning (`audit` and `lint` only)"),
            Self::Report(Findings::PolicyReport) => ("policyreport", "Kubernetes PolicyReports (`audit` only)"),
            Self::Report(Findings::OpenReports) => ("openreports", "OpenReports, their successor (`audit` only)"),
            Self::Report(Findings::Markdown) => ("markdown", "A comment on a change (`audit`, `diff` and `lint` only)"),
            Self::Report(Findings::Github) => ("github", "Remarks beside the lines of a change (`lint` only)"),
            Self::Report(Findings::Html) => {
                ("html", "A page for browsers, in one file (`explain`, `diff`, `lint` and `audit`)")
            }
            Self::Report(Findings::Prometheus) => ("prometheus", "Metrics (`audit` only)"),
            Self::Patch => ("patch", "A unified diff (`fix` and `lint --fix` only)"),
        };
        Some(PossibleValue::new(name).help(help))
    }
}

/// How answers are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Format {
    /// For people.
    #[default]
    Table,
    /// For people with a wide screen.
    Wide,
    /// One JSON document.
    Json,
    /// One YAML document.
    Yaml,
    /// One JSON document a line.
    Jsonl,
    /// Names only.
    Name,
}

/// How graphs are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Drawing {
    /// For Graphviz.
    Dot,
    /// For Mermaid.
    Mermaid,
    /// As a picture.
    Svg,
}

/// How results are recorded for other tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Results {
    /// As XML that pipelines read.
    Junit,
    /// The Test Anything Protocol.
    Tap,
}

/// How findings of audits are reported to other tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Findings {
    /// For spreadsheets.
    Csv,
    /// For code scanning.
    Sarif,
    /// For Kubernetes tools.
    PolicyReport,
    /// For newer Kubernetes tools.
    OpenReports,
    /// As a comment on a change.
    Markdown,
    /// As remarks beside the lines of a change.
    Github,
    /// As a page.
    Html,
    /// As metrics.
    Prometheus,
}

/// Commands that differ in what they can print.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Printer {
    /// `graph`.
    Graph,
    /// `test`.
    Test,
    /// `audit`.
    Audit,
    /// `fix`.
    Fix,
    /// `diff`.
    Diff,
    /// `replay`.
    Replay,
    /// `lint`.
    Lint,
    /// `explain`.
    Explain,
    /// All others.
    Other,
}

impl Printer {
    /// The command that prints so, by its name.
    pub(crate) fn of(command: &str) -> Self {
        match command {
            "graph" => Self::Graph,
            "test" => Self::Test,
            "audit" => Self::Audit,
            "fix" => Self::Fix,
            "diff" | "prove" => Self::Diff,
            "replay" => Self::Replay,
            "lint" => Self::Lint,
            "explain" => Self::Explain,
            _ => Self::Other,
        }
    }

    /// What it can print, by name.
    pub(crate) fn formats(self) -> Vec<String> {
        let fitting = Output::value_variants().iter().filter(|output| output.fits(self));
        fitting.filter_map(Output::to_possible_value).map(|value| value.get_name().to_owned()).collect()
    }
}

impl Output {
    /// How answers are printed.
    pub(crate) fn format(self) -> Format {
        match self {
            Self::Print(format) => format,
            Self::Draw(_) | Self::Record(_) | Self::Report(_) | Self::Patch => Format::Table,
        }
    }

    /// How graphs are drawn, if that is asked for.
    pub(crate) fn drawing(self) -> Option<Drawing> {
        match self {
            Self::Print(_) | Self::Record(_) | Self::Report(_) | Self::Patch => None,
            Self::Draw(drawing) => Some(drawing),
        }
    }

    /// How results are recorded, if that is asked for.
    pub(crate) fn results(self) -> Option<Results> {
        match self {
            Self::Print(_) | Self::Draw(_) | Self::Report(_) | Self::Patch => None,
            Self::Record(results) => Some(results),
        }
    }

    /// Whether a command can print this.
    fn fits(self, printer: Printer) -> bool {
        match self {
            Self::Print(_) => true,
            Self::Draw(_) => printer == Printer::Graph,
            Self::Record(Results::Junit) => matches!(printer, Printer::Test | Printer::Audit | Printer::Lint),
            Self::Record(Results::Tap) => printer == Printer::Test,
            Self::Report(Findings::Markdown) => {
                matches!(printer, Printer::Audit | Printer::Diff | Printer::Replay | Printer::Lint)
            }
            Self::Report(Findings::Sarif) => matches!(printer, Printer::Audit | Printer::Lint),
            Self::Report(Findings::Github) => printer == Printer::Lint,
            // Pages are made by what the server has.
            Self::Report(Findings::Html) => {
                cfg!(feature = "server")
                    && matches!(printer, Printer::Audit | Printer::Explain | Printer::Diff | Printer::Lint)
            }
            Self::Report(_) => printer == Printer::Audit,
            Self::Patch => matches!(printer, Printer::Fix | Printer::Lint),
        }
    }

    /// Whether answers are wanted as a page.
    #[cfg(feature = "server")]
    pub(crate) fn is_page(self) -> bool {
        self == Self::Report(Findings::Html)
    }

    /// Why a command cannot print this, and what it can print.
    pub(crate) fn refused(self, printer: Printer) -> Option<(String, String)> {
        if self.fits(printer) {
            return None;
        }
        let only = match self {
            Self::Print(_) => return None,
            Self::Draw(_) => "only `graph` draws",
            Self::Record(Results::Junit) => "only `test`, `audit` and `lint` record results",
            Self::Record(Results::Tap) => "only `test` records results so",
            Self::Report(Findings::Markdown) => "only `audit`, `diff`, `replay` and `lint` write comments",
            Self::Report(Findings::Sarif) => "only `audit` and `lint` report findings so",
            Self::Report(Findings::Github) => "only `lint` reports findings so",
            Self::Report(Findings::Html) => "only `explain`, `diff`, `lint` and `audit` make pages",
            Self::Report(_) => "only `audit` reports findings so",
            Self::Patch => "only `fix` and `lint --fix` print patches",
        };
        let instead = match printer {
            Printer::Graph => "`graph` draws",
            Printer::Test => "`test` records results",
            Printer::Audit => "`audit` reports findings",
            Printer::Fix => "`fix` prints tables, data and patches",
            Printer::Lint => "`lint` prints findings",
            Printer::Replay => "`replay` prints tables, data and comments",
            Printer::Diff => "`diff` prints tables, data, comments and pages",
            Printer::Explain => "`explain` prints tables, data and pages",
            Printer::Other => "the other commands print tables and data",
        };
        Some((format!("{only}; {instead}"), format!("formats: {}", printer.formats().join(", "))))
    }
}

/// When to use colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On terminals, unless `NO_COLOR` is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// Whether fields of known kinds are checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchemaChecks {
    /// Unknown fields and wrong values are errors
    #[default]
    On,
    /// Whatever policies say is passed on as it is
    Off,
}

impl SchemaChecks {
    /// As readers are reported.
    pub(crate) fn schemas(self) -> Schemas {
        match self {
            Self::On => Schemas::On,
            Self::Off => Schemas::Off,
        }
    }
}

/// What those may do at most with a server who do not say who they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum AnonymousCallers {
    /// What is safe: read on a machine by itself; nothing with tokens, TLS or another address; with rights of one's own, what they say
    #[default]
    Auto,
    /// Ask whether the server lives
    None,
    /// Ask for decisions, too
    Decide,
    /// Ask for explanations and read, too
    Read,
    /// Whatever rights permit
    Rights,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(printer: Printer) -> Vec<String> {
        printer.formats()
    }

    #[test]
    fn audits_have_formats_of_their_own() {
        let own = ["csv", "sarif", "policyreport", "openreports", "markdown", "html", "prometheus"];
        let common = ["table", "wide", "json", "yaml", "jsonl", "name"];
        assert_eq!(names(Printer::Audit), [&common[..], &["junit"], &own].concat());
        assert_eq!(names(Printer::Test), [&common[..], &["junit", "tap"]].concat());
        assert_eq!(names(Printer::Graph), [&common[..], &["dot", "mermaid", "svg"]].concat());
        assert_eq!(names(Printer::Other), common);
        let pages = if cfg!(feature = "server") { &["html"][..] } else { &[] };
        assert_eq!(names(Printer::Explain), [&common[..], pages].concat());
    }

    #[test]
    fn other_commands_refuse_them_and_say_what_they_print() {
        let (message, formats) = Output::Report(Findings::Sarif).refused(Printer::Test).expect("is refused");
        assert_eq!(message, "only `audit` and `lint` report findings so; `test` records results");
        assert_eq!(formats, "formats: table, wide, json, yaml, jsonl, name, junit, tap");
        let (message, _) = Output::Record(Results::Tap).refused(Printer::Audit).expect("is refused");
        assert_eq!(message, "only `test` records results so; `audit` reports findings");
    }
}
