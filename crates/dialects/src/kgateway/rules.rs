//! How the fields of each kind meet, by semantics.

use upheld_engine::merge::levels::{FieldRule, Inheritance, Meeting, Rules, SameLevel};
use upheld_model::Config;

use super::kinds::{Semantics, Subject};
use super::settings::PolicyMerge;
use crate::gateway_api::field_rules;

/// The annotation on a route that says how its policies meet those of the routes it delegates to.
pub const INHERITANCE: &str = "kgateway.dev/inherited-policy-priority";

/// How the policies of a route meet those of the routes that it delegates to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Priority {
    /// Field by field, the child wins.
    #[default]
    ShallowMergePreferChild,
    /// Field by field, the parent wins.
    ShallowMergePreferParent,
    /// Into fields that can be combined; the child wins.
    DeepMergePreferChild,
    /// Into fields that can be combined; the parent wins.
    DeepMergePreferParent,
}

impl Priority {
    /// All of them.
    pub const ALL: [Self; 4] = [
        Self::ShallowMergePreferChild,
        Self::ShallowMergePreferParent,
        Self::DeepMergePreferChild,
        Self::DeepMergePreferParent,
    ];

    /// What an annotation of a route says; unknown and missing ones are the default.
    pub fn of(annotation: Option<&str>) -> Self {
        Self::ALL.into_iter().find(|priority| Some(priority.name()) == annotation).unwrap_or_default()
    }

    /// As the engine knows it.
    pub(super) fn inheritance(self) -> Inheritance {
        field_rules::inheritance(self.name()).unwrap_or_default()
    }

    /// How annotations call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ShallowMergePreferChild => "ShallowMergePreferChild",
            Self::ShallowMergePreferParent => "ShallowMergePreferParent",
            Self::DeepMergePreferChild => "DeepMergePreferChild",
            Self::DeepMergePreferParent => "DeepMergePreferParent",
        }
    }
}

/// The rules for policies of a kind.
pub(super) fn for_policies(subject: Subject, semantics: Semantics, setting: &PolicyMerge) -> Rules {
    if subject != Subject::Traffic {
        return field_rules::other();
    }
    let mut rules = field_rules::traffic_policy(semantics.of_fields());
    if semantics == Semantics::Ep11268 {
        // Within a level, a lower policy adds fields and nothing else.
        rules.set_same_level("httpACL", SameLevel::First);
    }
    if let PolicyMerge::Fields(fields) = setting {
        for (field, same_level) in fields {
            rules.set_same_level(field, *same_level);
        }
    }
    rules
}

/// The fields of rules that add up over all levels.
pub(super) const CUMULATIVE: [&str; 3] = ["requestHeaderModifier", "requestMirror", "responseHeaderModifier"];

/// The rules for what rules of routes say themselves.
pub(super) fn for_builtin(semantics: Semantics) -> Rules {
    let rule = |name: &str| FieldRule { name: name.into(), meeting: Meeting::Cumulative, same_level: SameLevel::First };
    Rules { fields: CUMULATIVE.map(rule).into(), ..field_rules::built_in(semantics.of_fields()) }
}

/// Nothing, an empty text and an empty list are not set.
pub(super) fn is_set(value: &Config) -> bool {
    use upheld_model::config::Content;
    match &value.content {
        Content::Null => false,
        Content::Text(text) => !text.is_empty(),
        Content::List(items) => !items.is_empty(),
        Content::Bool(_) | Content::Number(_) | Content::Map(_) => true,
    }
}
