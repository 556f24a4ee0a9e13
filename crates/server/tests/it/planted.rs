//! Secrets are planted in every request and in every setting, and looked for wherever the server writes or answers something.
//!
//! Logs belong to a process, so the test runs itself as another one, whose standard error is the log.

use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use serde_json::json;
use sha2::{Digest, Sha256};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use upheld_server::config::{
    Anonymous, DecisionLog, DecisionLogTo, Jwt, KeysLocation, LogFormat, Operations, Security, StoreLocation, Tls,
};
use upheld_server::{Config, doctor, start, telemetry};

use crate::grpc::Checker;
use crate::strangers::endpoints;
use crate::support::{Answer, Served, behind_proxy};

/// A part of every secret.
const PLANTED: &str = "pl4nted";

/// Says in the other process how its log looks.
const ROLE: &str = "UPHELD_TEST_PLANTED";

/// A token that counts.
const TOKEN: &str = "upheld_pl4nted-known-0123456789abcdef0123456789";

fn web_token() -> String {
    format!("eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJ{PLANTED}.{PLANTED}-signature")
}

/// Every header that lets somebody in, besides the one that counts.
fn headers() -> Vec<(&'static str, String)> {
    vec![
        ("cookie", format!("upheld={PLANTED}-cookie; session={}", web_token())),
        ("proxy-authorization", format!("Basic {PLANTED}-proxy")),
        ("x-api-key", format!("{PLANTED}-key")),
        ("x-auth-token", format!("{PLANTED}-auth")),
        ("x-amz-security-token", web_token()),
        ("idempotency-key", format!("{PLANTED}-idempotency")),
    ]
}

/// What a proxy passes on of a request that it asks about.
fn forwarded() -> Vec<(&'static str, String)> {
    vec![
        ("x-original-uri", format!("/x?token={PLANTED}-forwarded&access_token={}", web_token())),
        ("x-original-method", "GET".to_owned()),
        ("x-identity", json!({"sub": "ann", "claims": {"password": PLANTED, "token": web_token()}}).to_string()),
    ]
}

/// A body with secrets in all the parts that requests for decisions have.
fn body(path: &str) -> String {
    let secrets = json!({
        "Authorization": format!("Bearer {PLANTED}-body"), "cookie": format!("a={PLANTED}-body"),
        "password": format!("{PLANTED}-body"), "note": format!("it was {}", web_token()),
    });
    let (subject, resource) = (json!({"id": "ann", "claims": secrets}), format!("/x?api_key={PLANTED}-body"));
    let own = json!({
        "subject": subject, "action": {"method": "GET"}, "environment": {"token": format!("{PLANTED}-body")},
        "resource": {"path": resource, "headers": secrets},
    });
    let other = json!({
        "subject": {"type": "user", "id": "ann", "properties": secrets}, "action": {"name": "GET", "properties": secrets},
        "resource": {"type": "route", "id": resource, "properties": secrets}, "context": secrets,
    });
    let body = match path {
        "/v1/decide:batch" => json!({"requests": [own]}),
        "/access/v1/evaluations" => json!({"evaluations": [other]}),
        path if path.starts_with("/access/v1") => other,
        _ => own,
    };
    body.to_string()
}

/// What says a secret, all of it.
static FOUND: Mutex<Vec<String>> = Mutex::new(Vec::new());

fn looked_at(what: &str, text: &str) {
    let lines: Vec<&str> = text.lines().filter(|line| line.contains(PLANTED)).collect();
    if !lines.is_empty() {
        FOUND.lock().unwrap().push(format!("{what} says a secret: {}", lines.join("\n")));
    }
}

fn nothing_was_found() {
    let found = FOUND.lock().unwrap();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// An answer may say to its caller what the body was about; headers, cookies and what stands behind `?` it never says.
fn answered(what: &str, answer: &Answer) {
    let said = answer.text.replace(&format!("{PLANTED}-body"), "");
    looked_at(what, &said);
    looked_at(what, &format!("{:?}", answer.headers));
}

/// A collector of traces that keeps what it gets.
async fn collector() -> (String, Arc<Mutex<Vec<u8>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let received = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&received);
    let keep = move |body: Bytes| async move {
        kept.lock().unwrap().extend_from_slice(&body);
        ([("content-type", "application/grpc"), ("grpc-status", "0")], &[0_u8, 0, 0, 0, 0][..])
    };
    tokio::spawn(async move { axum::serve(listener, Router::new().fallback(keep)).await });
    (address, received)
}

fn security(folder: &TempDir) -> Security {
    let path = folder.path().join("tokens.yaml");
    let hash = Sha256::digest(TOKEN.as_bytes());
    std::fs::write(&path, format!("tokens: [{{name: known, roles: [admin], sha256: '{hash:x}'}}]")).unwrap();
    Security { tokens: Some(path), anonymous: Some(Anonymous::Decide), ..Security::default() }
}

/// Sends every endpoint all secrets, and looks at what comes back.
fn ask_everything(served: &Served) {
    let (planted, forwarded) = (headers(), forwarded());
    let bearers = [format!("Bearer {TOKEN}"), format!("Bearer {}", web_token()), format!("Basic {PLANTED}-basic")];
    for (method, path) in endpoints(served, &bearers[0]) {
        for bearer in &bearers {
            let asks = forwarded.iter().filter(|_| path.starts_with("/forward-auth"));
            let mut all: Vec<(&str, &str)> =
                planted.iter().chain(asks).map(|(name, value)| (*name, value.as_str())).collect();
            all.push(("authorization", bearer));
            let separator = if path.contains('?') { '&' } else { '?' };
            let address = format!("{path}{separator}token={PLANTED}-query&access_token={}", web_token());
            let body = if matches!(method.as_str(), "GET" | "HEAD" | "DELETE" | "TRACE" | "OPTIONS") {
                String::new()
            } else {
                body(&path)
            };
            answered(&format!("{method} {path}"), &served.ask(&method, &address, &all, &body));
        }
    }
    let own: Vec<(&str, &str)> =
        planted.iter().chain(&forwarded).map(|(name, value)| (*name, value.as_str())).collect();
    Checker::new(served.base()).check("GET", &format!("/x?token={PLANTED}-grpc"), "a.example", &own, "");
    // What is no request at all, with a secret in it.
    for broken in [
        format!("GET /x?token={PLANTED}-raw HTTP/9.9\r\nauthorization: Bearer {PLANTED}\r\n\r\n"),
        format!("GET / HTTP/1.1\r\nhost: a\r\nauthorization: Bearer {PLANTED}\u{1}\r\nconnection: close\r\n\r\n"),
        format!(
            "POST /v1/decide HTTP/1.1\r\nhost: a\r\ncontent-length: 9999999999999999999999\r\ncookie: {PLANTED}\r\n\r\n"
        ),
    ] {
        looked_at(&broken.replace(PLANTED, "…"), &served.raw(broken.as_bytes()));
    }
}

/// Settings that cannot work, each with a secret: what is said about them has none.
fn wrong_settings(runtime: &Runtime, folder: &Path) {
    let key = folder.join("server.key");
    let lines = format!("-----BEGIN PRIVATE KEY-----\n{PLANTED}key\n-----END PRIVATE KEY-----\n");
    std::fs::write(&key, lines).unwrap();
    let certificate = folder.join("server.pem");
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    std::fs::write(&certificate, made.cert.pem()).unwrap();
    let tokens = folder.join("broken.yaml");
    std::fs::write(&tokens, format!("tokens: [{{name: ci, token: {TOKEN}, sha256: {PLANTED}}}]")).unwrap();
    let keys = folder.join("broken.json");
    std::fs::write(&keys, format!("{{\"keys\": [{{\"kty\": \"oct\", \"k\": \"{PLANTED}\"}}], \"{PLANTED}")).unwrap();
    let url = format!("http://user:{PLANTED}-password@127.0.0.1:1/keys");
    let jwt = |keys: KeysLocation| Security { jwt: Some(Jwt::new(keys, "upheld")), ..Security::default() };
    let with = |security: Security| Config { security, ..Config::default() };
    let database = |url: &str| Config { store: StoreLocation::Postgres(url.to_owned()), ..Config::default() };
    let configurations = [
        with(Security { tls: Some(Tls { certificate, key, clients: None }), ..Security::default() }),
        with(Security { tokens: Some(tokens), ..Security::default() }),
        with(jwt(KeysLocation::File(keys))),
        with(jwt(KeysLocation::Url { url, authority: None })),
        with(jwt(KeysLocation::Url { url: format!("ftp://user:{PLANTED}@127.0.0.1/"), authority: None })),
        database(&format!("postgres://user:{PLANTED}-password@127.0.0.1:1/upheld")),
        database(&format!("postgres://user:{PLANTED}-password@127.0.0.1:port/upheld")),
        database(&format!("postgres://user@127.0.0.1:1/upheld?password={PLANTED}-parameter&sslmode=odd")),
        Config {
            operations: Operations {
                otlp: Some(format!("http://user:{PLANTED}@127.0.0.1:1")),
                ..Operations::default()
            },
            ..Config::default()
        },
    ];
    for configuration in configurations {
        looked_at("the configuration", &format!("{:?}", configuration.store));
        let findings = doctor::examine(&configuration);
        looked_at("doctor", &format!("{findings:?}"));
        let configuration = Config { listen: "127.0.0.1:0".parse().unwrap(), ..configuration };
        match runtime.block_on(start(configuration)) {
            Ok(running) => runtime.block_on(running.stop()),
            Err(error) => looked_at("a server that does not start", &format!("{error} {error:?}")),
        }
    }
}

/// All of it, in a process of its own.
fn scenario(log_format: LogFormat) {
    let folder = tempfile::tempdir().unwrap();
    let runtime = Runtime::new().unwrap();
    let (otlp, traces) = runtime.block_on(collector());
    let decisions = folder.path().join("decisions.jsonl");
    let operations = Operations {
        log: Some("debug".to_owned()),
        log_format,
        otlp: Some(otlp),
        decision_log: Some(DecisionLog::new(DecisionLogTo::File(decisions.clone()))),
        ..Operations::default()
    };
    let guard = {
        let _inside = runtime.enter();
        telemetry::init(&operations)
    };
    let config = Config { operations, security: security(&folder), ..behind_proxy(&[]) };
    let served = Served::guarded(config);
    ask_everything(&served);
    let bearer = format!("Bearer {TOKEN}");
    let metrics = served.ask("GET", "/metrics", &[("authorization", &bearer)], "");
    assert_eq!(metrics.status, 200);
    looked_at("metrics", &metrics.text);
    served.reload();
    drop(served);
    // A token that is made for the first start is for the one who starts it, and in no log.
    let first = Config { store: StoreLocation::Folder(folder.path().join("data")), ..Config::default() };
    let served = Served::guarded(first);
    let bootstrap = served.running().bootstrap_token().map(ToString::to_string);
    drop(served);
    println!("bootstrap: {}", bootstrap.unwrap_or_default());
    wrong_settings(&runtime, folder.path());
    drop(guard);
    let log = std::fs::read_to_string(&decisions).unwrap();
    for surface in ["http", "authzen", "forward", "grpc"] {
        assert!(log.contains(&format!("\"surface\":\"{surface}\"")), "decisions are written: {surface}: {log}");
    }
    looked_at("the decision log", &log);
    let traces = traces.lock().unwrap();
    let traces = String::from_utf8_lossy(&traces);
    assert!(traces.contains("/v1/decide"), "traces arrive");
    looked_at("traces", &traces);
    nothing_was_found();
}

#[test]
fn s8_no_surface_says_a_planted_secret() {
    match std::env::var(ROLE).as_deref() {
        Ok("text") => return scenario(LogFormat::Text),
        Ok(_) => return scenario(LogFormat::Json),
        Err(_) => {}
    }
    for role in ["text", "json"] {
        let mut other = Command::new(std::env::current_exe().unwrap());
        other.args(["--exact", "planted::s8_no_surface_says_a_planted_secret", "--nocapture"]).env(ROLE, role);
        let output = other.env_remove("RUST_LOG").env_remove("UPHELD_LOG").output().unwrap();
        let (out, log) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{out}\n{log}");
        assert!(log.contains("/v1/decide"), "requests are in the log: {log}");
        looked_at("the log", &log);
        nothing_was_found();
        let bootstrap =
            out.lines().find_map(|line| line.split_once("bootstrap: ")).map(|(_, token)| token.trim().to_owned());
        let bootstrap = bootstrap.filter(|token| !token.is_empty()).expect("a token was made");
        assert!(!log.contains(&bootstrap), "the log says the first token");
    }
}
