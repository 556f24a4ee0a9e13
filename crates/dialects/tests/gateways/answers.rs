//! Answers that hold in the wild: rules about single questions, each with its smallest example.

use serde_json::json;
use upheld_dialects::dialect::dialects;
use upheld_model::State;
use upheld_report::Verdict;

use crate::asking::{CURRENT, PROPOSED, answer, findings, held, notes, overridden, read, refusal, report};

const EDGE: &str = "
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, namespace: shop}
spec:
  gatewayClassName: kgateway
  listeners:
  - {name: http, protocol: HTTP, port: 80}
  - {name: https, protocol: HTTPS, port: 443, tls: {certificateRefs: [{name: cert}]}}
---
apiVersion: v1
kind: Service
metadata: {name: cart, namespace: shop}
spec: {ports: [{name: web, port: 80}]}
---
apiVersion: v1
kind: Service
metadata: {name: other, namespace: shop}
spec: {ports: [{name: web, port: 80}]}
---
apiVersion: gateway.kgateway.dev/v1alpha1
kind: DirectResponse
metadata: {name: first, namespace: shop}
spec: {status: 418}
---
apiVersion: gateway.kgateway.dev/v1alpha1
kind: DirectResponse
metadata: {name: second, namespace: shop}
spec: {status: 419}
";

/// A route with one rule.
fn route(rule: &str) -> String {
    format!(
        "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {{name: cart, namespace: shop}}\nspec:\n  \
         parentRefs: [{{name: edge, sectionName: http}}]\n  hostnames: [shop.example]\n  rules:\n  - {{{rule}}}\n"
    )
}

const BACKEND: &str = "backendRefs: [{name: cart, port: 80}]";

fn policy(kind: &str, metadata: &str, target: &str, says: &str) -> String {
    format!(
        "apiVersion: gateway.kgateway.dev/v1alpha1\nkind: {kind}\nmetadata: {{namespace: shop, {metadata}}}\nspec:\n  \
         targetRefs: [{{group: gateway.networking.k8s.io, {target}}}]\n  {says}\n"
    )
}

const TO_ROUTE: &str = "kind: HTTPRoute, name: cart";

fn documents(parts: &[&str]) -> String {
    [EDGE].iter().chain(parts).copied().collect::<Vec<_>>().join("\n---\n")
}

fn filter(kind: &str, name: &str) -> String {
    format!("{{type: ExtensionRef, extensionRef: {{group: gateway.kgateway.dev, kind: {kind}, name: {name}}}}}")
}

#[test]
fn a_direct_response_beside_another_answer_is_an_error_for_every_kind() {
    let first = filter("DirectResponse", "first");
    let rules = [
        format!("filters: [{first}, {}]", filter("DirectResponse", "second")),
        format!("filters: [{first}], {BACKEND}"),
        format!("filters: [{{type: RequestRedirect, requestRedirect: {{scheme: https}}}}, {first}]"),
    ];
    let others = ["the DirectResponse second", "/Service/shop/cart", "a RequestRedirect"];
    for (rule, other) in rules.iter().zip(others) {
        for edition in [CURRENT, PROPOSED] {
            let text = documents(&[&route(rule), &policy("TrafficPolicy", "name: p", TO_ROUTE, "csrf: {}")]);
            for kind in ["DirectResponse", "TrafficPolicy"] {
                let found = report(edition, &text, "httproute/shop/cart", kind);
                assert_eq!(found.verdict, Verdict::Error, "{rule}");
                let why = format!("a DirectResponse cannot be applied to a rule that has another action: {other}");
                let headline = format!("HTTPRoute shop/cart rule 0 answers with an error: {why}.");
                assert_eq!(found.headline.text, headline);
                assert!(found.fields.is_empty());
            }
        }
    }
}

/// A route with a name and rules, at the gateway or not.
fn named(metadata: &str, parents: &str, rules: &str) -> String {
    format!(
        "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {{namespace: shop, {metadata}}}\n\
         spec: {{{parents}rules: [{rules}]}}\n"
    )
}

const AT_EDGE: &str = "parentRefs: [{name: edge, sectionName: http}], ";

#[test]
fn a_direct_response_of_a_rule_that_delegates_is_asked_for_in_the_rules_it_leads_to() {
    let rule = |path: &str, rest: &str| format!("{{matches: [{{path: {{type: PathPrefix, value: {path}}}}}], {rest}}}");
    let to_child = "backendRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: child}]";
    let (first, second) = (filter("DirectResponse", "first"), filter("DirectResponse", "second"));
    let root = |filters: &str| named("name: root", AT_EDGE, &rule("/a", &format!("filters: [{filters}], {to_child}")));
    let rules = [
        rule("/a/backend", BACKEND),
        rule("/a/answer", &format!("filters: [{second}]")),
        rule("/a/nothing", "filters: []"),
    ];
    let child = named("name: child", "", &rules.join(", "));
    let shapes = policy("TrafficPolicy", "name: p", "kind: HTTPRoute, name: child", "csrf: {}");
    let headlines = |filters: &str| {
        let asked = json!({"what": "httproute/shop/child", "kind": "TrafficPolicy"});
        let found = answer(CURRENT, &documents(&[&root(filters), &child, &shapes]), asked).expect("is answered");
        let mut reports = found.reports;
        reports.sort_by_key(|report| report.about.what.clone());
        reports.into_iter().map(|report| (report.verdict == Verdict::Error, report.headline.text)).collect::<Vec<_>>()
    };
    let without = headlines("");
    assert_eq!(without.iter().map(|(error, _)| *error).collect::<Vec<_>>(), [false, false, true]);
    let with = headlines(&first);
    assert_eq!(with.iter().map(|(error, _)| *error).collect::<Vec<_>>(), [true, true, false]);
    let why = "cannot be applied to a rule that has another action";
    assert!(with[0].1.contains(&format!("the DirectResponse first of a parent {why}: /Service/shop/cart")), "{with:?}");
    assert!(with[1].1.contains(&format!("a DirectResponse {why}: the DirectResponse first of a parent")), "{with:?}");
    let asked = json!({"what": "httproute/shop/child#rule2", "kind": "DirectResponse"});
    let found = answer(CURRENT, &documents(&[&root(&first), &child]), asked).expect("is answered");
    assert_eq!(held(&found.reports[0], "status").expect("is set"), (json!(418), "shop/first".to_owned()));
}

#[test]
fn a_route_that_is_not_applied_yet_is_the_newest() {
    let live = named("name: z-live, creationTimestamp: '2025-01-01T00:00:00Z'", AT_EDGE, &format!("{{{BACKEND}}}"));
    let planned = named("name: a-planned", AT_EDGE, &format!("{{{BACKEND}}}"));
    let first = |routes: &[&str]| {
        let asked = json!({"host": "shop.example", "path": "/", "kind": "TrafficPolicy"});
        let found = answer(CURRENT, &documents(routes), asked).expect("is answered");
        found.reports[0].about.what.clone()
    };
    assert_eq!(first(&[&live, &planned]), "HTTPRoute shop/z-live rule 0");
    assert_eq!(first(&[&planned]), "HTTPRoute shop/a-planned rule 0");
}

#[test]
fn headers_of_denied_requests_add_up_whoever_is_preferred() {
    let to_leaf = "{backendRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: leaf}]}";
    let leaf = named("name: leaf", "", &format!("{{matches: [{{path: {{type: PathPrefix, value: /}}}}], {BACKEND}}}"));
    let acl = |metadata: &str, target: &str, response: &str| {
        let target = format!("kind: HTTPRoute, name: {target}");
        policy("TrafficPolicy", metadata, &target, &format!("acl: {{defaultAction: deny{response}}}"))
    };
    let merged = |preferred: &str, parent: &str, child: &str| {
        let priority = format!("annotations: {{kgateway.dev/inherited-policy-priority: DeepMergePrefer{preferred}}}");
        let root = named(&format!("name: root, {priority}"), AT_EDGE, to_leaf);
        let (above, below) = (acl("name: p", "root", parent), acl("name: c", "leaf", child));
        let text = documents(&[&root, &leaf, &above, &below]);
        let found = report(CURRENT, &text, "httproute/shop/leaf", "TrafficPolicy");
        held(&found, "acl").expect("is set").0["denyResponse"].clone()
    };
    let parent = ", denyResponse: {headers: [{name: x-p, value: '1'}], blockedByHeaderName: x-by}";
    let child = ", denyResponse: {headers: [{name: x-c, value: '2'}]}";
    let (p, c) = (json!({"name": "x-p", "value": "1"}), json!({"name": "x-c", "value": "2"}));
    assert_eq!(merged("Parent", parent, child), json!({"headers": [p, c], "blockedByHeaderName": "x-by"}));
    assert_eq!(merged("Child", parent, child), json!({"headers": [c, p], "blockedByHeaderName": "x-by"}));
    // Only one side says something of the response, preferred or not.
    for preferred in ["Parent", "Child"] {
        assert_eq!(merged(preferred, "", child), json!({"headers": [c]}));
        assert_eq!(merged(preferred, parent, ""), json!({"headers": [p], "blockedByHeaderName": "x-by"}));
    }
    // A status is that of the preferred side, and none if that side has a response without one.
    let status = ", denyResponse: {statusCode: 451}";
    assert_eq!(merged("Parent", status, child), json!({"statusCode": 451, "headers": [c]}));
    assert_eq!(merged("Child", status, child), json!({"headers": [c]}));
}

#[test]
fn a_host_that_a_rule_writes_overrides_automatic_rewriting() {
    let rule = format!("filters: [{{type: URLRewrite, urlRewrite: {{hostname: own.example}}}}], {BACKEND}");
    let auto = policy("TrafficPolicy", "name: auto", TO_ROUTE, "autoHostRewrite: true");
    for edition in [CURRENT, PROPOSED] {
        let found = report(edition, &documents(&[&route(&rule), &auto]), "httproute/shop/cart", "TrafficPolicy");
        assert_eq!(held(&found, "urlRewrite.hostname").unwrap().0, "own.example");
        assert_eq!(held(&found, "autoHostRewrite"), None);
        let (value, why) = overridden(&found, "urlRewrite.hostname", "shop/auto").expect("is overridden");
        assert_eq!((value, why), (&json!(true), "a rule's own setting goes before any policy"));
        let alone = report(edition, &documents(&[&route(BACKEND), &auto]), "httproute/shop/cart", "TrafficPolicy");
        assert_eq!(held(&alone, "autoHostRewrite").unwrap().0, true);
    }
}

#[test]
fn a_child_that_disables_does_not_win_over_a_preferred_parent_in_the_proposal() {
    let root = "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: root, namespace: shop, \
                annotations: {kgateway.dev/inherited-policy-priority: DeepMergePreferParent}}\nspec:\n  parentRefs: [{name: edge}]\n  \
                hostnames: [shop.example]\n  rules:\n  - backendRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: leaf}]\n\
                ---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: leaf, namespace: shop}\nspec:\n  rules:\n  \
                - matches: [{path: {type: PathPrefix, value: /leaf}}]\n    backendRefs: [{name: cart, port: 80}]\n\
                ---\napiVersion: gateway.kgateway.dev/v1alpha1\nkind: GatewayExtension\nmetadata: {name: e, namespace: shop}\nspec:\n  ";
    for field in ["extAuth", "extProc"] {
        let root = format!("{root}{field}: {{grpcService: {{backendRef: {{name: cart, port: 80}}}}}}\n");
        let child =
            policy("TrafficPolicy", "name: c", "kind: HTTPRoute, name: leaf", &format!("{field}: {{disable: {{}}}}"));
        let says = format!("{field}: {{extensionRef: {{name: e}}}}");
        let parent = policy("TrafficPolicy", "name: p", "kind: HTTPRoute, name: root", &says);
        let text = documents(&[&root, &child, &parent]);
        let proposed = report(PROPOSED, &text, "httproute/shop/leaf", "TrafficPolicy");
        assert_eq!(held(&proposed, &format!("{field}.shop/e")).expect("the parent's").1, "shop/p");
        let current = report(CURRENT, &text, "httproute/shop/leaf", "TrafficPolicy");
        assert_eq!(held(&current, &format!("{field}.disable")).expect("is disabled").1, "shop/c");
    }
}

#[test]
fn settings_of_connections_on_one_plain_listener_have_no_effect() {
    let targets = |section: &str| format!("kind: Gateway, name: edge, sectionName: {section}");
    let says = "default: {httpSettings: {useRemoteAddress: true}}";
    let plain = policy("ListenerPolicy", "name: plain", &targets("http"), says);
    let text = documents(&[&route(BACKEND), &plain]);
    let answer = answer(CURRENT, &text, json!({"what": "gateway/shop/edge#http", "kind": "ListenerPolicy"})).unwrap();
    assert!(answer.reports.iter().all(|report| report.fields.is_empty()));
    let candidates: Vec<_> = answer.reports.iter().flat_map(|report| &report.candidates).collect();
    assert!(candidates.iter().any(|one| one.state == State::Off && one.reason.code == "off.plain-listener"));
    let secure = policy("ListenerPolicy", "name: secure", &targets("https"), says);
    let found = report(CURRENT, &documents(&[&secure]), "gateway/shop/edge#https", "ListenerPolicy");
    assert_eq!(held(&found, "default.httpSettings.useRemoteAddress").unwrap().0, true);
}

#[test]
fn fields_are_asked_for_by_the_names_that_documents_have() {
    let says = "acl: {defaultAction: deny, rules: [{action: allow, cidrs: [10.0.0.0/8]}]}";
    let text = documents(&[&route(BACKEND), &policy("TrafficPolicy", "name: p", TO_ROUTE, says)]);
    let asked = |field: &str| {
        let question = json!({"what": "httproute/shop/cart", "kind": "TrafficPolicy", "field": field});
        let answer = answer(CURRENT, &text, question).expect("is answered");
        answer.reports[0].fields.first().map(|field| (field.path.clone(), field.value.clone().unwrap()))
    };
    assert_eq!(asked("acl.defaultAction"), Some(("acl.defaultAction".to_owned(), json!("deny"))));
    assert_eq!(asked("acl.rules[0].cidrs"), Some(("acl.rules[0].cidrs".to_owned(), json!(["10.0.0.0/8"]))));
    assert_eq!(asked("acl").expect("is set"), asked("httpACL").expect("is known by both names"));
    assert_eq!(asked("acl.nothing"), None);
}

#[test]
fn a_policy_without_a_creation_time_is_the_newest_and_that_is_said() {
    let dated = |name: &str, day: &str| format!("name: {name}, creationTimestamp: '{day}T00:00:00Z'");
    let ageless = policy("TrafficPolicy", "name: a-ageless", TO_ROUTE, "csrf: {percentageEnabled: 1}");
    let live = policy("TrafficPolicy", &dated("live", "2025-01-01"), TO_ROUTE, "csrf: {percentageEnabled: 2}");
    let text = documents(&[&route(BACKEND), &ageless, &live]);
    let found = report(CURRENT, &text, "httproute/shop/cart", "TrafficPolicy");
    assert_eq!(held(&found, "csrf").unwrap().1, "shop/live");
    let (_, why) = overridden(&found, "csrf", "shop/a-ageless").expect("is overridden");
    assert_eq!(why, "newer (no creation time against 2025-01-01T00:00:00Z)");
    assert_eq!(notes(&found, "UP035"), ["shop/a-ageless has no creation time: it counts as newer than all others"]);
}

#[test]
fn policies_of_one_of_several_backends_override_the_route_and_those_of_the_only_one_give_way() {
    let on_backend = "apiVersion: gateway.kgateway.dev/v1alpha1\nkind: TrafficPolicy\nmetadata: {name: near, namespace: shop}\n\
                      spec: {csrf: {percentageEnabled: 1}}\n";
    let whole = policy("TrafficPolicy", "name: whole", TO_ROUTE, "csrf: {percentageEnabled: 2}");
    let near = format!("{{name: cart, port: 80, filters: [{}]}}", filter("TrafficPolicy", "near"));
    let asked = |backends: &str| {
        let text = documents(&[&route(&format!("backendRefs: [{backends}]")), on_backend, &whole]);
        let question = json!({"what": "httproute/shop/cart", "kind": "TrafficPolicy"});
        let reports = answer(CURRENT, &text, question).expect("is answered").reports;
        reports.iter().map(|one| (one.about.what.clone(), held(one, "csrf").unwrap().1)).collect::<Vec<_>>()
    };
    let rule = || "HTTPRoute shop/cart rule 0".to_owned();
    let to_cart = || format!("{} to Service shop/cart:80", rule());
    let [whole, near_wins] = ["shop/whole", "shop/near"].map(str::to_owned);
    let several = asked(&format!("{near}, {{name: other, port: 80}}"));
    assert_eq!(several, [(rule(), whole.clone()), (to_cart(), near_wins)]);
    assert_eq!(asked(&near), [(rule(), whole.clone()), (to_cart(), whole)]);
}

#[test]
fn headers_that_a_reference_to_a_backend_sets_are_shown() {
    let headers = "{name: cart, port: 80, filters: [{type: RequestHeaderModifier, requestHeaderModifier: {set: [{name: x, value: b}]}}]}";
    let text = documents(&[&route(&format!("backendRefs: [{headers}]"))]);
    let question = json!({"what": "httproute/shop/cart", "kind": "TrafficPolicy"});
    let reports = answer(CURRENT, &text, question).expect("is answered").reports;
    let found = reports.iter().find(|one| one.about.what.ends_with("to Service shop/cart:80")).expect("a report");
    assert_eq!(held(found, "requestHeaderModifier").unwrap().0, json!([{"set": [{"name": "x", "value": "b"}]}]));
}

#[test]
fn what_is_about_passing_on_is_shown_as_not_applied_where_nothing_is_passed_on() {
    let rule = "filters: [{type: RequestRedirect, requestRedirect: {scheme: https}}]";
    let slow = policy("TrafficPolicy", "name: slow", TO_ROUTE, "timeouts: {request: 60s}");
    let found = report(CURRENT, &documents(&[&route(rule), &slow]), "httproute/shop/cart", "TrafficPolicy");
    assert_eq!(held(&found, "timeouts.request"), None);
    let (value, why) = overridden(&found, "timeouts.request", "shop/slow").expect("is shown");
    assert_eq!((value, why), (&json!("60s"), "not applied: requests are not passed on here"));
}

#[test]
fn rules_without_a_name_are_asked_for_as_tables_print_them() {
    let text = documents(&[&route(BACKEND), &policy("TrafficPolicy", "name: p", TO_ROUTE, "csrf: {}")]);
    for section in ["0", "rule0", "rule 0", "rule-0"] {
        let found = report(CURRENT, &text, &format!("httproute/shop/cart#{section}"), "TrafficPolicy");
        assert_eq!(found.about.what, "HTTPRoute shop/cart rule 0", "{section}");
    }
    let refused = refusal(&text, json!({"what": "httproute/shop/cart#rule7"}));
    assert_eq!(refused, "HTTPRoute shop/cart has no rule `rule7`; rules: 0");
}

#[test]
fn services_are_asked_for_by_their_own_word() {
    let says = "connectTimeout: 1s";
    let slow = policy("BackendConfigPolicy", "name: slow", "kind: Service, name: cart", says)
        .replace("group: gateway.networking.k8s.io", "group: ''");
    let found = report(CURRENT, &documents(&[&slow]), "service/shop/cart", "BackendConfigPolicy");
    assert_eq!(held(&found, "connectTimeout").unwrap().0, "1s");
}

#[test]
fn policies_of_a_port_are_found_by_its_number_and_from_the_route() {
    let trust = "apiVersion: gateway.networking.k8s.io/v1\nkind: BackendTLSPolicy\nmetadata: {name: trust, namespace: shop}\nspec:\n  \
                 targetRefs: [{group: '', kind: Service, name: cart, sectionName: web}]\n  \
                 validation: {hostname: x, wellKnownCACertificates: System}\n";
    let text = documents(&[&route(BACKEND), trust]);
    for what in ["service/shop/cart#80", "service/shop/cart#web"] {
        let found = report(CURRENT, &text, what, "BackendTLSPolicy");
        assert_eq!(held(&found, "tls").expect("is set").1, "shop/trust", "{what}");
    }
    let answer = answer(CURRENT, &text, json!({"what": "httproute/shop/cart"})).expect("is answered");
    let found = answer.reports.iter().find(|one| one.kind == "BackendTLSPolicy").expect("is told with the route");
    assert_eq!(found.about.what, "Service shop/cart port web");
}

#[test]
fn candidates_have_their_order_form_weight_and_age() {
    let heavy =
        "name: heavy, creationTimestamp: '2025-02-01T00:00:00Z', annotations: {kgateway.dev/policy-weight: '5'}";
    let text = documents(&[
        &route(BACKEND),
        &policy("TrafficPolicy", "name: light, creationTimestamp: '2025-01-01T00:00:00Z'", TO_ROUTE, "csrf: {}"),
        &policy("TrafficPolicy", heavy, TO_ROUTE, "csrf: {}"),
    ]);
    let found = report(CURRENT, &text, "httproute/shop/cart", "TrafficPolicy");
    let facts: Vec<String> = found
        .candidates
        .iter()
        .map(|one| {
            let facts = one.facts.iter().map(|fact| format!("{}={}", fact.name, fact.value));
            format!("{} {}", one.policy, facts.collect::<Vec<_>>().join(" "))
        })
        .collect();
    let wanted = [
        "shop/heavy order=1 attached=\"targetRef HTTPRoute\" weight=5 created=\"2025-02-01T00:00:00Z\"",
        "shop/light order=2 attached=\"targetRef HTTPRoute\" created=\"2025-01-01T00:00:00Z\"",
    ];
    assert_eq!(facts, wanted);
}

#[test]
fn fields_that_rest_on_names_alone_are_ties() {
    let same = |name: &str| policy("TrafficPolicy", &format!("name: {name}"), TO_ROUTE, "csrf: {}");
    let text = documents(&[&route(BACKEND), &same("a"), &same("b")]);
    let found = report(CURRENT, &text, "httproute/shop/cart", "TrafficPolicy");
    assert_eq!(notes(&found, "UP201"), ["a tie: 1 field rests on the order of names alone"]);
    assert!(found.is_tie());
    assert!(found.headline.text.ends_with("1 rests on the order of names alone."), "{}", found.headline.text);
    assert_eq!(found.headline.again().as_deref(), Some(found.headline.text.as_str()));
}

#[test]
fn of_two_timeouts_the_one_that_counts_is_said() {
    let text = documents(&[&route(&format!("timeouts: {{request: 10s, backendRequest: 3s}}, {BACKEND}"))]);
    let found = report(CURRENT, &text, "httproute/shop/cart", "TrafficPolicy");
    assert_eq!(held(&found, "timeouts.request").unwrap().0, "3s");
    assert_eq!(notes(&found, "UP030").len(), 1);
}

#[test]
fn rules_that_nearly_take_a_request_say_what_they_need() {
    let matches =
        "matches: [{path: {type: PathPrefix, value: /cart}, method: POST, headers: [{name: x-org, value: acme}]}]";
    let text = documents(&[&route(&format!("name: buy, {matches}, {BACKEND}"))]);
    let asked = |question| refusal(&text, question);
    let needs = "no route takes POST shop.example/cart; HTTPRoute shop/cart buy needs header x-org=acme";
    assert_eq!(asked(json!({"host": "shop.example", "path": "/cart", "method": "POST"})), needs);
    let needs = "no route takes GET shop.example/; HTTPRoute shop/cart buy needs path PathPrefix /cart and method POST and header \
                 x-org=acme";
    assert_eq!(asked(json!({"host": "shop.example"})), needs);
    assert_eq!(asked(json!({"host": "other.example"})), "no route takes GET other.example/; hosts: shop.example");
}

#[test]
fn why_a_policy_has_no_effect_is_told_apart() {
    let warned = |what: &str, target: &str| {
        let text = documents(&[
            &route(&format!("name: all, {BACKEND}")),
            &policy("TrafficPolicy", "name: p", target, "csrf: {}"),
        ]);
        let answer = answer(CURRENT, &text, json!({"what": what})).expect("is answered");
        let told =
            answer.warnings.iter().find(|one| one.message.contains("TrafficPolicy shop/p")).expect("is warned of");
        format!("{}; {}", told.message, told.help.join("; "))
    };
    let why = "TrafficPolicy shop/p has no effect: ";
    assert_eq!(
        warned("httproute/shop/cart", "kind: HTTPRoute, name: crat"),
        format!("{why}HTTPRoute shop/crat was not read; did you mean `cart`?")
    );
    assert_eq!(
        warned("httproute/shop/cart", "kind: HTTPRoute, name: cart, sectionName: al"),
        format!("{why}HTTPRoute shop/cart has no section `al`; did you mean `all`?")
    );
    // What is not like anything that was read may exist all the same.
    let why = "TrafficPolicy shop/p has an effect only if its target exists: ";
    assert_eq!(
        warned("gateway/shop/faraway", "kind: Gateway, name: faraway"),
        format!("{why}Gateway shop/faraway was not read; ")
    );
}

#[test]
fn policies_of_services_that_extensions_use_have_an_effect() {
    let trust = "apiVersion: gateway.networking.k8s.io/v1\nkind: BackendTLSPolicy\nmetadata: {name: trust, namespace: shop}\nspec:\n  \
                 targetRefs: [{group: '', kind: Service, name: other}]\n  validation: {hostname: x, wellKnownCACertificates: System}\n";
    let text = documents(&[&route(BACKEND), trust]);
    let answer = answer(CURRENT, &text, json!({"what": "httproute/shop/cart"})).expect("is answered");
    assert!(answer.warnings.iter().all(|one| !one.message.contains("trust")), "{:?}", answer.warnings);
}

#[test]
fn p4_an_answer_tells_what_is_odd_about_what_it_is_about_and_findings_tell_all() {
    let lost = policy("TrafficPolicy", "name: lost", "kind: HTTPRoute, name: crat", "csrf: {}");
    let away = policy("TrafficPolicy", "name: away", "kind: HTTPRoute, name: nowhere", "csrf: {}");
    let own = policy("TrafficPolicy", "name: own", TO_ROUTE, "csrf: {}");
    let text = documents(&[&route("backendRefs: [{name: crat, port: 80}]"), &own, &lost, &away]);
    let loaded = read(CURRENT, &text);
    let answer = answer(CURRENT, &text, json!({"what": "httproute/shop/cart"})).expect("is answered");
    // What is nearly its name is about it, too; it stands in another document.
    let told: Vec<&str> = answer.warnings.iter().map(|one| one.message.as_str()).collect();
    let lost = "TrafficPolicy shop/lost has no effect: HTTPRoute shop/crat was not read";
    assert_eq!(told, ["HTTPRoute shop/cart: Service \"shop/crat\" not found", lost]);
    let (concerning, others) = answer.concerning(loaded.snapshot.files(), &answer.warnings);
    assert_eq!((concerning.len(), others), (1, 1));
    let found = findings(&loaded);
    assert!(found.iter().any(|one| one == lost), "{found:?}");
    assert!(found.iter().any(|one| one.starts_with("TrafficPolicy shop/away has an effect only if")), "{found:?}");
}

#[test]
fn gateways_listeners_and_routes_have_a_status() {
    let text = documents(&[&route(BACKEND)]);
    let loaded = read(CURRENT, &text);
    let statuses: Vec<_> = dialects().flat_map(|dialect| dialect.object_statuses(&loaded.snapshot)).collect();
    let edge = statuses.iter().find(|one| one.object.kind == "Gateway").expect("is reported").resource();
    assert_eq!(edge["apiVersion"], "gateway.networking.k8s.io/v1");
    assert_eq!(edge["metadata"], json!({"name": "edge", "namespace": "shop"}));
    assert_eq!(edge["status"]["conditions"][1]["type"], "Programmed");
    let [http, https] = [&edge["status"]["listeners"][0], &edge["status"]["listeners"][1]];
    assert_eq!((&http["attachedRoutes"], &https["attachedRoutes"]), (&json!(1), &json!(0)));
    // A certificate that was not read is unknown, not missing.
    assert_eq!(https["conditions"][3]["status"], "Unknown");
    let cart = statuses.iter().find(|one| one.object.kind == "HTTPRoute").expect("is reported").resource();
    let parent = json!({"group": "gateway.networking.k8s.io", "kind": "Gateway", "namespace": "shop", "name": "edge",
        "sectionName": "http"});
    assert_eq!(cart["status"]["parents"][0]["parentRef"], parent);
    assert_eq!(cart["status"]["parents"][0]["conditions"][0]["status"], "True");
}

/// G13: how requests are passed on is a matter of the rule; a policy at one of its backends sets it in vain.
#[test]
fn g13_a_policy_at_a_backend_reference_does_not_say_how_requests_are_passed_on() {
    let world = |others: &str| {
        format!(
            "apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {{name: gw, namespace: infra}}
spec: {{gatewayClassName: kgateway, listeners: [{{name: http, protocol: HTTP, port: 80}}]}}
---
apiVersion: v1
kind: Service
metadata: {{name: svc, namespace: infra}}
spec: {{ports: [{{port: 80}}]}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {{name: r, namespace: infra}}
spec:
  parentRefs: [{{name: gw}}]
  rules:
  - name: all
    backendRefs:
    - name: svc
      port: 80
      filters:
      - {{type: ExtensionRef, extensionRef: {{group: gateway.kgateway.dev, kind: TrafficPolicy, name: there}}}}
    {others}
---
apiVersion: gateway.kgateway.dev/v1alpha1
kind: TrafficPolicy
metadata: {{name: there, namespace: infra}}
spec: {{csrf: {{percentageEnabled: 7}}, timeouts: {{request: 1s}}, retry: {{attempts: 2}}}}
---
apiVersion: gateway.kgateway.dev/v1alpha1
kind: TrafficPolicy
metadata: {{name: whole, namespace: infra}}
spec:
  targetRefs: [{{group: gateway.networking.k8s.io, kind: HTTPRoute, name: r}}]
  timeouts: {{request: 5s}}
"
        )
    };
    for others in ["", "- {name: svc, port: 80, weight: 9}"] {
        let answer = answer(CURRENT, &world(others), json!({"what": "httproute/infra/r#all", "kind": "TrafficPolicy"}));
        let reports = answer.expect("is answered").reports;
        let there = reports.iter().find(|one| one.about.what.contains(" to Service")).expect("the backend");
        assert_eq!(held(there, "csrf").map(|(_, policy)| policy), Some("infra/there".to_owned()), "{there:#?}");
        assert_eq!(
            held(there, "timeouts.request").map(|(_, policy)| policy),
            Some("infra/whole".to_owned()),
            "{there:#?}"
        );
        assert_eq!(held(there, "retry"), None);
        let retry = there.fields.iter().find(|field| field.path.starts_with("retry")).expect("is shown");
        let why: Vec<&str> = retry.over.iter().map(|over| over.reason.text.as_str()).collect();
        assert_eq!(why, ["not applied: it is a matter of the rule, not of one of its backends"]);
    }
}
