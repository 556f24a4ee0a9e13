//! Creating objects, with what they are related to from the beginning.

use smol_str::SmolStr;
use upheld_model::{Sym, ValuesId};

use super::super::facts::{Described, Link, ObjectId, Pair};
use super::super::policy::Level;
use super::super::profile::{Holds, Kind, Trigger};
use super::super::refusal::Refusal;
use super::super::rights::Operation;
use super::super::schema::Restricted;
use super::super::{Actor, Comply, NewObject, Tags};
use super::judge::Looked;
use super::{Done, Refused, Told, forbidden, invalid};

impl Comply {
    pub(super) fn do_create(&mut self, actor: &Actor, new: &NewObject) -> Result<Done, Refused> {
        let (kind, id) = self.new_reference(&new.object).map_err(invalid)?;
        if self.object(kind, id).is_some() {
            return Err(invalid(Refusal::ObjectExists { object: new.object.clone() }));
        }
        let paid_by = new.paid_by.as_deref().map(|payer| self.lookup(payer)).transpose().map_err(invalid)?;
        let (name, partner) = (new.name.clone(), new.partner);
        let object = self.create(kind, id, Described { name, partner, paid_by, ..Described::default() });
        let mut links = self.new_links(object, new).map_err(invalid)?;
        let owner = links.iter().find(|link| self.owns(link) && link.b == object).map(|link| link.a);
        if owner.is_none() && self.must_live_somewhere(kind) {
            return Err(invalid(Refusal::NoOwner { object: new.object.clone() }));
        }
        // Where it lives is known first, then who belongs there: the others rest on that.
        links.sort_by_key(|link| (!self.owns(link), self.kind_of(link.a) != self.profile.scope));
        for link in &links {
            self.takes_link(link).map_err(invalid)?;
            self.relate(*link);
        }
        if let Some(subject) = self.subject_of(object) {
            let scope = owner.and_then(|owner| self.scope_of(owner));
            self.may(actor, Operation::Create(subject), scope).map_err(forbidden)?;
        }
        let changes = self.tags_at_creation(actor, object, &new.tags)?;
        self.retag(object, &changes);
        let mut pairs = Vec::new();
        for link in &links {
            if self.kind_of(object) == self.profile.scope {
                self.add_defaults(link.b);
            }
            pairs.extend(self.made_by(link));
        }
        self.fill_open_defaults(object, new);
        self.add_defaults(object);
        self.check_mandatory(actor, object).map_err(invalid)?;
        let cause = Told { action: "create", object: self.reference(object), change: None };
        let tags = Some(self.tags_of(object));
        Ok(Done { looked: Looked::Pairs { trigger: Trigger::Link, pairs: unique(pairs) }, tags, cause })
    }

    /// The kind and id of a reference to something new.
    fn new_reference<'r>(&self, reference: &'r str) -> Result<(Kind, &'r str), Refusal> {
        let (word, id) = reference.split_once('/').unwrap_or((reference, ""));
        match self.profile.kind(word) {
            Some(kind) if !id.is_empty() => Ok((kind, id)),
            Some(_) => Err(Refusal::UnknownObject { written: SmolStr::new(reference), nearest: None }),
            None => self.lookup(reference).map(|_| (Kind(0), id)),
        }
    }

    /// The relationships of a new object, whichever side it is on.
    fn new_links(&self, object: ObjectId, new: &NewObject) -> Result<Vec<Link>, Refusal> {
        let mut links: Vec<Link> = Vec::with_capacity(new.links.len());
        for link in &new.links {
            let other = self.lookup(&link.other)?;
            let role = link.role.as_deref().map(|role| self.lookup(role)).transpose()?;
            let shaped = self.shape_link(object, other, role).or_else(|_| self.shape_link(other, object, role));
            let shaped = shaped.map_err(|_| Refusal::NotRelated { a: new.object.clone(), b: link.other.clone() })?;
            if !links.contains(&shaped) {
                links.push(shaped);
            }
        }
        Ok(links)
    }

    fn must_live_somewhere(&self, kind: Kind) -> bool {
        let subject = self.profile.subject_of(kind);
        let mut relations = self.profile.relations.iter();
        relations
            .any(|relation| relation.holds == Holds::Owned && Some(relation.b) == subject && relation.a != relation.b)
    }

    /// The tags that were asked for, and the defaults that end-users have no say in.
    fn tags_at_creation(
        &mut self,
        actor: &Actor,
        object: ObjectId,
        tags: &Tags,
    ) -> Result<Vec<(Sym, ValuesId)>, Refused> {
        let subject = self.subject_of(object);
        let restricted = |definition: &&super::super::Definition| {
            Some(definition.subject) == subject
                && definition.restricted == Restricted::Yes
                && !definition.default.is_empty()
        };
        let given: Vec<(SmolStr, Vec<SmolStr>)> =
            self.definitions.iter().filter(restricted).map(|own| (own.key.clone(), own.filled_in())).collect();
        // Asking for the very default is asking for nothing.
        let canonical = |key: &SmolStr, values: &[SmolStr]| -> Vec<SmolStr> {
            let definition = subject.and_then(|subject| self.definition(subject, key));
            values.iter().map(|value| definition.map_or_else(|| value.clone(), |own| own.canonical(value))).collect()
        };
        let is_given =
            |(key, values): &&(SmolStr, Vec<SmolStr>)| given.contains(&(key.clone(), canonical(key, values)));
        let asked: Tags = tags.iter().filter(|tag| !is_given(tag)).cloned().collect();
        let mut changes = self.check_tags(actor, object, &asked)?;
        for (key, values) in given {
            let (key, list) = (self.key(&key), self.values(&values));
            if !changes.iter().any(|(known, _)| *known == key) {
                changes.push((key, list));
            }
        }
        Ok(changes)
    }

    /// Defaults of tags that everybody may set, each left out if it would break a policy.
    fn fill_open_defaults(&mut self, object: ObjectId, new: &NewObject) {
        let subject = self.subject_of(object);
        let asked = |key: &str| new.tags.iter().any(|(known, values)| known == key && !values.is_empty());
        let open = |definition: &&super::super::Definition| {
            Some(definition.subject) == subject
                && definition.restricted == Restricted::No
                && !definition.default.is_empty()
                && !asked(&definition.key)
        };
        let defaults: Tags =
            self.definitions.iter().filter(open).map(|own| (own.key.clone(), own.filled_in())).collect();
        for (key, values) in defaults {
            let (symbol, list) = (self.key(&key), self.values(&values));
            let before = self.values_of(object, &key);
            self.retag(object, &[(symbol, list)]);
            if self.breaks_by(object, &key) {
                self.retag(object, &[(symbol, before)]);
            }
        }
    }

    /// Whether an object violates an enforced rule about one of its tags, covered by a waiver or not.
    fn breaks_by(&self, object: ObjectId, key: &str) -> bool {
        self.violating_pairs(object).into_iter().any(|pair| {
            self.rules_violated(pair).into_iter().any(|entry| {
                let Some((policy, rule)) = self.rule_of(entry) else { return false };
                let Some((_, swapped)) = self.profile.pair(policy.a, policy.b) else { return false };
                let sides = swapped.turn([pair.a, pair.b]).into_iter().zip([&rule.a, &rule.b]);
                let own = sides.filter(|(side, _)| *side == object).any(|(_, tag)| tag == key);
                own && self.level_of(entry, self.now) == Level::Enforce
            })
        })
    }
}

fn unique(mut pairs: Vec<Pair>) -> Vec<Pair> {
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}
