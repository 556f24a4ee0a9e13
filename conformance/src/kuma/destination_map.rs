//! `legacy-destination-map`: the services that a proxy reaches, given the route of each outbound.

use serde_json::json;
use upheld_dialects::kuma::routes::{self, Route};

use super::world::World;
use super::{FROM_04, documents};
use crate::case::Case;
use crate::outcome::Outcome;

const ROUTE: &str = "TrafficRoute";

pub(super) fn run(case: &Case) -> anyhow::Result<Outcome> {
    let mesh = documents::mesh(case);
    let mut all = vec![documents::dataplane(case.input("dataplane"))?];
    // Each route is named after its outbound. They were resolved before, so they are taken as they are.
    for (outbound, conf) in case.input("routesByOutbound").as_object().into_iter().flatten() {
        all.push(documents::policy(ROUTE, &json!({"name": outbound, "conf": conf}), 0, mesh)?);
    }
    let world = World::new(FROM_04, mesh, &all)?;
    let (_, dataplane) = world.dataplane()?;
    let reached = routes::destination_map(dataplane, |outbound| {
        let mut policies = world.snapshot.policies().iter();
        let (_, route) = policies.find(|(_, policy)| world.name(policy) == outbound.section())?;
        world.value(route.payload?).map(Route::of)
    });
    Ok(Outcome::compare(case.expected(), &json!(reached)))
}
