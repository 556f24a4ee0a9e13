//! Dialect *Envoy Gateway*: how its policies are read, where they cannot be used, and what is reported of them.
//!
//! ```text
//! documents ──(reading)──▶ what policies say, and how they want to meet those of the listener
//! network   ──(attachment_requests)─▶ which policies want which target, and who has it
//!           ──(status)───▶ conditions for each ancestor of a policy; `routes`, `gateways` and `clients` know when each is due
//! ```
//!
//! Where policies are looked for, how they rank and how they meet is data: `kinds/envoy-gateway.yaml`. Unlike elsewhere, a
//! target has one policy of a kind, the more specific policy stands alone unless it says `mergeType`, and then it is merged
//! with the nearest policy of the listener, never with one of its own route.

mod attachment_requests;
pub(crate) mod builtin;
mod clients;
mod gateways;
mod reading;
mod resources;
mod routes;
pub mod status;
pub mod targets;

pub(crate) use clients::usable;
pub(crate) use reading::{layer, reaches_routes};
pub use status::{AncestorStatus, PolicyStatus};
pub use targets::Target;

/// The edition that is used when users name no other.
pub const DEFAULT_SEMANTICS: &str = "envoy-gateway";
