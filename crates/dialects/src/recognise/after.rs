//! What changed since documents were last recognised: changed files are read, as they were and as they are, and all else stays.

use std::collections::BTreeSet;
use std::sync::Arc;

use upheld_engine::{Described, Difference, Identity, Indexed, PolicyKind, Snapshot};
use upheld_model::{Diagnostic, Diagnostics, Files, NodeRef, SourceId, Sym, Symbols};

use super::decisions::{Deciding, Decisions, Written};
use super::kinds::EVERY_TYPE;
use super::{
    Documents, Readers, Reading, Recognised, Seen, SetAside, documents_of, has_target_refs, is_builtin, kuma_edition,
};
use crate::access::Edition;
use crate::access::claim::Claim;
use crate::comply::Organisations;
use crate::comply::documented::{Collector, Listing, Related, Taken};
use crate::document::{Header, Resource};
use crate::gateway_api;
use crate::kuma;
use crate::kuma::implied::{self, Stake};
use crate::kuma::layered::{Others, ROUTE};
use crate::kuma::resources::ResourceType;
use crate::policy_kind;

/// What was recognised before, without errors.
#[derive(Clone, Copy, Debug)]
pub struct Before<'b> {
    /// All of it.
    pub snapshot: &'b Snapshot,
    /// Policies that decide requests.
    pub deciding: &'b Deciding,
    /// What was warned of.
    pub warnings: &'b Diagnostics,
    /// What was left out.
    pub set_aside: &'b SetAside,
    /// How many documents are about gateways.
    pub about_gateways: usize,
    /// Where meshes stand that no document describes.
    pub implied: SourceId,
}

/// What changed documents come to; all else is as it was.
#[derive(Debug)]
pub struct After {
    /// What the next snapshot is made of.
    pub difference: Difference,
    /// Policies that decide requests.
    pub deciding: Deciding,
    /// All organisations, if some changed.
    pub organisations: Option<Organisations>,
    /// What is left out.
    pub set_aside: SetAside,
    /// How many documents are about gateways.
    pub about_gateways: usize,
    /// What is wrong, and what still is.
    pub diagnostics: Diagnostics,
}

impl<'b> Before<'b> {
    /// Whether these kinds were in force, written in files that are the same.
    pub(super) fn has_kinds(self, kinds: &[PolicyKind], files: &Files) -> bool {
        let before: BTreeSet<NodeRef> = self.snapshot.kinds().iter().map(|(_, kind)| kind.at).collect();
        let same = |at: &NodeRef| before.contains(at) && files.share(at.source, self.snapshot.files());
        kinds.iter().all(|kind| same(&kind.at)) && kinds.len() == self.snapshot.kinds().len()
    }

    /// Tells of files whether they are the same, and nothing need be said about them once more.
    pub(super) fn are_sound(self, files: &'b Files) -> impl Fn(SourceId) -> bool + use<'b> {
        let labels = self.warnings.as_slice().iter().filter_map(|warning| warning.label.as_ref());
        let warned: BTreeSet<SourceId> = labels.map(|label| label.source).collect();
        move |source| files.share(source, self.snapshot.files()) && !warned.contains(&source)
    }

    /// Recognises changed files. `None` if this needs all others as well: because something is wrong, so that all of it is to
    /// be told, or because what some document means depends on all of them.
    pub fn after(self, reading: Reading<'_>, files: &Files, changed: &BTreeSet<SourceId>) -> Option<After> {
        let snapshot = self.snapshot;
        let concerned = self.concerned(reading, files, changed)?;
        let changed = &concerned;
        let gone = self.sorted(reading, snapshot.files(), changed)?;
        let came = self.sorted(reading, files, changed)?;
        self.keeps_meshes(&gone.meshes, &came.meshes)?;
        let about_gateways = (self.about_gateways + came.about_gateways).checked_sub(gone.about_gateways)?;
        if (about_gateways == 0) != (self.about_gateways == 0) {
            return None;
        }
        let old = self.read_aside(reading, &gone);
        let mut new = self.read(reading, files, &came, changed);
        let deciding = self.decide(reading, files, &gone.access, &came.access, &mut new)?;
        let organisations = match self.relate(files, [gone.related, came.related], changed, &mut new)? {
            Relating::Untouched => None,
            Relating::Changed(organisations) => Some(organisations),
        };
        let Recognised { draft, set_aside, aside, mut diagnostics, .. } = new;
        let (objects, policies) = (draft.objects.into_vec(), draft.policies.into_vec());
        let is_known = |identity: Identity| {
            let policy = snapshot.policies().find(identity).and_then(|id| snapshot.policy(id)).map(Described::at);
            let object = snapshot.objects().find(identity).and_then(|id| snapshot.objects().get(id)).map(Described::at);
            policy.or(object).is_some_and(|at| !changed.contains(&at.source))
        };
        let identities = objects.iter().map(Described::identity).chain(policies.iter().map(Described::identity));
        if diagnostics.errors() > 0 || identities.into_iter().any(is_known) {
            return None;
        }
        // What is known is not read again, so nobody warns of it once more.
        let untouched = |warning: &&Diagnostic| {
            warning.label.iter().chain(&warning.related).all(|at| !changed.contains(&at.source))
        };
        let still = self.warnings.as_slice().iter().filter(untouched);
        let still: Vec<Diagnostic> =
            still.filter(|warning| !diagnostics.as_slice().contains(warning)).cloned().collect();
        diagnostics.extend(still);
        let indexed = Indexed {
            decides: deciding.decides().collect(),
            complies: organisations
                .as_ref()
                .or(snapshot.companion())
                .map(|all| all.complies().collect())
                .unwrap_or_default(),
        };
        let difference = Difference {
            symbols: Arc::new(draft.symbols),
            files: files.clone(),
            changed: changed.clone(),
            gone: gone.documents.into_iter().filter(|at| !old.aside.contains(at)).collect(),
            came: came.documents.into_iter().filter(|at| !aside.contains(at)).collect(),
            objects,
            policies,
            indexed,
        };
        let set_aside = self.set_aside.without(&old.set_aside).with(&set_aside);
        Some(After { difference, deciding, organisations, set_aside, about_gateways, diagnostics })
    }

    /// The documents of changed files by who reads them; `None` if one of them says how others are read.
    fn sorted<'f>(self, reading: Reading<'_>, files: &'f Files, changed: &BTreeSet<SourceId>) -> Option<Sorted<'f>> {
        let (kinds, symbols) = (self.snapshot.kinds().as_slice(), self.snapshot.symbols());
        let decisions = Decisions::new(reading, files, kinds, symbols);
        let mut related = Collector::new(files, kinds, symbols, |at| is_builtin(files, at));
        let mut found = Diagnostics::default();
        let texts = changed.iter().filter_map(|source| Some((*source, files.get(*source)?)));
        let Documents { typed, about_access, untyped } = documents_of(texts, &mut found);
        if !found.as_slice().is_empty() {
            return None;
        }
        let mut sorted = Sorted {
            documents: Vec::new(),
            access: Written::default(),
            others: Vec::new(),
            about_gateways: 0,
            meshes: Meshes::default(),
            related: None,
        };
        for (source, document, claim) in about_access {
            let at = NodeRef { source, node: document.number() };
            match claim {
                Claim::Directory => return None,
                Claim::Tests => {}
                claim => {
                    sorted.documents.push(at);
                    sorted.access.untyped.push((at, claim));
                }
            }
        }
        let mut relates = !untyped.is_empty();
        for (source, document, claim) in untyped {
            related.untyped(source, document, claim).then_some(())?;
            sorted.documents.push(NodeRef { source, node: document.number() });
        }
        for (source, header) in typed {
            let at = NodeRef { source, node: header.document.number() };
            if policy_kind::is_policy_kind(&header) {
                return None;
            }
            sorted.documents.push(at);
            sorted.about_gateways += usize::from(gateway_api::is_about_gateways(&header));
            if decisions.know(header) {
                sorted.access.typed.push(at);
                continue;
            }
            let taken = related.typed(source, header);
            relates |= taken != Taken::No;
            let resource = Resource::with_header(header);
            if let Some(resource) = resource {
                self.is_apart(resource)?;
                sorted.meshes.add(resource);
            }
            if taken != Taken::Yes {
                sorted.others.push((source, header, taken));
            }
        }
        sorted.related = relates.then_some(related);
        Some(sorted)
    }

    /// Whether what a document means depends on nothing but itself.
    fn is_apart(self, resource: Resource<'_>) -> Option<()> {
        let snapshot = self.snapshot;
        let name = resource.kind.text();
        let symbol = snapshot.symbols().get(name);
        let governed = |choice: fn(&PolicyKind) -> bool| {
            snapshot.kinds().iter().any(|(_, kind)| Some(kind.governs) == symbol && choice(kind))
        };
        let is_layered = governed(|kind| kind.merge().is_some());
        let is_object = ResourceType::of(name).is_some();
        let is_common = match symbol {
            Some(symbol) => self.common_kinds().any(|governs| governs == symbol),
            None => false,
        };
        // A type that nobody knew gets a kind of its own.
        let is_new = has_target_refs(resource) && !governed(|_| true);
        let has = |kind: &str| snapshot.objects().has_kind(kind, snapshot.symbols());
        // Policies may be attached through routes.
        let routes = || name == ROUTE || has(ROUTE);
        // Proxies serve gateways.
        let gateway = ResourceType::MeshGateway.name();
        let others = || name == gateway || has(gateway);
        let depends = is_common || is_new || (is_layered && routes()) || (is_object && others());
        (!depends).then_some(())
    }

    /// Types that have a kind only because some document is of that type.
    fn common_kinds(self) -> impl Iterator<Item = Sym> + use<'b> {
        let is_common = move |kind: &&PolicyKind| {
            let document = self.snapshot.files().value(kind.at);
            let governs = document.and_then(|document| document.get("governs"));
            governs.is_some_and(|governs| governs.text() == EVERY_TYPE)
        };
        self.snapshot.kinds().as_slice().iter().filter(is_common).map(|kind| kind.governs)
    }

    /// Whether the same meshes exist without being described.
    fn keeps_meshes(self, gone: &Meshes, came: &Meshes) -> Option<()> {
        let mesh = |mesh: &str| {
            let id = self.snapshot.object_named(ResourceType::Mesh.name(), mesh, mesh);
            id.and_then(|id| self.snapshot.objects().get(id)).map(Described::at)
        };
        let is_implied = |name: &String| mesh(name).is_some_and(|at| at.source == self.implied);
        let exists = |name: &String| mesh(name).is_some() || came.described.contains(name);
        // Whether somebody else needs a mesh whose description goes takes a look at all documents.
        let keeps = gone.described.is_subset(&came.described)
            && !came.described.difference(&gone.described).any(is_implied)
            && !gone.used.difference(&came.used).any(is_implied)
            && came.used.iter().all(exists);
        keeps.then_some(())
    }

    fn decide(
        self,
        reading: Reading<'_>,
        files: &Files,
        gone: &Written,
        came: &Written,
        new: &mut Recognised,
    ) -> Option<Deciding> {
        if gone.is_empty() && came.is_empty() {
            return Some(self.deciding.clone());
        }
        // There, what a policy means depends on all policies.
        if reading.edition() == Edition::Compat {
            return None;
        }
        let mut decisions = Decisions::new(reading, files, self.snapshot.kinds().as_slice(), self.snapshot.symbols());
        let Recognised { draft, diagnostics, .. } = new;
        decisions.untyped(&came.untyped, self.deciding.seed_files(), diagnostics);
        for at in &came.typed {
            decisions.typed_at(*at, diagnostics);
        }
        let mut listed = Vec::new();
        decisions.list(|text| draft.symbols.intern(text), &mut listed);
        draft.policies.extend(listed);
        decisions.after(self.deciding, self.snapshot.files(), gone)
    }

    /// What organisations become.
    fn relate(
        self,
        files: &Files,
        [gone, came]: [Option<Collector<'_>>; 2],
        changed: &BTreeSet<SourceId>,
        new: &mut Recognised,
    ) -> Option<Relating> {
        let before: &Organisations = match (gone.is_some() || came.is_some(), self.snapshot.companion()) {
            (false, _) => return Some(Relating::Untouched),
            (true, None) => return None,
            (true, Some(before)) => before,
        };
        let kinds = self.snapshot.kinds().as_slice();
        let empty = |files| Collector::new(files, kinds, self.snapshot.symbols(), |at| is_builtin(files, at));
        let gone = gone.unwrap_or_else(|| empty(self.snapshot.files()));
        let came = came.unwrap_or_else(|| empty(files));
        let Related { organisations, policies } = gone.replaced_by(came, before)?;
        if policies == Listing::Changed {
            let governs = |name: Sym| kinds.iter().find(|kind| kind.name == name).map(|kind| kind.governs);
            let is_changed = |at: NodeRef| changed.contains(&at.source);
            new.draft.policies.extend(organisations.listed(governs, is_changed, |text| new.draft.symbols.intern(text)));
        }
        Some(Relating::Changed(organisations))
    }

    /// Reads documents that stand for themselves.
    fn read(
        self,
        reading: Reading<'_>,
        files: &Files,
        sorted: &Sorted<'_>,
        changed: &BTreeSet<SourceId>,
    ) -> Recognised {
        let mut recognised = self.nothing();
        if sorted.others.is_empty() {
            return recognised;
        }
        let readers = self.readers(&recognised, files);
        let (mut seen, mut layered) = (Seen::default(), Vec::new());
        for (source, header, taken) in &sorted.others {
            if *taken == Taken::No || readers.know(*header) {
                recognised.read_document(reading, files, *source, *header, &readers, &mut seen, &mut layered);
            }
        }
        let Recognised { draft, diagnostics, .. } = &mut recognised;
        let others = Some(Others { snapshot: self.snapshot, changed });
        kuma::layered::read_all(files, &layered, kuma_edition(reading.semantics), others, draft, diagnostics);
        recognised
    }

    /// Reads the objects of changed files; `None` if one of their documents says how others are read.
    pub(super) fn objects(
        self,
        reading: Reading<'_>,
        files: &Files,
        changed: &BTreeSet<SourceId>,
    ) -> Option<Recognised> {
        let mut sorted = self.sorted(reading, files, changed)?;
        let is_object = |header: &Header<'_>| {
            Resource::with_header(*header).is_some_and(|resource| ResourceType::of(resource.kind.text()).is_some())
        };
        sorted.others.retain(|(_, header, _)| is_object(header));
        Some(self.read(reading, files, &sorted, changed))
    }

    /// Which documents were left out; all others are known from before.
    fn read_aside(self, reading: Reading<'_>, sorted: &Sorted<'_>) -> Recognised {
        let mut recognised = self.nothing();
        if sorted.others.is_empty() {
            return recognised;
        }
        let files = self.snapshot.files();
        let readers = self.readers(&recognised, files);
        for (source, header, _) in
            sorted.others.iter().filter(|(_, header, taken)| *taken == Taken::No && !readers.know(*header))
        {
            recognised.read_document(reading, files, *source, *header, &readers, &mut Seen::default(), &mut Vec::new());
        }
        recognised
    }

    /// Nothing, under the kinds and with the symbols of before.
    fn nothing(self) -> Recognised {
        let mut recognised = Recognised { kinds: self.snapshot.kinds().as_slice().to_vec(), ..Recognised::default() };
        recognised.draft.symbols = Symbols::clone(self.snapshot.symbols());
        recognised
    }

    fn readers(self, recognised: &Recognised, files: &Files) -> Readers {
        Readers { gateways: self.about_gateways > 0, ..recognised.readers(files) }
    }
}

/// What becomes of organisations.
enum Relating {
    Untouched,
    Changed(Organisations),
}

/// The documents of changed files.
struct Sorted<'f> {
    /// Those that can change an answer, and perhaps some that are set aside.
    documents: Vec<NodeRef>,
    /// About deciding requests.
    access: Written,
    /// About related objects, if there are any.
    related: Option<Collector<'f>>,
    others: Vec<(SourceId, Header<'f>, Taken)>,
    about_gateways: usize,
    meshes: Meshes,
}

/// Meshes that some documents are about.
#[derive(Default)]
struct Meshes {
    described: BTreeSet<String>,
    /// Those that exist because a policy lives there.
    used: BTreeSet<String>,
}

impl Meshes {
    fn add(&mut self, resource: Resource<'_>) {
        match implied::stake(resource) {
            Some(Stake::Describes) => drop(self.described.insert(resource.name().into_owned())),
            Some(Stake::Uses) => drop(self.used.insert(resource.mesh().to_owned())),
            None => {}
        }
    }
}
