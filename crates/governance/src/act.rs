//! What becomes of an action: shape, rights, tags and policies, in this order; the first that fails decides.

mod admission;
mod creation;
mod judge;
mod rules;

use std::sync::Arc;

use smol_str::SmolStr;
use upheld_engine::comply::{
    Described, Finding, FindingId, Link, LinkId, NeedsScope, NetChange, ObjectId, ObjectState, Tags, Trigger,
};
use upheld_model::{State, Timestamp};

use self::judge::Looked;
use crate::action::Description;
use crate::records::{Cause, Entry};
use crate::rights::Operation;
use crate::schema::Untaken;
use crate::{Action, Actor, Decision, Keeping, Membership, Organisation, Outcome, Refusal};

/// Why an action was not even held against policies.
#[derive(Clone, Debug)]
pub(crate) struct Refused {
    pub(crate) outcome: Outcome,
    pub(crate) refusal: Refusal,
}

impl Refused {
    /// Nobody acts.
    pub(crate) fn nobody() -> Self {
        forbidden(Refusal::Nobody)
    }
}

fn invalid(refusal: impl Into<Refusal>) -> Refused {
    Refused { outcome: Outcome::Invalid, refusal: refusal.into() }
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
pub(crate) struct Done {
    /// What policies look at.
    pub(crate) looked: Looked,
    /// The tags of a new object.
    tags: Option<Tags>,
    /// What to write down as the cause of what violates now.
    pub(crate) summary: ActionSummary,
}

/// Whether policies can refuse an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Policies {
    /// They can.
    Refuse,
    /// It was done already: they only record what violates them.
    Record,
}

/// A relationship that is asked for.
pub(crate) struct Asked {
    pub(crate) link: Link,
    /// Whether it is not there yet.
    pub(crate) is_new: bool,
}

/// What was done, for the records.
#[derive(Clone, Debug)]
pub(crate) struct ActionSummary {
    pub(crate) action: &'static str,
    pub(crate) object: SmolStr,
    /// The tag that changed, with its values before and after.
    pub(crate) change: Option<(SmolStr, Vec<SmolStr>, Vec<SmolStr>)>,
}

/// What became of an action, in ids: names cost more than deciding.
#[derive(Clone, Debug)]
pub struct Attempt {
    /// In a word.
    pub outcome: Outcome,
    /// Those that block, or would have, in names: what they are about may not be there any more.
    pub blocking: Vec<Finding>,
    /// Those that are new.
    pub new: Vec<FindingId>,
    /// Why it is invalid or forbidden.
    pub refusal: Option<Refusal>,
    /// The tags of a new object, defaults included.
    pub tags: Option<Tags>,
    /// When it is over; later than it began only if time passed.
    pub at: Timestamp,
    /// For the records, if it was done.
    done: Option<(Actor, ActionSummary, NetChange)>,
}

impl Organisation {
    /// Does what an actor wants, or refuses it whole: then nothing changes. An action that lets time pass changes nothing but
    /// what counts; whoever keeps the clock sets it.
    pub fn act(&mut self, now: Timestamp, actor: &Actor, action: &Action) -> Decision {
        let tried = self.commit(now, actor, action);
        self.decision(tried)
    }

    /// As [`Self::act`], without names for what is new.
    pub fn commit(&mut self, now: Timestamp, actor: &Actor, action: &Action) -> Attempt {
        self.commit_under(Policies::Refuse, now, actor, action)
    }

    /// As [`Self::commit`], for what was done long ago: policies that came later cannot have refused it. What they are against is told,
    /// and on record.
    pub fn commit_past(&mut self, now: Timestamp, actor: &Actor, action: &Action) -> Attempt {
        self.commit_under(Policies::Record, now, actor, action)
    }

    fn commit_under(&mut self, policies: Policies, now: Timestamp, actor: &Actor, action: &Action) -> Attempt {
        let schema = Arc::clone(&self.schema);
        let mut tried = self.try_out_under(policies, now, actor, action);
        if let Some((acting, summary, change)) = tried.done.take() {
            self.write_records(now, &acting, summary, change);
            if self.comply.has_steps() || !Arc::ptr_eq(&schema, &self.schema) {
                self.version += 1;
            }
        }
        self.settle();
        tried
    }

    /// Says what [`Self::act`] would answer; nothing changes.
    pub fn would(&self, now: Timestamp, actor: &Actor, action: &Action) -> Decision {
        let admitted = match action {
            Action::Link { a, b, role } => self.admit(now, actor, a, b, role.as_deref()),
            _ => None,
        };
        admitted.unwrap_or_else(|| self.trial(now).would(actor, action))
    }

    /// What became of an action, in names.
    pub fn decision(&self, tried: Attempt) -> Decision {
        let Attempt { outcome, blocking, new, refusal, tags, at, done: _ } = tried;
        let violations = if outcome.is_done() { self.accepted(new, at) } else { blocking };
        Decision { outcome, violations, refusal, tags, version: self.version }
    }

    /// What was accepted, in names and in order.
    fn accepted(&self, new: Vec<FindingId>, now: Timestamp) -> Vec<Finding> {
        let mut named: Vec<Finding> = new.into_iter().filter_map(|id| self.comply.name(id, State::Soft, now)).collect();
        named.sort();
        named
    }

    /// What was done stands.
    pub(crate) fn settle(&mut self) {
        if self.comply.is_unsettled() {
            self.steps().settle();
        }
    }

    /// Does what an actor wants if nothing refuses it; it can still be taken back.
    pub(crate) fn try_out(&mut self, now: Timestamp, actor: &Actor, action: &Action) -> Attempt {
        self.try_out_under(Policies::Refuse, now, actor, action)
    }

    /// As [`Self::try_out`], where policies refuse nothing: what they are against is told.
    pub(crate) fn try_out_recording(&mut self, now: Timestamp, actor: &Actor, action: &Action) -> Attempt {
        self.try_out_under(Policies::Record, now, actor, action)
    }

    fn try_out_under(&mut self, policies: Policies, now: Timestamp, actor: &Actor, action: &Action) -> Attempt {
        let before = self.before();
        let at = match action {
            Action::Advance { to } => *to,
            _ => now,
        };
        let (blocking, new) = (Vec::new(), Vec::new());
        let tried = Attempt { outcome: Outcome::Allowed, blocking, new, refusal: None, tags: None, at, done: None };
        let in_force = self.in_force_before(action, now);
        let (acting, done) = match self.attempt_in_turn(now, actor.roles(), action) {
            Ok(done) => done,
            Err(Refused { outcome, refusal }) => {
                self.roll_back(before);
                return Attempt { outcome, refusal: Some(refusal), at: now, ..tried };
            }
        };
        let change = self.comply.changed_since(before.steps);
        let blocking = self.blocking(now, acting, &done.looked, &change);
        if !blocking.is_empty() && policies == Policies::Refuse {
            self.roll_back(before);
            return Attempt { outcome: Outcome::Blocked, blocking, ..tried };
        }
        // Nothing is looked at when something ends: what violates in another scope from then on is not news.
        let (outcome, new) = match action {
            ending if ending.ends_something() => (Outcome::Allowed, Vec::new()),
            _ => self.new_findings(in_force, &change, at),
        };
        Attempt { outcome, blocking, new, tags: done.tags, done: Some((acting.clone(), done.summary, change)), ..tried }
    }

    /// Does an action in the first role that may do it, and says in which. Whoever has several roles has the rights of each, and acts as
    /// the one that has the right.
    pub(crate) fn attempt_in_turn<'a>(
        &mut self,
        now: Timestamp,
        roles: &'a [Actor],
        action: &Action,
    ) -> Result<(&'a Actor, Done), Refused> {
        let mut last = None;
        for role in roles {
            let before = self.before();
            match self.attempt(now, role, action) {
                Ok(done) => return Ok((role, done)),
                Err(refused) => {
                    self.roll_back(before);
                    if refused.outcome != Outcome::Forbidden {
                        return Err(refused);
                    }
                    last = Some(refused);
                }
            }
        }
        Err(last.unwrap_or_else(Refused::nobody))
    }

    /// Shape, rights and tags; policies have their say afterwards.
    pub(crate) fn attempt(&mut self, now: Timestamp, actor: &Actor, action: &Action) -> Result<Done, Refused> {
        match action {
            Action::Create(new) => self.do_create(now, actor, new),
            Action::Delete { object } => self.do_delete(actor, object),
            Action::SetTags { object, tags } => self.do_set_tags(actor, object, tags),
            Action::Describe { object, description } => self.do_describe(actor, object, description),
            Action::Link { a, b, role } => self.do_link(actor, a, b, role.as_deref()),
            Action::End { a, b, role } => self.do_end(actor, a, b, role.as_deref()),
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
            Action::Advance { to } if *to < now => Err(invalid(Refusal::Backwards)),
            Action::Advance { .. } => Ok(Done::nothing_looked_at("clock", "the clock")),
        }
    }

    fn do_set_tags(&mut self, actor: &Actor, object: &str, tags: &Tags) -> Result<Done, Refused> {
        let object = self.comply.lookup(object).map_err(invalid)?;
        if let Some(subject) = self.comply.subject_of(object) {
            self.may(actor, Operation::Tag(subject), || self.comply.scope_of(object)).map_err(forbidden)?;
        }
        let changes = self.check_tags(actor, object, tags)?;
        let change = changes.first().map(|(key, after)| {
            let key = SmolStr::new(self.comply.text(*key));
            let before = self.comply.texts(self.comply.values_of(object, &key));
            (key, before, self.comply.texts(*after))
        });
        self.steps().retag(object, &changes);
        self.write_defaults(object, tags);
        if self.keeping == Keeping::Documents {
            self.add_defaults(object);
        }
        let summary = ActionSummary { action: "tags", object: self.comply.reference(object), change };
        Ok(Done { looked: Looked::Around { trigger: Trigger::Tags, object }, tags: None, summary })
    }

    fn do_link(&mut self, actor: &Actor, a: &str, b: &str, role: Option<&str>) -> Result<Done, Refused> {
        let Asked { link, is_new } = self.asked_link(actor, a, b, role)?;
        let summary = ActionSummary { action: "link", object: self.comply.reference(link.a), change: None };
        if !is_new {
            return Ok(Done { looked: Looked::Nothing, tags: None, summary });
        }
        self.steps().relate(link);
        // Whoever is added to a scope gets the default tags.
        if self.comply.kind_of(link.a) == self.profile().scope {
            self.add_defaults(link.b);
        }
        // Whoever comes to live somewhere comes under the policies that are cut to that.
        let moved = self.comply.alone(link.b).filter(|_| self.comply.owns(&link));
        let pairs = self.comply.made_by(&link).chain(moved).collect();
        Ok(Done { looked: Looked::Pairs { trigger: Trigger::Link, pairs }, tags: None, summary })
    }

    /// A relationship that is asked for, if shape and rights allow it.
    pub(crate) fn asked_link(&self, actor: &Actor, a: &str, b: &str, role: Option<&str>) -> Result<Asked, Refused> {
        let (a, b) = (self.comply.lookup(a).map_err(invalid)?, self.comply.lookup(b).map_err(invalid)?);
        let role = role.map(|role| self.comply.lookup(role)).transpose().map_err(invalid)?;
        self.asked_objects(actor, a, b, role)
    }

    pub(crate) fn asked_objects(
        &self,
        actor: &Actor,
        a: ObjectId,
        b: ObjectId,
        role: Option<ObjectId>,
    ) -> Result<Asked, Refused> {
        let link = self.shape_link(a, b, role).map_err(invalid)?;
        let is_new = !self.comply.links_between(a, b).any(|(_, known)| known.role == link.role);
        if is_new {
            self.takes_link(&link).map_err(invalid)?;
        }
        self.may(actor, Operation::Link, || self.comply.scope_of(a)).map_err(forbidden)?;
        Ok(Asked { link, is_new })
    }

    /// A relationship of this shape, if there can be one.
    fn shape_link(&self, a: ObjectId, b: ObjectId, role: Option<ObjectId>) -> Result<Link, Refusal> {
        let not = || Refusal::NotRelated { a: self.comply.reference(a), b: self.comply.reference(b) };
        self.comply.relationship(a, b, role).ok_or_else(not)
    }

    /// Whether both sides take a new relationship.
    fn takes_link(&self, link: &Link) -> Result<(), Refusal> {
        let comply = &self.comply;
        for end in link.ends() {
            if comply.described(end).is_some_and(|end| end.standing == ObjectState::Disabled) {
                return Err(Refusal::Disabled { object: comply.reference(end) });
            }
        }
        if comply.owns(link) {
            if let Some(owner) = comply.owner_of(link.b).filter(|owner| *owner != link.a) {
                return Err(Refusal::Owned { object: comply.reference(link.b), owner: comply.reference(owner) });
            }
            if comply.lives_in(link.a, link.b) {
                return Err(Refusal::Owned { object: comply.reference(link.a), owner: comply.reference(link.b) });
            }
        }
        let needs = comply.relation_of(link).map(|relation| relation.needs_scope);
        if needs == Some(NeedsScope::Yes)
            && self.settings.membership == Membership::Required
            && let Some(scope) = comply.scope_of(link.a)
            && comply.links_between(scope, link.b).next().is_none()
        {
            return Err(Refusal::NotInScope { object: comply.reference(link.b), scope: comply.reference(scope) });
        }
        Ok(())
    }

    fn do_unlink(&mut self, actor: &Actor, a: &str, b: &str, role: Option<&str>) -> Result<Done, Refused> {
        let comply = &self.comply;
        let (a, b) = (comply.lookup(a).map_err(invalid)?, comply.lookup(b).map_err(invalid)?);
        let role = role.map(|role| comply.lookup(role)).transpose().map_err(invalid)?;
        self.shape_link(a, b, role).map_err(invalid)?;
        let qualified = |link: &Link| role.is_none() || link.role == role;
        let links = comply.links_between(a, b).filter(|(_, link)| qualified(link)).map(|(id, _)| id);
        let links: Vec<LinkId> = links.collect();
        if links.is_empty() {
            return Err(invalid(Refusal::NoLink { a: comply.reference(a), b: comply.reference(b) }));
        }
        self.may(actor, Operation::Link, || comply.scope_of(a)).map_err(forbidden)?;
        let summary = ActionSummary { action: "unlink", object: comply.reference(a), change: None };
        let leaves_scope = comply.kind_of(a) == self.profile().scope;
        for link in links {
            self.steps().unlink(link);
        }
        if leaves_scope {
            self.end_within(a, b);
        }
        Ok(Done { looked: Looked::Nothing, tags: None, summary })
    }

    fn do_end(&mut self, actor: &Actor, a: &str, b: &str, role: Option<&str>) -> Result<Done, Refused> {
        let comply = &self.comply;
        let (a, b) = (comply.lookup(a).map_err(invalid)?, comply.lookup(b).map_err(invalid)?);
        let is_meant = |link: &Link| link.role.map(|role| comply.reference(role)).as_deref() == role;
        let Some((link, _)) = comply.links_between(a, b).find(|(_, link)| is_meant(link)) else {
            return Err(invalid(Refusal::NoLink { a: comply.reference(a), b: comply.reference(b) }));
        };
        self.may(actor, Operation::Link, || comply.scope_of(a)).map_err(forbidden)?;
        let summary = ActionSummary { action: "unlink", object: comply.reference(a), change: None };
        self.steps().unlink(link);
        Ok(Done { looked: Looked::Nothing, tags: None, summary })
    }

    /// Whoever may tag an object may also call it something else; what exempts it from policies, and whether it is there, is for others.
    fn do_describe(&mut self, actor: &Actor, object: &str, to: &Description) -> Result<Done, Refused> {
        let object = self.comply.lookup(object).map_err(invalid)?;
        let before = self.comply.described(object).cloned().unwrap_or_default();
        let within = || self.comply.scope_of(object);
        if let Some(subject) = self.comply.subject_of(object) {
            self.may(actor, Operation::Tag(subject), within).map_err(forbidden)?;
            if before.standing != to.standing {
                self.may(actor, Operation::Delete(subject), within).map_err(forbidden)?;
            }
        }
        if before.partner != to.partner {
            self.may(actor, Operation::Waivers, || None).map_err(forbidden)?;
        }
        let paid_by = to.paid_by.as_deref().map(|payer| self.comply.lookup(payer)).transpose().map_err(invalid)?;
        let (name, partner, standing) = (to.name.clone(), to.partner, to.standing);
        self.steps().describe(object, Described { name, partner, standing, paid_by, ..before });
        Ok(Done::nothing_looked_at("describe", &self.comply.reference(object)))
    }

    /// Ends all relationships that rest on one between a scope and an object.
    fn end_within(&mut self, scope: ObjectId, object: ObjectId) {
        let comply = &self.comply;
        let rests = |link: &Link| {
            comply.relation_of(link).is_some_and(|relation| relation.needs_scope == NeedsScope::Yes)
                && link.b == object
                && comply.scope_of(link.a) == Some(scope)
        };
        let links: Vec<LinkId> = comply.links_of(object).filter(|(_, link)| rests(link)).map(|(id, _)| id).collect();
        for link in links {
            self.steps().unlink(link);
        }
    }

    fn do_delete(&mut self, actor: &Actor, object: &str) -> Result<Done, Refused> {
        let comply = &self.comply;
        let object = comply.lookup(object).map_err(invalid)?;
        let inside = |(_, link): &(LinkId, &Link)| link.a == object && comply.owns(link);
        if let Some(inside) = comply.links_of(object).find(inside).map(|(_, link)| link.b) {
            let (object, inside) = (comply.reference(object), comply.reference(inside));
            return Err(invalid(Refusal::NotEmpty { object, inside }));
        }
        if let Some(subject) = comply.subject_of(object) {
            self.may(actor, Operation::Delete(subject), || comply.scope_of(object)).map_err(forbidden)?;
        }
        let summary = ActionSummary { action: "delete", object: comply.reference(object), change: None };
        self.steps().delete(object);
        Ok(Done { looked: Looked::Nothing, tags: None, summary })
    }

    fn write_records(&mut self, now: Timestamp, actor: &Actor, summary: ActionSummary, net: NetChange) {
        if net.is_empty() {
            return;
        }
        let cause = self.cause(now, actor, summary);
        self.records.write(Entry { cause, net });
    }

    /// What somebody did, for the records.
    pub(crate) fn cause(&self, now: Timestamp, actor: &Actor, summary: ActionSummary) -> Cause {
        let (role, name) = match actor {
            Actor::System => (None, None),
            Actor::Person { role, name, .. } => {
                (self.profile().role_spec(*role).map(|spec| spec.name.clone()), name.clone())
            }
            Actor::Several(roles) => return self.cause(now, roles.first().unwrap_or(&Actor::System), summary),
        };
        let ActionSummary { action, object, change } = summary;
        Cause { action: SmolStr::new_static(action), object, change, role, name, at: now }
    }
}

impl Action {
    /// Whether it only ends something.
    pub(crate) fn ends_something(&self) -> bool {
        matches!(self, Self::Unlink { .. } | Self::End { .. } | Self::Delete { .. })
    }
}

impl Done {
    /// What changed is not a pair: what violates from now on is only recorded.
    fn nothing_looked_at(action: &'static str, object: &str) -> Self {
        let summary = ActionSummary { action, object: SmolStr::new(object), change: None };
        Self { looked: Looked::Nothing, tags: None, summary }
    }
}
