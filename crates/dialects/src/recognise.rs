//! From documents to objects, policies and kinds.

mod after;
mod concerned;
mod decisions;
mod kinds;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rustc_hash::{FxBuildHasher, FxHashMap};
use upheld_engine::{HierarchyKind, PolicyKind};
use upheld_model::nearest::nearest;
use upheld_model::tree::{Kind, Value};
use upheld_model::{Diagnostic, Diagnostics, Draft, Fault, File, Files, NodeRef, SourceId, Sym};

pub use self::after::{After, Before};
pub use self::decisions::Deciding;
use self::decisions::{Decisions, seed_files};
use crate::access;
use crate::access::Seeds;
use crate::access::authzen::Directory;
use crate::access::claim::Claim as AccessClaim;
use crate::comply::documented::{Collector, Taken};
use crate::comply::{self, Organisations};
use crate::document::{Form, Header, Resource};
use crate::gateway_api::{self, ControllerSettings};
use crate::kuma;
use crate::kuma::edition::Edition;
use crate::kuma::layered::Written;
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
    /// Kinds of gateways that belong to an edition that is not in force: answers say where it differs.
    pub other_editions: Vec<PolicyKind>,
    /// Policies that decide requests, by kind, with their settings.
    pub deciding: Deciding,
    /// What is known of those whom policies decide about.
    pub directory: Directory,
    /// Objects that are related and must agree in their tags, by kind of policy.
    pub organisations: Organisations,
    /// Editions that some kind belongs to.
    pub editions: Vec<String>,
    /// Types whose kinds are broken, or belong to an edition that is not in force.
    not_in_force: BTreeMap<String, Option<String>>,
    /// What is wrong.
    pub diagnostics: Diagnostics,
    /// Documents of other systems, or of types that are not resolved.
    pub set_aside: SetAside,
    /// Where these stand.
    aside: BTreeSet<NodeRef>,
    /// The documents that can change an answer.
    pub documents: Vec<NodeRef>,
    /// How many documents are about gateways.
    pub about_gateways: usize,
}

/// How many documents of which type were left out. Nothing is ignored in silence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SetAside {
    /// By type, for example `apps/v1 Deployment`.
    pub by_type: BTreeMap<String, usize>,
}

impl SetAside {
    /// Without some of them.
    fn without(&self, gone: &Self) -> Self {
        let left = |(name, count): (&String, &usize)| {
            let left = count.saturating_sub(gone.by_type.get(name).copied().unwrap_or_default());
            (left > 0).then(|| (name.clone(), left))
        };
        Self { by_type: self.by_type.iter().filter_map(left).collect() }
    }

    /// With some more.
    fn with(mut self, came: &Self) -> Self {
        for (name, count) in &came.by_type {
            *self.by_type.entry(name.clone()).or_default() += count;
        }
        self
    }
}

/// How documents are read.
#[derive(Clone, Copy, Debug)]
pub struct Reading<'r> {
    /// The editions in force; kinds of other editions are left out.
    pub semantics: &'r [&'r str],
    /// What the seeds of manifests are.
    pub seeds: Seeds,
    /// What the controller of gateways was started with.
    pub controller: &'r ControllerSettings,
}

/// Recognises all documents. `semantics` names the editions in force; kinds of other editions are left out.
pub fn recognise(files: &Files, semantics: &[&str]) -> Recognised {
    let controller = ControllerSettings::default();
    recognise_with(Reading { semantics, seeds: Seeds::Counted, controller: &controller }, files, None)
}

/// As [`recognise`], with more choices. What is known from before need not be read again: files that are shared have the
/// same ids in both.
pub fn recognise_with<'f>(reading: Reading<'_>, files: &'f Files, before: Option<Before<'f>>) -> Recognised {
    let Reading { semantics, .. } = reading;
    let mut recognised = Recognised::default();
    let Documents { typed: documents, about_access, untyped } = documents(files, &mut recognised.diagnostics);
    let (kinds, others): (Vec<_>, Vec<_>) =
        documents.into_iter().partition(|(_, header)| policy_kind::is_policy_kind(header));
    recognised.read_kinds(files, kinds, reading);
    recognised.add_common_kinds(&others);
    let mut decisions = Decisions::new(reading, files, &recognised.kinds, &recognised.draft.symbols);
    if let Some(before) = before.filter(|before| before.has_kinds(&recognised.kinds, files)) {
        decisions = decisions.reusing(before.snapshot, before.are_sound(files));
    }
    recognised.documents.extend(recognised.kinds.iter().map(|kind| kind.at));
    let mut untyped_policies = Vec::new();
    for (source, document, claim) in about_access {
        let at = NodeRef { source, node: document.number() };
        if claim != AccessClaim::Tests {
            recognised.documents.push(at);
        }
        match claim {
            AccessClaim::Directory => recognised.directory.read(source, document, &mut recognised.diagnostics),
            claim => untyped_policies.push((at, claim)),
        }
    }
    let seed_files = seed_files(files, &untyped_policies);
    decisions.untyped(&untyped_policies, &seed_files, &mut recognised.diagnostics);
    let mut compliance =
        Collector::new(files, &recognised.kinds, &recognised.draft.symbols, |at| is_builtin(files, at));
    for (source, document, claim) in untyped {
        recognised.documents.push(NodeRef { source, node: document.number() });
        if !compliance.untyped(source, document, claim) {
            recognised.without_type(source, document);
        }
    }
    let mut readers = recognised.readers(files);
    readers.compliance = compliance.words();
    recognised.about_gateways = others.iter().filter(|(_, header)| gateway_api::is_about_gateways(header)).count();
    readers.gateways = recognised.about_gateways > 0;
    let mut seen = Seen::with_capacity_and_hasher(others.len(), FxBuildHasher);
    recognised.draft.policies.reserve(others.len());
    let mut layered = Vec::new();
    for (source, header) in others {
        recognised.documents.push(NodeRef { source, node: header.document.number() });
        if decisions.typed(source, header, &mut recognised.diagnostics) {
            continue;
        }
        let taken = compliance.typed(source, header);
        if taken == Taken::No || (taken == Taken::Mapped && readers.know(header)) {
            recognised.read_document(reading, files, source, header, &readers, &mut seen, &mut layered);
        }
    }
    let Draft { symbols, policies, .. } = &mut recognised.draft;
    let mut listed = Vec::new();
    decisions.list(|text| symbols.intern(text), &mut listed);
    policies.extend(listed);
    recognised.deciding = decisions.finish(seed_files);
    let Recognised { draft, diagnostics, .. } = &mut recognised;
    recognised.organisations = compliance.finish(draft, diagnostics);
    let Recognised { draft, diagnostics, .. } = &mut recognised;
    let edition = kuma_edition(semantics);
    kuma::served::attach(files, edition, &mut draft.objects, &mut draft.symbols);
    kuma::layered::read_all(files, &layered, edition, None, draft, diagnostics);
    let Recognised { documents, aside, .. } = &mut recognised;
    documents.retain(|at| !aside.contains(at));
    recognised.diagnostics.sort();
    recognised
}

/// The edition of policies with target references.
fn kuma_edition(semantics: &[&str]) -> Edition {
    semantics.iter().find_map(|name| Edition::of(name)).unwrap_or(Edition::V2)
}

/// Documents with a header, and those that need none.
pub(crate) struct Documents<'f> {
    pub(crate) typed: Vec<(SourceId, Header<'f>)>,
    about_access: Vec<(SourceId, Value<'f>, AccessClaim)>,
    untyped: Vec<(SourceId, Value<'f>, comply::documented::Claim)>,
}

/// All documents, those inside lists too.
pub(crate) fn documents<'f>(files: &'f Files, found: &mut Diagnostics) -> Documents<'f> {
    documents_of(files.iter(), found)
}

fn documents_of<'f>(files: impl Iterator<Item = (SourceId, &'f File)>, found: &mut Diagnostics) -> Documents<'f> {
    let (mut documents, mut about_access, mut untyped) = (Vec::new(), Vec::new(), Vec::new());
    for (source, file) in files {
        let mut waiting: Vec<Value<'f>> = file.tree.documents().collect();
        waiting.reverse();
        while let Some(document) = waiting.pop() {
            // The first look, because there can be a million of these.
            if let Some(claim) = comply::documented::claim(document) {
                untyped.push((source, document, claim));
                continue;
            }
            if let Some(claim) = access::claim::claim(document, &file.name) {
                about_access.push((source, document, claim));
                continue;
            }
            let header = Header::of(document);
            match (document.kind(), header.items) {
                (Kind::Null, _) => {}
                // A list from which the last item was taken.
                (Kind::List, _) if document.items().next().is_none() => {}
                (Kind::Map, Some(items)) if items.kind() == Kind::List && is_list(&header) => {
                    let start = waiting.len();
                    waiting.extend(items.items());
                    if let Some(added) = waiting.get_mut(start..) {
                        added.reverse();
                    }
                }
                (Kind::Map, _) => documents.push((source, header)),
                (Kind::List, _) if comply::documented::is_list_of_ours(document) => {
                    let start = waiting.len();
                    waiting.extend(document.items());
                    if let Some(added) = waiting.get_mut(start..) {
                        added.reverse();
                    }
                }
                (kind, _) => found.push(
                    Diagnostic::error(Fault::UnknownDocument, format!("a document must be a map, not {}", kind.noun()))
                        .at_value(source, document, "expected `type:` or `kind:` with the fields of a resource"),
                ),
            }
        }
    }
    Documents { typed: documents, about_access, untyped }
}

/// All documents with tests, wherever they lie.
pub fn tests(files: &Files) -> Vec<(SourceId, Value<'_>)> {
    // What is wrong with the other documents is said where they are read.
    let Documents { about_access, .. } = documents(files, &mut Diagnostics::default());
    let tests = about_access.into_iter().filter(|(_, _, claim)| *claim == AccessClaim::Tests);
    tests.map(|(source, document, _)| (source, document)).collect()
}

/// What `kubectl get -o yaml` and the REST API print: items, and little else.
fn is_list(header: &Header<'_>) -> bool {
    header.universal_type.is_none() && header.kind.is_none_or(|kind| kind.text().ends_with("List"))
}

/// Who made a kind. Other systems have types with the names of Kuma's; the types of users are theirs, whatever the group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Maker {
    Builtin,
    User,
}

impl Maker {
    fn of(files: &Files, kind: &PolicyKind) -> Self {
        if is_builtin(files, kind.at) { Self::Builtin } else { Self::User }
    }
}

/// One reader for each type.
struct Readers {
    policies: FxHashMap<String, (PolicyReader, Maker)>,
    layered: FxHashMap<String, (PolicyKind, Maker)>,
    /// Kinds of policies that are attached to gateways, by group and type.
    attached: FxHashMap<(String, String), Arc<HierarchyKind>>,
    /// Whether some document is about gateways: only then services, secrets and the like matter.
    gateways: bool,
    /// Types of documents about related objects.
    compliance: Vec<String>,
    objects: [ObjectReader; 9],
}

impl Readers {
    /// Whether somebody reads the documents of a type.
    fn know(&self, header: Header<'_>) -> bool {
        let Some(resource) = Resource::with_header(header) else { return false };
        let name = resource.kind.text();
        let foreign = resource.group().is_some_and(|group| group != KUMA_GROUP);
        self.policies.contains_key(name)
            || self.layered.contains_key(name)
            || (!foreign && self.objects.iter().any(|reader| reader.kind.name() == name))
            || (foreign && self.gateways && gateway_api::claim(resource).is_some())
    }
}

type Seen = FxHashMap<(Sym, Sym, Sym), NodeRef>;

impl Recognised {
    fn readers(&self, files: &Files) -> Readers {
        let mut by_type: BTreeMap<&str, Vec<&PolicyKind>> = BTreeMap::new();
        let (mut layered, mut attached) = (FxHashMap::default(), FxHashMap::default());
        for kind in &self.kinds {
            if let Some(hierarchy) = kind.hierarchy() {
                let group = self.draft.symbols.text(hierarchy.group).to_owned();
                attached.insert((group, self.draft.symbols.text(kind.governs).to_owned()), Arc::clone(hierarchy));
                continue;
            }
            if kind.decide().is_some() || kind.comply().is_some() {
                continue;
            }
            if kind.merge().is_some() {
                let own = (kind.clone(), Maker::of(files, kind));
                layered.insert(self.draft.symbols.text(kind.governs).to_owned(), own);
                continue;
            }
            by_type.entry(self.draft.symbols.text(kind.governs)).or_default().push(kind);
        }
        let policies = by_type
            .into_iter()
            .map(|(name, kinds)| {
                let user = kinds.iter().any(|kind| Maker::of(files, kind) == Maker::User);
                let maker = if user { Maker::User } else { Maker::Builtin };
                (name.to_owned(), (PolicyReader::new(&kinds, &self.draft.symbols), maker))
            })
            .collect();
        Readers {
            policies,
            layered,
            attached,
            gateways: false,
            compliance: Vec::new(),
            objects: ResourceType::ALL.map(ObjectReader::new),
        }
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "it leads each document to its reader, and all of them need something else"
    )]
    fn read_document<'t, 'k>(
        &mut self,
        reading: Reading<'_>,
        files: &Files,
        source: SourceId,
        header: Header<'t>,
        readers: &'k Readers,
        seen: &mut Seen,
        layered: &mut Vec<Written<'t, 'k>>,
    ) {
        let Some(resource) = Resource::with_header(header) else {
            self.without_type(source, header.document);
            return;
        };
        let name = resource.kind.text();
        // Other systems have types of the same name.
        let foreign = resource.group().is_some_and(|group| group != KUMA_GROUP);
        let (draft, found) = (&mut self.draft, &mut self.diagnostics);
        if let Some((reader, _)) = readers.policies.get(name).filter(|(_, maker)| !foreign || *maker == Maker::User) {
            if let Some(policy) = reader.read(source, resource, draft, found) {
                let identity = (policy.kind, policy.scope, policy.name);
                if self.is_new(files, identity, policy.at, seen) {
                    self.draft.policies.push(policy);
                }
            }
        } else if let Some((kind, _)) = readers.layered.get(name).filter(|(_, maker)| !foreign || *maker == Maker::User)
        {
            let symbols = &mut draft.symbols;
            let identity = (symbols.intern(name), symbols.intern(resource.mesh()), symbols.intern(&resource.name()));
            let at = NodeRef { source, node: resource.document.number() };
            if self.is_new(files, identity, at, seen) {
                layered.push(Written { source, resource, kind });
            }
        } else if let Some(reader) = readers.objects.iter().find(|reader| reader.kind.name() == name && !foreign) {
            if let Some(object) = reader.read(source, resource, draft, found) {
                let identity = (object.kind, object.scope, object.name);
                if self.is_new(files, identity, object.at, seen) {
                    self.draft.objects.push(object);
                }
            }
        } else if let Some(kind) =
            readers.attached.get(&(resource.group().unwrap_or_default().to_owned(), name.to_owned()))
        {
            if let Some(policy) = gateway_api::policy(source, resource, kind, reading.controller, draft, found)
                && self.is_new(files, (policy.kind, policy.scope, policy.name), policy.at, seen)
            {
                self.draft.policies.push(policy);
            }
        } else if gateway_api::claim(resource).is_some() && foreign && readers.gateways {
            if let Some(object) = gateway_api::object(source, resource, draft, found)
                && self.is_new(files, (object.kind, object.scope, object.name), object.at, seen)
            {
                self.draft.objects.push(object);
            }
        } else {
            self.other(source, resource, readers);
        }
    }

    /// Manifests of other tools lie in the same folders; what looks like ours is refused all the same.
    fn without_type(&mut self, source: SourceId, document: Value<'_>) {
        if !looks_like_ours(document) {
            self.aside.insert(NodeRef { source, node: document.number() });
            *self.set_aside.by_type.entry("documents without a type".to_owned()).or_default() += 1;
            return;
        }
        self.diagnostics.push(
            Diagnostic::error(
                Fault::UnknownDocument,
                "this document says neither `type:` nor `apiVersion:` and `kind:`",
            )
            .at(source, first_span(document), "what is it?")
            .help("a Kuma policy begins with `type: TrafficLog`, `name:` and `mesh:`"),
        );
    }

    fn is_new(&mut self, files: &Files, identity: (Sym, Sym, Sym), at: NodeRef, seen: &mut Seen) -> bool {
        let Some(first) = seen.insert(identity, at) else { return true };
        let text = |symbol| self.draft.symbols.text(symbol);
        let (kind, scope, name) = (text(identity.0), text(identity.1), text(identity.2));
        let within = match files.value(at).and_then(Resource::of).and_then(gateway_api::claim) {
            Some(_) => "namespace",
            None => "mesh",
        };
        let message = format!("{kind} `{name}` of {within} `{scope}` is defined twice");
        let span = files.value(at).map(first_span).unwrap_or_default();
        let diagnostic = Diagnostic::error(Fault::DefinedTwice, message).at(at.source, span, "second definition");
        let diagnostic = with_first(diagnostic, files, first).help("rename or remove one of them");
        self.diagnostics.push(diagnostic);
        false
    }

    /// A type that nobody reads: another system, a known type that is not resolved, or a typo.
    fn other(&mut self, source: SourceId, resource: Resource<'_>, readers: &Readers) {
        let name = resource.kind.text();
        let mut known: Vec<&str> = readers.policies.keys().chain(readers.layered.keys()).map(String::as_str).collect();
        known.extend(ResourceType::ALL.map(ResourceType::name));
        known.extend(readers.compliance.iter().map(String::as_str));
        known.sort_unstable();
        let near = nearest(name, known.iter().copied());
        let foreign = resource.group().is_some_and(|group| group != KUMA_GROUP);
        let unlike = resource.form == Form::Universal && near.is_none() && !looks_like_ours(resource.document);
        if foreign || unlike || kuma::OTHER_TYPES.contains(&name) {
            let version = resource.document.get("apiVersion").filter(|_| foreign).map(Value::text);
            let label = version.map_or_else(|| name.to_owned(), |version| format!("{version} {name}"));
            self.aside.insert(NodeRef { source, node: resource.document.number() });
            *self.set_aside.by_type.entry(label).or_default() += 1;
            return;
        }
        let diagnostic = Diagnostic::error(Fault::UnknownDocument, format!("there is no type `{name}`")).at_value(
            source,
            resource.kind,
            "unknown type",
        );
        self.diagnostics.push(match (self.not_in_force.get(name), near) {
            // What is wrong with its kind was said already.
            (Some(None), _) => return,
            (Some(Some(edition)), _) => {
                diagnostic.help(format!("it belongs to the semantics `{edition}`: add `--semantics {edition}`"))
            }
            (None, Some(nearest)) => diagnostic.suggest(Some(nearest)),
            (None, None) => diagnostic
                .help(format!("types: {}", known.join(", ")))
                .help("write a `PolicyKind` document to define a type of your own"),
        });
    }
}

/// Whether a document has the fields of a policy with target references.
pub(crate) fn has_target_refs(resource: Resource<'_>) -> bool {
    let Some(spec) = resource.spec() else { return false };
    let item = |name: &str| spec.get(name).and_then(|list| list.items().next());
    let has = |item: Option<Value<'_>>| item.is_some_and(|item| item.get("targetRef").is_some());
    has(Some(spec)) || has(item("to")) || has(item("from"))
}

/// The API group of Kuma's own types.
const KUMA_GROUP: &str = "kuma.io";

/// Whether a document has fields of a policy or an object.
fn looks_like_ours(document: Value<'_>) -> bool {
    let fields = ["mesh", "sources", "destinations", "selectors", "networking", "conf", "spec", "targetRef"];
    let names_a_type = |value: Value<'_>| value.kind() == Kind::Text && ResourceType::of(value.text()).is_some();
    fields.iter().any(|field| document.get(field).is_some()) || document.entries().any(|(_, value)| names_a_type(value))
}

fn is_builtin(files: &Files, at: NodeRef) -> bool {
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
