//! Gateways, routes and their policies that change one by one lead where loading all of them leads, and most is shared.

use std::fmt::Write as _;

use proptest::prelude::*;
use upheld_dialects::gateways::gateway_api::Network;
use upheld_dialects::gateways::gateway_api::topology::Step;
use upheld_engine::Snapshot;
use upheld_loader::load::{Change, Choices, Loaded};
use upheld_loader::{Format, Input};
use upheld_model::{Config, Content, SourceId};

use super::changes::check;

/// Gateways, routes that delegate, backends, grants, policies of two controllers, and some that clash or are about other things.
const DOCUMENTS: [&str; 31] = [
    r#"{"apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway", "metadata": {"name": "edge", "namespace": "infra"}, "spec": {"gatewayClassName": "k", "listeners": [{"name": "http", "port": 80, "protocol": "HTTP", "allowedRoutes": {"namespaces": {"from": "All"}}}]}}"#,
    r#"{"apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway", "metadata": {"name": "edge", "namespace": "infra"}, "spec": {"gatewayClassName": "k", "listeners": [{"name": "https", "port": 443, "protocol": "HTTPS", "hostname": "*.example.com", "allowedRoutes": {"namespaces": {"from": "All"}}}, {"name": "http", "port": 80, "protocol": "HTTP"}]}}"#,
    r#"{"apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute", "metadata": {"name": "shop", "namespace": "team", "labels": {"tier": "front"}}, "spec": {"parentRefs": [{"name": "edge", "namespace": "infra"}], "hostnames": ["shop.example.com"], "rules": [{"name": "all", "backendRefs": [{"name": "web", "port": 80}]}]}}"#,
    r#"{"apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute", "metadata": {"name": "shop", "namespace": "team"}, "spec": {"parentRefs": [{"name": "edge", "namespace": "infra"}], "rules": [{"matches": [{"path": {"type": "PathPrefix", "value": "/a"}}], "backendRefs": [{"group": "gateway.networking.k8s.io", "kind": "HTTPRoute", "name": "child", "namespace": "team"}]}]}}"#,
    r#"{"apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute", "metadata": {"name": "child", "namespace": "team"}, "spec": {"rules": [{"matches": [{"path": {"type": "PathPrefix", "value": "/a/b"}}], "filters": [{"type": "ExtensionRef", "extensionRef": {"group": "gateway.kgateway.dev", "kind": "TrafficPolicy", "name": "by-reference"}}], "backendRefs": [{"name": "web", "port": 80}]}]}}"#,
    r#"{"apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute", "metadata": {"name": "api", "namespace": "team", "labels": {"tier": "back"}}, "spec": {"parentRefs": [{"name": "edge", "namespace": "infra", "sectionName": "http"}], "rules": [{"matches": [{"path": {"type": "PathPrefix", "value": "/api"}}], "backendRefs": [{"name": "other", "namespace": "data", "port": 90}]}]}}"#,
    r#"{"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web", "namespace": "team"}, "spec": {"ports": [{"name": "main", "port": 80}]}}"#,
    r#"{"apiVersion": "v1", "kind": "Service", "metadata": {"name": "other", "namespace": "data"}, "spec": {"ports": [{"port": 90}]}}"#,
    r#"{"apiVersion": "gateway.networking.k8s.io/v1beta1", "kind": "ReferenceGrant", "metadata": {"name": "let", "namespace": "data"}, "spec": {"from": [{"group": "gateway.networking.k8s.io", "kind": "HTTPRoute", "namespace": "team"}], "to": [{"group": "", "kind": "Service"}]}}"#,
    r#"{"apiVersion": "gateway.kgateway.dev/v1alpha1", "kind": "TrafficPolicy", "metadata": {"name": "by-name", "namespace": "team"}, "spec": {"targetRefs": [{"group": "gateway.networking.k8s.io", "kind": "HTTPRoute", "name": "shop"}], "timeouts": {"request": "1s"}}}"#,
    r#"{"apiVersion": "gateway.kgateway.dev/v1alpha1", "kind": "TrafficPolicy", "metadata": {"name": "by-name", "namespace": "team"}, "spec": {"targetRefs": [{"group": "gateway.networking.k8s.io", "kind": "HTTPRoute", "name": "api"}], "timeouts": {"request": "2s"}, "retry": {"attempts": 2, "retryOn": ["5xx"]}}}"#,
    r#"{"apiVersion": "gateway.kgateway.dev/v1alpha1", "kind": "TrafficPolicy", "metadata": {"name": "by-label", "namespace": "team"}, "spec": {"targetSelectors": [{"group": "gateway.networking.k8s.io", "kind": "HTTPRoute", "matchLabels": {"tier": "front"}}], "timeouts": {"request": "3s"}, "buffer": {"maxRequestSize": "1Mi"}}}"#,
    r#"{"apiVersion": "gateway.kgateway.dev/v1alpha1", "kind": "TrafficPolicy", "metadata": {"name": "by-reference", "namespace": "team"}, "spec": {"timeouts": {"request": "4s"}}}"#,
    r#"{"apiVersion": "gateway.kgateway.dev/v1alpha1", "kind": "TrafficPolicy", "metadata": {"name": "wide", "namespace": "infra"}, "spec": {"targetRefs": [{"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": "edge"}], "timeouts": {"request": "5s"}, "retry": {"attempts": 5, "retryOn": ["5xx"]}}}"#,
    r#"{"apiVersion": "gateway.kgateway.dev/v1alpha1", "kind": "TrafficPolicy", "metadata": {"name": "broken", "namespace": "team"}, "spec": {"targetRefs": [{"group": "gateway.networking.k8s.io", "kind": "HTTPRoute", "name": "api"}], "extAuth": {"extensionRef": {"name": "missing"}}}}"#,
    r#"{"apiVersion": "gateway.kgateway.dev/v1alpha1", "kind": "GatewayExtension", "metadata": {"name": "missing", "namespace": "team"}, "spec": {"type": "ExtAuth", "extAuth": {"grpcService": {"backendRef": {"name": "web", "port": 80}}}}}"#,
    r#"{"apiVersion": "gateway.kgateway.dev/v1alpha1", "kind": "BackendConfigPolicy", "metadata": {"name": "slow", "namespace": "team"}, "spec": {"targetRefs": [{"group": "", "kind": "Service", "name": "web"}], "connectTimeout": "5s"}}"#,
    r#"{"apiVersion": "gateway.kgateway.dev/v1alpha1", "kind": "HTTPListenerPolicy", "metadata": {"name": "logs", "namespace": "infra"}, "spec": {"targetRefs": [{"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": "edge"}], "useRemoteAddress": true}}"#,
    r#"{"apiVersion": "gateway.envoyproxy.io/v1alpha1", "kind": "BackendTrafficPolicy", "metadata": {"name": "envoy", "namespace": "team"}, "spec": {"targetRefs": [{"group": "gateway.networking.k8s.io", "kind": "HTTPRoute", "name": "shop"}], "timeout": {"http": {"requestTimeout": "6s"}}}}"#,
    r#"{"apiVersion": "gateway.envoyproxy.io/v1alpha1", "kind": "BackendTrafficPolicy", "metadata": {"name": "envoy-wide", "namespace": "infra"}, "spec": {"targetRefs": [{"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": "edge"}], "timeout": {"http": {"requestTimeout": "7s"}}}}"#,
    r#"{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team", "labels": {"exposed": "yes"}}}"#,
    r#"{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "team"}}"#,
    r#"{"type": "Mesh", "name": "default"}"#,
    r#"{"type": "TrafficLog", "name": "all", "mesh": "default", "sources": [{"match": {"kuma.io/service": "*"}}], "destinations": [{"match": {"kuma.io/service": "*"}}], "conf": {"backend": "x"}}"#,
    r#"{"type": "Dataplane", "name": "web-1", "mesh": "default", "networking": {"address": "10.0.0.1", "inbound": [{"port": 80, "tags": {"kuma.io/service": "web"}}]}}"#,
    r#"{"id": "a", "effect": "permit", "subjects": [], "resources": [], "actions": []}"#,
    r#"{"ref": "workspace/w", "tags": {"env": ["dev"]}}"#,
    r#"{"apiVersion": "gateway.kgateway.dev/v1alpha1", "kind": "TrafficPolicy", "metadata": {"name": "typo", "namespace": "team"}, "spec": {"targetRef": [], "timeouts": 1}}"#,
    r#"{"apiVersion": "gateway.envoyproxy.io/v1alpha1", "kind": "BackendTrafficPolicy", "metadata": {"name": "envoy-elsewhere", "namespace": "infra"}, "spec": {"targetSelectors": [{"kind": "HTTPRoute", "matchLabels": {"tier": "front"}, "namespaces": {"from": "Selector", "selector": {"matchLabels": {"exposed": "yes"}}}}], "timeout": {"http": {"requestTimeout": "8s"}}}}"#,
    r#"{"apiVersion": "gateway.networking.k8s.io/v1beta1", "kind": "ReferenceGrant", "metadata": {"name": "let-policies", "namespace": "team"}, "spec": {"from": [{"group": "gateway.envoyproxy.io", "kind": "BackendTrafficPolicy", "namespace": "infra"}], "to": [{"group": "gateway.networking.k8s.io", "kind": "HTTPRoute"}]}}"#,
    r#"{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team", "labels": {"exposed": "no"}}}"#,
];

/// Everything that can be seen of gateways, as text.
pub(super) fn led(snapshot: &Snapshot) -> String {
    let mut lines = String::new();
    let Some(network) = Network::of(snapshot) else { return lines };
    let policy = |id| snapshot.policy(id).map(|policy| (snapshot.text(policy.scope), snapshot.text(policy.name)));
    for report in network.topology().reports(snapshot) {
        for parent in &report.parents {
            let _ = writeln!(
                lines,
                "{} at {} {:?} {:?}",
                network.title(report.route),
                network.title(parent.parent.object),
                parent.parent.section,
                parent.conditions
            );
        }
    }
    for found in network.topology().attached() {
        let (route, parent) = (network.title(found.route), network.title(found.parent.object));
        let at = (found.gateway, found.listener, &found.parent.section, &found.hosts);
        let _ = writeln!(lines, "{route} attached to {parent} {at:?}");
    }
    for gateway in &network.topology().gateways {
        let _ = writeln!(lines, "{} {}", network.title(gateway.object), gateway.listeners.len());
        for host in &gateway.hosts {
            let _ = writeln!(lines, "  {}:{} {} {}", host.name, host.port, host.listener, host.ways.len());
        }
    }
    for (place, way) in network.topology().ways() {
        let step = |step: &Step| (network.title(step.route), step.rule, step.matched, step.parent.section.clone());
        let chain: Vec<_> = way.chain.iter().map(step).collect();
        let wanted = plain(&way.matching);
        let _ = writeln!(lines, "{place:?} {chain:?} {wanted} {:?}", way.outcome);
    }
    for kind in network.kinds() {
        for (place, answer) in network.effective_ways(kind) {
            let _ = writeln!(lines, "{} {place:?}", snapshot.text(kind.kind.name));
            let who = |place: &usize| {
                answer
                    .order
                    .get(*place)
                    .and_then(|member| kind.policies.entry(member.entry))
                    .map(|entry| policy(entry.policy))
            };
            for field in &answer.fields {
                let by: Vec<_> = field.by.iter().map(who).collect();
                let lost: Vec<_> = field.lost.iter().map(|lost| (who(&lost.by), who(&lost.to))).collect();
                let _ = writeln!(lines, "  {} {:?} {by:?} {lost:?}", field.title(), field.value.as_deref().map(plain));
            }
        }
    }
    for status in network.kgateway_statuses() {
        for ancestor in &status.ancestors {
            let at = (network.title(ancestor.ancestor.object), &ancestor.ancestor.section);
            let _ = writeln!(lines, "{:?} {at:?} {:?}", policy(status.policy), ancestor.conditions);
        }
        let _ = writeln!(lines, "{:?}", status.survival);
    }
    for warning in network.topology().warnings() {
        let _ = writeln!(lines, "{} {:?}", warning.message, warning.help);
    }
    lines
}

/// A value, wherever it was written.
fn plain(value: &Config) -> String {
    match &value.content {
        Content::List(items) => format!("{:?}", items.iter().map(|item| plain(item)).collect::<Vec<_>>()),
        Content::Map(entries) => {
            format!("{:?}", entries.iter().map(|(key, value)| (key, plain(value))).collect::<Vec<_>>())
        }
        scalar => format!("{scalar:?}"),
    }
}

fn steps() -> impl Strategy<Value = Vec<Vec<(usize, Option<usize>)>>> {
    let change = (0..24_usize, prop::option::weighted(0.8, 0..DOCUMENTS.len()));
    prop::collection::vec(prop::collection::vec(change, 1..4), 1..12)
}

/// A store to begin with, so that most documents find what they refer to.
fn beginning() -> Vec<(usize, Option<usize>)> {
    [0, 2, 5, 6, 9, 11, 13, 28, 29].into_iter().map(Some).enumerate().collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn changes_of_gateways_lead_where_loading_everything_leads(steps in steps()) {
        let steps: Vec<_> = std::iter::once(beginning()).chain(steps).collect();
        check(&[], &DOCUMENTS, &steps)?;
    }

    #[test]
    fn changes_of_gateways_under_the_other_edition_lead_where_loading_everything_leads(steps in steps()) {
        let steps: Vec<_> = std::iter::once(beginning()).chain(steps).collect();
        check(&["kgateway/ep-11268"], &DOCUMENTS, &steps)?;
    }
}

#[test]
fn every_sort_of_document_about_gateways_is_taken_as_a_change() {
    let texts = beginning().into_iter().filter_map(|(_, place)| place);
    let inputs = texts.map(|place| Input::text(format!("store:{place}"), Format::Json, DOCUMENTS[place]));
    let before = Choices::default().load_for_store(Vec::new(), inputs.collect()).unwrap();
    let first = before.first_stored().index();
    let is_next = |after: &Loaded| std::ptr::eq(before.snapshot.kinds(), after.snapshot.kinds());
    for place in [4, 7, 8, 10, 12, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 30] {
        let input = Input::text("store:new", Format::Json, DOCUMENTS[place]);
        // The second policy of that name takes the place of the first.
        let change = if place == 10 { Change::Replaced(SourceId::new(first + 4), input) } else { Change::New(input) };
        let after = before.after(vec![change]).unwrap();
        assert!(is_next(&after), "{}", DOCUMENTS[place]);
    }
    for place in 0..beginning().len() {
        assert!(is_next(&before.after(vec![Change::Gone(SourceId::new(first + place))]).unwrap()), "{place}");
    }
}

/// So many routes, each with a service and a policy.
fn many(count: usize) -> Loaded {
    let mut documents = vec![DOCUMENTS[0].to_owned()];
    for number in 0..count {
        let named = |place: usize, from: &str| DOCUMENTS[place].replace(from, &format!("{from}-{number}"));
        documents.push(named(2, "shop").replace("shop.example", &format!("{number}.example")));
        documents.push(named(9, "by-name").replace("\"shop\"", &format!("\"shop-{number}\"")));
    }
    let inputs =
        documents.iter().enumerate().map(|(place, text)| Input::text(format!("store:{place}"), Format::Json, text));
    Choices::default().load_for_store(Vec::new(), inputs.collect()).unwrap()
}

#[test]
fn a_policy_that_changes_copies_as_much_of_many_as_of_few() {
    let copied = |count: usize| {
        let before = many(count);
        before.snapshot.digest();
        let last = SourceId::new(before.first_stored().index() + 2 * count);
        let text = DOCUMENTS[10].replace("by-name", &format!("by-name-{}", count - 1));
        let after =
            before.after(vec![Change::Replaced(last, Input::text("store:x", Format::Json, text.as_str()))]).unwrap();
        after.snapshot.digest();
        after.snapshot.unshared(&before.snapshot)
    };
    let (few, many) = (copied(200), copied(2_000));
    assert!((1..=24).contains(&few) && many <= few + 4, "{few} of few, {many} of many");
}
