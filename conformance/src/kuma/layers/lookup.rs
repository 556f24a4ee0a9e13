//! `unit-resource-lookup`: which rule holds for a resource that may have none of its own.
//!
//! Cases give the rules. Here every rule is what a policy says to a resource of its own; more specific rules override the
//! others in the one field that there is, so that each rule says what the case says.

use anyhow::{Context, bail};
use serde_json::{Value as Json, json};
use upheld_dialects::kuma::kri::Kri;
use upheld_engine::merge::{Target, TargetRules};
use upheld_model::Facet;

use super::V3;
use super::scene::{Cast, Scene};
use crate::case::Case;
use crate::outcome::Outcome;

/// The type of the policies; which one it is does not matter.
const POLICY: &str = "MeshTimeout";
/// The field of configurations that has the conf of the case.
const FIELD: &str = "conf";
/// The label by which a resource is referred to.
const LABEL: &str = "case/id";

pub(super) fn run(case: &Case) -> anyhow::Result<Outcome> {
    let actual = match case.text("function")? {
        "ResourceRules.Compute" => {
            let query: Kri = parsed(case.input("query").as_str().context("the case has no query")?)?;
            let meshes: Vec<&str> = case.input_list("meshes").iter().filter_map(Json::as_str).collect();
            let mut listed = Listed { kris: vec![query.clone()], ..Listed::default() };
            for (text, conf) in case.input("rules").as_object().into_iter().flatten() {
                listed.add(parsed(text)?, conf);
            }
            listed.meshes = meshes.into_iter().map(str::to_owned).collect();
            listed.answer(&query.mesh, |scene, rules, surroundings| {
                Ok(rules.lookup(target(scene, &query)?, &surroundings).and_then(conf_of))
            })?
        }
        "ResourceContext.Conf" => {
            let mut listed = Listed { meshes: vec![MESH.to_owned()], ..Listed::default() };
            let ids: Vec<&str> = case.input_list("idsMostSpecificFirst").iter().filter_map(Json::as_str).collect();
            listed.kris.extend(ids.iter().map(|id| kri_of(id)));
            for (id, conf) in case.input("rules").as_object().into_iter().flatten() {
                listed.add(kri_of(id), conf);
            }
            let answer = listed.answer(MESH, |scene, rules, _| {
                let targets: Vec<Target> =
                    ids.iter().map(|id| target(scene, &kri_of(id))).collect::<anyhow::Result<_>>()?;
                Ok(rules.first(&targets).and_then(conf_of))
            })?;
            // A context has one conf, rules have a list.
            answer.get(FIELD).map(|conf| json!({FIELD: conf.get(0)})).unwrap_or_default()
        }
        other => bail!("there is no function `{other}`"),
    };
    // Some cases write nothing as a conf that is null.
    let nothing = actual.is_null() && case.expected().get(FIELD).is_some_and(Json::is_null);
    Ok(if nothing { Outcome::Passed } else { Outcome::compare(case.expected(), &actual) })
}

/// The mesh of resources that a case calls by any word.
const MESH: &str = "mesh-1";

/// A resource for a word: the mesh itself, or a service.
fn kri_of(id: &str) -> Kri {
    let is_mesh = id == "mesh";
    let [kind, mesh, name] = if is_mesh { ["Mesh", "", MESH] } else { ["MeshService", MESH, id] }.map(str::to_owned);
    let [zone, namespace, section] = [const { String::new() }; 3];
    Kri { kind, mesh, zone, namespace, name, section }
}

fn parsed(text: &str) -> anyhow::Result<Kri> {
    text.parse().map_err(|problem| anyhow::anyhow!("{problem}"))
}

fn conf_of(rule: &std::sync::Arc<upheld_engine::merge::Rule>) -> Option<Json> {
    let conf = rule.results.first()?.config()?;
    serde_json::to_value(conf.get(FIELD)?.as_ref()).ok()
}

/// Resources and what policies say to them.
#[derive(Default)]
struct Listed {
    kris: Vec<Kri>,
    confs: Vec<(Kri, Json)>,
    meshes: Vec<String>,
}

impl Listed {
    fn add(&mut self, kri: Kri, conf: &Json) {
        self.kris.push(kri.clone());
        if conf.as_array().is_none_or(|conf| !conf.is_empty()) {
            self.confs.push((kri, conf.clone()));
        }
    }

    fn answer(
        &self,
        mesh: &str,
        ask: impl Fn(&Scene, &TargetRules, &dyn Fn(Target) -> Option<Target>) -> anyhow::Result<Option<Json>>,
    ) -> anyhow::Result<Json> {
        let mut documents: Vec<Json> = self.policies(mesh);
        documents.extend(self.meshes.iter().map(|name| json!({"type": "Mesh", "name": name})));
        documents.extend(self.resources());
        let mut cast = Cast::default();
        cast.add(documents);
        let scene = cast.read(V3)?;
        let rules = scene.rules(POLICY)?.context("the policies of the case were lost")?;
        let entries = rules.entries(&rules.in_document_order(), Facet::Objects);
        let surroundings = rules.surroundings();
        let listed = rules.merge.target_rules(&entries, &surroundings);
        Ok(ask(&scene, &listed, &surroundings)?.map_or(Json::Null, |conf| json!({FIELD: conf})))
    }

    /// One policy for each rule, and one that says nothing, since there must be one.
    fn policies(&self, mesh: &str) -> Vec<Json> {
        let policy = |name: String, to: Json| json!({"type": POLICY, "name": name, "mesh": mesh, "spec": {"to": to}});
        let said = self.confs.iter().enumerate().map(|(number, (kri, conf))| {
            let mut target = json!({"kind": kri.kind});
            if let (Some(target), true) = (target.as_object_mut(), kri.kind != "Mesh") {
                target.insert("labels".to_owned(), json!({LABEL: kri.without_section().to_string()}));
                if !kri.section.is_empty() {
                    target.insert("sectionName".to_owned(), json!(kri.section));
                }
            }
            policy(format!("policy-{number}"), json!([{"targetRef": target, "default": {FIELD: conf}}]))
        });
        std::iter::once(policy("silent".to_owned(), json!([]))).chain(said).collect()
    }

    /// Every resource once, with all sections that are spoken of.
    fn resources(&self) -> Vec<Json> {
        let mut whole: Vec<Kri> = self.kris.iter().map(Kri::without_section).collect();
        whole.retain(|kri| kri.kind != "Mesh");
        whole.sort();
        whole.dedup();
        let resource = |kri: &Kri| {
            let sections = self.kris.iter().filter(|one| one.without_section() == *kri && !one.section.is_empty());
            let mut names: Vec<&str> = sections.map(|one| one.section.as_str()).collect();
            names.sort_unstable();
            names.dedup();
            let ports: Json = names.iter().map(|name| json!({"port": 80, "name": name})).collect();
            let spec = match kri.kind.as_str() {
                "MeshExternalService" => json!({}),
                "MeshHTTPRoute" => json!({"to": []}),
                _ => json!({"ports": ports}),
            };
            let id = kri.to_string();
            json!({"type": kri.kind, "name": id, "mesh": kri.mesh, "labels": {LABEL: id}, "spec": spec})
        };
        whole.iter().map(resource).collect()
    }
}

fn target(scene: &Scene, kri: &Kri) -> anyhow::Result<Target> {
    let snapshot = scene.snapshot();
    let name = if kri.kind == "Mesh" { kri.name.clone() } else { kri.without_section().to_string() };
    let mut objects = snapshot.objects().iter();
    let found =
        objects.find(|(_, object)| snapshot.text(object.kind) == kri.kind && snapshot.text(object.name) == name);
    let (object, _) = found.with_context(|| format!("there is no {kri}"))?;
    Ok(Target { object, section: snapshot.symbols().get(&kri.section).filter(|_| !kri.section.is_empty()) })
}
