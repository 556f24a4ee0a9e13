//! Small organisations in few words: `workspace/w` with tags `env=dev,test`, policies between `workspace.env` and `project.env`.

use std::sync::Arc;

use smol_str::SmolStr;

use super::super::reference::NaiveEdition;
use super::super::reference::random::{policy, refer};
use super::super::*;

/// An organisation that is being built; what is said of it is taken as it is.
#[derive(Debug)]
pub(super) struct World {
    draft: Draft,
}

impl World {
    fn new(edition: NaiveEdition) -> Self {
        Self { draft: Draft::new(Arc::new(edition.profile()), Partners::Judged) }
    }

    pub(super) fn classic() -> Self {
        Self::new(NaiveEdition::Classic)
    }

    pub(super) fn current() -> Self {
        Self::new(NaiveEdition::Current)
    }

    pub(super) fn scoped() -> Self {
        Self::new(NaiveEdition::Scoped)
    }

    /// One in which policies leave the provider's own scopes alone.
    pub(super) fn exempting_partners() -> Self {
        Self { draft: Draft::new(Arc::new(NaiveEdition::Classic.profile()), Partners::Exempt) }
    }

    /// An object is the provider's own.
    pub(super) fn partner(mut self, reference: &str) -> Self {
        let object = refer(&mut self.draft, reference);
        self.draft.describe(object, Described { partner: Partner::Yes, ..Described::default() }).unwrap();
        self
    }

    /// An object with tags.
    pub(super) fn object(mut self, reference: &str, tags: &str) -> Self {
        let object = refer(&mut self.draft, reference);
        self.draft.describe(object, Described::default()).unwrap();
        for word in tags.split_whitespace() {
            let (key, values) = word.split_once('=').unwrap();
            self.draft.tag(object, key, values.split(',').filter(|value| !value.is_empty()));
        }
        self
    }

    /// A tag with values that cannot be told in few words.
    pub(super) fn tag(mut self, reference: &str, key: &str, values: &[&str]) -> Self {
        let object = refer(&mut self.draft, reference);
        self.draft.tag(object, key, values.iter().copied());
        self
    }

    pub(super) fn link(mut self, a: &str, b: &str) -> Self {
        let (a, b) = (refer(&mut self.draft, a), refer(&mut self.draft, b));
        assert!(self.draft.link(a, b, None, None));
        self
    }

    /// A policy that is enforced, with the first strategy.
    pub(super) fn policy(self, id: &str, a: &str, b: &str) -> Self {
        self.with(policy(id, a, b))
    }

    pub(super) fn subset(self, id: &str, a: &str, b: &str) -> Self {
        self.with(Policy { strategy: Strategy::Subset, ..policy(id, a, b) })
    }

    /// A policy about the tags of single objects.
    pub(super) fn tags(self, id: &str, tag: &str, strategy: Strategy, values: &[&str]) -> Self {
        self.with(Policy { strategy, values: texts(values), ..policy(id, tag, tag) })
    }

    pub(super) fn with(mut self, policy: Policy) -> Self {
        assert!(self.draft.policy(policy));
        self
    }

    pub(super) fn build(self) -> Comply {
        self.draft.build()
    }
}

/// `policy: a <> b`, or with the rule if it is not the first: enough to compare.
pub(super) fn told(violations: &[Finding]) -> Vec<String> {
    let tell = |violation: &Finding| {
        let rule = if violation.rule == 0 { String::new() } else { format!("#{}", violation.rule) };
        format!("{}{rule}: {} <> {}", violation.policy, violation.a.object, violation.b.object)
    };
    violations.iter().map(tell).collect()
}

/// Values as texts.
pub(super) fn texts(values: &[&str]) -> Vec<SmolStr> {
    values.iter().copied().map(SmolStr::new).collect()
}
