//! Repositories rarely hold everything: what was read is answered, and what is taken for granted is said.

use serde_json::json;
use upheld_report::Verdict;

use crate::asking::{CURRENT, answer, held, notes, refusal, report, reports};

const ROUTE: &str = "
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: cart, namespace: shop}
spec:
  parentRefs: [{name: edge, namespace: infra}]
  hostnames: [shop.example]
  rules:
  - name: all
    matches: [{path: {type: PathPrefix, value: /cart}}]
    backendRefs: [{name: cart, port: 80}]
";

const POLICY: &str = "
apiVersion: gateway.kgateway.dev/v1alpha1
kind: TrafficPolicy
metadata: {name: cart, namespace: shop}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: cart, sectionName: all}]
  csrf: {percentageEnabled: 7}
";

/// Everything that the policy of the route can do without.
const REMOVABLE: [&str; 8] = [
    "
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, namespace: infra}
spec:
  gatewayClassName: kgateway
  listeners:
  - name: http
    protocol: HTTP
    port: 80
    allowedRoutes: {namespaces: {from: Selector, selector: {matchLabels: {tenant: shop}}}}
",
    "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {tenant: shop}}\n",
    "apiVersion: v1\nkind: Service\nmetadata: {name: cart, namespace: shop}\nspec: {ports: [{port: 80}]}\n",
    "apiVersion: v1\nkind: Service\nmetadata: {name: shared, namespace: infra}\nspec: {ports: [{port: 80}]}\n",
    "
apiVersion: gateway.networking.k8s.io/v1
kind: ReferenceGrant
metadata: {name: shop, namespace: infra}
spec:
  from: [{group: gateway.networking.k8s.io, kind: HTTPRoute, namespace: shop}]
  to: [{group: '', kind: Service}]
",
    "
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: root, namespace: shop}
spec:
  parentRefs: [{name: edge, namespace: infra}]
  hostnames: [root.example]
  rules:
  - name: down
    matches: [{path: {type: PathPrefix, value: /}}]
    backendRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: leaf, namespace: shop}]
",
    "
apiVersion: gateway.kgateway.dev/v1alpha1
kind: TrafficPolicy
metadata: {name: edge, namespace: infra}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: edge}]
  csrf: {percentageEnabled: 1}
",
    "
apiVersion: gateway.kgateway.dev/v1alpha1
kind: TrafficPolicy
metadata: {name: root, namespace: shop}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: root}]
  csrf: {percentageEnabled: 2}
",
];

const LEAF: &str = "
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: leaf, namespace: shop}
spec:
  parentRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: root}]
  rules:
  - name: all
    matches: [{path: {type: PathPrefix, value: /leaf}}]
    backendRefs: [{name: shared, namespace: infra, port: 80}]
---
apiVersion: gateway.kgateway.dev/v1alpha1
kind: TrafficPolicy
metadata: {name: leaf, namespace: shop}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: leaf}]
  csrf: {percentageEnabled: 8}
";

fn documents(parts: &[&str]) -> String {
    parts.join("\n---\n")
}

#[test]
fn removing_what_a_policy_does_not_need_never_turns_its_answer_into_an_error() {
    for removed in 0..1_u32 << REMOVABLE.len() {
        let kept = REMOVABLE.iter().enumerate().filter(|(place, _)| removed & 1 << place == 0).map(|(_, text)| *text);
        let text = documents(&[ROUTE, POLICY, LEAF].into_iter().chain(kept).collect::<Vec<_>>());
        let questions = [
            (json!({"what": "httproute/shop/cart", "kind": "TrafficPolicy"}), "shop/cart", 7),
            (json!({"what": "httproute/shop/cart#all", "kind": "TrafficPolicy"}), "shop/cart", 7),
            (json!({"host": "shop.example", "path": "/cart", "kind": "TrafficPolicy"}), "shop/cart", 7),
            (json!({"what": "httproute/shop/leaf", "kind": "TrafficPolicy"}), "shop/leaf", 8),
        ];
        for (question, policy, percent) in questions {
            let answer = answer(CURRENT, &text, question.clone())
                .unwrap_or_else(|refused| panic!("without {removed:08b}: {question}: {refused:?}"));
            assert!(!answer.reports.is_empty());
            for report in &answer.reports {
                let found = held(report, "csrf");
                let wanted = Some((json!({"percentageEnabled": percent}), policy.to_owned()));
                assert_eq!(found, wanted, "without {removed:08b}: {question}");
            }
        }
    }
}

#[test]
fn policies_hold_where_a_service_was_not_read_and_the_error_is_said() {
    let gateway = REMOVABLE[0].replace("{from: Selector, selector: {matchLabels: {tenant: shop}}}", "{from: All}");
    let found = report(CURRENT, &documents(&[&gateway, ROUTE, POLICY]), "httproute/shop/cart", "TrafficPolicy");
    assert_eq!(held(&found, "csrf").unwrap().1, "shop/cart");
    assert_eq!(found.verdict, Verdict::Set);
    let note = "Service \"shop/cart\" not found: unless that exists elsewhere, requests get 500, after all policies";
    assert_eq!(notes(&found, "UP036"), [note]);
}

#[test]
fn of_several_backends_the_share_that_fails_is_said() {
    let gateway = REMOVABLE[0].replace("{from: Selector, selector: {matchLabels: {tenant: shop}}}", "{from: All}");
    let several = "backendRefs: [{name: cart, port: 80, weight: 99}, {name: cart, port: 81}]";
    let route = ROUTE.replace("backendRefs: [{name: cart, port: 80}]", several);
    let text = documents(&[&gateway, &route, POLICY, REMOVABLE[2]]);
    let found = report(CURRENT, &text, "httproute/shop/cart", "TrafficPolicy");
    let note = "Service \"shop/cart\" has not port 81: 1 of 100 requests get 500, after all policies";
    assert_eq!(notes(&found, "UP036"), [note]);
}

#[test]
fn a_gateway_that_was_not_read_is_taken_for_granted() {
    let found = report(CURRENT, &documents(&[ROUTE, POLICY]), "httproute/shop/cart", "TrafficPolicy");
    let note = "Gateway infra/edge, which HTTPRoute shop/cart names as its parent, was not read: what it says is not part of this \
                answer";
    assert_eq!(notes(&found, "UP035"), [note]);
}

#[test]
fn a_route_of_a_service_is_answered_without_a_gateway() {
    let mesh = "parentRefs: [{group: '', kind: Service, name: cart}]";
    let route = ROUTE.replace("parentRefs: [{name: edge, namespace: infra}]", mesh);
    let found = report(CURRENT, &documents(&[&route, POLICY]), "httproute/shop/cart", "TrafficPolicy");
    assert_eq!(held(&found, "csrf").unwrap().1, "shop/cart");
    let note =
        "the parent of HTTPRoute shop/cart is Service shop/cart: requests come from inside a mesh, through no gateway";
    assert_eq!(notes(&found, "UP035"), [note]);
}

#[test]
fn a_namespace_that_was_not_read_is_unknown_and_not_refused() {
    let text = documents(&[REMOVABLE[0], ROUTE, POLICY, REMOVABLE[2]]);
    let answer = answer(CURRENT, &text, json!({"what": "httproute/shop/cart"})).expect("is answered");
    assert_eq!(answer.reports[0].about.holds_for, ["infra/edge:80 shop.example PathPrefix /cart"]);
    let told: Vec<&str> = answer.warnings.iter().map(|warning| warning.message.as_str()).collect();
    let unknown = "the listener http of Gateway edge selects namespaces by labels, and the namespace `shop` of HTTPRoute \
                   shop/cart was not read";
    assert!(told.contains(&unknown), "{told:?}");
    let other = REMOVABLE[1].replace("tenant: shop", "tenant: other");
    let refused = refusal(&documents(&[REMOVABLE[0], ROUTE, POLICY, &other]), json!({"what": "httproute/shop/cart"}));
    assert!(refused.contains("NotAllowedByListeners"), "{refused}");
}

#[test]
fn a_route_that_delegates_is_answered_with_what_it_delegates_to() {
    let gateway = REMOVABLE[0].replace("{from: Selector, selector: {matchLabels: {tenant: shop}}}", "{from: All}");
    let text = documents(&[&gateway, REMOVABLE[5], REMOVABLE[7], LEAF, REMOVABLE[3], REMOVABLE[4]]);
    for what in ["httproute/shop/root", "httproute/shop/root#down", "httproute/shop/root#rule0"] {
        let found = reports(&text, what);
        assert_eq!(found[0].about.what, "HTTPRoute shop/leaf all", "{what}");
        assert_eq!(held(&found[0], "csrf").unwrap().1, "shop/leaf");
    }
}

#[test]
fn a_listener_set_is_answered_without_its_gateway() {
    let set = "apiVersion: gateway.networking.k8s.io/v1\nkind: ListenerSet\nmetadata: {name: set, namespace: shop}\nspec:\n  \
               parentRef: {name: edge, namespace: infra}\n  listeners: [{name: extra, protocol: HTTP, port: 8080}]\n---\n\
               apiVersion: gateway.kgateway.dev/v1alpha1\nkind: TrafficPolicy\nmetadata: {name: set, namespace: shop}\nspec:\n  \
               targetRefs: [{group: gateway.networking.k8s.io, kind: ListenerSet, name: set, sectionName: extra}]\n  \
               csrf: {percentageEnabled: 3}\n";
    let found = report(CURRENT, set, "listenerset/shop/set", "TrafficPolicy");
    assert_eq!(held(&found, "csrf").unwrap().1, "shop/set");
    assert_eq!(notes(&found, "UP035").len(), 1);
}

/// Secrets and extensions are rarely in a repository: where none was read, a policy that uses one is not broken.
#[test]
fn secrets_and_extensions_that_were_not_read_are_taken_to_exist() {
    let gateway = REMOVABLE[..3].join("\n---\n");
    let uses = |field: &str| {
        POLICY.replace("csrf: {percentageEnabled: 7}", &format!("csrf: {{percentageEnabled: 7}}\n  {field}"))
    };
    let world = |field: &str, more: &str| [&gateway, ROUTE, &uses(field), more].join("\n---\n");
    let secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: other, namespace: shop}\nstringData: {a: b}\n";
    let extension = "apiVersion: gateway.kgateway.dev/v1alpha1\nkind: GatewayExtension\nmetadata: {name: other, namespace: shop}\nspec: {extAuth: {grpcService: {backendRef: {name: cart, port: 80}}}}\n";
    for (field, other, problem) in [
        ("apiKeyAuth: {secretRef: {name: keys}}", secret, "API key secret shop/keys not found"),
        (
            "apiKeyAuth: {secretSelector: {matchLabels: {app: a}}}",
            secret,
            "no secrets found matching selector in namespace shop",
        ),
        ("basicAuth: {secretRef: {name: users}}", secret, "basic auth: secret shop/users not found"),
        ("extAuth: {extensionRef: {name: auth}}", extension, "extauth: shop/auth: gateway extension not found"),
    ] {
        let taken = report(CURRENT, &world(field, ""), "httproute/shop/cart#all", "TrafficPolicy");
        assert_eq!(
            held(&taken, "csrf"),
            Some((json!({"percentageEnabled": 7}), "shop/cart".to_owned())),
            "{field}: {taken:#?}"
        );
        let told =
            format!("shop/cart uses what was not read ({problem}): nothing of that type was, so it is taken to exist");
        assert!(
            notes(&taken, upheld_model::Fault::Assumed.code()).contains(&told.as_str()),
            "{field}: {:#?}",
            taken.notes
        );
        // Where others of the type were read, this one is missing.
        let broken = report(CURRENT, &world(field, other), "httproute/shop/cart#all", "TrafficPolicy");
        assert_eq!(held(&broken, "csrf"), None, "{field}");
        assert!(notes(&broken, upheld_model::Fault::Assumed.code()).is_empty(), "{field}");
    }
}
