//! Small things that are read in many places.

use smol_str::SmolStr;
use upheld_engine::comply::{Class, Subject};
use upheld_model::tree::Value;

pub(super) fn text<'v>(item: Value<'v>, field: &str) -> &'v str {
    item.get(field).map_or("", Value::text)
}

pub(super) fn flag(item: Value<'_>, field: &str) -> bool {
    item.get(field).and_then(Value::as_bool) == Some(true)
}

pub(super) fn name(item: Value<'_>) -> SmolStr {
    SmolStr::new(text(item, "name"))
}

pub(super) fn title(item: Value<'_>) -> Option<SmolStr> {
    item.get("title").map(Value::text).filter(|title| !title.is_empty()).map(SmolStr::new)
}

pub(super) fn aliases(item: Value<'_>) -> Vec<SmolStr> {
    item.get("aliases").into_iter().flat_map(Value::items).map(|alias| SmolStr::new(alias.text())).collect()
}

pub(super) fn class(word: &str) -> Class {
    if word == "endUser" { Class::EndUser } else { Class::Administrator }
}

/// There are never more than fit.
pub(super) fn subject_at(place: usize) -> Subject {
    Subject(u8::try_from(place).unwrap_or(u8::MAX))
}
