//! Status of policies for backends. Those of kgateway are always attached; those of the Gateway API are accepted or conflict.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use upheld_engine::hierarchy::{Column, Effective};
use upheld_engine::{ObjectId, PolicyId};

use super::{Ancestor, AncestorStatus, Attachment, Part, Tally, fails, holds};
use crate::document::Resource;
use crate::gateways::gateway_api::gateways::GatewayKind;
use crate::gateways::gateway_api::grants::End;
use crate::gateways::gateway_api::places::Asked;
use crate::gateways::gateway_api::topology::Condition;
use crate::gateways::kgateway::PolicyType;
use crate::gateways::kgateway::errors::{self, Certificates};
use crate::gateways::kgateway::fields::TLS;
use crate::gateways::kgateway::references::{list, text};

impl Tally<'_> {
    /// Every backend that some policy is attached to: as a whole if it has no ports, and each of its ports.
    pub(super) fn meet_backends(&mut self) {
        match self.policy {
            PolicyType::BackendTls => self.meet_trust(),
            _ => self.meet_configuration(),
        }
    }

    /// Backends with their ports, by name.
    fn backends(&self) -> Vec<(ObjectId, Option<String>)> {
        let snapshot = self.network.snapshot;
        let mut backends = Vec::new();
        for (id, object) in snapshot.objects().iter() {
            if !matches!(snapshot.text(object.kind), "Service" | "Backend") {
                continue;
            }
            let ports = self.network.resource(id).and_then(|resource| resource.field("ports"));
            let name = |port| text(port, "name").map(str::to_owned);
            let ports: Vec<_> = ports.into_iter().flat_map(upheld_model::Value::items).map(name).collect();
            let ports = if ports.is_empty() { vec![None] } else { ports };
            backends.extend(ports.into_iter().map(|port| (id, port)));
        }
        backends
    }

    fn meet_trust(&mut self) {
        let gateways = self.gateways_of_backends();
        let mut trusted: BTreeMap<PolicyId, (BTreeSet<Ancestor>, Held)> = BTreeMap::new();
        for (backend, port) in self.backends() {
            let asked = self.network.backend(self.kind, backend, port.as_deref());
            let answer = asked.effective();
            self.count(&Part::whole(&answer), 1);
            for (place, policy) in self.contenders(&asked, &answer).into_iter().enumerate() {
                let (ancestors, held) = trusted.entry(policy).or_insert((BTreeSet::new(), Held::Nowhere));
                let of_backend = gateways.get(&backend).into_iter().flatten();
                ancestors.extend(of_backend.map(|object| Ancestor { object: *object, section: None }));
                if place == 0 {
                    *held = Held::Somewhere;
                }
            }
        }
        for (policy, (ancestors, held)) in trusted {
            let conditions = self.trust(policy, held);
            let status = |ancestor| AncestorStatus { ancestor, conditions: conditions.clone() };
            self.others.entry(policy).or_default().extend(ancestors.into_iter().map(status));
        }
    }

    /// The policies that compete for a backend: those that are about the whole do not where a port has one of its own.
    fn contenders(&self, asked: &Asked<'_>, answer: &Effective) -> Vec<PolicyId> {
        let mut contenders = Vec::new();
        for place in 0..answer.order.len() {
            let separated = asked.with(|policies, question| policies.separation(question, answer, 0, place));
            if separated.is_none_or(|separation| separation.column != Column::Section) {
                contenders.extend(self.entry(answer, place).map(|entry| entry.policy));
            }
        }
        contenders.dedup();
        contenders
    }

    fn meet_configuration(&mut self) {
        let trust = self
            .network
            .kinds()
            .find(|kind| self.network.snapshot.text(kind.policies.kind().reads) == PolicyType::BackendTls.reader());
        let mut configured: BTreeMap<(PolicyId, Ancestor), Held> = BTreeMap::new();
        for (backend, port) in self.backends() {
            let answer = self.network.backend(self.kind, backend, port.as_deref()).effective();
            self.count(&Part::whole(&answer), 1);
            let has_trust = |kind: GatewayKind<'_>| {
                self.network.backend(kind, backend, port.as_deref()).effective().field(TLS, None).is_some()
            };
            let trusted = !answer.order.is_empty() && trust.is_some_and(has_trust);
            for (policy, _) in self.policies(&Part::whole(&answer)) {
                let held =
                    configured.entry((policy, Ancestor { object: backend, section: None })).or_insert(Held::Somewhere);
                let own = |by: &usize| self.entry(&answer, *by).is_some_and(|entry| entry.policy == policy);
                if trusted && answer.field(TLS, None).is_some_and(|tls| tls.by.iter().any(own)) {
                    *held = Held::Nowhere;
                }
            }
        }
        for ((policy, ancestor), held) in configured {
            let mut conditions = vec![self.accepted(policy)];
            let broken = !self.problems(policy).is_empty();
            let attachment = if broken { Attachment::Pending } else { Attachment::Attached };
            conditions.push(attachment.condition());
            if held == Held::Nowhere {
                let message = "TLS settings give way to a BackendTLSPolicy";
                conditions.push(holds("Overridden", "ConflictedWithBackendTLSPolicy", message));
            }
            self.others.entry(policy).or_default().push(AncestorStatus { ancestor, conditions });
        }
    }

    fn trust(&self, policy: PolicyId, held: Held) -> Vec<Condition> {
        let snapshot = self.network.snapshot;
        let found = snapshot.policy(policy);
        let problem = found.and_then(|found| {
            let resource = Resource::of(snapshot.files().value(found.at)?)?;
            errors::certificates(snapshot.text(found.scope), resource, &self.network.references())
        });
        let resolved = match problem {
            None => holds("ResolvedRefs", "ResolvedRefs", "Resolved all references"),
            Some(_) => fails("ResolvedRefs", "InvalidCACertificateRef", "A CA certificate cannot be used"),
        };
        let accepted = match (held, problem) {
            (_, Some(Certificates::NoneValid)) => {
                fails("Accepted", "NoValidCACertificate", "No CA certificate can be used")
            }
            (Held::Nowhere, _) => fails("Accepted", "Conflicted", "Policy conflicts with higher priority policy"),
            (Held::Somewhere, _) => holds("Accepted", "Accepted", "Policy accepted"),
        };
        vec![resolved, accepted]
    }

    /// Gateways that pass requests on to a backend.
    fn gateways_of_backends(&self) -> FxHashMap<ObjectId, BTreeSet<ObjectId>> {
        let snapshot = self.network.snapshot;
        let references = self.network.references();
        let mut gateways: FxHashMap<ObjectId, BTreeSet<ObjectId>> = FxHashMap::default();
        for gateway in &self.network.topology().gateways {
            for step in gateway.hosts.iter().flat_map(|host| &host.ways).filter_map(|way| way.chain.last()) {
                let (Some((_, rule)), Some(route)) = (self.network.rule(step), self.network.resource(step.route))
                else {
                    continue;
                };
                let namespace = self.network.object(step.route).map_or("", |route| snapshot.text(route.scope));
                let from = End { group: route.group().unwrap_or_default(), kind: route.kind.text(), namespace };
                for backend in list(rule, "backendRefs").filter_map(|backend| references.backend(from, backend).ok()) {
                    gateways.entry(backend).or_default().insert(gateway.object);
                }
            }
        }
        gateways
    }
}

/// Whether a policy holds for some backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Held {
    Somewhere,
    Nowhere,
}
