//! What reports say and what fails a run: levels, what is new, what was not looked at.

use tempfile::TempDir;

use super::told;
use super::waivers::{LEVELS, WAIVERS};
use crate::support::{folder, run, shown, snapshot};

/// What a line exits with, and all that it printed.
fn exit(folder: &TempDir, line: &str) -> (Option<i32>, String) {
    let output = run(folder.path(), &format!("{line} {}", super::NOW));
    (output.status.code(), shown(&output))
}

fn cases<'d>(document: &'d roxmltree::Document<'_>, element: &str) -> Vec<roxmltree::Node<'d, 'd>> {
    document.descendants().filter(|node| node.has_tag_name(element)).collect()
}

#[test]
fn only_what_is_enforced_is_a_failure_in_junit() {
    let folder = folder(&[("levels.yaml", LEVELS)]);
    let failures = |line: &str| {
        let (_, text) = exit(&folder, line);
        let text = text.split_once("--- stdout\n").expect("it prints").1.to_owned();
        let document = roxmltree::Document::parse(&text).expect("XML");
        let suite = |node: &roxmltree::Node<'_, '_>| {
            node.ancestors().find_map(|own| own.attribute("classname")).unwrap_or_default().to_owned()
        };
        let levels = cases(&document, "failure").iter().map(suite).collect::<Vec<_>>();
        (levels, cases(&document, "skipped").len())
    };
    let (enforced, skipped) = failures("audit -o junit");
    let (warned, fewer) = failures("audit -o junit --fail-on warn");
    let (all, none) = failures("audit -o junit --fail-on audit");
    assert!(enforced.len() < warned.len() && warned.len() < all.len(), "{enforced:?} {warned:?} {all:?}");
    assert_eq!(enforced.len() + skipped, all.len() + none);
    assert_eq!(warned.len() + fewer, all.len() + none);
}

const CHANGED: &str = "
{ref: project/late, workspace: w, tags: {environment: prod}}
";

#[test]
fn only_new_violations_fail_where_that_is_asked_for() {
    for format in ["json", "sarif"] {
        let folder = folder(&[("waivers.yaml", WAIVERS)]);
        let (code, text) = exit(&folder, &format!("audit -o {format}"));
        assert_eq!(code, Some(1), "{text}");
        let before = text.split_once("--- stdout\n").expect("it prints").1;
        std::fs::write(folder.path().join("before.txt"), before).expect("writable");
        let line = "audit --baseline before.txt --fail-on-new";
        let (code, text) = exit(&folder, line);
        assert_eq!(code, Some(0), "{text}");
        assert!(text.contains("beside the baseline: 0 new, 3 known, 0 gone"), "{text}");
        // Other fixes are no other violation: the workspace now has one more value that would do.
        let moved = WAIVERS.replace("environment: [dev, qa]", "environment: [dev, qa, test]");
        std::fs::write(folder.path().join("waivers.yaml"), &moved).expect("writable");
        let (code, _) = exit(&folder, line);
        assert_eq!(code, Some(0), "what is only another value is not new");
        std::fs::write(folder.path().join("late.yaml"), CHANGED).expect("writable");
        for format in ["table", "json", "yaml", "jsonl", "csv", "sarif", "junit", "policyreport", "markdown", "html"] {
            let (code, text) = exit(&folder, &format!("{line} -o {format}"));
            assert_eq!(code, Some(1), "{format}: {text}");
            assert!(text.contains("new"), "{format}: {text}");
        }
        assert_eq!(exit(&folder, "audit --baseline before.txt").0, Some(1));
    }
    let folder = folder(&[("waivers.yaml", WAIVERS), ("before.txt", "{}")]);
    let (code, text) = exit(&folder, "audit --baseline before.txt");
    assert_eq!(code, Some(2));
    assert!(text.contains("this is no audit") && text.contains("upheld audit -o json"), "{text}");
    assert_eq!(exit(&folder, "audit --fail-on-new").0, Some(2), "new beside what?");
}

/// Policies without a pair, and one on a tag that nobody has.
const NOTHING: &str = "
kind: Compliance
objects:
- {ref: workspace/w, tags: {environment: [dev]}}
policies:
- {id: env, a: {kind: project, tag: environment}, b: {kind: workspace, tag: environment}}
";

const MISSPELT: &str = "
kind: Compliance
objects:
- {ref: workspace/w, tags: {environment: [dev]}}
- {ref: project/p, workspace: w, tags: {environment: [prod]}}
policies:
- {id: env, a: {kind: project, tag: enviroment}, b: {kind: workspace, tag: enviroment}}
";

snapshot!("compliance_", misspelt_tag, told(folder(&[("a.yaml", MISSPELT)]).path(), "audit"), from "audit");

#[test]
fn what_was_not_looked_at_is_no_success() {
    let (code, text) = exit(&folder(&[("a.yaml", NOTHING)]), "audit");
    assert_eq!(code, Some(3), "{text}");
    assert!(text.contains("no pair of objects is there that 1 policy could be about"), "{text}");
    let (code, text) = exit(&folder(&[("a.yaml", NOTHING)]), "audit --workspace w");
    assert_eq!(code, Some(0), "a workspace may be empty: {text}");
    let (code, text) = exit(&folder(&[("a.yaml", MISSPELT)]), "audit");
    assert_eq!(code, Some(3), "{text}");
    assert!(text.contains("did you mean `environment`?"), "{text}");
    let good = MISSPELT.replace("enviroment", "environment").replace("[prod]", "[dev]");
    assert_eq!(exit(&folder(&[("a.yaml", &good)]), "audit").0, Some(0));
    let defined = MISSPELT.replace(
        "policies:",
        "tagDefinitions:\n- {kind: project, key: enviroment, type: string}\n- {kind: project, key: environment, type: string}\n\
         - {kind: workspace, key: enviroment, type: string}\n- {kind: workspace, key: environment, type: multiSelect, options: [dev]}\npolicies:",
    );
    let (code, text) = exit(&folder(&[("a.yaml", &defined)]), "audit");
    assert_eq!(code, Some(0), "what is defined is no typo: {text}");
    let table = "id, ref\n1,project/x\n";
    let (code, text) = exit(&folder(&[("a.yaml", &good), ("more.csv", table)]), "audit");
    assert_eq!(code, Some(3), "{text}");
    assert!(text.contains("NOT LOOKED AT") && text.contains("more.csv:1"), "{text}");
    let page = r#"{"_embedded": {"meshProjects": []}, "page": {"number": 0, "totalPages": 3}}"#;
    let (code, text) = exit(&folder(&[("a.yaml", &good), ("page.json", page)]), "audit");
    assert_eq!(code, Some(3), "{text}");
    assert!(text.contains("pages 1, 2 of the 3 pages of `meshProjects` were not read"), "{text}");
    let bad = good.replace("environment: [dev]", "environment: [qa]").replacen("[qa]", "[dev]", 1);
    let (code, text) = exit(&folder(&[("a.yaml", &bad), ("more.csv", table)]), "audit");
    assert_eq!(code, Some(1), "a violation is one, whatever else is missing: {text}");
    for format in ["json", "yaml", "sarif", "junit", "policyreport", "markdown", "html"] {
        let (code, text) = exit(&folder(&[("a.yaml", MISSPELT)]), &format!("audit -o {format}"));
        assert_eq!(code, Some(3), "{format}");
        assert!(text.contains("enviroment") && text.contains("environment"), "{format}: {text}");
    }
}

#[test]
fn tables_with_semicolons_are_audited() {
    let policies = "kind: Compliance\npolicies:\n- {id: env, a: {kind: project, tag: environment}, b: {kind: workspace, tag: environment}}\n";
    let table = "\u{feff}ref;workspace;tags.environment[]\r\nworkspace/w;;\"dev;qa\"\r\nproject/p;w;prod\r\n";
    let (code, text) = exit(&folder(&[("a.yaml", policies), ("objects.csv", table)]), "audit");
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("project/p ~ workspace/w"), "{text}");
}

/// An end-user may move what they like under this level; a landing zone moves twice.
const MOVED: &str = "
kind: Compliance
objects:
- {ref: workspace/w, tags: {environment: [dev, qa]}}
- {ref: project/p, workspace: w, tags: {environment: dev}}
- {ref: landingZone/z, tags: {environment: dev}}
relationships:
- {a: project/p, b: landingZone/z}
policies:
- {id: zone, a: {kind: project, tag: environment}, b: {kind: landingZone, tag: environment}, enforcement: warn, severity: high}
---
kind: Changes
changes:
- {at: 2026-02-01T00:00:00Z, by: admin, verb: setTags, object: landingZone/z, tags: {environment: prod}}
- {at: 2026-02-02T00:00:00Z, by: admin, verb: setTags, object: landingZone/z, tags: {environment: qa}}
---
kind: Changes
changes:
- at: 2026-02-03T00:00:00Z
  by: {role: workspaceManager, workspace: w, name: mia}
  verb: setTags
  object: project/p
  tags: {business: retail}
";

/// C35: what is let through and recorded is not simply accepted.
#[test]
fn c35_values_that_would_be_recorded_say_so() {
    let options = "{kind: landingZone, key: environment, type: multiSelect, options: [dev, qa, prod]}";
    let before = MOVED.split("---").next().expect("the first");
    let defined = format!("{before}tagDefinitions: [{options}]\n");
    let (_, text) = exit(&folder(&[("a.yaml", &defined)]), "values landingZone/z environment --as admin");
    assert!(text.contains("prod   accepted, and recorded as a violation of zone\n"), "{text}");
    assert!(text.contains("dev    accepted\n"), "{text}");
    // What violates now and would go on to is not simply accepted either.
    let moved = defined.replace("landingZone/z, tags: {environment: dev}", "landingZone/z, tags: {environment: prod}");
    let (_, text) = exit(&folder(&[("a.yaml", &moved)]), "values landingZone/z environment --as admin");
    assert!(text.contains("With 2 of them a violation stays."), "{text}");
    assert!(text.contains("qa     accepted; the violation of zone stays\n"), "{text}");
    assert!(text.contains("dev    accepted\n"), "{text}");
}

#[test]
fn messages_say_what_is_so() {
    let (_, text) = exit(&folder(&[("a.yaml", MOVED)]), "audit --fail-on warn");
    assert!(!text.contains("an administrator made the change"), "who did it is told where it is known: {text}");
    assert!(text.contains("now disagrees with environment {qa}"), "the value that it has now is told: {text}");
    assert!(text.contains("(high, warn)"), "{text}");
    // C30: an end-user moves a project under a policy that only warns, and nobody else is named.
    let end_user = MOVED.replace("tags: {business: retail}", "tags: {environment: prod}");
    let end_user = end_user.replace(
        "- {at: 2026-02-01T00:00:00Z, by: admin, verb: setTags, object: landingZone/z, tags: {environment: prod}}\n",
        "",
    );
    let end_user = end_user.replace(
        "- {at: 2026-02-02T00:00:00Z, by: admin, verb: setTags, object: landingZone/z, tags: {environment: qa}}\n",
        "- {at: 2026-02-02T00:00:00Z, by: admin, verb: setTags, object: landingZone/z, tags: {environment: dev}}\n",
    );
    let (_, text) = exit(&folder(&[("a.yaml", &end_user)]), "audit --fail-on warn");
    assert!(text.contains("by mia, an end-user") && !text.contains("administrator"), "{text}");
    let (_, text) = exit(&folder(&[("a.yaml", WAIVERS)]), "audit");
    assert!(text.contains("HARD (enforced, and let through by nobody)"), "{text}");
    assert!(!text.contains("would be refused"), "{text}");
    let (_, text) = exit(&folder(&[("a.yaml", WAIVERS)]), "explain project/one~workspace/w");
    assert!(text.contains("project/one and workspace/w violate env, which is waived by used."), "{text}");
}
