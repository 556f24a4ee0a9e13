//! What people found out about answers, where their folders are there.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};
use upheld_report::{Answer, Report, Verdict};

use crate::asking::{CURRENT, PROPOSED, answer, held, notes, overridden};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/findings/gateway")
}

/// Whether a name begins the title of what a report is about.
fn about<'a>(answer: &'a Answer, kind: &str, what: &str) -> &'a Report {
    let found = answer.reports.iter().find(|one| one.kind == kind && one.about.what == what);
    found.unwrap_or_else(|| panic!("no {kind} about {what}"))
}

#[test]
fn answers_are_as_people_expect_them() {
    let folder = folder();
    if !folder.is_dir() {
        println!("skipped: there is no {}", folder.display());
        return;
    }
    let read = |name: &str| {
        let path = folder.join(name);
        fs::read_to_string(if path.is_dir() { path.join("m.yaml") } else { path }).expect("is read")
    };
    let ask = |edition: &str, name: &str, question: Json| answer(edition, &read(name), question).expect("is answered");
    let all = |name: &str, what: &str| ask(CURRENT, name, json!({ "what": what }));
    let from = |report: &Report, field: &str| held(report, field).map(|(_, policy)| policy);

    let found = all("s/s9", "httproute/infra/r");
    let one = about(&found, "TrafficPolicy", "HTTPRoute infra/r one");
    assert_eq!(from(one, "cors").as_deref(), Some("infra/z-older"));
    assert_eq!((one.verdict, notes(one, "UP036").len()), (Verdict::Set, 1));

    let found = all("h/h7", "httproute/infra/r");
    let two = about(&found, "TrafficPolicy", "HTTPRoute infra/r b2 to Service infra/svc:80");
    assert_eq!(from(two, "cors").as_deref(), Some("infra/onbackend"));
    assert_eq!(about(&found, "DirectResponse", "HTTPRoute infra/r dr2").verdict, Verdict::Error);

    let found = all("h/h8", "httproute/infra/r");
    for kind in ["TrafficPolicy", "DirectResponse"] {
        for rule in ["drbackend", "drredirect"] {
            let report = about(&found, kind, &format!("HTTPRoute infra/r {rule}"));
            assert_eq!(report.verdict, Verdict::Error, "{kind} {rule}");
        }
    }

    let found = all("s/s8", "httproute/infra/r");
    let host = about(&found, "TrafficPolicy", "HTTPRoute infra/r host");
    assert!(overridden(host, "urlRewrite.hostname", "infra/whole").is_some());
    assert_eq!(notes(about(&found, "TrafficPolicy", "HTTPRoute infra/r tb"), "UP030").len(), 1);

    let found = ask(PROPOSED, "h/h10", json!({"what": "httproute/infra/c"}));
    assert_eq!(from(&found.reports[0], "extProc.infra/ep").as_deref(), Some("infra/p"));
    let found = ask(PROPOSED, "h/h6", json!({"what": "httproute/app/c#two"}));
    assert_eq!(from(&found.reports[0], "extAuth.infra/ea1").as_deref(), Some("infra/p"));

    let found = all("h/eg.yaml", "httproute/default/shop");
    let security = about(&found, "SecurityPolicy", "HTTPRoute default/shop cart");
    let lost: Vec<&str> =
        security.fields.iter().flat_map(|field| &field.over).map(|over| over.policy.as_str()).collect();
    assert_eq!(lost, ["default/cors-shop-2", "default/jwt-everywhere"]);

    let found = all("h/notime.yaml", "httproute/infra/r");
    assert_eq!(from(&found.reports[0], "cors").as_deref(), Some("infra/live"));

    let found = ask(CURRENT, "s/s7", json!({"what": "gateway/infra/gw#http", "kind": "ListenerPolicy"}));
    assert!(found.reports.iter().all(|report| report.policies.iter().all(|policy| policy != "infra/lp-sec")));

    let found = all("s/s5", "httproute/infra/r");
    let redirect = about(&found, "TrafficPolicy", "HTTPRoute infra/r two");
    assert!(overridden(redirect, "timeouts.request", "infra/whole").is_some());

    let found = ask(PROPOSED, "s/s2", json!({"what": "httproute/infra/r"}));
    for report in &found.reports {
        let mut policies: Vec<&str> = report.candidates.iter().map(|one| one.policy.as_str()).collect();
        policies.sort_unstable();
        assert_eq!(policies, ["infra/gw-new", "infra/gw-old", "infra/l-new", "infra/l-old"], "each once");
    }

    let found = all("h/h4", "httproute/default/shop#cart");
    assert_eq!(found.reports[0].policies, ["default/rule"], "a direct policy holds alone");

    let refused =
        answer(CURRENT, &read("h/h2"), json!({"host": "a.example", "path": "/t/m/get"})).expect_err("needs more");
    assert!(refused.diagnostics[0].help[0].contains("header x-org=acme"), "{refused:?}");
    assert!(!all("h/h2", "httproute/infra/root#labelled").reports.is_empty());

    let found = all("s/wrongport.yaml", "httproute/infra/r");
    assert_eq!(notes(&found.reports[0], "UP036").len(), 1);
}
