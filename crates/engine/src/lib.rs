//! The engine: which policies apply to a question, which one wins, and why.
//!
//! ```text
//! snapshot + question ──▶ ask ──▶ match    find (index) or check (sweep), one truth      ask, select, decide
//!                                 rank     a ladder of rungs, each an integer            ladder
//!                                 resolve  the hits fold into one answer                 select
//!                         witness is told what happens ──▶ ruling                        witness, ruling
//! reason ──▶ sentence                                                                    words
//! ```
//!
//! A kind of policy is three choices (how it matches, ranks and resolves), see [`kind`]. Families own semantics and
//! know no file format.
//!
//! Invariant: no I/O, no clock, no async, no panic; the same input gives the same bytes. Work that is ended from outside unwinds,
//! see [`work`].

mod apart;
pub mod ask;
mod buckets;
pub mod comply;
pub mod decide;
pub mod digest;
pub mod hierarchy;
pub mod kind;
pub mod ladder;
pub mod merge;
mod order;
pub mod partition;
pub mod ruling;
pub mod select;
mod shortlist;
pub mod snapshot;
#[cfg(test)]
mod support;
pub mod witness;
pub mod words;
pub mod work;

pub use ask::{EntryId, Family, Fit, Hit, Place, Scratch, ask, gather, settle};
pub use hierarchy::Hierarchy;
pub use kind::{
    Choices, ComplyKind, DecideFields, DecideKind, Empty, EmptyValue, FacetChoice, Grants, Granularity, HierarchyFold,
    HierarchyKind, LayerDefaults, Levels, Match, MergeKind, Payload, PlaceChoice, PolicyKind, Resolve, SelectKind,
};
pub use ladder::{Best, Ladder, Rung};
pub use partition::Partition;
pub use ruling::{Candidate, Ruling};
pub use select::{Column, Entry, Granted, Question, Select, Selected, Specificity};
pub use snapshot::{
    Companions, Described, Difference, Identity, Indexed, KindId, ObjectId, PolicyId, Roster, Snapshot, Texts,
};
pub use witness::{Everything, Matched, Silent, Witness};
