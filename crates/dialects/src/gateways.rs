//! Dialect *gateways*: the Gateway API, and the policies of two of its controllers, which share its topology.
//!
//! - [`gateway_api`]: gateways and routes as a graph; from a target to the places of its policies
//! - [`kgateway`], [`envoy_gateway`]: their policies over that graph, as kinds, with errors and status
//! - `kind`: kinds of policies that are attached to gateways
//! - `reader`: which documents are read, and as what; `documents`: who they are
//! - [`questions`]: routes, listeners, backends, requests; `reached`: those in which a policy can have a say
//! - `reported_status`, `drawing`: what controllers report; the graph with its policies
//! - `unattached`: why a policy has no effect

mod documents;
mod drawing;
pub mod envoy_gateway;
pub mod gateway_api;
pub mod kgateway;
mod kind;
pub mod questions;
mod reached;
mod reader;
mod reported_status;
mod unattached;

use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

use upheld_engine::digest::{Encode, Fingerprint};
use upheld_engine::{Companions, PolicyId, PolicyKind, Snapshot};
use upheld_model::{Diagnostic, SourceId, Symbols};
use upheld_report::{Answer, Drawing, ObjectStatus, PolicyStatus};

use self::gateway_api::{ControllerSettings, Gateways, Network};
use crate::dialect::{Builtin, Dialect, Finding, Inventory, Listing, Opening, Reader, SystemSettings};
use crate::identity::{Identify, Identity, KindsInForce};
use crate::policy_kind::KindForm;
use crate::question::{Asked, Options, Refused, Thing, Words};
use crate::schemas;
use crate::shape::Shape;

/// The dialect.
#[derive(Debug)]
pub struct GatewayApi;

impl Dialect for GatewayApi {
    fn name(&self) -> &'static str {
        "gateways"
    }

    fn kinds(&self) -> &'static [Builtin] {
        &[
            Builtin { name: "builtin:kgateway/2026.yaml", text: include_str!("gateways/kgateway/kinds/2026.yaml") },
            Builtin {
                name: "builtin:kgateway/ep-11268.yaml",
                text: include_str!("gateways/kgateway/kinds/ep-11268.yaml"),
            },
            Builtin {
                name: "builtin:envoy-gateway.yaml",
                text: include_str!("gateways/envoy_gateway/kinds/envoy-gateway.yaml"),
            },
        ]
    }

    fn schemas(&self) -> &'static [Builtin] {
        &[
            Builtin {
                name: "builtin:gateway-api.schemas.yaml",
                text: include_str!("gateways/gateway_api/schemas/gateway-api.yaml"),
            },
            Builtin {
                name: "builtin:kgateway.schemas.yaml",
                text: include_str!("gateways/kgateway/schemas/kgateway.yaml"),
            },
            Builtin {
                name: "builtin:envoy-gateway.schemas.yaml",
                text: include_str!("gateways/envoy_gateway/schemas/envoy-gateway.yaml"),
            },
        ]
    }

    fn editions(&self) -> &'static [&'static str] {
        &["kgateway/2026", "kgateway/ep-11268", "envoy-gateway"]
    }

    fn default_editions(&self) -> &'static [&'static str] {
        &[kgateway::DEFAULT_SEMANTICS, envoy_gateway::DEFAULT_SEMANTICS]
    }

    fn kind_forms(&self) -> &'static [KindForm] {
        &kind::FORMS
    }

    fn settings(&self) -> &'static [SystemSettings] {
        &[SystemSettings {
            name: "kgateway",
            about: "settings of the kgateway controller, for example GlobalPolicyNamespace=policies",
            read: |given| ControllerSettings::read(given).map(|read| Companions::default().with(Arc::new(read))),
        }]
    }

    fn configure(&self, kind: &mut PolicyKind, symbols: &Symbols, settings: &Companions) {
        controller(settings).policies.apply(kind, symbols);
    }

    fn own_types(&self) -> Vec<&'static str> {
        gateway_api::claim::types().collect()
    }

    fn cluster_wide(&self) -> &'static [(&'static str, &'static str)] {
        &gateway_api::CLUSTER_WIDE
    }

    fn reader<'f>(&self, opening: Opening<'f, '_>) -> Box<dyn Reader<'f> + 'f> {
        Box::new(reader::GatewayReader::new(opening))
    }

    fn identities<'k>(&self, kinds: KindsInForce<'k>) -> Box<dyn Identify + 'k> {
        Box::new(documents::GatewayDocuments::new(kinds))
    }

    fn complete(&self, snapshot: Snapshot, other_editions: Vec<PolicyKind>, settings: &Companions) -> Snapshot {
        let gateways = Gateways::of(&snapshot, controller(settings).clone(), other_editions);
        snapshot.keeping(Arc::new(gateways))
    }

    fn complete_after(&self, before: &Snapshot, next: Snapshot, changed: &BTreeSet<SourceId>) -> Snapshot {
        let known = before.companion::<Gateways>();
        match known.and_then(|gateways| gateways.after(before, &next, changed)) {
            Some(gateways) => next.keeping(Arc::new(gateways)),
            None => next,
        }
    }

    fn fingerprint(&self, settings: &Companions) -> Option<Fingerprint> {
        Some(controller(settings).fingerprint())
    }

    fn shapes(&self, snapshot: &Snapshot) -> Vec<(String, Vec<Shape>)> {
        let kinds = snapshot.kinds().iter().filter(|(_, kind)| kind.hierarchy().is_some());
        let shape = |kind: &PolicyKind| {
            let (group, governs) = (kind.hierarchy().map(|kind| kind.group), snapshot.text(kind.governs));
            let spec = group.and_then(|group| schemas::known(snapshot.text(group), governs));
            let shape = gateway_api::claim::shape();
            (governs.to_owned(), vec![spec.map_or_else(|| shape.clone(), |spec| shape.with_spec(spec))])
        };
        kinds.map(|(_, kind)| shape(kind)).collect()
    }

    fn parse(&self, words: &Words, _options: &Options) -> Option<Result<Thing, Refused>> {
        questions::parse(words)
    }

    fn example(&self, snapshot: &Snapshot) -> Option<&'static str> {
        let has_any = Network::of(snapshot).is_some_and(|network| !network.topology().gateways.is_empty());
        has_any.then_some(questions::EXAMPLE)
    }

    fn usual_example(&self) -> Option<&'static str> {
        Some(questions::EXAMPLE)
    }

    fn command_about(&self, object: &Identity) -> Option<String> {
        questions::command_about(object)
    }

    fn answer(&self, asked: &Asked<'_>) -> Option<Result<Answer, Refused>> {
        questions::answer(asked)
    }

    fn drawing(&self, snapshot: &Snapshot) -> Option<Result<Drawing, Diagnostic>> {
        Network::of(snapshot).map(drawing::drawing)
    }

    fn object_statuses(&self, snapshot: &Snapshot) -> Vec<ObjectStatus> {
        Network::of(snapshot).map(reported_status::objects::statuses).unwrap_or_default()
    }

    fn statuses(&self, snapshot: &Snapshot) -> Vec<PolicyStatus> {
        Network::of(snapshot).map(reported_status::statuses).unwrap_or_default()
    }

    fn findings(&self, snapshot: &Snapshot) -> Vec<Finding> {
        let Some(network) = Network::of(snapshot) else { return Vec::new() };
        let unattached = unattached::warnings(network).iter().cloned().map(Finding::from);
        kgateway::preferences::findings(network).into_iter().chain(unattached).collect()
    }

    fn warnings(&self, snapshot: &Snapshot) -> Vec<Diagnostic> {
        Network::of(snapshot).map(Network::warnings).unwrap_or_default()
    }
}

impl Inventory for GatewayApi {
    fn is_in_no_scope(&self, kind: &str, _scope: &str) -> bool {
        gateway_api::CLUSTER_WIDE.iter().any(|(_, known)| *known == kind)
    }

    fn questions(&self, snapshot: &Snapshot, most: usize) -> (Vec<Words>, Listing) {
        questions::questions(snapshot, most)
    }

    fn questions_about(&self, snapshot: &Snapshot, policy: PolicyId, most: usize) -> (Vec<Words>, Listing) {
        let network = Network::of(snapshot);
        network.map_or((Vec::new(), Listing::Whole), |network| reached::questions_about(network, policy, most))
    }
}

/// What the controller was started with.
fn controller(settings: &Companions) -> &ControllerSettings {
    static USUAL: LazyLock<ControllerSettings> = LazyLock::new(ControllerSettings::default);
    settings.get().unwrap_or(&USUAL)
}
