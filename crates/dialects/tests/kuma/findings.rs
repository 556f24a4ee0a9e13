//! What people found in the wild. Folders that show it are read where they are there; each finding has a test of its own here or
//! beside.

use std::path::PathBuf;

use serde_json::Value as Json;
use upheld_loader::load::{Choices, Loaded};
use upheld_loader::{Format, Input};
use upheld_report::{Report, Verdict};

use super::asked::{ask, loaded, reports, warned, words};

/// A folder of findings, loaded; nothing where it is not there.
fn folder(name: &str, semantics: &[&str]) -> Option<Loaded> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/findings/kuma").join(name);
    let mut files: Vec<PathBuf> = match std::fs::read_dir(&path) {
        Ok(files) => files.filter_map(|file| Some(file.ok()?.path())).collect(),
        Err(_) => {
            println!("skipped: there are no findings `{name}` beside this project");
            return None;
        }
    };
    files.sort();
    let inputs = files.iter().map(|file| Input::file(file.display().to_string(), file)).collect();
    // Some were written to see what becomes of misspelt fields; what schemas say of them is tested with schemas.
    let loaded = Choices::of_semantics(semantics).without_schemas().load(inputs);
    Some(loaded.unwrap_or_else(|broken| panic!("{name}: {:#?}", broken.diagnostics)))
}

/// What speaks in an answer.
fn speaking(loaded: &Loaded, what: Option<&str>, from: Option<&str>, to: Option<&str>, kind: &str) -> Vec<Report> {
    let mut reports = reports(&loaded.snapshot, &words(what, from, to, Some(kind)));
    reports.retain(Report::speaks);
    reports
}

#[test]
fn the_folders_of_findings_answer_as_they_should() {
    const USUAL: [&str; 2] = ["kuma/0.3", "kuma/2"];
    let result = |loaded: &Loaded, what, from, to, kind: &str, path: &str| -> Json {
        let reports = speaking(loaded, what, from, to, kind);
        let [report] = reports.as_slice() else { panic!("{kind}: {reports:#?}") };
        report.result.pointer(path).cloned().unwrap_or_default()
    };
    if let Some(loaded) = folder("e9", &USUAL) {
        for from in [None, Some("kuma.io/service=web"), Some("spiffeID=spiffe://default/web")] {
            assert_eq!(result(&loaded, Some("back-1"), from, None, "MeshTimeout", "/idleTimeout"), "10s", "{from:?}");
        }
    }
    for edition in ["kuma/2", "kuma/3"] {
        let Some(loaded) = folder("e8", &["kuma/0.3", edition]) else { continue };
        let answer = ask(&loaded.snapshot, &words(None, Some("web-1"), Some("back-1"), None)).expect("an answer");
        let mut kinds: Vec<&str> =
            answer.reports.iter().filter(|report| report.speaks()).map(|report| report.kind.as_str()).collect();
        kinds.sort_unstable();
        let expected = ["MeshAccessLog", "MeshCircuitBreaker", "MeshRateLimit", "MeshTLS", "MeshTimeout"];
        assert_eq!(kinds.iter().filter(|kind| expected.contains(kind)).count(), 5, "{edition}: {kinds:?}");
    }
    if let Some(loaded) = folder("e7", &USUAL) {
        let path = "/local/http/requestRate/num";
        let asked = |from| result(&loaded, None, Some(from), Some("back-1#http"), "MeshRateLimit", path);
        assert_eq!(asked("spiffeID=spiffe://default/web"), 1);
        assert_eq!(asked("spiffeID=spiffe://default/other"), 10);
    }
    for name in ["e6", "e17"] {
        let Some(loaded) = folder(name, &USUAL) else { continue };
        let path = "/http/requestTimeout";
        let asked = result(&loaded, Some("web-6d8f"), None, Some("meshservice/orders"), "MeshTimeout", path);
        assert_eq!(asked, "2s", "{name}");
    }
    if let Some(loaded) = folder("s0u", &USUAL) {
        for to in ["backend-1", "backend"] {
            let reports = speaking(&loaded, None, Some("mobile-1"), Some(to), "TrafficPermission");
            let [report] = reports.as_slice() else { panic!("{to}: {reports:#?}") };
            assert_eq!((report.verdict, report.policies.as_slice()), (Verdict::Permit, &["tp-2".to_owned()][..]));
            assert!(report.notes.iter().any(|note| note.text.contains("mutual TLS")), "{:#?}", report.notes);
        }
    }
    if let Some(loaded) = folder("e12", &USUAL) {
        let reports = speaking(&loaded, Some("web"), None, Some("mesh/default"), "MeshTimeout");
        assert!(reports.iter().any(|one| one.notes.iter().any(|note| note.text.contains("a tie"))), "{reports:#?}");
    }
    if let Some(loaded) = folder("e5", &USUAL) {
        let reports = speaking(&loaded, Some("web-1"), None, Some("meshhttproute/r"), "MeshTimeout");
        assert!(reports.iter().any(|one| one.policies.contains(&"on-r".to_owned())), "{reports:#?}");
    }
    if let Some(loaded) = folder("hard", &USUAL) {
        let retries = reports(
            &loaded.snapshot,
            &words(Some("edge-0"), None, Some("meshservice/orders.orders"), Some("MeshRetry")),
        );
        assert_eq!(retries.len(), 3, "each listener has an answer: {retries:#?}");
        let at_gateway =
            reports(&loaded.snapshot, &words(None, Some("web-0.shop"), Some("edge-0"), Some("MeshTrafficPermission")));
        assert!(at_gateway.iter().all(|report| report.verdict != Verdict::Deny), "{at_gateway:#?}");
    }
    if let Some(loaded) = folder("e1", &USUAL) {
        let answer = ask(&loaded.snapshot, &words(Some("web"), None, None, Some("MeshTimeout"))).expect("an answer");
        let told: Vec<&str> = answer.warnings.iter().map(|warning| warning.message.as_str()).collect();
        for policy in [
            "port-by-number-named",
            "wrong-name",
            "wrong-label",
            "wrong-subset",
            "wrong-service",
            "section-wrong",
            "other-mesh",
        ] {
            assert!(told.iter().any(|message| message.contains(&format!("`{policy}`"))), "{policy}: {told:#?}");
        }
    }
}

const PROXY: &str = "type: Dataplane
name: web
labels: {app: web}
networking: {address: 10.0.0.1, inbound: [{port: 80, name: main, tags: {kuma.io/service: web, version: v1}}]}
";

/// What is warned of a policy with a top-level reference, where a question is asked.
fn unattached(top: &str) -> String {
    let text = format!(
        "{PROXY}---\ntype: MeshTimeout\nname: t\nspec: {{targetRef: {top}, to: [{{targetRef: {{kind: Mesh}}, default: \
         {{idleTimeout: 1s}}}}]}}\n"
    );
    let loaded = loaded(&text, &["kuma/2"]);
    let answer = ask(&loaded.snapshot, &words(Some("web"), None, None, Some("MeshTimeout"))).expect("an answer");
    let warnings = answer.warnings.iter().map(|one| format!("{} ({})", one.message, one.help.join("; ")));
    warnings.collect::<Vec<_>>().join("\n")
}

#[test]
fn a_top_level_reference_that_hits_nothing_names_the_nearest_thing() {
    for (top, expected) in [
        ("{kind: Dataplane, name: wbe}", "did you mean `web`?"),
        ("{kind: Dataplane, labels: {app: wbe}}", "did you mean `app: web`?"),
        ("{kind: Dataplane, labels: {ap: web}}", "no proxy has the label ap; did you mean `app`?"),
        ("{kind: MeshSubset, tags: {version: v9}}", "did you mean `version: v1`?"),
        ("{kind: MeshService, name: wbe}", "did you mean `kuma.io/service: web`?"),
        ("{kind: Dataplane, sectionName: mian}", "did you mean `main`?"),
        ("{kind: Dataplane, sectionName: '80'}", "write `sectionName: main`"),
    ] {
        let told = unattached(top);
        assert!(told.contains("MeshTimeout `t` reaches no proxy") && told.contains(expected), "{top}: {told}");
    }
    for top in ["{kind: Mesh}", "{kind: Dataplane}", "{kind: Dataplane, sectionName: main}"] {
        assert_eq!(unattached(top), "", "{top}");
    }
}

#[test]
fn a_policy_in_a_mesh_without_proxies_is_warned_of() {
    let text = format!(
        "{PROXY}---\ntype: MeshTimeout\nmesh: defualt\nname: t\nspec: {{to: [{{targetRef: {{kind: Mesh}}, default: \
         {{idleTimeout: 1s}}}}]}}\n---\ntype: MeshTimeout\nname: own\nspec: {{to: [{{targetRef: {{kind: Mesh}}, default: \
         {{idleTimeout: 1s}}}}]}}\n"
    );
    let loaded = loaded(&text, &["kuma/2"]);
    let answer = ask(&loaded.snapshot, &words(Some("web"), None, None, Some("MeshTimeout"))).expect("an answer");
    let [warning] = answer.warnings.as_slice() else { panic!("{:#?}", answer.warnings) };
    assert!(warning.message.contains("there is none in mesh `defualt`"), "{warning:#?}");
    assert_eq!(warning.help, ["did you mean `default`?"]);
}

#[test]
fn a_policy_that_says_nothing_is_warned_of() {
    for (spec, expected) in [
        ("", "has no `spec`"),
        ("spec: {to: [], from: []}", "says nothing"),
        ("spec: {to: [{targetRef: {kind: Mesh}}]}", "has no `default`"),
    ] {
        let loaded = loaded(&format!("{PROXY}---\ntype: MeshTimeout\nname: t\n{spec}\n"), &["kuma/2"]);
        let told = warned(&loaded);
        assert!(told.iter().any(|one| one.contains("`t`") && one.contains(expected)), "{spec}: {told:?}");
    }
}

#[test]
fn types_of_other_distributions_are_read_by_the_common_rules_or_left_out() {
    let text = format!(
        "{PROXY}---
type: MeshOPA
name: o
spec: {{targetRef: {{kind: Mesh}}, default: {{agentConfig: {{inlineString: x}}}}}}
---
type: MeshGlobalRateLimit
name: g
spec: {{targetRef: {{kind: Mesh}}, from: [{{targetRef: {{kind: Mesh}}, default: {{http: {{on: true}}}}}}]}}
---
apiVersion: kuma.io/v1alpha1
kind: AccessRole
metadata: {{name: r}}
spec: {{rules: [{{types: [x], access: [CREATE]}}]}}
"
    );
    let loaded = loaded(&text, &["kuma/2"]);
    let reports = speaking(&loaded, Some("web"), None, None, "MeshOPA");
    let [report] = reports.as_slice() else { panic!("{reports:#?}") };
    assert_eq!(report.policies, ["o"]);
    let told = warned(&loaded);
    for kind in ["MeshOPA", "MeshGlobalRateLimit", "AccessRole"] {
        assert!(told.iter().any(|one| one.contains(&format!("`{kind}`"))), "{kind}: {told:?}");
    }
    let typo = "type: MeshTimout\nname: t\nspec: {to: []}\n";
    let broken = Choices::of_semantics(&["kuma/2"]).load(vec![Input::text("typo.yaml", Format::Yaml, typo)]);
    assert!(
        broken.expect_err("a typo").diagnostics.as_slice().iter().any(|one| one.help.join("").contains("MeshTimeout"))
    );
}

const CLUSTER: &str = "apiVersion: kuma.io/v1alpha1
kind: Dataplane
mesh: default
metadata: {name: web, namespace: shop, labels: {kuma.io/zone: east, kuma.io/origin: zone}}
spec: {networking: {address: 10.0.0.1, inbound: [{port: 80, tags: {kuma.io/service: web_shop_svc_80}}]}}
---
apiVersion: kuma.io/v1alpha1
kind: MeshService
metadata: {name: orders, namespace: shop, labels: {kuma.io/zone: east, kuma.io/origin: zone}}
spec: {ports: [{port: 80, name: http}]}
---
apiVersion: kuma.io/v1alpha1
kind: MeshTimeout
metadata: {name: orders, namespace: shop}
spec: {to: [{targetRef: {kind: MeshService, name: orders}, default: {http: {requestTimeout: 2s}}}]}
";

fn with_settings(text: &str, given: &[&str]) -> Loaded {
    let given: Vec<String> = given.iter().map(|one| (*one).to_owned()).collect();
    let settings = upheld_dialects::dialect::read_settings([("kuma", given.as_slice())]).expect("settings");
    let choices = Choices { semantics: vec!["kuma/2".to_owned()], settings };
    choices.load(vec![Input::text("world.yaml", Format::Yaml, text)]).expect("a world")
}

#[test]
fn what_the_control_plane_adds_is_taken_from_objects_that_agree_or_from_settings() {
    let timeout = |loaded: &Loaded| {
        let reports = speaking(loaded, Some("web"), None, Some("meshservice/orders"), "MeshTimeout");
        reports.first().map(|report| report.result["http"]["requestTimeout"].clone())
    };
    let agreeing = with_settings(CLUSTER, &[]);
    assert_eq!(timeout(&agreeing), Some("2s".into()));
    let answer = ask(&agreeing.snapshot, &words(Some("web"), None, None, None)).expect("an answer");
    assert!(answer.notes.iter().any(|note| note.contains("zone east")), "{:?}", answer.notes);
    let other = CLUSTER.replace(
        "name: web, namespace: shop, labels: {kuma.io/zone: east",
        "name: web, namespace: shop, labels: {kuma.io/zone: west",
    );
    assert_eq!(timeout(&with_settings(&other, &[])), None, "zones differ, so none is taken");
    assert_eq!(timeout(&with_settings(&other, &["zone=east"])), Some("2s".into()));
    assert_eq!(timeout(&with_settings(CLUSTER, &["origin=global"])), None, "somebody says that there is no zone");
    assert_ne!(
        with_settings(CLUSTER, &["zone=east"]).snapshot.digest(),
        with_settings(CLUSTER, &["origin=global"]).snapshot.digest(),
        "settings are part of what an answer rests on"
    );
}

#[test]
fn advice_never_changes_the_role_of_a_policy() {
    let other = CLUSTER.replace(
        "name: web, namespace: shop, labels: {kuma.io/zone: east",
        "name: web, namespace: shop, labels: {kuma.io/zone: west",
    );
    let told = warned(&with_settings(&other, &[]));
    assert!(told.iter().any(|one| one.contains("--kuma zone=east")), "{told:?}");
    assert!(!told.iter().any(|one| one.contains("by `labels`")), "{told:?}");
}

#[test]
fn the_namespace_of_the_control_plane_can_be_named() {
    let text = "apiVersion: kuma.io/v1alpha1
kind: Dataplane
mesh: default
metadata: {name: web, namespace: shop}
spec: {networking: {address: 10.0.0.1, inbound: [{port: 80, tags: {kuma.io/service: web}}]}}
---
apiVersion: kuma.io/v1alpha1
kind: MeshTimeout
metadata: {name: defaults, namespace: mesh-control-plane}
spec: {to: [{targetRef: {kind: Mesh}, default: {idleTimeout: 1s}}]}
";
    let count = |given: &[&str]| speaking(&with_settings(text, given), Some("web"), None, None, "MeshTimeout").len();
    assert_eq!(count(&[]), 0, "a consumer of another namespace");
    assert_eq!(count(&["system-namespace=mesh-control-plane"]), 1);
}

#[test]
fn the_mesh_of_a_policy_on_kubernetes_is_its_label() {
    let policy = |header: &str, labels: &str| {
        let text = format!(
            "type: Mesh\nname: prod\n---\ntype: Mesh\nname: other\n---\napiVersion: kuma.io/v1alpha1\nkind: MeshTimeout\n{header}metadata: \
             {{name: t, namespace: kuma-system, labels: {{{labels}}}}}\nspec: {{to: [{{targetRef: {{kind: Mesh}}, default: \
             {{idleTimeout: 1s}}}}]}}\n"
        );
        let loaded = loaded(&text, &["kuma/2"]);
        let policies: Vec<String> =
            loaded.snapshot.policies().iter().map(|(_, one)| loaded.snapshot.text(one.scope).to_owned()).collect();
        (policies, warned(&loaded).join("\n"))
    };
    assert_eq!(policy("", "kuma.io/mesh: prod"), (vec!["prod".to_owned()], String::new()));
    let (meshes, told) = policy("mesh: prod\n", "");
    assert_eq!(meshes, ["default"]);
    assert!(told.contains("kuma.io/mesh: prod"), "{told}");
    let (meshes, told) = policy("mesh: prod\n", "kuma.io/mesh: other");
    assert_eq!(meshes, ["other"]);
    assert!(told.contains("in mesh `other`"), "{told}");
}

#[test]
fn policies_alone_answer_for_a_proxy_with_exactly_these_tags() {
    let text = "type: MeshTimeout
name: web
spec: {targetRef: {kind: MeshSubset, tags: {version: v1}}, to: [{targetRef: {kind: Mesh}, default: {idleTimeout: 1s}}]}
---
type: MeshTrafficPermission
name: web-only
spec: {from: [{targetRef: {kind: MeshService, name: web}, default: {action: Allow}}]}
";
    let loaded = loaded(text, &["kuma/2"]);
    let asked = |from: &str| {
        ask(&loaded.snapshot, &words(None, Some(from), Some("kuma.io/service=back"), None)).expect("an answer")
    };
    let answer = asked("kuma.io/service=web,version=v1");
    let mut policies: Vec<&str> = answer.reports.iter().flat_map(|one| &one.policies).map(String::as_str).collect();
    policies.sort_unstable();
    assert_eq!(policies, ["web", "web-only"], "{:#?}", answer.reports);
    assert!(answer.notes.iter().any(|note| note.contains("kubectl get dataplanes")), "{:?}", answer.notes);
    let other = asked("kuma.io/service=other,version=v2");
    assert!(other.reports.iter().all(|report| report.policies.is_empty()), "{:#?}", other.reports);
}

#[test]
fn who_names_a_proxy_where_none_was_read_learns_which_tag_to_ask_with() {
    let text = "type: MeshTimeout
name: web
spec: {targetRef: {kind: MeshSubset, tags: {app: checkout}}, to: [{targetRef: {kind: Mesh}, default: {idleTimeout: 1s}}]}
";
    let loaded = loaded(text, &["kuma/2"]);
    let told = |from: &str| {
        let refused = ask(&loaded.snapshot, &words(None, Some(from), Some("kuma.io/service=back"), None));
        format!("{:?}", refused.expect_err("no such proxy"))
    };
    assert!(told("checkout").contains("`--from app=checkout`"), "{}", told("checkout"));
    assert!(told("cart").contains("`--from kuma.io/service=cart`"), "{}", told("cart"));
    for name in ["checkout", "cart"] {
        assert!(told(name).contains("kubectl get dataplanes"), "{}", told(name));
    }
}

#[test]
fn a_built_in_gateway_enforces_no_permissions() {
    let text = format!(
        "type: Mesh
name: default
mtls: {{enabledBackend: c, backends: [{{name: c, type: builtin}}]}}
---
{PROXY}---
type: Dataplane
name: edge
networking: {{address: 10.0.0.2, gateway: {{type: BUILTIN, tags: {{kuma.io/service: edge}}}}}}
---
type: MeshGateway
name: edge
selectors: [{{match: {{kuma.io/service: edge}}}}]
conf: {{listeners: [{{port: 80, protocol: HTTP}}]}}
---
type: MeshTrafficPermission
name: deny-all
spec: {{from: [{{targetRef: {{kind: Mesh}}, default: {{action: Deny}}}}]}}
"
    );
    let loaded = loaded(&text, &["kuma/2"]);
    let whole = reports(&loaded.snapshot, &words(Some("edge"), None, None, Some("MeshTrafficPermission")));
    let called =
        reports(&loaded.snapshot, &words(None, Some("web"), Some("dataplane/edge"), Some("MeshTrafficPermission")));
    for report in whole.iter().chain(&called) {
        assert_ne!(report.verdict, Verdict::Deny, "{report:#?}");
        assert!(report.notes.iter().any(|note| note.text.contains("built-in gateway")), "{report:#?}");
    }
    assert!(!whole.is_empty() && !called.is_empty());
}

#[test]
fn removing_objects_that_a_policy_does_not_need_is_no_error() {
    let documents = [
        PROXY,
        "type: Mesh\nname: default\n",
        "type: MeshService\nname: back\nspec: {ports: [{port: 80, name: http}]}\n",
        "type: Dataplane\nname: other\nnetworking: {address: 10.0.0.9, inbound: [{port: 80, tags: {kuma.io/service: other}}]}\n",
        "type: MeshTimeout\nname: t\nspec: {to: [{targetRef: {kind: MeshService, name: back}, default: {idleTimeout: 1s}}]}\n",
        "type: TrafficLog\nname: l\nsources: [{match: {kuma.io/service: '*'}}]\ndestinations: [{match: {kuma.io/service: '*'}}]\nconf: {backend: b}\n",
    ];
    for left_out in 1..documents.len() {
        let kept: Vec<&str> =
            documents.iter().enumerate().filter(|(place, _)| *place != left_out).map(|(_, one)| *one).collect();
        let loaded = loaded(&kept.join("---\n"), &["kuma/0.3", "kuma/2"]);
        for (what, from, to) in [(Some("web"), None, None), (None, Some("web"), Some("kuma.io/service=other"))] {
            let answer = ask(&loaded.snapshot, &words(what, from, to, None));
            assert!(answer.is_ok(), "without {left_out}: {:#?}", answer.err());
        }
    }
}

#[test]
fn a_typo_in_a_name_gets_a_suggestion_with_and_without_its_namespace() {
    let loaded = with_settings(CLUSTER, &[]);
    for (written, expected) in [("wbe", "did you mean `web`?"), ("wbe.shop", "did you mean `web.shop`?")] {
        let refused = ask(&loaded.snapshot, &words(Some(written), None, None, None)).expect_err("a typo");
        assert!(format!("{refused:?}").contains(expected), "{written}: {refused:#?}");
    }
}

/// Why a policy does not match: its code and sentence.
fn skipped(reports: &[Report], policy: &str) -> (String, String) {
    let candidates = reports.iter().flat_map(|report| &report.candidates);
    let found = candidates.filter(|one| one.title() == policy).map(|one| &one.reason).next();
    let reason = found.unwrap_or_else(|| panic!("{policy}: {reports:#?}"));
    (reason.code.to_string(), reason.text.clone())
}

/// A proxy with two inbounds, of which one has a version, and policies that want a service and a version.
const TWO_INBOUNDS: &str = "
type: Dataplane
name: web
networking:
  address: 10.0.0.1
  inbound:
  - {port: 80, tags: {kuma.io/service: web, version: v1}}
  - {port: 81, tags: {kuma.io/service: web-admin}}
---
type: Dataplane
name: back
networking: {address: 10.0.0.2, inbound: [{port: 80, tags: {kuma.io/service: back}}]}
---
type: TrafficLog
name: apart
sources: [{match: {kuma.io/service: web-admin, version: v1}}]
destinations: [{match: {kuma.io/service: '*'}}]
conf: {backend: a}
---
type: TrafficLog
name: nowhere
sources: [{match: {kuma.io/service: web-admin, version: v9}}]
destinations: [{match: {kuma.io/service: '*'}}]
conf: {backend: a}
---
type: TrafficLog
name: absent
sources: [{match: {kuma.io/service: web, cloud: aws}}]
destinations: [{match: {kuma.io/service: '*'}}]
conf: {backend: a}
---
type: MeshTimeout
name: apart
spec:
  targetRef: {kind: MeshSubset, tags: {kuma.io/service: web-admin, version: v1}}
  to: [{targetRef: {kind: Mesh}, default: {idleTimeout: 1s}}]
---
type: MeshTimeout
name: nowhere
spec:
  targetRef: {kind: MeshSubset, tags: {version: v9}}
  to: [{targetRef: {kind: Mesh}, default: {idleTimeout: 1s}}]
";

#[test]
fn a_tag_that_another_inbound_has_is_not_called_missing() {
    let loaded = loaded(TWO_INBOUNDS, &["kuma/0.3", "kuma/2"]);
    let apart = "no single inbound of web has all 2 source tags that it wants";
    let logs = reports(&loaded.snapshot, &words(None, Some("web"), Some("dataplane/back"), Some("TrafficLog")));
    let timeouts = reports(&loaded.snapshot, &words(Some("web"), None, None, Some("MeshTimeout")));
    for reports in [&logs, &timeouts] {
        assert_eq!(skipped(reports, "apart"), ("skip.tags-apart".to_owned(), apart.to_owned()));
        let nowhere = "source tag version: wants v9, web has v1";
        assert_eq!(skipped(reports, "nowhere"), ("skip.tag".to_owned(), nowhere.to_owned()));
    }
    let absent = "source tag cloud: wants aws, web has no such tag";
    assert_eq!(skipped(&logs, "absent"), ("skip.tag-absent".to_owned(), absent.to_owned()));
}

#[test]
fn a_caller_who_is_refused_hears_about_itself_alone() {
    let text = "
type: Dataplane
name: mobile
networking: {address: 10.0.0.1, inbound: [{port: 80, tags: {kuma.io/service: mobile}}]}
---
type: Dataplane
name: back
networking: {address: 10.0.0.2, inbound: [{port: 80, tags: {kuma.io/service: back}}]}
---
type: MeshTrafficPermission
name: web-only
spec:
  targetRef: {kind: Mesh}
  from: [{targetRef: {kind: MeshService, name: web}, default: {action: Allow}}]
";
    let loaded = loaded(text, &["kuma/2"]);
    let question = words(None, Some("mobile"), Some("dataplane/back"), Some("MeshTrafficPermission"));
    let reports = reports(&loaded.snapshot, &question);
    let [report] = reports.as_slice() else { panic!("{reports:#?}") };
    assert_eq!(report.verdict, Verdict::Deny);
    let headline = &report.headline.text;
    assert!(headline.contains("no policy allows this caller") && !headline.contains("nobody"), "{headline}");
}

#[test]
fn k22_a_port_that_does_not_exist_lists_those_that_do() {
    let text = "type: Dataplane
name: web
networking: {address: 10.0.0.1, inbound: [{port: 80, tags: {kuma.io/service: web}}]}
---
type: MeshService
name: orders
labels: {kuma.io/display-name: orders}
spec: {selector: {dataplaneTags: {app: o}}, ports: [{port: 80, name: http}, {port: 81}]}
---
type: MeshTimeout
name: typo
spec: {to: [{targetRef: {kind: MeshService, name: orders, sectionName: htpt}, default: {idleTimeout: 1s}}]}
";
    let loaded = loaded(text, &["kuma/2"]);
    let asked = words(Some("web"), None, Some("meshservice/orders"), Some("MeshTimeout"));
    let reports = reports(&loaded.snapshot, &asked);
    let [report] = reports.as_slice() else { panic!("{reports:#?}") };
    let because = &report.candidates.first().expect("a candidate").reason;
    assert_eq!(because.text, "refers to the port htpt of a MeshService, which has the ports 81, http");
    assert_eq!(because.parameters["ports"], serde_json::json!(["81", "http"]));
}
