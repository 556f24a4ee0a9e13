//! kgateway: the fields of its kinds, how they meet, and the texts that steer it.

use upheld_engine::merge::levels::{
    Combiner, FieldRule, Inheritance, Meeting, PlainWhenDeep, Prefer, Reach, Rules, SameLevel, Within,
};

/// Which description of kgateway counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Semantics {
    /// The code of 2026: in a deep merge the child wins every field that cannot be combined, whoever is preferred.
    Code2026,
    /// Proposal EP-11268: who is preferred wins every field.
    Ep11268,
}

/// How the fields of a `TrafficPolicy` meet.
pub fn traffic_policy(semantics: Semantics) -> Rules {
    let deep = |name: &str, combiner, same_level| FieldRule {
        name: name.into(),
        meeting: Meeting::Deep(combiner),
        same_level,
    };
    Rules {
        fields: vec![
            deep("extAuth", Combiner::Providers, SameLevel::First),
            deep("extProc", Combiner::Providers, SameLevel::First),
            deep("httpACL", Combiner::AccessList, SameLevel::Combine),
            deep("transformation", Combiner::Transformation, SameLevel::First),
        ],
        plain_when_deep: match semantics {
            Semantics::Code2026 => PlainWhenDeep::Child,
            Semantics::Ep11268 => PlainWhenDeep::AsNamed,
        },
        within: Within::ByField,
    }
}

/// How what the Gateway API itself configures meets. In the code of 2026 anything but the default lets the last one win, also
/// within a level.
pub fn built_in(semantics: Semantics) -> Rules {
    let cumulative =
        |name: &str| FieldRule { name: name.into(), meeting: Meeting::Cumulative, same_level: SameLevel::First };
    let (plain_when_deep, within) = match semantics {
        Semantics::Code2026 => (PlainWhenDeep::Parent, Within::AsLevels),
        Semantics::Ep11268 => (PlainWhenDeep::AsNamed, Within::ByField),
    };
    let fields = ["headerModifiers", "requestMirror"].map(cumulative);
    Rules { fields: fields.into(), plain_when_deep, within }
}

/// How the fields of all other kinds that merge meet: the better one counts.
pub const fn other() -> Rules {
    Rules { fields: Vec::new(), plain_when_deep: PlainWhenDeep::Child, within: Within::ByField }
}

/// The fields that the setting `PolicyMerge` speaks about, under `trafficPolicy`, with their names in a result.
pub const POLICY_MERGE: [(&str, &str); 4] =
    [("extAuth", "extAuth"), ("extProc", "extProc"), ("transformation", "transformation"), ("acl", "httpACL")];

/// What a word of the setting `PolicyMerge` means. An empty one says nothing; an unknown one means `ShallowMerge`.
pub fn policy_merge(word: &str) -> Option<SameLevel> {
    match word {
        "" => None,
        "DeepMerge" => Some(SameLevel::Combine),
        _ => Some(SameLevel::First),
    }
}

/// What the annotation `kgateway.dev/inherited-policy-priority` means; `None` for an unknown text, which counts as the default.
pub fn inheritance(annotation: &str) -> Option<Inheritance> {
    let (reach, prefer) = match annotation {
        "ShallowMergePreferChild" => (Reach::Shallow, Prefer::Child),
        "ShallowMergePreferParent" => (Reach::Shallow, Prefer::Parent),
        "DeepMergePreferChild" => (Reach::Deep, Prefer::Child),
        "DeepMergePreferParent" => (Reach::Deep, Prefer::Parent),
        _ => return None,
    };
    Some(Inheritance { reach, prefer })
}
