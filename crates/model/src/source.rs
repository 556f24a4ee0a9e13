//! The texts that were read, and positions in them.

use std::sync::Arc;

use crate::id::Id;
use crate::pages::Pages;
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

/// All files of a snapshot. Another snapshot may share most of them, under the same ids.
#[derive(Clone, Debug, Default)]
pub struct Files {
    /// Nothing where a file was that is gone: the ids of the others stay.
    files: Pages<Option<Arc<File>>>,
}

impl Files {
    /// Adds a file.
    pub fn push(&mut self, file: File) -> SourceId {
        self.files.push(Some(Arc::new(file)));
        SourceId::new(self.files.len() - 1)
    }

    /// The id that the next file gets.
    pub fn next(&self) -> SourceId {
        SourceId::new(self.files.len())
    }

    /// Puts a file in its place, or takes away the one that is there.
    pub fn put(&mut self, source: SourceId, file: Option<File>) {
        self.files.put(source.index(), file.map(Arc::new), || None);
    }

    /// Whether others have the very same file under an id.
    pub fn share(&self, source: SourceId, others: &Self) -> bool {
        let [own, other] = [self, others].map(|files| files.files.get(source.index()));
        matches!((own, other), (Some(Some(own)), Some(Some(other))) if Arc::ptr_eq(own, other))
    }

    /// All files in reading order.
    pub fn iter(&self) -> impl Iterator<Item = (SourceId, &File)> {
        let all = self.files.iter().enumerate();
        all.filter_map(|(index, file)| Some((SourceId::new(index), file.as_deref()?)))
    }

    /// One file.
    pub fn get(&self, source: SourceId) -> Option<&File> {
        self.files.get(source.index())?.as_deref()
    }

    /// The value at a reference, unless the reference is of another set of files.
    pub fn value(&self, at: NodeRef) -> Option<Value<'_>> {
        self.get(at.source)?.tree.value(at.node)
    }

    /// File, line and column of a value.
    pub fn locate(&self, at: NodeRef) -> Option<Location<'_>> {
        let span = self.value(at)?.span();
        self.locate_span(at.source, span)
    }

    /// File, line and column of the start of a span.
    pub fn locate_span(&self, source: SourceId, span: Span) -> Option<Location<'_>> {
        let file = self.get(source)?;
        let (line, column) = file.tree.position(span.start);
        Some(Location { file: &file.name, line, column })
    }
}

impl FromIterator<File> for Files {
    fn from_iter<I: IntoIterator<Item = File>>(files: I) -> Self {
        Self { files: files.into_iter().map(|file| Some(Arc::new(file))).collect() }
    }
}
