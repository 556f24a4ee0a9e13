//! Extensions that policies use: there must be one, of the right type, and it must reach its own backends.

use upheld_model::tree::Value;

use crate::gateways::gateway_api::claim::KGATEWAY;
use crate::gateways::gateway_api::grants::End;
use crate::gateways::kgateway::references::{References, Unresolved, list, text};

/// Where a policy refers to an extension.
#[derive(Debug)]
pub(super) struct Place {
    /// In the policy.
    pub(super) path: &'static [&'static str],
    /// How messages call it.
    word: &'static str,
    /// What the extension must be.
    sort: Sort,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sort {
    ExtAuth,
    ExtProc,
    RateLimit,
    Jwt,
    OAuth2,
}

impl Sort {
    /// The field of an extension that makes it one.
    const fn field(self) -> &'static str {
        match self {
            Self::ExtAuth => "extAuth",
            Self::ExtProc => "extProc",
            Self::RateLimit => "rateLimit",
            Self::Jwt => "jwt",
            Self::OAuth2 => "oauth2",
        }
    }
}

/// Those that are checked before secrets and addresses.
pub(super) const BEFORE: [Place; 3] = [
    Place { path: &["extProc"], word: "extproc", sort: Sort::ExtProc },
    Place { path: &["extAuth"], word: "extauth", sort: Sort::ExtAuth },
    Place { path: &["rateLimit", "global"], word: "ratelimit", sort: Sort::RateLimit },
];

/// Those that are checked after them.
pub(super) const AFTER: [Place; 2] = [
    Place { path: &["jwtAuth"], word: "jwt", sort: Sort::Jwt },
    Place { path: &["oauth2"], word: "oauth2", sort: Sort::OAuth2 },
];

/// Whether the extension of a place can be used.
pub(super) fn check(
    from: End<'_>,
    place: &Place,
    settings: Value<'_>,
    references: &References<'_>,
) -> Result<(), String> {
    let Some(reference) = settings.get("extensionRef") else { return Ok(()) };
    let namespace = text(reference, "namespace").unwrap_or(from.namespace);
    let name = text(reference, "name").unwrap_or_default();
    let word = place.word;
    if !references.may_use_extension(from, namespace, name) {
        return Err(format!("{word}: missing reference grant"));
    }
    let found = references.network.snapshot.object_named("GatewayExtension", namespace, name);
    if found.is_none() && references.network.assumes("GatewayExtension") {
        return Ok(());
    }
    let Some(extension) = found.and_then(|found| references.resource(found)) else {
        return Err(format!("{word}: {namespace}/{name}: gateway extension not found"));
    };
    let Some(inner) = extension.field(place.sort.field()) else {
        return Err(format!("{word}: {namespace}/{name}: gateway extension has no {}", place.sort.field()));
    };
    let from = End { group: KGATEWAY, kind: "GatewayExtension", namespace };
    reachable(from, place.sort, inner, references).map_err(|problem| format!("{word}: {problem}"))
}

fn reachable(from: End<'_>, sort: Sort, inner: Value<'_>, references: &References<'_>) -> Result<(), String> {
    let backend = |reference: Option<Value<'_>>, what: &str| match reference {
        Some(reference) => match references.backend(from, reference) {
            Ok(_) => Ok(()),
            Err(unresolved) => Err(format!("{what}: {}", unresolved.words())),
        },
        None => Err(format!("{what}: backend not found")),
    };
    let at = |path: &[&str]| inner.at_path(path);
    match sort {
        Sort::ExtAuth if at(&["grpcService"]).is_some() => {
            backend(at(&["grpcService", "backendRef"]), "failed to resolve ExtAuth gRPC backend")
        }
        Sort::ExtAuth if at(&["httpService"]).is_some() => {
            backend(at(&["httpService", "backendRef"]), "failed to resolve ExtAuth HTTP backend")
        }
        Sort::ExtAuth => Err("either grpcService or httpService must be configured for ExtAuth".to_owned()),
        Sort::ExtProc => backend(at(&["grpcService", "backendRef"]), "failed to resolve ExtProc backend"),
        Sort::RateLimit => backend(at(&["grpcService", "backendRef"]), "ratelimit"),
        Sort::Jwt => list(inner, "providers").try_for_each(|provider| key_set(from, provider, references)),
        Sort::OAuth2 => {
            // Where the provider is found by its endpoints alone, there is no backend to reach.
            if let Some(reference) = inner.get("backendRef") {
                backend(Some(reference), "error building OAuth2 config")?;
            }
            let secret = at(&["credentials", "clientSecretRef"]);
            let found = secret.map(|secret| references.named(from, ("", "Secret"), secret));
            match found {
                Some(Err(Unresolved::Missing)) if references.network.assumes("Secret") => Ok(()),
                Some(Err(unresolved)) => Err(format!("error building OAuth2 config: {}", unresolved.words())),
                _ => Ok(()),
            }
        }
    }
}

/// Where the keys of a provider of tokens come from.
fn key_set(from: End<'_>, provider: Value<'_>, references: &References<'_>) -> Result<(), String> {
    if let Some(reference) = provider.at_path(&["jwks", "remote", "backendRef"]) {
        let found = references.backend(from, reference);
        found.map_err(|unresolved| format!("jwt: remote jwks: unresolved backend ref: {}", unresolved.words()))?;
    }
    if let Some(reference) = provider.at_path(&["jwks", "local", "configMapRef"]) {
        let found = references.named(from, ("", "ConfigMap"), reference);
        found.map_err(|_| "jwt: failed to get jwks configmap: not found".to_owned())?;
    }
    Ok(())
}
