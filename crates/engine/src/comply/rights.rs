//! Who may do what.

use smol_str::{SmolStr, format_smolstr};

use super::facts::ObjectId;
use super::profile::{Class, Right, Subject};
use super::refusal::Refusal;
use super::{Actor, Comply};

/// What somebody wants to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    Create(Subject),
    Delete(Subject),
    Tag(Subject),
    Link,
    Policies,
    Definitions,
    Waivers,
    Violations,
}

impl Wish {
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

impl Comply {
    /// The class of who acts; the program itself has none.
    pub(super) fn class(&self, actor: &Actor) -> Option<Class> {
        match actor {
            Actor::System => None,
            Actor::Person { role, .. } => self.profile.role_spec(*role).map(|spec| spec.class),
        }
    }

    /// Whether somebody may do something with an object that lives in a scope.
    pub(super) fn may(&self, actor: &Actor, wish: Wish, within: Option<ObjectId>) -> Result<(), Refusal> {
        let Actor::Person { role, scope, .. } = actor else { return Ok(()) };
        let Some(spec) = self.profile.role_spec(*role) else { return Ok(()) };
        if !spec.may.iter().any(|right| wish.granted_by(*right)) {
            return Err(Refusal::Right { role: spec.name.clone(), what: self.told(wish) });
        }
        match scope {
            Some(own) if spec.class == Class::EndUser => {
                let here = within.map(|within| self.reference(within));
                let same = self.resolve(own).map(|own| self.reference(own)).ok();
                if here.is_some() && here == same { Ok(()) } else { Err(Refusal::Scope { own: own.clone() }) }
            }
            _ => Ok(()),
        }
    }

    fn told(&self, wish: Wish) -> SmolStr {
        let with = |verb: &str, subject: Subject| format_smolstr!("{verb} {}", self.profile.subject_name(subject));
        match wish {
            Wish::Create(subject) => with("create", subject),
            Wish::Delete(subject) => with("delete", subject),
            Wish::Tag(subject) => with("tag", subject),
            Wish::Link => SmolStr::new_static("link"),
            Wish::Policies => SmolStr::new_static("change policies"),
            Wish::Definitions => SmolStr::new_static("change tag definitions"),
            Wish::Waivers => SmolStr::new_static("grant waivers"),
            Wish::Violations => SmolStr::new_static("see violations"),
        }
    }
}
