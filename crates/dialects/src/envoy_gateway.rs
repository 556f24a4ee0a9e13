//! Dialect *Envoy Gateway*: how its policies are read, where they cannot be used, and what is reported of them.
//!
//! ```text
//! documents ──(reading)──▶ what policies say, and how they want to meet those of the listener
//! network   ──(wishes)───▶ which policies want which target, and who has it
//!           ──(status)───▶ conditions for each ancestor of a policy; `routes`, `gateways` and `clients` know when each is due
//! ```
//!
//! Where policies are looked for, how they rank and how they meet is data: `kinds/envoy-gateway.yaml`. Unlike elsewhere, a
//! target has one policy of a kind, the more specific policy stands alone unless it says `mergeType`, and then it is merged
//! with the nearest policy of the listener, never with one of its own route.

mod clients;
mod gateways;
mod reading;
mod routes;
mod scene;
pub mod status;
pub mod targets;
mod wishes;

pub(crate) use clients::usable;
pub(crate) use reading::{layer, reaches_routes};
pub use status::{AncestorStatus, PolicyStatus};
pub use targets::Target;

use crate::Builtin;

/// The edition that is used when users name no other.
pub const DEFAULT_SEMANTICS: &str = "envoy-gateway";

/// The built-in kinds.
pub(crate) const KINDS: [Builtin; 1] =
    [Builtin { name: "builtin:envoy-gateway.yaml", text: include_str!("envoy_gateway/kinds/envoy-gateway.yaml") }];
