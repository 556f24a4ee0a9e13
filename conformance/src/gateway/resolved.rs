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

use serde_json::Value as Json;
use upheld_dialects::gateway_api::Topology;
use upheld_dialects::gateway_api::topology::Gateway;
use upheld_dialects::kgateway::{PolicyMerge, Resolver, Semantics, Settings};

use super::topology::{compare_topology, gateway, read, settings};
use crate::case::Case;
use crate::outcome::Outcome;

/// What is in messages that only the proxy itself can give.
const VERDICT_OF_PROXY: &str = "invalid xds configuration";

/// What is compared.
struct Asked<'a> {
    expect: &'a Json,
    resolver: &'a Resolver<'a>,
    gateway: &'a Gateway,
}

pub(super) fn run(case: &Case) -> anyhow::Result<Outcome> {
    let expect = case.document("expect.yaml")?;
    if needs_proxy(&expect) {
        return Ok(Outcome::Skipped("the verdict is that of the proxy itself".to_owned()));
    }
    let order = case.document("case.yaml")?;
    let inputs = order.get("inputsInOrder").and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str);
    let texts: Vec<String> = inputs.map(|input| case.file(input)).collect::<anyhow::Result<_>>()?;
    let snapshot = read(&texts)?;
    let mut topology = Topology::build(&snapshot, &settings(&expect));
    let (mut lines, broken) = {
        let resolver = Resolver::new(&topology, &policy_settings(&expect), Semantics::Current);
        let asked = Asked { expect: &expect, resolver: &resolver, gateway: gateway(&expect, &topology)? };
        let mut lines = scopes::compare(&asked)?;
        lines.extend(routes::compare(&asked)?);
        lines.extend(status::compare(&asked));
        lines.extend(status::compare_backends(&asked)?);
        (lines, resolver.broken_ways())
    };
    for (place, why) in broken {
        topology.replace(place, &why);
    }
    lines.extend(compare_topology(&expect, &topology)?);
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
        reference_grants: settings(expect).reference_grants,
    }
}
