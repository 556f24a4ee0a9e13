//! Pages: what they show is what programs get, whoever looks and whatever stands in documents.

mod browser;
mod html;
mod log;
mod looks;
mod news;
mod readers;
mod values;
mod whatif;

use std::path::PathBuf;

use serde_json::{Value as Json, json};
use upheld_server::Config;

use self::html::{Element, page};
use crate::support::{Answer, Served};

/// Example folders with documents, and questions that can be asked there.
pub(crate) const EXAMPLES: [(&str, &[&str]); 14] = [
    (
        "demo",
        &[
            "/connection?from=web-1&to=backend-1",
            "/connection?from=web-1&to=backend-1&kind=TrafficLog",
            "/gateway?what=httproute/checkout",
            "/gateway?what=httproute/checkout&kind=TrafficPolicy",
            "/gateway?host=shop.example&path=/pay",
            "/access?subject=role%3Dadmin&action=DELETE&resource=/api/audit/123",
            "/access?subject=role%3Duser&action=GET&resource=/api/x",
            "/explain?what=project/trial~workspace/lab",
        ],
    ),
    ("access", &["/access?subject=role%3Dadmin&action=DELETE&resource=/api/audit/123", "/access?action=GET"]),
    ("access-conditions", &["/access?subject=role%3Duser&action=GET&resource=/api/x"]),
    ("access-directory", &["/access?subject=user/ann&action=GET&resource=/x"]),
    ("compliance", &["/explain?what=project/a~landingZone/lz-1"]),
    ("envoy-gateway", &[]),
    ("kgateway-policy-application-and-merging", &["/gateway?what=httproute/example-route"]),
    ("kubernetes-labels", &[]),
    ("kuma-choosing-a-policy", &[]),
    (
        "kuma-matching-real-resources",
        &["/explain?what=dataplane/web-1", "/layers?what=dataplane/web-1&kind=MeshTimeout"],
    ),
    ("network-policies", &[]),
    ("own-decision-kind", &[]),
    ("own-kind", &[]),
    ("tag-policies", &[]),
];

/// Pages that every server has.
pub(crate) const PAGES: [&str; 20] = [
    "/",
    "/connections",
    "/connection",
    "/gateway",
    "/access",
    "/explain",
    "/policies",
    "/objects",
    "/search?q=web",
    "/search",
    "/kinds",
    "/codes",
    "/codes/UP201",
    "/history",
    "/changes",
    "/findings",
    "/learn",
    "/learn/select",
    "/learn/hierarchy?step=4",
    "/diagnostics",
];

pub(crate) fn example(name: &str) -> Served {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
    Served::start(Config { watch: vec![folder], ..Config::default() })
}

/// As a browser asks.
pub(crate) fn browse(served: &Served, path: &str) -> Answer {
    served.ask("GET", path, &[("accept", "text/html,application/xhtml+xml,*/*;q=0.8")], "")
}

/// A page that is there.
pub(crate) fn seen(served: &Served, path: &str) -> Element {
    let answer = browse(served, path);
    assert_eq!(answer.status, 200, "{path}: {}", answer.text);
    page(&answer.text)
}

#[test]
fn every_page_of_every_example_is_valid_and_guarded() {
    for (name, questions) in EXAMPLES {
        let served = example(name);
        for path in PAGES.iter().chain(questions) {
            let answer = browse(&served, path);
            // A question that means nothing there has a page, too.
            assert!([200, 404, 422].contains(&answer.status), "{name} {path}: {}", answer.text);
            assert_eq!(answer.header("content-type"), Some("text/html; charset=utf-8"), "{name} {path}");
            let policy = answer.header("content-security-policy").expect("is guarded");
            assert!(policy.starts_with("default-src 'none';") && !policy.contains("unsafe"), "{policy}");
            let root = page(&answer.text);
            for element in root.all() {
                let refers = ["href", "src", "action"].iter().filter_map(|name| element.get(name));
                for address in refers {
                    assert!(address.starts_with(['/', '#']) && !address.starts_with("//"), "{name} {path}: {address}");
                }
            }
        }
    }
}

#[test]
fn every_link_of_the_demo_leads_somewhere() {
    let served = example("demo");
    let (mut open, mut known): (Vec<String>, Vec<String>) = (vec!["/".to_owned()], Vec::new());
    while !open.is_empty() {
        let path = open.remove(0);
        let answer = browse(&served, &path);
        assert!(answer.status < 400, "{path}: {} {}", answer.status, answer.text);
        if answer.header("content-type").is_some_and(|kind| kind.starts_with("text/html")) {
            for link in page(&answer.text).named("a") {
                let href = link.get("href").unwrap_or_default().split('#').next().unwrap_or_default().to_owned();
                let elsewhere = href.contains("format=json") || href.starts_with("/sign-in");
                let next = !href.is_empty() && !elsewhere && !known.contains(&href);
                if next && known.len() < 400 {
                    known.push(href.clone());
                    open.push(href);
                }
            }
        }
    }
    assert!(known.len() > 60, "{}", known.len());
    assert!(known.iter().any(|path| path.starts_with("/policy/TrafficLog/default/")), "{known:?}");
}

#[test]
fn assets_have_names_that_change_with_them_and_are_kept_for_ever() {
    let served = example("demo");
    let root = seen(&served, "/");
    let style = root.with("rel", "stylesheet")[0].get("href").unwrap().to_owned();
    let script = root.named("script")[0].get("src").unwrap().to_owned();
    for (address, kind, most) in [(&style, "text/css", 25_000), (&script, "text/javascript", 7_500)] {
        let answer = browse(&served, address);
        assert_eq!(answer.status, 200, "{address}");
        assert!(answer.header("content-type").unwrap().starts_with(kind));
        assert!(answer.header("cache-control").unwrap().contains("immutable"));
        assert!(answer.text.len() < most, "{address} has {} bytes", answer.text.len());
    }
    assert_eq!(browse(&served, "/pages/style-000000000000.css").status, 404);
}

#[test]
fn home_and_inspector_are_small() {
    let served = example("demo");
    for path in ["/", "/connection?from=web-1&to=backend-1"] {
        let root = seen(&served, path);
        let files = root.all().into_iter().filter_map(|one| match one.name.as_str() {
            "link" if one.get("rel") == Some("stylesheet") => one.get("href"),
            "script" => one.get("src"),
            _ => None,
        });
        let whole: usize = files.chain([path]).map(|file| sent(&served, file)).sum();
        assert!(whole < 25_000, "{path} is {whole} bytes on the wire");
        let html = browse(&served, path).text.len();
        assert!(html < 50_000, "{path} has {html} bytes");
    }
}

/// How many bytes a browser is sent for a file, which takes them packed.
fn sent(served: &Served, path: &str) -> usize {
    let host = served.base().strip_prefix("http://").unwrap();
    let accept = "accept: text/html,*/*\r\naccept-encoding: gzip, deflate, br, zstd";
    let head = format!("GET {path} HTTP/1.1\r\nhost: {host}\r\n{accept}\r\nconnection: close\r\n\r\n");
    let answer = served.raw_bytes(head.as_bytes());
    assert!(answer.starts_with(b"HTTP/1.1 200"), "{path}: {}", String::from_utf8_lossy(&answer));
    answer.len()
}

#[test]
fn browsers_get_pages_and_programs_what_they_got_before() {
    let served = example("demo");
    assert_eq!(browse(&served, "/").header("content-type"), Some("text/html; charset=utf-8"));
    for accept in ["*/*", "application/json", ""] {
        let answer = served.ask("GET", "/", &[("accept", accept)], "");
        assert_eq!((answer.status, answer.header("content-type")), (404, Some("application/problem+json")), "{accept}");
    }
    let posted = served.post("/policies", "{}");
    assert_eq!((posted.status, posted.header("content-type")), (404, Some("application/problem+json")));
    let asked = "/connection?from=web-1&to=backend-1&kind=TrafficLog";
    let words = json!({"from": "web-1", "to": "backend-1", "kind": "TrafficLog"});
    let told = served.post("/v1/explain", &words.to_string()).json();
    assert_eq!(browse(&served, &format!("{asked}&format=json")).json(), told);
    assert_eq!(served.ask("GET", asked, &[("accept", "application/json")], "").json(), told);
}

#[test]
fn what_cannot_be_answered_is_a_page_with_the_same_sentences() {
    let served = example("demo");
    let words = json!({"from": "wbe-1", "to": "backend-1"});
    let told: Json = served.post("/v1/explain", &words.to_string()).json();
    let answer = browse(&served, "/connection?from=wbe-1&to=backend-1");
    assert_eq!(answer.status, 422);
    let text = page(&answer.text).text();
    let diagnostic = &told["diagnostics"][0];
    assert!(text.contains(diagnostic["message"].as_str().unwrap()), "{text}");
    for help in diagnostic["help"].as_array().unwrap() {
        assert!(text.contains(help.as_str().unwrap()), "{help}");
    }
    let nothing = browse(&served, "/policy/TrafficLog/default/nothing");
    assert_eq!(nothing.status, 404);
    page(&nothing.text);
    let unknown = browse(&served, "/connection?form=a");
    assert_eq!(unknown.status, 400);
    assert!(page(&unknown.text).text().contains("unknown field `form`"), "{}", unknown.text);
}

#[test]
fn files_that_are_broken_are_told_on_every_page() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("policies.yaml");
    let good =
        "{id: admins, effect: permit, subjects: [{role: admin}], resources: [{path: /**}], actions: [{method: '*'}]}";
    std::fs::write(&file, good).unwrap();
    let served = Served::start(Config { watch: vec![folder.path().to_owned()], ..Config::default() });
    let pill = |path: &str| seen(&served, path).with("id", "pill")[0].text();
    assert!(pill("/").contains("revision"), "{}", pill("/"));
    std::fs::write(&file, good.replace("permit", "allow-it")).unwrap();
    served.reload();
    for path in ["/", "/access?action=GET", "/history"] {
        assert!(pill(path).contains("last good snapshot"), "{path}");
        let root = seen(&served, path);
        let told: Vec<String> = root.all().into_iter().filter(|one| one.is("broken")).map(Element::text).collect();
        assert!(matches!(told.as_slice(), [one] if one.contains("allow-it")), "{path}: {told:?}");
    }
    let told = seen(&served, "/diagnostics").text();
    assert!(told.contains("Answers come from the last good snapshot") && told.contains("allow-it"), "{told}");
    std::fs::write(&file, good).unwrap();
    served.reload();
    assert!(pill("/").contains("revision"));
}

#[test]
fn history_shows_who_changed_what_and_the_difference_of_two_revisions() {
    let served = Served::start(Config::default());
    let policy = |effect: &str| json!({"id": "night", "effect": effect, "subjects": [{"role": "ops"}], "resources": [{"path": "/x"}], "actions": []});
    for (message, effect) in [("let them in", "permit"), ("keep them out", "deny")] {
        let batch = json!({"message": message, "put": [policy(effect)]});
        assert_eq!(served.post("/v1/revisions", &batch.to_string()).status, 201);
    }
    let log = seen(&served, "/history");
    let rows: Vec<String> = log.named("li").iter().map(|row| row.text()).filter(|row| row.contains("them")).collect();
    assert!(rows[0].contains("keep them out") && rows[1].contains("let them in"), "{rows:?}");
    let bars: Vec<String> =
        log.named("title").iter().map(|bar| bar.text()).filter(|bar| bar.starts_with("rev")).collect();
    assert_eq!(
        bars,
        [
            "revision 1: let them in (+ AccessPolicy/access/night)",
            "revision 2: keep them out (+ AccessPolicy/access/night)"
        ],
        "the timeline goes from left to right"
    );
    let difference = seen(&served, "/history?from=1&to=2");
    let lines = |class: &str| -> Vec<String> {
        difference.named("tr").into_iter().filter(|row| row.is(class)).map(|row| row.named("code")[0].text()).collect()
    };
    assert_eq!(
        (lines("gone"), lines("new")),
        (vec![r#"  "effect": "permit","#.to_owned()], vec![r#"  "effect": "deny","#.to_owned()])
    );
    assert!(seen(&served, "/history?from=0&to=2").text().contains("added"));
    assert!(seen(&served, "/").text().contains("keep them out"), "the first page has what changed lately");
    let review = seen(&served, "/changes?from=1&to=2").text();
    assert!(review.contains("permit → deny") && review.contains("night (edited)"), "{review}");
    let opened = seen(&served, "/changes?from=0&to=1").text();
    assert!(opened.contains("Lets more through") && opened.contains("night (added)"), "{opened}");
    assert!(seen(&served, "/changes?from=2&to=2").text().contains("No result changes."));
}

#[test]
fn findings_about_policies_have_a_page() {
    let told = seen(&example("demo"), "/findings").text();
    assert!(told.contains("hc-a goes before hc-b by name only") && told.contains("UP202"), "{told}");
}

#[test]
fn every_step_of_a_lesson_is_an_address_and_shows_the_report() {
    let served = Served::start(Config::default());
    let listed = served.get("/v1/lessons").json();
    let lessons = listed["items"].as_array().unwrap();
    assert_eq!(lessons.len(), 5, "one for each family");
    let links = seen(&served, "/learn");
    for lesson in lessons {
        let name = lesson["name"].as_str().unwrap();
        assert!(links.named("a").iter().any(|link| link.get("href") == Some(&format!("/learn/{name}?step=1"))));
        for step in 1..=lesson["steps"].as_u64().unwrap() {
            let told = served.get(&format!("/v1/lessons/{name}?step={step}")).json();
            let report = &told["answer"]["answers"][0];
            let shown = seen(&served, &format!("/learn/{name}?step={step}"));
            assert_eq!(shown.named("h1")[0].text(), report["headline"]["text"].as_str().unwrap(), "{name} {step}");
            assert!(shown.text().contains(told["says"].as_str().unwrap()), "{name} {step}");
            for candidate in report["candidates"].as_array().unwrap() {
                let (state, policy) = (candidate["state"].as_str().unwrap(), candidate["policy"].as_str().unwrap());
                let row = |row: &&Element| row.text().contains(policy) && row.text().contains(state);
                assert!(shown.named("tr").iter().any(row), "{name} {step}: {policy} {state}");
            }
            let leads = shown.named("a").iter().any(|link| link.get("href").unwrap().starts_with("/find"));
            assert!(!leads, "{name} {step}: its policies are nowhere else");
            let decides: Vec<String> =
                shown.all().into_iter().filter(|one| one.is("decides")).map(Element::text).collect();
            if let Some(rung) = report["rung"]["name"].as_str() {
                assert_eq!(decides, [format!("{rung} DECIDES")], "{name} {step}");
            }
        }
    }
    for wrong in ["/learn/selct", "/learn/select?step=8", "/learn/select?step=0"] {
        assert_eq!(browse(&served, wrong).status, 404, "{wrong}");
    }
    assert_eq!(browse(&served, "/learn/select?step=one").status, 400);
}

/// Proxies of one name in two meshes, with other policies in each.
const MESHES: &str = "
{type: Mesh, name: a}
---
{type: Mesh, name: b}
---
{type: Dataplane, mesh: a, name: web-1, networking: {address: 10.0.0.1, inbound: [{port: 80, tags: {kuma.io/service: web}}]}}
---
{type: Dataplane, mesh: b, name: web-1, networking: {address: 10.0.0.1, inbound: [{port: 80, tags: {kuma.io/service: web}}]}}
---
{type: TrafficLog, mesh: a, name: of-a, sources: [{match: {kuma.io/service: '*'}}], destinations: [{match: {kuma.io/service: '*'}}], conf: {backend: x}}
---
{type: TrafficLog, mesh: b, name: of-b, sources: [{match: {kuma.io/service: '*'}}], destinations: [{match: {kuma.io/service: '*'}}], conf: {backend: y}}
";

#[test]
fn the_mesh_and_the_editions_of_a_question_are_in_its_address() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("meshes.yaml"), MESHES).unwrap();
    let served = Served::start(Config { watch: vec![folder.path().to_owned()], ..Config::default() });
    let asked = "/connection?from=web-1&to=web-1&kind=TrafficLog";
    for (mesh, policy) in [("a", "of-a"), ("b", "of-b")] {
        let shown = seen(&served, &format!("{asked}&mesh={mesh}"));
        assert!(
            shown.named("h1")[0].text().starts_with(&format!("{policy} decides")),
            "{}",
            shown.named("h1")[0].text()
        );
        assert!(shown.text().contains(&format!("--mesh {mesh}")), "the command asks in the mesh, too");
        let kept = shown.with("name", "mesh");
        assert_eq!(kept[0].get("value"), Some(mesh), "the form asks there again");
        let without =
            shown.named("a").into_iter().filter_map(|link| link.get("href")).find(|link| link.contains("without="));
        assert!(without.unwrap().contains(&format!("mesh={mesh}")), "{without:?}");
    }
    let pairs = seen(&served, "/connections?kind=TrafficLog");
    let leads: Vec<&str> = pairs
        .named("a")
        .into_iter()
        .filter_map(|link| link.get("href"))
        .filter(|link| link.starts_with("/connection?"))
        .collect();
    assert!(
        leads.iter().any(|link| link.contains("mesh=a")) && leads.iter().any(|link| link.contains("mesh=b")),
        "{leads:?}"
    );
    for link in leads {
        assert_eq!(browse(&served, link).status, 200, "{link}");
    }
}

#[test]
fn a_question_can_be_asked_by_another_edition() {
    let served = example("demo");
    let question = "from=web-2&to=backend-1&kind=TrafficPermission";
    let words = json!({"from": "web-2", "to": "backend-1", "kind": "TrafficPermission"}).to_string();
    let told = |query: &str| served.post(&format!("/v1/explain{query}"), &words);
    let (usual, other) = (told(""), told("?semantics=kuma/0.4"));
    assert_eq!(other.header("upheld-semantics"), Some("kuma/0.4"));
    assert_ne!(usual.json()["answers"], other.json()["answers"]);
    let shown = seen(&served, &format!("/connection?{question}&semantics=kuma%2F0.4"));
    assert_eq!(shown.named("h1")[0].text(), other.json()["answers"][0]["headline"]["text"].as_str().unwrap());
    assert!(shown.text().contains("--semantics kuma/0.4"), "the command names it");
    assert_eq!(shown.with("name", "semantics")[0].get("value"), Some("kuma/0.4"));
    let same = told("?semantics=kuma/0.3");
    assert_eq!(same.json()["answers"], usual.json()["answers"], "the one that is in force");
    let wrong = browse(&served, &format!("/connection?{question}&semantics=kuma%2F0.5"));
    assert_eq!(wrong.status, 400);
    assert!(page(&wrong.text).text().contains("there are no semantics"), "{}", wrong.text);
    // What is written is judged by what is in force, whatever the address says.
    let policy =
        json!({"id": "night", "effect": "permit", "subjects": [], "resources": [{"path": "/x"}], "actions": []});
    let written = served.ask(
        "PUT",
        "/v1/documents/AccessPolicy/access/night?semantics=kuma/0.5",
        &[("content-type", "application/json")],
        &policy.to_string(),
    );
    assert_eq!(written.status, 201, "{}", written.text);
}

#[test]
fn p8_of_many_policies_that_do_not_match_few_are_listed_and_all_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let policy = |number: usize| {
        format!(
            "{{type: TrafficLog, mesh: a, name: p{number}, sources: [{{match: {{kuma.io/service: s{number}}}}}], destinations: [{{match: {{kuma.io/service: '*'}}}}], conf: {{backend: x}}}}\n---\n"
        )
    };
    let policies: String = (0..100).map(policy).collect();
    std::fs::write(folder.path().join("many.yaml"), policies + MESHES).unwrap();
    let served = Served::start(Config { watch: vec![folder.path().to_owned()], ..Config::default() });
    let words = json!({"from": "web-1", "to": "web-1"}).to_string();
    let told = |query: &str| served.post(&format!("/v1/explain?mesh=a{query}"), &words).json()["answers"][0].clone();
    let count = |report: &Json| report["candidates"].as_array().unwrap().len();
    for (query, listed, left_out) in [
        ("", 21, json!(80)),
        ("&skipped=20", 21, json!(80)),
        ("&skipped=0", 1, json!(100)),
        ("&skipped=99", 100, json!(1)),
        ("&skipped=100", 101, Json::Null),
        ("&skipped=all", 101, Json::Null),
    ] {
        let report = told(query);
        assert_eq!((count(&report), &report["leftOut"]), (listed, &left_out), "{query}");
    }
    let refused = served.post("/v1/explain?mesh=a&skipped=many", &words);
    assert_eq!(refused.status, 400, "{}", refused.text);
    assert!(refused.text.contains("neither a number nor `all`"), "{}", refused.text);
    let asked = "/connection?from=web-1&to=web-1&kind=TrafficLog&mesh=a";
    let shown = seen(&served, asked).text();
    assert!(shown.contains("101 policies looked at: 0 lost, 100 did not match"), "{shown}");
    assert!(shown.contains("and 80 more that do not match; list them all"), "{shown}");
    let shown = seen(&served, &format!("{asked}&skipped=all"));
    let rows = shown.named("tr").into_iter().filter(|row| row.get("data-candidate").is_some()).count();
    assert_eq!(rows, 101, "the link leads to all");
    let data = |query: &str| browse(&served, &format!("{asked}&format=json{query}")).json()["answers"][0].clone();
    assert_eq!((count(&data("")), count(&data("&skipped=all"))), (21, 101));
}
