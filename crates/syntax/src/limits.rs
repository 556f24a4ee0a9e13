//! How much a text may ask for, so that no input takes more than seconds or a few times its own size in memory; and
//! the words for a text that asks for more.

use upheld_model::{Diagnostic, Fault, SourceId, Span};

/// Bytes of one text. Positions are 32 bits wide; this is far below, and far above any manifest.
pub const BYTES: u64 = 256 * 1024 * 1024;

/// Lists and maps inside each other. Whoever walks a tree may recurse this deep.
pub const DEPTH: usize = 128;

/// Values of one text: what 256 MiB of manifests hold. As many bytes of brackets and commas would hold far more.
pub const VALUES: usize = 20_000_000;

/// Columns of a table: as many as spreadsheets have.
pub const COLUMNS: usize = 16_384;

/// Values that the aliases of a text may repeat: what people write by hand, or a share of what the text holds anyway.
pub fn repeated_values(text_bytes: usize) -> usize {
    10_000 + text_bytes / 8
}

/// More than [`BYTES`].
pub fn too_large(name: &str) -> Diagnostic {
    Diagnostic::error(Fault::Limit, format!("`{name}` is larger than {} MiB", BYTES / (1024 * 1024)))
        .help("split it into several files")
}

/// More than [`DEPTH`].
pub(crate) fn too_deep(source: SourceId, span: Span) -> Diagnostic {
    Diagnostic::error(Fault::Limit, format!("lists and maps are nested deeper than {DEPTH} levels")).at(
        source,
        span,
        format!("level {}", DEPTH + 1),
    )
}

/// More than [`VALUES`].
pub(crate) fn too_many_values(source: SourceId, span: Span) -> Diagnostic {
    Diagnostic::error(Fault::Limit, format!("the text has more than {VALUES} values"))
        .at(source, span, "what follows is not read")
        .help("split it into several files")
}

/// More than [`COLUMNS`].
pub(crate) fn too_many_columns(source: SourceId, span: Span) -> Diagnostic {
    Diagnostic::error(Fault::Limit, format!("the table has more than {COLUMNS} columns"))
        .at(source, span, "the table is not read")
        .help("split it into several files")
}
