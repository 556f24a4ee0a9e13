//! The enforcement point that proxies ask.

use upheld_server::Config;

use crate::support::{Answer, Served};

const DOCUMENTS: &str = "
defaultEffect: deny
excludePaths: [/health, {path: /public/**, methods: [GET]}]
---
id: admins
effect: permit
subjects: [{role: admin}]
resources: [{path: /admin/**}]
actions: [{method: '*'}]
---
id: closed
effect: deny
description: nobody goes there
subjects: []
resources: [{path: /vault}]
actions: [{method: '*'}]
";

const ADMIN: (&str, &str) = ("x-identity", r#"{"sub": "ann", "roles": ["admin"], "groups": [], "claims": {}}"#);

fn served(config: Config) -> Served {
    let served = Served::start(config);
    let written = served.ask("POST", "/v1/revisions", &[("content-type", "application/yaml")], DOCUMENTS);
    assert_eq!(written.status, 201, "{}", written.text);
    served
}

fn decision(answer: &Answer) -> (u16, &str) {
    (answer.status, answer.header("x-policy-decision").unwrap())
}

#[test]
fn envoy_asks_with_the_path_of_the_request() {
    let served = served(Config::default());
    let answer = served.ask("DELETE", "/forward-auth/admin/users", &[ADMIN], "");
    assert_eq!(decision(&answer), (200, "permit"));
    assert_eq!(answer.header("upheld-revision"), Some("1"));
    let answer = served.get("/forward-auth/vault");
    assert_eq!(decision(&answer), (403, "deny"));
    assert_eq!(
        answer.json(),
        serde_json::json!({"error": "Forbidden", "reason": "nobody goes there", "policy": "closed"})
    );
    assert_eq!(answer.header("x-policy-reason"), Some("nobody goes there"));
    assert_eq!(decision(&served.get("/forward-auth/")), (403, "deny"));
}

#[test]
fn other_proxies_ask_with_headers() {
    let served = served(Config::default());
    let nginx = [ADMIN, ("x-original-uri", "/admin/users?x=1"), ("x-original-method", "PUT")];
    assert_eq!(decision(&served.ask("GET", "/forward-auth", &nginx, "")), (200, "permit"));
    let traefik = [("x-forwarded-uri", "/public/a"), ("x-forwarded-method", "GET")];
    assert_eq!(decision(&served.ask("GET", "/forward-auth", &traefik, "")), (200, "excluded"));
    let trick = [("x-forwarded-uri", "/vault"), ("x-original-uri", "/public/a")];
    assert_eq!(decision(&served.ask("GET", "/forward-auth", &trick, "")), (403, "undecided"));
    assert_eq!(served.get("/forward-auth").status, 403);
}

#[test]
fn excludes_are_whole_paths_with_methods() {
    let served = served(Config::default());
    assert_eq!(decision(&served.get("/forward-auth/health")), (200, "excluded"));
    assert_eq!(served.get("/forward-auth/healthcare").status, 403);
    assert_eq!(served.ask("DELETE", "/forward-auth/public/a", &[], "").status, 403);
    assert_eq!(served.get("/forward-auth/public/../vault").status, 403);
}

#[test]
fn only_trusted_peers_say_who_asks() {
    let mut config = Config::default();
    config.access.trusted_peers.clear();
    let served = served(config);
    let answer = served.ask("GET", "/forward-auth/admin/users", &[ADMIN], "");
    assert_eq!((answer.status, answer.header("x-policy-identity")), (403, Some("ignored")));
    assert_eq!(answer.header("x-envoy-auth-headers-to-remove"), Some("x-identity"));
}

#[test]
fn an_identity_that_cannot_be_read_is_nobody() {
    let answer = served(Config::default()).ask("GET", "/forward-auth/admin/users", &[("x-identity", "{")], "");
    assert_eq!((answer.status, answer.header("x-policy-identity")), (403, Some("unreadable")));
}

#[test]
fn nobody_asks_for_a_decision_of_the_past() {
    let served = served(Config::default());
    let open = r#"{"put": [{"defaultEffect": "permit", "name": "manifest"}]}"#;
    assert_eq!(served.post("/v1/revisions", open).status, 201);
    assert_eq!(served.get("/forward-auth/x").status, 200);
    let close = r#"{"put": [{"defaultEffect": "deny", "name": "manifest"}]}"#;
    assert_eq!(served.post("/v1/revisions", close).status, 201);
    assert_eq!(served.get("/forward-auth/x?at=2").status, 403);
}

#[test]
fn the_host_is_the_application_where_nobody_names_one() {
    let served = served(Config::default());
    let shop = r#"{"put": [{"id": "shop", "effect": "permit", "subjects": [], "resources": [{"app": "shop.example.com"}],
        "actions": [{"method": "*"}]}]}"#;
    assert_eq!(served.post("/v1/revisions", shop).status, 201);
    for (name, value, status) in [
        ("host", "Shop.Example.com.:8080", 200),
        ("x-forwarded-host", "shop.example.com", 200),
        ("x-app", "shop.example.com", 200),
        ("x-app", "shop", 403),
    ] {
        let answer = served.ask("GET", "/forward-auth/x", &[(name, value)], "");
        assert_eq!(answer.status, status, "{name}: {value}: {}", answer.text);
    }
}

#[test]
fn addresses_come_from_the_trusted_hops() {
    let inside = r#"{"put": [{"id": "inside", "effect": "permit", "subjects": [], "resources": [{"path": "/inside"}],
        "actions": [{"method": "*"}], "conditions": [{"type": "ip", "cidr": "192.0.2.0/24"}]}]}"#;
    for (hops, forwarded, status) in [
        (0, "192.0.2.1", 403),
        (1, "192.0.2.1", 200),
        (1, "192.0.2.1, 198.51.100.1", 403),
        (2, "192.0.2.1, 198.51.100.1", 200),
        (2, "192.0.2.1", 403),
    ] {
        let mut config = Config::default();
        config.access.trusted_hops = hops;
        let served = served(config);
        assert_eq!(served.post("/v1/revisions", inside).status, 201);
        let answer = served.ask("GET", "/forward-auth/inside", &[("x-forwarded-for", forwarded)], "");
        assert_eq!(answer.status, status, "{hops} hops, {forwarded}: {}", answer.text);
    }
}
