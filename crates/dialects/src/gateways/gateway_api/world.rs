//! The resources of a snapshot as walks look for them: by name, namespace and label.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use upheld_engine::{ObjectId, Snapshot};
use upheld_model::tree::Value;

use super::claim::{ENVOY_GATEWAY, GATEWAY, KGATEWAY};
use super::controller::System;
use super::dependents::{RouteIndex, Sought};
use super::grants::{End, Grants};
use super::precedence::{Age, Created, ROUTE_WEIGHT};
use super::resources::{Backend, BackendReference, Route, View, port};
use super::selector::selects_known;
use super::settings::{ReferenceGrants, RoutePrecedence, Settings};

/// The label by which routes are delegated to.
const DELEGATION_LABEL: &str = "delegation.kgateway.dev/label";

/// The label that every namespace has.
pub(super) const NAMESPACE_NAME: &str = "kubernetes.io/metadata.name";

/// Types of backends whose documents are not read, so that nothing can be said against references to them.
const FOREIGN_BACKENDS: [(&str, &str); 4] = [
    ("inference.networking.k8s.io", "InferencePool"),
    ("inference.networking.x-k8s.io", "InferencePool"),
    ("networking.istio.io", "Hostname"),
    ("networking.istio.io", "ServiceEntry"),
];

/// What a snapshot has that routes can be attached to or lead to, looked through once.
#[derive(Debug, Default)]
pub(super) struct Inventory<'s> {
    /// By namespace and name.
    pub(super) gateways: Vec<View<'s>>,
    pub(super) classes: Vec<View<'s>>,
    /// From old to new.
    pub(super) listener_sets: Vec<View<'s>>,
    /// By type, namespace and name.
    pub(super) routes: Vec<ObjectId>,
    pub(super) grants: Grants,
    pub(super) namespaces: Namespaces,
    pub(super) labelled: RouteIndex<SmolStr>,
}

/// Namespaces by name: they lie in none.
pub(super) type Namespaces = FxHashMap<SmolStr, ObjectId>;

impl<'s> Inventory<'s> {
    pub(super) fn of(snapshot: &'s Snapshot) -> Self {
        let mut found = Self::default();
        for view in snapshot.objects().iter().filter_map(|(id, _)| View::of(snapshot, id)) {
            match view.kind {
                "Gateway" => found.gateways.push(view),
                "GatewayClass" => found.classes.push(view),
                "ListenerSet" | "XListenerSet" => found.listener_sets.push(view),
                "ReferenceGrant" => found.grants.add(&view),
                "Namespace" => drop(found.namespaces.insert(SmolStr::new(view.name), view.object)),
                kind if Route::KINDS.contains(&kind) => {
                    found.routes.push(view.object);
                    if let Some(label) = delegation_label(&view) {
                        found.labelled.add(&label, view.object);
                    }
                }
                _ => {}
            }
        }
        found.listener_sets.sort_by_cached_key(|set| (Created::of(set), set.path()));
        found
    }
}

/// The label by which a route is delegated to.
pub(super) fn delegation_label(route: &View<'_>) -> Option<SmolStr> {
    route.label(DELEGATION_LABEL).filter(|_| route.kind == "HTTPRoute").map(SmolStr::new)
}

/// A route that was read, to be shared by walks.
#[derive(Clone, Debug)]
pub(super) struct ReadRoute<'s> {
    pub(super) route: Rc<Route<'s>>,
    pub(super) age: Arc<Age>,
}

impl ReadRoute<'_> {
    /// Whether two are the same route.
    pub(super) fn is(&self, other: &Self) -> bool {
        self.route.view.object == other.route.view.object
    }
}

/// Everything that walks look for. What they looked for is kept in mind, so that they are made again when it changes.
#[derive(Debug)]
pub(super) struct World<'s> {
    pub(super) snapshot: &'s Snapshot,
    pub(super) settings: &'s Settings,
    grants: &'s Grants,
    namespaces: Arc<Namespaces>,
    labelled: RouteIndex<SmolStr>,
    /// Each route is read once.
    read: RefCell<FxHashMap<ObjectId, ReadRoute<'s>>>,
    sought: RefCell<BTreeSet<Sought>>,
}

impl<'s> World<'s> {
    pub(super) fn new(
        snapshot: &'s Snapshot,
        settings: &'s Settings,
        grants: &'s Grants,
        namespaces: Arc<Namespaces>,
        labelled: RouteIndex<SmolStr>,
    ) -> Self {
        let (read, sought) = (RefCell::default(), RefCell::default());
        Self { snapshot, settings, grants, namespaces, labelled, read, sought }
    }

    /// A route by its id.
    pub(super) fn route(&self, id: ObjectId) -> Option<ReadRoute<'s>> {
        if let Some(known) = self.read.borrow().get(&id) {
            return Some(known.clone());
        }
        let view = View::of(self.snapshot, id).filter(|view| Route::KINDS.contains(&view.kind))?;
        let read = ReadRoute { age: Arc::new(Age::of(&view)), route: Rc::new(Route::of(view)) };
        self.read.borrow_mut().insert(id, read.clone());
        Some(read)
    }

    /// What was looked for since somebody last asked, in order, each once.
    pub(super) fn take_sought(&self) -> Vec<Sought> {
        self.sought.take().into_iter().collect()
    }

    fn note(&self, sought: Sought) {
        self.sought.borrow_mut().insert(sought);
    }

    /// The weight of a route, if weights count; what is not a number counts as none.
    pub(super) fn weight(&self, route: &Route<'_>) -> i32 {
        match self.settings.route_precedence {
            RoutePrecedence::ByMatch => 0,
            RoutePrecedence::Weighted => {
                let annotation = route.view.annotation(ROUTE_WEIGHT);
                annotation.and_then(|value| value.text().trim().parse().ok()).unwrap_or_default()
            }
        }
    }

    /// An object by type, namespace and name.
    pub(super) fn object(&self, kind: &str, namespace: &str, name: &str) -> Option<View<'s>> {
        View::of(self.snapshot, self.snapshot.object_named(kind, namespace, name)?)
    }

    /// Whether there is what a filter refers to: a policy, or an object of its own type.
    pub(super) fn has_extension(&self, kind: &str, namespace: &str, name: &str) -> bool {
        self.note(Sought::policy(kind, namespace, name));
        self.note(Sought::object(kind, namespace, name));
        self.snapshot.policy_named(kind, namespace, name).is_some()
            || self.snapshot.object_named(kind, namespace, name).is_some()
    }

    /// Whether a namespace is one of those that a `namespaces` field allows to somebody in another; `None` if that depends on
    /// labels of a namespace that was not read.
    pub(super) fn allows(&self, namespaces: Option<Value<'_>>, default: &str, own: &str, asked: &str) -> Option<bool> {
        let from = namespaces.and_then(|value| value.get("from")).map_or(default, Value::text);
        match from {
            "All" => Some(true),
            "Same" => Some(own == asked),
            "Selector" => {
                // Kubernetes labels every namespace with its name.
                let mut labels = vec![(NAMESPACE_NAME, asked)];
                let namespace = self.namespaces.get(asked).and_then(|id| View::of(self.snapshot, *id));
                labels.extend(namespace.iter().flat_map(View::labels));
                let selector = namespaces.and_then(|value| value.get("selector"));
                let is_known = |key: &str| namespace.is_some() || key == NAMESPACE_NAME;
                selector.map_or(Some(false), |selector| selects_known(selector, &labels, is_known))
            }
            _ => Some(false),
        }
    }

    /// The routes that a delegating reference means by namespace and name, before anybody asks whether they agree.
    pub(super) fn delegates(&self, reference: &BackendReference<'_>) -> Vec<ObjectId> {
        let BackendReference { group, kind, namespace, name, .. } = *reference;
        if (group, kind) == BackendReference::LABEL {
            self.note(Sought::RoutesLabelled(SmolStr::new(name)));
            let everywhere = namespace == self.settings.delegation_wildcard_namespace;
            let mut routes = self.labelled.get(name).to_vec();
            routes.retain(|route| everywhere || self.path(*route).is_some_and(|(known, _)| known == namespace));
            routes.sort_by_key(|route| self.path(*route));
            return routes;
        }
        match name {
            "" | "*" => {
                self.note(Sought::RoutesIn(SmolStr::new(namespace)));
                self.snapshot.objects_in("HTTPRoute", namespace).map(|(route, _)| route).collect()
            }
            name => {
                self.note(Sought::object("HTTPRoute", namespace, name));
                self.snapshot.object_named("HTTPRoute", namespace, name).into_iter().collect()
            }
        }
    }

    /// Namespace and name of a route.
    fn path(&self, route: ObjectId) -> Option<(&'s str, &'s str)> {
        let object = self.snapshot.objects().get(route)?;
        Some((self.snapshot.text(object.scope), self.snapshot.text(object.name)))
    }

    /// What is wrong with a reference of a route to a backend, for whoever runs the gateway: the reason of a condition, and a
    /// message.
    pub(super) fn refuse(
        &self,
        route: &View<'_>,
        backend: &Backend<'_>,
        system: Option<System>,
    ) -> Option<(&'static str, String)> {
        let BackendReference { group, kind, namespace, name, port: wanted } = backend.reference;
        if !is_known_backend(group, kind) {
            let foreign = FOREIGN_BACKENDS.contains(&(group, kind)) || may_know(system, group);
            return (!foreign).then(|| ("InvalidKind", format!("unknown backend kind: {group}/{kind}")));
        }
        let from = End { group: GATEWAY, kind: route.kind, namespace: route.namespace };
        let to = End { group, kind, namespace };
        if self.settings.reference_grants != ReferenceGrants::Off && !self.grants.permit(from, to, name) {
            return Some(("RefNotPermitted", format!("{}: missing reference grant", backend.reference.title())));
        }
        self.note(Sought::object(kind, namespace, name));
        let Some(object) = self.object(kind, namespace, name) else {
            return Some(("BackendNotFound", format!("{kind} \"{namespace}/{name}\" not found")));
        };
        match (kind, wanted) {
            ("Backend", Some(_)) if group == KGATEWAY => {
                Some(("BackendNotFound", format!("Backend \"{namespace}/{name}\" takes no port")))
            }
            ("Service", wanted) if !object.spec_items("ports").any(|item| port(item) == wanted) => {
                let wanted = wanted.map_or_else(|| "no port".to_owned(), |port| format!("port {port}"));
                Some(("BackendNotFound", format!("Service \"{namespace}/{name}\" has not {wanted}")))
            }
            _ => None,
        }
    }
}

fn is_known_backend(group: &str, kind: &str) -> bool {
    [("", "Service"), (KGATEWAY, "Backend"), (ENVOY_GATEWAY, "Backend")].contains(&(group, kind))
}

/// Whether whoever runs a gateway may know types of a group that nobody here does.
fn may_know(system: Option<System>, group: &str) -> bool {
    let is_other = !matches!(system, Some(System::Kgateway | System::EnvoyGateway));
    is_other && !["", GATEWAY, KGATEWAY, ENVOY_GATEWAY].contains(&group)
}

/// Whether nobody here knows backends of a type, and whoever runs the gateway may.
pub(super) fn is_beyond(system: Option<System>, group: &str, kind: &str) -> bool {
    !is_known_backend(group, kind) && !FOREIGN_BACKENDS.contains(&(group, kind)) && may_know(system, group)
}
