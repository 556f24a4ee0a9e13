//! The dashboard and the alert rules that are shipped, against the numbers that there are and the runbook.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value as Json;
use upheld_server::Config;
use upheld_server::config::{DecisionLog, DecisionLogTo, Operations};

use crate::support::Served;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &str) -> String {
    let path = root().join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn alerts() -> Vec<Json> {
    let (file, problems) = upheld_syntax_of(&read("examples/deploy/monitoring/alerts.yaml"));
    assert!(problems.is_empty(), "{problems:?}");
    file["groups"].as_array().unwrap().iter().flat_map(|group| group["rules"].as_array().unwrap().clone()).collect()
}

/// YAML as JSON, through the reader of this program.
fn upheld_syntax_of(text: &str) -> (Json, Vec<String>) {
    let source = upheld_model::SourceId::new(0);
    let (file, problems) = upheld_syntax::parse("alerts.yaml", upheld_loader::Format::Yaml, text.to_owned(), source);
    let document = file.tree.documents().next().unwrap();
    let read = serde_json::from_str(&upheld_syntax::json::write(document)).unwrap();
    (read, problems.iter().map(|problem| problem.message.clone()).collect())
}

/// The names of metrics in an expression, and the labels that it asks for of each.
fn named(expression: &str) -> Vec<(String, Vec<(String, String)>)> {
    let is_word = |character: char| character.is_ascii_alphanumeric() || character == '_';
    let mut found = Vec::new();
    // What stands in braces belongs to the word before them, and names no metric.
    for part in expression.split('}') {
        let (outside, inside) = part.split_once('{').unwrap_or((part, ""));
        let metrics = outside.split(|character| !is_word(character));
        let metrics = metrics.filter(|word| word.starts_with("upheld_") || word.starts_with("process_"));
        found.extend(metrics.map(|metric| (metric.to_owned(), Vec::new())));
        let labels = inside.split(',').filter_map(|label| label.split_once('='));
        let labels = labels.map(|(name, value)| (name.to_owned(), value.trim_matches(['~', '"', '=']).to_owned()));
        if let (Some((_, last)), true) = (found.last_mut(), outside.ends_with(is_word)) {
            last.extend(labels);
        }
    }
    found
}

fn numbers() -> String {
    let folder = tempfile::tempdir().unwrap();
    let log = DecisionLog::new(DecisionLogTo::File(folder.path().join("decisions.jsonl")));
    let operations = Operations { decision_log: Some(log), ..Operations::default() };
    let examples = root().join("examples/compliance");
    let watch = if examples.is_dir() { vec![examples] } else { Vec::new() };
    let served = Served::start(Config { operations, watch, ..Config::default() });
    let question = r#"{"subject": {"id": "ann"}, "action": {"method": "GET"}, "resource": {"path": "/x"}}"#;
    assert_eq!(served.post("/v1/decide", question).status, 200);
    served.get("/metrics").text
}

#[test]
fn every_metric_and_label_that_is_asked_for_is_there() {
    let numbers = numbers();
    let dashboard: Json = serde_json::from_str(&read("examples/deploy/monitoring/grafana-dashboard.json")).unwrap();
    let mut expressions: Vec<String> =
        alerts().iter().map(|alert| alert["expr"].as_str().unwrap().to_owned()).collect();
    let panels = dashboard["panels"].as_array().unwrap();
    for target in panels.iter().flat_map(|panel| panel["targets"].as_array().unwrap()) {
        expressions.push(target["expr"].as_str().unwrap().to_owned());
    }
    let mut shown = BTreeSet::new();
    for expression in &expressions {
        let metrics = named(expression);
        assert!(!metrics.is_empty() || expression.starts_with("up{"), "{expression}");
        for (metric, labels) in metrics {
            let lines: Vec<&str> =
                numbers.lines().filter(|line| line.split(['{', ' ']).next() == Some(metric.as_str())).collect();
            assert!(!lines.is_empty(), "{metric} of `{expression}` is not in\n{numbers}");
            for (label, values) in labels.iter().filter(|(label, _)| label != "instance" && label != "job") {
                let has = |wanted: &str| lines.iter().any(|line| line.contains(&format!("{label}=\"{wanted}")));
                assert!(has(""), "{metric} has no label {label}");
                // Whichever status, severity or policy there is depends on what happened.
                for value in values.split('|').filter(|_| !matches!(label.as_str(), "status" | "severity" | "state")) {
                    assert!(has(value), "{metric} is never {label}={value}");
                }
            }
            let family = ["_total", "_bucket", "_info"].iter().find_map(|end| metric.strip_suffix(end));
            shown.insert(family.unwrap_or(&metric).to_owned());
        }
    }
    // And the other way round: whatever is counted is shown somewhere.
    for line in numbers.lines().filter_map(|line| line.strip_prefix("# TYPE ")) {
        let name = line.split(' ').next().unwrap();
        assert!(shown.contains(name), "{name} is on no dashboard");
    }
}

#[test]
fn every_alert_has_its_heading_in_the_runbook() {
    let runbook = read("docs/runbook.md");
    let anchors: BTreeSet<String> = runbook
        .lines()
        .filter_map(|line| line.strip_prefix("## "))
        .map(|heading| heading.to_lowercase().replace(' ', "-"))
        .collect();
    let alerts = alerts();
    for alert in &alerts {
        let page = alert["annotations"]["runbook"].as_str().unwrap();
        let anchor = page.strip_prefix("docs/runbook.md#").unwrap();
        assert!(anchors.contains(anchor), "{anchor} is no heading of the runbook");
        let name = alert["alert"].as_str().unwrap().to_lowercase();
        assert_eq!(anchor.replace('-', ""), name, "an alert leads to its own heading");
        assert!(alert["labels"]["severity"].is_string() && alert["annotations"]["summary"].is_string(), "{alert}");
    }
    assert_eq!(anchors.len(), alerts.len(), "no heading is about an alert that is not there");
}
