//! Which gateway a proxy serves, and the listeners that it gets from it.

use upheld_model::tree::Value;
use upheld_model::{Files, Object, Part, Role, Sym, Symbols, Table, TagSet, Timestamp};

use super::control_plane::Stamps;
use super::edition::Edition;
use super::meta::{Meta, fact, label, with_fact};
use super::resources::{ResourceType, tag_set};
use crate::document::Resource;

struct Gateway {
    scope: Sym,
    name: String,
    display_name: Sym,
    created: Option<Timestamp>,
    /// `None` for one that belongs to no zone.
    zone: Option<String>,
    zone_fact: Option<Sym>,
    /// Tags with `*` for any value.
    selectors: Vec<Vec<(Sym, Option<Sym>)>>,
    listeners: Vec<Listener>,
}

struct Listener {
    port: Sym,
    hostname: Sym,
    tags: Vec<(Sym, Option<Sym>)>,
}

/// Finds the gateway of every proxy; proxies get its listeners as parts and its name as a fact.
pub(crate) fn attach(
    files: &Files,
    edition: Edition,
    stamps: &Stamps,
    objects: &mut Table<Object>,
    symbols: &mut Symbols,
) {
    // Kuma 3 has no gateways of its own.
    if edition == Edition::V3 {
        return;
    }
    let mut gateways: Vec<Gateway> = (objects.iter())
        .filter(|(_, object)| symbols.text(object.kind) == ResourceType::MeshGateway.name())
        .map(|(_, object)| (object.scope, object.created, object.at))
        .collect::<Vec<_>>()
        .into_iter()
        .filter_map(|(scope, created, at)| {
            Some(read_gateway(scope, created, Resource::of(files.value(at)?)?, stamps, symbols))
        })
        .collect();
    if gateways.is_empty() {
        return;
    }
    gateways.sort_by(|a, b| a.name.cmp(&b.name));
    let keys = Keys {
        zone: symbols.intern(label::ZONE),
        gateway: symbols.intern(fact::GATEWAY),
        builtin: symbols.intern(fact::BUILTIN_GATEWAY),
        zone_fact: symbols.intern(fact::ZONE),
    };
    let dataplane = symbols.intern(ResourceType::Dataplane.name());
    for object in objects.iter_mut().filter(|object| object.kind == dataplane) {
        let zone = object.facts.get(keys.zone).and_then(|tag| tag.value).map(|zone| symbols.text(zone).to_owned());
        let candidates =
            gateways.iter().filter(|gateway| gateway.scope == object.scope && gateway.reaches(zone.as_deref()));
        if let Some(gateway) = choose(candidates, object) {
            gateway.serve(object, &keys);
        }
    }
}

struct Keys {
    zone: Sym,
    gateway: Sym,
    builtin: Sym,
    zone_fact: Sym,
}

impl Gateway {
    fn reaches(&self, zone: Option<&str>) -> bool {
        match (&self.zone, zone) {
            (None, _) | (_, None) => true,
            (Some(own), Some(zone)) => own == zone,
        }
    }

    fn serve(&self, object: &mut Object, keys: &Keys) {
        let builtin = object.parts.iter().find(|part| part.role == Role::BuiltinGateway);
        let tags: Vec<(Sym, Option<Sym>)> = (object.parts.iter())
            .filter(|part| matches!(part.role, Role::Gateway | Role::BuiltinGateway))
            .flat_map(|part| part.tags.as_slice().iter().map(|tag| (tag.key, tag.value)))
            .collect();
        object.facts = with_fact(&object.facts, keys.gateway, Some(self.display_name));
        if builtin.is_some() {
            object.facts = with_fact(&object.facts, keys.builtin, Some(self.display_name));
        }
        object.facts = with_fact(&object.facts, keys.zone_fact, self.zone_fact);
        let listeners = self.listeners.iter().map(|listener| Part {
            role: Role::GatewayListener,
            section: listener.hostname,
            port: Some(listener.port),
            tags: TagSet::new(tags.iter().chain(&listener.tags).copied()),
        });
        object.parts.extend(listeners);
    }
}

/// The most specific one, then the newest, then the first by name. One that selects everything counts least.
fn choose<'g>(gateways: impl Iterator<Item = &'g Gateway>, object: &Object) -> Option<&'g Gateway> {
    let mut best: Option<(&Gateway, (usize, usize))> = None;
    for gateway in gateways {
        let all: &[Vec<_>] = if gateway.selectors.is_empty() { &[Vec::new()] } else { &gateway.selectors };
        for selector in all.iter().filter(|selector| selects(selector, object)) {
            let exact = selector.iter().filter(|(_, value)| value.is_some()).count();
            let rank = (selector.len(), exact);
            let better = best.is_none_or(|(known, known_rank)| {
                rank > known_rank || (rank == known_rank && gateway.created > known.created)
            });
            if better {
                best = Some((gateway, rank));
            }
        }
    }
    best.map(|(gateway, _)| gateway)
}

fn selects(selector: &[(Sym, Option<Sym>)], object: &Object) -> bool {
    let fits = |tags: &TagSet| {
        selector.iter().all(|(key, value)| tags.get(*key).is_some_and(|tag| value.is_none() || tag.value == *value))
    };
    let calls = |part: &&Part| matches!(part.role, Role::Inbound | Role::Gateway | Role::BuiltinGateway);
    selector.is_empty() || object.parts.iter().filter(calls).any(|part| fits(&part.tags))
}

fn read_gateway(
    scope: Sym,
    created: Option<Timestamp>,
    resource: Resource<'_>,
    stamps: &Stamps,
    symbols: &mut Symbols,
) -> Gateway {
    let meta = Meta::stamped(resource, stamps);
    let selectors = resource.field("selectors").into_iter().flat_map(Value::items).map(|selector| {
        let wants = selector.get("match").into_iter().flat_map(Value::entries);
        wants
            .map(|(key, value)| {
                let value = Some(value.text()).filter(|value| *value != "*");
                (symbols.intern(key.text()), value.map(|value| symbols.intern(value)))
            })
            .collect()
    });
    let selectors = selectors.collect();
    let own = tag_set(resource.field("tags"), symbols);
    let conf = resource.field("conf").and_then(|conf| conf.get("listeners"));
    let listeners = conf.into_iter().flat_map(Value::items).map(|listener| {
        let hostname = listener.get("hostname").map(Value::text).filter(|hostname| !hostname.is_empty());
        let tags = tag_set(listener.get("tags"), symbols);
        Listener {
            port: symbols.intern(listener.get("port").map_or("0", Value::text)),
            hostname: symbols.intern(hostname.unwrap_or("*")),
            tags: own.as_slice().iter().chain(tags.as_slice()).map(|tag| (tag.key, tag.value)).collect(),
        }
    });
    let listeners = listeners.collect();
    Gateway {
        scope,
        name: meta.name.clone().into_owned(),
        display_name: symbols.intern(meta.display_name()),
        created,
        zone: meta.origin().filter(|origin| *origin != "global").and_then(|_| meta.zone()).map(str::to_owned),
        zone_fact: meta.zone_fact().map(|zone| symbols.intern(zone)),
        selectors,
        listeners,
    }
}
