//! The steps that every change is made of. Each keeps the words true, notes what it touched, and can be taken back.

use smol_str::SmolStr;
use upheld_model::{Sym, Timestamp};

use super::facts::{Link, Made, NearPair, Object, ObjectId, Slot, Standing};
use super::joint::{Joint, NewRule, Pair};
use super::listing::slot;
use super::lists::ListId;
use super::policy::Level;
use super::profile::{Kind, Subject, Turned};
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

    pub(super) fn word(&self, slot: Slot, plane: usize) -> u64 {
        let plane = self.joints.get(usize::from(slot.joint)).and_then(|joint| joint.planes.get(plane));
        plane.and_then(|plane| plane.words.get(slot.place as usize)).copied().unwrap_or(0)
    }

    /// Writes down what a pair violates.
    fn set_word(&mut self, slot: Slot, plane: usize, word: u64) {
        let Some(joint) = self.joints.get_mut(usize::from(slot.joint)) else { return };
        let Some(own) = joint.planes.get_mut(plane) else { return };
        let Some(known) = own.words.get_mut(slot.place as usize) else { return };
        if *known == word {
            return;
        }
        let before = std::mem::replace(known, word);
        self.touched.push(Touch { slot, plane, before });
        let violates = joint.planes.iter().any(|plane| plane.words.get(slot.place as usize).is_some_and(|w| *w != 0));
        let listed = joint.listed.get(slot.place as usize).is_some_and(|place| *place != u32::MAX);
        let scope = joint.pairs.get(slot.place as usize).map_or(ObjectId::NONE, |pair| pair.scope);
        match (listed, violates) {
            (false, true) => self.enlist(slot, scope),
            (true, false) => self.delist(slot, scope),
            _ => {}
        }
    }

    fn enlist(&mut self, slot: Slot, scope: ObjectId) {
        let number = scope.list();
        if self.violating.len() <= number {
            self.violating.resize_with(number + 1, Vec::new);
        }
        let Some(list) = self.violating.get_mut(number) else { return };
        let place = u32::try_from(list.len()).unwrap_or(u32::MAX);
        list.push(slot);
        self.list_at(slot, place);
    }

    fn delist(&mut self, slot: Slot, scope: ObjectId) {
        let joint = self.joints.get(usize::from(slot.joint));
        let Some(place) = joint.and_then(|joint| joint.listed.get(slot.place as usize)).copied() else { return };
        let Some(list) = self.violating.get_mut(scope.list()) else { return };
        if (place as usize) < list.len() {
            list.swap_remove(place as usize);
        }
        let moved = list.get(place as usize).copied();
        self.list_at(slot, u32::MAX);
        if let Some(moved) = moved {
            self.list_at(moved, place);
        }
    }

    fn list_at(&mut self, slot: Slot, place: u32) {
        let joint = self.joints.get_mut(usize::from(slot.joint));
        if let Some(own) = joint.and_then(|joint| joint.listed.get_mut(slot.place as usize)) {
            *own = place;
        }
    }

    /// Holds every pair against every rule, from scratch.
    pub(super) fn sweep_all(&mut self) {
        for number in 0..self.joints.len() {
            let Some(joint) = self.joints.get(number) else { continue };
            let mut violating: Vec<(usize, usize, u64)> = Vec::new();
            for (plane, own) in joint.planes.iter().enumerate() {
                joint.sweep(own, &self.lists, |place, word| violating.push((plane, place, word)));
            }
            for (plane, place, word) in violating {
                self.set_word(slot(number, place), plane, word);
            }
        }
    }

    fn judge_pair(&mut self, slot: Slot) {
        let Some(joint) = self.joints.get(usize::from(slot.joint)) else { return };
        let Some(pair) = joint.pairs.get(slot.place as usize).copied() else { return };
        for plane in 0..joint.planes.len() {
            let Some(joint) = self.joints.get(usize::from(slot.joint)) else { return };
            let Some(own) = joint.planes.get(plane) else { return };
            let word = if pair.count == 0 { 0 } else { joint.verdict(own, pair.a, pair.b, &self.lists) };
            self.set_word(slot, plane, word);
        }
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
        for number in 0..self.joints.len() {
            for side in 0..2 {
                let looks = self.sides_of(number, side) == Some(subject)
                    && self
                        .joints
                        .get(number)
                        .and_then(|joint| joint.sides.get(side))
                        .is_some_and(|signatures| tags.iter().any(|(key, _)| signatures.looks_at(*key)));
                if looks {
                    self.sign(number, side, object);
                    self.judge_around(number, side, object);
                }
            }
        }
    }

    /// The subject of a side of a joint.
    fn sides_of(&self, joint: usize, side: usize) -> Option<Subject> {
        self.profile.pairs.get(joint).map(|(a, b)| if side == 0 { *a } else { *b })
    }

    fn sign(&mut self, joint: usize, side: usize, object: ObjectId) {
        let Some(own) = self.objects.get(object.index()) else { return };
        if let Some(joint) = self.joints.get_mut(joint) {
            joint.sign(side, object, &self.lists, |key| own.values(key));
        }
    }

    fn judge_around(&mut self, number: usize, side: usize, object: ObjectId) {
        let (Some(own), Some(joint)) = (self.objects.get(object.index()), self.joints.get(number)) else { return };
        let here = |near: &&NearPair| usize::from(near.joint) == number && usize::from(near.side) == side;
        let around: Vec<NearPair> = own.pairs.iter().filter(here).copied().collect();
        let mut changed: Vec<(usize, u32, u64)> = Vec::new();
        for (plane, own) in joint.planes.iter().enumerate() {
            joint.sweep_around(own, object, &around, &self.lists, |place, word| {
                if own.words.get(place as usize) != Some(&word) {
                    changed.push((plane, place, word));
                }
            });
        }
        let joint = u8::try_from(number).unwrap_or(u8::MAX);
        for (plane, place, word) in changed {
            self.set_word(Slot { joint, place }, plane, word);
        }
    }

    /// Step: relates two objects.
    pub(super) fn link(&mut self, link: Link) {
        let place = self.free_links.pop().unwrap_or_else(|| u32::try_from(self.links.len()).unwrap_or(u32::MAX));
        self.link_at(place, link);
    }

    fn link_at(&mut self, place: u32, link: Link) {
        while self.links.len() <= place as usize {
            self.links.push(None);
        }
        if let Some(own) = self.links.get_mut(place as usize) {
            *own = Some(link);
        }
        self.journal.push(Undo::Linked { place });
        for (end, near) in link.seen(place) {
            if let Some(object) = self.objects.get_mut(end.index()) {
                object.links.push(near);
            }
        }
        if self.owns(&link) {
            self.move_to(link.b, link.a);
        }
        for made in self.made_by(&link) {
            self.add_pair(made);
        }
    }

    /// Step: ends a relationship.
    pub(super) fn unlink(&mut self, place: u32) {
        let Some(link) = self.links.get_mut(place as usize).and_then(Option::take) else { return };
        for made in self.made_by(&link) {
            self.remove_pair(made);
        }
        for end in link.ends() {
            if let Some(object) = self.objects.get_mut(end.index()) {
                object.links.retain(|own| own.place != place);
            }
        }
        if self.owns(&link) {
            self.move_to(link.b, ObjectId::NONE);
        }
        self.freed_links.push(place);
        self.journal.push(Undo::Unlinked { place, link });
    }

    /// Changes what an object lives in. Pairs of what lives in it belong to another scope then.
    fn move_to(&mut self, object: ObjectId, owner: ObjectId) {
        let links: Vec<Link> = self.links_below(object);
        for link in &links {
            for made in self.made_by(link) {
                self.remove_pair(made);
            }
        }
        if let Some(own) = self.objects.get_mut(object.index()) {
            own.owner = owner;
        }
        for link in &links {
            for made in self.made_by(link) {
                self.add_pair(made);
            }
        }
    }

    /// The relationships of an object and of all that lives in it, but for what says where they live.
    fn links_below(&self, object: ObjectId) -> Vec<Link> {
        let mut found = Vec::new();
        let mut waiting = vec![object];
        while let Some(next) = waiting.pop() {
            let places = self.object(next).map_or(&[][..], |object| &object.links);
            for link in places.iter().filter_map(|near| self.links.get(near.place as usize)).flatten() {
                let first = link.a == next;
                if first && self.owns(link) {
                    waiting.push(link.b);
                }
                if first {
                    found.push(*link);
                }
            }
        }
        found
    }

    pub(super) fn slot_of(&self, made: Made) -> Option<Slot> {
        let joint = self.joints.get(usize::from(made.joint))?;
        let (a, b) = (self.object(made.a)?, self.object(made.b)?);
        let (fewer, other) = if a.pairs.len() <= b.pairs.len() { (a, made.b) } else { (b, made.a) };
        let fits = |near: &&NearPair| {
            let same = near.other == other && near.joint == made.joint;
            let pair = joint.pairs.get(near.place as usize).filter(|_| same);
            pair.is_some_and(|pair| (pair.a, pair.b, pair.scope) == (made.a, made.b, made.scope))
        };
        fewer.pairs.iter().find(fits).map(|near| near.slot())
    }

    fn add_pair(&mut self, made: Made) {
        let known = self.slot_of(made);
        let Some(joint) = self.joints.get_mut(usize::from(made.joint)) else { return };
        if let Some(pair) = known.and_then(|slot| joint.pairs.get_mut(slot.place as usize)) {
            pair.count += 1;
            return;
        }
        let Made { joint: number, a, b, scope } = made;
        let place = joint.place(Pair { a, b, scope, count: 1 });
        let slot = Slot { joint: number, place };
        for (end, near) in NearPair::sides(slot, a, b) {
            if let Some(object) = self.objects.get_mut(end.index()) {
                object.pairs.push(near);
            }
        }
        self.judge_pair(slot);
    }

    fn remove_pair(&mut self, made: Made) {
        let Some(slot) = self.slot_of(made) else { return };
        let joint = self.joints.get_mut(usize::from(slot.joint));
        let Some(pair) = joint.and_then(|joint| joint.pairs.get_mut(slot.place as usize)) else { return };
        pair.count = pair.count.saturating_sub(1);
        if pair.count > 0 {
            return;
        }
        self.judge_pair(slot);
        for end in [made.a, made.b] {
            if let Some(object) = self.objects.get_mut(end.index()) {
                object.pairs.retain(|own| own.slot() != slot);
            }
        }
        self.freed.push(slot);
    }

    /// Step: a new object.
    pub(super) fn create(&mut self, kind: Kind, id: &str, name: Option<SmolStr>) -> ObjectId {
        let id = self.symbols.intern(id);
        let object = ObjectId::new(self.objects.len());
        let mut own = Object::new(kind, id);
        own.name = name;
        self.objects.push(own);
        self.list_object(object);
        let before = self.names.insert((kind, id), object);
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
        let Some(own) = self.objects.pop() else { return };
        if let Some(list) = self.by_kind.get_mut(usize::from(own.kind.0)) {
            list.pop();
        }
        debug_assert_eq!(object.index(), self.objects.len(), "objects are forgotten in the order of their creation");
        match before {
            Some(before) => self.names.insert((own.kind, own.id), before),
            None => self.names.remove(&(own.kind, own.id)),
        };
    }

    /// Step: changes what an object is good for; its relationships are ended before it is deleted.
    pub(super) fn stand(&mut self, object: ObjectId, standing: Standing) {
        let Some(own) = self.objects.get_mut(object.index()) else { return };
        let before = std::mem::replace(&mut own.standing, standing);
        self.journal.push(Undo::Standing { object, standing: before });
    }

    /// Step: adds, replaces or removes a policy.
    pub(super) fn put_policy(&mut self, name: SmolStr, policy: Option<Box<Policy>>, place: Option<usize>) {
        let place = place.or_else(|| self.policy_places.get(&name).copied()).unwrap_or(self.policies.len());
        while self.policies.len() <= place {
            self.policies.push(None);
        }
        let Some(own) = self.policies.get_mut(place) else { return };
        let before = std::mem::replace(own, policy.map(|policy| *policy));
        match own {
            Some(_) => drop(self.policy_places.insert(name.clone(), place)),
            None => drop(self.policy_places.remove(&name)),
        }
        self.journal.push(Undo::Policy { name, policy: before.map(Box::new), place });
        let known = self.places_of(place);
        let kept = self.compile(place, &known);
        for number in 0..self.joints.len() {
            self.sign_again(number);
        }
        for gone in known.iter().filter(|known| !kept.contains(known)) {
            self.retire(*gone);
        }
        for place in kept {
            self.judge_rule(place);
        }
    }

    /// Where the rules of a policy stand.
    fn places_of(&self, policy: usize) -> Vec<RulePlace> {
        let joints = self.joints.iter().enumerate();
        let places = joints.flat_map(|(joint, own)| {
            let rules = own.rules().filter(|(_, _, rule)| rule.policy == policy && rule.is_in_force());
            rules.map(move |(plane, bit, _)| RulePlace { joint, plane, bit })
        });
        places.collect()
    }

    /// Takes a rule out; nothing violates it any more. It keeps its place until the change stands, so that what was violated
    /// before can still be told.
    fn retire(&mut self, RulePlace { joint, plane, bit }: RulePlace) {
        let Some(own) = self.joints.get(joint).and_then(|joint| joint.planes.get(plane)) else { return };
        let violating = own.words.iter().enumerate().filter(|(_, word)| **word >> bit & 1 == 1);
        let cleared: Vec<(Slot, u64)> =
            violating.map(|(place, word)| (slot(joint, place), word & !(1 << bit))).collect();
        for (slot, word) in cleared {
            self.set_word(slot, plane, word);
        }
        if let Some(own) = self.joints.get_mut(joint).and_then(|joint| joint.planes.get_mut(plane)) {
            own.retire(bit);
            self.retired = Retired::Some;
        }
    }

    /// Puts the rules of a policy in their places, those that they have if they have any, and says which these are; pairs
    /// are not held against them yet, and sides that look at a new tag are stale.
    pub(super) fn compile(&mut self, place: usize, known: &[RulePlace]) -> Vec<RulePlace> {
        let Some(policy) = self.policies.get(place).and_then(Option::as_ref) else { return Vec::new() };
        let Some((pair, turned)) = self.profile.pair(policy.a, policy.b).filter(|_| policy.level != Level::Off) else {
            return Vec::new();
        };
        let (strategy, rules) = (policy.strategy, policy.rules.clone());
        let joint = usize::from(pair.0);
        let mut places = Vec::with_capacity(rules.len());
        for (rule, tags) in rules.iter().enumerate() {
            let keys = [self.symbols.intern(&tags.a), self.symbols.intern(&tags.b)];
            let [first, second] = keys;
            let keys = if turned == Turned::Yes { [second, first] } else { keys };
            let new = NewRule { policy: place, rule, turned, strategy, keys };
            let Some(own) = self.joints.get_mut(joint) else { continue };
            let same = |known: &&RulePlace| {
                known.joint == joint && own.rule(known.plane, known.bit).is_some_and(|known| known.rule == rule)
            };
            let old = known.iter().find(same).map(|known| (known.plane, known.bit));
            let (plane, bit) = own.add(new, old, &self.lists);
            places.push(RulePlace { joint, plane, bit });
        }
        places
    }

    /// Signs all objects of the sides that look at a new tag.
    pub(super) fn sign_again(&mut self, number: usize) {
        for side in 0..2 {
            let stale = self.joints.get(number).and_then(|joint| joint.sides.get(side));
            if stale.is_none_or(|signatures| !signatures.is_stale()) {
                continue;
            }
            let Some(subject) = self.sides_of(number, side) else { continue };
            let Some(joint) = self.joints.get_mut(number) else { continue };
            joint.forget(side);
            let kinds = &self.profile.kinds;
            for (place, object) in self.objects.iter().enumerate() {
                if kinds.get(usize::from(object.kind.0)).is_some_and(|kind| kind.subject == subject) {
                    joint.sign(side, ObjectId::new(place), &self.lists, |key| object.values(key));
                }
            }
        }
    }

    /// Holds every pair against a rule.
    fn judge_rule(&mut self, RulePlace { joint, plane, bit }: RulePlace) {
        let Some(own) = self.joints.get(joint) else { return };
        let Some(rules) = own.planes.get(plane) else { return };
        let mut changed: Vec<(Slot, u64)> = Vec::new();
        own.sweep_rule(rules, bit, &self.lists, |place, violated| {
            let before = rules.words.get(place).copied().unwrap_or(0);
            if (before >> bit & 1 == 1) != violated {
                changed.push((slot(joint, place), before ^ 1 << bit));
            }
        });
        for (slot, word) in changed {
            self.set_word(slot, plane, word);
        }
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
