//! `serve`, `doctor`, `export`, `import` and `verify` as programs.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::Value as Json;

use crate::support::run;

/// A server in a process of its own; it is killed at the end.
pub(crate) struct Server {
    pub(crate) child: Child,
    pub(crate) address: String,
    pub(crate) token: String,
    told: Vec<String>,
    rest: BufReader<std::process::ChildStderr>,
}

impl Server {
    /// Starts `upheld serve` with a shell, which may set limits before.
    pub(crate) fn start(folder: &Path, before: &str, arguments: &str) -> Self {
        Self::start_without_store(folder, before, &format!("--data data {arguments}"))
    }

    fn start_without_store(folder: &Path, before: &str, arguments: &str) -> Self {
        let program = env!("CARGO_BIN_EXE_upheld");
        let script = format!("{before} exec {program} serve --listen 127.0.0.1:0 --log-format json {arguments}");
        let mut command = Command::new("sh");
        command.args(["-c", &script]).current_dir(folder).env_clear().stdin(Stdio::null()).stdout(Stdio::null());
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut rest = BufReader::new(child.stderr.take().unwrap());
        let mut told = Vec::new();
        while !told.last().is_some_and(|line: &String| line.contains("/openapi.json")) {
            let mut line = String::new();
            assert!(rest.read_line(&mut line).unwrap() > 0, "{told:?}");
            told.push(line);
        }
        let after = |word: &str| {
            let line = told.iter().find_map(|line| line.split_once(word));
            line.map(|(_, rest)| rest.trim().to_owned()).unwrap_or_default()
        };
        let (address, token) = (after("listens on http://"), after("  token  "));
        Self { child, address, token, told, rest }
    }

    pub(crate) fn ask(&self, request: &str, headers: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let length = body.len();
        let head = format!(
            "{request} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\n{headers}content-length: {length}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(body.as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        String::from_utf8_lossy(&answer).into_owned()
    }

    fn put(&self, name: &str, description: &str) -> String {
        let policy = serde_json::json!({"id": name, "effect": "permit", "description": description,
            "subjects": [{"role": "admin"}], "resources": [], "actions": []});
        let token = format!("authorization: Bearer {}\r\n", self.token);
        self.ask(&format!("PUT /v1/documents/AccessPolicy/access/{name}"), &token, &policy.to_string())
    }

    /// Ends it as service managers do; what it says with its exit code.
    #[cfg(unix)]
    fn terminate(mut self) -> Option<i32> {
        let told = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status().unwrap();
        assert!(told.success());
        let status = self.child.wait().unwrap();
        self.rest.read_to_string(&mut String::new()).unwrap();
        status.code()
    }

    /// Kills it; what it logged.
    fn end(mut self) -> Vec<String> {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        let mut rest = String::new();
        self.rest.read_to_string(&mut rest).unwrap();
        rest.lines().map(str::to_owned).collect()
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_limit_of_the_size_of_files_fails_writes_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    // 512 bytes each: enough for a new store, and not for much more.
    let server = Server::start(folder.path(), "ulimit -f 600;", "");
    let large = "x".repeat(50_000);
    let refused =
        (0..100).map(|number| server.put(&format!("p{number}"), &large)).find(|answer| !answer.contains(" 201 "));
    let refused = refused.expect("a file has an end");
    assert!(refused.starts_with("HTTP/1.1 503 "), "{refused}");
    assert!(server.ask("GET /healthz", "", "").starts_with("HTTP/1.1 200 "), "the process lives");
    assert!(server.ask("POST /v1/decide", "", r#"{"subject":{"roles":["admin"]}}"#).contains("permit"), "and decides");
    server.end();
    // Without the limit everything that was acknowledged is there.
    let verified = run(folder.path(), "verify --data data");
    assert_eq!(verified.status.code(), Some(0), "{}", text(&verified.stdout));
    assert!(text(&verified.stdout).starts_with("Whole: "));
}

/// S8: whoever copies the file of a server that was ended has everything, every time.
#[cfg(unix)]
#[test]
fn s8_a_server_that_was_ended_leaves_one_file_with_everything_and_its_head() {
    for round in 0..6 {
        let folder = tempfile::tempdir().unwrap();
        let server = Server::start(folder.path(), "", "");
        for number in 0..5 {
            assert!(server.put(&format!("p{number}"), "first").contains(" 201 "));
        }
        // Somebody who follows does not keep the file open.
        let mut following = TcpStream::connect(&server.address).unwrap();
        following.write_all(b"GET /v1/events HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
        assert_eq!(server.terminate(), Some(0));
        let names = |folder: &Path| -> Vec<String> {
            std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap()).collect()
        };
        let left = names(&folder.path().join("data"));
        assert!(!left.iter().any(|name| name.ends_with("-wal") || name.ends_with("-shm")), "round {round}: {left:?}");
        std::fs::create_dir(folder.path().join("copy")).unwrap();
        for name in ["upheld.db", "upheld.head-1", "upheld.head-2"] {
            std::fs::copy(folder.path().join("data").join(name), folder.path().join("copy").join(name)).unwrap();
        }
        let verified = run(folder.path(), "verify --data copy");
        assert!(text(&verified.stdout).starts_with("Whole: revisions 0 to 5, 5 of them"), "{}", text(&verified.stdout));
    }
}

/// S9: what is not what was written is not served, not exported, and told.
#[cfg(unix)]
#[test]
fn s9_a_store_that_was_altered_is_not_served() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), "", "");
    assert!(server.put("a", "nobody-else").contains(" 201 "));
    assert_eq!(server.terminate(), Some(0));
    let file = folder.path().join("data/upheld.db");
    let mut bytes = std::fs::read(&file).unwrap();
    let places: Vec<usize> =
        bytes.windows(11).enumerate().filter(|(_, own)| own == b"nobody-else").map(|(at, _)| at).collect();
    assert!(!places.is_empty());
    for place in places {
        bytes[place..place + 11].copy_from_slice(b"anybody-now");
    }
    std::fs::write(&file, bytes).unwrap();
    let verified = run(folder.path(), "verify --data data");
    assert_eq!(verified.status.code(), Some(1));
    assert!(text(&verified.stdout).starts_with("DAMAGED: "), "{}", text(&verified.stdout));
    let exported = run(folder.path(), "export --data data");
    assert_ne!(exported.status.code(), Some(0));
    assert!(!text(&exported.stdout).contains("anybody-now"), "{}", text(&exported.stdout));
    let served = run(folder.path(), "serve --data data --listen 127.0.0.1:0");
    assert_eq!(served.status.code(), Some(2), "{}", text(&served.stderr));
    assert!(text(&served.stderr).contains("verify"), "what to do is told: {}", text(&served.stderr));
}

/// S5: a bit of the write-ahead log is another one after a server was killed. The loss is told, and accepted by the command that is said.
#[test]
fn s5_a_lost_tail_is_refused_until_it_is_accepted() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), "", "");
    for number in 0..30 {
        assert!(server.put(&format!("p{number}"), "first").contains(" 201 "));
    }
    server.end();
    let log = folder.path().join("data/upheld.db-wal");
    let mut bytes = std::fs::read(&log).unwrap();
    let place = bytes.len() / 3;
    bytes[place] ^= 1;
    std::fs::write(&log, &bytes).unwrap();
    let verified = run(folder.path(), "verify --data data");
    let told = text(&verified.stdout);
    assert_eq!(verified.status.code(), Some(1), "{told}");
    assert!(told.starts_with("DAMAGED: the store in data lost revisions "), "{told}");
    assert!(told.contains("revision 30 was acknowledged at ") && told.contains("broken at byte "), "{told}");
    for command in ["serve --data data --listen 127.0.0.1:0", "export --data data", "import --data data"] {
        let refused = run(folder.path(), command);
        assert_eq!(refused.status.code(), Some(2), "{command}");
        assert!(text(&refused.stderr).contains("--accept-loss"), "{}", text(&refused.stderr));
    }
    assert_eq!(std::fs::read(&log).unwrap(), bytes, "nothing was changed");
    let command = told.split("`upheld ").last().and_then(|rest| rest.split('`').next()).unwrap();
    let last = command.split(' ').next_back().unwrap();
    assert_eq!(run(folder.path(), "verify --data data --accept-loss 29").status.code(), Some(2));
    let accepted = run(folder.path(), command);
    let told = text(&accepted.stdout);
    assert_eq!(accepted.status.code(), Some(0), "{told}{}", text(&accepted.stderr));
    assert!(told.starts_with(&format!("Whole: revisions 0 to {last}, ")), "{told}");
    assert!(told.contains("revision 30 had been acknowledged"), "{told}");
    assert!(text(&accepted.stderr).contains("was copied to "), "{}", text(&accepted.stderr));
    let server = Server::start(folder.path(), "", "");
    assert!(server.ask("GET /readyz", "", "").contains("\"status\":\"ready\""));
    server.end();
}

/// S11: an older copy over the file of a server that runs, without its log.
#[cfg(unix)]
#[test]
fn s11_a_copy_over_the_open_file_stops_writes() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), "", "");
    assert!(server.put("a", "first").contains(" 201 "));
    let token = server.token.clone();
    assert_eq!(server.terminate(), Some(0));
    let file = folder.path().join("data/upheld.db");
    // The token is said once.
    let server = Server { token, ..Server::start(folder.path(), "", "") };
    let copy = std::fs::read(&file).unwrap();
    assert!(server.put("b", "first").contains(" 201 "));
    std::fs::write(&file, copy).unwrap();
    std::fs::remove_file(folder.path().join("data/upheld.db-wal")).unwrap();
    let refused = server.put("c", "first");
    assert!(refused.starts_with("HTTP/1.1 503 ") && refused.contains("store-diverged"), "{refused}");
    let ready = server.ask("GET /readyz", "", "");
    assert!(ready.starts_with("HTTP/1.1 503 ") && ready.contains("\"diverged\":true"), "{ready}");
    let decided = server.ask("POST /v1/decide", "", r#"{"subject":{"roles":["admin"]}}"#);
    assert!(decided.contains("permit"), "it goes on answering: {decided}");
    let other = run(folder.path(), "verify --data data");
    assert_eq!(other.status.code(), Some(1), "and nobody else takes the copy for whole: {}", text(&other.stdout));
    server.end();
}

#[test]
fn who_is_not_let_in_has_a_line_in_the_log_that_nobody_can_forge() {
    let folder = tempfile::tempdir().unwrap();
    let tokens = format!("tokens: [{{name: viewer, roles: [viewer], sha256: '{VIEWER_HASH}'}}]\n");
    std::fs::write(folder.path().join("tokens.yaml"), tokens).unwrap();
    std::fs::write(folder.path().join("security.yaml"), "tokens: tokens.yaml\n").unwrap();
    let server = Server::start(folder.path(), "", "--security security.yaml --anonymous read");
    let guest = server.told.iter().find(|line| line.contains("guests"));
    assert!(guest.is_some_and(|line| line.contains("may ask and read")), "{:?}", server.told);
    let wrong = "authorization: Bearer upheld_hunter2\r\nx-request-id: mine\r\n";
    assert!(server.ask("GET /v1/documents/a%0a%7B%22level%22%3A1%7D", wrong, "").starts_with("HTTP/1.1 401 "));
    assert!(server.ask("PUT /v1/documents/A/b/c", "", "{}").starts_with("HTTP/1.1 401 "));
    assert!(server.ask("GET /v1/documents", "origin: http://evil.example\r\n", "").starts_with("HTTP/1.1 403 "));
    let viewer = format!("authorization: Bearer {VIEWER}\r\n");
    assert!(server.ask("PUT /v1/documents/A/b/c", &viewer, "{}").starts_with("HTTP/1.1 403 "));
    let lines: Vec<Json> = server.end().iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    let security: Vec<&Json> = lines.iter().filter(|line| line["target"] == "upheld_server::security").collect();
    assert_eq!(security.len(), 4, "{lines:?}");
    assert_eq!((&security[3]["caller"], &security[3]["address"]), (&"token:viewer".into(), &"127.0.0.1".into()));
    assert_eq!((&security[0]["address"], &security[0]["id"]), (&"127.0.0.1".into(), &"mine".into()));
    assert_eq!(security[0]["path"], "/v1/documents/a%0a%7B%22level%22%3A1%7D");
    assert!(security[0]["because"].as_str().unwrap().contains("token is not known"));
    assert_eq!((&security[1]["method"], &security[1]["path"]), (&"PUT".into(), &"/v1/documents/A/b/c".into()));
    assert!(security[2]["because"].as_str().unwrap().contains("evil.example"));
    assert!(!format!("{lines:?}").contains("hunter2"), "no token is logged");
}

/// A key in the form of a JSON Web Key Set.
const KEYS: &str = r#"{"keys": [{"kty": "EC", "crv": "P-256", "kid": "k1", "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
    "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}]}"#;

#[test]
fn whose_tokens_of_end_users_count_is_told_and_no_token_is_logged() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("keys.json"), KEYS).unwrap();
    let security = "enforcement: {jwt: [{issuers: ['https://sso.example'], audiences: [shop], keys: {file: keys.json},
        claims: {roles: [realm_access.roles, roles], attributes: {department: dept}}}]}";
    std::fs::write(folder.path().join("security.yaml"), security).unwrap();
    let log = "--security security.yaml --log debug --decision-log decisions.jsonl";
    let server = Server::start(folder.path(), "", log);
    let users = server.told.iter().find(|line| line.starts_with("  users ")).map(String::as_str).unwrap_or_default();
    for part in [
        "https://sso.example for shop in authorization",
        "roles from realm_access.roles + roles",
        "department from dept",
    ] {
        assert!(users.contains(part), "{:?}", server.told);
    }
    // {"alg":"ES256","kid":"k1"} and {"iss":"https://sso.example","sub":"mallory"}, signed by nobody.
    let token =
        "eyJhbGciOiJFUzI1NiIsImtpZCI6ImsxIn0.eyJpc3MiOiJodHRwczovL3Nzby5leGFtcGxlIiwic3ViIjoibWFsbG9yeSJ9.aHVudGVyMg";
    let bearer = format!("authorization: Bearer {token}\r\nx-request-id: mine\r\n");
    let answer = server.ask("GET /forward-auth/x", &bearer, "");
    assert!(answer.starts_with("HTTP/1.1 401 ") && answer.contains("the signature is invalid"), "{answer}");
    let lines = server.end();
    let found: Vec<Json> = lines.iter().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let found: Vec<&Json> = found.iter().filter(|line| line["target"] == "upheld_server::security").collect();
    assert!(found.len() == 1 && found[0]["id"] == "mine", "{lines:?}");
    assert!(found[0]["because"].as_str().is_some_and(|because| because.contains("signature")), "{found:?}");
    let decisions = std::fs::read_to_string(folder.path().join("decisions.jsonl")).unwrap();
    let whole = format!("{lines:?}{decisions}");
    assert!(token.split('.').all(|part| !whole.contains(part)) && !whole.contains("mallory"), "{whole}");
}

#[test]
fn histories_are_signed_and_only_those_of_the_right_key_are_taken() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let server = Server::start(folder, "", "");
    assert!(server.put("a", "first").contains(" 201 "));
    server.end();
    for (name, key) in [("right", PRIVATE), ("other", OTHER)] {
        std::fs::write(folder.join(format!("{name}.pem")), key).unwrap();
    }
    std::fs::write(folder.join("public.pem"), PUBLIC).unwrap();
    let export = |arguments: &str, file: &str| {
        let exported = run(folder, &format!("export --data data {arguments}"));
        assert_eq!(exported.status.code(), Some(0), "{}", text(&exported.stderr));
        std::fs::write(folder.join(file), exported.stdout).unwrap();
    };
    export("--sign right.pem", "right.jsonl");
    export("--sign other.pem", "other.jsonl");
    export("", "plain.jsonl");
    let verify = |arguments: &str| {
        let verified = run(folder, &format!("verify {arguments}"));
        (verified.status.code(), text(&verified.stdout) + &text(&verified.stderr))
    };
    let (code, told) = verify("right.jsonl --key public.pem");
    assert!(code == Some(0) && told.contains("signed  by "), "{told}");
    assert!(verify("right.jsonl").1.contains("which --key would check"));
    for file in ["other.jsonl", "plain.jsonl"] {
        let (code, told) = verify(&format!("{file} --key public.pem"));
        assert!(code == Some(1) && told.contains("sign"), "{file}: {told}");
        assert_eq!(verify(file).0, Some(0), "whole, whoever wrote it");
    }
    assert_eq!(verify("--key public.pem").0, Some(2), "a store is not signed");
    assert_eq!(verify("right.jsonl --key right.pem").0, Some(2), "that is the private one");
    let import = |file: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_upheld"));
        command.args(["import", "--data", "new", "--key", "public.pem"]).current_dir(folder);
        let status = command.stdin(std::fs::File::open(folder.join(file)).unwrap()).status().unwrap();
        status.code()
    };
    assert_eq!((import("other.jsonl"), import("plain.jsonl")), (Some(2), Some(2)));
    assert_eq!(import("right.jsonl"), Some(0), "nothing was taken before");
}

#[test]
fn the_doctor_looks_at_a_configuration_and_at_a_running_server() {
    let folder = tempfile::tempdir().unwrap();
    let doctor = |arguments: &str| {
        let told = run(folder.path(), &format!("doctor {arguments} -o json"));
        let found: Json = serde_json::from_slice(&told.stdout).unwrap_or_default();
        let codes: Vec<String> = found["findings"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|one| one["code"].as_str().unwrap().to_owned())
            .collect();
        for one in found["findings"].as_array().into_iter().flatten() {
            assert!(one["what"].is_string() && one["fix"].is_string() && one["weight"].is_string(), "{one}");
        }
        (told.status.code(), codes)
    };
    let (code, codes) = doctor("--listen 0.0.0.0:8181 --ephemeral");
    assert_eq!(code, Some(1));
    assert!(codes.contains(&"plain-text".to_owned()) && codes.contains(&"no-rate".to_owned()), "{codes:?}");
    assert_eq!(
        doctor("--ephemeral"),
        (Some(0), ["anonymous-here", "ephemeral", "no-decision-log"].map(str::to_owned).to_vec())
    );
    assert_eq!(doctor("--security nothing.yaml").0, Some(2));

    let server = Server::start(folder.path(), "", "");
    let address = server.address.clone();
    let (code, codes) = doctor(&format!("--server {address}"));
    assert_eq!((code, codes), (Some(0), ["anonymous", "no-numbers"].map(str::to_owned).to_vec()), "notes only");
    server.end();
    assert_eq!(doctor(&format!("--server {address}")).0, Some(4), "nobody is there");
}

#[test]
fn the_history_of_a_running_server_is_checked_by_whoever_asks_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), "", "");
    assert!(server.put("a", "first").contains(" 201 "));
    let verify = |address: &str, token: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_upheld"));
        command.args(["verify", "--server", address]).current_dir(folder.path()).env_clear();
        let verified = command.env("UPHELD_TOKEN", token).output().unwrap();
        (verified.status.code(), text(&verified.stdout) + &text(&verified.stderr))
    };
    let (code, told) = verify(&server.address, &server.token);
    assert!(code == Some(0) && told.starts_with("Whole: revisions 0 to 1, 1 of them"), "{told}");
    let (code, told) = verify(&server.address, "");
    assert!(code == Some(2) && told.contains("UPHELD_TOKEN"), "{told}");
    let headers = format!("authorization: Bearer {}\r\n", server.token);
    let answer = server.ask("GET /v1/history", &headers, "");
    let address = server.address.clone();
    server.end();
    assert_eq!(verify(&address, "").0, Some(4), "nobody is there");

    // Somebody on the way, or in the place of the server, alters a letter of what it says.
    let altered = answer.replace("first", "fiRst");
    assert_ne!(answer, altered);
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let liar = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut asked = BufReader::new(stream.try_clone().unwrap());
        let mut line = String::new();
        while asked.read_line(&mut line).unwrap() > 2 {
            line.clear();
        }
        stream.write_all(altered.as_bytes()).unwrap();
    });
    let (code, told) = verify(&address, "");
    liar.join().unwrap();
    assert!(code == Some(1) && told.starts_with("DAMAGED: "), "{told}");
}

#[test]
fn a_folder_of_policies_is_served_where_nothing_else_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let banner = |arguments: &str| {
        let server = Server::start_without_store(folder.path(), "", arguments);
        let told = server.told.concat();
        let asked = server.ask("POST /v1/decide", "", r#"{"subject":{"roles":["admin"]}}"#);
        server.end();
        (told, asked.contains("permit"))
    };
    let none = "  files  none; `--watch DIR` serves the files of a folder, too\n";
    assert!(banner("--ephemeral").0.contains(none), "an empty folder");
    let policy = "id: admins\neffect: permit\nsubjects: [{role: admin}]\nresources: []\nactions: []\n";
    std::fs::write(folder.path().join("admins.yaml"), policy).unwrap();
    std::fs::write(folder.path().join("upheld.yaml"), "anonymous: read\n").unwrap();
    let (told, permitted) = banner("--ephemeral");
    assert!(told.contains("  files  . (1 file; watched because nothing else was named"), "{told}");
    assert!(told.contains("  serves 1 policy (AccessPolicy 1), 0 objects\n") && permitted, "{told}");
    // Who names a store means that one.
    let (told, permitted) = banner("--data data");
    assert!(told.contains(none) && !permitted, "{told}");
    std::fs::write(folder.path().join("broken.yaml"), "id: b\neffect: permit\nsubjcts: []\n").unwrap();
    assert!(banner("--ephemeral").0.contains(none), "what cannot be served does not keep the server from starting");
}

#[test]
fn s4_health_is_an_exit_code() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), "", "--anonymous none");
    let (url, port) = (server.address.clone(), server.address.rsplit_once(':').unwrap().1.to_owned());
    let health = |arguments: &str, variables: &[(&str, &str)]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_upheld"));
        command.arg("health").args(arguments.split_whitespace()).current_dir(folder.path()).env_clear();
        let output = command.envs(variables.iter().copied()).output().unwrap();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let (ok, ready) = ((Some(0), "ok\n".to_owned()), (Some(0), "{\"status\":\"ready\"}\n".to_owned()));
    let short = |(code, told, _): (Option<i32>, String, String)| (code, told);
    // What lies beside it does not matter, and neither does a proxy for other addresses.
    std::fs::write(folder.path().join("upheld.yaml"), "flies: [a]\n").unwrap();
    assert_eq!(short(health(&url, &[("http_proxy", "http://127.0.0.1:9")])), ok);
    assert_eq!(short(health(&format!("--ready http://{url}"), &[])), ready);
    assert_eq!(short(health(&format!("--server {url}"), &[])), ok);
    assert_eq!(short(health("--ready", &[("UPHELD_LISTEN", &format!("0.0.0.0:{port}"))])), ready);
    let (code, _, told) = health("", &[("UPHELD_LISTEN", "here")]);
    assert!(code == Some(1) && told.contains("UPHELD_LISTEN: `here`"), "{told}");
    assert_eq!(health("--timeout soon", &[]).0, Some(2));
    server.end();
    let (code, told, problem) = health(&url, &[]);
    assert_eq!((code, told.as_str()), (Some(1), ""));
    assert!(problem.contains("/healthz"), "{problem}");
    // A port that takes connections and says nothing.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let (code, _, problem) = health(&format!("--timeout 1s {}", silent.local_addr().unwrap()), &[]);
    assert!(code == Some(1) && problem.contains("timeout"), "{problem}");
}

/// S4: a server that encrypts is asked by an address that its certificate does not have.
#[test]
fn s4_health_of_a_server_that_encrypts() {
    let folder = tempfile::tempdir().unwrap();
    let made = rcgen::generate_simple_self_signed(vec!["policies.example".to_owned()]).unwrap();
    std::fs::write(folder.path().join("server.pem"), made.cert.pem()).unwrap();
    std::fs::write(folder.path().join("server.key"), made.signing_key.serialize_pem()).unwrap();
    std::fs::write(folder.path().join("security.yaml"), "tls: {certificate: server.pem, key: server.key}").unwrap();
    let program = env!("CARGO_BIN_EXE_upheld");
    let mut child = Command::new(program)
        .args(["serve", "--listen", "127.0.0.1:0", "--ephemeral", "--security", "security.yaml"])
        .current_dir(folder.path())
        .env_clear()
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut told = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    told.read_line(&mut line).unwrap();
    let address = line.trim().rsplit_once("https://").unwrap().1.to_owned();
    let security = folder.path().join("security.yaml");
    let health = Command::new(program)
        .args(["health", "--ready"])
        .env_clear()
        .env("UPHELD_LISTEN", &address)
        .env("UPHELD_SECURITY", &security)
        .output();
    child.kill().unwrap();
    child.wait().unwrap();
    let health = health.unwrap();
    assert_eq!(health.status.code(), Some(0), "{}", text(&health.stderr));
}

#[test]
fn s11_how_old_an_answer_may_be_is_a_setting() {
    let folder = tempfile::tempdir().unwrap();
    let shown = |variables: &[(&str, &str)]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_upheld"));
        command.args(["config", "--show-origin", "-o", "json"]).current_dir(folder.path()).env_clear();
        let output = command.envs(variables.iter().copied()).output().unwrap();
        let json = serde_json::from_slice::<Json>(&output.stdout).unwrap_or_default();
        (json["max-stale"].clone(), text(&output.stderr))
    };
    assert_eq!(shown(&[]).0, serde_json::json!({"value": "off", "origin": "default"}));
    std::fs::write(folder.path().join("upheld.yaml"), "max-stale: 5m\n").unwrap();
    assert_eq!(shown(&[]).0, serde_json::json!({"value": "300s", "origin": "upheld.yaml:1"}));
    let variable = shown(&[("UPHELD_MAX_STALE", "30s")]).0;
    assert_eq!(variable, serde_json::json!({"value": "30s", "origin": "environment UPHELD_MAX_STALE"}));
    let wrong = shown(&[("UPHELD_MAX_STALE", "1s")]).1;
    assert!(wrong.contains("`1s` is too short; at least 2s") && wrong.contains("UPHELD_MAX_STALE"), "{wrong}");
    let wrong = run(folder.path(), "serve --max-stale soon");
    assert_eq!(wrong.status.code(), Some(2));
    assert!(text(&wrong.stderr).contains("or `off`"), "{}", text(&wrong.stderr));
}

#[test]
fn anonymous_access_is_shown_with_its_origin() {
    let folder = tempfile::tempdir().unwrap();
    let shown = || text(&run(folder.path(), "config --show-origin -o json").stdout);
    let setting = |text: &str| serde_json::from_str::<Json>(text).unwrap()["anonymous"].clone();
    assert_eq!(setting(&shown()), serde_json::json!({"value": "auto", "origin": "default"}));
    std::fs::write(folder.path().join("upheld.yaml"), "anonymous: none\n").unwrap();
    assert_eq!(setting(&shown()), serde_json::json!({"value": "none", "origin": "upheld.yaml:1"}));
    let server = Server::start(folder.path(), "", "");
    assert!(
        server.told.iter().any(|line| line.contains("guests callers without a token may ask whether")),
        "{:?}",
        server.told
    );
    assert!(server.ask("GET /v1/documents", "", "").starts_with("HTTP/1.1 401 "));
    server.end();
    let server = Server::start(folder.path(), "", "--anonymous decide");
    assert!(server.ask("POST /v1/decide", "", "{}").starts_with("HTTP/1.1 200 "));
    assert!(server.ask("GET /v1/documents", "", "").starts_with("HTTP/1.1 401 "));
    server.end();
}

/// A token, and what its file has of it.
const VIEWER: &str = "upheld_viewer-0123456789abcdef0123456789abcdef";
const VIEWER_HASH: &str = "7d678eb1bd3272f61ac2f49372c2ea31a0bf5957af21be34d916f4149586c0a9";

const PRIVATE: &str = "-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIDZ7XCFq2nh19y8lu4/QwTWObAieIX4ckCNkUmuIt74Z
-----END PRIVATE KEY-----
";
const PUBLIC: &str = "-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAGKj8trDdGzQJFgbhKKNbl5AUwBi7L7GRBlQNRpZFsLU=
-----END PUBLIC KEY-----
";
const OTHER: &str = "-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIMh6ACGj8mLoz0MablTrGnY0OeGhVQg1gXnJiKOdMC1W
-----END PRIVATE KEY-----
";
