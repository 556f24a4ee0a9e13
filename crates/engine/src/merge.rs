//! Family *merge*: many layers of configuration become one, and every field remembers who set it and whom it overrode.
//!
//! - [`audience`]: whom a policy is attached to, and the index over it
//! - [`targets`]: which objects a reference means
//! - [`index`]: the policies of one kind and scope, with their ranks
//! - [`update`]: how they get in, and out again
//! - [`family`]: matching and resolving, as `ask` drives them
//! - [`listing`]: what holds at every target that is named
//! - [`classes`]: subjects that no policy can tell apart
//! - [`cells`]: questions that no policy can tell apart
//! - [`table`]: a value for each class, and which of them a change concerns
//! - [`strategy`]: how deep layers meet, what a null means, which lists add up or meet by key
//! - [`group`]: layers that speak about several things at once
//! - [`mod@fold`]: the fold over layers, best first, that builds the result and the origin of each field in one pass
//!
//! `reference` is the naive twin that tests and benches compare with.

pub mod audience;
pub mod cells;
pub mod classes;
pub mod family;
pub mod fold;
pub mod group;
pub mod index;
pub mod listing;
#[cfg(any(test, feature = "reference"))]
pub mod reference;
pub mod strategy;
pub mod table;
pub mod targets;
#[cfg(test)]
mod tests;
pub mod update;

pub use audience::{AdmitScratch, Admitted, Audiences, Subject};
pub use cells::{Abouts, Cells};
pub use classes::{Classes, Seen, Sees};
pub use family::{About, CallerFact, Layered, Question};
pub use fold::{Layer, Leaf, Merged, Overridden, fold};
pub use index::{Attached, Column, Entry, Merge, ResolvedReach};
pub use listing::{Rule, Surroundings, TargetRules, chain};
pub use strategy::{Depth, ItemOrder, Keyed, Nulls, Strategy};
pub use table::{Change, ClassTable, Work};
pub use targets::{Target, Targets, alike};
