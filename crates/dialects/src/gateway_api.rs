//! Dialect *Gateway API*: gateways, listeners, routes and what they lead to, from Kubernetes manifests.
//!
//! - [`mod@claim`]: which documents are read
//! - [`resources`], [`mod@matches`]: typed views over them
//! - [`mod@policy`]: a policy with its stanzas, and which of two is older
//! - [`profiles`]: how each system makes effective policies, as a table
//! - [`mod@effective`]: the effective policy of a path, under a profile
//! - [`gwctl`], [`envoy`]: what these two read from a spec before
//! - [`field_rules`]: the fields of kgateway's kinds, and how they meet
//! - [`mod@inherit`]: which routes a route may hand over to, and what they match then
//! - [`topology`]: the graph, and the ways that requests take through it; [`settings`] steer it
//!
//! ```text
//! snapshot ──(resources, world)─▶ routes, found by name, namespace and label
//!          ──(attach)───────────▶ which of them are at which listeners, under which hosts
//!          ──(walk, inherit)────▶ the ways through them, in the order of (precedence)
//!          ──(report)───────────▶ the status of routes
//! request  ──(find)─────────────▶ its way
//! topology ──(graph, draw)──────▶ pictures
//! ```

mod attach;
mod build;
pub mod claim;
pub mod declared;
pub mod draw;
pub mod effective;
pub mod envoy;
pub mod field_rules;
pub mod find;
pub mod grants;
pub mod graph;
pub mod gwctl;
pub mod hostname;
pub mod inherit;
pub mod matches;
pub mod pattern;
pub mod policy;
mod precedence;
pub mod profiles;
pub mod report;
pub mod resources;
pub(crate) mod selector;
pub mod settings;
mod spelling;
#[cfg(test)]
mod tests;
pub mod topology;
mod walk;
mod warnings;
mod world;

pub use claim::{Claim, claim};
pub(crate) use claim::{is_about_gateways, object, policy};
pub use effective::effective;
pub use policy::{Policy, Saying};
pub use profiles::{MergeStrategy, MergeType, Profile};
pub use settings::Settings;
pub use topology::Topology;
