//! Dialect *access*: policies that permit and deny requests.
//!
//! - [`claim`]: which documents are ours
//! - [`policy_set`]: the policies that they make together
//! - [`policy`], [`compat`]: one policy, read strictly or as the original system reads it
//! - [`manifest`]: the settings beside policies
//! - [`request`]: requests as documents have them
//! - [`view`]: answers in the shape of the original
//! - [`enforce`]: what an enforcement point does with a request
//! - [`authzen`]: requests and answers of the Authorization API of `AuthZEN`
//! - [`javascript`]: patterns of the original, which are JavaScript regular expressions
//! - [`store`]: policies by id, in the order in which they came
//! - [`seeding`]: which policies a store begins with

pub mod authzen;
mod builder;
pub mod claim;
pub mod compat;
pub mod enforce;
pub mod facts;
pub mod javascript;
pub mod manifest;
pub mod policy;
pub mod policy_set;
pub mod request;
pub mod seeding;
pub mod shapes;
pub mod store;
pub mod view;
mod window;

pub use builder::{Asker, BadPolicy, DecisionPoint, DecisionPointBuilder, Policy, PolicyProblem};
pub use javascript::JavaScriptRegex;
pub use seeding::{OnlyIfEmpty, Plan, Seed, Seeds, Skipped};
pub use store::PolicyStore;

use crate::Builtin;

/// The edition that is used when users name no other.
pub const DEFAULT_SEMANTICS: &str = "access/strict";

/// The type of access policies.
pub const POLICY: &str = "AccessPolicy";

/// What access policies are in where others are in a mesh.
pub const SCOPE: &str = "access";

/// How policies are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Edition {
    /// What could mean something else than its author thinks is refused.
    #[default]
    Strict,
    /// As the original system does it, its openings included.
    Compat,
}

impl Edition {
    /// All of them with their names.
    pub const ALL: [(&'static str, Self); 2] = [(DEFAULT_SEMANTICS, Self::Strict), ("access/compat", Self::Compat)];

    /// The edition of a name.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(known, _)| *known == name).map(|(_, edition)| edition)
    }

    /// The name that users see and write.
    pub fn name(self) -> &'static str {
        Self::ALL.into_iter().find(|(_, known)| *known == self).map_or("", |(name, _)| name)
    }
}

/// The built-in kind.
pub(crate) const KINDS: [Builtin; 1] =
    [Builtin { name: "builtin:access.yaml", text: include_str!("access/kinds/access.yaml") }];
