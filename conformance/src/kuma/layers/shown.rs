//! Rules as goldens write them.

use anyhow::Context;
use serde_json::{Map, Value as Json, json};
use upheld_dialects::kuma::meta::Meta;
use upheld_dialects::kuma::rules::{InboundRule, Rules, SubsetRule, origin_by_matches};
use upheld_engine::EntryId;
use upheld_engine::merge::{Merged, TargetRules};

use super::scene::{Scene, origin};

impl Scene {
    /// A rule for what comes in.
    pub(super) fn inbound_rules(&self, rules: &Rules<'_>, listed: &[InboundRule]) -> anyhow::Result<Json> {
        let one = |rule: &InboundRule| -> anyhow::Result<Json> {
            let conf = &rules.merge.entry(rule.entry).context("a rule has no entry")?.config;
            let callers =
                rule.callers.as_ref().map_or(Ok(Json::Null), |callers| serde_json::to_value(callers.as_ref()))?;
            Ok(json!({
                "match": callers,
                "conf": serde_json::to_value(conf.as_ref())?,
                "origin": self.numbered_origin(rules, rule.entry)?,
            }))
        };
        listed.iter().map(one).collect()
    }

    /// Cells of clients or services.
    pub(super) fn subset_rules(&self, rules: &Rules<'_>, listed: &[SubsetRule]) -> anyhow::Result<Json> {
        let one = |rule: &SubsetRule| -> anyhow::Result<Json> {
            let tags = rule.subset.tags.iter();
            let subset: Json =
                tags.map(|tag| json!({"Key": tag.key.as_str(), "Value": tag.value.as_str(), "Not": tag.not})).collect();
            let mut by_matches = Map::new();
            for (hash, entry) in origin_by_matches(rules, &rule.entries) {
                by_matches.insert(hash, self.meta(origin(rules, entry)?.0.at)?);
            }
            Ok(json!({
                "Subset": subset,
                "Conf": serde_json::to_value(rule.conf.as_ref())?,
                "Origin": self.origins(rules, &rule.entries)?,
                "OriginByMatches": by_matches,
            }))
        };
        listed.iter().map(one).collect()
    }

    /// Rules by identifier of the resource.
    pub(super) fn resource_rules(&self, rules: &Rules<'_>, listed: &TargetRules) -> anyhow::Result<Json> {
        let snapshot = self.snapshot();
        let mut shown = Map::new();
        for (target, rule) in listed.iter() {
            let object = snapshot.objects().get(target.object).context("a target is no object")?;
            let section = target.section.map_or("", |section| snapshot.text(section));
            let mut kri = Meta::of(self.resource(object.at)?).kri();
            section.clone_into(&mut kri.section);
            let lowest_first: Vec<EntryId> = rule.entries.iter().rev().copied().collect();
            let (mut known, mut origins) = (Vec::new(), Vec::new());
            for entry in &lowest_first {
                let (policy, number) = origin(rules, *entry)?;
                let identity = (self.known_by(policy.at)?, number);
                if !known.contains(&identity) {
                    known.push(identity);
                    origins.push(self.numbered_origin(rules, *entry)?);
                }
            }
            let mut by_matches = Map::new();
            for (hash, entry) in origin_by_matches(rules, &lowest_first) {
                by_matches.insert(hash, self.numbered_origin(rules, entry)?);
            }
            let rule = json!({
                "Resource": self.meta(object.at)?,
                "ResourceSectionName": section,
                "Conf": confs(&rule.results)?,
                "Origin": origins,
                "OriginByMatches": by_matches,
            });
            shown.insert(kri.to_string(), rule);
        }
        Ok(Json::Object(shown))
    }

    /// The policies of some entries, each once.
    pub(super) fn origins(&self, rules: &Rules<'_>, entries: &[EntryId]) -> anyhow::Result<Json> {
        let (mut known, mut origins) = (Vec::new(), Vec::new());
        for entry in entries {
            let (policy, _) = origin(rules, *entry)?;
            let identity = self.known_by(policy.at)?;
            if !known.contains(&identity) {
                known.push(identity);
                origins.push(self.meta(policy.at)?);
            }
        }
        Ok(Json::Array(origins))
    }

    fn numbered_origin(&self, rules: &Rules<'_>, entry: EntryId) -> anyhow::Result<Json> {
        let (policy, number) = origin(rules, entry)?;
        Ok(json!({"Resource": self.meta(policy.at)?, "RuleIndex": number}))
    }
}

/// Configurations.
pub(super) fn confs(results: &[Merged]) -> anyhow::Result<Json> {
    let confs = results.iter().filter_map(Merged::config);
    confs.map(|conf| Ok(serde_json::to_value(conf.as_ref())?)).collect()
}
