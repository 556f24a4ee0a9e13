//! Kinds of gateway policies that a `PolicyKind` document declares by a profile.

use upheld_dialects::gateway_api::declared::{Declared, Level};
use upheld_dialects::gateway_api::policy::Policy;
use upheld_engine::merge::Merged;
use upheld_engine::{ObjectId, PolicyKind, Snapshot};
use upheld_model::Config;

use crate::report::{At, EffectiveField, GatewayReport, LostField, Source};

/// The declared kind of a name.
pub(super) fn find<'s>(snapshot: &'s Snapshot, name: &str) -> Option<&'s PolicyKind> {
    let mut kinds = snapshot.kinds().iter().map(|(_, kind)| kind);
    kinds.find(|kind| kind.inherit().is_some() && snapshot.text(kind.name).eq_ignore_ascii_case(name))
}

/// What the policies of some levels come to, told as for built-in kinds.
pub(super) fn report(
    snapshot: &Snapshot,
    kind: &PolicyKind,
    declared: &Declared<'_>,
    levels: &[Level],
    target: &str,
    title: impl Fn(ObjectId) -> String,
) -> GatewayReport {
    let effective = declared.effective(levels);
    let name = snapshot.text(kind.name);
    let profile = kind.inherit().map_or("", |inherit| snapshot.text(inherit.profile));
    let teller = Teller { snapshot, declared, levels };
    let mut fields: Vec<EffectiveField> = Vec::new();
    let mut overridden: Vec<LostField> = Vec::new();
    for leaf in effective.merged.iter().flat_map(Merged::leaves) {
        let Some(value) = leaf.value else { continue };
        let place = teller.level(leaf.by);
        let because = if leaf.overridden.is_empty() { "no other policy sets it" } else { "it counts more here" };
        let at = value.at.and_then(|at| At::of(snapshot.files(), at)).or_else(|| teller.at(leaf.by));
        let via = levels.get(place).map(|level| attached(level, &title)).unwrap_or_default();
        fields.push(EffectiveField {
            field: leaf.path.clone(),
            value: serde_json::to_value(value.as_ref()).unwrap_or_default(),
            scope: if place + 1 == levels.len() { "here" } else { "wider" },
            from: vec![Source { policy: teller.name(leaf.by), via, at }],
            because: because.to_owned(),
            code: "merge.level",
        });
        let lost = leaf.overridden.iter().map(|over| teller.lost(&leaf.path, over.by, &over.value, &[leaf.by]));
        overridden.extend(lost);
    }
    let hidden = effective.hidden.iter();
    overridden.extend(hidden.map(|hidden| teller.lost("(all of it)", hidden.by, &hidden.value, &hidden.under)));
    GatewayReport {
        kind: name.to_owned(),
        semantics: profile.to_owned(),
        target: target.to_owned(),
        ways: Vec::new(),
        answer: answer(name, target, &fields),
        fields,
        overridden,
        merge: format!("Merged by the profile {profile}."),
        broken: Vec::new(),
    }
}

fn answer(kind: &str, target: &str, fields: &[EffectiveField]) -> String {
    let mut shaping: Vec<&str> =
        fields.iter().flat_map(|field| &field.from).map(|source| source.policy.as_str()).collect();
    shaping.sort_unstable();
    shaping.dedup();
    match fields.len() {
        0 => format!("No {kind} shapes {target}."),
        1 => format!("{kind} of {target} comes from {}; 1 field set.", shaping.join(", ")),
        count => format!("{kind} of {target} comes from {}; {count} fields set.", shaping.join(", ")),
    }
}

fn attached(level: &Level, title: &impl Fn(ObjectId) -> String) -> String {
    let section = level.section.as_ref().map(|section| format!("#{section}")).unwrap_or_default();
    format!("target reference to {}{section}", title(level.object))
}

struct Teller<'a> {
    snapshot: &'a Snapshot,
    declared: &'a Declared<'a>,
    levels: &'a [Level],
}

impl Teller<'_> {
    /// The level that a policy is attached to; the last of several.
    fn level(&self, policy: usize) -> usize {
        self.levels.iter().rposition(|level| level.policies.contains(&policy)).unwrap_or_default()
    }

    fn name(&self, policy: usize) -> String {
        self.declared.policies().get(policy).map(Policy::identity).unwrap_or_default()
    }

    fn at(&self, policy: usize) -> Option<At> {
        At::of(self.snapshot.files(), self.snapshot.policy(self.declared.id(policy)?)?.at)
    }

    fn lost(&self, field: &str, by: usize, value: &Config, under: &[usize]) -> LostField {
        let winners: Vec<String> = under.iter().map(|winner| self.name(*winner)).collect();
        let why = match under.first().map(|winner| self.level(*winner).cmp(&self.level(by))) {
            Some(std::cmp::Ordering::Greater) => "which is more specific",
            Some(std::cmp::Ordering::Less) => "which overrides from above",
            _ => "by age at the same place",
        };
        LostField {
            field: field.to_owned(),
            value: serde_json::to_value(value).unwrap_or_default(),
            policy: self.name(by),
            at: value.at.and_then(|at| At::of(self.snapshot.files(), at)).or_else(|| self.at(by)),
            because: format!("lost to {}, {why}", winners.join(", ")),
            code: "merge.level",
        }
    }
}
