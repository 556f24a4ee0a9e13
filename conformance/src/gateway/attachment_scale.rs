//! `unit/attachment-scale`: as many routes and policies as a case says; how many policies the first and the last route get.

use std::fmt::Write;

use anyhow::Context;
use serde_json::json;
use upheld_dialects::gateways::gateway_api::Network;
use upheld_dialects::gateways::gateway_api::topology::Way;
use upheld_loader::load::load;
use upheld_loader::{Format, Input};

use crate::case::Case;
use crate::outcome::Outcome;

/// More references than this are not written into documents for one case.
const MOST_REFERENCES: u64 = 2_000_000;

/// How policies say which routes they mean.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Targeting {
    Names,
    Labels,
}

/// How many routes each policy means.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    AllRoutes,
    OneRoute,
}

/// Runs one size.
pub(super) fn run(case: &Case) -> anyhow::Result<Outcome> {
    let number = |name: &str| case.field(name).as_u64().with_context(|| format!("the case has no number `{name}`"));
    let (routes, policies, expected) = (number("routes")?, number("policies")?, number("expectedPoliciesPerRoute")?);
    let targeting = if case.text("targeting")? == "targetRefs" { Targeting::Names } else { Targeting::Labels };
    let reach = if case.text("policiesPerRoute")? == "all" { Reach::AllRoutes } else { Reach::OneRoute };
    if (targeting, reach) == (Targeting::Names, Reach::AllRoutes) && routes.saturating_mul(policies) > MOST_REFERENCES {
        let references = routes.saturating_mul(policies);
        return Ok(Outcome::Skipped(format!("{references} references by name are more than one run writes")));
    }
    let text = documents(routes, policies, targeting, reach)?;
    let loaded = match load(vec![Input::text("scale.jsonl", Format::JsonLines, text)], &[]) {
        Ok(loaded) => loaded,
        Err(broken) => anyhow::bail!("the documents were refused: {:?}", broken.diagnostics.as_slice().first()),
    };
    let network = Network::of(&loaded.snapshot).context("the snapshot keeps no gateways")?;
    let kind = network.kind("TrafficPolicy").context("there are no traffic policies")?;
    let ways: Vec<&Way> = network.topology().ways().map(|(_, way)| way).collect();
    let attached =
        |way: Option<&&Way>| way.map_or(0, |way| network.under(kind).route(&way.chain).effective().order.len());
    let actual = json!({"ways": ways.len(), "first": attached(ways.first()), "last": attached(ways.last())});
    Ok(Outcome::compare(&json!({"ways": routes, "first": expected, "last": expected}), &actual))
}

/// Routes under one gateway, and policies that name them or select them by a label.
fn documents(routes: u64, policies: u64, targeting: Targeting, reach: Reach) -> anyhow::Result<String> {
    let mut text = String::new();
    let group = "gateway.networking.k8s.io";
    let gateway = json!({
        "apiVersion": format!("{group}/v1"), "kind": "Gateway", "metadata": {"name": "edge"},
        "spec": {"gatewayClassName": "any", "listeners": [{"name": "http", "protocol": "HTTP", "port": 80}]},
    });
    let service =
        json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "svc"}, "spec": {"ports": [{"port": 80}]}});
    writeln!(text, "{gateway}\n{service}")?;
    let label = |number: u64| match reach {
        Reach::AllRoutes => "all".to_owned(),
        Reach::OneRoute => format!("r{number}"),
    };
    for number in 0..routes {
        let route = json!({
            "apiVersion": format!("{group}/v1"), "kind": "HTTPRoute",
            "metadata": {"name": format!("r{number}"), "labels": {"app": label(number)}},
            "spec": {
                "parentRefs": [{"name": "edge"}], "hostnames": [format!("h{number}.example")],
                "rules": [{"backendRefs": [{"name": "svc", "port": 80}]}],
            },
        });
        writeln!(text, "{route}")?;
    }
    for number in 0..policies {
        let target = |route: u64| json!({"group": group, "kind": "HTTPRoute", "name": format!("r{route}")});
        let own = number % routes.max(1);
        let (field, value) = match (targeting, reach) {
            (Targeting::Names, Reach::AllRoutes) => ("targetRefs", json!((0..routes).map(target).collect::<Vec<_>>())),
            (Targeting::Names, Reach::OneRoute) => ("targetRefs", json!([target(own)])),
            (Targeting::Labels, _) => {
                let labels = json!({"app": label(own)});
                ("targetSelectors", json!([{"group": group, "kind": "HTTPRoute", "matchLabels": labels}]))
            }
        };
        let policy = json!({
            "apiVersion": "gateway.kgateway.dev/v1alpha1", "kind": "TrafficPolicy", "metadata": {"name": format!("p{number}")},
            "spec": {field: value, "csrf": {"percentageEnabled": number % 100}},
        });
        writeln!(text, "{policy}")?;
    }
    Ok(text)
}
