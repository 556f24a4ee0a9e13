//! Explanations of decisions must be true: what would change them, on whom they depend, who decided.

use std::fs;
use std::path::Path;

use serde_json::Value as Json;

use crate::support::{folder, run};

const NOW: &str = "--now 2025-03-06T10:00:00Z";

fn json(folder: &Path, line: &str) -> Json {
    let output = run(folder, &format!("{line} {NOW} -o json"));
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        panic!("{line}: {error}\n{}", String::from_utf8_lossy(&output.stderr));
    })
}

/// The report on a request, and what people see of it.
fn explained(files: &[(&str, &str)], asked: &str) -> (Json, String) {
    let folder = folder(files);
    let text = run(folder.path(), &format!("explain {asked} {NOW}"));
    let report = json(folder.path(), &format!("explain {asked}"))["answers"][0].take();
    (report, String::from_utf8_lossy(&text.stdout).into_owned())
}

fn headline(report: &Json) -> &str {
    report["headline"]["text"].as_str().unwrap()
}

fn row<'r>(report: &'r Json, policy: &str) -> &'r Json {
    let rows = report["candidates"].as_array().unwrap();
    rows.iter().find(|row| row["policy"] == policy).unwrap_or_else(|| panic!("no {policy} in {report:#}"))
}

/// Applies a JSON Patch, as any library for it does.
fn patched(mut document: Json, patch: &Json) -> Json {
    for operation in patch.as_array().unwrap() {
        let path = operation["path"].as_str().unwrap();
        let (parent, key) = path.rsplit_once('/').unwrap();
        let key = key.replace("~1", "/").replace("~0", "~");
        let parent = document.pointer_mut(parent).unwrap_or_else(|| panic!("nothing at {parent}"));
        let value = operation["value"].clone();
        match (operation["op"].as_str().unwrap(), parent) {
            ("add", Json::Array(items)) if key == "-" => items.push(value),
            ("remove", Json::Array(items)) => drop(items.remove(key.parse().unwrap())),
            ("add", Json::Object(fields)) => assert!(fields.insert(key, value).is_none(), "{path} is there"),
            ("replace", Json::Object(fields)) => assert!(fields.insert(key, value).is_some(), "{path} is not there"),
            ("remove", Json::Object(fields)) => assert!(fields.remove(&key).is_some(), "{path} is not there"),
            (operation, parent) => panic!("{operation} {path} in {parent}"),
        }
    }
    document
}

/// Makes every change of the request that is reported and asks again.
fn changes_that_hold(files: &[(&str, &str)], asked: &str) -> Vec<String> {
    let folder = folder(files);
    let report = json(folder.path(), &format!("explain {asked}"))["answers"][0].take();
    let promised = if report["verdict"] == "permit" { "deny" } else { "permit" };
    let changes = report["detail"]["changes"].as_array().cloned().unwrap_or_default();
    let of_request = changes.iter().filter(|change| change["change"] == "request");
    let tried = of_request.map(|change| {
        let document = patched(report["about"]["request"].clone(), &change["patch"]);
        fs::write(folder.path().join("request.json"), document.to_string()).unwrap();
        let inputs: Vec<String> = files.iter().map(|(name, _)| format!("-f {name}")).collect();
        let answer = json(folder.path(), &format!("can {} --request request.json", inputs.join(" ")));
        assert_eq!(answer["decision"], promised, "{change:#}\n{document:#}");
        change["text"].as_str().unwrap().to_owned()
    });
    tried.collect()
}

/// The case of the finding: a property is one change, a role and a method are two.
#[test]
fn a_property_is_changed_before_a_role_and_a_method() {
    let policies = "
- {id: drafts, effect: permit, subjects: [], resources: [{property: {name: state, value: draft}}], actions: []}
- {id: admins, effect: permit, subjects: [{role: admin}], resources: [], actions: [{method: PUT}]}
";
    let asked = "--subject role=user --action GET --resource path=/doc,state=final";
    let changes = changes_that_hold(&[("p.yaml", policies)], asked);
    assert_eq!(changes, ["if the resource property state were draft: drafts applies then"]);
}

const MANY: &str = "
- {id: papers, effect: permit, subjects: [{role: author}], resources: [{path: /papers/**}], actions: [{method: GET}]}
- {id: tagged, effect: permit, subjects: [{claim: {name: tags, operator: contains, value: red}}], resources: [], actions: []}
- {id: nested, effect: permit, subjects: [{claim: {name: address.country, operator: in, value: [DE, AT]}}], resources: [], actions: []}
- {id: not-bots, effect: permit, subjects: [{not: {type: bot}, group: staff}], resources: [{id: '7'}], actions: []}
- {id: own, effect: permit, subjects: [], resources: [{type: note, owner: self}], actions: []}
- {id: office, effect: permit, subjects: [{role: clerk}], resources: [], actions: [],
   conditions: [{type: ip, cidr: 192.0.2.0/24, blocklist: [192.0.2.1]}]}
- {id: spring, effect: permit, subjects: [{role: clerk}], resources: [], actions: [], valid: {from: '2025-04-01T00:00:00Z'}}
- {id: draft, effect: permit, subjects: [], resources: [], actions: [],
   conditions: [{type: custom, expression: 'resource.state == \"draft\" && subject.claims.level >= 2'}]}
";

#[test]
fn every_change_can_be_applied_by_a_program() {
    let all = [
        ("--subject role=author --action GET --resource /other", "if the path were /papers/: papers applies then"),
        ("--subject id=ann --action GET --resource /x", "tags"),
        ("--subject id=ann,role=clerk --action GET --resource /x --env ip=192.0.2.1", "if it came from 192.0.2."),
        ("--subject id=ann,role=clerk --action GET --resource /x", "it were asked at 2025-04-01T00:00:00Z"),
        (
            "--subject id=ann,type=bot,group=staff --action GET --resource id=7",
            "the subject were of another type (other)",
        ),
        (
            "--subject id=ann --action GET --resource type=note,owner=bob",
            "the owner of the resource were the subject itself",
        ),
        ("--subject id=ann,claim.level=1 --action GET --resource state=draft", "the claim level were 2"),
        ("--subject id=ann,claim.level=1 --action GET --resource state=final", "the claim address.country were DE"),
        (
            "--subject role=author,claim.tags=blue,claim.level=1 --action GET --resource path=/papers/1,state=final",
            "did not have role author",
        ),
        ("--subject role=? --action GET --resource /papers/1", "had role author"),
    ];
    for (asked, expected) in all {
        let changes = changes_that_hold(&[("p.yaml", MANY)], asked);
        assert!(changes.iter().any(|text| text.contains(expected)), "{asked}: {changes:#?}");
    }
}

/// What a text is put together of is read off the other side.
#[test]
fn the_tenant_of_a_path_is_tried_as_a_claim() {
    let expression = r#"!resource.path.startsWith("/tenants/" + subject.claims.tenant + "/")"#;
    let policies = format!(
        "- {{id: all, effect: permit, subjects: [], resources: [], actions: []}}\n\
         - {{id: apart, effect: deny, subjects: [], resources: [], actions: [], \
            conditions: [{{type: custom, expression: '{expression}'}}]}}\n"
    );
    let asked = "--subject claim.tenant=acme --action GET --resource /tenants/globex/orders";
    let changes = changes_that_hold(&[("p.yaml", &policies)], asked);
    assert_eq!(changes, ["if the claim tenant were globex"]);
}

/// The target of a set is in the way as much as a policy is.
#[test]
fn targets_of_sets_are_changed_too() {
    let set = "kind: PolicySet\nid: shop\nalgorithm: permit-overrides\ntarget: {resources: [{path: /shop/**}]}\npolicies:\n\
               - {id: all, effect: permit, subjects: [], resources: [], actions: []}\n";
    let changes = changes_that_hold(&[("s.yaml", set)], "--subject ann --action GET --resource /x");
    assert_eq!(changes, ["if the path were /shop/"]);
}

const CLASH: &str = "
- {id: a, effect: permit, subjects: [], resources: [], actions: []}
- {id: b, effect: deny, subjects: [], resources: [], actions: []}
- {id: c, effect: deny, subjects: [{role: x}], resources: [], actions: []}
";

/// Two policies clash, whatever the third one is.
#[test]
fn who_does_not_matter_is_not_blamed() {
    let manifest = "combiningAlgorithm: unanimous\n";
    let (report, _) =
        explained(&[("manifest.yaml", manifest), ("p.yaml", CLASH)], "--subject role=? --action GET --resource /x");
    assert_eq!(report["verdict"], "undecided");
    assert!(headline(&report).contains("policies conflict (a says permit, b says deny)"), "{}", headline(&report));
    // The one that matters is named, and not the first of which nobody can tell.
    let policies = "
- {id: early, effect: permit, priority: 9, subjects: [{role: x}], resources: [], actions: []}
- {id: sure, effect: permit, priority: 5, subjects: [], resources: [], actions: []}
- {id: late, effect: deny, priority: 1, subjects: [{role: y}], resources: [], actions: []}
";
    let (report, _) = explained(&[("p.yaml", policies)], "--subject role=? --action GET --resource /x");
    assert!(headline(&report).contains("that depends on late (role: wants y"), "{}", headline(&report));
}

#[test]
fn a_set_of_which_nobody_can_tell_is_named() {
    let set = "kind: PolicySet\nid: shop\nalgorithm: permit-overrides\ntarget: {subjects: [{role: buyer}]}\npolicies:\n\
               - {id: all, effect: permit, subjects: [], resources: [], actions: []}\n";
    let (report, _) = explained(&[("s.yaml", set)], "--subject role=? --action GET --resource /x");
    assert!(headline(&report).contains("that depends on the set shop (role: wants buyer"), "{}", headline(&report));
}

#[test]
fn the_default_is_possible_only_where_it_would_stand() {
    let doubt = "- {id: c, effect: deny, subjects: [{role: x}], resources: [], actions: []}\n";
    let sure = "- {id: a, effect: permit, subjects: [], resources: [], actions: []}\n";
    let asked = "--subject role=? --action GET --resource /x";
    let (report, _) = explained(&[("p.yaml", &format!("{sure}{doubt}"))], asked);
    assert_eq!((&report["verdict"], &report["default"]["state"]), (&"undecided".into(), &"LOST".into()));
    let (report, _) = explained(&[("p.yaml", doubt)], asked);
    assert_eq!((&report["verdict"], &report["default"]["state"]), (&"deny".into(), &"WON".into()));
    assert_eq!(headline(&report), "DENY by default effect: c may apply, and denies as well.");
    let (report, _) = explained(&[("p.yaml", &doubt.replace("deny", "permit"))], asked);
    assert_eq!((&report["verdict"], &report["default"]["state"]), (&"undecided".into(), &"UNKNOWN".into()));
    assert_eq!(report["default"]["reason"]["text"], "stands if none of the unknown ones applies");
}

fn inner(algorithm: &str, default: &str) -> String {
    format!(
        "kind: PolicySet\nid: inner\nalgorithm: {algorithm}\n{default}policies:\n\
         - {{id: p, effect: permit, subjects: [{{role: x}}], resources: [], actions: []}}\n"
    )
}

#[test]
fn a_set_that_speaks_itself_is_named_and_has_a_row() {
    let manifest = ("manifest.yaml", "defaultEffect: permit\n");
    let asked = "--subject role=y --action GET --resource /x";
    let (report, text) = explained(&[manifest, ("s.yaml", &inner("deny-overrides", "default: deny\n"))], asked);
    assert_eq!(headline(&report), "DENY by the default of the set inner: no policy in it decides otherwise.");
    assert_eq!(row(&report, "inner (default)")["state"], "WON");
    assert!(text.contains("WON    inner (default)"), "{text}");
    assert_eq!(report["default"]["state"], "LOST");
    let (report, _) = explained(&[manifest, ("s.yaml", &inner("deny-unless-permit", ""))], asked);
    assert_eq!(headline(&report), "DENY by deny-unless-permit of the set inner: no matching policy in it permits it.");
    assert_eq!(row(&report, "inner (deny-unless-permit)")["state"], "WON");
}

#[test]
fn what_a_set_inside_hides_is_told() {
    let asked = "--subject role=? --action GET --resource /x";
    let (report, _) = explained(&[("s.yaml", &inner("deny-unless-permit", ""))], asked);
    let notes = report["notes"].as_array().unwrap();
    let note = notes.iter().find(|note| note["code"] == "UP042").unwrap_or_else(|| panic!("{report:#}"));
    assert_eq!(
        note["text"],
        "deny-unless-permit of the set inner ignores what is not known: p could change the decision"
    );
}

#[test]
fn a_tie_that_the_order_of_the_store_decides_is_called_out() {
    let manifest = ("manifest.yaml", "combiningAlgorithm: first-applicable\n");
    let policies = "
- {id: yes, effect: permit, priority: 5, subjects: [], resources: [], actions: []}
- {id: no, effect: deny, priority: 5, subjects: [], resources: [], actions: []}
";
    let asked = "--subject ann --action GET --resource /x";
    let (report, text) = explained(&[manifest, ("p.yaml", policies)], asked);
    assert_eq!(report["notes"][0]["code"], "UP043");
    assert!(text.contains("a tie: yes and no have the same priority (5) and opposite effects"), "{text}");
    // Another priority is no tie.
    let (report, _) = explained(&[manifest, ("p.yaml", &policies.replacen("priority: 5", "priority: 6", 1))], asked);
    assert_eq!(report["notes"], serde_json::json!([]));
}

#[test]
fn the_nearest_misses_are_shown_first() {
    let far = |number: usize| {
        format!(
            "- {{id: far-{number}, effect: permit, priority: 50, subjects: [{{role: r{number}}}], \
             resources: [{{path: '/far/{number}'}}], actions: []}}\n"
        )
    };
    let near = "
- {id: near, effect: permit, subjects: [{role: user}], resources: [{path: /x}], actions: [],
   conditions: [{type: ip, cidr: 192.0.2.0/24}]}
- {id: nearly, effect: permit, subjects: [{role: user}], resources: [{path: /y}], actions: []}
";
    let policies: String = (0..20).map(far).chain([near.to_owned()]).collect();
    let asked = "--subject role=user --action GET --resource /x --env ip=10.0.0.1";
    let (report, text) = explained(&[("p.yaml", &policies)], asked);
    let names: Vec<&str> =
        report["candidates"].as_array().unwrap().iter().map(|row| row["policy"].as_str().unwrap()).collect();
    // A condition before a clause: it is about the request already.
    assert_eq!(names[..3], ["near", "nearly", "far-0"]);
    assert!(text.contains("SKIP   near "), "{text}");
}

/// P8: work and answers are about what is shown.
#[test]
fn p8_the_nearest_policies_are_listed_and_the_others_counted() {
    let policy = |number: usize| {
        format!(
            "- {{id: p{number}, effect: permit, subjects: [{{role: r{number}}}], resources: [{{path: /x}}], actions: []}}\n"
        )
    };
    let mut policies: String = (0..40).map(policy).collect();
    policies +=
        "- {id: far, effect: permit, subjects: [{role: r}], resources: [{path: /far}], actions: [{method: PUT}]}\n";
    policies += "- {id: own, effect: permit, subjects: [{role: own}], resources: [{path: /x}], actions: []}\n";
    let folder = folder(&[("policies.yaml", &format!("policies:\n{policies}"))]);
    let asked = "explain --subject role=own --action GET --resource /x";
    let told = |flags: &str| json(folder.path(), &format!("{asked} {flags}"))["answers"][0].take();
    let names = |report: &Json| -> Vec<String> {
        let rows = report["candidates"].as_array().unwrap().iter();
        rows.map(|row| row["policy"].as_str().unwrap().to_owned()).collect()
    };
    let all = told("--skipped all");
    assert_eq!((names(&all).len(), names(&all)[41].as_str(), &all["leftOut"]), (42, "far", &Json::Null));
    for (flags, listed, left_out) in
        [("", 21, 21), ("--skipped 0", 1, 41), ("--skipped 3", 4, 38), ("--skipped 40", 41, 1)]
    {
        let few = told(flags);
        assert_eq!((names(&few), &few["leftOut"]), (names(&all)[..listed].to_vec(), &left_out.into()), "{flags}");
        let mut same = all.clone();
        for changed in ["candidates", "leftOut"] {
            same[changed] = few[changed].clone();
        }
        assert_eq!(few, same, "{flags}: all else is as it is with all of them");
    }
    assert_eq!(told("--verbose"), all);
    let table = |flags: &str| String::from_utf8(run(folder.path(), &format!("{asked} {NOW} {flags}")).stdout).unwrap();
    let rows = |flags: &str| table(flags).lines().filter(|line| line.trim_start().starts_with("SKIP")).count();
    assert_eq!((rows(""), rows("--skipped 12"), rows("--skipped all"), rows("--verbose")), (8, 12, 41, 41));
    assert!(table("").contains("… and 33 more (--verbose shows all)"), "{}", table(""));
    assert!(table("--skipped 12").contains("… and 29 more (--verbose shows all)"), "{}", table("--skipped 12"));
    let wrong = run(folder.path(), &format!("{asked} --skipped some"));
    assert_eq!(wrong.status.code(), Some(2));
}
