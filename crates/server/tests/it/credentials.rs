//! What lets in whoever has it is written down by no surface.

use serde_json::{Value as Json, json};
use upheld_server::Config;
use upheld_server::config::{DecisionLog, DecisionLogTo, Operations};

use crate::grpc::Checker;
use crate::support::{Served, behind_proxy};

/// A part of every secret that is planted.
const PLANTED: &str = "planted";

/// Named as headers and fields are, in letters of all sizes.
const NAMES: [&str; 9] = [
    "Authorization",
    "proxy-authorization",
    "COOKIE",
    "set-cookie",
    "X-Api-Key",
    "X-Auth-Token",
    "x-amz-security-token",
    "access_token",
    "client-secret",
];

fn web_token() -> String {
    format!("eyJ{PLANTED}00.eyJ{PLANTED}00.{PLANTED}00")
}

/// A map with every secret, and texts that are some wherever they stand.
fn secrets() -> Json {
    let mut headers: Json = NAMES.iter().map(|name| ((*name).to_owned(), json!(format!("{PLANTED}-{name}")))).collect();
    let pairs: Vec<Json> =
        NAMES.iter().map(|name| json!({"name": name, "value": format!("{PLANTED}-{name}")})).collect();
    headers["x-tier"] = json!("gold");
    json!({"headers": headers, "listed": pairs, "note": format!("Bearer {PLANTED}"), "quoted": format!("it was {}", web_token()),
        "nested": [[{"deeper": {"Authorization": PLANTED}}]]})
}

/// A request with secrets in every part.
fn request() -> Json {
    let with = |part: Json| {
        let mut all = secrets();
        all.as_object_mut().unwrap().extend(part.as_object().unwrap().clone());
        all
    };
    json!({
        "subject": {"id": "ann", "roles": ["user"], "groups": [], "claims": secrets()},
        "action": with(json!({"method": "GET"})),
        "resource": with(json!({"path": format!("/x?token={PLANTED}"), "id": web_token()})),
        "environment": secrets(),
    })
}

fn evaluation() -> Json {
    json!({
        "subject": {"type": "user", "id": "ann", "properties": secrets()},
        "action": {"name": "read", "properties": secrets()},
        "resource": {"type": "route", "id": format!("/x?token={PLANTED}"), "properties": secrets()},
        "context": secrets(),
    })
}

#[test]
fn no_surface_writes_a_planted_secret_down() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("decisions.jsonl");
    let log = DecisionLog::new(DecisionLogTo::File(path.clone()));
    let operations = Operations { decision_log: Some(log), ..Operations::default() };
    let served = Served::start(Config { operations, ..behind_proxy(&[]) });
    let policy = json!({"id": "all", "effect": "permit", "subjects": [], "resources": [], "actions": []});
    assert_eq!(served.ask("PUT", "/v1/documents/AccessPolicy/access/all", &[], &policy.to_string()).status, 201);

    let (one, other) = (request(), evaluation());
    let bodies = [
        ("/v1/decide", one.clone()),
        ("/v1/decide:batch", json!({"requests": [one, one]})),
        ("/authz/api/evaluate", one.clone()),
        ("/access/v1/evaluation", other.clone()),
        ("/access/v1/evaluations", json!({"context": secrets(), "evaluations": [other, other]})),
    ];
    for (path, body) in bodies {
        let answer = served.post(path, &body.to_string());
        assert_eq!(answer.status, 200, "{path}: {}", answer.text);
    }
    let identity = json!({"sub": "ann", "claims": secrets()}).to_string();
    let secret = format!("Bearer {PLANTED}");
    let token = web_token();
    let headers: Vec<(&str, &str)> =
        [("x-identity", identity.as_str()), ("x-original-uri", "/x?token=planted"), ("x-original-method", "GET")]
            .into_iter()
            .chain(NAMES.iter().filter(|name| !name.contains('_')).map(|name| (*name, PLANTED)))
            .filter(|(name, _)| *name != "Authorization")
            .chain([("authorization", secret.as_str()), ("x-forwarded-note", token.as_str())])
            .collect();
    assert_eq!(served.ask("GET", "/forward-auth", &headers, "").status, 200);
    Checker::new(served.base()).check("GET", "/x?token=planted", "a.example", &headers, "");

    drop(served);
    let text = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<Json> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 9, "{text}");
    for line in &lines {
        assert!(!line.to_string().contains(PLANTED), "{line}");
    }
    for line in &lines[..7] {
        assert!(line.to_string().contains("gold"), "other headers are written: {line}");
    }
}
