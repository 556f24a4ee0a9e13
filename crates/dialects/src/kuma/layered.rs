//! Policies with target references: from documents to layers.
//!
//! - `shapes`: what the documents look like
//! - `parsed`: a policy with its references
//! - `attach`: whom a policy is attached to (`spec.targetRef`)
//! - `statements`: what it says (items of `to`, `from` and `rules`); `reach`: what each of them is about
//! - `conf`: configurations with the defaults of the schema
//! - `marks`: what ranks policies and statements
//! - `warnings`: what has no effect; `known`: what they see of the objects there are
//!
//! They are read when all other documents are: a policy may be attached through a route, and what a reference means depends
//! on the resources that exist.

mod attach;
mod conf;
mod known;
mod marks;
mod parsed;
mod reach;
mod shapes;
mod statements;
mod warnings;

pub(crate) use known::{Others, services};
pub use marks::COLUMNS;
pub use shapes::shapes;

use std::collections::BTreeMap;

use upheld_engine::PolicyKind;
use upheld_model::layers::{Dangling, Layers, Unresolved};
use upheld_model::{Diagnostics, Draft, Files, Policy, PolicyContent, SourceId, Sym};

use self::attach::{Attach, MOST_STEPS};
use self::known::Known;
use self::parsed::{Parsed, Route};
use self::statements::Statements;
use super::control_plane::{Shadow, Stamps};
use super::edition::Edition;
use super::meta::{check_mesh, label};
use crate::document::{Resource, Shapes};
use crate::shape::Checker;

/// The type of routes, which are policies and targets of others at once.
pub const ROUTE: &str = "MeshHTTPRoute";

/// The tag under which rules of routes are listed for services that are known by tags.
pub const RULE_MATCHES_TAG: &str = "__rule-matches-hash__";

/// A document that is one of these policies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Written<'t, 'k> {
    pub(crate) source: SourceId,
    pub(crate) resource: Resource<'t>,
    pub(crate) kind: &'k PolicyKind,
}

/// Reads all of them into the draft; those that are broken are reported and left out. There may be other objects than those of the
/// draft.
pub(crate) fn read_all(
    files: &Files,
    written: &[Written<'_, '_>],
    edition: Edition,
    stamps: &Stamps,
    others: Option<Others<'_>>,
    draft: &mut Draft,
    found: &mut Diagnostics,
) {
    if written.is_empty() {
        return;
    }
    let mut ready = Vec::new();
    let mut known_shapes: BTreeMap<Sym, Shapes> = BTreeMap::new();
    for item in written {
        let Some(merge) = item.kind.merge() else { continue };
        let shapes = known_shapes.entry(item.kind.name).or_insert_with(|| shapes(merge, &draft.symbols));
        if !Checker::new(item.source, found).check(item.resource.document, shapes.of(item.resource.form)) {
            continue;
        }
        check_mesh(item.source, item.resource, found);
        warnings::without_effect(item, merge, &draft.symbols, found);
        let before = found.errors();
        let parsed = Parsed::of(item, merge, edition, stamps, found);
        if found.errors() == before {
            ready.extend(parsed);
        }
    }
    let routes = routes(&ready, edition);
    let first = draft.policies.len();
    for parsed in &ready {
        let policy = read(parsed, edition, stamps, &routes, draft, found);
        draft.policies.push(policy);
        if parsed.meta.kind == ROUTE {
            let object = parsed.object(&mut draft.symbols);
            draft.objects.push(object);
        }
    }
    let known = Known::new(draft, others);
    for policy in draft.policies.as_slice().get(first..).unwrap_or_default() {
        warnings::tell(files, policy, &known, found);
    }
}

/// All routes. Where several have one name, their order counts: late releases of Kuma 2 take them as they come.
fn routes<'t, 'k>(ready: &[Parsed<'t, 'k>], edition: Edition) -> Vec<Route<'t, 'k>> {
    let mut routes: Vec<Route<'t, 'k>> =
        ready.iter().filter(|parsed| parsed.meta.kind == ROUTE).map(Parsed::route).collect();
    if edition != Edition::V2Cliques {
        routes.sort_by(|a, b| (a.meta.mesh, &a.meta.name).cmp(&(b.meta.mesh, &b.meta.name)));
    }
    routes
}

/// Makes a policy with its layers.
fn read(
    parsed: &Parsed<'_, '_>,
    edition: Edition,
    stamps: &Stamps,
    routes: &[Route<'_, '_>],
    draft: &mut Draft,
    found: &mut Diagnostics,
) -> Policy {
    let Parsed { resource, meta, top, source, role, .. } = parsed;
    let created = resource.created(*source, found);
    let symbols = &mut draft.symbols;
    let at = parsed.at(top.value.unwrap_or(resource.document));
    let mut attach =
        Attach { edition, routes, symbols, audiences: Vec::new(), dangling: Vec::new(), at, steps: MOST_STEPS };
    attach.add(meta, *role, top, &[], &[]);
    let Attach { mut audiences, mut dangling, .. } = attach;
    if meta.label(label::EFFECT) == Some("shadow") && stamps.shadow() == Shadow::Off {
        audiences.clear();
        let (kind, name) = (symbols.intern(meta.kind), symbols.intern(meta.display_name()));
        dangling = vec![Dangling { conditions: Vec::new(), kind, name, problem: Unresolved::Shadow, at }];
    }
    let marks = marks::of_policy(parsed, edition, symbols);
    let entries = Statements { parsed, edition, routes }.read(symbols, found);
    Policy {
        kind: symbols.intern(meta.kind),
        scope: symbols.intern(meta.mesh),
        name: symbols.intern(&meta.name),
        title: symbols.intern(meta.display_name()),
        created,
        at: parsed.at(resource.document),
        payload: resource.spec().map(|spec| parsed.at(spec)),
        says: PolicyContent::Layers(Layers { audiences, marks, entries, dangling }),
    }
}
