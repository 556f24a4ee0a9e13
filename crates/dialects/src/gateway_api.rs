//! Dialect *gateway_api*: gateways, listeners, routes and what they lead to, from Kubernetes manifests.
//!
//! - [`mod@claim`]: which documents are read
//! - [`topology`]: the graph, and the ways that requests take through it

pub mod claim;
pub mod topology;

pub use claim::{Claim, claim};
pub(crate) use claim::{object, policy};
