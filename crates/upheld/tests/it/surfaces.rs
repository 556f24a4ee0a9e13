//! Command line and server answer every question of every family alike, to the byte.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use serde_json::{Value as Json, json};

use super::served::Client;
use super::support::upheld;

const NOW: &str = "2025-03-01T12:00:00Z";
const SERVICES: [&str; 3] = ["web", "api", "backend"];
const CLOUDS: [&str; 2] = ["aws", "gcp"];
const ROLES: [&str; 3] = ["admin", "user", "guest"];
const PODS: [&str; 3] = ["front", "middle", "store"];
const VALUES: [&str; 3] = ["dev", "qa", "prod"];

/// Proxies with random tags, and policies of all families about them.
#[derive(Clone, Debug)]
struct Documents(String);

fn one_of(words: &'static [&'static str]) -> impl Strategy<Value = &'static str> {
    prop::sample::select(words)
}

fn proxies() -> impl Strategy<Value = Vec<String>> {
    let clouds = prop::collection::vec(one_of(&CLOUDS), SERVICES.len());
    clouds.prop_map(|clouds| {
        let proxy = |(number, (service, cloud)): (usize, (&&str, &str))| {
            format!(
                "type: Dataplane\nmesh: default\nname: {service}-1\nnetworking: {{address: 10.0.0.{number}, inbound: \
                 [{{port: 8080, tags: {{kuma.io/service: {service}, cloud: {cloud}}}}}]}}"
            )
        };
        SERVICES
            .iter()
            .zip(clouds)
            .enumerate()
            .map(|(number, (service, cloud))| proxy((number, (service, cloud))))
            .collect()
    })
}

/// Policies of the family select, by tags of both ends.
fn logs() -> impl Strategy<Value = Vec<String>> {
    let side = || prop_oneof![Just("'*'"), one_of(&SERVICES)];
    prop::collection::vec((side(), side(), prop::option::of(one_of(&CLOUDS))), 0..4).prop_map(|all| {
        let log = |(number, (from, to, cloud)): (usize, (&str, &str, Option<&str>))| {
            let cloud = cloud.map(|cloud| format!(", cloud: {cloud}")).unwrap_or_default();
            format!(
                "type: TrafficLog\nmesh: default\nname: log-{number}\nsources: [{{match: {{kuma.io/service: {from}{cloud}}}}}]\n\
                 destinations: [{{match: {{kuma.io/service: {to}}}}}]\nconf: {{backend: b{number}}}"
            )
        };
        all.into_iter().enumerate().map(log).collect()
    })
}

/// Policies of the family merge, in layers.
fn timeouts() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec((any::<bool>(), one_of(&SERVICES), 1..60_u8), 0..4).prop_map(|all| {
        let timeout = |(number, (whole, service, seconds)): (usize, (bool, &str, u8))| {
            let target = if whole { "kind: Mesh".to_owned() } else { format!("kind: MeshService, name: {service}") };
            format!(
                "type: MeshTimeout\nmesh: default\nname: timeout-{number}\nspec: {{targetRef: {{kind: Mesh}}, to: \
                 [{{targetRef: {{{target}}}, default: {{connectionTimeout: {seconds}s}}}}]}}"
            )
        };
        let route = "type: MeshHTTPRoute\nmesh: default\nname: route\nspec: {targetRef: {kind: Mesh}, to: [{targetRef: {kind: \
                     MeshService, name: web}, rules: [{matches: [{path: {type: PathPrefix, value: /a}}], default: {}}]}]}";
        all.into_iter().enumerate().map(timeout).chain([route.to_owned()]).collect()
    })
}

/// Policies that are attached to a gateway or its route.
fn attached() -> impl Strategy<Value = Vec<String>> {
    let edge = "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: edge, namespace: shop}\nspec: \
                {gatewayClassName: kgateway, listeners: [{name: http, protocol: HTTP, port: 80}]}";
    let route = "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: cart, namespace: shop}\nspec: \
                 {parentRefs: [{name: edge}], hostnames: [shop.example], rules: [{backendRefs: [{name: cart, port: 80}]}]}";
    let service = "apiVersion: v1\nkind: Service\nmetadata: {name: cart, namespace: shop}\nspec: {ports: [{port: 80}]}";
    prop::collection::vec((any::<bool>(), 1..60_u8), 0..4).prop_map(move |all| {
        let policy = |(number, (wide, seconds)): (usize, (bool, u8))| {
            let (kind, name) = if wide { ("Gateway", "edge") } else { ("HTTPRoute", "cart") };
            format!(
                "apiVersion: gateway.kgateway.dev/v1alpha1\nkind: TrafficPolicy\nmetadata: {{name: policy-{number}, namespace: \
                 shop}}\nspec: {{targetRefs: [{{group: gateway.networking.k8s.io, kind: {kind}, name: {name}}}], timeouts: \
                 {{request: {seconds}s}}}}"
            )
        };
        [edge, route, service].map(str::to_owned).into_iter().chain(all.into_iter().enumerate().map(policy)).collect()
    })
}

/// Policies that permit and deny.
fn access() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec((any::<bool>(), one_of(&ROLES), 0..3_u8), 1..5).prop_map(|all| {
        let policy = |(number, (permits, role, priority)): (usize, (bool, &str, u8))| {
            let effect = if permits { "permit" } else { "deny" };
            format!(
                "id: access-{number}\neffect: {effect}\npriority: {priority}\nsubjects: [{{role: {role}}}]\nresources: [{{path: \
                 '/**'}}]\nactions: [{{method: '*'}}]"
            )
        };
        all.into_iter().enumerate().map(policy).collect()
    })
}

/// Two related objects and a rule about them.
fn related() -> impl Strategy<Value = Vec<String>> {
    (one_of(&VALUES), one_of(&VALUES)).prop_map(|(workspace, project)| {
        vec![
            format!(
                "kind: Compliance\nobjects:\n- {{ref: customer/shop, tags: {{environment: [{workspace}]}}}}\n- {{ref: \
                 project/checkout, workspace: shop, tags: {{environment: {project}}}}}\ntagDefinitions:\n- {{kind: workspace, \
                 key: environment, type: multiSelect, options: [dev, qa, prod]}}\n- {{kind: project, key: environment, type: \
                 multiSelect, options: [dev, qa, prod]}}"
            ),
            "type: MeshPolicy\nname: environments\na: {kind: meshCustomer, tag: environment}\nb: {kind: meshProject, tag: \
             environment}"
                .to_owned(),
        ]
    })
}

/// Policies that isolate pods, and let some of them through.
fn isolated() -> impl Strategy<Value = Vec<String>> {
    let workload = |name: &str| {
        format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}, namespace: pods}}\nspec: {{template: {{metadata: \
             {{labels: {{app: {name}}}}}, spec: {{containers: [{{name: main, ports: [{{containerPort: 5432}}]}}]}}}}}}"
        )
    };
    let workloads: Vec<String> = PODS.iter().map(|name| workload(name)).collect();
    prop::collection::vec((one_of(&PODS), one_of(&PODS), 5431..5434_u16), 0..3).prop_map(move |all| {
        let policy = |(number, (selected, allowed, port)): (usize, (&str, &str, u16))| {
            format!(
                "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {{name: isolate-{number}, namespace: pods}}\nspec: \
                 {{podSelector: {{matchLabels: {{app: {selected}}}}}, ingress: [{{from: [{{podSelector: {{matchLabels: {{app: \
                 {allowed}}}}}}}], ports: [{{port: {port}}}]}}]}}"
            )
        };
        workloads.iter().cloned().chain(all.into_iter().enumerate().map(policy)).collect()
    })
}

fn documents() -> impl Strategy<Value = Documents> {
    let mesh = Just(vec!["type: Mesh\nname: default".to_owned()]);
    (mesh, proxies(), logs(), timeouts(), attached(), access(), related(), isolated())
        .prop_map(|(a, b, c, d, e, f, g, h)| Documents([a, b, c, d, e, f, g, h].concat().join("\n---\n")))
}

/// A question as programs write it; some of them have no answer.
fn question() -> impl Strategy<Value = Json> {
    let proxy =
        || prop_oneof![9 => one_of(&SERVICES).prop_map(|name| format!("{name}-1")), 1 => Just("nobody".to_owned())];
    let kind = prop::option::of(one_of(&["TrafficLog", "MeshTimeout", "TrafficPermission"]));
    let path = prop::option::of(one_of(&["/a", "/b?c=d"]));
    let connection = (proxy(), proxy(), kind, path)
        .prop_map(|(from, to, kind, path)| json!({"from": from, "to": to, "kind": kind, "path": path}));
    let whole = proxy().prop_map(|proxy| json!({"what": format!("dataplane/{proxy}")}));
    let gateways = one_of(&["httproute/shop/cart", "gateway/shop/edge", "backend/shop/cart", "httproute/shop/crat"]);
    let request = one_of(&["shop.example", "other.example"]).prop_map(|host| json!({"host": host, "path": "/a"}));
    let decision = (one_of(&ROLES), one_of(&["GET", "DELETE"])).prop_map(
        |(role, method)| json!({"subject": [format!("role={role}")], "action": [method], "resource": ["/a"]}),
    );
    let port = prop::option::of(5431..5434_u16);
    let pods = (one_of(&PODS), one_of(&PODS), port)
        .prop_map(|(from, to, port)| json!({"from": format!("pods/{from}"), "to": format!("pods/{to}"), "port": port}));
    let pair = one_of(&["project/checkout~workspace/shop", "project/nobody~workspace/shop"]);
    prop_oneof![
        3 => connection,
        1 => whole,
        2 => gateways.prop_map(|what| json!({"what": what})),
        1 => request,
        2 => decision,
        2 => pods,
        1 => pair.prop_map(|what| json!({"what": what})),
    ]
}

/// The flags of a question: every part is a flag of the same name, but for what it is about.
fn flags(question: &Json) -> Vec<String> {
    let mut flags = Vec::new();
    for (name, value) in question.as_object().expect("a question is a map") {
        let values = value.as_array().cloned().unwrap_or_else(|| vec![value.clone()]);
        for value in values.iter().filter(|value| !value.is_null()) {
            if name != "what" {
                flags.push(format!("--{name}"));
            }
            flags.push(value.as_str().map_or_else(|| value.to_string(), str::to_owned));
        }
    }
    flags
}

fn on_the_command_line(folder: &Path, command: &str, question: &Json) -> Option<Json> {
    let mut run = upheld(folder);
    let output = run.arg(command).args(flags(question)).args(["-o", "json", "--now", NOW]).output().expect("starts");
    serde_json::from_slice(&output.stdout).ok()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn command_line_and_server_answer_alike(
        documents in documents(),
        questions in prop::collection::vec(question(), 8..14),
    ) {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("all.yaml"), &documents.0).expect("is written");
        let client = Client::of(Path::new(folder.path()), Vec::new());
        for question in &questions {
            let asked: Json = question.as_object().expect("a map").iter().filter(|(_, value)| !value.is_null())
                .map(|(name, value)| (name.clone(), value.clone())).collect::<serde_json::Map<_, _>>().into();
            let (status, _, served) = client.tries("/v1/explain", &asked);
            let printed = on_the_command_line(folder.path(), "explain", &asked);
            prop_assert_eq!(status == 200, printed.is_some(), "{}: {} {}", asked, status, served);
            let answers = |document: &Json| without_times(&document["answers"]);
            let printed = printed.unwrap_or_default();
            prop_assert_eq!(answers(&served), answers(&printed), "{}", asked);

            let (status, _, served) = client.tries("/v1/resolve", &asked);
            let printed = on_the_command_line(folder.path(), "resolve", &asked);
            prop_assert_eq!(status == 200, printed.is_some(), "{}: {} {}", asked, status, served);
            if let Some(printed) = printed {
                prop_assert_eq!(served["result"].to_string(), printed.to_string(), "{}", asked);
            }
        }
    }
}

/// As it is printed; a request is asked at a time, which the server reads from its clock.
fn without_times(answers: &Json) -> String {
    let mut answers = answers.clone();
    for answer in answers.as_array_mut().into_iter().flatten() {
        if let Some(request) = answer["about"]["request"].as_object_mut() {
            request.remove("environment");
        }
        if let Some(file) = answer.as_object_mut() {
            strip_folders(file.values_mut());
        }
    }
    answers.to_string()
}

/// Files are called as the asker named them: here by their names alone.
fn strip_folders<'j>(values: impl Iterator<Item = &'j mut Json>) {
    for value in values {
        match value {
            Json::Object(fields) => {
                if let Some(Json::String(file)) = fields.get_mut("file") {
                    *file = file.rsplit('/').next().unwrap_or_default().to_owned();
                }
                strip_folders(fields.values_mut());
            }
            Json::Array(items) => strip_folders(items.iter_mut()),
            _ => {}
        }
    }
}

/// A workspace with projects, zones and people, tags as they come, and policies about all of them.
fn company() -> impl Strategy<Value = String> {
    let tags = || prop::collection::btree_set(one_of(&VALUES), 0..3);
    let named = |values: std::collections::BTreeSet<&str>| values.into_iter().collect::<Vec<_>>().join(", ");
    let level = one_of(&["enforce", "warn", "audit"]);
    (tags(), tags(), tags(), tags(), tags(), level).prop_map(move |(workspace, one, two, zone, user, level)| {
        let [workspace, one, two, zone, user] = [workspace, one, two, zone, user].map(named);
        format!(
            "kind: Compliance
tagDefinitions: [{{kind: project, key: env, type: multiSelect, options: [dev, qa, prod]}}]
userDefaultTags: {{env: [qa]}}
objects:
- {{ref: workspace/w, tags: {{env: [{workspace}]}}}}
- {{ref: project/one, workspace: w, tags: {{env: [{one}]}}}}
- {{ref: project/two, workspace: w, tags: {{env: [{two}]}}}}
- {{ref: landingZone/z, tags: {{env: [{zone}]}}}}
- {{ref: user/u, tags: {{env: [{user}]}}}}
relationships: [{{a: project/one, b: landingZone/z}}, {{a: project/two, b: user/u}}]
policies:
- {{id: inside, a: {{kind: workspace, tag: env}}, b: {{kind: project, tag: env}}}}
- {{id: zone, a: {{kind: project, tag: env}}, b: {{kind: landingZone, tag: env}}, enforcement: {level}}}
- {{id: access, a: {{kind: project, tag: env}}, b: {{kind: principal, tag: env}}}}
waivers: [{{id: spared, policy: zone, match: {{a: project/one}}, reason: it moves}}]
"
        )
    })
}

/// As it is printed, but for folders and what rests on the moment of asking.
fn alike(mut answer: Json) -> String {
    strip_folders(std::iter::once(&mut answer));
    if let Some(plan) = answer.get_mut("plan").and_then(Json::as_object_mut) {
        plan.retain(|word, _| word != "id" && word != "basedOn");
    }
    answer.to_string()
}

/// A command with its words, where a server takes the same, and how.
fn organised() -> impl Strategy<Value = (String, String, Json)> {
    let who = one_of(&["user", "admin", "workspaceManager@workspace/w"]);
    let project = one_of(&["project/one", "project/two"]);
    let other = one_of(&["landingZone/z", "user/u", "workspace/w"]);
    let value = one_of(&VALUES);
    (who, project, other, value, 0..7_usize).prop_map(|(who, project, other, value, which)| {
        let kind = other.split('/').next().unwrap_or_default();
        let (words, path, body) = match which {
            0 => ("fix".to_owned(), "fix", json!({})),
            1 => (format!("fix {project} --allow widen"), "fix", json!({"what": project, "allow": ["widen"]})),
            2 => {
                let body = json!({"object": project, "kind": kind});
                (format!("candidates {project} --kind {kind}"), "candidates", body)
            }
            3 => (format!("values {project} env"), "values", json!({"object": project, "tag": "env"})),
            4 => {
                let body = json!({"change": ["link", format!("{project}~{other}")]});
                (format!("can link {project}~{other}"), "can", body)
            }
            // Everybody may know of waivers, so that nobody says who asks.
            5 => return ("waivers --unused".to_owned(), "/v1/waivers".to_owned(), json!({"unused": true})),
            _ => {
                let body = json!({"verb": "setTags", "object": other, "tags": {"env": [value]}});
                ("what-if next.json".to_owned(), "what-if", body)
            }
        };
        (format!("{words} --as {who}"), format!("/v1/{path}?as={who}"), body)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    /// What would fix violations, what could be chosen, and what would happen, is the same whoever is asked; and it fits together.
    #[test]
    fn fixes_offers_and_predictions_are_the_same_on_every_surface(
        documents in company(),
        questions in prop::collection::vec(organised(), 6..10),
    ) {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("all.yaml"), &documents).expect("is written");
        let client = Client::of(Path::new(folder.path()), Vec::new());
        for (words, address, body) in &questions {
            let beside = tempfile::tempdir().expect("a folder");
            fs::write(beside.path().join("next.json"), body.to_string()).expect("is written");
            let (status, _, mut served) = client.tries(address, body);
            let mut run = upheld(beside.path());
            let all = folder.path().join("all.yaml");
            let output = run.args(words.split(' ')).arg("-f").arg(&all).args(["-o", "json"]).output().expect("starts");
            let mut printed: Json = serde_json::from_slice(&output.stdout).unwrap_or_default();
            let mut run = upheld(beside.path());
            let server = client.address().to_string();
            let asked = run.args(words.split(' ')).args(["--server", &server, "-o", "json"]).output().expect("starts");
            let asked_there: Json = serde_json::from_slice(&asked.stdout).unwrap_or_default();
            prop_assert_eq!(alike(asked_there), alike(printed.clone()), "{:?}", words);
            prop_assert_eq!(asked.status.code(), output.status.code(), "{:?}", words);
            prop_assert_eq!(status == 200, !printed.is_null(), "{:?}: {} {}", words, status, served);
            if status != 200 {
                continue;
            }
            for answer in [&mut served, &mut printed] {
                strip_folders(std::iter::once(&mut *answer));
                // Where it comes from, and whether a plan is clean, is said in other places.
                for word in ["apiVersion", "revision", "digest", "semantics", "clean", "kind", "all"] {
                    answer.as_object_mut().expect("a map").remove(word);
                }
                if let Some(plan) = answer.get_mut("plan").and_then(Json::as_object_mut) {
                    // These rest on the moment of asking.
                    plan.retain(|word, _| word != "id" && word != "basedOn");
                }
            }
            prop_assert_eq!(&served, &printed, "{:?}", words);
            // Whatever is offered can be done.
            if let Some(rest) = words.strip_prefix("candidates ") {
                let (project, _) = rest.split_once(' ').expect("an object");
                let who = rest.rsplit(' ').next().expect("somebody");
                for other in served["candidates"].as_array().expect("a list") {
                    let pair = format!("{project}~{}", other.as_str().expect("a reference"));
                    let can = client.tries(&format!("/v1/can?as={who}"), &json!({"change": ["link", pair]})).2;
                    prop_assert!(matches!(can["outcome"].as_str(), Some("allowed" | "soft")), "{} {}", pair, can);
                }
            }
        }
    }
}
