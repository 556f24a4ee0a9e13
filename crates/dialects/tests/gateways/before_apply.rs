//! Files as they lie in repositories, before other tools make of them what is applied: kustomizations and placeholders.

use serde_json::{Value as Json, from_value, json};
use upheld_dialects::question::{Asked, Options, Question, Refused, Words};
use upheld_loader::load::{Change, Choices, Loaded};
use upheld_loader::{Format, Input};
use upheld_model::{SourceId, Timestamp};
use upheld_report::{Answer, Depth};

use crate::asking::CURRENT;

fn files(texts: &[(&str, &str)]) -> Vec<Input> {
    texts.iter().map(|(name, text)| Input::text(*name, Format::Yaml, *text)).collect()
}

fn load(texts: &[(&str, &str)]) -> Loaded {
    Choices::of_semantics(&[CURRENT]).load(files(texts)).expect("is read")
}

fn ask(loaded: &Loaded, question: Json) -> Result<Answer, Refused> {
    let options = Options { semantics: vec![CURRENT.to_owned()], ..Options::at(Timestamp(0)) };
    let words: Words = from_value(question).expect("are words");
    let question = &Question::parse(&words, &options)?;
    Asked { snapshot: &loaded.snapshot, question, options: &options, depth: Depth::All }.answer()
}

fn warnings(loaded: &Loaded) -> Vec<&str> {
    loaded.warnings.as_slice().iter().map(|warning| warning.message.as_str()).collect()
}

const GATEWAY: &str = "
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge}
spec:
  gatewayClassName: envoy
  listeners: [{name: http, protocol: HTTP, port: 80, allowedRoutes: {namespaces: {from: All}}}]
";
const CLIENTS: &str = "
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: ClientTrafficPolicy
metadata: {name: clients, namespace: network}
spec: {targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: edge}], http3: {}}
";
const KUSTOMIZATION: &str = "
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
namespace: network
resources: [gateway.yaml]
";

#[test]
fn the_namespace_of_a_kustomization_beside_a_document_is_taken_and_said() {
    let loaded = load(&[
        ("net/gateway.yaml", GATEWAY),
        ("net/clients.yaml", CLIENTS),
        ("net/kustomization.yaml", KUSTOMIZATION),
    ]);
    let answer = ask(&loaded, json!({"what": "gateway/network/edge"})).expect("is answered");
    assert!(answer.reports.iter().any(|report| report.fields.iter().any(|field| field.path == "http3")));
    let note =
        "note: documents that name no namespace are taken to be in network, as net/kustomization.yaml beside them says";
    assert_eq!(answer.notes, [note]);
    assert_eq!(answer.warnings.len(), 0, "{:?}", answer.warnings);
}

#[test]
fn a_kustomization_in_another_folder_gives_no_namespace() {
    let loaded = load(&[("other/gateway.yaml", GATEWAY), ("net/kustomization.yaml", KUSTOMIZATION)]);
    assert!(ask(&loaded, json!({"what": "gateway/default/edge"})).is_ok());
    let own = GATEWAY.replace("{name: edge}", "{name: edge, namespace: own}");
    let loaded = load(&[("net/gateway.yaml", &own), ("net/kustomization.yaml", KUSTOMIZATION)]);
    assert!(ask(&loaded, json!({"what": "gateway/own/edge"})).is_ok_and(|answer| answer.notes.is_empty()));
}

#[test]
fn a_kustomization_that_changes_moves_the_documents_beside_it() {
    let before = load(&[("net/gateway.yaml", GATEWAY), ("net/kustomization.yaml", KUSTOMIZATION)]);
    let moved = KUSTOMIZATION.replace("network", "edges");
    let change = Change::Replaced(SourceId::new(1), Input::text("net/kustomization.yaml", Format::Yaml, moved));
    let after = before.after(vec![change]).expect("is read");
    assert!(ask(&after, json!({"what": "gateway/edges/edge"})).is_ok());
    assert_ne!(before.snapshot.digest(), after.snapshot.digest());
    let gone = after.after(vec![Change::Gone(SourceId::new(1))]).expect("is read");
    assert!(ask(&gone, json!({"what": "gateway/default/edge"})).is_ok());
}

#[test]
fn what_a_kustomization_puts_into_others_is_no_document_of_its_own() {
    let kustomization = "
resources: [gateway.yaml]
patches:
- path: ./infrastructure.yaml
- path: ../shared/json.yaml
  target: {kind: HTTPRoute}
- patch: |
    - {op: remove, path: /spec/hostnames}
patchesStrategicMerge: [old.yaml]
configMapGenerator: [{name: c, files: [settings.yaml, dashboard=list.yaml]}]
";
    let patch = "
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge}
spec: {infrastructure: {annotations: {a: b}}}
";
    let loaded = load(&[
        ("net/gateway.yaml", GATEWAY),
        ("net/kustomization.yaml", kustomization),
        ("net/infrastructure.yaml", patch),
        ("net/old.yaml", patch),
        ("net/settings.yaml", "type: MeshTimeout\nname: 1\n"),
        ("net/list.yaml", "[a, b]"),
        ("shared/json.yaml", "- {op: replace, path: /spec/hostnames/0, value: web.example}"),
    ]);
    assert_eq!(warnings(&loaded), [""; 0]);
    assert_eq!(loaded.set_aside.by_type.get("patches and other parts of kustomizations"), Some(&5));
    assert_eq!(
        loaded.snapshot.objects().iter().filter(|(_, object)| loaded.snapshot.text(object.kind) == "Gateway").count(),
        1
    );
}

#[test]
fn patches_are_known_by_their_mark_and_lists_of_others_are_left_aside() {
    let delete = "
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge}
$patch: delete
";
    let loaded = load(&[("a.yaml", GATEWAY), ("b.yaml", delete), ("c.yaml", "- {hosts: all, tasks: []}")]);
    assert_eq!(loaded.set_aside.by_type.get("lists"), Some(&1));
    assert_eq!(loaded.set_aside.by_type.get("patches and other parts of kustomizations"), Some(&1));
    // What looks like one of our documents is not passed over.
    let broken = Choices::of_semantics(&[CURRENT]).load(files(&[("a.yaml", "- {type: MeshTimeout, name: a}")]));
    assert!(broken.is_err());
}

const OPEN_ROUTE: &str = r#"
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: app, namespace: web}
spec:
  hostnames: ["app.${DOMAIN}"]
  parentRefs: [{name: edge, namespace: default}]
  rules:
  - timeouts: {request: "${TIMEOUT}"}
    backendRefs:
    - name: app
      port: ${PORT}
"#;

#[test]
fn what_is_filled_in_later_is_unknown_and_no_error() {
    let listener = GATEWAY.replace("port: 80,", "port: 80, hostname: \"*.${DOMAIN}\",");
    let loaded = load(&[("gateway.yaml", &listener), ("route.yaml", OPEN_ROUTE)]);
    assert_eq!(
        warnings(&loaded)[..2],
        [
            "`${DOMAIN}` is filled in later: `*.${DOMAIN}` is taken as it is written",
            "`${DOMAIN}` is filled in later: `app.${DOMAIN}` is taken as it is written",
        ]
    );
    let answer = ask(&loaded, json!({"what": "httproute/web/app"})).expect("is answered");
    assert!(answer.reports[0].about.holds_for[0].contains("app.${DOMAIN}"), "{:?}", answer.reports[0].about);
    // The same mistake without a placeholder is one.
    let wrong = OPEN_ROUTE.replace("app.${DOMAIN}", "app.{DOMAIN}");
    assert!(Choices::of_semantics(&[CURRENT]).load(files(&[("route.yaml", &wrong)])).is_err());
}

#[test]
fn a_host_that_is_filled_in_later_may_be_any_and_the_answer_says_so() {
    let any = OPEN_ROUTE
        .replace("  hostnames: [\"app.${DOMAIN}\"]\n", "")
        .replace("name: app, namespace", "name: any, namespace");
    let loaded = load(&[("gateway.yaml", GATEWAY), ("route.yaml", OPEN_ROUTE), ("any.yaml", &any)]);
    let told = |host: &str| {
        let answer = ask(&loaded, json!({"host": host, "path": "/"})).expect("is answered");
        answer.reports[0].notes.iter().map(|note| note.text.clone()).find(|note| note.contains("once everything"))
    };
    let note =
        "app.${DOMAIN} may be app.example, once everything is put into it: its routes are not part of this answer";
    assert_eq!(told("app.example").as_deref(), Some(note));
    assert_eq!(told("web.example"), None);
    assert_eq!(told("app.${DOMAIN}"), None);
    let alone = load(&[("gateway.yaml", GATEWAY), ("route.yaml", OPEN_ROUTE)]);
    let refused = ask(&alone, json!({"host": "app.example", "path": "/"})).expect_err("nobody takes it");
    let help = refused.diagnostics[0].help.join("; ");
    assert!(help.contains("app.${DOMAIN} may be this host, once everything is put into it"), "{help}");
}

#[test]
fn a_listener_whose_host_is_filled_in_later_may_be_for_any_route() {
    let listener = GATEWAY.replace("port: 80,", "port: 80, hostname: \"*.${DOMAIN}\",");
    let route = OPEN_ROUTE.replace("app.${DOMAIN}", "app.example");
    let loaded = load(&[("gateway.yaml", &listener), ("route.yaml", &route)]);
    let answer = ask(&loaded, json!({"what": "httproute/web/app"})).expect("is answered");
    assert!(answer.reports[0].about.holds_for[0].contains("app.example"));
}

#[test]
fn a_class_gets_no_namespace_from_a_kustomization() {
    let class = "
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: envoy}
spec: {controllerName: gateway.envoyproxy.io/gatewayclass-controller}
";
    let loaded = load(&[("net/class.yaml", class), ("net/kustomization.yaml", KUSTOMIZATION)]);
    assert!(loaded.snapshot.object_named("GatewayClass", "default", "envoy").is_some());
    let nowhere = |kind: &str| upheld_dialects::dialects().any(|dialect| dialect.is_in_no_scope(kind, "default"));
    assert!(nowhere("GatewayClass") && !nowhere("Gateway"));
}

#[test]
fn a_name_that_the_cluster_completes_is_known_by_its_beginning() {
    let gateway = GATEWAY.replace("name: edge", "generateName: edge-");
    let loaded = load(&[("gateway.yaml", &gateway)]);
    assert!(loaded.snapshot.object_named("Gateway", "default", "edge-").is_some());
    assert!(ask(&loaded, json!({"what": "gateway/default/edge-"})).is_ok());
}

#[test]
fn names_are_understood_with_a_slash_before_them_and_in_any_case_and_what_is_not_found_is_suggested() {
    let loaded = load(&[("gateway.yaml", GATEWAY), ("clients.yaml", CLIENTS)]);
    for written in ["/gateway/default/edge", "Gateway/edge", "/Gateway/default/edge", "gateway/edge"] {
        assert!(ask(&loaded, json!({"what": written})).is_ok(), "{written}");
    }
    for written in ["edge", "/edge", "default/edge", "edgee", "other/edge"] {
        let refused = ask(&loaded, json!({"what": written})).expect_err(written);
        let help = refused.diagnostics[0].help.join("; ");
        assert!(help.starts_with("did you mean `upheld explain gateway/default/edge`?"), "{written}: {help}");
    }
}
