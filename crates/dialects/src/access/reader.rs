//! Reads policies that decide requests: those without a type, and those of kinds with a name.

use std::sync::Arc;

use smol_str::SmolStr;
use upheld_engine::decide::Decide;
use upheld_engine::{DecideKind, PolicyKind, Snapshot, work};
use upheld_model::{Diagnostics, Files, NodeRef, Policy, PolicyContent, SourceId, Sym, Symbols};

use super::authzen::Directory;
use super::claim::{Claim, claim, is_named};
use super::manifest::Manifest;
use super::policy_set::{PolicySet, PolicySetBuilder, Withdrawn};
use super::shapes::Fields;
use super::{Edition, POLICY, SCOPE, Seeds, unknowns_of};
use crate::dialect::{Document, Known, Opening, Reader, Side, Taken, dialects};
use crate::document::{Form, Header, Resource, Shapes};
use crate::recognise::{Reading, Recognised, Surroundings};
use crate::shape::{Checker, Shape, list};

/// Takes documents about access, and reads them when all are there.
pub(super) struct AccessReader<'f> {
    reading: Reading<'f>,
    files: &'f Files,
    known: Known<'f>,
    decisions: Decisions<'f>,
    gone: Written,
    came: Written,
    /// What is known of those whom policies decide about.
    directories: Vec<NodeRef>,
    /// Whether a directory changed: what is known of all is read together.
    directory_changed: bool,
}

impl<'f> AccessReader<'f> {
    pub(super) fn new(opening: Opening<'f, '_>) -> Self {
        let Opening { reading, files, kinds, symbols, known, .. } = opening;
        let mut decisions = Decisions::new(reading, files, kinds, symbols);
        if let Known::Reusable(before) = known {
            decisions = decisions.reusing(before.snapshot, before.are_sound(files));
        }
        let (gone, came) = (Written::default(), Written::default());
        Self { reading, files, known, decisions, gone, came, directories: Vec::new(), directory_changed: false }
    }
}

impl<'f> Reader<'f> for AccessReader<'f> {
    fn take(&mut self, document: &Document<'f>, side: Side) -> Taken {
        let written = match side {
            Side::Gone => &mut self.gone,
            Side::Came => &mut self.came,
        };
        let at = document.at();
        if let Some(header) = document.header {
            if !self.decisions.know(header) {
                return Taken::No;
            }
            written.typed.push(at);
            return Taken::Yes;
        }
        let file = self.files.get(document.source).map_or("", |file| &file.name);
        match claim(document.value, file) {
            None => return Taken::No,
            Some(Claim::Directory) => {
                self.directories.push(at);
                self.directory_changed = true;
            }
            Some(claim) => written.untyped.push((at, claim)),
        }
        Taken::Yes
    }

    fn words(&self) -> Vec<String> {
        Vec::new()
    }

    fn finish(mut self: Box<Self>, recognised: &mut Recognised) -> Option<()> {
        let deciding = match self.known {
            Known::Unchanged(before, _) => {
                if self.directory_changed {
                    return None;
                }
                let deciding = before.snapshot.companion::<Deciding>()?;
                self.decide_after(deciding, before.snapshot.files(), recognised)?
            }
            Known::Nothing | Known::Reusable(_) => self.decide(recognised),
        };
        recognised.indexed.decides.extend(deciding.decides());
        recognised.keep(deciding);
        Some(())
    }
}

impl<'f> AccessReader<'f> {
    /// Reads everything.
    fn decide(&mut self, recognised: &mut Recognised) -> Deciding {
        let seed_files = seed_files(self.files, &self.came.untyped);
        let mut directory = Directory::default();
        for at in &self.directories {
            if let Some(document) = self.files.value(*at) {
                directory.read(at.source, document, &mut recognised.diagnostics);
            }
        }
        recognised.keep(directory);
        let decisions = self.read(&seed_files, recognised);
        let deciding = decisions.finish(seed_files);
        deciding.sets.iter().for_each(|(_, set)| set.light_enough(self.files, &mut recognised.diagnostics));
        deciding
    }

    /// Reads what came, on top of what is known.
    fn decide_after(&mut self, before: &Deciding, files: &Files, recognised: &mut Recognised) -> Option<Deciding> {
        if self.gone.is_empty() && self.came.is_empty() {
            return Some(before.clone());
        }
        // There, what a policy means depends on all policies.
        if self.reading.edition() == Edition::Compat {
            return None;
        }
        let decisions = self.read(before.seed_files(), recognised);
        decisions.after(before, files, &self.gone)
    }

    /// Reads all documents that came; their policies are listed with all others.
    fn read(&mut self, seed_files: &[SmolStr], recognised: &mut Recognised) -> Decisions<'f> {
        let mut decisions = std::mem::replace(&mut self.decisions, Decisions::none(self.files));
        let Recognised { draft, diagnostics, .. } = recognised;
        decisions.untyped(&self.came.untyped, seed_files, diagnostics);
        for at in &self.came.typed {
            work::step();
            decisions.typed_at(*at, diagnostics);
        }
        let mut listed = Vec::new();
        decisions.list(|text| draft.symbols.intern(text), &mut listed);
        draft.policies.extend(listed);
        decisions
    }
}

/// Collects the policies of all kinds that decide.
struct Decisions<'f> {
    files: &'f Files,
    seeds: Seeds,
    kinds: Vec<OfKind<'f>>,
}

struct OfKind<'f> {
    at: NodeRef,
    name: Sym,
    governs: Sym,
    /// The type of its documents.
    typed: String,
    shapes: Shapes,
    builder: PolicySetBuilder<'f>,
}

/// What the documents about deciding requests come to.
#[derive(Clone, Debug, Default)]
pub struct Deciding {
    /// The policies of every kind that has any, by its name.
    sets: Vec<(Sym, PolicySet)>,
    /// The files that manifests name for their seeds.
    seed_files: Vec<SmolStr>,
}

/// Where some documents about deciding requests stand.
#[derive(Clone, Debug, Default)]
struct Written {
    /// Those without a type.
    untyped: Vec<(NodeRef, Claim)>,
    /// Those with the type of a kind.
    typed: Vec<NodeRef>,
}

impl Written {
    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.untyped.is_empty() && self.typed.is_empty()
    }
}

impl Deciding {
    /// The policies of every kind that has any.
    pub fn decides(&self) -> impl Iterator<Item = (Sym, Arc<Decide>)> {
        self.sets.iter().map(|(kind, set)| (*kind, Arc::clone(&set.decide)))
    }

    /// The files that manifests name for their seeds.
    fn seed_files(&self) -> &[SmolStr] {
        &self.seed_files
    }

    /// Those of a snapshot.
    pub fn of(snapshot: &Snapshot) -> Option<&Self> {
        snapshot.companion()
    }

    /// The settings beside the policies of a kind.
    pub fn manifest(&self, kind: Sym) -> Option<&Manifest> {
        self.sets.iter().find(|(name, _)| *name == kind).map(|(_, set)| set.manifest.as_ref())
    }

    /// The settings beside them.
    pub fn manifests(&self) -> impl Iterator<Item = (Sym, Arc<Manifest>)> {
        self.sets.iter().map(|(kind, set)| (*kind, Arc::clone(&set.manifest)))
    }
}

impl<'f> Decisions<'f> {
    /// For no kind.
    fn none(files: &'f Files) -> Self {
        Decisions { files, seeds: Seeds::default(), kinds: Vec::new() }
    }

    /// For the kinds in force.
    fn new<'k>(
        reading: Reading<'_>,
        files: &'f Files,
        kinds: impl IntoIterator<Item = &'k PolicyKind>,
        symbols: &Symbols,
    ) -> Self {
        let kinds = kinds.into_iter().filter_map(|kind| Some((kind, kind.decide()?)));
        // Types of other systems are read by their dialects.
        let kinds = kinds.filter(|(kind, _)| !is_owned_by_another(symbols.text(kind.governs)));
        let kinds = kinds.map(|(kind, decide)| of_kind(files, kind, decide, reading, symbols));
        Decisions { seeds: reading.seeds(), files, kinds: kinds.collect() }
    }

    /// Reuses policies that were read before: those of sources that are the same.
    fn reusing(mut self, before: &'f Snapshot, same: impl Fn(SourceId) -> bool) -> Self {
        let kinds = self.kinds.into_iter().map(|kind| {
            // Symbols of another snapshot may be others; documents have their places.
            let known = before.decides().find(|(id, _)| before.kind(*id).is_some_and(|known| known.at == kind.at));
            match known {
                Some((_, decide)) => OfKind { builder: kind.builder.reusing(decide, before.files(), &same), ..kind },
                None => kind,
            }
        });
        self.kinds = kinds.collect();
        self
    }
}

impl Reading<'_> {
    /// How access policies are read.
    fn edition(self) -> Edition {
        self.semantics.iter().find_map(|name| Edition::of(name)).unwrap_or_default()
    }

    /// What the seeds of manifests are.
    fn seeds(self) -> Seeds {
        self.settings.get::<Seeds>().copied().unwrap_or_default()
    }
}

/// What policies look like, by the type that a kind governs.
pub(super) fn governed(snapshot: &Snapshot) -> impl Iterator<Item = (String, Vec<Shape>)> {
    let kinds = snapshot.kinds().iter().filter_map(|(_, kind)| Some((snapshot.text(kind.governs), kind.decide()?)));
    kinds.filter(|(governs, _)| !is_owned_by_another(governs)).map(|(governs, decide)| {
        let fields = Fields::of_kind(decide, snapshot.symbols());
        let shapes = Shapes::new(&fields.body());
        let typed = |form: Form| shapes.of(form).clone();
        let forms = if governs == POLICY {
            vec![fields.policy(), list(fields.policy()), typed(Form::Kubernetes)]
        } else {
            vec![typed(Form::Universal), typed(Form::Kubernetes)]
        };
        (governs.to_owned(), forms)
    })
}

/// Whether documents of a type are read by another dialect.
pub(super) fn is_owned_by_another(kind: &str) -> bool {
    dialects().any(|dialect| dialect.owns_type(kind))
}

fn of_kind<'f>(
    files: &'f Files,
    kind: &PolicyKind,
    decide: &DecideKind,
    reading: Reading<'_>,
    symbols: &Symbols,
) -> OfKind<'f> {
    let typed = symbols.text(kind.governs).to_owned();
    // Kinds of users have no original to be compatible with.
    let edition = if typed == POLICY { reading.edition() } else { Edition::Strict };
    let fields = Fields::of_kind(decide, symbols);
    let shapes = Shapes::new(&fields.body());
    let builder = PolicySetBuilder::new(files, edition, fields, decide.algorithm, decide.default);
    let builder = builder.with_seeds(reading.seeds()).treating_unknowns(unknowns_of(reading.semantics));
    let builder = builder.beside(Surroundings::of(reading.settings));
    OfKind { at: kind.at, name: kind.name, governs: kind.governs, typed, shapes, builder }
}

impl Decisions<'_> {
    /// Reads documents without a type. What manifests name for their seeds is left out where seeds are apart.
    fn untyped(&mut self, documents: &[(NodeRef, Claim)], seed_files: &[SmolStr], found: &mut Diagnostics) {
        let Some(kind) = self.kinds.iter_mut().find(|kind| kind.typed == POLICY) else { return };
        for (at, claim) in documents.iter().filter(|(at, _)| !is_apart(*at, self.seeds, seed_files, self.files)) {
            if let Some(document) = self.files.value(*at) {
                kind.builder.document(at.source, document, *claim, found);
            }
        }
    }

    /// Whether the documents of a type are about deciding requests.
    fn know(&self, header: Header<'_>) -> bool {
        let resource = Resource::with_header(header);
        resource.is_some_and(|resource| self.kinds.iter().any(|kind| kind.typed == resource.kind.text()))
    }

    /// Reads the document at a place, which has the type of one of the kinds.
    fn typed_at(&mut self, at: NodeRef, found: &mut Diagnostics) {
        if let Some(document) = self.files.value(at) {
            self.typed(at.source, Header::of(document), found);
        }
    }

    /// Reads a document with the type of one of the kinds; whether it was one.
    fn typed(&mut self, source: SourceId, header: Header<'_>, found: &mut Diagnostics) -> bool {
        let Some(resource) = Resource::with_header(header) else { return false };
        let Some(kind) = self.kinds.iter_mut().find(|kind| kind.typed == resource.kind.text()) else { return false };
        let at = NodeRef { source, node: resource.document.number() };
        if kind.builder.as_before(at, found) {
            return true;
        }
        if Checker::new(source, found).check(resource.document, kind.shapes.of(resource.form))
            && let Some(body) = resource.body()
        {
            kind.builder.named(source, body, &resource.name(), at, found);
        }
        true
    }

    /// The policies of every kind that has any, all documents having been read.
    fn finish(self, seed_files: Vec<SmolStr>) -> Deciding {
        // Where policies come and go, nobody is let in while there are none.
        let is_there =
            |kind: &OfKind<'_>| !kind.builder.is_empty() || self.seeds == Seeds::Apart && kind.typed == POLICY;
        let some = self.kinds.into_iter().filter(is_there);
        Deciding { sets: some.map(|kind| (kind.name, kind.builder.finish())).collect(), seed_files }
    }

    /// What was decided by before, after some of its documents are gone and those came that were read, and nothing else. Nothing
    /// where this needs all the others as well.
    fn after(self, before: &Deciding, before_files: &Files, gone: &Written) -> Option<Deciding> {
        let mut sets = Vec::with_capacity(before.sets.len());
        for kind in self.kinds {
            let withdrawn = kind.withdrawn(gone, before_files, self.seeds, &before.seed_files);
            match before.sets.iter().find(|(name, _)| *name == kind.name) {
                Some((name, set)) => sets.push((*name, set.after(&withdrawn, kind.builder, before_files)?)),
                None if kind.builder.is_empty() => {}
                None => return None,
            }
        }
        Some(Deciding { sets, seed_files: before.seed_files.clone() })
    }

    /// The policies that were read, as they are listed with all others.
    fn list(&self, mut intern: impl FnMut(&str) -> Sym, listed: &mut Vec<Policy>) {
        for OfKind { governs, builder, .. } in self.kinds.iter().filter(|kind| !kind.builder.is_empty()) {
            let scope = intern(SCOPE);
            for (id, at) in builder.policies() {
                let name = intern(id);
                let (kind, title, says) = (*governs, name, PolicyContent::Document);
                listed.push(Policy { kind, scope, name, title, created: None, at, payload: None, says });
            }
        }
    }
}

impl OfKind<'_> {
    /// What documents of the kind said that are gone.
    fn withdrawn(&self, gone: &Written, before: &Files, seeds: Seeds, seed_files: &[SmolStr]) -> Withdrawn {
        let mut withdrawn = Withdrawn::default();
        let own = |(at, _): &&(NodeRef, Claim)| self.typed == POLICY && !is_apart(*at, seeds, seed_files, before);
        for (at, claim) in gone.untyped.iter().filter(own) {
            if let Some(document) = before.value(*at) {
                withdrawn.document(at.source, document, *claim);
            }
        }
        for at in &gone.typed {
            let resource = before.value(*at).and_then(Resource::of);
            if let Some(resource) = resource.filter(|resource| self.typed == resource.kind.text()) {
                withdrawn.named(&resource.name(), *at);
            }
        }
        withdrawn
    }
}

/// Whether a document is in a file that a manifest names for its seeds, and such files are left out.
fn is_apart(at: NodeRef, seeds: Seeds, seed_files: &[SmolStr], files: &Files) -> bool {
    let is_one = |file: &str| seed_files.iter().any(|named| is_named(file, named));
    seeds == Seeds::Apart && files.get(at.source).is_some_and(|file| is_one(&file.name))
}

/// The files that manifests name for their seeds.
fn seed_files(files: &Files, documents: &[(NodeRef, Claim)]) -> Vec<SmolStr> {
    let manifests = documents.iter().filter(|(_, claim)| *claim == Claim::Manifest);
    let named = manifests.filter_map(|(at, _)| files.value(*at)?.at_path(&["policySeed", "file"])?.as_text());
    named.map(SmolStr::new).collect()
}
