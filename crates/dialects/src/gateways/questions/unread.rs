//! Things that were not read and that policies name: what these say about them is answered all the same.

use upheld_model::{NodeRef, Object, SourceId, TagSet, TargetReference};

use super::types;
use crate::gateways::gateway_api::Network;
use crate::question::Thing;

/// Something that was not read.
#[derive(Debug)]
pub(super) struct Unread {
    /// It, without anything that its document says.
    pub(super) object: Object,
    /// The section that was asked about.
    pub(super) section: Option<String>,
}

/// What a question is about, if it was not read and one policy or more name it.
pub(super) fn object(network: Network<'_>, thing: &Thing) -> Option<Unread> {
    let Thing::Object(named) = thing else { return None };
    let written = named.written.as_str();
    let (whole, section) = written.split_once('#').map_or((written, None), |(whole, section)| (whole, Some(section)));
    let (noun, rest) = whole.split_once('/')?;
    let (namespace, name) = rest.split_once('/').map_or((None, rest), |(namespace, name)| (Some(namespace), name));
    let snapshot = network.snapshot;
    let kinds = types(noun)?;
    let is_meant = |target: &&TargetReference| {
        kinds.contains(&snapshot.text(target.kind))
            && snapshot.text(target.name) == name
            && namespace.is_none_or(|namespace| snapshot.text(target.namespace) == namespace)
    };
    // What was read goes before what only policies name.
    let was_read = snapshot.objects().iter().any(|(_, object)| {
        kinds.contains(&snapshot.text(object.kind))
            && snapshot.text(object.name) == name
            && namespace.is_none_or(|namespace| snapshot.text(object.scope) == namespace)
    });
    if was_read {
        return None;
    }
    let policies = snapshot.policies().iter();
    let targets = policies.filter_map(|(_, policy)| policy.attachments()).flat_map(|attachments| &attachments.targets);
    let mut found: Vec<_> = targets.filter(is_meant).map(|to| (to.kind, to.namespace, to.name)).collect();
    found.sort_unstable();
    found.dedup();
    let [(kind, scope, name)] = found.as_slice() else { return None };
    let (kind, scope, name) = (*kind, *scope, *name);
    let at = NodeRef { source: SourceId::FIRST, node: 0 };
    let facts = TagSet::new(Vec::new());
    let object = Object { kind, scope, name, facts, parts: Vec::new(), at, created: None };
    Some(Unread { object, section: section.map(str::to_owned) })
}
