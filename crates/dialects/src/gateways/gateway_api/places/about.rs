//! What can be asked about, each as the places of its policies.

use upheld_engine::hierarchy::{Entry, Listed};
use upheld_engine::{Family, ObjectId};
use upheld_model::tree::Value;
use upheld_model::{NodeRef, Object, SourceId};

use super::{Asked, PlaceTarget, PlannedLooks};
use crate::gateways::gateway_api::gateways::{GatewayKind, Network};
use crate::gateways::gateway_api::scopes::{BACKEND, GATEWAY, ROUTE};
use crate::gateways::gateway_api::topology::{Gateway, Host, Listener, Step, Way};

impl<'s> Network<'s> {
    /// What holds for requests on a way under a host.
    pub fn way(self, kind: GatewayKind<'s>, gateway: &'s Gateway, host: &Host, way: &Way) -> Asked<'s> {
        let mut asked = self.under(kind).run_as(gateway).rules(way).route(&way.chain);
        if let Some(listener) = gateway.listeners.get(host.listener) {
            asked = asked.host(gateway, listener).behind(gateway, listener);
        }
        asked.passing_on(&way.outcome)
    }

    /// What holds on a way through routes whose gateway was not read.
    pub fn alone(self, kind: GatewayKind<'s>, way: &Way) -> Asked<'s> {
        let mut asked = self.under(kind).rules(way).route(&way.chain);
        if let Some((set, listener)) = self.assumed_set(way) {
            if let Some(listener) = listener {
                let level = asked.level(0);
                asked.look(GATEWAY, level, 0, set, Some(&listener));
            }
            let level = asked.level(0);
            asked.look(GATEWAY, level, 1, set, None);
        }
        asked.passing_on(&way.outcome)
    }

    /// What holds for streams that a rule of a route takes at a listener.
    pub fn stream(self, kind: GatewayKind<'s>, gateway: &'s Gateway, listener: &'s Listener, step: &Step) -> Asked<'s> {
        self.under(kind).route(std::slice::from_ref(step)).behind(gateway, listener)
    }

    /// A listener of a set whose gateway was not read.
    pub fn listener_of_set(self, kind: GatewayKind<'s>, set: ObjectId, listener: &str) -> Asked<'s> {
        let mut asked = self.under(kind);
        asked.look(GATEWAY, 0, 0, set, Some(listener));
        asked.look(GATEWAY, 0, 1, set, None);
        asked
    }

    /// A listener of a gateway, for requests that meet nothing nearer.
    pub fn listener(self, kind: GatewayKind<'s>, gateway: &'s Gateway, listener: &'s Listener) -> Asked<'s> {
        self.under(kind).behind(gateway, listener)
    }

    /// A backend, or a port of it by its name.
    pub fn backend(self, kind: GatewayKind<'s>, backend: ObjectId, port: Option<&str>) -> Asked<'s> {
        let mut asked = self.under(kind).at_backend(backend, port);
        asked.foreign = self.foreign_at(kind, backend);
        asked
    }

    /// Something that was not read and that policies name, as far as they speak about it alone.
    pub fn unread(self, kind: GatewayKind<'s>, object: &'s Object, section: Option<&str>) -> Asked<'s> {
        let mut asked = self.under(kind);
        let scope = match self.snapshot.text(object.kind) {
            "Service" | "Backend" => BACKEND,
            "Gateway" | "ListenerSet" | "XListenerSet" => GATEWAY,
            _ => ROUTE,
        };
        if let Some(section) = section {
            let level = asked.level(0);
            asked.look_at(scope, level, 0, object, Some(section));
        }
        let level = asked.level(0);
        asked.look_at(scope, level, 1, object, None);
        asked
    }

    /// The policies that are attached to an object, or to a section of it, in their order.
    pub fn target(self, kind: GatewayKind<'s>, object: ObjectId, section: Option<&str>) -> Vec<&'s Entry> {
        let mut asked = self.under(kind);
        asked.look(ROUTE, 0, 0, object, section);
        asked.members()
    }

    /// All policies of a kind, in the order in which they would stand at one place.
    pub fn ranked(self, kind: GatewayKind<'s>) -> Vec<&'s Entry> {
        let mut asked = self.under(kind);
        let at = NodeRef { source: SourceId::FIRST, node: 0 };
        let all = kind.policies.entries().map(|entry| Listed { entry, position: 0, at }).collect();
        asked.push(ROUTE, 0, 0, PlaceTarget::default(), PlannedLooks::Listed(all));
        asked.members()
    }

    /// The rule of a step, with its file.
    pub(crate) fn rule(self, step: &Step) -> Option<(SourceId, Value<'s>)> {
        let source = self.object(step.route)?.at.source;
        let rule = self.resource(step.route)?.field("rules")?.items().nth(step.rule)?;
        Some((source, rule))
    }
}
