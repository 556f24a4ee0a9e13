//! Rights by role in an organisation: all roles of a token count, for questions as for writes, and a role in one workspace sees that one only.

use std::fs;

use serde_json::{Value as Json, json};
use sha2::{Digest, Sha256};
use tempfile::TempDir;
use upheld_server::Config;
use upheld_server::config::Security;

use crate::support::{Answer, Served};

const IN_A: &str = "workspaceManager@workspace/a";
const IN_B: &str = "workspaceManager@workspace/b";
const MEMBER_OF_A: &str = "workspaceMember@workspace/a";

/// Tokens with their roles in the organisation, each in both orders.
const PEOPLE: [(&str, &[&str]); 8] = [
    ("root", &["admin"]),
    ("manager", &[IN_A]),
    ("managers", &[IN_A, IN_B]),
    ("member-and-manager", &[MEMBER_OF_A, IN_B]),
    ("member", &[MEMBER_OF_A]),
    ("manager-and-administrator", &[IN_A, "orgAdmin"]),
    ("manager-and-platform", &[IN_A, "platformEngineer"]),
    ("nobody", &[]),
];

struct Organisation {
    served: Served,
    _folder: TempDir,
}

fn token(name: &str) -> String {
    format!("upheld_{name}-0123456789abcdef0123456789abcdef")
}

impl Organisation {
    fn open() -> Self {
        let folder = TempDir::new().unwrap();
        let line = |name: &str, roles: Vec<&str>| {
            let hash = Sha256::digest(token(name).as_bytes());
            format!("- {{name: {name}, roles: {}, sha256: '{hash:x}'}}\n", json!(roles))
        };
        let people = PEOPLE.iter().flat_map(|(name, roles)| {
            let first: Vec<&str> = std::iter::once("author").chain(roles.iter().copied()).collect();
            let second: Vec<&str> = first.iter().rev().copied().collect();
            [line(name, first), line(&format!("{name}-reversed"), second)]
        });
        let path = folder.path().join("tokens.yaml");
        fs::write(&path, format!("tokens:\n{}", people.collect::<String>())).unwrap();
        let security = Security { tokens: Some(path), ..Security::default() };
        let organisation = Self { served: Served::guarded(Config { security, ..Config::default() }), _folder: folder };
        let object = |reference: &str, workspace: Option<&str>, env: &str| json!({"ref": reference, "workspace": workspace, "tags": {"env": env}});
        let policy = |name: &str, with: &str| json!({"type": "MeshPolicy", "name": name, "a": {"kind": "project", "tag": "env"}, "b": {"kind": with, "tag": "env"}});
        let waiver = |workspace: &str| {
            json!({"kind": "Waiver", "id": format!("late-{workspace}"), "policy": "pl", "reason": "the move takes time",
                "match": {"workspace": format!("workspace/{workspace}")}, "expiresAt": "2031-01-01T00:00:00Z"})
        };
        organisation.put(&[
            object("workspace/a", None, "dev"),
            object("workspace/b", None, "dev"),
            object("project/pa", Some("a"), "prod"),
            object("project/pb", Some("b"), "prod"),
            object("landingZone/l", None, "prod"),
            policy("pw", "workspace"),
            policy("pl", "landingZone"),
        ]);
        organisation.put(&[
            json!({"a": "project/pa", "b": "landingZone/l"}),
            json!({"a": "project/pb", "b": "landingZone/l"}),
            waiver("a"),
            waiver("b"),
        ]);
        // An administrator lets a violation of both workspaces through.
        organisation.put(&[object("landingZone/l", None, "qa")]);
        organisation
    }

    fn put(&self, documents: &[Json]) {
        let documents: Vec<Json> = documents.iter().cloned().map(without_nulls).collect();
        let written = self.ask("root", "POST", "/v1/revisions", &json!({"put": documents}));
        assert_eq!(written.status, 201, "{}", written.text);
    }

    fn ask(&self, who: &str, method: &str, path: &str, body: &Json) -> Answer {
        let header = format!("Bearer {}", token(who));
        let body = if body.is_null() { String::new() } else { body.to_string() };
        self.served.ask(method, path, &[("authorization", &header)], &body)
    }

    /// The workspaces whose violations somebody hears of, or why they hear of none.
    fn audited(&self, who: &str) -> Vec<String> {
        let audit = self.ask(who, "POST", "/v1/audit", &json!({}));
        if audit.status != 200 {
            return vec![audit.json()["detail"].as_str().unwrap().to_owned()];
        }
        let audit = audit.json();
        let violations = audit["violations"].as_array().unwrap();
        let mut workspaces: Vec<String> =
            violations.iter().map(|own| own["workspace"].as_str().unwrap().to_owned()).collect();
        workspaces.dedup();
        workspaces
    }

    /// What `can` says of changes, and what becomes of the same as writes.
    fn outcomes(&self, who: &str) -> Vec<(String, u16)> {
        let changes = [
            (json!(["unlink", "project/pa~landingZone/l"]), None),
            (
                json!(["tag", "project/pa", "env=dev,qa"]),
                Some(json!({"ref": "project/pa", "workspace": "a", "tags": {"env": ["dev", "qa"]}})),
            ),
            (
                json!(["tag", "project/pb", "env=dev,qa"]),
                Some(json!({"ref": "project/pb", "workspace": "b", "tags": {"env": ["dev", "qa"]}})),
            ),
            (
                json!(["tag", "landingZone/l", "env=dev"]),
                Some(json!({"ref": "landingZone/l", "tags": {"env": ["dev"]}})),
            ),
        ];
        let outcome = |(change, document): (Json, Option<Json>)| {
            let can = self.ask(who, "POST", "/v1/can", &json!({"change": change}));
            let outcome = can.json().get("outcome").and_then(Json::as_str).unwrap_or("unknown").to_owned();
            let written = match document {
                Some(document) => self.ask(who, "POST", "/v1/check", &json!({"put": [document]})),
                None => {
                    self.ask(who, "POST", "/v1/check", &json!({"delete": ["Link/compliance/project/pa~landingZone/l"]}))
                }
            };
            (outcome, written.status)
        };
        changes.into_iter().map(outcome).collect()
    }
}

fn without_nulls(mut document: Json) -> Json {
    document.as_object_mut().unwrap().retain(|_, field| !field.is_null());
    document
}

fn both() -> Vec<String> {
    vec!["workspace/a".to_owned(), "workspace/b".to_owned()]
}

/// C43: a manager of two workspaces sees both.
#[test]
fn all_roles_of_a_token_count_in_an_audit() {
    let organisation = Organisation::open();
    let expected = [
        ("manager", vec!["workspace/a".to_owned()]),
        ("managers", both()),
        ("member-and-manager", vec!["workspace/b".to_owned()]),
        ("manager-and-administrator", both()),
        ("nobody", both()),
    ];
    for (who, workspaces) in expected {
        assert_eq!(organisation.audited(who), workspaces, "{who}");
    }
    assert!(organisation.audited("member")[0].contains("workspaceMember"), "{:?}", organisation.audited("member"));
}

/// C43: `can` says what becomes of the write, whoever asks.
#[test]
fn a_question_knows_the_roles_that_the_write_knows() {
    let organisation = Organisation::open();
    for (who, _) in PEOPLE {
        for (outcome, status) in organisation.outcomes(who) {
            let expected: &[u16] = match outcome.as_str() {
                "allowed" | "soft" => &[200],
                "blocked" => &[409],
                "forbidden" => &[403],
                // What belongs to another workspace is not there for questions, and not to be written.
                "unknown" => &[403, 422],
                other => panic!("{other}"),
            };
            assert!(expected.contains(&status), "{who}: {outcome} and {status}");
        }
    }
    let outcome = |who: &str, change: usize| organisation.outcomes(who)[change].0.clone();
    assert_eq!(outcome("member-and-manager", 2), "allowed", "as the manager of b");
    assert_eq!(outcome("member-and-manager", 1), "forbidden", "a member of a tags nothing there");
    assert_eq!((outcome("managers", 1), outcome("managers", 2)), ("allowed".to_owned(), "allowed".to_owned()));
    assert_eq!(outcome("manager-and-platform", 3), "allowed", "as a platform engineer");
    assert_eq!(outcome("manager", 3), "forbidden");
}

/// C43: the order of roles in the token says nothing.
#[test]
fn the_order_of_roles_never_matters() {
    let organisation = Organisation::open();
    for (who, _) in PEOPLE {
        let reversed = format!("{who}-reversed");
        assert_eq!(organisation.audited(who), organisation.audited(&reversed), "{who}");
        assert_eq!(organisation.outcomes(who), organisation.outcomes(&reversed), "{who}");
        for (path, body) in [
            ("/v1/fix", json!({})),
            ("/v1/candidates", json!({"object": "project/pa", "kind": "landingZone"})),
            ("/v1/values", json!({"object": "project/pb", "tag": "env"})),
        ] {
            let text = |name: &str| organisation.ask(name, "POST", path, &body).text;
            assert_eq!(text(who), text(&reversed), "{who} {path}");
        }
    }
}

/// C45: whoever manages one workspace hears of that one only, wherever they ask.
#[test]
fn a_role_in_one_workspace_sees_that_one_on_every_endpoint() {
    let organisation = Organisation::open();
    let ids = organisation.ask("root", "GET", "/v1/documents?limit=1000", &Json::Null).json();
    let ids: Vec<String> =
        ids["items"].as_array().unwrap().iter().map(|own| own["id"].as_str().unwrap().to_owned()).collect();
    let records: Vec<&String> = ids.iter().filter(|id| id.starts_with("AcceptedViolations/")).collect();
    assert_eq!(records.len(), 2, "one for each workspace: {ids:?}");
    let mut asked: Vec<(&str, String, Json)> = vec![
        ("POST", "/v1/audit".to_owned(), json!({})),
        ("POST", "/v1/diff".to_owned(), json!({"before": 1, "after": 3})),
        ("POST", "/v1/prove".to_owned(), json!({"before": 1, "after": 3})),
        ("POST", "/v1/waivers".to_owned(), json!({})),
        ("POST", "/v1/fix".to_owned(), json!({})),
        ("GET", "/v1/snapshot".to_owned(), Json::Null),
        ("GET", "/v1/snapshot?at=2".to_owned(), Json::Null),
        ("GET", "/v1/documents?limit=1000".to_owned(), Json::Null),
        ("GET", "/v1/objects?limit=1000".to_owned(), Json::Null),
        ("GET", "/v1/search?q=p&limit=100".to_owned(), Json::Null),
        ("GET", "/v1/contents?all=true".to_owned(), Json::Null),
        ("GET", "/v1/revisions?limit=1000".to_owned(), Json::Null),
        ("GET", "/v1/revisions/3".to_owned(), Json::Null),
        ("GET", "/compliance".to_owned(), Json::Null),
        ("GET", "/history?from=1&to=3".to_owned(), Json::Null),
    ];
    asked.extend(records.iter().map(|id| ("GET", format!("/v1/documents/{id}"), Json::Null)));
    let names_b = |text: &str| ["project/pb", "workspace/b", "late-b", "\"pb\""].iter().any(|name| text.contains(name));
    for (method, path, body) in &asked {
        let told = organisation.ask("manager", method, path, body);
        assert!(!names_b(&told.text), "{method} {path}: {}", told.text);
        let own = organisation.ask("managers", method, path, body);
        let whole = organisation.ask("root", method, path, body);
        assert_eq!(names_b(&whole.text), names_b(&own.text), "{method} {path}: {}", own.text);
    }
    // One of the records is theirs; the other is not there.
    let statuses = |who: &str| -> Vec<u16> {
        let mut all: Vec<u16> = records
            .iter()
            .map(|id| organisation.ask(who, "GET", &format!("/v1/documents/{id}"), &Json::Null).status)
            .collect();
        all.sort_unstable();
        all
    };
    assert_eq!(
        (statuses("manager"), statuses("managers"), statuses("member")),
        (vec![200, 404], vec![200, 200], vec![404, 404])
    );
    for what in ["project/pb~landingZone/l", "project/pb~workspace/b"] {
        let told = organisation.ask("manager", "POST", "/v1/explain", &json!({"what": what}));
        let none = organisation.ask(
            "manager",
            "POST",
            "/v1/explain",
            &json!({"what": what.replace("pb", "px").replace("/b", "/x")}),
        );
        assert_eq!((told.status, none.status), (422, 422), "{what}: {}", told.text);
    }
    let history = organisation.ask("manager", "GET", "/v1/history", &Json::Null);
    assert_eq!(history.status, 403, "{}", history.text);
}

/// What is kept from somebody is neither changed nor deleted by them, and no condition tells that it is there.
#[test]
fn what_is_kept_from_somebody_is_not_theirs_to_change() {
    let organisation = Organisation::open();
    let delete = |who: &str, id: &str| {
        organisation.ask(who, "DELETE", &format!("/v1/documents/{id}?dryRun=true"), &Json::Null).status
    };
    for id in ["project/compliance/pb", "Waiver/compliance/late-b", "Link/compliance/project/pb~landingZone/l"] {
        assert_eq!(delete("manager", id), delete("manager", "project/compliance/none"), "{id}");
    }
    let waiver = json!({"kind": "Waiver", "id": "late-b", "policy": "pl", "reason": "mine", "expiresAt": "2031-01-01T00:00:00Z"});
    let put = organisation.ask("manager", "PUT", "/v1/documents/Waiver/compliance/late-b", &waiver);
    assert_eq!(put.status, 403, "{}", put.text);
}
