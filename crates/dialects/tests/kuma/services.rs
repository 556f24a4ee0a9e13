//! A service is its inbounds: asking for a service is asking for each of them.

use std::collections::BTreeSet;

use proptest::prelude::*;
use upheld_dialects::kuma::ends::destinations;
use upheld_engine::Granularity;
use upheld_report::{Report, Verdict};

use super::asked::{loaded, reports, words};

const KINDS: [&str; 3] = ["TrafficPermission", "TrafficLog", "HealthCheck"];

#[derive(Clone, Debug)]
struct Proxy {
    service: &'static str,
    cloud: Option<&'static str>,
}

fn proxy() -> impl Strategy<Value = Proxy> {
    let service = prop_oneof![Just("web"), Just("backend")];
    let cloud = proptest::option::of(prop_oneof![Just("aws"), Just("gcp")]);
    (service, cloud).prop_map(|(service, cloud)| Proxy { service, cloud })
}

fn selector() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("{kuma.io/service: '*'}"),
        Just("{kuma.io/service: backend}"),
        Just("{kuma.io/service: backend, cloud: aws}"),
        Just("{kuma.io/service: '*', cloud: '*'}"),
        Just("{kuma.io/service: web}"),
    ]
    .prop_map(str::to_owned)
}

fn text(proxies: &[Proxy], policies: &[(usize, String, String)]) -> String {
    let mut text = "type: Mesh\nname: default\n".to_owned();
    for (number, Proxy { service, cloud }) in proxies.iter().enumerate() {
        let cloud = cloud.map(|cloud| format!(", cloud: {cloud}")).unwrap_or_default();
        text.push_str(&format!(
            "---\ntype: Dataplane\nname: dp-{number}\nnetworking: {{address: 10.0.0.{number}, inbound: [{{port: 80, tags: \
             {{kuma.io/service: {service}{cloud}}}}}], outbound: [{{port: 9000, tags: {{kuma.io/service: elsewhere}}}}]}}\n"
        ));
    }
    for (number, (kind, from, to)) in policies.iter().enumerate() {
        let (kind, conf) = (KINDS[*kind], if *kind == 0 { "" } else { "\nconf: {interval: 1s}" });
        text.push_str(&format!(
            "---\ntype: {kind}\nname: p{number}\nsources: [{{match: {from}}}]\ndestinations: [{{match: {to}}}]{conf}\n"
        ));
    }
    text
}

/// For each pair: its verdict and who decides.
fn by_pair(reports: &[Report]) -> BTreeSet<(String, &'static str, Vec<String>)> {
    let each = |report: &Report| {
        let (verdict, policies) = (report.verdict.word(), report.policies.clone());
        report.about.holds_for.iter().map(move |pair| (pair.clone(), verdict, policies.clone())).collect::<Vec<_>>()
    };
    reports.iter().flat_map(each).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn the_answer_for_a_service_is_that_of_its_inbounds(
        proxies in proptest::collection::vec(proxy(), 1..5),
        policies in proptest::collection::vec((0..KINDS.len(), selector(), selector()), 1..6),
    ) {
        for edition in ["kuma/0.3", "kuma/0.4"] {
            let loaded = loaded(&text(&proxies, &policies), &[edition]);
            let snapshot = &loaded.snapshot;
            for kind in policies.iter().map(|(kind, ..)| KINDS[*kind]) {
                for service in proxies.iter().map(|proxy| proxy.service).collect::<BTreeSet<_>>() {
                    let to = format!("service/{service}");
                    let whole = by_pair(&reports(snapshot, &words(None, Some("dp-0"), Some(&to), Some(kind))));
                    let mut single = BTreeSet::new();
                    for (number, _) in proxies.iter().enumerate().filter(|(_, proxy)| proxy.service == service) {
                        let to = format!("dataplane/dp-{number}");
                        single.extend(by_pair(&reports(snapshot, &words(None, Some("dp-0"), Some(&to), Some(kind)))));
                    }
                    if edition == "kuma/0.3" || kind == "TrafficPermission" {
                        prop_assert_eq!(whole, single, "{} {}", kind, service);
                    } else {
                        // Callers see nothing of a service but its name there, so all inbounds have one answer.
                        let answers = |pairs: &BTreeSet<(String, &'static str, Vec<String>)>| {
                            pairs.iter().map(|(_, verdict, policies)| (*verdict, policies.clone())).collect::<BTreeSet<_>>()
                        };
                        prop_assert_eq!(answers(&whole), answers(&single), "{} {}", kind, service);
                    }
                }
            }
        }
    }
}

#[test]
fn all_that_can_be_called_are_inbounds_and_what_nobody_here_offers() {
    let world = text(&[Proxy { service: "backend", cloud: Some("aws") }], &[]);
    let loaded = loaded(&world, &["kuma/0.3"]);
    let mesh = loaded.snapshot.symbols().get("default").expect("the mesh");
    let called = destinations(&loaded.snapshot, mesh, Granularity::Inbound);
    let labels: Vec<&str> = called.iter().map(|member| member.label.as_str()).collect();
    assert_eq!(labels, ["dp-0", "elsewhere"]);
}

#[test]
fn a_grant_that_names_tags_of_an_inbound_holds_for_its_service() {
    let proxies = [Proxy { service: "web", cloud: None }, Proxy { service: "backend", cloud: Some("aws") }];
    let policies = [(0, "{kuma.io/service: '*'}".to_owned(), "{kuma.io/service: backend, cloud: aws}".to_owned())];
    let loaded = loaded(&text(&proxies, &policies), &["kuma/0.3"]);
    let answer =
        reports(&loaded.snapshot, &words(None, Some("dp-0"), Some("service/backend"), Some("TrafficPermission")));
    let [answer] = answer.as_slice() else { panic!("{answer:#?}") };
    assert_eq!((answer.verdict, answer.policies.as_slice()), (Verdict::Permit, &["p0".to_owned()][..]));
}
