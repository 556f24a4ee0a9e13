//! Settings of the controller that steer how policies are resolved.

use serde_json::Value as Json;
use smol_str::SmolStr;
use upheld_engine::merge::levels::SameLevel;

use crate::gateway_api::field_rules::{POLICY_MERGE, policy_merge};
pub use crate::gateway_api::settings::ReferenceGrants;

/// What the controller was started with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// How fields of policies at the same level meet.
    pub policy_merge: PolicyMerge,
    /// A namespace whose policies select objects of all namespaces by their labels.
    pub global_namespace: Option<String>,
    /// Which references to other namespaces need a grant.
    pub reference_grants: ReferenceGrants,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            policy_merge: PolicyMerge::default(),
            global_namespace: None,
            reference_grants: ReferenceGrants::Permissive,
        }
    }
}

/// How fields of traffic policies at the same level meet, where that differs from the usual.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PolicyMerge {
    /// Fields by the name that origins are kept under.
    Fields(Vec<(SmolStr, SameLevel)>),
    /// The text is no JSON: no traffic policy says anything.
    Unreadable,
}

impl Default for PolicyMerge {
    fn default() -> Self {
        Self::Fields(Vec::new())
    }
}

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
        for (field, name) in POLICY_MERGE {
            match policy.get(field) {
                None | Some(Json::Null) => {}
                Some(Json::String(word)) => {
                    fields.extend(policy_merge(word).map(|same_level| (SmolStr::new(name), same_level)));
                }
                Some(_) => return Self::Unreadable,
            }
        }
        Self::Fields(fields)
    }
}
