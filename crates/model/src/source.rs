//! The texts that were read, and positions in them.

use crate::id::{Id, Table};
use crate::tree::{Span, Tree, Value};

/// One text that was read: a file, standard input, a file of a git revision, a built-in document.
#[derive(Debug)]
pub struct File {
    /// How users call it, for example `policies/logging.yaml`.
    pub name: String,
    /// Its documents, as far as they could be read.
    pub tree: Tree,
}

/// Which [`File`].
pub type SourceId = Id<File>;

/// One value of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeRef {
    /// The file.
    pub source: SourceId,
    /// The node in the file's tree.
    pub node: u32,
}

/// A place that a person can go to; both numbers start at one, columns count characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location<'f> {
    /// Name of the file.
    pub file: &'f str,
    /// Line, from one.
    pub line: usize,
    /// Column in characters, from one.
    pub column: usize,
}

/// All files of a snapshot.
#[derive(Debug, Default)]
pub struct Files {
    files: Table<File>,
}

impl Files {
    /// Adds a file.
    pub fn push(&mut self, file: File) -> SourceId {
        self.files.push(file)
    }

    /// All files in reading order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (SourceId, &File)> {
        self.files.iter()
    }

    /// One file.
    pub fn get(&self, source: SourceId) -> Option<&File> {
        self.files.get(source)
    }

    /// The value at a reference, unless the reference is of another set of files.
    pub fn value(&self, at: NodeRef) -> Option<Value<'_>> {
        self.files.get(at.source)?.tree.value(at.node)
    }

    /// File, line and column of a value.
    pub fn locate(&self, at: NodeRef) -> Option<Location<'_>> {
        let span = self.value(at)?.span();
        self.locate_span(at.source, span)
    }

    /// File, line and column of the start of a span.
    pub fn locate_span(&self, source: SourceId, span: Span) -> Option<Location<'_>> {
        let file = self.files.get(source)?;
        let (line, column) = file.tree.position(span.start);
        Some(Location { file: &file.name, line, column })
    }
}

impl FromIterator<File> for Files {
    fn from_iter<I: IntoIterator<Item = File>>(files: I) -> Self {
        Self { files: files.into_iter().collect() }
    }
}
