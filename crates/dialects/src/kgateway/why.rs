//! Why one policy counts more than another in a scope: the first thing in which they differ.

use upheld_model::Timestamp;

use super::attachments::Via;
use super::policies::Policies;
use super::scopes::{Bracket, Place, Scope};

/// What separates two policies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// They are attached to routes that delegate to each other, and the child is preferred.
    Child,
    /// They are attached to routes that delegate to each other, and the parent is preferred.
    Parent,
    /// One is attached by a filter of the rule, the other by naming it.
    Attachment,
    /// Both are attached by filters; the earlier one counts.
    Position,
    /// One names the rule or listener, the other the whole.
    Section,
    /// One is heavier.
    Weight(i32, i32),
    /// One is older.
    Older(Option<Timestamp>, Option<Timestamp>),
    /// Nothing but the order of their names.
    Identity,
}

/// Why the first of two policies counts more than the second.
pub fn why(scope: &Scope, policies: &Policies, winner: usize, loser: usize) -> Why {
    let place = |policy: usize| {
        let brackets = scope.brackets.iter().enumerate();
        let mut found = brackets.filter_map(|(number, bracket)| {
            bracket.attached.iter().any(|attached| attached.policy == policy).then_some((number, bracket))
        });
        found.next()
    };
    let (Some((number, mine)), Some((other, theirs))) = (place(winner), place(loser)) else {
        return Why::Identity;
    };
    let by_filter = |bracket: &Bracket, policy: usize| {
        bracket.attached.iter().any(|attached| attached.policy == policy && attached.via == Via::ExtensionRef)
    };
    match (by_filter(mine, winner), by_filter(theirs, loser)) {
        _ if mine.level < theirs.level => Why::Child,
        _ if mine.level > theirs.level => Why::Parent,
        (true, true) => Why::Position,
        (true, false) | (false, true) => Why::Attachment,
        // Backends order all of their policies together.
        (false, false) if number != other && scope.place != Place::Backend => Why::Section,
        (false, false) => match (policies.get(winner), policies.get(loser)) {
            (Some(mine), Some(theirs)) if mine.weight != theirs.weight => Why::Weight(mine.weight, theirs.weight),
            (Some(mine), Some(theirs)) if mine.created != theirs.created => Why::Older(mine.created, theirs.created),
            _ => Why::Identity,
        },
    }
}
