//! The kinds that are in force: built in, of users, and for types that nobody knows.

use std::collections::{BTreeMap, BTreeSet};

use upheld_engine::PolicyKind;
use upheld_model::tree::Value;
use upheld_model::{Diagnostic, Fault, Files, NodeRef, SourceId, Sym};

use super::{Reading, Recognised, first_span, is_builtin, with_first};
use crate::dialect::{default_editions, dialects};
use crate::document::Header;
use crate::policy_kind;

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
            for dialect in dialects() {
                dialect.configure(&mut kind, symbols, reading.settings);
            }
            if let (None, Some(edition)) = (kind.semantics, editions.first()) {
                self.not_in_force.insert(governs, Some(symbols.text(*edition).to_owned()));
                self.other_editions.push(PolicyKind { semantics: Some(*edition), ..kind });
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
    let defaults = default_editions().map(|name| -> &'e str { name });
    let kept = defaults.filter(|default| !gives_way(default));
    named.iter().copied().chain(kept).collect()
}

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
