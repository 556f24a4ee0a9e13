//! Questions in, reports out.
//!
//! ```text
//! snapshot + options ──▶ World ◀── question
//!                          │
//!                          ├──▶ report, and from it JSON, SARIF, …     report, formats
//!                          └──▶ why there is none                      refused
//! ```
//!
//! Every way of asking, from a terminal or over a network, comes through here, so that all give the same answers.
//!
//! Invariant: no terminal, no files, no clock. Time and texts enter as values.

pub mod all_pairs;
pub mod codes;
pub mod compliance;
pub mod connections;
pub mod decisions;
pub mod formats;
pub mod gateways;
mod graph;
pub mod inventory;
pub mod kinds;
mod layers;
mod options;
mod question;
mod refused;
pub mod report;
mod resolved;
pub mod shown;
pub mod stamp;
pub mod status;
pub mod testing;
mod world;

pub use graph::Drawn;
pub use options::Options;
pub use question::{About, Question};
pub use refused::{Refused, diagnostic_json};
pub use resolved::{Resolution, Resolved, Verdict};
pub use stamp::{Stamp, document};
pub use world::World;
