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

mod affected;
pub mod all_pairs;
pub mod codes;
pub mod formats;
pub mod inventory;
mod kinds;
pub mod lessons;
pub mod lint;
mod owners;
pub mod patch;
mod progress;
mod remade;
pub mod replay;
mod resolved;
pub mod schema;
mod shifts;
pub mod shown;
mod suppose;
mod survival;
pub mod testing;
mod why_not;
mod world;

pub use affected::{Affected, PolicyChange, Successor};
pub use kinds::KindLine;
pub use lint::{LintFinding, LintWanted, Linted};
pub use owners::Owner;
pub use progress::Progress;
pub use remade::Remade;
pub use resolved::{Resolution, Resolved, verdict_of};
pub use suppose::{Instead, Supposed, Supposition};
pub use survival::{Death, Fate, Survival};
pub use upheld_dialects::access::reach::{MOST_DECISIONS, ReachQuestion};
pub use upheld_dialects::comply::questions as compliance;
pub use upheld_dialects::question::{Options, Question, Thing, Words};
pub use upheld_report::{
    self as report, Answer, Drawing, ObjectStatus, PolicyStatus, Refused, Stamp, diagnostic_json, stamp,
};
pub use why_not::WhyNot;
pub use world::World;
