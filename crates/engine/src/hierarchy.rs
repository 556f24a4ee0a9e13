//! Family *merge*, along a hierarchy: policies are attached to objects, or to sections of them, and what holds at a target is
//! made of all that are attached to it and to what is above it.
//!
//! - match: a question is a list of places ([`question`]); each looks for entries that name or select its object, or lists them
//!   ([`index`])
//! - rank: a ladder whose rungs read the place (scope, level, reference, position, section) and the entry (numbers, age, names);
//!   it is the order of folding, not of winning ([`rank`])
//! - resolve: layers that are equal in scope and level fold first among themselves, then level by level, then scope by scope,
//!   each with a join of its own: by named fields ([`fields`], [`scopes`]) or as whole configurations ([`wholes`])
//!
//! Who beat whom, and on which rung, comes out of the same fold ([`answer`]). [`cells`] are the targets at which the same
//! entries meet. `reference` is the naive twin that tests and benches compare with.

pub mod answer;
pub mod cells;
pub mod fields;
pub mod index;
pub mod question;
pub mod rank;
#[cfg(any(test, feature = "reference"))]
pub mod reference;
mod resolve;
pub mod scopes;
#[cfg(test)]
mod tests;
pub mod wholes;

pub use answer::{Effective, Field, InScope, Lost, Member};
pub use cells::{CellKey, Cells};
pub use fields::{Folded, Inheritance, Joined, Prefer, Reach, Rules};
pub use index::{Attachment, Entry, Hierarchy, Via};
pub use question::{EntrySource, LevelJoin, Listed, OwnContent, OwnLayer, Question, Section, Site, Usable};
pub use rank::Column;
pub use scopes::FieldParts;
