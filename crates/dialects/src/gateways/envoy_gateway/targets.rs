//! What policies can be attached to, and who is more specific.

use upheld_engine::ObjectId;

/// A resource, or a section of it: a listener or a rule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Target {
    /// The resource.
    pub object: ObjectId,
    /// The name of the section.
    pub section: Option<String>,
}

impl Target {
    /// A whole resource.
    pub const fn whole(object: ObjectId) -> Self {
        Self { object, section: None }
    }

    /// A section of a resource.
    pub fn section(object: ObjectId, name: &str) -> Self {
        Self { object, section: Some(name.to_owned()) }
    }
}

/// How specific a target is, the most specific first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// A rule of a route.
    Rule,
    /// A route.
    Route,
    /// A listener of a listener set.
    SetListener,
    /// A listener set.
    Set,
    /// A listener of a gateway.
    Listener,
    /// A gateway.
    Gateway,
}
