//! The documents of files, by who looks at them first.

use upheld_engine::work;
use upheld_model::tree::{Kind, Value};
use upheld_model::{Diagnostic, Diagnostics, Fault, File, SourceId, Tree};

use super::kustomization::Kustomizations;
use super::pages::Pages;
use super::{is_like_ours, is_list, is_page, is_tests};
use crate::dialect::{Document, dialects};
use crate::document::Header;
use crate::policy_kind;

/// Documents by who looks at them first.
#[derive(Debug, Default)]
pub struct Documents<'f> {
    /// Documents that say how policies are read.
    pub(super) kinds: Vec<(SourceId, Header<'f>)>,
    /// Questions with their answers: whatever they say, no answer depends on it.
    pub(super) tests: Vec<(SourceId, Value<'f>)>,
    /// What is no document of its own, with what it is.
    pub(super) aside: Vec<(SourceId, Value<'f>, &'static str)>,
    /// All others, in order.
    all: Vec<Offered<'f>>,
}

/// What readers are offered.
#[derive(Debug)]
enum Offered<'f> {
    /// A document that says what it is.
    Typed(Document<'f>),
    /// Documents of one file, one after the other, that a dialect claims without: there can be a million of them.
    Claimed(Claimed<'f>),
}

#[derive(Debug)]
struct Claimed<'f> {
    /// The place of the dialect.
    by: usize,
    source: SourceId,
    tree: &'f Tree,
    namespace: Option<&'f str>,
    numbers: Vec<u32>,
}

impl<'f> Claimed<'f> {
    fn documents(&self) -> impl Iterator<Item = Document<'f>> {
        let Self { source, tree, namespace, .. } = *self;
        let values = self.numbers.iter().filter_map(|number| tree.value(*number));
        values.map(move |value| Document { source, value, header: None, namespace })
    }
}

/// What documents are called that change others.
const PATCHES: &str = "patches and other parts of kustomizations";
/// What lists are called that nobody knows.
const LISTS: &str = "lists";

impl<'f> Documents<'f> {
    /// All documents of some files, those inside lists too.
    pub(crate) fn of(
        files: impl Iterator<Item = (SourceId, &'f File)>,
        kustomizations: &'f Kustomizations,
        found: &mut Diagnostics,
    ) -> Self {
        let mut documents = Self::default();
        let mut pages = Pages::default();
        for (source, file) in files {
            if kustomizations.is_part(&file.name) {
                documents.aside.extend(file.tree.documents().map(|value| (source, value, PATCHES)));
                continue;
            }
            let namespace = kustomizations.given(&file.name).map(|given| given.namespace.as_str());
            let mut waiting: Vec<Value<'f>> = file.tree.documents().collect();
            waiting.reverse();
            while let Some(value) = waiting.pop() {
                work::step();
                match documents.add((source, file, namespace), value, found) {
                    Held::Itself => {}
                    Held::Items(items) => {
                        let start = waiting.len();
                        waiting.extend(items.items());
                        if let Some(added) = waiting.get_mut(start..) {
                            added.reverse();
                        }
                    }
                    Held::Page => {
                        let items = pages.documents(source, value, found);
                        waiting.extend(items.into_iter().flatten().rev());
                    }
                }
            }
        }
        pages.finish(found);
        documents
    }

    /// Adds a document of a file, in which a namespace is given to those that name none, unless it only holds others.
    fn add(
        &mut self,
        (source, file, namespace): (SourceId, &'f File, Option<&'f str>),
        value: Value<'f>,
        found: &mut Diagnostics,
    ) -> Held<'f> {
        if is_tests(value) {
            self.tests.push((source, value));
            return Held::Itself;
        }
        // The first look, because there can be a million of these.
        if let Some(by) = dialects().position(|dialect| dialect.claims(value, &file.name)) {
            self.claimed(by, (source, file, namespace), value.number());
            return Held::Itself;
        }
        let header = Header::of(value);
        match (value.kind(), header.items) {
            (Kind::Null, _) => {}
            // A list from which the last item was taken.
            (Kind::List, _) if value.items().next().is_none() => {}
            (Kind::Map, Some(items)) if items.kind() == Kind::List && is_list(&header) => return Held::Items(items),
            (Kind::Map, _) if is_page(&header) => return Held::Page,
            (Kind::Map, _) if policy_kind::is_policy_kind(&header) => self.kinds.push((source, header)),
            (Kind::Map, _) if value.get("$patch").is_some() => self.aside.push((source, value, PATCHES)),
            (Kind::Map, _) => {
                self.all.push(Offered::Typed(Document { source, value, header: Some(header), namespace }));
            }
            (Kind::List, _) if dialects().any(|dialect| dialect.claims_items(value)) => return Held::Items(value),
            // Other tools keep lists of their own in the same folders.
            (Kind::List, _) if !value.items().any(is_like_ours) => self.aside.push((source, value, LISTS)),
            (kind, _) => found.push(
                Diagnostic::error(Fault::UnknownDocument, format!("a document must be a map, not {}", kind.noun()))
                    .at_value(source, value, "expected `type:` or `kind:` with the fields of a resource"),
            ),
        }
        Held::Itself
    }

    /// Adds a document to those before it that the same dialect claims, or begins anew.
    fn claimed(&mut self, by: usize, (source, file, namespace): (SourceId, &'f File, Option<&'f str>), number: u32) {
        if let Some(Offered::Claimed(last)) = self.all.last_mut()
            && (last.by, last.source) == (by, source)
        {
            last.numbers.push(number);
            return;
        }
        let numbers = vec![number];
        self.all.push(Offered::Claimed(Claimed { by, source, tree: &file.tree, namespace, numbers }));
    }

    /// All that readers are offered, with the place of the dialect that claims it.
    pub(crate) fn offered(&self) -> impl Iterator<Item = (Document<'f>, Option<usize>)> {
        self.all.iter().flat_map(|offered| {
            let (typed, claimed) = match offered {
                Offered::Typed(document) => (Some(*document), None),
                Offered::Claimed(claimed) => (None, Some(claimed)),
            };
            let claimed = claimed.into_iter().flat_map(|own| own.documents().map(|document| (document, Some(own.by))));
            typed.map(|document| (document, None)).into_iter().chain(claimed)
        })
    }

    /// Those that say what they are.
    pub fn typed(&self) -> impl Iterator<Item = &Document<'f>> {
        self.all.iter().filter_map(|offered| match offered {
            Offered::Typed(document) => Some(document),
            Offered::Claimed(_) => None,
        })
    }
}

/// What a document holds.
enum Held<'f> {
    /// What it says itself.
    Itself,
    /// The items of a list.
    Items(Value<'f>),
    /// A page of a list.
    Page,
}
