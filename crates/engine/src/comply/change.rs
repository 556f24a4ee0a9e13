//! The steps that every change is made of. Each keeps the words true, notes what it touched, and can be taken back.

mod links;
mod rules;
mod words;

use smol_str::SmolStr;
use upheld_model::{Sym, Timestamp};

use super::facts::{Link, Object, ObjectId, Slot, Standing};
use super::joint::Joint;
use super::lists::ListId;
use super::profile::{Kind, Subject};
use super::waivers::Waivers;
use super::{Comply, Definition, Policy, Tags};

/// How to take a step back.
#[derive(Clone, Debug)]
pub(super) enum Undo {
    Tag { object: ObjectId, key: Sym, list: ListId },
    Linked { place: u32 },
    Unlinked { place: u32, link: Link },
    Created { object: ObjectId, before: Option<ObjectId> },
    Standing { object: ObjectId, standing: Standing },
    Policy { name: SmolStr, policy: Option<Box<Policy>>, place: usize },
    Definitions(Vec<Definition>),
    Defaults(Tags),
    Waivers(Box<Waivers>),
    Clock(Timestamp),
}

/// What a pair violated before it was touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Touch {
    pub(super) slot: Slot,
    pub(super) plane: usize,
    pub(super) before: u64,
}

/// Where a rule stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RulePlace {
    joint: usize,
    plane: usize,
    bit: usize,
}

/// Whether a rule was taken out since the last change that stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Retired {
    #[default]
    None,
    Some,
}

/// Where to go back to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark(usize);

impl Comply {
    pub(super) fn mark(&self) -> Mark {
        Mark(self.journal.len())
    }

    /// Takes back every step since the mark.
    pub(super) fn roll_back(&mut self, mark: Mark) {
        while self.journal.len() > mark.0 {
            let Some(step) = self.journal.pop() else { break };
            let length = self.journal.len();
            self.take_back(step);
            // Taking back is no step of its own.
            self.journal.truncate(length);
        }
    }

    fn take_back(&mut self, step: Undo) {
        match step {
            Undo::Tag { object, key, list } => self.retag(object, &[(key, list)]),
            Undo::Linked { place } => self.unlink(place),
            Undo::Unlinked { place, link } => {
                self.freed_links.retain(|freed| *freed != place);
                self.link_at(place, link);
            }
            Undo::Created { object, before } => self.forget_object(object, before),
            Undo::Standing { object, standing } => self.stand(object, standing),
            Undo::Policy { name, policy, place } => self.put_policy(name, policy, Some(place)),
            Undo::Definitions(definitions) => self.definitions = definitions,
            Undo::Defaults(tags) => self.defaults = tags,
            Undo::Waivers(waivers) => self.waivers = *waivers,
            Undo::Clock(now) => self.now = now,
        }
    }

    /// Forgets how to go back: what was done stands.
    pub(super) fn settle(&mut self) {
        self.journal.clear();
        self.touched.clear();
        self.free_links.append(&mut self.freed_links);
        if std::mem::take(&mut self.retired) == Retired::Some {
            self.joints.iter_mut().for_each(Joint::drop_retired);
        }
        for slot in self.freed.drain(..) {
            if let Some(joint) = self.joints.get_mut(usize::from(slot.joint)) {
                joint.free.push(slot.place);
            }
        }
    }

    /// What every pair that was touched since then violated before, each pair once, in order.
    pub(super) fn net(&self, since: usize) -> Vec<Touch> {
        let mut touched = self.touched.get(since..).unwrap_or(&[]).to_vec();
        let key = |touch: &Touch| (touch.slot, touch.plane);
        // Most changes touch pairs in their order, each once. The first touch of a pair knows what was before all of them; the
        // sort keeps their order.
        if !touched.is_sorted_by(|one, other| key(one) < key(other)) {
            touched.sort_by_key(key);
            touched.dedup_by_key(|touch| key(touch));
        }
        touched.retain(|touch| self.word(touch.slot, touch.plane) != touch.before);
        touched
    }

    pub(super) fn intern_values(&mut self, values: &[SmolStr]) -> ListId {
        let mut symbols: Vec<Sym> = Vec::with_capacity(values.len());
        for value in values {
            let symbol = self.symbols.intern(value);
            if !symbols.contains(&symbol) {
                symbols.push(symbol);
            }
        }
        self.lists.intern(&symbols)
    }

    pub(super) fn write_tag(&mut self, object: ObjectId, key: Sym, list: ListId) {
        let Some(object) = self.objects.get_mut(object.index()) else { return };
        match object.tags.iter_mut().find(|(known, _)| *known == key) {
            Some((_, own)) => *own = list,
            None => object.tags.push((key, list)),
        }
    }

    /// Step: changes tags of an object.
    pub(super) fn retag(&mut self, object: ObjectId, tags: &[(Sym, ListId)]) {
        for (key, list) in tags {
            let before = self.object(object).map_or(ListId::NONE, |object| object.values(*key));
            if before != *list {
                self.journal.push(Undo::Tag { object, key: *key, list: before });
                self.write_tag(object, *key, *list);
            }
        }
        let Some(subject) = self.subject_of(object) else { return };
        let keys: Vec<Sym> = tags.iter().map(|(key, _)| *key).collect();
        for number in 0..self.joints.len() {
            for side in 0..2 {
                if self.sides_of(number, side) == Some(subject) {
                    self.judge_changed(number, side, object, &keys);
                }
            }
        }
    }

    /// The subject of a side of a joint.
    pub(super) fn sides_of(&self, joint: usize, side: usize) -> Option<Subject> {
        self.profile.pairs.get(joint).map(|(a, b)| if side == 0 { *a } else { *b })
    }

    pub(super) fn sign(&mut self, joint: usize, side: usize, object: ObjectId) {
        let Some(own) = self.objects.get(object.index()) else { return };
        if let Some(joint) = self.joints.get_mut(joint) {
            joint.sign(side, object, &self.lists, |key| own.values(key));
        }
    }

    /// Step: a new object.
    pub(super) fn create(&mut self, kind: Kind, id: &str, name: Option<SmolStr>) -> ObjectId {
        let object = ObjectId::new(self.objects.len());
        let mut own = Object::new(kind, SmolStr::new(id));
        own.name = name;
        self.objects.push(own);
        self.list_object(object);
        let before = self.names.give(&self.objects, object);
        self.journal.push(Undo::Created { object, before });
        self.sign_everywhere(object);
        object
    }

    fn sign_everywhere(&mut self, object: ObjectId) {
        let subject = self.subject_of(object);
        for joint in 0..self.joints.len() {
            for side in 0..2 {
                if self.sides_of(joint, side) == subject {
                    self.sign(joint, side, object);
                }
            }
        }
    }

    fn forget_object(&mut self, object: ObjectId, before: Option<ObjectId>) {
        self.names.take(&self.objects, object, before);
        let Some(own) = self.objects.pop() else { return };
        if let Some(list) = self.by_kind.get_mut(usize::from(own.kind.0)) {
            list.pop();
        }
        debug_assert_eq!(object.index(), self.objects.len(), "objects are forgotten in the order of their creation");
    }

    /// Step: changes what an object is good for; its relationships are ended before it is deleted.
    pub(super) fn stand(&mut self, object: ObjectId, standing: Standing) {
        let Some(own) = self.objects.get_mut(object.index()) else { return };
        let before = std::mem::replace(&mut own.standing, standing);
        self.journal.push(Undo::Standing { object, standing: before });
    }

    /// Step: other tag definitions.
    pub(super) fn redefine(&mut self, definitions: Vec<Definition>) {
        let before = std::mem::replace(&mut self.definitions, definitions);
        self.journal.push(Undo::Definitions(before));
    }

    /// Step: other default tags.
    pub(super) fn set_defaults(&mut self, tags: Tags) {
        let before = std::mem::replace(&mut self.defaults, tags);
        self.journal.push(Undo::Defaults(before));
    }

    /// Step: other waivers.
    pub(super) fn set_waivers(&mut self, waivers: Waivers) {
        let before = std::mem::replace(&mut self.waivers, waivers);
        self.journal.push(Undo::Waivers(Box::new(before)));
    }

    /// Step: time passes.
    pub(super) fn set_now(&mut self, now: Timestamp) {
        let before = std::mem::replace(&mut self.now, now);
        self.journal.push(Undo::Clock(before));
    }
}
