//! End users at the enforcement point, as a file has them.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;
use smol_str::SmolStr;
use upheld_dialects::access::token_claims::{Attributes, ClaimPath, TokenClaims};

use super::file::{leeway, refresh, refresh_at_most, seconds};
use super::{EndUserJwt, Issuer, KeysLocation};

/// Tokens of end users.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Written {
    keys: KeysLocation,
    audiences: Vec<String>,
    issuers: Vec<String>,
    #[serde(default = "header")]
    header: String,
    #[serde(default)]
    claims: Claims,
    #[serde(default = "leeway", with = "seconds")]
    leeway: Duration,
    #[serde(default = "refresh", with = "seconds")]
    refresh: Duration,
    #[serde(default = "refresh_at_most", with = "seconds", rename = "refreshAtMost")]
    refresh_at_most: Duration,
}

pub(super) fn header() -> String {
    "authorization".to_owned()
}

/// Which claims say what.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Claims {
    id: Option<Paths>,
    r#type: Option<Path>,
    roles: Option<Paths>,
    groups: Option<Paths>,
    attributes: Option<BTreeMap<String, Path>>,
}

/// A claim.
#[derive(Clone, Deserialize)]
#[serde(try_from = "String")]
struct Path(ClaimPath);

impl TryFrom<String> for Path {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        ClaimPath::read(&text)
            .map(Self)
            .ok_or("the name of a claim is empty: expected for example `realm_access.roles`")
    }
}

/// One claim, or several.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected the name of a claim such as `realm_access.roles`, or a list of names")]
enum Paths {
    One(Path),
    Several(Vec<Path>),
}

impl Paths {
    fn all(self) -> Vec<ClaimPath> {
        match self {
            Self::One(path) => vec![path.0],
            Self::Several(paths) => paths.into_iter().map(|path| path.0).collect(),
        }
    }
}

impl From<Claims> for TokenClaims {
    fn from(claims: Claims) -> Self {
        let usual = Self::default();
        let named = |all: BTreeMap<String, Path>| all.into_iter().map(|(name, path)| (SmolStr::new(name), path.0));
        Self {
            id: claims.id.map_or(usual.id, Paths::all),
            kind: claims.r#type.map(|path| path.0),
            roles: claims.roles.map_or(usual.roles, Paths::all),
            groups: claims.groups.map_or(usual.groups, Paths::all),
            attributes: claims.attributes.map_or(usual.attributes, |all| Attributes::Named(named(all).collect())),
        }
    }
}

impl From<Written> for EndUserJwt {
    fn from(written: Written) -> Self {
        let Written { keys, audiences, issuers, header, claims, leeway, refresh, refresh_at_most } = written;
        let issuer = Issuer { keys, audiences, issuers, leeway, refresh, refresh_at_most };
        Self { issuer, header, claims: claims.into() }
    }
}

impl Issuer {
    /// With the usual times; whoever issues tokens of this audience is left open.
    pub fn new(keys: KeysLocation, audience: impl Into<String>) -> Self {
        Self {
            keys,
            audiences: vec![audience.into()],
            issuers: Vec::new(),
            leeway: leeway(),
            refresh: refresh(),
            refresh_at_most: refresh_at_most(),
        }
    }
}

impl EndUserJwt {
    /// Of an issuer, in the usual header and with the usual claims.
    pub fn new(issuer: impl Into<String>, keys: KeysLocation, audience: impl Into<String>) -> Self {
        let issuer = Issuer { issuers: vec![issuer.into()], ..Issuer::new(keys, audience) };
        Self { issuer, header: header(), claims: TokenClaims::default() }
    }
}
