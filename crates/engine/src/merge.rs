//! Family *merge*: many layers of configuration become one, and every field remembers who set it and whom it overrode.
//!
//! - [`strategy`]: how deep layers meet, what a null means, which lists add up or meet by key
//! - [`group`]: layers that speak about several things at once
//! - [`mod@fold`]: the fold over layers, best first, that builds the result and the origin of each field in one pass

pub mod fold;
pub mod group;
pub mod strategy;
#[cfg(test)]
mod tests;

pub use fold::{Layer, Leaf, Merged, Overridden, fold};
pub use strategy::{Depth, Keyed, Nulls, Strategy};
