//! CSV as in RFC 4180: in goes a text, out come a tree and what is wrong with the text.
//!
//! ```text
//! ref,type,tags.environment[]
//! project/a,project,dev;test     ──▶  {ref: project/a, type: project, tags: {environment: [dev, test]}}
//! project/b,project,             ──▶  {ref: project/b, type: project}
//! ```
//!
//! The first row names the columns, each further row is a document, and every value is text. A dot in a name makes
//! maps inside of maps, and `[]` at its end a list. Empty cells say nothing: they are left out, and so is a row that
//! has only such. Tables of others lie beside manifests; one without a column of ours has no documents.
//!
//! Spreadsheets write tables with semicolons or tabs, too, with a first line `sep=;`, and with columns to the right in
//! which nothing stands. Where the comma does not separate, a bare `1,5` is the number 1.5.

mod cells;
mod columns;
mod header;
mod problems;

use upheld_model::tree::Written;
use upheld_model::{Diagnostic, Fault, Kind, SourceId, Span, Tree, TreeBuilder};

use self::cells::{Cell, Form, Row, Rows, Separator};
use self::columns::Columns;
pub use self::header::seems_ours;
use crate::problems::Problems;
use crate::{limits, quote};

/// Reads a table. An error in one row does not hide the others.
///
/// ```
/// use upheld_syntax::csv;
/// use upheld_model::SourceId;
///
/// let (tree, problems) = csv::read(SourceId::new(0), "ref,tags.team\nproject/a,red\n".to_owned());
/// assert!(problems.is_empty());
/// let document = tree.documents().next().unwrap();
/// assert_eq!(document.at_path(&["tags", "team"]).and_then(|team| team.as_text()), Some("red"));
/// ```
pub fn read(source: SourceId, text: String) -> (Tree, Vec<Diagnostic>) {
    let mut reader = Reader {
        text: &text,
        rows: Rows::new(&text, 0, Separator::Comma),
        cells: Vec::new(),
        tree: TreeBuilder::default(),
        found: Problems::new(source),
        unescaped: String::new(),
    };
    reader.table();
    let Reader { tree, found, .. } = reader;
    (tree.finish(text), found.finish())
}

/// Reads one row after the other from a text.
struct Reader<'t> {
    text: &'t str,
    rows: Rows<'t>,
    /// The cells of the last row.
    cells: Vec<Cell>,
    tree: TreeBuilder,
    found: Problems,
    /// The last text that is not what stands there: without doubled quotes, or with a point.
    unescaped: String,
}

impl Reader<'_> {
    fn table(&mut self) {
        let Some((header, mut columns)) = self.header() else { return };
        let separator = self.rows.separator;
        while let Some(row) = self.rows.next(&mut self.cells, columns.count) {
            if let Some(flaw) = row.flaw {
                self.found.add(Fault::Syntax, |source| problems::flaw(source, flaw, separator));
            } else if row.cells < columns.count || self.stands_right_of(&row, columns.count) {
                self.found.add(Fault::Syntax, |source| problems::count(source, &row, &header, separator));
            } else if !self.document(&row, &mut columns) {
                return;
            }
        }
    }

    /// Whether something stands to the right of the columns.
    fn stands_right_of(&self, row: &Row, columns: usize) -> bool {
        let last = columns.checked_sub(1).and_then(|last| self.cells.get(last));
        let end = last.map_or(row.span.start, |cell| cell.span.end);
        let right = cells::slice(self.text, Span { start: end, ..row.span });
        row.cells > columns && !right.bytes().all(|byte| byte == self.rows.separator.byte())
    }

    /// Reads the first row; nothing if that is not one of ours, or so broken that no other can be understood.
    fn header(&mut self) -> Option<(Row, Columns)> {
        let (start, said) = header::separator_line(self.text);
        let tried = said.map_or_else(|| Separator::ALL.to_vec(), |separator| vec![separator]);
        let usual = said.unwrap_or(Separator::Comma);
        let mut ours = None;
        for separator in tried {
            let row = Rows::new(self.text, start, separator).next(&mut self.cells, limits::COLUMNS);
            match row {
                Some(row) if header::is_ours(&self.cells, self.text) => {
                    // Another separator may make sense of quotes that this one does not go with.
                    ours = ours.or(Some(separator));
                    if row.flaw.is_none() {
                        ours = Some(separator);
                        break;
                    }
                }
                _ => {}
            }
        }
        let is_ours = ours.is_some();
        self.rows = Rows::new(self.text, start, ours.unwrap_or(usual));
        let mut header = self.rows.next(&mut self.cells, limits::COLUMNS)?;
        let separator = self.rows.separator;
        // Whoever meant a table to be read must hear what is wrong with it; those of others are passed over.
        if !is_ours && !seems_ours(self.text.get(start..).unwrap_or_default()) {
            return None;
        }
        if let Some(flaw) = header.flaw {
            self.found.add(Fault::Syntax, |source| problems::flaw(source, flaw, separator));
            return None;
        }
        if header.cells > limits::COLUMNS {
            self.found.add(Fault::Limit, |source| limits::too_many_columns(source, header.span));
            return None;
        }
        if !is_ours {
            self.found.add(Fault::NotRead, |source| problems::set_aside(source, header.span));
            return None;
        }
        // Spreadsheets write empty cells as far to the right as something ever stood.
        while self.cells.last().is_some_and(|cell| cell.is_absent()) {
            self.cells.pop();
        }
        header.cells = self.cells.len();
        let columns = Columns::new(&self.cells, self.text, &mut self.found);
        Some((header, columns))
    }

    /// Adds a row as a document, unless all of its cells are empty. Says whether more can be read.
    fn document(&mut self, row: &Row, columns: &mut Columns) -> bool {
        if self.cells.iter().all(|cell| cell.is_absent()) {
            return true;
        }
        let first = self.tree.open(Kind::Map, Span { end: row.span.start, ..row.span });
        // How many maps are open inside of the document, and how many of them the next value is in, too.
        let (mut open, mut shared) = (0, 0);
        let mut end = row.span.start;
        for column in &columns.ordered {
            shared = column.shared.min(shared);
            let Some(&cell) = self.cells.get(column.cell).filter(|cell| !cell.is_absent()) else { continue };
            for _ in shared..open {
                self.tree.close(end);
            }
            for &parent in column.parents.get(shared..).unwrap_or_default() {
                columns.names.add_to(&mut self.tree, parent, cell.span);
                self.tree.open(Kind::Map, Span { end: cell.span.start, ..cell.span });
            }
            columns.names.add_to(&mut self.tree, column.name, cell.span);
            if column.is_list {
                self.list(cell);
            } else {
                self.scalar(cell.span, cell.inner(), cell.form);
            }
            open = column.parents.len();
            shared = open;
            end = cell.span.end;
        }
        for _ in 0..open {
            self.tree.close(end);
        }
        self.tree.close(row.span.end);
        let too_many = self.tree.node_count() > limits::VALUES;
        if too_many {
            self.tree.rewind(first);
            self.found.add(Fault::Limit, |source| limits::too_many_values(source, row.span));
        }
        !too_many
    }

    /// Adds the items of a cell as a list.
    fn list(&mut self, cell: Cell) {
        self.tree.open(Kind::List, cell.span);
        let mut start = cell.inner().start as usize;
        for item in cells::slice(self.text, cell.inner()).split(SEPARATOR) {
            let span = quote::span(start, item.len());
            self.scalar(span, span, cell.form);
            start += item.len() + SEPARATOR.len_utf8();
            // A row can have a few million items more than allowed, but not all that a text has room for.
            if self.tree.node_count() > limits::VALUES {
                break;
            }
        }
        self.tree.close(cell.span.end);
    }

    /// Adds a text that stands at one place, within quotes or not.
    fn scalar(&mut self, span: Span, inner: Span, form: Form) {
        let mut written = Written::Verbatim(inner);
        if form == Form::Doubled {
            cells::unescape(cells::slice(self.text, inner), &mut self.unescaped);
            written = Written::Unescaped(&self.unescaped);
        } else if form == Form::Bare && self.rows.separator != Separator::Comma {
            let text = cells::slice(self.text, inner);
            if cells::with_point(text, &mut self.unescaped) {
                written = Written::Unescaped(&self.unescaped);
            }
        }
        self.tree.scalar(Kind::Text, span, written);
    }
}

/// Stands between the items of a list.
const SEPARATOR: char = ';';
