//! Why a policy has no effect: what it names is misspelt, elsewhere, not read, or reached by no request.

use std::collections::BTreeSet;

use upheld_engine::ObjectId;
use upheld_model::nearest::{did_you_mean, nearest};
use upheld_model::{Diagnostic, Fault, NodeRef, Object, Policy, TargetReference, Value};

use super::gateway_api::attachments::TARGETS;
use super::gateway_api::elsewhere::Meant;
use super::gateway_api::resources::Route;
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

/// Policies that have no effect: they are reported, not forgotten.
pub(super) fn warnings(network: Network<'_>) -> Vec<Diagnostic> {
    let alone = network.kgateway_statuses().into_iter().filter(|status| status.ancestors.is_empty());
    let alone = alone.map(|status| status.policy);
    let envoy = network.envoy_statuses().into_iter().filter(|status| status.ancestors.is_empty());
    let policies = alone.chain(envoy.map(|status| status.policy));
    let assumed = network.assumed_routes();
    let mut found: Vec<Diagnostic> =
        policies.filter_map(|policy| warning(network, &assumed, network.snapshot.policy(policy)?)).collect();
    found.extend(network.kinds().flat_map(|kind| unknown_namespaces(network, kind)));
    found
}

/// Policies that select objects if their namespaces have certain labels, and nobody knows these.
fn unknown_namespaces(network: Network<'_>, kind: GatewayKind<'_>) -> Vec<Diagnostic> {
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
            found.push(
                warning
                    .at_value(selector.at.source, place, "assumed to be selected")
                    .help(format!("add the Namespace `{namespace}` with its labels")),
            );
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
    let group = policy.attachments()?.group;
    let mut kinds = network.kinds();
    let kind = kinds.find(|kind| kind.kind.governs == policy.kind && Some(kind.policies.kind().group) == group)?;
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

/// Whether a filter of a route names a policy.
fn names(network: Network<'_>, route: ObjectId, policy: &Policy) -> bool {
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
        let others = || snapshot.objects().iter().filter(|(_, object)| object.kind == target.kind);
        let is_homeless = |object: &Object| object.name == target.name && !names_namespace(network, object.at);
        if others().any(|(_, object)| is_homeless(object)) || !names_namespace(network, policy.at) {
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
        let others: Vec<(&str, &str)> =
            others().map(|(_, object)| (snapshot.text(object.scope), snapshot.text(object.name))).collect();
        if let Some((elsewhere, _)) = others.iter().find(|(_, known)| *known == name) {
            let message =
                format!("{kind} {name} is in the namespace {elsewhere}, and references stay within {namespace}");
            return why(message, Some(format!("put the policy into the namespace {elsewhere}")));
        }
        let here = others.iter().filter(|(scope, _)| *scope == namespace).map(|(_, known)| *known);
        let help = nearest(name, here).map(did_you_mean);
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
    let mut kinds = network.kinds();
    let kind = kinds.find(|kind| kind.kind.governs == policy.kind && kind.policies.kind().group == group)?;
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
