//! The request that a proxy asks about.

use axum::http::{HeaderMap, Method, Uri};

/// What the client of the proxy asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Original<'r> {
    /// The method.
    pub(super) method: &'r str,
    /// The path without the query, as it was sent.
    pub(super) path: &'r str,
}

/// Why nobody can tell what was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ambiguous {
    /// There is no path.
    NoPath,
    /// A path that is none.
    BadPath,
    /// There are two; one of them may come from the client.
    TwoPaths,
}

impl Ambiguous {
    /// In words.
    pub(super) fn reason(self) -> &'static str {
        match self {
            Self::NoPath => "the proxy does not say which path was asked for",
            Self::BadPath => "the proxy names a path that is none",
            Self::TwoPaths => "X-Original-URI and X-Forwarded-Uri name different requests",
        }
    }
}

impl<'r> Original<'r> {
    /// Envoy asks for the path itself, below the prefix. nginx and Traefik ask for the prefix, and say path and method in headers of their
    /// own; since each passes on the other's headers, two that differ are a trick.
    pub(super) fn of(
        prefix: &str,
        method: &'r Method,
        uri: &'r Uri,
        headers: &'r HeaderMap,
    ) -> Result<Self, Ambiguous> {
        let below = uri.path().strip_prefix(prefix).unwrap_or_default();
        if !below.is_empty() {
            return Ok(Self { method: method.as_str(), path: below });
        }
        let text = |name: &str| {
            let mut values = headers.get_all(name).iter();
            match (values.next(), values.next()) {
                (None, _) => Ok(None),
                (Some(value), None) => value.to_str().map(Some).map_err(|_| Ambiguous::BadPath),
                (Some(_), Some(_)) => Err(Ambiguous::TwoPaths),
            }
        };
        let (of_nginx, of_traefik) = (text("x-original-uri")?, text("x-forwarded-uri")?);
        let (path, named) = match (of_nginx, of_traefik) {
            (None, None) => return Err(Ambiguous::NoPath),
            (Some(nginx), Some(traefik)) if nginx != traefik => return Err(Ambiguous::TwoPaths),
            (Some(path), Some(_)) => {
                let (nginx, traefik) = (text("x-original-method")?, text("x-forwarded-method")?);
                if nginx.is_some() && traefik.is_some() && nginx != traefik {
                    return Err(Ambiguous::TwoPaths);
                }
                (path, nginx.or(traefik))
            }
            (Some(path), None) => (path, text("x-original-method")?),
            (None, Some(path)) => (path, text("x-forwarded-method")?),
        };
        let path = path.split(['?', '#']).next().unwrap_or_default();
        if !path.starts_with('/') {
            return Err(Ambiguous::BadPath);
        }
        Ok(Self { method: named.unwrap_or(method.as_str()), path })
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderName;

    use super::*;

    #[track_caller]
    fn check(uri: &str, headers: &[(&str, &str)], expected: Result<(&str, &str), Ambiguous>) {
        let headers: HeaderMap =
            headers.iter().map(|(name, value)| (name.parse::<HeaderName>().unwrap(), value.parse().unwrap())).collect();
        let uri: Uri = uri.parse().unwrap();
        let original = Original::of("/forward-auth", &Method::PUT, &uri, &headers);
        assert_eq!(original.map(|original| (original.method, original.path)), expected);
    }

    #[test]
    fn envoy_puts_the_path_below_the_prefix() {
        check("/forward-auth/a/b?at=0", &[], Ok(("PUT", "/a/b")));
        check("/forward-auth/", &[("x-original-uri", "/other")], Ok(("PUT", "/")));
        check("/forward-auth//a/%2e%2e/b", &[], Ok(("PUT", "//a/%2e%2e/b")));
    }

    #[test]
    fn others_say_it_in_their_own_headers() {
        check("/forward-auth", &[("x-original-uri", "/a?b"), ("x-original-method", "GET")], Ok(("GET", "/a")));
        check("/forward-auth", &[("x-forwarded-uri", "/a"), ("x-forwarded-method", "POST")], Ok(("POST", "/a")));
    }

    #[test]
    fn the_method_comes_from_who_says_the_path() {
        check("/forward-auth", &[("x-original-uri", "/a"), ("x-forwarded-method", "GET")], Ok(("PUT", "/a")));
    }

    #[test]
    fn what_is_said_twice_is_not_believed() {
        check("/forward-auth", &[("x-original-uri", "/a"), ("x-forwarded-uri", "/b")], Err(Ambiguous::TwoPaths));
        let methods = [("x-original-method", "GET"), ("x-forwarded-method", "PUT")];
        let paths = [("x-original-uri", "/a"), ("x-forwarded-uri", "/a")];
        check("/forward-auth", &[paths, methods].concat(), Err(Ambiguous::TwoPaths));
        check("/forward-auth", &[("x-original-uri", "/a"), ("x-forwarded-uri", "/a")], Ok(("PUT", "/a")));
    }

    #[test]
    fn without_a_path_there_is_nothing_to_decide() {
        check("/forward-auth", &[], Err(Ambiguous::NoPath));
        check("/forward-auth", &[("x-original-uri", "a")], Err(Ambiguous::BadPath));
    }
}
