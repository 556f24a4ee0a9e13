//! What people do, and what becomes of it: the edge, where everything is called by its name.

use smol_str::SmolStr;
use upheld_engine::comply::{Finding, ObjectState, Partner, Policy, Role, Tags, Waiver};
use upheld_model::Timestamp;

use crate::definition::{Definition, Redefinition};
use crate::refusal::Refusal;

/// Who acts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Actor {
    /// The program itself, which may do everything and refuses nothing that administrators may do.
    System,
    /// Somebody with a role.
    Person {
        /// The role.
        role: Role,
        /// Where the role holds, as a reference; everywhere when left out.
        scope: Option<SmolStr>,
        /// Who it is, for the records.
        name: Option<SmolStr>,
    },
    /// Somebody with several roles, the strongest first: for each action the first of them counts that may do it.
    Several(Vec<Actor>),
}

impl Actor {
    /// Somebody with these roles, the strongest first; nothing without any.
    pub fn of(mut roles: Vec<Self>) -> Option<Self> {
        let last = roles.pop()?;
        if roles.is_empty() {
            return Some(last);
        }
        roles.push(last);
        Some(Self::Several(roles))
    }

    /// The roles in which they act, the strongest first.
    pub fn roles(&self) -> &[Self] {
        match self {
            Self::Several(roles) => roles,
            one => std::slice::from_ref(one),
        }
    }
}

/// An object that is to be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewObject {
    /// Its reference, `kind/id`.
    pub object: SmolStr,
    /// How people call it.
    pub name: Option<SmolStr>,
    /// Its tags.
    pub tags: Tags,
    /// What it is related to from the beginning: what it lives in among them.
    pub links: Vec<NewLink>,
    /// Whether it is the provider's own.
    pub partner: Partner,
    /// What pays for it, as a reference.
    pub paid_by: Option<SmolStr>,
    /// What becomes of tags that were left out.
    pub filling: Filling,
}

/// What becomes of tags of a new object that were left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Filling {
    /// Definitions fill in their defaults.
    #[default]
    Defaults,
    /// They are left out: a document says all that there is.
    AsWritten,
    /// Nobody says anything of the object: another one is related to it, and that is all.
    Mentioned,
}

/// What is known of an object besides its tags and relationships.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Description {
    /// How people call it.
    pub name: Option<SmolStr>,
    /// Whether it is the provider's own.
    pub partner: Partner,
    /// What pays for it, as a reference.
    pub paid_by: Option<SmolStr>,
    /// What it is good for.
    pub standing: ObjectState,
}

/// A relationship of a new object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewLink {
    /// The other side.
    pub other: SmolStr,
    /// What qualifies it.
    pub role: Option<SmolStr>,
}

/// A change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Create an object, with what it is related to.
    Create(NewObject),
    /// Delete an object and all its relationships.
    Delete {
        /// Which.
        object: SmolStr,
    },
    /// Change some tags; those without values are removed.
    SetTags {
        /// Of which object.
        object: SmolStr,
        /// The tags that change.
        tags: Tags,
    },
    /// Describe an object otherwise.
    Describe {
        /// Which.
        object: SmolStr,
        /// What is known of it from then on.
        description: Description,
    },
    /// Relate two objects.
    Link {
        /// One side.
        a: SmolStr,
        /// The other.
        b: SmolStr,
        /// What qualifies it.
        role: Option<SmolStr>,
    },
    /// End a relationship.
    Unlink {
        /// One side.
        a: SmolStr,
        /// The other.
        b: SmolStr,
        /// Only what this qualifies.
        role: Option<SmolStr>,
    },
    /// End one relationship and nothing that rests on it: the document that said it is gone.
    End {
        /// One side.
        a: SmolStr,
        /// The other.
        b: SmolStr,
        /// What qualifies it.
        role: Option<SmolStr>,
    },
    /// Add a policy that was not there.
    CreatePolicy(Policy),
    /// Replace a policy.
    UpdatePolicy(Policy),
    /// Remove a policy.
    DeletePolicy {
        /// Its name.
        policy: SmolStr,
    },
    /// Add a tag definition.
    Define(Definition),
    /// Change parts of a tag definition.
    Redefine(Redefinition),
    /// Remove a tag definition, and the values of it.
    Undefine {
        /// The subject, by name.
        subject: SmolStr,
        /// The key.
        key: SmolStr,
    },
    /// Set the default tags, which are added to all whom they concern.
    SetDefaults {
        /// The tags.
        tags: Tags,
    },
    /// Grant a waiver.
    Grant(Waiver),
    /// Revoke a waiver.
    Revoke {
        /// Its name.
        waiver: SmolStr,
    },
    /// Let time pass.
    Advance {
        /// Until when.
        to: Timestamp,
    },
}

/// What becomes of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// Done, and nothing violates that did not before.
    Allowed,
    /// Done, and something violates now.
    Soft,
    /// Refused because of a policy.
    Blocked,
    /// Refused because it makes no sense.
    Invalid,
    /// Refused because the actor may not.
    Forbidden,
}

impl Outcome {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Allowed, Self::Soft, Self::Blocked, Self::Invalid, Self::Forbidden];

    /// By its word.
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|outcome| outcome.word() == word)
    }

    /// The word that users see.
    pub fn word(self) -> &'static str {
        match self {
            Self::Allowed => "allowed",
            Self::Soft => "soft",
            Self::Blocked => "blocked",
            Self::Invalid => "invalid",
            Self::Forbidden => "forbidden",
        }
    }

    /// Whether the change was made.
    pub fn is_done(self) -> bool {
        matches!(self, Self::Allowed | Self::Soft)
    }
}

/// What became of an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// In a word.
    pub outcome: Outcome,
    /// If blocked, those that block; else those that are new. In order.
    pub violations: Vec<Finding>,
    /// Why it is invalid or forbidden.
    pub refusal: Option<Refusal>,
    /// The tags of a new object, defaults included.
    pub tags: Option<Tags>,
    /// The version of the state that this rests on.
    pub version: u64,
}
