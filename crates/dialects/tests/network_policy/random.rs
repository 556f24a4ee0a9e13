//! Random policies, pods, namespaces and connections: the dialect and the naive reference come to the same.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value as Json, json};

use upheld_loader::load::{Change, Loaded, load};
use upheld_loader::{Format, Input};
use upheld_report::Report;

use crate::naive::{Call, Party, decide};
use crate::world::{ask, read, reports};

const KEYS: [&str; 3] = ["app", "tier", "kubernetes.io/metadata.name"];
const VALUES: [&str; 3] = ["a", "b", "c"];
const NAMESPACES: [&str; 3] = ["a", "b", "c"];
const PORTS: [u16; 4] = [53, 80, 443, 8080];
const TYPES: [&[&str]; 4] = [&[], &["Ingress"], &["Egress"], &["Ingress", "Egress"]];
const PROTOCOLS: [&str; 3] = ["TCP", "UDP", "SCTP"];
const NETWORKS: [(&str, &[&str]); 4] = [
    ("0.0.0.0/0", &["192.0.2.0/24"]),
    ("192.0.2.0/24", &["192.0.2.1/32", "192.0.2.128/25"]),
    ("192.0.2.1/32", &[]),
    ("::/0", &[]),
];
const ADDRESSES: [&str; 4] = ["192.0.2.1", "192.0.2.200", "198.51.100.1", "2001:db8::1"];

fn labels(known: &'static [&'static str]) -> impl Strategy<Value = Json> {
    vec((select(&KEYS[..2]), select(known)), 0..3).prop_map(|labels| {
        labels.into_iter().map(|(key, value)| (key.to_owned(), json!(value))).collect::<Map<_, _>>().into()
    })
}

fn selector() -> impl Strategy<Value = Json> {
    let expression =
        (select(&KEYS[..]), 0..4, vec(select(&VALUES[..]), 1..3)).prop_map(|(key, operator, values)| match operator {
            0 => json!({"key": key, "operator": "In", "values": values}),
            1 => json!({"key": key, "operator": "NotIn", "values": values}),
            2 => json!({"key": key, "operator": "Exists"}),
            _ => json!({"key": key, "operator": "DoesNotExist"}),
        });
    let by_label = vec((select(&KEYS[..]), select(&VALUES[..])), 0..2).prop_map(|labels| {
        labels.into_iter().map(|(key, value)| (key.to_owned(), json!(value))).collect::<Map<_, _>>()
    });
    (option::of(by_label), option::weighted(0.3, vec(expression, 0..2))).prop_map(|(labels, expressions)| {
        let mut selector = json!({});
        if let Some(labels) = labels {
            selector["matchLabels"] = labels.into();
        }
        if let Some(expressions) = expressions {
            selector["matchExpressions"] = expressions.into();
        }
        selector
    })
}

fn peer() -> impl Strategy<Value = Json> {
    prop_oneof![
        selector().prop_map(|pods| json!({"podSelector": pods})),
        selector().prop_map(|namespaces| json!({"namespaceSelector": namespaces})),
        (selector(), selector())
            .prop_map(|(namespaces, pods)| json!({"namespaceSelector": namespaces, "podSelector": pods})),
        select(&NETWORKS[..]).prop_map(|(cidr, except)| json!({"ipBlock": {"cidr": cidr, "except": except}})),
    ]
}

fn port() -> impl Strategy<Value = Json> {
    let which = prop_oneof![
        Just(json!({})),
        select(&PORTS[..]).prop_map(|port| json!({"port": port})),
        (select(&PORTS[..]), 0u16..400).prop_map(|(port, more)| json!({"port": port, "endPort": port + more})),
        select(&["dns", "http"][..]).prop_map(|name| json!({"port": name})),
    ];
    (which, option::of(select(&PROTOCOLS[..]))).prop_map(|(mut port, protocol)| {
        if let Some(protocol) = protocol {
            port["protocol"] = protocol.into();
        }
        port
    })
}

fn rules(peers: &'static str) -> impl Strategy<Value = Json> {
    let rule = (option::of(vec(peer(), 0..3)), option::of(vec(port(), 0..3))).prop_map(move |(whom, ports)| {
        let mut rule = json!({});
        if let Some(whom) = whom {
            rule[peers] = whom.into();
        }
        if let Some(ports) = ports {
            rule["ports"] = ports.into();
        }
        rule
    });
    vec(rule, 0..3).prop_map(Json::from)
}

fn policy() -> impl Strategy<Value = Json> {
    let types = select(&TYPES[..]);
    let parts = (option::of(selector()), option::of(types), option::of(rules("from")), option::of(rules("to")));
    (select(&NAMESPACES[..]), parts).prop_map(|(namespace, (pods, types, ingress, egress))| {
        let mut spec = json!({});
        let mut set = |name: &str, value: Option<Json>| {
            if let Some(value) = value {
                spec[name] = value;
            }
        };
        set("podSelector", pods);
        set("policyTypes", types.map(|types| json!(types)));
        set("ingress", ingress);
        set("egress", egress);
        let metadata = json!({"namespace": namespace});
        json!({"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": metadata, "spec": spec})
    })
}

fn pod() -> impl Strategy<Value = Json> {
    let port = (select(&PORTS[..]), option::of(select(&["dns", "http"][..])), option::of(select(&PROTOCOLS[..])));
    let ports = vec(port, 0..3).prop_map(|ports| {
        let port = |(number, name, protocol)| {
            let mut port = json!({"containerPort": number});
            let set = |port: &mut Json, field: &str, value: Option<&str>| {
                if let Some(value) = value {
                    port[field] = value.into();
                }
            };
            set(&mut port, "name", name);
            set(&mut port, "protocol", protocol);
            port
        };
        json!({"containers": [{"ports": ports.into_iter().map(port).collect::<Vec<_>>()}]})
    });
    (select(&NAMESPACES[..]), labels(&VALUES), ports).prop_map(|(namespace, labels, spec)| {
        let metadata = json!({"namespace": namespace, "labels": labels});
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})
    })
}

fn documents() -> impl Strategy<Value = Vec<Json>> {
    let namespace = |name: &'static str| {
        labels(&VALUES).prop_map(move |labels| {
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}})
        })
    };
    let namespaces = (option::of(namespace("a")), option::of(namespace("b")));
    (vec(policy(), 1..5), vec(pod(), 1..4), namespaces).prop_map(|(policies, pods, (a, b))| {
        let mut all: Vec<Json> = Vec::new();
        for (number, mut document) in policies.into_iter().chain(pods).enumerate() {
            document["metadata"]["name"] = format!("x{number}").into();
            all.push(document);
        }
        all.extend(a.into_iter().chain(b));
        all
    })
}

/// An end, and how it is written: a pod that is there, one that nobody described, or an address.
fn ends(documents: &[Json], nobody: &Json) -> Vec<(String, Party)> {
    let pods = documents.iter().filter(|document| document["kind"] == "Pod");
    let name = |pod: &Json| format!("pod/{}/{}", text(&pod["metadata"]["namespace"]), text(&pod["metadata"]["name"]));
    let mut ends: Vec<(String, Party)> = pods.map(|pod| (name(pod), Party::Pod(pod.clone()))).collect();
    // Another label, so that no pod which is there has them all.
    let mut labels = nobody["metadata"]["labels"].clone();
    labels["new"] = "yes".into();
    let pairs: Vec<String> =
        labels.as_object().unwrap().iter().map(|(key, value)| format!("{key}={}", text(value))).collect();
    let namespace = &nobody["metadata"]["namespace"];
    let written = format!("{}/{}", text(namespace), pairs.join(","));
    ends.push((written, Party::Pod(json!({"metadata": {"namespace": namespace, "labels": labels}}))));
    ends.extend(ADDRESSES.map(|address| (address.to_owned(), Party::Address(address.parse().unwrap()))));
    ends
}

fn text(value: &Json) -> &str {
    value.as_str().unwrap()
}

fn word(truth: Option<bool>) -> &'static str {
    match truth {
        Some(true) => "permit",
        Some(false) => "deny",
        None => "undecided",
    }
}

fn stranger() -> impl Strategy<Value = Json> {
    (select(&NAMESPACES[..]), labels(&["a", "b", "?"]))
        .prop_map(|(namespace, labels)| json!({"metadata": {"namespace": namespace, "labels": labels}}))
}

/// Reads documents, each in a file of its own.
fn one_by_one(documents: &[Json]) -> Loaded {
    let inputs = documents.iter().enumerate();
    let inputs = inputs.map(|(number, document)| input(number, document));
    load(inputs.collect(), &[]).unwrap_or_else(|broken| panic!("{:?}", broken.diagnostics))
}

fn input(number: usize, document: &Json) -> Input {
    Input::text(format!("{number}.json"), Format::Json, document.to_string())
}

/// All that is said of all pairs of pods, with the policies that say it.
fn told(loaded: &Loaded, documents: &[Json]) -> Vec<String> {
    let pods = documents.iter().filter(|document| document["kind"] == "Pod");
    let names: Vec<String> = pods.map(|pod| text(&pod["metadata"]["name"]).to_owned()).collect();
    let pairs = names.iter().flat_map(|from| names.iter().map(move |to| (from, to))).filter(|(from, to)| from != to);
    let ports = [None, Some(80), Some(443)];
    let questions = pairs.flat_map(|(from, to)| ports.map(|port| json!({"from": from, "to": to, "port": port})));
    let report = |report: Report| {
        let candidates: Vec<_> = report.candidates.iter().map(|one| (&one.policy, one.state.word())).collect();
        format!("{:?} {} {:?} {candidates:?}", report.about.place, report.verdict.word(), report.policies)
    };
    questions
        .flat_map(|words| ask(loaded, &words).map_or_else(|_| Vec::new(), |answer| answer.reports))
        .map(report)
        .collect()
}

proptest! {
    /// Documents come, go and change in any order; a whole new reading is the reference.
    #[test]
    fn p10_changes_of_documents_lead_to_what_is_read_anew(
        first in documents(),
        others in documents(),
        steps in vec((0..8_usize, 0..3_u8), 1..6),
    ) {
        let mut written: Vec<Option<Json>> = first.iter().cloned().map(Some).collect();
        let mut loaded = one_by_one(&first);
        for (place, what) in steps {
            let place = place % written.len();
            let file = loaded.snapshot.files().iter().find(|(_, file)| file.name == format!("{place}.json")).map(|(source, _)| source);
            let other = others[place % others.len()].clone();
            let (change, now) = match (file, what) {
                (Some(source), 0) => (Change::Gone(source), None),
                (Some(source), _) => (Change::Replaced(source, input(place, &other)), Some(other)),
                (None, _) => (Change::New(input(place, &other)), Some(other)),
            };
            // Two may be one thing; then one of them does not count, which is another matter.
            let identity = |document: &Json| {
                let part = |name: &str| document["metadata"][name].clone();
                (document["kind"].clone(), part("namespace"), part("name"))
            };
            let beside = written.iter().enumerate().filter(|(number, _)| *number != place).filter_map(|(_, one)| one.as_ref());
            let is_twice = now.as_ref().is_some_and(|now| beside.map(identity).any(|known| known == identity(now)));
            if is_twice {
                continue;
            }
            loaded = loaded.after(vec![change]).unwrap_or_else(|broken| panic!("{:?}", broken.diagnostics));
            written[place] = now;
            let left: Vec<Json> = written.iter().flatten().cloned().collect();
            let anew = one_by_one(&left);
            prop_assert_eq!(told(&loaded, &left), told(&anew, &left));
            prop_assert_eq!(loaded.snapshot.policies().len(), anew.snapshot.policies().len());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn the_dialect_and_the_reference_agree(
        documents in documents(),
        nobody in stranger(),
        calls in vec((option::weighted(0.8, select(&[53u16, 79, 80, 200, 443, 8080][..])), select(&PROTOCOLS[..])), 2),
    ) {
        let text: String = documents.iter().map(|document| format!("---\n{document}\n")).collect();
        let loaded = read(&text);
        let ends = ends(&documents, &nobody);
        for (from_name, from) in &ends {
            for (to_name, to) in &ends {
                if from_name == to_name || matches!((from, to), (Party::Address(_), Party::Address(_))) {
                    continue;
                }
                for (port, protocol) in &calls {
                    let call = Call { from: from.clone(), to: to.clone(), port: *port, protocol };
                    let (egress, ingress) = decide(&documents, &call);
                    let words = json!({"from": from_name, "to": to_name, "port": port, "protocol": protocol});
                    for report in reports(&loaded, &words) {
                        let place = report.about.place.clone().unwrap_or_default();
                        let expected = if place.starts_with("egress") { egress } else { ingress };
                        prop_assert_eq!(report.verdict.word(), word(expected), "{} {}\n{}", words, place, text);
                    }
                }
            }
        }
    }
}
