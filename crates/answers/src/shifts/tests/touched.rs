//! Laws of one edit of layers: what is compared where it can matter is what is compared everywhere, and what asking each pair shows.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use serde_json::{Value as Json, json};
use upheld_loader::load::Loaded;
use upheld_report::Shifts;

use super::{asked, between, loaded, options, result};
use crate::World;
use crate::shifts::{Among, shifts_among};

const KINDS: [&str; 5] = ["MeshTimeout", "MeshTrafficPermission", "MeshHTTPRoute", "MeshRetry", "MeshFaultInjection"];

fn pick(values: &'static [&'static str]) -> impl Strategy<Value = &'static str> + Clone {
    prop::sample::select(values)
}

/// A proxy with a label, perhaps with two inbounds, perhaps a gateway.
fn proxy(number: usize) -> impl Strategy<Value = Json> {
    (pick(&["web", "backend"]), pick(&["a", "b"]), pick(&["v1", "v2"]), 0..6_u8).prop_map(move |(service, app, version, shape)| {
        let inbound = |port: u16, name: &str, service: &str| {
            json!({"port": port, "name": name, "tags": {"kuma.io/service": service, "version": version, "kuma.io/protocol": "http"}})
        };
        let mut networking = json!({"address": format!("10.0.0.{number}"), "inbound": [inbound(80, "http", service)]});
        match shape {
            0 => networking["inbound"] = json!([inbound(80, "http", service), inbound(81, "admin", "backend")]),
            1 => {
                networking = json!({"address": "10.0.0.9", "gateway": {"type": "BUILTIN", "tags": {"kuma.io/service": "edge"}}});
            }
            2 => networking = json!({"address": "10.0.0.9", "inbound": []}),
            _ => {}
        }
        json!({"type": "Dataplane", "mesh": "default", "name": format!("proxy-{number}"), "labels": {"app": app}, "networking": networking})
    })
}

fn top() -> impl Strategy<Value = Json> + Clone {
    prop_oneof![
        2 => Just(json!({"kind": "Mesh"})),
        3 => pick(&["a", "b", "none"]).prop_map(|app| json!({"kind": "Dataplane", "labels": {"app": app}})),
        1 => pick(&["http", "admin"]).prop_map(|section| json!({"kind": "Dataplane", "sectionName": section})),
        2 => pick(&["v1", "v2"]).prop_map(|version| json!({"kind": "MeshSubset", "tags": {"version": version}})),
        1 => pick(&["web", "edge"]).prop_map(|service| json!({"kind": "MeshService", "name": service})),
    ]
}

fn to() -> impl Strategy<Value = Json> + Clone {
    prop_oneof![
        2 => Just(json!({"kind": "Mesh"})),
        2 => pick(&["web", "backend", "gone"]).prop_map(|name| json!({"kind": "MeshService", "name": name})),
        2 => pick(&["x", "y"]).prop_map(|team| json!({"kind": "MeshService", "labels": {"team": team}})),
    ]
}

fn from() -> impl Strategy<Value = Json> + Clone {
    prop_oneof![
        1 => Just(json!({"kind": "Mesh"})),
        1 => pick(&["web", "edge"]).prop_map(|name| json!({"kind": "MeshService", "name": name})),
        1 => pick(&["v1", "v2"]).prop_map(|version| json!({"kind": "MeshSubset", "tags": {"version": version}})),
    ]
}

fn policy(number: usize) -> impl Strategy<Value = Json> + Clone {
    (0..6_u8, top(), to(), from(), pick(&["1s", "2s"])).prop_map(move |(kind, top, to, from, value)| {
        let caller = json!({"spiffeID": {"type": "Prefix", "value": format!("spiffe://default/{}", if value == "1s" { "web" } else { "backend" })}});
        let (kind, field, items) = match kind {
            0 => ("MeshTimeout", "to", json!([{"targetRef": to, "default": {"idleTimeout": value}}])),
            1 => ("MeshTimeout", "from", json!([{"targetRef": {"kind": "Mesh"}, "default": {"idleTimeout": value}}])),
            2 => {
                let action = if value == "1s" { "Allow" } else { "Deny" };
                ("MeshTrafficPermission", "from", json!([{"targetRef": from, "default": {"action": action}}]))
            }
            3 => ("MeshTrafficPermission", "rules", json!([{"default": {"allow": [caller]}}])),
            4 => {
                let rule = json!({"matches": [{"path": {"type": "PathPrefix", "value": "/"}}], "default": {"filters": []}});
                ("MeshHTTPRoute", "to", json!([{"targetRef": to, "rules": [rule]}]))
            }
            _ => ("MeshRetry", "to", json!([{"targetRef": to, "default": {"tcp": {"maxConnectAttempt": value.len()}}}])),
        };
        json!({"type": kind, "mesh": "default", "name": format!("policy-{number}"), "spec": {"targetRef": top, field: items}})
    })
}

/// A world, and the same after one policy of it came, went or was written anew.
fn edited() -> impl Strategy<Value = [Vec<Json>; 2]> {
    let service = |(name, team): (&'static str, &'static str)| {
        let selector = json!({"dataplaneTags": {"kuma.io/service": name}});
        let ports = json!([{"port": 80, "name": "http", "targetPort": 80, "appProtocol": "http"}]);
        json!({"type": "MeshService", "mesh": "default", "name": name, "labels": {"team": team}, "spec": {"selector": selector, "ports": ports}})
    };
    let services = [("web", "x"), ("backend", "y")].map(service);
    let proxies: Vec<_> = (0..5).map(proxy).collect();
    let policies: Vec<_> = (0..4).map(policy).collect();
    let mesh = (pick(&["", "c"]), pick(&["", "egress"])).prop_map(|(backend, egress)| {
        let mut mesh = json!({"type": "Mesh", "name": "default"});
        if !backend.is_empty() {
            mesh["mtls"] = json!({"enabledBackend": "c", "backends": [{"name": "c", "type": "builtin"}]});
        }
        if !egress.is_empty() {
            mesh["routing"] = json!({"zoneEgress": true});
        }
        mesh
    });
    let external = json!({
        "type": "ExternalService", "mesh": "default", "name": "shop",
        "tags": {"kuma.io/service": "shop", "kuma.io/protocol": "http"}, "networking": {"address": "shop.example:80"}
    });
    (mesh, proxies, policies, policy(9), 0..4_usize, 0..3_u8).prop_map(
        move |(mesh, proxies, policies, other, place, fate)| {
            let rest: Vec<Json> =
                [mesh, external.clone()].into_iter().chain(services.clone()).chain(proxies).chain(policies).collect();
            let place = rest.len() - 1 - place;
            let (mut before, mut after) = (rest.clone(), rest);
            let written = |name: &Json| {
                let mut other = other.clone();
                other["name"] = name.clone();
                other
            };
            match fate {
                0 => drop(after.remove(place)),
                1 => drop(before.remove(place)),
                _ => after[place] = written(&before[place]["name"]),
            }
            [before, after]
        },
    )
}

fn read(documents: &[Json]) -> Loaded {
    loaded(&documents.iter().map(Json::to_string).collect::<Vec<_>>())
}

/// What is otherwise, whichever of the connections is the example.
fn told(shifts: &Shifts) -> Vec<String> {
    let mut all: Vec<String> = (shifts.shifts.iter())
        .map(|one| {
            format!("{} {:?} {:?} → {:?} {:?} {:?}", one.kind, one.size, one.before, one.after, one.fields, one.causes)
        })
        .collect();
    all.sort();
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn p5_what_an_edit_can_touch_is_all_that_it_changes([before, after] in edited()) {
        let (before, after) = (read(&before), read(&after));
        let shifts = between(&before, &after);
        let options = options();
        let worlds = [&before, &after].map(|loaded| World::new(&loaded.snapshot, &options));
        let everything = Among { kind: None, fits: &|_, _, _| true };
        let [was, is] = &worlds;
        let full = shifts_among(was, is, &everything);
        prop_assert_eq!(shifts.counts.changed, full.counts.changed, "{:#?} {:#?}", &shifts, &full);
        prop_assert_eq!(told(&shifts), told(&full));
    }

    #[test]
    fn p5_all_pairs_of_a_cell_have_one_answer([world, _] in edited()) {
        let world = read(&world);
        let options = options();
        for kind in KINDS {
            let all = World::new(&world.snapshot, &options).all_pairs(kind, &()).expect("a kind");
            for pairs in &all.meshes {
                let (cells, standings) = pairs.numbered();
                let mut first: BTreeMap<u32, Vec<(&str, Json)>> = BTreeMap::new();
                for (from, row) in pairs.callers() {
                    for (to, column) in pairs.called() {
                        let cell = cells[row][column];
                        let Some(reports) = asked(&world, kind, world.snapshot.text(from), to) else { continue };
                        let policies: BTreeSet<&str> =
                            reports.iter().flat_map(|report| &report.policies).map(String::as_str).collect();
                        prop_assert_eq!(policies, all.names(&standings[cell as usize]).into_iter().filter(|name| *name != all.default_name()).collect::<BTreeSet<_>>());
                        // A port is called by its name where it is the only one.
                        let results = || result(&reports).into_iter().map(|(_, verdict, result)| (verdict, result)).collect();
                        prop_assert_eq!(first.entry(cell).or_insert_with(results), &results());
                    }
                }
            }
        }
    }
}
