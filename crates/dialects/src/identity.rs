//! Who a document is, whatever system it belongs to: what a store knows it by.

use std::borrow::Cow;

use upheld_model::tree::{Kind, Value};

use crate::dialect::dialects;
use crate::document::Resource;
use crate::recognise::{TESTS, is_tests};

/// The identity of a document. Two documents with the same one are two versions of one thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity<'t> {
    /// Its type: `TrafficLog`, `AccessPolicy`, `project`.
    pub kind: Cow<'t, str>,
    /// The mesh or namespace it is in, or what stands in its place.
    pub scope: Cow<'t, str>,
    /// Its name there.
    pub name: Cow<'t, str>,
}

/// What documents are in that belong to no dialect and say nothing of a scope.
const NOWHERE: &str = "compliance";
/// What tests are in.
const TESTED: &str = "access";

/// The identity of a document; `None` if it has no name. Lists have none: their items do.
pub fn identity(document: Value<'_>) -> Option<Identity<'_>> {
    if is_tests(document) {
        return named(TESTS, TESTED, own_name(document).unwrap_or("tests"));
    }
    if let Some(known) = dialects().find_map(|dialect| dialect.identity(document)) {
        return known;
    }
    let Some(resource) = Resource::of(document) else {
        // Documents of our own have a kind and no version.
        let kind = document.get("kind").and_then(Value::as_text)?;
        return named(kind, NOWHERE, own_name(document)?);
    };
    let kind = resource.kind.as_text().filter(|kind| !kind.is_empty())?;
    let name = match resource.name() {
        name if name.is_empty() => Cow::Borrowed(own_name(document)?),
        name => name,
    };
    Some(Identity { kind: kind.into(), scope: resource.mesh().into(), name })
}

pub(crate) fn named<'t>(kind: &'t str, scope: &'t str, name: &'t str) -> Option<Identity<'t>> {
    let full = !kind.is_empty() && !name.is_empty();
    full.then(|| Identity { kind: kind.into(), scope: scope.into(), name: name.into() })
}

/// What documents without metadata call themselves by.
pub(crate) fn own_name(document: Value<'_>) -> Option<&str> {
    let text = |value: Value<'_>| value.kind() != Kind::Null && !value.text().is_empty();
    ["id", "name", "key"]
        .into_iter()
        .find_map(|field| document.get(field).filter(|value| text(*value)))
        .map(Value::text)
}
