//! How a route that is delegated to agrees with the one that delegates to it: by its references, and by its matches.

use smol_str::SmolStr;

use super::claim::GATEWAY;
use super::matches::{FieldMatch, Match, PathKind};
use super::resources::ParentReference;

/// Whether a route with these references lets itself be delegated to by a route, which is told by namespace and name. One
/// without references takes any parent; others must name it with group and kind, because without them a Gateway is meant.
pub fn accepts_parent(references: &[ParentReference<'_>], parent: (&str, &str)) -> bool {
    let is_route =
        |reference: &ParentReference<'_>| (reference.group, reference.kind) == (Some(GATEWAY), Some("HTTPRoute"));
    let names =
        |reference: &ParentReference<'_>| is_route(reference) && (reference.namespace, reference.name) == parent;
    references.is_empty() || references.iter().any(names)
}

/// Whether a match stays within that of its parent, as it must where it does not inherit.
pub fn agrees(parent: &Match, child: &Match) -> bool {
    let has_all = |wanted: &[FieldMatch], found: &[FieldMatch]| wanted.iter().all(|field| found.contains(field));
    parent.path_kind == PathKind::PathPrefix
        && child.path.starts_with(parent.path.as_str())
        && has_all(&parent.headers, &child.headers)
        && has_all(&parent.query, &child.query)
        && parent.method.as_ref().is_none_or(|method| child.method.as_ref() == Some(method))
}

/// The match of a child that inherits: its path follows that of its parent, and what the parent wants it wants, too.
pub fn inherit(parent: &Match, child: &Match) -> Match {
    let (path_kind, path) = match parent.path_kind {
        PathKind::RegularExpression => (PathKind::RegularExpression, extend(&parent.path, child)),
        PathKind::Exact | PathKind::PathPrefix => (child.path_kind, join(&parent.path, &child.path)),
    };
    Match {
        path_kind,
        path: SmolStr::new(path),
        method: parent.method.clone().or_else(|| child.method.clone()),
        headers: union(&parent.headers, &child.headers),
        query: union(&parent.query, &child.query),
        at: child.at,
    }
}

/// Both lists by name; the parent's field counts where both have one.
fn union(parent: &[FieldMatch], child: &[FieldMatch]) -> Vec<FieldMatch> {
    let mut all = parent.to_vec();
    all.extend(child.iter().filter(|field| parent.iter().all(|known| known.name != field.name)).cloned());
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all.dedup_by(|b, a| a.name == b.name);
    all
}

/// One path after the other, without empty elements, `.`, `..` and a slash at the end.
fn join(parent: &str, child: &str) -> String {
    let mut elements: Vec<&str> = Vec::new();
    for element in parent.split('/').chain(child.split('/')) {
        match element {
            "" | "." => {}
            ".." => drop(elements.pop()),
            element => elements.push(element),
        }
    }
    format!("/{}", elements.join("/"))
}

/// A path after a regular expression: joining them as paths would change what the expression means.
fn extend(parent: &str, child: &Match) -> String {
    let (open, anchored) = parent.strip_suffix('$').map_or((parent, false), |open| (open, true));
    let more = match child.path_kind {
        PathKind::RegularExpression => {
            let path = child.path.strip_prefix('^').unwrap_or(&child.path);
            path.strip_suffix('$').unwrap_or(path).to_owned()
        }
        PathKind::Exact => quoted(&child.path),
        PathKind::PathPrefix if child.normal_path() == "/" => "(?:/.*)?".to_owned(),
        PathKind::PathPrefix => format!("{}(?:/.*)?", quoted(child.normal_path())),
    };
    format!("{open}{more}{}", if anchored { "$" } else { "" })
}

fn quoted(path: &str) -> String {
    let special = |character: char| r"\.+*?()|[]{}^$".contains(character);
    path.chars().flat_map(|c| special(c).then_some('\\').into_iter().chain([c])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(path_kind: PathKind, path: &str) -> Match {
        Match { path_kind, path: SmolStr::new(path), ..Match::everything() }
    }

    #[test]
    fn prefixes_are_compared_as_text() {
        let parent = path(PathKind::PathPrefix, "/a");
        assert!(agrees(&parent, &path(PathKind::PathPrefix, "/abc")));
        assert!(agrees(&parent, &path(PathKind::RegularExpression, "/a/.*")));
        assert!(!agrees(&parent, &path(PathKind::Exact, "/b")));
        assert!(!agrees(&path(PathKind::Exact, "/a"), &path(PathKind::Exact, "/a")));
    }

    #[test]
    fn methods_must_be_equal_if_the_parent_has_one() {
        let with = |method| Match { method, ..Match::everything() };
        let get = || Some(SmolStr::new_static("GET"));
        assert!(agrees(&with(get()), &with(get())));
        assert!(!agrees(&with(get()), &with(None)));
        assert!(agrees(&with(None), &with(get())));
    }

    #[test]
    fn paths_are_joined_and_cleaned() {
        let joined = |parent, child| inherit(&path(PathKind::PathPrefix, parent), &path(PathKind::Exact, child)).path;
        assert_eq!(joined("/a/", "/1/"), "/a/1");
        assert_eq!(joined("/a", "/"), "/a");
        assert_eq!(joined("/", "/"), "/");
        assert_eq!(joined("/a", "/../b/./c"), "/b/c");
    }

    #[test]
    fn expressions_stay_expressions() {
        let parent = path(PathKind::RegularExpression, "/v[0-9]+$");
        let merged = inherit(&parent, &path(PathKind::PathPrefix, "/a.b"));
        assert_eq!((merged.path_kind, merged.path.as_str()), (PathKind::RegularExpression, r"/v[0-9]+/a\.b(?:/.*)?$"));
    }
}
