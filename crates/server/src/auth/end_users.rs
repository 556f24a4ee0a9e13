//! End users at the enforcement point: whom their tokens name.
//!
//! They are no callers of this server: the proxy is. A token counts because of its signature, whoever passes it on, so no peer must be
//! trusted for it.

use std::sync::Arc;

use axum::http::HeaderName;
use futures::future::join_all;
use smol_str::SmolStr;
use tokio::sync::watch;
use upheld_dialects::access::enforce::{HttpRequest, Identity, Said, Unproven};
use upheld_dialects::access::proxies::Headers;
use upheld_dialects::access::token_claims::{Attributes, ClaimPath, Payload, TokenClaims, texts};
use upheld_engine::decide::{Fact, Subject};

use super::error::SecurityError;
use super::jwt::{Rejected, Verifier, claimed_issuer};
use super::secret::PREFIX;
use crate::config::{EndUserJwt, Enforcement, KeysLocation};

/// Why nobody is known where two are named.
const TWO: &str = "undecided: a token and the identity header of the proxy both say who asks";
const TWO_TOKENS: &str = "undecided: there are several tokens";
const TWICE: &str = "the token is not accepted: its header is there twice, or is no text";

/// Whose the header `Authorization` is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whose {
    /// A token of ours in it is the one of the proxy that asks, everything else is the end user's.
    ProxyOrEndUser,
    /// The end user's.
    EndUser,
}

/// Whose tokens count.
#[derive(Debug, Default)]
pub(crate) struct EndUsers {
    issuers: Vec<Trusted>,
    /// Where tokens are, each once.
    headers: Vec<SmolStr>,
}

/// An issuer whose tokens count in a header.
#[derive(Debug)]
struct Trusted {
    verifier: Verifier<Arc<Subject>>,
    names: Vec<String>,
    audiences: Vec<String>,
    header: SmolStr,
    claims: TokenClaims,
}

impl EndUsers {
    /// Reads all keys. A file must be there; a server may come later.
    pub(crate) async fn open(settings: &Enforcement, identity_header: &str) -> Result<Self, SecurityError> {
        let mut opened = Self::default();
        for jwt in &settings.jwt {
            let header = jwt.check(identity_header)?;
            // Nobody's session here depends on these keys.
            let verifier = Verifier::open(jwt.issuer.clone(), watch::Sender::new(0)).await?;
            if !opened.headers.contains(&header) {
                opened.headers.push(header.clone());
            }
            let (names, audiences) = (jwt.issuer.issuers.clone(), jwt.issuer.audiences.clone());
            opened.issuers.push(Trusted { verifier, names, audiences, header, claims: jwt.claims.clone() });
        }
        Ok(opened)
    }

    /// Looks at all keys again. Where that fails, the last ones stay.
    pub(crate) async fn refresh(&self) -> Vec<SecurityError> {
        join_all(self.issuers.iter().map(|issuer| issuer.verifier.refresh()))
            .await
            .into_iter()
            .filter_map(Result::err)
            .collect()
    }

    /// Looks at the keys again every now and then, for ever.
    pub(crate) async fn follow(&self) {
        join_all(self.issuers.iter().map(|issuer| issuer.verifier.follow())).await;
    }

    /// Puts whoever is known by a token into a request. `said` is whom the identity header of the proxy names, as far as it is believed.
    pub(crate) async fn identify(&self, http: &mut HttpRequest, said: &Said, brought: &Brought<'_>) {
        if self.issuers.is_empty() {
            return;
        }
        for header in self.headers.iter().filter(|header| brought.headers.has(header)) {
            // A token lets in whoever has it, and what is not verified is not known.
            http.headers.set(header, Fact::Unknown);
        }
        let subject = match self.token(brought).await {
            Ok(Some(subject)) => subject,
            Ok(None) => {
                if let Some(passed) = brought.passed.and_then(|payload| self.passed(payload)) {
                    http.identity = passed;
                }
                return;
            }
            Err(unproven) => {
                http.identity = Identity::Unproven(unproven);
                return;
            }
        };
        http.identity = match said {
            Said::Unreadable(why) => Identity::Unreadable(why.clone()),
            Said::Somebody => Identity::Unproven(Unproven::Undecided(TWO)),
            Said::Nobody | Said::Ignored => Identity::Verified(subject),
        };
    }

    /// Whom a payload names that the proxy has verified: by the claims that are configured for its issuer.
    fn passed(&self, payload: &Payload) -> Option<Identity> {
        let issuer = payload.get("iss")?.as_str()?;
        let is_of = |known: &&Trusted| known.names.iter().any(|name| name == issuer);
        let audiences = payload.get("aud").and_then(texts).unwrap_or_default();
        let is_for =
            |known: &&Trusted| audiences.iter().any(|audience| known.audiences.iter().any(|own| own == audience));
        let mut all = self.issuers.iter().filter(is_of);
        // The proxy has looked at the audience; here it chooses among several entries only.
        let known = all.clone().find(is_for).or_else(|| all.next())?;
        Some(Identity::Verified(Arc::new(known.claims.subject(payload))))
    }

    /// Whom the token of a request names; nobody if there is none.
    async fn token(&self, brought: &Brought<'_>) -> Result<Option<Arc<Subject>>, Unproven> {
        let mut found: Option<(&str, Arc<Subject>)> = None;
        for header in &self.headers {
            let given = brought.headers.one(header).map_err(|_| Unproven::Refused(TWICE))?;
            let Some(token) = given.and_then(|given| brought.token(header, given)) else { continue };
            if found.as_ref().is_some_and(|(known, _)| *known == token) {
                continue;
            }
            let subject = self.verify(header, token).await.map_err(|rejected| match rejected {
                Rejected::NoKeys => Unproven::Undecided(rejected.reason()),
                _ => Unproven::Refused(rejected.reason()),
            })?;
            if found.replace((token, subject)).is_some() {
                return Err(Unproven::Undecided(TWO_TOKENS));
            }
        }
        Ok(found.map(|(_, subject)| subject))
    }

    /// The same issuer may be there for several audiences.
    async fn verify(&self, header: &str, token: &str) -> Result<Arc<Subject>, Rejected> {
        let issuer = claimed_issuer(token).ok_or(Rejected::Malformed)?;
        let is_of = |known: &&Trusted| known.header == header && known.names.contains(&issuer);
        let mut last = Rejected::Issuer;
        for known in self.issuers.iter().filter(is_of) {
            let read = |payload: &Payload, _| Some(Arc::new(known.claims.subject(payload)));
            match known.verifier.verify(token, read).await {
                Ok(subject) => return Ok(subject),
                Err(rejected) if last != Rejected::NoKeys => last = rejected,
                Err(_) => {}
            }
        }
        Err(last)
    }
}

/// What a request brings that could say who asks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Brought<'r> {
    /// The headers of the request that waits in the proxy.
    pub(crate) headers: &'r Headers,
    /// Whose `Authorization` is.
    pub(crate) authorization: Whose,
    /// The payload of a token that the proxy has verified.
    pub(crate) passed: Option<&'r Payload>,
}

impl Brought<'_> {
    /// The token in a header. `Authorization` says of which scheme it is; other headers may have the token alone.
    fn token<'h>(&self, header: &str, given: &'h str) -> Option<&'h str> {
        let (given, is_standard) = (given.trim(), header == "authorization");
        let (scheme, token) =
            given.split_once(char::is_whitespace).map_or((given, ""), |(scheme, rest)| (scheme, rest.trim()));
        let is_bearer = scheme.eq_ignore_ascii_case("bearer");
        let token = match (is_bearer, is_standard, token) {
            (true, ..) => token,
            (false, false, "") => given,
            // Another scheme: no token of ours to look at.
            (false, ..) => return None,
        };
        let of_proxy = is_standard && self.authorization == Whose::ProxyOrEndUser && token.starts_with(PREFIX);
        (!of_proxy && !given.is_empty()).then_some(token)
    }
}

impl EndUserJwt {
    /// The header of the tokens, if nothing would open a door or never work.
    pub(super) fn check(&self, identity_header: &str) -> Result<SmolStr, SecurityError> {
        let wrong = |problem: String| Err(SecurityError::Setting(format!("`enforcement.jwt`: {problem}")));
        if self.issuer.issuers.is_empty() || self.issuer.issuers.iter().any(|issuer| issuer.trim().is_empty()) {
            return wrong("`issuers` must name who issues the tokens (`iss`)".to_owned());
        }
        let Ok(header) = self.header.trim().parse::<HeaderName>() else {
            return wrong(format!(
                "`{}` is not the name of a header: expected for example `authorization`",
                self.header
            ));
        };
        if header.as_str().eq_ignore_ascii_case(identity_header) {
            return wrong(format!("`{header}` is the identity header, which has JSON: choose another one for tokens"));
        }
        if self.claims.id.is_empty() {
            return wrong("`claims.id` is empty: expected for example `sub`".to_owned());
        }
        Ok(SmolStr::new(header.as_str()))
    }
}

/// Whose tokens are verified here, in words: one line for each issuer.
pub(crate) fn lines(settings: &Enforcement) -> Vec<String> {
    let line = |jwt: &EndUserJwt| {
        let keys = match &jwt.issuer.keys {
            KeysLocation::File(path) => path.display().to_string(),
            // A URL may have a password in it.
            KeysLocation::Url { url, .. } => without_password(url),
        };
        let listed = |paths: &[ClaimPath]| {
            let names: Vec<&str> = paths.iter().map(ClaimPath::as_str).collect();
            if names.is_empty() { "nothing".to_owned() } else { names.join(" + ") }
        };
        let TokenClaims { id, roles, groups, attributes, .. } = &jwt.claims;
        let attributes = match attributes {
            Attributes::All => "all claims".to_owned(),
            Attributes::Named(named) => {
                named.iter().map(|(name, path)| format!("{name} from {}", path.as_str())).collect::<Vec<_>>().join(", ")
            }
        };
        format!(
            "tokens of {} for {} in {}, verified with {keys}: id from {}, roles from {}, groups from {}, {attributes}",
            jwt.issuer.issuers.join(", "),
            jwt.issuer.audiences.join(", "),
            jwt.header.to_ascii_lowercase(),
            listed(id),
            listed(roles),
            listed(groups),
        )
    };
    settings.jwt.iter().map(line).collect()
}

fn without_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let (host, path) = rest.find('/').and_then(|at| rest.split_at_checked(at)).unwrap_or((rest, ""));
    let host = host.rsplit('@').next().unwrap_or_default();
    format!("{scheme}://{host}{}", path.split('?').next().unwrap_or_default())
}
