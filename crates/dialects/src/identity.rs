//! Who a document is, whatever system it belongs to: what a store knows it by.

use std::borrow::Cow;

use upheld_model::tree::{Kind, Value};

use crate::access::claim::Claim;
use crate::document::Resource;
use crate::{access, comply};

/// The identity of a document. Two documents with the same one are two versions of one thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity<'t> {
    /// Its type: `TrafficLog`, `AccessPolicy`, `project`.
    pub kind: Cow<'t, str>,
    /// The mesh it is in, or what stands in its place.
    pub scope: Cow<'t, str>,
    /// Its name there.
    pub name: Cow<'t, str>,
}

/// The type of settings beside access policies.
pub const MANIFEST: &str = "AccessManifest";
/// The type of a relationship between two objects.
pub const LINK: &str = "Link";

/// The identity of a document; `None` if it has no name. Lists have none: their items do.
pub fn identity(document: Value<'_>) -> Option<Identity<'_>> {
    match comply::documented::claim(document) {
        Some(comply::documented::Claim::Object) => {
            let (kind, name) = document.get("ref")?.text().split_once('/')?;
            return named(kind, comply::SCOPE, name);
        }
        Some(comply::documented::Claim::Link) => {
            let part = |field: &str| document.get(field).map(Value::text).filter(|text| !text.is_empty());
            let role = part("role").map(|role| format!("~{role}")).unwrap_or_default();
            let name = format!("{}~{}{role}", part("a")?, part("b")?);
            return Some(Identity { kind: LINK.into(), scope: comply::SCOPE.into(), name: name.into() });
        }
        None => {}
    }
    match access::claim::claim(document, "") {
        Some(Claim::Policy) => return named(access::POLICY, access::SCOPE, own_name(document)?),
        Some(Claim::Manifest) => {
            return named(MANIFEST, access::SCOPE, own_name(document).unwrap_or("manifest"));
        }
        Some(Claim::Set) => return named(access::claim::POLICY_SET, access::SCOPE, own_name(document)?),
        Some(Claim::Tests) => return named(access::claim::TESTS, access::SCOPE, own_name(document).unwrap_or("tests")),
        Some(Claim::Directory) => {
            let kind = access::authzen::directory::DIRECTORY;
            return named(kind, access::SCOPE, own_name(document).unwrap_or("directory"));
        }
        Some(Claim::List) => return None,
        None => {}
    }
    let Some(resource) = Resource::of(document) else {
        // Documents of our own have a kind and no version.
        let kind = document.get("kind").and_then(Value::as_text)?;
        return named(kind, comply::SCOPE, own_name(document)?);
    };
    let kind = resource.kind.as_text().filter(|kind| !kind.is_empty())?;
    let name = match resource.name() {
        name if name.is_empty() => Cow::Borrowed(own_name(document)?),
        name => name,
    };
    Some(Identity { kind: kind.into(), scope: resource.mesh().into(), name })
}

fn named<'t>(kind: &'t str, scope: &'t str, name: &'t str) -> Option<Identity<'t>> {
    let full = !kind.is_empty() && !name.is_empty();
    full.then(|| Identity { kind: kind.into(), scope: scope.into(), name: name.into() })
}

/// What documents without metadata call themselves by.
fn own_name(document: Value<'_>) -> Option<&str> {
    let text = |value: Value<'_>| value.kind() != Kind::Null && !value.text().is_empty();
    ["id", "name", "key"]
        .into_iter()
        .find_map(|field| document.get(field).filter(|value| text(*value)))
        .map(Value::text)
}
