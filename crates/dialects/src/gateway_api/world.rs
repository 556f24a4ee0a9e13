//! The resources of a snapshot, read once and found by name, namespace and label.

use rustc_hash::{FxHashMap, FxHashSet};
use upheld_engine::{ObjectId, Snapshot};
use upheld_model::tree::Value;

use super::claim::{GATEWAY, KGATEWAY};
use super::grants::{End, Grants};
use super::precedence::ROUTE_WEIGHT;
use super::resources::{Backend, BackendReference, Route, View, port};
use super::selector::selects;
use super::settings::{ReferenceGrants, RoutePrecedence, Settings};

/// The label by which routes are delegated to.
const DELEGATION_LABEL: &str = "delegation.kgateway.dev/label";

/// Types of backends whose documents are not read, so that nothing can be said against references to them.
const FOREIGN_BACKENDS: [(&str, &str); 4] = [
    ("inference.networking.k8s.io", "InferencePool"),
    ("inference.networking.x-k8s.io", "InferencePool"),
    ("networking.istio.io", "Hostname"),
    ("networking.istio.io", "ServiceEntry"),
];

/// Everything that routes can be attached to or lead to.
#[derive(Debug)]
pub(super) struct World<'s> {
    pub(super) snapshot: &'s Snapshot,
    pub(super) settings: &'s Settings,
    pub(super) gateways: Vec<View<'s>>,
    pub(super) listener_sets: Vec<View<'s>>,
    pub(super) routes: Vec<Route<'s>>,
    pub(super) grants: Grants,
    objects: FxHashMap<(&'s str, &'s str, &'s str), ObjectId>,
    policies: FxHashSet<(&'s str, &'s str, &'s str)>,
    namespaces: FxHashMap<&'s str, Vec<(&'s str, &'s str)>>,
    http_by_name: FxHashMap<(&'s str, &'s str), usize>,
    http_by_namespace: FxHashMap<&'s str, Vec<usize>>,
    http_by_label: FxHashMap<&'s str, Vec<usize>>,
    /// The place of each route among all from old to new.
    ages: Vec<usize>,
}

impl<'s> World<'s> {
    pub(super) fn new(snapshot: &'s Snapshot, settings: &'s Settings) -> Self {
        let mut world = Self {
            snapshot,
            settings,
            gateways: Vec::new(),
            listener_sets: Vec::new(),
            routes: Vec::new(),
            grants: Grants::default(),
            objects: FxHashMap::default(),
            policies: FxHashSet::default(),
            namespaces: FxHashMap::default(),
            http_by_name: FxHashMap::default(),
            http_by_namespace: FxHashMap::default(),
            http_by_label: FxHashMap::default(),
            ages: Vec::new(),
        };
        for (id, _) in snapshot.objects().iter() {
            if let Some(view) = View::of(snapshot, id) {
                world.add(view);
            }
        }
        for (_, policy) in snapshot.policies().iter() {
            let texts = [policy.kind, policy.scope, policy.name].map(|symbol| snapshot.text(symbol));
            world.policies.insert(texts.into());
        }
        world.listener_sets.sort_by_cached_key(|set| (set.created, set.path()));
        world.rank_by_age();
        world
    }

    fn rank_by_age(&mut self) {
        let mut order: Vec<usize> = (0..self.routes.len()).collect();
        order.sort_by_cached_key(|index| self.routes.get(*index).map(|route| (route.view.created, route.view.path())));
        self.ages = vec![0; order.len()];
        for (age, index) in order.into_iter().enumerate() {
            if let Some(place) = self.ages.get_mut(index) {
                *place = age;
            }
        }
    }

    /// The place of a route among all from old to new.
    pub(super) fn age(&self, route: usize) -> usize {
        self.ages.get(route).copied().unwrap_or_default()
    }

    /// The weight of a route, if weights count; what is no number counts as none.
    pub(super) fn weight(&self, route: &Route<'_>) -> i32 {
        match self.settings.route_precedence {
            RoutePrecedence::ByMatch => 0,
            RoutePrecedence::Weighted => {
                let annotation = route.view.annotation(ROUTE_WEIGHT);
                annotation.and_then(|value| value.text().trim().parse().ok()).unwrap_or_default()
            }
        }
    }

    fn add(&mut self, view: View<'s>) {
        self.objects.insert((view.kind, view.namespace, view.name), view.object);
        match view.kind {
            "Gateway" => self.gateways.push(view),
            "ListenerSet" | "XListenerSet" => self.listener_sets.push(view),
            "ReferenceGrant" => self.grants.add(&view),
            // Namespaces lie in none.
            "Namespace" => drop(self.namespaces.insert(view.name, view.labels().collect())),
            kind if Route::KINDS.contains(&kind) => self.add_route(view),
            _ => {}
        }
    }

    fn add_route(&mut self, view: View<'s>) {
        let index = self.routes.len();
        if view.kind == "HTTPRoute" {
            self.http_by_name.insert((view.namespace, view.name), index);
            self.http_by_namespace.entry(view.namespace).or_default().push(index);
            if let Some(label) = view.label(DELEGATION_LABEL) {
                self.http_by_label.entry(label).or_default().push(index);
            }
        }
        self.routes.push(Route::of(view));
    }

    /// An object by type, namespace and name.
    pub(super) fn object(&self, kind: &str, namespace: &str, name: &str) -> Option<ObjectId> {
        self.objects.get(&(kind, namespace, name)).copied()
    }

    /// Whether there is a policy of this type, namespace and name.
    pub(super) fn has_policy(&self, kind: &str, namespace: &str, name: &str) -> bool {
        self.policies.contains(&(kind, namespace, name))
    }

    /// Whether a namespace is one of those that a `namespaces` field allows to somebody in another.
    pub(super) fn allows(&self, namespaces: Option<Value<'_>>, default: &str, own: &str, asked: &str) -> bool {
        let from = namespaces.and_then(|value| value.get("from")).map_or(default, Value::text);
        match from {
            "All" => true,
            "Same" => own == asked,
            "Selector" => {
                // Kubernetes labels every namespace with its name.
                let mut labels = vec![("kubernetes.io/metadata.name", asked)];
                labels.extend(self.namespaces.get(asked).into_iter().flatten());
                namespaces.and_then(|value| value.get("selector")).is_some_and(|selector| selects(selector, &labels))
            }
            _ => false,
        }
    }

    /// The routes that a delegating reference means, before anybody asks whether they agree.
    pub(super) fn delegates(&self, reference: &BackendReference<'_>) -> Vec<usize> {
        let none: &[usize] = &[];
        if (reference.group, reference.kind) == BackendReference::LABEL {
            let everywhere = reference.namespace == self.settings.delegation_wildcard_namespace;
            let labelled = self.http_by_label.get(reference.name).map_or(none, Vec::as_slice);
            let here = |route: &usize| self.routes.get(*route).is_some_and(|r| r.view.namespace == reference.namespace);
            return labelled.iter().copied().filter(|route| everywhere || here(route)).collect();
        }
        match reference.name {
            "" | "*" => self.http_by_namespace.get(reference.namespace).cloned().unwrap_or_default(),
            name => self.http_by_name.get(&(reference.namespace, name)).copied().into_iter().collect(),
        }
    }

    /// What is wrong with a reference of a route to a backend: the reason of a condition, and a message.
    pub(super) fn refuse(&self, route: &View<'_>, backend: &Backend<'_>) -> Option<(&'static str, String)> {
        let BackendReference { group, kind, namespace, name, port: wanted } = backend.reference;
        let known = [("", "Service"), (KGATEWAY, "Backend")].contains(&(group, kind));
        if !known {
            let foreign = FOREIGN_BACKENDS.contains(&(group, kind));
            return (!foreign).then(|| ("InvalidKind", format!("unknown backend kind: {group}/{kind}")));
        }
        let from = End { group: GATEWAY, kind: route.kind, namespace: route.namespace };
        let to = End { group, kind, namespace };
        if self.settings.reference_grants != ReferenceGrants::Off && !self.grants.permit(from, to, name) {
            return Some(("RefNotPermitted", format!("{}: missing reference grant", backend.reference.title())));
        }
        let Some(object) = self.object(kind, namespace, name).and_then(|id| View::of(self.snapshot, id)) else {
            return Some(("BackendNotFound", format!("{kind} \"{namespace}/{name}\" not found")));
        };
        match (kind, wanted) {
            ("Backend", Some(_)) => Some(("BackendNotFound", format!("Backend \"{namespace}/{name}\" takes no port"))),
            ("Service", wanted) if !object.spec_items("ports").any(|item| port(item) == wanted) => {
                let wanted = wanted.map_or_else(|| "no port".to_owned(), |port| format!("port {port}"));
                Some(("BackendNotFound", format!("Service \"{namespace}/{name}\" has not {wanted}")))
            }
            _ => None,
        }
    }
}
