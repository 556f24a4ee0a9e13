//! Who runs a gateway: the controller that its class names. Each knows its own policies only.

use upheld_engine::{ObjectId, Snapshot};
use upheld_model::tree::Value;
use upheld_model::{Code, Param, Reason, Sym};

use super::attachments::Reader;
use super::gateways::{GatewayKind, Network};
use super::resources::{View, text};
use super::topology::Gateway;
use crate::gateways::envoy_gateway;
use crate::gateways::kgateway::PolicyType;

/// A controller, as far as its rules are known here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum System {
    /// kgateway.
    Kgateway,
    /// Envoy Gateway.
    EnvoyGateway,
    /// Another one.
    Other,
}

/// What the class of a gateway names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Controller {
    /// Whose rules are meant.
    pub system: System,
    /// Its name, as the class has it.
    pub name: Sym,
}

/// The field of a class that names its controller.
pub(super) const CONTROLLER: &str = "controllerName";

/// The field of a gateway that names its class.
const CLASS: &str = "gatewayClassName";

/// What the names of controllers begin with.
const DOMAINS: [(&str, System); 2] =
    [("kgateway.dev/", System::Kgateway), ("gateway.envoyproxy.io/", System::EnvoyGateway)];

/// Classes that a controller makes itself, so that nobody writes them down, and its name.
const OWN_CLASSES: [(&str, System, &str); 2] = [
    ("kgateway", System::Kgateway, "kgateway.dev/kgateway"),
    ("kgateway-waypoint", System::Kgateway, "kgateway.dev/kgateway"),
];

/// Who runs a gateway, given all classes that were read.
pub(super) fn controller(snapshot: &Snapshot, gateway: &View<'_>, classes: &[View<'_>]) -> Option<Controller> {
    let class = class_of(gateway)?;
    let Some(class) = classes.iter().find(|known| known.name == class) else {
        let (_, system, name) = OWN_CLASSES.iter().find(|(own, ..)| *own == class)?;
        return Some(Controller { system: *system, name: snapshot.symbols().get(name)? });
    };
    let name = class.spec_at(&[CONTROLLER]).map(Value::text)?;
    let known = DOMAINS.iter().find(|(domain, _)| name.starts_with(domain));
    let system = known.map_or(System::Other, |(_, system)| *system);
    Some(Controller { system, name: snapshot.symbols().get(name)? })
}

fn class_of<'s>(gateway: &View<'s>) -> Option<&'s str> {
    gateway.spec_at(&[CLASS]).map(Value::text)
}

impl<'s> Network<'s> {
    /// Whose policies those of a kind are; `None` for kinds that several controllers know.
    pub(crate) fn system(self, kind: GatewayKind<'_>) -> Option<System> {
        match Reader::of(self.snapshot.text(kind.policies.kind().reads))? {
            Reader::Kgateway(PolicyType::BackendTls) | Reader::Stanzas | Reader::Whole => None,
            Reader::Kgateway(_) => Some(System::Kgateway),
            Reader::EnvoyGateway => Some(System::EnvoyGateway),
        }
    }

    /// Why policies of a kind do not count at a gateway: somebody else runs it.
    pub(crate) fn foreign(self, kind: GatewayKind<'_>, gateway: &Gateway) -> Option<Reason> {
        let (own, runs) = (self.system(kind)?, gateway.controller?);
        (own != runs.system).then(|| Reason::new(Code::OffOtherController, &[Param::Text(runs.name)]))
    }

    /// Why policies of a kind do not count at a backend: others run all gateways whose routes lead there.
    pub(crate) fn foreign_at(self, kind: GatewayKind<'_>, backend: ObjectId) -> Option<Reason> {
        let mut reasons = self.gateways_of(backend).into_iter().map(|gateway| self.foreign(kind, gateway));
        let first = reasons.next()??;
        reasons.all(|reason| reason.is_some()).then_some(first)
    }

    /// Whether what rules say themselves is about the same things as policies of a kind.
    pub(crate) fn has_own_words(self, kind: GatewayKind<'_>) -> bool {
        match Reader::of(self.snapshot.text(kind.policies.kind().reads)) {
            Some(Reader::Kgateway(policy)) => policy == PolicyType::Traffic,
            Some(Reader::EnvoyGateway) => envoy_gateway::builtin::has_own_words(self.snapshot.text(kind.kind.governs)),
            Some(Reader::Stanzas | Reader::Whole) | None => false,
        }
    }

    /// Whether a system is meant by what was read: one of its gateways or of its policies is there, or nothing that tells whose
    /// the rest is.
    pub(crate) fn is_meant(self, system: System) -> bool {
        let find =
            || [System::Kgateway, System::EnvoyGateway].into_iter().filter(|known| self.find_meant(*known)).collect();
        self.gateways.meant.get_or_init(find).contains(&system)
    }

    fn find_meant(self, system: System) -> bool {
        let (mut open, mut others) = (self.topology().gateways.is_empty(), false);
        for gateway in &self.topology().gateways {
            match gateway.controller {
                Some(runs) if runs.system == system => return true,
                Some(runs) if runs.system != System::Other => others = true,
                // What rules say is told as one system has it, where no other is known better.
                Some(_) | None => open = true,
            }
        }
        for kind in self.kinds().filter(|kind| !kind.policies.is_empty()) {
            match self.system(kind) {
                Some(own) if own == system => return true,
                Some(_) => others = true,
                None => {}
            }
        }
        open && !others && system == System::Kgateway
    }

    /// The class of a gateway, if it was not read and is none that a controller makes itself.
    pub(crate) fn unread_class(self, gateway: &Gateway, system: System) -> Option<&'s str> {
        if gateway.controller.is_some() {
            return None;
        }
        let class = class_of(&View::of(self.snapshot, gateway.object)?)?;
        let is_own = OWN_CLASSES.iter().any(|(own, of, _)| (*own, *of) == (class, system));
        (!is_own).then_some(class)
    }

    /// The gateways that an object is, belongs to, is attached to, or gets requests from, over other routes too.
    pub(crate) fn gateways_of(self, object: ObjectId) -> Vec<&'s Gateway> {
        let topology = self.topology();
        let view = View::of(self.snapshot, object);
        let callers = view.iter().flat_map(|backend| topology.looking_for(backend)).copied();
        let entries: Vec<_> = callers.chain([object]).flat_map(|route| topology.leading_to(route)).collect();
        let attached = entries.iter().flat_map(|entry| &entry.attached).map(|attached| attached.gateway);
        let mut places: Vec<usize> = attached.collect();
        let owns = |gateway: &Gateway| {
            gateway.object == object || gateway.listeners.iter().any(|listener| listener.owner == object)
        };
        places
            .extend(topology.gateways.iter().enumerate().filter(|(_, gateway)| owns(gateway)).map(|(place, _)| place));
        places.sort_unstable();
        places.dedup();
        places.into_iter().filter_map(|place| topology.gateways.get(place)).collect()
    }
}

/// The name of the controller that the spec of a class or a gateway leads to.
pub(super) fn controller_name(spec: Value<'_>) -> Option<&str> {
    let class = text(spec, CLASS);
    let own = OWN_CLASSES.iter().find(|(own, ..)| Some(*own) == class).map(|(.., name)| *name);
    text(spec, CONTROLLER).or(own)
}
