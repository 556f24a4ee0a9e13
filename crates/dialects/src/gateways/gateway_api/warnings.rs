//! What is probably not meant, with its place.

use upheld_model::nearest::{did_you_mean, nearest};
use upheld_model::tree::Value;
use upheld_model::{Diagnostic, Diagnostics, Fault};

use super::precedence::ROUTE_WEIGHT;
use super::resources::{Backend, ParentReference, Route, View};
use super::settings::Settings;
use super::walk::INHERIT_MATCHER;
use crate::gateways::kgateway::delegation::{INHERITANCE, is_known};

/// Found problems, each once.
#[derive(Debug, Default)]
pub(super) struct Warnings {
    found: Diagnostics,
}

impl Warnings {
    pub(super) fn push(&mut self, diagnostic: Diagnostic) {
        self.found.push(diagnostic);
    }

    /// Adds what was found elsewhere.
    pub(super) fn extend(&mut self, found: &[Diagnostic]) {
        for diagnostic in found {
            self.push(diagnostic.clone());
        }
    }

    /// By place, each once: the same reference is met on many ways.
    pub(super) fn finish(mut self) -> Vec<Diagnostic> {
        self.found.sort();
        let mut found: Vec<_> = self.found.into_iter().collect();
        found.dedup();
        found
    }

    /// A parent that is not there.
    pub(super) fn no_parent(&mut self, route: &View<'_>, reference: &ParentReference<'_>) {
        let target = format!("{} {}/{}", reference.kind(), reference.namespace, reference.name);
        let message = format!("{} names the parent `{target}`, which was not read", route.title());
        let place = reference.value.get("name").unwrap_or(reference.value);
        self.push(Diagnostic::warning(Fault::DanglingReference, message).at_value(route.source, place, "not found"));
    }

    /// A gateway that is not there.
    pub(super) fn no_gateway(&mut self, set: &View<'_>, reference: Value<'_>) {
        let message = format!("the Gateway of {} was not read", set.title());
        let place = reference.get("name").unwrap_or(reference);
        self.push(Diagnostic::warning(Fault::DanglingReference, message).at_value(set.source, place, "not found"));
    }

    /// A gateway that takes no listeners from there.
    pub(super) fn not_allowed(&mut self, set: &View<'_>, gateway: &View<'_>, reference: Value<'_>) {
        let message = format!("{} takes no listeners from the namespace of {}", gateway.title(), set.title());
        let place = reference.get("name").unwrap_or(reference);
        self.push(
            Diagnostic::warning(Fault::BadReference, message)
                .at_value(set.source, place, "not allowed")
                .help("a Gateway says in `allowedListeners` from where it takes them; by default from nowhere"),
        );
    }

    /// Somebody may come in if a namespace has certain labels, and nobody knows them.
    pub(super) fn unknown_namespace(&mut self, guest: &View<'_>, host: &str, reference: Value<'_>) {
        let namespace = guest.namespace;
        let message = format!(
            "{host} selects namespaces by labels, and the namespace `{namespace}` of {} was not read",
            guest.title()
        );
        let place = reference.get("name").unwrap_or(reference);
        self.push(
            Diagnostic::warning(Fault::Assumed, message)
                .at_value(guest.source, place, "assumed to be allowed")
                .help(format!("add the Namespace `{namespace}` with its labels")),
        );
    }

    /// A listener that the parent does not have.
    pub(super) fn no_section(&mut self, route: &View<'_>, reference: &ParentReference<'_>, known: &[&str]) {
        let (Some(section), Some(place)) = (reference.section, reference.value.get("sectionName")) else { return };
        let owner = format!("{} {}/{}", reference.kind(), reference.namespace, reference.name);
        let message = format!("{} names the listener `{section}`, which `{owner}` does not have", route.title());
        let warning = Diagnostic::warning(Fault::DanglingReference, message);
        let help = match nearest(section, known.iter().copied()) {
            Some(near) => did_you_mean(near),
            None => format!("listeners: {}", known.join(", ")),
        };
        self.push(warning.at_value(route.source, place, "no such listener").help(help));
    }

    /// A backend that cannot be used, and why.
    pub(super) fn bad_backend(&mut self, route: &View<'_>, backend: &Backend<'_>, reason: &str, message: &str) {
        let fault = if reason == "BackendNotFound" { Fault::DanglingReference } else { Fault::BadReference };
        let warning = Diagnostic::warning(fault, format!("{}: {message}", route.title()));
        let place = backend.value.get("name").unwrap_or(backend.value);
        let label = match reason {
            "RefNotPermitted" => "cannot be used unless a ReferenceGrant is there that was not read",
            _ => "cannot be used",
        };
        let warning = warning.at_value(route.source, place, label);
        self.push(if reason == "RefNotPermitted" {
            let namespace = backend.reference.namespace;
            warning.help(format!("add a ReferenceGrant in the namespace `{namespace}`, or read the one that is there"))
        } else {
            warning
        });
    }

    /// A policy that a filter names and that is not there.
    pub(super) fn no_extension(&mut self, route: &View<'_>, kind: &str, name: &str, value: Value<'_>) {
        let message = format!("{} names the {kind} `{name}`, which does not exist", route.title());
        let place = value.get("name").unwrap_or(value);
        self.push(Diagnostic::warning(Fault::DanglingReference, message).at_value(route.source, place, "not found"));
    }

    /// A route that is reached from itself.
    pub(super) fn cycle(&mut self, parent: &View<'_>, child: &View<'_>, backend: &Backend<'_>) {
        let message = format!("{} delegates to `{}`, which leads back to it", parent.title(), child.title());
        let warning = Diagnostic::warning(Fault::BadReference, message);
        self.push(
            warning
                .at_value(parent.source, backend.value.get("name").unwrap_or(backend.value), "a cycle")
                .help("the whole reference is refused, with all other routes that it names"),
        );
    }

    /// Annotations with values that mean nothing.
    pub(super) fn annotations(&mut self, route: &Route<'_>) {
        let mut check = |name: &str, means_something: fn(&str) -> bool, expected: &str| {
            let Some(value) = route.view.annotation(name) else { return };
            if !means_something(value.text()) {
                let message = format!("the annotation `{name}` has an invalid value: `{}`", value.text());
                self.push(Diagnostic::warning(Fault::WrongValue, message).at_value(route.view.source, value, expected));
            }
        };
        check(INHERIT_MATCHER, is_switch, "expected `true` or `false`");
        check(
            INHERITANCE,
            is_known,
            "expected ShallowMergePreferChild, ShallowMergePreferParent, DeepMergePreferChild or DeepMergePreferParent",
        );
        check(ROUTE_WEIGHT, |text| text.trim().parse::<i32>().is_ok(), "expected a whole number");
    }

    /// Ways are deeper than they are followed.
    pub(super) fn limit(&mut self, route: &View<'_>, message: String) {
        let error = Diagnostic::error(Fault::Limit, message);
        self.push(error.at(route.source, route.name_span(), "here").help("what follows is left out"));
    }

    /// There are more ways than are followed; for the first route that is left out.
    pub(super) fn too_many(&mut self, route: &View<'_>, settings: &Settings) {
        self.limit(route, format!("the paths through the routes have more than {} steps", settings.step_limit));
    }
}

fn is_switch(text: &str) -> bool {
    ["true", "yes", "enabled", "false", "no", "disabled"].iter().any(|word| word.eq_ignore_ascii_case(text))
}
