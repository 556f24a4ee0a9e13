//! Objects and policies as dialects hand them over, before anything is indexed.

use std::sync::Arc;

use crate::attachment::Attachments;
use crate::id::Table;
use crate::layers::Layers;
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
    /// Its type, for example `Service`.
    pub kind: Sym,
    /// Where names are unique and policies reach: the mesh.
    pub scope: Sym,
    /// Its name.
    pub name: Sym,
    /// What is known of it as a whole: its labels, and what its dialect adds.
    pub facts: TagSet,
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
    /// How users pick it: its name, or else its port.
    pub section: Sym,
    /// Its port, by which it is found as well.
    pub port: Option<Sym>,
    /// Its tags.
    pub tags: TagSet,
}

/// What a part is to its object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// It is called here.
    Inbound,
    /// It calls and is called as a gateway that somebody else configures.
    Gateway,
    /// It calls and is called as a gateway that resources of the mesh configure.
    BuiltinGateway,
    /// It calls others here.
    Outbound,
    /// The object as a whole.
    Whole,
    /// It passes on what others call.
    Listener,
    /// A listener of the gateway that it serves.
    GatewayListener,
    /// A port of a service.
    Port,
}

impl Role {
    /// The word that users see.
    pub fn word(self) -> &'static str {
        match self {
            Self::Inbound => "inbound",
            Self::Gateway | Self::BuiltinGateway => "gateway",
            Self::Outbound => "outbound",
            Self::Whole => "whole",
            Self::Listener => "listener",
            Self::GatewayListener => "gateway listener",
            Self::Port => "port",
        }
    }
}

/// A set of roles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Roles(u8);

impl Roles {
    /// These roles.
    pub fn of(roles: &[Role]) -> Self {
        Self(roles.iter().fold(0, |set, role| set | 1 << *role as u8))
    }

    /// Whether a role is in it.
    pub fn has(self, role: Role) -> bool {
        self.0 & 1 << role as u8 != 0
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
    /// How people call it: without what was added to make the name unique.
    pub title: Sym,
    /// When it was created; unknown is before all others.
    pub created: Option<Timestamp>,
    /// Where it was written.
    pub at: NodeRef,
    /// Its configuration, opaque and whole.
    pub payload: Option<NodeRef>,
    /// What it says.
    pub says: PolicyContent,
}

/// What a policy says, by family.
#[derive(Clone, Debug)]
pub enum PolicyContent {
    /// Selectors for the ends of a connection.
    Selectors {
        /// By field.
        lists: Vec<SelectorList>,
        /// Whole numbers that kinds rank by, with their fields.
        numbers: Vec<(Sym, i64)>,
    },
    /// Layers of configuration for those to whom it is attached.
    Layers(Layers),
    /// Layers of configuration for objects of a hierarchy.
    Attached(Arc<Attachments>),
    /// What its document says; its dialect reads it there.
    Document,
}

impl Policy {
    /// The selectors of a field; none where there is no such field.
    pub fn selectors(&self, field: Sym) -> &[Selector] {
        let PolicyContent::Selectors { lists, .. } = &self.says else { return &[] };
        lists.iter().find(|list| list.field == field).map_or(&[], |list| &list.selectors)
    }

    /// A whole number of a field.
    pub fn number(&self, field: Sym) -> Option<i64> {
        let PolicyContent::Selectors { numbers, .. } = &self.says else { return None };
        numbers.iter().find(|(known, _)| *known == field).map(|(_, number)| *number)
    }

    /// Its layers, if it has any.
    pub fn layers(&self) -> Option<&Layers> {
        match &self.says {
            PolicyContent::Layers(layers) => Some(layers),
            PolicyContent::Selectors { .. } | PolicyContent::Attached(_) | PolicyContent::Document => None,
        }
    }

    /// What it is attached to in a hierarchy, if it is that sort of policy.
    pub fn attachments(&self) -> Option<&Arc<Attachments>> {
        match &self.says {
            PolicyContent::Attached(attachments) => Some(attachments),
            PolicyContent::Selectors { .. } | PolicyContent::Layers(_) | PolicyContent::Document => None,
        }
    }
}

/// The selectors of one field of a policy; any of them may match.
#[derive(Clone, Debug)]
pub struct SelectorList {
    /// The field, for example `sources`.
    pub field: Sym,
    /// Its selectors in the order of the document.
    pub selectors: Vec<Selector>,
}
