//! What if: answers without policies and after edits, and what that changes; who may write what they tried, and two at once.

use serde_json::json;
use upheld_server::Config;

use super::html::{Element, page};
use super::readers::{HTML, TOKEN, send_plain, with_tokens};
use super::{browse, example, seen};
use crate::support::{Answer, Served};

fn part(root: &Element, name: &str) -> Vec<String> {
    root.with("data-part", name).iter().map(|one| one.text()).collect()
}

/// As forms write it.
fn encoded(text: &str) -> String {
    text.bytes()
        .map(|byte| if byte.is_ascii_alphanumeric() { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

fn form(fields: &[(&str, &str)]) -> String {
    fields.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect::<Vec<_>>().join("&")
}

pub(super) fn send(served: &Served, path: &str, fields: &[(&str, &str)]) -> Answer {
    send_plain(served, path, served.base(), &form(fields))
}

fn hidden(root: &Element, name: &str) -> String {
    root.with("name", name)[0].get("value").unwrap_or_default().to_owned()
}

pub(super) fn text_area(root: &Element) -> String {
    let text = root.named("textarea")[0].text();
    text.strip_prefix('\n').unwrap().to_owned()
}

#[test]
fn a_policy_is_switched_off_in_the_address_and_the_difference_is_shown() {
    let served = example("demo");
    let asked = "/connection?from=web-1&to=backend-1&kind=HealthCheck";
    let root = seen(&served, asked);
    let off: Vec<&str> = root.all().into_iter().filter(|one| one.is("act")).filter_map(|one| one.get("href")).collect();
    let without = off
        .iter()
        .find(|href| href.contains("without=HealthCheck%2Fdefault%2Fhc-a"))
        .expect("hc-a can be switched off");
    let tried = seen(&served, without);
    assert!(tried.named("h1")[0].text().contains("hc-b"), "{}", tried.named("h1")[0].text());
    let otherwise = part(&tried, "otherwise");
    assert_eq!(otherwise, ["1 document changed. 1 of 1 result changes."]);
    let text = tried.text();
    assert!(text.contains("by hc-b, before by hc-a") && text.contains("hc-a (removed)"), "{text}");
    assert!(text.contains("upheld explain --server") && text.contains("--without HealthCheck/default/hc-a"), "{text}");
    let back = tried.named("a").into_iter().find(|link| link.text() == "put it back").unwrap();
    assert_eq!(seen(&served, back.get("href").unwrap()).named("h1")[0].text(), root.named("h1")[0].text());
    let everywhere = seen(&served, &format!("{without}&everywhere=true"));
    assert_eq!(part(&everywhere, "otherwise").len(), 2);
    // The page says what the endpoint says.
    let body = json!({"question": {"from": "web-1", "to": "backend-1", "kind": "HealthCheck"}, "without": ["hc-a"], "everywhere": true});
    let told = served.post("/v1/suppose", &body.to_string()).json();
    assert_eq!(part(&everywhere, "otherwise")[1], told["everywhere"]["headline"]["text"].as_str().unwrap());
    let nobody = browse(&served, &format!("{asked}&without=nobody"));
    assert_eq!(nobody.status, 422);
    assert!(page(&nobody.text).text().contains("nothing is called `nobody`"));
}

#[test]
fn another_question_is_held_against_the_one_before() {
    let served = example("demo");
    let was = "subject=role%3Duser&action=DELETE&resource=%2Fapi%2Faudit%2F123";
    let asked = "/access?subject=role%3Dadmin&action=GET&resource=%2Fapi%2Fusers";
    let plain = seen(&served, asked);
    let compare = plain.with("name", "was");
    assert_eq!(compare[0].get("value"), Some("subject=role%3Dadmin&action=GET&resource=%2Fapi%2Fusers"));
    let held = seen(&served, &format!("{asked}&was={}", encoded(was)));
    assert_eq!(held.named("h1")[0].text(), plain.named("h1")[0].text());
    let text = held.text();
    assert!(text.contains("deny → permit"), "{text}");
    let same =
        seen(&served, &format!("{asked}&was={}", encoded("subject=role%3Dadmin&action=GET&resource=%2Fapi%2Fusers")));
    assert!(same.text().contains("Nothing changes in this answer."), "{}", same.text());
}

#[test]
fn a_policy_of_a_file_is_tried_and_never_written() {
    let served = example("demo");
    let root =
        seen(&served, "/edit/policy/HealthCheck/default/hc-a?for=from%3Dweb-1%26to%3Dbackend-1%26kind%3DHealthCheck");
    let text = text_area(&root);
    assert!(text.starts_with("type: HealthCheck\n") && text.contains("name: hc-a"), "{text}");
    assert!(root.text().contains("never writes") && !root.text().contains("Write this"));
    let question = hidden(&root, "for");
    assert_eq!(question, "from=web-1&to=backend-1&kind=HealthCheck");
    let edited = text.replace("interval: 10s", "interval: 99s");
    assert_ne!(edited, text);
    let path = "/edit/policy/HealthCheck/default/hc-a";
    let tried = send(&served, path, &[("text", &edited.replace('\n', "\r\n")), ("for", &question), ("do", "try")]);
    assert_eq!(tried.status, 200, "{}", tried.text);
    let tried = page(&tried.text);
    assert_eq!(text_area(&tried), edited, "what was typed stays");
    assert_eq!(part(&tried, "otherwise").len(), 2);
    assert!(
        tried.named("ins").iter().all(|one| one.text() == "99s") && !tried.named("ins").is_empty(),
        "{}",
        tried.text()
    );
    // A mistake is told with the line that the editor shows.
    let broken = text.replace("sources:", "sourcs:");
    let told = send(&served, path, &[("text", &broken), ("for", &question)]);
    assert_eq!(told.status, 200);
    let told = page(&told.text);
    let diagnostics: Vec<String> =
        told.all().into_iter().filter(|one| one.is("diagnostic")).map(Element::text).collect();
    let numbers: usize = told.all().into_iter().find_map(|one| one.get("data-first")).unwrap().parse().unwrap();
    let line = numbers + broken.lines().position(|line| line.contains("sourcs")).unwrap();
    assert!(
        diagnostics.iter().any(|one| one.contains("sourcs") && one.contains(&format!("resilience.yaml:{line}"))),
        "{line}: {diagnostics:?}"
    );
    // Nothing came of it.
    assert!(!browse(&served, "/policy/HealthCheck/default/hc-a").text.contains("99s"));
    let written = send(&served, path, &[("text", &edited), ("do", "write"), ("base", "1")]);
    assert!(written.status >= 400, "{}", written.status);
}

#[test]
fn an_edit_is_tried_in_the_mesh_of_the_question() {
    let served = Served::start(Config::default());
    let anybody = json!([{"match": {"kuma.io/service": "*"}}]);
    let documents: Vec<serde_json::Value> = ["one", "two"]
        .into_iter()
        .flat_map(|mesh| {
            let inbound = json!([{"port": 80, "tags": {"kuma.io/service": "web"}}]);
            [
                json!({"type": "Mesh", "name": mesh}),
                json!({"type": "Dataplane", "mesh": mesh, "name": "web-1", "networking": {"address": "127.0.0.1", "inbound": inbound}}),
                json!({"type": "TrafficLog", "mesh": mesh, "name": "log", "sources": anybody, "destinations": anybody, "conf": {"backend": mesh}}),
            ]
        })
        .collect();
    assert_eq!(served.post("/v1/revisions", &json!({"put": documents}).to_string()).status, 201);
    let asked = seen(&served, "/connection?from=web-1&to=web-1&kind=TrafficLog&mesh=two");
    assert_eq!(asked.with("name", "mesh")[0].get("value"), Some("two"), "the form has the mesh");
    let path = "/edit/policy/TrafficLog/two/log";
    let text = text_area(&seen(&served, path)).replace("backend: two", "backend: three");
    let question = "from=web-1&to=web-1&kind=TrafficLog&mesh=two";
    let tried = send(&served, path, &[("text", &text), ("for", question)]);
    assert_eq!(tried.status, 200, "{}", tried.text);
    let tried = page(&tried.text);
    assert_eq!(part(&tried, "otherwise").len(), 2, "{}", tried.text());
    assert!(tried.named("ins").iter().any(|one| one.text() == "three"), "{}", tried.text());
}

fn night(effect: &str) -> serde_json::Value {
    json!({"id": "night", "effect": effect, "subjects": [{"role": "ops"}], "resources": [{"path": "/x"}], "actions": [{"method": "GET"}]})
}

#[test]
fn two_write_at_once_and_the_second_loses_nothing() {
    let served = Served::start(Config::default());
    assert_eq!(served.post("/v1/revisions", &json!({"put": [night("permit")]}).to_string()).status, 201);
    let path = "/edit/policy/AccessPolicy/access/night";
    let (ann, bob) = (seen(&served, path), seen(&served, path));
    assert!(ann.text().contains("Write this"));
    let of_ann = text_area(&ann).replace("permit", "deny");
    let of_bob = text_area(&bob).replace("/x", "/night/<b>x</b>");
    let fields = |text: &str, base: &str, message: &str| {
        [("text", text), ("base", base), ("message", message), ("do", "write")]
            .map(|(name, value)| (name, value.to_owned()))
    };
    let write = |fields: &[(&str, String)]| {
        let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
        send(&served, path, &fields)
    };
    let first = write(&fields(&of_ann, &hidden(&ann, "base"), "keep them out"));
    assert_eq!((first.status, first.header("location")), (303, Some("/policy/AccessPolicy/access/night")));
    let log = served.get("/v1/revisions?after=1").json();
    assert_eq!(log["items"][0]["message"], "keep them out", "{log:#}");
    let second = write(&fields(&of_bob, &hidden(&bob, "base"), "another path"));
    assert_eq!(second.status, 412, "{}", second.text);
    let conflict = page(&second.text);
    assert_eq!(text_area(&conflict), of_bob, "nothing is lost");
    assert_eq!(hidden(&conflict, "message"), "another path");
    let lines = |class: &str| -> Vec<String> {
        conflict.named("tr").into_iter().filter(|row| row.is(class)).map(|row| row.named("code")[0].text()).collect()
    };
    assert!(lines("gone").iter().any(|line| line.contains("deny")), "what is there now: {:?}", lines("gone"));
    assert!(lines("new").iter().any(|line| line.contains("/night/<b>x</b>")), "what is theirs: {:?}", lines("new"));
    // Whoever saw both may still mean it.
    let third = write(&fields(&of_bob, &hidden(&conflict, "base"), "another path"));
    assert_eq!(third.status, 303, "{}", third.text);
    let document = served.get("/v1/documents/AccessPolicy/access/night").json();
    assert_eq!(document["document"]["effect"], "permit");
    assert_eq!(document["document"]["resources"][0]["path"], "/night/<b>x</b>");
    // Somebody deleted it in between.
    let open = seen(&served, path);
    assert_eq!(served.ask("DELETE", "/v1/documents/AccessPolicy/access/night", &[], "").status, 201);
    let gone = write(&fields(&of_ann, &hidden(&open, "base"), "again"));
    assert_eq!(gone.status, 404, "there is nothing to edit any more");
    let gone = page(&gone.text);
    assert_eq!((text_area(&gone), hidden(&gone, "message")), (of_ann.clone(), "again".to_owned()));
    let anew = write(&fields(&of_ann, &hidden(&gone, "base"), "again"));
    assert_eq!(anew.status, 303, "{}", anew.text);
    assert_eq!(served.get("/v1/documents/AccessPolicy/access/night").json()["document"]["effect"], "deny");
}

#[test]
fn what_is_not_admitted_is_told_and_the_text_stays() {
    let served = Served::start(Config::default());
    assert_eq!(served.post("/v1/revisions", &json!({"put": [night("permit")]}).to_string()).status, 201);
    let path = "/edit/policy/AccessPolicy/access/night";
    let open = seen(&served, path);
    let wrong = text_area(&open).replace("permit", "allow-it");
    let refused = send(&served, path, &[("text", &wrong), ("base", &hidden(&open, "base")), ("do", "write")]);
    assert_eq!(refused.status, 422, "{}", refused.text);
    let refused = page(&refused.text);
    assert_eq!(text_area(&refused), wrong);
    assert!(refused.text().contains("allow-it") && refused.text().contains("UP"), "{}", refused.text());
    let renamed = text_area(&open).replace("night", "day");
    let other = send(&served, path, &[("text", &renamed), ("base", &hidden(&open, "base")), ("do", "write")]);
    assert_eq!(other.status, 422);
    assert!(page(&other.text).text().contains("not `AccessPolicy/access/night`"), "{}", other.text);
}

#[test]
fn whoever_may_not_write_sees_no_button_and_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let served = with_tokens(&folder, Some(upheld_server::config::Anonymous::Read));
    let token = [("authorization", &*format!("Bearer {TOKEN}"))];
    let put = served.ask("POST", "/v1/revisions", &token, &json!({"put": [night("permit")]}).to_string());
    assert_eq!(put.status, 201, "{}", put.text);
    let path = "/edit/policy/AccessPolicy/access/night";
    let stranger = seen(&served, path);
    assert!(!stranger.text().contains("Write this") && stranger.text().contains("Writing it needs the right to"));
    let fields = [("text", &*text_area(&stranger).replace("permit", "deny")), ("base", "1"), ("do", "write")];
    let refused = send(&served, path, &fields);
    assert_eq!(refused.status, 401, "{}", refused.text);
    let known = served.ask("GET", path, &[HTML, token[0]], "");
    assert!(page(&known.text).text().contains("Write this"), "{}", known.text);
    // Forms of other pages are not read, whoever sends them.
    for origin in ["http://evil.example", "null", ""] {
        assert_eq!(send_plain(&served, path, origin, &form(&fields)).status, 403, "{origin}");
    }
    let document = served.ask("GET", "/v1/documents/AccessPolicy/access/night", &token, "").json();
    assert_eq!(document["document"]["effect"], "permit", "{document:#}");
}

#[test]
fn the_source_of_a_policy_says_where_each_field_lives_and_dies() {
    let served = example("kuma-matching-real-resources");
    let listed = served.get("/v1/policies?kind=MeshTimeout").json();
    let mut counted = 0;
    for item in listed["items"].as_array().unwrap() {
        let id = item["id"].as_str().unwrap();
        let told = served.post("/v1/survival", &json!({"policy": id}).to_string()).json();
        let root = seen(&served, &format!("/policy/{id}"));
        let fates = told["survival"]["fields"].as_array().unwrap();
        let shown: Vec<String> =
            root.all().into_iter().filter(|one| one.get("data-fate").is_some()).map(Element::text).collect();
        assert_eq!(shown.len(), fates.len(), "{id}: each field at its line");
        for (fate, shown) in fates.iter().zip(&shown) {
            assert!(shown.starts_with(&format!("{} of {}", fate["lives"], fate["of"])), "{id} {fate}: {shown}");
            let dies: u64 =
                fate["dies"].as_array().unwrap().iter().map(|death| death["results"].as_u64().unwrap()).sum();
            assert_eq!(fate["lives"].as_u64().unwrap() + dies, fate["of"].as_u64().unwrap(), "{id} {fate}");
        }
        counted += fates.len();
    }
    assert!(counted > 3, "{counted}");
    let demo = example("demo");
    let loser = seen(&demo, "/policy/TrafficLog/default/catch-all-policy?if=deleted").text();
    assert!(
        loser.contains("28 of 30")
            && loser.contains("1 loses to web-to-backend-policy")
            && loser.contains("fewer tags"),
        "{loser}"
    );
    assert!(loser.contains("If it were deleted") && loser.contains("catch-all-policy (removed)"), "{loser}");
}

#[test]
fn a_policy_of_the_store_has_lines_and_what_becomes_of_them() {
    let served = Served::start(Config::default());
    let proxy = json!({"type": "Dataplane", "mesh": "default", "name": "web-1", "networking": {"address": "127.0.0.1", "inbound": [{"port": 80, "tags": {"kuma.io/service": "web"}}]}});
    let log = json!({"type": "TrafficLog", "mesh": "default", "name": "all", "sources": [{"match": {"kuma.io/service": "*"}}], "destinations": [{"match": {"kuma.io/service": "*"}}], "conf": {"backend": "splunk"}});
    assert_eq!(served.post("/v1/revisions", &json!({"put": [proxy, log]}).to_string()).status, 201);
    let root = seen(&served, "/policy/TrafficLog/default/all");
    let set: Vec<String> = root.named("tr").into_iter().filter(|row| row.is("set")).map(Element::text).collect();
    assert!(
        matches!(set.as_slice(), [one] if one.contains(r#""backend": "splunk""#) && one.contains("1 of 1")),
        "{set:?}"
    );
}
