//! How answers can be printed.

use clap::ValueEnum;

/// What can be asked for with `--output`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Output {
    /// For people
    #[default]
    Table,
    /// For people with a wide screen
    Wide,
    /// One JSON document with everything
    Json,
    /// One YAML document with everything
    Yaml,
    /// One JSON document a line
    Jsonl,
    /// Names only
    Name,
    /// A drawing for Graphviz (`graph` only)
    Dot,
    /// A drawing for Mermaid (`graph` only)
    Mermaid,
    /// A picture (`graph` only)
    Svg,
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

impl Output {
    /// How answers are printed; drawings are for graphs.
    pub(crate) fn format(self) -> Format {
        match self {
            Self::Table | Self::Dot | Self::Mermaid | Self::Svg => Format::Table,
            Self::Wide => Format::Wide,
            Self::Json => Format::Json,
            Self::Yaml => Format::Yaml,
            Self::Jsonl => Format::Jsonl,
            Self::Name => Format::Name,
        }
    }

    /// How graphs are drawn, if that is asked for.
    pub(crate) fn drawing(self) -> Option<Drawing> {
        match self {
            Self::Dot => Some(Drawing::Dot),
            Self::Mermaid => Some(Drawing::Mermaid),
            Self::Svg => Some(Drawing::Svg),
            _ => None,
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
