//! What becomes of an action: shape, rights, tags and policies, in this order; the first that fails decides.

mod admission;
mod creation;
mod judge;
mod rules;

use smol_str::SmolStr;
use upheld_model::Sym;

use self::judge::{Looked, NetChange};
use super::facts::{Link, ObjectId, Standing};
use super::lists::ListId;
use super::profile::{Deed, NeedsScope};
use super::records::{Cause, Entry};
use super::refusal::Refusal;
use super::rights::Wish;
use super::tagging::Untaken;
use super::{Action, Actor, Comply, Decision, Membership, Outcome, Tags, Violation, ViolationId};

/// Why an action was not even held against policies.
#[derive(Clone, Debug)]
pub(super) struct Refused {
    outcome: Outcome,
    refusal: Refusal,
}

pub(super) fn invalid(refusal: Refusal) -> Refused {
    Refused { outcome: Outcome::Invalid, refusal }
}

fn forbidden(refusal: Refusal) -> Refused {
    Refused { outcome: Outcome::Forbidden, refusal }
}

impl From<Untaken> for Refused {
    fn from(untaken: Untaken) -> Self {
        match untaken {
            Untaken::Invalid(refusal) => invalid(refusal),
            Untaken::Forbidden(refusal) => forbidden(refusal),
        }
    }
}

/// What was done, before policies had their say.
#[derive(Clone, Debug)]
pub(super) struct Done {
    /// What policies look at.
    looked: Looked,
    /// The tags of a new object.
    tags: Option<Tags>,
    /// What to write down as the cause of what violates now.
    cause: Told,
}

/// A relationship that is asked for.
struct Asked {
    link: Link,
    /// Whether it is not there yet.
    is_new: bool,
}

/// What was done, for the records.
#[derive(Clone, Debug, Default)]
pub(super) struct Told {
    action: &'static str,
    object: SmolStr,
    /// The tag that changed, with its values before and after.
    change: Option<(Sym, ListId, ListId)>,
}

/// What became of an action, in ids: names cost more than deciding.
#[derive(Clone, Debug)]
pub struct Tried {
    /// In a word.
    pub outcome: Outcome,
    /// Those that block, in names: what they are about is not there any more.
    pub blocking: Vec<Violation>,
    /// Those that are new.
    pub new: Vec<ViolationId>,
    /// Why it is invalid or forbidden.
    pub refusal: Option<Refusal>,
    /// The tags of a new object, defaults included.
    pub tags: Option<Tags>,
    /// For the records, if it was done.
    done: Option<(Told, NetChange)>,
}

impl Comply {
    /// Does what an actor wants, or refuses it whole: then nothing changes.
    pub fn act(&mut self, actor: &Actor, action: &Action) -> Decision {
        let tried = self.commit(actor, action);
        self.decision(tried)
    }

    /// As [`Self::act`], without names for what is new.
    pub fn commit(&mut self, actor: &Actor, action: &Action) -> Tried {
        let mut tried = self.try_out(actor, action);
        if let Some((told, change)) = tried.done.take() {
            self.write_records(actor, told, &change);
            if !self.journal.is_empty() {
                self.version += 1;
            }
        }
        self.settle();
        tried
    }

    /// Says what [`Self::act`] would answer; nothing changes.
    pub fn would(&mut self, actor: &Actor, action: &Action) -> Decision {
        if let Action::Link { a, b, role } = action
            && let Some(decision) = self.admit(actor, a, b, role.as_deref())
        {
            return decision;
        }
        let mark = self.mark();
        let tried = self.try_out(actor, action);
        let decision = self.decision(tried);
        self.roll_back(mark);
        self.settle();
        decision
    }

    pub(super) fn decision(&self, tried: Tried) -> Decision {
        let Tried { outcome, blocking, new, refusal, tags, .. } = tried;
        let violations = if outcome.is_done() { self.named(new) } else { blocking };
        Decision { outcome, violations, refusal, tags, version: self.version }
    }

    /// Does what an actor wants if nothing refuses it; it can still be taken back.
    pub(super) fn try_out(&mut self, actor: &Actor, action: &Action) -> Tried {
        let mark = self.mark();
        let since = self.touched.len();
        let in_force = self.in_force_before(action);
        let mut tried = Tried {
            outcome: Outcome::Allowed,
            blocking: Vec::new(),
            new: Vec::new(),
            refusal: None,
            tags: None,
            done: None,
        };
        let done = match self.attempt(actor, action) {
            Ok(done) => done,
            Err(Refused { outcome, refusal }) => {
                self.roll_back(mark);
                return Tried { outcome, refusal: Some(refusal), ..tried };
            }
        };
        let blocking = self.blocking(actor, &done.looked, since);
        if !blocking.is_empty() {
            tried.blocking = self.named(blocking);
            self.roll_back(mark);
            return Tried { outcome: Outcome::Blocked, ..tried };
        }
        let change = self.net_change(since);
        // Nothing is looked at when something ends: what violates in another scope from then on is no news.
        let (outcome, new) = match action {
            Action::Unlink { .. } | Action::Delete { .. } => (Outcome::Allowed, Vec::new()),
            _ => self.new_findings(in_force, &change),
        };
        Tried { outcome, new, tags: done.tags, done: Some((done.cause, change)), ..tried }
    }

    fn attempt(&mut self, actor: &Actor, action: &Action) -> Result<Done, Refused> {
        match action {
            Action::Create(new) => self.do_create(actor, new),
            Action::Delete { object } => self.do_delete(actor, object),
            Action::SetTags { object, tags } => self.do_set_tags(actor, object, tags),
            Action::Link { a, b, role } => self.do_link(actor, a, b, role.as_deref()),
            Action::Unlink { a, b, role } => self.do_unlink(actor, a, b, role.as_deref()),
            Action::CreatePolicy(policy) => self.do_create_policy(actor, policy),
            Action::UpdatePolicy(policy) => self.do_update_policy(actor, policy),
            Action::DeletePolicy { policy } => self.do_delete_policy(actor, policy),
            Action::Define(definition) => self.do_define(actor, definition),
            Action::Redefine(change) => self.do_redefine(actor, change),
            Action::Undefine { subject, key } => self.do_undefine(actor, subject, key),
            Action::SetDefaults { tags } => self.do_set_defaults(actor, tags),
            Action::Grant(waiver) => self.do_grant(actor, waiver),
            Action::Revoke { waiver } => self.do_revoke(actor, waiver),
            Action::Advance { to } => self.do_advance(*to),
        }
    }

    fn do_set_tags(&mut self, actor: &Actor, object: &str, tags: &Tags) -> Result<Done, Refused> {
        let object = self.resolve(object).map_err(invalid)?;
        if let Some(subject) = self.subject_of(object) {
            self.may(actor, Wish::Tag(subject), self.scope_of(object)).map_err(forbidden)?;
        }
        let changes = self.check_tags(actor, object, tags)?;
        let change = changes.first().map(|(key, after)| {
            let before = self.object(object).map(|object| object.values(*key)).unwrap_or_default();
            (*key, before, *after)
        });
        self.retag(object, &changes);
        let looked = Looked::Around { deed: Deed::Tags, object };
        Ok(Done { looked, tags: None, cause: Told { action: "tags", object: self.reference(object), change } })
    }

    fn do_link(&mut self, actor: &Actor, a: &str, b: &str, role: Option<&str>) -> Result<Done, Refused> {
        let Asked { link, is_new } = self.asked_link(actor, a, b, role)?;
        let cause = Told { action: "link", object: self.reference(link.a), change: None };
        if !is_new {
            return Ok(Done { looked: Looked::Nothing, tags: None, cause });
        }
        self.link(link);
        // Whoever is added to a scope gets the default tags.
        if self.kind_of(link.a) == self.profile.scope {
            self.add_defaults(link.b);
        }
        Ok(Done { looked: Looked::Pairs { deed: Deed::Link, made: self.made_by(&link) }, tags: None, cause })
    }

    /// A relationship that is asked for, if shape and rights allow it.
    fn asked_link(&self, actor: &Actor, a: &str, b: &str, role: Option<&str>) -> Result<Asked, Refused> {
        let (a, b) = (self.resolve(a).map_err(invalid)?, self.resolve(b).map_err(invalid)?);
        let role = role.map(|role| self.resolve(role)).transpose().map_err(invalid)?;
        self.asked_objects(actor, a, b, role)
    }

    fn asked_objects(&self, actor: &Actor, a: ObjectId, b: ObjectId, role: Option<ObjectId>) -> Result<Asked, Refused> {
        let link = self.shape_link(a, b, role).map_err(invalid)?;
        let is_new = self.links_between(a, b, Some(link.role)).is_empty();
        if is_new {
            self.takes_link(&link).map_err(invalid)?;
        }
        self.may(actor, Wish::Link, self.scope_of(a)).map_err(forbidden)?;
        Ok(Asked { link, is_new })
    }

    /// A relationship of this shape, if there can be one.
    pub(super) fn shape_link(&self, a: ObjectId, b: ObjectId, role: Option<ObjectId>) -> Result<Link, Refusal> {
        let not = || Refusal::NotRelated { a: self.reference(a), b: self.reference(b) };
        let relation = self.relation(a, b).filter(|_| a != b).ok_or_else(not)?;
        let spec = self.profile.relations.get(usize::from(relation)).ok_or_else(not)?;
        if role.is_some_and(|role| spec.role.is_none() || self.kind_of(role) != spec.role) {
            return Err(not());
        }
        Ok(Link { a, b, role: role.unwrap_or(ObjectId::NONE), relation })
    }

    /// Whether both sides take a new relationship.
    pub(super) fn takes_link(&self, link: &Link) -> Result<(), Refusal> {
        for end in link.ends() {
            if self.object(end).is_some_and(|object| object.standing == Standing::Disabled) {
                return Err(Refusal::Disabled { object: self.reference(end) });
            }
        }
        if self.owns(link) {
            let owner = self.object(link.b).and_then(|object| object.owner.some());
            if let Some(owner) = owner.filter(|owner| *owner != link.a) {
                return Err(Refusal::Owned { object: self.reference(link.b), owner: self.reference(owner) });
            }
            let inside = std::iter::successors(Some(link.a), |at| self.owner_of(*at)).take(64);
            if inside.into_iter().any(|at| at == link.b) {
                return Err(Refusal::Owned { object: self.reference(link.a), owner: self.reference(link.b) });
            }
        }
        let needs = self.profile.relations.get(usize::from(link.relation)).map(|relation| relation.needs_scope);
        if needs == Some(NeedsScope::Yes)
            && self.settings.membership == Membership::Required
            && let Some(scope) = self.scope_of(link.a)
            && self.links_between(scope, link.b, None).is_empty()
        {
            return Err(Refusal::NotInScope { object: self.reference(link.b), scope: self.reference(scope) });
        }
        Ok(())
    }

    fn do_unlink(&mut self, actor: &Actor, a: &str, b: &str, role: Option<&str>) -> Result<Done, Refused> {
        let (a, b) = (self.resolve(a).map_err(invalid)?, self.resolve(b).map_err(invalid)?);
        let role = role.map(|role| self.resolve(role)).transpose().map_err(invalid)?;
        self.shape_link(a, b, role).map_err(invalid)?;
        let places = self.links_between(a, b, role);
        if places.is_empty() {
            return Err(invalid(Refusal::NoLink { a: self.reference(a), b: self.reference(b) }));
        }
        self.may(actor, Wish::Link, self.scope_of(a)).map_err(forbidden)?;
        for place in places {
            self.unlink(place);
        }
        if self.kind_of(a) == self.profile.scope {
            self.end_within(a, b);
        }
        let cause = Told { action: "unlink", object: self.reference(a), change: None };
        Ok(Done { looked: Looked::Nothing, tags: None, cause })
    }

    /// Ends all relationships that rest on one between a scope and an object.
    fn end_within(&mut self, scope: ObjectId, object: ObjectId) {
        let near = self.object(object).map_or_else(Vec::new, |object| object.links.clone());
        for place in near.into_iter().map(|near| near.place) {
            let Some(link) = self.links.get(place as usize).copied().flatten() else { continue };
            let relation = self.profile.relations.get(usize::from(link.relation));
            let rests = relation.is_some_and(|relation| relation.needs_scope == NeedsScope::Yes);
            if rests && link.b == object && self.scope_of(link.a) == Some(scope) {
                self.unlink(place);
            }
        }
    }

    fn do_delete(&mut self, actor: &Actor, object: &str) -> Result<Done, Refused> {
        let object = self.resolve(object).map_err(invalid)?;
        let near = self.object(object).map_or_else(Vec::new, |object| object.links.clone());
        let links: Vec<(u32, Link)> = near
            .iter()
            .filter_map(|near| self.links.get(near.place as usize).copied().flatten().map(|link| (near.place, link)))
            .collect();
        let inside = links.iter().find(|(_, link)| link.a == object && self.owns(link));
        if let Some((_, link)) = inside {
            let (object, inside) = (self.reference(object), self.reference(link.b));
            return Err(invalid(Refusal::NotEmpty { object, inside }));
        }
        if let Some(subject) = self.subject_of(object) {
            self.may(actor, Wish::Delete(subject), self.scope_of(object)).map_err(forbidden)?;
        }
        let cause = Told { action: "delete", object: self.reference(object), change: None };
        // What says where it lives ends last: until then its pairs belong to that scope.
        let (owning, others): (Vec<_>, Vec<_>) = links.into_iter().partition(|(_, link)| self.owns(link));
        for (place, link) in others.into_iter().chain(owning) {
            self.unlink(place);
            // A relationship outlives what qualified it.
            if link.role == object && self.links_between(link.a, link.b, Some(ObjectId::NONE)).is_empty() {
                self.link(Link { role: ObjectId::NONE, ..link });
            }
        }
        self.stand(object, Standing::Deleted);
        Ok(Done { looked: Looked::Nothing, tags: None, cause })
    }

    /// Gives an object the default tags, if its kind gets them.
    fn add_defaults(&mut self, object: ObjectId) {
        let added = self.with_defaults(object);
        let mut tags = Vec::with_capacity(added.len());
        for (key, values) in added {
            tags.push((self.symbols.intern(&key), self.intern_values(&values)));
        }
        if !tags.is_empty() {
            self.retag(object, &tags);
        }
    }

    fn write_records(&mut self, actor: &Actor, told: Told, change: &NetChange) {
        if change.begun.is_empty() && change.ended.is_empty() {
            return;
        }
        let identities = |findings: &[ViolationId]| findings.iter().filter_map(|own| self.identity(*own)).collect();
        let (begun, ended) = (identities(&change.begun), identities(&change.ended));
        let (role, name) = match actor {
            Actor::System => (None, None),
            Actor::Person { role, name, .. } => {
                (self.profile.role_spec(*role).map(|spec| spec.name.clone()), name.clone())
            }
        };
        let Told { action, object, change } = told;
        let change = change
            .map(|(key, before, after)| (SmolStr::new(self.symbols.text(key)), self.texts(before), self.texts(after)));
        let cause = Cause { action, object, change, role, name, at: self.now };
        self.records.write(Entry { cause, begun, ended });
    }
}
