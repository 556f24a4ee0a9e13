//! What holds of all documents of all dialects.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use upheld_dialects::dialects;
use upheld_engine::Snapshot;

use super::table::{Row, TABLE};
use super::{identity, listed, loaded};

#[test]
fn all_ways_to_write_a_thing_have_one_identity_and_two_things_have_two() {
    for Row { types, beside, things } in TABLE {
        let snapshot = loaded(&[beside]).unwrap().snapshot;
        let mut known = BTreeMap::new();
        for ways in *things {
            let identities: BTreeSet<_> = ways.iter().map(|way| identity(&snapshot, way).unwrap()).collect();
            assert_eq!(identities.len(), 1, "{types:?}: {ways:#?} are {identities:#?}");
            let first = identities.into_iter().next().unwrap();
            if let Some(other) = known.insert(first, ways) {
                panic!("{types:?}: {ways:#?} have the identity of {other:#?}");
            }
        }
    }
}

#[test]
fn readers_take_for_two_things_what_has_two_identities_and_list_them_by_these() {
    for Row { types, beside, things } in TABLE {
        let texts: Vec<&str> = std::iter::once(*beside).chain(things.iter().map(|ways| ways[0])).collect();
        let together = loaded(&texts).unwrap_or_else(|problems| panic!("{types:?}: {problems:#?}"));
        for (file, listed) in listed(&together.snapshot) {
            let place: usize = file.strip_suffix(".yaml").unwrap().parse().unwrap();
            let text = texts[place];
            // What stands beside is several; so is a collection.
            if place > 0 && !text.contains("kind: Compliance") {
                assert_eq!(listed, identity(&together.snapshot, text).unwrap(), "{types:?}");
            }
        }
    }
}

#[test]
fn no_reader_takes_for_two_things_what_has_one_identity() {
    // How many things and relationships there are.
    let count = |snapshot: &Snapshot| {
        let links: usize = snapshot.complies().map(|(_, comply)| comply.link_count()).sum();
        (listed(snapshot).len(), links)
    };
    for Row { types, beside, things } in TABLE {
        for ways in *things {
            let alone = loaded(&[beside, ways[0]]).unwrap();
            for other in &ways[1..] {
                // Those who know better say that it is there twice.
                if let Ok(both) = loaded(&[beside, ways[0], other]) {
                    assert_eq!(count(&both.snapshot), count(&alone.snapshot), "{types:?}: {other}");
                }
            }
        }
    }
}

/// What tells apart the documents of a type, besides the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Within {
    /// The mesh, in both forms of a document.
    Mesh,
    /// The namespace.
    Namespace,
}

/// All types that are told apart by a mesh or a namespace and a name, each with an API group.
fn types(snapshot: &Snapshot) -> BTreeMap<(String, String), Within> {
    let mut types = BTreeMap::new();
    let mut add = |group: &str, kind: &str, within| types.insert((group.to_owned(), kind.to_owned()), within);
    for (_, kind) in snapshot.kinds().iter() {
        let governs = snapshot.text(kind.governs);
        if let Some(hierarchy) = kind.hierarchy() {
            add(snapshot.text(hierarchy.group), governs, Within::Namespace);
        } else if kind.select().is_some() || kind.merge().is_some() {
            add("kuma.io", governs, Within::Mesh);
        }
    }
    let objects = ["Dataplane", "ExternalService", "MeshService", "MeshExternalService", "MeshMultiZoneService"];
    let others = ["MeshGateway", "MeshGatewayRoute", "MeshIdentity", "Secret", "MeshTrust"];
    for kind in objects.into_iter().chain(others) {
        add("kuma.io", kind, Within::Mesh);
    }
    let gateway = "gateway.networking.k8s.io";
    for kind in
        ["Gateway", "HTTPRoute", "GRPCRoute", "TCPRoute", "TLSRoute", "UDPRoute", "ListenerSet", "ReferenceGrant"]
    {
        add(gateway, kind, Within::Namespace);
    }
    for kind in ["Service", "Secret", "ConfigMap", "Pod", "ReplicationController"] {
        add("", kind, Within::Namespace);
    }
    for kind in ["Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"] {
        add("apps", kind, Within::Namespace);
    }
    add("batch", "Job", Within::Namespace);
    add("batch", "CronJob", Within::Namespace);
    add("networking.k8s.io", "NetworkPolicy", Within::Namespace);
    add("gateway.envoyproxy.io", "HTTPRouteFilter", Within::Namespace);
    add("gateway.kgateway.dev", "GatewayExtension", Within::Namespace);
    // Nobody knows these.
    add("serving.knative.dev", "Service", Within::Namespace);
    add("cert-manager.io", "Certificate", Within::Namespace);
    types
}

#[test]
fn every_type_of_every_dialect_is_held_against_these_laws() {
    let snapshot = loaded(&[]).unwrap().snapshot;
    let in_table = TABLE.iter().flat_map(|row| row.types.iter().map(|typed| (*typed).to_owned()));
    let all = types(&snapshot);
    let known: BTreeSet<String> = in_table.chain(all.keys().map(|(_, kind)| kind.clone())).collect();
    for dialect in dialects() {
        for (name, _) in dialect.shapes(&snapshot) {
            // A mesh is in itself.
            assert!(known.contains(&name) || name == "Mesh", "{name} of {} is in no law", dialect.name());
        }
        for name in dialect.object_types() {
            assert!(known.contains(name) || name == "Mesh", "{name} of {} is in no law", dialect.name());
        }
    }
}

#[test]
fn a_mesh_is_in_itself() {
    let snapshot = loaded(&[]).unwrap().snapshot;
    for text in ["{type: Mesh, name: blue}", "{apiVersion: kuma.io/v1alpha1, kind: Mesh, metadata: {name: blue}}"] {
        assert_eq!(identity(&snapshot, text).unwrap().to_string(), "Mesh/blue/blue");
    }
}

/// Which document of a type.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Which {
    within: Option<&'static str>,
    name: &'static str,
}

impl Which {
    /// Who it is, in words of its own: the place and the name.
    fn told(&self) -> (&'static str, &'static str) {
        (self.within.unwrap_or("default"), self.name)
    }

    /// All forms in which it can be written.
    fn written(&self, group: &str, kind: &str, told_apart: Within) -> Vec<String> {
        let Self { within, name } = self;
        let version = if group.is_empty() { "v1".to_owned() } else { format!("{group}/v1alpha1") };
        match told_apart {
            Within::Namespace => {
                let namespace = within.map(|namespace| format!(", namespace: {namespace}")).unwrap_or_default();
                vec![
                    format!(
                        "{{apiVersion: {version}, kind: {kind}, metadata: {{name: {name}{namespace}}}, spec: {{}}}}"
                    ),
                    format!(
                        "{{spec: {{a: 1}}, metadata: {{name: {name}{namespace}}}, kind: {kind}, apiVersion: {version}}}"
                    ),
                ]
            }
            Within::Mesh => {
                let field = within.map(|mesh| format!(", mesh: {mesh}")).unwrap_or_default();
                let label = within.map(|mesh| format!(", labels: {{kuma.io/mesh: {mesh}}}")).unwrap_or_default();
                vec![
                    format!("{{type: {kind}, name: {name}{field}}}"),
                    format!("{{name: {name}{field}, type: {kind}, labels: {{a: b}}}}"),
                    format!("{{apiVersion: {version}, kind: {kind}, metadata: {{name: {name}{label}}}}}"),
                ]
            }
        }
    }
}

fn which() -> impl Strategy<Value = Which> {
    let within = prop::option::of(prop::sample::select(vec!["default", "blue", "shop"]));
    let name = prop::sample::select(vec!["a", "b", "a.b", "web-1"]);
    (within, name).prop_map(|(within, name)| Which { within, name })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn scope_and_name_tell_documents_of_a_type_apart_and_nothing_else(one in which(), other in which()) {
        let snapshot = loaded(&[]).unwrap().snapshot;
        let mut seen: BTreeMap<String, (String, String)> = BTreeMap::new();
        for ((group, kind), within) in types(&snapshot) {
            let who = |which: &Which| -> BTreeSet<String> {
                let texts = which.written(&group, &kind, within);
                texts.iter().map(|text| identity(&snapshot, text).unwrap().to_string()).collect()
            };
            let (first, second) = (who(&one), who(&other));
            prop_assert_eq!(first.len(), 1, "{} {:?}", kind, first);
            prop_assert_eq!(first == second, one.told() == other.told(), "{} {:?} {:?}", kind, first, second);
            // Two types with one name are two types.
            let id = first.into_iter().next().unwrap();
            let clash = seen.insert(id.clone(), (group.clone(), kind.clone()));
            prop_assert!(clash.is_none(), "{} is {:?} and of `{}`", id, clash, group);
        }
    }
}
