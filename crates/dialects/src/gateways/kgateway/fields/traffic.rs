//! Fields of `TrafficPolicy`.

use std::sync::Arc;

use smol_str::SmolStr;
use upheld_model::config::{Config, Content};
use upheld_model::tree::{Kind, Value};
use upheld_model::{NodeRef, SourceId};

use super::Field;
use crate::gateways::gateway_api::stored::stored;
use crate::gateways::kgateway::references::text;

/// Names with the paths in a document that differ from them; all other fields are called as they are written.
const RENAMED: [(&str, &[&str]); 7] = [
    ("httpACL", &["acl"]),
    ("jwt", &["jwtAuth"]),
    ("oidc", &["oauth2"]),
    ("rateLimit.local", &["rateLimit", "local"]),
    ("rateLimit.global", &["rateLimit", "global"]),
    ("compression", &["compression", "responseCompression"]),
    ("decompression", &["compression", "requestDecompression"]),
];

/// Fields that run a provider each.
const PROVIDERS: [&str; 2] = ["extAuth", "extProc"];

pub(super) fn fields(namespace: &str, source: SourceId, spec: Value<'_>) -> Vec<Field> {
    let mut fields = Vec::new();
    for (key, value) in super::payload(spec) {
        let mut parts = RENAMED.iter().filter(|(_, path)| path.first() == Some(&key.as_str())).peekable();
        if parts.peek().is_none() {
            fields.push(field(namespace, source, key, value));
            continue;
        }
        for (name, path) in parts {
            let inner = path.get(1..).unwrap_or_default();
            if let Some(value) = value.at_path(inner).filter(|value| value.kind() != Kind::Null) {
                fields.push(field(namespace, source, SmolStr::new_static(name), value));
            }
        }
    }
    fields
}

fn field(namespace: &str, source: SourceId, name: SmolStr, value: Value<'_>) -> Field {
    let config = stored(source, value);
    let config = match value.get("extensionRef").filter(|reference| reference.kind() == Kind::Map) {
        _ if PROVIDERS.contains(&name.as_str()) => provider(namespace, source, value, &config),
        _ if name == "transformation" => with_parsing(&config),
        Some(reference) => named(namespace, source, reference, &config),
        None => config,
    };
    (name, config)
}

/// A body is parsed as text if nothing else is said: the API server writes that into every policy.
fn with_parsing(config: &Arc<Config>) -> Arc<Config> {
    const PARSE: &str = "parseAs";
    let body = |body: &Arc<Config>| {
        let mut entries = body.entries().to_vec();
        if matches!(body.content, Content::Map(_)) && body.get(PARSE).is_none() {
            entries.push((SmolStr::new_static(PARSE), Config::made(Content::Text("AsString".into()))));
        }
        Arc::new(Config { content: Content::Map(entries), at: body.at })
    };
    let side = |side: &Arc<Config>| mapped(side, "body", body);
    mapped(&mapped(config, "request", side), "response", side)
}

/// A map with one of its values changed, if it has it.
fn mapped(config: &Arc<Config>, key: &str, change: impl Fn(&Arc<Config>) -> Arc<Config>) -> Arc<Config> {
    let mut entries = config.entries().to_vec();
    match entries.iter_mut().find(|(known, value)| known == key && value.content != Content::Null) {
        Some((_, value)) => *value = change(value),
        None => return config.clone(),
    }
    Arc::new(Config { content: Content::Map(entries), at: config.at })
}

/// Settings of providers by their full name, so that merging needs no namespace.
fn provider(namespace: &str, source: SourceId, value: Value<'_>, config: &Config) -> Arc<Config> {
    let at = |value: Value<'_>| Some(NodeRef { source, node: value.number() });
    if config.get("disable").is_some_and(|disable| disable.content != Content::Null) {
        return Arc::new(config.clone());
    }
    let Some(reference) = value.get("extensionRef") else { return Arc::new(config.clone()) };
    let name = Content::Text(full_name(namespace, reference).into());
    let mut entries = vec![(SmolStr::new("provider"), Arc::new(Config { content: name, at: at(reference) }))];
    entries.extend(config.entries().iter().filter(|(key, _)| key != "extensionRef").cloned());
    let provider = Arc::new(Config { content: Content::Map(entries), at: at(value) });
    let providers = Arc::new(Config { content: Content::List(vec![provider]), at: at(value) });
    Arc::new(Config { content: Content::Map(vec![(SmolStr::new("providers"), providers)]), at: at(value) })
}

/// The reference with its namespace.
fn named(namespace: &str, source: SourceId, reference: Value<'_>, config: &Config) -> Arc<Config> {
    let mut entries = config.entries().to_vec();
    let at = Some(NodeRef { source, node: reference.number() });
    if let Some((_, known)) = entries.iter_mut().find(|(key, _)| key == "extensionRef") {
        let content = Content::Text(full_name(namespace, reference).into());
        *known = Arc::new(Config { content, at });
    }
    Arc::new(Config { content: Content::Map(entries), at: config.at })
}

fn full_name(namespace: &str, reference: Value<'_>) -> String {
    let namespace = text(reference, "namespace").unwrap_or(namespace);
    format!("{namespace}/{}", text(reference, "name").unwrap_or_default())
}
