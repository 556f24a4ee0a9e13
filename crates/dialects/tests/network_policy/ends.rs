//! What users call the ends of a connection.

use serde_json::json;

use crate::world::{ask, may, namespace, pod, policy, read, refused, reports, said, verdict, world};

const CLOSED: &str = "podSelector: {}";

#[test]
fn workloads_by_all_their_names() {
    let template =
        "template: {metadata: {labels: {app: web}}, spec: {containers: [{ports: [{name: http, containerPort: 80}]}]}}";
    let mut text = policy("p", "podSelector: {matchLabels: {app: web}}, ingress: [{ports: [{port: http}]}]");
    text.push_str(&pod("far", "b", ""));
    for (group, kind, spec) in [
        ("apps/v1", "Deployment", template.to_owned()),
        ("apps/v1", "StatefulSet", template.to_owned()),
        ("apps/v1", "DaemonSet", template.to_owned()),
        ("apps/v1", "ReplicaSet", template.to_owned()),
        ("v1", "ReplicationController", template.to_owned()),
        ("batch/v1", "Job", template.to_owned()),
        ("batch/v1", "CronJob", format!("jobTemplate: {{spec: {{{template}}}}}")),
    ] {
        let name = kind.to_lowercase();
        text.push_str(&format!(
            "---\n{{apiVersion: {group}, kind: {kind}, metadata: {{name: my-{name}, namespace: a}}, spec: {{{spec}}}}}\n"
        ));
    }
    let loaded = read(&text);
    for (kind, short) in [
        ("deployment", "deploy"),
        ("statefulset", "sts"),
        ("daemonset", "ds"),
        ("replicaset", "rs"),
        ("replicationcontroller", "rc"),
        ("job", "jobs"),
        ("cronjob", "cj"),
    ] {
        for name in [
            format!("my-{kind}"),
            format!("a/my-{kind}"),
            format!("{kind}/my-{kind}"),
            format!("{kind}/a/my-{kind}"),
            format!("{short}/a/my-{kind}"),
        ] {
            assert_eq!([may(&loaded, "far", &name, 80), may(&loaded, "far", &name, 81)], ["permit", "deny"], "{name}");
        }
    }
}

#[test]
fn names_that_nobody_has_and_names_that_several_have() {
    let text = [pod("web", "a", ""), pod("web", "b", ""), pod("db", "a", ""), policy("p", CLOSED)].concat();
    let loaded = read(&text);
    let told = refused(&loaded, &json!({"from": "wbe", "to": "web", "port": 1}));
    assert_eq!(
        told,
        "there is no pod or workload `wbe`; did you mean `pod/a/web`?; `upheld list objects` shows what was read\n\
         `web` could be any of 2 workloads; use `pod/a/web`; use `pod/b/web`"
    );
    let told = refused(&loaded, &json!({"from": "deploymnt/a/web", "to": "db"}));
    assert_eq!(told, "`deploymnt` is no type of objects with pods; did you mean `deployment`?");
    assert_eq!(may(&loaded, "a/web", "db", 1), "deny");
    let none = read(&policy("p", CLOSED));
    let told = refused(&none, &json!({"from": "web", "to": "db"}));
    assert!(told.contains("none was read; ask by namespace and labels: `prod/app=web`"), "{told}");
}

#[test]
fn the_same_workload_written_twice_is_told_where_it_is_asked_for() {
    let text =
        [pod("web", "a", "app: web"), pod("web", "a", "app: other"), pod("db", "a", ""), policy("p", CLOSED)].concat();
    let loaded = read(&text);
    assert!(refused(&loaded, &json!({"from": "web", "to": "db"})).starts_with("`pod/a/web` is written 2 times"));
    assert_eq!(may(&loaded, "203.0.113.7", "db", 1), "deny", "others can be asked about");
}

#[test]
fn a_namespace_written_twice_has_what_both_agree_in() {
    let spec = |label: &str| {
        let peers = format!("{{namespaceSelector: {{matchLabels: {{{label}}}}}}}");
        let described = [namespace("b", "team: two, tier: x"), namespace("b", "team: two")].concat();
        let policy = policy("p", &format!("podSelector: {{}}, ingress: [{{from: [{peers}]}}]"));
        may(&read(&[pod("web", "b", ""), pod("db", "a", ""), described, policy].concat()), "web", "db", 1)
    };
    assert_eq!([spec("team: two"), spec("team: one"), spec("tier: x")], ["permit", "deny", "undecided"]);
}

#[test]
fn labels_mean_workloads_that_have_them() {
    let loaded = world(&["podSelector: {matchLabels: {app: db}}, ingress: [{from: [{podSelector: {}}]}]"]);
    let answers = reports(&loaded, &json!({"from": "app=web", "to": "app=db", "port": 1}));
    assert_eq!(
        said(&answers),
        [
            "egress of pod/a/web: permit by (default)",
            "ingress of pod/a/db: permit by a/p0[0]",
            "egress of pod/b/far: permit by (default)",
            "ingress of pod/a/db: deny by a/p0",
        ]
    );
    assert_eq!(may(&loaded, "b/app=web", "db", 1), "deny");
    assert_eq!(may(&loaded, "app=web,tier=front", "db", 1), "permit");
}

#[test]
fn labels_that_nobody_has_mean_a_pod_that_nobody_described() {
    let loaded = world(&["podSelector: {}, ingress: [{from: [{podSelector: {matchLabels: {app: new}}}]}]"]);
    let answers = reports(&loaded, &json!({"from": "app=new", "to": "db", "port": 1}));
    assert_eq!(said(&answers)[0], "egress of default/app=new: permit by (default)");
    assert_eq!(verdict(&answers), "deny", "in the namespace default");
    assert_eq!([may(&loaded, "a/app=new", "db", 1), may(&loaded, "a/app=?", "db", 1)], ["permit", "undecided"]);
    assert!(
        refused(&loaded, &json!({"from": "app=new,x", "to": "db"})).starts_with("`x` is no label; labels are written")
    );
}

#[test]
fn labels_that_kubernetes_adds_are_unknown() {
    let workload = "---\n{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db, namespace: a}, spec: {template: {metadata: {labels: {app: db}}}}}\n";
    let first = "{matchLabels: {statefulset.kubernetes.io/pod-name: db-0}}";
    let loaded =
        read(&[workload.to_owned(), pod("web", "a", ""), policy("p", &format!("podSelector: {first}"))].concat());
    assert_eq!([may(&loaded, "web", "db", 1), may(&loaded, "db", "web", 1)], ["undecided", "permit"]);
}

#[test]
fn what_another_workload_made_is_not_asked_twice() {
    let owned = "---\n{apiVersion: v1, kind: Pod, metadata: {name: web-1, namespace: a, labels: {app: web}, ownerReferences: [{name: web}]}}\n";
    let owner = "---\n{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: a}, spec: {template: {metadata: {labels: {app: web}}}}}\n";
    let loaded = read(&[owned.to_owned(), owner.to_owned(), pod("db", "a", ""), policy("p", CLOSED)].concat());
    let answers = reports(&loaded, &json!({"from": "app=web", "to": "db", "port": 1}));
    assert_eq!(said(&answers)[0], "egress of deployment/a/web: permit by (default)");
    assert_eq!((answers.len(), may(&loaded, "web-1", "db", 1)), (2, "deny"));
}

#[test]
fn questions_that_no_policy_can_answer() {
    let node = "---\n{apiVersion: v1, kind: Pod, metadata: {name: node, namespace: a}, spec: {hostNetwork: true}}\n";
    let loaded = read(&[pod("web", "a", ""), node.to_owned(), policy("p", CLOSED)].concat());
    let told = |words| refused(&loaded, &words);
    assert!(told(json!({"from": "node", "to": "web"})).starts_with("pod/a/node uses the network of its node"));
    assert!(
        told(json!({"from": "192.0.2.1", "to": "192.0.2.2"})).starts_with("neither 192.0.2.1 nor 192.0.2.2 is a pod")
    );
    assert!(told(json!({"from": "web", "to": "web"})).ends_with("a pod always reaches itself, whatever policies say"));
    assert!(told(json!({"what": "web", "from": "web", "to": "web"})).contains("three ends of one connection"));
    let told = told(json!({"from": "app=web", "to": "app=db", "protocol": "TCPP"}));
    assert_eq!(told, "there is no protocol `TCPP` in network policies; did you mean `TCP`?");
}

#[test]
fn without_network_policies_others_answer() {
    let loaded = read(&[pod("web", "a", ""), pod("db", "a", "")].concat());
    assert_eq!(loaded.set_aside.by_type.values().sum::<usize>(), 2, "pods are nobody's business");
    assert!(refused(&loaded, &json!({"from": "web", "to": "db"})).contains("web"));
    let mesh = "---\n{type: Dataplane, name: web-1, mesh: default, networking: {address: 192.0.2.1, inbound: [{port: 80, tags: {kuma.io/service: web}}]}}\n---\n{type: TrafficLog, name: t, mesh: default, sources: [{match: {kuma.io/service: '*'}}], destinations: [{match: {kuma.io/service: '*'}}], conf: {backend: b}}\n";
    let only_mesh = reports(&read(mesh), &json!({"from": "web-1", "to": "web"}));
    assert!(only_mesh.iter().all(|report| report.kind == "TrafficLog"));
    let both = read(&[mesh.to_owned(), pod("web-1", "a", ""), pod("web", "a", ""), policy("p", CLOSED)].concat());
    let kinds: Vec<String> = ask(&both, &json!({"from": "web-1", "to": "web", "port": 1}))
        .unwrap()
        .reports
        .into_iter()
        .map(|report| report.kind)
        .collect();
    assert_eq!(kinds, ["TrafficLog", "NetworkPolicy", "NetworkPolicy"]);
    let named = reports(&both, &json!({"from": "web-1", "to": "web", "kind": "TrafficLog"}));
    assert!(named.iter().all(|report| report.kind == "TrafficLog"));
    let named = reports(&both, &json!({"from": "web-1", "to": "web", "kind": "NetworkPolicy", "port": 1}));
    assert!(named.iter().all(|report| report.kind == "NetworkPolicy"));
}
