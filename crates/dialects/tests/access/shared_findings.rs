//! Wrong permits that people found, where their folders are there.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};
use upheld_dialects::access::Edition;

use crate::world::{decided, outcome, read, request};

fn folder() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/findings/second/access");
    if !folder.is_dir() {
        println!("skipped: there is no {}", folder.display());
        return None;
    }
    Some(folder)
}

/// Files of a folder as one text.
fn documents(folder: &Path, files: &[&str]) -> String {
    let text = |file: &&str| fs::read_to_string(folder.join(file)).expect("is read");
    files.iter().map(text).collect::<Vec<_>>().join("\n---\n")
}

fn asked(changes: &[(&str, Json)]) -> Json {
    let common = [("action.method", json!("GET")), ("resource.path", json!("/exports/x"))];
    request(&common.into_iter().chain(changes.iter().cloned()).collect::<Vec<_>>())
}

#[test]
fn a50_an_omitted_fact_turns_no_deny_into_a_permit() {
    let Some(folder) = folder() else { return };
    let staff = ("subject.roles", json!(["staff"]));
    let risky = documents(&folder, &["set-first-applicable/p.yaml", "set-first-applicable/s.yaml"]);
    for (risk, expected) in
        [(json!(9), "deny"), (json!(3), "permit"), (Json::Null, "undecided"), (json!("high"), "undecided")]
    {
        let asked = asked(&[staff.clone(), ("resource.risk", risk.clone())]);
        assert_eq!(outcome(Edition::Strict, &risky, &asked), expected, "risk {risk}");
    }
    assert_eq!(outcome(Edition::Strict, &risky, &asked(std::slice::from_ref(&staff))), "undecided");
    let office = documents(&folder, &["set-first-applicable/p.yaml", "set-first-applicable/s2.yaml"]);
    for (ip, expected) in [(Json::Null, "undecided"), (json!("10.0.0.7"), "permit"), (json!("192.0.2.7"), "deny")] {
        let asked = asked(&[staff.clone(), ("environment.ip", ip.clone())]);
        assert_eq!(outcome(Edition::Strict, &office, &asked), expected, "{ip}");
    }
}

#[test]
fn a54_hosts_that_never_match_are_refused_in_denies() {
    let Some(folder) = folder() else { return };
    let problems = read(Edition::Strict, &documents(&folder, &["host-deny/p.yaml"])).expect_err("is refused");
    assert_eq!(problems.len(), 3, "{problems:?}");
}

#[test]
fn a56_directories_fail_closed() {
    let Some(folder) = folder() else { return };
    let eve = |claims: Json| asked(&[("subject.id", json!("eve")), ("subject.claims", claims)]);
    let all = documents(&folder, &["directory/all.yaml"]);
    assert_eq!(outcome(Edition::Strict, &all, &eve(json!({}))), "deny");
    assert_eq!(outcome(Edition::Strict, &all, &eve(json!({"suspended": null}))), "deny");
    assert_eq!(outcome(Edition::Strict, &all, &eve(json!({"suspended": false}))), "permit");
    let two = documents(&folder, &["directory/two.yaml"]);
    assert_eq!(outcome(Edition::Strict, &two, &eve(json!({}))), "undecided");
    let typed = |kind: &str| asked(&[("subject.id", json!("eve")), ("subject.type", json!(kind))]);
    assert_eq!(outcome(Edition::Strict, &two, &typed("user")), "deny");
    assert_eq!(outcome(Edition::Strict, &two, &typed("service")), "permit");
}

#[test]
fn a57_what_every_value_leads_to_is_decided() {
    let Some(folder) = folder() else { return };
    let staff = || asked(&[("subject.roles", json!(["staff"]))]);
    assert_eq!(outcome(Edition::Strict, &documents(&folder, &["undecided/fa.yaml"]), &staff()), "permit");
    let minors = documents(&folder, &["undecided/p.yaml"]);
    assert_eq!(outcome(Edition::Strict, &minors, &staff()), "undecided");
    let loaded = read(Edition::Strict, &minors).expect("is read");
    assert_eq!(decided(Edition::Strict, &loaded, &asked(&[])).outcome.word(), "deny");
}
