//! Small worlds, written in YAML, and what there is to see of them.

use serde_json::{Value as Json, json};
use upheld_dialects::document::Resource;
use upheld_dialects::kuma::edition::Edition;
use upheld_dialects::kuma::ends::proxies;
use upheld_dialects::kuma::meta::Meta;
use upheld_dialects::kuma::rules::{Rules, SubsetRule};
use upheld_engine::EntryId;
use upheld_engine::merge::Merged;
use upheld_loader::load::{Choices, Loaded};
use upheld_loader::{Format, Input};
use upheld_model::{Fault, Object};

pub(crate) const V2: Edition = Edition::V2;
pub(crate) const CLIQUES: Edition = Edition::V2Cliques;
pub(crate) const V3: Edition = Edition::V3;

/// A proxy of a zone and a namespace.
pub(crate) const WEB: &str = "
type: Dataplane
name: web
labels: {app: web, kuma.io/origin: zone, kuma.io/zone: east, k8s.kuma.io/namespace: shop}
networking:
  address: 10.0.0.1
  inbound:
  - {port: 8080, name: main, tags: {kuma.io/service: web, version: v1}}
  - {port: 9090, tags: {kuma.io/service: web-admin}}
";

/// A gateway that somebody else configures.
pub(crate) const KONG: &str = "
type: Dataplane
name: kong
labels: {app: kong}
networking:
  address: 10.0.0.2
  gateway: {tags: {kuma.io/service: kong}}
";

pub(crate) struct World(Loaded);

impl World {
    #[track_caller]
    pub(crate) fn new(edition: Edition, documents: &[&str]) -> Self {
        let text = documents.join("\n---\n");
        // What policies say tells here who said it.
        let choices = Choices::of_semantics(&[edition.name()]).without_schemas();
        let loaded = choices.load(vec![Input::text("world.yaml", Format::Yaml, text)]);
        Self(loaded.unwrap_or_else(|broken| panic!("{:#?}", broken.diagnostics)))
    }

    #[track_caller]
    pub(crate) fn rules(&self, kind: &str) -> Rules<'_> {
        let snapshot = &self.0.snapshot;
        let mesh = snapshot.symbols().get("default").unwrap();
        let (id, _) = snapshot.kinds().iter().find(|(_, known)| snapshot.text(known.name) == kind).unwrap();
        Rules::of(snapshot, id, mesh).unwrap()
    }

    pub(crate) fn proxy(&self) -> &Object {
        proxies(&self.0.snapshot).next().unwrap().1
    }

    pub(crate) fn object(&self, kind: &str) -> &Object {
        let snapshot = &self.0.snapshot;
        snapshot.objects().iter().find(|(_, object)| snapshot.text(object.kind) == kind).unwrap().1
    }

    /// The policies that match the proxy, the lowest priority first.
    pub(crate) fn slots(&self, rules: &Rules<'_>) -> Vec<u32> {
        rules.matched(self.proxy()).iter().map(|admitted| admitted.slot).collect()
    }

    /// Their names.
    pub(crate) fn matched(&self, kind: &str) -> Vec<String> {
        let rules = self.rules(kind);
        self.slots(&rules).into_iter().map(|slot| self.name(&rules, slot)).collect()
    }

    pub(crate) fn name(&self, rules: &Rules<'_>, slot: u32) -> String {
        self.0.snapshot.text(rules.policy(slot).unwrap().name).to_owned()
    }

    /// Where policies are attached: `10.0.0.1:8080 a b`, the lowest priority first.
    pub(crate) fn listeners(&self, kind: &str) -> Vec<String> {
        let rules = self.rules(kind);
        let listed = rules.by_listener(self.proxy(), &rules.matched(self.proxy()));
        let names =
            |slots: &[u32]| slots.iter().map(|slot| format!(" {}", self.name(&rules, *slot))).collect::<String>();
        listed.iter().map(|(listener, slots)| format!("{listener}{}", names(slots))).collect()
    }

    /// What holds for resources, by identifier.
    pub(crate) fn resources(&self, kind: &str) -> Json {
        let rules = self.rules(kind);
        let snapshot = &self.0.snapshot;
        let mut shown = json!({});
        for (target, rule) in rules.resource_rules(&self.slots(&rules)).iter() {
            let object = snapshot.objects().get(target.object).unwrap();
            let mut kri = Meta::of(Resource::of(snapshot.files().value(object.at).unwrap()).unwrap()).kri();
            kri.section = target.section.map_or("", |section| snapshot.text(section)).to_owned();
            shown[kri.to_string()] = confs(&rule.results);
        }
        shown
    }

    /// What holds for services that are known by tags: cells with configurations.
    pub(crate) fn services(&self, kind: &str) -> Vec<(String, Json)> {
        let rules = self.rules(kind);
        cells(&rules.service_rules(&self.slots(&rules)).unwrap())
    }

    /// Where an entry comes from: `policy[number]`.
    pub(crate) fn origin(&self, rules: &Rules<'_>, entry: EntryId) -> String {
        let entry = rules.merge.entry(entry).unwrap();
        format!("{}[{}]", self.name(rules, entry.slot), entry.item)
    }

    /// What was told about things of a sort.
    pub(crate) fn warnings(&self, fault: Fault) -> Vec<&str> {
        let all = self.0.warnings.as_slice().iter();
        all.filter(|warning| warning.fault == fault).map(|warning| warning.message.as_str()).collect()
    }
}

/// Cells as `a=b !c=d`, with configurations.
pub(crate) fn cells(rules: &[SubsetRule]) -> Vec<(String, Json)> {
    let cell = |rule: &SubsetRule| {
        let tags = rule.subset.tags.iter();
        let tags: Vec<String> =
            tags.map(|tag| format!("{}{}={}", if tag.not { "!" } else { "" }, tag.key, tag.value)).collect();
        (tags.join(" "), serde_json::to_value(rule.conf.as_ref()).unwrap())
    };
    rules.iter().map(cell).collect()
}

pub(crate) fn confs(results: &[Merged]) -> Json {
    results.iter().map(|result| serde_json::to_value(result.config().unwrap().as_ref()).unwrap()).collect()
}

/// A policy with a top-level reference and the rest of its spec, in flow style.
pub(crate) fn policy(kind: &str, name: &str, labels: &str, top: &str, rest: &str) -> String {
    format!("type: {kind}\nname: {name}\nlabels: {{{labels}}}\nspec:\n  targetRef: {{{top}}}\n  {rest}")
}

/// A `MeshTimeout` for all destinations.
pub(crate) fn timeout(name: &str, labels: &str, top: &str) -> String {
    let to = format!("to: [{{targetRef: {{kind: Mesh}}, default: {{by: {name}}}}}]");
    policy("MeshTimeout", name, labels, top, &to)
}
