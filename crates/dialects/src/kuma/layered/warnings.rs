//! What a policy says that has no effect: it is told, never dropped in silence.

use upheld_engine::merge::Targets;
use upheld_model::layers::{Reach, Unresolved};
use upheld_model::tree::{Kind, Value};
use upheld_model::{
    Diagnostic, Diagnostics, Draft, Facet, Fault, Files, Layers, NodeRef, Policy, Span, Symbols, TagSet,
};

use super::parsed::Parsed;
use crate::kuma::SERVICE_TAGS;
use crate::kuma::edition::Edition;
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
pub(super) fn tell(files: &Files, policy: &Policy, targets: &Targets<'_>, draft: &Draft, found: &mut Diagnostics) {
    let Some(layers) = policy.layers() else { return };
    let text = |symbol| draft.symbols.text(symbol);
    let (kind, name) = (text(policy.kind), text(policy.title));
    for dangling in &layers.dangling {
        let (to, called) = (text(dangling.kind), text(dangling.name));
        let (message, help) = match dangling.problem {
            Unresolved::Missing => {
                (format!("{kind} `{name}` is attached through {to} `{called}`, which does not exist"), "check the name")
            }
            Unresolved::Cycle => (
                format!("{kind} `{name}` is attached through {to} `{called}`, which leads back to itself"),
                "break the circle",
            ),
            Unresolved::Empty => (format!("{kind} `{name}` refers to a {to} without saying which"), "add `labels`"),
            Unresolved::Unsupported => {
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
        if told.contains(&statement.at) || !targets.resolve(reference, policy.scope).is_empty() {
            continue;
        }
        told.push(statement.at);
        let to = text(reference.kind);
        // The mesh may be known only by what is in it, and older services only by their tag.
        if to == "Mesh" || is_service_tag(layers, statement.item, draft, policy) {
            continue;
        }
        let facts = reference.facts.iter().map(|(key, value)| match text(*key) {
            fact::KRI => text(*value).to_owned(),
            key => format!("{key}={}", text(*value)),
        });
        let called = facts.collect::<Vec<_>>().join(", ");
        let message = format!("{kind} `{name}` refers to a {to} that does not exist: {called}");
        found.push(
            Diagnostic::warning(Fault::DanglingReference, message)
                .at(statement.at.source, span_of(files, statement.at), "has no effect")
                .help("`upheld list objects` shows what there is"),
        );
    }
}

/// The reference, rather than all that is said about it.
fn span_of(files: &Files, place: NodeRef) -> Span {
    let Some(value) = files.value(place) else { return Span::default() };
    value.get("targetRef").unwrap_or(value).span()
}

/// Whether the same item is about a service that some proxy offers by its tag.
fn is_service_tag(layers: &Layers, item: u32, draft: &Draft, policy: &Policy) -> bool {
    let Some(key) = draft.symbols.get(SERVICE_TAGS[0]) else { return false };
    let services = layers.entries.iter().filter(|other| other.facet == Facet::Services && other.item == item);
    let names: Vec<_> = services
        .filter_map(|other| match &other.reach {
            Reach::Tags(tags) => tags.iter().find(|(tag, _)| *tag == key).map(|(_, value)| *value),
            _ => None,
        })
        .collect();
    let offers = |tags: &TagSet| tags.get(key).and_then(|tag| tag.value).is_some_and(|value| names.contains(&value));
    draft
        .objects
        .iter()
        .any(|(_, object)| object.scope == policy.scope && object.parts.iter().any(|part| offers(&part.tags)))
}
