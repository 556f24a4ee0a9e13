//! Configurations as Kuma reads them: without nulls, with the defaults of the schema.

use std::sync::Arc;

use smol_str::SmolStr;
use upheld_model::{Config, Content};

use crate::kuma::edition::Edition;
use crate::kuma::target_ref::FORGOTTEN;

/// A configuration after reading: explicit nulls and what references of the edition do not have are lost, and what is left
/// out gets its default.
pub(super) fn prepared(config: &Arc<Config>, defaults: &[(SmolStr, Arc<Config>)], edition: Edition) -> Arc<Config> {
    let config = if has_null(config) { without_nulls(config) } else { config.clone() };
    let config = if edition == Edition::V3 { with_newer_references(&config) } else { config };
    defaults.iter().fold(config, |config, (path, value)| with_default(&config, path, value))
}

fn has_null(config: &Config) -> bool {
    match &config.content {
        Content::Null => true,
        Content::List(items) => items.iter().any(|item| has_null(item)),
        Content::Map(entries) => entries.iter().any(|(_, value)| has_null(value)),
        Content::Bool(_) | Content::Number(_) | Content::Text(_) => false,
    }
}

fn without_nulls(config: &Arc<Config>) -> Arc<Config> {
    let content = match &config.content {
        Content::List(items) => {
            let kept = items.iter().filter(|item| item.content != Content::Null);
            Content::List(kept.map(without_nulls).collect())
        }
        Content::Map(entries) => {
            let kept = entries.iter().filter(|(_, value)| value.content != Content::Null);
            Content::Map(kept.map(|(key, value)| (key.clone(), without_nulls(value))).collect())
        }
        _ => return config.clone(),
    };
    Arc::new(Config { content, at: config.at })
}

/// A route without rules: everything goes where it was going.
pub(super) fn to_itself(target: &Arc<Config>) -> Arc<Config> {
    let map = |key: &str, value: Arc<Config>| Config::made(Content::Map(vec![(key.into(), value)]));
    map("default", map(BACKENDS, Config::made(Content::List(vec![target.clone()]))))
}

/// Where references to other services stand in a configuration: a list, and a single one.
const BACKENDS: &str = "backendRefs";
const BACKEND: &str = "backendRef";

/// References to other services without the fields that Kuma 3 does not read.
fn with_newer_references(config: &Arc<Config>) -> Arc<Config> {
    let content = match &config.content {
        Content::List(items) => Content::List(items.iter().map(with_newer_references).collect()),
        Content::Map(entries) => Content::Map(
            (entries.iter())
                .map(|(key, value)| {
                    let value = match (key.as_str(), &value.content) {
                        (BACKENDS, Content::List(items)) => {
                            let items = items.iter().map(newer).collect();
                            Arc::new(Config { content: Content::List(items), at: value.at })
                        }
                        (BACKEND, _) => newer(value),
                        _ => with_newer_references(value),
                    };
                    (key.clone(), value)
                })
                .collect(),
        ),
        _ => return config.clone(),
    };
    Arc::new(Config { content, at: config.at })
}

fn newer(reference: &Arc<Config>) -> Arc<Config> {
    let Content::Map(entries) = &reference.content else { return reference.clone() };
    let kept = entries.iter().filter(|(key, _)| !FORGOTTEN.contains(&key.as_str())).cloned();
    Arc::new(Config { content: Content::Map(kept.collect()), at: reference.at })
}

/// The value at a path where it is missing, in every map that is there to have it.
fn with_default(config: &Arc<Config>, path: &str, value: &Arc<Config>) -> Arc<Config> {
    let (step, rest) = path.split_once('.').map_or((path, None), |(step, rest)| (step, Some(rest)));
    let Content::Map(entries) = &config.content else { return config.clone() };
    let (key, each) = step.strip_suffix("[]").map_or((step, false), |key| (key, true));
    let Some(rest) = rest else {
        if config.get(key).is_some() {
            return config.clone();
        }
        let added = entries.iter().cloned().chain([(SmolStr::new(key), value.clone())]);
        return Arc::new(Config { content: Content::Map(added.collect()), at: config.at });
    };
    let change = |old: &Arc<Config>| match &old.content {
        Content::List(items) if each => {
            let items = items.iter().map(|item| with_default(item, rest, value));
            Arc::new(Config { content: Content::List(items.collect()), at: old.at })
        }
        _ => with_default(old, rest, value),
    };
    if config.get(key).is_none() {
        return config.clone();
    }
    let changed = entries.iter().map(|(name, old)| (name.clone(), if name == key { change(old) } else { old.clone() }));
    Arc::new(Config { content: Content::Map(changed.collect()), at: config.at })
}
