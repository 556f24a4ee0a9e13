//! The policies that there are: those of the store in its order, then those of files.

use serde_json::{Map, Value as Json_, json};
use upheld_dialects::access::POLICY;
use upheld_dialects::access::claim::STORED;
use upheld_dialects::access::decider::Decider;
use upheld_model::tree::Value;

use crate::view::View;

/// The access policies: this API has no others.
pub(super) fn decider(view: &View) -> Option<Decider<'_>> {
    view.decider(Some(POLICY)).ok()
}

/// All policies in order.
#[derive(Debug)]
pub(super) struct PolicyList<'v>(Vec<Policy<'v>>);

/// A policy where it is written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Policy<'v> {
    id: &'v str,
    document: Value<'v>,
    file: &'v str,
}

impl<'v> PolicyList<'v> {
    /// Of a view.
    pub(super) fn of(view: &'v View) -> Self {
        let Some(decider) = decider(view) else { return Self(Vec::new()) };
        let mut placed = Vec::with_capacity(decider.decide.rules().len());
        for rule in decider.decide.rules() {
            let (Some(document), Some(file)) = (decider.files.value(rule.at), decider.files.get(rule.at.source)) else {
                continue;
            };
            let file = file.name.as_str();
            // The store is read first, in its order; files have the order of their names.
            let place = if file.starts_with(STORED) { None } else { Some(file) };
            let policy = Policy { id: &rule.name, document, file };
            placed.push(((place, rule.at.source.index(), rule.at.node), policy));
        }
        placed.sort_by_key(|(place, _)| *place);
        Self(placed.into_iter().map(|(_, policy)| policy).collect())
    }

    /// All of them.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Policy<'v>> {
        self.0.iter()
    }

    /// The one with an id.
    pub(super) fn get(&self, id: &str) -> Option<&Policy<'v>> {
        self.0.iter().find(|policy| policy.id == id)
    }
}

impl Policy<'_> {
    /// As it is written. Where another field has its name, the id comes first.
    pub(super) fn json(&self) -> Json_ {
        let written = serde_json::to_value(self.document).unwrap_or_default();
        if written.get("id").is_some() {
            return written;
        }
        let fields = written.as_object().cloned().unwrap_or_default();
        let id = ("id".to_owned(), json!(self.id));
        Json_::Object(std::iter::once(id).chain(fields).collect())
    }

    /// `{id, name, effect, priority}`, each only if the policy says it.
    pub(super) fn summary(&self) -> Json_ {
        let mut summary = Map::new();
        summary.insert("id".to_owned(), json!(self.id));
        for field in ["name", "effect", "priority"] {
            if let Some(value) = self.document.get(field) {
                summary.insert(field.to_owned(), serde_json::to_value(value).unwrap_or_default());
            }
        }
        Json_::Object(summary)
    }

    /// Its name.
    pub(super) fn id(&self) -> &str {
        self.id
    }

    /// The file that it is in.
    pub(super) fn place(&self) -> &str {
        self.file
    }
}
