//! Whom policies and services have, found by what these want: against holding them against every proxy, and what it costs.

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::{Value as Json, json};
use upheld_dialects::dialects;
use upheld_dialects::kuma::ends::proxies;
use upheld_dialects::kuma::rules::kinds;
use upheld_dialects::kuma::services::{selector, selects};
use upheld_dialects::kuma::view;
use upheld_engine::Snapshot;
use upheld_engine::work::Work;
use upheld_loader::load::Loaded;

use super::asked::loaded;

fn pick(values: &'static [&'static str]) -> impl Strategy<Value = &'static str> {
    prop::sample::select(values)
}

fn read(documents: &[Json], semantics: &[&str]) -> Loaded {
    loaded(&documents.iter().map(Json::to_string).collect::<Vec<_>>().join("\n---\n"), semantics)
}

fn proxy(number: usize) -> impl Strategy<Value = Json> {
    (pick(&["web", "backend"]), pick(&["a", "b"]), pick(&["v1", "v2"]), 0..5_u8).prop_map(
        move |(service, app, version, shape)| {
            let inbound = json!({"port": 80, "name": "http", "tags": {"kuma.io/service": service, "version": version}});
            let networking = match shape {
                0 => json!({"address": "10.0.0.9", "gateway": {"tags": {"kuma.io/service": "edge"}}}),
                1 => json!({"address": "10.0.0.9"}),
                _ => json!({"address": format!("10.0.0.{number}"), "inbound": [inbound]}),
            };
            json!({"type": "Dataplane", "mesh": "default", "name": format!("proxy-{number}"), "labels": {"app": app, "@own": "x"}, "networking": networking})
        },
    )
}

fn service(number: usize) -> impl Strategy<Value = Json> {
    let selector = prop_oneof![
        pick(&["web", "backend", "gone", "*"]).prop_map(|name| json!({"dataplaneTags": {"kuma.io/service": name}})),
        (pick(&["web", "*"]), pick(&["v1", "*"]))
            .prop_map(|(name, version)| json!({"dataplaneTags": {"kuma.io/service": name, "version": version}})),
        pick(&["a", "gone"]).prop_map(|app| json!({"dataplaneLabels": {"matchLabels": {"app": app}}})),
        Just(json!({"dataplaneLabels": {"matchLabels": {"@own": "x"}}})),
        pick(&["proxy-1", "gone"]).prop_map(|name| json!({"dataplaneRef": {"name": name}})),
        Just(json!({"dataplaneTags": {}})),
    ];
    selector.prop_map(move |selector| {
        let ports = json!([{"port": 80, "name": "http", "targetPort": 80, "appProtocol": "http"}]);
        json!({"type": "MeshService", "mesh": "default", "name": format!("service-{number}"), "spec": {"selector": selector, "ports": ports}})
    })
}

fn layer(number: usize) -> impl Strategy<Value = Json> {
    let top = prop_oneof![
        Just(json!({"kind": "Mesh"})),
        Just(json!({"kind": "Mesh", "proxyTypes": ["Gateway"]})),
        pick(&["a", "gone"]).prop_map(|app| json!({"kind": "Dataplane", "labels": {"app": app}})),
        pick(&["proxy-1", "gone"]).prop_map(|name| json!({"kind": "Dataplane", "name": name})),
        pick(&["http", "admin"]).prop_map(|section| json!({"kind": "Dataplane", "sectionName": section})),
        pick(&["v1", "gone"]).prop_map(|version| json!({"kind": "MeshSubset", "tags": {"version": version}})),
        pick(&["web", "edge"]).prop_map(|name| json!({"kind": "MeshService", "name": name})),
    ];
    top.prop_map(move |top| {
        let to = json!([{"targetRef": {"kind": "Mesh"}, "default": {"idleTimeout": "1s"}}]);
        json!({"type": "MeshTimeout", "mesh": "default", "name": format!("layer-{number}"), "spec": {"targetRef": top, "to": to}})
    })
}

fn mesh() -> Json {
    json!({"type": "Mesh", "name": "default"})
}

fn listed(snapshot: &Snapshot, path: &str) -> BTreeSet<String> {
    let found = view::inspect(snapshot, path).unwrap_or_else(|problem| panic!("{path}: {problem}"));
    let items = found["items"].as_array().expect("items").clone();
    let name = |item: &Json| {
        let name = item["name"].as_str().or_else(|| item["dataplane"]["name"].as_str());
        name.expect("a name").to_owned()
    };
    items.iter().map(name).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whom_services_and_layers_have_is_what_holding_them_against_every_proxy_shows(
        proxies_of in (0..5).map(proxy).collect::<Vec<_>>(),
        services in (0..4).map(service).collect::<Vec<_>>(),
        layers in (0..4).map(layer).collect::<Vec<_>>(),
    ) {
        let documents: Vec<Json> = [mesh()].into_iter().chain(proxies_of).chain(services).chain(layers).collect();
        let loaded = read(&documents, &["kuma/2"]);
        let snapshot = &loaded.snapshot;
        let named = |meant: &dyn Fn(&upheld_model::Object) -> bool| -> BTreeSet<String> {
            let all = proxies(snapshot).map(|(_, proxy)| proxy).filter(|proxy| meant(proxy));
            all.map(|proxy| snapshot.text(proxy.name).to_owned()).collect()
        };
        for (_, service) in snapshot.objects_in("MeshService", "default") {
            let wanted = selector(snapshot, service);
            let name = snapshot.text(service.name);
            let naive = named(&|proxy| wanted.is_some_and(|wanted| selects(snapshot, wanted, proxy)));
            prop_assert_eq!(listed(snapshot, &format!("/meshes/default/meshservices/{name}/_dataplanes")), naive);
        }
        let scope = snapshot.symbols().get("default").expect("the mesh");
        for rules in kinds(snapshot, scope) {
            for (slot, policy) in rules.merge.policies() {
                let naive = named(&|proxy| rules.matched(proxy).iter().any(|one| one.slot == slot));
                let name = snapshot.text(policy.name);
                let path = format!("/meshes/default/meshtimeouts/{name}/_resources/dataplanes");
                prop_assert_eq!(&listed(snapshot, &path), &naive);
                let (found, of) = dialects().find_map(|dialect| dialect.attached(snapshot, policy.policy)).expect("is attached");
                prop_assert_eq!((found.into_iter().collect::<BTreeSet<_>>(), of), (naive.clone(), proxies(snapshot).count()));
                let classes = dialects().find_map(|dialect| dialect.attached_classes(snapshot, policy.policy)).expect("is attached");
                prop_assert_eq!(classes.iter().map(|(_, count)| *count).sum::<u64>(), naive.len() as u64);
            }
        }
    }

    /// What a proxy gets from a policy of the older sort is what the policy says that it reaches.
    #[test]
    fn whom_older_policies_reach_is_what_asking_every_proxy_shows(
        proxies_of in (0..5).map(proxy).collect::<Vec<_>>(),
        kind in pick(&["TrafficLog", "TrafficPermission", "RateLimit", "HealthCheck"]),
        from in pick(&["web", "edge", "*"]),
        to in pick(&["web", "backend", "*"]),
        metrics in pick(&["", "on"]),
    ) {
        let mut mesh = mesh();
        if !metrics.is_empty() {
            mesh["metrics"] = json!({"enabledBackend": "m", "backends": [{"name": "m", "type": "prometheus"}]});
        }
        let outbound = json!([{"port": 9000, "tags": {"kuma.io/service": "backend"}}]);
        let calling = proxies_of.into_iter().map(|mut proxy| {
            proxy["networking"]["outbound"] = outbound.clone();
            proxy
        });
        let ends = [from, to].map(|service| json!([{"match": {"kuma.io/service": service}}]));
        let conf = match kind {
            "RateLimit" => json!({"http": {"requests": 1, "interval": "1s"}}),
            _ => json!({"interval": "1s"}),
        };
        let mut policy = json!({"type": kind, "mesh": "default", "name": "one", "sources": ends[0], "destinations": ends[1], "conf": conf});
        if kind == "TrafficPermission" {
            policy.as_object_mut().expect("a map").remove("conf");
        }
        let documents: Vec<Json> = [mesh, policy].into_iter().chain(calling).collect();
        let loaded = read(&documents, &["kuma/0.4"]);
        let snapshot = &loaded.snapshot;
        let words = match kind { "TrafficLog" => "traffic-logs", "TrafficPermission" => "traffic-permissions", "RateLimit" => "rate-limits", _ => "health-checks" };
        let reached = listed(snapshot, &format!("/meshes/default/{words}/one/dataplanes"));
        let gets = |name: &str| {
            let found = view::inspect(snapshot, &format!("/meshes/default/dataplanes/{name}/policies")).expect("a proxy");
            found["total"].as_u64() != Some(0)
        };
        let naive: BTreeSet<String> = proxies(snapshot).map(|(_, proxy)| snapshot.text(proxy.name).to_owned()).filter(|name| gets(name)).collect();
        prop_assert_eq!(reached, naive);
    }
}

/// So many proxies and policies, each of one proxy; the steps of the second time.
fn steps(count: usize, semantics: &str, policy: impl Fn(usize) -> Json, path: &str) -> u64 {
    let proxies = (0..count).map(|number| {
        let tags = json!({"kuma.io/service": format!("s{number}")});
        json!({"type": "Dataplane", "mesh": "default", "name": format!("d{number}"), "labels": {"app": format!("a{number}")}, "networking": {"address": "10.0.0.1", "inbound": [{"port": 80, "name": "http", "tags": tags}]}})
    });
    let documents: Vec<Json> = [mesh()].into_iter().chain(proxies).chain((0..count).map(policy)).collect();
    let loaded = read(&documents, &[semantics]);
    let ask = || view::inspect(&loaded.snapshot, path).unwrap_or_else(|problem| panic!("{problem}"));
    ask();
    let work = Work::default();
    work.during(ask).expect("nobody ends it");
    work.steps()
}

#[test]
fn p6_whom_a_policy_reaches_costs_what_it_matches() {
    let log = |number: usize| {
        let ends = [number, number + 1].map(|service| json!([{"match": {"kuma.io/service": format!("s{service}")}}]));
        json!({"type": "TrafficLog", "mesh": "default", "name": format!("p{number}"), "sources": ends[0], "destinations": ends[1], "conf": {"backend": "b"}})
    };
    let [few, many] =
        [40, 400].map(|count| steps(count, "kuma/0.4", log, "/meshes/default/traffic-logs/p7/dataplanes"));
    assert!(many <= few + 4, "{few} → {many}");
}

#[test]
fn p7_lists_of_proxies_cost_what_they_have() {
    let layer = |number: usize| {
        let (top, to) = (
            json!({"kind": "Dataplane", "labels": {"app": format!("a{number}")}}),
            json!([{"targetRef": {"kind": "Mesh"}, "default": {"idleTimeout": "1s"}}]),
        );
        json!({"type": "MeshTimeout", "mesh": "default", "name": format!("m{number}"), "spec": {"targetRef": top, "to": to}})
    };
    for path in ["/meshes/default/meshtimeouts/m7/_resources/dataplanes", "/meshes/default/dataplanes/d7/_rules"] {
        let [few, many] = [40, 400].map(|count| steps(count, "kuma/2", layer, path));
        assert!(many <= few + 4, "{path}: {few} → {many}");
    }
}
