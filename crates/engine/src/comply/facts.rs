//! Objects and what relates them.

use std::num::NonZeroU32;
use std::sync::Arc;

use smol_str::SmolStr;
use upheld_model::nearest::nearest;
use upheld_model::{NodeRef, Pages, Sym, ValuesId};

use super::profile::{Kind, PairKind, Subject};
use super::value_lists::NO_VALUES;
use super::{Comply, Partners, Tags};

/// Which object. Numbers begin with one, so that nobody takes no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectId(NonZeroU32);

impl ObjectId {
    pub(super) fn new(index: usize) -> Self {
        Self(NonZeroU32::MIN.saturating_add(u32::try_from(index).unwrap_or(u32::MAX)))
    }

    pub(super) fn index(self) -> usize {
        self.0.get().wrapping_sub(1) as usize
    }

    /// The place of what belongs to a scope; the first is for what belongs to none.
    pub(super) fn list(scope: Option<Self>) -> usize {
        scope.map_or(0, |own| own.0.get() as usize)
    }
}

/// Two objects that policies look at, in the order of the profile, and where they meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Pair {
    /// Which pair of subjects.
    pub kind: PairKind,
    /// The first side.
    pub a: ObjectId,
    /// The second side.
    pub b: ObjectId,
    /// The scope in which they meet.
    pub scope: Option<ObjectId>,
}

impl Pair {
    /// Its sides; an object with itself is one.
    pub(super) fn ends(&self) -> impl Iterator<Item = ObjectId> {
        [self.a, self.b].into_iter().take(if self.a == self.b { 1 } else { 2 })
    }
}

/// Which pair that is there: the table, and the place in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Slot {
    pub(super) table: PairKind,
    pub(super) place: u32,
}

/// What an object is good for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ObjectState {
    /// Everything.
    #[default]
    Live,
    /// It takes no new relationships; the old ones stay and are judged.
    Disabled,
    /// It is gone, with all its relationships.
    Deleted,
}

/// Whether a scope is the provider's own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Partner {
    /// It is.
    Yes,
    /// It is not.
    #[default]
    No,
}

/// Why a reference means nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotFound {
    /// There is no such kind.
    Kind {
        /// What was written.
        written: SmolStr,
        /// What may have been meant.
        nearest: Option<SmolStr>,
    },
    /// There is no such object, or not any more.
    Object {
        /// What was written.
        written: SmolStr,
        /// What may have been meant.
        nearest: Option<SmolStr>,
    },
}

/// What is known of an object besides its tags and relationships.
#[derive(Clone, Debug, Default)]
pub struct Described {
    /// How people call it.
    pub name: Option<SmolStr>,
    /// What it is good for.
    pub standing: ObjectState,
    /// Whether it is the provider's own.
    pub partner: Partner,
    /// What pays for it: its tags count where it has none of its own.
    pub paid_by: Option<ObjectId>,
    /// Where it was written.
    pub at: Option<NodeRef>,
}

/// All objects.
pub(super) type Objects = Pages<Object>;

#[derive(Clone, Debug)]
pub(super) struct Object {
    pub(super) kind: Kind,
    pub(super) id: SmolStr,
    pub(super) described: Described,
    /// What it lives in.
    pub(super) owner: Option<ObjectId>,
    pub(super) tags: Arc<Vec<(Sym, ValuesId)>>,
}

/// What relates an object.
#[derive(Clone, Debug, Default)]
pub(super) struct Neighbours {
    pub(super) links: Arc<Vec<NeighbourLink>>,
    pub(super) pairs: Arc<Vec<NeighbourPair>>,
}

/// A relationship, seen from one of its ends. The other end stands here as well, so that looking for one needs no others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NeighbourLink {
    pub(super) link: LinkId,
    pub(super) other: ObjectId,
}

/// A pair, seen from one of its sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NeighbourPair {
    pub(super) place: u32,
    pub(super) other: ObjectId,
    pub(super) table: PairKind,
    /// Which side this is: the first (0) or the second (1).
    pub(super) side: u8,
}

impl NeighbourPair {
    /// Both sides of a pair, each with how it sees the pair.
    pub(super) fn sides(slot: Slot, a: ObjectId, b: ObjectId) -> impl Iterator<Item = (ObjectId, Self)> {
        let Slot { table, place } = slot;
        let both = [(a, Self { place, other: b, table, side: 0 }), (b, Self { place, other: a, table, side: 1 })];
        // An object sees the pair with itself once.
        both.into_iter().take(if a == b { 1 } else { 2 })
    }

    pub(super) fn slot(self) -> Slot {
        Slot { table: self.table, place: self.place }
    }
}

impl Object {
    pub(super) fn new(kind: Kind, id: SmolStr) -> Self {
        Self { kind, id, described: Described::default(), owner: None, tags: Arc::default() }
    }

    /// The values of a tag.
    pub(super) fn values(&self, key: Sym) -> ValuesId {
        self.tags.iter().find(|(known, _)| *known == key).map_or(NO_VALUES, |(_, values)| *values)
    }
}

/// Which relationship.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LinkId(pub(super) u32);

/// A relationship of a shape that can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Link {
    /// One side.
    pub a: ObjectId,
    /// The other; it may live in the first.
    pub b: ObjectId,
    /// What qualifies it.
    pub role: Option<ObjectId>,
    /// Which relation of the profile.
    pub(super) relation: u8,
}

impl Link {
    /// Everybody who knows of it.
    pub fn ends(&self) -> impl Iterator<Item = ObjectId> {
        [Some(self.a), Some(self.b), self.role].into_iter().flatten()
    }

    /// The like between others of the same kinds.
    #[must_use]
    pub fn between(self, a: ObjectId, b: ObjectId) -> Self {
        Self { a, b, ..self }
    }

    /// Everybody who knows of it, each with how it sees it from there.
    pub(super) fn seen(&self, link: LinkId) -> impl Iterator<Item = (ObjectId, NeighbourLink)> {
        let (a, b) = (self.a, self.b);
        self.ends().map(move |end| (end, NeighbourLink { link, other: if end == a { b } else { a } }))
    }
}

impl Comply {
    pub(super) fn get(&self, object: ObjectId) -> Option<&Object> {
        self.objects.get(object.index())
    }

    pub(super) fn near_links(&self, object: ObjectId) -> &[NeighbourLink] {
        self.near.get(object.index()).map_or(&[], |near| &near.links)
    }

    pub(super) fn near_pairs(&self, object: ObjectId) -> &[NeighbourPair] {
        self.near.get(object.index()).map_or(&[], |near| &near.pairs)
    }

    /// A live object by its kind and id.
    pub fn object(&self, kind: Kind, id: &str) -> Option<ObjectId> {
        self.live(&self.profile.reference(kind, id))
    }

    /// An object by its kind and id, also if it is gone.
    pub(super) fn called(&self, kind: Kind, id: &str) -> Option<ObjectId> {
        self.names.get(&self.objects, &self.profile, &self.profile.reference(kind, id))
    }

    fn live(&self, reference: &str) -> Option<ObjectId> {
        self.names.get(&self.objects, &self.profile, reference).filter(|object| self.is_live(*object))
    }

    /// A live object by its reference, `kind/id`; why not, if there is none.
    pub fn lookup(&self, reference: &str) -> Result<ObjectId, NotFound> {
        // Most references have the neutral name of the kind.
        self.live(reference).map_or_else(|| self.lookup_by_other_name(reference), Ok)
    }

    fn lookup_by_other_name(&self, reference: &str) -> Result<ObjectId, NotFound> {
        let (word, id) = reference.split_once('/').unwrap_or((reference, ""));
        let Some(kind) = self.profile.kind(word) else {
            let known = self.profile.kinds.iter().map(|kind| kind.name.as_str());
            let nearest = nearest(word, known).map(SmolStr::new);
            return Err(NotFound::Kind { written: SmolStr::new(word), nearest });
        };
        if let Some(object) = self.object(kind, id) {
            return Ok(object);
        }
        let live = self.objects.iter().filter(|own| own.kind == kind && own.described.standing != ObjectState::Deleted);
        let nearest = nearest(id, live.map(|object| object.id.as_str()));
        let nearest = nearest.map(|id| self.profile.reference(kind, id));
        Err(NotFound::Object { written: SmolStr::new(reference), nearest })
    }

    /// The reference of an object, `kind/id`.
    pub fn reference(&self, object: ObjectId) -> SmolStr {
        self.get(object).map_or_else(SmolStr::default, |own| self.profile.reference(own.kind, &own.id))
    }

    /// The kind of an object.
    pub fn kind_of(&self, object: ObjectId) -> Option<Kind> {
        self.get(object).map(|object| object.kind)
    }

    /// What an object counts as in policies.
    pub fn subject_of(&self, object: ObjectId) -> Option<Subject> {
        self.profile.subject_of(self.get(object)?.kind)
    }

    /// What is known of an object besides its tags and relationships.
    pub fn described(&self, object: ObjectId) -> Option<&Described> {
        self.get(object).map(|object| &object.described)
    }

    /// The tags of an object in the order of their keys.
    pub fn tags_of(&self, object: ObjectId) -> Tags {
        let Some(object) = self.get(object) else { return Tags::new() };
        let tags = object.tags.iter().filter(|(_, values)| *values != NO_VALUES);
        let mut tags: Tags =
            tags.map(|(key, values)| (SmolStr::new(self.symbols.text(*key)), self.texts(*values))).collect();
        tags.sort();
        tags
    }

    /// The values of a tag of an object.
    pub fn values_of(&self, object: ObjectId, key: &str) -> ValuesId {
        let own = self.symbols.get(key).and_then(|key| self.get(object).map(|object| object.values(key)));
        own.unwrap_or(NO_VALUES)
    }

    /// The list of these values, without duplicates, if somebody has it.
    pub(super) fn known_values(&self, values: &[SmolStr]) -> ValuesId {
        let mut symbols: Vec<Sym> = Vec::with_capacity(values.len());
        for value in values {
            let Some(symbol) = self.symbols.get(value) else { return NO_VALUES };
            if !symbols.contains(&symbol) {
                symbols.push(symbol);
            }
        }
        self.lists.known(&symbols).unwrap_or(NO_VALUES)
    }

    /// The texts of values, in their order.
    pub fn texts(&self, values: ValuesId) -> Vec<SmolStr> {
        self.lists.get(values).iter().map(|value| SmolStr::new(self.symbols.text(*value))).collect()
    }

    /// Writes a new object into the list of its kind.
    pub(super) fn list_object(&mut self, object: ObjectId) {
        let Some(kind) = self.kind_of(object) else { return };
        while self.by_kind.len() <= usize::from(kind.0) {
            self.by_kind.push(Pages::default());
        }
        if let Some(list) = self.by_kind.get_mut(usize::from(kind.0)) {
            list.push(object);
        }
    }

    /// All objects, those that are gone too, in no particular order.
    pub fn all_objects(&self) -> impl Iterator<Item = ObjectId> + use<> {
        (0..self.objects.len()).map(ObjectId::new)
    }

    /// All live objects in the order of their references.
    pub fn objects(&self) -> Vec<ObjectId> {
        let mut live: Vec<ObjectId> = self.all_objects().filter(|object| self.is_live(*object)).collect();
        self.sort_objects(&mut live);
        live
    }

    /// The objects of a kind, those that are gone too, in no particular order.
    pub fn objects_of(&self, kind: Kind) -> impl Iterator<Item = ObjectId> {
        self.by_kind.get(usize::from(kind.0)).into_iter().flat_map(Pages::iter).copied()
    }

    /// The objects that count as a subject and are there, in no particular order.
    pub fn objects_counted_as(&self, subject: Subject) -> impl Iterator<Item = ObjectId> {
        self.all_objects().filter(move |object| self.is_live(*object) && self.subject_of(*object) == Some(subject))
    }

    /// Sorts by reference.
    pub fn sort_objects(&self, objects: &mut [ObjectId]) {
        // Each is looked up once, and most lists are of one kind.
        let mut named: Vec<(Option<(Kind, &str)>, ObjectId)> =
            objects.iter().map(|id| (self.get(*id).map(|object| (object.kind, object.id.as_str())), *id)).collect();
        let named_kind = |(kind, id)| (self.profile.kind_name(kind), id);
        named.sort_by(|(one, _), (other, _)| match (one, other) {
            (Some((kind, one)), Some((same, other))) if kind == same => one.cmp(other),
            _ => one.map(named_kind).cmp(&other.map(named_kind)),
        });
        for (place, (_, id)) in objects.iter_mut().zip(named) {
            *place = id;
        }
    }

    /// What an object lives in.
    pub fn owner_of(&self, object: ObjectId) -> Option<ObjectId> {
        self.get(object)?.owner
    }

    /// Whether an object takes part: it is there, and so is everything in which it lives.
    pub fn is_live(&self, object: ObjectId) -> bool {
        self.chain(object).all(|(_, object)| object.described.standing != ObjectState::Deleted)
    }

    /// The object and all in which it lives, innermost first.
    #[inline]
    pub(super) fn chain(&self, object: ObjectId) -> impl Iterator<Item = (ObjectId, &Object)> {
        chain_in(&self.objects, object)
    }

    /// The scope in which an object lives, or which it is.
    pub fn scope_of(&self, object: ObjectId) -> Option<ObjectId> {
        let scope = self.profile.scope?;
        self.chain(object).find(|(_, object)| object.kind == scope).map(|(id, _)| id)
    }

    /// Whether an object lives in another one, or is that one.
    pub fn lives_in(&self, object: ObjectId, other: ObjectId) -> bool {
        self.chain(object).any(|(id, _)| id == other)
    }

    /// Whether policies leave a scope alone, with all that lives in it.
    pub fn is_exempt(&self, scope: Option<ObjectId>) -> bool {
        let partner = || scope.and_then(|scope| self.get(scope)).map(|scope| scope.described.partner);
        self.partners == Partners::Exempt && partner() == Some(Partner::Yes)
    }

    /// The tags that count for what a project pays and gets: its own, else those of what pays for it, else those of what
    /// it lives in.
    pub fn effective_tags(&self, object: ObjectId) -> Tags {
        let own = self.get(object);
        let layers = [Some(object), own.and_then(|own| own.described.paid_by), own.and_then(|own| own.owner)];
        let mut tags = Tags::new();
        for layer in layers.into_iter().flatten().filter(|layer| self.is_live(*layer)) {
            for (key, values) in self.tags_of(layer) {
                if !tags.iter().any(|(known, _)| *known == key) {
                    tags.push((key, values));
                }
            }
        }
        tags.sort();
        tags
    }
}

/// An object and all in which it lives, innermost first.
#[inline]
pub(super) fn chain_in(objects: &Objects, object: ObjectId) -> impl Iterator<Item = (ObjectId, &Object)> {
    // What lives in itself is refused before; this ends all the same.
    let (mut next, mut left) = (Some(object), 64_u8);
    std::iter::from_fn(move || {
        let id = next.filter(|_| left > 0)?;
        let object = objects.get(id.index())?;
        (next, left) = (object.owner, left - 1);
        Some((id, object))
    })
}
