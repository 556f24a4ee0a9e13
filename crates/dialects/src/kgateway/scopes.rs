//! Scopes: places where policies come together, each with its attached policies, level by level and the best first.

use std::collections::BTreeSet;
use std::sync::Arc;

use smol_str::SmolStr;
use upheld_engine::ObjectId;
use upheld_engine::merge::levels::{Folded, Standing};

use super::attachments::{Attached, AttachedList};
use super::builtin::Builtin;
use super::fields::is_inside_port;
use super::kinds::{Semantics, Subject};
use super::rules::Priority;

/// What sort of scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Place {
    /// A port of a gateway.
    Listener,
    /// All hosts behind a port, or behind a listener that ends TLS.
    RouteConfiguration,
    /// A host.
    VirtualHost,
    /// A match of a rule.
    Route,
    /// A reference of a rule to a backend.
    BackendReference,
    /// A backend, or a port of it.
    Backend,
}

/// Policies that are attached in the same form to the same thing.
#[derive(Clone, Debug)]
pub struct Bracket {
    /// How many delegations away: 0 is the scope itself.
    pub level: usize,
    /// What they are attached to.
    pub target: ObjectId,
    /// The section of it that they name.
    pub section: Option<SmolStr>,
    /// The policies, the best first.
    pub attached: AttachedList,
}

impl Bracket {
    /// Whether it belongs to an object that delegates here.
    pub fn is_inherited(&self) -> bool {
        self.level > 0
    }
}

/// What the policies of one kind come to.
#[derive(Debug)]
pub struct Resolved {
    /// The kind.
    pub subject: Subject,
    /// The policies, best first, each once.
    pub policies: Vec<usize>,
    /// Their fields.
    pub folded: Folded,
    /// Counts what was resolved, so that equal contexts are one.
    pub(super) number: usize,
}

impl Resolved {
    /// Whether origins are kept under a name. The parts of a port go under the port, as upstream reports them.
    pub fn is_reported(&self, name: &str, semantics: Semantics) -> bool {
        semantics == Semantics::Ep11268 || !is_inside_port(name)
    }

    /// How much of the result a policy has a part in; `None` for kinds without origins and for results without fields.
    pub(super) fn standing(&self, policy: usize, semantics: Semantics) -> Option<Standing> {
        if self.subject == Subject::DirectResponse {
            return None;
        }
        let reported = || self.folded.fields.iter().filter(|(name, _)| self.is_reported(name, semantics));
        let all = reported().count();
        if all == 0 {
            return None;
        }
        Some(match reported().filter(|(_, joined)| joined.origins.binary_search(&policy).is_ok()).count() {
            0 => Standing::Nowhere,
            some if some == all => Standing::Everywhere,
            _ => Standing::Partly,
        })
    }
}

/// A scope with what its policies come to.
#[derive(Clone, Debug)]
pub struct Scope {
    /// What sort.
    pub place: Place,
    /// Attached policies, level by level, the best first.
    pub brackets: Vec<Bracket>,
    /// How each level meets those before it.
    pub priorities: Vec<Priority>,
    /// What they come to, by kind.
    pub resolved: Vec<Arc<Resolved>>,
    /// What the rules say themselves.
    pub builtin: Option<Arc<Builtin>>,
}

impl Scope {
    /// What the policies of a kind come to.
    pub fn of(&self, subject: Subject) -> Option<&Resolved> {
        self.resolved.iter().find(|resolved| resolved.subject == subject).map(Arc::as_ref)
    }

    /// The ways in which a policy is attached here.
    pub fn ways(&self, policy: usize) -> impl Iterator<Item = (&Bracket, &Attached)> {
        let attached = |bracket| move |attached| (bracket, attached);
        let all = self.brackets.iter().flat_map(move |bracket| bracket.attached.iter().map(attached(bracket)));
        all.filter(move |(_, attached)| attached.policy == policy)
    }

    /// Policies with errors that are attached here, with the section that they are attached to. With any, the scope answers
    /// with an error.
    pub fn broken(&self) -> Vec<(usize, Option<&str>)> {
        let mut left: BTreeSet<usize> =
            self.resolved.iter().flat_map(|resolved| resolved.folded.broken.iter().copied()).collect();
        let mut broken = Vec::new();
        if left.is_empty() {
            return broken;
        }
        for bracket in &self.brackets {
            let found = bracket.attached.iter().filter(|attached| left.remove(&attached.policy));
            broken.extend(found.map(|attached| (attached.policy, bracket.section.as_deref())));
        }
        broken
    }
}
