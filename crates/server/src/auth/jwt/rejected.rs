//! Why a token is not accepted.

use jsonwebtoken::errors::{Error, ErrorKind};

/// Why a token is not accepted. Never has anything of the token in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::auth) enum Rejected {
    /// It is no token, or one without a signature that could be verified.
    Malformed,
    /// Its head names extensions that must be understood.
    Critical,
    /// Its head or payload says something twice.
    Doubled,
    /// No key of the issuer has its name and algorithm.
    UnknownKey,
    /// The keys of the issuer cannot be had, so nothing is known of it.
    NoKeys,
    /// Another key signed it, or none.
    Signature,
    /// It ended.
    Expired,
    /// It does not begin yet.
    Early,
    /// Somebody else issued it.
    Issuer,
    /// It is for somebody else.
    Audience,
    /// A claim that must be there is missing, or is of another type.
    Claims,
}

impl Rejected {
    /// In words.
    pub(in crate::auth) fn reason(self) -> &'static str {
        match self {
            Self::Malformed => "the token is not accepted: it is not a signed JSON Web Token",
            Self::Critical => "the token is not accepted: it has critical extensions (crit)",
            Self::Doubled => "the token is not accepted: it has a field twice",
            Self::UnknownKey => "the token is not accepted: the issuer has no such key for this algorithm",
            Self::NoKeys => "undecided: the keys of the issuer of the token are not available",
            Self::Signature => "the token is not accepted: the signature is invalid",
            Self::Expired => "the token is not accepted: it is expired (exp)",
            Self::Early => "the token is not accepted: it is not valid yet (nbf)",
            Self::Issuer => "the token is not accepted: its issuer is not known here (iss)",
            Self::Audience => "the token is not accepted: it is for another audience (aud)",
            Self::Claims => "the token is not accepted: a required claim is missing or invalid",
        }
    }
}

impl From<Error> for Rejected {
    fn from(error: Error) -> Self {
        match error.kind() {
            ErrorKind::InvalidSignature => Self::Signature,
            ErrorKind::ExpiredSignature => Self::Expired,
            ErrorKind::ImmatureSignature => Self::Early,
            ErrorKind::InvalidIssuer => Self::Issuer,
            ErrorKind::InvalidAudience => Self::Audience,
            ErrorKind::MissingRequiredClaim(_) | ErrorKind::InvalidClaimFormat(_) => Self::Claims,
            ErrorKind::InvalidAlgorithm => Self::UnknownKey,
            _ => Self::Malformed,
        }
    }
}
