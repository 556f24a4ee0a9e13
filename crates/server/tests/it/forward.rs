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

fn reason(answer: &Answer) -> String {
    answer.json()["reason"].as_str().unwrap_or_default().to_owned()
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
        assert_eq!(answer.header("x-policy-identity"), Some("unreadable"), "{broken}");
    }
    let answer = served.ask("GET", "/forward-auth/x", &[ADMIN, ADMIN], "");
    assert_eq!((answer.status, answer.header("x-policy-identity")), (403, Some("unreadable")));
    assert!(reason(&answer).ends_with("the header is there twice, or is not text"), "{}", answer.text);
}

#[test]
fn an_identity_with_an_unknown_field_is_undecided_and_the_field_is_named() {
    let served = served(behind_proxy(&[]));
    let policies = r#"{"put": [{"id": "open", "effect": "permit", "subjects": [], "resources": [], "actions": []},
        {"id": "no", "effect": "deny", "subjects": [{"role": "banned"}, {"id": "42"}], "resources": [], "actions": []}]}"#;
    assert_eq!(served.post("/v1/revisions", policies).status, 201);
    for (identity, expected) in [
        (r#"{"Roles": ["banned"]}"#, "unknown field `Roles`: did you mean `roles`?"),
        (r#"{"role": "banned"}"#, "unknown field `role`: did you mean `roles`?"),
        (r#"{"sub": "eve", "ROLES": ["banned"]}"#, "unknown field `ROLES`: did you mean `roles`?"),
        (r#"{"id": "42"}"#, "unknown field `id`: expected sub, type, roles, groups, claims"),
        (r#"{"roles": [], "roles": ["banned"]}"#, "`roles`"),
        ("7", "expected a map with sub, type, roles, groups, claims"),
    ] {
        let answer = served.ask("GET", "/forward-auth/x", &[("x-identity", identity)], "");
        assert_eq!(decision(&answer), (403, "undecided"), "{identity}");
        assert_eq!(answer.header("x-policy-identity"), Some("unreadable"), "{identity}");
        assert!(reason(&answer).contains(expected), "{identity}: {}", answer.text);
    }
    let known =
        r#"{"sub": "ann", "type": "user", "roles": ["a"], "groups": [], "claims": {"Roles": ["banned"], "id": 42}}"#;
    assert_eq!(decision(&served.ask("GET", "/forward-auth/x", &[("x-identity", known)], "")), (200, "permit"));
}

#[test]
fn a_subject_that_is_not_text_is_unknown_and_never_anonymous() {
    let served = served(behind_proxy(&[]));
    let open = r#"{"put": [{"id": "open", "effect": "permit", "subjects": [{"id": "anonymous"}], "resources": [], "actions": []}]}"#;
    assert_eq!(served.post("/v1/revisions", open).status, 201);
    let asked = |identity: &str| {
        let answer = served.ask("GET", "/forward-auth/x", &[("x-identity", identity)], "");
        (answer.status, answer.header("x-policy-decision").unwrap_or_default().to_owned())
    };
    for anonymous in ["", "{}", r#"{"sub": null}"#, r#"{"sub": ""}"#] {
        assert_eq!(asked(anonymous), (200, "permit".to_owned()), "{anonymous}");
    }
    for unknown in ["null", r#"{"sub": 0}"#, r#"{"sub": 42}"#, r#"{"sub": false}"#, r#"{"sub": []}"#, r#"{"sub": {}}"#]
    {
        assert_eq!(asked(unknown), (403, "undecided".to_owned()), "{unknown}");
    }
}

/// One slash too many in the configuration of a proxy, and `GET /` would be decided for every request.
#[test]
fn what_follows_the_prefix_beside_headers_with_a_path_is_another_request() {
    let served = served(behind_proxy(&[]));
    let home = r#"{"put": [{"id": "home", "effect": "permit", "subjects": [], "resources": [{"path": "/"}, {"path": "/x"}],
        "actions": [{"method": "GET"}]}]}"#;
    assert_eq!(served.post("/v1/revisions", home).status, 201);
    for (uri, method) in [("x-original-uri", "x-original-method"), ("x-forwarded-uri", "x-forwarded-method")] {
        for asked in ["/forward-auth/", "/forward-auth//", "/forward-auth/?x", "/forward-auth/x", "/forward-auth/x?y"] {
            let waits = [(uri, "/admin/delete-all"), (method, "DELETE")];
            let answer = served.ask("GET", asked, &waits, "");
            assert_eq!(decision(&answer), (403, "undecided"), "{asked}");
            assert!(reason(&answer).contains("name different requests"), "{}", answer.text);
            assert_eq!(answer.header("x-policy-reason"), Some(reason(&answer).as_str()), "{asked}");
            assert_eq!(decision(&served.ask("GET", asked, &waits[..1], "")), (403, "undecided"), "{asked}");
            assert_eq!(decision(&served.ask("GET", asked, &waits[1..], "")), (403, "undecided"), "{asked}");
        }
        for asked in ["/forward-auth", "/forward-auth?x"] {
            assert_eq!(decision(&served.ask("GET", asked, &[(uri, "/"), (method, "GET")], "")), (200, "permit"));
            assert_eq!(decision(&served.ask("GET", asked, &[(uri, "/"), (method, "DELETE")], "")), (403, "deny"));
        }
        // The very same request, said twice.
        let same = [(uri, "/x?y"), (method, "GET")];
        assert_eq!(decision(&served.ask("GET", "/forward-auth/x?y", &same, "")), (200, "permit"));
        assert_eq!(decision(&served.ask("GET", "/forward-auth/", &[(uri, "/"), (method, "GET")], "")), (200, "permit"));
    }
    // Envoy names the path of its client, and nothing else.
    assert_eq!(decision(&served.get("/forward-auth/")), (200, "permit"));
    assert_eq!(decision(&served.ask("DELETE", "/forward-auth/", &[], "")), (403, "deny"));
}

#[test]
fn a_path_below_the_prefix_is_not_taken_from_who_asks_with_a_method_of_its_own() {
    let served = served(behind_proxy(&[]));
    let open = r#"{"put": [{"id": "open", "effect": "permit", "subjects": [], "resources": [], "actions": []}]}"#;
    assert_eq!(served.post("/v1/revisions", open).status, 201);
    let asked = |line: &str| {
        served.raw(format!("GET /forward-auth/x {line}\r\nhost: x\r\nconnection: close\r\n\r\n").as_bytes())
    };
    assert!(asked("HTTP/1.1").starts_with("HTTP/1.1 200"));
    let refused = asked("HTTP/1.0");
    assert!(refused.starts_with("HTTP/1.0 403") && refused.contains("over HTTP/1.0"), "{refused}");
    assert!(asked("HTTP/1.0\r\nx-original-method: GET").starts_with("HTTP/1.0 200"));
}

/// Pages and endpoints answer 200 to much, and proxies take a 200 for a permit.
#[test]
fn a_question_about_another_request_is_answered_at_its_address_only() {
    let served = served(behind_proxy(&[]));
    assert_eq!(served.ask("GET", "/", &[("accept", "text/html")], "").status, 200);
    for path in ["/", "/policies", "/healthz", "/readyz", "/v1/documents", "/openapi.json", "/nothing"] {
        for header in ["x-original-uri", "x-original-method", "x-forwarded-uri", "x-forwarded-method"] {
            let answer = served.ask("GET", path, &[(header, "/admin/users"), ("accept", "text/html")], "");
            assert_eq!(
                (answer.status, answer.header("x-policy-decision")),
                (403, Some("undecided")),
                "{path} {header}"
            );
            assert!(answer.header("x-policy-reason").unwrap_or_default().contains("/forward-auth"), "{}", answer.text);
        }
    }
    let before = served.get("/v1/revisions").text;
    let write = r#"{"put": [{"id": "late", "effect": "permit", "subjects": [], "resources": [], "actions": []}]}"#;
    let headers = [("content-type", "application/json"), ("x-forwarded-uri", "/v1/revisions")];
    assert_eq!(served.ask("POST", "/v1/revisions", &headers, write).status, 403);
    assert_eq!(served.get("/v1/revisions").text, before, "a write that was refused");
}

/// What Envoy asks has no path of another request in its headers, but no other client sends what it sends.
#[test]
fn a_question_of_envoy_without_a_prefix_is_refused_and_its_other_requests_are_not() {
    let served = served(behind_proxy(&[]));
    let own = [("x-envoy-internal", "true"), ("x-envoy-expected-rq-timeout-ms", "500")];
    for (method, path) in
        [("GET", "/healthz"), ("GET", "/v1/documents"), ("DELETE", "/v1/documents/AccessPolicy/access/closed")]
    {
        let answer = served.ask(method, path, &own, "");
        assert_eq!(answer.status, 403, "{method} {path}");
        assert!(answer.header("x-policy-reason").unwrap_or_default().contains("path_prefix"), "{}", answer.text);
    }
    let scheme = ("x-forwarded-proto", "http");
    // Whoever reads by way of Envoy, and its health checks.
    assert_eq!(served.ask("GET", "/v1/documents", &[own[0], own[1], scheme], "").status, 200);
    assert_eq!(served.ask("GET", "/healthz", &[("user-agent", "Envoy/HC")], "").status, 200);
    assert_eq!(decision(&served.ask("GET", "/forward-auth/health", &own, "")), (200, "excluded"));
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

/// The proxy that asks is never the client, so its address stands for none.
#[test]
fn where_hops_do_not_add_up_the_address_is_unknown() {
    let inside = r#"{"put": [{"id": "inside", "effect": "permit", "subjects": [], "resources": [{"path": "/inside"}],
        "actions": [{"method": "*"}], "conditions": [{"type": "ip", "allowlist": ["127.0.0.0/8", "::1"]}]}]}"#;
    for hops in [0, 1, 2, 3] {
        let mut config = behind_proxy(&[]);
        config.access.trust.hops = Some(hops);
        let served = served(config);
        assert_eq!(served.post("/v1/revisions", inside).status, 201);
        for told in [None, Some(""), Some(","), Some("8.8.8.8,"), Some("unknown"), Some("8.8.8.8")] {
            let headers: Vec<(&str, &str)> = told.iter().map(|told| ("x-forwarded-for", *told)).collect();
            let answer = served.ask("GET", "/forward-auth/inside", &headers, "");
            // Only one address that one proxy tells is known, and it is not inside.
            let expected = if (hops, told) == (1, Some("8.8.8.8")) { "deny" } else { "undecided" };
            assert_eq!(decision(&answer), (403, expected), "{hops} hops, {told:?}");
        }
    }
    let mut config = Config::default();
    config.access.trust.hops = Some(1);
    let served = served(config);
    assert_eq!(served.post("/v1/revisions", inside).status, 201);
    let answer = served.ask("GET", "/forward-auth/inside", &[("x-forwarded-for", "127.0.0.1")], "");
    assert_eq!(decision(&answer), (403, "undecided"), "whoever asks and is not believed is not the client");
}
