//! Dialect *kgateway*: how its policies are read, what is wrong with them, and what is reported of them.
//!
//! ```text
//! documents ──(fields, builtin)──▶ what policies and rules say, by the names that origins are kept under
//! policies  ──(errors)───────────▶ what is wrong with them, which depends on other documents
//! network   ──(status)───────────▶ conditions of each policy at each ancestor
//!           ──(broken)───────────▶ rules that answer with an error
//! ```
//!
//! Where policies are looked for, how they rank and how they meet is data: `kinds/*.yaml`, one file for each edition.
//!
//! - [`policy_type`]: the types of policies
//! - [`delegation`]: how routes meet those that they delegate to
//! - [`references`]: objects by name, and whether somebody may refer to them
//! - [`settings`]: what the controller is started with

mod broken;
pub(crate) mod builtin;
pub mod delegation;
pub mod errors;
pub mod fields;
pub mod policy_type;
pub(in crate::gateways) mod preferences;
pub mod references;
pub mod settings;
pub mod status;

use smol_str::{SmolStr, format_smolstr};
use upheld_engine::hierarchy::{Entry, Usable};
use upheld_model::tree::Value;
use upheld_model::{Code, Reason};

pub use policy_type::PolicyType;
pub use settings::{PolicyMerge, Settings};
pub use status::{Ancestor, PolicyStatus, Survival};

use crate::document::Resource;
use crate::gateways::gateway_api::gateways::{Network, Problems};

/// The edition that is used when users name no other.
pub const DEFAULT_SEMANTICS: &str = "kgateway/2026";

/// Fields that say how requests are passed on, and nothing about other answers.
pub(crate) const FORWARDING: [&str; 7] =
    ["autoHostRewrite", "internalRedirect", "requestMirror", "retry", "timeouts", "tracing", "urlRewrite"];

/// The annotation with the weight of a policy.
pub const WEIGHT: &str = "kgateway.dev/policy-weight";

/// How much a policy weighs, and what is wrong with that. Only traffic policies have a weight.
pub(crate) fn weight(policy: PolicyType, resource: Resource<'_>) -> (i64, Option<SmolStr>) {
    let annotation = resource.document.at_path(&["metadata", "annotations", WEIGHT]).map(Value::text);
    match annotation.filter(|_| policy == PolicyType::Traffic).map(|text| (text, text.parse::<i32>())) {
        None => (0, None),
        Some((_, Ok(weight))) => (weight.into(), None),
        Some((text, Err(_))) => {
            let problem = format_smolstr!("invalid value for annotation {WEIGHT}: {text}; must be a valid integer");
            (0, Some(problem))
        }
    }
}

/// Whether a policy can be used: one with errors makes its target answer with an error.
pub(crate) fn usable(network: Network<'_>, policy: PolicyType, entry: &Entry) -> Usable {
    if problems(network, policy, entry).is_empty() {
        return Usable::Yes;
    }
    Usable::Broken(Reason::new(Code::OffBroken, &[]))
}

/// Everything that is wrong with a policy.
pub fn problems(network: Network<'_>, policy: PolicyType, entry: &Entry) -> Problems {
    network.gateways.problems((entry.policy, network.absent), || look_for_problems(network, policy, entry))
}

fn look_for_problems(network: Network<'_>, policy: PolicyType, entry: &Entry) -> Problems {
    let own = entry.attachments.problems.iter().map(SmolStr::to_string);
    let document = network.snapshot.policy(entry.policy).and_then(|policy| network.snapshot.files().value(policy.at));
    let namespace = network.snapshot.text(entry.namespace);
    let found = document
        .and_then(Resource::of)
        .map(|resource| errors::of(policy, namespace, resource, &network.references()))
        .unwrap_or_default();
    found.into_iter().chain(own).collect()
}
