//! The Authorization API 1.0 of `AuthZEN`, as calls of a library: may this subject do this, and who may do what?
//!
//! ```text
//! JSON ──▶ parts ──▶ mapping ──▶ Request ──▶ Decide ──▶ answer ──▶ JSON
//!                       ▲ directory: what is known of subjects, resources and actions
//! ```
//!
//! - [`directory`]: known entities, and how documents list them
//! - `parts`: what a request must have; [`BadRequest`] says what it lacks
//! - `mapping`: entities of the standard as parts of the engine's requests
//! - `evaluate`: one decision, or several at once
//! - `search`: everybody or everything that would be permitted, page by page
//!
//! A library has no headers and no metadata document; a server adds them.

mod answer;
mod bad_request;
pub mod directory;
mod evaluate;
pub(super) mod mapping;
mod page;
mod parts;
mod search;

use upheld_model::Timestamp;

pub use answer::{Answer, Batch, Failure, Verdict};
pub use bad_request::{BadRequest, Problem};
pub use directory::{Directory, GroupMembership, KnownAction};
pub use evaluate::{MOST_EVALUATIONS, Semantic, read};
pub use search::{Found, Match};

use super::Edition;
use super::decider::Decider;

/// Answers requests of the standard.
#[derive(Clone, Copy, Debug)]
pub struct AuthZen<'a> {
    /// The policies, and what is known of entities beside what requests say.
    pub decider: Decider<'a>,
    /// The moment, for requests that do not say one.
    pub now: Option<Timestamp>,
}

impl<'a> AuthZen<'a> {
    /// With policies of one kind. The standard is no part of the original, so requests of it are always read strictly.
    pub fn new(decider: Decider<'a>, now: Option<Timestamp>) -> Self {
        Self { decider: Decider { edition: Edition::Strict, ..decider }, now }
    }
}
