//! Which documents are about access.

use upheld_model::nearest::nearest;
use upheld_model::tree::{Kind, Value};

use super::authzen::directory::DIRECTORY;
use super::manifest;
use crate::recognise::marks::has_key;

/// What a document without a type is, if it is about access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// One policy.
    Policy,
    /// A list of policies.
    List,
    /// Settings.
    Manifest,
    /// Policies with an algorithm of their own.
    Set,
    /// What is known of subjects, resources and actions.
    Directory,
}

impl Claim {
    /// Whether such a document says which policies there are, even if these are none.
    pub(super) fn lists_policies(self) -> bool {
        match self {
            Self::List | Self::Manifest => true,
            Self::Policy | Self::Set | Self::Directory => false,
        }
    }
}

/// What a document is, if it is about access.
pub fn claim(document: Value<'_>, file: &str) -> Option<Claim> {
    match document.kind() {
        Kind::List => (is_empty_list(document) || document.items().any(looks_like_policy)).then_some(Claim::List),
        Kind::Map => {
            let has = |key: &str| document.get(key).is_some();
            let typed = document.get("kind").map_or("", Value::text);
            if typed == DIRECTORY && !has("apiVersion") {
                return Some(Claim::Directory);
            }
            if typed == POLICY_SET && !has("apiVersion") {
                return Some(Claim::Set);
            }
            // A type of its own with a name is a kind of the user's own, whatever its fields are called.
            let is_typed = has("type") && !(has("effect") && has("id"));
            if has("apiVersion") || is_typed || has("kind") {
                return None;
            }
            if manifest::OWN_KEYS.iter().any(|key| has(key)) {
                return Some(Claim::Manifest);
            }
            if has("algorithm") && (has("policies") || has("sets")) {
                return Some(Claim::Set);
            }
            if looks_like_policy(document) {
                return Some(Claim::Policy);
            }
            let holds_policies = |list: Value<'_>| is_empty_list(list) || list.items().any(looks_like_policy);
            let policies = document.get("policies").is_some_and(holds_policies);
            let misspelt = || {
                let keys = document.entries().map(|(key, _)| key.text());
                is_manifest(file) && keys.into_iter().any(near_own_key)
            };
            (policies || misspelt()).then_some(Claim::Manifest)
        }
        _ => None,
    }
}

/// Whether a text that cannot be parsed has the fields of policies, or of settings.
pub(crate) fn resembles_text(text: &str) -> bool {
    let has = |key: &&str| has_key(text, key);
    let of_policies = ["subjects", "resources", "actions"].iter().filter(|key| has(key)).count();
    of_policies >= 2 || (of_policies > 0 && has(&"effect")) || manifest::OWN_KEYS.iter().any(has)
}

/// The value of `kind:` of a set of policies.
pub const POLICY_SET: &str = "PolicySet";

/// Whether a file is one that a manifest names. Documents of a store are not files.
pub(crate) fn is_named(file: &str, by_manifest: &str) -> bool {
    if file.starts_with(STORED) {
        return false;
    }
    let named = by_manifest.trim_start_matches("./");
    file == named || file.strip_suffix(named).is_some_and(|folder| folder.ends_with(['/', '\\']))
}

/// How the names of documents begin that come out of a store.
pub const STORED: &str = "store:";

/// A store that has lost its last policy.
fn is_empty_list(value: Value<'_>) -> bool {
    value.kind() == Kind::List && value.items().next().is_none()
}

fn is_manifest(file: &str) -> bool {
    let name = file.rsplit(['/', '\\', ':']).next().unwrap_or(file);
    name.split('.').next() == Some("manifest")
}

fn near_own_key(key: &str) -> bool {
    nearest(key, manifest::OWN_KEYS).is_some()
}

/// Two of the fields that only policies of ours have together.
fn looks_like_policy(item: Value<'_>) -> bool {
    let fields = ["id", "effect", "subjects", "resources", "actions"];
    fields.iter().filter(|field| item.get(field).is_some()).count() >= 2
}
