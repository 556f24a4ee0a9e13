//! `*-matched-*`: which policies match a proxy, and the rules that it gets from them.

use anyhow::Context;
use serde_json::{Map, Value as Json, json};
use upheld_dialects::kuma::edition::Edition;
use upheld_dialects::kuma::layered::ROUTE;
use upheld_dialects::kuma::rules::{Listener, Rules};

use super::V2;
use super::deployment::of_matching;
use super::scene::{Cast, Scene, compare, refused, text};
use crate::case::Case;
use crate::outcome::Outcome;

/// `*-matched-dataplanepolicies` and `*-matched-dataplane-kind`
pub(super) fn run_policies(case: &Case, edition: Edition) -> anyhow::Result<Outcome> {
    let matching = Matching::of(case, edition)?;
    let Matching { scene, kind } = &matching;
    let mut items = Vec::new();
    if let Some(rules) = scene.rules(kind)? {
        for slot in matching.matched(&rules)? {
            let policy = rules.policy(slot).context("there is no such policy")?;
            let mut item = scene.rest_meta(policy.at)?;
            if let Some(fields) = item.as_object_mut() {
                fields.insert("spec".to_owned(), scene.spec(&rules, slot)?);
            }
            items.push(item);
        }
    }
    Ok(compare(&case.document("golden.yaml")?, &json!({"items": items, "next": null, "total": 0})))
}

/// `*-matched-fromrules`
pub(super) fn run_from(case: &Case, edition: Edition) -> anyhow::Result<Outcome> {
    let matching = Matching::of(case, edition)?;
    let (mut inbound, mut clients) = (Map::new(), Map::new());
    if let Some(rules) = matching.scene.rules("MeshTrafficPermission")? {
        for (listener, slots) in matching.by_listener(&rules)? {
            let (scene, listener) = (&matching.scene, listener.to_string());
            inbound.insert(listener.clone(), scene.inbound_rules(&rules, &rules.inbound_rules(&slots))?);
            clients.insert(listener, scene.subset_rules(&rules, &rules.client_rules(&slots).map_err(refused)?)?);
        }
    }
    let mut actual = json!({"InboundRules": inbound});
    if let (Some(fields), true) = (actual.as_object_mut(), edition != Edition::V3) {
        fields.insert("Rules".to_owned(), Json::Object(clients));
    }
    Ok(compare(&case.document("golden.yaml")?, &actual))
}

/// `*-matched-torules` and `*-matched-meshexternalservice`
pub(super) fn run_to(case: &Case, edition: Edition) -> anyhow::Result<Outcome> {
    let matching = Matching::of(case, edition)?;
    let Matching { scene, kind } = &matching;
    let mut actual = match scene.rules(kind)? {
        Some(rules) => matching.to_rules(&rules, &matching.matched(&rules)?)?,
        None => json!({"ResourceRules": {}, "Rules": []}),
    };
    if let (Some(fields), true) = (actual.as_object_mut(), edition == Edition::V3) {
        fields.remove("Rules");
    }
    Ok(compare(&case.document("golden.yaml")?, &actual))
}

/// `v2-matched-meshgateways`
pub(super) fn run_gateways(case: &Case) -> anyhow::Result<Outcome> {
    let matching = Matching::of(case, V2)?;
    let scene = &matching.scene;
    let [mut clients, mut inbound, mut by_listener, mut by_hostname] = [Map::new(), Map::new(), Map::new(), Map::new()];
    if let Some(rules) = scene.rules("MeshAccessLog")? {
        for (listener, slots) in matching.by_listener(&rules)? {
            let listener = listener.to_string();
            clients
                .insert(listener.clone(), scene.subset_rules(&rules, &rules.client_rules(&slots).map_err(refused)?)?);
            inbound.insert(listener.clone(), scene.inbound_rules(&rules, &rules.inbound_rules(&slots))?);
            by_listener.insert(listener, matching.to_rules(&rules, &slots)?);
        }
        let proxy = scene.proxy()?;
        for (listener, slots) in rules.by_hostname(proxy, &rules.matched(proxy)) {
            by_hostname.insert(listener.to_string(), matching.to_rules(&rules, &slots)?);
        }
    }
    let actual = json!({
        "FromRules": clients,
        "InboundRules": inbound,
        "ToRules": {"ByListener": by_listener, "ByListenerAndHostname": by_hostname},
    });
    Ok(compare(&case.document("golden.yaml")?, &actual))
}

/// A proxy among policies.
struct Matching {
    scene: Scene,
    /// The type of policies that the case asks about.
    kind: String,
}

impl Matching {
    fn of(case: &Case, edition: Edition) -> anyhow::Result<Self> {
        let (proxies, policies) = match case.variant() {
            Some(variant) => of_matching(variant).map(|(proxies, policies)| (Some(proxies), Some(policies)))?,
            None => (None, None),
        };
        let documents = case.documents("policies.yaml")?;
        let is_policy = |kind: &&str| kind.starts_with("Mesh") && !NO_POLICIES.contains(kind);
        let kinds = || documents.iter().map(|document| text(document, "type")).filter(is_policy);
        let kind = kinds().find(|kind| *kind != ROUTE).or_else(|| kinds().next());
        let kind = kind.context("the case has no policies")?.to_owned();
        let mut cast = Cast::default();
        let mut add = |documents: Vec<Json>, blocks: Option<&[_]>| match blocks {
            Some(blocks) => documents.iter().for_each(|document| drop(cast.deploy(document, blocks))),
            None => cast.add(documents),
        };
        add(case.documents("dataplane.yaml")?, proxies.as_deref());
        add(documents, policies.as_deref());
        if case.has_file("mes.yaml") {
            add(case.documents("mes.yaml")?, policies.as_deref());
        }
        Ok(Self { scene: cast.read(edition)?, kind })
    }

    /// Those that match, the lowest priority first.
    fn matched(&self, rules: &Rules<'_>) -> anyhow::Result<Vec<u32>> {
        Ok(rules.matched(self.scene.proxy()?).iter().map(|admitted| admitted.slot).collect())
    }

    fn by_listener(&self, rules: &Rules<'_>) -> anyhow::Result<Vec<(Listener, Vec<u32>)>> {
        let proxy = self.scene.proxy()?;
        Ok(rules.by_listener(proxy, &rules.matched(proxy)))
    }

    fn to_rules(&self, rules: &Rules<'_>, slots: &[u32]) -> anyhow::Result<Json> {
        Ok(json!({
            "ResourceRules": self.scene.resource_rules(rules, &rules.resource_rules(slots))?,
            "Rules": self.scene.subset_rules(rules, &rules.service_rules(slots).map_err(refused)?)?,
        }))
    }
}

/// Types with such names that are not policies.
const NO_POLICIES: [&str; 5] = ["Mesh", "MeshGateway", "MeshService", "MeshExternalService", "MeshMultiZoneService"];
