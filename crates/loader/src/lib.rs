//! From what users name to a snapshot: files, folders, standard input and git revisions.
//!
//! ```text
//! paths, globs, -  ──(discover)──┐
//! a git revision   ──(git)───────┼─▶ Inputs ──(read)─▶ Files ──(load)─▶ snapshot, warnings
//! texts in memory  ──────────────┘                                │
//!                                             (load/after) the next snapshot out of the last
//! ```
//!
//! Invariant: one broken file hides no other; every problem is a [`upheld_model::Diagnostic`], and always all of them. What
//! is wrong answers nothing.

pub mod aside;
pub mod discover;
mod foreign;
pub mod git;
pub mod ignored;
pub mod load;
mod paths;
mod pattern;
pub mod read;
pub mod render;

pub use aside::{LeftAside, Why};
pub use discover::{Discovered, discover, discover_without};
pub use git::{discover_at, discover_at_without};
pub use ignored::Exclude;
pub use read::{Content, Input, Origin, read};
pub use upheld_syntax::Format;
