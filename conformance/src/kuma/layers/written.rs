//! Policies as goldens repeat them: as they were read, with defaults, without what is not read.

use anyhow::Context;
use serde_json::Value as Json;
use upheld_dialects::kuma::edition::Edition;
use upheld_dialects::kuma::rules::Rules;
use upheld_engine::Payload;
use upheld_engine::merge::Entry;
use upheld_model::Facet;

use super::scene::Scene;

impl Scene {
    /// What a policy says.
    pub(super) fn spec(&self, rules: &Rules<'_>, slot: u32) -> anyhow::Result<Json> {
        let policy = rules.policy(slot).context("there is no such policy")?;
        let spec = self.resource(policy.at)?.spec().context("a policy says nothing")?;
        let mut spec = serde_json::to_value(spec)?;
        if rules.edition == Edition::V3 {
            spec.get_mut("targetRef").into_iter().for_each(forget);
        }
        for facet in Facet::ALL {
            let Some(choice) = rules.merge.kind().facet(facet) else { continue };
            let field = self.snapshot().text(choice.field);
            for (_, entry) in rules.merge.entries_of(slot, facet) {
                match (facet, spec.get_mut(field)) {
                    (Facet::Whole, Some(place)) => *place = serde_json::to_value(entry.config.as_ref())?,
                    (_, Some(list)) => {
                        if let Some(place) = list.get_mut(entry.item as usize) {
                            *place = self.item(rules, entry)?;
                        }
                    }
                    (_, None) => {}
                }
            }
        }
        Ok(spec)
    }

    /// What an item of a policy says.
    pub(super) fn item(&self, rules: &Rules<'_>, entry: &Entry) -> anyhow::Result<Json> {
        let item = self.snapshot().files().value(entry.at).context("an entry has no document")?;
        let mut item = serde_json::to_value(item)?;
        let conf = serde_json::to_value(entry.config.as_ref())?;
        if let (Some(choice), Some(fields)) = (rules.merge.kind().facet(entry.facet), item.as_object_mut()) {
            match (choice.payload, conf) {
                (Payload::Field(field), conf) => drop(fields.insert(self.snapshot().text(field).to_owned(), conf)),
                (Payload::Rest, Json::Object(conf)) => fields.extend(conf),
                // Only one of the rules was read.
                _ => {}
            }
        }
        if rules.edition == Edition::V3 {
            item.get_mut("targetRef").into_iter().for_each(forget);
        }
        Ok(item)
    }
}

/// Leaves out what references of Kuma 3 have no more.
pub(super) fn forget(reference: &mut Json) {
    for field in ["name", "namespace", "tags", "proxyTypes", "mesh"] {
        reference.as_object_mut().and_then(|fields| fields.remove(field));
    }
}
