//! Dialect *Gateway API*: gateways, listeners, routes and what they lead to, from Kubernetes manifests.
//!
//! - [`mod@claim`]: which documents are read
//! - [`mod@controller`]: who runs a gateway, and whose policies count there
//! - [`attachments`]: what policies are attached to and what they say, by how the documents of their kind are read
//! - [`resources`], [`mod@matches`]: typed views over documents
//! - `stored`: what API servers keep of a document
//! - [`mod@policy`], [`profiles`]: statements, and how each system merges them, as a table
//! - [`mod@effective`]: the effective policy of a path that is given, under a profile; [`gwctl`], [`envoy`]: what these two
//!   read from a spec before
//! - [`mod@inherit`]: which routes a route may hand over to, and what they match then
//! - [`topology`]: the graph, and the ways that requests take through it; [`settings`] steer it
//! - [`assumed`]: ways through routes whose gateways were not read
//! - [`gateways`]: what a snapshot keeps of all of that; [`places`]: from a target to the places of its policies;
//!   [`survey`]: many places at once
//!
//! ```text
//! snapshot ──(resources, world)─▶ routes, found by name, namespace and label
//! route    ──(attach)───────────▶ at which listeners it is, under which hosts
//!          ──(walk, inherit)────▶ the ways from there
//!          ──(entry)────────────▶ all of that, with what was looked for (dependents)
//! entries  ──(build)────────────▶ a topology, with ways in the order of (precedence); the next one out of the last
//!          ──(report)───────────▶ the status of routes
//! request  ──(find)─────────────▶ its way
//! way      ──(places)───────────▶ a question to the engine
//! topology ──(graph)────────────▶ pictures
//! ```

pub mod assumed;
mod attach;
pub mod attachments;
mod build;
pub mod claim;
pub mod controller;
mod dependents;
pub mod effective;
pub(crate) mod elsewhere;
mod entry;
pub mod envoy;
pub(crate) mod facts;
pub mod find;
pub mod gateways;
pub mod grants;
pub mod graph;
pub mod gwctl;
pub mod hostname;
pub mod inherit;
pub mod matches;
pub mod pattern;
pub mod places;
pub mod policy;
mod precedence;
pub mod profiles;
pub mod report;
pub mod reported;
pub mod resources;
pub mod scopes;
pub(crate) mod selector;
pub mod settings;
pub(crate) mod stored;
pub mod survey;
#[cfg(test)]
mod tests;
pub mod topology;
mod walk;
mod warnings;
mod world;

pub(crate) use claim::{CLUSTER_WIDE, is_about_gateways, object, policy};
pub use claim::{Claim, claim};
pub use effective::effective;
pub use gateways::{GatewayKind, Gateways, Network};
pub use places::Asked;
pub use policy::{Policy, Statement};
pub(in crate::gateways) use precedence::ROUTE_WEIGHT;
pub use profiles::{MergeStrategy, Profile};
pub use settings::{ControllerSettings, Settings};
pub use topology::Topology;
