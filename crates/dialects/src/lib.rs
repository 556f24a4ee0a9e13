//! Dialects: documents of policy systems in, answers and native shapes out.
//!
//! ```text
//! documents ──recognise──▶ objects, policies, kinds     every dialect takes its own documents
//! question  ──answer─────▶ reports                       every dialect answers what it knows
//!
//! dialect                  what a dialect is, and which there are
//! access                   policies that permit and deny requests
//! comply                   objects that are related and must agree in their tags
//! kuma                     policies of a service mesh
//! gateways                 gateways and routes as a graph, and the policies of controllers over it
//! network_policy           which pods may reach which
//! ```
//!
//! A dialect knows formats and leaves semantics to the engine's families. Built-in kinds are `PolicyKind` documents in the
//! users' own format ([`builtin`]); they are read by the same code.
//!
//! Invariant: no I/O; every mistake in a document is a located diagnostic, and a bad document never hides a good one.

pub mod access;
mod changed;
pub mod comply;
pub mod dialect;
pub mod document;
pub mod gateways;
pub mod identity;
pub mod kuma;
mod merge_strategy;
pub mod network_policy;
pub mod policy_kind;
pub mod question;
pub mod recognise;
pub mod schemas;
pub mod select_policy;
pub mod shape;

pub use changed::changed;
pub use dialect::{Builtin, Dialect, builtin, default_editions, dialects, editions, natives};
pub use identity::{Identities, Identity, Nameless};
pub use question::{Asked, Question, Refused, Thing};
pub use recognise::{Reading, Recognised, SetAside, recognise, recognise_with};
