//! Fixes that are made in files, and what is told where there is none.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::{NOW, told};
use crate::support::{folder, run, snapshot};

/// Every way to write tags, with remarks that have to stay.
const WRITTEN: &str = r#"# The company.
kind: Compliance
tagDefinitions:
- {kind: workspace, key: env, type: multiSelect, options: [dev, qa, prod]}
- {kind: project, key: env, type: multiSelect, options: [dev, qa, prod]}
- {kind: project, key: unit, type: string}
- {kind: landingZone, key: unit, type: string}
objects:
- {ref: workspace/w, tags: {env: [dev, qa]}}   # grants
- ref: landingZone/z
  tags:
    unit: shop
# In a line.
- {ref: project/flow, workspace: w, tags: {env: [prod]}}   # stays beside it
- ref: project/block   # one a line
  workspace: w
  tags:
    env:
    # what it is for
    - prod   # the only one
    unit: "Shop"
- ref: project/scalar
  workspace: w
  tags:
    env: prod   # a word
- ref: project/bare   # nothing yet
  workspace: w

- ref: project/other
  workspace: w
  tags:
    unit: shop # and nothing else
relationships:
- {a: project/block, b: landingZone/z}
- {a: project/other, b: landingZone/z}
policies:
- {id: env, a: {kind: workspace, tag: env}, b: {kind: project, tag: env}}
- {id: unit, a: {kind: project, tag: unit}, b: {kind: landingZone, tag: unit}}
"#;

fn code(folder: &Path, line: &str) -> Option<i32> {
    run(folder, &format!("{line} {NOW}")).status.code()
}

/// The lines that a text has more than another one.
fn more<'t>(one: &'t str, other: &str) -> Vec<&'t str> {
    one.lines().filter(|line| !other.lines().any(|known| known == *line)).collect()
}

snapshot!("compliance_", fix_applied, {
    let folder = folder(&[("organisation.yaml", WRITTEN)]);
    let told = told(folder.path(), "fix --apply");
    let after = fs::read_to_string(folder.path().join("organisation.yaml")).expect("readable");
    format!("{told}\n{}\n", more(&after, WRITTEN).join("\n"))
}, from "fix --apply");

#[test]
fn fixes_that_are_applied_end_the_violations_and_keep_every_remark() {
    let folder = folder(&[("organisation.yaml", WRITTEN)]);
    assert_eq!(code(folder.path(), "audit"), Some(1));
    assert_eq!(code(folder.path(), "fix --apply"), Some(0));
    assert_eq!(code(folder.path(), "audit"), Some(0), "{}", told(folder.path(), "audit"));
    let after = fs::read_to_string(folder.path().join("organisation.yaml")).expect("readable");
    let remarks = |text: &str| {
        text.lines().filter_map(|line| line.split_once('#')).map(|(_, own)| own.to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(remarks(&after), remarks(WRITTEN));
    assert_eq!(code(folder.path(), "fix"), Some(0), "nothing is left");
}

#[test]
fn a_patch_is_what_git_applies() {
    let there = folder(&[]);
    fs::create_dir(there.path().join("sub")).expect("writable");
    fs::write(there.path().join("sub/organisation.yaml"), WRITTEN).expect("writable");
    let patch = run(there.path(), &format!("fix -o patch {NOW}"));
    assert_eq!(patch.status.code(), Some(0), "{}", String::from_utf8_lossy(&patch.stderr));
    let text = String::from_utf8(patch.stdout).expect("text");
    let own = fs::read_to_string(there.path().join("sub/organisation.yaml")).expect("readable");
    assert_eq!(own, WRITTEN, "printing changes nothing");
    fs::write(there.path().join("fixes.patch"), text).expect("writable");
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).current_dir(there.path()).output().expect("git runs");
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    };
    git(&["init", "--quiet"]);
    git(&["apply", "--check", "fixes.patch"]);
    git(&["apply", "fixes.patch"]);
    let patched = fs::read_to_string(there.path().join("sub/organisation.yaml")).expect("readable");
    let applied = folder(&[("organisation.yaml", WRITTEN)]);
    assert_eq!(code(applied.path(), "fix --apply"), Some(0));
    assert_eq!(patched, fs::read_to_string(applied.path().join("organisation.yaml")).expect("readable"));
}

#[test]
fn json_and_tables_are_edited_too() {
    let json = r#"{"kind": "Compliance",
 "objects": [
  {"ref": "workspace/w", "tags": {"env": ["dev"]}},
  {"ref": "project/p",
   "workspace": "w",
   "tags": {"env": [
     "prod"
   ]}}
 ],
 "policies": [{"id": "env", "a": {"kind": "workspace", "tag": "env"}, "b": {"kind": "project", "tag": "env"}}]}
"#;
    let table = "ref,workspace,tags.env[]\nproject/q,w,prod\nproject/r,w,dev;qa\n";
    let folder = folder(&[("organisation.json", json), ("projects.csv", table)]);
    assert_eq!(code(folder.path(), "audit"), Some(1));
    assert_eq!(code(folder.path(), "fix --apply"), Some(0), "{}", told(folder.path(), "fix"));
    assert_eq!(code(folder.path(), "audit"), Some(0), "{}", told(folder.path(), "audit"));
    let after = fs::read_to_string(folder.path().join("projects.csv")).expect("readable");
    assert_eq!(after.lines().last(), Some("project/r,w,dev;qa"), "what complies stays");
}

/// Projects with a unit that no landing zone has, related in every way that there is.
const RELATED: &str = "# The company.
kind: Compliance
tagDefinitions:
- {kind: project, key: unit, type: singleSelect, options: [shop]}
- {kind: landingZone, key: unit, type: singleSelect, options: [shop, bank]}
objects:
- {ref: workspace/w}
- {ref: landingZone/good, tags: {unit: shop}}
- {ref: landingZone/bad, tags: {unit: bank}}
- {ref: project/listed, workspace: w, tags: {unit: shop}}
- {ref: project/only, workspace: w, tags: {unit: shop}}
- ref: project/inside   # with its links
  workspace: w
  tags: {unit: shop}
  links:
  # where it runs
  - {to: landingZone/good}
  - {to: landingZone/bad}
- {ref: project/flow, workspace: w, tags: {unit: shop}, links: [{to: landingZone/bad}, {to: landingZone/good}]}
relationships:
# kept
- {a: project/listed, b: landingZone/good}   # good
- a: project/listed
  b: landingZone/bad
policies:
- {id: unit, a: {kind: project, tag: unit}, b: {kind: landingZone, tag: unit}}
---
# On its own, and the other way round.
a: landingZone/bad
b: project/only
---
# The last.
{a: project/only, b: landingZone/good}
";

#[test]
fn relationships_that_fixes_end_go_from_the_files_and_remarks_stay() {
    let lines = "{\"a\": \"project/lines\", \"b\": \"landingZone/bad\"}\n{\"a\": \"project/lines\", \"b\": \"landingZone/good\"}\n";
    let table = "a,b\nproject/table,landingZone/good\nproject/table,landingZone/bad\n";
    let more = "[{\"ref\": \"project/lines\", \"workspace\": \"w\", \"tags\": {\"unit\": \"shop\"}},\n {\"ref\": \"project/table\", \"workspace\": \"w\", \"tags\": {\"unit\": \"shop\"}}]\n";
    let files = [("organisation.yaml", RELATED), ("lines.jsonl", lines), ("table.csv", table), ("projects.json", more)];
    let there = folder(&files);
    let patch = run(there.path(), &format!("fix -o patch {NOW}"));
    let patch = String::from_utf8(patch.stdout).expect("text");
    for gone in
        ["-  b: landingZone/bad", "-b: project/only", "-project/table,landingZone/bad", "-  - {to: landingZone/bad}"]
    {
        assert!(patch.lines().any(|line| line == gone), "{gone}: {patch}");
    }
    let told = told(there.path(), "fix --apply");
    assert_eq!(code(there.path(), "audit"), Some(0), "{told}\n{}", super::told(there.path(), "audit"));
    let after = fs::read_to_string(there.path().join("organisation.yaml")).expect("readable");
    let remarks = |text: &str| {
        text.lines().filter_map(|line| line.split_once('#')).map(|(_, own)| own.to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(remarks(&after), remarks(RELATED), "{after}");
    assert!(!after.contains("to: landingZone/bad") && !after.contains("b: landingZone/bad"), "{after}");
    assert_eq!(
        fs::read_to_string(there.path().join("table.csv")).expect("readable"),
        "a,b\nproject/table,landingZone/good\n"
    );
    // What git makes of the patch is what was made of the files.
    let patched = folder(&files);
    fs::write(patched.path().join("fixes.patch"), &patch).expect("writable");
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).current_dir(patched.path()).output().expect("git runs");
        assert!(output.status.success(), "{arguments:?}: {} {patch}", String::from_utf8_lossy(&output.stderr));
    };
    git(&["init", "--quiet"]);
    git(&["apply", "fixes.patch"]);
    for (name, _) in files {
        let [one, other] = [&there, &patched].map(|own| fs::read_to_string(own.path().join(name)).expect("readable"));
        assert_eq!(one, other, "{name}");
    }
}

#[test]
fn a_relationship_that_another_document_implies_is_ended_by_hand() {
    let organisation = RELATED.split("---").next().expect("the first").replace("  - {to: landingZone/bad}\n", "");
    let organisation =
        organisation.replace("{to: landingZone/bad}, ", "").replace("- a: project/listed\n  b: landingZone/bad\n", "");
    let changes = "kind: Changes\nchanges:\n- {at: 2026-02-03T00:00:00Z, by: admin, verb: link, a: project/only, b: landingZone/bad}\n";
    let there = folder(&[("organisation.yaml", &organisation), ("changes.yaml", changes)]);
    let told = told(there.path(), "fix --apply");
    assert!(told.contains("project/only ~ landingZone/bad: no document says only that they are related"), "{told}");
    assert_eq!(fs::read_to_string(there.path().join("organisation.yaml")).expect("readable"), organisation);
}

/// An object whose document is not what holds any more, one that an alias stands for, and a relationship.
const BY_HAND: &str = "
kind: Compliance
objects:
- {ref: workspace/w, tags: {env: [dev]}}
- {ref: project/moved, workspace: w, tags: {env: [dev]}}
- {ref: project/same, workspace: w, tags: &same {env: [prod]}}
- {ref: project/alias, workspace: w, tags: *same}
policies:
- {id: env, a: {kind: workspace, tag: env}, b: {kind: project, tag: env}}
---
kind: Changes
changes:
- {at: 2026-02-03T00:00:00Z, by: admin, verb: setTags, object: project/moved, tags: {env: [prod]}}
";

#[test]
fn what_cannot_be_edited_is_told_and_left_alone() {
    let folder = folder(&[("organisation.yaml", BY_HAND)]);
    let told = told(folder.path(), "fix --apply");
    assert!(
        told.contains("set env of project/moved to prod, dev: its document is not what holds: changes came since"),
        "{told}"
    );
    assert!(told.contains("organisation.yaml:"), "{told}");
    let after = fs::read_to_string(folder.path().join("organisation.yaml")).expect("readable");
    assert_eq!(after, BY_HAND, "one of two that share their tags is not edited");
}

/// Everything that could go wrong with fixes.
const HARM: &str = "
kind: Compliance
tagDefinitions:
- {kind: project, key: data, type: singleSelect, options: [public, secret]}
- {kind: landingZone, key: data, type: singleSelect, options: [public, secret]}
- {kind: workspace, key: env, type: multiSelect, options: [dev, qa, prod]}
- {kind: project, key: env, type: singleSelect, options: [dev, qa, prod], immutable: true}
objects:
- {ref: workspace/w, tags: {env: [dev]}}
- {ref: workspace/v, tags: {env: [dev]}}
- {ref: project/p, workspace: w, tags: {env: dev, data: secret}}
- {ref: project/fixed, workspace: v, tags: {env: prod}}
- {ref: landingZone/z, tags: {data: public}}
relationships:
- {a: project/p, b: landingZone/z}
policies:
- {id: data, a: {kind: project, tag: data}, b: {kind: landingZone, tag: data}}
- {id: env, a: {kind: workspace, tag: env}, b: {kind: project, tag: env}}
";

read!(fix_without_harm, "fix", HARM);
read!(fix_says_why_not, "fix project/fixed", HARM);
read!(fix_that_widens, "fix --allow widen --as admin", HARM);
read!(fix_that_lowers, "fix project/p --allow lower", HARM);
read!(fix_in_one_workspace, "fix --workspace v", HARM);
read!(fix_of_who_sees_one_workspace, "fix --as workspaceManager@w", HARM);
read!(fix_of_who_sees_nothing, "fix --as workspaceMember", HARM);
read!(fix_with_unknown_allowance, "fix --allow everything", HARM);
read!(can_link_what_violates_already, "can link project/p~landingZone/z", HARM);
read!(patch_of_another_command, "audit -o patch", HARM);

/// C11: all of them, and not the first hundreds of the workspaces that come first.
#[test]
fn c11_every_violation_has_its_fix_however_many_there_are() {
    let mut organisation = "kind: Compliance\npolicies:\n- {id: env, a: {kind: workspace, tag: env}, b: {kind: project, tag: env}}\nobjects:\n".to_owned();
    for number in 0..450 {
        let workspace = number / 90;
        if number % 90 == 0 {
            organisation += &format!("- {{ref: workspace/w{workspace}, tags: {{env: [dev]}}}}\n");
        }
        organisation += &format!("- {{ref: project/p{number}, workspace: w{workspace}, tags: {{env: [prod]}}}}\n");
    }
    let folder = folder(&[("organisation.yaml", &organisation)]);
    let output = run(folder.path(), &format!("audit -o json {NOW}"));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "nothing is left out");
    let audit: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let violations = audit["violations"].as_array().expect("a list");
    assert_eq!(violations.len(), 450);
    for violation in violations {
        assert!(violation["fixes"].as_array().is_some_and(|fixes| !fixes.is_empty()), "{violation}");
    }
    assert_eq!(code(folder.path(), "fix --apply"), Some(0));
    assert_eq!(code(folder.path(), "audit"), Some(0), "{}", told(folder.path(), "audit"));
}

/// A user who gets default tags, a policy that only warns, and one that is waived.
const PREDICTED: &str = "
kind: Compliance
userDefaultTags: {env: [dev]}
objects:
- {ref: workspace/w, tags: {env: [dev]}}
- {ref: project/p, workspace: w, tags: {env: [dev], unit: [x]}}
- {ref: landingZone/z, tags: {unit: [y]}}
- {ref: user/u}
relationships:
- {a: project/p, b: user/u}
- {a: project/p, b: landingZone/z}
policies:
- {id: access, a: {kind: project, tag: env}, b: {kind: principal, tag: env}}
- {id: unit, a: {kind: project, tag: unit}, b: {kind: landingZone, tag: unit}, enforcement: warn}
waivers:
- {id: legacy, policy: access, reason: old}
";

/// What is predicted of a change, and what an audit says before and after somebody wrote it so.
fn predicted(change: &str, from: &str, to: &str) -> (Vec<usize>, [Vec<String>; 2]) {
    let folder = folder(&[("organisation.yaml", PREDICTED), ("next.yaml", change)]);
    let text = run(folder.path(), &format!("what-if next.yaml --as admin -o json {NOW}"));
    let plan: serde_json::Value = serde_json::from_slice(&text.stdout).unwrap_or_default();
    let count = |list: &str| plan["plan"][list].as_array().map_or(0, Vec::len);
    let counts = ["added", "removed", "raised", "lowered"].map(count).to_vec();
    fs::remove_file(folder.path().join("next.yaml")).expect("there");
    let audited = || {
        let text = run(folder.path(), &format!("audit --no-fixes -o json {NOW}")).stdout;
        let audit: serde_json::Value = serde_json::from_slice(&text).unwrap_or_default();
        let all =
            audit["audit"]["violations"].as_array().or(audit["violations"].as_array()).cloned().unwrap_or_default();
        all.iter().map(|own| format!("{} {} {}", own["policy"], own["state"], own["level"])).collect::<Vec<_>>()
    };
    let before = audited();
    assert!(PREDICTED.contains(from), "{from}");
    fs::write(folder.path().join("organisation.yaml"), PREDICTED.replace(from, to)).expect("writable");
    (counts, [before, audited()])
}

#[test]
fn predictions_are_what_happens_when_documents_change_so() {
    // Default tags come on top of whatever somebody writes.
    let tags = "{verb: setTags, object: user/u, tags: {env: [qa]}}";
    let (counts, [before, after]) = predicted(tags, "{ref: user/u}", "{ref: user/u, tags: {env: [qa]}}");
    assert_eq!((counts, &after), (vec![0, 0, 0, 0], &before));
    // Other default tags take the place of those before.
    let defaults = "{verb: setUserDefaultTags, tags: {env: [qa]}}";
    let (counts, [before, after]) =
        predicted(defaults, "userDefaultTags: {env: [dev]}", "userDefaultTags: {env: [qa]}");
    assert_eq!((counts, after.len()), (vec![1, 0, 0, 0], before.len() + 1));
    // A level that rises begins nothing, and is told.
    let policy = "{id: unit, a: {kind: project, tag: unit}, b: {kind: landingZone, tag: unit}}";
    let level = format!("{{verb: updatePolicy, policy: {policy}}}");
    let (counts, [before, after]) = predicted(&level, "tag: unit}, enforcement: warn}", "tag: unit}}");
    assert_eq!((counts, after.len()), (vec![0, 0, 1, 0], before.len()));
    assert_ne!(before, after);
}

#[test]
fn a_waived_policy_is_not_deleted_before_its_waiver() {
    let gone = "{verb: deletePolicy, policy: access}";
    let folder = folder(&[("organisation.yaml", PREDICTED), ("next.yaml", gone)]);
    let told = told(folder.path(), "what-if next.yaml --as admin");
    assert!(told.contains("the waiver `legacy` is about the policy `access`; revoke it first"), "{told}");
}
