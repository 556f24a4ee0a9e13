//! Which objects a reference means.

use rustc_hash::FxHashMap;
use upheld_model::layers::{Reference, Section};
use upheld_model::{Object, Role, Sym};

use crate::snapshot::ObjectId;

/// An object, or a section of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Target {
    /// The object.
    pub object: ObjectId,
    /// The name of its section.
    pub section: Option<Sym>,
}

impl Target {
    /// The object as a whole.
    pub fn whole(object: ObjectId) -> Self {
        Self { object, section: None }
    }
}

/// Finds the objects of references by the facts that they name.
#[derive(Clone, Debug, Default)]
pub struct Targets<'o> {
    objects: FxHashMap<ObjectId, &'o Object>,
    /// By type, scope, and each fact.
    by_fact: FxHashMap<(Sym, Sym, Sym, Sym), Vec<ObjectId>>,
    /// By type and scope.
    by_kind: FxHashMap<(Sym, Sym), Vec<ObjectId>>,
}

impl<'o> Targets<'o> {
    /// Over all objects of a snapshot.
    pub fn new(objects: impl IntoIterator<Item = (ObjectId, &'o Object)>) -> Self {
        let mut targets = Self::default();
        for (id, object) in objects {
            targets.objects.insert(id, object);
            targets.by_kind.entry((object.kind, object.scope)).or_default().push(id);
            for tag in object.facts.as_slice() {
                if let Some(value) = tag.value {
                    targets.by_fact.entry((object.kind, object.scope, tag.key, value)).or_default().push(id);
                }
            }
        }
        targets
    }

    /// The targets of a reference in a scope, by identity.
    pub fn resolve(&self, reference: &Reference, scope: Sym) -> Vec<Target> {
        let lists = reference.facts.iter().map(|(key, value)| {
            self.by_fact.get(&(reference.kind, scope, *key, *value)).map_or(&[][..], Vec::as_slice)
        });
        let all = || self.by_kind.get(&(reference.kind, scope)).map_or(&[][..], Vec::as_slice);
        let fewest = lists.min_by_key(|list| list.len()).unwrap_or_else(all);
        let mut found = Vec::new();
        for &object in fewest {
            let Some(described) = self.objects.get(&object) else { continue };
            let has =
                |(key, value): &(Sym, Sym)| described.facts.get(*key).is_some_and(|tag| tag.value == Some(*value));
            if !reference.facts.iter().all(has) {
                continue;
            }
            match reference.section {
                None => found.push(Target::whole(object)),
                Some(section) => {
                    let ports = described.parts.iter().filter(|part| part.role == Role::Port);
                    let port = ports.into_iter().find(|part| match section {
                        Section::Named(name) => part.section == name,
                        Section::Port(port) => part.port == Some(port),
                    });
                    found.extend(port.map(|part| Target { object, section: Some(part.section) }));
                }
            }
        }
        found
    }
}
