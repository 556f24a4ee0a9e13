//! What a route says that questions about its policies need, read once from its document.

use smol_str::SmolStr;
use upheld_engine::hierarchy::{Inheritance, OwnLayer};
use upheld_model::NodeRef;
use upheld_model::tree::Value;

use super::resources::{Route, View, children, text};
use crate::gateways::{envoy_gateway, kgateway};

/// What is known of a route.
#[derive(Clone, Debug)]
pub(crate) struct RouteFacts {
    /// How its policies meet those of the routes that it delegates to.
    pub(crate) inheritance: Inheritance,
    /// What users call that.
    pub(crate) inheritance_word: &'static str,
    /// By number.
    pub(crate) rules: Vec<RuleFacts>,
}

/// What is known of a rule.
#[derive(Clone, Debug)]
pub(crate) struct RuleFacts {
    /// Its name, by which policies pick it.
    pub(crate) name: Option<SmolStr>,
    /// Policies that its filters name.
    pub(crate) refers: Vec<Reference>,
    /// Policies that filters of its references to backends name.
    pub(crate) backends: Vec<Vec<Reference>>,
    /// What it says itself.
    pub(crate) own: Vec<OwnLayer>,
    /// The same in the fields of Envoy Gateway.
    pub(crate) own_of_envoy: Vec<OwnLayer>,
    /// What its references to backends say themselves.
    pub(crate) backends_own: Vec<Vec<OwnLayer>>,
}

/// A policy that a filter names; it is looked up in the namespace of the route.
#[derive(Clone, Debug)]
pub(crate) struct Reference {
    pub(crate) group: SmolStr,
    pub(crate) kind: SmolStr,
    pub(crate) name: SmolStr,
    /// The number of the filter.
    pub(crate) position: u32,
    pub(crate) at: NodeRef,
}

impl RouteFacts {
    /// Of a route.
    pub(super) fn of(route: &Route<'_>) -> Self {
        let view = &route.view;
        // Other routes do not delegate, and ignore the annotation.
        let annotation =
            (view.kind == "HTTPRoute").then(|| view.annotation(kgateway::delegation::INHERITANCE)).flatten();
        let (inheritance, inheritance_word) = kgateway::delegation::inheritance(annotation.map(Value::text));
        let rules = route.rules.iter().map(|rule| RuleFacts::of(view, rule.value)).collect();
        Self { inheritance, inheritance_word, rules }
    }
}

impl RuleFacts {
    fn of(view: &View<'_>, rule: Value<'_>) -> Self {
        Self {
            name: text(rule, "name").filter(|name| !name.is_empty()).map(SmolStr::new),
            refers: references(view, rule),
            backends: children(rule, "backendRefs").map(|backend| references(view, backend)).collect(),
            own: kgateway::builtin::layers(view.source, rule),
            own_of_envoy: envoy_gateway::builtin::layers(view.source, rule),
            backends_own: children(rule, "backendRefs")
                .map(|backend| kgateway::builtin::layers(view.source, backend))
                .collect(),
        }
    }
}

fn references(view: &View<'_>, holder: Value<'_>) -> Vec<Reference> {
    let filters = (0..).zip(children(holder, "filters"));
    let references = filters.filter_map(|(position, filter)| {
        let reference = filter.get("extensionRef")?;
        let part = |key| SmolStr::new(text(reference, key).unwrap_or_default());
        let [group, kind, name] = ["group", "kind", "name"].map(part);
        Some(Reference { group, kind, name, position, at: view.node(reference) })
    });
    references.collect()
}
