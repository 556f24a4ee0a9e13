//! Dialects: documents of the source systems in, engine questions and native shapes out.
//!
//! ```text
//! documents ──recognise──▶ Draft + kinds          recognise (all dialects), document, shape, policy_kind, select_policy
//! access                   policies that permit and deny requests
//! comply, meshstack        objects that are related and must agree in their tags
//! kuma                     documents, built-in kinds, names of ends, native shapes
//! gateway_api              gateways and routes as a graph; effective policies by profile
//! kgateway, envoy_gateway  their policies over that graph
//! ```
//!
//! A dialect knows formats and leaves semantics to the engine's families. Built-in kinds are `PolicyKind` documents in the
//! users' own format ([`builtin`]); they are read by the same code.
//!
//! Invariant: no I/O; every mistake in a document is a located diagnostic, and a bad document never hides a good one.

pub mod access;
pub mod comply;
mod comply_kind;
mod decide_kind;
pub mod document;
pub mod envoy_gateway;
pub mod gateway_api;
mod hierarchy_kind;
pub mod identity;
pub mod kgateway;
pub mod kuma;
mod merge_kind;
pub mod meshstack;
pub mod policy_kind;
pub mod recognise;
pub mod select_policy;
pub mod shape;

pub use identity::{Identity, identity};
pub use recognise::{Reading, Recognised, SetAside, recognise, recognise_with};

/// A document that is part of the program.
#[derive(Clone, Copy, Debug)]
pub struct Builtin {
    /// How messages call it.
    pub name: &'static str,
    /// YAML.
    pub text: &'static str,
}

/// The built-in kinds of all dialects.
pub fn builtin() -> impl Iterator<Item = &'static Builtin> {
    kuma::KINDS
        .iter()
        .chain(&access::KINDS)
        .chain(&meshstack::KINDS)
        .chain(&kgateway::KINDS)
        .chain(&envoy_gateway::KINDS)
}
