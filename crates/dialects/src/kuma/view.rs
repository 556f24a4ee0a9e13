//! The shapes of Kuma's older inspection endpoints, as of releases up to 2.14.
//!
//! ```text
//! GET /meshes/{mesh}/dataplanes/{name}/policies       which policies a proxy gets, and where
//! GET /meshes/{mesh}/{policies}/{name}/dataplanes     which proxies a policy reaches, and where
//! ```
//!
//! In goes the path of a request, out comes the body of the response. Both endpoints show the same thing from two sides:
//! the `attachments` of policies to proxies, for which the engine is asked with the kinds of [`EDITION`].

mod attachments;
mod metrics;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Value as Json, json};
use upheld_engine::Snapshot;
use upheld_model::{Object, Policy, Sym};

use self::attachments::{Attachment, Inspector};
use crate::document::{Form, Resource};
use crate::kuma::ends::{meshes, proxies};

/// The edition whose choices these endpoints show.
pub const EDITION: &str = "kuma/0.4";

/// The types of policies, as they are spelt in paths. A `VirtualOutbound` is attached to no proxy, so its list is empty.
const POLICIES: [(&str, &str); 12] = [
    ("circuit-breakers", "CircuitBreaker"),
    ("fault-injections", "FaultInjection"),
    ("health-checks", "HealthCheck"),
    ("proxytemplates", "ProxyTemplate"),
    ("rate-limits", "RateLimit"),
    ("retries", "Retry"),
    ("timeouts", "Timeout"),
    ("traffic-logs", "TrafficLog"),
    ("traffic-permissions", "TrafficPermission"),
    ("traffic-routes", "TrafficRoute"),
    ("traffic-traces", "TrafficTrace"),
    ("virtual-outbounds", "VirtualOutbound"),
];

/// The time of resources that say none.
const ZERO_TIME: &str = "0001-01-01T00:00:00Z";

/// Answers a request by its path.
pub fn inspect(snapshot: &Snapshot, path: &str) -> Result<Json, InspectError> {
    let no_endpoint = || InspectError::NoEndpoint { path: path.to_owned() };
    let steps: Vec<&str> = path.strip_prefix('/').unwrap_or(path).split('/').collect();
    match steps.as_slice() {
        ["meshes", mesh, "dataplanes", name, "policies"] => dataplane_policies(snapshot, mesh, name),
        ["meshes", mesh, policies, name, "dataplanes"] => {
            let (_, kind) = POLICIES.iter().find(|(plural, _)| plural == policies).ok_or_else(no_endpoint)?;
            policy_dataplanes(snapshot, mesh, kind, name)
        }
        _ => Err(no_endpoint()),
    }
}

/// Which policies a proxy gets, by the places where they are attached.
pub fn dataplane_policies(snapshot: &Snapshot, mesh: &str, name: &str) -> Result<Json, InspectError> {
    let mesh = find_mesh(snapshot, mesh)?;
    let dataplane = proxies(snapshot)
        .map(|(_, object)| object)
        .find(|object| object.scope == mesh && snapshot.text(object.name) == name)
        .ok_or_else(|| not_found(snapshot, "Dataplane", name, mesh))?;
    let mut items = Vec::new();
    for attachment in Inspector::new(snapshot, mesh)?.attachments(dataplane)? {
        let mut matched: BTreeMap<&str, Vec<Json>> = BTreeMap::new();
        for policy in attachment.policies.iter().filter_map(|id| snapshot.policy(*id)) {
            matched.entry(snapshot.text(policy.kind)).or_default().push(meta(snapshot, policy));
        }
        let mut item = place(&attachment);
        item.insert("matchedPolicies".to_owned(), json!(matched));
        items.push(Json::Object(item));
    }
    Ok(json!({"kind": "SidecarDataplane", "total": items.len(), "items": items}))
}

/// Which proxies a policy reaches, in the order in which they were written, and where it is attached to them.
pub fn policy_dataplanes(snapshot: &Snapshot, mesh: &str, kind: &str, name: &str) -> Result<Json, InspectError> {
    let mesh = find_mesh(snapshot, mesh)?;
    let (policy, _) = snapshot
        .policies()
        .iter()
        .find(|(_, policy)| {
            policy.scope == mesh && snapshot.text(policy.kind) == kind && snapshot.text(policy.name) == name
        })
        .ok_or_else(|| not_found(snapshot, kind, name, mesh))?;
    let inspector = Inspector::new(snapshot, mesh)?;
    let mut dataplanes: Vec<&Object> =
        proxies(snapshot).map(|(_, object)| object).filter(|object| object.scope == mesh).collect();
    dataplanes.sort_by_key(|object| object.at);
    let mut items = Vec::new();
    for dataplane in dataplanes {
        let mut places = Vec::new();
        for attachment in inspector.attachments(dataplane)? {
            let times = attachment.policies.iter().filter(|attached| **attached == policy).count();
            places.extend(std::iter::repeat_n(Json::Object(place(&attachment)), times));
        }
        if !places.is_empty() {
            let key = json!({"mesh": snapshot.text(mesh), "name": snapshot.text(dataplane.name)});
            items.push(json!({"kind": "SidecarDataplane", "dataplane": key, "attachments": places}));
        }
    }
    Ok(json!({"total": items.len(), "items": items}))
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InspectError {
    /// No endpoint has this path.
    NoEndpoint {
        /// The path.
        path: String,
    },
    /// A mesh, proxy or policy that does not exist.
    NotFound {
        /// Its type.
        kind: String,
        /// Its name.
        name: String,
        /// Where it was looked for, unless it is a mesh.
        mesh: Option<String>,
    },
    /// The snapshot was made for other editions.
    OtherEdition,
    /// Policies are attached to built-in gateways by their listeners and routes, which are not read.
    BuiltinGateway {
        /// The name of the gateway's proxy.
        name: String,
    },
    /// More policies than the engine can rank.
    TooManyPolicies,
}

impl fmt::Display for InspectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoEndpoint { path } => write!(f, "there is no inspection endpoint `{path}`"),
            Self::NotFound { kind, name, mesh: None } => write!(f, "there is no {kind} `{name}`"),
            Self::NotFound { kind, name, mesh: Some(mesh) } => {
                write!(f, "there is no {kind} `{name}` in mesh `{mesh}`")
            }
            Self::OtherEdition => write!(f, "this endpoint needs the semantics `{EDITION}`, which are not in force"),
            Self::BuiltinGateway { name } => {
                write!(f, "`{name}` is a built-in gateway, whose policies are not resolved yet")
            }
            Self::TooManyPolicies => write!(f, "there are more policies of one kind than a rank can tell apart"),
        }
    }
}

impl std::error::Error for InspectError {}

fn find_mesh(snapshot: &Snapshot, name: &str) -> Result<Sym, InspectError> {
    meshes(snapshot).into_iter().find(|mesh| snapshot.text(*mesh) == name).ok_or_else(|| InspectError::NotFound {
        kind: "Mesh".to_owned(),
        name: name.to_owned(),
        mesh: None,
    })
}

fn not_found(snapshot: &Snapshot, kind: &str, name: &str, mesh: Sym) -> InspectError {
    let mesh = Some(snapshot.text(mesh).to_owned());
    InspectError::NotFound { kind: kind.to_owned(), name: name.to_owned(), mesh }
}

/// Where policies are attached; what says nothing is left out.
fn place(attachment: &Attachment) -> serde_json::Map<String, Json> {
    let fields = [("type", attachment.place.word()), ("name", &attachment.name), ("service", &attachment.service)];
    let said = fields.into_iter().filter(|(_, text)| !text.is_empty());
    said.map(|(field, text)| (field.to_owned(), json!(text))).collect()
}

/// Who a policy is, without what it says.
fn meta(snapshot: &Snapshot, policy: &Policy) -> Json {
    let resource = snapshot.files().value(policy.at).and_then(Resource::of);
    let metadata = resource.and_then(|resource| match resource.form {
        Form::Universal => Some(resource.document),
        Form::Kubernetes => resource.document.get("metadata"),
    });
    let created = policy.created.map_or_else(|| ZERO_TIME.to_owned(), |created| created.to_string());
    let modified = metadata.and_then(|metadata| metadata.get("modificationTime")?.as_text());
    let mut meta = json!({
        "type": snapshot.text(policy.kind),
        "mesh": snapshot.text(policy.scope),
        "name": snapshot.text(policy.name),
        "creationTime": created,
        "modificationTime": modified.unwrap_or(ZERO_TIME),
    });
    let labels =
        metadata.and_then(|metadata| metadata.get("labels")).filter(|labels| labels.entries().next().is_some());
    if let (Some(labels), Some(meta)) = (labels, meta.as_object_mut()) {
        meta.insert("labels".to_owned(), json!(labels));
    }
    meta
}
