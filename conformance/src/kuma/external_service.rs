//! `legacy-external-service-permission`: the external services that a proxy may reach.
//!
//! The one permission that stands for the tags of a service must name the proxy among its clients.

use serde_json::Value as Json;
use upheld_dialects::kuma::ends::caller_parts;
use upheld_engine::{Granted, Question, Scratch, Silent, ask};
use upheld_model::{Object, TagSet};

use super::world::World;
use super::{FROM_04, documents};
use crate::case::Case;
use crate::outcome::Outcome;

const PERMISSION: &str = "TrafficPermission";

pub(super) fn run(case: &Case) -> anyhow::Result<Outcome> {
    let mesh = documents::mesh(case);
    let mut all = documents::connection(case, PERMISSION)?;
    // Here ties go by the order in which policies are given, which names in that order reproduce.
    for (position, document) in all.iter_mut().enumerate().filter(|(_, document)| document["type"] == PERMISSION) {
        document["name"] = format!("{position:06}").into();
    }
    for (position, service) in case.input_list("externalServices").iter().enumerate() {
        all.push(documents::external_service(service, position, mesh)?);
    }
    let world = World::new(FROM_04, mesh, &all)?;
    let (kind, _) = world.kind(PERMISSION)?;
    let caller = caller_parts(world.dataplane()?.0);
    let granted = |service: &Object| {
        let tags: Vec<TagSet> = service.parts.iter().map(|part| part.tags.clone()).collect();
        let question = Question { source: Some(&caller), destination: Some(&tags) };
        world
            .select(kind)
            .is_some_and(|select| ask(select, &question, &mut Scratch::default(), &mut Silent).granted == Granted::Yes)
    };
    let mut services: Vec<&Object> = world.snapshot.objects().iter().map(|(_, object)| object).collect();
    services.retain(|object| world.snapshot.text(object.kind) == "ExternalService" && granted(object));
    services.sort_by_key(|object| object.at);
    let actual: Json = services.iter().map(|object| world.snapshot.text(object.name)).collect();
    Ok(Outcome::compare(case.expected(), &actual))
}
