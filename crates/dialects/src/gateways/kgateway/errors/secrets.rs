//! Secrets that policies use. Messages name secrets, never what is in them.

use std::collections::BTreeMap;

use upheld_engine::ObjectId;
use upheld_model::tree::Value;

use crate::gateways::gateway_api::grants::End;
use crate::gateways::kgateway::references::{References, Unresolved, list, text};

const SECRET: (&str, &str) = ("", "Secret");

/// A reference to one secret; none if it is taken to exist.
pub(super) fn reference(
    from: End<'_>,
    reference: Value<'_>,
    references: &References<'_>,
) -> Result<Option<ObjectId>, String> {
    let namespace = text(reference, "namespace").unwrap_or(from.namespace);
    let name = text(reference, "name").unwrap_or_default();
    match references.named(from, SECRET, reference) {
        Ok(found) => Ok(Some(found)),
        Err(Unresolved::NotGranted) => Err(format!("secret {namespace}/{name}: {}", Unresolved::NotGranted.words())),
        Err(Unresolved::Missing) if references.network.assumes(SECRET.1) => Ok(None),
        Err(Unresolved::Missing) => Err(format!("secret {namespace}/{name} not found")),
    }
}

/// Headers whose values come from secrets.
pub(super) fn headers(from: End<'_>, settings: Value<'_>, references: &References<'_>) -> Result<(), String> {
    for side in ["request", "response"] {
        let Some(modifier) = settings.get(side) else { continue };
        for header in list(modifier, "set").chain(list(modifier, "add")) {
            let Some(secret) = header.get("secretRef") else { continue };
            let found = reference(from, secret, references).map_err(|problem| format!("{side}: {problem}"))?;
            let Some(found) = found else { continue };
            // Without a key and a name, all entries are headers.
            let wanted = text(secret, "key").or_else(|| text(header, "name"));
            let missing = wanted.filter(|key| !entries(found, references).contains_key(key));
            if let Some(key) = missing {
                let name = text(secret, "name").unwrap_or_default();
                return Err(format!("{side}: secret {name} has no key {key}"));
            }
        }
    }
    Ok(())
}

/// Secrets with the keys of clients.
pub(super) fn api_keys(from: End<'_>, settings: Value<'_>, references: &References<'_>) -> Result<(), String> {
    if is_set(settings, "disable") {
        return Ok(());
    }
    let secrets = if let Some(secret) = settings.get("secretRef") {
        match reference(from, secret, references).map_err(|problem| format!("API key {problem}"))? {
            Some(found) => vec![found],
            None => return Ok(()),
        }
    } else if let Some(selector) = settings.get("secretSelector") {
        let found = references.selected(from, SECRET, selector);
        if found.is_empty() && references.network.assumes(SECRET.1) {
            return Ok(());
        }
        if found.is_empty() {
            return Err(format!("no secrets found matching selector in namespace {}", from.namespace));
        }
        found
    } else {
        return Err("either secretRef or secretSelector must be specified".to_owned());
    };
    let keys = secrets.into_iter().flat_map(|secret| entries(secret, references));
    if keys.filter(|(_, key)| !key.is_empty()).count() == 0 {
        return Err("no valid API keys found in secrets".to_owned());
    }
    Ok(())
}

/// Users of basic authentication: written in the policy, or in a secret.
pub(super) fn basic(from: End<'_>, settings: Value<'_>, references: &References<'_>) -> Result<(), String> {
    if is_set(settings, "disable") {
        return Ok(());
    }
    let users: Vec<&str> = list(settings, "users").map(Value::text).collect();
    if !users.is_empty() {
        return hashed(&users);
    }
    let Some(secret) = settings.get("secretRef") else {
        return Err("basic auth: either users or secretRef must be specified".to_owned());
    };
    let found = reference(from, secret, references).map_err(|problem| format!("basic auth: {problem}"))?;
    let Some(found) = found else { return Ok(()) };
    let key = text(secret, "key").unwrap_or(".htpasswd");
    if entries(found, references).get(key).is_some_and(|users| !users.is_empty()) {
        Ok(())
    } else {
        Err(format!("basic auth: secret {} has no key {key}", text(secret, "name").unwrap_or_default()))
    }
}

/// Passwords must be hashed in the one way that the proxy knows.
fn hashed(users: &[&str]) -> Result<(), String> {
    let lines = users.iter().flat_map(|users| users.lines()).map(str::trim);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    let is_wrong = |line: &&str| !line.split_once(':').is_some_and(|(_, hash)| hash.starts_with("{SHA}"));
    let wrong: Vec<&str> = lines.filter(is_wrong).map(|line| line.split(':').next().unwrap_or_default()).collect();
    if wrong.is_empty() { Ok(()) } else { Err(format!("basic auth: only {{SHA}} is supported: {}", wrong.join(", "))) }
}

fn is_set(value: Value<'_>, name: &str) -> bool {
    value.get(name).is_some_and(|value| value.kind() != upheld_model::tree::Kind::Null)
}

/// The entries of a secret, encoded or not.
fn entries<'s>(secret: ObjectId, references: &References<'s>) -> BTreeMap<&'s str, &'s str> {
    let Some(resource) = references.resource(secret) else { return BTreeMap::new() };
    let maps = ["data", "stringData"].into_iter().filter_map(|field| resource.document.get(field));
    maps.flat_map(Value::entries).map(|(key, value)| (key.text(), value.text())).collect()
}
