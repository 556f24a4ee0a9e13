//! Creating objects, with what they are related to from the beginning.

use smol_str::SmolStr;
use upheld_engine::comply::{
    Described, Holds, Kind, Level, Link, NotFound, ObjectId, Pair, Relation, Swapped, Tags, Trigger,
};
use upheld_model::{Sym, Timestamp, ValuesId};

use super::judge::Looked;
use super::{ActionSummary, Done, Refused, forbidden, invalid};
use crate::action::Filling;
use crate::definition::{Definition, Restricted};
use crate::rights::Operation;
use crate::{Actor, NewObject, Organisation, Refusal};

impl Organisation {
    pub(super) fn do_create(&mut self, now: Timestamp, actor: &Actor, new: &NewObject) -> Result<Done, Refused> {
        let (kind, id) = self.new_reference(&new.object).map_err(invalid)?;
        if self.comply.object(kind, id).is_some() {
            return Err(invalid(Refusal::ObjectExists { object: new.object.clone() }));
        }
        let paid_by = new.paid_by.as_deref().map(|payer| self.comply.lookup(payer)).transpose().map_err(invalid)?;
        let (name, partner) = (new.name.clone(), new.partner);
        let object = self.steps().create(kind, id, Described { name, partner, paid_by, ..Described::default() });
        if new.filling == Filling::Mentioned {
            return Ok(Done::nothing_looked_at("create", &new.object));
        }
        let mut links = self.new_links(object, new).map_err(invalid)?;
        let owner = links.iter().find(|link| self.comply.owns(link) && link.b == object).map(|link| link.a);
        if owner.is_none() && self.must_live_somewhere(kind) {
            return Err(invalid(Refusal::NoOwner { object: new.object.clone() }));
        }
        let scope = self.profile().scope;
        // Where it lives is known first, then who belongs there: the others rest on that.
        links.sort_by_key(|link| (!self.comply.owns(link), self.comply.kind_of(link.a) != scope));
        for link in &links {
            self.takes_link(link).map_err(invalid)?;
            self.steps().relate(*link);
        }
        if let Some(subject) = self.comply.subject_of(object) {
            let scope = owner.and_then(|owner| self.comply.scope_of(owner));
            self.may(actor, Operation::Create(subject), || scope).map_err(forbidden)?;
        }
        let changes = self.tags_at_creation(actor, object, new)?;
        self.steps().retag(object, &changes);
        if Some(kind) == scope {
            for link in &links {
                self.add_defaults(link.b);
            }
        }
        if new.filling == Filling::Defaults {
            self.fill_open_defaults(now, object, new);
        }
        self.write_defaults(object, &self.comply.tags_of(object));
        self.add_defaults(object);
        self.check_mandatory(actor, object).map_err(invalid)?;
        let made = links.iter().flat_map(|link| self.comply.made_by(link));
        let pairs = unique(made.chain(self.comply.alone(object)).collect());
        let summary = ActionSummary { action: "create", object: self.comply.reference(object), change: None };
        let tags = Some(self.comply.tags_of(object));
        Ok(Done { looked: Looked::Pairs { trigger: Trigger::Link, pairs }, tags, summary })
    }

    /// The kind and id of a reference to something new.
    fn new_reference<'r>(&self, reference: &'r str) -> Result<(Kind, &'r str), Refusal> {
        let (word, id) = reference.split_once('/').unwrap_or((reference, ""));
        match self.profile().kind(word) {
            Some(kind) if !id.is_empty() => Ok((kind, id)),
            Some(_) => Err(NotFound::Object { written: SmolStr::new(reference), nearest: None }.into()),
            None => Ok(self.comply.lookup(reference).map(|_| (Kind(0), id))?),
        }
    }

    /// The relationships of a new object, whichever side it is on.
    fn new_links(&self, object: ObjectId, new: &NewObject) -> Result<Vec<Link>, Refusal> {
        let mut links: Vec<Link> = Vec::with_capacity(new.links.len());
        for link in &new.links {
            let other = self.comply.lookup(&link.other)?;
            let role = link.role.as_deref().map(|role| self.comply.lookup(role)).transpose()?;
            let shaped = self.shape_link(object, other, role).or_else(|_| self.shape_link(other, object, role));
            let shaped = shaped.map_err(|_| Refusal::NotRelated { a: new.object.clone(), b: link.other.clone() })?;
            if !links.contains(&shaped) {
                links.push(shaped);
            }
        }
        Ok(links)
    }

    /// Whether an object cannot be judged without what it lives in. Where no policy can be about the two together, it may live nowhere.
    fn must_live_somewhere(&self, kind: Kind) -> bool {
        let subject = self.profile().subject_of(kind);
        let judged = |relation: &Relation| {
            relation.holds == Holds::Owned && !relation.gives.is_empty() && relation.a != relation.b
        };
        self.profile().relations.iter().any(|relation| Some(relation.b) == subject && judged(relation))
    }

    /// The tags that were asked for, and the defaults that end-users have no say in.
    fn tags_at_creation(
        &mut self,
        actor: &Actor,
        object: ObjectId,
        new: &NewObject,
    ) -> Result<Vec<(Sym, ValuesId)>, Refused> {
        let given = self.filled_in(object, Restricted::Yes);
        // Asking for the very default is asking for nothing.
        let subject = self.comply.subject_of(object);
        let canonical = |key: &SmolStr, values: &[SmolStr]| self.schema.canonical(subject, key, values);
        let is_given =
            |(key, values): &&(SmolStr, Vec<SmolStr>)| given.contains(&(key.clone(), canonical(key, values)));
        let (written, asked): (Tags, Tags) = new.tags.iter().cloned().partition(|tag| is_given(&tag));
        let mut changes = self.check_tags(actor, object, &asked)?;
        let given = if new.filling == Filling::Defaults { given } else { written };
        for (key, values) in given {
            let steps = self.steps();
            let (key, list) = (steps.key(&key), steps.values(&values));
            if !changes.iter().any(|(known, _)| *known == key) {
                changes.push((key, list));
            }
        }
        Ok(changes)
    }

    /// What definitions of tags fill in for an object.
    fn filled_in(&self, object: ObjectId, restricted: Restricted) -> Tags {
        let subject = self.comply.subject_of(object);
        let fills =
            |own: &&Definition| Some(own.subject) == subject && own.restricted == restricted && !own.default.is_empty();
        self.schema.definitions.iter().filter(fills).map(|own| (own.key.clone(), own.filled_in())).collect()
    }

    /// Defaults of tags that everybody may set, each left out if it would break a policy.
    fn fill_open_defaults(&mut self, now: Timestamp, object: ObjectId, new: &NewObject) {
        let asked = |key: &str| new.tags.iter().any(|(known, values)| known == key && !values.is_empty());
        for (key, values) in self.filled_in(object, Restricted::No) {
            if asked(&key) {
                continue;
            }
            let before = self.comply.values_of(object, &key);
            let steps = self.steps();
            let (symbol, list) = (steps.key(&key), steps.values(&values));
            steps.retag(object, &[(symbol, list)]);
            if self.breaks_by(now, object, &key) {
                self.steps().retag(object, &[(symbol, before)]);
            }
        }
    }

    /// Whether an object violates an enforced rule about one of its tags, covered by a waiver or not.
    fn breaks_by(&self, now: Timestamp, object: ObjectId, key: &str) -> bool {
        let comply = &self.comply;
        comply.violating_pairs(object).into_iter().any(|pair| {
            comply.rules_violated(pair).into_iter().any(|entry| {
                let Some((policy, rule)) = comply.rule_of(entry) else { return false };
                let swapped = self.profile().pair(policy.a, policy.b).map_or(Swapped::No, |(_, swapped)| swapped);
                let mut sides = swapped.turn([pair.a, pair.b]).into_iter().zip([&rule.a, &rule.b]);
                sides.any(|(side, tag)| side == object && tag == key) && comply.level_of(entry, now) == Level::Enforce
            })
        })
    }
}

fn unique(mut pairs: Vec<Pair>) -> Vec<Pair> {
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}
