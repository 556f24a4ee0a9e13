//! Proxies that nobody wrote down. On Kubernetes the control plane makes them, so a folder of policies has none; then tags stand
//! for a proxy with exactly these. They do so, too, where nothing but tags is asked about.

use upheld_engine::Snapshot;
use upheld_model::{Lookup, NodeRef, Object, Part, Role, SourceId, TagSet};

use crate::kuma::ends::{Connection, End, proxies};
use crate::kuma::meta::fact;
use crate::kuma::resources::ResourceType;

/// Proxies for the ends of a connection that are nothing but tags.
#[derive(Debug, Default)]
pub(in super::super) struct MadeUp {
    pub(super) caller: Option<Object>,
    pub(super) called: Option<Object>,
    /// Whether no proxy was read.
    alone: bool,
}

impl MadeUp {
    pub(in super::super) fn of(snapshot: &Snapshot, lookup: &mut Lookup<'_>, connection: &Connection) -> Self {
        let none = !proxies(snapshot).any(|(_, proxy)| proxy.scope == connection.mesh);
        let ends = || connection.source.iter().chain(&connection.destination);
        let only_tags = ends().flat_map(|end| &end.members).all(|member| member.is.is_none());
        if !none && !only_tags {
            return Self::default();
        }
        let mut make = |end: Option<&End>| {
            let tags = end?.members.iter().find(|member| member.is.is_none())?.parts.first()?;
            Some(proxy(lookup, connection, tags))
        };
        Self { caller: make(connection.source.as_ref()), called: make(connection.destination.as_ref()), alone: none }
    }

    /// What was assumed, for people.
    pub(in super::super) fn assumed(&self) -> Vec<String> {
        if self.caller.is_none() && self.called.is_none() {
            return Vec::new();
        }
        let assumed = "note: this is for a proxy with one inbound that has exactly these tags, and the same labels";
        let bring = "note: no proxies were read; bring them with `kubectl get dataplanes -A -o yaml | upheld explain -f - -f …`";
        let notes = [assumed].into_iter().chain(Some(bring).filter(|_| self.alone));
        notes.map(str::to_owned).collect()
    }
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
