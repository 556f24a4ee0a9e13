//! What a request wants, in the words of rights.

use axum::http::Method;
use upheld_dialects::natives;

use crate::limits::Length;

/// What is to be done, and how a refusal must look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Endpoint {
    /// The right that is needed.
    pub(crate) operation: Operation,
    /// The sort of resource.
    pub(crate) sort: &'static str,
    /// In which form errors are said here.
    pub(crate) form: Form,
    /// Whether headers are those of another request, which is asked about.
    pub(crate) headers: Headers,
    /// How long answers take.
    pub(crate) length: Length,
}

/// What can be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    /// Questions to policies.
    Ask,
    /// Documents, the log, the state of the server.
    Read,
    /// Changes of documents.
    Write,
    /// The server itself.
    Administer,
    /// A policy in an explanation.
    See,
}

impl Operation {
    /// As policies name it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::Read => "read",
            Self::Write => "write",
            Self::Administer => "administer",
            Self::See => "see",
        }
    }
}

/// How errors are said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Problem details.
    Problem,
    /// A text, as `AuthZEN` wants it.
    Text,
    /// `{"error", "reason", "policy"}`, as the seed has it.
    Seed,
    /// As the original system has it whose API this is, by its place among all of them.
    Native(usize),
    /// A status of gRPC.
    Grpc,
}

/// Whose headers a request has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Headers {
    /// Its own.
    Own,
    /// Those of a request that waits in a proxy; only a token of ours is the proxy's.
    Another,
}

impl Endpoint {
    /// Whether proxies ask here about everything that they pass on: thousands of small questions by one connection.
    pub(crate) fn is_of_proxies(self) -> bool {
        self.form == Form::Grpc && self.sort == "decision"
    }

    /// Whether proxies ask here about requests that wait, by HTTP or by gRPC.
    pub(crate) fn is_about_waiting_requests(self) -> bool {
        self.headers == Headers::Another || self.form == Form::Grpc
    }

    /// Whether it is answered from a view of the documents. Queries of requests that wait in a proxy choose none.
    pub(crate) fn has_view(self) -> bool {
        self.sort != "server" && self.form != Form::Grpc && self.headers == Headers::Own
    }

    /// Whether its answer is about the documents, so that it must not be of a view that is too old. Proxies get a denial then, which they
    /// understand.
    pub(crate) fn answers_from_view(self) -> bool {
        self.has_view() && self.sort != "description"
    }

    /// What a request to a path wants; the administration API is below a base that ends in no slash. What is not known needs the right to write, unless it only reads.
    pub(crate) fn of(method: &Method, path: &str, base: &str) -> Self {
        use Operation::{Administer, Ask, Read, Write};

        let by_method = if matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS) { Read } else { Write };
        let new = |operation, sort, form| Self { operation, sort, form, headers: Headers::Own, length: Length::Short };
        let ours = |operation, sort| new(operation, sort, Form::Problem);
        let seed = path.strip_prefix(base).and_then(|path| path.strip_prefix("/api/"));
        if let Some(rest) = seed {
            return match rest {
                "evaluate" => new(Ask, "decision", Form::Seed),
                "explain" => new(Ask, "explanation", Form::Seed),
                _ => new(by_method, "document", Form::Seed),
            };
        }
        let mut segments = path.split('/').skip(1);
        let (first, second) = (segments.next().unwrap_or_default(), segments.next().unwrap_or_default());
        match (first, second.split(':').next().unwrap_or_default()) {
            ("healthz" | "readyz", _) => ours(by_method, "server"),
            ("metrics", _) | ("v1", "reload" | "compact" | "compaction" | "history") => ours(Administer, "server"),
            ("openapi.json" | ".well-known" | "problems", _) | ("v1", "codes" | "lessons") => {
                ours(by_method, "description")
            }
            ("v1", "decide") => ours(Ask, "decision"),
            ("v1", second) if ANALYSING.contains(&second) => Self { length: Length::Long, ..ours(Ask, "explanation") },
            ("v1", second) if EXPLAINING.contains(&second) => ours(Ask, "explanation"),
            ("v1", "revisions" | "events") => ours(by_method, "revision"),
            ("access", "v1") => new(Ask, "decision", Form::Text),
            ("forward-auth", _) => Self { headers: Headers::Another, ..new(Ask, "decision", Form::Seed) },
            ("envoy.service.auth.v3.Authorization", _) => new(Ask, "decision", Form::Grpc),
            ("grpc.health.v1.Health", _) => new(Read, "server", Form::Grpc),
            (reflection, _) if reflection.starts_with("grpc.reflection.") => new(Read, "description", Form::Grpc),
            _ => match native(first) {
                Some(place) => new(by_method, "explanation", Form::Native(place)),
                None => ours(by_method, "document"),
            },
        }
    }
}

/// Whether somebody only wants to know whether the server lives.
pub(super) fn is_about_health(path: &str) -> bool {
    path == "/healthz" || path.starts_with("/grpc.health.v1.Health/")
}

/// Whether somebody wants to know whether the server should be asked.
pub(super) fn is_about_readiness(endpoint: Endpoint, path: &str) -> bool {
    path == "/readyz" && endpoint.operation == Operation::Read
}

/// Questions that are answered with reasons.
const EXPLAINING: [&str; 8] =
    ["explain", "resolve", "can", "candidates", "values", "waivers", "check", "admission-review"];

/// Those about everything that there is.
const ANALYSING: [&str; 13] = [
    "reach", "audit", "graph", "test", "what-if", "fix", "lint", "diff", "prove", "affected", "why-not", "suppose",
    "survival",
];

/// The API of an original system whose paths begin like this.
fn native(first: &str) -> Option<usize> {
    natives().position(|native| native.prefix().trim_start_matches('/') == first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_needs_the_right_that_fits() {
        let cases = [
            ("POST", "/v1/decide", "ask decision"),
            ("POST", "/v1/decide:batch", "ask decision"),
            ("POST", "/v1/explain", "ask explanation"),
            ("POST", "/v1/reach", "ask explanation"),
            ("POST", "/v1/what-if", "ask explanation"),
            ("POST", "/v1/check", "ask explanation"),
            ("GET", "/v1/policies", "read document"),
            ("GET", "/v1/documents/A/b/c", "read document"),
            ("PUT", "/v1/documents/A/b/c", "write document"),
            ("DELETE", "/v1/documents/decide/b/c", "write document"),
            ("GET", "/v1/revisions", "read revision"),
            ("POST", "/v1/revisions", "write revision"),
            ("POST", "/v1/decision", "write document"),
            ("POST", "/v1//decide", "write document"),
            ("POST", "//v1/decide", "write document"),
            ("POST", "/unheard-of", "write document"),
            ("GET", "/metrics", "administer server"),
            ("POST", "/v1/reload", "administer server"),
            ("POST", "/healthz", "write server"),
            ("POST", "/access/v1/evaluation", "ask decision"),
            ("DELETE", "/forward-auth/api/users", "ask decision"),
            ("POST", "/authz/api/evaluate", "ask decision"),
            ("POST", "/authz/api/policies", "write document"),
            ("GET", "/authz/api/policies", "read document"),
            ("GET", "/meshes/default/dataplanes", "read explanation"),
            ("POST", "/envoy.service.auth.v3.Authorization/Check", "ask decision"),
            ("POST", "/grpc.health.v1.Health/Check", "read server"),
        ];
        for (method, path, wanted) in cases {
            let endpoint = Endpoint::of(&method.parse().unwrap(), path, "/authz");
            assert_eq!(format!("{} {}", endpoint.operation.word(), endpoint.sort), wanted, "{method} {path}");
        }
    }
}
