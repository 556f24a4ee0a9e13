//! Proxies that nobody wrote down. On Kubernetes the control plane makes them, so a folder of policies has none; then tags stand
//! for a proxy with exactly these. They do so, too, where nothing but tags is asked about. And a proxy that is a built-in gateway has
//! the listeners that its gateway gives it: where no gateway was read, there is taken to be one.

use rustc_hash::FxHashMap;
use upheld_engine::{ObjectId, Snapshot};
use upheld_model::{Lookup, NodeRef, Object, Part, Role, SourceId, TagSet};

use crate::kuma::edition::Edition;
use crate::kuma::ends::tagged::BRING;
use crate::kuma::ends::{Connection, End, Member, proxies};
use crate::kuma::meta::{fact, with_fact};
use crate::kuma::resources::ResourceType;
use crate::kuma::rules::edition;

/// Proxies for the ends of a connection that are nothing but tags.
#[derive(Debug, Default)]
pub(in super::super) struct MadeUp {
    pub(super) caller: Option<Object>,
    pub(super) called: Option<Object>,
    /// Proxies that are built-in gateways, with the listener that they are taken to have.
    gateways: FxHashMap<ObjectId, Object>,
    /// Whether no proxy was read.
    alone: bool,
}

impl MadeUp {
    pub(in super::super) fn of(snapshot: &Snapshot, lookup: &mut Lookup<'_>, connection: &Connection) -> Self {
        let none = !proxies(snapshot).any(|(_, proxy)| proxy.scope == connection.mesh);
        let ends = || connection.source.iter().chain(&connection.destination);
        let only_tags = ends().flat_map(|end| &end.members).all(|member| member.is.is_none());
        let gateways = gateways(snapshot, lookup, connection);
        if !none && !only_tags {
            return Self { gateways, ..Self::default() };
        }
        let mut make = |end: Option<&End>| {
            let tags = end?.members.iter().find(|member| member.is.is_none())?.parts.first()?;
            Some(proxy(lookup, connection, tags))
        };
        let (caller, called) = (make(connection.source.as_ref()), make(connection.destination.as_ref()));
        Self { caller, called, gateways, alone: none }
    }

    /// Nobody but gateways of proxies that were read.
    pub(in super::super) fn of_gateways(snapshot: &Snapshot, lookup: &mut Lookup<'_>, connection: &Connection) -> Self {
        Self { gateways: gateways(snapshot, lookup, connection), ..Self::default() }
    }

    /// A proxy of the snapshot, with what it is taken to have.
    pub(in super::super) fn proxy<'p>(&'p self, snapshot: &'p Snapshot, id: ObjectId) -> Option<&'p Object> {
        self.gateways.get(&id).or_else(|| snapshot.objects().get(id))
    }

    /// What was assumed, for people.
    pub(in super::super) fn assumed(&self, snapshot: &Snapshot) -> Vec<String> {
        let mut names: Vec<&str> = self.gateways.values().map(|proxy| snapshot.text(proxy.name)).collect();
        names.sort_unstable();
        let gateways = names.into_iter().map(|name| {
            format!(
                "note: no MeshGateway was read: {name} is taken to have one with one listener, for all hosts and without tags of its \
                 own; policies that name a MeshGateway are not part of this answer"
            )
        });
        gateways.chain(self.assumed_tags()).collect()
    }

    fn assumed_tags(&self) -> Vec<String> {
        if self.caller.is_none() && self.called.is_none() {
            return Vec::new();
        }
        let assumed = "note: this is for a proxy with one inbound that has exactly these tags, and the same labels";
        let bring = self.alone.then(|| format!("note: no proxies were read; bring them with `{BRING}`"));
        [assumed.to_owned()].into_iter().chain(bring).collect()
    }
}

/// Callers that are built-in gateways, where no document says what these are.
fn gateways(snapshot: &Snapshot, lookup: &mut Lookup<'_>, connection: &Connection) -> FxHashMap<ObjectId, Object> {
    let mesh = snapshot.text(connection.mesh);
    let is_read = || snapshot.objects_in(ResourceType::MeshGateway.name(), mesh).next().is_some();
    // Kuma 3 has no gateways of its own.
    if edition(snapshot) == Edition::V3 || is_read() {
        return FxHashMap::default();
    }
    let ids = connection.source.iter().flat_map(|end| &end.members).filter_map(Member::caller);
    let mut found = FxHashMap::default();
    for (id, proxy) in ids.filter_map(|id| Some((id, snapshot.objects().get(id)?))) {
        let Some(own) = proxy.parts.iter().find(|part| part.role == Role::BuiltinGateway) else { continue };
        let listener =
            Part { role: Role::GatewayListener, section: lookup.symbol("*"), port: None, tags: own.tags.clone() };
        let gateway = (lookup.symbol(fact::GATEWAY), lookup.symbol("@not read"));
        let mut served = proxy.clone();
        served.facts = with_fact(&proxy.facts, gateway.0, Some(gateway.1));
        served.parts.push(listener);
        found.insert(id, served);
    }
    found
}

fn proxy(lookup: &mut Lookup<'_>, connection: &Connection, tags: &TagSet) -> Object {
    let sidecar = (lookup.symbol(fact::PROXY_TYPE), Some(lookup.symbol("Sidecar")));
    // On Kubernetes, both come from the labels of a pod.
    let labels = tags.as_slice().iter().map(|tag| (tag.key, tag.value));
    let facts: Vec<_> = labels.chain([sidecar]).collect();
    let nowhere = NodeRef { source: SourceId::new(usize::MAX), node: 0 };
    let section = lookup.symbol("inbound");
    Object {
        kind: lookup.symbol(ResourceType::Dataplane.name()),
        scope: connection.mesh,
        name: section,
        facts: TagSet::new(facts),
        parts: vec![Part { role: Role::Inbound, section, port: None, tags: tags.clone() }],
        at: nowhere,
        created: None,
    }
}
