//! Dialect *meshstack*: the kinds of meshPolicies, in the edition of the seed and in the newest one. How their documents
//! are read is said by the kinds; [`crate::comply`] reads them.

use crate::Builtin;

/// The edition that is used when users name no other.
pub const DEFAULT_SEMANTICS: &str = "meshstack/classic";

/// The type of the policies.
pub const POLICY: &str = "MeshPolicy";

/// The built-in kinds.
pub(crate) const KINDS: [Builtin; 2] = [
    Builtin { name: "builtin:meshstack/classic.yaml", text: include_str!("meshstack/kinds/classic.yaml") },
    Builtin { name: "builtin:meshstack/current.yaml", text: include_str!("meshstack/kinds/current.yaml") },
];
