//! Somebody who asks.

use std::convert::Infallible;
use std::fmt;
use std::sync::{Arc, LazyLock};

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use jiff::Timestamp;
use smol_str::SmolStr;
use upheld_engine::decide::{Facts, Maybe, Names, Subject};

use crate::telemetry::Observed;

/// Who asks, as far as they proved it. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    /// Their name: what the log calls them.
    pub(crate) name: SmolStr,
    /// Their roles.
    pub(crate) roles: Arc<[SmolStr]>,
    /// Their groups.
    pub(crate) groups: Arc<[SmolStr]>,
    /// What else is claimed of them.
    pub(crate) claims: Arc<Facts>,
    /// How they proved it.
    pub(crate) how: AuthMethod,
    /// Whether what they do is held against anything.
    pub(crate) standing: Standing,
    /// Until when what they proved it by is valid.
    pub(crate) until: Option<Timestamp>,
    /// How often tokens, rights and keys had been read again when they were let in.
    pub(crate) reloads: u64,
}

/// Whether what somebody does is held against who they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It is.
    #[default]
    Guarded,
    /// Nobody asks here who anybody is.
    Unguarded,
}

/// How callers proved who they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum AuthMethod {
    /// Not at all.
    Anonymous,
    /// By a static token.
    Token,
    /// By a token that somebody else issued.
    Jwt,
    /// By a certificate.
    Certificate,
}

impl AuthMethod {
    /// The type of the subject in rights.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Anonymous => "anonymous",
            Self::Token => "token",
            Self::Jwt => "jwt",
            Self::Certificate => "certificate",
        }
    }
}

impl Caller {
    /// Nobody that we know.
    pub(crate) fn anonymous() -> Self {
        static ANONYMOUS: LazyLock<Caller> = LazyLock::new(|| Caller::new("anonymous", AuthMethod::Anonymous));
        ANONYMOUS.clone()
    }

    /// Somebody where everybody may do everything.
    pub(super) fn unguarded() -> Self {
        Self { standing: Standing::Unguarded, ..Self::anonymous() }
    }

    /// Somebody without roles.
    pub(crate) fn new(name: &str, how: AuthMethod) -> Self {
        let nothing: Arc<[SmolStr]> = Arc::from([]);
        Self {
            name: SmolStr::new(name),
            roles: Arc::clone(&nothing),
            groups: nothing,
            claims: Arc::new(Facts::default()),
            how,
            standing: Standing::default(),
            until: None,
            reloads: 0,
        }
    }

    /// Of a request that was let in.
    pub(crate) fn of(parts: &Parts) -> Self {
        let observed = parts.extensions.get::<Observed>();
        observed.and_then(Observed::caller).cloned().unwrap_or_else(Self::anonymous)
    }

    /// As rights know them.
    pub(crate) fn subject(&self) -> Subject {
        Subject {
            kind: Maybe::Is(SmolStr::new_static(self.how.word())),
            id: Maybe::Is(self.name.clone()),
            roles: Names::Known(self.roles.to_vec()),
            groups: Names::Known(self.groups.to_vec()),
            claims: Facts::clone(&self.claims),
        }
    }
}

/// As logs know them: `token:ci`.
impl fmt::Display for Caller {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.how {
            AuthMethod::Anonymous => formatter.write_str(&self.name),
            // Issuers and authorities choose names: none of them may end a line of a log.
            how => write!(formatter, "{}:{}", how.word(), self.name.escape_debug()),
        }
    }
}

/// Names for a list of a configuration.
pub(super) fn names(given: &[String]) -> Arc<[SmolStr]> {
    given.iter().map(SmolStr::new).collect()
}

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Infallible> {
        Ok(Self::of(parts))
    }
}
