//! What a policy says that has no effect: it is reported, never dropped in silence.

use upheld_engine::{MergeKind, Payload};
use upheld_model::layers::{Reach, Reference, Section, Unresolved};
use upheld_model::tree::{Kind, Value};
use upheld_model::{Diagnostic, Diagnostics, Facet, Fault, Files, Layers, NodeRef, Policy, Span, Symbols};

use super::Written;
use super::known::Known;
use super::parsed::Parsed;
use crate::kuma::SERVICE_TAGS;
use crate::kuma::edition::Edition;
use crate::kuma::kri::Kri;
use crate::kuma::meta::fact;

/// Fields that this edition of the kind does not read.
pub(super) fn unread(
    parsed: &Parsed<'_, '_>,
    read: &[&str],
    edition: Edition,
    symbols: &Symbols,
    found: &mut Diagnostics,
) {
    let Some(spec) = parsed.resource.spec() else { return };
    let kind = symbols.text(parsed.kind.name);
    let unread = spec.entries().filter(|(key, value)| !read.contains(&key.text()) && value.kind() != Kind::Null);
    for (key, _) in unread {
        let message = format!("a {kind} has no `{}` in {}", key.text(), edition.name());
        found.push(
            Diagnostic::warning(Fault::NoEffect, message).at_value(parsed.source, key, "has no effect").help(
                if edition == Edition::V3 { "ask with `--semantics kuma/2`, or use `rules`" } else { "remove it" },
            ),
        );
    }
}

/// A policy that says nothing, and items that say nothing.
pub(super) fn without_effect(written: &Written<'_, '_>, merge: &MergeKind, symbols: &Symbols, found: &mut Diagnostics) {
    let Written { source, resource, .. } = *written;
    let (kind, name) = (resource.kind.text(), resource.name());
    let help = "write what it should say, or remove it";
    let Some(spec) = resource.spec() else {
        let message = format!("{kind} `{name}` has no `spec`, so it says nothing");
        found.push(
            Diagnostic::warning(Fault::NoEffect, message).at_value(source, resource.kind, "no effect").help(help),
        );
        return;
    };
    let mut says_something = false;
    let mut told: Vec<u32> = Vec::new();
    for choice in &merge.facets {
        let fields = [Some(choice.field), choice.instead];
        for field in fields.into_iter().flatten().filter_map(|field| spec.get(symbols.text(field))) {
            if choice.facet == Facet::Whole {
                says_something |= field.kind() != Kind::Null;
            }
            for item in field.items().filter(|_| choice.facet != Facet::Whole) {
                says_something = true;
                let Payload::Field(payload) = choice.payload else { continue };
                let payload = symbols.text(payload);
                let is_there = item.get(payload).is_some_and(|value| value.kind() != Kind::Null);
                if is_there || told.contains(&item.number()) {
                    continue;
                }
                told.push(item.number());
                let message = format!("an item of {kind} `{name}` has no `{payload}`, so it says nothing");
                let span = item.entries().next().map_or(item.span(), |(key, _)| key.span());
                found.push(Diagnostic::warning(Fault::NoEffect, message).at(source, span, "no effect").help(help));
            }
        }
    }
    // Fields that this edition does not read are reported on their own.
    let unread = ["to", "from", "rules", "default"].iter().any(|name| {
        let read = merge.facets.iter().any(|choice| {
            [Some(choice.field), choice.instead].into_iter().flatten().any(|field| symbols.text(field) == *name)
        });
        !read && spec.get(name).is_some()
    });
    if !says_something && !unread {
        let fields: Vec<&str> = merge.facets.iter().map(|choice| symbols.text(choice.field)).collect();
        let mut fields: Vec<String> = fields.iter().map(|field| format!("`{field}`")).collect();
        fields.dedup();
        let message = format!("{kind} `{name}` says nothing: there is nothing in {}", fields.join(" or "));
        let place =
            resource.document.entries().find(|(key, _)| key.text() == "spec").map_or(resource.kind, |(key, _)| key);
        found.push(Diagnostic::warning(Fault::NoEffect, message).at_value(source, place, "no effect").help(help));
    }
}

/// Rules of a kind that are for all callers, though this one names some.
pub(super) fn no_callers(parsed: &Parsed<'_, '_>, matches: Value<'_>, symbols: &Symbols, found: &mut Diagnostics) {
    let message = format!("rules of a {} are for all callers", symbols.text(parsed.kind.name));
    found.push(
        Diagnostic::warning(Fault::NoEffect, message)
            .at_value(parsed.source, matches, "has no effect")
            .help("remove `matches`"),
    );
}

/// References that mean nothing.
pub(super) fn tell(files: &Files, policy: &Policy, known: &Known<'_>, found: &mut Diagnostics) {
    let Some(layers) = policy.layers() else { return };
    let text = |symbol| known.symbols().text(symbol);
    let (kind, name) = (text(policy.kind), text(policy.title));
    // Who only tries a policy knows it.
    for dangling in layers.dangling.iter().filter(|dangling| dangling.problem != Unresolved::Shadow) {
        let (to, called) = (text(dangling.kind), text(dangling.name));
        let (message, help) = match dangling.problem {
            Unresolved::Missing => {
                (format!("{kind} `{name}` is attached through {to} `{called}`, which does not exist"), "check the name")
            }
            Unresolved::Cycle => (
                format!("{kind} `{name}` is attached through {to} `{called}`, which leads back to itself"),
                "remove one of the references",
            ),
            Unresolved::Empty => (
                format!("{kind} `{name}` refers to a {to} without saying which"),
                "add `labels`, or a `name` under kuma/2",
            ),
            Unresolved::Nowhere => (
                format!("{kind} `{name}` is for the proxies of its own namespace, but it has none"),
                "add the label `k8s.kuma.io/namespace`, or another `kuma.io/policy-role`",
            ),
            Unresolved::TooMany => (
                format!("{kind} `{name}` is attached through too many routes"),
                "at most 1 000 routes are followed for one policy, and at most 32 deep",
            ),
            Unresolved::Unsupported | Unresolved::Shadow => {
                (format!("{kind} `{name}` cannot be attached to a {to}"), "attach it to `Mesh` or `Dataplane`")
            }
        };
        let place = dangling.at;
        found.push(
            Diagnostic::warning(Fault::DanglingReference, message)
                .at(place.source, span_of(files, place), "so it is attached to nothing")
                .help(help),
        );
    }
    let mut told = Vec::new();
    for statement in layers.entries.iter().filter(|statement| statement.facet == Facet::Objects) {
        let Reach::Objects(reference) = &statement.reach else { continue };
        if told.contains(&statement.at) || known.resolves(reference, policy.scope) {
            continue;
        }
        told.push(statement.at);
        let to = text(reference.kind);
        // The mesh may be known only by what is in it, and older services only by their tag.
        if to == "Mesh" || is_service_tag(layers, statement.item, policy, known) {
            continue;
        }
        let facts = reference.facts.iter().map(|(key, value)| match text(*key) {
            fact::KRI => readable(text(*value)),
            key => format!("{key}={}", text(*value)),
        });
        let called = facts.filter(|fact| !fact.is_empty()).collect::<Vec<_>>().join(", ");
        let whole = Reference { section: None, ..reference.clone() };
        let message = match reference.section {
            _ if called.is_empty() => format!("{kind} `{name}` refers to a {to} without saying which by its labels"),
            Some(Section::Named(section) | Section::Port(section)) if known.resolves(&whole, policy.scope) => {
                format!("{kind} `{name}` refers to the port `{}`, which no {to} with {called} has", text(section))
            }
            _ => format!("{kind} `{name}` refers to a {to} that was not read: {called}"),
        };
        let ports = known.ports(&whole, policy.scope);
        // What changes the role of a policy is no advice.
        let elsewhere = known.elsewhere(reference).map(|(kri, wanted)| {
            let there = readable(&kri.to_string());
            if kri.namespace == wanted.namespace && wanted.zone.is_empty() {
                return format!("there is {there}: say where this policy is applied with `--kuma zone={}`", kri.zone);
            }
            format!("there is {there}; a reference by name stays within the zone and namespace of its policy")
        });
        let help = match reference.section {
            Some(_) if !ports.is_empty() => Some(format!("it has the ports {}", ports.join(", "))),
            _ => elsewhere,
        };
        let is_known = called.is_empty() || known.resolves(&whole, policy.scope) || help.is_some();
        let label = if is_known { "has no effect" } else { "has no effect unless it exists" };
        found.push(
            Diagnostic::warning(Fault::DanglingReference, message)
                .at(statement.at.source, span_of(files, statement.at), label)
                .help(help.unwrap_or_else(|| "`upheld list objects` shows what there is".to_owned())),
        );
    }
}

/// `orders in namespace shop` for an identifier.
fn readable(identifier: &str) -> String {
    identifier.parse::<Kri>().map_or_else(|_| identifier.to_owned(), |kri| kri.readable())
}

/// The reference, rather than all that is said about it.
fn span_of(files: &Files, place: NodeRef) -> Span {
    let Some(value) = files.value(place) else { return Span::default() };
    value.get("targetRef").unwrap_or(value).span()
}

/// Whether the same item is about a service that some proxy offers by its tag.
fn is_service_tag(layers: &Layers, item: u32, policy: &Policy, known: &Known<'_>) -> bool {
    let Some(key) = known.symbols().get(SERVICE_TAGS[0]) else { return false };
    let mut services = layers.entries.iter().filter(|other| other.facet == Facet::Services && other.item == item);
    services.any(|other| match &other.reach {
        Reach::Tags(tags) => tags.iter().any(|(tag, value)| *tag == key && known.is_offered(policy.scope, *value)),
        _ => false,
    })
}
