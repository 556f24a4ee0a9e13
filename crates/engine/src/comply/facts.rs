//! Objects and what relates them.

use smol_str::{SmolStr, SmolStrBuilder, format_smolstr};
use upheld_model::nearest::nearest;
use upheld_model::{NodeRef, Sym};

use super::lists::ListId;
use super::profile::{End, Kind, Subject};
use super::refusal::Refusal;
use super::{Comply, Partners, Tags};

/// Which object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectId(u32);

impl ObjectId {
    /// No object.
    pub(super) const NONE: Self = Self(u32::MAX);

    pub(super) fn new(index: usize) -> Self {
        Self(u32::try_from(index).unwrap_or(u32::MAX))
    }

    pub(super) fn index(self) -> usize {
        self.0 as usize
    }

    /// The place of what belongs to a scope; the first is for what belongs to none.
    pub(super) fn list(self) -> usize {
        self.some().map_or(0, |own| own.index() + 1)
    }

    pub(super) fn some(self) -> Option<Self> {
        (self != Self::NONE).then_some(self)
    }
}

/// Which pair: the joint, and the place in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Slot {
    pub(super) joint: u8,
    pub(super) place: u32,
}

/// What an object is good for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Standing {
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

/// What is known of an object besides its tags and relationships.
#[derive(Clone, Debug, Default)]
pub struct Described {
    /// How people call it.
    pub name: Option<SmolStr>,
    /// What it is good for.
    pub standing: Standing,
    /// Whether it is the provider's own.
    pub partner: Partner,
    /// What pays for it: its tags count where it has none of its own.
    pub paid_by: Option<ObjectId>,
    /// Where it was written.
    pub at: Option<NodeRef>,
}

#[derive(Clone, Debug)]
pub(super) struct Object {
    pub(super) kind: Kind,
    pub(super) id: SmolStr,
    pub(super) name: Option<SmolStr>,
    pub(super) standing: Standing,
    pub(super) partner: Partner,
    pub(super) paid_by: ObjectId,
    pub(super) at: Option<NodeRef>,
    /// What it lives in.
    pub(super) owner: ObjectId,
    pub(super) tags: Vec<(Sym, ListId)>,
    pub(super) links: Vec<NearLink>,
    pub(super) pairs: Vec<NearPair>,
}

/// A relationship, seen from one of its ends. The other end stands here as well, so that looking for one needs no others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NearLink {
    pub(super) place: u32,
    pub(super) other: ObjectId,
}

/// A pair, seen from one of its sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NearPair {
    pub(super) place: u32,
    pub(super) other: ObjectId,
    pub(super) joint: u8,
    /// Which side this is: the first (0) or the second (1).
    pub(super) side: u8,
}

impl NearPair {
    /// Both sides of a pair, each with how it sees the pair.
    pub(super) fn sides(slot: Slot, a: ObjectId, b: ObjectId) -> [(ObjectId, Self); 2] {
        let Slot { joint, place } = slot;
        [(a, Self { place, other: b, joint, side: 0 }), (b, Self { place, other: a, joint, side: 1 })]
    }

    pub(super) fn slot(self) -> Slot {
        Slot { joint: self.joint, place: self.place }
    }
}

impl Object {
    pub(super) fn new(kind: Kind, id: SmolStr) -> Self {
        Self {
            kind,
            id,
            name: None,
            standing: Standing::Live,
            partner: Partner::No,
            paid_by: ObjectId::NONE,
            at: None,
            owner: ObjectId::NONE,
            tags: Vec::new(),
            links: Vec::new(),
            pairs: Vec::new(),
        }
    }

    /// The values of a tag.
    pub(super) fn values(&self, key: Sym) -> ListId {
        self.tags.iter().find(|(known, _)| *known == key).map_or(ListId::NONE, |(_, list)| *list)
    }
}

/// A relationship.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) a: ObjectId,
    pub(super) b: ObjectId,
    pub(super) role: ObjectId,
    /// Which relation of the profile.
    pub(super) relation: u8,
}

impl Link {
    /// Everybody who knows of it.
    pub(super) fn ends(&self) -> impl Iterator<Item = ObjectId> {
        [Some(self.a), Some(self.b), self.role.some()].into_iter().flatten()
    }

    /// Everybody who knows of it, each with how it sees it from there.
    pub(super) fn seen(&self, place: u32) -> impl Iterator<Item = (ObjectId, NearLink)> {
        let (a, b) = (self.a, self.b);
        self.ends().map(move |end| (end, NearLink { place, other: if end == a { b } else { a } }))
    }
}

/// A pair that a relationship makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Made {
    pub(super) joint: u8,
    pub(super) a: ObjectId,
    pub(super) b: ObjectId,
    pub(super) scope: ObjectId,
}

impl Comply {
    pub(super) fn object(&self, object: ObjectId) -> Option<&Object> {
        self.objects.get(object.index())
    }

    /// A live object by its kind and id.
    pub fn find(&self, kind: Kind, id: &str) -> Option<ObjectId> {
        self.names.get(&self.objects, kind, id).filter(|object| self.is_live(*object))
    }

    /// A live object by its reference, `kind/id`; why not, if there is none.
    pub fn resolve(&self, reference: &str) -> Result<ObjectId, Refusal> {
        let (word, id) = reference.split_once('/').unwrap_or((reference, ""));
        let Some(kind) = self.profile.kind(word) else {
            let known = self.profile.kinds.iter().map(|kind| kind.name.as_str());
            let nearest = nearest(word, known).map(SmolStr::new);
            return Err(Refusal::UnknownKind { written: SmolStr::new(word), nearest });
        };
        if let Some(object) = self.find(kind, id) {
            return Ok(object);
        }
        let live = self.objects.iter().filter(|object| object.kind == kind && object.standing != Standing::Deleted);
        let nearest = nearest(id, live.map(|object| object.id.as_str()));
        let nearest = nearest.map(|id| format_smolstr!("{}/{id}", self.profile.kind_name(kind)));
        Err(Refusal::UnknownObject { written: SmolStr::new(reference), nearest })
    }

    /// The reference of an object, `kind/id`.
    pub fn reference(&self, object: ObjectId) -> SmolStr {
        let Some(object) = self.object(object) else { return SmolStr::default() };
        let mut reference = SmolStrBuilder::new();
        reference.push_str(self.profile.kind_name(object.kind));
        reference.push('/');
        reference.push_str(&object.id);
        reference.finish()
    }

    /// The kind of an object.
    pub fn kind_of(&self, object: ObjectId) -> Option<Kind> {
        self.object(object).map(|object| object.kind)
    }

    pub(super) fn subject_of(&self, object: ObjectId) -> Option<Subject> {
        self.profile.subject_of(self.object(object)?.kind)
    }

    /// How people call an object, if otherwise than by its reference.
    pub fn name_of(&self, object: ObjectId) -> Option<&SmolStr> {
        self.object(object)?.name.as_ref()
    }

    /// What an object is good for.
    pub fn standing_of(&self, object: ObjectId) -> Standing {
        self.object(object).map_or(Standing::Deleted, |object| object.standing)
    }

    /// Whether an object is the provider's own.
    pub fn partner_of(&self, object: ObjectId) -> Partner {
        self.object(object).map_or(Partner::No, |object| object.partner)
    }

    /// The tags of an object in the order of their keys.
    pub fn tags_of(&self, object: ObjectId) -> Tags {
        let Some(object) = self.object(object) else { return Tags::new() };
        let tags = object.tags.iter().filter(|(_, list)| *list != ListId::NONE);
        let mut tags: Tags =
            tags.map(|(key, list)| (SmolStr::new(self.symbols.text(*key)), self.texts(*list))).collect();
        tags.sort();
        tags
    }

    pub(super) fn texts(&self, list: ListId) -> Vec<SmolStr> {
        self.lists.get(list).iter().map(|value| SmolStr::new(self.symbols.text(*value))).collect()
    }

    /// Writes a new object into the list of its kind.
    pub(super) fn list_object(&mut self, object: ObjectId) {
        let Some(kind) = self.kind_of(object) else { return };
        while self.by_kind.len() <= usize::from(kind.0) {
            self.by_kind.push(Vec::new());
        }
        if let Some(list) = self.by_kind.get_mut(usize::from(kind.0)) {
            list.push(object);
        }
    }

    /// All live objects in the order of their references.
    pub fn objects(&self) -> Vec<ObjectId> {
        let all = (0..self.objects.len()).map(ObjectId::new);
        let mut live: Vec<ObjectId> = all.filter(|object| self.is_live(*object)).collect();
        self.sort_objects(&mut live);
        live
    }

    /// Sorts by reference.
    pub(super) fn sort_objects(&self, objects: &mut [ObjectId]) {
        let key = |id: &ObjectId| self.object(*id).map(|object| (self.profile.kind_name(object.kind), &object.id));
        objects.sort_by(|a, b| key(a).cmp(&key(b)));
    }

    /// How many live relationships there are.
    pub fn link_count(&self) -> usize {
        self.links.iter().flatten().count()
    }

    /// The relationships of an object: the sides in order, and what qualifies each.
    pub fn links_of(&self, object: ObjectId) -> Vec<(ObjectId, ObjectId, Option<ObjectId>)> {
        let links = self.object(object).map_or(&[][..], |object| &object.links);
        let links = links.iter().filter_map(|near| self.links.get(near.place as usize)).flatten();
        links.map(|link| (link.a, link.b, link.role.some())).collect()
    }

    /// What an object lives in.
    pub fn owner_of(&self, object: ObjectId) -> Option<ObjectId> {
        self.object(object)?.owner.some()
    }

    /// Whether an object takes part: it is there, and so is everything in which it lives.
    pub fn is_live(&self, object: ObjectId) -> bool {
        self.chain(object).all(|(_, object)| object.standing != Standing::Deleted)
    }

    /// The object and all in which it lives, innermost first.
    fn chain(&self, object: ObjectId) -> impl Iterator<Item = (ObjectId, &Object)> {
        let at = |id: ObjectId| self.object(id).map(|object| (id, object));
        // What lives in itself is refused before; this ends all the same.
        std::iter::successors(at(object), move |(_, object)| at(object.owner)).take(64)
    }

    /// The scope in which an object lives, or which it is.
    pub fn scope_of(&self, object: ObjectId) -> Option<ObjectId> {
        let scope = self.profile.scope?;
        self.chain(object).find(|(_, object)| object.kind == scope).map(|(id, _)| id)
    }

    /// Whether policies leave a scope alone, with all that lives in it.
    pub(super) fn is_exempt(&self, scope: Option<ObjectId>) -> bool {
        let partner = scope.and_then(|scope| self.object(scope)).is_some_and(|scope| scope.partner == Partner::Yes);
        partner && self.settings.partners == Partners::Exempt
    }

    /// The relation between two kinds of objects, if there is one.
    pub(super) fn relation(&self, a: ObjectId, b: ObjectId) -> Option<u8> {
        let (a, b) = (self.subject_of(a)?, self.subject_of(b)?);
        let place = self.profile.relations.iter().position(|relation| relation.a == a && relation.b == b);
        place.and_then(|place| u8::try_from(place).ok())
    }

    /// The pairs that a relationship makes.
    pub(super) fn made_by(&self, link: &Link) -> Vec<Made> {
        let mut made = Vec::new();
        let Some(relation) = self.profile.relations.get(usize::from(link.relation)) else { return made };
        if !self.is_live(link.a) || !self.is_live(link.b) {
            return made;
        }
        let scope = self.scope_of(link.a);
        if self.is_exempt(scope) {
            return made;
        }
        for given in &relation.gives {
            let end = |end: End| match end {
                End::A => Some(link.a),
                End::B => Some(link.b),
                End::Role => link.role.some().filter(|role| self.is_live(*role)),
                End::Scope => scope,
            };
            if let (Some(a), Some(b)) = (end(given.a), end(given.b)) {
                made.push(Made { joint: given.pair.0, a, b, scope: scope.unwrap_or(ObjectId::NONE) });
            }
        }
        made
    }

    /// The relationships between two objects: those that a role qualifies, or all of them.
    pub(super) fn links_between(&self, a: ObjectId, b: ObjectId, role: Option<ObjectId>) -> Vec<u32> {
        let (Some(first), Some(second)) = (self.object(a), self.object(b)) else { return Vec::new() };
        let (fewer, other) = if first.links.len() <= second.links.len() { (first, b) } else { (second, a) };
        let joins = |near: &&NearLink| {
            let link = self.links.get(near.place as usize).and_then(Option::as_ref).filter(|_| near.other == other);
            link.is_some_and(|link| (link.a, link.b) == (a, b) && role.is_none_or(|role| link.role == role))
        };
        fewer.links.iter().filter(joins).map(|near| near.place).collect()
    }

    /// The tags that count for what a project pays and gets: its own, else those of what pays for it, else those of what
    /// it lives in.
    pub fn effective_tags(&self, object: ObjectId) -> Tags {
        let own = self.object(object);
        let layers = [Some(object), own.and_then(|own| own.paid_by.some()), own.and_then(|own| own.owner.some())];
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
