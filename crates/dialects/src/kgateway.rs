//! Dialect *kgateway*: which policies are attached to gateways, listeners, routes, rules and backends, what they come to, and
//! what their status is.
//!
//! ```text
//! documents ──(policies, fields, errors)──▶ policies with fields, or with what is wrong with them
//! policies  ──(attachments)──▶ who is attached to an object or a section of it, the best first
//! topology  ──(scopes, contexts)──▶ brackets of a scope by level, and fields with values, origins and losers
//! scopes    ──(effective)──▶ what holds on a way: the nearest scope that has a field
//! all scopes ──(status)──▶ conditions of each policy at each ancestor
//! ```
//!
//! - [`resolver`]: the entry
//! - [`kinds`], [`settings`]: what there is to choose from
//! - [`rules`]: how the fields of a kind meet, by semantics
//! - [`builtin`]: what rules of routes say themselves, which goes before any policy
//! - [`references`]: objects by name, and whether somebody may refer to them

pub mod attachments;
pub mod builtin;
mod contexts;
pub mod effective;
pub mod errors;
pub mod fields;
pub mod kinds;
pub mod policies;
pub mod references;
pub mod resolver;
pub mod rules;
pub mod scopes;
pub mod settings;
pub mod status;
mod survival;
#[cfg(test)]
mod tests;
pub mod why;

pub use attachments::{Attached, Via};
pub use effective::{Effective, Held, Holder};
pub use kinds::{Semantics, Subject};
pub use policies::{Policies, PolicyEntry};
pub use resolver::Resolver;
pub use scopes::{Bracket, Place, Scope};
pub use settings::{PolicyMerge, ReferenceGrants, Settings};
pub use status::{Ancestor, PolicyStatus, Survival};
