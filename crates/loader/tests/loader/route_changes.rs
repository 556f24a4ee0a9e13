//! Routes that come, go and change lead where loading all of them leads, and only those that have to do with it are walked.

use std::sync::Arc;

use proptest::prelude::*;
use upheld_dialects::gateways::gateway_api::settings::{ControllerSettings, RoutePrecedence, Settings};
use upheld_dialects::gateways::gateway_api::topology::Place;
use upheld_dialects::gateways::gateway_api::{Network, Topology};
use upheld_engine::Snapshot;
use upheld_loader::load::{Change, Choices, Loaded};
use upheld_loader::{Format, Input};
use upheld_model::SourceId;

use super::changes::{check, check_under};

macro_rules! document {
    ($version:literal, $kind:literal, $namespace:literal, $name:literal, $metadata:literal, $spec:literal) => {
        concat!(
            r#"{"apiVersion": ""#,
            $version,
            r#"", "kind": ""#,
            $kind,
            r#"", "metadata": {"namespace": ""#,
            $namespace,
            r#"", "name": ""#,
            $name,
            r#"""#,
            $metadata,
            r#"}, "spec": {"#,
            $spec,
            "}}"
        )
    };
}

macro_rules! gateway_api {
    ($kind:literal, $namespace:literal, $name:literal, $metadata:literal, $spec:literal) => {
        document!("gateway.networking.k8s.io/v1", $kind, $namespace, $name, $metadata, $spec)
    };
}

/// Each with the place where it is stored: those in one place are one document that says something else.
const DOCUMENTS: [(usize, &str); 47] = [
    // Gateways, and a set of listeners that only one of two editions of the gateway takes.
    (
        0,
        gateway_api!(
            "Gateway",
            "infra",
            "edge",
            "",
            r#""gatewayClassName": "k", "listeners": [{"name": "http", "port": 80, "protocol": "HTTP", "allowedRoutes": {"namespaces": {"from": "All"}}}]"#
        ),
    ),
    (
        0,
        gateway_api!(
            "Gateway",
            "infra",
            "edge",
            "",
            r#""gatewayClassName": "k", "allowedListeners": {"namespaces": {"from": "All"}}, "listeners": [{"name": "http", "port": 80, "protocol": "HTTP", "allowedRoutes": {"namespaces": {"from": "All"}}}, {"name": "https", "port": 443, "protocol": "HTTPS", "hostname": "*.example.com", "allowedRoutes": {"namespaces": {"from": "Selector", "selector": {"matchLabels": {"exposed": "yes"}}}}}]"#
        ),
    ),
    (
        1,
        gateway_api!(
            "Gateway",
            "infra",
            "inner",
            "",
            r#""gatewayClassName": "k", "listeners": [{"name": "narrow", "port": 80, "protocol": "HTTP", "hostname": "*.example.com", "allowedRoutes": {"namespaces": {"from": "All"}}}, {"name": "wide", "port": 80, "protocol": "HTTP", "allowedRoutes": {"namespaces": {"from": "All"}}}]"#
        ),
    ),
    (
        2,
        gateway_api!(
            "ListenerSet",
            "team",
            "extra",
            "",
            r#""parentRef": {"name": "edge", "namespace": "infra"}, "listeners": [{"name": "more", "port": 8080, "protocol": "HTTP"}]"#
        ),
    ),
    (3, document!("v1", "Namespace", "default", "team", r#", "labels": {"exposed": "yes"}"#, "")),
    // A route that is older or younger than its rival, under one host or two, at one gateway, at both, or at none.
    (
        4,
        gateway_api!(
            "HTTPRoute",
            "team",
            "shop",
            r#", "creationTimestamp": "2024-01-01T00:00:00Z""#,
            r#""parentRefs": [{"name": "edge", "namespace": "infra"}], "hostnames": ["shop.example.com"], "rules": [{"matches": [{"path": {"value": "/a"}}], "backendRefs": [{"name": "web", "port": 80}]}]"#
        ),
    ),
    (
        4,
        gateway_api!(
            "HTTPRoute",
            "team",
            "shop",
            r#", "creationTimestamp": "2026-01-01T00:00:00Z""#,
            r#""parentRefs": [{"name": "edge", "namespace": "infra"}], "hostnames": ["shop.example.com", "www.example.com"], "rules": [{"name": "a", "matches": [{"path": {"value": "/a"}}, {"path": {"value": "/b"}}], "backendRefs": [{"name": "web", "port": 80}]}, {"matches": [{"path": {"value": "/c"}}]}]"#
        ),
    ),
    (
        4,
        gateway_api!(
            "HTTPRoute",
            "team",
            "shop",
            "",
            r#""parentRefs": [{"name": "inner", "namespace": "infra"}, {"name": "edge", "namespace": "infra", "sectionName": "http"}, {"name": "edge", "namespace": "infra"}], "rules": [{"matches": [{"path": {"value": "/a"}}], "backendRefs": [{"name": "web", "port": 80}]}]"#
        ),
    ),
    (
        4,
        gateway_api!(
            "HTTPRoute",
            "team",
            "shop",
            "",
            r#""parentRefs": [{"name": "gone", "namespace": "infra"}, {"name": "edge", "namespace": "infra", "sectionName": "htp"}], "rules": [{"backendRefs": [{"name": "web", "port": 80}]}]"#
        ),
    ),
    // The same route, which delegates by name, to a namespace, by label, and twice.
    (
        4,
        gateway_api!(
            "HTTPRoute",
            "team",
            "shop",
            "",
            r#""parentRefs": [{"name": "edge", "namespace": "infra"}], "hostnames": ["shop.example.com"], "rules": [{"matches": [{"path": {"value": "/a"}}], "backendRefs": [{"group": "gateway.networking.k8s.io", "kind": "HTTPRoute", "name": "child", "namespace": "kids"}]}]"#
        ),
    ),
    (
        4,
        gateway_api!(
            "HTTPRoute",
            "team",
            "shop",
            "",
            r#""parentRefs": [{"name": "edge", "namespace": "infra"}, {"name": "inner", "namespace": "infra"}], "rules": [{"matches": [{"path": {"value": "/a"}}], "backendRefs": [{"group": "gateway.networking.k8s.io", "kind": "HTTPRoute", "name": "*", "namespace": "kids"}]}]"#
        ),
    ),
    (
        4,
        gateway_api!(
            "HTTPRoute",
            "team",
            "shop",
            "",
            r#""parentRefs": [{"name": "edge", "namespace": "infra"}], "rules": [{"matches": [{"path": {"value": "/a"}}], "backendRefs": [{"group": "delegation.kgateway.dev", "kind": "label", "name": "open", "namespace": "all"}]}]"#
        ),
    ),
    (
        4,
        gateway_api!(
            "HTTPRoute",
            "team",
            "shop",
            "",
            r#""parentRefs": [{"name": "edge", "namespace": "infra"}], "rules": [{"matches": [{"path": {"value": "/a"}}], "backendRefs": [{"group": "delegation.kgateway.dev", "kind": "label", "name": "open", "namespace": "kids"}, {"group": "gateway.networking.k8s.io", "kind": "HTTPRoute", "name": "child", "namespace": "kids"}]}]"#
        ),
    ),
    (
        5,
        gateway_api!(
            "HTTPRoute",
            "team",
            "rival",
            r#", "creationTimestamp": "2025-01-01T00:00:00Z""#,
            r#""parentRefs": [{"name": "edge", "namespace": "infra"}], "hostnames": ["shop.example.com"], "rules": [{"matches": [{"path": {"value": "/a"}}], "backendRefs": [{"name": "web", "port": 80}]}]"#
        ),
    ),
    (
        5,
        gateway_api!(
            "HTTPRoute",
            "team",
            "rival",
            r#", "creationTimestamp": "2023-01-01T00:00:00Z", "annotations": {"kgateway.dev/route-weight": "9"}"#,
            r#""parentRefs": [{"name": "edge", "namespace": "infra"}, {"name": "inner", "namespace": "infra", "sectionName": "wide"}], "rules": [{"matches": [{"path": {"value": "/a"}}], "backendRefs": [{"group": "gateway.networking.k8s.io", "kind": "HTTPRoute", "name": "child", "namespace": "kids"}, {"name": "web", "port": 80}]}]"#
        ),
    ),
    (
        5,
        gateway_api!(
            "HTTPRoute",
            "team",
            "rival",
            r#", "annotations": {"kgateway.dev/route-weight": "much"}"#,
            r#""parentRefs": [{"kind": "ListenerSet", "group": "gateway.networking.k8s.io", "name": "extra"}], "rules": [{"matches": [{"path": {"value": "/a"}}], "backendRefs": [{"group": "delegation.kgateway.dev", "kind": "label", "name": "open", "namespace": "all"}]}]"#
        ),
    ),
    // A child: found by name, namespace or label; delegates further, back, or is refused.
    (
        6,
        gateway_api!(
            "HTTPRoute",
            "kids",
            "child",
            "",
            r#""rules": [{"matches": [{"path": {"value": "/a/b"}}], "backendRefs": [{"name": "web", "namespace": "team", "port": 80}]}]"#
        ),
    ),
    (
        6,
        gateway_api!(
            "HTTPRoute",
            "kids",
            "child",
            r#", "labels": {"delegation.kgateway.dev/label": "open"}, "creationTimestamp": "2022-01-01T00:00:00Z""#,
            r#""rules": [{"matches": [{"path": {"value": "/a/b"}}, {"path": {"value": "/z"}}], "filters": [{"type": "ExtensionRef", "extensionRef": {"group": "gateway.kgateway.dev", "kind": "DirectResponse", "name": "teapot"}}]}]"#
        ),
    ),
    (
        6,
        gateway_api!(
            "HTTPRoute",
            "kids",
            "child",
            "",
            r#""rules": [{"matches": [{"path": {"value": "/a/b"}}], "backendRefs": [{"group": "gateway.networking.k8s.io", "kind": "HTTPRoute", "name": "leaf", "namespace": "deep"}]}]"#
        ),
    ),
    (
        6,
        gateway_api!(
            "HTTPRoute",
            "kids",
            "child",
            r#", "labels": {"delegation.kgateway.dev/label": "open"}"#,
            r#""rules": [{"matches": [{"path": {"value": "/a"}}], "backendRefs": [{"group": "delegation.kgateway.dev", "kind": "label", "name": "far", "namespace": "deep"}, {"group": "gateway.networking.k8s.io", "kind": "HTTPRoute", "name": "*", "namespace": "kids"}]}]"#
        ),
    ),
    (
        6,
        gateway_api!(
            "HTTPRoute",
            "kids",
            "child",
            r#", "labels": {"delegation.kgateway.dev/label": "open"}"#,
            r#""parentRefs": [{"group": "gateway.networking.k8s.io", "kind": "HTTPRoute", "name": "shop", "namespace": "team"}], "rules": [{"matches": [{"path": {"type": "RegularExpression", "value": "/a["}}, {"path": {"value": "/a/b"}}], "backendRefs": [{"name": "web", "port": 80}]}]"#
        ),
    ),
    (
        6,
        gateway_api!(
            "HTTPRoute",
            "kids",
            "child",
            "",
            r#""hostnames": ["a.example.com"], "rules": [{"matches": [{"path": {"value": "/a/b"}}]}]"#
        ),
    ),
    (
        7,
        gateway_api!(
            "HTTPRoute",
            "kids",
            "twin",
            "",
            r#""rules": [{"matches": [{"path": {"value": "/a/b"}}], "filters": [{"type": "RequestRedirect"}]}]"#
        ),
    ),
    (
        7,
        gateway_api!(
            "HTTPRoute",
            "kids",
            "twin",
            r#", "labels": {"delegation.kgateway.dev/label": "open"}, "annotations": {"kgateway.dev/route-weight": "5"}, "creationTimestamp": "2021-01-01T00:00:00Z""#,
            r#""rules": [{"matches": [{"path": {"value": "/a/b"}}], "backendRefs": [{"group": "gateway.networking.k8s.io", "kind": "HTTPRoute", "name": "leaf", "namespace": "deep"}]}]"#
        ),
    ),
    // A child that is attached as well.
    (
        7,
        gateway_api!(
            "HTTPRoute",
            "kids",
            "twin",
            "",
            r#""parentRefs": [{"group": "gateway.networking.k8s.io", "kind": "HTTPRoute", "name": "shop", "namespace": "team"}, {"name": "edge", "namespace": "infra"}], "rules": [{"matches": [{"path": {"value": "/a/c"}}], "backendRefs": [{"name": "web", "namespace": "team", "port": 81}]}]"#
        ),
    ),
    (
        8,
        gateway_api!(
            "HTTPRoute",
            "deep",
            "leaf",
            "",
            r#""rules": [{"matches": [{"path": {"value": "/a/b/c"}}], "backendRefs": [{"name": "web", "namespace": "team", "port": 80}]}]"#
        ),
    ),
    (
        8,
        gateway_api!(
            "HTTPRoute",
            "deep",
            "leaf",
            r#", "labels": {"delegation.kgateway.dev/label": "far"}, "annotations": {"delegation.kgateway.dev/inherit-parent-matcher": "true"}"#,
            r#""rules": [{"matches": [{"path": {"value": "/x"}}], "filters": [{"type": "RequestRedirect"}]}]"#
        ),
    ),
    (
        8,
        gateway_api!(
            "HTTPRoute",
            "deep",
            "leaf",
            r#", "labels": {"delegation.kgateway.dev/label": "open"}"#,
            r#""rules": [{"matches": [{"path": {"value": "/a/b"}}], "backendRefs": [{"group": "gateway.networking.k8s.io", "kind": "HTTPRoute", "name": "child", "namespace": "kids"}]}]"#
        ),
    ),
    // Other routes; one has the namespace and the name of another.
    (
        9,
        gateway_api!(
            "GRPCRoute",
            "team",
            "shop",
            "",
            r#""parentRefs": [{"name": "edge", "namespace": "infra"}], "hostnames": ["shop.example.com"], "rules": [{"matches": [{"method": {"service": "a"}}], "backendRefs": [{"name": "web", "port": 80}]}]"#
        ),
    ),
    (
        9,
        gateway_api!(
            "GRPCRoute",
            "team",
            "shop",
            "",
            r#""parentRefs": [{"name": "edge", "namespace": "infra"}], "rules": [{"backendRefs": [{"name": "web", "port": 81}]}]"#
        ),
    ),
    (
        10,
        gateway_api!(
            "TCPRoute",
            "team",
            "db",
            "",
            r#""parentRefs": [{"name": "edge", "namespace": "infra"}], "rules": [{"backendRefs": [{"name": "web", "port": 80}]}]"#
        ),
    ),
    (
        11,
        gateway_api!(
            "HTTPRoute",
            "team",
            "mirror",
            "",
            r#""parentRefs": [{"name": "edge", "namespace": "infra"}], "hostnames": ["shop.example.com"], "rules": [{"filters": [{"type": "RequestMirror", "requestMirror": {"backendRef": {"name": "shadow", "port": 80}}}], "backendRefs": [{"name": "web", "port": 80}]}]"#
        ),
    ),
    (
        11,
        gateway_api!(
            "HTTPRoute",
            "team",
            "mirror",
            "",
            r#""parentRefs": [{"name": "inner", "namespace": "infra"}], "hostnames": ["*.example.com", "other.com"], "rules": [{"filters": [{"type": "ExtensionRef", "extensionRef": {"group": "gateway.kgateway.dev", "kind": "TrafficPolicy", "name": "named"}}], "backendRefs": [{"name": "other", "namespace": "data", "port": 90}]}]"#
        ),
    ),
    // What routes refer to.
    (12, document!("v1", "Service", "team", "web", "", r#""ports": [{"port": 80}]"#)),
    (12, document!("v1", "Service", "team", "web", "", r#""ports": [{"port": 80}, {"port": 81}]"#)),
    (13, document!("v1", "Service", "team", "shadow", "", r#""ports": [{"port": 80}]"#)),
    (14, document!("v1", "Service", "data", "other", "", r#""ports": [{"port": 90}]"#)),
    (
        15,
        gateway_api!(
            "ReferenceGrant",
            "data",
            "let",
            "",
            r#""from": [{"group": "gateway.networking.k8s.io", "kind": "HTTPRoute", "namespace": "team"}], "to": [{"group": "", "kind": "Service"}]"#
        ),
    ),
    (
        16,
        gateway_api!(
            "ReferenceGrant",
            "team",
            "let",
            "",
            r#""from": [{"group": "gateway.networking.k8s.io", "kind": "HTTPRoute", "namespace": "kids"}, {"group": "gateway.networking.k8s.io", "kind": "HTTPRoute", "namespace": "deep"}], "to": [{"group": "", "kind": "Service"}]"#
        ),
    ),
    (17, document!("gateway.kgateway.dev/v1alpha1", "DirectResponse", "kids", "teapot", "", r#""status": 418"#)),
    (
        18,
        document!(
            "gateway.kgateway.dev/v1alpha1",
            "TrafficPolicy",
            "team",
            "named",
            "",
            r#""timeouts": {"request": "4s"}"#
        ),
    ),
    (
        18,
        document!(
            "gateway.kgateway.dev/v1alpha1",
            "TrafficPolicy",
            "team",
            "named",
            "",
            r#""targetRefs": [{"group": "gateway.networking.k8s.io", "kind": "HTTPRoute", "name": "shop"}], "timeouts": {"request": "5s"}"#
        ),
    ),
    (
        19,
        document!(
            "gateway.kgateway.dev/v1alpha1",
            "TrafficPolicy",
            "kids",
            "child",
            "",
            r#""targetRefs": [{"group": "gateway.networking.k8s.io", "kind": "HTTPRoute", "name": "child"}], "retry": {"attempts": 2, "retryOn": ["5xx"]}"#
        ),
    ),
    (20, document!("v1", "Service", "team", "unrelated", "", r#""ports": [{"port": 80}]"#)),
    (
        21,
        document!(
            "gateway.kgateway.dev/v1alpha1",
            "TrafficPolicy",
            "infra",
            "wide",
            "",
            r#""targetRefs": [{"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": "edge"}], "timeouts": {"request": "6s"}"#
        ),
    ),
    (22, r#"{"id": "a", "effect": "permit", "subjects": [], "resources": [], "actions": []}"#),
    (23, r#"{"type": "Mesh", "name": "default"}"#),
];

const PLACES: usize = 24;

/// Routes, and what they lead to at once: these change more often than the rest.
const ROUTES: std::ops::Range<usize> = 5..33;

fn texts() -> Vec<&'static str> {
    DOCUMENTS.iter().map(|(_, text)| *text).collect()
}

fn put(document: usize) -> (usize, Option<usize>) {
    (DOCUMENTS[document].0, Some(document))
}

/// Everything at first, in one of its forms; then changes, one or some at once.
fn steps() -> impl Strategy<Value = Vec<Vec<(usize, Option<usize>)>>> {
    let change = || {
        prop_oneof![
            6 => ROUTES.prop_map(put),
            2 => (0..DOCUMENTS.len()).prop_map(put),
            2 => (0..PLACES).prop_map(|place| (place, None)),
        ]
    };
    let first = prop::collection::vec(change(), 0..16).prop_map(|changes| {
        let mut known: std::collections::BTreeMap<usize, Option<usize>> =
            [0, 2, 5, 13, 16, 33, 38].into_iter().map(put).collect();
        known.extend(changes);
        known.into_iter().collect::<Vec<_>>()
    });
    let later = prop::collection::vec(prop::collection::vec(change(), 1..4), 1..10);
    (first, later).prop_map(|(first, later)| std::iter::once(first).chain(later).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn changes_of_routes_lead_where_loading_everything_leads(steps in steps()) {
        check(&[], &texts(), &steps)?;
    }

    /// Weights count before matches, and few steps are followed: what is left of one route depends on all others.
    #[test]
    fn changes_of_routes_within_limits_lead_where_loading_everything_leads(steps in steps(), limit in 1..24_usize) {
        let choices = || {
            let route_precedence = RoutePrecedence::Weighted;
            let topology = Settings { route_precedence, step_limit: limit, depth_limit: 3, ..Settings::default() };
            let controller = ControllerSettings { topology, ..ControllerSettings::default() };
            Choices::default().with(controller).without_schemas()
        };
        check_under(choices, &texts(), &steps)?;
    }

    /// The ways to a route are looked up; to look through all ways is the naive reference.
    #[test]
    fn ways_to_a_route_are_those_that_end_there(steps in steps()) {
        let texts = steps.concat().into_iter().collect::<std::collections::BTreeMap<_, _>>();
        let texts = texts.into_values().flatten().map(|document| DOCUMENTS[document].1);
        let inputs = texts.enumerate().map(|(place, text)| Input::text(format!("store:{place}"), Format::Json, text));
        let loaded = Choices::default().without_schemas().load_for_store(Vec::new(), inputs.collect()).unwrap();
        let topology = topology(&loaded.snapshot);
        for (route, _) in loaded.snapshot.objects().iter() {
            let found: Vec<Place> = topology.ways_to(route).map(|(place, _)| place).collect();
            let ends_there = topology.ways().filter(|(_, way)| way.chain.last().is_some_and(|step| step.route == route));
            prop_assert_eq!(found, ends_there.map(|(place, _)| place).collect::<Vec<_>>());
            let reports = topology.reports(&loaded.snapshot).into_iter().find(|report| report.route == route);
            prop_assert_eq!(format!("{:?}", topology.report(&loaded.snapshot, route)), format!("{reports:?}"));
        }
    }
}

fn topology(snapshot: &Snapshot) -> &Arc<Topology> {
    &Network::of(snapshot).unwrap().gateways.topology
}

/// A gateway, so many routes under one host and under hosts of their own, each with a child of its own.
fn many(count: usize) -> Loaded {
    let mut documents = vec![DOCUMENTS[0].1.to_owned(), DOCUMENTS[33].1.to_owned()];
    for number in 0..count {
        let named = |document: usize, from: &str| DOCUMENTS[document].1.replace(from, &format!("{from}-{number}"));
        documents.push(named(13, "rival"));
        documents.push(named(9, "shop").replace("\"child\"", &format!("\"child-{number}\"")));
        documents.push(named(16, "child"));
    }
    let inputs =
        documents.iter().enumerate().map(|(place, text)| Input::text(format!("store:{place}"), Format::Json, text));
    Choices::default().without_schemas().load_for_store(Vec::new(), inputs.collect()).unwrap()
}

/// Walks and copies when one document of many says something else: a route under a host that all share, one that delegates
/// under a host of its own, and the child of one.
fn costs(count: usize) -> [(usize, usize); 3] {
    let before = many(count);
    let first = before.first_stored().index() + 2 + 3 * (count / 2);
    let number = count / 2;
    let texts = [
        DOCUMENTS[13].1.replace("rival", &format!("rival-{number}")).replace("2025", "2020"),
        DOCUMENTS[9]
            .1
            .replace("shop", &format!("shop-{number}"))
            .replace("\"child\"", &format!("\"child-{number}\""))
            .replace("\"/a\"", "\"/a/\""),
        DOCUMENTS[16].1.replace("child", &format!("child-{number}")).replace("/a/b", "/a/d"),
    ];
    let mut place = first;
    texts.map(|text| {
        let change = Change::Replaced(SourceId::new(place), Input::text("store:x", Format::Json, text.as_str()));
        place += 1;
        let after = before.after(vec![change]).unwrap();
        let (before, after) = (topology(&before.snapshot), topology(&after.snapshot));
        assert_eq!(before.ways().count(), after.ways().count(), "{text}");
        (after.walked(before), after.unshared(before))
    })
}

#[test]
fn a_route_that_changes_walks_and_copies_as_much_of_many_as_of_few() {
    let (few, many) = (costs(200), costs(2_000));
    assert_eq!(few.map(|(walked, _)| walked), [1, 1, 2], "the route, and those that delegate to it");
    for ((walked, copied), (of_few, copied_of_few)) in many.into_iter().zip(few) {
        assert_eq!(walked, of_few);
        assert!((1..=16).contains(&copied_of_few) && copied <= copied_of_few + 4, "{few:?} of few, {many:?} of many");
    }
}

#[test]
fn what_no_route_looked_for_leaves_the_topology_as_it_is() {
    let before = many(3);
    for document in [42, 43, 46] {
        let after =
            before.after(vec![Change::New(Input::text("store:x", Format::Json, DOCUMENTS[document].1))]).unwrap();
        assert!(Arc::ptr_eq(topology(&before.snapshot), topology(&after.snapshot)), "{}", DOCUMENTS[document].1);
    }
}
