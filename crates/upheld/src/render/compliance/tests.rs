//! Every format is read back by a reader of its own, and all carry the same violations.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use clap::ValueEnum;
use serde_json::Value as Json;

use super::*;
use crate::report::compliance::sample::{HOSTILE, audit, passed};
use crate::report::compliance::{BaselineState, Check, CheckState, Level, Severity};
use upheld_answers::formats::audit::{Among, Baseline, Failing, Listed};

fn screen(format: Format) -> Screen {
    Screen { format, width: None, verbose: false, wanted: None, ascii: false }
}

fn printed_of(audit: &Audit, output: Output) -> String {
    let passing = passed();
    let took = Some(Duration::from_millis(30));
    let beside = Beside { passing: &passing, listed: Listed::All, took, ..Beside::default() };
    let text = text(audit, output, &screen(output.format()), &beside);
    // Only tables have colours.
    match output {
        Output::Print(Format::Table | Format::Wide)
        | Output::Draw(_)
        | Output::Record(Results::Tap)
        | Output::Report(Findings::Github)
        | Output::Patch => anstream::adapter::strip_str(&text).to_string(),
        _ => text,
    }
}

fn printed(output: Output) -> String {
    printed_of(&audit(), output)
}

/// The SARIF of an audit beside an earlier one.
fn compared(audit: &Audit, before: &Baseline) -> Json {
    let text = Text::Sarif.text(&before.compared(audit.clone()), &Beside::default());
    serde_json::from_str(&text).expect("JSON")
}

/// Fingerprints, and how they ended.
type Set = BTreeMap<String, String>;

fn expected() -> Set {
    audit().violations().map(|check| (check.id.clone(), check.state.name().to_owned())).collect()
}

fn text_of<'j>(value: &'j Json, name: &str) -> &'j str {
    value[name].as_str().unwrap_or_default()
}

fn of_list(list: &Json) -> Set {
    let pairs = list.as_array().expect("a list").iter();
    pairs.map(|one| (text_of(one, "id").to_owned(), text_of(one, "state").to_owned())).collect()
}

#[test]
fn json_yaml_and_json_lines_carry_all_violations() {
    let json: Json = serde_json::from_str(&printed(Output::Print(Format::Json))).expect("JSON");
    assert_eq!(of_list(&json["violations"]), expected());
    let yaml: Json = serde_saphyr::from_str(&printed(Output::Print(Format::Yaml))).expect("YAML");
    assert_eq!(yaml, json);
    let lines = printed(Output::Print(Format::Jsonl));
    let lines: Vec<Json> = lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(Json::Array(lines), json["violations"]);
    let names = printed(Output::Print(Format::Name));
    assert_eq!(names.lines().collect::<BTreeSet<_>>(), expected().keys().map(String::as_str).collect());
}

#[test]
fn csv_carries_all_violations_and_no_formula() {
    let text = printed(Output::Report(Findings::Csv));
    let mut reader = ::csv::Reader::from_reader(text.as_bytes());
    let heading = reader.headers().expect("a heading").clone();
    let column = |name: &str| heading.iter().position(|column| column == name).expect("the column");
    let rows: Vec<::csv::StringRecord> = reader.records().map(|row| row.expect("as many cells as columns")).collect();
    let set = rows.iter().map(|row| (row[column("id")].to_owned(), row[column("state")].to_owned()));
    assert_eq!(set.collect::<Set>(), expected());
    assert!(rows.iter().flatten().all(|cell| !cell.starts_with(['=', '+', '-', '@'])));
    let hostile = rows.iter().find(|row| row[column("policy")].starts_with("a\"b")).expect("the hostile row");
    assert!(hostile[column("aName")].starts_with("'=cmd a\"b'<script>"));
    assert!(hostile[column("howToFix")].starts_with("'@ask"));
    assert_eq!(&hostile[column("aValues")], "'=1+1, \"prod \", \"\"");
}

#[test]
fn junit_has_a_suite_for_each_policy_and_a_case_for_each_check() {
    let text = printed(Output::Record(Results::Junit));
    let document = roxmltree::Document::parse(&text).expect("XML");
    let root = document.root_element();
    let suites: Vec<_> = root.children().filter(|node| node.has_tag_name("testsuite")).collect();
    assert_eq!(
        suites.len(),
        audit().policies.len() + 2,
        "the policy that was not judged has one, and what was not looked at"
    );
    let number = |node: roxmltree::Node<'_, '_>, name: &str| -> usize {
        node.attribute(name).and_then(|text| text.parse().ok()).unwrap_or_default()
    };
    for name in ["tests", "failures", "errors", "skipped"] {
        assert_eq!(number(root, name), suites.iter().map(|suite| number(*suite, name)).sum::<usize>(), "{name}");
    }
    let (mut set, mut passed) = (Set::new(), 0);
    for case in document.descendants().filter(|node| node.has_tag_name("testcase")) {
        let name = case.attribute("name").unwrap_or_default();
        let id = name.split(' ').next().unwrap_or_default().to_owned();
        match case.first_element_child() {
            None => passed += 1,
            Some(node) if node.has_tag_name("failure") => {
                assert!(node.text().is_some_and(|text| text.contains("level: enforce")));
                set.insert(id, node.attribute("type").unwrap_or_default().to_owned());
            }
            Some(node) if node.has_tag_name("skipped") => {
                let told = node.next_sibling_element().and_then(|node| node.text()).unwrap_or_default();
                let state = told.lines().find_map(|line| line.strip_prefix("state: ")).unwrap_or_default();
                assert!(state == "waived" || !told.contains("level: enforce"), "what is enforced fails: {told}");
                set.insert(id, state.to_owned());
            }
            Some(node) => assert!(node.has_tag_name("error")),
        }
    }
    assert_eq!(set, expected());
    assert_eq!(passed, self::passed().len());
    let property = document.descendants().find(|node| node.attribute("name") == Some("vacuous"));
    assert!(property.is_some_and(|node| node.attribute("value").is_some()));
}

fn reports(output: Output) -> Vec<Json> {
    serde_saphyr::from_multiple(&printed(output)).expect("YAML")
}

#[test]
fn kubernetes_reports_carry_all_checks() {
    let old = reports(Output::Report(Findings::PolicyReport));
    let new = reports(Output::Report(Findings::OpenReports));
    for (reports, api) in [(&old, "wgpolicyk8s.io/v1alpha2"), (&new, "openreports.io/v1alpha1")] {
        assert!(reports.iter().all(|report| report["apiVersion"] == api));
        let mut set = Set::new();
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        for result in reports.iter().filter_map(|report| report["results"].as_array()).flatten() {
            *counts.entry(text_of(result, "result")).or_default() += 1;
            let id = text_of(&result["properties"], "id");
            let state = text_of(&result["properties"], "state");
            match (text_of(result, "result"), state) {
                ("pass", "pass") | ("error", "") => {}
                ("fail" | "warn", "hard" | "soft") | ("skip", "waived") => {
                    set.insert(id.to_owned(), state.to_owned());
                }
                (other, state) => panic!("{other} {state}"),
            }
        }
        assert_eq!(set, expected());
        assert_eq!(counts, BTreeMap::from([("error", 2), ("fail", 5), ("pass", 1), ("skip", 1), ("warn", 2)]));
        for report in reports {
            let results = report["results"].as_array().expect("results");
            let count = |word: &str| results.iter().filter(|result| result["result"] == word).count();
            for word in ["pass", "fail", "warn", "error", "skip"] {
                assert_eq!(report["summary"][word], count(word), "{word}");
            }
            let name = text_of(&report["metadata"], "name");
            assert!(name.chars().all(|one| one.is_ascii_lowercase() || one.is_ascii_digit() || one == '-'), "{name}");
            let texts = results.iter().filter_map(|result| result["properties"].as_object()).flatten();
            assert!(texts.into_iter().all(|(_, value)| value.is_string()));
        }
    }
    let kinds: Vec<&str> = new.iter().map(|report| text_of(report, "kind")).collect();
    assert_eq!(kinds, ["ClusterReport", "Report", "Report", "Report"]);
    let skipped = new.iter().filter_map(|report| report["results"].as_array()).flatten();
    let skipped = skipped.into_iter().find(|result| result["result"] == "skip").expect("the waived one");
    assert_eq!(skipped["properties"]["wouldBe"], "fail");
    assert_eq!(skipped["properties"]["waiverExpires"], "2026-07-01T00:00:00Z");
}

#[test]
fn texts_that_look_like_something_else_stay_texts() {
    let looks =
        ["007", "1e3", "0x1f", "true", "null", "~", "2026-01-01", "- a", "? b", "#c", " d", "=e", "yes", ".inf"];
    let mut numbers = audit();
    for check in &mut numbers.checks {
        check.a.tag = "on".to_owned();
        check.workspace = Some("workspace/12".to_owned());
    }
    numbers.checks[0].a.values = looks.map(str::to_owned).to_vec();
    let json: Json = serde_json::from_str(&printed_of(&numbers, Output::Print(Format::Json))).expect("JSON");
    let yaml: Json = serde_saphyr::from_str(&printed_of(&numbers, Output::Print(Format::Yaml))).expect("YAML");
    assert_eq!(yaml, json);
    let text = printed_of(&numbers, Output::Report(Findings::OpenReports));
    let reports: Vec<Json> = serde_saphyr::from_multiple(&text).expect("YAML");
    assert!(reports.iter().any(|report| report["metadata"]["name"] == "12"));
    let results = reports.iter().filter_map(|report| report["results"].as_array()).flatten();
    assert!(
        results
            .into_iter()
            .filter(|result| result["rule"] != Json::Null && result["result"] != "pass")
            .all(|result| result["properties"]["aTag"] == "on")
    );
}

/// The schema lies in the package of another program, so that no copy of it can go stale here.
fn sarif_schema() -> jsonschema::Validator {
    let metadata = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--offline", "--filter-platform", "host-tuple", "--manifest-path"])
        .arg(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml"))
        .output()
        .expect("cargo runs");
    let metadata: Json = serde_json::from_slice(&metadata.stdout).expect("metadata");
    let packages = metadata["packages"].as_array().expect("packages");
    let package = packages.iter().find(|package| package["name"] == "serde-sarif").expect("the package");
    let folder = PathBuf::from(text_of(package, "manifest_path"));
    let schema = std::fs::read(folder.with_file_name("src").join("schema.json")).expect("the schema");
    let mut schema: Json = serde_json::from_slice(&schema).expect("the schema is JSON");
    // The published pattern of languages has a bracket too many, which the validator refuses. We name no language.
    for owner in ["run", "toolComponent"] {
        let language = schema.pointer_mut(&format!("/definitions/{owner}/properties/language"));
        language.and_then(Json::as_object_mut).expect("a property").shift_remove("pattern");
    }
    jsonschema::draft7::options().should_validate_formats(true).build(&schema).expect("a schema")
}

fn assert_valid(schema: &jsonschema::Validator, log: &Json) {
    let problems: Vec<String> =
        schema.iter_errors(log).map(|problem| format!("{}: {problem}", problem.instance_path())).collect();
    assert!(problems.is_empty(), "{problems:#?}");
}

fn states(log: &Json) -> BTreeMap<String, String> {
    let results = log["runs"][0]["results"].as_array().expect("results").iter();
    let id = |result: &Json| text_of(&result["partialFingerprints"], "violation/v1").to_owned();
    results.map(|result| (id(result), text_of(result, "baselineState").to_owned())).collect()
}

#[test]
fn sarif_is_valid_and_carries_all_violations() {
    let schema = sarif_schema();
    let text = printed(Output::Report(Findings::Sarif));
    let log: Json = serde_json::from_str(&text).expect("JSON");
    assert_valid(&schema, &log);
    serde_json::from_str::<serde_sarif::sarif::Sarif>(&text).expect("another reader understands it");
    let rules = log["runs"][0]["tool"]["driver"]["rules"].as_array().expect("rules");
    assert_eq!(rules.len(), audit().policies.len(), "silent policies are there, too");
    let mut set = Set::new();
    for result in log["runs"][0]["results"].as_array().expect("results") {
        let rule = usize::try_from(result["ruleIndex"].as_u64().expect("an index")).expect("a small one");
        assert_eq!(rules[rule]["id"], result["ruleId"]);
        let state = text_of(&result["properties"], "state");
        assert_eq!(result.get("suppressions").is_some(), state == "waived");
        set.insert(text_of(&result["partialFingerprints"], "violation/v1").to_owned(), state.to_owned());
    }
    assert_eq!(set, expected());
    let first =
        &log["runs"][0]["results"].as_array().expect("results").iter().find(|one| one["properties"]["state"] == "hard");
    let place = &first.expect("the hard one")["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "projects/a%20b.yaml");
    assert_eq!(place["region"]["startLine"], 7);
}

#[test]
fn sarif_compares_with_a_previous_run() {
    let schema = sarif_schema();
    let before = Baseline::read(&printed(Output::Report(Findings::Sarif))).expect("our own log");
    let same = compared(&audit(), &before);
    assert!(states(&same).values().all(|state| state == "unchanged"), "{same:#}");
    let mut changed = audit();
    let id =
        |audit: &Audit, index: usize| audit.violations().nth(index).map(|check| check.id.clone()).expect("it is there");
    let (gone, updated) = (id(&changed, 1), id(&changed, 2));
    changed.checks.retain(|check| check.id != gone);
    changed.policies.remove(0);
    for check in changed.checks.iter_mut().filter(|check| check.id == updated) {
        check.a.values.push("more".to_owned());
    }
    let fresh = Check { id: "fresh".to_owned(), ..changed.checks[0].clone() };
    changed.checks.push(fresh);
    let log = compared(&changed, &before);
    assert_valid(&schema, &log);
    let states = states(&log);
    assert_eq!(states[&gone], "absent");
    assert_eq!(states[&updated], "updated");
    assert_eq!(states["fresh"], "new");
    let again = Baseline::read(&log.to_string()).expect("our own log");
    let log = compared(&changed, &again);
    assert!(!self::states(&log).contains_key(&gone), "what was gone then is no news");
    assert!(Baseline::read("{}").is_err());
    assert!(Baseline::read("<html>").is_err());
}

#[test]
fn pages_and_comments_carry_all_violations_and_no_markup_of_others() {
    let html = printed(Output::Report(Findings::Html));
    let markdown = printed(Output::Report(Findings::Markdown));
    for id in expected().keys() {
        assert_eq!(html.matches(&format!(" id=\"{id}\">")).count(), 1);
        assert_eq!(markdown.matches(&format!("| `{id}` |\n")).count(), 1);
    }
    assert_eq!(html.matches("<article class=\"violation ").count(), expected().len());
    // Without the first line and the elements that need no end, the page is XML, so that nothing can have broken out.
    let body = html.split_once("<body>").expect("a body").1.split_once("</body>").expect("its end").0;
    let body = format!("<body>{}</body>", body.replace(" checked>", "/>"));
    let document = roxmltree::Document::parse(&body).expect("well-formed");
    let known = [
        "main", "header", "footer", "nav", "aside", "section", "article", "h1", "h2", "p", "span", "b", "small", "ul",
        "li", "code", "a", "div", "input", "label", "details", "summary", "button", "dl", "dt", "dd", "svg", "rect",
    ];
    let of_tables = ["body", "table", "thead", "tbody", "tr", "th", "td"];
    let mut names = document.descendants().filter(roxmltree::Node::is_element).map(|node| node.tag_name().name());
    assert_eq!(names.find(|name| !known.contains(name) && !of_tables.contains(name)), None);
    let shown: String = document.descendants().filter_map(|node| node.text()).collect();
    assert!(shown.contains("<script>alert(1)</script>&amp;|`*_[x]"));
    assert!(!markdown.contains("<script") && !markdown.contains("[x](") && !markdown.contains("@all"));
    let rows = markdown.lines().filter(|line| line.starts_with("| ") && line.ends_with("` |"));
    assert!(rows.into_iter().all(|row| row.matches('|').count() == 7));
}

#[test]
fn tables_carry_all_violations() {
    let text = printed(Output::Print(Format::Table));
    for check in audit().violations() {
        for side in [&check.a, &check.b] {
            assert!(text.contains(&crate::render::visible(&side.reference)), "{}", side.reference);
        }
    }
    let wide = printed(Output::Print(Format::Wide));
    assert!(expected().keys().all(|id| wide.contains(id.as_str())));
    let verbose = Screen { verbose: true, ..screen(Format::Table) };
    let all = super::text(&audit(), Output::default(), &verbose, &Beside::default());
    assert!(expected().keys().all(|id| all.contains(id.as_str())));
}

#[test]
fn metrics_count_all_violations() {
    let text = printed(Output::Report(Findings::Prometheus));
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for line in text.lines().filter(|line| line.starts_with("compliance_violations{")) {
        let (labels, count) = line.rsplit_once(' ').expect("a number");
        let state = labels.rsplit_once("state=\"").expect("a state").1.trim_end_matches("\"}");
        *counts.entry(state).or_default() += count.parse::<usize>().expect("a number");
    }
    let set = expected();
    let wanted = |state: &str| set.values().filter(|one| *one == state).count();
    assert_eq!(counts, ["hard", "soft", "waived"].into_iter().map(|state| (state, wanted(state))).collect());
}

#[test]
fn the_order_of_arrival_does_not_show_and_nothing_is_obeyed() {
    let mut turned = audit();
    turned.checks.reverse();
    turned.policies.reverse();
    turned.waivers.reverse();
    let turned = turned.finished();
    for output in Output::value_variants() {
        let text = printed(*output);
        assert_eq!(text, printed_of(&turned, *output), "{output:?}");
        assert!(text.chars().all(|one| one == '\n' || !one.is_control()), "{output:?}");
        assert!(text.ends_with('\n'), "{output:?}");
    }
    assert!(HOSTILE.contains('\u{1b}'));
}

#[test]
fn an_audit_without_anything_is_well_formed() {
    let schema = sarif_schema();
    let nothing = Audit { now: audit().now, ..Audit::default() }.finished();
    for output in Output::value_variants() {
        let text = printed_of(&nothing, *output);
        match output {
            Output::Report(Findings::Sarif) => assert_valid(&schema, &serde_json::from_str(&text).expect("JSON")),
            Output::Record(Results::Junit) => drop(roxmltree::Document::parse(&text).expect("XML")),
            Output::Print(Format::Table) => assert_eq!(text, "There are no policies, so nothing is checked.\n"),
            _ => {}
        }
    }
}

#[test]
fn reports_for_kubernetes_list_what_passes_only_if_asked() {
    let passing = passed();
    for format in [Text::PolicyReport, Text::OpenReports] {
        let of = |listed| format.text(&audit(), &Beside { passing: &passing, listed, ..Beside::default() });
        assert!(of(Listed::All).contains("result: pass"));
        assert!(!of(Listed::Violations).contains("result: pass"));
        assert!(of(Listed::Violations).contains("result: fail"));
    }
}

/// An audit of which half was there before, one of them with other values.
fn beside_another() -> Audit {
    let mut before = audit();
    let half = before.checks.len() / 2;
    before.checks.truncate(half);
    before.checks[0].a.values.push("another".to_owned());
    before.checks[1].fixes.clear();
    let gone = Check { id: "vgone".to_owned(), ..before.checks[0].clone() };
    before.checks.push(gone);
    let before = Text::Json.text(&before, &Beside::default());
    Baseline::read(&before).expect("our own report").compared(audit())
}

#[test]
fn what_is_new_is_told_in_every_format_whatever_was_compared_with() {
    let compared = beside_another();
    let states: Vec<&str> =
        compared.checks.iter().filter_map(|check| check.baseline_state).map(BaselineState::name).collect();
    assert_eq!(states[..3], ["updated", "unchanged", "unchanged"], "fixes are no part of a violation");
    assert_eq!(states[4..], ["new"; 4]);
    for output in Output::value_variants() {
        let text = printed_of(&compared, *output);
        match output {
            Output::Print(Format::Name) | Output::Draw(_) | Output::Record(Results::Tap) => {}
            _ => assert!(text.contains("new") && text != printed(*output), "{output:?}"),
        }
    }
    let sarif: Json = serde_json::from_str(&printed_of(&compared, Output::Report(Findings::Sarif))).expect("JSON");
    assert_valid(&sarif_schema(), &sarif);
    assert_eq!(self::states(&sarif)["vgone"], "absent");
    assert!(printed_of(&compared, Output::Report(Findings::Markdown)).contains("4 new, 4 known, 1 gone"));
}

#[test]
fn only_what_is_new_fails_where_that_is_asked_for() {
    let compared = beside_another();
    let of = |failing: Failing| compared.violations().filter(|check| failing.fails(check)).count();
    let all = Failing { from: Level::Audit, among: Among::All };
    let waived = compared.ended(CheckState::Waived).count();
    assert_eq!(of(all), compared.checks.len() - waived);
    assert!(of(Failing::default()) < of(all), "levels below do not fail");
    let new = Failing { among: Among::New, ..all };
    assert!(of(new) < of(all) && of(new) > 0);
    let text = Text::Junit.text(&compared, &Beside { failing: new, ..Beside::default() });
    let document = roxmltree::Document::parse(&text).expect("XML");
    let failures = document.descendants().filter(|node| node.has_tag_name("failure")).count();
    assert_eq!(failures, of(new));
    assert!(text.contains("violated before"));
}

#[test]
fn the_worst_comes_first_and_every_format_says_how_bad_it_is() {
    let mut mixed = audit();
    let severities = ["info", "critical", "low", "medium", "high"].map(Severity::of);
    for (check, severity) in mixed.checks.iter_mut().zip(severities.into_iter().cycle()) {
        check.severity = severity;
    }
    let mixed = mixed.finished();
    let ranks: Vec<usize> = mixed.checks.iter().map(|check| Severity::rank(check.severity)).collect();
    assert!(ranks.is_sorted());
    let told: Vec<usize> = mixed.overview.by_severity.iter().map(|line| Severity::rank(line.severity)).collect();
    assert_eq!(told, [0, 1, 2, 3, 4]);
    for output in Output::value_variants() {
        if !matches!(output, Output::Print(Format::Name) | Output::Report(Findings::Prometheus)) {
            assert!(printed_of(&mixed, *output).contains("critical"), "{output:?}");
        }
    }
    assert!(printed(Output::Report(Findings::Prometheus)).contains("severity=\"high\",state=\"hard\"} 1"));
}

/// As many violations as a large organisation has.
fn large(count: usize) -> Audit {
    let mut large = audit();
    let soft = large.ended(CheckState::Soft).next().cloned().expect("it is there");
    large.checks.extend((0..count).map(|number| Check {
        id: format!("v{number:020}"),
        rule: number,
        workspace: Some(format!("workspace/w{}", number % 40)),
        ..soft.clone()
    }));
    large.finished()
}

#[test]
fn comments_fit_into_reviews_and_count_what_they_leave_out() {
    for count in [0, 100, 293, 20_000] {
        let large = large(count);
        let text = printed_of(&large, Output::Report(Findings::Markdown));
        assert!(text.len() <= 65_536, "{count}: {}", text.len());
        let rows = text.lines().filter(|line| line.starts_with("| ") && line.ends_with("` |")).count();
        let cut = large.checks.len() - rows;
        assert_eq!(text.contains("not shown"), cut > 0, "{count}");
        if cut > 0 {
            assert!(text.contains(&format!("**{cut} violations (")), "{cut} of {count}");
        }
    }
}

#[test]
fn long_reports_begin_with_a_summary() {
    let text = printed_of(&large(293), Output::Print(Format::Table));
    let (summary, rest) = text.split_once("HARD (").expect("a block");
    assert!(!rest.is_empty());
    for heading in ["BY SEVERITY", "BY POLICY", "BY WORKSPACE", "… and 34 more workspaces"] {
        assert!(summary.contains(heading), "{heading}:\n{summary}");
    }
    assert!(summary.lines().count() < 40);
    assert!(!printed(Output::Print(Format::Table)).contains("BY SEVERITY"));
    let html = printed_of(&large(293), Output::Report(Findings::Html));
    assert_eq!(html.matches("<section class=\"card workspace\"").count(), 44);
    assert_eq!(html.matches("<a href=\"#w").count(), 44, "contents");
    for class in ["hard", "soft", "waived", "high", "unrated"] {
        assert_eq!(html.matches(&format!("id=\"show-{class}\"")).count(), 1, "{class}");
    }
    assert!(html.contains("main:has(#show-soft:not(:checked)) .violation.soft,"), "filters take no script");
    let paper = html.split_once("@media print").expect("rules for paper").1;
    for rule in [".violation, tr { break-inside: avoid; }", ".sorts, .alone { display: none !important; }"] {
        assert!(paper.contains(rule), "{rule}");
    }
}

#[test]
fn pages_are_bounded_and_count_what_they_leave_out() {
    let most = upheld_pages::MOST_IN_A_FILE;
    let whole = large(most);
    let page = printed_of(&whole, Output::Report(Findings::Html));
    let all = whole.violations().count();
    assert_eq!(page.matches("<article class=\"violation ").count(), most.min(all));
    let page = printed_of(&large(20_000), Output::Report(Findings::Html));
    assert_eq!(page.matches("<article class=\"violation ").count(), most);
    let left = large(20_000).violations().count() - most;
    assert!(page.contains(&format!("and {left} more violations")) && page.contains("<code>upheld audit -o csv</code>"));
    assert!(page.len() < 10_000_000, "{}", page.len());
}

#[test]
fn what_was_not_looked_at_is_told_in_every_format() {
    for output in Output::value_variants() {
        let text = printed(*output);
        let told = match output {
            Output::Report(Findings::Csv) | Output::Print(Format::Name | Format::Jsonl) => continue,
            Output::Report(Findings::Prometheus) => "compliance_gaps 1",
            _ => "the table is not read",
        };
        assert!(text.contains(told), "{output:?}");
    }
}

#[test]
fn every_format_as_a_snapshot() {
    let formats = [
        ("table", Output::Print(Format::Table)),
        ("wide", Output::Print(Format::Wide)),
        ("json", Output::Print(Format::Json)),
        ("yaml", Output::Print(Format::Yaml)),
        ("junit", Output::Record(Results::Junit)),
        ("csv", Output::Report(Findings::Csv)),
        ("sarif", Output::Report(Findings::Sarif)),
        ("policyreport", Output::Report(Findings::PolicyReport)),
        ("openreports", Output::Report(Findings::OpenReports)),
        ("markdown", Output::Report(Findings::Markdown)),
        ("html", Output::Report(Findings::Html)),
        ("prometheus", Output::Report(Findings::Prometheus)),
    ];
    for (name, output) in formats {
        let mut settings = insta::Settings::clone_current();
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.add_filter("(?s)<style>.*</style>", "<style>…</style>");
        settings.bind(|| insta::assert_snapshot!(format!("audit_{name}"), printed(output)));
    }
}

#[test]
fn narrow_terminals_get_short_lines_and_long_blocks_are_cut() {
    let mut long = audit();
    let hard = long.ended(CheckState::Hard).next().cloned().expect("it is there");
    long.checks.extend((0..60).map(|number| Check { rule: number + 1, id: number.to_string(), ..hard.clone() }));
    let narrow = Screen { width: Some(60), ..screen(Format::Table) };
    let text = super::text(&long, Output::default(), &narrow, &Beside::default());
    assert!(text.contains("… and 11 more (--verbose shows all)"));
    assert!(
        !super::text(&long, Output::default(), &screen(Format::Table), &Beside::default()).contains("more (--verbose")
    );
}

#[test]
fn a_change_of_a_policy_is_the_cause_of_pairs() {
    let mut changed = audit();
    for cause in changed.checks.iter_mut().filter_map(|check| check.cause.as_mut()) {
        "policy/env-project-landingzone".clone_into(&mut cause.object);
        "policy/env-project-landingzone was made".clone_into(&mut cause.text);
    }
    let text = printed_of(&changed, Output::Print(Format::Table));
    assert!(text.contains("policy/env-project-landingzone was made: 4 pairs now disagree\n"));
    assert!(text.contains("      project/d {} ~ landingZone/lz-1 {prod}\n"));
}
