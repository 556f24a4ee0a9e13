//! `audit` in every format, on one set of data.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;
use tempfile::TempDir;

use super::waivers::{LEVELS, WAIVERS};
use super::{NOW, printed};
use crate::support::{folder, in_root, run, shown, snapshot};

asked!(audit_json, "audit -o json");
asked!(audit_yaml, "audit -o yaml");
asked!(audit_jsonl, "audit -o jsonl");
asked!(audit_name, "audit -o name");
asked!(audit_csv, "audit -o csv");
asked!(audit_sarif, "audit -o sarif");
asked!(audit_junit, "audit -o junit");
asked!(audit_policyreport, "audit -o policyreport");
asked!(audit_openreports, "audit -o openreports");
asked!(audit_markdown, "audit -o markdown");
asked!(audit_prometheus, "audit -o prometheus");
asked!(audit_tap, "audit -o tap");
asked!(explain_csv, "explain project/a~landingZone/lz-1 -o csv");

const FORMATS: [&str; 14] = [
    "table",
    "wide",
    "json",
    "yaml",
    "jsonl",
    "name",
    "csv",
    "sarif",
    "junit",
    "policyreport",
    "openreports",
    "markdown",
    "html",
    "prometheus",
];

/// Violations of every level and state, in two workspaces.
fn organisation() -> TempDir {
    folder(&[("waivers.yaml", WAIVERS), ("levels.yaml", LEVELS)])
}

/// What a folder is told in a format.
fn audit(folder: &TempDir, format: &str) -> String {
    printed(folder.path(), &format!("audit -o {format}"))
}

/// Fingerprints, and how they ended.
type Set = BTreeMap<String, String>;

fn text(value: &Json) -> String {
    value.as_str().expect("a text").to_owned()
}

fn listed(violations: &Json) -> Set {
    let all = violations.as_array().expect("a list").iter();
    all.map(|one| (text(&one["id"]), text(&one["state"]))).collect()
}

fn in_sarif(log: &Json) -> Set {
    let results = log["runs"][0]["results"].as_array().expect("results").iter();
    let of = |one: &Json| (text(&one["partialFingerprints"]["violation/v1"]), text(&one["properties"]["state"]));
    results.filter(|one| one["kind"] != "pass").map(of).collect()
}

fn in_junit(xml: &str) -> Set {
    let document = roxmltree::Document::parse(xml).expect("XML");
    let cases = document.descendants().filter(|node| node.has_tag_name("testcase"));
    let ended = |case: roxmltree::Node<'_, '_>| {
        let id = case.attribute("name")?.split(' ').next()?.to_owned();
        let how = case.first_element_child()?;
        // What does not fail the run says in its output what it is.
        let told = how.next_sibling_element().and_then(|node| node.text()).unwrap_or_default();
        let state = told.lines().find_map(|line| line.strip_prefix("state: "));
        Some((id, how.attribute("type").or(state)?.to_owned()))
    };
    cases.filter_map(ended).collect()
}

fn in_reports(yaml: &str) -> Set {
    let reports: Vec<Json> = serde_saphyr::from_multiple(yaml).expect("YAML");
    let results = reports.iter().flat_map(|report| report["results"].as_array().into_iter().flatten());
    let of = |one: &Json| (text(&one["properties"]["id"]), text(&one["properties"]["state"]));
    results.map(of).filter(|(_, state)| state != "pass").collect()
}

#[test]
fn all_formats_hold_the_same_violations() {
    let folder = organisation();
    let json: Json = serde_json::from_str(&audit(&folder, "json")).expect("JSON");
    let expected = listed(&json["violations"]);
    let states: BTreeSet<&str> = expected.values().map(String::as_str).collect();
    assert_eq!(states, BTreeSet::from(["hard", "soft", "waived"]), "the data has everything");
    let yaml: Json = serde_saphyr::from_str(&audit(&folder, "yaml")).expect("YAML");
    assert_eq!(yaml, json);
    let lines = audit(&folder, "jsonl");
    let lines: Vec<Json> = lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(Json::Array(lines), json["violations"]);
    let ids: BTreeSet<&str> = expected.keys().map(String::as_str).collect();
    assert_eq!(audit(&folder, "name").lines().collect::<BTreeSet<_>>(), ids);
    let table = audit(&folder, "csv");
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    let rows = reader.deserialize::<BTreeMap<String, String>>().map(|row| row.expect("a row"));
    assert_eq!(rows.map(|row| (row["id"].clone(), row["state"].clone())).collect::<Set>(), expected);
    assert_eq!(in_sarif(&serde_json::from_str(&audit(&folder, "sarif")).expect("JSON")), expected);
    assert_eq!(in_junit(&audit(&folder, "junit")), expected);
    assert_eq!(in_reports(&audit(&folder, "policyreport")), expected);
    assert_eq!(in_reports(&audit(&folder, "openreports")), expected);
    for format in ["wide", "markdown", "html"] {
        let text = audit(&folder, format);
        assert!(ids.iter().all(|id| text.contains(id)), "{format}");
    }
    let metrics = audit(&folder, "prometheus");
    for state in ["hard", "soft", "waived"] {
        let label = format!("state=\"{state}\"}} ");
        let lines = metrics.lines().filter(|line| line.starts_with("compliance_violations{"));
        let counts = lines.filter_map(|line| line.split_once(&label)?.1.parse::<usize>().ok());
        assert_eq!(counts.sum::<usize>(), expected.values().filter(|one| *one == state).count(), "{state}");
    }
}

/// A tag that must be there, and no value that anybody could think of.
const HOPELESS: &str = "
type: TagPolicy
name: owner
of: resource
tag: owner
required: true
---
{ref: resource/orphan}
";

#[test]
fn why_there_is_no_fix_is_said_in_every_format() {
    let folder = folder(&[("all.yaml", HOPELESS)]);
    let json: Json = serde_json::from_str(&audit(&folder, "json")).expect("JSON");
    let why = text(&json["violations"][0]["noFix"]["text"]);
    assert!(!why.is_empty() && why.is_ascii(), "{why}");
    // Names and numbers have no room for it.
    for format in FORMATS.into_iter().filter(|format| !matches!(*format, "name" | "prometheus")) {
        let text = audit(&folder, format);
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words(&text).contains(&why), "{format}: {text}");
    }
    let table = audit(&folder, "csv");
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    let row = reader.deserialize::<BTreeMap<String, String>>().next().expect("a row").expect("a row");
    assert_eq!(row["noFix"], why);
}

#[test]
fn two_runs_give_the_same_bytes() {
    let folder = organisation();
    for format in FORMATS {
        assert_eq!(audit(&folder, format), audit(&folder, format), "{format}");
    }
}

/// The words of each line, but for lines with places.
fn rows(text: &str) -> Vec<Vec<&str>> {
    text.lines().filter(|line| !line.contains(".yaml:")).map(|line| line.split_whitespace().collect()).collect()
}

#[test]
fn the_order_of_documents_does_not_show() {
    // Without places, which do move.
    let without_places = |value: &str| -> Json {
        fn strip(value: &mut Json) {
            match value {
                Json::Object(fields) => {
                    fields.remove("at");
                    fields.values_mut().for_each(strip);
                }
                Json::Array(items) => items.iter_mut().for_each(strip),
                _ => {}
            }
        }
        let mut value = serde_json::from_str(value).expect("JSON");
        strip(&mut value);
        value
    };
    let turned =
        |text: &str| text.split("\n---\n").collect::<Vec<_>>().into_iter().rev().collect::<Vec<_>>().join("\n---\n");
    let (waivers, levels) = (turned(WAIVERS), turned(LEVELS));
    assert_ne!(waivers, WAIVERS);
    let (straight, turned) = (organisation(), folder(&[("waivers.yaml", &waivers), ("levels.yaml", &levels)]));
    let swapped = folder(&[("a.yaml", &levels), ("b.yaml", &waivers)]);
    for other in [&turned, &swapped] {
        for format in ["name", "table", "prometheus"] {
            assert_eq!(rows(&audit(&straight, format)), rows(&audit(other, format)), "{format}");
        }
        assert_eq!(without_places(&audit(&straight, "json")), without_places(&audit(other, "json")));
    }
}

#[test]
fn a_baseline_tells_what_is_new() {
    let folder = organisation();
    let sarif = audit(&folder, "sarif");
    std::fs::write(folder.path().join("before.json.txt"), &sarif).expect("writable");
    let states = |line: &str| -> BTreeMap<String, usize> {
        let log: Json = serde_json::from_str(&printed(folder.path(), line)).expect("JSON");
        let mut counts = BTreeMap::new();
        for result in log["runs"][0]["results"].as_array().expect("results") {
            *counts.entry(text(&result["baselineState"])).or_default() += 1;
        }
        counts
    };
    let line = "audit -o sarif --baseline before.json.txt";
    assert_eq!(states(line).keys().map(String::as_str).collect::<Vec<_>>(), ["unchanged"]);
    let more = "
{ref: project/late, workspace: w, tags: {environment: prod}}
";
    std::fs::write(folder.path().join("more.yaml"), more).expect("writable");
    assert_eq!(states(line)["new"], 1);
    std::fs::remove_file(folder.path().join("more.yaml")).expect("removable");
    std::fs::remove_file(folder.path().join("levels.yaml")).expect("removable");
    let counts = states(line);
    assert!(counts["absent"] > 0 && !counts.contains_key("new"), "{counts:?}");
    std::fs::write(folder.path().join("before.json.txt"), "no log").expect("writable");
    let output = run(folder.path(), &format!("{line} {NOW}"));
    assert_eq!(output.status.code(), Some(2), "{}", shown(&output));
}
