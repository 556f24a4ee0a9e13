//! How answers can be printed.

use clap::ValueEnum;
use clap::builder::PossibleValue;

/// What can be asked for with `--output`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Output {
    /// Answers.
    Print(Format),
    /// Drawings of graphs.
    Draw(Drawing),
    /// Results of tests.
    Record(Results),
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
            Self::Record(Results::Junit) => ("junit", "JUnit XML for pipelines (`test` only)"),
            Self::Record(Results::Tap) => ("tap", "The Test Anything Protocol (`test` only)"),
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

impl Output {
    /// How answers are printed.
    pub(crate) fn format(self) -> Format {
        match self {
            Self::Print(format) => format,
            Self::Draw(_) | Self::Record(_) => Format::Table,
        }
    }

    /// How graphs are drawn, if that is asked for.
    pub(crate) fn drawing(self) -> Option<Drawing> {
        match self {
            Self::Print(_) | Self::Record(_) => None,
            Self::Draw(drawing) => Some(drawing),
        }
    }

    /// How results are recorded, if that is asked for.
    pub(crate) fn results(self) -> Option<Results> {
        match self {
            Self::Print(_) | Self::Draw(_) => None,
            Self::Record(results) => Some(results),
        }
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
