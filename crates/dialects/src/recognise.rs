//! From documents to objects, policies and kinds.

use std::collections::{BTreeMap, HashMap};

use upheld_engine::PolicyKind;
use upheld_model::nearest::nearest;
use upheld_model::tree::{Kind, Value};
use upheld_model::{Diagnostic, Diagnostics, Draft, Fault, Files, NodeRef, SourceId, Sym};

use crate::document::Resource;
use crate::kuma;
use crate::kuma::resources::{ObjectReader, ResourceType};
use crate::policy_kind;
use crate::select_policy::PolicyReader;

/// Everything that was recognised.
#[derive(Debug, Default)]
pub struct Recognised {
    /// Objects and policies.
    pub draft: Draft,
    /// The kinds that are in force.
    pub kinds: Vec<PolicyKind>,
    /// Editions that some kind belongs to.
    pub editions: Vec<String>,
    /// What is wrong.
    pub diagnostics: Diagnostics,
    /// Documents of other systems, or of types that are not resolved.
    pub set_aside: SetAside,
}

/// How many documents of which type were left out. Nothing is ignored in silence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SetAside {
    /// By type, for example `apps/v1 Deployment`.
    pub by_type: BTreeMap<String, usize>,
}

/// Recognises all documents. `semantics` names the editions in force; kinds of other editions are left out.
pub fn recognise(files: &Files, semantics: &[&str]) -> Recognised {
    let mut recognised = Recognised::default();
    let documents = documents(files, &mut recognised.diagnostics);
    let (kinds, others): (Vec<_>, Vec<_>) =
        documents.into_iter().partition(|(_, document)| policy_kind::is_policy_kind(*document));
    recognised.read_kinds(files, kinds, semantics);
    let readers = recognised.readers();
    let mut seen = HashMap::new();
    for (source, document) in others {
        recognised.read_document(files, source, document, &readers, &mut seen);
    }
    recognised.diagnostics.sort();
    recognised
}

/// All documents, those inside lists too.
fn documents<'f>(files: &'f Files, found: &mut Diagnostics) -> Vec<(SourceId, Value<'f>)> {
    let mut documents = Vec::new();
    for (source, file) in files.iter() {
        let mut waiting: Vec<Value<'f>> = file.tree.documents().collect();
        waiting.reverse();
        while let Some(document) = waiting.pop() {
            match (document.kind(), document.get("items")) {
                (Kind::Null, _) => {}
                (Kind::Map, Some(items)) if items.kind() == Kind::List && is_list(document) => {
                    let start = waiting.len();
                    waiting.extend(items.items());
                    if let Some(added) = waiting.get_mut(start..) {
                        added.reverse();
                    }
                }
                (Kind::Map, _) => documents.push((source, document)),
                (kind, _) => found.push(
                    Diagnostic::error(Fault::UnknownDocument, format!("a document must be a map, not {}", kind.noun()))
                        .at_value(source, document, "expected `type:` or `kind:` with the fields of a resource"),
                ),
            }
        }
    }
    documents
}

/// What `kubectl get -o yaml` and the REST API print: items, and little else.
fn is_list(document: Value<'_>) -> bool {
    document.get("type").is_none() && document.get("kind").is_none_or(|kind| kind.text().ends_with("List"))
}

/// One reader for each type.
struct Readers {
    policies: HashMap<String, PolicyReader>,
    objects: [ObjectReader; 3],
}

type Seen = HashMap<(Sym, Sym, Sym), NodeRef>;

impl Recognised {
    fn read_kinds(&mut self, files: &Files, documents: Vec<(SourceId, Value<'_>)>, semantics: &[&str]) {
        let mut seen: BTreeMap<(String, Option<String>), NodeRef> = BTreeMap::new();
        for (source, document) in documents {
            let Some(kind) = policy_kind::read(source, document, &mut self.draft.symbols, &mut self.diagnostics) else {
                continue;
            };
            let symbols = &self.draft.symbols;
            let edition = kind.semantics.map(|edition| symbols.text(edition).to_owned());
            self.editions.extend(edition.clone().filter(|edition| !self.editions.contains(edition)));
            let identity = (symbols.text(kind.name).to_owned(), edition.clone());
            if let Some(first) = seen.insert(identity, kind.at) {
                let name = symbols.text(kind.name);
                let mut diagnostic =
                    Diagnostic::error(Fault::DefinedTwice, format!("the kind `{name}` is defined twice"));
                diagnostic = match document.get("name") {
                    Some(value) => diagnostic.at_value(source, value, "second definition"),
                    None => diagnostic,
                };
                let builtin = files.get(first.source).is_some_and(|file| file.name.starts_with("builtin:"));
                self.diagnostics.push(if builtin {
                    diagnostic.help(format!("it is built in; use another name, with `governs: {name}`"))
                } else {
                    with_first(diagnostic, files, first).help("rename or remove one of them")
                });
                continue;
            }
            if edition.is_none_or(|edition| semantics.contains(&edition.as_str())) {
                self.kinds.push(kind);
            }
        }
        self.editions.sort();
    }

    fn readers(&self) -> Readers {
        let mut by_type: BTreeMap<&str, Vec<&PolicyKind>> = BTreeMap::new();
        for kind in &self.kinds {
            by_type.entry(self.draft.symbols.text(kind.governs)).or_default().push(kind);
        }
        let policies = by_type
            .into_iter()
            .map(|(name, kinds)| (name.to_owned(), PolicyReader::new(&kinds, &self.draft.symbols)))
            .collect();
        Readers { policies, objects: ResourceType::ALL.map(ObjectReader::new) }
    }

    fn read_document(
        &mut self,
        files: &Files,
        source: SourceId,
        document: Value<'_>,
        readers: &Readers,
        seen: &mut Seen,
    ) {
        let Some(resource) = Resource::of(document) else {
            self.diagnostics.push(
                Diagnostic::error(
                    Fault::UnknownDocument,
                    "this document says neither `type:` nor `apiVersion:` and `kind:`",
                )
                .at(source, first_span(document), "what is it?")
                .help("a Kuma policy begins with `type: TrafficLog`, `name:` and `mesh:`"),
            );
            return;
        };
        let name = resource.kind.text();
        let (draft, found) = (&mut self.draft, &mut self.diagnostics);
        if let Some(reader) = readers.policies.get(name) {
            if let Some(policy) = reader.read(source, resource, draft, found) {
                let identity = (policy.kind, policy.scope, policy.name);
                if self.is_new(files, identity, policy.at, seen) {
                    self.draft.policies.push(policy);
                }
            }
        } else if let Some(reader) = readers.objects.iter().find(|reader| reader.kind.name() == name) {
            if let Some(object) = reader.read(source, resource, draft, found) {
                let identity = (object.kind, object.scope, object.name);
                if self.is_new(files, identity, object.at, seen) {
                    self.draft.objects.push(object);
                }
            }
        } else {
            self.other(source, resource, readers);
        }
    }

    fn is_new(&mut self, files: &Files, identity: (Sym, Sym, Sym), at: NodeRef, seen: &mut Seen) -> bool {
        let Some(first) = seen.insert(identity, at) else { return true };
        let text = |symbol| self.draft.symbols.text(symbol);
        let (kind, scope, name) = (text(identity.0), text(identity.1), text(identity.2));
        let message = format!("{kind} `{name}` of mesh `{scope}` is defined twice");
        let span = files.value(at).map(first_span).unwrap_or_default();
        let diagnostic = Diagnostic::error(Fault::DefinedTwice, message).at(at.source, span, "second definition");
        let diagnostic = with_first(diagnostic, files, first).help("rename or remove one of them");
        self.diagnostics.push(diagnostic);
        false
    }

    /// A type that nobody reads: another system, a known type that is not resolved, or a typo.
    fn other(&mut self, source: SourceId, resource: Resource<'_>, readers: &Readers) {
        let name = resource.kind.text();
        let foreign = resource.group().is_some_and(|group| group != "kuma.io");
        if foreign || kuma::OTHER_TYPES.contains(&name) {
            let version = resource.document.get("apiVersion").filter(|_| foreign).map(Value::text);
            let label = version.map_or_else(|| name.to_owned(), |version| format!("{version} {name}"));
            *self.set_aside.by_type.entry(label).or_default() += 1;
            return;
        }
        let mut known: Vec<&str> = readers.policies.keys().map(String::as_str).collect();
        known.extend(ResourceType::ALL.map(ResourceType::name));
        known.sort_unstable();
        let diagnostic = Diagnostic::error(Fault::UnknownDocument, format!("there is no type `{name}`")).at_value(
            source,
            resource.kind,
            "unknown type",
        );
        self.diagnostics.push(match nearest(name, known.iter().copied()) {
            Some(nearest) => diagnostic.help(format!("did you mean `{nearest}`?")),
            None => diagnostic
                .help(format!("types: {}", known.join(", ")))
                .help("write a `PolicyKind` document to define a type of your own"),
        });
    }
}

fn with_first(diagnostic: Diagnostic, files: &Files, first: NodeRef) -> Diagnostic {
    match files.value(first) {
        Some(value) => diagnostic.related(first.source, first_span(value), "first definition"),
        None => diagnostic,
    }
}

/// The first line of a document, rather than all of it.
fn first_span(document: Value<'_>) -> upheld_model::Span {
    document.entries().next().map_or(document.span(), |(key, value)| upheld_model::Span {
        start: key.span().start,
        end: if value.kind() == Kind::Map || value.kind() == Kind::List { key.span().end } else { value.span().end },
    })
}
