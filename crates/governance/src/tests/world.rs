//! Small organisations in few words: `workspace/w` with tags `env=dev,test`, policies between `workspace.env` and `project.env`.

use std::ops::Deref;
use std::sync::Arc;

use smol_str::SmolStr;
use upheld_engine::comply::reference::NaiveEdition;
use upheld_engine::comply::reference::editions;
use upheld_engine::comply::reference::random;
pub(super) use upheld_engine::comply::reference::random::{BEGIN, policy, tag_of, waiver};
use upheld_engine::comply::{
    Comply, Described, Filter, Finding, NotFound, ObjectId, ObjectState, Policy, Tags, Waiver,
};
use upheld_model::Timestamp;

use super::super::*;

/// An organisation that is being built; what is said of it is taken as it is.
#[derive(Debug)]
pub(super) struct World {
    pub(super) draft: Draft,
}

impl World {
    pub(super) fn new(edition: NaiveEdition, settings: Settings) -> Self {
        Self { draft: Draft::new(Arc::new(edition.profile()), settings) }
    }

    pub(super) fn classic() -> Self {
        Self::new(NaiveEdition::Classic, Settings::default())
    }

    pub(super) fn current() -> Self {
        Self::new(NaiveEdition::Current, Settings::default())
    }

    pub(super) fn refer(&mut self, reference: &str) -> ObjectId {
        random::refer(&mut self.draft.facts, reference)
    }

    /// An object with tags.
    pub(super) fn object(self, reference: &str, tags: &str) -> Self {
        self.described(reference, tags, Described::default())
    }

    pub(super) fn described(mut self, reference: &str, tags: &str, described: Described) -> Self {
        let object = self.refer(reference);
        self.draft.facts.describe(object, described).unwrap();
        for (key, values) in self::tags(tags) {
            self.draft.facts.tag(object, &key, values.iter().map(SmolStr::as_str));
        }
        self
    }

    pub(super) fn standing(self, reference: &str, tags: &str, standing: ObjectState) -> Self {
        self.described(reference, tags, Described { standing, ..Described::default() })
    }

    pub(super) fn link(self, a: &str, b: &str) -> Self {
        self.link_as(a, b, None)
    }

    pub(super) fn link_as(mut self, a: &str, b: &str, role: Option<&str>) -> Self {
        let (a, b) = (self.refer(a), self.refer(b));
        let role = role.map(|role| self.refer(role));
        assert!(self.draft.facts.link(a, b, role, None));
        self
    }

    /// A policy that is enforced, with the first strategy.
    pub(super) fn policy(self, id: &str, a: &str, b: &str) -> Self {
        let policy = policy(id, a, b);
        self.with(policy)
    }

    pub(super) fn with(mut self, policy: Policy) -> Self {
        assert!(self.draft.facts.policy(policy));
        self
    }

    pub(super) fn waiver(mut self, waiver: Waiver) -> Self {
        assert!(self.draft.facts.waiver(waiver));
        self
    }

    /// Tags that take several of `dev`, `test`, `qa` and `prod`.
    pub(super) fn open(mut self, tags: &[&str]) -> Self {
        for tag in tags {
            self.draft.define(definition(tag));
        }
        self
    }

    pub(super) fn define(mut self, definition: Definition) -> Self {
        self.draft.define(definition);
        self
    }

    pub(super) fn defaults(self, defaults: &str) -> Self {
        self.default_tags(tags(defaults))
    }

    pub(super) fn default_tags(mut self, defaults: Tags) -> Self {
        self.draft.defaults(defaults);
        self
    }

    pub(super) fn build(self) -> Tested {
        Tested { organisation: self.draft.build(), now: BEGIN }
    }
}

/// An organisation with a clock, so that tests need not say when.
#[derive(Clone, Debug)]
pub(super) struct Tested {
    pub(super) organisation: Organisation,
    now: Timestamp,
}

impl Deref for Tested {
    type Target = Comply;

    fn deref(&self) -> &Comply {
        self.organisation.comply()
    }
}

impl Tested {
    pub(super) fn new(organisation: Organisation, now: Timestamp) -> Self {
        Self { organisation, now }
    }

    pub(super) fn now(&self) -> Timestamp {
        self.now
    }

    pub(super) fn act(&mut self, actor: &Actor, action: &Action) -> Decision {
        let tried = self.organisation.commit(self.now, actor, action);
        self.now = tried.at;
        self.organisation.decision(tried)
    }

    pub(super) fn would(&self, actor: &Actor, action: &Action) -> Decision {
        self.organisation.would(self.now, actor, action)
    }

    /// Without what is known of the past.
    pub(super) fn violations(&self) -> Vec<Finding> {
        self.organisation.comply().violations(self.now)
    }

    pub(super) fn recorded(&self) -> Vec<Finding> {
        self.organisation.violations(&Filter::default(), self.now)
    }

    pub(super) fn violations_for(&self, actor: &Actor) -> Result<Vec<Finding>, Refusal> {
        self.organisation.violations_for(actor, self.now)
    }

    pub(super) fn seen(&self, violation: &Finding) -> Option<FirstSeen> {
        self.organisation.seen(violation)
    }

    pub(super) fn resolved(&self) -> Vec<(Finding, Option<FirstSeen>, Timestamp)> {
        self.organisation.resolved(self.now)
    }

    pub(super) fn digest(&self) -> String {
        self.organisation.digest(self.now)
    }

    pub(super) fn version(&self) -> u64 {
        self.organisation.version()
    }

    pub(super) fn settings(&self) -> Settings {
        self.organisation.settings()
    }

    pub(super) fn definitions(&self) -> &[Definition] {
        self.organisation.schema().definitions()
    }

    pub(super) fn defaults(&self) -> &Tags {
        self.organisation.schema().defaults()
    }

    pub(super) fn what_if(&self, steps: &[Step]) -> Plan {
        self.organisation.what_if(self.now, steps)
    }

    pub(super) fn apply(&mut self, steps: &[Step], digest: &str) -> Result<Plan, String> {
        let plan = self.organisation.apply(self.now, steps, digest)?;
        for (step, decision) in steps.iter().zip(&plan.decisions) {
            if let (_, Action::Advance { to }) = step
                && decision.outcome.is_done()
            {
                self.now = *to;
            }
        }
        Ok(plan)
    }

    pub(super) fn sought(&self, seeker: &Seeker, violation: &Finding) -> Fixes {
        self.organisation.trial(self.now).fixes(seeker, violation)
    }

    pub(super) fn remedy(&self, seeker: &Seeker, filter: &Filter) -> Remedy {
        let open = self.organisation.open_violations(filter, self.now);
        self.organisation.trial(self.now).remedy(seeker, &open, &mut |_, _| {})
    }

    pub(super) fn actions_of(&self, edits: &[Edit]) -> Vec<Action> {
        self.organisation.actions_of(edits)
    }

    pub(super) fn candidates(
        &self,
        object: ObjectId,
        kind: &str,
        role: Option<ObjectId>,
    ) -> Result<Vec<ObjectId>, NotFound> {
        self.organisation.candidates(self.now, &end_user(), object, kind, role)
    }
}

/// `env=dev,test unit=` as tags; the second has no values.
pub(super) fn tags(text: &str) -> Tags {
    let tag = |word: &str| {
        let (key, values) = word.split_once('=').unwrap();
        let values = values.split(',').filter(|value| !value.is_empty()).map(SmolStr::new);
        (SmolStr::new(key), values.collect())
    };
    text.split_whitespace().map(tag).collect()
}

/// A tag that takes several of `dev`, `test`, `qa` and `prod`.
pub(super) fn definition(tag: &str) -> Definition {
    let (subject, key) = tag_of(tag);
    let options = ["dev", "test", "qa", "prod"].map(SmolStr::new).to_vec();
    Definition { options, ..Definition::new(subject, key, TagType::MultiSelect) }
}

/// A change of a definition that changes nothing yet.
pub(super) fn redefinition(tag: &str) -> Redefinition {
    let (subject, key) = tag_of(tag);
    Redefinition {
        subject,
        key,
        tag: None,
        options: None,
        regex: None,
        default: None,
        mandatory: None,
        restricted: None,
        immutable: None,
    }
}

/// Somebody with a role.
pub(super) fn person(role: &str) -> Actor {
    let role = editions::classic().role(role).unwrap();
    Actor::Person { role, scope: None, name: None }
}

/// Somebody with a role in a workspace.
pub(super) fn person_in(role: &str, scope: &str) -> Actor {
    let role = editions::classic().role(role).unwrap();
    Actor::Person { role, scope: Some(SmolStr::new(scope)), name: None }
}

pub(super) fn end_user() -> Actor {
    person("workspaceManager")
}

pub(super) fn administrator() -> Actor {
    person("orgAdmin")
}

pub(super) fn link(a: &str, b: &str) -> Action {
    Action::Link { a: a.into(), b: b.into(), role: None }
}

pub(super) fn link_as(a: &str, b: &str, role: &str) -> Action {
    Action::Link { a: a.into(), b: b.into(), role: Some(role.into()) }
}

pub(super) fn unlink(a: &str, b: &str) -> Action {
    Action::Unlink { a: a.into(), b: b.into(), role: None }
}

pub(super) fn delete(object: &str) -> Action {
    Action::Delete { object: object.into() }
}

pub(super) fn set_tags(object: &str, text: &str) -> Action {
    Action::SetTags { object: object.into(), tags: tags(text) }
}

/// Creates an object that is related to others from the beginning.
pub(super) fn create(object: &str, text: &str, others: &[&str]) -> Action {
    let links = others.iter().map(|other| NewLink { other: SmolStr::new(*other), role: None });
    Action::Create(NewObject {
        object: object.into(),
        tags: tags(text),
        links: links.collect(),
        ..NewObject::default()
    })
}

/// `policy: a <> b`, or with the rule if it is not the first: enough to compare.
pub(super) fn told(violations: &[Finding]) -> Vec<String> {
    let tell = |violation: &Finding| {
        let rule = if violation.rule == 0 { String::new() } else { format!("#{}", violation.rule) };
        let waived = violation.waiver.as_ref().map_or_else(String::new, |waiver| format!(" ({waiver})"));
        format!("{}{rule}: {} <> {}{waived}", violation.policy, violation.a.object, violation.b.object)
    };
    violations.iter().map(tell).collect()
}

/// The outcome and what is violated.
pub(super) fn answer(decision: &Decision) -> (Outcome, Vec<String>) {
    (decision.outcome, told(&decision.violations))
}
