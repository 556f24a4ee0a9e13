//! What the columns of a table mean: in goes the header, out comes where in a document each column belongs.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use upheld_model::tree::Written;
use upheld_model::{Fault, Kind, Span, TreeBuilder};

use super::cells::{self, Cell, Form};
use super::problems;
use crate::problems::Problems;
use crate::{limits, quote};

/// The columns of a table.
#[derive(Debug)]
pub(super) struct Columns {
    /// How many cells a row has.
    pub(super) count: usize,
    /// Those that can be used, each map with all that is in it together.
    pub(super) ordered: Vec<Column>,
    pub(super) names: Names,
}

/// Where a column belongs.
#[derive(Debug)]
pub(super) struct Column {
    /// The position of its cell in a row.
    pub(super) cell: usize,
    /// The names of the maps that it is in, the outermost first.
    pub(super) parents: Vec<usize>,
    /// Its own name.
    pub(super) name: usize,
    /// Whether its cells hold several values.
    pub(super) is_list: bool,
    /// How many of those maps the column before it is in, too.
    pub(super) shared: usize,
}

/// The names of columns and of the maps that they are in, numbered as they appear.
#[derive(Debug, Default)]
pub(super) struct Names(Vec<Name>);

#[derive(Debug)]
struct Name {
    /// Where it stands in the header.
    written: Span,
    /// The text, if it is not what stands there.
    unescaped: Option<String>,
    /// The cell of the header that has it first.
    cell: Span,
    /// Whether it is the name of a map.
    is_parent: bool,
    /// The first node that has this name.
    node: Option<u32>,
}

impl Names {
    /// Adds a name as a key. It stands where the value stands, for whoever looks for the row; its text is in the
    /// header.
    pub(super) fn add_to(&mut self, tree: &mut TreeBuilder, name: usize, span: Span) {
        let Some(name) = self.0.get_mut(name) else { return };
        if let Some(node) = name.node {
            // A copy refers to the same text, so a name costs its length once and not in every row.
            tree.copy(node, span);
        } else {
            let written = name.unescaped.as_deref().map_or(Written::Verbatim(name.written), Written::Unescaped);
            name.node = Some(tree.scalar(Kind::Text, span, written));
        }
    }
}

impl Columns {
    /// Reads the cells of a header. Columns that cannot be used are left out.
    pub(super) fn new(header: &[Cell], text: &str, found: &mut Problems) -> Self {
        let mut reader = Reader { text, found, names: Vec::new(), known: HashMap::new() };
        let mut ordered: Vec<Column> = Vec::new();
        for (position, &cell) in header.iter().enumerate() {
            ordered.extend(reader.column(position, cell));
        }
        // Numbers ascend as names appear, so columns of one map come together where its first one stands.
        ordered.sort_by(|a, b| a.path().cmp(b.path()));
        let mut before: &[usize] = &[];
        for column in &mut ordered {
            column.shared = before.iter().zip(&column.parents).take_while(|(one, other)| one == other).count();
            before = &column.parents;
        }
        Self { count: header.len(), ordered, names: Names(reader.names) }
    }
}

impl Column {
    fn path(&self) -> impl Iterator<Item = &usize> {
        self.parents.iter().chain([&self.name])
    }
}

/// Reads one cell of a header after the other.
struct Reader<'a> {
    text: &'a str,
    found: &'a mut Problems,
    names: Vec<Name>,
    /// Names by the map that they are in and their text.
    known: HashMap<(Option<usize>, Cow<'a, str>), usize>,
}

impl<'a> Reader<'a> {
    fn column(&mut self, position: usize, cell: Cell) -> Option<Column> {
        let written = cells::slice(self.text, cell.inner());
        let (written, is_list) = written.strip_suffix(LIST).map_or((written, false), |name| (name, true));
        let parts = written.split(SEPARATOR);
        if parts.clone().any(|part| part.trim().is_empty()) {
            self.found.add(Fault::Syntax, |source| problems::unnamed(source, cell.span, position));
            return None;
        }
        // The document is a level, too; the name itself is none unless it has a list.
        if parts.clone().count() + usize::from(is_list) > limits::DEPTH {
            self.found.add(Fault::Limit, |source| limits::too_deep(source, cell.span));
            return None;
        }
        let mut path: Vec<usize> = Vec::new();
        let mut start = cell.inner().start as usize;
        let mut parts = parts.peekable();
        while let Some(part) = parts.next() {
            let span = quote::span(start, part.len());
            start += part.len() + SEPARATOR.len_utf8();
            path.push(self.name(path.last().copied(), cell, span, parts.peek().is_some())?);
        }
        let name = path.pop()?;
        Some(Column { cell: position, parents: path, name, is_list, shared: 0 })
    }

    /// The number of a name in a map, new or known. Nothing if it is known as something else.
    fn name(&mut self, map: Option<usize>, cell: Cell, written: Span, is_parent: bool) -> Option<usize> {
        let text = self.text_of(cell, written);
        let number = self.names.len();
        let entry = match self.known.entry((map, text)) {
            Entry::Occupied(entry) => entry,
            Entry::Vacant(entry) => {
                let unescaped = (cell.form == Form::Doubled).then(|| entry.key().1.to_string());
                self.names.push(Name { written, unescaped, cell: cell.span, is_parent, node: None });
                return Some(*entry.insert(number));
            }
        };
        let known = *entry.get();
        let first = self.names.get(known)?;
        let (text, second) = (&entry.key().1, cell.span);
        match (first.is_parent, is_parent) {
            (true, true) => return Some(known),
            (false, false) => {
                self.found.add(Fault::DuplicateKey, |source| problems::twice(source, text, first.cell, second));
            }
            (true, false) | (false, true) => {
                self.found.add(Fault::Syntax, |source| problems::value_and_map(source, text, first.cell, second));
            }
        }
        None
    }

    fn text_of(&self, cell: Cell, written: Span) -> Cow<'a, str> {
        let written = cells::slice(self.text, written);
        if cell.form != Form::Doubled {
            return Cow::Borrowed(written);
        }
        let mut unescaped = String::new();
        cells::unescape(written, &mut unescaped);
        Cow::Owned(unescaped)
    }
}

/// Stands between the names of maps inside of each other.
const SEPARATOR: char = '.';

/// The end of a name whose cells hold several values.
const LIST: &str = "[]";
