//! Status of policies for backends. Those of kgateway are always attached; those of the Gateway API are accepted or conflict.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use upheld_engine::ObjectId;
use upheld_model::tree::Value;

use super::{Ancestor, AncestorStatus, fails, holds};
use crate::gateway_api::topology::{Condition, Way};
use crate::kgateway::errors::{self, Certificates};
use crate::kgateway::kinds::Subject;
use crate::kgateway::references::{From, list, text};
use crate::kgateway::resolver::Resolver;
use crate::kgateway::scopes::Scope;

impl Resolver<'_> {
    /// How many backends the rule at the end of a way refers to.
    pub(super) fn backend_references(&self, way: &Way) -> usize {
        self.last_rule(way).map_or(0, |rule| list(rule, "backendRefs").count())
    }

    fn last_rule(&self, way: &Way) -> Option<Value<'_>> {
        let step = way.chain.last()?;
        self.references.resource(step.route)?.field("rules")?.items().nth(step.rule)
    }

    /// Every backend that some policy is attached to: as a whole if it has no ports, and each of its ports.
    pub(super) fn backend_scopes(&self) -> Vec<(ObjectId, Scope)> {
        if !self.policies.entries().iter().any(|entry| entry.subject.is_about_backends()) {
            return Vec::new();
        }
        let snapshot = self.references.snapshot();
        let mut scopes = Vec::new();
        for (id, object) in snapshot.objects().iter() {
            if !matches!(snapshot.text(object.kind), "Service" | "Backend") {
                continue;
            }
            let ports = self.references.resource(id).and_then(|resource| resource.field("ports"));
            let names: Vec<Option<&str>> =
                ports.map(|ports| ports.items().map(|port| text(port, "name")).collect()).unwrap_or_default();
            let names = if names.is_empty() { vec![None] } else { names };
            let found = names.into_iter().map(|port| (id, self.backend(id, port)));
            scopes.extend(found.filter(|(_, scope)| !scope.resolved.is_empty()));
        }
        scopes
    }

    pub(super) fn add_backends(
        &self,
        scopes: &[(ObjectId, Scope)],
        statuses: &mut FxHashMap<usize, Vec<AncestorStatus>>,
    ) {
        if scopes.is_empty() {
            return;
        }
        let gateways = self.gateways_of_backends();
        let mut trusted: BTreeMap<usize, (BTreeSet<Ancestor>, Held)> = BTreeMap::new();
        let mut configured: BTreeMap<(usize, Ancestor), Held> = BTreeMap::new();
        for (backend, scope) in scopes {
            let tls = scope.of(Subject::BackendTls).filter(|resolved| !resolved.folded.fields.is_empty());
            if let Some(resolved) = scope.of(Subject::BackendTls) {
                for (place, policy) in resolved.policies.iter().enumerate() {
                    let (ancestors, held) = trusted.entry(*policy).or_insert((BTreeSet::new(), Held::Nowhere));
                    let of_backend = gateways.get(backend).into_iter().flatten();
                    ancestors.extend(of_backend.map(|object| Ancestor { object: *object, section: None }));
                    if place == 0 {
                        *held = Held::Somewhere;
                    }
                }
            }
            if let Some(resolved) = scope.of(Subject::BackendConfig) {
                for policy in &resolved.policies {
                    let key = (*policy, Ancestor { object: *backend, section: None });
                    let held = configured.entry(key).or_insert(Held::Somewhere);
                    let has_tls = resolved.folded.fields.get("tls").is_some_and(|tls| tls.origins.contains(policy));
                    if tls.is_some() && has_tls {
                        *held = Held::Nowhere;
                    }
                }
            }
        }
        for (policy, (ancestors, held)) in trusted {
            let conditions = self.trust(policy, held);
            let status = |ancestor| AncestorStatus { ancestor, conditions: conditions.clone() };
            statuses.entry(policy).or_default().extend(ancestors.into_iter().map(status));
        }
        for ((policy, ancestor), held) in configured {
            let mut conditions = vec![self.accepted(policy)];
            let broken = self.policies.get(policy).is_some_and(|entry| !entry.errors.is_empty());
            let attachment = if broken { super::Attachment::Pending } else { super::Attachment::Attached };
            conditions.push(attachment.condition());
            if held == Held::Nowhere {
                let message = "TLS settings give way to a BackendTLSPolicy";
                conditions.push(holds("Overridden", "ConflictedWithBackendTLSPolicy", message));
            }
            statuses.entry(policy).or_default().push(AncestorStatus { ancestor, conditions });
        }
    }

    fn trust(&self, policy: usize, held: Held) -> Vec<Condition> {
        let entry = self.policies.get(policy);
        let problem = entry.and_then(|entry| {
            errors::certificates(&entry.namespace, self.references.document(entry.at)?, &self.references)
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
        let mut gateways: FxHashMap<ObjectId, BTreeSet<ObjectId>> = FxHashMap::default();
        for gateway in &self.topology.gateways {
            for way in gateway.hosts.iter().flat_map(|host| &host.ways) {
                let Some(step) = way.chain.last() else { continue };
                let Some(rule) = self.last_rule(way) else { continue };
                let resource = self.references.resource(step.route);
                let Some(route) = resource else { continue };
                let from = From {
                    group: route.group().unwrap_or_default(),
                    kind: route.kind.text(),
                    namespace: self.references.namespace(step.route),
                };
                for backend in
                    list(rule, "backendRefs").filter_map(|backend| self.references.backend(from, backend).ok())
                {
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
