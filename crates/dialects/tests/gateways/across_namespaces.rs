//! Policies of Envoy Gateway that select objects of other namespaces, and grants for that.

use serde_json::json;

use crate::asking::{CURRENT, answer, held, notes, read, report};

/// A gateway, and a route with labels in the namespace `web`.
const WORLD: &str = "
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, namespace: web, labels: {size: big}}
spec: {gatewayClassName: envoy, listeners: [{name: http, protocol: HTTP, port: 80}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: shop, namespace: web, labels: {team: blue}}
spec: {parentRefs: [{name: edge}], rules: [{backendRefs: [{name: shop, port: 80}]}]}
---
apiVersion: v1
kind: Service
metadata: {name: shop, namespace: web}
spec: {ports: [{port: 80}]}
";

/// A policy in the namespace `rules` that selects by labels, with where it does.
fn policy(name: &str, selector: &str) -> String {
    format!(
        "---
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: SecurityPolicy
metadata: {{name: {name}, namespace: rules}}
spec: {{targetSelectors: [{{{selector}}}], authorization: {{defaultAction: Deny}}}}
"
    )
}

/// A grant in a namespace for policies of a type in another, with what may be referred to.
fn grant(namespace: &str, kind: &str, from: &str, to: &str) -> String {
    format!(
        "---
apiVersion: gateway.networking.k8s.io/v1beta1
kind: ReferenceGrant
metadata: {{name: let, namespace: {namespace}}}
spec:
  from: [{{group: gateway.envoyproxy.io, kind: {kind}, namespace: {from}}}]
  to: [{{group: gateway.networking.k8s.io, {to}}}]
"
    )
}

fn namespace(name: &str, label: &str) -> String {
    format!("---\napiVersion: v1\nkind: Namespace\nmetadata: {{name: {name}, labels: {{{label}}}}}\n")
}

const ALL: &str = "kind: HTTPRoute, matchLabels: {team: blue}, namespaces: {from: All}";
const LABELLED: &str =
    "kind: HTTPRoute, matchLabels: {team: blue}, namespaces: {from: Selector, selector: {matchLabels: {zone: open}}}";

fn granted() -> String {
    grant("web", "SecurityPolicy", "rules", "kind: HTTPRoute")
}

/// The policy that decides for the route, if there is one.
fn decides(text: &str) -> Option<String> {
    let found = report(CURRENT, text, "httproute/web/shop", "SecurityPolicy");
    held(&found, "authorization.defaultAction").map(|(_, policy)| policy)
}

/// What became of a policy at the route.
fn became(text: &str, policy: &str) -> String {
    let found = report(CURRENT, text, "httproute/web/shop", "SecurityPolicy");
    let row = found.candidates.iter().find(|row| row.policy == policy).expect("is listed");
    format!("{:?}: {}", row.state, row.reason.text)
}

/// What `status` says of the policies of a kind that are attached to nothing, and the conditions of the others.
fn status(text: &str) -> Vec<String> {
    let loaded = read(CURRENT, text);
    let network = upheld_dialects::gateways::gateway_api::Network::of(&loaded.snapshot).expect("has gateways");
    let mut lines = Vec::new();
    for status in network.envoy_statuses() {
        let name = loaded.snapshot.policy(status.policy).map_or("", |policy| loaded.snapshot.text(policy.name));
        for ancestor in status.ancestors {
            let said = ancestor.conditions.iter().map(|one| format!("{}={}/{}", one.name, one.status, one.reason));
            lines.push(format!("{name} {}", said.collect::<Vec<_>>().join(" ")));
        }
    }
    lines
}

/// The warnings that come with an answer about the route.
fn warnings(text: &str) -> Vec<String> {
    let found = answer(CURRENT, text, json!({"what": "httproute/web/shop"})).expect("is answered");
    found.warnings.into_iter().map(|warning| warning.message).collect()
}

#[test]
fn a_policy_selects_in_all_namespaces_where_a_grant_lets_it() {
    let text = WORLD.to_owned() + &policy("guard", ALL) + &granted();
    assert_eq!(decides(&text).as_deref(), Some("rules/guard"));
    assert_eq!(status(&text), ["guard Accepted=true/Accepted"]);
    assert_eq!(warnings(&text), [""; 0]);
}

#[test]
fn without_a_grant_it_is_off_and_the_missing_grant_is_named() {
    let text = WORLD.to_owned() + &policy("guard", ALL);
    let missing = "no ReferenceGrant that was read in the namespace web lets a SecurityPolicy of rules select";
    assert_eq!(decides(&text), None);
    assert_eq!(became(&text, "rules/guard"), format!("Off: taken to have no effect: {missing} a HTTPRoute"));
    assert_eq!(status(&text), [""; 0]);
    let warning =
        format!("SecurityPolicy rules/guard has an effect only if somebody grants it: {missing} HTTPRoute web/shop");
    assert_eq!(warnings(&text), [warning]);
    // Whoever asks learns what the answer takes for granted.
    let found = report(CURRENT, &text, "httproute/web/shop", "SecurityPolicy");
    let note = "no ReferenceGrant in the namespace web that lets rules/guard count here was read: it is taken not to exist; \
                where it does, this answer is another one";
    assert_eq!(notes(&found, "UP035"), [note]);
}

#[test]
fn a_grant_must_fit_in_type_namespace_name_and_place() {
    let with = |grant: String| decides(&(WORLD.to_owned() + &policy("guard", ALL) + &grant));
    let to = "kind: HTTPRoute";
    assert_eq!(
        with(grant("web", "SecurityPolicy", "rules", "kind: HTTPRoute, name: shop")).as_deref(),
        Some("rules/guard")
    );
    for grant in [
        grant("rules", "SecurityPolicy", "rules", to),
        grant("web", "SecurityPolicy", "web", to),
        grant("web", "BackendTrafficPolicy", "rules", to),
        grant("web", "SecurityPolicy", "rules", "kind: GRPCRoute"),
        grant("web", "SecurityPolicy", "rules", "kind: HTTPRoute, name: other"),
    ] {
        assert_eq!(with(grant.clone()), None, "{grant}");
    }
}

#[test]
fn namespaces_are_selected_by_their_labels() {
    let world = WORLD.to_owned() + &policy("guard", LABELLED) + &granted();
    assert_eq!(decides(&(world.clone() + &namespace("web", "zone: open"))).as_deref(), Some("rules/guard"));
    let closed = world + &namespace("web", "zone: closed");
    assert_eq!(decides(&closed), None);
    assert_eq!(status(&closed), [""; 0]);
}

#[test]
fn a_namespace_that_was_not_read_is_taken_for_selected_and_a_warning_says_so() {
    let text = WORLD.to_owned() + &policy("guard", LABELLED) + &granted();
    assert_eq!(decides(&text).as_deref(), Some("rules/guard"));
    let warning = "SecurityPolicy rules/guard selects namespaces by labels, and the namespace `web` of HTTPRoute web/shop was not read";
    assert_eq!(warnings(&text), [warning]);
    // Without a grant it has no effect, whatever the labels are.
    let refused = WORLD.to_owned() + &policy("guard", LABELLED);
    assert!(became(&refused, "rules/guard").starts_with("Off: taken to have no effect: no ReferenceGrant"));
}

#[test]
fn the_name_of_a_namespace_is_a_label_that_needs_no_namespace_to_be_read() {
    let by_name = |name: &str| {
        let selector = format!(
            "kind: HTTPRoute, namespaces: {{from: Selector, selector: {{matchLabels: {{kubernetes.io/metadata.name: {name}}}}}}}"
        );
        let text = WORLD.to_owned() + &policy("guard", &selector) + &granted();
        (decides(&text), warnings(&text).len())
    };
    assert_eq!(by_name("web"), (Some("rules/guard".to_owned()), 0));
    assert_eq!(by_name("data").0, None);
}

#[test]
fn the_own_namespace_needs_the_labels_too_and_no_grant() {
    let own = |label: &str| {
        let text = WORLD.to_owned() + &policy("guard", LABELLED).replace("namespace: rules", "namespace: web");
        decides(&(text + &namespace("web", label)))
    };
    assert_eq!(own("zone: open").as_deref(), Some("web/guard"));
    assert_eq!(own("zone: closed"), None);
}

#[test]
fn without_the_field_and_with_same_it_selects_in_its_own_namespace_alone() {
    for selector in ["kind: HTTPRoute, matchLabels: {team: blue}", "kind: HTTPRoute, namespaces: {from: Same}"] {
        let text = WORLD.to_owned() + &policy("guard", selector) + &granted();
        assert_eq!(decides(&text), None);
        assert!(warnings(&text)[0].contains("HTTPRoute web/shop has the labels that it selects"), "{selector}");
    }
}

#[test]
fn selecting_by_labels_without_naming_any_selects_nothing() {
    for namespaces in ["{from: Selector}", "{from: Some}", "{from: Selector, selector: null}"] {
        let selector = format!("kind: HTTPRoute, namespaces: {namespaces}");
        let text = WORLD.to_owned() + &policy("guard", &selector) + &granted() + &namespace("web", "zone: open");
        assert_eq!(decides(&text), None, "{namespaces}");
    }
    let everything = "kind: HTTPRoute, namespaces: {from: Selector, selector: {}}";
    assert_eq!(
        decides(&(WORLD.to_owned() + &policy("guard", everything) + &granted())).as_deref(),
        Some("rules/guard")
    );
}

#[test]
fn a_policy_of_another_namespace_that_comes_second_is_conflicted() {
    let near =
        policy("near", "kind: HTTPRoute, matchLabels: {team: blue}").replace("namespace: rules", "namespace: web");
    let near = near.replace("{name: near", "{name: near, creationTimestamp: '2024-01-01T00:00:00Z'");
    let far = policy("far", ALL).replace("{name: far", "{name: far, creationTimestamp: '2024-02-01T00:00:00Z'");
    let text = WORLD.to_owned() + &near + &far + &granted();
    assert_eq!(decides(&text).as_deref(), Some("web/near"));
    assert_eq!(status(&text), ["near Accepted=true/Accepted", "far Accepted=false/Conflicted"]);
}

#[test]
fn gateways_are_selected_across_namespaces_too() {
    let selector = "kind: Gateway, matchLabels: {size: big}, namespaces: {from: All}";
    let text =
        WORLD.to_owned() + &policy("guard", selector) + &grant("web", "SecurityPolicy", "rules", "kind: Gateway");
    assert_eq!(decides(&text).as_deref(), Some("rules/guard"));
}
