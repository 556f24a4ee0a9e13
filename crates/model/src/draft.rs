//! Objects and policies as dialects hand them over, before anything is indexed.

use crate::id::Table;
use crate::source::NodeRef;
use crate::symbols::{Sym, Symbols};
use crate::tags::{Selector, TagSet};
use crate::time::Timestamp;

/// Everything that was recognised, in order of arrival.
#[derive(Debug, Default)]
pub struct Draft {
    /// The texts of all names, tags and values.
    pub symbols: Symbols,
    /// What policies speak about.
    pub objects: Table<Object>,
    /// The policies.
    pub policies: Table<Policy>,
}

/// Anything that policies speak about: a proxy, a service, a mesh.
#[derive(Clone, Debug)]
pub struct Object {
    /// Its type, for example `Dataplane`.
    pub kind: Sym,
    /// Where names are unique and policies reach: the mesh.
    pub scope: Sym,
    /// Its name.
    pub name: Sym,
    /// What it offers to selectors.
    pub parts: Vec<Part>,
    /// Where it was written.
    pub at: NodeRef,
    /// When it was created, if the document says so.
    pub created: Option<Timestamp>,
}

/// A part of an object that carries tags of its own; tags of two parts are never combined.
#[derive(Clone, Debug)]
pub struct Part {
    /// What it is to its object.
    pub role: Role,
    /// How users pick it: a port or a name.
    pub section: Sym,
    /// Its tags.
    pub tags: TagSet,
}

/// What a part is to its object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// It is called here.
    Inbound,
    /// It calls and is called as a gateway.
    Gateway,
    /// It calls others here.
    Outbound,
    /// The object as a whole.
    Whole,
}

impl Role {
    /// The word that users see.
    pub fn word(self) -> &'static str {
        match self {
            Self::Inbound => "inbound",
            Self::Gateway => "gateway",
            Self::Outbound => "outbound",
            Self::Whole => "whole",
        }
    }
}

/// A policy: who it is, what it selects, and its payload, which stays where it was written.
#[derive(Clone, Debug)]
pub struct Policy {
    /// Its type, for example `TrafficLog`.
    pub kind: Sym,
    /// Where it reaches: the mesh.
    pub scope: Sym,
    /// Its name.
    pub name: Sym,
    /// When it was created; unknown is before all others.
    pub created: Option<Timestamp>,
    /// Where it was written.
    pub at: NodeRef,
    /// Its configuration, opaque and whole.
    pub payload: Option<NodeRef>,
    /// Its selectors by field.
    pub selectors: Vec<SelectorList>,
    /// Whole numbers that its kinds rank by, with their fields.
    pub numbers: Vec<(Sym, i64)>,
}

/// The selectors of one field of a policy; any of them may match.
#[derive(Clone, Debug)]
pub struct SelectorList {
    /// The field, for example `sources`.
    pub field: Sym,
    /// Its selectors in the order of the document.
    pub selectors: Vec<Selector>,
}
