//! Policies, what is beside them, and what a server is told about proxies; and requests as they are sent.

use std::net::IpAddr;

use serde_json::Value as Json;

/// Everything that a server answers from.
#[derive(Clone, Debug)]
pub(super) struct World {
    pub(super) manifest: Json,
    /// Policies and sets, in the order of their file.
    pub(super) policies: Vec<Json>,
    pub(super) directory: Option<Json>,
    pub(super) trust: Trusting,
}

/// Whom to believe what.
#[derive(Clone, Debug)]
pub(super) struct Trusting {
    /// A network.
    pub(super) peers: Option<&'static str>,
    pub(super) hops: Option<usize>,
    pub(super) identity_header: &'static str,
    pub(super) app_header: Option<&'static str>,
    pub(super) host_header: Option<&'static str>,
    /// Whether proxies pass on all headers.
    pub(super) headers: Passed,
    /// The obligations that are fulfilled.
    pub(super) fulfils: Vec<&'static str>,
}

/// Which headers proxies pass on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Passed {
    All,
    Some,
}

impl Trusting {
    /// As settings have it.
    pub(super) fn settings(&self) -> Vec<String> {
        let mut settings = vec![format!("identity-header={}", self.identity_header)];
        settings.extend(self.peers.map(|peers| format!("peer={peers}")));
        settings.extend(self.hops.map(|hops| format!("hops={hops}")));
        settings.extend(self.app_header.map(|name| format!("app-header={name}")));
        settings.extend(self.host_header.map(|name| format!("host-header={name}")));
        settings.extend((self.headers == Passed::All).then(|| "headers=all".to_owned()));
        settings
    }
}

/// A request of HTTP.
#[derive(Clone, Debug)]
pub(super) struct Http {
    /// Who connects.
    pub(super) from: IpAddr,
    pub(super) method: String,
    pub(super) target: String,
    pub(super) headers: Vec<(String, String)>,
}

impl Http {
    /// The values of a header, by its name in any case.
    pub(super) fn values(&self, name: &str) -> Vec<&str> {
        values(&self.headers, name)
    }
}

pub(super) fn values<'h>(headers: &'h [(String, String)], name: &str) -> Vec<&'h str> {
    headers.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim()).collect()
}

/// What Envoy says over gRPC.
#[derive(Clone, Debug)]
pub(super) struct Check {
    pub(super) source: Option<String>,
    pub(super) principal: String,
    pub(super) destination: String,
    pub(super) method: String,
    pub(super) path: String,
    pub(super) host: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) form: HeaderForm,
    pub(super) context: Vec<(&'static str, String)>,
    pub(super) token: Option<Json>,
    pub(super) time: &'static str,
}

/// How Envoy passes on headers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum HeaderForm {
    /// One by one.
    Raw,
    /// By name, the values of one joined by commas.
    Joined,
}

impl Check {
    /// The headers as they are sent.
    pub(super) fn sent(&self) -> Vec<(String, String)> {
        if self.form == HeaderForm::Raw {
            return self.headers.clone();
        }
        let mut joined: Vec<(String, String)> = Vec::new();
        for (name, value) in &self.headers {
            let name = name.to_lowercase();
            match joined.iter_mut().find(|(known, _)| *known == name) {
                Some((_, before)) => *before = format!("{before},{value}"),
                None => joined.push((name, value.clone())),
            }
        }
        joined
    }

    /// What the configuration of the route says.
    pub(super) fn said(&self, name: &str) -> Option<&str> {
        self.context.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }
}

/// A request on some surface.
#[derive(Clone, Debug)]
pub(super) enum Ask {
    Forward(Http),
    Check(Check),
    Decide(Json),
    Evaluation(Json),
}

impl Ask {
    pub(super) fn surface(&self) -> &'static str {
        match self {
            Self::Forward(http) if http.target == "/forward-auth" => "/forward-auth",
            Self::Forward(_) => "/forward-auth/…",
            Self::Check(_) => "gRPC",
            Self::Decide(_) => "/v1/decide",
            Self::Evaluation(_) => "AuthZEN",
        }
    }
}
