//! Who may do what.

use smol_str::{SmolStr, format_smolstr};
use upheld_engine::comply::{Class, Filter, Finding, ObjectId, Right, Subject};
use upheld_model::Timestamp;

use crate::{Actor, Organisation, Refusal};

/// What somebody wants to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Create(Subject),
    Delete(Subject),
    Tag(Subject),
    Link,
    Policies,
    Definitions,
    Waivers,
    Violations,
}

impl Operation {
    fn granted_by(self, right: Right) -> bool {
        let fits = |granted: Option<Subject>, wanted: Subject| granted.is_none_or(|granted| granted == wanted);
        match (self, right) {
            (Self::Create(subject), Right::Create(granted))
            | (Self::Delete(subject), Right::Delete(granted))
            | (Self::Tag(subject), Right::Tag(granted)) => fits(granted, subject),
            (Self::Link, Right::Link)
            | (Self::Policies, Right::Policies)
            | (Self::Definitions, Right::Definitions)
            | (Self::Waivers, Right::Waivers)
            | (Self::Violations, Right::Violations) => true,
            _ => false,
        }
    }
}

impl Organisation {
    /// The class of who acts; the program itself has none. Of several roles the weakest counts, until one of them acts.
    pub(crate) fn class(&self, actor: &Actor) -> Option<Class> {
        match actor {
            Actor::System => None,
            Actor::Person { role, .. } => self.profile().role_spec(*role).map(|spec| spec.class),
            Actor::Several(roles) => {
                let classes = || roles.iter().filter_map(|own| self.class(own));
                classes().find(|class| *class == Class::EndUser).or_else(|| classes().next())
            }
        }
    }

    /// Whether somebody may do something with an object that lives in a scope.
    pub(crate) fn may(
        &self,
        actor: &Actor,
        operation: Operation,
        within: impl FnOnce() -> Option<ObjectId>,
    ) -> Result<(), Refusal> {
        let roles = match actor.roles() {
            [one] => return self.may_as(one, operation, within),
            several => several,
        };
        let (within, mut refused) = (within(), Refusal::Nobody);
        for role in roles {
            match self.may_as(role, operation, || within) {
                Ok(()) => return Ok(()),
                Err(refusal) => refused = refusal,
            }
        }
        Err(refused)
    }

    /// The same in one role.
    fn may_as(
        &self,
        actor: &Actor,
        operation: Operation,
        within: impl FnOnce() -> Option<ObjectId>,
    ) -> Result<(), Refusal> {
        let (role, scope) = match actor {
            Actor::System => return Ok(()),
            Actor::Person { role, scope, .. } => (role, scope),
            Actor::Several(_) => return Err(Refusal::Nobody),
        };
        let Some(spec) = self.profile().role_spec(*role) else { return Ok(()) };
        if !spec.may.iter().any(|right| operation.granted_by(*right)) {
            return Err(Refusal::Right { role: spec.name.clone(), what: self.named_operation(operation) });
        }
        match scope {
            Some(own) if spec.class == Class::EndUser => {
                let within = within();
                if within.is_some() && within == self.comply.lookup(own).ok() {
                    Ok(())
                } else {
                    Err(Refusal::Scope { own: own.clone() })
                }
            }
            _ => Ok(()),
        }
    }

    fn named_operation(&self, operation: Operation) -> SmolStr {
        let with = |verb: &str, subject: Subject| format_smolstr!("{verb} {}", self.profile().subject_name(subject));
        match operation {
            Operation::Create(subject) => with("create", subject),
            Operation::Delete(subject) => with("delete", subject),
            Operation::Tag(subject) => with("tag", subject),
            Operation::Link => SmolStr::new_static("link"),
            Operation::Policies => SmolStr::new_static("change policies"),
            Operation::Definitions => SmolStr::new_static("change tag definitions"),
            Operation::Waivers => SmolStr::new_static("grant waivers"),
            Operation::Violations => SmolStr::new_static("see violations"),
        }
    }
}

impl Organisation {
    /// What somebody may see of violations: those of the scopes of their roles, or all.
    pub fn visibility(&self, actor: &Actor) -> Result<Option<Vec<ObjectId>>, Refusal> {
        let (mut scopes, mut refused) = (Vec::new(), None);
        for role in actor.roles() {
            match self.visible_scope(role) {
                Ok(None) => return Ok(None),
                Ok(Some(scope)) => scopes.push(scope),
                Err(refusal) => refused = Some(refusal),
            }
        }
        scopes.sort_unstable();
        scopes.dedup();
        match refused {
            Some(refusal) if scopes.is_empty() => Err(refusal),
            _ => Ok(Some(scopes)),
        }
    }

    /// The scope whose violations one role may see; none if it may see all.
    fn visible_scope(&self, role: &Actor) -> Result<Option<ObjectId>, Refusal> {
        let scope = match role {
            Actor::Person { scope: Some(own), .. } if self.class(role) == Some(Class::EndUser) => {
                Some(self.comply.lookup(own)?)
            }
            _ => None,
        };
        self.may(role, Operation::Violations, || scope)?;
        Ok(scope)
    }

    /// The violations that somebody may see, in order.
    pub fn violations_for(&self, actor: &Actor, now: Timestamp) -> Result<Vec<Finding>, Refusal> {
        let scopes = self.visibility(actor)?;
        Ok(self.violations(&Filter { scopes, ..Filter::default() }, now))
    }
}
