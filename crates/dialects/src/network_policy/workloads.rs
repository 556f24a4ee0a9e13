//! Pods, what makes pods, and the namespaces that they are in, as far as policies look at them.

use std::collections::BTreeMap;

use smol_str::SmolStr;
use upheld_engine::decide::Fact;
use upheld_model::NodeRef;
use upheld_model::tree::{Kind, Value};

use crate::dialect::ListedObject;
use crate::document::Resource;

/// A type of objects with pods.
#[derive(Debug)]
pub(super) struct WorkloadType {
    /// Its name.
    pub(super) name: &'static str,
    /// What users write for it besides.
    pub(super) short: &'static str,
    group: &'static str,
    /// Where the description of its pods stands; nowhere if it is one itself.
    template: &'static [&'static str],
    /// Labels that Kubernetes adds to its pods: their values stand in no document.
    added: &'static [&'static str],
}

const OF_JOBS: &[&str] = &[
    "batch.kubernetes.io/controller-uid",
    "batch.kubernetes.io/job-completion-index",
    "batch.kubernetes.io/job-name",
    "controller-uid",
    "job-name",
];

/// All types with pods.
pub(super) const TYPES: [WorkloadType; 8] = [
    WorkloadType { name: "Pod", short: "po", group: "", template: &[], added: &[] },
    workload("Deployment", "deploy", "apps", &["pod-template-hash"]),
    workload(
        "StatefulSet",
        "sts",
        "apps",
        &["apps.kubernetes.io/pod-index", "controller-revision-hash", "statefulset.kubernetes.io/pod-name"],
    ),
    workload("DaemonSet", "ds", "apps", &["controller-revision-hash", "pod-template-generation"]),
    workload("ReplicaSet", "rs", "apps", &[]),
    workload("ReplicationController", "rc", "", &[]),
    workload("Job", "job", "batch", OF_JOBS),
    WorkloadType {
        name: "CronJob",
        short: "cj",
        group: "batch",
        template: &["spec", "jobTemplate", "spec", "template"],
        added: OF_JOBS,
    },
];

const fn workload(
    name: &'static str,
    short: &'static str,
    group: &'static str,
    added: &'static [&'static str],
) -> WorkloadType {
    WorkloadType { name, short, group, template: &["spec", "template"], added }
}

/// The namespace of whatever names none.
pub(super) const DEFAULT_NAMESPACE: &str = "default";
/// The type of namespaces.
const NAMESPACE: &str = "Namespace";
/// Types that are in no namespace.
pub(super) const CLUSTER_WIDE: [(&str, &str); 1] = [("", NAMESPACE)];
/// The label that every namespace has.
pub(super) const NAMESPACE_NAME: &str = "kubernetes.io/metadata.name";

/// Labels with their values, some of which nobody knows.
pub(super) type Labels = BTreeMap<SmolStr, Fact>;

/// A pod, or pods that are all alike.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Pod {
    /// Its namespace.
    pub(super) namespace: SmolStr,
    /// Its labels.
    pub(super) labels: Labels,
    /// Where it can be called; nothing if nobody knows.
    pub(super) ports: Option<Vec<ContainerPort>>,
}

/// A port that a container declares. It may be called on others as well: only names need a declaration.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ContainerPort {
    /// Its name, if it has one.
    pub(super) name: Option<SmolStr>,
    /// Its number.
    pub(super) number: u16,
    /// Its protocol.
    pub(super) protocol: SmolStr,
}

/// Something with pods.
#[derive(Clone, Debug)]
pub(super) struct Workload {
    /// Its type.
    pub(super) kind: &'static WorkloadType,
    /// Its name.
    pub(super) name: SmolStr,
    /// What its pods are like.
    pub(super) pod: Pod,
    /// Which network its pods are in.
    pub(super) network: PodNetwork,
    /// Who made it.
    pub(super) made: Made,
    /// Where it was written.
    pub(super) at: NodeRef,
}

/// Which network pods are in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PodNetwork {
    /// One of their own.
    Own,
    /// That of their node, where nobody says what policies do.
    Node,
}

/// Who made an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Made {
    /// Somebody who wrote it.
    ByHand,
    /// Another object, which is there for both.
    ByOwner,
}

/// The type of a resource, if it is one with pods.
pub(super) fn type_of(resource: Resource<'_>) -> Option<&'static WorkloadType> {
    TYPES.iter().find(|known| known.name == resource.kind.text() && resource.group() == Some(known.group))
}

/// Whether a resource is a namespace.
pub(super) fn is_namespace(resource: Resource<'_>) -> bool {
    resource.kind.text() == NAMESPACE && resource.group() == Some("")
}

impl Workload {
    /// Reads one.
    pub(super) fn read(resource: Resource<'_>, kind: &'static WorkloadType, at: NodeRef) -> Self {
        let template = resource.document.at_path(kind.template);
        let spec = template.and_then(|template| template.get("spec"));
        let mut labels = template.and_then(|template| template.at_path(&["metadata", "labels"])).map(labels);
        for added in kind.added {
            labels.get_or_insert_default().entry(SmolStr::new_static(added)).or_insert(Fact::Unknown);
        }
        let on_node = spec.and_then(|spec| spec.get("hostNetwork")).and_then(Value::as_bool) == Some(true);
        let owners = resource.document.at_path(&["metadata", "ownerReferences"]);
        let (name, _) = resource.kubernetes_name();
        Self {
            kind,
            name: SmolStr::new(name),
            pod: Pod {
                namespace: namespace_of(resource),
                labels: labels.unwrap_or_default(),
                ports: Some(spec.map(ports).unwrap_or_default()),
            },
            network: if on_node { PodNetwork::Node } else { PodNetwork::Own },
            made: if owners.is_some_and(|owners| owners.items().next().is_some()) {
                Made::ByOwner
            } else {
                Made::ByHand
            },
            at,
        }
    }

    /// How it is written to leave no doubt: `deployment/prod/web`.
    pub(super) fn title(&self) -> String {
        format!("{}/{}/{}", self.kind.name.to_lowercase(), self.pod.namespace, self.name)
    }

    /// As it is listed.
    pub(super) fn listed(&self) -> ListedObject {
        ListedObject {
            kind: self.kind.name.to_owned(),
            scope: self.pod.namespace.to_string(),
            name: self.name.to_string(),
            owner: None,
            tags: known(&self.pod.labels),
            at: Some(self.at),
        }
    }

    /// Who it is.
    pub(super) fn identity(&self) -> (&'static str, &str, &str) {
        (self.kind.name, &self.pod.namespace, &self.name)
    }
}

/// The namespace that a resource is in.
pub(super) fn namespace_of(resource: Resource<'_>) -> SmolStr {
    SmolStr::new(resource.kubernetes_namespace().unwrap_or(DEFAULT_NAMESPACE))
}

/// The labels of a namespace, with the one that all have.
pub(super) fn namespace_labels(resource: Resource<'_>) -> (SmolStr, Labels) {
    let name = SmolStr::new(resource.kubernetes_name().0);
    let mut own = resource.labels().map(labels).unwrap_or_default();
    own.insert(SmolStr::new_static(NAMESPACE_NAME), Fact::Text(name.clone()));
    (name, own)
}

/// What is known where the same thing is described twice: that in which both agree.
pub(super) fn agreed(one: &mut Labels, other: Labels) {
    for (key, fact) in &mut *one {
        if other.get(key) != Some(fact) {
            *fact = Fact::Unknown;
        }
    }
    for (key, _) in other {
        one.entry(key).or_insert(Fact::Unknown);
    }
}

/// Labels with their values; what nobody knows is left out.
fn known(labels: &Labels) -> Vec<(String, Vec<String>)> {
    let known = labels.iter().filter_map(|(key, fact)| match fact {
        Fact::Text(value) => Some((key.to_string(), vec![value.to_string()])),
        _ => None,
    });
    known.collect()
}

fn labels(written: Value<'_>) -> Labels {
    let known = written.entries().filter(|(_, value)| value.kind() != Kind::Null);
    known.map(|(key, value)| (SmolStr::new(key.text()), Fact::Text(SmolStr::new(value.text())))).collect()
}

/// The ports of all containers that stay as long as the pod does.
fn ports(spec: Value<'_>) -> Vec<ContainerPort> {
    let containers = |field: &str| spec.get(field).into_iter().flat_map(Value::items);
    let stays = |container: &Value<'_>| container.get("restartPolicy").is_some_and(|policy| policy.text() == "Always");
    let all = containers("containers").chain(containers("initContainers").filter(stays));
    let declared = all.flat_map(|container| container.get("ports").into_iter().flat_map(Value::items));
    let port = |port: Value<'_>| {
        let number = port.get("containerPort").and_then(Value::as_integer)?;
        Some(ContainerPort {
            name: port.get("name").and_then(Value::as_text).map(SmolStr::new),
            number: u16::try_from(number).ok()?,
            protocol: SmolStr::new(port.get("protocol").and_then(Value::as_text).unwrap_or("TCP")),
        })
    };
    declared.filter_map(port).collect()
}
