//! What leaves the mesh through a zone egress, which has policies for its clients as an inbound has.

use upheld_engine::ObjectId;
use upheld_engine::merge::{About, Merge, Target, chain};
use upheld_model::{Facet, NodeRef, Object, Part, Role, SourceId, TagSet};

use super::callers::{Caller, Named};
use super::told::Told;
use super::{Asking, Incoming, Layers};
use crate::kuma::edition::Edition;
use crate::kuma::egress::{self, Leaving};
use crate::kuma::ends::{Is, Member};
use crate::kuma::permission;
use crate::kuma::resources::ResourceType;
use upheld_report::Depth;

/// Where an answer holds.
const PLACE: &str = "zone egress";

/// A zone egress for one of those called.
pub(super) struct Passing {
    /// For each kind, the policies that the egress has.
    merges: Vec<Merge>,
    /// What they are attached to.
    egress: Object,
    /// The resource that is called, if it is one.
    target: Option<Target>,
}

impl Layers<'_> {
    /// What calls of somebody pass on their way out; nothing for those in the mesh.
    pub(super) fn passing(&self, called: &Member) -> Option<Passing> {
        let (target, tags) = match called.is {
            Some(Is::Resource(target)) if self.is_external(target.object) => (Some(target), None),
            Some(_) => return None,
            None => (None, Some(self.external_tags(called)?)),
        };
        // The later editions have no rules for it.
        let passes =
            |edition: Edition| edition != Edition::V3 && egress::is_in_use(self.snapshot, self.connection.mesh);
        self.rules.first().filter(|rules| passes(rules.edition))?;
        let leaving = tags.map_or(Leaving::Resource, Leaving::Tagged);
        let merges: Option<Vec<Merge>> = self.rules.iter().map(|rules| egress::policies(rules, leaving)).collect();
        let name = self.connection.mesh;
        let nowhere = NodeRef { source: SourceId::new(usize::MAX), node: 0 };
        let parts = vec![Part { role: Role::Inbound, section: name, port: None, tags: TagSet::default() }];
        let facts = TagSet::default();
        let egress = Object { kind: name, scope: name, name, facts, parts, at: nowhere, created: None };
        Some(Passing { merges: merges?, egress, target })
    }

    fn is_external(&self, id: ObjectId) -> bool {
        let object = self.snapshot.objects().get(id);
        object.is_some_and(|object| self.snapshot.text(object.kind) == ResourceType::MeshExternalService.name())
    }

    /// All tags of the external service that somebody is.
    fn external_tags(&self, called: &Member) -> Option<&TagSet> {
        let service = self.service_of(called)?;
        let wanted = || called.parts.iter().chain([&service]).flat_map(TagSet::as_slice);
        let has = |tags: &TagSet| wanted().all(|tag| tags.get(tag.key).is_some_and(|own| own.value == tag.value));
        let mesh = self.snapshot.text(self.connection.mesh);
        let mut external = self.snapshot.objects_in(ResourceType::ExternalService.name(), mesh);
        external.find_map(|(_, object)| object.parts.iter().map(|part| &part.tags).find(|tags| has(tags)))
    }

    /// What the egress does for a caller. Of kinds that nobody says anything about there is nothing to tell.
    pub(super) fn leaving<T: Told>(&self, passing: &Passing, caller: &Caller<'_>, called: &Member) -> Vec<T> {
        let Passing { merges, egress, target } = passing;
        let from = caller.source.map(|source| source.label.as_str());
        let mut all: Vec<T> = Vec::new();
        for (rules, merge) in self.rules.iter().zip(merges) {
            let rules = &rules.with(merge);
            let ask = |about: About<'_>| {
                let asking = Asking::new(egress, about, from, Some(&called.label), PLACE);
                self.ask::<T>(rules, Asking { depth: Depth::Answer, ..asking })
            };
            let answers = match target {
                Some(target) => ask(About::Targets(&chain(*target, &rules.surroundings()))).into_iter().collect(),
                None => {
                    let seen = caller.seen(&[Named::at_egress(rules)]);
                    let clients = seen.clients.first().map_or(&[][..], Vec::as_slice);
                    match rules.merge.kind().facet(Facet::Clients) {
                        Some(_) => {
                            let incoming = Incoming { from, clients, facts: seen.facts_for(rules), part: 0 };
                            self.incoming(rules, &incoming, ask)
                        }
                        None => self.as_client(rules, clients, from, |tags| ask(About::Service(tags))),
                    }
                }
            };
            all.extend(answers.into_iter().filter(|answer| answer.speaks() || permission::grants(rules)));
        }
        all
    }

    /// What an egress looks at in its clients.
    pub(super) fn named_at(&self, passing: &Passing) -> Vec<Named> {
        let merges = self.rules.iter().zip(&passing.merges);
        merges.map(|(rules, merge)| Named::at_egress(&rules.with(merge))).collect()
    }
}
