//! Which documents without a type are ours.

use upheld_model::tree::{Kind, Value};

use crate::recognise::marks::values;

/// What a document without a type is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Claim {
    /// An object: it has a `ref`.
    Object,
    /// A relationship: it has `a` and `b`.
    Link,
}

/// Looks at every document there is, so it stops at the first key that tells.
pub(crate) fn claim(document: Value<'_>) -> Option<Claim> {
    let (mut a, mut b) = (false, false);
    for (key, value) in document.entries() {
        match key.text() {
            "a" => a = is_reference(value),
            "b" => b = is_reference(value),
            "ref" if is_reference(value) => return Some(Claim::Object),
            "kind" | "type" | "apiVersion" => return None,
            _ => {}
        }
        if a && b {
            return Some(Claim::Link);
        }
    }
    None
}

/// Whether a text that cannot be parsed has references to objects.
pub(crate) fn resembles_text(text: &str) -> bool {
    let refers = |key: &str| values(text, key).any(|value| value.contains('/'));
    refers("ref") || (refers("a") && refers("b"))
}

/// Whether a list, which is not a document for others, holds documents of ours.
pub(crate) fn is_list_of_ours(document: Value<'_>) -> bool {
    document.items().next().is_some_and(|first| claim(first).is_some())
}

fn is_reference(value: Value<'_>) -> bool {
    value.kind() == Kind::Text && value.text().contains('/')
}

/// Whether a document with a reference to a kind that nobody knows has only fields of ours: then it is a mistake, else
/// it belongs to somebody else.
pub(crate) fn has_own_fields(document: Value<'_>) -> bool {
    let fields =
        ["ref", "name", "tags", "workspace", "class", "deleted", "disabled", "members", "links", "a", "b", "role"];
    document.entries().all(|(key, _)| fields.contains(&key.text()))
}
