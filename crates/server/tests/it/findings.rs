//! Findings about the server, each with its number.

use std::fs;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

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

/// From the first start on, nobody else reads what a server keeps.
#[cfg(unix)]
#[test]
fn s7_what_a_server_keeps_is_for_its_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("new/data");
    let served = Served::guarded(Config { store: StoreLocation::Folder(data.clone()), ..Config::default() });
    let bearer = format!("Bearer {}", served.running().bootstrap_token().unwrap());
    let body = policy("a", "/x").to_string();
    let path = "/v1/documents/AccessPolicy/access/a";
    assert_eq!(served.ask("PUT", path, &[JSON, ("authorization", &bearer)], &body).status, 201);
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&data), 0o700);
    let files: Vec<PathBuf> = fs::read_dir(&data).unwrap().map(|file| file.unwrap().path()).collect();
    assert!(files.len() >= 2, "the log and the first token: {files:?}");
    for file in files {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
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

    let all = "{defaultEffect: deny, policies: [{id: all, effect: permit, subjects: [], resources: [], actions: []}]}";
    let rights = file(&folder, "rights.yaml", all);
    let security = Security { rights: Some(rights), ..Security::default() };
    let served = Served::guarded(Config { security, ..Config::default() });
    assert_eq!(served.post("/v1/reload", "").status, 200);
    file(&folder, "rights.yaml", "{defaultEffect: deny, policies: [{id: all, effect: permitt}]}");
    let broken = served.post("/v1/reload", "");
    assert_eq!((broken.status, &broken.json()["type"]), (422, &json!("/problems/invalid-security")), "{}", broken.text);
    assert!(broken.text.contains("rights.yaml"), "{}", broken.text);
    assert_eq!(served.get("/v1/documents").status, 200, "the rights of before hold");
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
    let begun = Instant::now();
    drop(served);
    assert!(ended.join().unwrap());
    // What is asked is given twenty seconds at the end; a stream asks for nothing any more.
    assert!(begun.elapsed() < Duration::from_secs(10), "the end took {:?}", begun.elapsed());
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

/// Every `digest` of an answer, wherever it stands.
fn digests(json: &Json, found: &mut Vec<String>) {
    match json {
        Json::Array(items) => items.iter().for_each(|item| digests(item, found)),
        Json::Object(fields) => {
            found.extend(fields.get("digest").and_then(Json::as_str).map(str::to_owned));
            fields.values().for_each(|field| digests(field, found));
        }
        _ => {}
    }
}

/// N8: what is called a digest is that of one thing, on all endpoints.
#[test]
fn n8_a_revision_has_one_digest() {
    let folder = tempfile::tempdir().unwrap();
    file(&folder, "b.json", &policy("b", "/b").to_string());
    let served = Served::start(Config { watch: vec![folder.path().to_owned()], ..Config::default() });
    let path = "/v1/documents/AccessPolicy/access/a";
    let written = served.ask("PUT", path, &[JSON], &policy("a", "/a").to_string());
    let mut all = Vec::new();
    digests(&written.json(), &mut all);
    for path in
        ["/readyz", "/v1/documents", "/v1/policies", "/v1/kinds", "/v1/contents", "/v1/revisions", "/v1/revisions/1"]
    {
        let answer = served.get(path);
        digests(&answer.json(), &mut all);
        all.extend(answer.header("upheld-digest").map(str::to_owned));
    }
    digests(&served.post("/v1/decide", "{}").json(), &mut all);
    assert!(all.len() > 8, "{all:?}");
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 1, "{all:?}");
    // The documents of the store alone have one of their own, by another name.
    let entry = served.get("/v1/revisions/1").json();
    assert!(entry["stateDigest"].as_str().is_some_and(|digest| !all.contains(&digest.to_owned())), "{entry}");
}

#[test]
fn nobody_waits_for_a_revision_that_was_never_written() {
    let served = Served::start(Config::default());
    for far in ["1001", "999999999", "9223372036854775808"] {
        assert_eq!(served.get(&format!("/v1/documents?minRevision={far}")).status, 404, "{far}");
    }
    assert_eq!(served.get("/v1/documents?minRevision=0").status, 200);
}
