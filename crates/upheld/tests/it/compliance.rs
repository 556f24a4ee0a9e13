//! Related objects that must agree in their tags, as users ask about them.

use std::fs;
use std::path::Path;

use crate::support::{folder, in_root, root, run, shown, snapshot};

/// The moment of all questions.
const NOW: &str = "--now 2026-03-01T00:00:00Z";

/// A question about the example.
macro_rules! asked {
    ($name:ident, $line:literal) => {
        snapshot!("compliance_", $name, in_root(&format!("{} -f examples/compliance {NOW}", $line)), from $line);
    };
}

/// A question about one document.
macro_rules! read {
    ($name:ident, $line:literal, $text:expr) => {
        snapshot!("compliance_", $name, told(folder(&[("organisation.yaml", $text)]).path(), $line), from $line);
    };
}

// After the macros that they use.
mod fixes;
mod formats;
mod inputs;
mod reports;
mod tags;
mod waivers;

/// A line in a folder, at the usual moment.
fn told(folder: &Path, line: &str) -> String {
    shown(&run(folder, &format!("{line} {NOW}")))
}

/// What a line prints, and nothing else.
fn printed(folder: &Path, line: &str) -> String {
    let output = run(folder, &format!("{line} {NOW}"));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{line}");
    String::from_utf8(output.stdout).expect("text")
}

// The mock of the interaction design, on the example.
asked!(audit, "audit");
asked!(audit_wide, "audit -o wide");
asked!(audit_ascii, "audit --ascii");
asked!(audit_verbose, "audit --verbose");
asked!(audit_workspace, "audit --workspace managed-customer");
asked!(audit_workspace_by_reference, "audit --workspace meshCustomer/shop");
asked!(audit_workspace_by_name, "audit --workspace 'Web shop'");
asked!(audit_policy, "audit --policy env-project-customer");
asked!(audit_kind, "audit --kind meshLandingZone");
asked!(audit_kind_of_several, "audit --kind meshUser/Group");
asked!(audit_object, "audit --object project/a");
asked!(audit_object_of_nothing, "audit --object user/ana --policy env-project-customer");
asked!(audit_several_filters, "audit --workspace managed-customer --policy env-project-landingzone --object lz-1");
asked!(audit_without_fixes, "audit --no-fixes");
asked!(audit_unknown_workspace, "audit --workspace managed-custmer");
asked!(audit_unknown_policy, "audit --policy env-project-custmer");
asked!(audit_unknown_kind, "audit --kind planet");
asked!(audit_unknown_object, "audit --object project/z");
asked!(audit_all_filters_wrong, "audit --workspace w --policy x --kind y --object z --as nobody");
asked!(audit_as_user, "audit --as user");
asked!(audit_as_administrator, "audit --as admin");
asked!(audit_as_manager_of_one, "audit --as workspaceManager@workspace/managed-customer");
asked!(audit_as_manager_of_another, "audit --as workspaceManager@shop --workspace managed-customer");
asked!(audit_as_manager_in_data, "audit --as workspaceManager@shop -o json");
asked!(audit_as_member, "audit --as workspaceMember@shop");
asked!(audit_as_engineer, "audit --as platformEngineer");

// The error message of the seed.
asked!(can_create_refused, "can create project/my-example-project-prod-2 environment=prod --in managed-customer");
asked!(can_create, "can create project/new environment=dev --in meshCustomer/managed-customer");
asked!(can_create_nowhere, "can create project/new environment=dev");
asked!(can_create_again, "can create project/a environment=dev --in managed-customer");
asked!(can_create_workspace_as_user, "can create workspace/new environment=dev --as user");
asked!(can_create_workspace_as_administrator, "can create workspace/new environment=dev --as admin");
asked!(can_create_elsewhere, "can create project/new environment=dev --in managed-customer --as workspaceOwner@shop");
asked!(can_link, "can link project/b~user/ben");
asked!(can_link_refused, "can link project/checkout~user/ben");
asked!(can_link_refused_twice, "can link project/a~landingZone/lz-prod");
asked!(can_link_turned, "can link user/ben~project/checkout -o name");
asked!(can_link_as_administrator, "can link project/checkout~user/ben --as admin");
asked!(can_link_in_the_current_edition, "can link project/checkout~user/ben --as admin --semantics meshstack/current");
asked!(can_link_not_related, "can link user/ana~landingZone/lz-1");
asked!(can_link_half, "can link project/a");
asked!(can_link_unknown, "can link project/z~landingZone/zl-1");
asked!(can_unlink, "can unlink project/a~landingZone/lz-1");
asked!(can_unlink_nothing, "can unlink project/a~landingZone/lz-prod");
asked!(can_tag, "can tag project/c environment=qa,prod");
asked!(can_tag_refused, "can tag project/c environment=prod");
asked!(can_tag_recorded, "can tag landingZone/lz-prod environment=dev --as admin");
asked!(can_tag_recorded_in_data, "can tag landingZone/lz-prod environment=dev --as admin -o yaml");
asked!(can_tag_forbidden, "can tag landingZone/lz-prod environment=dev --as workspaceOwner");
asked!(can_tag_restricted, "can tag workspace/shop environment=dev --as workspaceOwner@shop");
asked!(can_tag_as_engineer, "can tag landingZone/lz-prod environment=prod,qa --as platformEngineer");
asked!(can_tag_unknown_key, "can tag project/a enviroment=dev");
asked!(can_tag_unknown_value, "can tag project/a environment=prd");
asked!(can_tag_nothing, "can tag project/a environment");
asked!(can_tag_removed, "can tag project/a environment=");
asked!(can_delete, "can delete project/a");
asked!(can_delete_not_empty, "can delete workspace/shop --as admin");
asked!(can_delete_forbidden, "can delete user/ana --as workspaceManager");
asked!(can_json, "can create project/new environment=prod --in managed-customer -o json");
asked!(can_unknown_verb, "can lnk project/a~user/ben");
asked!(can_unknown_role, "can delete project/a --as orgAdmn");

asked!(explain_hard, "explain project/my-example-project-prod~customer/managed-customer");
asked!(explain_soft, "explain project/a~landingZone/lz-1");
asked!(explain_passes, "explain project/checkout~landingZone/lz-prod");
asked!(explain_not_related, "explain project/a~landingZone/lz-prod");
asked!(explain_no_policy, "explain user/ana~customer/shop");
asked!(explain_no_pair, "explain user/ana~user/ben");
asked!(explain_unknown, "explain project/z~customer/shop");
asked!(explain_json, "explain project/my-example-project-prod~managed-customer -o json");
asked!(explain_names, "explain project/checkout~landingZone/lz-prod -o name");

asked!(candidates, "candidates project/checkout --kind meshUser/Group");
asked!(candidates_why_not, "candidates project/checkout --kind principal --verbose");
asked!(candidates_none, "candidates project/my-example-project-prod --kind user -o json");
asked!(candidates_no_one, "candidates project/a --kind landingZone");
asked!(candidates_names, "candidates project/checkout --kind landingZone -o name");
asked!(candidates_not_related, "candidates user/ana --kind landingZone");
asked!(candidates_unknown_kind, "candidates project/a --kind landingZon");
asked!(values, "values project/my-example-project-prod environment");
asked!(values_one, "values project/checkout business-unit");
asked!(values_none, "values project/a environment");
asked!(values_as_administrator, "values landingZone/lz-1 environment --as admin -o name");
asked!(values_forbidden, "values landingZone/lz-1 environment --as user");
asked!(values_unknown_tag, "values project/a enviroment");
asked!(values_json, "values project/my-example-project-prod environment -o json");

asked!(fix, "fix");
asked!(fix_as_administrator, "fix --as admin");
asked!(fix_workspace, "fix --workspace managed-customer");
asked!(fix_nothing, "fix --workspace shop");
asked!(fix_policy, "fix --policy env-project-landingzone");
asked!(fix_object, "fix project/my-example-project-prod");
asked!(fix_pair, "fix project/a~landingZone/lz-1");
asked!(fix_json, "fix -o json");
asked!(fix_names, "fix -o name");
asked!(fix_unknown, "fix project/z");

asked!(waivers_none, "waivers");

/// Changes, and what they would do to the example.
fn what_if(changes: &str, more: &str) -> String {
    let folder = folder(&[("changes.yaml", changes)]);
    let example = root().join("examples/compliance");
    let line = format!("what-if changes.yaml -f {} {more}", example.display());
    told(folder.path(), &line).replace(&format!("{}/", example.display()), "")
}

macro_rules! what_if {
    ($name:ident, $changes:expr, $more:literal) => {
        snapshot!("compliance_", $name, what_if($changes, $more));
    };
}

const NEW_PROJECT: &str =
    "{verb: createProject, object: {ref: project/new, workspace: managed-customer, tags: {environment: prod}}}";

/// Some that are allowed, some that are not, of every sort.
const SEVERAL: &str = "
- {verb: createProject, object: {ref: project/new, workspace: managed-customer, tags: {environment: dev}}}
- {verb: link, a: project/new, b: landingZone/lz-1}
- {by: admin, verb: setTags, object: landingZone/lz-1, tags: {environment: [dev, prod]}}
- {verb: link, a: project/new, b: landingZone/lz-1}
- {by: admin, verb: setTags, object: landingZone/lz-prod, tags: {environment: dev}}
- {verb: deletePolicy, policy: env-project-access}
- {by: admin, verb: deletePolicy, policy: nothing}
- {by: complianceManager, verb: grantWaiver, waiver: {id: old, policy: env-project-customer, reason: it was there first}}
- {by: complianceManager, verb: createPolicy, policy: {id: unit, a: {kind: workspace, tag: business-unit}, b: {kind: project, tag: business-unit}}}
";

// The error message of the seed, before anything is done.
what_if!(what_if_refused, NEW_PROJECT, "");
what_if!(what_if_several, SEVERAL, "");
what_if!(what_if_as_administrator, "{verb: deleteObject, object: user/ana}", "--as admin");
what_if!(what_if_as_user, "{verb: deleteObject, object: user/ana}", "--as user");
what_if!(what_if_json, NEW_PROJECT, "-o json");
what_if!(what_if_other_plan, NEW_PROJECT, "--plan 0123456789ab");
what_if!(what_if_nothing, "kind: Changes\nchanges: []", "");
what_if!(what_if_broken, "- {verb: setTag, object: project/a}\n- {verb: link, a: prject/a, b: user/ana, rule: x}", "");

#[test]
fn a_plan_holds_as_long_as_nothing_moves() {
    let organisation = "
kind: Compliance
objects: [{ref: workspace/w, tags: {environment: dev}}, {ref: landingZone/lz}]
policies: [{id: env, a: {kind: workspace, tag: environment}, b: {kind: project, tag: environment}}]
";
    let change = "{verb: createProject, object: {ref: project/p, workspace: w, tags: {environment: dev}}}";
    let folder = folder(&[("organisation.yaml", organisation), ("next.yaml", change)]);
    let plan = |more: &str| run(folder.path(), &format!("what-if next.yaml {NOW} {more}"));
    let first = plan("-o name");
    assert_eq!(first.status.code(), Some(0));
    let id = String::from_utf8_lossy(&first.stdout).trim().to_owned();
    let again = format!("--plan {id}");
    assert_eq!(plan(&again).status.code(), Some(0));
    // Another way of writing the same is the same.
    let same = "kind: Changes\nchanges:\n- verb: createProject\n  object:\n    ref: project/p\n    workspace: workspace/w\n    tags:\n      environment: [dev]\n";
    fs::write(folder.path().join("next.yaml"), same).expect("writable");
    assert_eq!(plan(&again).status.code(), Some(0));
    fs::write(folder.path().join("next.yaml"), change.replace("dev", "prod")).expect("writable");
    assert_eq!(plan(&again).status.code(), Some(2));
    fs::write(folder.path().join("next.yaml"), change).expect("writable");
    fs::write(folder.path().join("organisation.yaml"), organisation.replace("dev", "[dev, qa]")).expect("writable");
    let moved = plan(&again);
    assert_eq!(moved.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&moved.stderr).contains("UP906"), "{}", shown(&moved));
}

#[test]
fn exit_codes_are_the_answer() {
    let of = |line: &str| run(&root(), &format!("{line} -f examples/compliance {NOW}")).status.code();
    for line in [
        "audit --workspace shop",
        "can unlink project/a~landingZone/lz-1",
        "can tag landingZone/lz-prod environment=dev --as admin",
        "explain project/a~landingZone/lz-1",
        "candidates project/a --kind landingZone",
        "values project/a environment",
        "fix --workspace shop",
        "waivers",
    ] {
        assert_eq!(of(line), Some(0), "{line}");
    }
    for line in ["audit", "audit --object project/a", "can link project/checkout~user/ben", "fix"] {
        assert_eq!(of(line), Some(1), "{line}");
    }
    for line in [
        "audit --policy nothing",
        "audit --fail-on sometimes",
        "audit --baseline nothing.sarif",
        "audit -o tap",
        "can link project/a~nobody",
        "can tag project/a environment=prd",
        "explain project/a~nobody",
        "candidates nobody --kind user",
        "values nobody environment",
        "what-if nothing.yaml",
        "fix nobody",
        "waivers --expiring soon",
    ] {
        assert_eq!(of(line), Some(2), "{line}");
    }
}

#[test]
fn every_class_and_role_may_do_its_part() {
    // Who, and whether they may: change a project, a landing zone, delete a user, see everything.
    for (who, may) in [
        ("user", [true, false, false, true]),
        ("endUser", [true, false, false, true]),
        ("workspaceManager", [true, false, false, true]),
        ("workspaceOwner", [true, false, false, true]),
        ("customerAdmin", [true, false, false, true]),
        ("workspaceMember", [false, false, false, false]),
        ("admin", [true, true, true, true]),
        ("administrator", [true, true, true, true]),
        ("orgAdmin", [true, true, true, true]),
        ("partnerAdmin", [true, true, true, true]),
        ("orgUser", [true, true, true, true]),
        ("complianceManager", [false, false, false, true]),
        ("platformEngineer", [true, true, false, false]),
        ("system", [true, true, true, true]),
        ("workspaceManager@managed-customer", [true, false, false, true]),
        ("workspaceManager@shop", [false, false, false, true]),
    ] {
        let lines = [
            "can tag project/c environment=prod,qa,dev",
            "can tag landingZone/lz-prod environment=prod,qa",
            "can delete user/ana",
            "audit -o name",
        ];
        let done = lines.map(|line| {
            let output = run(&root(), &format!("{line} --as {who} -f examples/compliance {NOW}"));
            let text = [output.stdout, output.stderr].concat();
            let text = String::from_utf8_lossy(&text);
            !text.contains("FORBIDDEN") && !text.contains("UP905") && !text.contains("UP901")
        });
        assert_eq!(done, may, "{who}");
    }
}

#[test]
fn c12_what_happens_after_now_has_not_happened() {
    let told = |line: &str| in_root(&format!("{line} -f examples/compliance --now 2026-01-15T00:00:00Z"));
    assert!(told("audit").contains("15 pass, 1 hard."), "{}", told("audit"));
    let related = told("explain project/a~landingZone/lz-1");
    assert!(related.contains("landingZone environment {dev}"), "{related}");
    assert!(told("show landingZone/lz-1").contains("dev"), "{}", told("show landingZone/lz-1"));
    assert!(!told("show landingZone/lz-1").contains("prod"));
    let moved = in_root("show landingZone/lz-1 -f examples/compliance --now 2026-03-01T00:00:00Z");
    assert!(moved.contains("prod"));
}

/// A repository whose commits make violations begin, end and begin again.
#[test]
fn history_says_since_which_commit_something_violates() {
    let repository = folder(&[(
        "policies.yaml",
        "{type: MeshPolicy, name: env, a: {kind: project, tag: env}, b: {kind: landingZone, tag: env}}\n",
    )]);
    let git = |line: &str| {
        let done = std::process::Command::new("git")
            .args(["-c", "user.name=Ana", "-c", "user.email=ana@example.org", "-c", "commit.gpgsign=false"])
            .args(line.split(' '))
            .env("GIT_AUTHOR_DATE", "2026-02-03T10:00:00Z")
            .env("GIT_COMMITTER_DATE", "2026-02-03T10:00:00Z")
            .current_dir(repository.path())
            .output()
            .expect("git is there");
        assert!(done.status.success(), "{line}: {}", String::from_utf8_lossy(&done.stderr));
    };
    let commit = |web: &str, api: &str, message: &str| {
        let project = |name: &str, env: &str| format!("{{ref: project/{name}, tags: {{env: {env}}}}}");
        let rest = "{ref: landingZone/lz, tags: {env: dev}}\n---\n{a: project/web, b: landingZone/lz}\n---\n{a: project/api, b: landingZone/lz}";
        let text = format!("{}\n---\n{}\n---\n{rest}\n", project("web", web), project("api", api));
        fs::write(repository.path().join("objects.yaml"), text).expect("can be written");
        git("add .");
        git(&format!("commit -q -m {message}"));
    };
    git("init -q");
    commit("prod", "dev", "first");
    commit("dev", "prod", "second");
    commit("prod", "prod", "third");
    fs::write(repository.path().join("broken.yaml"), "type: MeshPolicy\nname: [").expect("can be written");
    git("add .");
    git("commit -q -m broken");
    git("rm -q broken.yaml");
    git("commit -q -m mended");
    fs::write(
        repository.path().join("more.yaml"),
        "{ref: project/new, tags: {env: qa}}\n---\n{a: project/new, b: landingZone/lz}\n",
    )
    .expect("can be written");
    let output = run(repository.path(), &format!("audit --history --no-fixes {NOW}"));
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    let since: Vec<(String, String)> = told
        .lines()
        .collect::<Vec<_>>()
        .windows(3)
        .filter_map(|lines| {
            let pair = lines[0].split_whitespace().nth(1)?.to_owned();
            let since = lines[2].trim().strip_prefix("since: ")?;
            let message = since.split('"').nth(1).unwrap_or(since);
            Some((pair, message.to_owned()))
        })
        .collect();
    let expected = [("project/api", "second"), ("project/new", "not committed yet"), ("project/web", "third")];
    let expected = expected.map(|(object, since)| (object.to_owned(), since.to_owned()));
    assert_eq!(since, expected, "{told}");
    assert!(told.contains("by Ana on 2026-02-03"), "{told}");
    let notes = String::from_utf8_lossy(&output.stderr);
    assert!(notes.contains("the files of 1 commit cannot be read"), "{notes}");
    let outside = folder(&[(
        "a.yaml",
        "{ref: project/web, tags: {env: dev}}\n---\n{ref: landingZone/lz}\n---\n{a: project/web, b: landingZone/lz}\n---\n{type: MeshPolicy, name: env, a: {kind: project, tag: env}, b: {kind: landingZone, tag: env}}",
    )]);
    let refused = shown(&run(outside.path(), &format!("audit --history {NOW}")));
    assert!(refused.contains("this is not a git repository"), "{refused}");
}
