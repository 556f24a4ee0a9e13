//! What steers gateways from outside of the documents.

use upheld_engine::digest::{Encode, Encoder};
use upheld_model::nearest::nearest;
use upheld_model::{Diagnostic, Fault};

use crate::gateways::kgateway;

/// Everything that a controller is started with, as far as it steers answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ControllerSettings {
    /// What leads where.
    pub topology: Settings,
    /// How policies are resolved.
    pub policies: kgateway::Settings,
}

/// Settings of the topology, with the defaults of the controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Whether routes may be ranked by number.
    pub route_precedence: RoutePrecedence,
    /// The word that means every namespace where routes delegate by label.
    pub delegation_wildcard_namespace: String,
    /// Which references into other namespaces must be granted.
    pub reference_grants: ReferenceGrants,
    /// How many steps all ways together may have: routes that are reached over several others multiply.
    pub step_limit: usize,
    /// How many routes may stand between a listener and a backend.
    pub depth_limit: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            route_precedence: RoutePrecedence::ByMatch,
            delegation_wildcard_namespace: "all".to_owned(),
            reference_grants: ReferenceGrants::Permissive,
            step_limit: 1_000_000,
            depth_limit: 64,
        }
    }
}

/// What decides first which route takes a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoutePrecedence {
    /// How specific the match is.
    ByMatch,
    /// The weight that the route's annotation gives it, then the match.
    Weighted,
}

/// Which references into other namespaces must be granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReferenceGrants {
    /// None.
    Off,
    /// Those to services and secrets.
    Permissive,
    /// Those of policies to extensions, too.
    Strict,
}

impl Encode for ControllerSettings {
    fn encode(&self, encoder: &mut Encoder) {
        let Self { topology, policies } = self;
        encoder.one(topology);
        encoder.one(policies);
    }
}

impl Encode for Settings {
    fn encode(&self, encoder: &mut Encoder) {
        let Self { route_precedence, delegation_wildcard_namespace, reference_grants, step_limit, depth_limit } = self;
        encoder.word(match route_precedence {
            RoutePrecedence::ByMatch => "by match",
            RoutePrecedence::Weighted => "weighted",
        });
        encoder.text(delegation_wildcard_namespace);
        encoder.word(match reference_grants {
            ReferenceGrants::Off => "off",
            ReferenceGrants::Permissive => "permissive",
            ReferenceGrants::Strict => "strict",
        });
        encoder.list([step_limit, depth_limit], |encoder, limit| encoder.number(*limit as u64));
    }
}

/// The settings that are read.
const NAMES: [&str; 5] = [
    "GlobalPolicyNamespace",
    "PolicyMerge",
    "ReferenceGrantMode",
    "WeightedRoutePrecedence",
    "DelegationWildcardNamespace",
];

impl ControllerSettings {
    /// As users give them, each `NAME=VALUE`: `GlobalPolicyNamespace=policies`. All mistakes at once.
    pub fn read<S: AsRef<str>>(given: &[S]) -> Result<Self, Vec<Diagnostic>> {
        let mut settings = Self::default();
        let mut problems = Vec::new();
        for given in given.iter().map(AsRef::as_ref) {
            match given.split_once('=') {
                Some((name, value)) => problems.extend(settings.set(name, value).err()),
                None => problems.push(wrong(format!("`{given}` is not `name=value`"))),
            }
        }
        if problems.is_empty() { Ok(settings) } else { Err(problems) }
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), Diagnostic> {
        let Self { topology, policies } = self;
        match name {
            "GlobalPolicyNamespace" => policies.global_namespace = Some(value.to_owned()),
            "PolicyMerge" => {
                policies.policy_merge = kgateway::PolicyMerge::parse(value);
                if policies.policy_merge == kgateway::PolicyMerge::Unreadable {
                    return Err(wrong(format!("`{value}` is not valid JSON for PolicyMerge")));
                }
            }
            "ReferenceGrantMode" => {
                let wrong = || wrong(format!("ReferenceGrantMode is Off, Permissive or Strict, not `{value}`"));
                topology.reference_grants = grants(value).ok_or_else(wrong)?;
            }
            "WeightedRoutePrecedence" if value.eq_ignore_ascii_case("true") => {
                topology.route_precedence = RoutePrecedence::Weighted;
            }
            "WeightedRoutePrecedence" => topology.route_precedence = RoutePrecedence::ByMatch,
            "DelegationWildcardNamespace" => value.clone_into(&mut topology.delegation_wildcard_namespace),
            _ => {
                let problem = wrong(format!("kgateway has no setting `{name}` that is read here"));
                return Err(problem.suggest_or(nearest(name, NAMES), || format!("settings: {}", NAMES.join(", "))));
            }
        }
        Ok(())
    }
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
