//! Every rule and the example of the document "EP-11268: Policy Application and Merging", by name.

use std::collections::BTreeMap;

use upheld_dialects::gateways::gateway_api::places::Asked;
use upheld_dialects::gateways::gateway_api::scopes::{GATEWAY, HOST, ROUTE, RULE};
use upheld_dialects::gateways::gateway_api::topology::{Gateway, Outcome, Way};
use upheld_dialects::gateways::gateway_api::{GatewayKind, Network};
use upheld_engine::Snapshot;
use upheld_engine::hierarchy::{Effective, Folded};
use upheld_loader::{Format, Input, load::Choices};

const DOCUMENT: &str = "kgateway/ep-11268";
const TODAY: &str = "kgateway/2026";
const BOTH: [&str; 2] = [DOCUMENT, TODAY];

/// A gateway with a plain and a TLS listener, and a route with one rule for each.
const WORLD: &str = "
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: gateway}
spec:
  gatewayClassName: kgateway
  listeners:
  - {name: http, protocol: HTTP, port: 80}
  - {name: https, protocol: HTTPS, port: 443}
---
apiVersion: v1
kind: Service
metadata: {name: service}
spec: {ports: [{port: 80}]}
---
";

/// A route; `more` is in its only rule.
fn route(name: &str, parent: &str, metadata: &str, more: &str) -> String {
    format!(
        "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {{name: {name}{metadata}}}\nspec:\n  \
         parentRefs: [{parent}]\n  rules:\n  - name: rule\n    matches: [{{path: {{type: PathPrefix, value: /}}}}]\n{more}\n---\n"
    )
}

const TO_SERVICE: &str = "    backendRefs: [{name: service, port: 80}]";
const AT_GATEWAY: &str = "{name: gateway}";

fn example(more: &str) -> String {
    format!("{WORLD}{}", route("example-route", AT_GATEWAY, "", &format!("{TO_SERVICE}\n{more}")))
}

/// A traffic policy that was created on a day; targets and fields are written in flow style.
fn traffic(name: &str, day: u8, targets: &str, fields: &str) -> String {
    policy("TrafficPolicy", name, day, targets, fields)
}

fn policy(kind: &str, name: &str, day: u8, targets: &str, fields: &str) -> String {
    let metadata = format!("{{name: {name}, creationTimestamp: '2025-01-{day:02}T00:00:00Z'}}");
    let targets = if targets.is_empty() { String::new() } else { format!("targetRefs: [{targets}], ") };
    format!(
        "apiVersion: gateway.kgateway.dev/v1alpha1\nkind: {kind}\nmetadata: {metadata}\nspec: {{{targets}{fields}}}\n---\n"
    )
}

fn target(kind: &str, name: &str) -> String {
    format!("{{group: gateway.networking.k8s.io, kind: {kind}, name: {name}}}")
}

fn section(kind: &str, name: &str, section: &str) -> String {
    format!("{{group: gateway.networking.k8s.io, kind: {kind}, name: {name}, sectionName: {section}}}")
}

fn on_route() -> String {
    target("HTTPRoute", "example-route")
}

fn set_header(value: &str) -> String {
    format!("transformation: {{request: {{set: [{{name: who, value: {value}}}]}}}}")
}

fn snapshot(documents: &str, semantics: &str) -> Snapshot {
    // Documents are as short as their cases allow.
    let choices = Choices::of_semantics(&[semantics]).without_schemas();
    let loaded = choices.load(vec![Input::text("test", Format::Yaml, documents)]);
    loaded.unwrap_or_else(|broken| panic!("{:?}", broken.diagnostics.as_slice())).snapshot
}

/// Loads documents and hands their gateways to a test.
fn ask<T>(documents: &str, semantics: &str, test: impl FnOnce(Network<'_>) -> T) -> T {
    test(Network::of(&snapshot(documents, semantics)).unwrap())
}

type Origins = BTreeMap<String, Vec<String>>;

fn traffic_policies(network: Network<'_>) -> GatewayKind<'_> {
    network.kind("TrafficPolicy").unwrap()
}

fn name(asked: &Asked<'_>, answer: &Effective, place: usize) -> String {
    let entry = asked.kind().policies.entry(answer.order[place].entry).unwrap();
    asked.network().snapshot.text(entry.name).to_owned()
}

/// The names of the policies that the fields of what was asked come from.
fn origins(asked: &Asked<'_>) -> Origins {
    let answer = asked.effective();
    let fields = answer.scopes.iter().flat_map(|own| own.folded.iter());
    let names = |places: &[usize]| places.iter().map(|place| name(asked, &answer, *place)).collect();
    fields.map(|(field, joined)| (field.to_string(), names(&joined.origins))).collect()
}

/// The first way at the first listener.
fn way(network: Network<'_>) -> &Way {
    let (_, way) = network.topology().ways().next().unwrap();
    way
}

fn edge(network: Network<'_>) -> &Gateway {
    network.topology().gateways.first().unwrap()
}

fn route_of<'s>(network: Network<'s>, kind: &str) -> Asked<'s> {
    network.under(network.kind(kind).unwrap()).route(&way(network).chain)
}

fn of_route(documents: &str, semantics: &str) -> Origins {
    ask(documents, semantics, |network| origins(&route_of(network, "TrafficPolicy")))
}

/// What traffic policies of the route come to.
fn folded(documents: &str, semantics: &str) -> Folded {
    ask(documents, semantics, |network| route_of(network, "TrafficPolicy").effective().in_scope(ROUTE).unwrap().clone())
}

#[track_caller]
fn check_route(documents: &str, semantics: &str, expected: &[(&str, &[&str])]) {
    let expected: Origins = expected
        .iter()
        .map(|(field, names)| ((*field).to_owned(), names.iter().map(|name| (*name).to_owned()).collect()))
        .collect();
    assert_eq!(of_route(documents, semantics), expected, "{semantics}");
}

// Policy priority

#[test]
fn an_older_policy_has_higher_priority_than_a_newer_one() {
    let newer = traffic("a", 2, &on_route(), "cors: {allowOrigins: [new]}");
    let older = traffic("b", 1, &on_route(), "cors: {allowOrigins: [old]}");
    for semantics in BOTH {
        check_route(&(example("") + &newer + &older), semantics, &[("cors", &["b"])]);
    }
}

#[test]
fn equal_age_is_decided_by_name() {
    let both = traffic("b", 1, &on_route(), "cors: {}") + &traffic("a", 1, &on_route(), "cors: {}");
    for semantics in BOTH {
        check_route(&(example("") + &both), semantics, &[("cors", &["a"])]);
    }
}

#[test]
fn weights_came_later() {
    let heavy = traffic("heavy", 2, &on_route(), "cors: {}")
        .replace("{name: heavy", "{name: heavy, annotations: {kgateway.dev/policy-weight: '7'}");
    let documents = example("") + &heavy + &traffic("old", 1, &on_route(), "cors: {}");
    check_route(&documents, DOCUMENT, &[("cors", &["old"])]);
    check_route(&documents, TODAY, &[("cors", &["heavy"])]);
}

#[test]
fn a_lower_policy_must_not_override_but_may_add_fields() {
    let older = traffic("older", 1, &on_route(), "cors: {}");
    let newer = traffic("newer", 2, &on_route(), "cors: {}, csrf: {}");
    for semantics in BOTH {
        check_route(&(example("") + &older + &newer), semantics, &[("cors", &["older"]), ("csrf", &["newer"])]);
    }
}

#[test]
fn a_policy_of_a_listener_goes_before_that_of_its_gateway() {
    let gateway = traffic("on-gateway", 1, &target("Gateway", "gateway"), "cors: {}, csrf: {}");
    let listeners = [section("Gateway", "gateway", "http"), section("Gateway", "gateway", "https")].join(", ");
    let documents = example("") + &gateway + &traffic("on-listener", 2, &listeners, "cors: {}");
    let merged = |semantics, port: u16| {
        ask(&documents, semantics, |network| {
            let gateway = edge(network);
            let host = gateway.hosts.iter().find(|host| gateway.listeners[host.listener].port == port).unwrap();
            let asked = network.way(traffic_policies(network), gateway, host, host.ways.first().unwrap());
            let answer = asked.effective();
            let row = |field: &upheld_engine::hierarchy::Field| {
                let (scope, _) = asked.place(answer.order[field.by[0]].place).unwrap();
                (field.name.to_string(), name(&asked, &answer, field.by[0]), scope)
            };
            answer.fields.iter().map(row).collect::<Vec<_>>()
        })
    };
    let rows = |holder, other| {
        vec![("cors".to_owned(), "on-listener".to_owned(), holder), ("csrf".to_owned(), "on-gateway".to_owned(), other)]
    };
    // With TLS, both are one list; without, the listener hides its gateway, unless the letter of the document holds.
    assert_eq!(merged(DOCUMENT, 443), rows(GATEWAY, GATEWAY));
    assert_eq!(merged(TODAY, 443), rows(GATEWAY, GATEWAY));
    assert_eq!(merged(DOCUMENT, 80), rows(HOST, HOST));
    assert_eq!(merged(TODAY, 80), rows(HOST, GATEWAY));
}

const EXTENSION: &str = "    filters: [{type: ExtensionRef, extensionRef: {group: gateway.kgateway.dev, kind: TrafficPolicy, name: extension}}]";

#[test]
fn references_of_rules_go_before_targets_and_rules_before_routes() {
    let documents = example(EXTENSION)
        + &traffic("route-old", 1, &on_route(), "cors: {}, csrf: {}, buffer: {}, retry: {}")
        + &traffic("route-new", 2, &on_route(), "retry: {}, timeouts: {}")
        + &traffic("rule-old", 3, &section("HTTPRoute", "example-route", "rule"), "cors: {}, csrf: {}")
        + &traffic("rule-new", 4, &section("HTTPRoute", "example-route", "rule"), "csrf: {}, buffer: {}")
        + &traffic("extension", 5, "", "cors: {}");
    for semantics in BOTH {
        let expected: [(&str, &[&str]); 5] = [
            ("buffer", &["rule-new"]),
            ("cors", &["extension"]),
            ("csrf", &["rule-old"]),
            ("retry", &["route-old"]),
            ("timeouts", &["route-new"]),
        ];
        check_route(&documents, semantics, &expected);
    }
}

#[test]
fn references_of_a_rule_keep_the_order_of_filters() {
    let filter = |name| {
        format!(
            "{{type: ExtensionRef, extensionRef: {{group: gateway.kgateway.dev, kind: TrafficPolicy, name: {name}}}}}"
        )
    };
    let documents = example(&format!("    filters: [{}, {}]", filter("newer"), filter("older")))
        + &traffic("older", 1, "", "cors: {}")
        + &traffic("newer", 2, "", "cors: {}");
    for semantics in BOTH {
        check_route(&documents, semantics, &[("cors", &["newer"])]);
    }
}

/// A route that delegates to another one, each with a policy.
fn delegated(priority: &str, parent: &str, child: &str) -> String {
    let annotation = if priority.is_empty() {
        String::new()
    } else {
        format!(", annotations: {{kgateway.dev/inherited-policy-priority: {priority}}}")
    };
    let to_child = "    backendRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: child}]";
    let at_parent = "{group: gateway.networking.k8s.io, kind: HTTPRoute, name: parent}";
    WORLD.to_owned()
        + &route("parent", AT_GATEWAY, &annotation, to_child)
        + &route("child", at_parent, "", TO_SERVICE)
        + &traffic("of-parent", 1, &target("HTTPRoute", "parent"), parent)
        + &traffic("of-child", 2, &target("HTTPRoute", "child"), child)
}

#[test]
fn policies_in_a_chain_of_delegation_are_ranked_by_whose_route_they_target() {
    for semantics in BOTH {
        let documents = delegated("", "cors: {}, csrf: {}", "cors: {}");
        check_route(&documents, semantics, &[("cors", &["of-child"]), ("csrf", &["of-parent"])]);
    }
}

// Policy application

#[test]
fn policies_of_a_kind_are_processed_together_and_kinds_are_independent() {
    let gateway = target("Gateway", "gateway");
    let documents = example("")
        + &traffic("traffic", 1, &gateway, "cors: {}")
        + &policy("ListenerPolicy", "listening", 2, &gateway, "default: {proxyProtocol: {}}");
    for semantics in BOTH {
        ask(&documents, semantics, |network| {
            let listener = &edge(network).listeners[0];
            let traffic = network.listener(traffic_policies(network), edge(network), listener);
            let listening = network.under(network.kind("ListenerPolicy").unwrap()).port(edge(network));
            let of = |asked: &Asked<'_>| origins(asked).into_iter().collect::<Vec<_>>();
            assert_eq!(of(&traffic), [("cors".to_owned(), vec!["traffic".to_owned()])]);
            assert_eq!(of(&listening), [("default.proxyProtocol".to_owned(), vec!["listening".to_owned()])]);
        });
    }
}

#[test]
fn kinds_that_do_not_merge_let_no_lower_policy_overwrite_a_higher_one() {
    let gateway = target("Gateway", "gateway");
    let documents = example("")
        + &policy("ListenerPolicy", "older", 1, &gateway, "default: {perConnectionBufferLimitBytes: 1}")
        + &policy(
            "ListenerPolicy",
            "newer",
            2,
            &gateway,
            "default: {perConnectionBufferLimitBytes: 2, proxyProtocol: {}}",
        );
    ask(&documents, DOCUMENT, |network| {
        let found = origins(&network.under(network.kind("ListenerPolicy").unwrap()).port(edge(network)));
        let expected = [("default.perConnectionBufferLimitBytes", "older"), ("default.proxyProtocol", "newer")];
        let expected: Origins = expected.map(|(field, name)| (field.to_owned(), vec![name.to_owned()])).into();
        assert_eq!(found, expected);
    });
}

#[test]
fn of_two_direct_responses_the_higher_one_answers_by_the_document_and_the_last_one_today() {
    let filter = |name| {
        format!(
            "{{type: ExtensionRef, extensionRef: {{group: gateway.kgateway.dev, kind: DirectResponse, name: {name}}}}}"
        )
    };
    let documents = example(&format!("    filters: [{}, {}]", filter("first"), filter("second")))
        + &policy("DirectResponse", "first", 1, "", "status: 401")
        + &policy("DirectResponse", "second", 2, "", "status: 402");
    for (semantics, winner) in [(DOCUMENT, "first"), (TODAY, "second")] {
        ask(&documents, semantics, |network| {
            let found = origins(&route_of(network, "DirectResponse"));
            assert_eq!(found["status"], [winner]);
        });
    }
}

// Plugin ordering

#[test]
fn what_a_rule_says_itself_is_applied_first() {
    let documents = example("    timeouts: {request: 5s}")
        + &traffic("policy", 1, &on_route(), "timeouts: {request: 9s, streamIdle: 1s}");
    for semantics in BOTH {
        ask(&documents, semantics, |network| {
            let host = edge(network).hosts.first().unwrap();
            let asked = network.way(traffic_policies(network), edge(network), host, host.ways.first().unwrap());
            let answer = asked.effective();
            let scope = |place: usize| asked.place(answer.order[place].place).unwrap().0;
            let request = answer.field("timeouts", Some("request")).unwrap();
            assert_eq!(request.value.as_ref().unwrap().as_text(), Some("5s"));
            assert_eq!(scope(request.by[0]), RULE);
            assert_eq!(scope(request.lost[0].by), ROUTE);
            assert_eq!(scope(answer.field("timeouts", Some("streamIdle")).unwrap().by[0]), ROUTE);
        });
    }
}

// Policy merging

#[test]
fn policies_merge_within_a_level_and_then_across_levels() {
    for semantics in BOTH {
        // The newer policy of the child loses to the older one, and both go before the parent.
        let more = traffic("of-child-too", 3, &target("HTTPRoute", "child"), "cors: {}, csrf: {}");
        let documents = delegated("", "cors: {}, csrf: {}, buffer: {}", "cors: {}") + &more;
        let expected: [(&str, &[&str]); 3] =
            [("buffer", &["of-parent"]), ("cors", &["of-child"]), ("csrf", &["of-child-too"])];
        check_route(&documents, semantics, &expected);
    }
}

/// The value of the transformed header, or all of them in the order in which they are set.
fn headers(documents: &str, semantics: &str) -> Vec<String> {
    let value = folded(documents, semantics).get("transformation").unwrap().value.clone();
    let set = value.get("request").unwrap().get("set").unwrap().clone();
    set.items().iter().map(|item| item.get("value").unwrap().as_text().unwrap().to_owned()).collect()
}

#[test]
fn the_annotation_of_the_parent_says_who_wins_and_how_deep() {
    let say = |priority: &str| delegated(priority, &set_header("parent"), &set_header("child"));
    for semantics in BOTH {
        assert_eq!(headers(&say(""), semantics), ["child"]);
        assert_eq!(headers(&say("ShallowMergePreferChild"), semantics), ["child"]);
        assert_eq!(headers(&say("ShallowMergePreferParent"), semantics), ["parent"]);
        // Operations are applied in order: the last one wins.
        assert_eq!(headers(&say("DeepMergePreferChild"), semantics), ["parent", "child"]);
        assert_eq!(headers(&say("DeepMergePreferParent"), semantics), ["child", "parent"]);
        assert_eq!(headers(&say("SomethingElse"), semantics), ["child"]);
    }
}

#[test]
fn whoever_is_preferred_wins_every_field_by_the_document() {
    let winner = |priority: &str, semantics| {
        let documents = delegated(priority, "cors: {allowOrigins: [parent]}", "cors: {allowOrigins: [child]}");
        of_route(&documents, semantics)["cors"].join("")
    };
    for (priority, by_document, today) in [
        ("ShallowMergePreferChild", "of-child", "of-child"),
        ("ShallowMergePreferParent", "of-parent", "of-parent"),
        ("DeepMergePreferChild", "of-child", "of-child"),
        // Today a field that cannot be combined goes to the child in any deep merge.
        ("DeepMergePreferParent", "of-parent", "of-child"),
    ] {
        assert_eq!(winner(priority, DOCUMENT), by_document, "{priority}");
        assert_eq!(winner(priority, TODAY), today, "{priority}");
    }
}

#[test]
fn shallow_merging_looks_at_top_level_fields_only() {
    let older = traffic("older", 1, &on_route(), "timeouts: {request: 1s}");
    let newer = traffic("newer", 2, &on_route(), "timeouts: {streamIdle: 2s}");
    for semantics in BOTH {
        ask(&(example("") + &older + &newer), semantics, |network| {
            let asked = route_of(network, "TrafficPolicy");
            let answer = asked.effective();
            let joined = answer.in_scope(ROUTE).unwrap().get("timeouts").unwrap();
            assert_eq!(joined.value.entries().len(), 1);
            let beaten: Vec<String> = joined.over.iter().map(|beaten| name(&asked, &answer, beaten.by)).collect();
            assert_eq!(beaten, ["newer"]);
        });
    }
}

// The example

fn three_policies() -> String {
    let extension = EXTENSION.replace("name: extension", "name: extensionref-policy");
    let limit = "rateLimit: {local: {tokenBucket: {maxTokens: 9, fillInterval: 3s}}}";
    let with = section("HTTPRoute", "example-route", "rule");
    example(&extension)
        + &traffic("policy-without-section-name", 1, &on_route(), &format!("{}, {limit}", set_header("without")))
        + &traffic("policy-with-section-name", 2, &with, &format!("cors: {{}}, {}", set_header("with")))
        + &traffic("extensionref-policy", 3, "", "cors: {allowOrigins: [extension]}")
}

#[test]
fn example_cors_comes_from_the_extensionref_policy() {
    for semantics in BOTH {
        assert_eq!(of_route(&three_policies(), semantics)["cors"], ["extensionref-policy"]);
    }
}

#[test]
fn example_transformation_comes_from_the_policy_with_section_name() {
    for semantics in BOTH {
        assert_eq!(of_route(&three_policies(), semantics)["transformation"], ["policy-with-section-name"]);
        assert_eq!(headers(&three_policies(), semantics), ["with"]);
    }
}

#[test]
fn example_rate_limit_comes_from_the_policy_without_section_name() {
    for semantics in BOTH {
        assert_eq!(of_route(&three_policies(), semantics)["rateLimit.local"], ["policy-without-section-name"]);
    }
}

#[test]
fn example_status_says_that_all_three_are_merged() {
    ask(&three_policies(), TODAY, |network| {
        let statuses = network.kgateway_statuses();
        for status in &statuses {
            let reasons: Vec<&str> = status.ancestors[0].conditions.iter().map(|said| said.reason.as_str()).collect();
            assert_eq!(reasons, ["Valid", "Merged"]);
        }
        let policy = |id| network.snapshot.text(network.snapshot.policy(id).unwrap().name);
        let lost = statuses.iter().find(|status| policy(status.policy) == "policy-without-section-name").unwrap();
        let rows: Vec<(&str, usize, usize)> =
            lost.survival.iter().map(|row| (row.field.as_str(), row.survives, row.targets)).collect();
        // The route is reached through two listeners.
        assert_eq!(rows, [("rateLimit.local", 2, 2), ("transformation", 0, 2)]);
    });
}

#[test]
fn a_broken_policy_takes_its_route_down_and_is_named() {
    let documents = example("")
        + &traffic("broken", 1, &on_route(), "extAuth: {extensionRef: {name: nobody}}")
        + &traffic("fine", 2, &on_route(), "cors: {}");
    ask(&documents, TODAY, |network| {
        let message =
            "gateway.kgateway.dev/TrafficPolicy/default/broken: extauth: default/nobody: gateway extension not found";
        let programmed = network.programmed();
        let outcomes: Vec<&Outcome> = programmed.ways().map(|(_, way)| &way.outcome).collect();
        assert_eq!(outcomes, [&Outcome::Replaced(message.to_owned()), &Outcome::Replaced(message.to_owned())]);
        let host = edge(network).hosts.first().unwrap();
        let asked = network.way(traffic_policies(network), edge(network), host, way(network));
        assert!(asked.effective().fields.is_empty());
        let statuses = network.kgateway_statuses();
        let accepted: Vec<bool> = statuses.iter().map(|status| status.ancestors[0].conditions[0].status).collect();
        assert_eq!(accepted, [false, true]);
    });
}
