//! Parts of cases as configurations, and back.

use std::sync::Arc;

use anyhow::Context;
use serde_json::{Map, Value as Json};
use upheld_dialects::gateways::gateway_api::effective::Inherited;
use upheld_dialects::gateways::gateway_api::topology::Condition;
use upheld_loader::Format;
use upheld_model::{Config, File, SourceId};

/// A part of a case as a configuration.
pub(super) fn config(written: &Json) -> anyhow::Result<Arc<Config>> {
    let file = parsed(written);
    let document = file.tree.documents().next().context("a part of the case is empty")?;
    Ok(Config::of(source(), document))
}

/// Parts of cases are the only source there is.
pub(super) fn source() -> SourceId {
    SourceId::new(0)
}

/// A part of a case as a file of its own.
pub(super) fn parsed(written: &Json) -> File {
    upheld_syntax::parse("part", Format::Json, written.to_string(), source()).0
}

/// A configuration as cases have it.
pub(super) fn json(config: &Config) -> anyhow::Result<Json> {
    Ok(serde_json::to_value(config)?)
}

/// What holds on a path; null if nobody says anything.
pub(super) fn held(inherited: &Inherited) -> anyhow::Result<Json> {
    inherited.config().map_or(Ok(Json::Null), |config| json(&config))
}

/// A field of a part of a case that is text.
pub(super) fn text<'j>(written: &'j Json, name: &str) -> anyhow::Result<&'j str> {
    written.get(name).and_then(Json::as_str).with_context(|| format!("the case has no text `{name}`"))
}

/// The texts of a list; none if it is not there.
pub(super) fn texts(written: &Json) -> impl Iterator<Item = &str> {
    written.as_array().into_iter().flatten().filter_map(Json::as_str)
}

/// Without what says nothing: nulls, and maps of nothing but nulls.
pub(super) fn without_nulls(written: &Json) -> Json {
    match written {
        Json::Object(fields) => {
            let said = fields.iter().map(|(key, value)| (key.clone(), without_nulls(value)));
            let said = said.filter(|(key, value)| {
                let was_empty = fields.get(key).is_some_and(|before| before == value);
                !value.is_null() && (was_empty || *value != Json::Object(Map::new()))
            });
            Json::Object(said.collect())
        }
        Json::Array(items) => Json::Array(items.iter().map(without_nulls).collect()),
        other => other.clone(),
    }
}

/// Conditions as cases have them, and all their messages as one text.
pub(super) type Conditions = (Map<String, Json>, String);

/// As `Accepted: True/Accepted`.
pub(super) fn conditions(all: &[Condition]) -> Conditions {
    let fields = all.iter().map(|condition| {
        let status = if condition.status { "True" } else { "False" };
        (condition.name.clone(), Json::String(format!("{status}/{}", condition.reason)))
    });
    let messages: Vec<&str> = all.iter().map(|condition| condition.message.as_str()).collect();
    (fields.collect(), messages.join("\n"))
}

/// What a message names: words with a slash within.
pub(super) fn names(message: &str) -> impl Iterator<Item = &str> {
    let words = message.split_whitespace().map(|word| word.trim_matches([':', ';', ',', '.', '\'', '"', '(', ')']));
    words.filter(|word| word.contains('/') && !word.starts_with('/'))
}
