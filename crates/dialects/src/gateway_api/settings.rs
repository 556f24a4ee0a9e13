//! What steers the topology from outside of the documents.

/// Settings of the controller, with its defaults.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Whether routes may be ranked by number.
    pub route_precedence: RoutePrecedence,
    /// The word that means every namespace where routes delegate by label.
    pub delegation_wildcard_namespace: String,
    /// Which references into other namespaces must be granted.
    pub reference_grants: ReferenceGrants,
    /// How many steps all ways together may have: routes that are reached over several others multiply.
    pub step_limit: usize,
    /// How many routes may stand between a listener and a backend.
    pub depth_limit: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            route_precedence: RoutePrecedence::ByMatch,
            delegation_wildcard_namespace: "all".to_owned(),
            reference_grants: ReferenceGrants::Permissive,
            step_limit: 1_000_000,
            depth_limit: 64,
        }
    }
}

/// What decides first which route takes a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoutePrecedence {
    /// How specific the match is.
    ByMatch,
    /// The weight that the route's annotation gives it, then the match.
    Weighted,
}

/// Which references into other namespaces must be granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReferenceGrants {
    /// None.
    Off,
    /// Those to services and secrets.
    Permissive,
    /// Those of policies to extensions, too.
    Strict,
}
