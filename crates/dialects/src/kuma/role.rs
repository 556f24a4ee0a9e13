//! Roles of policies: on whose behalf a policy speaks, which follows from where it lives and what it targets.

use std::fmt;

use upheld_model::Config;

use super::edition::Edition;

/// On whose behalf a policy speaks, the weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    /// The owners of the mesh.
    System,
    /// The owners of a service, to all its clients.
    Producer,
    /// The clients in one namespace, about services that they call.
    Consumer,
    /// The owners of workloads, about their own proxies.
    WorkloadOwner,
}

impl Role {
    /// All of them, the weakest first.
    pub const ALL: [Self; 4] = [Self::System, Self::Producer, Self::Consumer, Self::WorkloadOwner];

    /// The word that the label of a policy has for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Producer => "producer",
            Self::Consumer => "consumer",
            Self::WorkloadOwner => "workload-owner",
        }
    }

    /// The role that a label names; an empty label is that of the system.
    pub fn of_label(text: &str) -> Option<Self> {
        if text.is_empty() {
            return Some(Self::System);
        }
        Self::ALL.into_iter().find(|role| role.word() == text)
    }
}

/// Why a policy has no role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoleError {
    /// It speaks about incoming and outgoing traffic at once.
    FromAndTo,
    /// It targets services of its own namespace and others at once.
    ProducerAndConsumer,
}

impl fmt::Display for RoleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::FromAndTo => "it's not allowed to mix 'to' and 'from' arrays in the same policy",
            Self::ProducerAndConsumer => "it's not allowed to mix producer and consumer items in the same policy",
        })
    }
}

impl std::error::Error for RoleError {}

/// Whose namespace a policy lives in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Namespace {
    /// That of the control plane.
    System,
    /// That of workloads.
    Workloads,
}

/// The role of a policy with a `spec`. On Universal there is no namespace.
pub fn compute(namespace: Option<&str>, home: Namespace, spec: &Config, edition: Edition) -> Result<Role, RoleError> {
    let Some(namespace) = namespace.filter(|name| !name.is_empty() && home == Namespace::Workloads) else {
        return Ok(Role::System);
    };
    let items = |name| spec.get(name).map_or(&[][..], |list| list.items());
    let to = items("to");
    if to.is_empty() {
        return Ok(Role::WorkloadOwner);
    }
    // Kuma 3 has no `from` and does not see one.
    if edition != Edition::V3 && !items("from").is_empty() {
        return Err(RoleError::FromAndTo);
    }
    match to.iter().filter(|item| is_own_resource(edition, namespace, item)).count() {
        0 => Ok(Role::Consumer),
        count if count == to.len() => Ok(Role::Producer),
        _ => Err(RoleError::ProducerAndConsumer),
    }
}

/// Whether a `to` item targets one resource of the policy's namespace by its name.
fn is_own_resource(edition: Edition, namespace: &str, item: &Config) -> bool {
    let Some(target) = item.get("targetRef") else {
        return false;
    };
    if !matches!(text(target, "kind"), "MeshService" | "MeshHTTPRoute") {
        return false;
    }
    let (name, named_namespace) = match edition {
        Edition::V2 | Edition::V2Cliques => (text(target, "name"), text(target, "namespace")),
        Edition::V3 => {
            let Some(labels) = target.get("labels") else {
                return false;
            };
            // Any other label makes it a selection, which may hit several resources.
            if labels.entries().iter().any(|(key, _)| key != DISPLAY_NAME && key != NAMESPACE) {
                return false;
            }
            (text(labels, DISPLAY_NAME), text(labels, NAMESPACE))
        }
    };
    !name.is_empty() && (named_namespace.is_empty() || named_namespace == namespace)
}

const DISPLAY_NAME: &str = "kuma.io/display-name";
const NAMESPACE: &str = "k8s.kuma.io/namespace";

fn text<'c>(config: &'c Config, name: &str) -> &'c str {
    config.get(name).and_then(|value| value.as_text()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::slice;
    use std::sync::Arc;

    use serde_json::{Value as Json, json};
    use upheld_model::SourceId;

    use super::super::testing::tree;
    use super::*;

    fn config(json: &Json) -> Arc<Config> {
        Config::of(SourceId::new(0), tree(slice::from_ref(json)).documents().next().unwrap())
    }

    fn to(targets: &[Json]) -> Json {
        json!({"to": targets.iter().map(|target| json!({"targetRef": target})).collect::<Json>()})
    }

    /// The role of a policy in the namespace `shop`.
    fn check(edition: Edition, spec: &Json, expected: Result<Role, RoleError>) {
        assert_eq!(compute(Some("shop"), Namespace::Workloads, &config(spec), edition), expected, "{edition:?} {spec}");
    }

    #[test]
    fn policies_of_the_system_are_not_looked_into() {
        let mixed = config(&json!({"from": [{}], "to": [{}]}));
        for (namespace, system) in
            [(None, Namespace::Workloads), (Some(""), Namespace::Workloads), (Some("kuma-system"), Namespace::System)]
        {
            assert_eq!(compute(namespace, system, &mixed, Edition::V2), Ok(Role::System));
        }
    }

    #[test]
    fn policies_without_destinations_are_about_their_own_workloads() {
        for spec in [json!({"rules": [{}]}), json!({"default": {}}), json!({"from": [{}], "to": []}), json!({})] {
            check(Edition::V2, &spec, Ok(Role::WorkloadOwner));
            check(Edition::V3, &spec, Ok(Role::WorkloadOwner));
        }
    }

    #[test]
    fn directions_are_not_mixed_where_there_are_two() {
        let both = json!({"from": [{}], "to": [{"targetRef": {"kind": "Mesh"}}]});
        check(Edition::V2, &both, Err(RoleError::FromAndTo));
        check(Edition::V2Cliques, &both, Err(RoleError::FromAndTo));
        check(Edition::V3, &both, Ok(Role::Consumer));
    }

    #[test]
    fn kuma_2_names_resources() {
        let check = |target: Json, expected| check(Edition::V2, &to(&[target]), Ok(expected));
        check(json!({"kind": "MeshService", "name": "cart"}), Role::Producer);
        check(json!({"kind": "MeshService", "name": "cart", "namespace": "shop"}), Role::Producer);
        check(json!({"kind": "MeshHTTPRoute", "name": "cart", "sectionName": "http"}), Role::Producer);
        check(json!({"kind": "MeshService", "name": "cart", "namespace": "bank"}), Role::Consumer);
        check(json!({"kind": "MeshService", "labels": {DISPLAY_NAME: "cart"}}), Role::Consumer);
        check(json!({"kind": "MeshExternalService", "name": "cart"}), Role::Consumer);
        check(json!({"kind": "Mesh"}), Role::Consumer);
        check(Json::Null, Role::Consumer);
    }

    #[test]
    fn kuma_3_selects_resources_by_labels() {
        let check = |labels: Json, expected| {
            check(Edition::V3, &to(&[json!({"kind": "MeshService", "labels": labels})]), Ok(expected));
        };
        check(json!({DISPLAY_NAME: "cart"}), Role::Producer);
        check(json!({DISPLAY_NAME: "cart", NAMESPACE: "shop"}), Role::Producer);
        check(json!({DISPLAY_NAME: "cart", NAMESPACE: "bank"}), Role::Consumer);
        check(json!({DISPLAY_NAME: "cart", "kuma.io/zone": "east"}), Role::Consumer);
        check(json!({NAMESPACE: "shop"}), Role::Consumer);
        check(json!({}), Role::Consumer);
        check(Json::Null, Role::Consumer);
    }

    #[test]
    fn all_items_have_the_same_role() {
        let (own, other) = (json!({"kind": "MeshService", "name": "cart"}), json!({"kind": "Mesh"}));
        check(Edition::V2, &to(&[own.clone(), own.clone()]), Ok(Role::Producer));
        check(Edition::V2, &to(&[own, other]), Err(RoleError::ProducerAndConsumer));
    }

    #[test]
    fn labels_name_roles() {
        for role in Role::ALL {
            assert_eq!(Role::of_label(role.word()), Some(role));
        }
        assert_eq!(Role::of_label(""), Some(Role::System));
        assert_eq!(Role::of_label("owner"), None);
    }
}
