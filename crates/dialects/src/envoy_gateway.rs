//! Dialect *Envoy Gateway*: which policy holds where, what is merged into it, and what is said of each.
//!
//! - [`mod@policies`]: the policies, each read once
//! - [`targets`]: what they can be attached to, and who is more specific
//! - `scene`: gateways, listener sets and routes, found by name and label
//! - [`attachments`]: one policy for each kind, target and section; the others are refused
//! - [`effective`]: what holds at a listener or for a rule of a route, and whose each part is
//! - [`status`]: conditions for each ancestor of a policy; `routes`, `gateways` and `clients` know when each is due
//!
//! ```text
//! topology + policies in order ──(attachments)──▶ who holds which target
//!                              ──(effective)────▶ configuration with origins
//!                              ──(status)───────▶ conditions
//! ```
//!
//! Unlike elsewhere, a target has one policy of a kind, the more specific policy stands alone unless it says `mergeType`,
//! and then it is merged with the nearest policy of the listener, never with one of its own route.

pub mod attachments;
mod clients;
pub mod effective;
mod gateways;
pub mod policies;
mod routes;
mod scene;
pub mod status;
pub mod targets;
#[cfg(test)]
mod tests;

pub use attachments::{Attachments, Refusal};
pub use effective::{Effective, Spot};
pub use policies::{Policy, PolicyKind, by_age};
pub use status::{AncestorStatus, PolicyStatus};
pub use targets::{Level, Target};
