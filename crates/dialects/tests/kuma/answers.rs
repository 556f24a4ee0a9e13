//! Answers about policies in layers that were wrong once.

use upheld_dialects::kuma::permission::{Verdict, verdict};
use upheld_dialects::kuma::rules::{Rules, kinds};
use upheld_engine::merge::{About, Question, Subject};
use upheld_engine::{Ruling, Snapshot};
use upheld_loader::load::{Loaded, load};
use upheld_loader::{Format, Input};
use upheld_model::{Fault, Object};

fn world(text: &str, semantics: &str) -> Loaded {
    let loaded = load(vec![Input::text("world.yaml", Format::Yaml, text)], &[semantics]);
    loaded.unwrap_or_else(|broken| panic!("{:#?}", broken.diagnostics))
}

fn proxy<'s>(snapshot: &'s Snapshot, name: &str) -> &'s Object {
    let mut objects = snapshot.objects().iter().map(|(_, object)| object);
    objects.find(|object| snapshot.text(object.name) == name).expect("a proxy of this name")
}

fn rules<'s>(snapshot: &'s Snapshot, kind: &str) -> Rules<'s> {
    let mesh = snapshot.symbols().get("default").expect("the mesh");
    kinds(snapshot, mesh).into_iter().find(|rules| rules.name() == kind).expect("policies of the kind")
}

const WEB: &str = "type: Dataplane
name: web-1
networking: {address: 10.0.0.1, inbound: [{port: 80, tags: {kuma.io/service: web}}]}
---
";

/// Whether a caller may, by its identity.
fn may(text: &str, identity: &str) -> Option<Verdict> {
    let loaded = world(text, "kuma/3");
    let (snapshot, mut lookup) = (&loaded.snapshot, loaded.snapshot.lookup());
    let rules = rules(snapshot, "MeshTrafficPermission");
    let caller = [(lookup.symbol("spiffeID"), Some(identity))];
    let about = About::Inbound { part: 0, caller: &caller };
    let question = Question { subject: Subject::of(proxy(snapshot, "web-1")), about };
    verdict(&rules, about, &Ruling::explain(rules.merge, &question).answer, &lookup)
}

#[test]
fn a_deny_of_any_policy_counts_before_every_allow() {
    let text = format!(
        "{WEB}type: MeshTrafficPermission
name: a-high
spec:
  rules:
  - default:
      deny: [{{spiffeID: {{type: Exact, value: spiffe://mesh/y}}}}]
      allow: [{{spiffeID: {{type: Prefix, value: spiffe://mesh/}}}}]
---
type: MeshTrafficPermission
name: b-low
spec:
  rules: [{{default: {{deny: [{{spiffeID: {{type: Exact, value: spiffe://mesh/x}}}}]}}}}]
"
    );
    assert_eq!(may(&text, "spiffe://mesh/x"), Some(Verdict::Refused));
    assert_eq!(may(&text, "spiffe://mesh/y"), Some(Verdict::Refused));
    assert_eq!(may(&text, "spiffe://mesh/z"), Some(Verdict::Allowed));
    assert_eq!(may(&text, "spiffe://other/z"), Some(Verdict::Refused));
}

#[test]
fn what_is_not_known_of_a_caller_is_not_taken_for_granted() {
    let text = format!(
        "{WEB}type: MeshTrafficPermission
name: by-name
spec:
  rules:
  - default:
      allow: [{{spiffeID: {{type: Prefix, value: spiffe://mesh/}}, sni: {{type: Exact, value: web.mesh}}}}]
"
    );
    assert_eq!(may(&text, "spiffe://mesh/x"), Some(Verdict::Unknown));
    assert_eq!(may(&text, "spiffe://other/x"), Some(Verdict::Refused));
}

#[test]
fn a_mesh_that_no_document_describes_is_implied_also_in_lists() {
    let policy = "items:
- type: MeshTimeout
  name: slow
  mesh: default
  spec: {to: [{targetRef: {kind: Mesh}, default: {idleTimeout: 1s}}]}
";
    for text in [format!("{WEB}{policy}"), format!("{WEB}{policy}---\nitems: [{{type: Mesh, name: default}}]\n")] {
        let loaded = world(&text, "kuma/2");
        let rules = rules(&loaded.snapshot, "MeshTimeout");
        let slots: Vec<u32> =
            rules.matched(proxy(&loaded.snapshot, "web-1")).iter().map(|admitted| admitted.slot).collect();
        assert_eq!(rules.resource_rules(&slots).len(), 1);
    }
}

#[test]
fn documents_of_other_systems_imply_no_mesh() {
    let meshes = |text: &str| {
        let loaded = load(vec![Input::text("world.yaml", Format::Yaml, text)], &["kuma/2"]).expect("is read");
        let snapshot = loaded.snapshot;
        snapshot.objects().iter().filter(|(_, object)| snapshot.text(object.kind) == "Mesh").count()
    };
    for text in [
        "apiVersion: autoscaling.k8s.io/v1\nkind: VerticalPodAutoscaler\nmetadata: {name: v}\nspec: {targetRef: {kind: Deployment, name: d}}\n",
        "apiVersion: policy.linkerd.io/v1alpha1\nkind: MeshTLSAuthentication\nmetadata: {name: v}\nspec: {identities: ['*']}\n",
    ] {
        assert_eq!(meshes(text), 0, "{text}");
    }
    let own = "apiVersion: kuma.io/v1alpha1\nkind: MeshTimeout\nmetadata: {name: slow, namespace: n}\n\
               spec: {to: [{targetRef: {kind: Mesh}, default: {idleTimeout: 1s}}]}\n";
    assert_eq!(meshes(own), 1);
    // One of that name elsewhere is another one.
    let other = "---\napiVersion: appmesh.k8s.aws/v1beta2\nkind: Mesh\nmetadata: {name: default}\nspec: {}\n";
    assert_eq!(meshes(&format!("{own}{other}")), 1);
}

#[test]
fn an_inbound_whose_name_is_null_is_picked_by_its_port() {
    let text = WEB.replace("{port: 80,", "{name: null, port: 80,");
    let loaded = world(&text, "kuma/2");
    let part = &proxy(&loaded.snapshot, "web-1").parts[0];
    assert_eq!(loaded.snapshot.text(part.section), "80");
}

#[test]
fn a_document_with_both_a_type_and_a_version_of_the_api_is_read() {
    let text = "apiVersion: kuma.io/v1alpha1\ntype: MeshTimeout\nname: slow\nmesh: default\n\
                spec: {to: [{targetRef: {kind: Mesh}, default: {idleTimeout: 1s}}]}\n";
    assert_eq!(world(text, "kuma/2").snapshot.policies().iter().count(), 1);
}

#[test]
fn routes_that_all_lead_to_each_other_end_with_a_warning() {
    let route = |number: usize| {
        format!(
            "---\ntype: MeshHTTPRoute\nname: r{number}\nlabels: {{x: '1'}}\n\
             spec: {{targetRef: {{kind: MeshHTTPRoute, labels: {{x: '1'}}}}, to: []}}\n"
        )
    };
    let text = format!("{WEB}{}", (0..12).map(route).collect::<String>());
    let loaded = world(&text, "kuma/3");
    let told = loaded.warnings.as_slice();
    assert!(told.iter().any(|told| told.fault == Fault::DanglingReference && told.message.contains("too many routes")));
}

#[test]
fn a_misspelt_caller_is_refused_and_not_taken_for_everybody() {
    let text = format!(
        "{WEB}type: MeshTimeout
name: slow
spec: {{rules: [{{matches: [{{spiffeId: {{type: Exact, value: spiffe://mesh/x}}}}], default: {{idleTimeout: 1s}}}}]}}
"
    );
    let broken = load(vec![Input::text("world.yaml", Format::Yaml, text)], &["kuma/3"]).expect_err("a typo");
    assert!(broken.diagnostics.as_slice().iter().any(|problem| problem.fault == Fault::UnknownField));
}
