//! Findings about the server, each with its number.

use std::fs;
use std::io::{Read, Write};
use std::path::PathBuf;

use serde_json::{Value as Json, json};
use sha2::{Digest, Sha256};
use tempfile::TempDir;
use upheld_server::config::{Anonymous, Security, StoreLocation};
use upheld_server::{Config, start};

use crate::support::{Answer, Served, eventually};

const JSON: (&str, &str) = ("content-type", "application/json");

fn token(name: &str) -> String {
    format!("upheld_{name}-0123456789abcdef0123456789abcdef")
}

fn tokens(names: &[&str]) -> String {
    let entry = |name: &&str| {
        format!("- {{name: {name}, roles: [admin], sha256: '{:x}'}}\n", Sha256::digest(token(name).as_bytes()))
    };
    format!("tokens:\n{}", names.iter().map(entry).collect::<String>())
}

fn file(folder: &TempDir, name: &str, text: &str) -> PathBuf {
    let path = folder.path().join(name);
    fs::write(&path, text).unwrap();
    path
}

fn guarded(folder: &TempDir, names: &[&str]) -> Served {
    let tokens = Some(file(folder, "tokens.yaml", &tokens(names)));
    let security = Security { tokens, anonymous: Some(Anonymous::Read), ..Security::default() };
    Served::guarded(Config { security, ..Config::default() })
}

fn asked(served: &Served, name: &str, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
    let bearer = format!("Bearer {}", token(name));
    let headers: Vec<(&str, &str)> = headers.iter().copied().chain([("authorization", bearer.as_str())]).collect();
    served.ask(method, path, &headers, body)
}

fn policy(id: &str, path: &str) -> Json {
    json!({"id": id, "effect": "permit", "subjects": [], "resources": [{"path": path}], "actions": []})
}

#[test]
fn s10_if_match_counts_for_batches() {
    let served = Served::start(Config::default());
    let batch = |id: &str| json!({"put": [policy(id, "/x")]}).to_string();
    let post = |tag: &str, id: &str| served.ask("POST", "/v1/revisions", &[JSON, ("if-match", tag)], &batch(id)).status;
    assert_eq!(post("\"0\"", "a"), 201);
    assert_eq!(post("\"0\"", "b"), 412);
    assert_eq!(post("\"1\"", "b"), 201);
    assert_eq!(post("*", "c"), 201);
    assert_eq!(post("one", "d"), 400);
    assert_eq!(served.ask("POST", "/v1/revisions", &[JSON, ("if-none-match", "*")], &batch("e")).status, 400);
    assert_eq!(served.get("/v1/revisions").json()["last"], 3);
}

#[test]
fn s11_keys_of_requests_are_their_authors_own() {
    let folder = tempfile::tempdir().unwrap();
    let served = guarded(&folder, &["ann", "bob"]);
    let put = |name: &str, id: &str| {
        let path = format!("/v1/documents/AccessPolicy/access/{id}");
        asked(&served, name, "PUT", &path, &[JSON, ("idempotency-key", "one")], &policy(id, "/x").to_string())
    };
    assert_eq!(put("ann", "a").status, 201);
    assert_eq!(put("ann", "b").json()["type"], "/problems/idempotency-key-reused");
    // The same name is another key.
    assert_eq!(put("bob", "b").status, 201);
    assert_eq!(put("ann", "a").json()["revision"], 1);
}

#[test]
fn s11_a_write_that_changed_nothing_is_remembered() {
    let served = Served::start(Config::default());
    let path = "/v1/documents/AccessPolicy/access/a";
    let put = |key: &str, target: &str| {
        served.ask("PUT", path, &[JSON, ("idempotency-key", key)], &policy("a", target).to_string()).status
    };
    assert_eq!(put("first", "/x"), 201);
    assert_eq!(put("same", "/x"), 200);
    assert_eq!(put("other", "/y"), 201);
    // The retry of what changed nothing does not take back what came after it.
    assert_eq!(put("same", "/x"), 200);
    assert_eq!(served.get(path).json()["document"]["resources"][0]["path"], "/y");
    assert_eq!(served.get("/v1/revisions").json()["last"], 2);
}

#[test]
fn s12_a_write_says_what_it_is() {
    let served = Served::start(Config::default());
    let body = policy("a", "/x").to_string();
    let path = "/v1/documents/AccessPolicy/access/a";
    let batch = json!({"put": [policy("a", "/x")]}).to_string();
    for (method, path, body) in
        [("PUT", path, &body), ("POST", "/v1/revisions", &batch), ("POST", "/authz/api/policies", &body)]
    {
        assert_eq!(served.ask_bare(method, path, &[], body).status, 415, "{method} {path}");
        assert_eq!(served.ask(method, path, &[("content-type", "text/plain")], body).status, 415, "{method} {path}");
        assert_eq!(
            served.ask(method, path, &[JSON, ("content-encoding", "gzip")], body).status,
            415,
            "{method} {path}"
        );
    }
    assert_eq!(served.get("/v1/revisions").json()["last"], 0);
    // Questions change nothing.
    let request =
        json!({"subject": {"id": "ann"}, "action": {"method": "GET"}, "resource": {"path": "/x"}}).to_string();
    assert_eq!(served.ask_bare("POST", "/v1/decide", &[], &request).status, 200);
}

#[test]
fn s13_the_first_token_is_kept_once_the_server_runs() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let broken = file(&folder, "broken.yaml", "id: [");
    let kept = data.join("bootstrap-token.sha256");
    let store = StoreLocation::Folder(data.clone());
    let config = || Config { store: store.clone(), listen: "127.0.0.1:0".parse().unwrap(), ..Config::default() };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    assert!(runtime.block_on(start(Config { watch: vec![broken], ..config() })).is_err());
    assert!(!kept.exists(), "nobody saw the token");
    // A start that was stopped while it wrote is none.
    fs::write(&kept, "").unwrap();
    let served = Served::guarded(config());
    let token = served.running().bootstrap_token().unwrap().to_owned();
    drop(served);
    let again = Served::guarded(config());
    assert_eq!(again.running().bootstrap_token(), None);
    let bearer = format!("Bearer {token}");
    assert_eq!(again.ask("GET", "/metrics", &[("authorization", &bearer)], "").status, 200);
}

#[test]
fn s14_a_reload_tells_what_is_broken() {
    let folder = tempfile::tempdir().unwrap();
    let served = guarded(&folder, &["ann"]);
    let reload = || asked(&served, "ann", "POST", "/v1/reload", &[], "");
    assert_eq!(reload().status, 200);
    file(&folder, "tokens.yaml", "tokens: [{name: x}]\n");
    let broken = reload();
    assert_eq!((broken.status, &broken.json()["type"]), (422, &json!("/problems/invalid-security")), "{}", broken.text);
    assert!(broken.text.contains("tokens.yaml"), "{}", broken.text);
    file(&folder, "tokens.yaml", &tokens(&["ann"]));
    assert_eq!(reload().status, 200);
}

#[test]
fn s17_streams_end_with_the_token_and_with_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let served = guarded(&folder, &["ann", "bob"]);
    let follow = |name: &str| {
        let mut stream = served.connect();
        let head =
            format!("GET /v1/events HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {}\r\n\r\n", token(name));
        stream.write_all(head.as_bytes()).unwrap();
        let mut first = [0; 15];
        stream.read_exact(&mut first).unwrap();
        assert_eq!(&first, b"HTTP/1.1 200 OK");
        stream
    };
    let mut stream = follow("ann");
    file(&folder, "tokens.yaml", &tokens(&["bob"]));
    served.reload();
    let mut rest = String::new();
    // It would wait for the next event otherwise, until the client gives up.
    stream.read_to_string(&mut rest).unwrap();
    assert!(rest.ends_with("0\r\n\r\n"), "{rest}");
    let mut stream = follow("bob");
    let ended = std::thread::spawn(move || stream.read_to_string(&mut String::new()).is_ok());
    drop(served);
    assert!(ended.join().unwrap());
}

#[cfg(unix)]
#[test]
fn s18_links_do_not_lead_out_of_a_watched_folder() {
    use std::os::unix::fs::symlink;
    let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let text = policy("a", "/a").to_string();
    let secret = file(&elsewhere, "secret.json", &policy("secret", "/s").to_string());
    // As configuration is mounted: links inside of the folder.
    fs::create_dir(folder.path().join("..data")).unwrap();
    fs::write(folder.path().join("..data/a.json"), &text).unwrap();
    symlink("..data/a.json", folder.path().join("a.json")).unwrap();
    let served = Served::start(Config { watch: vec![folder.path().to_owned()], ..Config::default() });
    let listed = || served.get("/v1/policies").text;
    assert!(listed().contains("AccessPolicy/access/a"), "{}", listed());
    symlink(&secret, folder.path().join("b.json")).unwrap();
    served.reload();
    assert!(!listed().contains("secret"));
    eventually(|| served.get("/readyz").text.contains("leads out of the watched folder"));
    fs::remove_file(folder.path().join("b.json")).unwrap();
    served.reload();
    eventually(|| served.get("/readyz").json()["status"] == "ready");
}

#[test]
fn s19_actors_say_how_they_proved_who_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let served = guarded(&folder, &["ann"]);
    let written =
        asked(&served, "ann", "PUT", "/v1/documents/AccessPolicy/access/a", &[JSON], &policy("a", "/x").to_string());
    assert_eq!(written.status, 201, "{}", written.text);
    assert_eq!(asked(&served, "ann", "GET", "/v1/revisions/1", &[], "").json()["actor"], "token:ann");
}

#[test]
fn nobody_waits_for_a_revision_that_was_never_written() {
    let served = Served::start(Config::default());
    for far in ["1001", "999999999", "9223372036854775808"] {
        assert_eq!(served.get(&format!("/v1/documents?minRevision={far}")).status, 404, "{far}");
    }
    assert_eq!(served.get("/v1/documents?minRevision=0").status, 200);
}
