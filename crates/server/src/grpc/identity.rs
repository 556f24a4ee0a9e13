//! Who asks, as a proxy says.

use serde_json::{Value as Json, json};
use upheld_dialects::access::enforce::Identity;
use upheld_input::{Format, parse};
use upheld_model::{File, Severity, SourceId};

use super::attributes::Attributes;
use super::structs::json_of;

/// Who asks. Holds what an [`Identity`] points into.
#[derive(Debug)]
pub(super) enum Who {
    /// They do not say.
    Nobody,
    /// They say something that cannot be read.
    Unreadable,
    /// This one.
    Known(Box<File>),
}

/// Where Envoy keeps what tokens say after it has verified them.
const VERIFIED_TOKENS: &str = "envoy.filters.http.jwt_authn";
/// What the configuration of a route calls the token that says who asks, if there are several.
pub(super) const TOKEN: &str = "jwt";

impl Who {
    /// The best of what there is: a verified token, the header that a trusted proxy in front has set, the certificate.
    pub(super) fn of(attributes: &Attributes<'_>, header: Option<&str>) -> Result<Self, &'static str> {
        if let Some(payload) = token(attributes)? {
            let field = |name: &str| payload.get(name).cloned().unwrap_or_default();
            let (sub, roles, groups) = (field("sub"), field("roles"), field("groups"));
            return Ok(Self::read(
                json!({"sub": sub, "roles": roles, "groups": groups, "claims": payload}).to_string(),
            ));
        }
        if let Some(header) = header {
            return Ok(Self::read(header.to_owned()));
        }
        match attributes.principal() {
            Some(principal) => Ok(Self::read(json!({"sub": principal}).to_string())),
            None => Ok(Self::Nobody),
        }
    }

    fn read(text: String) -> Self {
        let (file, problems) = parse("identity", Format::Json, text, SourceId::new(0));
        if problems.iter().any(|problem| problem.severity == Severity::Error) {
            return Self::Unreadable;
        }
        Self::Known(Box::new(file))
    }

    /// As an enforcement point wants it.
    pub(super) fn identity(&self) -> Identity<'_> {
        match self {
            Self::Nobody => Identity::Absent,
            Self::Unreadable => Identity::Unreadable,
            Self::Known(file) => file.tree.documents().next().map_or(Identity::Unreadable, Identity::Known),
        }
    }
}

/// What the verified token says. Beside tokens, Envoy keeps their heads and why some failed; neither looks like one.
fn token(attributes: &Attributes<'_>) -> Result<Option<Json>, &'static str> {
    let Some(Json::Object(kept)) = attributes.metadata(VERIFIED_TOKENS).map(json_of) else { return Ok(None) };
    let is_token = |kept: &Json| ["sub", "iss", "aud", "exp"].iter().any(|claim| kept.get(claim).is_some());
    let mut tokens = kept.into_iter().filter(|(_, kept)| is_token(kept));
    if let Some(named) = attributes.extension(TOKEN) {
        return Ok(tokens.find(|(name, _)| name == named).map(|(_, token)| token));
    }
    match (tokens.next(), tokens.next()) {
        (token, None) => Ok(token.map(|(_, token)| token)),
        // Either one could be the one with more rights.
        _ => Err("several tokens are verified, and the route does not say which one counts"),
    }
}
