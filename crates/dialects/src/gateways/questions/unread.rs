//! Things that were not read and that policies name: what these say about them is answered all the same.

use upheld_model::{NodeRef, Object, SourceId, Sym, TagSet};

use super::{objects_named, types};
use crate::gateways::gateway_api::Network;
use crate::gateways::unattached;
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
    // What was read goes before what only policies name.
    if objects_named(snapshot, kinds, namespace, name).next().is_some() {
        return None;
    }
    let targets = kinds.iter().flat_map(|kind| unattached::named_unread(network, kind, name));
    let is_meant = |scope: &Sym| namespace.is_none_or(|namespace| snapshot.text(*scope) == namespace);
    let found: Vec<_> = targets.filter(|(_, scope, _)| is_meant(scope)).collect();
    let [(kind, scope, name)] = found.as_slice() else { return None };
    let (kind, scope, name) = (*kind, *scope, *name);
    let at = NodeRef { source: SourceId::FIRST, node: 0 };
    let facts = TagSet::new(Vec::new());
    let object = Object { kind, scope, name, facts, parts: Vec::new(), at, created: None };
    Some(Unread { object, section: section.map(str::to_owned) })
}
