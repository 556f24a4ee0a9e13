//! The steps that every change is made of. Each keeps the words true, notes what it touched, and can be taken back.

mod links;
mod policies;
mod words;

use std::sync::Arc;

use rustc_hash::FxHashSet;
use smol_str::SmolStr;
use upheld_model::{Sym, ValuesId};

use super::facts::{Described, Link, LinkId, Neighbours, Object, ObjectId, ObjectState, Slot};
use super::finding::FindingId;
use super::listing::ones;
use super::pairs::{Changed, PairTable};
use super::profile::{Kind, PairKind, Subject};
use super::selection::Columns;
use super::value_lists::NO_VALUES;
use super::waivers::Waivers;
use super::{Comply, Policy, Waiver};

/// How to take a step back.
#[derive(Clone, Debug)]
pub(super) enum Undo {
    Tag { object: ObjectId, key: Sym, values: ValuesId },
    Linked(LinkId),
    Unlinked(LinkId, Link),
    Created { object: ObjectId, before: Option<ObjectId> },
    Described { object: ObjectId, before: Box<Described> },
    Policy { name: SmolStr, before: Option<Arc<Policy>> },
    Waivers(Arc<Waivers>),
}

/// What a pair violated before it was touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Touch {
    pub(super) slot: Slot,
    pub(super) word: usize,
    pub(super) before: u64,
}

/// Whether a rule was taken out since the last change that stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Retired {
    #[default]
    None,
    Some,
}

/// Where to go back to. It means something until everything is settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    steps: usize,
    touched: usize,
}

/// What a change began and ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NetChange {
    /// What violates now and did not before.
    pub begun: Vec<FindingId>,
    /// What violated before and does not now.
    pub ended: Vec<FindingId>,
}

impl NetChange {
    /// Whether nothing began and nothing ended.
    pub fn is_empty(&self) -> bool {
        self.begun.is_empty() && self.ended.is_empty()
    }
}

impl Comply {
    /// The place to come back to.
    pub fn mark(&self) -> Mark {
        Mark { steps: self.journal.len(), touched: self.touched.len() }
    }

    /// Whether any step was taken since everything was settled.
    pub fn has_steps(&self) -> bool {
        !self.journal.is_empty()
    }

    /// Whether something is kept for taking steps back, those that were taken back already included.
    pub fn is_unsettled(&self) -> bool {
        self.has_steps() || !self.touched.is_empty() || !self.freed.is_empty() || !self.freed_links.is_empty()
    }

    /// Takes back every step since the mark.
    pub fn roll_back(&mut self, mark: Mark) {
        while self.journal.len() > mark.steps {
            let Some(step) = self.journal.pop() else { break };
            let length = self.journal.len();
            self.take_back(step);
            // Taking back is not a step of its own.
            self.journal.truncate(length);
        }
    }

    fn take_back(&mut self, step: Undo) {
        match step {
            Undo::Tag { object, key, values } => self.retag(object, &[(key, values)]),
            Undo::Linked(link) => self.unlink(link),
            Undo::Unlinked(place, link) => {
                self.freed_links.retain(|freed| *freed != place);
                self.link_at(place, link);
            }
            Undo::Created { object, before } => self.forget_object(object, before),
            Undo::Described { object, before } => self.describe(object, *before),
            Undo::Policy { name, before } => self.put_policy(&name, before),
            Undo::Waivers(waivers) => self.waivers = waivers,
        }
    }

    /// Forgets how to go back: what was done stands.
    pub fn settle(&mut self) {
        self.journal.clear();
        self.touched.clear();
        self.free_links.extend(self.freed_links.drain(..));
        if std::mem::take(&mut self.retired) == Retired::Some {
            self.tables.iter_mut().for_each(PairTable::drop_retired);
        }
        for slot in self.freed.drain(..) {
            if let Some(table) = self.tables.get_mut(usize::from(slot.table.0)) {
                table.free.push(slot.place);
            }
        }
    }

    /// What began to violate since the mark, and what ended.
    pub fn changed_since(&self, mark: Mark) -> NetChange {
        let mut change = NetChange::default();
        for Touch { slot, word, before } in self.touched_since(mark) {
            let now = self.word(slot, word);
            change.begun.extend(self.ids(slot, word, now & !before));
            change.ended.extend(self.ids(slot, word, before & !now));
        }
        // Where a pair or a rule moved to another place, it is the same all the same.
        if self.retired == Retired::Some || !self.freed.is_empty() {
            let before: FxHashSet<FindingId> = change.ended.iter().copied().collect();
            let now: FxHashSet<FindingId> = change.begun.iter().copied().collect();
            change.begun.retain(|own| !before.contains(own));
            change.ended.retain(|own| !now.contains(own));
        }
        change
    }

    /// What every pair that was touched since then violated before, each pair once, in order.
    fn touched_since(&self, mark: Mark) -> Vec<Touch> {
        let mut touched = self.touched.get(mark.touched..).unwrap_or(&[]).to_vec();
        let key = |touch: &Touch| (touch.slot, touch.word);
        // Most changes touch pairs in their order, each once. The first touch of a pair knows what was before all of them; the
        // sort keeps their order.
        if !touched.is_sorted_by(|one, other| key(one) < key(other)) {
            touched.sort_by_key(key);
            touched.dedup_by_key(|touch| key(touch));
        }
        touched.retain(|touch| self.word(touch.slot, touch.word) != touch.before);
        touched
    }

    /// Who violates the rules of a word.
    fn ids(&self, slot: Slot, word: usize, rules: u64) -> impl Iterator<Item = FindingId> {
        let (table, pair) = (self.table(slot.table), self.pair_at(slot));
        ones(rules).filter_map(move |bit| Some(FindingId { pair: pair?, entry: table?.rule(word, bit)?.entry }))
    }

    /// The symbol of a key of tags or of a name, made if it is new.
    pub fn key(&mut self, key: &str) -> Sym {
        self.symbols.get(key).unwrap_or_else(|| Arc::make_mut(&mut self.symbols).intern(key))
    }

    /// The list of these values, made if it is new. Duplicates count once.
    pub fn values(&mut self, values: &[SmolStr]) -> ValuesId {
        let mut symbols: Vec<Sym> = Vec::with_capacity(values.len());
        for value in values {
            let symbol = self.key(value);
            if !symbols.contains(&symbol) {
                symbols.push(symbol);
            }
        }
        self.lists.known(&symbols).unwrap_or_else(|| Arc::make_mut(&mut self.lists).intern(&symbols))
    }

    pub(super) fn write_tag(&mut self, object: ObjectId, key: Sym, values: ValuesId) {
        let Some(object) = self.objects.get_mut(object.index()) else { return };
        let tags = Arc::make_mut(&mut object.tags);
        match tags.iter_mut().find(|(known, _)| *known == key) {
            Some((_, own)) => *own = values,
            None => tags.push((key, values)),
        }
    }

    /// Step: changes tags of an object.
    pub fn retag(&mut self, object: ObjectId, tags: &[(Sym, ValuesId)]) {
        for (key, values) in tags {
            let before = self.get(object).map_or(NO_VALUES, |object| object.values(*key));
            if before != *values {
                self.journal.push(Undo::Tag { object, key: *key, values: before });
                self.write_tag(object, *key, *values);
            }
        }
        let keys: Vec<Sym> = tags.iter().map(|(key, _)| *key).collect();
        self.judge_changed(object, Changed::Tags(&keys));
    }

    /// All pairs of subjects.
    pub(super) fn pair_kinds(&self) -> impl Iterator<Item = PairKind> + use<> {
        (0..self.tables.len()).filter_map(|place| u8::try_from(place).ok()).map(PairKind)
    }

    /// The subject of a side of a pair.
    pub(super) fn side_of(&self, kind: PairKind, side: usize) -> Option<Subject> {
        self.profile.pairs.get(usize::from(kind.0)).map(|(a, b)| if side == 0 { *a } else { *b })
    }

    /// Step: a new object.
    pub fn create(&mut self, kind: Kind, id: &str, described: Described) -> ObjectId {
        let object = ObjectId::new(self.objects.len());
        let before = self.add_object(Object { described, ..Object::new(kind, SmolStr::new(id)) });
        self.journal.push(Undo::Created { object, before });
        self.sign_everywhere(object);
        self.alone(object).into_iter().for_each(|pair| self.add_pair(pair));
        object
    }

    /// Adds an object; returns who had its name before.
    pub(super) fn add_object(&mut self, object: Object) -> Option<ObjectId> {
        let id = ObjectId::new(self.objects.len());
        self.objects.push(object);
        self.near.push(Neighbours::default());
        self.list_object(id);
        Arc::make_mut(&mut self.names).give(&self.objects, &self.profile, id)
    }

    fn sign_everywhere(&mut self, object: ObjectId) {
        let subject = self.subject_of(object);
        for kind in self.pair_kinds() {
            for side in 0..2 {
                if self.side_of(kind, side) == subject
                    && let Some(table) = self.tables.get_mut(usize::from(kind.0))
                {
                    let described = Columns { objects: &self.objects, profile: &self.profile, lists: &self.lists };
                    table.sign(side, object, described);
                }
            }
        }
    }

    fn forget_object(&mut self, object: ObjectId, before: Option<ObjectId>) {
        self.alone(object).into_iter().for_each(|pair| self.remove_pair(pair));
        Arc::make_mut(&mut self.names).take(&self.objects, &self.profile, object, before);
        let Some(own) = self.objects.pop() else { return };
        self.near.pop();
        if let Some(list) = self.by_kind.get_mut(usize::from(own.kind.0)) {
            list.pop();
        }
        debug_assert_eq!(object.index(), self.objects.len(), "objects are forgotten in the order of their creation");
    }

    /// Step: says something else about an object. Whoever is to be gone has no relationships any more.
    pub fn describe(&mut self, object: ObjectId, described: Described) {
        let Some(before) = self.described(object).cloned() else { return };
        let part = |own: &Described| (own.standing == ObjectState::Deleted, own.partner);
        if part(&before) == part(&described) {
            if let Some(own) = self.objects.get_mut(object.index()) {
                own.described = described;
            }
        } else {
            self.resettle(object, |own| own.described = described);
        }
        self.journal.push(Undo::Described { object, before: Box::new(before) });
    }

    /// Step: an object is gone, with all its relationships. Those that it qualified outlive it.
    pub fn delete(&mut self, object: ObjectId) {
        let links: Vec<(LinkId, Link)> = self.links_of(object).map(|(id, link)| (id, *link)).collect();
        // What says where it lives ends last: until then its pairs belong to that scope.
        let (owning, others): (Vec<_>, Vec<_>) = links.into_iter().partition(|(_, link)| self.owns(link));
        for (id, link) in others.into_iter().chain(owning) {
            self.unlink(id);
            let qualified = link.role == Some(object);
            if qualified && !self.links_between(link.a, link.b).any(|(_, own)| own.role.is_none()) {
                self.relate(Link { role: None, ..link });
            }
        }
        if let Some(described) = self.described(object).cloned() {
            self.describe(object, Described { standing: ObjectState::Deleted, ..described });
        }
    }

    /// Step: one more waiver; `false` if there is one of that name.
    pub fn grant(&mut self, waiver: Waiver) -> bool {
        let name = self.key(&waiver.id);
        let mut waivers = Waivers::clone(&self.waivers);
        let is_new = waivers.add(waiver, name);
        if is_new {
            self.put_waivers(waivers);
        }
        is_new
    }

    /// Step: one waiver less; `false` if there is none of that name.
    pub fn revoke(&mut self, waiver: &str) -> bool {
        let Some(rest) = self.waivers.without(waiver) else { return false };
        self.put_waivers(rest);
        true
    }

    /// Step: these waivers and no others.
    pub(super) fn put_waivers(&mut self, waivers: Waivers) {
        let before = std::mem::replace(&mut self.waivers, Arc::new(waivers));
        self.journal.push(Undo::Waivers(before));
    }
}
