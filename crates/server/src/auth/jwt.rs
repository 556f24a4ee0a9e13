//! JSON Web Tokens of an issuer that we trust: those of callers of this server.

pub(super) mod keys;
mod rejected;
mod verifier;

use std::sync::Arc;

use jiff::Timestamp;
use smol_str::SmolStr;
use tokio::sync::watch;
use upheld_dialects::access::facts::facts_of_json;
use upheld_dialects::access::token_claims::{ClaimPath, Payload, texts};
use upheld_engine::decide::Maybe;

pub(super) use self::rejected::Rejected;
pub(super) use self::verifier::{Verifier, claimed_issuer};
use super::caller::{AuthMethod, Caller};
use super::error::SecurityError;
use crate::config;

/// Verifies tokens of callers.
#[derive(Debug)]
pub(crate) struct Jwt {
    verifier: Verifier<Caller>,
    roles: Option<ClaimPath>,
    groups: Option<ClaimPath>,
}

impl Jwt {
    /// Reads the keys. A file must be there; a server may come later.
    pub(crate) async fn open(settings: config::Jwt, changes: watch::Sender<u64>) -> Result<Self, SecurityError> {
        Ok(Self {
            verifier: Verifier::open(settings.issuer(), changes).await?,
            roles: ClaimPath::read(&settings.roles),
            groups: ClaimPath::read(&settings.groups),
        })
    }

    /// Looks at the keys again. When that fails, the last ones stay.
    pub(crate) async fn refresh(&self) -> Result<(), SecurityError> {
        self.verifier.refresh().await
    }

    /// Looks at the keys again every now and then, for ever.
    pub(crate) async fn follow(&self) {
        self.verifier.follow().await;
    }

    /// Whose token it is.
    pub(crate) async fn verify(&self, token: &str) -> Option<Caller> {
        self.verifier.verify(token, |claims, until| self.caller(claims, until)).await.ok()
    }

    fn caller(&self, claims: &Payload, until: Timestamp) -> Option<Caller> {
        let name = claims.get("sub").and_then(|name| name.as_str()).filter(|name| !name.trim().is_empty())?;
        Some(Caller {
            roles: listed(claims, self.roles.as_ref())?,
            groups: listed(claims, self.groups.as_ref())?,
            claims: Arc::new(facts_of_json(claims)),
            until: Some(until),
            ..Caller::new(name, AuthMethod::Jwt)
        })
    }
}

/// The names in a claim. Nobody is known whose roles or groups are not: rights may deny something to one of them.
fn listed(claims: &Payload, path: Option<&ClaimPath>) -> Option<Arc<[SmolStr]>> {
    match path.map_or(Maybe::Absent, |path| path.find(claims)) {
        Maybe::Is(claim) => texts(claim).map(Into::into),
        Maybe::Absent => Some(Arc::from([])),
        Maybe::Unknown => None,
    }
}
