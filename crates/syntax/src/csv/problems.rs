//! What can be wrong with CSV, in words.

use upheld_model::{Diagnostic, Fault, SourceId, Span};

use super::cells::{Flaw, Row, Separator};
use crate::quote;

/// Quotes that do not go together.
pub(super) fn flaw(source: SourceId, flaw: Flaw, separator: Separator) -> Diagnostic {
    match flaw {
        Flaw::Unclosed(quote) => Diagnostic::error(Fault::Syntax, "the quote is not closed")
            .at(source, quote, "opened here")
            .help("close the cell with `\"`; write a quote inside it as `\"\"`"),
        Flaw::AfterQuote { cell, text } => {
            let opened = Span { end: cell.start + 1, ..cell };
            Diagnostic::error(Fault::Syntax, "text after the quote that closes a cell")
                .at(source, text, format!("expected a {} or the end of the line", separator.noun()))
                .related(source, opened, "the cell is opened here")
                .help("write a quote inside a cell as `\"\"`")
        }
    }
}

/// A row that is longer or shorter than the header.
pub(super) fn count(source: SourceId, row: &Row, header: &Row, separator: Separator) -> Diagnostic {
    let (cells, columns) = (counted(row.cells, "cell"), counted(header.cells, "column"));
    let help = if row.cells > header.cells {
        format!(
            "put a cell that has a {} in double quotes: `\"a{} b\"`",
            separator.noun(),
            char::from(separator.byte())
        )
    } else {
        format!("leave a cell empty, but not its {} out", separator.noun())
    };
    Diagnostic::error(Fault::Syntax, format!("the row has {cells}, but the header has {columns}"))
        .at(source, row.span, cells)
        .related(source, header.span, columns)
        .help(help)
}

/// A column without a name, or with a part of it missing; its position counts from zero.
pub(super) fn unnamed(source: SourceId, cell: Span, position: usize) -> Diagnostic {
    Diagnostic::error(Fault::Syntax, format!("column {} has no name", position + 1))
        .at(source, cell, "a name is missing here")
        .help("name it, also before and after each dot, or remove the column")
}

/// A column that stands twice.
pub(super) fn twice(source: SourceId, name: &str, first: Span, second: Span) -> Diagnostic {
    Diagnostic::error(Fault::DuplicateKey, format!("column `{}` appears twice", quote::short(name)))
        .at(source, second, "the second one")
        .related(source, first, "the first one")
        .help("keep one of them; a column of several values ends in `[]`")
}

/// A name that has a value in one column and columns inside of it in another.
pub(super) fn value_and_map(source: SourceId, name: &str, first: Span, second: Span) -> Diagnostic {
    let message = format!("`{}` is both a column and a part of the names of other columns", quote::short(name));
    Diagnostic::error(Fault::Syntax, message)
        .at(source, second, "here it is used differently")
        .related(source, first, "than here")
        .help("`a.b` is the field `b` of the map `a`; rename one of the columns")
}

/// A table that looks like one of ours and is not read.
pub(super) fn set_aside(source: SourceId, header: Span) -> Diagnostic {
    Diagnostic::warning(
        Fault::NotRead,
        "the table is not read: it has no column `ref`, `type` or `kind`, nor `a` and `b`",
    )
    .at(source, header, "the header")
    .help("separate columns by commas, semicolons or tabs, without blanks around their names")
}

fn counted(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}
