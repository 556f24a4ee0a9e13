//! Who is let in, and what they may do.

pub(crate) mod issuer;

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use tempfile::TempDir;
use upheld_server::config::{Anonymous, Security, StoreLocation};
use upheld_server::{Config, SecurityError, StartError, start};

use crate::support::{Answer, Served};

const POLICY: &str = r#"{"id": "a", "effect": "permit", "subjects": [], "resources": [], "actions": []}"#;
const PUT: &str = "/v1/documents/AccessPolicy/access/a";
const QUESTION: &str = r#"{"subject": {"id": "ann"}, "action": {"method": "GET"}, "resource": {"path": "/x"}}"#;

fn token(name: &str) -> String {
    format!("upheld_{name}-0123456789abcdef0123456789abcdef")
}

fn tokens(roles: &[&str]) -> String {
    let entries = roles.iter().map(|role| {
        let hash = Sha256::digest(token(role).as_bytes());
        format!("- {{name: {role}-token, roles: [{role}], sha256: '{hash:x}'}}\n")
    });
    format!("tokens:\n{}", entries.collect::<String>())
}

fn file(folder: &TempDir, name: &str, text: &str) -> PathBuf {
    let path = folder.path().join(name);
    fs::write(&path, text).unwrap();
    path
}

fn with_tokens(path: &Path) -> Served {
    let anonymous = Some(Anonymous::Read);
    let security = Security { tokens: Some(path.to_owned()), anonymous, ..Security::default() };
    Served::guarded(Config { security, ..Config::default() })
}

fn asked(served: &Served, method: &str, path: &str, token: &str, body: &str) -> Answer {
    let header = format!("Bearer {token}");
    served.ask(method, path, &[("authorization", &header), ("content-type", "application/json")], body)
}

pub(crate) fn refusal(config: Config) -> String {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let listen = "127.0.0.1:0".parse().unwrap();
    match runtime.block_on(start(Config { listen, ..config })) {
        Err(error) => error.to_string(),
        Ok(_) => panic!("it started"),
    }
}

#[test]
fn who_says_nothing_may_ask_and_read_from_this_machine_but_not_write() {
    let served = Served::guarded(Config::default());
    assert_eq!(served.post("/v1/decide", QUESTION).status, 200);
    assert_eq!(served.get("/v1/revisions").status, 200);
    let refused = served.ask("PUT", PUT, &[], POLICY);
    assert_eq!((refused.status, refused.header("www-authenticate")), (401, Some("Bearer realm=\"upheld\"")));
    assert_eq!(refused.header("content-type"), Some("application/problem+json"));
    assert!(refused.text.contains("`write`") && refused.text.contains("--anonymous read"), "{}", refused.text);
    assert_eq!(served.get("/metrics").status, 401);
    assert_eq!(served.get("/v1/revisions").json()["last"], 0);
}

#[test]
fn the_bootstrap_token_may_do_everything() {
    let served = Served::guarded(Config::default());
    let token = served.running().bootstrap_token().unwrap().to_owned();
    assert!(token.starts_with("upheld_") && token.len() > 40);
    assert_eq!(asked(&served, "PUT", PUT, &token, POLICY).status, 201);
    assert_eq!(served.get("/v1/revisions/1").json()["actor"], "token:bootstrap");
    assert!(!format!("{:?}", served.running()).contains(&token));
    let another = Served::guarded(Config::default());
    assert_ne!(another.running().bootstrap_token(), Some(token.as_str()));
    assert_eq!(asked(&another, "PUT", PUT, &token, POLICY).status, 401);
}

#[test]
fn the_bootstrap_token_is_said_once_and_outlives_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let config = || Config { store: StoreLocation::Folder(data.clone()), ..Config::default() };
    let first = Served::guarded(config());
    let token = first.running().bootstrap_token().unwrap().to_owned();
    drop(first);
    let kept = fs::read_to_string(data.join("bootstrap-token.sha256")).unwrap();
    assert!(!kept.contains(token.trim_start_matches("upheld_")));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(data.join("bootstrap-token.sha256")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    let second = Served::guarded(config());
    assert_eq!(second.running().bootstrap_token(), None);
    assert_eq!(asked(&second, "PUT", PUT, &token, POLICY).status, 201);
    drop(second);
    fs::write(data.join("bootstrap-token.sha256"), "nonsense").unwrap();
    assert!(refusal(config()).contains("64 hexadecimal digits"));
}

#[test]
fn with_tokens_there_is_no_bootstrap_token() {
    let folder = tempfile::tempdir().unwrap();
    let served = with_tokens(&file(&folder, "tokens.yaml", &tokens(&["admin"])));
    assert_eq!(served.running().bootstrap_token(), None);
}

#[test]
fn every_role_may_what_it_says() {
    let folder = tempfile::tempdir().unwrap();
    let roles = ["asker", "viewer", "author", "operator", "admin", "stranger"];
    let served = with_tokens(&file(&folder, "tokens.yaml", &tokens(&roles)));
    let questions = [
        ("POST", "/v1/decide", QUESTION),
        ("GET", "/v1/revisions", ""),
        ("PUT", "/v1/documents/AccessPolicy/access/a?dryRun=true", POLICY),
        ("GET", "/metrics", ""),
    ];
    let expected = [
        ("asker", [true, false, false, false]),
        ("viewer", [true, true, false, false]),
        ("author", [true, true, true, false]),
        ("operator", [true, true, true, true]),
        ("admin", [true, true, true, true]),
        ("stranger", [false, false, false, false]),
    ];
    for (role, expected) in expected {
        let may = questions.map(|(method, path, body)| {
            let status = asked(&served, method, path, &token(role), body).status;
            assert_ne!(status, 401, "{role} {path}");
            status != 403
        });
        assert_eq!(may, expected, "{role}");
    }
    assert_eq!(asked(&served, "GET", "/healthz", &token("stranger"), "").status, 200);
}

/// S4: probes have no token, whatever else is set. They hear one word.
#[test]
fn s4_everybody_hears_whether_the_server_is_ready_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let rights =
        "[{id: logs, effect: permit, subjects: [{role: log-reader}], resources: [{type: document}], actions: []}]";
    let ready = |security: Security| {
        let tokens = Some(file(&folder, "tokens.yaml", &tokens(&["log-reader", "viewer", "asker"])));
        let served = Served::guarded(Config { security: Security { tokens, ..security }, ..Config::default() });
        let of = |headers: &[(&str, &str)]| {
            let answer = served.ask("GET", "/readyz?strict=true", headers, "");
            assert_eq!(answer.header("upheld-revision"), None);
            (answer.status, answer.text)
        };
        let role = |name: &str| of(&[("authorization", &format!("Bearer {}", token(name)))]);
        assert_eq!(of(&[("authorization", "Bearer upheld_unknown")]).0, 401, "whoever says who they are must be known");
        assert_eq!(served.ask("POST", "/readyz", &[], "{}").status, 401, "nothing but reading");
        assert_eq!(served.get("/v1/documents").status, 401);
        (of(&[]), role("asker"), role("log-reader"), role("viewer"))
    };
    let word = || (200, r#"{"status":"ready"}"#.to_owned());
    let anonymous = Some(Anonymous::None);
    let (nobody, asker, reader, viewer) = ready(Security { anonymous, ..Security::default() });
    assert_eq!((nobody, asker, reader), (word(), word(), word()));
    assert!(viewer.0 == 200 && viewer.1.contains("\"stalenessSeconds\":0"), "{viewer:?}");
    let rights = Some(file(&folder, "rights.yaml", rights));
    let (nobody, asker, reader, viewer) = ready(Security { rights, ..Security::default() });
    assert_eq!([nobody, asker, reader, viewer], [word(), word(), word(), word()], "rights that say nothing of it");
}

#[test]
fn a_refusal_says_which_right_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let served = with_tokens(&file(&folder, "tokens.yaml", &tokens(&["viewer"])));
    let refused = asked(&served, "PUT", PUT, &token("viewer"), POLICY);
    assert_eq!((refused.status, &refused.json()["type"]), (403, &"/problems/forbidden".into()));
    let detail = refused.json()["detail"].as_str().unwrap().to_owned();
    assert_eq!(detail, "`viewer-token` does not have the right `write` on `document` here: no policy permits it");
    assert_eq!(served.get("/v1/revisions").json()["last"], 0);
}

#[test]
fn a_wrong_token_is_refused_and_never_anonymous() {
    let folder = tempfile::tempdir().unwrap();
    let served = with_tokens(&file(&folder, "tokens.yaml", &tokens(&["admin"])));
    let right = token("admin");
    let wrong = [
        "Bearer upheld_wrong".to_owned(),
        format!("Bearer {right}x"),
        format!("Bearer {}", right.trim_end_matches('f')),
        format!("Bearer {}", right.replace("upheld_", "")),
        format!("Basic {right}"),
        format!("bearer{right}"),
        "Bearer ".to_owned(),
        "Bearer a.b.c".to_owned(),
        "nonsense".to_owned(),
    ];
    for header in wrong {
        let refused = served.ask("GET", "/v1/revisions", &[("authorization", &header)], "");
        assert_eq!((refused.status, refused.header("www-authenticate").is_some()), (401, true), "{header}");
        assert!(!refused.text.contains(&header) && !refused.text.contains(&right), "{}", refused.text);
    }
    let twice = format!("Bearer {right}");
    let both = [("authorization", twice.as_str()), ("authorization", twice.as_str())];
    assert_eq!(served.ask("GET", "/v1/revisions", &both, "").status, 401);
    assert_eq!(asked(&served, "GET", "/v1/revisions", &right, "").status, 200);
}

#[test]
fn tokens_end_and_are_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let hash = |name: &str| format!("{:x}", Sha256::digest(token(name).as_bytes()));
    let expiring = format!(
        r#"[{{"name": "old", "roles": ["admin"], "sha256": "{}", "expires": "2020-01-01T00:00:00Z"}},
            {{"name": "new", "roles": ["admin"], "sha256": "{}", "expires": "2120-01-01T00:00:00Z"}}]"#,
        hash("old"),
        hash("new")
    );
    let path = file(&folder, "tokens.json", &expiring);
    let served = with_tokens(&path);
    let status = |name: &str| asked(&served, "GET", "/v1/revisions", &token(name), "").status;
    assert_eq!((status("old"), status("new"), status("later")), (401, 200, 401));
    fs::write(&path, format!(r#"[{{"name": "later", "roles": ["admin"], "sha256": "{}"}}]"#, hash("later"))).unwrap();
    served.reload();
    assert_eq!((status("new"), status("later")), (401, 200));
    fs::write(&path, "broken: [").unwrap();
    served.reload();
    assert_eq!(status("later"), 200);
}

#[test]
fn what_is_wrong_with_tokens_is_said_at_the_start_without_repeating_them() {
    let folder = tempfile::tempdir().unwrap();
    let cases = [
        ("- {name: a, sha256: upheld_secret}", "64 hexadecimal digits"),
        ("- {name: a, token: upheld_secret}", "nothing else"),
        (
            "- {name: '', sha256: '0000000000000000000000000000000000000000000000000000000000000000'}",
            "the name is empty",
        ),
        ("tokens: 5", "expected {tokens"),
        ("{tokens: [], upheld_secret: 1}", "expected {tokens"),
        ("a: [", "tokens.yaml"),
    ];
    for (text, expected) in cases {
        let tokens = Some(file(&folder, "tokens.yaml", text));
        let said = refusal(Config { security: Security { tokens, ..Security::default() }, ..Config::default() });
        assert!(said.contains(expected) && !said.contains("upheld_secret"), "{text}: {said}");
    }
    let tokens = Some(folder.path().join("missing.yaml"));
    let said = refusal(Config { security: Security { tokens, ..Security::default() }, ..Config::default() });
    assert!(said.contains("missing.yaml"), "{said}");
}

#[test]
fn operators_bring_their_own_rights() {
    let folder = tempfile::tempdir().unwrap();
    let rights = "
defaultEffect: deny
policies:
- {id: all-may-read, effect: permit, subjects: [], resources: [], actions: [{operation: read}]}
- {id: no-log, effect: deny, description: The log is private, subjects: [], resources: [{type: revision}], actions: []}
- id: team
  effect: permit
  subjects: [{id: author-token, type: token}]
  resources: [{path: /v1/documents/AccessPolicy/**}]
  actions: [{operation: write, method: PUT}]
";
    let path = file(&folder, "rights.yaml", rights);
    let security = Security {
        tokens: Some(file(&folder, "tokens.yaml", &tokens(&["author"]))),
        rights: Some(path.clone()),
        ..Security::default()
    };
    let served = Served::guarded(Config { security, ..Config::default() });
    assert_eq!(served.post("/v1/decide", QUESTION).status, 401);
    assert_eq!(served.get("/openapi.json").status, 200);
    assert_eq!(asked(&served, "PUT", PUT, &token("author"), POLICY).status, 201);
    assert_eq!(asked(&served, "DELETE", PUT, &token("author"), "").status, 403);
    let refused = asked(&served, "GET", "/v1/revisions", &token("author"), "");
    assert_eq!(refused.status, 403);
    assert!(refused.text.contains("`no-log`") && refused.text.contains("The log is private"), "{}", refused.text);
    fs::write(&path, rights.replace("method: PUT", "method: '*'")).unwrap();
    served.reload();
    assert!(asked(&served, "DELETE", PUT, &token("author"), "").status < 300);
    fs::write(&path, "policies: [{id: x}]").unwrap();
    served.reload();
    assert_eq!(served.get("/openapi.json").status, 200);
}

/// The right of the documentation, which is to some names only, and ways to write other names so that they look like these.
#[test]
fn s1_a_right_to_some_names_reaches_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let rights = "
defaultEffect: deny
policies:
- {id: admins, effect: permit, subjects: [{role: admin}], resources: [], actions: []}
- id: payments-team
  effect: permit
  subjects: [{role: payments}]
  resources: [{path: /v1/documents/AccessPolicy/access/payments-*}]
  actions: [{operation: [read, write]}]
";
    let security = Security {
        tokens: Some(file(&folder, "tokens.yaml", &tokens(&["admin", "payments"]))),
        rights: Some(file(&folder, "rights.yaml", rights)),
        ..Security::default()
    };
    let served = Served::guarded(Config { security, ..Config::default() });
    let policy = |id: &str, effect: &str| POLICY.replace("\"a\"", &format!("\"{id}\"")).replace("permit", effect);
    let at = |path: &str| format!("/v1/documents/{path}");
    let put = |who: &str, path: &str, body: &str| asked(&served, "PUT", &at(path), &token(who), body).status;
    assert_eq!(put("admin", "AccessPolicy/access/other", &policy("other", "deny")), 201);
    assert_eq!(put("payments", "AccessPolicy/access/payments-1", &policy("payments-1", "deny")), 201);
    let manifest = r#"{"kind": "AccessManifest", "id": "a/../../../AccessPolicy/access/payments-1", "name": "a/../../../AccessPolicy/access/payments-1",
        "defaultEffect": "permit", "policies": []}"#;
    for path in [
        "AccessManifest/access/a%2F..%2F..%2F..%2FAccessPolicy%2Faccess%2Fpayments-1",
        "AccessManifest/access/a/../../../AccessPolicy/access/payments-1",
        "AccessManifest/access/%2e%2e%2f%2e%2e%2fAccessPolicy%2faccess%2fpayments-1",
    ] {
        assert!((400..500).contains(&put("payments", path, manifest)), "{path}");
    }
    for path in [
        "AccessPolicy/access/other",
        "AccessPolicy/access/payments-1%2F..%2Fother",
        "AccessPolicy/access/payments-1/../other",
        "AccessPolicy/access/payments-%2F..%2F..%2Faccess%2Fother",
    ] {
        assert!((400..500).contains(&put("payments", path, &policy("other", "permit"))), "{path}");
        let gone = asked(&served, "DELETE", &at(path), &token("payments"), "").status;
        assert!((400..500).contains(&gone), "{path}: {gone}");
    }
    let listed = asked(&served, "GET", "/v1/documents", &token("admin"), "").json();
    let ids: Vec<&str> = listed["items"].as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["AccessPolicy/access/other", "AccessPolicy/access/payments-1"]);
    assert_eq!(asked(&served, "POST", "/v1/decide", &token("admin"), QUESTION).json()["decision"], "deny");
}

#[test]
fn whoever_is_refused_before_they_said_all_asks_again_elsewhere() {
    let served = Served::guarded(Config::default());
    let mut stream = served.connect();
    stream.write_all(format!("PUT {PUT} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\n\r\n").as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 401") && answer.contains("connection: close"), "{answer}");
}

/// Admins may do everything, viewers ask for explanations and see some policies.
fn with_viewers(folder: &TempDir) -> Served {
    let rights = "
defaultEffect: deny
policies:
- {id: admins, effect: permit, subjects: [{role: admin}], resources: [], actions: []}
- {id: asking, effect: permit, subjects: [{role: viewer}], resources: [{type: explanation}], actions: [{operation: ask}]}
- id: seeing
  effect: permit
  subjects: [{role: viewer}]
  resources: [{type: policy, app: access, path: /AccessPolicy/public-*}, {type: object}]
  actions: [{operation: see}]
";
    let security = Security {
        tokens: Some(file(folder, "tokens.yaml", &tokens(&["admin", "viewer"]))),
        rights: Some(file(folder, "rights.yaml", rights)),
        ..Security::default()
    };
    Served::guarded(Config { security, ..Config::default() })
}

#[test]
fn lists_of_who_may_reach_what_show_what_one_may_see() {
    let folder = tempfile::tempdir().unwrap();
    let served = with_viewers(&folder);
    let policy = |id: &str, says: &str, subject: &str| {
        format!(
            r#"{{"id": "{id}", "description": "{says}", "effect": "permit", "subjects": [{subject}], "resources": [], "actions": []}}"#
        )
    };
    let documents = [
        policy("public-one", "for all to see", r#"{"id": "ann"}"#),
        policy("private-one", "between us", r#"{"id": "bob"}"#),
        policy("private-two", "between others", r#"{"claim": {"name": "age", "operator": "gt", "value": 5}}"#),
        r#"{"kind": "Directory", "subjects": [{"type": "user", "id": "ann", "properties": {"age": 1}},
            {"type": "user", "id": "bob", "properties": {"age": 1}}, {"type": "user", "id": "cid"}]}"#
            .to_owned(),
    ];
    let batch = format!(r#"{{"put": [{}]}}"#, documents.join(","));
    let written = asked(&served, "POST", "/v1/revisions", &token("admin"), &batch);
    assert_eq!(written.status, 201, "{}", written.text);
    let question = r#"{"action": "read", "resource": "/a"}"#;
    let reached = |role: &str| asked(&served, "POST", "/v1/reach", &token(role), question);
    let whole = reached("admin");
    let decisions = |answer: &Answer| -> Vec<String> {
        let items = answer.json()["items"].as_array().cloned().unwrap_or_default();
        items.iter().map(|item| format!("{} {}", item["subject"]["id"], item["decision"])).collect()
    };
    let expected = [r#""ann" "permit""#, r#""bob" "permit""#, r#""cid" "undecided""#];
    assert_eq!(decisions(&whole), expected, "{}", whole.text);
    assert!(
        ["private-one", "private-two", "between us"].iter().all(|word| whole.text.contains(word)),
        "{}",
        whole.text
    );
    assert!(!whole.text.contains("redacted"), "{}", whole.text);
    let cut = reached("viewer");
    assert_eq!(decisions(&cut), expected, "{}", cut.text);
    assert!(cut.text.contains("public-one") && cut.text.contains("for all to see"), "{}", cut.text);
    assert!(["private", "between", "wants"].iter().all(|word| !cut.text.contains(word)), "{}", cut.text);
    assert!(!cut.text.contains("redacted"), "what is hidden is not counted: {}", cut.text);
}

#[test]
fn explanations_show_what_one_may_see() {
    let folder = tempfile::tempdir().unwrap();
    let served = with_viewers(&folder);
    let policies = ["public-one", "private-one"].map(|id| POLICY.replace("\"a\"", &format!("\"{id}\"")));
    let batch = format!(r#"{{"put": [{}]}}"#, policies.join(","));
    assert_eq!(asked(&served, "POST", "/v1/revisions", &token("admin"), &batch).status, 201);
    let question = format!(r#"{{"request": {QUESTION}}}"#);
    let explained = |role: &str| asked(&served, "POST", "/v1/explain", &token(role), &question);
    let whole = explained("admin");
    assert_eq!(whole.status, 200, "{}", whole.text);
    assert!(whole.text.contains("private-one") && !whole.text.contains("redacted"), "{}", whole.text);
    let cut = explained("viewer");
    assert!(cut.text.contains("public-one") && !cut.text.contains("private-one"), "{}", cut.text);
    assert!(!cut.text.contains("redacted"), "what is hidden is not counted: {}", cut.text);

    let context = QUESTION.replace("\"ann\"", "\"ann\", \"roles\": [], \"groups\": [], \"claims\": {}");
    let explained = |role: &str| asked(&served, "POST", "/authz/api/explain", &token(role), &context);
    let whole = explained("admin");
    assert!(whole.text.contains("private-one") && !whole.text.contains("redacted"), "{}", whole.text);
    let cut = explained("viewer");
    assert!(cut.text.contains("public-one") && !cut.text.contains("private-one"), "{}", cut.text);
    assert!(!cut.text.contains("redacted"), "what is hidden is not counted: {}", cut.text);
}

#[test]
fn broken_rights_are_refused_with_their_places() {
    let folder = tempfile::tempdir().unwrap();
    let rights = Some(file(&folder, "rights.yaml", "policies:\n- {id: x, effect: permit, subjcts: []}\n"));
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let security = Security { rights, ..Security::default() };
    let listen = "127.0.0.1:0".parse().unwrap();
    let started = runtime.block_on(start(Config { security, listen, ..Config::default() }));
    let Err(StartError::Security(SecurityError::Rights { broken, .. })) = started else { panic!("it started") };
    assert!(broken.diagnostics.as_slice().iter().any(|found| found.message.contains("subjcts")));
    let rights = Some(file(&folder, "empty.yaml", "kind: Mesh\nname: x\ntype: Mesh\n"));
    let said = refusal(Config { security: Security { rights, ..Security::default() }, ..Config::default() });
    assert!(said.contains("rights") || said.contains("no access policies"), "{said}");
}

#[test]
fn clients_behind_a_proxy_of_this_machine_are_not_of_this_machine() {
    let served = Served::guarded(Config::default());
    for header in ["x-forwarded-for", "x-real-ip", "forwarded"] {
        assert_eq!(served.ask("GET", "/v1/revisions", &[(header, "127.0.0.1")], "").status, 401, "{header}");
    }
    assert_eq!(served.ask("GET", "/v1/revisions", &[("host", "evil.example")], "").status, 421);
    assert_eq!(served.ask("GET", "/v1/revisions", &[("host", "localhost:8181")], "").status, 200);
    let passed_on = [("x-forwarded-for", "192.0.2.7"), ("host", "shop.example"), ("origin", "https://shop.example")];
    assert_ne!(
        served.ask("GET", "/forward-auth/x", &passed_on, "").header("x-policy-decision"),
        None,
        "of another request"
    );
}

#[test]
fn refusals_have_the_form_of_their_endpoint() {
    let served = Served::guarded(Config::default());
    let wrong = |method: &str, path: &str| asked(&served, method, path, "upheld_wrong", "");
    let text = wrong("POST", "/access/v1/evaluation");
    assert_eq!((text.status, text.header("content-type")), (401, Some("text/plain; charset=utf-8")));
    let seed = wrong("GET", "/authz/api/policies");
    assert_eq!((seed.status, &seed.json()["error"]), (401, &"Unauthorized".into()));
    let kuma = wrong("GET", "/meshes/default/dataplanes");
    assert_eq!((kuma.status, &kuma.json()["type"], &kuma.json()["status"]), (401, &"/std-errors".into(), &401.into()));
    let forward = wrong("GET", "/forward-auth/api/users");
    assert_eq!((forward.status, &forward.json()["error"]), (401, &"Unauthorized".into()));
    let grpc = wrong("POST", "/envoy.service.auth.v3.Authorization/Check");
    assert_eq!((grpc.status, grpc.header("grpc-status")), (200, Some("16")));
    let folder = tempfile::tempdir().unwrap();
    let served = with_tokens(&file(&folder, "tokens.yaml", &tokens(&["stranger"])));
    let grpc = asked(&served, "POST", "/envoy.service.auth.v3.Authorization/Check", &token("stranger"), "");
    assert_eq!((grpc.status, grpc.header("grpc-status")), (200, Some("7")));
}

#[test]
fn headers_of_a_request_that_is_asked_about_are_not_those_of_the_proxy() {
    let served = Served::guarded(Config::default());
    let passed_on = [("authorization", "Bearer eyJ.of.somebody")];
    assert_ne!(served.ask("GET", "/forward-auth/x", &passed_on, "").status, 401);
    assert_eq!(served.ask("GET", "/v1/revisions", &passed_on, "").status, 401);
}

#[test]
fn an_open_server_lets_everybody_do_everything() {
    let served = Served::start(Config::default());
    assert_eq!(served.running().bootstrap_token(), None);
    assert_eq!(served.ask("PUT", PUT, &[], POLICY).status, 201);
    assert_eq!(asked(&served, "GET", "/v1/revisions", "whatever", "").status, 200);
    assert_eq!(served.get("/v1/revisions/1").json()["actor"], "anonymous");
}
