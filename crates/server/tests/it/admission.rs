//! What end-users are prevented from, and what administrators are let through with: over HTTP, by token.

mod killed;
mod tags;
mod watching;

use std::fs;

use serde_json::{Value as Json, json};
use sha2::{Digest, Sha256};
use tempfile::TempDir;
use upheld_server::Config;
use upheld_server::config::{Anonymous, Security, StoreLocation};
use upheld_store::testing::Database;

use crate::support::{Answer, Served};

const CLASSIC: &str = "meshstack/classic";
const CURRENT: &str = "meshstack/current";

/// Tokens by name, with their roles.
const PEOPLE: [(&str, &[&str]); 6] = [
    ("root", &["admin"]),
    ("mia", &["author", "workspaceManager@workspace/shop"]),
    ("tom", &["author", "workspaceManager@workspace/other"]),
    ("ida", &["author"]),
    ("eva", &["author", "complianceManager"]),
    ("otto", &["author", "owner@account/shop"]),
];

/// A company with two workspaces: projects may be for environments that their workspace has, and so on.
const COMPANY: &str = r"
kind: Compliance
name: definitions
policyKind: MeshPolicy
tagDefinitions:
- {kind: workspace, key: env, type: multiSelect, options: [dev, qa, prod], restricted: true}
- {kind: project, key: env, type: multiSelect, options: [dev, qa, prod]}
- {kind: landingZone, key: env, type: multiSelect, options: [dev, qa, prod]}
- {kind: principal, key: env, type: multiSelect, options: [dev, qa, prod]}
---
{ref: workspace/shop, tags: {env: [dev, qa]}}
---
{ref: workspace/other, tags: {env: [dev, prod]}}
---
{ref: project/web, workspace: shop, tags: {env: [dev]}}
---
{ref: landingZone/lz-dev, tags: {env: [dev]}}
---
{ref: landingZone/lz-prod, tags: {env: [prod]}}
---
{ref: user/ann, tags: {env: [dev]}}
---
{ref: user/pat, tags: {env: [prod]}}
---
{ref: group/crew, tags: {env: [dev]}}
---
{ref: group/ops, tags: {env: [prod]}}
---
{a: project/web, b: landingZone/lz-dev}
---
{a: workspace/shop, b: user/ann}
---
{type: MeshPolicy, name: project-in-workspace, a: {kind: workspace, tag: env}, b: {kind: project, tag: env}}
---
{type: MeshPolicy, name: project-on-zone, a: {kind: project, tag: env}, b: {kind: landingZone, tag: env}}
---
{type: MeshPolicy, name: project-for-people, a: {kind: project, tag: env}, b: {kind: principal, tag: env}}
---
{type: MeshPolicy, name: workspace-for-people, a: {kind: workspace, tag: env}, b: {kind: principal, tag: env}}
";

struct Company {
    served: Served,
    _folder: TempDir,
}

fn token(name: &str) -> String {
    format!("upheld_{name}-0123456789abcdef0123456789abcdef")
}

impl Company {
    fn open(edition: &str) -> Self {
        let company = Self::on(edition, StoreLocation::Ephemeral);
        let written = company.write("root", COMPANY);
        assert_eq!(written.status, 201, "{}", written.text);
        company
    }

    /// A server on a store, with what is in it.
    fn on(edition: &str, store: StoreLocation) -> Self {
        let folder = TempDir::new().unwrap();
        let tokens = PEOPLE.iter().map(|(name, roles)| {
            let hash = Sha256::digest(token(name).as_bytes());
            format!("- {{name: {name}, roles: {}, sha256: '{hash:x}'}}\n", json!(roles))
        });
        let path = folder.path().join("tokens.yaml");
        fs::write(&path, format!("tokens:\n{}", tokens.collect::<String>())).unwrap();
        let security = Security { tokens: Some(path), anonymous: Some(Anonymous::Read), ..Security::default() };
        let config = Config { security, store, semantics: vec![edition.to_owned()], ..Config::default() };
        Self { served: Served::guarded(config), _folder: folder }
    }

    fn ask(&self, who: &str, method: &str, path: &str, content: &str, body: &str) -> Answer {
        let header = format!("Bearer {}", token(who));
        self.served.ask(method, path, &[("authorization", &header), ("content-type", content)], body)
    }

    fn write(&self, who: &str, document: &str) -> Answer {
        self.ask(who, "POST", "/v1/revisions", "application/yaml", document)
    }

    fn revision(&self) -> Json {
        self.served.get("/v1/revisions").json()["last"].clone()
    }

    /// Asks both ways: without writing, which must say the same and leave no trace.
    fn outcome(&self, who: &str, document: &str) -> (u16, String) {
        let before = self.revision();
        let dry = self.ask(who, "POST", "/v1/revisions?dryRun=true", "application/yaml", document);
        assert_eq!(self.revision(), before, "a dry run wrote something");
        let written = self.write(who, document);
        let said = |answer: &Answer| answer.json()["admission"].clone();
        assert_eq!(said(&dry), said(&written), "{}", dry.text);
        let (status, outcome) = (written.status, said(&written)["outcome"].as_str().unwrap_or("").to_owned());
        if outcome != "allowed" && outcome != "soft" {
            assert_eq!(self.revision(), before, "a refused write left a trace: {}", written.text);
        }
        (status, outcome)
    }

    fn records(&self) -> Vec<Json> {
        let listed = self.ask("root", "GET", "/v1/documents?limit=1000", "application/json", "").json();
        let documents = listed["items"].as_array().unwrap().iter().map(|item| item["document"].clone());
        documents.filter(|document| document["kind"] == "AcceptedViolations").collect()
    }
}

fn is(status: u16, outcome: &str) -> (u16, String) {
    (status, outcome.to_owned())
}

/// A new project for an environment that its workspace does not have: 1.2 of the seed.
const PROJECT: &str = "{ref: project/new, workspace: shop, tags: {env: [prod]}}";
/// A new project with a landing zone that is not meant for it: 1.1.
const PROJECT_ON_ZONE: &str =
    "{ref: project/new, workspace: shop, tags: {env: [dev]}}\n---\n{a: project/new, b: landingZone/lz-prod}";
/// A landing zone is added: 2.1.
const ZONE: &str = "{a: project/web, b: landingZone/lz-prod}";
/// Somebody is added to a project: 2.2.
const MEMBER: &str = "{a: project/web, b: user/pat}";
/// A group is.
const MEMBERS: &str = "{a: project/web, b: group/ops}";
/// The environment of a project changes: 2.3.
const TAGS: &str = "{ref: project/web, workspace: shop, tags: {env: [qa]}}";
/// Somebody is added to a workspace: 3.
const COLLEAGUE: &str = "{a: workspace/shop, b: user/pat}";
/// A group is.
const COLLEAGUES: &str = "{a: workspace/shop, b: group/ops}";
/// A landing zone moves from dev to prod: the example of a soft violation.
const MOVED: &str = "{ref: landingZone/lz-dev, tags: {env: [prod]}}";

#[test]
fn the_table_of_the_seed_holds_over_http_for_end_users() {
    for edition in [CLASSIC, CURRENT] {
        for (row, write) in [
            ("1.1", PROJECT_ON_ZONE),
            ("1.2", PROJECT),
            ("2.1", ZONE),
            ("2.2", MEMBER),
            ("2.2", MEMBERS),
            ("3", COLLEAGUE),
            ("3", COLLEAGUES),
        ] {
            assert_eq!(Company::open(edition).outcome("mia", write), is(409, "blocked"), "{edition} {row}");
        }
        // Who has no role in the organisation is an end-user.
        assert_eq!(Company::open(edition).outcome("ida", ZONE), is(409, "blocked"), "{edition}");
    }
    assert_eq!(Company::open(CLASSIC).outcome("mia", TAGS), is(409, "blocked"));
    // The newer edition only records what a change of tags does to landing zones and people.
    assert_eq!(Company::open(CURRENT).outcome("mia", TAGS), is(201, "soft"));
    assert_eq!(Company::open(CURRENT).outcome("mia", &TAGS.replace("qa", "prod")), is(409, "blocked"));
}

#[test]
fn the_table_of_the_seed_holds_over_http_for_administrators() {
    for (row, write) in [
        ("1.1", PROJECT_ON_ZONE),
        ("1.2", PROJECT),
        ("2.1", ZONE),
        ("2.2", MEMBER),
        ("2.2", MEMBERS),
        ("2.3", TAGS),
        ("3", COLLEAGUE),
        ("3", COLLEAGUES),
    ] {
        assert_eq!(Company::open(CURRENT).outcome("root", write), is(201, "soft"), "{row}");
        assert_eq!(Company::open(CLASSIC).outcome("root", write), is(409, "blocked"), "{row}");
    }
    for edition in [CLASSIC, CURRENT] {
        assert_eq!(Company::open(edition).outcome("root", MOVED), is(201, "soft"), "{edition}");
    }
}

/// All that a project is related to is looked at when one of its tags changes: 2.3, line by line.
#[test]
fn a_changed_tag_is_held_against_everything_that_the_project_is_related_to() {
    let alone = "{ref: project/alone, workspace: shop, tags: {env: [dev]}}";
    for (related, env, policy) in [
        ("", "prod", "project-in-workspace"),
        ("landingZone/lz-dev", "qa", "project-on-zone"),
        ("user/ann", "qa", "project-for-people"),
        ("group/crew", "qa", "project-for-people"),
    ] {
        for (edition, who, expected) in [
            (CLASSIC, "mia", "blocked"),
            (CLASSIC, "root", "blocked"),
            (CURRENT, "mia", if policy == "project-in-workspace" { "blocked" } else { "soft" }),
            (CURRENT, "root", "soft"),
        ] {
            let company = Company::open(edition);
            let link = format!("\n---\n{{a: project/alone, b: {related}}}");
            let begin = format!("{alone}{}", if related.is_empty() { "" } else { link.as_str() });
            assert_eq!(company.outcome("root", &begin), is(201, "allowed"), "{edition} {related}");
            let answer = company.write(who, &alone.replace("dev", env)).json();
            let violations = answer["admission"]["violations"].as_array().unwrap();
            let policies: Vec<&Json> = violations.iter().map(|own| &own["policy"]).collect();
            assert_eq!(
                (&answer["admission"]["outcome"], policies),
                (&json!(expected), vec![&json!(policy)]),
                "{answer}"
            );
        }
    }
}

#[test]
fn c1_a_refusal_names_policies_values_and_fixes_and_nothing_is_written() {
    let company = Company::open(CLASSIC);
    let refused = company.write("mia", PROJECT);
    assert_eq!(refused.status, 409, "{}", refused.text);
    assert_eq!(refused.header("content-type"), Some("application/problem+json"));
    let body = refused.json();
    assert_eq!(body["type"], "/problems/violates-policies");
    assert_eq!(body["detail"], "BLOCKED by project-in-workspace. Nothing was written.");
    let violation = &body["admission"]["violations"][0];
    assert_eq!(violation["policy"], "project-in-workspace");
    assert_eq!((&violation["a"]["values"], &violation["b"]["values"]), (&json!(["dev", "qa"]), &json!(["prod"])));
    let fixes = violation["fixes"].to_string();
    assert!(fixes.contains("add dev or qa to env of project/new"), "{fixes}");
    assert_eq!(company.served.get("/v1/documents/project/compliance/new").status, 404);
}

#[test]
fn c1_rights_and_scopes_come_from_the_token() {
    let company = Company::open(CURRENT);
    let fine = "{ref: project/fine, workspace: shop, tags: {env: [dev]}}";
    assert_eq!(company.outcome("tom", fine), is(403, "forbidden"));
    assert_eq!(company.outcome("mia", fine), is(201, "allowed"));
    let policy = "{type: MeshPolicy, name: own, a: {kind: workspace, tag: env}, b: {kind: project, tag: env}, enforcement: audit}";
    for (who, expected) in [("mia", is(403, "forbidden")), ("ida", is(403, "forbidden")), ("eva", is(201, "allowed"))] {
        assert_eq!(company.outcome(who, policy), expected, "{who}");
    }
    // What many projects run on is not moved by those who look after one of them.
    for who in ["mia", "tom", "ida"] {
        assert_eq!(company.outcome(who, MOVED), is(403, "forbidden"), "{who}");
    }
    // Tags that only administrators may set, waivers, and what exempts from policies.
    let restricted = "{ref: workspace/shop, tags: {env: [dev, qa, prod]}}";
    assert_eq!(company.outcome("mia", restricted), is(403, "forbidden"));
    let waiver = "{kind: Waiver, name: mine, policy: project-on-zone, reason: because}";
    assert_eq!(company.outcome("mia", waiver), is(403, "forbidden"));
    assert_eq!(
        company.outcome("mia", "{ref: workspace/shop, class: partner, tags: {env: [dev, qa]}}"),
        is(403, "forbidden")
    );
    let forged = "{kind: AcceptedViolations, name: r1-1, at: 2026-01-01T00:00:00Z, action: link, object: project/web, violations: []}";
    assert_eq!(company.outcome("mia", forged), is(403, "forbidden"));
    // A body that says who acts is not believed.
    assert_eq!(company.outcome("mia", "{kind: Changes, name: c, changes: [{verb: link, at: 2026-01-01T00:00:00Z, by: admin, a: project/web, b: landingZone/lz-prod}]}").0, 409);
}

#[test]
fn c1_what_is_tolerated_is_on_record_until_it_ends() {
    let company = Company::open(CURRENT);
    assert_eq!(company.outcome("root", ZONE), is(201, "soft"));
    let records = company.records();
    let [record] = records.as_slice() else { panic!("{records:?}") };
    assert_eq!(record["by"], json!({"name": "root", "role": "orgAdmin"}));
    assert_eq!(
        (&record["revision"], &record["action"], &record["object"]),
        (&json!(2), &json!("link"), &json!("project/web"))
    );
    assert_eq!(record["violations"][0]["policy"], "project-on-zone");
    let audited = company.served.post("/v1/audit", "{}").json();
    let violation = &audited["violations"][0];
    assert_eq!(
        (&violation["state"], &violation["cause"]["actor"]),
        (&json!("soft"), &json!("root, an administrator")),
        "{audited}"
    );
    assert!(violation["firstSeen"].as_str().is_some(), "{violation}");
    // The write that ends it takes the record away.
    let unlinked = company.ask(
        "mia",
        "DELETE",
        "/v1/documents/Link/compliance/project%2Fweb~landingZone%2Flz-prod",
        "application/json",
        "",
    );
    assert!(unlinked.status < 300, "{}", unlinked.text);
    assert_eq!(company.records(), Vec::<Json>::new());
    assert_eq!(company.served.post("/v1/audit", "{}").json()["violations"], json!([]));
}

#[test]
fn a_batch_is_judged_as_a_whole() {
    let company = Company::open(CURRENT);
    // The project moves with all that belongs to it: no step of it is judged before the others are done.
    let move_all = "{ref: project/qa, workspace: shop, tags: {env: [qa]}}\n---\n{ref: landingZone/lz-qa, tags: {env: [qa]}}\n---\n{a: project/qa, b: landingZone/lz-qa}";
    assert_eq!(company.outcome("root", move_all), is(201, "allowed"));
    let half = format!("{TAGS}\n---\n{ZONE}");
    assert_eq!(company.outcome("mia", &half), is(409, "blocked"));
}

#[test]
fn c1_questions_are_asked_over_http_as_the_role_of_the_token() {
    let company = Company::open(CURRENT);
    let ask = |who: &str, path: &str, body: Json| company.ask(who, "POST", path, "application/json", &body.to_string());
    let can = json!({"change": ["link", "project/web~landingZone/lz-prod"]});
    assert_eq!(ask("mia", "/v1/can", can.clone()).json()["outcome"], "blocked");
    assert_eq!(ask("root", "/v1/can", can.clone()).json()["outcome"], "soft");
    // An administrator may ask for others; an end-user may not.
    assert_eq!(ask("root", "/v1/can?as=user", can.clone()).json()["outcome"], "blocked");
    let claimed = ask("mia", "/v1/can?as=admin", can);
    assert_eq!(
        (claimed.status, claimed.json()["diagnostics"][0]["code"].clone()),
        (422, json!("UP905")),
        "{}",
        claimed.text
    );
    let candidates = ask("mia", "/v1/candidates", json!({"object": "project/web", "kind": "landingZone"})).json();
    assert_eq!(candidates["candidates"], json!(["landingZone/lz-dev"]));
    let values = ask("mia", "/v1/values", json!({"object": "project/web", "tag": "env"})).json();
    assert!(values["values"].as_array().unwrap().contains(&json!("dev")), "{values}");
    assert_eq!(ask("tom", "/v1/values", json!({"object": "project/web", "tag": "env"})).status, 422);
    let plan = ask(
        "root",
        "/v1/what-if",
        json!({"verb": "setTags", "object": "landingZone/lz-dev", "tags": {"env": ["prod"]}}),
    )
    .json();
    assert_eq!(
        (&plan["clean"], &plan["plan"]["added"][0]["policy"]),
        (&json!(false), &json!("project-on-zone")),
        "{plan}"
    );
    company.outcome("root", ZONE);
    let fixes = ask("mia", "/v1/fix", json!({"what": "project/web~landingZone/lz-prod"})).json();
    assert!(fixes["violations"][0]["fixes"].to_string().contains("unlink"), "{fixes}");
    assert_eq!(ask("root", "/v1/waivers", json!({})).json()["all"], 0);
    // What end-users see of violations is what is in their workspace.
    assert_eq!(ask("mia", "/v1/audit", json!({})).json()["violations"].as_array().unwrap().len(), 1);
    assert_eq!(ask("tom", "/v1/audit", json!({})).json()["violations"].as_array().unwrap().len(), 0);
}

#[test]
fn other_systems_ask_before_they_finalize() {
    let company = Company::open(CURRENT);
    let check = |query: &str| company.ask("root", "POST", &format!("/v1/check{query}"), "application/yaml", ZONE);
    assert_eq!((check("?as=workspaceManager@workspace/shop").status, check("").status), (409, 200));
    assert_eq!(check("").json()["admission"]["outcome"], "soft");
    assert_eq!(company.ask("mia", "POST", "/v1/check?as=admin", "application/yaml", ZONE).status, 422);
    let review = |who: &str, groups: &[&str]| {
        let body = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
            "uid": "17", "operation": "CREATE", "userInfo": {"username": "zoe", "groups": groups},
            "object": {"a": "project/web", "b": "landingZone/lz-prod"}}});
        let answer = company.ask(who, "POST", "/v1/admission-review", "application/json", &body.to_string());
        assert_eq!(answer.status, 200, "{}", answer.text);
        answer.json()["response"].clone()
    };
    let refused = review("root", &["workspaceManager@workspace/shop"]);
    assert_eq!(
        (&refused["uid"], &refused["allowed"], &refused["status"]["code"]),
        (&json!("17"), &json!(false), &json!(409))
    );
    let tolerated = review("root", &["orgAdmin"]);
    assert_eq!(tolerated["allowed"], true, "{tolerated}");
    assert!(tolerated["warnings"][0].as_str().unwrap().contains("lz-prod"), "{tolerated}");
    // Who is bound to a role cannot claim another for somebody else.
    assert_eq!(review("mia", &["orgAdmin"])["allowed"], false);
    assert_eq!(company.revision(), json!(1));
}

/// What somebody writes at random: new projects, tags, relationships that are made and ended.
fn random_write(numbers: &mut u64) -> (Who, What) {
    let mut next = |most: usize| {
        *numbers = numbers.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(*numbers >> 33).unwrap() % most
    };
    let who = ["mia", "tom", "ida", "root"][next(4)];
    let env = [r#"["dev"]"#, r#"["qa"]"#, r#"["prod"]"#, r#"["dev","prod"]"#, "[]"][next(5)];
    let (workspace, project) = (["shop", "other"][next(2)], ["web", "p1", "p2", "p3"][next(4)]);
    let zone = ["lz-dev", "lz-prod"][next(2)];
    let home = if project == "web" { "shop" } else { workspace };
    let what = match next(8) {
        0..3 => {
            What::Put(format!(r#"{{"ref": "project/{project}", "workspace": "{home}", "tags": {{"env": {env}}}}}"#))
        }
        3 => What::Put(format!(r#"{{"ref": "landingZone/{zone}", "tags": {{"env": {env}}}}}"#)),
        4 | 5 => What::Put(format!(r#"{{"a": "project/{project}", "b": "landingZone/{zone}"}}"#)),
        6 => What::Put(format!(r#"{{"a": "project/{project}", "b": "user/{}"}}"#, ["ann", "pat"][next(2)])),
        _ => What::Delete(format!("/v1/documents/Link/compliance/project%2F{project}~landingZone%2F{zone}")),
    };
    (who, what)
}

type Who = &'static str;

enum What {
    Put(String),
    Delete(String),
}

/// Writes at random from several threads, to one server or another on the same store.
fn hammer(companies: &[Company], writes: usize) {
    std::thread::scope(|threads| {
        for thread in 0..4_u64 {
            threads.spawn(move || {
                let mut numbers = thread + 1;
                for round in 0..writes {
                    let company = &companies[(usize::try_from(thread).unwrap() + round) % companies.len()];
                    let (who, what) = random_write(&mut numbers);
                    let answer = match what {
                        What::Put(document) => company.write(who, &document),
                        What::Delete(path) => company.ask(who, "DELETE", &path, "application/json", ""),
                    };
                    assert!(
                        matches!(answer.status, 200 | 201 | 403 | 404 | 409 | 422),
                        "{}: {}",
                        answer.status,
                        answer.text
                    );
                }
            });
        }
    });
}

/// What is listed, without what differs from one moment to the next.
fn audited(company: &Company) -> Json {
    let mut audit = company.ask("root", "POST", "/v1/audit", "application/json", "{}").json();
    for field in ["now", "revision"] {
        audit.as_object_mut().unwrap().remove(field);
    }
    audit
}

/// After any interleaving the violations listed are those of a fresh audit, and nothing violates that nobody was let through with.
fn holds_under_concurrent_writers(store: impl Fn() -> StoreLocation, servers: usize) {
    let companies: Vec<Company> = (0..servers).map(|_| Company::on(CURRENT, store())).collect();
    let written = companies[0].write("root", COMPANY);
    assert_eq!(written.status, 201, "{}", written.text);
    crate::support::eventually(|| {
        companies.iter().all(|company| company.served.get("/readyz").json()["revision"] == 1)
    });
    hammer(&companies, 30);
    let digest = |company: &Company| company.served.get("/readyz").json()["digest"].clone();
    crate::support::eventually(|| companies.iter().all(|company| digest(company) == digest(&companies[0])));
    let listed = audited(&companies[0]);
    assert_eq!(listed["summary"]["hard"], 0, "{listed}");
    let recorded: usize =
        companies[0].records().iter().map(|record| record["violations"].as_array().unwrap().len()).sum();
    assert_eq!(listed["summary"]["soft"], recorded, "every soft violation has its record, and no record is left over");
    assert!(recorded > 0, "nothing was let through, so nothing was tested");
    // At no moment either: what somebody wrote and somebody else took back again would not be there in the end.
    for revision in 1..=companies[0].revision().as_u64().unwrap() {
        let then =
            companies[0].ask("root", "POST", &format!("/v1/audit?at={revision}"), "application/json", "{}").json();
        assert_eq!(then["summary"]["hard"], 0, "revision {revision}: {then}");
    }
    drop(companies);
    assert_eq!(audited(&Company::on(CURRENT, store())), listed, "a server that reads all of it anew finds the same");
}

#[test]
fn concurrent_writers_leave_what_a_fresh_audit_finds() {
    let folder = TempDir::new().unwrap();
    holds_under_concurrent_writers(|| StoreLocation::Folder(folder.path().to_owned()), 1);
}

#[test]
fn concurrent_writers_on_two_servers_leave_what_a_fresh_audit_finds() {
    let Some(database) = Database::start() else { return };
    holds_under_concurrent_writers(|| StoreLocation::Postgres(database.url()), 2);
}

/// Where several organisations could be meant, nobody is believed to have a role in one of them.
#[test]
fn a_role_that_nobody_can_look_up_is_not_believed() {
    let company = Company::open(CURRENT);
    let kind = fs::read_to_string("../../examples/kubernetes-labels/kind.yaml").unwrap();
    let another =
        format!("{kind}\n---\n{{apiVersion: v1, kind: Namespace, metadata: {{name: shop, labels: {{team: a}}}}}}");
    let written = company.write("root", &another);
    assert_eq!(written.status, 201, "{}", written.text);
    let check = |who: &str, query: &str| {
        company.ask(who, "POST", &format!("/v1/check{query}"), "application/yaml", ZONE).status
    };
    assert_eq!((check("mia", "?as=admin"), check("mia", "")), (422, 409));
    let body = json!({"request": {"uid": "1", "operation": "CREATE", "userInfo": {"username": "mia", "groups": ["orgAdmin"]},
        "object": {"a": "project/web", "b": "landingZone/lz-prod"}}});
    let reviewed = company.ask("mia", "POST", "/v1/admission-review", "application/json", &body.to_string()).json();
    assert_eq!(reviewed["response"]["allowed"], false, "{reviewed}");
}
