//! The policies, each read once.

use std::collections::BTreeSet;
use std::sync::Arc;

use upheld_engine::{PolicyId, Snapshot};
use upheld_model::tree::Value;
use upheld_model::{Config, Content};

use super::scene::Scene;
use super::targets::Target;
use crate::document::Resource;
use crate::gateway_api::MergeType;
use crate::gateway_api::claim::{ENVOY_GATEWAY, EXPERIMENTAL, GATEWAY};
use crate::gateway_api::selector::selects;

/// The fields of a spec that say where it holds and how, not what.
const ATTACHING: [&str; 4] = ["targetRef", "targetRefs", "targetSelectors", "mergeType"];

/// Fields that were given up, and what is there instead.
const GIVEN_UP: [(&str, &str); 2] = [("compression", "compressor"), ("targetRef", "targetRefs")];

/// A kind of policy. Kinds never meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PolicyKind {
    /// How requests go on to backends.
    BackendTraffic,
    /// How clients are received: for listeners only.
    ClientTraffic,
    /// What else runs in the proxy.
    EnvoyExtension,
    /// Who may come in.
    Security,
}

impl PolicyKind {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::BackendTraffic, Self::ClientTraffic, Self::EnvoyExtension, Self::Security];

    /// Its type in documents.
    pub const fn name(self) -> &'static str {
        match self {
            Self::BackendTraffic => "BackendTrafficPolicy",
            Self::ClientTraffic => "ClientTrafficPolicy",
            Self::EnvoyExtension => "EnvoyExtensionPolicy",
            Self::Security => "SecurityPolicy",
        }
    }

    /// How messages call several of them.
    pub(super) const fn plural(self) -> &'static str {
        match self {
            Self::BackendTraffic => "backendTrafficPolicies",
            Self::ClientTraffic => "clientTrafficPolicies",
            Self::EnvoyExtension => "envoyExtensionPolicies",
            Self::Security => "securityPolicies",
        }
    }
}

/// A policy.
#[derive(Clone, Debug)]
pub struct Policy {
    /// The policy of the snapshot.
    pub id: PolicyId,
    /// Its kind.
    pub kind: PolicyKind,
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// What it says, without where.
    pub spec: Arc<Config>,
    /// How it meets the policy of the listener.
    pub merge_type: MergeType,
    /// What it names or selects and what is there.
    pub targets: Vec<Target>,
    /// The fields that it uses although they were given up, each with what is there instead.
    pub given_up: Vec<(&'static str, &'static str)>,
}

impl Policy {
    /// `namespace/name`.
    pub fn path(&self) -> String {
        format!("{}/{}", self.namespace, self.name)
    }

    /// `Kind namespace/name`.
    pub fn title(&self) -> String {
        format!("{} {}", self.kind.name(), self.path())
    }
}

/// The policies of a snapshot in the order in which they may choose: the oldest first, then by namespace, then by name.
pub fn by_age(snapshot: &Snapshot) -> Vec<PolicyId> {
    let all = snapshot.policies().iter().filter(|(id, _)| kind(snapshot, *id).is_some());
    let mut all: Vec<_> = all
        .map(|(id, policy)| ((policy.created, snapshot.text(policy.scope), snapshot.text(policy.name)), id))
        .collect();
    all.sort();
    all.into_iter().map(|(_, id)| id).collect()
}

/// The kind of a policy, if it is one of Envoy Gateway.
fn kind(snapshot: &Snapshot, id: PolicyId) -> Option<PolicyKind> {
    let policy = snapshot.policy(id)?;
    let name = snapshot.text(policy.kind);
    let kind = PolicyKind::ALL.into_iter().find(|kind| kind.name() == name)?;
    let resource = snapshot.files().value(policy.at).and_then(Resource::of)?;
    (resource.group() == Some(ENVOY_GATEWAY)).then_some(kind)
}

/// Reads a policy; `None` if it is not one of Envoy Gateway.
pub(super) fn read(scene: &Scene<'_>, id: PolicyId) -> Option<Policy> {
    let snapshot = scene.topology.snapshot;
    let (kind, policy) = (kind(snapshot, id)?, snapshot.policy(id)?);
    let spec = snapshot.files().value(policy.at).and_then(Resource::of).and_then(Resource::spec);
    let namespace = snapshot.text(policy.scope);
    let merge_type = match spec.and_then(|spec| spec.get("mergeType")).map(Value::text) {
        Some("StrategicMerge") => MergeType::StrategicMerge,
        Some("JSONMerge") => MergeType::JsonMerge,
        _ => MergeType::Replace,
    };
    let said = spec.map_or_else(|| Config::made(Content::Null), |spec| Config::of(policy.at.source, spec));
    let targets = spec.map(|spec| targets(scene, kind, namespace, spec)).unwrap_or_default();
    Some(Policy {
        id,
        kind,
        namespace: namespace.to_owned(),
        name: snapshot.text(policy.name).to_owned(),
        spec: without_attaching(&said),
        merge_type,
        targets,
        given_up: GIVEN_UP.into_iter().filter(|(field, _)| uses(&said, field)).collect(),
    })
}

/// Whether a spec has a field that says something.
fn uses(spec: &Config, field: &str) -> bool {
    spec.get(field).is_some_and(|value| match &value.content {
        Content::Null => false,
        Content::List(items) => !items.is_empty(),
        _ => true,
    })
}

/// What a spec says beside where it holds.
fn without_attaching(spec: &Config) -> Arc<Config> {
    let said = spec.entries().iter().filter(|(key, _)| !ATTACHING.contains(&key.as_str()));
    Arc::new(Config { content: Content::Map(said.cloned().collect()), at: spec.at })
}

/// What a policy is attached to. What is not there may belong to another controller and is left out, and so is what policies
/// of this kind cannot be attached to.
fn targets(scene: &Scene<'_>, kind: PolicyKind, namespace: &str, spec: Value<'_>) -> Vec<Target> {
    let (mut targets, mut seen) = (Vec::new(), BTreeSet::new());
    let mut add = |target: Target| {
        let fits = kind != PolicyKind::ClientTraffic || !scene.is_route(target.object);
        if fits && seen.insert(target.clone()) {
            targets.push(target);
        }
    };
    let text = |value: Value<'_>, key: &str| value.get(key).map(|value| value.text().to_owned());
    let known = |value: Value<'_>| {
        let group = text(value, "group").unwrap_or_else(|| GATEWAY.to_owned());
        [GATEWAY, EXPERIMENTAL].contains(&group.as_str())
    };
    let listed = |key: &str| spec.get(key).into_iter().flat_map(Value::items);
    let one = spec.get("targetRef").into_iter().filter(|value| value.get("name").is_some());
    for reference in one.chain(listed("targetRefs")).filter(|reference| known(*reference)) {
        let part = |key: &str| text(reference, key).unwrap_or_default();
        if let Some(object) = scene.object(&part("kind"), namespace, &part("name")) {
            add(Target { object, section: text(reference, "sectionName").filter(|section| !section.is_empty()) });
        }
    }
    for selector in listed("targetSelectors").filter(|selector| known(*selector)) {
        for view in scene.all(&text(selector, "kind").unwrap_or_default(), namespace) {
            let labels: Vec<_> = view.labels().collect();
            if selects(selector, &labels) {
                add(Target { object: view.object, section: None });
            }
        }
    }
    targets
}
