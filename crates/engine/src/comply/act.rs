//! What becomes of an action: shape, rights, tags and policies, in this order; the first that fails decides.

mod admission;
mod creation;
mod judge;
mod rules;

use smol_str::SmolStr;
use upheld_model::{State, Sym, ValuesId};

use self::judge::Looked;
use super::facts::{Link, LinkId, ObjectId, Standing};
use super::finding::{Finding, FindingId};
use super::lists::NO_VALUES;
use super::profile::{NeedsScope, Trigger};
use super::records::{Cause, Entry};
use super::refusal::Refusal;
use super::rights::Operation;
use super::steps::NetChange;
use super::tagging::Untaken;
use super::{Action, Actor, Comply, Decision, Membership, Outcome, Tags};

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
    change: Option<(Sym, ValuesId, ValuesId)>,
}

/// What became of an action, in ids: names cost more than deciding.
#[derive(Clone, Debug)]
pub struct Tried {
    /// In a word.
    pub outcome: Outcome,
    /// Those that block, in names: what they are about is not there any more.
    pub blocking: Vec<Finding>,
    /// Those that are new.
    pub new: Vec<FindingId>,
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
            self.write_records(actor, told, change);
            if self.has_steps() {
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
        let violations = if outcome.is_done() { self.accepted(new) } else { blocking };
        Decision { outcome, violations, refusal, tags, version: self.version }
    }

    /// What was accepted, in names and in order.
    fn accepted(&self, new: Vec<FindingId>) -> Vec<Finding> {
        let mut named: Vec<Finding> = new.into_iter().filter_map(|id| self.name(id, State::Soft, self.now)).collect();
        named.sort();
        named
    }

    /// Does what an actor wants if nothing refuses it; it can still be taken back.
    pub(super) fn try_out(&mut self, actor: &Actor, action: &Action) -> Tried {
        let mark = self.mark();
        let in_force = self.in_force_before(action);
        let tried = Tried {
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
        let change = self.changed_since(mark);
        let blocking = self.blocking(actor, &done.looked, &change);
        if !blocking.is_empty() {
            self.roll_back(mark);
            return Tried { outcome: Outcome::Blocked, blocking, ..tried };
        }
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
        let object = self.lookup(object).map_err(invalid)?;
        if let Some(subject) = self.subject_of(object) {
            self.may(actor, Operation::Tag(subject), self.scope_of(object)).map_err(forbidden)?;
        }
        let changes = self.check_tags(actor, object, tags)?;
        let change = changes.first().map(|(key, after)| {
            let before = self.get(object).map_or(NO_VALUES, |object| object.values(*key));
            (*key, before, *after)
        });
        self.retag(object, &changes);
        let looked = Looked::Around { trigger: Trigger::Tags, object };
        Ok(Done { looked, tags: None, cause: Told { action: "tags", object: self.reference(object), change } })
    }

    fn do_link(&mut self, actor: &Actor, a: &str, b: &str, role: Option<&str>) -> Result<Done, Refused> {
        let Asked { link, is_new } = self.asked_link(actor, a, b, role)?;
        let cause = Told { action: "link", object: self.reference(link.a), change: None };
        if !is_new {
            return Ok(Done { looked: Looked::Nothing, tags: None, cause });
        }
        self.relate(link);
        // Whoever is added to a scope gets the default tags.
        if self.kind_of(link.a) == self.profile.scope {
            self.add_defaults(link.b);
        }
        Ok(Done {
            looked: Looked::Pairs { trigger: Trigger::Link, pairs: self.made_by(&link).collect() },
            tags: None,
            cause,
        })
    }

    /// A relationship that is asked for, if shape and rights allow it.
    fn asked_link(&self, actor: &Actor, a: &str, b: &str, role: Option<&str>) -> Result<Asked, Refused> {
        let (a, b) = (self.lookup(a).map_err(invalid)?, self.lookup(b).map_err(invalid)?);
        let role = role.map(|role| self.lookup(role)).transpose().map_err(invalid)?;
        self.asked_objects(actor, a, b, role)
    }

    fn asked_objects(&self, actor: &Actor, a: ObjectId, b: ObjectId, role: Option<ObjectId>) -> Result<Asked, Refused> {
        let link = self.shape_link(a, b, role).map_err(invalid)?;
        let is_new = !self.links_between(a, b).any(|(_, known)| known.role == link.role);
        if is_new {
            self.takes_link(&link).map_err(invalid)?;
        }
        self.may(actor, Operation::Link, self.scope_of(a)).map_err(forbidden)?;
        Ok(Asked { link, is_new })
    }

    /// A relationship of this shape, if there can be one.
    pub(super) fn shape_link(&self, a: ObjectId, b: ObjectId, role: Option<ObjectId>) -> Result<Link, Refusal> {
        let not = || Refusal::NotRelated { a: self.reference(a), b: self.reference(b) };
        self.relationship(a, b, role).ok_or_else(not)
    }

    /// Whether both sides take a new relationship.
    pub(super) fn takes_link(&self, link: &Link) -> Result<(), Refusal> {
        for end in link.ends() {
            if self.described(end).is_some_and(|end| end.standing == Standing::Disabled) {
                return Err(Refusal::Disabled { object: self.reference(end) });
            }
        }
        if self.owns(link) {
            if let Some(owner) = self.owner_of(link.b).filter(|owner| *owner != link.a) {
                return Err(Refusal::Owned { object: self.reference(link.b), owner: self.reference(owner) });
            }
            let inside = std::iter::successors(Some(link.a), |at| self.owner_of(*at)).take(64);
            if inside.into_iter().any(|at| at == link.b) {
                return Err(Refusal::Owned { object: self.reference(link.a), owner: self.reference(link.b) });
            }
        }
        let needs = self.relation_of(link).map(|relation| relation.needs_scope);
        if needs == Some(NeedsScope::Yes)
            && self.settings.membership == Membership::Required
            && let Some(scope) = self.scope_of(link.a)
            && self.links_between(scope, link.b).next().is_none()
        {
            return Err(Refusal::NotInScope { object: self.reference(link.b), scope: self.reference(scope) });
        }
        Ok(())
    }

    fn do_unlink(&mut self, actor: &Actor, a: &str, b: &str, role: Option<&str>) -> Result<Done, Refused> {
        let (a, b) = (self.lookup(a).map_err(invalid)?, self.lookup(b).map_err(invalid)?);
        let role = role.map(|role| self.lookup(role)).transpose().map_err(invalid)?;
        self.shape_link(a, b, role).map_err(invalid)?;
        let qualified = |link: &Link| role.is_none() || link.role == role;
        let links: Vec<LinkId> =
            self.links_between(a, b).filter(|(_, link)| qualified(link)).map(|(id, _)| id).collect();
        if links.is_empty() {
            return Err(invalid(Refusal::NoLink { a: self.reference(a), b: self.reference(b) }));
        }
        self.may(actor, Operation::Link, self.scope_of(a)).map_err(forbidden)?;
        for link in links {
            self.unlink(link);
        }
        if self.kind_of(a) == self.profile.scope {
            self.end_within(a, b);
        }
        let cause = Told { action: "unlink", object: self.reference(a), change: None };
        Ok(Done { looked: Looked::Nothing, tags: None, cause })
    }

    /// Ends all relationships that rest on one between a scope and an object.
    fn end_within(&mut self, scope: ObjectId, object: ObjectId) {
        let rests = |link: &Link| {
            self.relation_of(link).is_some_and(|relation| relation.needs_scope == NeedsScope::Yes)
                && link.b == object
                && self.scope_of(link.a) == Some(scope)
        };
        let links: Vec<LinkId> = self.links_of(object).filter(|(_, link)| rests(link)).map(|(id, _)| id).collect();
        for link in links {
            self.unlink(link);
        }
    }

    fn do_delete(&mut self, actor: &Actor, object: &str) -> Result<Done, Refused> {
        let object = self.lookup(object).map_err(invalid)?;
        let inside =
            self.links_of(object).find(|(_, link)| link.a == object && self.owns(link)).map(|(_, link)| link.b);
        if let Some(inside) = inside {
            let (object, inside) = (self.reference(object), self.reference(inside));
            return Err(invalid(Refusal::NotEmpty { object, inside }));
        }
        if let Some(subject) = self.subject_of(object) {
            self.may(actor, Operation::Delete(subject), self.scope_of(object)).map_err(forbidden)?;
        }
        let cause = Told { action: "delete", object: self.reference(object), change: None };
        self.delete(object);
        Ok(Done { looked: Looked::Nothing, tags: None, cause })
    }

    /// Gives an object the default tags, if its kind gets them.
    fn add_defaults(&mut self, object: ObjectId) {
        let added = self.with_defaults(object);
        let mut tags = Vec::with_capacity(added.len());
        for (key, values) in added {
            tags.push((self.key(&key), self.values(&values)));
        }
        if !tags.is_empty() {
            self.retag(object, &tags);
        }
    }

    fn write_records(&mut self, actor: &Actor, told: Told, net: NetChange) {
        if net.is_empty() {
            return;
        }
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
        self.records.write(Entry { cause, net });
    }
}
