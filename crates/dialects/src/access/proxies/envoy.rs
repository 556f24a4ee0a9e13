//! The request that Envoy asks about over gRPC: `AttributeContext`.

use std::collections::BTreeMap;
use std::net::IpAddr;

use serde_json::{Value as Json, json};
use smol_str::SmolStr;
use upheld_engine::decide::Maybe;
use upheld_model::Timestamp;

use super::trust::{Headers, HeadersGiven, Trust};
use crate::access::enforce::HttpRequest;
use crate::access::host::host_name;
use crate::access::identity::Identity;

/// What Envoy tells about a request.
#[derive(Clone, Debug, Default)]
pub struct Attributes {
    /// The method.
    pub method: String,
    /// The path with its query, as it was sent.
    pub path: String,
    /// The host that the client asked for.
    pub host: String,
    /// All headers.
    pub headers: Headers,
    /// Who connects to Envoy.
    pub peer: Option<IpAddr>,
    /// Whose certificate they have shown.
    pub principal: Option<String>,
    /// The service that the request is for.
    pub service: Option<String>,
    /// What the configuration of the route says.
    pub extensions: BTreeMap<String, String>,
    /// What `envoy.filters.http.jwt_authn` keeps of tokens that it has verified.
    pub tokens: Option<Json>,
    /// When the request came.
    pub time: Option<Timestamp>,
}

/// Where Envoy keeps what tokens say after it has verified them.
pub const VERIFIED_TOKENS: &str = "envoy.filters.http.jwt_authn";

impl Attributes {
    /// The request.
    pub fn request(&self, trust: &Trust) -> Result<HttpRequest, &'static str> {
        let given = match self.extension("headers") {
            None | Some("all") => HeadersGiven::All,
            Some("some") => HeadersGiven::Some,
            Some(_) => return Err("`headers` of the route is neither `all` nor `some`"),
        };
        let path = self.path.split('?').next().unwrap_or_default();
        // Requests have no fragments; Envoy refuses them, unless it is told otherwise.
        if path.contains('#') {
            return Err("the path has a `#`, which not everybody reads alike");
        }
        let host = host_name(&self.host);
        let named = self.extension("app").or(self.service.as_deref().filter(|service| !service.is_empty()));
        Ok(HttpRequest {
            method: self.method.clone(),
            path: path.to_owned(),
            app: named.map_or_else(|| host.clone(), |app| Maybe::Is(SmolStr::new(app))),
            host,
            identity: self.identity(trust)?,
            headers: self.headers.facts(given),
            // Unlike others, Envoy says who connects to it.
            address: trust.address_behind(&self.headers, self.peer),
            forwarded_for: self.headers.joined("x-forwarded-for"),
            real_ip: self.headers.joined("x-real-ip"),
            time: self.time.into(),
        })
    }

    /// The obligations that are fulfilled for the route.
    pub fn fulfilled(&self) -> Vec<SmolStr> {
        let listed = self.extension("obligations").unwrap_or_default();
        listed.split(',').map(|duty| SmolStr::new(duty.trim())).filter(|duty| !duty.is_empty()).collect()
    }

    /// What the configuration of the route says.
    pub fn extension(&self, name: &str) -> Option<&str> {
        self.extensions.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// The best of what there is: a verified token, the header that a trusted proxy in front has set, the certificate.
    fn identity(&self, trust: &Trust) -> Result<Identity, &'static str> {
        if let Some(payload) = self.token()? {
            let field = |name: &str| payload.get(name).cloned().unwrap_or_default();
            let (sub, roles, groups) = (field("sub"), field("roles"), field("groups"));
            let says = json!({"sub": sub, "roles": roles, "groups": groups, "claims": payload});
            return Ok(Identity::read(&says.to_string()));
        }
        match (trust.identity(&self.headers, self.peer), &self.principal) {
            (Identity::Absent | Identity::Ignored, Some(principal)) if !principal.is_empty() => {
                Ok(Identity::read(&json!({"sub": principal}).to_string()))
            }
            (identity, _) => Ok(identity),
        }
    }

    /// What the verified token says. Beside tokens, Envoy keeps their heads and why some failed; neither looks like one.
    pub fn token(&self) -> Result<Option<&Json>, &'static str> {
        let is_token = |kept: &Json| ["sub", "iss", "aud", "exp"].iter().any(|claim| kept.get(claim).is_some());
        let kept = self.tokens.as_ref().and_then(Json::as_object).into_iter().flatten();
        let mut tokens = kept.filter(|(_, kept)| is_token(kept));
        if let Some(named) = self.extension("jwt") {
            return Ok(tokens.find(|(name, _)| *name == named).map(|(_, token)| token));
        }
        match (tokens.next(), tokens.next()) {
            (token, None) => Ok(token.map(|(_, token)| token)),
            // Either one could be the one with more rights.
            _ => Err("several tokens are verified, and the route does not say which one counts"),
        }
    }
}
