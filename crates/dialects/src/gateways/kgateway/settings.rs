//! Settings of the controller that steer how policies are resolved.

use std::sync::Arc;

use serde_json::Value as Json;
use smol_str::SmolStr;
use upheld_engine::digest::{Encode, Encoder};
use upheld_engine::hierarchy::fields::SameLevel;
use upheld_engine::{Choices, HierarchyFold, HierarchyKind, PolicyKind};
use upheld_model::Symbols;

use super::policy_type::PolicyType;

/// What the controller was started with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// How fields of policies at the same level meet.
    pub policy_merge: PolicyMerge,
    /// A namespace whose policies select objects of all namespaces by their labels.
    pub global_namespace: Option<String>,
}

/// How fields of traffic policies at the same level meet, where that differs from the usual.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PolicyMerge {
    /// Fields by the name that origins are kept under.
    Fields(Vec<(SmolStr, SameLevel)>),
    /// The text is not JSON: no traffic policy says anything.
    Unreadable,
}

impl Encode for Settings {
    fn encode(&self, encoder: &mut Encoder) {
        let Self { policy_merge, global_namespace } = self;
        match policy_merge {
            PolicyMerge::Unreadable => encoder.word("unreadable"),
            PolicyMerge::Fields(fields) => encoder.list(fields, |encoder, (name, within)| {
                encoder.text(name);
                encoder.word(match within {
                    SameLevel::First => "first",
                    SameLevel::Combine => "combine",
                });
            }),
        }
        encoder.option(global_namespace.as_deref(), Encoder::text);
    }
}

impl Default for PolicyMerge {
    fn default() -> Self {
        Self::Fields(Vec::new())
    }
}

/// The fields that the setting speaks about, with their names in a result.
const FIELDS: [(&str, &str); 4] =
    [("extAuth", "extAuth"), ("extProc", "extProc"), ("transformation", "transformation"), ("acl", "httpACL")];

impl PolicyMerge {
    /// Reads the JSON text of the setting. Anything but `DeepMerge` is a shallow merge.
    pub fn parse(text: &str) -> Self {
        if text.is_empty() {
            return Self::default();
        }
        let Ok(setting) = serde_json::from_str::<Json>(text) else { return Self::Unreadable };
        if !setting.is_object() {
            return Self::Unreadable;
        }
        let Some(policy) = setting.get("trafficPolicy").filter(|policy| !policy.is_null()) else {
            return Self::default();
        };
        if !policy.is_object() {
            return Self::Unreadable;
        }
        let mut fields = Vec::new();
        for (field, name) in FIELDS {
            match policy.get(field) {
                None | Some(Json::Null) => {}
                Some(Json::String(word)) if word.is_empty() => {}
                Some(Json::String(word)) => {
                    let same_level = if word == "DeepMerge" { SameLevel::Combine } else { SameLevel::First };
                    fields.push((SmolStr::new(name), same_level));
                }
                Some(_) => return Self::Unreadable,
            }
        }
        Self::Fields(fields)
    }
}

impl Settings {
    /// Lets kinds of traffic policies meet as the setting says.
    pub(crate) fn apply(&self, kind: &mut PolicyKind, symbols: &Symbols) {
        let PolicyMerge::Fields(changed) = &self.policy_merge else { return };
        let Choices::Hierarchy(hierarchy) = &mut kind.choices else { return };
        if changed.is_empty() || symbols.text(hierarchy.reads) != PolicyType::Traffic.reader() {
            return;
        }
        let HierarchyKind { fold, .. } = Arc::make_mut(hierarchy);
        if let HierarchyFold::Fields { policies, .. } = fold {
            for (field, same_level) in changed {
                policies.set_same_level(field, *same_level);
            }
        }
    }
}
