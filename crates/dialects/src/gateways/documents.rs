//! Who documents about gateways are: their namespace and name tell them apart.

use std::collections::BTreeSet;

use upheld_model::tree::Value;

use super::gateway_api;
use crate::document::Resource;
use crate::identity::{Identify, KindsInForce, Whose, in_namespace};

/// Says who documents about gateways are.
pub(super) struct GatewayDocuments<'k> {
    /// Groups and types of policies that are attached to gateways.
    attached: BTreeSet<(&'k str, &'k str)>,
}

impl<'k> GatewayDocuments<'k> {
    pub(super) fn new(kinds: KindsInForce<'k>) -> Self {
        let own = kinds.kinds.iter().filter_map(|kind| Some((kind.hierarchy()?.group, kind.governs)));
        Self { attached: own.map(|(group, kind)| (kinds.symbols.text(group), kinds.symbols.text(kind))).collect() }
    }
}

impl Identify for GatewayDocuments<'_> {
    fn identity(&self, document: Value<'_>) -> Whose {
        let Some(resource) = Resource::of(document) else { return Whose::Others };
        let is_attached = || self.attached.contains(&(resource.group().unwrap_or_default(), resource.kind.text()));
        if is_attached() || gateway_api::claim(resource).is_some() {
            Whose::Own(in_namespace(resource))
        } else {
            Whose::Others
        }
    }
}
