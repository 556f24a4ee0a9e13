//! Reads gateways, routes and what they lead to, and policies that are attached to these.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use upheld_engine::{HierarchyKind, work};
use upheld_model::{Files, SourceId};

use super::controller;
use super::gateway_api::{self, ControllerSettings};
use crate::dialect::{Document, Known, Opening, Reader, Side, Taken};
use crate::document::Resource;
use crate::recognise::Recognised;

/// Takes documents, and reads them when all are there.
pub(super) struct GatewayReader<'f> {
    files: &'f Files,
    settings: &'f ControllerSettings,
    /// Kinds of policies that are attached to gateways, by group and type.
    attached: FxHashMap<(String, String), Arc<HierarchyKind>>,
    /// Whether some document is about gateways: only then services, secrets and the like matter.
    about: AboutGateways,
    came: Vec<(SourceId, Resource<'f>)>,
    /// How many documents about gateways went and came, where only some are read.
    changed: Option<(usize, usize)>,
}

/// How many documents are about gateways.
#[derive(Clone, Copy, Debug)]
struct AboutGateways(usize);

impl<'f> GatewayReader<'f> {
    pub(super) fn new(opening: Opening<'f, '_>) -> Self {
        let Opening { reading, files, kinds, symbols, documents, known } = opening;
        let attached = kinds.iter().filter_map(|kind| {
            let hierarchy = kind.hierarchy()?;
            let texts = [hierarchy.group, kind.governs].map(|symbol| symbols.text(symbol).to_owned());
            Some((texts.into(), Arc::clone(hierarchy)))
        });
        let (about, changed) = match known {
            Known::Unchanged(before, _) => {
                (before.snapshot.companion().copied().unwrap_or(AboutGateways(0)), Some((0, 0)))
            }
            Known::Nothing | Known::Reusable(_) => {
                (AboutGateways(documents.typed().filter(|document| is_about_gateways(document)).count()), None)
            }
        };
        let (attached, settings) = (attached.collect(), controller(reading.settings));
        Self { files, settings, attached, about, came: Vec::new(), changed }
    }

    fn kind(&self, resource: Resource<'_>) -> Option<&Arc<HierarchyKind>> {
        let group = resource.group().unwrap_or_default().to_owned();
        self.attached.get(&(group, resource.kind.text().to_owned()))
    }

    fn is_object(&self, resource: Resource<'_>) -> bool {
        self.about.0 > 0 && gateway_api::claim(resource).is_some()
    }
}

impl<'f> Reader<'f> for GatewayReader<'f> {
    fn see(&mut self, document: &Document<'f>, side: Side) {
        if let Some((gone, came)) = &mut self.changed {
            let count = usize::from(is_about_gateways(document));
            match side {
                Side::Gone => *gone += count,
                Side::Came => *came += count,
            }
        }
    }

    fn take(&mut self, document: &Document<'f>, side: Side) -> Taken {
        let Some(resource) = document.resource() else { return Taken::No };
        if self.kind(resource).is_none() && !self.is_object(resource) {
            return Taken::No;
        }
        if side == Side::Came {
            self.came.push((document.source, resource));
        }
        Taken::Yes
    }

    fn words(&self) -> Vec<String> {
        Vec::new()
    }

    fn finish(mut self: Box<Self>, recognised: &mut Recognised) -> Option<()> {
        if let Some((gone, came)) = self.changed {
            let about = AboutGateways((self.about.0 + came).checked_sub(gone)?);
            // Whether services and secrets are read depends on whether there is any.
            if (about.0 == 0) != (self.about.0 == 0) {
                return None;
            }
            self.about = about;
        }
        for (source, resource) in std::mem::take(&mut self.came) {
            work::step();
            self.read(source, resource, recognised);
        }
        recognised.keep(self.about);
        Some(())
    }
}

impl GatewayReader<'_> {
    fn read(&self, source: SourceId, resource: Resource<'_>, recognised: &mut Recognised) {
        let Recognised { draft, diagnostics, .. } = &mut *recognised;
        if let Some(kind) = self.kind(resource) {
            if let Some(policy) = gateway_api::policy(source, resource, kind, self.settings, draft, diagnostics)
                && recognised.is_new(self.files, (policy.kind, policy.scope, policy.name), policy.at, NAMESPACE)
            {
                recognised.draft.policies.push(policy);
            }
        } else if let Some(object) = gateway_api::object(source, resource, draft, diagnostics)
            && recognised.is_new(self.files, (object.kind, object.scope, object.name), object.at, NAMESPACE)
        {
            recognised.draft.objects.push(object);
        }
    }
}

/// What scopes are called.
const NAMESPACE: &str = "namespace";

fn is_about_gateways(document: &Document<'_>) -> bool {
    document.header.is_some_and(|header| gateway_api::is_about_gateways(&header))
}
