//! Which objects a reference means: an index that objects come into and go out of.

use upheld_model::layers::{Reference, Section};
use upheld_model::{Object, Role, Sym};

use crate::buckets::Buckets;
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

/// Finds the objects of references by the facts that they name. A clone shares what it does not change.
#[derive(Clone, Debug, Default)]
pub struct Targets {
    /// By type, scope, and each fact; sorted.
    by_fact: Buckets<(Sym, Sym, Sym, Sym), ObjectId>,
    /// By type and scope; sorted.
    by_kind: Buckets<(Sym, Sym), ObjectId>,
    /// The sections that an object has, in the order of its document.
    ports: Buckets<ObjectId, Port>,
}

/// A section that references may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Port {
    section: Sym,
    port: Option<Sym>,
}

impl Targets {
    /// Of some objects.
    pub fn new<'o>(objects: impl IntoIterator<Item = (ObjectId, &'o Object)>) -> Self {
        let mut targets = Self::default();
        let objects: Vec<(ObjectId, &Object)> = objects.into_iter().collect();
        targets.change(&[], &objects);
        targets
    }

    /// Takes objects out, as they were, and puts others in.
    pub fn change(&mut self, gone: &[(ObjectId, &Object)], came: &[(ObjectId, &Object)]) {
        for (id, object) in gone {
            self.by_kind.take(&(object.kind, object.scope), |known| known == id);
            for key in facts(object) {
                self.by_fact.take(&key, |known| known == id);
            }
            self.ports.take(id, |_| true);
        }
        let mut came = came.to_vec();
        came.sort_unstable_by_key(|(id, _)| *id);
        self.by_kind.add_all(came.iter().map(|(id, object)| ((object.kind, object.scope), *id)).collect());
        let by_fact = came.iter().flat_map(|(id, object)| facts(object).map(|key| (key, *id)));
        self.by_fact.add_all(by_fact.collect());
        self.ports.add_all(came.iter().flat_map(|(id, object)| ports(object).map(|port| (*id, port))).collect());
    }

    /// The targets of a reference in a scope, by id.
    pub fn resolve(&self, reference: &Reference, scope: Sym) -> Vec<Target> {
        let mut lists: Vec<&[ObjectId]> = (reference.facts.iter())
            .map(|(key, value)| self.by_fact.get(&(reference.kind, scope, *key, *value)))
            .collect();
        lists.sort_unstable_by_key(|list| list.len());
        let all = || self.by_kind.get(&(reference.kind, scope));
        let (fewest, others) = lists.split_first().map_or_else(|| (all(), &[][..]), |(first, rest)| (*first, rest));
        let has_all = |object: &&ObjectId| others.iter().all(|list| list.contains(object));
        let target = |object: &ObjectId| match reference.section {
            None => Some(Target::whole(*object)),
            Some(section) => {
                let mut ports = self.ports.get(object).iter();
                let port = ports.find(|port| match section {
                    Section::Named(name) => port.section == name,
                    Section::Port(number) => port.port == Some(number),
                });
                port.map(|port| Target { object: *object, section: Some(port.section) })
            }
        };
        let mut found: Vec<Target> = fewest.iter().filter(has_all).filter_map(target).collect();
        found.sort_unstable();
        found
    }

    /// How many shards two indexes do not share.
    pub(crate) fn unshared(&self, other: &Self) -> usize {
        self.by_fact.unshared(&other.by_fact)
            + self.by_kind.unshared(&other.by_kind)
            + self.ports.unshared(&other.ports)
    }
}

/// Whether no reference can tell two objects apart.
pub fn alike(one: &Object, other: &Object) -> bool {
    (one.kind, one.scope, &one.facts) == (other.kind, other.scope, &other.facts) && ports(one).eq(ports(other))
}

/// Whether an object has all facts that a reference names.
pub(super) fn is_meant(reference: &Reference, object: &Object) -> bool {
    let has = |(key, value): &(Sym, Sym)| object.facts.get(*key).is_some_and(|tag| tag.value == Some(*value));
    reference.kind == object.kind && reference.facts.iter().all(has)
}

fn facts(object: &Object) -> impl Iterator<Item = (Sym, Sym, Sym, Sym)> {
    let known = object.facts.as_slice().iter().filter_map(|tag| Some((tag.key, tag.value?)));
    known.map(|(key, value)| (object.kind, object.scope, key, value))
}

fn ports(object: &Object) -> impl Iterator<Item = Port> {
    let ports = object.parts.iter().filter(|part| part.role == Role::Port);
    ports.map(|part| Port { section: part.section, port: part.port })
}
