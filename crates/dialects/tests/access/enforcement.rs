//! What an enforcement point does, in both editions.

use std::sync::Arc;

use serde_json::json;
use upheld_dialects::access::Edition;
use upheld_dialects::access::decider::{Decider, WhichKind};
use upheld_dialects::access::enforce::{Enforced, EnforcementPoint, HttpRequest, Identity, Unproven, Why};
use upheld_engine::decide::{Facts, Maybe, Names, Subject};

use crate::world::read;

const OPEN: &str = "- {id: open, effect: permit, subjects: [], resources: [], actions: []}";

fn enforce(edition: Edition, text: &str, identity: Option<&str>, method: &str, path: &str) -> Enforced {
    enforce_for(edition, text, identity.map_or(Identity::Absent, Identity::read), method, path)
}

fn enforce_for(edition: Edition, text: &str, identity: Identity, method: &str, path: &str) -> Enforced {
    let loaded = read(edition, text).unwrap();
    let http = HttpRequest {
        method: method.to_owned(),
        path: path.to_owned(),
        host: Maybe::Unknown,
        app: Maybe::Unknown,
        identity,
        headers: Facts::unknown(),
        address: Maybe::Is("192.0.2.7".into()),
        forwarded_for: Some("203.0.113.9, 10.0.0.1".to_owned()),
        real_ip: None,
        time: Maybe::Is("2024-06-15T10:00:00Z".parse().unwrap()),
    };
    let decider = Decider::of(&loaded.snapshot, WhichKind::Only, edition).unwrap();
    EnforcementPoint { decider, understood: &["log".into()] }.enforce(&http)
}

/// Also where the original lets strangers in.
#[test]
fn a_token_that_proves_nothing_stops_a_request_unless_its_path_is_excluded() {
    for (edition, text) in
        [(Edition::Compat, "excludePaths: [/health]\n"), (Edition::Strict, "excludePaths: [/health]\n---\n")]
    {
        let text = if edition == Edition::Strict { format!("{text}{OPEN}") } else { text.to_owned() };
        let ask = |unproven, path| enforce_for(edition, &text, Identity::Unproven(unproven), "GET", path);
        let (refused, undecided) = (Unproven::Refused("expired"), Unproven::Undecided("no keys"));
        let body = json!({"error": "Unauthorized", "reason": "expired"});
        assert_eq!(ask(refused, "/x"), Enforced::Unauthorized(body));
        assert_eq!(ask(undecided, "/x"), Enforced::Forbidden(json!({"error": "Forbidden", "reason": "no keys"})));
        assert_eq!(ask(refused, "/health"), Enforced::Continue(Why::Excluded));
    }
}

#[test]
fn a_verified_subject_is_asked_about_as_it_is() {
    let text = "{id: staff, effect: permit, subjects: [{role: staff}], resources: [], actions: []}";
    let ask = |edition, roles| {
        let subject = Subject { id: Maybe::Is("ann".into()), roles, ..Subject::default() };
        goes_on(&enforce_for(edition, text, Identity::Verified(Arc::new(subject)), "GET", "/x"))
    };
    for edition in [Edition::Compat, Edition::Strict] {
        assert!(ask(edition, Names::of(&["staff"])));
        assert!(!ask(edition, Names::of(&["other"])) && !ask(edition, Names::Unknown));
    }
}

fn goes_on(enforced: &Enforced) -> bool {
    matches!(enforced, Enforced::Continue(_))
}

#[test]
fn excludes_are_searched_in_the_original_and_whole_otherwise() {
    let compat = "excludePaths: [/health]\n";
    assert!(goes_on(&enforce(Edition::Compat, compat, Some("{}"), "DELETE", "/api/healthcare/7")));
    let strict = "excludePaths: [/health, {path: /public/**, methods: [GET]}]\n";
    let check = |method, path| goes_on(&enforce(Edition::Strict, strict, None, method, path));
    assert!(check("GET", "/health"));
    assert!(check("GET", "/public/a/b"));
    assert!(!check("POST", "/public/a"));
    assert!(!check("GET", "/api/healthcare"));
    assert!(!check("GET", "/public/../secret"));
    assert!(!check("GET", "/public/%zz"));
}

#[test]
fn without_policies_only_the_original_lets_strangers_in() {
    let text = "defaultEffect: deny\n";
    for identity in [None, Some("null"), Some("0"), Some("\"\""), Some("{")] {
        assert_eq!(enforce(Edition::Compat, text, identity, "GET", "/"), Enforced::Continue(Why::NoPolicies));
        assert!(!goes_on(&enforce(Edition::Strict, text, identity, "GET", "/")));
    }
    let forbidden = json!({"error": "Forbidden", "reason": "No applicable policy"});
    for identity in [Some("{}"), Some("\"x\"")] {
        assert_eq!(enforce(Edition::Compat, text, identity, "GET", "/"), Enforced::Forbidden(forbidden.clone()));
    }
}

#[test]
fn identities_are_read_as_they_are() {
    let text = |subject: &str| {
        format!("policies:\n{OPEN}\n- {{id: no, effect: deny, subjects: [{subject}], resources: [], actions: []}}\n")
    };
    let denied = |subject: &str, identity: Option<&str>| {
        !goes_on(&enforce(Edition::Compat, &text(subject), identity, "GET", "/"))
    };
    assert!(denied("{id: anonymous}", None));
    assert!(denied("{id: anonymous}", Some("{")));
    assert!(denied("{id: anonymous}", Some(r#"{"sub": ""}"#)));
    assert!(!denied("{id: anonymous}", Some(r#"{"sub": "u"}"#)));
    assert!(!denied("{id: anonymous}", Some(r#"{"sub": 5}"#)));
    assert!(denied("{role: a}", Some(r#"{"sub": "u", "roles": ["a"]}"#)));
    assert!(!denied("{role: a}", Some(r#"{"sub": "u", "roles": null}"#)));
    // The original throws and lets it through; nobody knows, so it is stopped.
    assert!(denied("{role: a}", Some(r#"{"sub": "u", "roles": "b"}"#)));
    assert!(denied("{claim: {name: x, value: 1}}", Some(r#"{"claims": {"x": 1}}"#)));
}

/// What the strict edition cannot read it does not pass over: the roles that it gives may be those that a policy denies.
#[test]
fn an_identity_in_an_unknown_spelling_is_undecided_and_the_original_passes_over_it() {
    let text = format!(
        "policies:\n{OPEN}\n- {{id: no, effect: deny, subjects: [{{role: banned}}, {{id: anonymous}}], resources: [], actions: []}}\n"
    );
    let reason = |edition: Edition, identity: &str| match enforce(edition, &text, Some(identity), "GET", "/") {
        Enforced::Continue(_) => "goes on".to_owned(),
        Enforced::Forbidden(body) | Enforced::Unauthorized(body) => {
            body["reason"].as_str().unwrap_or_default().to_owned()
        }
    };
    let unreadable = "undecided: the identity of the caller cannot be read: ";
    for (identity, expected) in [
        (r#"{"sub": "u", "Roles": ["banned"]}"#, "unknown field `Roles`: did you mean `roles`?"),
        (r#"{"sub": "u", "role": "banned"}"#, "unknown field `role`: did you mean `roles`?"),
        (r#"{"sub": "u", "id": "42"}"#, "unknown field `id`: expected sub, type, roles, groups, claims"),
    ] {
        assert_eq!(reason(Edition::Strict, identity), format!("{unreadable}{expected}"));
        assert_eq!(reason(Edition::Compat, identity), "goes on");
    }
    assert!(reason(Edition::Strict, r#"{"roles": [], "roles": ["banned"]}"#).starts_with(unreadable));
    assert!(reason(Edition::Strict, "[]").starts_with(unreadable));
    // Proxies are told in both editions of what is no identity at all.
    for (identity, in_the_original) in
        [("{", true), (r#"{"sub": "u", "Roles": []}"#, false), (r#"{"sub": "u"}"#, false)]
    {
        let identity = Identity::read(identity);
        assert_eq!(identity.unreadable(Edition::Compat).is_some(), in_the_original, "{identity:?}");
    }
    // A subject that is not text is somebody, so neither anonymous nor anybody else.
    for (identity, of_the_original) in [(r#"{"sub": 0}"#, true), (r#"{"sub": false}"#, true), (r#"{"sub": 42}"#, false)]
    {
        assert!(reason(Edition::Strict, identity).starts_with("undecided"), "{identity}");
        assert_eq!(reason(Edition::Compat, identity) != "goes on", of_the_original, "{identity}");
    }
    assert_eq!(reason(Edition::Strict, r#"{"sub": "u", "claims": {"Roles": ["banned"], "id": 42}}"#), "goes on");
}

#[test]
fn addresses_are_the_header_of_the_original_and_the_peer_otherwise() {
    let text = |address: &str| {
        format!(
            "policies:\n{OPEN}\n- {{id: no, effect: deny, subjects: [], resources: [], actions: [], \
             conditions: [{{type: ip, allowlist: ['{address}']}}]}}\n"
        )
    };
    assert!(!goes_on(&enforce(Edition::Compat, &text("203.0.113.9, 10.0.0.1"), None, "GET", "/")));
    assert!(goes_on(&enforce(Edition::Strict, &text("203.0.113.9"), None, "GET", "/")));
    assert!(!goes_on(&enforce(Edition::Strict, &text("192.0.2.7"), None, "GET", "/")));
}

#[test]
fn a_permit_opens_only_with_obligations_that_are_understood() {
    let policy = |duty: &str| {
        format!(
            "- {{id: open, effect: permit, subjects: [], resources: [], actions: [], \
             duties: [{{kind: obligation, id: {duty}, on: permit}}, {{kind: advice, id: tell, on: permit}}]}}"
        )
    };
    let answer = |duty: &str| enforce(Edition::Strict, &policy(duty), None, "GET", "/x");
    assert_eq!(answer("log"), Enforced::Continue(Why::Permitted));
    assert!(matches!(answer("step-up"), Enforced::Forbidden(_)));
}

#[test]
fn the_original_sees_paths_as_javascript_does() {
    let text = "excludePaths: ['^/public/']\npolicies:\n\
        - {id: shut, effect: deny, subjects: [], resources: [{path: '*'}], actions: []}\n";
    let check = |path: &str| goes_on(&enforce(Edition::Compat, text, Some("{}"), "GET", path));
    assert!(check("/public/a"));
    for path in ["/public/../admin", "/public/%2e%2E/admin", "/x#/public/", "/x?/public/"] {
        assert!(!check(path), "{path}");
    }
    let spaces = "- {id: a, effect: permit, subjects: [], resources: [{path: '/a%20b'}], actions: []}";
    assert!(goes_on(&enforce(Edition::Compat, spaces, Some("{}"), "GET", "/a b")));
}

/// An escaped form beside a plain one: only if each reading is excluded, the path is.
#[test]
fn excludes_hold_for_mixed_forms_only_if_every_reading_is_excluded() {
    let text = "excludePaths: [/health, /public/**]\n\
        policies: [{id: shut, effect: deny, subjects: [], resources: [{path: /admin/**}], actions: []}]\n";
    let excluded = |path: &str| enforce(Edition::Strict, text, None, "GET", path) == Enforced::Continue(Why::Excluded);
    for path in ["/health", "/public/a", "/public/a%2fb", "/public/a;x/b%3by", "/public/a%5cb\\c", "/public/a/../b"] {
        assert!(excluded(path), "{path}");
    }
    for path in [
        "/admin/..%2fhealth",
        "/admin/x%5c..\\..%5c..\\health",
        "/public/..%5c..\\admin/x",
        "/public/x/..;/..%3b/admin/x",
        "/public/%2e%2e/../admin/x",
        "/public/%252e%252e/%2e%2e/admin/x",
        "/public/a//../..%2f../admin/x",
        "//public/admin/x",
        "/health%3F/../admin",
        "/public/%00",
    ] {
        assert!(!excluded(path), "{path}");
    }
}

/// `delete` is DELETE to some services and no method to others: neither does it get past a deny nor is it what a permit means.
#[test]
fn a_method_in_small_letters_is_unknown() {
    let text = |effect: &str, more: &str| {
        format!(
            "excludePaths: [{{path: /health, methods: [get]}}]\npolicies:\n{OPEN}\n\
            - {{id: p, effect: {effect}, subjects: [], resources: [], {more}}}\n"
        )
    };
    let denies = text("deny", "actions: [{method: DELETE}]");
    let by_expression =
        text("deny", "actions: [], conditions: [{type: custom, expression: \"action.method == 'DELETE'\"}]");
    let unrelated = text("deny", "actions: [{operation: purge}]");
    for (method, of_deny, otherwise) in
        [("DELETE", false, true), ("delete", false, true), ("Delete", false, true), ("GET", true, true)]
    {
        for policies in [&denies, &by_expression] {
            assert_eq!(goes_on(&enforce(Edition::Strict, policies, None, method, "/x")), of_deny, "{method}");
        }
        assert_eq!(goes_on(&enforce(Edition::Strict, &unrelated, None, method, "/x")), otherwise, "{method}");
    }
    let permits = "- {id: p, effect: permit, subjects: [], resources: [], actions: [{method: get}]}";
    assert!(goes_on(&enforce(Edition::Strict, permits, None, "GET", "/x")));
    assert!(!goes_on(&enforce(Edition::Strict, permits, None, "get", "/x")));
    let excluded =
        |method: &str| enforce(Edition::Strict, &denies, None, method, "/health") == Enforced::Continue(Why::Excluded);
    assert!(excluded("GET") && !excluded("get"));
}
