//! Settings of the kgateway controller, as users give them: `GlobalPolicyNamespace=policies`.

use upheld_dialects::gateway_api::settings::{ReferenceGrants, RoutePrecedence, Settings as TopologySettings};
use upheld_dialects::kgateway::{PolicyMerge, Settings};
use upheld_model::nearest::nearest;
use upheld_model::{Diagnostic, Fault};

/// The settings that steer how policies are resolved.
const NAMES: [&str; 5] = [
    "GlobalPolicyNamespace",
    "PolicyMerge",
    "ReferenceGrantMode",
    "WeightedRoutePrecedence",
    "DelegationWildcardNamespace",
];

/// What the controller would be started with.
pub(super) fn settings(given: &[String]) -> Result<(TopologySettings, Settings), Vec<Diagnostic>> {
    let (mut topology, mut policies) = (TopologySettings::default(), Settings::default());
    let mut problems = Vec::new();
    for given in given {
        let Some((name, value)) = given.split_once('=') else {
            problems.push(wrong(format!("`{given}` is not `name=value`")));
            continue;
        };
        match name {
            "GlobalPolicyNamespace" => policies.global_namespace = Some(value.to_owned()),
            "PolicyMerge" => {
                policies.policy_merge = PolicyMerge::parse(value);
                if policies.policy_merge == PolicyMerge::Unreadable {
                    problems.push(wrong(format!("`{value}` is no JSON for PolicyMerge")));
                }
            }
            "ReferenceGrantMode" => match grants(value) {
                Some(mode) => (topology.reference_grants, policies.reference_grants) = (mode, mode),
                None => {
                    problems.push(wrong(format!("ReferenceGrantMode is Off, Permissive or Strict, not `{value}`")));
                }
            },
            "WeightedRoutePrecedence" if value.eq_ignore_ascii_case("true") => {
                topology.route_precedence = RoutePrecedence::Weighted;
            }
            "WeightedRoutePrecedence" => topology.route_precedence = RoutePrecedence::ByMatch,
            "DelegationWildcardNamespace" => value.clone_into(&mut topology.delegation_wildcard_namespace),
            _ => {
                let problem = wrong(format!("kgateway has no setting `{name}` that is read here"));
                problems.push(match nearest(name, NAMES) {
                    Some(near) => problem.help(format!("did you mean `{near}`?")),
                    None => problem.help(format!("settings: {}", NAMES.join(", "))),
                });
            }
        }
    }
    if problems.is_empty() { Ok((topology, policies)) } else { Err(problems) }
}

fn wrong(message: String) -> Diagnostic {
    Diagnostic::error(Fault::BadSetting, message)
}

fn grants(value: &str) -> Option<ReferenceGrants> {
    let modes = [
        ("Off", ReferenceGrants::Off),
        ("Permissive", ReferenceGrants::Permissive),
        ("Strict", ReferenceGrants::Strict),
    ];
    modes.into_iter().find(|(name, _)| name.eq_ignore_ascii_case(value)).map(|(_, mode)| mode)
}
