//! Every rule and every example of the document "Policy matching algorithm with real resources", by name. Where the document
//! writes a schematic `conf`, policies have `default`.

use serde_json::{Value as Json, json};
use upheld_dialects::kuma::remarks;
use upheld_dialects::kuma::rules::{Rules, kinds};
use upheld_dialects::kuma::view;
use upheld_engine::merge::{About, Merged, Question, Subject, Target};
use upheld_engine::{ObjectId, Ruling};
use upheld_loader::load::{Loaded, load};
use upheld_loader::{Format, Input};
use upheld_model::{Fault, Object, TagSet};
use upheld_report::Depth;

const PROXY: &str = "
type: Mesh
name: mesh-1
---
type: Dataplane
name: web-1
mesh: mesh-1
networking:
  address: 10.0.0.1
  inbound: [{port: 8080, tags: {kuma.io/service: web}}]
";

/// Kubernetes resources, so that their names have the namespace in them.
fn services(names: &[(&str, &str)]) -> String {
    let one = |(name, namespace): &(&str, &str)| {
        format!(
            "---\napiVersion: kuma.io/v1alpha1\nkind: MeshService\n\
             metadata: {{name: {name}, namespace: {namespace}, labels: {{kuma.io/mesh: mesh-1}}}}\n\
             spec: {{ports: [{{name: http, port: 80}}, {{port: 9090}}]}}\n"
        )
    };
    names.iter().map(one).collect()
}

fn timeout(name: &str, to: &str) -> String {
    format!("---\ntype: MeshTimeout\nname: {name}\nmesh: mesh-1\nspec:\n  to:\n{to}")
}

fn item(target: &str, conf: &str) -> String {
    format!("  - targetRef: {{{target}}}\n    default: {{{conf}}}\n")
}

struct World(Loaded);

impl World {
    fn new(documents: &str) -> Self {
        Self::with(documents, "kuma/2")
    }

    fn with(documents: &str, semantics: &str) -> Self {
        let text = PROXY.to_owned() + documents;
        let loaded = load(vec![Input::text("seed.yaml", Format::Yaml, text)], &[semantics]);
        Self(loaded.unwrap_or_else(|broken| panic!("{:#?}", broken.diagnostics)))
    }

    fn object(&self, kind: &str, name: &str) -> (ObjectId, &Object) {
        let snapshot = &self.0.snapshot;
        let same = |object: &Object| (snapshot.text(object.kind), snapshot.text(object.name)) == (kind, name);
        snapshot.objects().iter().find(|(_, object)| same(object)).expect("an object of this name")
    }

    fn rules(&self, kind: &str) -> Rules<'_> {
        let mesh = self.0.snapshot.symbols().get("mesh-1").expect("the mesh");
        kinds(&self.0.snapshot, mesh).into_iter().find(|rules| rules.name() == kind).expect("policies of this kind")
    }

    fn slots(&self, rules: &Rules<'_>) -> Vec<u32> {
        rules.matched(self.object("Dataplane", "web-1").1).iter().map(|admitted| admitted.slot).collect()
    }

    /// Names of resources with the configuration that holds there.
    fn resource_rules(&self) -> Vec<(String, Json)> {
        let rules = self.rules("MeshTimeout");
        let snapshot = &self.0.snapshot;
        let listed = rules.resource_rules(&self.slots(&rules));
        let named = listed.iter().map(|(target, rule)| {
            let name = snapshot.text(snapshot.objects().get(target.object).expect("an object").name);
            let section = target.section.map(|section| format!("#{}", snapshot.text(section))).unwrap_or_default();
            (format!("{name}{section}"), config(&rule.results))
        });
        named.collect()
    }

    /// The direct answer for a called resource.
    fn ask(&self, targets: &[Target]) -> Json {
        let rules = self.rules("MeshTimeout");
        let subject = Subject::of(self.object("Dataplane", "web-1").1);
        config(&Ruling::explain(rules.merge, &Question { subject, about: About::Targets(targets) }).answer.results)
    }

    /// The direct answer for a service that is known by its tag.
    fn ask_service(&self, service: &str) -> Json {
        let rules = self.rules("MeshTimeout");
        let mut lookup = self.0.snapshot.lookup();
        let tags = TagSet::new([(lookup.symbol("kuma.io/service"), Some(lookup.symbol(service)))]);
        let subject = Subject::of(self.object("Dataplane", "web-1").1);
        config(&Ruling::explain(rules.merge, &Question { subject, about: About::Service(&tags) }).answer.results)
    }

    fn inspect(&self, path: &str) -> Json {
        view::inspect(&self.0.snapshot, path).unwrap_or_else(|problem| panic!("{problem}"))
    }
}

fn config(results: &[Merged]) -> Json {
    let first = results.first().and_then(Merged::config);
    first.map_or(Json::Null, |config| serde_json::to_value(config.as_ref()).expect("JSON"))
}

/// The first structure of the document: cells of `kuma.io/service` with what holds there.
#[test]
fn rules_are_subsets_with_a_configuration_and_its_origin() {
    let to = item("kind: MeshService, name: foo", "http: {requestTimeout: 15s}")
        + &item("kind: MeshService, name: bar", "http: {requestTimeout: 20s}");
    let all = item("kind: Mesh", "connectionTimeout: 2s, idleTimeout: 20s");
    let world = World::new(&(timeout("a-services", &to) + &timeout("b-all", &all)));
    let rules = world.rules("MeshTimeout");
    let listed = rules.service_rules(&world.slots(&rules)).expect("few cells");
    let shown: Vec<(String, Json, usize)> = listed
        .iter()
        .map(|rule| {
            let tags: Vec<String> = rule.subset.tags.iter().map(|tag| format!("{}={}", tag.key, tag.value)).collect();
            (tags.join(","), serde_json::to_value(rule.conf.as_ref()).expect("JSON"), rule.entries.len())
        })
        .collect();
    let conf =
        |request: &str| json!({"connectionTimeout": "2s", "idleTimeout": "20s", "http": {"requestTimeout": request}});
    let expected = [
        ("kuma.io/service=foo".to_owned(), conf("15s"), 2),
        ("kuma.io/service=bar".to_owned(), conf("20s"), 2),
        (String::new(), json!({"connectionTimeout": "2s", "idleTimeout": "20s"}), 1),
    ];
    assert_eq!(shown, expected);
}

/// `name: backend, namespace: finance` is the resource `backend.finance` of mesh-1.
#[test]
fn a_reference_by_name_and_namespace_gives_a_single_resource_rule() {
    let to = item("kind: MeshService, name: backend, namespace: finance", "idleTimeout: 1s");
    let world = World::new(&(services(&[("backend", "finance"), ("backend", "shop")]) + &timeout("conf-1", &to)));
    assert_eq!(world.resource_rules(), [("backend.finance".to_owned(), json!({"idleTimeout": "1s"}))]);
    assert!(world.0.warnings.as_slice().is_empty());
}

/// `k8s.kuma.io/namespace: finance` selects three services, so there are three rules.
#[test]
fn labels_expand_to_a_rule_for_each_of_three_resources() {
    let to = item("kind: MeshService, labels: {k8s.kuma.io/namespace: finance}", "idleTimeout: 1s");
    let all = [
        ("finance-backend", "finance"),
        ("finance-frontend", "finance"),
        ("finance-db", "finance"),
        ("redis", "cache"),
    ];
    let world = World::new(&(services(&all) + &timeout("conf-1", &to)));
    let names: Vec<String> = world.resource_rules().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["finance-backend.finance", "finance-db.finance", "finance-frontend.finance"]);
    for (_, conf) in world.resource_rules() {
        assert_eq!(conf, json!({"idleTimeout": "1s"}));
    }
}

/// Old rules for legacy destinations, resource rules for the new `MeshService` resources.
#[test]
fn legacy_destinations_use_subset_rules_and_real_resources_use_resource_rules() {
    let by_tag = item("kind: MeshService, name: backend", "idleTimeout: 1s");
    let by_label = item("kind: MeshService, labels: {kuma.io/display-name: backend}", "idleTimeout: 2s");
    let world = World::new(
        &(services(&[("backend", "finance")]) + &timeout("by-tag", &by_tag) + &timeout("by-label", &by_label)),
    );
    let (backend, _) = world.object("MeshService", "backend.finance");
    assert_eq!(world.ask(&[Target::whole(backend)]), json!({"idleTimeout": "2s"}));
    assert_eq!(world.ask_service("backend"), json!({"idleTimeout": "1s"}));
}

/// The map is keyed by type, name, mesh (and section): one look, with the fallback to the service and to the mesh.
#[test]
fn a_known_resource_is_found_by_its_key() {
    let to = item("kind: Mesh", "idleTimeout: 1s")
        + &item("kind: MeshService, name: backend, namespace: finance", "idleTimeout: 2s")
        + &item("kind: MeshService, name: backend, namespace: finance, sectionName: http", "idleTimeout: 3s");
    let world = World::new(&(services(&[("backend", "finance"), ("redis", "cache")]) + &timeout("all", &to)));
    let rules = world.rules("MeshTimeout");
    let listed = rules.resource_rules(&world.slots(&rules));
    let symbol = |text: &str| world.0.snapshot.symbols().get(text);
    let look = |name: &str, section: Option<&str>| {
        let target = Target { object: world.object("MeshService", name).0, section: section.and_then(symbol) };
        listed.lookup(target, &rules.surroundings()).map(|rule| config(&rule.results))
    };
    assert_eq!(look("backend.finance", Some("http")), Some(json!({"idleTimeout": "3s"})), "the section");
    assert_eq!(look("backend.finance", Some("9090")), Some(json!({"idleTimeout": "2s"})), "its service");
    assert_eq!(look("redis.cache", Some("http")), Some(json!({"idleTimeout": "1s"})), "its mesh");
}

/// "No changes for from policies": clients stay in subsets.
#[test]
fn from_policies_keep_their_subsets() {
    let permission = "---
type: MeshTrafficPermission
name: permit
mesh: mesh-1
spec:
  from:
  - {targetRef: {kind: Mesh}, default: {action: Deny}}
  - {targetRef: {kind: MeshService, name: legacy}, default: {action: Allow}}
";
    let world = World::new(permission);
    let rules = world.rules("MeshTrafficPermission");
    let listed = rules.client_rules(&world.slots(&rules)).expect("few cells");
    let shown: Vec<(bool, Json)> = listed
        .iter()
        .map(|rule| (rule.subset.tags[0].not, serde_json::to_value(rule.conf.as_ref()).expect("JSON")))
        .collect();
    assert_eq!(shown, [(false, json!({"action": "Allow"})), (true, json!({"action": "Deny"}))]);
}

/// All keys of the document's `InspectRule`, `Rule` and `ResourceRule`; values as release 2.14 refined them.
#[test]
fn the_inspect_rule_has_every_key_of_the_schema() {
    let to = item("kind: MeshService, name: backend, namespace: finance", "idleTimeout: 1s");
    let trace = "---\ntype: MeshTrace\nname: trace\nmesh: mesh-1\nspec: {default: {backends: []}}\n";
    let permission = "---\ntype: MeshTrafficPermission\nname: permit\nmesh: mesh-1\n\
                      spec: {from: [{targetRef: {kind: Mesh}, default: {action: Allow}}]}\n";
    let documents = services(&[("backend", "finance")]) + &timeout("conf-1", &to) + trace + permission;
    let body = World::new(&documents).inspect("/meshes/mesh-1/dataplanes/web-1/_rules");
    let of = |kind: &str| {
        let rules = body["rules"].as_array().expect("rules").iter();
        rules.clone().find(|rule| rule["type"] == kind).unwrap_or_else(|| panic!("no {kind} in {body}")).clone()
    };
    let timeouts = of("MeshTimeout");
    for key in ["type", "toRules", "toResourceRules", "fromRules", "warnings"] {
        assert!(timeouts.get(key).is_some(), "{key}");
    }
    for key in ["matchers", "conf", "origin"] {
        assert!(timeouts["toRules"][0].get(key).is_some(), "{key}");
        assert!(of("MeshTrafficPermission")["fromRules"][0]["rules"][0].get(key).is_some(), "{key}");
    }
    let resource = &timeouts["toResourceRules"][0];
    assert_eq!(resource["resourceMeta"]["name"], "backend.finance");
    assert_eq!(resource["resourceMeta"]["mesh"], "mesh-1");
    assert_eq!(resource["conf"], json!([{"idleTimeout": "1s"}]));
    assert_eq!(resource["origin"][0]["resourceMeta"]["name"], "conf-1");
    assert_eq!(resource["origin"][0]["ruleIndex"], 0);
    assert!(of("MeshTrace")["proxyRule"].get("conf").is_some());
}

/// The document's example of a warning: "Mesh is not Mtls enabled this policy will have no effect".
#[test]
fn a_permission_without_mutual_tls_is_told_to_have_no_effect() {
    let permission = "---\ntype: MeshTrafficPermission\nname: permit\nmesh: mesh-1\n\
                      spec: {from: [{targetRef: {kind: Mesh}, default: {action: Allow}}]}\n";
    let world = World::new(permission);
    let rules = world.rules("MeshTrafficPermission");
    let (_, proxy) = world.object("Dataplane", "web-1");
    let lookup = world.0.snapshot.lookup();
    let about = About::Client { part: 0, tags: &TagSet::default() };
    let answer = Ruling::explain(rules.merge, &Question { subject: Subject::of(proxy), about }).answer;
    assert_eq!(answer.entries.len(), 1);
    let found = remarks::of(&rules, &lookup, proxy, about, Depth::All);
    assert!(found.iter().any(|remark| remark.fault == Fault::NoEffect), "{found:?}");
}
