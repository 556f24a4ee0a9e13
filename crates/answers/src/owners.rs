//! Whose documents are: what they say about themselves, or else the namespace that they live in.

use std::collections::BTreeMap;

use serde::Serialize;
use upheld_engine::Snapshot;
use upheld_model::{NodeRef, Object, TagSet, Value};

/// Keys under which documents say whose they are.
const OWNERS: [&str; 6] = ["owner", "owners", "team", "contact", "maintainer", "maintainers"];
/// Keys under which they say what they are for.
const PURPOSES: [&str; 1] = ["description"];
/// Who owns what nobody says it of.
const NOBODY: &str = "(no owner)";

/// Somebody who owns results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Owner {
    /// A team, a person, a namespace, a workspace.
    pub owner: String,
    /// How many results.
    pub results: u64,
}

/// Owners by how many results they have, the largest first; none where nobody says whose anything is.
pub(crate) fn largest_first(counted: &BTreeMap<Option<String>, u64>) -> Vec<Owner> {
    if counted.keys().all(Option::is_none) {
        return Vec::new();
    }
    let named = |owner: &Option<String>| owner.clone().unwrap_or_else(|| NOBODY.to_owned());
    let mut all: Vec<Owner> =
        counted.iter().map(|(owner, results)| Owner { owner: named(owner), results: *results }).collect();
    all.sort_by(|one, other| (other.results, &one.owner).cmp(&(one.results, &other.owner)));
    all
}

/// Whose an object is: a label of it, a tag of one of its parts, or what its document says.
pub(crate) fn of_object(snapshot: &Snapshot, object: &Object) -> Option<String> {
    let tags = std::iter::once(&object.facts).chain(object.parts.iter().map(|part| &part.tags));
    let mut tagged = tags.flat_map(TagSet::as_slice).filter_map(|tag| Some((snapshot.text(tag.key), tag.value?)));
    let found = tagged.find(|(key, _)| is_one_of(key, &OWNERS)).map(|(_, value)| snapshot.text(value).to_owned());
    found.or_else(|| of_document(snapshot, object.at))
}

/// Whose a document is.
pub(crate) fn of_document(snapshot: &Snapshot, at: NodeRef) -> Option<String> {
    let document = snapshot.files().value(at)?;
    let said = said_under(document, &OWNERS).next().map(str::to_owned);
    let namespace = || document.get("metadata")?.get("namespace").map(|value| value.text().to_owned());
    said.or_else(namespace).filter(|owner| !owner.is_empty())
}

/// Whether a document has an owner or a description: as a field, a label or an annotation.
pub(crate) fn says_whose(document: Value<'_>) -> bool {
    let keys = [&OWNERS[..], &PURPOSES].concat();
    said_under(document, &keys).next().is_some()
}

/// What is said under some keys, in fields, labels and annotations.
fn said_under<'d>(document: Value<'d>, keys: &[&str]) -> impl Iterator<Item = &'d str> {
    let metadata = document.get("metadata");
    let holders = [
        Some(document),
        metadata,
        document.get("labels"),
        metadata.and_then(|metadata| metadata.get("labels")),
        metadata.and_then(|metadata| metadata.get("annotations")),
    ];
    let entries = holders.into_iter().flatten().flat_map(Value::entries);
    let said = entries.filter(move |(key, _)| is_one_of(key.text(), keys)).map(|(_, value)| value.text().trim());
    said.filter(|text| !text.is_empty())
}

fn is_one_of(key: &str, keys: &[&str]) -> bool {
    let last = key.rsplit(['/', '.']).next().unwrap_or_default();
    keys.iter().any(|known| last.eq_ignore_ascii_case(known))
}
