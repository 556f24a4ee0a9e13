//! In which order requests try the ways of a host.

use std::cmp::Reverse;

use super::matches::{Match, PathKind};

/// The annotation with the weight of a route.
pub(super) const ROUTE_WEIGHT: &str = "kgateway.dev/route-weight";

/// What a way is ranked by; the smallest comes first. The order of the fields is the order in which they decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    weight: Reverse<i32>,
    path_kind: PathKind,
    path_length: Reverse<usize>,
    method: Reverse<bool>,
    headers: Reverse<usize>,
    query: Reverse<usize>,
    ages: Ages,
}

/// Places among all routes from old to new: of the route at the listener and of the one that answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Ages {
    pub(super) root: usize,
    pub(super) leaf: usize,
}

impl Rank {
    pub(super) fn of(matching: &Match, weight: i32, ages: Ages) -> Self {
        // The length of a regular expression says nothing.
        let compares_length = matching.path_kind != PathKind::RegularExpression;
        Self {
            weight: Reverse(weight),
            path_kind: matching.path_kind,
            path_length: Reverse(if compares_length { matching.normal_path().len() } else { 0 }),
            method: Reverse(matching.method.is_some()),
            headers: Reverse(matching.headers.len()),
            query: Reverse(matching.query.len()),
            ages,
        }
    }
}
