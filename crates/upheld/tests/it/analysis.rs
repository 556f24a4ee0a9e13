//! Before a change: `diff`, `prove`, `affected`, `lint`, `blame`, `bisect`, as reviewers use them.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::support::{example, git, run, shown};

fn edit(folder: &Path, file: &str, old: &str, new: &str) {
    let path = folder.join(file);
    let text = fs::read_to_string(&path).expect("is there");
    assert!(text.contains(old), "{old}");
    fs::write(path, text.replacen(old, new, 1)).expect("is writable");
}

/// The demo, committed three times: logs, then health checks.
fn history() -> TempDir {
    let folder = example("demo");
    git(folder.path(), &["init", "--quiet", "--initial-branch=main"]);
    git(folder.path(), &["add", "--all"]);
    git(folder.path(), &["commit", "--quiet", "--message", "Start the shop"]);
    for (file, old, new, message) in [
        ("policies/logging.yaml", "backend: splunk", "backend: loki", "Send logs to loki"),
        ("policies/resilience.yaml", "interval: 10s", "interval: 3s", "Check more often"),
    ] {
        edit(folder.path(), file, old, new);
        git(folder.path(), &["commit", "--quiet", "--all", "--message", message]);
    }
    folder
}

fn told(folder: &Path, line: &str) -> String {
    shown(&run(folder, line))
}

#[test]
fn two_revisions_differ_in_what_their_policies_come_to() {
    let folder = history();
    let diff = told(folder.path(), "diff main~2..main");
    assert!(diff.starts_with("exit 1"), "{diff}");
    for part in ["2 documents changed. 6 of", "backend  splunk → loki", "interval  10s → 3s", "5 connections"] {
        assert!(diff.contains(part), "{part}: {diff}");
    }
    let clean = told(folder.path(), "diff");
    assert!(clean.starts_with("exit 0") && clean.contains("No document changed."), "{clean}");
    edit(folder.path(), "policies/logging.yaml", "backend: loki", "backend: tempo");
    assert!(told(folder.path(), "diff").contains("loki → tempo"), "since the last commit");
    let unknown = told(folder.path(), "diff nope..main");
    assert!(unknown.starts_with("exit 2") && unknown.contains("git has no revision `nope`"), "{unknown}");
    let alone = told(folder.path(), "diff policies");
    assert!(alone.starts_with("exit 2") && alone.contains("one side only"), "{alone}");
}

#[test]
fn what_must_stay_as_it_is_is_held_against_a_revision() {
    let folder = history();
    let tests = "kind: PolicyTests\ninvariants:\n- {name: logs stay, unchanged: {from: {kuma.io/service: '*'}}, kind: TrafficLog}\n\
                 - {name: permissions stay, unchanged: {to: {kuma.io/service: '*'}}, kind: TrafficPermission}\n";
    fs::write(folder.path().join("kept.test.yaml"), tests).expect("is writable");
    let kept = told(folder.path(), "test --no-coverage --since main");
    assert!(kept.starts_with("exit 0"), "{kept}");
    let broken = told(folder.path(), "test --no-coverage --since main~2");
    assert!(broken.starts_with("exit 1") && broken.contains("1 failed"), "{broken}");
    assert!(broken.contains("changes backend from splunk to loki for"), "{broken}");
    for line in ["diff main~2 --fail-on invariants", "diff main~2"] {
        let diff = told(folder.path(), line);
        assert!(diff.starts_with("exit 1") && diff.contains("BROKEN `logs stay`: "), "{diff}");
    }
    assert!(told(folder.path(), "diff main --fail-on invariants").starts_with("exit 0"));
    let unknown = told(folder.path(), "test --since nope");
    assert!(unknown.starts_with("exit 2") && unknown.contains("git has no revision `nope`"), "{unknown}");
}

#[test]
fn comments_and_places_are_no_change_and_that_is_proved() {
    let (before, after) = (example("demo"), example("demo"));
    let logging = after.path().join("policies/logging.yaml");
    let text = fs::read_to_string(&logging).expect("is there");
    fs::remove_file(logging).expect("is writable");
    fs::write(after.path().join("moved.yaml"), format!("# Moved.\n{text}")).expect("is writable");
    let line = format!("prove {} {}", before.path().display(), after.path().display());
    let proof = told(before.path(), &line);
    assert!(proof.starts_with("exit 0") && proof.contains("EQUAL: No document changed."), "{proof}");
    edit(after.path(), "moved.yaml", "backend: splunk", "backend: loki");
    let proof = told(before.path(), &line);
    assert!(proof.starts_with("exit 1") && proof.contains("DIFFERS"), "{proof}");
}

#[test]
fn runs_fail_only_on_what_is_named() {
    let (before, after) = (example("demo"), example("demo"));
    edit(after.path(), "policies/logging.yaml", "backend: splunk", "backend: loki");
    let sides = format!("{} {}", before.path().display(), after.path().display());
    assert!(told(before.path(), &format!("diff --fail-on widened {sides}")).starts_with("exit 0"));
    assert!(told(before.path(), &format!("diff --exit-zero {sides}")).starts_with("exit 0"));
    let grants = after.path().join("open.yaml");
    let text = "type: TrafficPermission\nmesh: default\nname: open\nsources: [{match: {kuma.io/service: '*'}}]\ndestinations: \
                [{match: {kuma.io/service: '*'}}]\n";
    fs::write(grants, text).expect("is writable");
    let widened = told(before.path(), &format!("diff --fail-on widened {sides}"));
    assert!(widened.starts_with("exit 1") && widened.contains("DENY → PERMIT"), "{widened}");
    let comment = told(before.path(), &format!("diff -o markdown {sides}"));
    assert!(comment.contains("#### Lets more through"), "{comment}");
}

#[test]
fn another_edition_of_the_rules_is_a_change_too() {
    let folder = example("demo");
    let upgrade = told(folder.path(), "diff --semantics kuma/0.3..kuma/0.4");
    assert!(upgrade.starts_with("exit 1") && upgrade.contains("PERMIT → DENY  TrafficPermission"), "{upgrade}");
    assert!(told(folder.path(), "diff --semantics kuma/0.3..kuma/0.3").starts_with("exit 0"));
}

#[test]
fn what_depends_on_a_policy_is_told_before_it_goes() {
    let folder = example("demo");
    let affected = told(folder.path(), "affected web-to-backend-policy");
    assert!(affected.starts_with("exit 0"), "{affected}");
    for part in ["wins for 1 of", "If it were deleted: 1 of", "splunk → logstash"] {
        assert!(affected.contains(part), "{part}: {affected}");
    }
    assert!(affected.contains("Taken over by catch-all-policy (1)"), "{affected}");
    let unknown = told(folder.path(), "affected web-to-backend-polcy");
    assert!(unknown.starts_with("exit 2") && unknown.contains("web-to-backend-policy"), "{unknown}");
}

/// Routes are their namespace's, unless a label says whose; violations are their workspace's.
#[test]
fn the_largest_owners_of_what_changes_come_first() {
    let route = |namespace: &str, name: &str, labels: &str| {
        format!(
            "---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {{name: {name}, namespace: {namespace}{labels}}}\nspec:\n  \
             parentRefs: [{{name: edge, namespace: infra}}]\n  rules: [{{backendRefs: [{{name: {name}, port: 80}}]}}]\n"
        )
    };
    let routes = [
        "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: edge, namespace: infra}\nspec:\n  \
         gatewayClassName: kgateway\n  listeners: [{name: http, protocol: HTTP, port: 80, allowedRoutes: {namespaces: {from: All}}}]\n"
            .to_owned(),
        route("shop", "cart", ""),
        route("shop", "orders", ""),
        route("shop", "tax", ", labels: {example.org/team: money}"),
        "---\napiVersion: gateway.kgateway.dev/v1alpha1\nkind: TrafficPolicy\nmetadata: {name: slow, namespace: infra}\nspec:\n  \
         targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: edge}]\n  timeouts: {request: 9s}\n"
            .to_owned(),
    ];
    let folder = crate::support::folder(&[("routes.yaml", &routes.concat())]);
    let affected = told(folder.path(), "affected TrafficPolicy/slow");
    assert!(affected.contains("Taken over by (none) (5)"), "{affected}");
    assert!(affected.contains("Largest owners: infra (2), shop (2), money (1)"), "{affected}");
    let document = told(folder.path(), "affected TrafficPolicy/slow -o json");
    assert!(document.contains("\"owner\": \"money\""), "{document}");
    let organisation = example("compliance");
    let violations = told(organisation.path(), "affected env-project-customer");
    assert!(violations.contains("Largest owners: workspace/managed-customer (1)"), "{violations}");
}

#[test]
fn what_a_policy_would_change_that_is_switched_off_or_edited_is_told() {
    let folder = example("access");
    let off = told(folder.path(), "affected deny-audit-logs --if disabled");
    for part in ["exit 0", "If it were disabled: ", "DENY → PERMIT", "Taken over by admin-access"] {
        assert!(off.contains(part), "{part}: {off}");
    }
    let edited = "{id: deny-audit-logs, effect: deny, subjects: [{role: admin}], resources: [{path: /api/audit/**}], \
                  actions: [{method: [DELETE, PUT]}]}\n";
    fs::write(folder.path().join("draft.txt"), edited).expect("is writable");
    let edited = told(folder.path(), "affected deny-audit-logs --if edited draft.txt");
    for part in ["exit 0", "If it were edited: ", "PERMIT → DENY"] {
        assert!(edited.contains(part), "{part}: {edited}");
    }
    assert!(!edited.contains("DENY → PERMIT"), "{edited}");
    // The same once more changes nothing.
    let same = fs::read_to_string(folder.path().join("policies.yaml")).expect("is there");
    let same: String = same.split("\n\n").nth(1).expect("the second").trim_start_matches("- ").replace("\n  ", "\n");
    fs::write(folder.path().join("draft.txt"), same).expect("is writable");
    let same = told(folder.path(), "affected deny-audit-logs --if edited draft.txt");
    assert!(same.contains("No result changes."), "{same}");
    for (line, message) in [
        ("affected deny-audit-logs --if edited", "needs the file"),
        ("affected deny-audit-logs --if gone", "nothing can be supposed"),
        ("affected deny-audit-logs --if edited nothing.yaml", "cannot read `nothing.yaml`"),
    ] {
        let refused = told(folder.path(), line);
        assert!(refused.starts_with("exit 2") && refused.contains(message), "{refused}");
    }
    let demo = example("demo");
    let off = told(demo.path(), "affected web-to-backend-policy --if disabled");
    assert!(off.starts_with("exit 2") && off.contains("its kind has no switch"), "{off}");
}

#[test]
fn what_stands_in_the_way_of_a_policy_is_told_with_edits_that_were_tried() {
    let folder = example("demo");
    let question = "--kind TrafficLog --from web-1 --to backend-1";
    let lost = told(folder.path(), &format!("why-not catch-all-policy {question}"));
    assert!(
        lost.contains("(LOST): fewer tags") && lost.contains("1. remove web-to-backend-policy: changes nothing else"),
        "{lost}"
    );
    edit(folder.path(), "policies/logging.yaml", "cloud: gcp", "cloud: gcp\n    region: us\n    version: v9");
    let skipped = told(folder.path(), &format!("why-not web-on-gcp {question}"));
    assert!(skipped.contains("(SKIP)") && skipped.contains("cloud: aws, sources: version: v1"), "{skipped}");
    let wins = told(folder.path(), &format!("why-not web-to-backend-policy {question}"));
    assert!(wins.contains("counts here (WON)"), "{wins}");
    let other = told(folder.path(), "why-not catch-all-policy httproute/default/checkout");
    assert!(other.starts_with("exit 2") && other.contains("has no say in this"), "{other}");
}

#[test]
fn findings_have_codes_places_and_formats() {
    let folder = example("demo");
    let linted = told(folder.path(), "lint");
    assert!(linted.starts_with("exit 1") && linted.contains("UP202 hc-a goes before hc-b"), "{linted}");
    assert!(told(folder.path(), "lint --only UP9").starts_with("exit 0"));
    assert!(told(folder.path(), "lint --fail-on never").starts_with("exit 0"));
    assert!(
        told(folder.path(), "lint -o github")
            .contains("::error file=policies/resilience.yaml,line=4,col=1,title=UP202::")
    );
    assert!(told(folder.path(), "lint -o sarif").contains("\"ruleId\": \"UP202\""));
    assert!(told(folder.path(), "lint -o junit").contains("<failure type=\"UP202\">"));
    edit(
        folder.path(),
        "policies/resilience.yaml",
        "name: hc-a",
        "name: hc-a # upheld: allow UP202 because of the move",
    );
    assert!(!told(folder.path(), "lint").contains("UP202"));
}

/// Three logs of which two never count, and an access policy that others outweigh, with remarks.
fn redundant() -> TempDir {
    let folder = example("demo");
    let log = |name: &str| {
        format!(
            "type: TrafficLog\nmesh: default\nname: {name}\nsources: [{{match: {{kuma.io/service: loner}}}}]\n\
             destinations: [{{match: {{kuma.io/service: loner}}}}]\nconf: {{backend: {name}}}\n"
        )
    };
    let text = format!("# kept\n{}---\n# said of b\n{}---\n{}", log("lone-a"), log("lone-b"), log("lone-c"));
    fs::write(folder.path().join("policies/lone.yaml"), text).expect("is writable");
    fs::write(folder.path().join("policies/only.yaml"), log("lone-d")).expect("is writable");
    folder
}

#[test]
fn what_could_go_goes_and_every_result_stays() {
    let folder = redundant();
    git(folder.path(), &["init", "--quiet", "--initial-branch=main"]);
    git(folder.path(), &["add", "--all"]);
    git(folder.path(), &["commit", "--quiet", "--message", "Start"]);
    let linted = told(folder.path(), "lint --only UP101");
    assert_eq!(linted.matches("fix: remove it; no result changes").count(), 3, "{linted}");
    assert!(told(folder.path(), "lint --only UP101 -o sarif").contains("\"deletedRegion\""));
    assert!(told(folder.path(), "lint -o patch").contains("upheld lint --fix -o patch"));
    let patch = run(folder.path(), "lint --only UP101 --fix -o patch");
    let patch = String::from_utf8(patch.stdout).expect("a text");
    assert!(patch.contains("+++ /dev/null") && patch.contains("-name: lone-c"), "{patch}");
    assert!(told(folder.path(), "diff").starts_with("exit 0"), "nothing was changed");
    fs::write(folder.path().join("fix.patch"), &patch).expect("is writable");
    git(folder.path(), &["apply", "--check", "fix.patch"]);
    let fixed = told(folder.path(), "lint --only UP101 --fix");
    assert!(fixed.starts_with("exit 0") && fixed.contains("3 findings fixed, no result changes."), "{fixed}");
    assert!(!folder.path().join("policies/only.yaml").exists(), "nothing was left in it");
    let text = fs::read_to_string(folder.path().join("policies/lone.yaml")).expect("is there");
    assert!(text.contains("# kept") && text.contains("# said of b") && !text.contains("lone-b"), "{text}");
    let proved = told(folder.path(), "prove");
    assert!(proved.starts_with("exit 0") && proved.contains("EQUAL: 3 documents changed."), "{proved}");
    assert!(
        told(folder.path(), "lint --only UP101 --fix")
            .contains("0 findings fixed, no result changes. No file was changed.")
    );
}

#[test]
fn beside_a_baseline_only_new_findings_fail() {
    let folder = redundant();
    let at = folder.path();
    assert!(told(at, "lint --write-baseline known.json").starts_with("exit 0"));
    assert!(told(at, "lint --baseline known.json").starts_with("exit 1"));
    assert!(told(at, "lint --baseline known.json --fail-on-new").starts_with("exit 0"));
    fs::write(at.join("known.sarif"), run(at, "lint -o sarif").stdout).expect("is writable");
    assert!(told(at, "lint --baseline known.sarif --fail-on-new").starts_with("exit 0"));
    edit(at, "policies/lone.yaml", "lone-c", "lone-x");
    let linted = told(at, "lint --only UP101 --baseline known.json --fail-on-new");
    assert!(
        linted.starts_with("exit 1") && linted.contains("beside the baseline: 1 new, ") && linted.contains("1 gone")
    );
    assert!(linted.contains("UP101 [new] lone-x can never win"), "{linted}");
    assert!(told(at, "lint --only UP101 --baseline known.json -o sarif").contains("\"baselineState\": \"absent\""));
    assert_eq!(told(at, "lint --only UP101 --baseline known.json -o github").matches("::error").count(), 1);
    assert_eq!(
        told(at, "lint --only UP101 --baseline known.json --fail-on-new -o junit").matches("<failure").count(),
        1
    );
    assert!(told(at, "lint --only UP101 --baseline known.json -o markdown").contains("Beside the baseline: 1 new"));
    assert!(told(at, "lint --only UP101 --baseline known.json -o json").contains("\"baselineState\": \"new\""));
    let refused = told(at, "lint --baseline policies/lone.yaml");
    assert!(refused.starts_with("exit 2") && refused.contains("upheld lint -o json"), "{refused}");
}

#[test]
fn what_rests_on_a_name_flips_when_it_changes() {
    let folder = example("demo");
    let renamed = told(folder.path(), "diff --renamed HealthCheck/hc-a=hc-z");
    assert!(renamed.starts_with("exit 1") && renamed.contains("HealthCheck by hc-b, before by hc-a"), "{renamed}");
    assert!(told(folder.path(), "diff --renamed HealthCheck/hc-a=hc-0").starts_with("exit 0"));
    assert!(told(folder.path(), "diff --renamed hc-a").contains("OLD=NEW"));
    assert!(told(folder.path(), "diff --recreated=hc-a").starts_with("exit 0"), "no age decides here");
    assert!(told(folder.path(), "diff --recreated").starts_with("exit 0"));
    let unknown = told(folder.path(), "diff --recreated=hc-x");
    assert!(unknown.starts_with("exit 2") && unknown.contains("nothing is called `hc-x`"), "{unknown}");
    assert!(told(folder.path(), "diff --recreated main..HEAD").starts_with("exit 2"), "two questions");
}

#[test]
fn who_set_a_field_and_when_an_answer_changed_is_in_the_history() {
    let folder = history();
    let blamed = told(folder.path(), "blame --kind HealthCheck --from web-1 --to backend-1");
    assert!(blamed.contains("Check more often") && blamed.contains("Ana"), "{blamed}");
    edit(folder.path(), "policies/resilience.yaml", "interval: 3s", "interval: 4s");
    let mine = told(folder.path(), "blame --kind HealthCheck --from web-1 --to backend-1");
    assert!(mine.contains("not committed"), "{mine}");
    let changed = told(folder.path(), "bisect --good main~2 --kind TrafficLog --from web-1 --to backend-1");
    assert!(changed.contains("Send logs to loki") && changed.contains("backend: splunk"), "{changed}");
    let same = told(folder.path(), "bisect --good main~1 --kind TrafficLog --from web-1 --to backend-1");
    assert!(same.contains("The answer is the same at main~1 and at HEAD."), "{same}");
}
