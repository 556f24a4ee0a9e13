//! Policies of Envoy Gateway: one holds at a place, perhaps merged with that of its parent.

use upheld_dialects::envoy_gateway::{Attachments, Effective, Policy, PolicyKind};
use upheld_engine::Snapshot;
use upheld_model::NodeRef;

use crate::report::{At, EffectiveField, GatewayReport, LostField, Source};

/// The kind of a name.
pub(super) fn find(name: &str) -> Option<PolicyKind> {
    PolicyKind::ALL.into_iter().find(|kind| kind.name().eq_ignore_ascii_case(name))
}

/// What holds at a place.
pub(super) fn report(
    snapshot: &Snapshot,
    kind: PolicyKind,
    attachments: &Attachments<'_>,
    effective: Option<&Effective>,
    target: &str,
) -> GatewayReport {
    let name = |place: usize| attachments.policies.get(place).map(Policy::path).unwrap_or_default();
    let written = |place: usize| {
        let policy = attachments.policies.get(place).and_then(|policy| snapshot.policy(policy.id));
        policy.and_then(|policy| At::of(snapshot.files(), policy.at))
    };
    let at = |value: Option<NodeRef>, place: usize| {
        value.and_then(|at| At::of(snapshot.files(), at)).or_else(|| written(place))
    };
    let (mut fields, mut overridden) = (Vec::new(), Vec::new());
    for leaf in effective.iter().flat_map(|effective| effective.merged.leaves()) {
        let Some(value) = leaf.value else { continue };
        let own = effective.is_some_and(|effective| effective.policy == leaf.by);
        fields.push(EffectiveField {
            field: leaf.path.clone(),
            value: serde_json::to_value(value.as_ref()).unwrap_or_default(),
            scope: if own { "here" } else { "parent" },
            from: vec![Source { policy: name(leaf.by), via: String::new(), at: at(value.at, leaf.by) }],
            because: if own { "the policy of this place" } else { "merged from the nearest parent" }.to_owned(),
            code: "merge.level",
        });
        overridden.extend(leaf.overridden.iter().map(|over| LostField {
            field: leaf.path.clone(),
            value: serde_json::to_value(over.value.as_ref()).unwrap_or_default(),
            policy: name(over.by),
            at: at(over.value.at, over.by),
            because: format!("lost to {}, which is more specific", name(leaf.by)),
            code: "merge.level",
        }));
    }
    let answer = match effective {
        None => format!("No {} holds for {target}.", kind.name()),
        Some(Effective { policy, parent: None, .. }) => {
            format!("{} {} holds for {target}, alone.", kind.name(), name(*policy))
        }
        Some(Effective { policy, parent: Some(parent), .. }) => {
            format!("{} {} holds for {target}, merged with {}.", kind.name(), name(*policy), name(*parent))
        }
    };
    GatewayReport {
        kind: kind.name().to_owned(),
        semantics: "envoy-gateway".to_owned(),
        target: target.to_owned(),
        ways: Vec::new(),
        answer,
        fields,
        overridden,
        merge: "One policy holds at each target: the oldest that names it. Wider ones count only where its mergeType says so."
            .to_owned(),
        broken: Vec::new(),
    }
}
