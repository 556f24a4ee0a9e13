//! What policies say about destinations.

use serde_json::json;

use super::world::{V2, V3, WEB, World, confs, policy};

const SERVICES: &str = "
type: Mesh
name: default
---
type: MeshService
name: cart
labels: {kuma.io/display-name: cart, team: a, k8s.kuma.io/namespace: shop}
spec: {ports: [{port: 80, name: http}, {port: 90}]}
---
type: MeshMultiZoneService
name: cart-all
labels: {kuma.io/display-name: cart-all, team: a}
spec: {ports: [{port: 80, name: http}]}
---
type: MeshExternalService
name: bank
labels: {kuma.io/display-name: bank, team: b}
spec: {match: {type: HostnameGenerator, port: 443, protocol: tls}}
---
type: MeshHTTPRoute
name: route
labels: {kuma.io/display-name: route, team: a}
spec: {to: []}
";

fn timeout(name: &str, labels: &str, items: &[(&str, &str)]) -> String {
    let items: Vec<String> =
        items.iter().map(|(target, conf)| format!("{{targetRef: {{{target}}}, default: {{{conf}}}}}")).collect();
    policy("MeshTimeout", name, labels, "kind: Mesh", &format!("to: [{}]", items.join(", ")))
}

const CART: &str = "kri_msvc_default__shop_cart_";
const CART_HTTP: &str = "kri_msvc_default__shop_cart_http";
const CART_90: &str = "kri_msvc_default__shop_cart_90";
const CART_ALL: &str = "kri_mzsvc_default___cart-all_";
const BANK: &str = "kri_extsvc_default___bank_";
const ROUTE: &str = "kri_mhttpr_default___route_";
const MESH: &str = "kri_m____default_";

#[test]
fn labels_select_resources_of_each_kind() {
    for edition in [V2, V3] {
        let items = [
            ("kind: MeshService, labels: {team: a}", "by: s"),
            ("kind: MeshMultiZoneService, labels: {team: a}", "by: z"),
            ("kind: MeshExternalService, labels: {team: b}", "by: e"),
            ("kind: MeshExternalService, labels: {team: a}", "by: nobody"),
            ("kind: MeshHTTPRoute, labels: {team: a}", "by: r"),
        ];
        let world = World::new(edition, &[WEB, SERVICES, &timeout("t", "", &items)]);
        let by = |name: &str| json!([{"by": name}]);
        let expected = json!({CART: by("s"), CART_ALL: by("z"), BANK: by("e"), ROUTE: by("r")});
        assert_eq!(world.resources("MeshTimeout"), expected);
    }
}

#[test]
fn ports_are_named_or_else_numbered() {
    for edition in [V2, V3] {
        let section = |section: &str| format!("kind: MeshService, labels: {{team: a}}, sectionName: '{section}'");
        let (http, by_number, unnamed) = (section("http"), section("80"), section("90"));
        let items = [(http.as_str(), "by: http"), (&by_number, "by: nobody"), (&unnamed, "by: 90")];
        let world = World::new(edition, &[WEB, SERVICES, &timeout("t", "", &items)]);
        assert_eq!(world.resources("MeshTimeout"), json!({CART_HTTP: [{"by": "http"}], CART_90: [{"by": 90}]}));
    }
}

#[test]
fn wider_entries_are_part_of_narrower_rules_but_routes_have_nothing_of_services() {
    for edition in [V2, V3] {
        let items = [
            ("kind: Mesh", "mesh: 1"),
            ("kind: MeshService, labels: {team: a}", "service: 1"),
            ("kind: MeshService, labels: {team: a}, sectionName: http", "port: 1"),
            ("kind: MeshHTTPRoute, labels: {team: a}", "route: 1"),
        ];
        let world = World::new(edition, &[WEB, SERVICES, &timeout("t", "", &items)]);
        let expected = json!({
            MESH: [{"mesh": 1}],
            CART: [{"mesh": 1, "service": 1}],
            CART_HTTP: [{"mesh": 1, "service": 1, "port": 1}],
            ROUTE: [{"mesh": 1, "route": 1}],
        });
        assert_eq!(world.resources("MeshTimeout"), expected);
    }
}

#[test]
fn kuma_2_takes_names_in_the_zone_and_namespace_of_the_policy() {
    let check = |labels: &str, target: &str, found: bool| {
        let world = World::new(V2, &[WEB, SERVICES, &timeout("t", labels, &[(target, "by: t")])]);
        let expected = if found { json!({CART: [{"by": "t"}]}) } else { json!({}) };
        assert_eq!(world.resources("MeshTimeout"), expected, "{labels} {target}");
    };
    check("k8s.kuma.io/namespace: shop", "kind: MeshService, name: cart", true);
    check("", "kind: MeshService, name: cart, namespace: shop", true);
    check("", "kind: MeshService, name: cart", false);
    check("k8s.kuma.io/namespace: shop, kuma.io/zone: east", "kind: MeshService, name: cart", false);
    check("", "kind: MeshService, name: cart_shop_svc", true);
    check("", "kind: MeshService, name: cart_bank_svc", false);
    check("", "kind: MeshService, labels: {}, name: cart, namespace: shop", true);
}

#[test]
fn kuma_2_takes_ports_of_older_names_by_number() {
    let items = [("kind: MeshService, name: cart_shop_svc_80", "by: t")];
    let world = World::new(V2, &[WEB, SERVICES, &timeout("t", "", &items)]);
    assert_eq!(world.resources("MeshTimeout"), json!({CART_HTTP: [{"by": "t"}]}));
}

#[test]
fn kuma_3_takes_no_names() {
    let items = [("kind: MeshService, name: cart, namespace: shop", "by: t")];
    assert_eq!(World::new(V3, &[WEB, SERVICES, &timeout("t", "", &items)]).resources("MeshTimeout"), json!({}));
    let items = [("kind: MeshService, labels: {}", "by: all")];
    assert_eq!(
        World::new(V3, &[WEB, SERVICES, &timeout("t", "", &items)]).resources("MeshTimeout"),
        json!({CART: [{"by": "all"}]})
    );
}

#[test]
fn a_tcp_route_without_rules_leads_to_its_own_target() {
    let route = |target: &str| {
        let to = format!("to: [{{targetRef: {{{target}}}}}]");
        policy("MeshTCPRoute", "r", "k8s.kuma.io/namespace: shop", "kind: Mesh", &to)
    };
    let conf = |backend: serde_json::Value| json!({CART: [{"default": {"backendRefs": [backend]}}]});
    let world = World::new(V2, &[WEB, SERVICES, &route("kind: MeshService, name: cart")]);
    let expected = conf(json!({"kind": "MeshService", "name": "cart", "weight": 1}));
    assert_eq!(world.resources("MeshTCPRoute"), expected);
    let world = World::new(V3, &[WEB, SERVICES, &route("kind: MeshService, name: cart, labels: {team: a}")]);
    let expected = conf(json!({"kind": "MeshService", "labels": {"team": "a"}, "weight": 1}));
    assert_eq!(world.resources("MeshTCPRoute"), expected);
}

#[test]
fn backends_have_a_weight_and_in_kuma_3_no_name() {
    let rules = "rules: [{matches: [{headers: [{name: h, value: v}]}], default: {backendRefs: [{kind: MeshService, name: x}], \
                 filters: [{type: RequestMirror, requestMirror: {backendRef: {kind: MeshService, name: y}}}]}}]";
    let to = format!("to: [{{targetRef: {{kind: MeshService, labels: {{team: a}}}}, {rules}}}]");
    for (edition, x, y) in [(V2, Some("x"), Some("y")), (V3, None, None)] {
        let world = World::new(edition, &[WEB, SERVICES, &policy("MeshHTTPRoute", "r", "", "kind: Mesh", &to)]);
        let backend = |name: Option<&str>| match name {
            Some(name) => json!({"kind": "MeshService", "name": name, "weight": 1}),
            None => json!({"kind": "MeshService", "weight": 1}),
        };
        let filter = json!({"type": "RequestMirror", "requestMirror": {"backendRef": backend(y)}});
        let expected = json!({"rules": [{
            "matches": [{"headers": [{"type": "Exact", "name": "h", "value": "v"}]}],
            "default": {"backendRefs": [backend(x)], "filters": [filter]},
        }]});
        assert_eq!(world.resources("MeshHTTPRoute"), json!({CART: [expected]}));
    }
}

#[test]
fn routes_meet_apart_for_each_host_name() {
    let to = |names: &str, conf: &str| {
        format!(
            "to: [{{targetRef: {{kind: Mesh}}, hostnames: [{names}], rules: [{{matches: [], default: {{{conf}}}}}]}}]"
        )
    };
    for edition in [V2, V3] {
        let world = World::new(
            edition,
            &[
                WEB,
                SERVICES,
                &policy("MeshHTTPRoute", "b", "", "kind: Mesh", &to("one, two", "x: b, y: b")),
                &policy("MeshHTTPRoute", "a", "", "kind: Mesh", &to("two, three", "x: a")),
            ],
        );
        let host = |name: &str, conf: serde_json::Value| json!({"hostnames": [name], "rules": [{"matches": [], "default": conf}]});
        let expected = [
            host("one", json!({"x": "b", "y": "b"})),
            host("two", json!({"x": "a", "y": "b"})),
            host("three", json!({"x": "a"})),
        ];
        assert_eq!(world.resources("MeshHTTPRoute"), json!({MESH: expected}));
    }
}

#[test]
fn nulls_say_nothing_and_lists_replace_or_add_up() {
    for edition in [V2, V3] {
        let patch =
            |name: &str, conf: &str| policy("MeshProxyPatch", name, "", "kind: Mesh", &format!("default: {{{conf}}}"));
        let world = World::new(
            edition,
            &[
                WEB,
                &patch("b", "kept: 1, list: [1], deep: {appendModifications: [1, 2]}, appendMatch: [1]"),
                &patch("a", "kept: null, list: [], deep: {appendModifications: [2]}, appendMatch: []"),
            ],
        );
        let rules = world.rules("MeshProxyPatch");
        let rule = rules.proxy_rule(&world.slots(&rules)).unwrap();
        let expected = json!([{"kept": 1, "list": [], "deep": {"appendModifications": [1, 2, 2]}, "appendMatch": [1]}]);
        assert_eq!(confs(&rule.results), expected);
    }
}
