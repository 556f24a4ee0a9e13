//! The library, as programs that embed it use it.

use upheld::access::Outcome;
use upheld::{Choices, Fault, Format, Input, Policies, Problems, Question, Verdict, json};

use crate::support::root;

const POLICIES: &str = "
- {id: admins, effect: permit, subjects: [{role: admin}], resources: [{path: /**}], actions: [{method: '*'}]}
- {id: freeze, effect: deny, subjects: [], resources: [], actions: [], valid: {until: '2026-01-01T00:00:00Z'}}
";

fn faults(problems: &Problems) -> Vec<Fault> {
    problems.diagnostics().iter().map(|diagnostic| diagnostic.fault).collect()
}

fn demo() -> Policies {
    Policies::from_paths(&[root().join("examples/demo")]).expect("is read")
}

#[test]
fn many_threads_may_ask() {
    fn shared<T: Send + Sync>() {}
    shared::<Policies>();
    shared::<Question>();
    shared::<Problems>();
}

#[test]
fn all_that_is_wrong_is_told_with_its_place() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("a.yaml"), "{type: Mesh, nam: default}").expect("is written");
    let problems = Policies::from_paths(&[folder.path().join("a.yaml"), folder.path().join("b.yaml")]);
    let problems = problems.expect_err("is broken");
    assert_eq!(faults(&problems), [Fault::UnknownField, Fault::Unreadable]);
    assert!(problems.to_string().contains("a.yaml:1:14: error UP010: "), "{problems}");
    assert_eq!(problems.json()[0]["column"], 14);
    assert!(
        Policies::from_paths(&[folder.path().join("b.yaml")]).is_err(),
        "what is missing is no empty set of policies"
    );
}

#[test]
fn settings_of_the_command_line_are_no_documents() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("upheld.yaml"), "files: [.]\n").expect("is written");
    std::fs::write(folder.path().join("mesh.yaml"), "{type: Mesh, name: default}").expect("is written");
    let policies = Policies::from_paths(&[folder.path()]).expect("is read");
    let names = policies.snapshot().files().iter().map(|(_, file)| file.name.clone()).collect::<Vec<_>>();
    assert!(names.iter().any(|name| name.ends_with("mesh.yaml")), "{names:?}");
    assert!(!names.iter().any(|name| name.ends_with("upheld.yaml")), "{names:?}");
}

#[test]
fn a_question_that_cannot_be_read_is_refused() {
    let refused = Question::from_json(json!({"form": "web-1"})).expect_err("is refused");
    assert_eq!(faults(&refused), [Fault::IncompleteQuestion]);
    assert!(refused.to_string().contains("`form`"), "{refused}");
    assert!(Question::from_json(json!("web-1")).is_err());
    let refused = demo().verdict(&Question::about("web-1").with("form", "web-1")).expect_err("is refused");
    assert_eq!(faults(&refused), [Fault::IncompleteQuestion]);
}

#[test]
fn a_verdict_is_one_or_none() {
    let (policies, question) = (demo(), Question::between("web-1", "backend-1"));
    assert_eq!(faults(&policies.verdict(&question).expect_err("several kinds")), [Fault::Ambiguous]);
    assert_eq!(policies.verdict(&question.clone().kind("TrafficLog")).expect("one"), Verdict::Set);
    assert_eq!(policies.verdict(&question.clone().kind("TrafficPermission")).expect("one"), Verdict::Permit);
    assert_eq!(policies.verdict(&question.kind("Retry")).expect("one"), Verdict::Unset);
}

#[test]
fn all_pairs_are_a_document() {
    let (policies, question) = (demo(), Question::from_json(json!({"allPairs": true, "kind": "TrafficLog"})));
    let question = question.expect("is a question");
    assert_eq!(faults(&policies.explain(&question).expect_err("no reports")), [Fault::IncompleteQuestion]);
    assert!(policies.document(&question).expect("is answered")["kind"].is_string());
}

#[test]
fn a_moment_can_be_named() {
    let question = Question::may("role=admin", "GET", "/api");
    let at = |text: &str| {
        let moment = text.parse().expect("is a time");
        Policies::from_text(POLICIES).expect("is read").at(moment).verdict(&question).expect("is answered")
    };
    assert_eq!(at("2025-06-01T00:00:00Z"), Verdict::Deny);
    assert_eq!(at("2026-06-01T00:00:00Z"), Verdict::Permit);
}

#[test]
fn what_is_not_known_is_not_permitted() {
    let policies =
        Policies::from_text("{id: admins, effect: permit, subjects: [{role: admin}], resources: [], actions: []}");
    let policies = policies.expect("is read");
    assert_eq!(policies.verdict(&Question::may("?", "GET", "/api")).expect("is answered"), Verdict::Undecided);
    let request = json!({"subject": {"roles": ["admin"]}, "action": {"method": "GET"}, "resource": {"path": "/api"}});
    assert_eq!(policies.verdict(&Question::request(request)).expect("is answered"), Verdict::Permit);
}

#[test]
fn texts_come_change_and_go() {
    let text = |name: &str, text: &str| Input::text(name, Format::Yaml, text);
    let first = Policies::load(vec![text("a.yaml", "{type: Mesh, name: a}")], Choices::default()).expect("is read");
    let second = first.put(text("b.yaml", "{type: Mesh, name: b}")).expect("is read");
    let third = second.put(text("a.yaml", "{type: Mesh, name: c}")).expect("is read");
    let fourth = third.remove("b.yaml").expect("is read");
    let names = |policies: &Policies| {
        let rows = policies.ask(|world| world.objects(None)).expect("is answered");
        rows.into_iter().map(|row| row.name).collect::<Vec<_>>()
    };
    let all = [&first, &second, &third, &fourth].map(names);
    assert_eq!(all.map(|names| names.join(" ")), ["a", "a b", "b c", "c"]);
    assert_eq!(faults(&fourth.remove("b.yaml").expect_err("is gone")), [Fault::NotFound]);
    assert!(fourth.put(text("b.yaml", "{type: Mesh}")).is_err(), "what is broken replaces nothing");
}

#[test]
fn answers_are_those_of_the_command_line() {
    let output =
        crate::support::run(&root(), "explain -f examples/demo --kind TrafficLog --from web-1 --to backend-1 -o json");
    let printed: upheld::Json = serde_json::from_slice(&output.stdout).expect("is JSON");
    let question = Question::between("web-1", "backend-1").kind("TrafficLog");
    let mut answered = demo().document(&question).expect("is answered");
    // Only what files are called depends on where the program runs.
    let prefix = format!("{}/", root().display());
    let text = answered.to_string().replace(&prefix, "");
    answered = serde_json::from_str(&text).expect("is JSON");
    assert_eq!(answered, printed);
}

#[test]
fn programs_in_the_readme_are_those_that_are_tested() {
    let read = |name: &str| std::fs::read_to_string(root().join(name)).expect("documents are readable");
    let (readme, tested) = (read("README.md"), read("docs/library.md"));
    let programs: Vec<&str> = readme.split("```rust\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(!programs.is_empty());
    for program in programs {
        assert!(tested.contains(program), "not in docs/library.md:\n{program}");
    }
}

#[test]
fn a_result_has_the_same_shape_with_and_without_mutual_tls() {
    let proxies = "
type: Dataplane
name: web
networking: {address: 10.0.0.1, inbound: [{port: 80, tags: {kuma.io/service: web}}]}
---
type: Dataplane
name: back
networking: {address: 10.0.0.2, inbound: [{port: 80, tags: {kuma.io/service: back}}]}
---
type: MeshTrafficPermission
name: nobody
spec: {targetRef: {kind: Mesh}, from: [{targetRef: {kind: Mesh}, default: {action: Deny}}]}
---
type: TrafficPermission
name: web
sources: [{match: {kuma.io/service: web}}]
destinations: [{match: {kuma.io/service: back}}]
";
    let meshes = [
        "",
        "---\ntype: Mesh\nname: default\n",
        "---\ntype: Mesh\nname: default\nmtls: {enabledBackend: c, backends: [{name: c, type: builtin}]}\n",
    ];
    for question in [
        Question::about("dataplane/web").kind("MeshTrafficPermission"),
        Question::between("web", "dataplane/back").kind("MeshTrafficPermission"),
        Question::between("web", "dataplane/back").kind("TrafficPermission"),
    ] {
        let results = meshes.map(|mesh| {
            let policies = Policies::from_text(format!("{proxies}{mesh}")).unwrap_or_else(|wrong| panic!("{wrong}"));
            let resolution = policies.resolve(&question).unwrap_or_else(|wrong| panic!("{wrong}"));
            resolution.value.expect("a result")
        });
        let [unknown, without, with] = &results;
        assert_eq!(unknown, with, "{question:?}");
        for result in &results {
            let names: Vec<&String> = result.as_object().expect("a map").keys().collect();
            assert_eq!(names, ["allowed", "by"], "{question:?}: {result}");
        }
        // What nothing enforces refuses nobody.
        assert_eq!(without["allowed"], true, "{question:?}");
    }
}

#[test]
fn policies_are_listed_with_what_the_control_plane_makes_of_them() {
    let text = "
type: MeshTimeout
name: t
labels: {kuma.io/origin: zone, kuma.io/zone: east, kuma.io/policy-role: consumer, k8s.kuma.io/namespace: shop}
spec: {to: [{targetRef: {kind: Mesh}, default: {idleTimeout: 1s}}]}
---
type: TrafficLog
name: l
sources: [{match: {kuma.io/service: '*'}}]
destinations: [{match: {kuma.io/service: '*'}}]
conf: {backend: b}
";
    let policies = Policies::from_text(text).unwrap_or_else(|wrong| panic!("{wrong}"));
    let rows = policies.ask(|world| world.policies(None)).unwrap_or_else(|wrong| panic!("{wrong}"));
    let of = |kind: &str| rows.iter().find(|row| row.kind == kind).expect("is listed");
    let shown = policies.ask(|world| world.show("MeshTimeout/t")).unwrap_or_else(|wrong| panic!("{wrong}"));
    let timeout = of("MeshTimeout");
    let listed = ["role", "origin", "zone"].map(|name| timeout.computed(name));
    assert_eq!(listed, [Some("consumer"), Some("zone"), Some("east")]);
    assert_eq!(timeout.computed, shown.computed);
    assert_eq!(timeout.json()["computed"]["role"], "consumer");
    assert!(of("TrafficLog").json().get("computed").is_none());
}

/// H1: what the directory has of a caller counts in every way to decide.
#[test]
fn a_decider_says_what_a_verdict_says() {
    let policies = Policies::from_text(
        "
policies:
- {id: all, effect: permit, subjects: [], resources: [], actions: []}
- {id: no-interns, effect: deny, subjects: [{role: intern}], resources: [], actions: [], duties: [{kind: obligation, id: log, on: deny}]}
---
kind: Directory
subjects: [{type: user, id: ann, properties: {roles: [junior]}}]
roles: [{name: junior, contains: [intern]}]
",
    );
    let policies = policies.expect("is read").at("2026-01-05T10:00:00Z".parse().expect("is a time"));
    let question = Question::may("ann", "GET", "/api");
    assert_eq!(policies.verdict(&question).expect("is answered"), Verdict::Deny);
    let mut decider = policies.decider().expect("one kind decides");
    let request = decider.request(&question).expect("is a request");
    let decision = decider.decide(request);
    assert_eq!((decision.outcome(), decision.policy()), (Outcome::Deny, Some("no-interns")));
    assert_eq!(decision.obligations()[0].id, "log");
    let report = decision.explain();
    assert_eq!((report.verdict, report.policies[0].as_str()), (Verdict::Deny, "no-interns"));
    assert_eq!(json!(report), json!(policies.explain(&question).expect("is answered").reports[0]));
    assert!(policies.decider_of("NoSuchKind").is_err());
    let several = Question::request(json!([{}, {}]));
    assert!(policies.decider().expect("one kind decides").request(&several).is_err());
}
