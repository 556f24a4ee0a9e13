//! Why a policy has no effect: what it names is misspelt, elsewhere, not read, or reached by no request.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use upheld_engine::{Described, Identity, ObjectId};
use upheld_model::nearest::{did_you_mean, nearest};
use upheld_model::{Diagnostic, Fault, NodeRef, Object, Policy, Sym, TargetReference, Value};

use super::gateway_api::attachments::TARGETS;
use super::gateway_api::elsewhere::Meant;
use super::gateway_api::gateways::Absent;
use super::gateway_api::resources::{ParentReference, Route, View};
use super::gateway_api::{GatewayKind, Network};
use crate::recognise::resource_at;

/// Why a policy has no effect.
#[derive(Debug)]
pub(super) struct Why {
    /// In words.
    pub(super) message: String,
    help: Option<String>,
    certain: Certainty,
    /// Where what is wrong was written.
    at: Option<NodeRef>,
}

/// Whether a policy has no effect, whatever else there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Certainty {
    /// It has none.
    NoEffect,
    /// It has none unless what it names is there, which was not read.
    NotRead,
    /// It has none unless somebody grants it in a document that was not read.
    NotGranted,
}

/// What is said of policies that have no effect: found out once for a snapshot, because it takes the status of all policies.
#[derive(Debug, Default)]
pub(super) struct Unattached {
    /// By kind and order of policies.
    warnings: Vec<Diagnostic>,
    /// Places in that list, by what policies name, select, or nearly name.
    about: FxHashMap<Identity, Vec<usize>>,
    /// What policies name and nobody read, by type and name.
    unread: FxHashMap<(Sym, Sym), BTreeSet<Sym>>,
}

/// Policies that have no effect: they are reported, not forgotten.
pub(super) fn warnings(network: Network<'_>) -> &[Diagnostic] {
    &all(network).warnings
}

/// The same, as far as the policies name or select one of some objects, a parent of a route among them, or something that was not read.
pub(super) fn warnings_about(
    network: Network<'_>,
    objects: &BTreeSet<ObjectId>,
    unread: Option<&Object>,
) -> Vec<Diagnostic> {
    let all = all(network);
    let parents = objects.iter().flat_map(|object| parents(network, *object));
    let objects = objects.iter().filter_map(|object| network.object(*object)).chain(unread);
    let identities = objects.map(Described::identity).chain(parents);
    let found = identities.filter_map(|identity| all.about.get(&identity)).flatten();
    let found: BTreeSet<usize> = found.copied().collect();
    found.into_iter().filter_map(|place| all.warnings.get(place).cloned()).collect()
}

/// What a route names as its parents.
fn parents(network: Network<'_>, object: ObjectId) -> Vec<Identity> {
    let symbol = |text: &str| network.snapshot.symbols().get(text);
    let is_route = |view: &View<'_>| Route::KINDS.contains(&view.kind);
    let route = View::of(network.snapshot, object).filter(is_route).map(Route::of);
    let parents = route.iter().flat_map(|route| &route.parents);
    let identity = |to: &ParentReference<'_>| Some((symbol(to.kind())?, symbol(to.namespace)?, symbol(to.name)?));
    parents.filter_map(identity).collect()
}

/// What policies name by a type and a name, and nobody read.
pub(super) fn named_unread<'s>(
    network: Network<'s>,
    kind: &str,
    name: &str,
) -> impl Iterator<Item = Identity> + use<'s> {
    let symbols = network.snapshot.symbols();
    let key = symbols.get(kind).zip(symbols.get(name));
    let scopes = key.and_then(|key| Some((key, all(network).unread.get(&key)?)));
    scopes.into_iter().flat_map(|((kind, name), scopes)| scopes.iter().map(move |scope| (kind, *scope, name)))
}

fn all(network: Network<'_>) -> &Unattached {
    // Whoever asks first finds the same as everybody else.
    network.gateways.unattached.get_or_init(|| find(network.taking(Absent::Assumed)))
}

fn find(network: Network<'_>) -> Unattached {
    let alone = network.kgateway_statuses().into_iter().filter(|status| status.ancestors.is_empty());
    let alone = alone.map(|status| status.policy);
    let envoy = network.envoy_statuses().into_iter().filter(|status| status.ancestors.is_empty());
    let policies = alone.chain(envoy.map(|status| status.policy));
    let assumed = network.assumed_routes();
    let mut found = Unattached::default();
    for policy in policies.filter_map(|policy| network.snapshot.policy(policy)) {
        if let Some(warning) = warning(network, &assumed, policy) {
            found.add(warning, concerned(network, policy));
        }
    }
    for kind in network.kinds() {
        for (warning, object) in unknown_namespaces(network, kind) {
            found.add(warning, vec![object.identity()]);
        }
    }
    let attachments = network.snapshot.policies().iter().filter_map(|(_, policy)| policy.attachments());
    for target in attachments.flat_map(|attachments| &attachments.targets) {
        if network.snapshot.object(target.kind, target.namespace, target.name).is_none() {
            found.unread.entry((target.kind, target.name)).or_default().insert(target.namespace);
        }
    }
    found
}

impl Unattached {
    fn add(&mut self, warning: Diagnostic, about: Vec<Identity>) {
        for identity in about {
            let places = self.about.entry(identity).or_default();
            places.push(self.warnings.len());
        }
        self.warnings.push(warning);
    }
}

/// Whom it concerns that a policy has no effect: what it names, what it could have meant, and what it selects.
fn concerned(network: Network<'_>, policy: &Policy) -> Vec<Identity> {
    let Some(attachments) = policy.attachments() else { return Vec::new() };
    let objects = network.snapshot.objects();
    let mut found = Vec::new();
    for target in &attachments.targets {
        found.push((target.kind, target.namespace, target.name));
        if objects.find((target.kind, target.namespace, target.name)).is_none() {
            found.extend(objects.named(target.kind, target.name).map(|(_, object)| object.identity()));
            found.extend(nearly_named(network, target).map(Described::identity));
        }
    }
    if !attachments.selectors.is_empty() {
        let kind = kind_of(network, policy).into_iter();
        let selected = kind.flat_map(|kind| network.selected(kind, policy));
        found.extend(selected.filter_map(|(_, object, _)| Some(network.object(object)?.identity())));
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// The object that a target could have meant: one of its type and namespace, and nearly of its name.
fn nearly_named<'s>(network: Network<'s>, target: &TargetReference) -> Option<&'s Object> {
    let snapshot = network.snapshot;
    let here = || snapshot.objects().in_scope(target.kind, target.namespace, snapshot.symbols());
    let near = nearest(snapshot.text(target.name), here().map(|(_, object)| snapshot.text(object.name)))?;
    snapshot
        .object_named(snapshot.text(target.kind), snapshot.text(target.namespace), near)
        .and_then(|id| network.object(id))
}

/// Policies that select objects if their namespaces have certain labels, and nobody knows these.
fn unknown_namespaces<'s>(network: Network<'s>, kind: GatewayKind<'s>) -> Vec<(Diagnostic, &'s Object)> {
    if !kind.policies.selects_elsewhere() {
        return Vec::new();
    }
    let mut found = Vec::new();
    for policy in network.ranked(kind).into_iter().filter_map(|entry| network.snapshot.policy(entry.policy)) {
        for (selector, id, _) in network.selected(kind, policy).filter(|(.., meant)| *meant == Meant::IfLabelled) {
            let place = network.snapshot.files().value(selector.at);
            let (Some(place), Some(object)) = (place, network.object(id)) else { continue };
            let namespace = network.snapshot.text(object.scope);
            let message = format!(
                "{} selects namespaces by labels, and the namespace `{namespace}` of {} was not read",
                title(network, policy),
                network.title(id)
            );
            let place = place.get("namespaces").unwrap_or(place);
            let warning = Diagnostic::warning(Fault::Assumed, message);
            let warning = warning.at_value(selector.at.source, place, "assumed to be selected");
            found.push((warning.help(format!("add the Namespace `{namespace}` with its labels")), object));
        }
    }
    found
}

fn warning(network: Network<'_>, assumed: &BTreeSet<ObjectId>, policy: &Policy) -> Option<Diagnostic> {
    let why = why(network, assumed, policy)?;
    let document = network.snapshot.files().value(policy.at)?;
    let spec = document.get("spec");
    let place = why.at.and_then(|at| network.snapshot.files().value(at));
    let place =
        place.or_else(|| TARGETS.iter().find_map(|field| spec?.get(field))).or_else(|| document.get("metadata"))?;
    let title = title(network, policy);
    let (fault, message, label) = match why.certain {
        Certainty::NoEffect => (Fault::NoEffect, format!("{title} has no effect: {}", why.message), "has no effect"),
        Certainty::NotRead => (
            Fault::Assumed,
            format!("{title} has an effect only if its target exists: {}", why.message),
            "was not read",
        ),
        Certainty::NotGranted => (
            Fault::Assumed,
            format!("{title} has an effect only if somebody grants it: {}", why.message),
            "taken to have no effect",
        ),
    };
    let diagnostic = Diagnostic::warning(fault, message).at_value(policy.at.source, place, label);
    Some(why.help.into_iter().fold(diagnostic, Diagnostic::help))
}

fn title(network: Network<'_>, policy: &Policy) -> String {
    let [kind, scope, name] = [policy.kind, policy.scope, policy.name].map(|symbol| network.snapshot.text(symbol));
    format!("{kind} {scope}/{name}")
}

/// Why a policy that came to no place did not; `None` if nothing is wrong with what it names.
pub(super) fn why(network: Network<'_>, assumed: &BTreeSet<ObjectId>, policy: &Policy) -> Option<Why> {
    let attachments = policy.attachments()?;
    if !attachments.targets.is_empty() {
        let all: Option<Vec<Why>> =
            attachments.targets.iter().map(|target| of_target(network, assumed, policy, target)).collect();
        return all.and_then(|all| all.into_iter().next());
    }
    let document = network.snapshot.files().value(policy.at)?;
    let spec = document.get("spec");
    let written = TARGETS.iter().find(|field| spec.is_some_and(|spec| spec.get(field).is_some()));
    let message = match (written, attachments.selectors.is_empty()) {
        (Some(field), true) => format!("no entry of `{field}` is of a type that it can be attached to"),
        (_, false) => return of_selectors(network, assumed, policy),
        // Requests reach it if what was not read is there.
        (None, true) if assumed.iter().any(|route| names(network, *route, policy)) => return None,
        (None, true) => "no filter that requests reach names it, and it names no target".to_owned(),
    };
    Some(Why { message, help: None, certain: Certainty::NoEffect, at: None })
}

/// Why nothing that a policy selects has it: of what comes nearest, what is still missing.
fn of_selectors(network: Network<'_>, assumed: &BTreeSet<ObjectId>, policy: &Policy) -> Option<Why> {
    let kind = kind_of(network, policy)?;
    let found: Vec<_> = network.selected(kind, policy).collect();
    let certain = Certainty::NoEffect;
    let mut meant = found.iter().filter(|(.., meant)| matches!(meant, Meant::Yes | Meant::IfLabelled)).peekable();
    if meant.peek().is_some() {
        let all: Option<Vec<Why>> =
            meant.map(|(selector, object, _)| of_object(network, assumed, policy, *object, selector.at)).collect();
        return all.and_then(|all| all.into_iter().next());
    }
    for (selector, object, meant) in &found {
        if let Meant::NotGranted(_) = meant {
            let [of, from] = [policy.kind, policy.scope].map(|symbol| network.snapshot.text(symbol));
            let namespace = network.snapshot.text(network.object(*object)?.scope);
            let title = network.title(*object);
            let message = format!(
                "no ReferenceGrant that was read in the namespace {namespace} lets a {of} of {from} select {title}"
            );
            let help = format!("add a ReferenceGrant in the namespace `{namespace}`, or read the one that is there");
            let certain = Certainty::NotGranted;
            return Some(Why { message, help: Some(help), certain, at: Some(selector.at) });
        }
    }
    let message = match found.first() {
        Some((_, object, _)) => {
            let namespace = network.snapshot.text(policy.scope);
            let title = network.title(*object);
            format!(
                "{title} has the labels that it selects, and it selects nothing in that namespace, only in {namespace}"
            )
        }
        None => "no object that was read has the labels that it selects".to_owned(),
    };
    Some(Why { message, help: None, certain, at: None })
}

/// The kind of a policy.
fn kind_of<'s>(network: Network<'s>, policy: &Policy) -> Option<GatewayKind<'s>> {
    let group = policy.attachments()?.group?;
    network.kinds().find(|kind| kind.kind.governs == policy.kind && kind.policies.kind().group == group)
}

/// Whether a filter of a route names a policy.
pub(super) fn names(network: Network<'_>, route: ObjectId, policy: &Policy) -> bool {
    let snapshot = network.snapshot;
    let (kind, name) = (snapshot.text(policy.kind), snapshot.text(policy.name));
    let group = policy.attachments().and_then(|attachments| attachments.group).map(|group| snapshot.text(group));
    let is_near = network.object(route).is_some_and(|route| route.scope == policy.scope);
    let rules = network.topology().facts(route).map_or(&[][..], |facts| &facts.rules);
    let mut references = rules.iter().flat_map(|rule| rule.refers.iter().chain(rule.backends.iter().flatten()));
    is_near && references.any(|to| to.kind == kind && to.name == name && Some(to.group.as_str()) == group)
}

fn of_target(
    network: Network<'_>,
    assumed: &BTreeSet<ObjectId>,
    policy: &Policy,
    target: &TargetReference,
) -> Option<Why> {
    let snapshot = network.snapshot;
    let [kind, namespace, name] = [target.kind, target.namespace, target.name].map(|symbol| snapshot.text(symbol));
    let certain = Certainty::NoEffect;
    let why = |message: String, help: Option<String>| Some(Why { message, help, certain, at: Some(target.at) });
    let Some(object) = snapshot.object(target.kind, target.namespace, target.name) else {
        let namesakes = || snapshot.objects().named(target.kind, target.name);
        let is_homeless = |object: &Object| !names_namespace(network, object.at);
        if namesakes().any(|(_, object)| is_homeless(object)) || !names_namespace(network, policy.at) {
            // Whoever applies it says the namespace, so nobody knows whether the two are in one.
            let whose =
                if names_namespace(network, policy.at) { format!("{kind} {name}") } else { title(network, policy) };
            let message =
                format!("{whose} names no namespace, and default is assumed; {kind} {namespace}/{name} was not read");
            let help =
                format!("write `namespace: {namespace}` into its metadata, or read what kustomize or helm makes of it");
            let help = Some(help).filter(|_| names_namespace(network, policy.at));
            return Some(Why { message, help, certain: Certainty::NotRead, at: Some(target.at) });
        }
        if let Some((_, object)) = namesakes().next() {
            let elsewhere = snapshot.text(object.scope);
            let message =
                format!("{kind} {name} is in the namespace {elsewhere}, and references stay within {namespace}");
            return why(message, Some(format!("put the policy into the namespace {elsewhere}")));
        }
        let help = nearly_named(network, target).map(|object| did_you_mean(snapshot.text(object.name)));
        // A name that is nearly that of something else is probably a mistake.
        let certain = if help.is_some() { Certainty::NoEffect } else { Certainty::NotRead };
        let message = format!("{kind} {namespace}/{name} was not read");
        return Some(Why { message, help, certain, at: Some(target.at) });
    };
    if let Some(section) = target.section.map(|section| snapshot.text(section)) {
        let known = sections(network, object);
        if !known.contains(section) {
            let names: Vec<&str> = known.iter().map(String::as_str).collect();
            let help = nearest(section, names.iter().copied()).map_or_else(
                || (!names.is_empty()).then(|| format!("sections: {}", names.join(", "))),
                |near| Some(did_you_mean(near)),
            );
            return why(format!("{kind} {namespace}/{name} has no section `{section}`"), help);
        }
    }
    of_object(network, assumed, policy, object, target.at)
}

/// Why a policy has no effect at an object that it names or selects.
fn of_object(
    network: Network<'_>,
    assumed: &BTreeSet<ObjectId>,
    policy: &Policy,
    object: ObjectId,
    at: NodeRef,
) -> Option<Why> {
    let why = |message| Some(Why { message, help: None, certain: Certainty::NoEffect, at: Some(at) });
    if let Some(message) = run_by_others(network, policy, object) {
        return why(message);
    }
    let title = network.title(object);
    match network.object(object).map_or("", |object| network.snapshot.text(object.kind)) {
        "Service" | "Backend" if is_about_backends(network, policy) => None,
        // Where its parents were not read, nothing can be said against it.
        kind if Route::KINDS.contains(&kind) && assumed.contains(&object) => None,
        kind if Route::KINDS.contains(&kind) => why(format!("no request reaches {title}")),
        "Gateway" | "ListenerSet" | "XListenerSet" => why(format!("{title} has no listener that it is about")),
        kind => why(format!("it cannot be attached to a {kind}")),
    }
}

/// That all gateways of an object are run by controllers that do not know a policy.
fn run_by_others(network: Network<'_>, policy: &Policy, object: ObjectId) -> Option<String> {
    let group = policy.attachments()?.group?;
    let kind = kind_of(network, policy)?;
    let gateways = network.gateways_of(object);
    let foreign = gateways.iter().all(|gateway| network.foreign(kind, gateway).is_some());
    let first = gateways.first().filter(|_| foreign)?;
    let controller = network.snapshot.text(first.controller?.name);
    let group = network.snapshot.text(group);
    Some(format!("{} is run by {controller}, which does not know policies of {group}", network.title(first.object)))
}

/// Whether a document says which namespace it is in, or gets one.
fn names_namespace(network: Network<'_>, document: NodeRef) -> bool {
    resource_at(network.snapshot, document).is_some_and(|resource| resource.kubernetes_namespace().is_some())
}

/// Whether backends are among the places of the policy's kind.
fn is_about_backends(network: Network<'_>, policy: &Policy) -> bool {
    let mut kinds = network.kinds().filter(|kind| kind.kind.governs == policy.kind);
    kinds.any(|kind| kind.policies.kind().places.iter().any(|place| place.scope == super::gateway_api::scopes::BACKEND))
}

/// The names of the sections of an object: listeners, rules and ports.
pub(super) fn sections(network: Network<'_>, object: ObjectId) -> BTreeSet<String> {
    let resource = network.resource(object);
    let lists = ["listeners", "rules", "ports"].into_iter().filter_map(|field| resource?.field(field));
    let names = lists.flat_map(Value::items).filter_map(|item| item.get("name"));
    names.map(|name| name.text().to_owned()).collect()
}
