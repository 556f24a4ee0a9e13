//! The entry: asks what policies come to, anywhere in a topology.

use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use upheld_engine::ObjectId;
use upheld_engine::merge::levels::Rules;
use upheld_model::tree::Value;
use upheld_model::{NodeRef, SourceId};

use super::attachments::{Attached, AttachedList, Attachments, Spoken, Via};
use super::builtin::{self, Rule};
use super::contexts::Context;
use super::kinds::{Semantics, Subject};
use super::policies::{Policies, annotation};
use super::references::{References, list, text};
use super::rules::{self, INHERITANCE, Priority};
use super::scopes::{Bracket, Place, Resolved, Scope};
use super::settings::Settings;
use crate::gateway_api::claim::KGATEWAY;
use crate::gateway_api::topology::{Gateway, Host, Listener, Place as TopologyPlace, Step, Topology, Way};

/// Answers what the policies of a topology come to. Equal contexts are computed once.
#[derive(Debug)]
pub struct Resolver<'s> {
    pub(super) topology: &'s Topology<'s>,
    pub(super) references: References<'s>,
    pub(super) policies: Policies,
    pub(super) semantics: Semantics,
    attachments: Attachments<'s>,
    pub(super) rules: FxHashMap<Subject, Rules>,
    builtin_rules: Rules,
    rule_levels: Mutex<FxHashMap<(ObjectId, usize), Arc<RuleLevel>>>,
    pub(super) contexts: Mutex<FxHashMap<Context, Arc<Resolved>>>,
    scopes: Mutex<FxHashMap<ScopeKey, Arc<Scope>>>,
}

/// The policies of a rule and of its route.
#[derive(Debug)]
struct RuleLevel {
    priority: Priority,
    /// Filters, the rule by its name, the whole route.
    brackets: Vec<(Option<SmolStr>, AttachedList)>,
}

/// What a scope depends on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum ScopeKey {
    /// A gateway as a whole.
    Gateway(ObjectId),
    /// What is behind a listener: the gateway, and the owner and the name of the listener.
    Listener(Place, ObjectId, ObjectId, String),
    /// Routes with their rules, from the listener on.
    Route(Vec<(ObjectId, usize)>),
}

impl<'s> Resolver<'s> {
    /// For a topology.
    pub fn new(topology: &'s Topology<'s>, settings: &Settings, semantics: Semantics) -> Self {
        let references = References::new(topology.snapshot, settings.reference_grants);
        let policies = Policies::read(&references, settings, semantics);
        let attachments = Attachments::new(&policies, &references, settings.global_namespace.as_deref());
        let rules =
            Subject::ALL.map(|subject| (subject, rules::for_policies(subject, semantics, &settings.policy_merge)));
        Self {
            topology,
            references,
            policies,
            semantics,
            attachments,
            rules: rules.into_iter().collect(),
            builtin_rules: rules::for_builtin(semantics),
            rule_levels: Mutex::default(),
            contexts: Mutex::default(),
            scopes: Mutex::default(),
        }
    }

    /// Gateways and routes.
    pub fn topology(&self) -> &'s Topology<'s> {
        self.topology
    }

    /// The policies; numbers count in it.
    pub fn policies(&self) -> &Policies {
        &self.policies
    }

    /// Objects by name.
    pub fn references(&self) -> &References<'s> {
        &self.references
    }

    /// Every way in which a policy speaks about an object, whatever the section.
    pub fn spoken(&self, policy: usize, object: ObjectId) -> Vec<Spoken> {
        self.attachments.spoken(policy, object, &self.references)
    }

    /// Where a way ends: the policies of its rule and route, then those of the routes that delegate to it.
    pub fn route(&self, way: &Way) -> Arc<Scope> {
        self.route_at(&way.chain)
    }

    /// A route at the end of a chain of delegations.
    pub fn route_at(&self, chain: &[Step]) -> Arc<Scope> {
        let key = ScopeKey::Route(chain.iter().map(|step| (step.route, step.rule)).collect());
        self.once(key, || self.resolve_route(chain))
    }

    fn resolve_route(&self, chain: &[Step]) -> Scope {
        let mut brackets = Vec::new();
        let mut priorities = Vec::new();
        let mut said = Vec::new();
        for (level, step) in chain.iter().rev().enumerate() {
            let found = self.rule_level(step);
            priorities.push(found.priority);
            for (section, attached) in &found.brackets {
                let (section, attached) = (section.clone(), attached.clone());
                brackets.push(Bracket { level, target: step.route, section, attached });
            }
            let (source, value) = self.rule(step);
            said.push(Rule { route: step.route, number: step.rule, source, value, priority: found.priority });
        }
        let builtin = builtin::resolve(&self.builtin_rules, &said).map(Arc::new);
        Scope { builtin, ..self.scope(Place::Route, brackets, priorities) }
    }

    /// A reference of the rule at the end of a way to a backend: policies that its filters name. With several backends, they
    /// go before those of the route; with one, the route overwrites them.
    pub fn backend_reference(&self, way: &Way, number: usize) -> Scope {
        let reference = way.chain.last().and_then(|step| {
            let (source, rule) = self.rule(step);
            Some((step, source, list(rule?, "backendRefs").nth(number)?))
        });
        let brackets = reference.map(|(step, source, reference)| {
            let attached = self.extensions(step.route, source, reference);
            Bracket { level: 0, target: step.route, section: None, attached }
        });
        self.scope(Place::BackendReference, brackets.into_iter().collect(), vec![Priority::default()])
    }

    /// A host: policies of the listener that owns it, unless that listener has a route configuration of its own.
    pub fn host(&self, gateway: &Gateway, host: &Host) -> Arc<Scope> {
        let Some(listener) = gateway.listeners.get(host.listener) else {
            return Arc::new(self.scope(Place::VirtualHost, Vec::new(), Vec::new()));
        };
        self.once(listener_key(Place::VirtualHost, gateway, listener), || {
            let mut brackets = Vec::new();
            if listener.is_plain() {
                brackets = self.listener_brackets(listener);
                if self.semantics == Semantics::Ep11268 {
                    brackets.push(self.whole(gateway.object));
                }
            }
            self.scope(Place::VirtualHost, brackets, vec![Priority::default()])
        })
    }

    /// All hosts behind a listener: policies of the listener unless it is a plain one, then those of the Gateway, as one level.
    pub fn route_configuration(&self, gateway: &Gateway, listener: &Listener) -> Arc<Scope> {
        self.once(listener_key(Place::RouteConfiguration, gateway, listener), || {
            let mut brackets = if listener.is_plain() { Vec::new() } else { self.listener_brackets(listener) };
            brackets.push(self.whole(gateway.object));
            self.scope(Place::RouteConfiguration, brackets, vec![Priority::default()])
        })
    }

    /// Any port of a gateway: the policies of the Gateway as a whole.
    pub fn gateway(&self, gateway: &Gateway) -> Arc<Scope> {
        self.once(ScopeKey::Gateway(gateway.object), || {
            self.scope(Place::Listener, vec![self.whole(gateway.object)], vec![Priority::default()])
        })
    }

    /// A backend, or a port of it by its name.
    pub fn backend(&self, backend: ObjectId, port: Option<&str>) -> Scope {
        let mut brackets = vec![self.whole(backend)];
        if let Some(port) = port {
            let attached = self.attachments.to(backend, Some(port), &self.policies, &self.references);
            let bracket = Bracket { level: 0, target: backend, section: Some(port.into()), attached };
            match self.semantics {
                Semantics::Ep11268 => brackets.insert(0, bracket),
                Semantics::Current => brackets.push(bracket),
            }
        }
        self.scope(Place::Backend, brackets, vec![Priority::default()])
    }

    /// How kgateway calls the route configuration behind a listener: plain listeners of a port share one.
    pub fn configuration_name(&self, gateway: &Gateway, listener: &Listener) -> String {
        if listener.is_plain() {
            return format!("listener~{}", listener.port);
        }
        if listener.owner == gateway.object {
            return listener.name.clone();
        }
        let snapshot = self.references.snapshot();
        let owner = snapshot.objects().get(listener.owner).map_or("", |owner| snapshot.text(owner.name));
        format!("{}/{owner}/{}", self.references.namespace(listener.owner), listener.name)
    }

    /// A scope that may be known already.
    fn once(&self, key: ScopeKey, resolve: impl FnOnce() -> Scope) -> Arc<Scope> {
        let known = self.scopes.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        known.unwrap_or_else(|| {
            let scope = Arc::new(resolve());
            self.scopes.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_insert(scope).clone()
        })
    }

    /// Ways that answer with an error because of broken policies, each with what is wrong.
    pub fn broken_ways(&self) -> Vec<(TopologyPlace, String)> {
        let broken = self.topology.ways().filter_map(|(place, way)| {
            let why = self.broken(&self.route(way));
            if why.is_empty() { None } else { Some((place, why.join("\n"))) }
        });
        broken.collect()
    }

    /// What is wrong with the policies of a scope, each by its identity.
    pub fn broken(&self, scope: &Scope) -> Vec<String> {
        let mut problems = Vec::new();
        for (policy, section) in scope.broken() {
            let Some(entry) = self.policies.get(policy) else { continue };
            let section = section.map(|section| format!("/{section}")).unwrap_or_default();
            let identity = entry.identity();
            problems.extend(entry.errors.iter().map(|error| format!("{identity}{section}: {error}")));
        }
        problems
    }

    /// Policies of a section of a listener set, then those of the set; a Gateway as a whole is another scope.
    fn listener_brackets(&self, listener: &Listener) -> Vec<Bracket> {
        let attached = self.attachments.to(listener.owner, Some(&listener.name), &self.policies, &self.references);
        let section = Some(SmolStr::new(&listener.name));
        let mut brackets = vec![Bracket { level: 0, target: listener.owner, section, attached }];
        if !self.is_gateway(listener.owner) {
            brackets.push(self.whole(listener.owner));
        }
        brackets
    }

    fn is_gateway(&self, object: ObjectId) -> bool {
        let snapshot = self.references.snapshot();
        snapshot.objects().get(object).is_some_and(|object| snapshot.text(object.kind) == "Gateway")
    }

    fn whole(&self, target: ObjectId) -> Bracket {
        let attached = self.attachments.to(target, None, &self.policies, &self.references);
        Bracket { level: 0, target, section: None, attached }
    }

    /// The rule of a step in its document.
    fn rule(&self, step: &Step) -> (SourceId, Option<Value<'s>>) {
        let source = self.references.snapshot().objects().get(step.route).map(|route| route.at.source);
        let resource = self.references.resource(step.route);
        let rule = resource.and_then(|route| route.field("rules")?.items().nth(step.rule));
        (source.unwrap_or_else(|| SourceId::new(0)), rule)
    }

    fn rule_level(&self, step: &Step) -> Arc<RuleLevel> {
        let key = (step.route, step.rule);
        let known = self.rule_levels.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        known.unwrap_or_else(|| {
            let level = Arc::new(self.read_rule_level(step));
            let mut levels = self.rule_levels.lock().unwrap_or_else(PoisonError::into_inner);
            levels.entry(key).or_insert(level).clone()
        })
    }

    fn read_rule_level(&self, step: &Step) -> RuleLevel {
        let resource = self.references.resource(step.route);
        // Other routes do not delegate, and ignore the annotation.
        let http = resource.filter(|route| route.kind.text() == "HTTPRoute");
        let priority = Priority::of(http.and_then(|route| annotation(route, INHERITANCE)));
        let (source, rule) = self.rule(step);
        let mut brackets = Vec::new();
        let to = |section| self.attachments.to(step.route, section, &self.policies, &self.references);
        if let Some(rule) = rule {
            brackets.push((None, self.extensions(step.route, source, rule)));
            if let Some(name) = text(rule, "name") {
                brackets.push((Some(SmolStr::new(name)), to(Some(name))));
            }
        }
        brackets.push((None, to(None)));
        brackets.retain(|(_, attached)| !attached.is_empty());
        RuleLevel { priority, brackets }
    }

    /// Policies that filters name, in the order of the filters; names are looked up in the namespace of the route.
    fn extensions(&self, route: ObjectId, source: SourceId, holder: Value<'_>) -> AttachedList {
        let namespace = self.references.namespace(route);
        let named = list(holder, "filters").filter_map(|filter| {
            let reference = filter.get("extensionRef")?;
            let subject = Subject::of(text(reference, "kind")?)?;
            let known = text(reference, "group") == Some(KGATEWAY) && subject.group() == KGATEWAY;
            let policy = self.policies.find(subject, namespace, text(reference, "name")?).filter(|_| known)?;
            let at = NodeRef { source, node: reference.number() };
            Some(Attached { policy, via: Via::ExtensionRef, at })
        });
        named.collect()
    }
}

fn listener_key(place: Place, gateway: &Gateway, listener: &Listener) -> ScopeKey {
    ScopeKey::Listener(place, gateway.object, listener.owner, listener.name.clone())
}
