//! Who asks, and whether they may.
//!
//! ```text
//! request ──▶ who is it? ──────────────▶ not too fast? ──▶ may they? ──▶ handler
//!             tokens, jwt, certificate   limits/rate       rights, endpoint
//! ```
//!
//! Rights are access policies: the built-in ones are in `auth/rights.yaml`. Whoever brings a token that is not accepted is
//! refused, and never taken for somebody without one.

mod access;
mod bootstrap;
mod caller;
mod certificate;
mod cut;
mod end_users;
mod endpoint;
mod error;
mod examine;
mod jwt;
mod origin;
pub(crate) mod redaction;
mod refusal;
mod rights;
mod secret;
mod sessions;
mod tokens;

use std::sync::Arc;

use arc_swap::ArcSwap;
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use smol_str::SmolStr;
use tokio::sync::watch;
use upheld_engine::decide::{self, Action, Environment, Maybe, Resource};
use upheld_store::machine;

pub(crate) use self::access::{Access, Sort, Touched, named};
pub(crate) use self::caller::{AuthMethod, Caller, Standing};
pub(crate) use self::certificate::Certificate;
pub(crate) use self::cut::{Names, UNTOLD};
pub(crate) use self::end_users::{Brought, EndUsers, Whose, lines as end_user_lines};
pub use self::error::SecurityError;
pub(crate) use self::examine::examine;
pub(crate) use self::secret::Secret;

pub(crate) use self::bootstrap::NewToken;
use self::bootstrap::{Bootstrap, KeepError};
pub(crate) use self::endpoint::{Endpoint, Form, Operation};
pub(crate) use self::sessions::{NoSession, Session, Sessions};

use self::endpoint::Headers;
use self::jwt::Jwt;
pub(crate) use self::refusal::Refusal;
use self::rights::{Rights, Verdict};
use self::secret::{Hash, PREFIX};
use self::tokens::Tokens;
use crate::app::Shared;
use crate::config::{Admission, Anonymous, Config, Known, Security};
use crate::connection::{Connection, Peer};

/// All that is known about callers.
#[derive(Debug)]
pub(crate) struct Auth {
    settings: Security,
    tokens: ArcSwap<Tokens>,
    /// What is kept of the bootstrap token that an operator gives.
    bootstrap: Option<Hash>,
    sessions: Sessions,
    jwt: Option<Jwt>,
    end_users: EndUsers,
    rights: ArcSwap<Rights>,
    anonymous: Anonymous,
    /// How often files were read again.
    reloads: watch::Sender<u64>,
}

impl Auth {
    /// Reads everything; the token comes back if one was made just now.
    pub(crate) async fn open(config: &Config) -> Result<(Self, Option<NewToken>), SecurityError> {
        let settings = config.security.clone();
        let rights = Rights::open(settings.rights.as_deref())?;
        let bootstrap = settings.bootstrap_token.as_ref().map(bootstrap::given).transpose()?;
        let (tokens, secret) = match &settings.tokens {
            Some(path) => (Tokens::read(path)?, None),
            None if bootstrap.is_some() || !settings.needs_bootstrap() => (Tokens::default(), None),
            None => {
                let Bootstrap { hash, token } = Bootstrap::of_store(&config.store)?;
                (Tokens::bootstrap(hash), token)
            }
        };
        let (tokens, sessions) = (tokens.with_bootstrap(bootstrap), Sessions::open(config)?);
        let reloads = watch::Sender::new(0);
        let jwt = match settings.jwt.clone() {
            Some(settings) => Some(Jwt::open(settings, reloads.clone()).await?),
            None => None,
        };
        let end_users = EndUsers::open(&settings.enforcement, &config.access.trust.identity_header).await?;
        let (tokens, rights) = (ArcSwap::from_pointee(tokens), ArcSwap::from_pointee(rights));
        let anonymous = config.anonymous();
        let auth = Self { settings, tokens, bootstrap, sessions, jwt, end_users, rights, anonymous, reloads };
        Ok((auth, secret))
    }

    /// Lets a new token count from now on, also after a restart.
    pub(crate) fn keep(&self, made: NewToken) -> Result<Option<Secret>, SecurityError> {
        match made.keep() {
            Ok(secret) => Ok(Some(secret)),
            Err(KeepError::Others(hash)) => {
                self.tokens.store(Arc::new(Tokens::bootstrap(hash)));
                Ok(None)
            }
            Err(KeepError::Failed(error)) => Err(error),
        }
    }

    /// Told whenever tokens, rights and certificates are read again, or keys are others: what was let in before may not be now.
    pub(crate) fn follow_reloads(&self) -> watch::Receiver<u64> {
        self.reloads.subscribe()
    }

    /// Whether nothing was read again since somebody was let in.
    pub(crate) fn is_current(&self, caller: &Caller) -> bool {
        caller.reloads == *self.reloads.borrow()
    }

    /// Reads all files again. What is broken is reported, and stays as it was.
    pub(crate) async fn reload(&self) -> Vec<SecurityError> {
        let mut broken = Vec::new();
        if let Some(path) = &self.settings.tokens {
            match Tokens::read(path) {
                Ok(tokens) => self.tokens.store(Arc::new(tokens.with_bootstrap(self.bootstrap))),
                Err(error) => {
                    tracing::error!(%error, "the tokens could not be reloaded; the previous ones stay in use");
                    broken.push(error);
                }
            }
        }
        if let Some(path) = &self.settings.rights {
            match Rights::open(Some(path)) {
                Ok(rights) => self.rights.store(Arc::new(rights)),
                Err(error) => {
                    tracing::error!(%error, "the rights could not be reloaded; the previous ones stay in use");
                    broken.push(error);
                }
            }
        }
        if let Some(Err(error)) = match &self.jwt {
            Some(jwt) => Some(jwt.refresh().await),
            None => None,
        } {
            tracing::error!(%error, "the issuer's keys could not be reloaded; the previous ones stay in use");
            broken.push(error);
        }
        for error in self.end_users.refresh().await {
            tracing::error!(%error, "the keys for tokens of end users could not be reloaded; the previous ones stay in use");
            broken.push(error);
        }
        self.reloads.send_modify(|count| *count += 1);
        broken
    }

    /// What goes on beside requests.
    pub(crate) async fn follow(&self) {
        let own = async {
            if let Some(jwt) = &self.jwt {
                jwt.follow().await;
            }
        };
        futures::join!(own, self.end_users.follow());
    }

    /// What browsers keep in place of tokens.
    pub(crate) fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    /// Whom tokens of end users name.
    pub(crate) fn end_users(&self) -> &EndUsers {
        &self.end_users
    }

    /// Who asks, and by which credentials: what is read again from now on may not let them in.
    async fn identify(
        &self,
        headers: &HeaderMap,
        certificate: Option<&Certificate>,
        whose: Headers,
    ) -> Result<Caller, Refusal> {
        let reloads = *self.reloads.borrow();
        let caller = self.found(headers, certificate, whose).await?;
        Ok(Caller { reloads, ..caller })
    }

    /// Whom credentials belong to. An authorization that is not accepted is an error, also beside a good certificate.
    async fn found(
        &self,
        headers: &HeaderMap,
        certificate: Option<&Certificate>,
        whose: Headers,
    ) -> Result<Caller, Refusal> {
        let bare = || match certificate {
            Some(certificate) => certificate.caller(self.known()),
            None if self.settings.admission == Admission::Everybody => Caller::unguarded(),
            None => Caller::anonymous(),
        };
        let mut given = headers.get_all(header::AUTHORIZATION).iter();
        let Some(value) = given.next() else { return Ok(bare()) };
        let unknown = |detail: &str| Err(Refusal::Unknown(detail.to_owned()));
        let token = value.to_str().ok().and_then(bearer);
        let ours = token.is_some_and(|token| token.starts_with(PREFIX));
        // What a proxy passes on is not for us; and where nothing is looked at, nothing is wrong.
        let nothing = self.settings.admission == Admission::Everybody && !self.settings.authenticates();
        if nothing || (whose == Headers::Another && !ours) {
            return Ok(bare());
        }
        if given.next().is_some() {
            return unknown("there is more than one `Authorization` header");
        }
        let Some(token) = token else { return unknown("the header `Authorization` must be `Bearer` and a token") };
        let found = match &self.jwt {
            _ if ours => self.tokens.load().find(token, machine::now()).cloned(),
            Some(jwt) => jwt.verify(token).await,
            None => None,
        };
        found.map_or_else(|| unknown("the token is not known here, not valid any more, or not for this server"), Ok)
    }

    fn known(&self) -> &[Known] {
        let clients = self.settings.tls.as_ref().and_then(|tls| tls.clients.as_ref());
        clients.map_or(&[], |clients| &clients.known)
    }

    /// What a caller may do with documents, if they may use the endpoint at all. Whether the server is ready is answered to everybody, in
    /// one word: those who look after it from outside have no token.
    fn decide(&self, caller: &Caller, wanted: &Wanted<'_>) -> Result<Access, Refusal> {
        match self.permit(caller, wanted) {
            Err(_) if endpoint::is_about_readiness(wanted.endpoint, wanted.path) => {
                Ok(Access::to_nothing(wanted.request(caller)))
            }
            permitted => permitted,
        }
    }

    fn permit(&self, caller: &Caller, wanted: &Wanted<'_>) -> Result<Access, Refusal> {
        let request = wanted.request(caller);
        if self.settings.admission == Admission::Everybody {
            return Ok(Access::new(None, request));
        }
        let (right, sort) = (wanted.endpoint.operation.word(), wanted.endpoint.sort);
        if caller.how == AuthMethod::Anonymous && !wanted.is_within(self.anonymous) {
            let setting = self.anonymous.word();
            return Err(Refusal::Unknown(format!(
                "this needs the right `{right}` on `{sort}`, which callers who do not say who they are do not have here \
                 (`--anonymous {setting}`): send a token"
            )));
        }
        let rights = self.rights.load_full();
        let Verdict::Refused { policy, reason } = rights.decide(&request) else {
            return Ok(Access::new(Some(rights), request));
        };
        let by = match (&policy, reason) {
            (Some(policy), Some(reason)) => format!("policy `{policy}` says so: {reason}"),
            (Some(policy), None) => format!("policy `{policy}` says so"),
            (None, _) => "no policy permits it".to_owned(),
        };
        let who = &caller.name;
        Err(if caller.how == AuthMethod::Anonymous {
            Refusal::Unknown(format!(
                "this needs the right `{right}` on `{sort}`, which {who} callers do not have here: {by}"
            ))
        } else {
            let detail = format!("`{who}` does not have the right `{right}` on `{sort}` here: {by}");
            Refusal::Forbidden { detail, policy, caller: caller.to_string() }
        })
    }
}

impl Security {
    /// Whether there is a way to say who one is.
    pub(crate) fn authenticates(&self) -> bool {
        self.tokens.is_some() || self.jwt.is_some() || self.tls.as_ref().is_some_and(|tls| tls.clients.is_some())
    }

    /// Whether nobody could ever change anything without a token made by us.
    fn needs_bootstrap(&self) -> bool {
        self.admission == Admission::ByRights && !self.authenticates()
    }
}

fn bearer(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    Some(token.trim()).filter(|token| scheme.eq_ignore_ascii_case("bearer") && !token.is_empty())
}

fn word(word: &'static str) -> Maybe<SmolStr> {
    Maybe::Is(SmolStr::new_static(word))
}

fn address(peer: Option<&Peer>) -> Maybe<SmolStr> {
    peer.map_or(Maybe::Unknown, |peer| Maybe::Is(peer.text.clone()))
}

fn environment(address: Maybe<SmolStr>) -> Environment {
    let now = i64::try_from(machine::now().as_nanosecond()).unwrap_or(i64::MAX);
    Environment { ip: address, time: Maybe::Is(upheld_model::Timestamp(now)), ..Environment::default() }
}

/// What a request wants.
#[derive(Debug)]
struct Wanted<'r> {
    endpoint: Endpoint,
    method: &'r str,
    path: &'r str,
    address: Maybe<SmolStr>,
}

impl Wanted<'_> {
    /// Whether those may want it who do not say who they are. Whether the server lives is no secret.
    fn is_within(&self, most: Anonymous) -> bool {
        let Endpoint { operation, sort, .. } = self.endpoint;
        endpoint::is_about_health(self.path)
            || match most {
                Anonymous::None => false,
                Anonymous::Decide => sort == "decision",
                Anonymous::Read => matches!(operation, Operation::Ask | Operation::Read | Operation::See),
                Anonymous::Rights => true,
            }
    }

    /// The question to rights.
    fn request(&self, caller: &Caller) -> decide::Request {
        decide::Request {
            subject: caller.subject(),
            action: Action {
                method: Maybe::Is(SmolStr::new(self.method)),
                operation: word(self.endpoint.operation.word()),
                ..Action::default()
            },
            resource: Resource {
                path: Maybe::Is(SmolStr::new(self.path)),
                kind: word(self.endpoint.sort),
                ..Resource::default()
            },
            environment: environment(self.address.clone()),
        }
    }
}

/// Who asks, if they may, and what they may do with documents.
pub(crate) async fn admit(app: &Shared, parts: &Parts, endpoint: Endpoint) -> Result<(Caller, Access), Refusal> {
    let connection = parts.extensions.get::<Connection>();
    let peer = connection.map(Connection::peer);
    let certificate = connection.and_then(Connection::certificate);
    let identified = app.auth.identify(&parts.headers, certificate, endpoint.headers).await;
    if let Err(seconds) = app.gate.hurry(parts.uri.path(), identified.as_ref().ok(), peer) {
        return Err(Refusal::TooFast { seconds });
    }
    let caller = identified?;
    if caller.standing == Standing::Guarded {
        origin::check(parts, endpoint, caller.how, &app.config)?;
    }
    let address = if origin::is_proxied(parts, endpoint) { Maybe::Unknown } else { address(peer) };
    let wanted =
        Wanted { endpoint, method: parts.method.as_str(), path: own_path(endpoint, parts.uri.path()), address };
    let access = app.auth.decide(&caller, &wanted)?;
    Ok((caller, access))
}

/// Who reads a page, if what they bring is accepted.
pub(crate) async fn reader(app: &Shared, headers: &HeaderMap, connection: Option<&Connection>) -> Option<Caller> {
    app.auth.identify(headers, connection.and_then(Connection::certificate), Headers::Own).await.ok()
}

/// The path that rights are about. What follows the place where proxies ask is the path of somebody else's request.
fn own_path(endpoint: Endpoint, path: &str) -> &str {
    match endpoint.headers {
        Headers::Own => path,
        Headers::Another => "/forward-auth",
    }
}

#[cfg(test)]
mod tests;
