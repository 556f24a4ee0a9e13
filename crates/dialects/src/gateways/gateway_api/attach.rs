//! Which routes are at which listeners, and under which host names.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use upheld_engine::ObjectId;
use upheld_model::Runs;
use upheld_model::tree::Value;

use super::controller::{Controller, System, controller};
use super::hostname::{covers, is_unfilled, may_intersect};
use super::report::{Reports, note};
use super::resources::{ParentReference, Route, View, port, text};
use super::topology::{Attached, Gateway, Listener, Parent};
use super::warnings::Warnings;
use super::world::World;

/// The listeners of gateways, and which of them belong to whom.
#[derive(Debug, Default)]
pub(super) struct Sites {
    /// By the place of the gateway.
    listeners: Vec<Vec<Listener>>,
    /// Who runs each gateway, as far as that is known.
    controllers: Vec<Option<Controller>>,
    by_owner: FxHashMap<ObjectId, Site>,
    /// The first listener with a host name on a plain port of a gateway; the empty name is for all hosts.
    plain: FxHashMap<(usize, u16, String), usize>,
}

/// The listeners of one resource: places in the list of its gateway.
#[derive(Clone, Copy, Debug)]
struct Site {
    gateway: usize,
    first: usize,
    count: usize,
}

impl Sites {
    /// All gateways, and the listener sets that they take.
    pub(super) fn of(
        world: &World<'_>,
        gateways: &[View<'_>],
        classes: &[View<'_>],
        listener_sets: &[View<'_>],
        warnings: &mut Warnings,
    ) -> Self {
        let mut sites = Self::default();
        for (gateway, view) in gateways.iter().enumerate() {
            sites.listeners.push(Vec::new());
            sites.controllers.push(controller(world.snapshot, view, classes));
            sites.add(gateway, view);
        }
        for set in listener_sets {
            let Some(parent) = set.spec_at(&["parentRef"]) else { continue };
            let namespace = text(parent, "namespace").unwrap_or(set.namespace);
            let owner = world.object("Gateway", namespace, text(parent, "name").unwrap_or_default());
            let Some((view, site)) = owner.and_then(|view| Some((view, sites.by_owner.get(&view.object)?))) else {
                warnings.no_gateway(set, parent);
                continue;
            };
            let allowed = view.spec_at(&["allowedListeners", "namespaces"]);
            match world.allows(allowed, "None", view.namespace, set.namespace) {
                Some(true) => sites.add(site.gateway, set),
                None => {
                    warnings.unknown_namespace(set, &view.title(), parent);
                    sites.add(site.gateway, set);
                }
                Some(false) => warnings.not_allowed(set, &view, parent),
            }
        }
        sites
    }

    /// The gateways, before any route is attached to them.
    pub(super) fn gateways(&self, views: &[View<'_>]) -> Runs<Gateway> {
        let gateways = views.iter().zip(&self.listeners).zip(&self.controllers);
        let gateways = gateways.map(|((view, listeners), controller)| Gateway {
            object: view.object,
            controller: *controller,
            listeners: Arc::from(listeners.as_slice()),
            hosts: Runs::default(),
        });
        gateways.collect()
    }

    /// A listener by its gateway and its place there.
    pub(super) fn listener(&self, gateway: usize, listener: usize) -> Option<&Listener> {
        self.listeners.get(gateway)?.get(listener)
    }

    /// Who runs a gateway, by its place.
    pub(super) fn system(&self, gateway: usize) -> Option<System> {
        self.controllers.get(gateway).copied().flatten().map(|controller| controller.system)
    }

    fn add(&mut self, gateway: usize, owner: &View<'_>) {
        let Some(listeners) = self.listeners.get_mut(gateway) else { return };
        let first = listeners.len();
        for value in owner.spec_items("listeners") {
            let listener = Listener {
                owner: owner.object,
                name: text(value, "name").unwrap_or_default().to_owned(),
                port: port(value).unwrap_or_default(),
                protocol: text(value, "protocol").unwrap_or("HTTP").to_owned(),
                hostname: text(value, "hostname").filter(|name| !name.is_empty()).map(str::to_owned),
                at: owner.node(value),
            };
            if listener.is_plain() {
                let hostname = listener.hostname.clone().unwrap_or_default().to_ascii_lowercase();
                self.plain.entry((gateway, listener.port, hostname)).or_insert(listeners.len());
            }
            listeners.push(listener);
        }
        self.by_owner.insert(owner.object, Site { gateway, first, count: listeners.len() - first });
    }

    /// Whether a host is served by this listener. On a plain port all listeners share one list of hosts, and each host
    /// belongs to the listener whose name for it is the narrowest.
    pub(super) fn owns(&self, gateway: usize, listener: usize, host: &str) -> bool {
        let Some(found) = self.listener(gateway, listener) else { return false };
        // Nobody knows what will be in the place of a placeholder.
        let may_be = found.hostname.as_deref().is_some_and(|own| is_unfilled(own) && !covers(own, host));
        !found.is_plain() || may_be || self.owner(gateway, found.port, host) == Some(listener)
    }

    fn owner(&self, gateway: usize, port: u16, host: &str) -> Option<usize> {
        let host = host.to_ascii_lowercase();
        let wider = host.char_indices().filter(|(_, letter)| *letter == '.').filter_map(|(at, _)| host.get(at..));
        let wider = wider.map(|suffix| format!("*{suffix}")).filter(|name| covers(name, &host));
        let names = [host.clone()].into_iter().filter(|name| name != "*").chain(wider).chain([String::new()]);
        names.into_iter().find_map(|name| self.plain.get(&(gateway, port, name)).copied())
    }
}

/// Where one reference of a route leads. Says in the status why it leads nowhere.
pub(super) fn attach(
    world: &World<'_>,
    sites: &Sites,
    route: &Route<'_>,
    reference: &ParentReference<'_>,
    reports: &mut Reports,
    warnings: &mut Warnings,
) -> Vec<Attached> {
    let owner = world.object(reference.kind(), reference.namespace, reference.name).map(|view| view.object);
    let Some((owner, site)) = owner.and_then(|owner| Some((owner, *sites.by_owner.get(&owner)?))) else {
        if matches!(reference.kind(), "Gateway" | "ListenerSet" | "XListenerSet") && owner.is_none() {
            warnings.no_parent(&route.view, reference);
        }
        return Vec::new();
    };
    let parent = Parent { object: owner, section: reference.section.map(str::to_owned) };
    let listeners = sites.listeners.get(site.gateway).map_or(&[][..], Vec::as_slice);
    let listeners: Vec<_> = listeners.iter().enumerate().skip(site.first).take(site.count).collect();
    if reference.section.is_some_and(|section| listeners.iter().all(|(_, listener)| listener.name != section)) {
        let names: Vec<&str> = listeners.iter().map(|(_, listener)| listener.name.as_str()).collect();
        warnings.no_section(&route.view, reference, &names);
    }
    let (mut allowed, mut matched, mut attached) = (false, false, Vec::new());
    for (index, listener) in listeners {
        let Some(certain) = admits(world, listener, route) else { continue };
        allowed = true;
        if !is_meant(reference, listener) {
            continue;
        }
        matched = true;
        if !certain {
            let listener = format!("the listener {} of {} {}", listener.name, reference.kind(), reference.name);
            warnings.unknown_namespace(&route.view, &listener, reference.value);
        }
        let hosts = common_hosts(listener, route);
        if !hosts.is_empty() {
            let (route, parent) = (route.view.object, parent.clone());
            attached.push(Attached { gateway: site.gateway, listener: index, route, parent, hosts });
        }
    }
    let marks = reports.at(route.view.object, &parent);
    let problem = match (allowed, matched, attached.is_empty()) {
        (false, ..) => Some(("NotAllowedByListeners", "no listener allows this route")),
        (_, false, _) => Some(("NoMatchingParent", "no listener that allows this route is the one that it names")),
        (.., true) => Some(("NoMatchingListenerHostname", "no listener has a host name in common with this route")),
        _ => None,
    };
    if let Some((reason, message)) = problem {
        note(&mut marks.accepted, reason, message.to_owned());
    }
    attached
}

/// Whether a listener lets routes of this type and namespace in: `None` if not, else whether that is certain. A namespace that
/// was not read is taken for one that may come in.
fn admits(world: &World<'_>, listener: &Listener, route: &Route<'_>) -> Option<bool> {
    let files = world.snapshot.files();
    let value = files.value(listener.at);
    let allowed = value.and_then(|value| value.get("allowedRoutes"));
    let mode = value.and_then(|value| value.at_path(&["tls", "mode"])).map_or("Terminate", Value::text);
    let supported: &[&str] = match (listener.protocol.as_str(), mode) {
        ("HTTP" | "HTTPS", _) => &["HTTPRoute", "GRPCRoute"],
        ("TLS", "Terminate") => &["TLSRoute", "TCPRoute"],
        ("TLS", _) => &["TLSRoute"],
        ("TCP", _) => &["TCPRoute"],
        ("UDP", _) => &["UDPRoute"],
        _ => &["HTTPRoute"],
    };
    let listed = allowed.and_then(|allowed| allowed.get("kinds")).is_none_or(|kinds| {
        kinds.items().next().is_none() || kinds.items().any(|kind| text(kind, "kind") == Some(route.view.kind))
    });
    let owner = world.snapshot.objects().get(listener.owner).map_or("", |owner| world.snapshot.text(owner.scope));
    let namespaces = allowed.and_then(|allowed| allowed.get("namespaces"));
    if !supported.contains(&route.view.kind) || !listed {
        return None;
    }
    match world.allows(namespaces, "Same", owner, route.view.namespace) {
        Some(false) => None,
        allowed => Some(allowed.is_some()),
    }
}

fn is_meant(reference: &ParentReference<'_>, listener: &Listener) -> bool {
    reference.section.is_none_or(|section| section == listener.name)
        && reference.port.is_none_or(|port| port == listener.port)
}

/// The host names that a listener and a route have in common, `*` for all; none if there are none.
fn common_hosts(listener: &Listener, route: &Route<'_>) -> Vec<String> {
    if route.hostnames.is_empty() || matches!(route.view.kind, "TCPRoute" | "UDPRoute") {
        return vec![listener.hostname.clone().unwrap_or_else(|| "*".to_owned())];
    }
    let own = listener.hostname.as_deref().unwrap_or("*");
    let mut hosts: Vec<String> = Vec::new();
    for host in route.hostnames.iter().filter_map(|host| may_intersect(own, host)) {
        if !hosts.iter().any(|known| known == host) {
            hosts.push(host.to_owned());
        }
    }
    hosts
}

impl Listener {
    /// Whether it shares its port and the list of hosts there with all other plain listeners.
    pub fn is_plain(&self) -> bool {
        self.protocol == "HTTP"
    }
}
