//! The shapes of Kuma's own Inspect API: in goes the path of a request, out comes the body of the response.
//!
//! | endpoint, below `/meshes/{mesh}` | what it shows | module |
//! |---|---|---|
//! | `/dataplanes/{name}/_rules`, `/meshgateways/{name}/_rules` | all rules, by kind | `rules` |
//! | `/dataplanes/{name}/_policies` and below `_inbounds`, `_outbounds` | what holds at one place | `policies` |
//! | `/dataplanes/{name}/_layout` | whom a proxy calls, and where it is called | `layout` |
//! | `/{policies}/{name}/_resources/dataplanes`, `/meshservices/{name}/_dataplanes` | selected proxies | `policy_dataplanes` |
//! | `/dataplanes/{name}/policies`, `/{policies}/{name}/dataplanes` | attachments, up to 2.14 | `older` |
//! | `/dataplanes/{name}/rules` | rules by tags, up to 2.14 | `older_rules` |
//!
//! Where Kuma 2 and Kuma 3 differ, the edition of the snapshot decides ([`crate::kuma::rules::edition`]).

mod attachments;
mod backends;
mod errors;
mod gateway;
mod identity;
mod layout;
mod listed;
mod meta;
mod metrics;
mod names;
mod older;
mod older_rules;
mod policies;
mod policy_dataplanes;
mod proxy;
mod request;
mod rules;
#[cfg(test)]
mod tests;

use serde_json::{Value as Json, json};
use upheld_engine::Snapshot;

use self::policies::Asked;
use self::request::Request;
use crate::dialect::{Endpoint, Native, NativeProblem};
use crate::kuma::edition::Edition;
use crate::kuma::rules::edition;

pub use self::errors::InspectError;
pub use self::older::EDITION;

/// Kuma's Inspect API.
#[derive(Debug)]
pub struct InspectApi;

impl Native for InspectApi {
    fn system(&self) -> &'static str {
        "Kuma"
    }

    fn prefix(&self) -> &'static str {
        "/meshes"
    }

    fn endpoints(&self) -> &'static [Endpoint] {
        &ENDPOINTS
    }

    fn editions(&self) -> &'static [&'static str] {
        &[EDITION, "kuma/2"]
    }

    fn get(&self, snapshot: &Snapshot, path: &str) -> Result<Json, NativeProblem> {
        inspect(snapshot, path).map_err(|problem| NativeProblem {
            status: problem.status(),
            body: problem.body(),
            message: problem.to_string(),
        })
    }

    fn problem(&self, status: u16, title: &str, detail: &str) -> Json {
        json!({"type": "/std-errors", "status": status, "title": title, "detail": detail, "details": detail})
    }
}

/// Where requests go, with what is shown there. Every kind of policy has the last two.
const ENDPOINTS: [Endpoint; 14] = [
    Endpoint { path: "/meshes/{mesh}/dataplanes/{name}/_rules", summary: "All rules of a proxy, by kind." },
    Endpoint {
        path: "/meshes/{mesh}/meshgateways/{name}/_rules",
        summary: "All rules of a gateway, by kind; not in Kuma 3.",
    },
    Endpoint { path: "/meshes/{mesh}/dataplanes/{name}/_policies", summary: "What holds for a proxy as a whole." },
    Endpoint {
        path: "/meshes/{mesh}/dataplanes/{name}/_inbounds/{kri}/_policies",
        summary: "What holds where a proxy is called.",
    },
    Endpoint {
        path: "/meshes/{mesh}/dataplanes/{name}/_outbounds/{kri}/_policies",
        summary: "What holds where a proxy calls.",
    },
    Endpoint {
        path: "/meshes/{mesh}/dataplanes/{name}/_outbounds/{kri}/_routes",
        summary: "The routes where a proxy calls.",
    },
    Endpoint {
        path: "/meshes/{mesh}/dataplanes/{name}/_outbounds/{kri}/_routes/{route}/_policies",
        summary: "What holds on a route.",
    },
    Endpoint {
        path: "/meshes/{mesh}/dataplanes/{name}/_layout",
        summary: "Whom a proxy calls, and where it is called.",
    },
    Endpoint {
        path: "/meshes/{mesh}/dataplanes/{name}/policies",
        summary: "Policies that are attached to a proxy, as up to 2.14.",
    },
    Endpoint { path: "/meshes/{mesh}/dataplanes/{name}/rules", summary: "Rules of a proxy by tags, as up to 2.14." },
    Endpoint { path: "/meshes/{mesh}/meshservices/{name}/_dataplanes", summary: "The proxies of a service." },
    Endpoint { path: "/meshes/{mesh}/meshservices/{name}/_resources/dataplanes", summary: "The proxies of a service." },
    Endpoint {
        path: "/meshes/{mesh}/{policies}/{name}/_resources/dataplanes",
        summary: "The proxies that a policy selects.",
    },
    Endpoint {
        path: "/meshes/{mesh}/{policies}/{name}/dataplanes",
        summary: "The proxies that a policy is attached to, as up to 2.14.",
    },
];

/// Answers a request by its path, which may have a query.
pub fn inspect(snapshot: &Snapshot, path: &str) -> Result<Json, InspectError> {
    let request = Request::of(path);
    let no_endpoint = || InspectError::NoEndpoint { path: path.to_owned() };
    let steps = request.steps();
    let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
    let ["meshes", mesh, kind, name, rest @ ..] = steps.as_slice() else { return Err(no_endpoint()) };
    let asked = || Asked::of(snapshot, mesh, name);
    let is_v2 = edition(snapshot) != Edition::V3;
    match (*kind, rest) {
        ("dataplanes", ["_rules"]) => rules::dataplane_rules(snapshot, mesh, name),
        ("meshgateways", ["_rules"]) if is_v2 => rules::gateway_rules(snapshot, mesh, name),
        ("dataplanes", ["_policies"]) => Ok(asked()?.policies()),
        ("dataplanes", ["_inbounds", kri, "_policies"]) => asked()?.inbound_policies(kri),
        ("dataplanes", ["_outbounds", kri, "_policies"]) => asked()?.outbound_policies(kri),
        ("dataplanes", ["_outbounds", kri, "_routes"]) => asked()?.routes(kri),
        ("dataplanes", ["_outbounds", kri, "_routes", route, "_policies"]) => asked()?.route_policies(kri, route),
        ("dataplanes", ["_layout"]) => layout::layout(snapshot, mesh, name),
        ("meshservices", ["_dataplanes"] | ["_resources", "dataplanes"]) => {
            policy_dataplanes::of_service(snapshot, &request, mesh, name)
        }
        (policies, ["_resources", "dataplanes"]) => {
            policy_dataplanes::of_policy(snapshot, &request, mesh, policies, name)
        }
        ("dataplanes", ["policies"]) => older::dataplane_policies(snapshot, mesh, name),
        ("dataplanes", ["rules"]) if is_v2 => older_rules::dataplane_rules(snapshot, mesh, name),
        (policies, ["dataplanes"]) => {
            let kind = names::policy_type(snapshot, policies).ok_or_else(no_endpoint)?;
            older::policy_dataplanes(snapshot, mesh, kind, name)
        }
        _ => Err(no_endpoint()),
    }
}
