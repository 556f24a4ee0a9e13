//! From documents to objects, policies and kinds: each document is offered to the dialects, and what none of them knows is
//! said or set aside. Nothing is ignored in silence.

mod after;
mod documents;
mod kinds;
mod kustomization;
pub(crate) mod marks;
mod pages;
mod surroundings;
mod unread;

use std::any::Any;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rustc_hash::FxHashMap;
use upheld_engine::{Companions, Indexed, PolicyKind, Snapshot, work};
use upheld_model::nearest::nearest;
use upheld_model::tree::{Kind, Value};
use upheld_model::{Diagnostic, Diagnostics, Draft, Fault, File, Files, NodeRef, SourceId, Sym};

pub(crate) use self::after::changed_files;
pub use self::after::{After, Before};
pub use self::documents::Documents;
pub use self::kustomization::{Given, Kustomizations, is_kustomization_file, kustomized_paths};
pub(crate) use self::kustomization::{given_to, resource_at};
pub use self::marks::Marks;
pub use self::surroundings::Surroundings;
pub use self::unread::SetAside;
use crate::dialect::{Dialect, Document, Known, Opening, Reader, Side, Taken, builtin, dialects};
use crate::document::Header;
use crate::schemas::Checks;

/// Everything that was recognised.
#[derive(Debug, Default)]
pub struct Recognised {
    /// Objects and policies.
    pub draft: Draft,
    /// The kinds that are in force.
    pub kinds: Vec<PolicyKind>,
    /// Kinds that belong to an edition that is not in force: answers may say where it differs.
    pub other_editions: Vec<PolicyKind>,
    /// What dialects index themselves.
    pub indexed: Indexed,
    /// What dialects know of all their documents together.
    pub companions: Companions,
    /// Editions that some kind belongs to.
    pub editions: Vec<String>,
    /// Types whose kinds are broken, or belong to an edition that is not in force.
    pub(crate) not_in_force: BTreeMap<String, Option<String>>,
    /// What is wrong.
    pub diagnostics: Diagnostics,
    /// Documents of other systems, or of types that are not resolved.
    pub set_aside: SetAside,
    /// Where these stand.
    aside: BTreeSet<NodeRef>,
    /// The documents that can change an answer.
    pub documents: Vec<NodeRef>,
    /// What lies beside the documents that are meant for us.
    surroundings: Surroundings,
    /// Where objects and policies were first described, by type, scope and name.
    described: FxHashMap<(Sym, Sym, Sym), NodeRef>,
}

/// How documents are read.
#[derive(Clone, Copy, Debug)]
pub struct Reading<'r> {
    /// The editions in force; kinds of other editions are left out.
    pub semantics: &'r [&'r str],
    /// What dialects are reported besides, found by its type.
    pub settings: &'r Companions,
}

/// Recognises all documents. `semantics` names the editions in force; kinds of other editions are left out.
pub fn recognise(files: &Files, semantics: &[&str]) -> Recognised {
    recognise_with(Reading { semantics, settings: &Companions::default() }, files, None)
}

/// As [`recognise`], with more choices. What is known from before need not be read again: files that are shared have the
/// same ids in both.
pub fn recognise_with<'f>(reading: Reading<'f>, files: &'f Files, before: Option<Before<'f>>) -> Recognised {
    let surroundings = Surroundings::of(reading.settings);
    let mut recognised = Recognised { surroundings, ..Recognised::default() };
    let kustomizations = Kustomizations::of(files);
    let mut documents = Documents::of(files.iter(), &kustomizations, &mut recognised.diagnostics);
    recognised.keep(TestFiles::of(&documents));
    let kinds = std::mem::take(&mut documents.kinds);
    recognised.read_kinds(files, kinds, reading);
    for dialect in dialects() {
        dialect.add_kinds(&documents, &mut recognised);
    }
    let known = match before.filter(|before| before.has_kinds(&recognised.kinds, files)) {
        Some(before) => Known::Reusable(before),
        None => Known::Nothing,
    };
    recognised.documents.extend(recognised.kinds.iter().map(|kind| kind.at));
    let mut readers = recognised.readers(reading, files, &documents, known);
    readers.take_all(&documents, Side::Came, &mut recognised);
    // Where all documents are read, nothing is missing.
    let _complete: Option<()> = readers.finish(&mut recognised);
    let sound = before.filter(|_| matches!(known, Known::Reusable(_)));
    let is_new = |source| sound.is_none_or(|before| !files.share(source, before.snapshot.files()));
    recognised.check_schemas(reading, files, &documents, is_new);
    let Recognised { documents, aside, .. } = &mut recognised;
    documents.retain(|at| !aside.contains(at));
    documents.extend_from_slice(kustomizations.documents());
    recognised.keep(kustomizations);
    recognised.diagnostics.sort();
    recognised
}

impl Recognised {
    fn readers<'f>(
        &self,
        reading: Reading<'f>,
        files: &'f Files,
        documents: &Documents<'f>,
        known: Known<'f>,
    ) -> Readers<'f> {
        let opening = Opening { reading, files, kinds: &self.kinds, symbols: &self.draft.symbols, documents, known };
        Readers { readers: dialects().map(|dialect| (dialect, dialect.reader(opening))).collect() }
    }

    /// Holds what documents say against what is known of their fields.
    fn check_schemas(
        &mut self,
        reading: Reading<'_>,
        files: &Files,
        documents: &Documents<'_>,
        is_new: impl Fn(SourceId) -> bool,
    ) {
        let checks = Checks::new(reading.settings, &self.kinds, &self.draft.symbols, files);
        checks.check(documents.typed().filter(|document| is_new(document.source)), &mut self.diagnostics);
    }

    /// Keeps what is known of all documents together.
    pub(crate) fn keep<T: Any + Send + Sync>(&mut self, item: T) {
        self.companions = std::mem::take(&mut self.companions).with(Arc::new(item));
    }

    /// Whether nothing of the same type, scope and name was described before; else that is a mistake. `within` is what scopes
    /// are called.
    pub(crate) fn is_new(&mut self, files: &Files, identity: (Sym, Sym, Sym), at: NodeRef, within: &str) -> bool {
        let first = match self.described.entry(identity) {
            Entry::Vacant(place) => {
                place.insert(at);
                return true;
            }
            Entry::Occupied(first) => *first.get(),
        };
        let text = |symbol| self.draft.symbols.text(symbol);
        let (kind, scope, name) = (text(identity.0), text(identity.1), text(identity.2));
        let is_nowhere = dialects().any(|dialect| dialect.is_in_no_scope(kind, scope));
        let place = if is_nowhere { String::new() } else { format!(" of {within} `{scope}`") };
        let message = format!("{kind} `{name}`{place} is defined twice");
        let span = files.value(at).map(first_span).unwrap_or_default();
        let diagnostic = Diagnostic::error(Fault::DefinedTwice, message)
            .at(at.source, span, "second definition")
            .help("rename or remove one of them");
        let diagnostic = with_first(diagnostic, files, first);
        self.diagnostics.push(self.surroundings.twice(files, diagnostic));
        false
    }
}

/// A reader for each dialect.
struct Readers<'f> {
    readers: Vec<(&'static dyn Dialect, Box<dyn Reader<'f> + 'f>)>,
}

impl<'f> Readers<'f> {
    /// Offers documents to all readers; what nobody takes is said or set aside.
    fn take_all(&mut self, documents: &Documents<'f>, side: Side, recognised: &mut Recognised) {
        for (source, value, label) in &documents.aside {
            recognised.set_aside(*source, *value, (*label).to_owned());
        }
        let mut words: Option<Vec<String>> = None;
        for (document, claimed) in documents.offered() {
            work::step();
            recognised.documents.push(document.at());
            if self.take(&document, claimed, side) {
                continue;
            }
            match document.resource() {
                Some(resource) => {
                    recognised.unread(document.source, resource, words.get_or_insert_with(|| self.words()));
                }
                None => recognised.without_type(document.source, document.value),
            }
        }
    }

    /// Whether somebody takes a document.
    fn take(&mut self, document: &Document<'f>, claimed: Option<usize>, side: Side) -> bool {
        if let Some((_, reader)) = claimed.and_then(|place| self.readers.get_mut(place)) {
            return reader.take(document, side) != Taken::No;
        }
        for (_, reader) in &mut self.readers {
            reader.see(document, side);
        }
        let mut shared = false;
        for (_, reader) in &mut self.readers {
            match reader.take(document, side) {
                Taken::Yes => return true,
                Taken::Shared => shared = true,
                Taken::No => {}
            }
        }
        shared
    }

    /// Words that some reader knows.
    fn words(&self) -> Vec<String> {
        let mut words: Vec<String> = self.readers.iter().flat_map(|(_, reader)| reader.words()).collect();
        words.sort_unstable();
        words.dedup();
        words
    }

    fn finish(self, recognised: &mut Recognised) -> Option<()> {
        self.readers.into_iter().try_for_each(|(_, reader)| reader.finish(recognised))
    }
}

/// Whether an item of a list could be a document. Lists of anything have items with types: those of ours are known.
fn is_like_ours(item: Value<'_>) -> bool {
    let header = Header::of(item);
    let is_kind = |typed: Value<'_>| {
        let mut kinds = builtin().flat_map(|document| marks::values(document.text, "name"));
        kinds.any(|known| known == typed.text())
    };
    (header.kind.is_some() && header.api_version.is_some())
        || header.universal_type.is_some_and(is_kind)
        || dialects().any(|dialect| dialect.resembles(item))
}

/// Whether a dialect takes a document, or the items of a list, for its own without a type.
pub fn is_claimed(document: Value<'_>, file: &str) -> bool {
    dialects().any(|dialect| dialect.claims(document, file) || dialect.claims_items(document))
}

/// How the file with documents is called that nobody wrote.
pub const IMPLIED: &str = "(implied)";

/// Documents that nobody wrote but that exist all the same, as YAML.
pub fn implied(files: &Files, settings: &Companions) -> Option<String> {
    // What is wrong with documents is told when they are recognised.
    let kustomizations = Kustomizations::of(files);
    let documents = Documents::of(files.iter(), &kustomizations, &mut Diagnostics::default());
    let texts: Vec<String> = dialects().filter_map(|dialect| dialect.implied(&documents, settings)).collect();
    (!texts.is_empty()).then(|| texts.join("---\n"))
}

/// All documents that can change an answer, in files that are looked at.
pub(crate) fn documents(snapshot: &Snapshot, is_looked_at: impl Fn(SourceId) -> bool) -> Vec<(SourceId, Value<'_>)> {
    let kustomizations = Kustomizations::in_snapshot(snapshot);
    let files = snapshot.files().iter().filter(|(source, _)| is_looked_at(*source));
    // What is wrong with documents was told when they were recognised.
    let documents = Documents::of(files, kustomizations, &mut Diagnostics::default());
    let kinds = documents.kinds.iter().map(|(source, header)| (*source, header.document));
    kinds.chain(documents.offered().map(|(document, _)| (document.source, document.value))).collect()
}

/// The value of `kind:` of documents with tests.
pub const TESTS: &str = "PolicyTests";

/// Files that have documents with tests: no question looks at all others for them.
#[derive(Clone, Debug, Default)]
struct TestFiles(BTreeSet<SourceId>);

impl TestFiles {
    fn of(documents: &Documents<'_>) -> Self {
        Self(documents.tests.iter().map(|(source, _)| *source).collect())
    }

    /// With other documents in place of some files.
    fn after(&self, changed: &BTreeSet<SourceId>, came: &Documents<'_>) -> Self {
        let kept = self.0.difference(changed).copied();
        Self(kept.chain(Self::of(came).0).collect())
    }
}

/// All documents with tests, wherever they lie.
pub fn tests(files: &Files) -> Vec<(SourceId, Value<'_>)> {
    tests_in(files.iter())
}

/// All documents with tests of a snapshot.
pub fn tests_of(snapshot: &Snapshot) -> Vec<(SourceId, Value<'_>)> {
    let sources = snapshot.companion::<TestFiles>().into_iter().flat_map(|files| &files.0);
    tests_in(sources.filter_map(|source| Some((*source, snapshot.files().get(*source)?))))
}

fn tests_in<'f>(files: impl Iterator<Item = (SourceId, &'f File)>) -> Vec<(SourceId, Value<'f>)> {
    // What is wrong with the other documents is said where they are read.
    Documents::of(files, Kustomizations::none(), &mut Diagnostics::default()).tests
}

/// Whether a document has tests. A misspelt word is a mistake in the tests, and told where they are run.
pub(crate) fn is_tests(document: Value<'_>) -> bool {
    let Some(typed) = document.get("kind").map(Value::text) else { return false };
    let has_tests = || ["cases", "invariants"].iter().any(|list| document.get(list).is_some());
    typed == TESTS || (has_tests() && nearest(typed, [TESTS]).is_some())
}

/// What `kubectl get -o yaml` and the REST API print: items, and little else.
fn is_list(header: &Header<'_>) -> bool {
    header.universal_type.is_none() && header.kind.is_none_or(|kind| kind.text().ends_with("List"))
}

/// A page of what a web API lists: documents under `_embedded`, and no type.
fn is_page(header: &Header<'_>) -> bool {
    let typed = [header.universal_type, header.api_version, header.kind];
    typed.iter().all(Option::is_none) && header.document.get("_embedded").is_some()
}

/// Whether a kind is part of the program.
pub(crate) fn is_builtin(files: &Files, at: NodeRef) -> bool {
    files.get(at.source).is_some_and(|file| file.name.starts_with("builtin:"))
}

fn with_first(diagnostic: Diagnostic, files: &Files, first: NodeRef) -> Diagnostic {
    match files.value(first) {
        Some(value) => diagnostic.related(first.source, first_span(value), "first definition"),
        None => diagnostic,
    }
}

/// The first line of a document, rather than all of it.
pub(crate) fn first_span(document: Value<'_>) -> upheld_model::Span {
    document.entries().next().map_or(document.span(), |(key, value)| upheld_model::Span {
        start: key.span().start,
        end: if value.kind() == Kind::Map || value.kind() == Kind::List { key.span().end } else { value.span().end },
    })
}
