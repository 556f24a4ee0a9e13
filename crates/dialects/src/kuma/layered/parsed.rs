//! A policy with its references, before it is known what they mean.

use std::sync::Arc;

use smol_str::SmolStr;
use upheld_engine::{MergeKind, PolicyKind};
use upheld_model::tree::{Kind, Value};
use upheld_model::{Config, Diagnostic, Diagnostics, Facet, Fault, NodeRef, Object, SourceId, Symbols, TagSet};

use super::Written;
use crate::document::Resource;
use crate::kuma::control_plane::Stamps;
use crate::kuma::edition::Edition;
use crate::kuma::meta::{Meta, label};
use crate::kuma::role::{self, Role};
use crate::kuma::target_ref::{Position, TargetRef};

/// A route, as policies go through it.
pub(super) struct Route<'t, 'k> {
    pub(super) meta: Meta<'t>,
    pub(super) role: Role,
    pub(super) top: TargetRef<'t>,
    pub(super) source: SourceId,
    /// Its items with what they are about.
    pub(super) to: Vec<Item<'t>>,
    /// What the kind of routes fills in.
    pub(super) defaults: &'k [(SmolStr, Arc<Config>)],
}

/// A policy whose references were read.
pub(super) struct Parsed<'t, 'k> {
    pub(super) source: SourceId,
    pub(super) resource: Resource<'t>,
    pub(super) kind: &'k PolicyKind,
    pub(super) merge: &'k MergeKind,
    pub(super) meta: Meta<'t>,
    pub(super) role: Role,
    pub(super) top: TargetRef<'t>,
    pub(super) to: Vec<Item<'t>>,
    pub(super) from: Vec<Item<'t>>,
}

/// An item with its reference.
#[derive(Clone)]
pub(super) struct Item<'t> {
    pub(super) value: Value<'t>,
    pub(super) reference: TargetRef<'t>,
}

impl<'t, 'k> Parsed<'t, 'k> {
    pub(super) fn of(
        written: &Written<'t, 'k>,
        merge: &'k MergeKind,
        edition: Edition,
        stamps: &'t Stamps,
        found: &mut Diagnostics,
    ) -> Option<Self> {
        let Written { source, resource, kind } = *written;
        let meta = Meta::stamped(resource, stamps);
        let spec = resource.spec();
        let field = |name: &str| spec.and_then(|spec| spec.get(name)).filter(|value| value.kind() != Kind::Null);
        let top = match field("targetRef") {
            Some(value) => TargetRef::read(value, Position::Top, edition, source, found)?,
            None => TargetRef::mesh(),
        };
        let mut items = |name: &str, position: Position, facets: &[Facet]| -> Option<Vec<Item<'t>>> {
            let mut items = Vec::new();
            let is_read = facets.iter().any(|facet| merge.facet(*facet).is_some());
            for value in field(name).filter(|_| is_read).into_iter().flat_map(Value::items) {
                let Some(written) = value.get("targetRef").filter(|value| value.kind() != Kind::Null) else {
                    found.push(without_reference(value, name, source));
                    return None;
                };
                items.push(Item { value, reference: TargetRef::read(written, position, edition, source, found)? });
            }
            Some(items)
        };
        let to = items("to", Position::To, &[Facet::Objects, Facet::Services])?;
        let from = items("from", Position::From, &[Facet::Clients])?;
        let role = role_of(&meta, written, edition, stamps, found)?;
        Some(Self { source, resource, kind, merge, meta, role, top, to, from })
    }

    pub(super) fn route(&self) -> Route<'t, 'k> {
        Route {
            meta: self.meta.clone(),
            role: self.role,
            top: self.top.clone(),
            source: self.source,
            to: self.to.clone(),
            defaults: &self.merge.defaults,
        }
    }

    /// A route as something that other policies refer to.
    pub(super) fn object(&self, symbols: &mut Symbols) -> Object {
        Object {
            kind: symbols.intern(self.meta.kind),
            scope: symbols.intern(self.meta.mesh),
            name: symbols.intern(&self.meta.name),
            facts: TagSet::new(self.meta.facts(symbols)),
            parts: Vec::new(),
            at: self.at(self.resource.document),
            created: None,
        }
    }

    pub(super) fn at(&self, value: Value<'_>) -> NodeRef {
        NodeRef { source: self.source, node: value.number() }
    }
}

fn without_reference(item: Value<'_>, field: &str, source: SourceId) -> Diagnostic {
    let span = item.entries().next().map_or(item.span(), |(key, _)| key.span());
    Diagnostic::error(Fault::MissingField, format!("an item of `{field}` has no `targetRef`"))
        .at(source, span, "`targetRef` is missing here")
        .help("for everything write `targetRef: {kind: Mesh}`")
}

/// The role that the label says; on Kubernetes the control plane would compute it.
fn role_of(
    meta: &Meta<'_>,
    written: &Written<'_, '_>,
    edition: Edition,
    stamps: &Stamps,
    found: &mut Diagnostics,
) -> Option<Role> {
    if let Some(text) = meta.label(label::ROLE) {
        let known = Role::of_label(text);
        if known.is_none() {
            let place = written.resource.labels().and_then(|labels| labels.get(label::ROLE));
            let words: Vec<&str> = Role::ALL.iter().map(|role| role.word()).collect();
            let message = format!("there is no policy role `{text}`");
            let problem = Diagnostic::warning(Fault::WrongValue, message).help(format!("roles: {}", words.join(", ")));
            found.push(match place {
                Some(place) => problem.at_value(written.source, place, "taken as `system`"),
                None => problem,
            });
        }
        return Some(known.unwrap_or(Role::System));
    }
    let (Some(namespace), Some(spec)) = (written.resource.kubernetes_namespace(), written.resource.spec()) else {
        return Some(Role::System);
    };
    let home = if stamps.is_system(namespace) { role::Namespace::System } else { role::Namespace::Workloads };
    let config = Config::of(written.source, spec);
    match role::compute(Some(namespace), home, &config, edition) {
        Ok(role) => Some(role),
        Err(problem) => {
            let place = spec.get("to").unwrap_or(spec);
            found.push(
                Diagnostic::error(Fault::WrongValue, problem.to_string())
                    .at_value(written.source, place, "two policies in one")
                    .help("write a policy for each"),
            );
            None
        }
    }
}
