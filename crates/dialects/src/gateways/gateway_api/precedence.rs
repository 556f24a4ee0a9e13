//! In which order requests try the ways of a host.

use std::cmp::Reverse;
use std::sync::Arc;

use smol_str::{SmolStr, format_smolstr};
use upheld_model::Timestamp;

use super::matches::{Match, PathKind};
use super::resources::View;

/// The annotation with the weight of a route.
pub(in crate::gateways) const ROUTE_WEIGHT: &str = "kgateway.dev/route-weight";

/// What a way is ranked by; the smallest comes first. The order of the fields is the order in which they decide.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    weight: Reverse<i32>,
    path_kind: PathKind,
    path_length: Reverse<usize>,
    method: Reverse<bool>,
    headers: Reverse<usize>,
    query: Reverse<usize>,
    ages: Ages,
}

/// Of the route at the listener and of the one that answers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Ages {
    pub(super) root: Arc<Age>,
    pub(super) leaf: Arc<Age>,
}

/// What routes are ordered by from old to new: no two of them are equal, and others do not change it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Age {
    created: Created,
    /// Namespace and name as one text.
    path: SmolStr,
    /// Type, namespace and name.
    pub(super) identity: [SmolStr; 3],
}

/// When an object was created. What has no time is not applied yet, so it will be the newest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Created {
    At(Timestamp),
    NotYet,
}

impl Created {
    pub(super) fn of(view: &View<'_>) -> Self {
        view.created.map_or(Self::NotYet, Self::At)
    }
}

impl Age {
    pub(super) fn of(view: &View<'_>) -> Self {
        Self {
            created: Created::of(view),
            path: format_smolstr!("{}/{}", view.namespace, view.name),
            identity: [view.kind, view.namespace, view.name].map(SmolStr::new),
        }
    }
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
