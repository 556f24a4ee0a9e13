//! Whether it takes all documents to know what some that changed mean.

use std::collections::BTreeSet;

use upheld_engine::{Described, PolicyKind};
use upheld_model::{SourceId, Sym};

use super::common_kinds::EVERY_TYPE;
use super::control_plane::{Stamps, zone_of};
use super::implied::{self, Stake};
use super::layered::ROUTE;
use super::meta::mesh_of;
use super::reader::has_target_refs;
use super::resources::ResourceType;
use crate::dialect::Side;
use crate::document::Resource;
use crate::recognise::Before;

/// What changed documents have to do with others.
pub(super) struct Changed<'b> {
    before: Before<'b>,
    /// The files that changed.
    files: &'b BTreeSet<SourceId>,
    gone: Meshes,
    came: Meshes,
    /// Whether what one of them means, or others mean because of it, depends on all of them.
    depends: bool,
}

/// Meshes that some documents are about.
#[derive(Default)]
struct Meshes {
    described: BTreeSet<String>,
    /// Those that exist because a policy lives there.
    used: BTreeSet<String>,
    /// Zones that objects are labelled with.
    zones: BTreeSet<String>,
}

impl<'b> Changed<'b> {
    pub(super) fn new(before: Before<'b>, files: &'b BTreeSet<SourceId>) -> Self {
        Self { before, files, gone: Meshes::default(), came: Meshes::default(), depends: false }
    }

    /// Sees a document, as it was or as it is.
    pub(super) fn see(&mut self, resource: Resource<'_>, side: Side) {
        self.depends |= self.depends_on_others(resource);
        let meshes = match side {
            Side::Gone => &mut self.gone,
            Side::Came => &mut self.came,
        };
        match implied::stake(resource) {
            Some(Stake::Describes) => drop(meshes.described.insert(resource.name().into_owned())),
            Some(Stake::Uses) => drop(meshes.used.insert(mesh_of(resource).to_owned())),
            None => {}
        }
        meshes.zones.extend(zone_of(resource).map(str::to_owned));
    }

    /// Nothing if all documents are needed.
    pub(super) fn check(self) -> Option<()> {
        (!self.depends && self.keeps_meshes() && self.keeps_zones()).then_some(())
    }

    fn depends_on_others(&self, resource: Resource<'_>) -> bool {
        let snapshot = self.before.snapshot;
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
        is_common || is_new || (is_layered && routes()) || (is_object && others())
    }

    /// Types that have a kind only because some document is of that type.
    fn common_kinds(&self) -> impl Iterator<Item = Sym> {
        let is_common = |kind: &&PolicyKind| {
            let document = self.before.snapshot.files().value(kind.at);
            let governs = document.and_then(|document| document.get("governs"));
            governs.is_some_and(|governs| governs.text() == EVERY_TYPE)
        };
        self.before.snapshot.kinds().as_slice().iter().filter(is_common).map(|kind| kind.governs)
    }

    /// Whether objects are of the same zones: what is added to others may depend on these.
    fn keeps_zones(&self) -> bool {
        let known = Stamps::of(self.before.snapshot).zones();
        self.came.zones.is_subset(known) && self.gone.zones.difference(&self.came.zones).all(|zone| self.has_zone(zone))
    }

    /// Whether an object that stays is labelled with a zone.
    fn has_zone(&self, zone: &str) -> bool {
        let snapshot = self.before.snapshot;
        let others = snapshot.objects().iter().filter(|(_, object)| !self.files.contains(&object.at.source));
        let mut resources = others.filter_map(|(_, object)| Resource::of(snapshot.files().value(object.at)?));
        resources.any(|resource| zone_of(resource) == Some(zone))
    }

    /// Whether the same meshes exist without being described.
    fn keeps_meshes(&self) -> bool {
        let Self { before, gone, came, .. } = self;
        let mesh = |mesh: &str| {
            let id = before.snapshot.object_named(ResourceType::Mesh.name(), mesh, mesh);
            id.and_then(|id| before.snapshot.objects().get(id)).map(Described::at)
        };
        let is_implied = |name: &String| mesh(name).is_some_and(|at| at.source == before.implied);
        let exists = |name: &String| mesh(name).is_some() || came.described.contains(name);
        // Whether somebody else needs a mesh whose description goes takes a look at all documents.
        gone.described.is_subset(&came.described)
            && !came.described.difference(&gone.described).any(is_implied)
            && !gone.used.difference(&came.used).any(is_implied)
            && came.used.iter().all(exists)
    }
}
