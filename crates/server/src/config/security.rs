//! Who may connect, and who may do what.

mod end_users;
mod file;
mod given;

use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;
use upheld_dialects::access::token_claims::TokenClaims;

pub use given::GivenSecret;

/// Everything about trust. The default lets anonymous callers of the same machine ask and read as long as nothing else is configured,
/// and whoever has the bootstrap token do everything.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Security {
    /// Whether rights are looked at. No file can say that they are not.
    #[serde(skip)]
    pub admission: Admission,
    /// The file with static tokens.
    pub tokens: Option<PathBuf>,
    /// A token that may do everything, for all servers that share a store. Without it, and without any other way to say who one is, a server
    /// makes one.
    #[serde(rename = "bootstrapToken")]
    pub bootstrap_token: Option<GivenSecret>,
    /// What sessions of pages are sealed with, for all servers that share a store; what the bootstrap token comes to when left out.
    #[serde(rename = "sessionKey")]
    pub session_key: Option<GivenSecret>,
    /// Tokens that somebody else issues.
    pub jwt: Option<Jwt>,
    /// Encryption, and who is known by a certificate.
    pub tls: Option<Tls>,
    /// Access policies that say who may do what, in place of the built-in ones.
    pub rights: Option<PathBuf>,
    /// What those may do at most who do not say who they are; when left out, what is safe with everything else.
    pub anonymous: Option<Anonymous>,
    /// Names by which this server is called, besides that of its public URL.
    pub hosts: Vec<String>,
    /// What is verified of end users where proxies ask.
    pub enforcement: Enforcement,
}

/// What is verified of end users at the enforcement point: below `/forward-auth`, and by Envoy's external authorization. They are no
/// callers of this server, and nothing here gives them a right to it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Enforcement {
    /// Their tokens; none is looked at when left out.
    pub jwt: Vec<EndUserJwt>,
}

/// JSON Web Tokens of end users.
#[derive(Clone, Debug, Deserialize)]
#[serde(from = "end_users::Written")]
pub struct EndUserJwt {
    /// Whose tokens count. There must be one of `issuers`.
    pub issuer: Issuer,
    /// The header that has the token.
    pub header: String,
    /// Which claims say who they are.
    pub claims: TokenClaims,
}

/// Whose JSON Web Tokens count.
#[derive(Clone, Debug)]
pub struct Issuer {
    /// Where its public keys are.
    pub keys: KeysLocation,
    /// Whom tokens must be for: one of these.
    pub audiences: Vec<String>,
    /// Who must have issued them: one of these; empty for anybody with such a key.
    pub issuers: Vec<String>,
    /// How far clocks may differ.
    pub leeway: Duration,
    /// How often the keys are looked at again.
    pub refresh: Duration,
    /// How often a key that is not known may make us look again.
    pub refresh_at_most: Duration,
}

/// What those may do at most who do not say who they are. Rights may permit less, and never more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Anonymous {
    /// Ask whether the server lives.
    None,
    /// Ask for decisions, too.
    Decide,
    /// Ask for explanations and read, too.
    Read,
    /// Whatever rights permit.
    Rights,
}

impl Anonymous {
    /// As settings have it.
    pub fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Decide => "decide",
            Self::Read => "read",
            Self::Rights => "rights",
        }
    }
}

impl Security {
    /// No rights at all: for tests, and for programs that have a guard of their own in front.
    pub fn open() -> Self {
        Self { admission: Admission::Everybody, ..Self::default() }
    }
}

/// Whether rights are looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Admission {
    /// The policies of the rights decide about every request.
    #[default]
    ByRights,
    /// **Everybody may do everything**, also those who do not say who they are, from everywhere.
    Everybody,
}

/// JSON Web Tokens of an issuer.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Jwt {
    /// Where its public keys are.
    pub keys: KeysLocation,
    /// Whom tokens must be for: one of these. There must be one, or tokens for other services would do here.
    pub audiences: Vec<String>,
    /// Who must have issued them: one of these; empty for anybody with such a key.
    #[serde(default)]
    pub issuers: Vec<String>,
    /// The claim with roles; dots lead into maps.
    #[serde(default = "file::roles")]
    pub roles: String,
    /// The claim with groups; dots lead into maps.
    #[serde(default = "file::groups")]
    pub groups: String,
    /// How far clocks may differ.
    #[serde(default = "file::leeway", with = "file::seconds")]
    pub leeway: Duration,
    /// How often the keys are looked at again.
    #[serde(default = "file::refresh", with = "file::seconds")]
    pub refresh: Duration,
    /// How often a key that is not known may make us look again.
    #[serde(default = "file::refresh_at_most", with = "file::seconds", rename = "refreshAtMost")]
    pub refresh_at_most: Duration,
}

impl Jwt {
    /// With the usual names of claims.
    pub fn new(keys: KeysLocation, audience: impl Into<String>) -> Self {
        Self {
            keys,
            audiences: vec![audience.into()],
            issuers: Vec::new(),
            roles: file::roles(),
            groups: file::groups(),
            leeway: file::leeway(),
            refresh: file::refresh(),
            refresh_at_most: file::refresh_at_most(),
        }
    }

    /// Whose tokens count.
    pub(crate) fn issuer(&self) -> Issuer {
        Issuer {
            keys: self.keys.clone(),
            audiences: self.audiences.clone(),
            issuers: self.issuers.clone(),
            leeway: self.leeway,
            refresh: self.refresh,
            refresh_at_most: self.refresh_at_most,
        }
    }
}

/// Where public keys are: a JSON Web Key Set.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "file::Keys")]
pub enum KeysLocation {
    /// In a file.
    File(PathBuf),
    /// At a URL: `https`, or `http` on this machine.
    Url {
        /// The URL.
        url: String,
        /// Who vouches for that server, as PEM; those whom browsers trust when left out.
        authority: Option<PathBuf>,
    },
}

/// Encryption. All files are PEM, and are read again when the server is told to reload.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tls {
    /// The certificate of the server, and those between it and the authority.
    pub certificate: PathBuf,
    /// Its private key.
    pub key: PathBuf,
    /// Who is known by a certificate.
    pub clients: Option<Clients>,
}

/// Clients that have certificates.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clients {
    /// Who vouches for them.
    pub authority: PathBuf,
    /// Which certificates do not count any more: lists of the authorities.
    #[serde(default)]
    pub revoked: Vec<PathBuf>,
    /// Whether there must be one.
    pub need: Need,
    /// What those who have one may be; who is not listed has a name and no roles.
    #[serde(default)]
    pub known: Vec<Known>,
}

/// Whether clients must have a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Need {
    /// No connection without one.
    Required,
    /// Who has none may say otherwise who they are.
    Optional,
}

/// Certificates of a name.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Known {
    /// The common name or an alternative name of the certificate; a `*` at its end stands for anything.
    pub name: String,
    /// Their roles.
    #[serde(default)]
    pub roles: Vec<String>,
    /// Their groups.
    #[serde(default)]
    pub groups: Vec<String>,
}
