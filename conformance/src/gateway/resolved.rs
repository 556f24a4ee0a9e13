//! Cases of kgateway's translator: what its policies come to in each scope, what is said of them, and which routes there are.
//!
//! - [`origins`]: fields with the policies that they come from, as cases write them
//! - [`scopes`]: listeners, route configurations and hosts
//! - [`routes`]: matches of rules
//! - [`status`]: policies and backends

mod origins;
mod routes;
mod scopes;
mod status;

use anyhow::Context;
use serde_json::Value as Json;
use upheld_dialects::gateways::gateway_api::topology::Gateway;
use upheld_dialects::gateways::gateway_api::{ControllerSettings, GatewayKind, Network};
use upheld_dialects::gateways::kgateway::{PolicyMerge, Settings};
use upheld_engine::Snapshot;

use super::topology::{compare_topology, gateway, read, settings};
use crate::case::Case;
use crate::outcome::Outcome;

/// What is in messages that only the proxy itself can give.
const VERDICT_OF_PROXY: &str = "invalid xds configuration";

/// What is compared.
struct Compared<'a> {
    expect: &'a Json,
    network: Network<'a>,
    gateway: &'a Gateway,
}

impl<'a> Compared<'a> {
    fn snapshot(&self) -> &'a Snapshot {
        self.network.snapshot
    }

    /// The kinds of kgateway and the one of the Gateway API.
    fn kinds(&self) -> impl Iterator<Item = GatewayKind<'a>> + use<'a> {
        let snapshot = self.network.snapshot;
        let groups = ["gateway.kgateway.dev", "gateway.networking.k8s.io"];
        self.network.kinds().filter(move |kind| groups.contains(&snapshot.text(kind.policies.kind().group)))
    }

    fn kind(&self, name: &str) -> anyhow::Result<GatewayKind<'a>> {
        self.network.kind(name).with_context(|| format!("there is no kind `{name}`"))
    }
}

pub(super) fn run(case: &Case) -> anyhow::Result<Outcome> {
    let expect = case.document("expect.yaml")?;
    if needs_proxy(&expect) {
        return Ok(Outcome::Skipped("the verdict is that of the proxy itself".to_owned()));
    }
    let order = case.document("case.yaml")?;
    let inputs = order.get("inputsInOrder").and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str);
    let texts: Vec<String> = inputs.map(|input| case.file(input)).collect::<anyhow::Result<_>>()?;
    let controller = ControllerSettings { topology: settings(&expect), policies: policy_settings(&expect) };
    let snapshot = read(&texts, controller)?;
    let network = Network::of(&snapshot).context("the snapshot keeps no gateways")?;
    let gateway = gateway(&expect, &snapshot, network.topology())?;
    let compared = Compared { expect: &expect, network, gateway };
    let mut lines = scopes::compare(&compared)?;
    lines.extend(routes::compare(&compared)?);
    lines.extend(status::compare(&compared));
    lines.extend(status::compare_backends(&compared)?);
    lines.extend(compare_topology(&expect, &snapshot, &network.programmed())?);
    Ok(if lines.is_empty() { Outcome::Passed } else { Outcome::Failed(lines) })
}

fn needs_proxy(expect: &Json) -> bool {
    let entries = ["policyStatus", "routeStatus"].into_iter().filter_map(|part| expect.get(part)?.as_object());
    let entries = entries.flat_map(|all| all.values()).filter_map(Json::as_array).flatten();
    let messages = entries.filter_map(|entry| entry.get("messages")?.as_object()).flat_map(|all| all.values());
    messages.filter_map(Json::as_str).any(|message| message.contains(VERDICT_OF_PROXY))
}

/// The settings of a case that concern policies.
fn policy_settings(expect: &Json) -> Settings {
    let text = |name: &str| expect.get("settings").and_then(|settings| settings.get(name)).and_then(Json::as_str);
    Settings {
        policy_merge: PolicyMerge::parse(text("PolicyMerge").unwrap_or_default()),
        global_namespace: text("GlobalPolicyNamespace").filter(|name| !name.is_empty()).map(str::to_owned),
    }
}
