//! The enforcement point that proxies ask.

use upheld_server::Config;

use crate::support::{Answer, Served, behind_proxy};

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
    let served = served(behind_proxy(&[]));
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
    let served = served(behind_proxy(&[]));
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
    let served = served(Config::default());
    let answer = served.ask("GET", "/forward-auth/admin/users", &[ADMIN], "");
    assert_eq!((answer.status, answer.header("x-policy-identity")), (403, Some("ignored")));
    assert_eq!(answer.header("x-envoy-auth-headers-to-remove"), Some("x-identity"));
}

#[test]
fn an_identity_that_cannot_be_read_or_is_there_twice_is_undecided() {
    let served = served(behind_proxy(&[]));
    let open = r#"{"put": [{"id": "open", "effect": "permit", "subjects": [], "resources": [], "actions": []}]}"#;
    assert_eq!(served.post("/v1/revisions", open).status, 201);
    assert_eq!(decision(&served.get("/forward-auth/x")), (200, "permit"), "whoever says nothing is anonymous");
    for broken in ["{", "\"x\"", "[]", r#"{"sub": "a", "sub": "b"}"#] {
        let answer = served.ask("GET", "/forward-auth/x", &[("x-identity", broken)], "");
        assert_eq!(decision(&answer), (403, "undecided"), "{broken}");
    }
    let answer = served.ask("GET", "/forward-auth/x", &[ADMIN, ADMIN], "");
    assert_eq!((answer.status, answer.header("x-policy-identity")), (403, Some("unreadable")));
}

#[test]
fn without_the_method_of_the_request_nothing_is_decided() {
    let served = served(behind_proxy(&[]));
    let open = r#"{"put": [{"id": "open", "effect": "permit", "subjects": [], "resources": [], "actions": [{"method": "GET"}]}]}"#;
    assert_eq!(served.post("/v1/revisions", open).status, 201);
    let named = [("x-original-uri", "/x"), ("x-original-method", "DELETE")];
    assert_eq!(decision(&served.ask("GET", "/forward-auth", &named, "")), (403, "deny"));
    assert_eq!(decision(&served.ask("GET", "/forward-auth", &named[..1], "")), (403, "undecided"));
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
fn hosts_and_applications_come_from_headers_that_are_believed() {
    let shop = r#"{"put": [{"id": "shop", "effect": "permit", "subjects": [], "resources": [{"app": "shop.example.com"}],
        "actions": [{"method": "*"}]}]}"#;
    for (trust, name, value, expected) in [
        (&["host-header=host"][..], "host", "Shop.Example.com.:8080", (200, "permit")),
        (&["host-header=x-forwarded-host"], "x-forwarded-host", "shop.example.com", (200, "permit")),
        (&["app-header=x-app"], "x-app", "shop.example.com", (200, "permit")),
        (&["app-header=x-app"], "x-app", "shop", (403, "deny")),
        // What nobody is asked to believe is not known, whoever says it.
        (&[], "x-forwarded-host", "shop.example.com", (403, "undecided")),
        (&[], "x-app", "shop.example.com", (403, "undecided")),
        (&["app-header=x-app"], "x-forwarded-host", "shop.example.com", (403, "undecided")),
    ] {
        let served = served(behind_proxy(trust));
        assert_eq!(served.post("/v1/revisions", shop).status, 201);
        let answer = served.ask("GET", "/forward-auth/x", &[(name, value)], "");
        assert_eq!(decision(&answer), expected, "{trust:?} {name}: {value}: {}", answer.text);
    }
}

#[test]
fn addresses_come_from_the_trusted_hops() {
    let inside = r#"{"put": [{"id": "inside", "effect": "permit", "subjects": [], "resources": [{"path": "/inside"}],
        "actions": [{"method": "*"}], "conditions": [{"type": "ip", "cidr": "192.0.2.0/24"}]}]}"#;
    for (hops, forwarded, status) in [
        (None, "192.0.2.1", 403),
        (Some(0), "192.0.2.1", 403),
        (Some(1), "192.0.2.1", 200),
        (Some(1), "192.0.2.1, 198.51.100.1", 403),
        (Some(2), "192.0.2.1, 198.51.100.1", 200),
        (Some(2), "192.0.2.1", 403),
    ] {
        let mut config = behind_proxy(&[]);
        config.access.trust.hops = hops;
        let served = served(config);
        assert_eq!(served.post("/v1/revisions", inside).status, 201);
        let answer = served.ask("GET", "/forward-auth/inside", &[("x-forwarded-for", forwarded)], "");
        assert_eq!(answer.status, status, "{hops:?} hops, {forwarded}: {}", answer.text);
    }
}
