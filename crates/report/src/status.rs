//! What controllers would report of policies and of the objects that they are attached to, in the shape of their own
//! documents, and at how many places each field of a policy survives.

use serde::Serialize;
use serde_json::{Map, Value as Json, json};

/// The status of a policy, as it is reported.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PolicyStatus {
    /// Group and version, as its document has it.
    pub api_version: String,
    /// Its kind, namespace and name.
    pub policy: Reference,
    /// What is said at each place that it came to.
    pub ancestors: Vec<AncestorStatus>,
    /// At how many places each field survives.
    pub fields: Vec<FieldStatus>,
    /// Why it came to no place, or what is taken for granted.
    pub notes: Vec<String>,
}

/// The status of an object that policies can be attached to.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ObjectStatus {
    /// Group and version, as its document has it.
    pub api_version: String,
    /// Its kind, namespace and name.
    pub object: Reference,
    /// What is said of it as a whole.
    pub conditions: Vec<Condition>,
    /// What is said at each of its parents.
    pub parents: Vec<AncestorStatus>,
    /// What is said of each of its listeners.
    pub listeners: Vec<ListenerStatus>,
    /// What is taken for granted.
    pub notes: Vec<String>,
}

/// The status of a listener.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ListenerStatus {
    /// Its name.
    pub name: String,
    /// How many routes are attached to it.
    pub attached_routes: usize,
    /// What is said of it.
    pub conditions: Vec<Condition>,
}

/// The status of something at one ancestor or parent.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AncestorStatus {
    /// The ancestor.
    pub ancestor: Reference,
    /// What is said there.
    pub conditions: Vec<Condition>,
}

/// An object, or a section of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Reference {
    /// The API group.
    pub group: String,
    /// The type.
    pub kind: String,
    /// The namespace.
    pub namespace: String,
    /// The name.
    pub name: String,
    /// A part of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub section_name: Option<String>,
}

impl std::fmt::Display for Reference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}/{}", self.kind, self.namespace, self.name)?;
        self.section_name.as_ref().map_or(Ok(()), |section| write!(f, "#{section}"))
    }
}

/// One condition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Condition {
    /// What it is about.
    #[serde(rename = "type")]
    pub name: String,
    /// `True`, `False` or `Unknown`.
    pub status: &'static str,
    /// In one word.
    pub reason: String,
    /// In a sentence.
    pub message: String,
}

/// How a field of a policy fares.
#[derive(Clone, Debug, Serialize)]
pub struct FieldStatus {
    /// Its name.
    pub field: String,
    /// At how many places its value holds.
    pub survives: usize,
    /// At how many places it was set.
    pub of: usize,
}

impl PolicyStatus {
    /// As its own document; what only we know stands beside its status.
    pub fn resource(&self) -> Json {
        let ancestors: Vec<Json> = self.ancestors.iter().map(|at| at.entry("ancestorRef")).collect();
        let status = Map::from_iter([("ancestors".to_owned(), json!(ancestors))]);
        let mut resource = resource(&self.api_version, &self.policy, status, &self.notes);
        resource.insert("fields".to_owned(), json!(self.fields));
        Json::Object(resource)
    }
}

impl ObjectStatus {
    /// As its own document.
    pub fn resource(&self) -> Json {
        let parents: Vec<Json> = self.parents.iter().map(|at| at.entry("parentRef")).collect();
        let lists =
            [("conditions", json!(self.conditions)), ("listeners", json!(self.listeners)), ("parents", json!(parents))];
        let said = lists.into_iter().filter(|(_, list)| list.as_array().is_some_and(|list| !list.is_empty()));
        let status = said.map(|(name, list)| (name.to_owned(), list)).collect();
        Json::Object(resource(&self.api_version, &self.object, status, &self.notes))
    }
}

impl AncestorStatus {
    fn entry(&self, reference: &str) -> Json {
        json!({reference: self.ancestor, "conditions": self.conditions})
    }
}

fn resource(
    api_version: &str,
    reference: &Reference,
    status: Map<String, Json>,
    notes: &[String],
) -> Map<String, Json> {
    let Reference { kind, namespace, name, .. } = reference;
    let metadata = json!({"name": name, "namespace": namespace});
    let mut parts = vec![("apiVersion", json!(api_version)), ("kind", json!(kind)), ("metadata", metadata)];
    parts.push(("status", Json::Object(status)));
    if !notes.is_empty() {
        parts.push(("notes", json!(notes)));
    }
    parts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Documents as one list.
pub fn list(resources: &[Json]) -> Json {
    json!({"apiVersion": "v1", "kind": "List", "items": resources})
}
