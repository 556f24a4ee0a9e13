//! What a page shows equals the report: values are read back out of it. Whatever stands in documents, it is text.

use proptest::prelude::*;
use proptest::test_runner::{Config as Cases, TestRunner};
use serde_json::{Value as Json, json};
use upheld_server::Config;

use super::html::{Element, page};
use super::{EXAMPLES, browse, example, seen};
use crate::support::Served;

/// Text as pages show it, in one line.
fn shown(text: &str) -> String {
    upheld_report::visible(text)
}

fn value(json: &Json) -> String {
    upheld_report::one_line(json)
}

fn list<'j>(json: &'j Json, name: &str) -> &'j [Json] {
    json[name].as_array().map_or(&[], Vec::as_slice)
}

/// Holds a page against the answer that a program gets.
fn holds(root: &Element, answer: &Json, what: &str) {
    let reports = list(answer, "answers");
    let cards: Vec<&Element> = root.all().into_iter().filter(|one| one.is("report")).collect();
    assert_eq!(cards.len(), reports.len(), "{what}: a card for each report");
    if let [only] = reports {
        assert_eq!(root.named("h1")[0].text(), shown(only["headline"]["text"].as_str().unwrap()), "{what}");
    }
    for (card, report) in cards.iter().zip(reports) {
        let text = card.text();
        assert_eq!(card.get("data-kind"), report["kind"].as_str(), "{what}");
        if reports.len() > 1 {
            assert!(text.contains(&shown(report["headline"]["text"].as_str().unwrap())), "{what}");
        }
        fields(card, report, what);
        candidates(card, report, what);
        for note in list(report, "notes") {
            assert!(text.contains(&shown(note["text"].as_str().unwrap())), "{what}: {note}");
        }
        for change in list(&report["detail"], "changes") {
            assert!(text.contains(&shown(change["text"].as_str().unwrap())), "{what}: {change}");
        }
        for check in list(&report["detail"], "checks").iter().filter(|check| check["state"] != "pass") {
            assert!(text.contains(&shown(check["message"].as_str().unwrap())), "{what}: {check}");
        }
    }
}

/// Every field with its value and who sets it, and every value that lost, struck through.
fn fields(card: &Element, report: &Json, what: &str) {
    let rows: Vec<&Element> = card.named("tr").into_iter().filter(|row| row.get("data-field").is_some()).collect();
    let lost: Vec<&Element> = card.named("tr").into_iter().filter(|row| row.get("data-over").is_some()).collect();
    let fields = list(report, "fields");
    assert_eq!(rows.len(), fields.len(), "{what}");
    let over: Vec<(&Json, &Json)> =
        fields.iter().flat_map(|field| list(field, "over").iter().map(move |over| (field, over))).collect();
    assert_eq!(lost.len(), over.len(), "{what}");
    for (row, field) in rows.iter().zip(fields) {
        assert_eq!(row.get("data-field"), field["field"].as_str(), "{what}");
        let told = row.all().into_iter().find(|one| one.is("value")).map(Element::text);
        assert_eq!(told, field.get("value").map(value), "{what}");
        for source in list(field, "from") {
            assert!(row.text().contains(&shown(source["policy"].as_str().unwrap())), "{what}: {source}");
        }
    }
    for (row, (field, over)) in lost.iter().zip(over) {
        assert_eq!(row.get("data-over"), field["field"].as_str());
        let struck = row.named("s")[0].all().into_iter().find(|one| one.is("value")).unwrap().text();
        assert_eq!(struck, value(&over["value"]), "{what}");
        let text = row.text();
        assert!(
            text.contains("LOST") && text.contains(&shown(over["reason"]["text"].as_str().unwrap())),
            "{what}: {over}"
        );
    }
}

/// Every policy that is listed, with its state and the reason.
fn candidates(card: &Element, report: &Json, what: &str) {
    let rows: Vec<&Element> = card.named("tr").into_iter().filter(|row| row.get("data-candidate").is_some()).collect();
    let all = list(report, "candidates");
    let (skipped, others): (Vec<&Json>, Vec<&Json>) =
        all.iter().partition(|one| ["SKIP", "OFF"].contains(&one["state"].as_str().unwrap()));
    let expected: Vec<&&Json> = others.iter().chain(&skipped).collect();
    assert_eq!(rows.len(), expected.len(), "{what}");
    for (row, candidate) in rows.iter().zip(expected) {
        assert_eq!(row.get("data-candidate"), candidate["policy"].as_str(), "{what}");
        let state = candidate["state"].as_str().unwrap();
        assert_eq!(row.all().into_iter().find(|one| one.is("st")).unwrap().text(), state, "{what}");
        assert_eq!(state == "LOST", !row.named("s").is_empty(), "{what}: losers are struck through");
        let text = row.text();
        assert!(text.contains(&shown(candidate["reason"]["text"].as_str().unwrap())), "{what}: {candidate}");
        for fact in list(candidate, "facts") {
            assert!(text.contains(&value(&fact["value"])), "{what}: {fact}");
        }
    }
}

#[test]
fn a_page_shows_what_the_report_says_in_every_family() {
    let mut families = std::collections::BTreeSet::new();
    for (name, questions) in EXAMPLES {
        let served = example(name);
        for path in questions {
            let answer = browse(&served, path);
            if answer.status != 200 {
                continue;
            }
            let told = browse(&served, &format!("{path}&format=json")).json();
            families.extend(list(&told, "answers").iter().map(|report| report["family"].to_string()));
            holds(&page(&answer.text), &told, &format!("{name} {path}"));
        }
    }
    assert_eq!(families.len(), 5, "{families:?}");
}

/// Texts that would break a page, or run there, if they were anything but text.
const HOSTILE: [&str; 10] = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "' onmouseover='alert(1)",
    "&lt;b&gt;&amp;",
    "</td></tr></table></style></title>",
    "javascript:alert(1)",
    "\u{202e}txt.exe \u{2066}abc",
    "שלום عالم",
    "a b?c#d&e=f/../g%2F",
    "{{7*7}}${7*7}<!-- -->",
];

#[test]
fn hostile_texts_are_texts() {
    let long = "x<".repeat(5_000);
    for hostile in HOSTILE.iter().copied().chain([long.as_str()]) {
        let served = Served::start(Config::default());
        // Patterns have a bound of their own.
        let role = if hostile.len() > 1_000 { "x" } else { hostile };
        let policy = json!({"id": "p", "description": hostile, "effect": "deny", "subjects": [{"role": role}],
            "resources": [{"path": "/**"}], "actions": []});
        let proxy = |name: &str| {
            json!({"type": "Dataplane", "mesh": "default", "name": name, "networking": {"address": "10.0.0.1",
            "inbound": [{"port": 80, "tags": {"kuma.io/service": "web", "note": "n"}}]}})
        };
        let log = |name: &str| {
            json!({"type": "TrafficLog", "mesh": "default", "name": name, "sources": [{"match": {"kuma.io/service": "*"}}],
            "destinations": [{"match": {"kuma.io/service": "*"}}], "conf": {"backend": hostile}})
        };
        let object = json!({"ref": "project/x", "tags": {"env": [hostile]}});
        let documents = json!({"message": hostile, "put": [policy, {"type": "Mesh", "name": "default"}, proxy("web-1"), log("l"), object]});
        let written = served.post("/v1/revisions", &documents.to_string());
        assert_eq!(written.status, 201, "{}", written.text);
        let words =
            json!({"subject": [format!("role={}", role.replace(',', ""))], "action": ["GET"], "resource": ["/x"]});
        let address = upheld_pages::Address::of("/access").with_words(&words).to_string();
        for path in [
            "/",
            "/policies",
            "/objects",
            "/history",
            "/history?from=0&to=1",
            "/changes?from=0&to=1",
            "/findings",
            "/policy/AccessPolicy/access/p",
            "/connection?from=web-1&to=web-1",
            "/policy/TrafficLog/default/l",
            "/policy/TrafficLog/default/l?if=deleted",
            "/connection?from=web-1&to=web-1&without=TrafficLog/default/l&everywhere=true",
            "/edit/policy/TrafficLog/default/l?for=from%3Dweb-1%26to%3Dweb-1",
            "/edit/policy/AccessPolicy/access/p",
            "/compliance",
            "/search?q=p",
            &address,
        ] {
            let answer = browse(&served, path);
            let root = page(&answer.text);
            assert!(
                root.named("img").iter().all(|image| image.get("src").is_some_and(|source| source.starts_with('/'))),
                "{path}"
            );
            assert_eq!(root.named("script").len(), 1, "{path}: {hostile}");
        }
        let told = seen(&served, "/connection?from=web-1&to=web-1");
        assert!(told.text().contains(&shown(hostile)), "{hostile}");
        // What is typed comes back as it was typed.
        let asked = seen(&served, &upheld_pages::Address::of("/search").with("q", hostile).to_string());
        assert_eq!(asked.with("id", "find")[0].get("value"), Some(hostile.trim()));
        // Whatever is typed into an editor stays there, and is only text.
        let fields = [("text", hostile), ("for", hostile), ("message", hostile), ("base", hostile)];
        for act in ["try", "write"] {
            let sent = super::whatif::send(
                &served,
                "/edit/policy/AccessPolicy/access/p",
                &[&fields[..], &[("do", act)]].concat(),
            );
            let root = page(&sent.text);
            assert_eq!(root.named("script").len(), 1, "{act}: {hostile}");
            assert_eq!(super::whatif::text_area(&root), hostile.replace("\r\n", "\n"), "{act}");
        }
        let query = upheld_pages::Address::of("/connection").with("from", hostile).with("to", "web-1").to_string();
        if query.len() < 8_000 {
            let refused = page(&browse(&served, &query).text);
            assert_eq!(refused.named("script").len(), 1);
            for name in ["without", "was", "everywhere"] {
                let asked = upheld_pages::Address::of("/connection").with("from", "web-1").with("to", "web-1");
                let tried = page(&browse(&served, &asked.with(name, hostile).to_string()).text);
                assert_eq!(tried.named("script").len(), 1, "{name}: {hostile}");
            }
        }
    }
}

/// Names and values out of a few letters, some of which mean something elsewhere.
fn text() -> impl Strategy<Value = String> {
    proptest::string::string_regex("[a-c<>&\"' é→]{1,12}").unwrap()
}

#[test]
fn random_policies_are_shown_as_they_are_reported() {
    let policy = (text(), any::<bool>(), 0..3_u32, text());
    let policies = proptest::collection::vec(policy, 1..6);
    let mut runner = TestRunner::new(Cases { cases: 24, ..Cases::default() });
    let served = Served::start(Config::default());
    runner
        .run(&(policies, text()), |(policies, role)| {
            let put: Vec<Json> = (policies.iter().enumerate())
                .map(|(number, (description, permits, priority, role))| {
                    json!({"id": format!("p{number}"), "description": description, "effect": if *permits { "permit" } else { "deny" },
                        "priority": priority, "subjects": [{"role": role}], "resources": [{"path": "/**"}], "actions": []})
                })
                .collect();
            let logs = policies.iter().enumerate().map(|(number, (name, _, _, backend))| {
                json!({"type": "TrafficLog", "mesh": "default", "name": format!("l{number}"),
                    "sources": [{"match": {"kuma.io/service": "*"}}], "destinations": [{"match": {"kuma.io/service": "*"}}],
                    "conf": {"backend": backend, "more": {"said": name}}})
            });
            let proxy = json!({"type": "Dataplane", "mesh": "default", "name": "web-1", "networking": {"address": "10.0.0.1",
                "inbound": [{"port": 80, "tags": {"kuma.io/service": "web"}}]}});
            let put: Vec<Json> = put.into_iter().chain(logs).chain([json!({"type": "Mesh", "name": "default"}), proxy]).collect();
            let written = served.post("/v1/revisions", &json!({"put": put}).to_string());
            prop_assert_eq!(written.status, 201, "{}", written.text);
            let role = role.replace(',', "");
            let words = json!({"subject": [format!("role={role}")], "action": ["GET"], "resource": ["/x"]});
            let decided = upheld_pages::Address::of("/access").with_words(&words).to_string();
            for path in [decided.as_str(), "/connection?from=web-1&to=web-1", "/connection?from=web-1&to=web-1&kind=TrafficLog"] {
                let answer = browse(&served, path);
                let told = browse(&served, &format!("{path}&format=json"));
                if answer.status == 200 {
                    let mut told = told.json();
                    // Both were asked at their own moment.
                    for report in told["answers"].as_array_mut().unwrap() {
                        report["about"]["request"] = Json::Null;
                    }
                    holds(&page(&answer.text), &told, path);
                }
            }
            Ok(())
        })
        .unwrap();
}
