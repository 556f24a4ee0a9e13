//! What is said of policies: conditions for each ancestor.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use upheld_engine::PolicyId;

use super::attachment_requests::{AttachmentRequest, Refusal, Wishes};
use super::reading::given_up;
use super::resources::Resources;
use super::targets::Target;
use super::{clients, gateways, routes};
use crate::document::Resource;
use crate::gateways::gateway_api::attachments::Reader;
use crate::gateways::gateway_api::gateways::Network;
use crate::gateways::gateway_api::topology::Condition;

/// How many ancestors a status may have.
const LIMIT: usize = 16;

/// What is said of one policy.
#[derive(Clone, Debug)]
pub struct PolicyStatus {
    /// The policy.
    pub policy: PolicyId,
    /// For each ancestor. A policy without any is attached to nothing that is there.
    pub ancestors: Vec<AncestorStatus>,
}

/// What is said of a policy at one ancestor.
#[derive(Clone, Debug)]
pub struct AncestorStatus {
    /// A Gateway or listener set, perhaps with a listener.
    pub ancestor: Target,
    /// Conditions, in the order in which they were found.
    pub conditions: Vec<Condition>,
}

impl Network<'_> {
    /// The status of every policy of Envoy Gateway, by kind; those of a kind in the order in which they choose.
    pub fn envoy_statuses(self) -> Vec<PolicyStatus> {
        let resources = Resources::of(self);
        let kinds = self
            .kinds()
            .filter(|kind| Reader::of(self.snapshot.text(kind.policies.kind().reads)) == Some(Reader::EnvoyGateway));
        kinds.flat_map(|kind| statuses(&Wishes::of(kind, &resources))).collect()
    }
}

fn statuses(requests: &Wishes<'_>) -> Vec<PolicyStatus> {
    let mut statuses = Statuses::new(requests);
    if clients::are_meant(requests.network, requests.kind) {
        clients::report(requests, &mut statuses);
    } else {
        let merged = routes::report(requests, &mut statuses);
        gateways::report(requests, &merged, &mut statuses);
    }
    statuses.finish()
}

/// The status of all policies of a kind while it is found.
pub(super) struct Statuses<'a> {
    requests: &'a Wishes<'a>,
    found: FxHashMap<PolicyId, BTreeMap<Target, Vec<Condition>>>,
}

impl<'a> Statuses<'a> {
    fn new(requests: &'a Wishes<'a>) -> Self {
        Self { requests, found: FxHashMap::default() }
    }

    /// Says something of a policy, instead of what was said under the same name.
    pub(super) fn set(&mut self, policy: PolicyId, ancestor: &Target, condition: Condition) {
        let conditions = self.found.entry(policy).or_default().entry(ancestor.clone()).or_default();
        match conditions.iter_mut().find(|known| known.name == condition.name) {
            Some(known) => *known = condition,
            None => conditions.push(condition),
        }
    }

    /// Says that a policy is attached, unless something else was said: one target that it does not get is enough for that.
    pub(super) fn accept(&mut self, policy: PolicyId, ancestor: &Target) {
        let said = self.found.get(&policy).and_then(|found| found.get(ancestor));
        if !said.is_some_and(|conditions| conditions.iter().any(|known| known.name == "Accepted")) {
            self.set(policy, ancestor, holds("Accepted", "Policy has been accepted.".to_owned()));
        }
        let snapshot = self.requests.network.snapshot;
        let document = snapshot.policy(policy).and_then(|policy| snapshot.files().value(policy.at));
        let given_up = document.and_then(Resource::of).and_then(Resource::spec).into_iter().flat_map(given_up);
        let told: Vec<String> =
            given_up.map(|(old, new)| format!("spec.{old} is deprecated, use spec.{new} instead")).collect();
        if !told.is_empty() {
            let (name, reason) = ("Warning".to_owned(), "DeprecatedField".to_owned());
            self.set(policy, ancestor, Condition { name, status: true, reason, message: told.join("; ") });
        }
    }

    /// Says that a policy does not get what it wants. Whether that is so.
    pub(super) fn refuse(&mut self, request: &AttachmentRequest, ancestors: &[Target]) -> bool {
        let Some(refusal) = request.refusal else { return false };
        let resources = self.requests.resources;
        let (kind, name) = resources.type_and_name(request.target.object);
        let section = request.target.section.as_deref();
        let (reason, message) = match refusal {
            Refusal::Conflicted => {
                let other = self.requests.type_name();
                let section = section.map(|section| format!("/{section}")).unwrap_or_default();
                let message =
                    format!("Unable to target {kind} {name}{section}, another {other} has already attached to it");
                ("Conflicted", message)
            }
            Refusal::NoSection => {
                let path = resources.path(request.target.object);
                let section = section.unwrap_or_default();
                ("TargetNotFound", format!("No section name {section} found for {kind} {path}"))
            }
        };
        for ancestor in ancestors {
            self.set(request.policy, ancestor, not_accepted(reason, message.clone()));
        }
        true
    }

    /// Everything that was said, in the order of policies.
    fn finish(mut self) -> Vec<PolicyStatus> {
        let requests = self.requests;
        let mut status = |policy: &PolicyId| {
            let found = self.found.remove(policy).unwrap_or_default().into_iter();
            let all = found.map(|(ancestor, conditions)| AncestorStatus { ancestor, conditions });
            PolicyStatus { policy: *policy, ancestors: limited(requests, all.collect()) }
        };
        requests.policies.iter().map(&mut status).collect()
    }
}

/// As many ancestors as there may be: those with problems first.
fn limited(requests: &Wishes<'_>, mut ancestors: Vec<AncestorStatus>) -> Vec<AncestorStatus> {
    if ancestors.len() <= LIMIT {
        return ancestors;
    }
    ancestors.sort_by_cached_key(|status| {
        let says = |name: &str, wanted: bool| {
            status.conditions.iter().any(|condition| condition.name == name && condition.status == wanted)
        };
        let rank = if says("Accepted", false) {
            0
        } else if says("Overridden", true) {
            1
        } else {
            2
        };
        let snapshot = requests.network.snapshot;
        let object = snapshot.objects().get(status.ancestor.object);
        let texts = object.map(|object| [object.scope, object.name].map(|symbol| snapshot.text(symbol)));
        (rank, texts, status.ancestor.clone())
    });
    ancestors.truncate(LIMIT);
    if let Some(last) = ancestors.last_mut() {
        let message = format!("Ancestors have been aggregated because there are more than {LIMIT} of them");
        last.conditions.push(holds("Aggregated", message));
    }
    ancestors
}

/// A condition that holds, for the reason that is its name.
pub(super) fn holds(name: &str, message: String) -> Condition {
    Condition { name: name.to_owned(), status: true, reason: name.to_owned(), message }
}

/// That a policy is not accepted.
pub(super) fn not_accepted(reason: &str, message: String) -> Condition {
    Condition { name: "Accepted".to_owned(), status: false, reason: reason.to_owned(), message }
}
