//! Reading the documents of a dialect: those of a whole repository, or those that changed.

use std::collections::BTreeSet;

use upheld_engine::PolicyKind;
use upheld_model::tree::Value;
use upheld_model::{Files, NodeRef, SourceId, Symbols};

use crate::document::{Header, Resource};
use crate::recognise::{Before, Documents, Reading, Recognised};

/// A document on its way to its reader.
#[derive(Clone, Copy, Debug)]
pub struct Document<'f> {
    /// The file that it stands in.
    pub source: SourceId,
    /// All of it.
    pub value: Value<'f>,
    /// What it says of itself; nothing if a dialect claims it without.
    pub header: Option<Header<'f>>,
    /// The namespace that it gets where it names none.
    pub namespace: Option<&'f str>,
}

impl<'f> Document<'f> {
    /// Where it stands.
    pub fn at(&self) -> NodeRef {
        NodeRef { source: self.source, node: self.value.number() }
    }

    /// The resource that it is, if it has a type.
    pub fn resource(&self) -> Option<Resource<'f>> {
        self.header.and_then(Resource::with_header).map(|resource| resource.given(self.namespace))
    }
}

/// What a reader begins with.
#[derive(Clone, Copy, Debug)]
pub struct Opening<'f, 'o> {
    /// How documents are read.
    pub reading: Reading<'f>,
    /// The files of documents that come.
    pub files: &'f Files,
    /// The kinds in force.
    pub kinds: &'o [PolicyKind],
    /// Their texts.
    pub symbols: &'o Symbols,
    /// The documents that come.
    pub documents: &'o Documents<'f>,
    /// What is known already.
    pub known: Known<'f>,
}

/// What a reader can build on.
#[derive(Clone, Copy, Debug)]
pub enum Known<'f> {
    /// Nothing: all documents are read.
    Nothing,
    /// All documents are read, but many are as they were.
    Reusable(Before<'f>),
    /// Only documents of changed files are read; all else stays.
    Unchanged(Before<'f>, &'f BTreeSet<SourceId>),
}

/// Whether a document was there, or is there now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// It was there, in a file that changed.
    Gone,
    /// It is there now.
    Came,
}

/// Whether a reader took a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// It did not.
    No,
    /// It did, and it is nobody else's.
    Yes,
    /// It did; others may read it, too.
    Shared,
}

/// Takes documents one by one, and says what they come to together.
pub trait Reader<'f> {
    /// Sees a document that has a type, whoever takes it.
    fn see(&mut self, _document: &Document<'f>, _side: Side) {}

    /// Takes a document, or leaves it to others.
    fn take(&mut self, document: &Document<'f>, side: Side) -> Taken;

    /// Words in `kind` or `type` that are known here, for those who made a typo.
    fn words(&self) -> Vec<String>;

    /// Reads what was taken. Nothing if only some documents were read and it takes all of them to know what these mean.
    fn finish(self: Box<Self>, recognised: &mut Recognised) -> Option<()>;
}
