//! Documents of the family comply, of any kind: objects with tags, relationships, definitions, policies, waivers, changes.
//!
//! - [`documented`]: which documents are ours, and the state that they make
//! - [`mapping`]: where the documents of other systems have what we look for
//! - `objects`, `links`: who there is, and how they are related
//! - `definitions`, `policies`, `values`: what holds
//! - [`changes`]: what was done, or what somebody thinks of doing
//! - [`shapes`]: what all of these look like

pub mod changes;
mod claim;
mod definitions;
pub mod documented;
mod links;
pub mod mapping;
mod objects;
mod policies;
mod problems;
mod reader;
pub mod shapes;
mod tagged;
mod values;

pub use documented::{Documented, Organisations};

/// What policies are in where others are in a mesh.
pub const SCOPE: &str = "compliance";
