//! Why there is no answer, and the body that says so.

use std::fmt;

use serde_json::{Value as Json, json};

use super::older::EDITION;
use crate::kuma::kri::KriError;

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InspectError {
    /// No endpoint has this path.
    NoEndpoint {
        /// The path.
        path: String,
    },
    /// A mesh, proxy or policy that does not exist.
    NotFound {
        /// Its type.
        kind: String,
        /// Its name.
        name: String,
        /// Where it was looked for, unless it is a mesh.
        mesh: Option<String>,
        /// What was being done, in the words of Kuma.
        title: String,
    },
    /// A part of the path is not an identifier.
    BadIdentifier(KriError),
    /// The endpoint shows real resources, which this mesh does not use alone.
    NotExclusive {
        /// The last step of the path.
        endpoint: String,
    },
    /// A page that cannot be.
    BadPage {
        /// What is wrong with it, in the words of Kuma.
        detail: String,
    },
    /// An identifier that leads to no inbound of the proxy.
    NoInbound {
        /// The section that was looked for.
        section: String,
    },
    /// A gateway that no proxy can serve.
    NoSelectors {
        /// Its name.
        name: String,
    },
    /// The snapshot was made for other editions.
    OtherEdition,
    /// Policies are attached to built-in gateways by their listeners and routes, which are not read.
    BuiltinGateway {
        /// The name of the gateway's proxy.
        name: String,
    },
    /// More policies than the engine can rank.
    TooManyPolicies,
}

impl InspectError {
    /// The status of the response.
    pub fn status(&self) -> u16 {
        match self {
            Self::BadIdentifier(_) | Self::NotExclusive { .. } | Self::BadPage { .. } => 400,
            Self::NoEndpoint { .. } | Self::NotFound { .. } => 404,
            Self::NoInbound { .. } | Self::NoSelectors { .. } => 500,
            Self::OtherEdition | Self::BuiltinGateway { .. } | Self::TooManyPolicies => 501,
        }
    }

    /// The body of the response.
    pub fn body(&self) -> Json {
        let (title, detail) = match self {
            Self::NotFound { title, .. } => (title.as_str(), "Not found".to_owned()),
            Self::NoEndpoint { .. } => ("Page Not Found", self.to_string()),
            Self::BadIdentifier(problem) => (BAD_REQUEST, format!("bad request: {problem}")),
            Self::NotExclusive { .. } => (BAD_REQUEST, format!("bad request: {self}")),
            Self::BadPage { detail } => (POLICY_TITLE, detail.clone()),
            Self::NoInbound { .. } => ("Failed building response", INTERNAL.to_owned()),
            Self::NoSelectors { .. } => ("Invalid MeshGateway", INTERNAL.to_owned()),
            Self::OtherEdition | Self::BuiltinGateway { .. } | Self::TooManyPolicies => {
                ("Not Implemented", self.to_string())
            }
        };
        json!({"type": "/std-errors", "status": self.status(), "title": title, "detail": detail, "details": detail})
    }
}

const BAD_REQUEST: &str = "Bad Request";
/// What Kuma says of errors that it explains in its log only.
const INTERNAL: &str = "Internal Server Error";
/// What Kuma was doing when it looked for a policy, or for a service by whose selector proxies are listed.
pub(super) const POLICY_TITLE: &str = "Could not retrieve policy";

impl fmt::Display for InspectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // What stands behind `?` is of no interest, and may be a secret.
            Self::NoEndpoint { path } => {
                let path = path.split('?').next().unwrap_or_default();
                write!(f, "there is no inspection endpoint `{path}`")
            }
            Self::NotFound { kind, name, mesh: None, .. } => write!(f, "there is no {kind} `{name}`"),
            Self::NotFound { kind, name, mesh: Some(mesh), .. } => {
                write!(f, "there is no {kind} `{name}` in mesh `{mesh}`")
            }
            Self::BadIdentifier(problem) => problem.fmt(f),
            Self::NotExclusive { endpoint } => write!(f, "can't use {endpoint} endpoint without meshService enabled"),
            Self::BadPage { detail } => f.write_str(detail),
            Self::NoInbound { section } => write!(f, "the proxy has no inbound `{section}`"),
            Self::NoSelectors { name } => write!(f, "the MeshGateway `{name}` has no selectors, so no proxy serves it"),
            Self::OtherEdition => write!(f, "this endpoint needs the semantics `{EDITION}`, which are not in force"),
            Self::BuiltinGateway { name } => {
                write!(f, "`{name}` is a built-in gateway, whose policies are not resolved yet")
            }
            Self::TooManyPolicies => write!(f, "there are more policies of one kind than a rank can tell apart"),
        }
    }
}

impl std::error::Error for InspectError {}

impl From<KriError> for InspectError {
    fn from(problem: KriError) -> Self {
        Self::BadIdentifier(problem)
    }
}
