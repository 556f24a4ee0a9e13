//! Tricks that once got past a policy, each on the surfaces that it concerns; docs/security.md lists them.

use serde_json::{Value as Json, json};
use upheld_server::Config;

use crate::support::{Served, behind_proxy};

fn served(config: Config, documents: &[Json]) -> Served {
    let served = Served::start(config);
    let written = served.post("/v1/revisions", &json!({"put": documents}).to_string());
    assert_eq!(written.status, 201, "{}", written.text);
    served
}

fn policy(id: &str, effect: &str, resources: &Json) -> Json {
    json!({"id": id, "effect": effect, "subjects": [], "resources": resources, "actions": []})
}

fn word(served: &Served, request: &Json) -> String {
    let answer = served.post("/v1/decide", &request.to_string());
    answer.json()["decision"].as_str().map_or_else(|| format!("status {}", answer.status), str::to_owned)
}

fn enforced(served: &Served, path: &str) -> String {
    let headers = [("x-original-uri", path), ("x-original-method", "GET")];
    served.ask("GET", "/forward-auth", &headers, "").header("x-policy-decision").unwrap_or_default().to_owned()
}

#[test]
fn an_escaped_way_out_of_a_path_leads_nowhere() {
    let manifest = json!({"name": "manifest", "excludePaths": ["/health"]});
    let open = policy("open", "permit", &json!([{"path": "/public/**"}]));
    let shut = policy("shut", "deny", &json!([{"path": "/admin/**"}]));
    let served = served(behind_proxy(&[]), &[manifest, open, shut]);
    assert_eq!(enforced(&served, "/public/y"), "permit");
    assert_eq!(enforced(&served, "/health"), "excluded");
    for path in [
        "/admin/x%2F..%2F..%2Fpublic/y",
        "/admin/..%2fhealth",
        "/public/..;/admin/x",
        "/public/..\\admin/x",
        "/public/..%5cadmin/x",
        "/public/%2e%2e/admin/x",
        "/public/../admin/x",
        "//admin/x",
        "/%2561dmin/x",
        "/admin/../health",
        "/public/y#/../../admin/x",
        "/public/..%5c..\\admin/x",
        "/public/y;/..%3b/..;/admin/x",
        "/public/y/%2e%2e/../admin/x",
        "/public/%252e%252e/y/../%2e%2e/admin/x",
        "/public/100%25/%252e%252e/%252e%252e/admin/x",
        "//public/admin/x",
        "/admin/x%3F/../../public/y",
        "/admin/x%5c..\\..%5chealth",
    ] {
        let word = enforced(&served, path);
        assert!(word == "undecided" || word == "deny", "{path}: {word}");
        let request = json!({"action": {"method": "GET"}, "resource": {"path": path}});
        assert_ne!(self::word(&served, &request), "permit", "{path}");
    }
    let request = json!({"action": {"method": "GET"}, "resource": {"path": "/public/../admin/x"}});
    let reason = served.post("/v1/decide", &request.to_string()).json()["reason"].clone();
    let reason = reason.as_str().unwrap();
    assert!(reason.contains("`/public/../admin/x`") && reason.contains("`/admin/x`"), "{reason}");
}

#[test]
fn a_method_in_small_letters_gets_past_no_deny() {
    let shut =
        json!({"id": "shut", "effect": "deny", "subjects": [], "resources": [], "actions": [{"method": "DELETE"}]});
    let served = served(behind_proxy(&[]), &[policy("open", "permit", &json!([])), shut]);
    let enforced = |method: &str| {
        let headers = [("x-original-uri", "/x"), ("x-original-method", method)];
        served.ask("GET", "/forward-auth", &headers, "").header("x-policy-decision").unwrap_or_default().to_owned()
    };
    assert_eq!(["GET", "DELETE", "delete", "Delete"].map(enforced), ["permit", "deny", "undecided", "undecided"]);
}

#[test]
fn a_path_that_nobody_looks_at_may_be_anything() {
    let open =
        json!({"id": "open", "effect": "permit", "subjects": [], "resources": [], "actions": [{"method": "GET"}]});
    let served = served(behind_proxy(&[]), &[open]);
    for path in ["/%zz", "/a/../b", "/%00"] {
        assert_eq!(enforced(&served, path), "permit", "{path}");
        let below =
            served.raw(format!("GET /forward-auth{path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").as_bytes());
        assert!(below.starts_with("HTTP/1.1 200") || below.starts_with("HTTP/1.1 400"), "{path}: {below}");
    }
}

#[test]
fn another_kind_does_not_take_over() {
    let kind =
        json!({"kind": "PolicyKind", "name": "Gate", "family": "decide", "resolve": {"algorithm": "deny-overrides"}});
    let gate =
        json!({"type": "Gate", "name": "open", "effect": "permit", "subjects": [], "resources": [], "actions": []});
    let written = served(behind_proxy(&[]), &[kind, gate, policy("shut", "deny", &json!([]))]);
    let request = json!({"action": {"method": "GET"}, "resource": {"path": "/x"}});
    let explained = || written.post("/v1/explain", &json!({"request": request}).to_string());
    for _ in 0..2 {
        assert_eq!(word(&written, &request), "deny");
        assert_eq!(enforced(&written, "/x"), "deny");
        assert_eq!(explained().json()["answers"][0]["verdict"], "deny", "{}", explained().text);
        let gone = written.ask("DELETE", "/v1/documents/AccessPolicy/access/shut", &[], "");
        assert!(gone.status < 300 || gone.status == 404, "{}", gone.text);
    }
    let named = written.post("/v1/decide?kind=Gate", &request.to_string());
    assert_eq!(named.json()["decision"], "permit", "{}", named.text);
}

#[test]
fn without_policies_every_surface_denies() {
    let served = Served::start(behind_proxy(&[]));
    let request = json!({"action": {"method": "GET"}, "resource": {"path": "/x"}});
    assert_eq!(word(&served, &request), "deny");
    assert_eq!(enforced(&served, "/x"), "deny");
    let explained = served.post("/v1/explain", &json!({"request": request}).to_string());
    assert_eq!(explained.json()["answers"][0]["verdict"], "deny", "{}", explained.text);
}

#[test]
fn fields_in_other_letters_are_refused_or_unknown() {
    let shut = policy("shut", "deny", &json!([{"path": "/admin"}, {"host": "b.example"}]));
    let served = served(Config::default(), &[policy("open", "permit", &json!([])), shut]);
    for request in [
        json!({"action": {"Method": "GET"}}),
        json!({"action": {"metod": "GET"}}),
        json!({"resource": {"Path": "/admin"}}),
        json!({"resource": {"Host": "b.example"}}),
        json!({"Resource": {"path": "/admin"}}),
        json!({"environment": {"IP": "192.0.2.7"}}),
    ] {
        assert_eq!(word(&served, &request), "status 400", "{request}");
    }
    let asked = |resource: Json| {
        let (subject, action) = (json!({"type": "user", "id": "ann"}), json!({"name": "read"}));
        let request = json!({"subject": subject, "action": action, "resource": resource});
        served.post("/access/v1/evaluation", &request.to_string()).json()["decision"].clone()
    };
    assert_eq!(asked(json!({"type": "page", "id": "x"})), true);
    for properties in [
        json!({"path": ["/admin"]}),
        json!({"Path": "/admin"}),
        json!({"path": "/admin"}),
        json!({"host": "B.Example:80"}),
        json!({"Host": "b.example"}),
    ] {
        assert_eq!(asked(json!({"type": "page", "id": "x", "properties": properties})), false, "{properties}");
    }
}

#[test]
fn a_policy_in_the_form_of_kubernetes_gives_its_reason() {
    let document = json!({"apiVersion": "upheld.io/v1", "kind": "AccessPolicy", "metadata": {"name": "shut"},
        "spec": {"effect": "deny", "description": "Nobody may", "subjects": [], "resources": [], "actions": []}});
    let served = served(Config::default(), &[document]);
    let answer = served.post("/v1/decide", "{}").json();
    assert_eq!((&answer["policy"], &answer["reason"]), (&json!("shut"), &json!("Nobody may")), "{answer}");
}
