//! Which routes a route may hand over to. Both questions look at two routes only.

use smol_str::SmolStr;
use upheld_model::Config;

/// The group of the Gateway API.
pub const GROUP: &str = "gateway.networking.k8s.io";
/// The kind of routes that can hand over.
pub const ROUTE: &str = "HTTPRoute";

/// One entry of `parentRefs`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParentRef {
    /// The group, if it is written.
    pub group: Option<SmolStr>,
    /// The kind, if it is written.
    pub kind: Option<SmolStr>,
    /// The namespace; that of the child if it is not written.
    pub namespace: Option<SmolStr>,
    /// The name.
    pub name: SmolStr,
}

/// One entry of `matches`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RouteMatch {
    /// The path.
    pub path: Option<PathMatch>,
    /// Headers.
    pub headers: Vec<ValueMatch>,
    /// Query parameters.
    pub query_params: Vec<ValueMatch>,
    /// The method.
    pub method: Option<SmolStr>,
}

/// A path that is matched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathMatch {
    /// `PathPrefix`, `Exact` or `RegularExpression`.
    pub kind: SmolStr,
    /// The path.
    pub value: SmolStr,
}

/// A header or query parameter that is matched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueMatch {
    /// `Exact` or `RegularExpression`.
    pub kind: SmolStr,
    /// Its name; upper and lower case differ.
    pub name: SmolStr,
    /// The value.
    pub value: SmolStr,
}

const PREFIX: &str = "PathPrefix";
const EXACT: &str = "Exact";

/// Whether a child with these references may be handed over to by a parent. One without references takes any parent; others
/// must name it with group and kind, because a reference without them means a Gateway.
pub fn accepts_parent(child_namespace: &str, references: &[ParentRef], parent_namespace: &str, parent: &str) -> bool {
    let names_it = |reference: &ParentRef| {
        reference.group.as_deref() == Some(GROUP)
            && reference.kind.as_deref() == Some(ROUTE)
            && reference.name == parent
            && reference.namespace.as_deref().unwrap_or(child_namespace) == parent_namespace
    };
    references.is_empty() || references.iter().any(names_it)
}

/// Whether whatever a child matches, its parent matches too, as far as texts can tell: the child must repeat what the parent
/// demands. `/a` is a beginning of `/abc`.
pub fn is_within(child: &RouteMatch, parent: &RouteMatch) -> bool {
    let (Some(below), Some(above)) = (&child.path, &parent.path) else { return false };
    above.kind == PREFIX
        && below.value.starts_with(above.value.as_str())
        && parent.headers.iter().all(|header| child.headers.contains(header))
        && parent.query_params.iter().all(|parameter| child.query_params.contains(parameter))
        && (parent.method.is_none() || parent.method == child.method)
}

impl ParentRef {
    /// As it is written.
    pub fn read(written: &Config) -> Self {
        Self {
            group: text(written, "group"),
            kind: text(written, "kind"),
            namespace: text(written, "namespace"),
            name: text(written, "name").unwrap_or_default(),
        }
    }
}

impl RouteMatch {
    /// As it is written, with the defaults of the interface for kinds of matches.
    pub fn read(written: &Config) -> Self {
        let values = |field| {
            let items = written.get(field).map_or(&[][..], |list| list.items());
            items.iter().map(|item| ValueMatch::read(item)).collect()
        };
        let path = written.get("path").map(|path| PathMatch {
            kind: text(path, "type").unwrap_or_else(|| PREFIX.into()),
            value: text(path, "value").unwrap_or_else(|| "/".into()),
        });
        Self { path, headers: values("headers"), query_params: values("queryParams"), method: text(written, "method") }
    }
}

impl ValueMatch {
    fn read(written: &Config) -> Self {
        Self {
            kind: text(written, "type").unwrap_or_else(|| EXACT.into()),
            name: text(written, "name").unwrap_or_default(),
            value: text(written, "value").unwrap_or_default(),
        }
    }
}

fn text(config: &Config, field: &str) -> Option<SmolStr> {
    config.get(field)?.as_text().map(Into::into)
}
