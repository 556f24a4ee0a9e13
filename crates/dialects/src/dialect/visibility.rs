//! Which documents somebody may know of, where roles of a policy system hold in a part of it only.

use std::fmt::Debug;

use upheld_model::tree::Value;

use crate::identity::Identity;

/// Which documents somebody may know of.
pub trait Visibility: Debug {
    /// Whether a document names nothing that is kept from them.
    fn shows(&self, document: Value<'_>) -> bool;

    /// The same of a document of which only the name is left.
    fn shows_gone(&self, identity: &Identity) -> bool;
}
