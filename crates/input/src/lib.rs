//! From what users name to documents with positions.
//!
//! ```text
//! paths, globs, -  ──(discover)──┐
//! a git revision   ──(git)───────┼─▶ Inputs ──(read)─▶ bytes ──(text)─▶ text ──(format)─┬─(yaml)─┬─▶ Files, Diagnostics
//! texts in memory  ──────────────┘                                                      ├─(json)─┤
//!                                                                                       └─(csv)──┘
//! ```
//!
//! Invariant: no input makes this crate panic, recurse deeper than a fixed limit, or take more than seconds or a few
//! times its own size in memory; [`limits`] has the numbers. Problems are [`upheld_model::Diagnostic`]s, and always all
//! of them: one broken file or document hides no other.

pub mod csv;
pub mod discover;
pub mod format;
pub mod git;
pub mod json;
mod keys;
pub mod limits;
pub mod load;
mod paths;
mod pattern;
mod quote;
pub mod read;
mod report;
pub mod text;
pub mod yaml;

pub use discover::discover;
pub use format::Format;
pub use git::discover_at;
pub use read::{Content, Input, parse, read};
