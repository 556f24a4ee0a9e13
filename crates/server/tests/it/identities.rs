//! Who a document is: one id in lists, answers, addresses and the store.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};
use upheld_server::Config;
use upheld_server::config::StoreLocation;
use upheld_store::{Sqlite, export, import};

use crate::support::{Answer, Served};

fn served() -> Served {
    Served::start(Config::default())
}

/// Writes documents; the ids that the answer has, with what happened.
fn write(served: &Served, yaml: &str) -> Vec<String> {
    let answer = send(served, yaml);
    assert_eq!(answer.status, 201, "{}", answer.text);
    let changes = answer.json()["changes"].as_array().unwrap().clone();
    changes
        .iter()
        .map(|change| format!("{} {}", change["effect"].as_str().unwrap(), change["id"].as_str().unwrap()))
        .collect()
}

fn send(served: &Served, yaml: &str) -> Answer {
    served.ask("POST", "/v1/revisions", &[("content-type", "application/yaml")], yaml)
}

/// The ids of a list, with the file of each.
fn listed(served: &Served, what: &str) -> Vec<(String, Json)> {
    let mut all = Vec::new();
    let mut page = format!("/v1/{what}?limit=500");
    loop {
        let answer = served.get(&page).json();
        let items = answer["items"].as_array().unwrap();
        all.extend(items.iter().map(|item| (item["id"].as_str().unwrap().to_owned(), item.clone())));
        match answer["next"].as_str() {
            Some(next) => page = format!("/v1/{what}?limit=500&after={}", encoded(next)),
            None => return all,
        }
    }
}

fn ids(served: &Served, what: &str) -> Vec<String> {
    listed(served, what).into_iter().map(|(id, _)| id).collect()
}

/// A text as it stands in one part of an address.
fn encoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    text.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

/// The address of an id, each part encoded.
fn address(what: &str, id: &str) -> String {
    let parts: Vec<String> = id.splitn(3, '/').map(encoded).collect();
    format!("/v1/{what}/{}", parts.join("/"))
}

const SHOP: &str = "
ref: workspace/shop
tags: {environment: [dev, prod]}
---
ref: project/checkout
workspace: shop
tags: {environment: prod}
---
type: landingZone
name: lz-dev
tags: {environment: dev}
---
ref: landingZone/lz-prod
tags: {environment: prod}
---
ref: user/ana
---
ref: projectRole/admin
";

#[test]
fn c2_tag_definitions_of_two_subjects_for_one_key_are_two_documents() {
    let served = served();
    let definition = |of: &str| format!("kind: TagDefinition\nof: {of}\nkey: environment\ntype: string\n");
    assert_eq!(write(&served, &definition("project")), ["created TagDefinition/compliance/project/environment"]);
    assert_eq!(
        write(&served, &definition("landingZone")),
        ["created TagDefinition/compliance/landingZone/environment"]
    );
    assert_eq!(ids(&served, "documents").len(), 2);
    // By another name, and as the object API writes it, it is the same.
    let again = definition("meshProject").replace("string", "email");
    assert_eq!(write(&served, &again), ["replaced TagDefinition/compliance/project/environment"]);
    let manifest =
        "kind: meshTagDefinition\nspec: {targetKind: meshProject, key: environment, valueType: {string: {}}}\n";
    assert_eq!(write(&served, manifest), ["replaced TagDefinition/compliance/project/environment"]);
}

#[test]
fn c2_projects_of_two_workspaces_with_one_name_are_two_documents() {
    let served = served();
    let workspace =
        |name: &str| format!("kind: meshWorkspace\nmetadata: {{name: {name}}}\nspec: {{displayName: X}}\n---\n");
    let project = |of: &str| {
        format!(
            "apiVersion: api.meshcloud.io/v2\nkind: meshProject\nmetadata: {{name: shop, ownedByWorkspace: {of}}}\nspec: {{displayName: S}}\n---\n"
        )
    };
    let both = format!("{}{}{}{}", workspace("one"), workspace("two"), project("one"), project("two"));
    let expected = [
        "created workspace/compliance/one",
        "created workspace/compliance/two",
        "created project/compliance/one/shop",
        "created project/compliance/two/shop",
    ];
    assert_eq!(write(&served, &both), expected);
    // Our own form of the same project takes its place.
    assert_eq!(write(&served, "{ref: project/one/shop, workspace: one}"), ["replaced project/compliance/one/shop"]);
}

#[test]
fn c2_tenants_can_be_stored_by_workspace_project_and_platform() {
    let served = served();
    let tenant = |project: &str, platform: &str, zone: &str| {
        format!(
            "kind: meshTenant\nmetadata: {{ownedByWorkspace: shop, ownedByProject: {project}, platformIdentifier: {platform}}}\nspec: {{landingZoneIdentifier: {zone}}}\n---\n"
        )
    };
    let project = |name: &str| format!("kind: meshProject\nmetadata: {{name: {name}, ownedByWorkspace: shop}}\n---\n");
    let zones = "{ref: workspace/shop}\n---\n{ref: landingZone/lz-1}\n---\n{ref: landingZone/lz-2}\n---\n";
    write(&served, &format!("{zones}{}{}", project("a"), project("b")));
    let all = format!("{}{}{}", tenant("a", "aws", "lz-1"), tenant("a", "azure", "lz-1"), tenant("b", "aws", "lz-1"));
    let expected = [
        "created meshTenant/compliance/shop/a~aws",
        "created meshTenant/compliance/shop/a~azure",
        "created meshTenant/compliance/shop/b~aws",
    ];
    assert_eq!(write(&served, &all), expected);
    // A platform has one tenant of a project, whatever its landing zone.
    assert_eq!(write(&served, &tenant("a", "aws", "lz-2")), ["replaced meshTenant/compliance/shop/a~aws"]);
}

#[test]
fn c2_manifests_need_no_api_version_and_messages_say_what_is_missing() {
    let served = served();
    let message = |yaml: &str| {
        let answer = send(&served, yaml);
        assert_eq!(answer.status, 422, "{}", answer.text);
        answer.json()["diagnostics"][0]["message"].as_str().unwrap().to_owned()
    };
    assert_eq!(write(&served, "kind: meshUser\nmetadata: {name: ana}\n"), ["created user/compliance/ana"]);
    let apart = "so nothing tells it apart from others";
    for (document, expected) in [
        ("kind: meshUser\nspec: {}\n", format!("this meshUser has no `metadata.name`, {apart}")),
        ("kind: Changes\nchanges: []\n", format!("this Changes has no `name`, {apart}")),
        ("kind: Compliance\nobjects: []\n", format!("this Compliance has no `name`, {apart}")),
        ("kind: Waiver\npolicy: x\nreason: y\n", format!("this Waiver has no `id` or `name`, {apart}")),
        ("kind: TagDefinition\nkey: x\ntype: string\n", format!("this TagDefinition has no `of`, {apart}")),
        ("kind: TagDefinition\nof: project\ntype: string\n", format!("this TagDefinition has no `key`, {apart}")),
        ("kind: meshTenant\nspec: {}\n", format!("this meshTenant has no `metadata.ownedByProject`, {apart}")),
        ("type: TrafficLog\nmesh: blue\n", format!("this TrafficLog has no `name`, {apart}")),
        ("apiVersion: v1\nkind: Service\nspec: {}\n", format!("this Service has no `metadata.name`, {apart}")),
        ("effect: permit\nactions: []\n", format!("this AccessPolicy has no `id`, {apart}")),
        ("hello: world\n", "this document does not say what it is".to_owned()),
    ] {
        assert_eq!(message(document), expected, "{document}");
    }
}

#[test]
fn c2_a_link_is_one_document_whichever_way_it_is_written() {
    let served = served();
    write(&served, SHOP);
    let id = "Link/compliance/project/checkout~landingZone/lz-prod";
    assert_eq!(write(&served, "{a: project/checkout, b: landingZone/lz-prod}"), [format!("created {id}")]);
    assert_eq!(write(&served, "{a: meshLandingZone/lz-prod, b: meshProject/checkout}"), [format!("replaced {id}")]);
    assert_eq!(ids(&served, "documents").iter().filter(|id| id.starts_with("Link/")).count(), 1);
    let related = |served: &Served| served.get("/v1/objects/project/compliance/checkout").json()["related"].clone();
    assert_eq!(related(&served).as_array().unwrap().len(), 2, "the workspace and the landing zone");
    assert_eq!(served.ask("DELETE", &address("documents", id), &[], "").status, 201);
    assert_eq!(related(&served), json!([{"ref": "workspace/shop", "role": null}]));
    // The role belongs to it, and its kind may be left out.
    let id = "Link/compliance/project/checkout~user/ana~projectRole/admin";
    assert_eq!(write(&served, "{a: user/ana, b: project/checkout, role: admin}"), [format!("created {id}")]);
    assert_eq!(
        write(&served, "{a: project/checkout, b: user/ana, role: projectRole/admin}"),
        [format!("replaced {id}")]
    );
    assert_eq!(
        write(&served, "{a: project/checkout, b: user/ana}"),
        ["created Link/compliance/project/checkout~user/ana"]
    );
}

#[test]
fn c2_policies_are_stored_as_they_are_listed() {
    let served = served();
    let policy = "type: MeshPolicy\nname: env\na: {kind: project, tag: e}\nb: {kind: landingZone, tag: e}\n";
    assert_eq!(write(&served, policy), ["created MeshPolicy/compliance/env"]);
    assert_eq!(ids(&served, "policies"), ["MeshPolicy/compliance/env"]);
    let by_id = policy.replace("type: MeshPolicy\nname: env", "kind: meshpolicy\nid: env\nseverity: low");
    assert_eq!(write(&served, &by_id), ["replaced MeshPolicy/compliance/env"]);
}

#[test]
fn c15_every_object_of_a_list_is_at_its_address() {
    let served = served();
    write(&served, SHOP);
    let shown = served.get("/v1/objects/landingZone/compliance/lz-dev");
    assert_eq!(shown.status, 200, "{}", shown.text);
    let shown = shown.json();
    assert_eq!(
        (&shown["kind"], &shown["mesh"], &shown["name"]),
        (&json!("landingZone"), &json!("compliance"), &json!("lz-dev"))
    );
    assert_eq!((&shown["tags"], &shown["document"]["type"]), (&json!({"environment": ["dev"]}), &json!("landingZone")));
    assert_eq!(served.get("/v1/objects/landingZone/compliance/lz-dve").status, 404);
    assert_eq!(served.get("/v1/objects/landingZone/default/lz-dev").status, 404);
}

#[test]
fn names_with_odd_characters_make_the_round_trip_through_addresses() {
    let served = served();
    for name in ["a b", "a/b", "50%", "ä?#&=+;,", "...", "%2e%2e", "a~b", "\"'`<>|\\"] {
        let body = json!({"ref": format!("user/{name}"), "tags": {"x": ["y"]}}).to_string();
        let id = format!("user/compliance/{name}");
        let address = address("documents", &id);
        let put = served.ask("PUT", &address, &[("content-type", "application/json")], &body);
        assert_eq!((put.status, &put.json()["changes"][0]["id"]), (201, &json!(id)), "{}", put.text);
        assert_eq!(served.get(&address).json()["id"], id);
        assert_eq!(served.get(&self::address("objects", &id)).json()["name"], *name);
        assert!(ids(&served, "documents").contains(&id));
        assert_eq!(served.ask("DELETE", &address, &[], "").status, 201, "{name}");
    }
    // A slash need not be encoded.
    write(&served, "{ref: project/shop/a/b}");
    assert_eq!(served.get("/v1/documents/project/compliance/shop/a/b").json()["id"], "project/compliance/shop/a/b");
    assert_eq!(served.get("/v1/objects/project/compliance/shop/a%2Fb").json()["name"], "shop/a/b");
}

#[test]
fn no_name_is_a_step_in_an_address() {
    let served = served();
    for name in [".", "..", "a/..", "../../b", "a\nb"] {
        let answer = served.post("/v1/revisions", &json!({"put": [{"ref": format!("user/{name}")}]}).to_string());
        assert_eq!(answer.status, 422, "{}", answer.text);
        assert!(
            answer.json()["detail"].as_str().unwrap().contains("cannot be the name of a document"),
            "{}",
            answer.text
        );
    }
    assert!(ids(&served, "documents").is_empty());
}

#[test]
fn a_link_whose_sides_have_its_separator_is_no_other_link() {
    let served = served();
    let (one, other) = ("{a: 'project/a~user/b', b: user/c}", "{a: project/a, b: 'user/b~user/c'}");
    write(
        &served,
        "{ref: project/a}\n---\n{ref: 'project/a~user/b'}\n---\n{ref: user/c}\n---\n{ref: 'user/b~user/c'}\n",
    );
    write(&served, one);
    assert_eq!(write(&served, other), ["created Link/compliance/project/a~user/b%7Euser/c"]);
}

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

fn yaml_files(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            yaml_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "yaml") {
            found.push(path);
        }
    }
}

/// A file whose documents have names where only a store needs them.
fn with_names(file: &Path) -> String {
    let text = std::fs::read_to_string(file).unwrap();
    let name = file.file_stem().unwrap().to_str().unwrap();
    ["Compliance", "Changes"]
        .into_iter()
        .fold(text, |text, kind| text.replace(&format!("kind: {kind}\n"), &format!("kind: {kind}\nname: {name}\n")))
}

#[test]
fn every_id_of_every_list_is_the_id_of_its_document_and_can_be_read_put_and_deleted() {
    let folders = [
        "access",
        "access-conditions",
        "access-directory",
        "compliance",
        "demo",
        "envoy-gateway",
        "kgateway-policy-application-and-merging",
        "kuma-choosing-a-policy",
        "kuma-matching-real-resources",
        "network-policies",
        "own-decision-kind",
        "own-gateway-kind",
        "own-kind",
    ];
    for folder in folders {
        let served = served();
        let mut files = Vec::new();
        yaml_files(&examples().join(folder), &mut files);
        let texts: Vec<String> = files.iter().map(|file| with_names(file)).collect();
        write(&served, &texts.join("\n---\n"));
        let documents: BTreeMap<String, Json> = listed(&served, "documents").into_iter().collect();
        assert!(!documents.is_empty());
        let mut checked = 0;
        for what in ["policies", "objects"] {
            for (id, row) in listed(&served, what) {
                assert_eq!(served.get(&address(what, &id)).status, 200, "{folder}: {what} {id}");
                // What nobody wrote, or what stands among others in one document, has none of its own.
                let Some(stored) = row["at"]["file"].as_str().and_then(|file| file.strip_prefix("store:")) else {
                    continue;
                };
                let holds_several = ["Compliance/", "PolicySet/", "AccessManifest/"];
                if !holds_several.iter().any(|kind| stored.starts_with(kind)) {
                    assert_eq!(id, stored, "{folder}");
                    checked += 1;
                }
            }
        }
        assert!(checked > 0 || folder == "compliance", "{folder}");
        for (id, item) in &documents {
            let address = address("documents", id);
            assert_eq!(served.get(&address).json()["id"], *id);
            let body = item["document"].to_string();
            let put = served.ask("PUT", &address, &[("content-type", "application/json")], &body);
            let changes = put.json()["changes"].clone();
            assert_eq!(changes[0], json!({"id": id, "effect": "unchanged"}), "{}", put.text);
            // Whoever writes past notes of changes takes what they say off them.
            let notes = changes.as_array().unwrap()[1..].iter().filter_map(|change| change["id"].as_str());
            assert!(notes.clone().all(|id| id.starts_with("Changes/")), "{}", put.text);
            assert_eq!(put.status, if notes.count() > 0 { 201 } else { 200 });
        }
        // One by one: whatever depends on others keeps those others from going, and goes before them. Kinds say who others are.
        let (kinds, mut left): (Vec<&String>, Vec<&String>) =
            documents.keys().partition(|id| id.starts_with("PolicyKind/"));
        left.extend(kinds);
        while !left.is_empty() {
            let before = left.len();
            left.retain(|id| served.ask("DELETE", &address("documents", id), &[], "").status != 201);
            assert!(left.len() < before, "{folder}: {left:?} cannot be deleted");
        }
    }
}

#[test]
fn objects_out_of_documents_of_other_systems_are_at_their_addresses_too() {
    let served = served();
    let mut files = Vec::new();
    yaml_files(&examples().join("kubernetes-labels"), &mut files);
    let texts: Vec<String> = files.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect();
    let written = write(&served, &texts.join("\n---\n"));
    assert!(written.contains(&"created Deployment/shop/web".to_owned()), "{written:?}");
    let objects = ids(&served, "objects");
    assert!(objects.contains(&"deployment/compliance/shop/web".to_owned()), "{objects:?}");
    for id in objects {
        assert_eq!(served.get(&address("objects", &id)).status, 200, "{id}");
    }
}

#[test]
fn a_kind_that_makes_two_words_one_moves_documents_in_the_same_revision() {
    let served = served();
    let kind = |aliases: &str| {
        format!(
            "kind: PolicyKind\nname: TeamPolicy\nfamily: comply\nobjects: [{{name: team{aliases}}}, {{name: app}}]\nrelationships: [{{a: team, b: app, gives: [{{a: a, b: b}}]}}]\nmatch: [[team, app]]\n---\n"
        )
    };
    let documents = "{ref: team/red}\n---\n{ref: app/web}\n---\n{a: app/web, b: team/red}\n";
    let written = write(&served, &format!("{}{documents}", kind("")));
    assert!(written.contains(&"created Link/compliance/team/red~app/web".to_owned()), "{written:?}");
    // The same words mean something else now, for what is stored and for what comes.
    let renamed =
        kind(", aliases: [squad]").replace("name: team,", "name: crew,").replace("aliases: [squad]", "aliases: [team]");
    let renamed = renamed.replace("a: team,", "a: crew,").replace("[[team, app]]", "[[crew, app]]");
    write(&served, &renamed);
    let now = [
        "Link/compliance/crew/red~app/web",
        "PolicyKind/upheld/TeamPolicy",
        "app/compliance/web",
        "crew/compliance/red",
    ];
    assert_eq!(ids(&served, "documents"), now);
    assert_eq!(served.get("/v1/revisions").json()["last"], 2);
}

const NOW: &str = r#"{"now": "2026-11-18T00:00:00Z"}"#;

/// A store that was written before dialects said who their documents are.
fn old_store(folder: &Path) -> Config {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../store/tests/versions/ids-before-dialects-said-them.db");
    std::fs::copy(file, folder.join("upheld.db")).unwrap();
    Config { store: StoreLocation::Folder(folder.to_owned()), ..Config::default() }
}

#[test]
fn stores_from_before_are_moved_to_the_ids_of_now_in_one_revision() {
    let folder = tempfile::tempdir().unwrap();
    let config = old_store(folder.path());
    let expected = [
        "AccessPolicy/access/readers",
        "Deployment/shop/web",
        "Gateway/infra/edge",
        "GatewayClass/default/kgateway",
        "HTTPRoute/shop/orders",
        "Link/compliance/project/checkout~landingZone/lz-prod",
        "Link/compliance/project/checkout~user/ana~projectRole/admin",
        "Mesh/blue/blue",
        "MeshPolicy/compliance/env-project-landingzone",
        "NetworkPolicy/shop/none",
        "TagDefinition/compliance/project/environment",
        "TrafficLog/blue/all",
        "TrafficPolicy/shop/slow",
        "Waiver/compliance/until-summer",
        "landingZone/compliance/lz-dev",
        "landingZone/compliance/lz-prod",
        "project/compliance/checkout",
        "project/compliance/shop/search",
        "projectRole/compliance/admin",
        "user/compliance/ana",
        "workspace/compliance/shop",
    ];
    let answers = {
        let served = Served::start(config.clone());
        assert_eq!(ids(&served, "documents"), expected);
        let moved = served.get("/v1/revisions/6").json();
        assert_eq!(
            (&moved["actor"], &moved["message"]),
            (&json!("upheld"), &json!("moved 13 documents to the ids that they have now"))
        );
        // Of the link that was written twice, the later one holds.
        let link = served.get(&address("documents", "Link/compliance/project/checkout~landingZone/lz-prod")).json();
        assert_eq!(link["document"], json!({"a": "landingZone/lz-prod", "b": "project/checkout"}));
        // What was asked before is answered as before, also about the past.
        assert_eq!(served.get("/v1/documents?at=5").json()["items"].as_array().unwrap().len(), 22);
        assert_eq!(served.get("/v1/documents/MeshPolicy/default/env-project-landingzone?at=5").status, 200);
        let request = r#"{"request": {"subject": {"roles": ["user"]}, "action": {"method": "GET"}, "resource": {"path": "/orders/1"}}}"#;
        assert_eq!(served.post("/v1/explain", request).json()["answers"][0]["verdict"], "permit");
        let audit = |path: &str| served.post(path, NOW).json();
        assert_eq!(audit("/v1/audit?at=5")["summary"], audit("/v1/audit")["summary"]);
        audit("/v1/audit")
    };
    let again = Served::start(config);
    assert_eq!(again.get("/v1/revisions").json()["last"], 6, "a second start writes nothing");
    assert_eq!(ids(&again, "documents"), expected);
    assert_eq!(again.post("/v1/audit", NOW).json(), answers);
    // The link is gone when it is deleted: there is no second one.
    assert_eq!(again.ask("DELETE", &address("documents", expected[5]), &[], "").status, 201);
    assert_eq!(again.get("/v1/objects/landingZone/compliance/lz-prod").json()["related"], json!([]));
}

#[test]
fn histories_from_before_travel_and_are_moved_where_they_arrive() {
    let (old, new) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    drop(old_store(old.path()));
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let history = runtime.block_on(async {
        let (from, to) = (Sqlite::open(old.path()).await.unwrap(), Sqlite::open(new.path()).await.unwrap());
        let mut history = Vec::new();
        export(&from, &mut history, None).await.unwrap();
        import(&to, history.as_slice(), None).await.unwrap();
        history
    });
    assert!(String::from_utf8(history).unwrap().contains("MeshPolicy/default/env-project-landingzone"));
    let of = |folder: &Path| {
        let served = Served::start(Config { store: StoreLocation::Folder(folder.to_owned()), ..Config::default() });
        (ids(&served, "documents"), served.get("/v1/policies").header("upheld-digest").unwrap().to_owned())
    };
    let (moved, expected) = (of(new.path()), of(old.path()));
    assert_eq!(moved, expected);
    // And on from there, with the ids of now: nothing is left to do.
    let further = tempfile::tempdir().unwrap();
    runtime.block_on(async {
        let (from, to) = (Sqlite::open(new.path()).await.unwrap(), Sqlite::open(further.path()).await.unwrap());
        let mut history = Vec::new();
        export(&from, &mut history, None).await.unwrap();
        import(&to, history.as_slice(), None).await.unwrap();
    });
    let served = Served::start(Config { store: StoreLocation::Folder(further.path().to_owned()), ..Config::default() });
    assert_eq!((ids(&served, "documents"), &served.get("/v1/revisions").json()["last"]), (expected.0, &json!(6)));
}

#[test]
fn c3_what_is_written_after_changes_stands() {
    let served = served();
    write(
        &served,
        "kind: Compliance\nname: shop\nobjects:\n- {ref: workspace/shop, tags: {env: [dev, prod]}}\n---\n\
         {ref: project/web, workspace: shop, tags: {env: [dev]}}\n---\n{ref: landingZone/lz, tags: {env: [dev]}}\n---\n\
         {a: project/web, b: landingZone/lz}\n---\n\
         kind: Changes\nname: january\nchanges:\n\
         - {at: 2026-01-02T00:00:00Z, by: admin, verb: setTags, object: project/web, tags: {env: [prod]}}\n\
         - {at: 2026-01-03T00:00:00Z, by: admin, verb: unlink, a: landingZone/lz, b: project/web}\n\
         - {at: 2026-01-04T00:00:00Z, by: admin, verb: createProject, object: {ref: project/new, workspace: shop, tags: {env: [dev]}}, landingZones: [landingZone/lz]}\n\
         - {at: 2026-01-05T00:00:00Z, by: admin, verb: setTags, object: workspace/shop, tags: {env: [dev, qa, prod]}}\n",
    );
    let shown = |object: &str, field: &str| served.get(&format!("/v1/objects/{object}")).json()[field].clone();
    let zone = json!({"ref": "landingZone/lz", "role": null});
    let shop = json!({"ref": "workspace/shop", "role": null});
    assert_eq!(shown("project/compliance/web", "tags"), json!({"env": ["prod"]}));
    assert_eq!(shown("project/compliance/web", "related"), json!([shop]));
    // The same text as before: still, it is how it is now.
    let again = "{ref: project/web, workspace: shop, tags: {env: [dev]}}";
    let noted = "replaced Changes/compliance/january";
    assert_eq!(write(&served, again), ["unchanged project/compliance/web", noted]);
    assert_eq!(shown("project/compliance/web", "tags"), json!({"env": ["dev"]}));
    // Whichever way a relationship is written.
    let link = "unchanged Link/compliance/project/web~landingZone/lz";
    assert_eq!(write(&served, "{b: project/web, a: landingZone/lz}")[1..], [noted], "{link}");
    assert_eq!(shown("project/compliance/web", "related"), json!([zone, shop]));
    // What a new object was related to stays, when the object is written.
    let renewed = "{ref: project/new, workspace: shop, tags: {env: [prod]}}";
    assert_eq!(write(&served, renewed), ["created project/compliance/new", noted]);
    assert_eq!(shown("project/compliance/new", "tags"), json!({"env": ["prod"]}));
    assert_eq!(shown("project/compliance/new", "related"), json!([zone, shop]));
    // What stands in a collection is written with it, and who goes takes along what happened to it.
    let collection = "kind: Compliance\nname: shop\nobjects:\n- {ref: workspace/shop, tags: {env: [dev]}}\n";
    assert_eq!(write(&served, collection), ["replaced Compliance/compliance/shop", noted]);
    assert_eq!(shown("workspace/compliance/shop", "tags"), json!({"env": ["dev"]}));
    let gone = served.ask("DELETE", "/v1/documents/project/compliance/new", &[], "");
    assert_eq!(gone.status, 201, "{}", gone.text);
    assert_eq!(served.get("/v1/documents/Changes/compliance/january").status, 404);
}
