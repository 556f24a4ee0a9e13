//! Schemathesis reads the description that a server serves, asks everything that it describes, rightly and wrongly, and compares.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use upheld_server::Config;
use upheld_server::config::Limits;

use crate::support::{Served, installed};

/// Where `cargo xtask test` puts it.
const PACKAGES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/schemathesis");
const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");

/// The folder of packages for Python.
fn packages() -> Option<PathBuf> {
    installed("Schemathesis", PACKAGES, |path| path.join("schemathesis").is_dir())
}

/// Nobody has to wait for a revision that never comes: that answer is 503, as it is described.
const SETTINGS: &str = "[parameters]\n\"query.minRevision\" = 0\n";

const DOCUMENTS: &str = "\
{id: readers, effect: permit, subjects: [{role: user}], resources: [{path: /orders/**}], actions: [{method: GET}]}
---
{id: writers, effect: deny, subjects: [{role: guest}], resources: [{path: /orders/**}], actions: [{method: PUT}]}
";

#[test]
fn every_answer_is_as_it_is_described() {
    let Some(packages) = packages() else { return };
    let served = Served::start(config());
    let stored = served.ask("POST", "/v1/revisions", &[("content-type", "application/yaml")], DOCUMENTS);
    assert_eq!(stored.status, 201, "{}", stored.text);
    hold_against_its_description(&packages, &served, None, Endpoints::Own, 15);
    hold_against_its_description(&packages, &served, None, Endpoints::OfOthers, 15);
}

#[test]
fn every_answer_of_a_guarded_server_is_as_it_is_described() {
    let Some(packages) = packages() else { return };
    let served = Served::guarded(config());
    let token = served.running().bootstrap_token().unwrap().to_owned();
    hold_against_its_description(&packages, &served, Some(&token), Endpoints::Own, 3);
    // Whoever is not known gets answers too, but does not hear what there is.
    hold_against_its_description(&packages, &served, Some("nobody"), Endpoints::All, 3);
}

/// Which endpoints are asked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Endpoints {
    All,
    Own,
    /// Those with the shapes of other systems, which have their own way of saying that they know no such method.
    OfOthers,
}

/// Where those are.
const OF_OTHERS: &str = "^/(authz|meshes)/";

fn config() -> Config {
    let folders = ["kuma-choosing-a-policy", "access", "compliance", "envoy-gateway/manifests.yaml"];
    let watch = folders.map(|name| Path::new(EXAMPLES).join(name)).to_vec();
    let limits = Limits { batch: 20, ..Limits::default() };
    Config { watch, limits, ..Config::default() }
}

fn description_of(served: &Served) -> String {
    let token = served.running().bootstrap_token().map(|token| format!("Bearer {token}"));
    let headers: Vec<(&str, &str)> = token.iter().map(|token| ("authorization", token.as_str())).collect();
    let answer = served.ask("GET", "/openapi.json", &headers, "");
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.text
}

/// Runs it, and fails with what it says if it finds anything.
fn hold_against_its_description(
    packages: &Path,
    served: &Served,
    token: Option<&str>,
    which: Endpoints,
    examples: usize,
) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("schemathesis.toml"), SETTINGS).unwrap();
    let output = folder.path().join("output");
    let file = File::create(&output).unwrap();
    let mut command = Command::new("python3");
    command.current_dir(folder.path()).env("PYTHONPATH", packages).env("PYTHONDONTWRITEBYTECODE", "1");
    command.args(["-m", "schemathesis.cli", "--no-color", "run", "--phases", "examples,coverage,fuzzing"]);
    let more = if which == Endpoints::Own { METHODS } else { "" };
    command.args(["--checks", &format!("{CHECKS}{more}"), "--seed", "7", "--generation-database", "none"]);
    command.args([
        "--max-examples",
        &examples.to_string(),
        "--continue-on-failure",
        "--no-shrink",
        "--warnings",
        "off",
    ]);
    command.args(["--request-timeout", "30", "--suppress-health-check", "all", "--exclude-path", "/v1/events"]);
    match which {
        Endpoints::All => {}
        Endpoints::Own => drop(command.args(["--exclude-path-regex", OF_OTHERS])),
        Endpoints::OfOthers => drop(command.args(["--include-path-regex", OF_OTHERS])),
    }
    if let Some(token) = token {
        command.args(["--header", &format!("Authorization: Bearer {token}")]);
    }
    // The description is read from a file: whoever is not known may not ask for it.
    let description = folder.path().join("openapi.json");
    std::fs::write(&description, description_of(served)).unwrap();
    command.args(["--url", served.base()]).arg(description);
    command.stdin(Stdio::null()).stdout(file.try_clone().unwrap()).stderr(file);
    let mut child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let begin = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break Some(status);
        }
        if begin.elapsed() > LONGEST {
            child.kill().ok();
            child.wait().ok();
            break None;
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    let said = String::from_utf8_lossy(&std::fs::read(&output).unwrap()).into_owned();
    assert!(status.is_some_and(|status| status.success()), "{status:?}\n{said}");
}

const CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,\
                      response_headers_conformance";
const METHODS: &str = ",unsupported_method,allow_header_conformance";
/// It takes a minute; whoever is slower than this does not end at all.
const LONGEST: Duration = Duration::from_mins(10);

#[test]
fn what_is_asked_wrongly_is_a_problem_like_all_others() {
    let served = Served::start(Config::default());
    let wrong = [
        ("DELETE", "/v1/decide", 405),
        ("POST", "/healthz", 405),
        ("GET", "/v1/policies?limit=many", 400),
        ("GET", "/v1/events?after=x", 400),
        ("GET", "/readyz?strict=perhaps", 400),
        ("GET", "/v1/kinds/%ff", 400),
        ("GET", "/v1/documents/a/b/%ff", 400),
        ("GET", "/v1/nowhere", 404),
    ];
    for (method, path, status) in wrong {
        let answer = served.ask(method, path, &[], "");
        assert_eq!(answer.status, status, "{method} {path}: {}", answer.text);
        assert_eq!(answer.header("content-type"), Some("application/problem+json"), "{method} {path}");
        assert_eq!(answer.json()["status"], status, "{method} {path}");
        assert_eq!(answer.header("allow").is_some(), status == 405, "{method} {path}: {:?}", answer.headers);
    }
    // The administration API has its own form.
    for path in ["/authz/api/policies?limit=many", "/authz/api/policies/%ff"] {
        let answer = served.get(path);
        assert_eq!((answer.status, answer.header("content-type")), (400, Some("application/json")), "{path}");
        assert!(answer.json()["error"].is_string(), "{path}: {}", answer.text);
    }
}
