//! Small organisations in few words: `workspace/w` with tags `env=dev,test`, policies between `workspace.env` and `project.env`.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use smol_str::SmolStr;
use upheld_model::Timestamp;

use super::super::reference::NaiveEdition;
use super::super::*;
use super::editions;

/// The moment at which worlds begin.
pub(super) const BEGIN: Timestamp = Timestamp(1_000);

/// An organisation that is being built; what is said of it is taken as it is.
#[derive(Debug)]
pub(super) struct World {
    draft: Draft,
}

impl World {
    pub(super) fn new(edition: NaiveEdition, settings: Settings) -> Self {
        let profile = match edition {
            NaiveEdition::Classic => editions::classic(),
            NaiveEdition::Current => editions::current(),
        };
        Self { draft: Draft::new(Arc::new(profile), settings, BEGIN) }
    }

    pub(super) fn classic() -> Self {
        Self::new(NaiveEdition::Classic, Settings::default())
    }

    pub(super) fn current() -> Self {
        Self::new(NaiveEdition::Current, Settings::default())
    }

    pub(super) fn set(mut self, settings: Settings) -> Self {
        self.draft.set(settings);
        self
    }

    pub(super) fn refer(&mut self, reference: &str) -> ObjectId {
        let (kind, id) = reference.split_once('/').unwrap();
        let kind = self.draft.profile().kind(kind).unwrap();
        self.draft.refer(kind, id, None)
    }

    /// An object with tags.
    pub(super) fn object(self, reference: &str, tags: &str) -> Self {
        self.described(reference, tags, Described::default())
    }

    pub(super) fn described(mut self, reference: &str, tags: &str, described: Described) -> Self {
        let object = self.refer(reference);
        self.draft.describe(object, described).unwrap();
        for (key, values) in self::tags(tags) {
            self.draft.tag(object, &key, values.iter().map(SmolStr::as_str));
        }
        self
    }

    pub(super) fn standing(self, reference: &str, tags: &str, standing: Standing) -> Self {
        self.described(reference, tags, Described { standing, ..Described::default() })
    }

    /// A tag with values that cannot be told in few words.
    pub(super) fn tag(mut self, reference: &str, key: &str, values: &[&str]) -> Self {
        let object = self.refer(reference);
        self.draft.tag(object, key, values.iter().copied());
        self
    }

    pub(super) fn link(self, a: &str, b: &str) -> Self {
        self.link_as(a, b, None)
    }

    pub(super) fn link_as(mut self, a: &str, b: &str, role: Option<&str>) -> Self {
        let (a, b) = (self.refer(a), self.refer(b));
        let role = role.map(|role| self.refer(role));
        assert!(self.draft.link(a, b, role, None));
        self
    }

    /// A policy that is enforced, with the first strategy.
    pub(super) fn policy(self, id: &str, a: &str, b: &str) -> Self {
        let policy = policy(id, a, b);
        self.with(policy)
    }

    pub(super) fn subset(self, id: &str, a: &str, b: &str) -> Self {
        self.with(Policy { strategy: Strategy::Subset, ..policy(id, a, b) })
    }

    pub(super) fn with(mut self, policy: Policy) -> Self {
        assert!(self.draft.policy(policy));
        self
    }

    pub(super) fn waiver(mut self, waiver: Waiver) -> Self {
        assert!(self.draft.waiver(waiver));
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
        Tested { comply: self.draft.build() }
    }
}

/// An organisation with a clock, so that tests need not say when.
#[derive(Clone, Debug)]
pub(super) struct Tested {
    pub(super) comply: Comply,
}

impl Deref for Tested {
    type Target = Comply;

    fn deref(&self) -> &Comply {
        &self.comply
    }
}

impl DerefMut for Tested {
    fn deref_mut(&mut self) -> &mut Comply {
        &mut self.comply
    }
}

impl Tested {
    pub(super) fn violations(&self) -> Vec<Finding> {
        self.comply.violations(self.now())
    }

    pub(super) fn violations_in(&self, scope: Option<ObjectId>) -> Vec<Finding> {
        self.comply.violations_in(scope, self.now())
    }

    pub(super) fn check(&self, one: ObjectId, other: ObjectId) -> Vec<Finding> {
        self.comply.findings_between(one, other, self.now())
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

/// `project.env` as a subject and a tag.
pub(super) fn tag_of(text: &str) -> (Subject, SmolStr) {
    let (subject, key) = text.split_once('.').unwrap();
    (editions::current().subject(subject).unwrap(), SmolStr::new(key))
}

/// A policy between two tags that is enforced.
pub(super) fn policy(id: &str, a: &str, b: &str) -> Policy {
    let ((a, first), (b, second)) = (tag_of(a), tag_of(b));
    Policy {
        id: SmolStr::new(id),
        a,
        b,
        rules: vec![Rule { a: first, b: second }],
        strategy: Strategy::Intersection,
        level: Level::Enforce,
        enforce_from: None,
        description: None,
        how_to_fix: None,
        severity: None,
        at: None,
    }
}

/// A tag that takes several of `dev`, `test`, `qa` and `prod`.
pub(super) fn definition(tag: &str) -> Definition {
    let (subject, key) = tag_of(tag);
    Definition {
        subject,
        key,
        tag: TagType::MultiSelect,
        options: ["dev", "test", "qa", "prod"].map(SmolStr::new).to_vec(),
        withdrawn: Vec::new(),
        regex: None,
        default: Vec::new(),
        mandatory: Mandatory::No,
        restricted: Restricted::No,
        immutable: Immutable::No,
        at: None,
    }
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

/// A waiver of a whole policy.
pub(super) fn waiver(id: &str, policy: &str) -> Waiver {
    Waiver {
        id: SmolStr::new(id),
        policy: SmolStr::new(policy),
        a: None,
        b: None,
        scope: None,
        category: None,
        reason: SmolStr::new_static("agreed"),
        approved_by: None,
        ticket: None,
        not_before: None,
        expires: None,
        at: None,
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
