//! Rights by what a write does: whoever changes, moves or removes a document needs the right to, also where they do not name it.

use std::fs;

use serde_json::{Value as Json, json};
use sha2::{Digest, Sha256};
use tempfile::TempDir;
use upheld_server::Config;
use upheld_server::config::Security;

use crate::support::{Answer, Served};

/// Callers who may write kinds: with the right to see everything, with the right to see nothing else, and with the right to more.
const RIGHTS: &str = "
combiningAlgorithm: deny-overrides
defaultEffect: deny
policies:
- {id: admins, effect: permit, subjects: [{role: admin}], resources: [], actions: []}
- {id: all-ask, effect: permit, subjects: [], resources: [{type: explanation}], actions: [{operation: ask}]}
- id: kinds
  effect: permit
  subjects: [{role: [kinds, kinds-unseeing, gates]}]
  resources: [{path: '/v1/documents/PolicyKind/**'}, {path: /v1/revisions}, {type: [policy, object], path: '/PolicyKind/**'}]
  actions: [{operation: [read, write, see]}]
- {id: readers, effect: permit, subjects: [{role: [kinds, gates]}], resources: [{type: document}], actions: [{operation: read}]}
- {id: gates, effect: permit, subjects: [{role: gates}], resources: [{path: '/v1/documents/BuildGate/**'}], actions: [{operation: write}]}
";

const ROLES: [&str; 4] = ["admin", "kinds", "kinds-unseeing", "gates"];

const KIND: &str = r#"{"kind": "PolicyKind", "name": "BuildGate", "family": "decide",
    "match": {"subjects": "who", "resources": "builds", "actions": "steps", "conditions": "when"},
    "effect": {"field": "verdict", "permit": ["release"], "deny": ["hold"]},
    "rank": [{"highest": "weight"}, "position"], "resolve": {"algorithm": "first-applicable", "default": "deny"}}"#;

struct Gates {
    served: Served,
    folder: TempDir,
}

fn token(role: &str) -> String {
    format!("upheld_{role}-0123456789abcdef0123456789abcdef")
}

impl Gates {
    /// A server with a document that becomes another as soon as there is a kind for it.
    fn open() -> Self {
        let folder = TempDir::new().unwrap();
        let line = |role: &str| {
            let hash = Sha256::digest(token(role).as_bytes());
            format!("- {{name: {role}, roles: [{role}], sha256: '{hash:x}'}}\n")
        };
        let (tokens, rights) = (folder.path().join("tokens.yaml"), folder.path().join("rights.yaml"));
        fs::write(&tokens, format!("tokens:\n{}", ROLES.map(line).concat())).unwrap();
        fs::write(&rights, RIGHTS).unwrap();
        let security = Security { tokens: Some(tokens), rights: Some(rights), ..Security::default() };
        let gates = Self { served: Served::guarded(Config { security, ..Config::default() }), folder };
        let freeze = json!({"type": "BuildGate", "name": "freeze", "verdict": "hold", "weight": 1, "who": [], "builds": [],
            "steps": [{"operation": "release"}], "when": []});
        let put = gates.ask("admin", "PUT", "/v1/documents/BuildGate/default/freeze", &freeze.to_string());
        assert_eq!(put.status, 201, "{}", put.text);
        gates
    }

    fn ask(&self, role: &str, method: &str, path: &str, body: &str) -> Answer {
        self.served.ask(method, path, &[("authorization", &format!("Bearer {}", token(role)))], body)
    }

    fn documents(&self) -> Vec<String> {
        let listed = self.ask("admin", "GET", "/v1/documents", "").json();
        listed["items"].as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect()
    }
}

const PUT: &str = "/v1/documents/PolicyKind/upheld/BuildGate";

/// S7: the right to write kinds is no right to the documents that a kind makes others of.
#[test]
fn a_kind_that_moves_documents_takes_the_right_to_write_them() {
    let gates = Gates::open();
    let before = gates.documents();
    let batch = format!(r#"{{"put": [{KIND}]}}"#);
    let ways = [
        ("PUT", PUT.to_owned(), KIND),
        ("PUT", format!("{PUT}?dryRun=true"), KIND),
        ("POST", "/v1/revisions".to_owned(), batch.as_str()),
        ("POST", "/v1/revisions?dryRun=true".to_owned(), batch.as_str()),
        ("POST", "/v1/check".to_owned(), batch.as_str()),
    ];
    for (method, path, body) in &ways {
        let refused = gates.ask("kinds", method, path, body);
        assert_eq!(refused.status, 403, "{method} {path}: {}", refused.text);
        for moved in ["BuildGate/access/freeze", "BuildGate/default/freeze"] {
            assert!(refused.text.contains(moved), "{method} {path}: {}", refused.text);
        }
        let unseeing = gates.ask("kinds-unseeing", method, path, body);
        assert_eq!(unseeing.status, 403, "{method} {path}: {}", unseeing.text);
        assert!(!unseeing.text.contains("freeze"), "{method} {path}: {}", unseeing.text);
    }
    assert_eq!(gates.documents(), before);
    let written = gates.ask("gates", "PUT", PUT, KIND);
    assert_eq!(written.status, 201, "{}", written.text);
    assert_eq!(gates.documents(), ["BuildGate/access/freeze", "PolicyKind/upheld/BuildGate"]);
    // Without the kind they are what they were before: that takes the same right.
    assert_eq!(gates.ask("kinds", "DELETE", PUT, "").status, 403);
    assert_eq!(gates.ask("gates", "DELETE", PUT, "").status, 201);
    assert_eq!(gates.documents(), before);
}

/// A kind in the same batch decides which document another one of the batch is.
#[test]
fn a_batch_takes_the_right_to_the_documents_that_it_ends_with() {
    let gates = Gates::open();
    assert_eq!(gates.ask("admin", "DELETE", "/v1/documents/BuildGate/default/freeze", "").status, 201);
    let thaw: Json = json!({"type": "BuildGate", "name": "thaw", "verdict": "release", "who": [], "builds": [], "steps": [], "when": []});
    let batch = format!(r#"{{"put": [{KIND}, {thaw}]}}"#);
    let refused = gates.ask("kinds", "POST", "/v1/revisions", &batch);
    assert_eq!((refused.status, gates.documents().len()), (403, 0), "{}", refused.text);
    assert_eq!(gates.ask("gates", "POST", "/v1/revisions", &batch).status, 201);
    assert_eq!(gates.documents(), ["BuildGate/access/thaw", "PolicyKind/upheld/BuildGate"]);
}

/// Notes about the past are documents of their own: whoever writes past them changes them.
#[test]
fn what_is_taken_off_notes_takes_the_right_to_write_the_notes() {
    let gates = Gates::open();
    let project = json!({"ref": "project/a", "tags": {"env": ["dev"]}});
    let notes = json!({"kind": "Changes", "name": "past", "changes": [
        {"verb": "setTags", "at": "2026-01-01T00:00:00Z", "by": "admin", "object": "project/a", "tags": {"env": ["qa"]}}]});
    let put = gates.ask("admin", "POST", "/v1/revisions", &json!({"put": [project, notes]}).to_string());
    assert_eq!(put.status, 201, "{}", put.text);
    let other = json!({"ref": "project/a", "tags": {"env": ["prod"]}}).to_string();
    let rights = RIGHTS.replace("/v1/documents/BuildGate/**", "/v1/documents/project/**");
    fs::write(gates.folder.path().join("rights.yaml"), rights).unwrap();
    gates.served.reload();
    let refused = gates.ask("gates", "PUT", "/v1/documents/project/compliance/a", &other);
    assert_eq!(refused.status, 403, "{}", refused.text);
    assert!(refused.text.contains("Changes/compliance/past"), "{}", refused.text);
    assert_eq!(gates.ask("admin", "PUT", "/v1/documents/project/compliance/a", &other).status, 201);
}
