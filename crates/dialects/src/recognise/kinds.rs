//! The kinds that are in force: built in, of users, and for types that nobody knows.

use std::collections::{BTreeMap, BTreeSet};

use upheld_engine::PolicyKind;
use upheld_model::nearest::nearest;
use upheld_model::tree::Value;
use upheld_model::{Diagnostic, Fault, Files, NodeRef, SourceId, Sym};

use super::{KUMA_GROUP, Reading, Recognised, first_span, has_target_refs, is_builtin, with_first};
use crate::document::{Header, Resource};
use crate::kuma::resources::ResourceType;
use crate::{access, envoy_gateway, kgateway, kuma, meshstack, policy_kind};

impl Recognised {
    pub(super) fn read_kinds(&mut self, files: &Files, documents: Vec<(SourceId, Header<'_>)>, reading: Reading<'_>) {
        let mut written = Vec::new();
        for (source, Header { document, .. }) in documents {
            match policy_kind::read(source, document, &mut self.draft.symbols, &mut self.diagnostics) {
                Some(kind) => written.push((source, document, kind)),
                None => {
                    let governs = document.get("governs").or_else(|| document.get("name")).map_or("", Value::text);
                    self.not_in_force.insert(governs.to_owned(), None);
                }
            }
        }
        let symbols = &self.draft.symbols;
        let mut types_of: BTreeMap<String, BTreeSet<Sym>> = BTreeMap::new();
        for (.., kind) in &written {
            for edition in &kind.editions {
                types_of.entry(symbols.text(*edition).to_owned()).or_default().insert(kind.kind.governs);
            }
        }
        let in_force = in_force(&types_of, reading.semantics);
        self.editions = types_of.into_keys().collect();
        let mut seen: BTreeMap<String, NodeRef> = BTreeMap::new();
        for (source, document, policy_kind::Written { mut kind, editions }) in written {
            let (name, governs) = (symbols.text(kind.name).to_owned(), symbols.text(kind.governs).to_owned());
            kind.semantics = editions.iter().copied().find(|edition| in_force.contains(&symbols.text(*edition)));
            reading.controller.policies.apply(&mut kind, symbols);
            if let (None, Some(edition)) = (kind.semantics, editions.first()) {
                self.not_in_force.insert(governs, Some(symbols.text(*edition).to_owned()));
                if kind.hierarchy().is_some() {
                    self.other_editions.push(PolicyKind { semantics: Some(*edition), ..kind });
                }
                continue;
            }
            match seen.get(&name) {
                Some(first) => {
                    let problem = kind_twice(files, source, document, &name, *first);
                    // Two editions clash in many kinds; once is enough.
                    let said = self.diagnostics.as_slice().iter().any(|known| known.help == problem.help);
                    if problem.label.is_some() || !said {
                        self.diagnostics.push(problem);
                    }
                }
                None => {
                    seen.insert(name, kind.at);
                    let layered = |known: &&PolicyKind| known.merge().is_some() && known.governs == kind.governs;
                    match self.kinds.iter().find(layered).filter(|_| kind.merge().is_some()) {
                        Some(other) => self.diagnostics.push(governed_twice(files, &kind, other, &governs)),
                        None => self.kinds.push(kind),
                    }
                }
            }
        }
    }

    /// A kind for every type that nobody knows but whose documents look like policies with target references. What could be
    /// a typo gets none.
    pub(super) fn add_common_kinds(&mut self, documents: &[(SourceId, Header<'_>)]) {
        let symbols = &mut self.draft.symbols;
        let Some(place) = self.kinds.iter().position(|kind| symbols.text(kind.governs) == EVERY_TYPE) else { return };
        let common = self.kinds.remove(place);
        let known: Vec<String> = (self.kinds.iter().map(|kind| symbols.text(kind.governs).to_owned()))
            .chain(ResourceType::ALL.map(|kind| kind.name().to_owned()))
            .chain(kuma::OTHER_TYPES.map(str::to_owned))
            .chain(self.not_in_force.keys().cloned())
            .collect();
        let mut added: Vec<&str> = Vec::new();
        for (source, header) in documents {
            let Some(resource) = Resource::with_header(*header) else { continue };
            let name = resource.kind.text();
            let ours = resource.group().is_none_or(|group| group == KUMA_GROUP);
            let is_new = !added.contains(&name) && !known.iter().any(|known| known == name);
            if !ours
                || !is_new
                || !has_target_refs(resource)
                || nearest(name, known.iter().map(String::as_str)).is_some()
            {
                continue;
            }
            added.push(name);
            let (kind, about) = (symbols.intern(name), "read by the common rules of policies with target references");
            self.kinds.push(PolicyKind { name: kind, governs: kind, ..common.clone() });
            let message = format!("nobody here knows the type `{name}`");
            self.diagnostics.push(
                Diagnostic::warning(Fault::CommonRules, message).at_value(*source, resource.kind, about).help(
                    "its policies match, rank and merge as all others do; what their configuration means is not known",
                ),
            );
        }
    }
}

/// What the user named, and what nobody named but does not clash with that: a default edition gives way to a named one
/// that governs some type of its own.
fn in_force<'e>(types_of: &BTreeMap<String, BTreeSet<Sym>>, named: &[&'e str]) -> Vec<&'e str> {
    let types = |name: &str| types_of.get(name);
    let clash = |a: &str, b: &str| match (types(a), types(b)) {
        (Some(a), Some(b)) => !a.is_disjoint(b),
        _ => false,
    };
    let gives_way = |default: &&str| named.contains(default) || named.iter().any(|name| clash(name, default));
    let defaults = kuma::DEFAULT_SEMANTICS.into_iter().chain([
        access::DEFAULT_SEMANTICS,
        meshstack::DEFAULT_SEMANTICS,
        kgateway::DEFAULT_SEMANTICS,
        envoy_gateway::DEFAULT_SEMANTICS,
    ]);
    let kept = defaults.filter(|default| !gives_way(default));
    named.iter().copied().chain(kept).collect()
}

/// What a kind governs that is for all types without a kind of their own.
pub(super) const EVERY_TYPE: &str = "*";

fn kind_twice(files: &Files, source: SourceId, document: Value<'_>, name: &str, first: NodeRef) -> Diagnostic {
    let diagnostic = Diagnostic::error(Fault::DefinedTwice, format!("the kind `{name}` is defined twice"));
    let here = NodeRef { source, node: document.number() };
    if is_builtin(files, first) && is_builtin(files, here) {
        return diagnostic.help("two editions of one system cannot be in force together: name one with `--semantics`");
    }
    // The built-in one may have come second; the place to change is the user's.
    let own = if is_builtin(files, here) { first } else { here };
    let place = files.value(own).and_then(|document| document.get("name"));
    let diagnostic = match place {
        Some(value) => diagnostic.at_value(own.source, value, "this one"),
        None => diagnostic,
    };
    if is_builtin(files, first) || is_builtin(files, here) {
        diagnostic.help(format!("it is built in; use another name, with `governs: {name}`"))
    } else {
        with_first(diagnostic, files, first).help("rename or remove one of them")
    }
}

/// Layers of one type are merged in one way.
fn governed_twice(files: &Files, kind: &PolicyKind, other: &PolicyKind, governs: &str) -> Diagnostic {
    let own = if is_builtin(files, kind.at) { other.at } else { kind.at };
    let message = format!("two kinds of the family `merge` govern `{governs}`");
    let diagnostic = Diagnostic::error(Fault::BrokenKind, message).help("a type in layers has one kind");
    match files.value(own) {
        Some(value) => diagnostic.at(own.source, first_span(value), "this one"),
        None => diagnostic,
    }
}
