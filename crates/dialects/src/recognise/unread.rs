//! Documents that no dialect reads: of other systems, of known types that no policy speaks about, or mistakes.

use std::collections::BTreeMap;

use upheld_model::nearest::misspelt;
use upheld_model::tree::Value;
use upheld_model::{Diagnostic, Fault, NodeRef, SourceId};

use super::{Recognised, Surroundings, first_span};
use crate::dialect::dialects;
use crate::document::{Form, Resource};

/// What documents are called that do not say what they are.
const WITHOUT_TYPE: &str = "documents without a type";

/// How many documents of which type were left out. Nothing is ignored in silence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SetAside {
    /// By type, for example `apps/v1 Deployment`.
    pub by_type: BTreeMap<String, usize>,
}

impl SetAside {
    /// Without some of them.
    pub(super) fn without(&self, gone: &Self) -> Self {
        let left = |(name, count): (&String, &usize)| {
            let left = count.saturating_sub(gone.by_type.get(name).copied().unwrap_or_default());
            (left > 0).then(|| (name.clone(), left))
        };
        Self { by_type: self.by_type.iter().filter_map(left).collect() }
    }

    /// With some more.
    pub(super) fn with(mut self, came: &Self) -> Self {
        for (name, count) in &came.by_type {
            *self.by_type.entry(name.clone()).or_default() += count;
        }
        self
    }
}

impl Recognised {
    /// A type that nobody reads: another system, a known type that is not resolved, or a typo.
    pub(super) fn unread(&mut self, source: SourceId, resource: Resource<'_>, known: &[String]) {
        let name = resource.kind.text();
        let foreign = is_foreign(resource);
        // Most documents of others are told by their group alone.
        let near = if foreign { None } else { misspelt(name, known.iter().map(String::as_str)) };
        let resembles = || dialects().any(|dialect| dialect.resembles(resource.document));
        let unlike = || resource.form == Form::Universal && near.is_none() && !resembles();
        if foreign || unlike() || dialects().any(|dialect| dialect.known_types().ignored.contains(&name)) {
            // JSON Schemas have lists of types, which are no names.
            let name = if name.is_empty() { WITHOUT_TYPE } else { name };
            let version = resource.document.get("apiVersion").filter(|_| foreign).map(Value::text);
            let label = version.map_or_else(|| name.to_owned(), |version| format!("{version} {name}"));
            self.set_aside(source, resource.document, label);
            return;
        }
        let message = format!("there is no type `{name}`");
        let not_in_force = self.not_in_force.get(name);
        // Nothing that is known is meant: it may belong to another distribution, and says nothing about the rest.
        if near.is_none() && not_in_force.is_none() {
            let diagnostic = Diagnostic::warning(Fault::UnknownDocument, message).at_value(
                source,
                resource.kind,
                "unknown type, left out",
            );
            self.diagnostics.push(diagnostic.help("write a `PolicyKind` document to define a type of your own"));
            self.set_aside(source, resource.document, name.to_owned());
            return;
        }
        let diagnostic =
            Diagnostic::error(Fault::UnknownDocument, message).at_value(source, resource.kind, "unknown type");
        self.diagnostics.push(match (not_in_force, near) {
            // What is wrong with its kind was said already.
            (Some(None), _) => return,
            (Some(Some(edition)), _) => {
                diagnostic.help(format!("it belongs to the semantics `{edition}`: add `--semantics {edition}`"))
            }
            (None, near) => diagnostic.suggest(near),
        });
    }

    /// Manifests of other tools lie in the same folders; what looks like ours is refused all the same.
    pub(super) fn without_type(&mut self, source: SourceId, document: Value<'_>) {
        // Others have fields of the same names; a document of ours has a name as well.
        let is_named = || ["name", "metadata"].iter().any(|field| document.get(field).is_some());
        let may_be = self.surroundings == Surroundings::Own || is_named();
        let Some(dialect) = dialects().find(|dialect| may_be && dialect.resembles(document)) else {
            self.set_aside(source, document, WITHOUT_TYPE.to_owned());
            return;
        };
        let message = "this document says neither `type:` nor `apiVersion:` and `kind:`";
        let diagnostic =
            Diagnostic::error(Fault::UnknownDocument, message).at(source, first_span(document), "what is it?");
        self.diagnostics.push(dialect.known_types().hint.into_iter().fold(diagnostic, Diagnostic::help));
    }

    pub(super) fn set_aside(&mut self, source: SourceId, document: Value<'_>, label: String) {
        self.aside.insert(NodeRef { source, node: document.number() });
        *self.set_aside.by_type.entry(label).or_default() += 1;
    }
}

/// Whether a resource belongs to an API group of which not all types are known here.
fn is_foreign(resource: Resource<'_>) -> bool {
    let is_known = |group: &str| dialects().any(|dialect| dialect.known_types().group == Some(group));
    resource.group().is_some_and(|group| !is_known(group))
}
