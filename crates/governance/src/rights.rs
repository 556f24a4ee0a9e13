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
    /// The class of who acts; the program itself has none.
    pub(crate) fn class(&self, actor: &Actor) -> Option<Class> {
        match actor {
            Actor::System => None,
            Actor::Person { role, .. } => self.profile().role_spec(*role).map(|spec| spec.class),
        }
    }

    /// Whether somebody may do something with an object that lives in a scope.
    pub(crate) fn may(
        &self,
        actor: &Actor,
        operation: Operation,
        within: impl FnOnce() -> Option<ObjectId>,
    ) -> Result<(), Refusal> {
        let Actor::Person { role, scope, .. } = actor else { return Ok(()) };
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
    /// What somebody may see of violations: those of one scope, or all.
    pub fn visibility(&self, actor: &Actor) -> Result<Option<ObjectId>, Refusal> {
        let scope = match actor {
            Actor::Person { scope: Some(own), .. } if self.class(actor) == Some(Class::EndUser) => {
                Some(self.comply.lookup(own)?)
            }
            _ => None,
        };
        self.may(actor, Operation::Violations, || scope)?;
        Ok(scope)
    }

    /// The violations that somebody may see, in order.
    pub fn violations_for(&self, actor: &Actor, now: Timestamp) -> Result<Vec<Finding>, Refusal> {
        let scope = self.visibility(actor)?;
        Ok(self.violations(&Filter { scope, ..Filter::default() }, now))
    }
}
