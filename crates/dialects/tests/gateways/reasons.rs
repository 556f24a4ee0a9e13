//! Reasons at gateways are true, in every edition of kgateway: asked as a command line asks, read as people read.

use serde_json::{Value as Json, from_value, json};
use upheld_loader::load::load;
use upheld_loader::{Format, Input};
use upheld_model::Timestamp;

use upheld_dialects::question::{Asked, Options, Question, Words};
use upheld_report::{Depth, Report};

const CURRENT: &str = "kgateway/2026";
const PROPOSED: &str = "kgateway/ep-11268";
const EDITIONS: [&str; 2] = [CURRENT, PROPOSED];
const ALONE: &str = "no other policy sets it";

const EDGE: &str = "
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, namespace: shop}
spec:
  gatewayClassName: kgateway
  listeners: [{name: http, protocol: HTTP, port: 80, allowedRoutes: {namespaces: {from: All}}}]
---
apiVersion: v1
kind: Service
metadata: {name: cart, namespace: shop}
spec: {ports: [{name: web, port: 80}]}
";

const ROUTE: &str = "
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: cart, namespace: shop}
spec:
  parentRefs: [{name: edge}]
  hostnames: [shop.example]
  rules: [{name: all, backendRefs: [{name: cart, port: 80}]}]
";

/// A policy of kgateway: when it was made, what it is attached to, what it says.
fn policy(kind: &str, name: &str, day: &str, attached: &str, says: &str) -> String {
    let meta = format!("{{name: {name}, namespace: shop, creationTimestamp: \"{day}T00:00:00Z\"}}");
    format!(
        "apiVersion: gateway.kgateway.dev/v1alpha1\nkind: {kind}\nmetadata: {meta}\nspec:\n  {attached}\n  {says}\n"
    )
}

fn to(kind: &str, name: &str, section: &str) -> String {
    let group = if kind == "Service" { "\"\"" } else { "gateway.networking.k8s.io" };
    format!("targetRefs: [{{group: {group}, kind: {kind}, name: {name}{section}}}]")
}

/// All answers to a question.
fn asked(edition: &str, documents: &[String], question: Json) -> Vec<Json> {
    let text = documents.join("\n---\n");
    let loaded = load(vec![Input::text("documents.yaml", Format::Yaml, text)], &[edition]).expect("is read");
    let options = Options { semantics: vec![edition.to_owned()], ..Options::at(Timestamp(0)) };
    let words: Words = from_value(question).expect("are words");
    let question = &Question::parse(&words, &options).expect("is a question");
    let asked = Asked { snapshot: &loaded.snapshot, question, options: &options, depth: Depth::All };
    let answer = asked.answer().expect("is answered");
    let answers: Vec<Json> = answer.reports.iter().map(rows).collect();
    assert!(answers.iter().all(|answer| answer["semantics"] == edition || answer["semantics"] == "direct"));
    answers.iter().for_each(are_true);
    answers
}

/// A report as `fields` that hold and values that are `overridden`, each with why in a sentence.
fn rows(report: &Report) -> Json {
    let (mut fields, mut overridden) = (Vec::new(), Vec::new());
    for field in &report.fields {
        if let (Some(value), Some(reason)) = (&field.value, &field.reason) {
            fields.push(json!({"field": field.path, "value": value, "from": field.from, "because": reason.text}));
        }
        for over in &field.over {
            let because = format!("lost to {}: {}", over.taken_by.as_deref().unwrap_or_default(), over.reason.text);
            overridden
                .push(json!({"field": field.path, "value": over.value, "policy": over.policy, "because": because}));
        }
    }
    json!({"semantics": report.semantics, "fields": fields, "overridden": overridden})
}

fn texts<'r>(answer: &'r Json, list: &str) -> impl Iterator<Item = (&'r str, &'r str, &'r Json)> {
    let rows = answer[list].as_array().expect("is a list").iter();
    rows.map(|row| (row["field"].as_str().unwrap_or_default(), row["because"].as_str().unwrap_or_default(), row))
}

/// Why a field holds.
fn holds<'r>(answer: &'r Json, field: &str) -> (&'r str, &'r str) {
    let (_, because, row) = texts(answer, "fields").find(|(name, ..)| *name == field).expect("is set");
    (row["from"][0]["policy"].as_str().unwrap_or_default(), because)
}

/// Why a policy does not set a field.
fn lost<'r>(answer: &'r Json, field: &str, policy: &str) -> &'r str {
    let mut rows = texts(answer, "overridden");
    rows.find(|(name, _, row)| *name == field && row["policy"] == policy).expect("is overridden").1
}

/// What can be seen to be false without knowing the policies: `older (a against b)` where a is not, and nobody is alone with a
/// field that somebody else lost.
fn are_true(answer: &Json) {
    for (field, because, _) in texts(answer, "fields").chain(texts(answer, "overridden")) {
        if let Some((word, mine, theirs)) = compared(because) {
            let is_so = match word {
                "older" | "lighter" => mine < theirs,
                "newer" | "heavier" => mine > theirs,
                _ => true,
            };
            assert!(is_so, "{field}: {because}");
        }
    }
    for (field, because, _) in texts(answer, "fields") {
        let also = |(name, _, row): (&str, &str, &Json)| {
            name == field || (name == "(all of it)" && row["value"].get(field).is_some())
        };
        assert!(because != ALONE || !texts(answer, "overridden").any(also), "{field}: {because}");
    }
}

/// `older (a against b)` in its parts; numbers are as long as each other.
fn compared(because: &str) -> Option<(&str, String, String)> {
    let because = because.rsplit_once(": ").filter(|_| because.starts_with("lost to")).map_or(because, |(_, why)| why);
    let (word, values) = because.split_once(" (")?;
    let (mine, theirs) = values.strip_suffix(')')?.split_once(" against ")?;
    Some((word, format!("{mine:0>20}"), format!("{theirs:0>20}")))
}

#[test]
fn older_is_who_is_older() {
    let backend = |name, day, section, timeout: &str| {
        policy("BackendConfigPolicy", name, day, &to("Service", "cart", section), timeout)
    };
    let documents = [
        EDGE.to_owned(),
        ROUTE.to_owned(),
        backend("second", "2025-02-01", "", "connectTimeout: 10s"),
        backend("first", "2025-01-01", "", "connectTimeout: 5s"),
        backend("port", "2025-03-01", ", sectionName: web", "connectTimeout: 1s"),
    ];
    let question = || json!({"what": "backend/shop/cart#web", "kind": "BackendConfigPolicy"});
    let [current] = asked(CURRENT, &documents, question()).try_into().expect("one answer");
    let older = "older (2025-01-01T00:00:00Z against 2025-02-01T00:00:00Z)";
    assert_eq!(holds(&current, "connectTimeout"), ("shop/first", older));
    let newer = "lost to shop/first: newer (2025-03-01T00:00:00Z against 2025-01-01T00:00:00Z)";
    assert_eq!(lost(&current, "connectTimeout", "shop/port"), newer);
    // The newest wins, because it names the port: its age is no reason.
    let [proposed] = asked(PROPOSED, &documents, question()).try_into().expect("one answer");
    assert_eq!(holds(&proposed, "connectTimeout"), ("shop/port", "names this section, the other the whole"));
    let whole = "lost to shop/port: names the whole, the other this section";
    assert_eq!(lost(&proposed, "connectTimeout", "shop/first"), whole);
}

#[test]
fn heavier_is_who_is_heavier_where_weight_counts() {
    let traffic =
        |name, day| policy("TrafficPolicy", name, day, &to("HTTPRoute", "cart", ""), "csrf: {percentageEnabled: 1}");
    let heavy = traffic("heavy", "2026-01-01")
        .replace("namespace: shop,", "namespace: shop, annotations: {kgateway.dev/policy-weight: \"10\"},");
    let documents = [EDGE.to_owned(), ROUTE.to_owned(), heavy, traffic("light", "2025-01-01")];
    let question = || json!({"what": "httproute/shop/cart"});
    let [current] = asked(CURRENT, &documents, question()).try_into().expect("one answer");
    assert_eq!(holds(&current, "csrf"), ("shop/heavy", "heavier (10 against 0)"));
    assert_eq!(lost(&current, "csrf", "shop/light"), "lost to shop/heavy: lighter (0 against 10)");
    // The proposal knows no weights.
    let [proposed] = asked(PROPOSED, &documents, question()).try_into().expect("one answer");
    let older = "older (2025-01-01T00:00:00Z against 2026-01-01T00:00:00Z)";
    assert_eq!(holds(&proposed, "csrf"), ("shop/light", older));
    let newer = "lost to shop/light: newer (2026-01-01T00:00:00Z against 2025-01-01T00:00:00Z)";
    assert_eq!(lost(&proposed, "csrf", "shop/heavy"), newer);
}

#[test]
fn nobody_is_alone_with_what_a_wider_scope_sets_too() {
    let traffic = |name, section, percent: &str| {
        policy("TrafficPolicy", name, "2025-01-01", &to("Gateway", "edge", section), percent)
    };
    let documents = [
        EDGE.to_owned(),
        ROUTE.to_owned(),
        traffic("wide", "", "csrf: {percentageEnabled: 10}"),
        traffic("near", ", sectionName: http", "csrf: {percentageEnabled: 20}"),
        policy(
            "TrafficPolicy",
            "alone",
            "2025-01-01",
            &to("Gateway", "edge", ""),
            "retry: {attempts: 3, retryOn: [5xx]}",
        ),
    ];
    let reasons = [
        (CURRENT, "the host is nearer than the gateway", "the host is nearer than the gateway"),
        (PROPOSED, "names this section, the other the whole", "names the whole, the other this section"),
    ];
    for (edition, holding, losing) in reasons {
        let [answer] =
            asked(edition, &documents, json!({"what": "httproute/shop/cart"})).try_into().expect("one answer");
        assert_eq!(holds(&answer, "csrf"), ("shop/near", holding));
        assert_eq!(lost(&answer, "csrf", "shop/wide"), format!("lost to shop/near: {losing}"));
        assert_eq!(holds(&answer, "retry"), ("shop/alone", ALONE));
    }
}

#[test]
fn nobody_is_alone_with_what_policies_set_that_lost_as_a_whole() {
    let kind = "kind: PolicyKind\nname: QuotaPolicy\nabout: quota\nfamily: merge\nhierarchy: gateway\ngroup: quota.example\nprofile: direct\n";
    let quota = |name: &str, day: &str, target: &str, says: &str| {
        let meta = format!("{{name: {name}, namespace: shop, creationTimestamp: \"{day}T00:00:00Z\"}}");
        format!("apiVersion: quota.example/v1\nkind: QuotaPolicy\nmetadata: {meta}\nspec: {{{target}, {says}}}\n")
    };
    let route = "targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: cart}]";
    let gateway = "targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: edge}]";
    let documents = [
        kind.to_owned(),
        EDGE.to_owned(),
        ROUTE.to_owned(),
        quota("wide", "2024-01-01", gateway, "calls: 1, burst: {most: 1}, wide: 1"),
        quota("old", "2025-01-01", route, "calls: 2, burst: {most: 2}, own: 2"),
        quota("new", "2025-02-01", route, "calls: 3"),
    ];
    for edition in EDITIONS {
        let question = json!({"what": "httproute/shop/cart", "kind": "QuotaPolicy"});
        let [answer] = asked(edition, &documents, question).try_into().expect("one answer");
        let older = "older (2025-01-01T00:00:00Z against 2025-02-01T00:00:00Z)";
        assert_eq!(holds(&answer, "calls"), ("shop/old", older));
        assert_eq!(holds(&answer, "burst.most"), ("shop/old", "the route is nearer than the gateway"));
        assert_eq!(holds(&answer, "own"), ("shop/old", ALONE));
    }
}

const OWN: &str = "a rule's own setting goes before any policy";

#[test]
fn what_a_rule_says_itself_goes_before_its_own_extension_reference() {
    let reference =
        "{type: ExtensionRef, extensionRef: {group: gateway.kgateway.dev, kind: TrafficPolicy, name: listed}}";
    let says = format!("timeouts: {{request: 3s}}, filters: [{reference}], backendRefs");
    let documents = [
        EDGE.to_owned(),
        ROUTE.replace("backendRefs", &says),
        policy("TrafficPolicy", "listed", "2025-01-01", "timeouts: {request: 30s}", ""),
    ];
    for edition in EDITIONS {
        let [answer] =
            asked(edition, &documents, json!({"what": "httproute/shop/cart"})).try_into().expect("one answer");
        assert_eq!(holds(&answer, "timeouts.request"), ("(the rule itself)", OWN));
        assert_eq!(lost(&answer, "timeouts.request", "shop/listed"), format!("lost to (the rule itself): {OWN}"));
    }
}

/// A route that hands over to the cart, with what its rule says and what it prefers.
fn parent(says: &str, prefers: &str) -> String {
    format!(
        "
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {{name: root, namespace: shop, annotations: {{kgateway.dev/inherited-policy-priority: {prefers}}}}}
spec:
  parentRefs: [{{name: edge}}]
  hostnames: [shop.example]
  rules:
  - name: down
    matches: [{{path: {{type: PathPrefix, value: /}}}}]
    {says}
    backendRefs: [{{group: gateway.networking.k8s.io, kind: HTTPRoute, name: cart, namespace: shop}}]
"
    )
}

fn child() -> String {
    ROUTE.replace("  parentRefs: [{name: edge}]\n  hostnames: [shop.example]\n", "")
}

#[test]
fn what_the_rule_of_a_parent_says_goes_before_policies_of_its_children() {
    let documents = [
        EDGE.to_owned(),
        parent("timeouts: {request: 5s}", "ShallowMergePreferParent"),
        child(),
        policy("TrafficPolicy", "own", "2025-01-01", &to("HTTPRoute", "cart", ""), "timeouts: {request: 9s}"),
    ];
    for edition in EDITIONS {
        let [answer] =
            asked(edition, &documents, json!({"what": "httproute/shop/cart"})).try_into().expect("one answer");
        let rule = "(rule 0 of HTTPRoute shop/root)";
        assert_eq!(holds(&answer, "timeouts.request"), (rule, OWN));
        assert_eq!(lost(&answer, "timeouts.request", "shop/own"), format!("lost to {rule}: {OWN}"));
    }
}

#[test]
fn the_side_that_an_annotation_prefers_is_the_one_that_is_told() {
    let sides =
        [("ShallowMergePreferParent", "shop/above", "parent"), ("ShallowMergePreferChild", "shop/below", "child")];
    for (prefers, winner, side) in sides {
        let traffic = |name, route, percent: &str| {
            policy("TrafficPolicy", name, "2025-01-01", &to("HTTPRoute", route, ""), percent)
        };
        let documents = [
            EDGE.to_owned(),
            parent("", prefers),
            child(),
            traffic("above", "root", "csrf: {percentageEnabled: 1}"),
            traffic("below", "cart", "csrf: {percentageEnabled: 2}"),
        ];
        for edition in EDITIONS {
            let question = json!({"what": "httproute/shop/cart"});
            let [answer] = asked(edition, &documents, question).try_into().expect("one answer");
            let told = format!("{side} preferred ({prefers})");
            assert_eq!(holds(&answer, "csrf"), (winner, told.as_str()));
            let loser = if winner == "shop/above" { "shop/below" } else { "shop/above" };
            assert_eq!(lost(&answer, "csrf", loser), format!("lost to {winner}: {told}"));
        }
    }
}
