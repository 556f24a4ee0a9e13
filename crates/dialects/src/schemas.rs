//! What is known of the fields of documents, as data beside the kinds: payloads are held against it as an API server would.
//!
//! Each dialect brings files ([`Dialect::schemas`]) in the form of `written`; a `PolicyKind` may carry a `schema` of its own.
//! A type without a schema stays opaque, and `--schemas off` leaves all of them so.

mod written;

use std::collections::BTreeSet;
use std::sync::LazyLock;

use rustc_hash::FxHashMap;
use upheld_engine::{Companions, PolicyKind, work};
use upheld_model::tree::{Kind, Value};
use upheld_model::{Diagnostic, Diagnostics, Fault, Files, Severity, SourceId, Symbols};
use upheld_syntax::Format;

pub(crate) use self::written::Writing;
use crate::dialect::{Builtin, Dialect, Document, dialects};
use crate::document::{Form, Resource, placeholder};
use crate::recognise::is_builtin;
use crate::shape::{Checker, Shape};

/// Whether documents are held against what is known of their fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Schemas {
    /// They are.
    #[default]
    On,
    /// They are not: what policies say is passed on as it is.
    Off,
}

impl Schemas {
    /// As settings say.
    pub fn of(settings: &Companions) -> Self {
        settings.get().copied().unwrap_or_default()
    }
}

/// What to do where a schema is wrong for what is there.
const OTHER_VERSION: &str = "for another version of these kinds, turn such checks off: `--schemas off`";

/// What is known of one type.
#[derive(Debug)]
struct Schema {
    group: String,
    /// The API versions that it describes; all if there are none.
    versions: Vec<String>,
    /// Whether it describes documents without a group, too.
    universal: bool,
    spec: Shape,
}

/// Schemas by type; types of several groups may have one name.
#[derive(Debug, Default)]
struct Library {
    by_type: FxHashMap<String, Vec<Schema>>,
}

static BUILTIN: LazyLock<Library> = LazyLock::new(|| {
    let mut library = Library::default();
    for file in dialects().flat_map(Dialect::schemas) {
        // A test sees to it that nothing is wrong with them.
        library.read(file, &mut Diagnostics::default());
    }
    library
});

impl Library {
    fn read(&mut self, builtin: &Builtin, found: &mut Diagnostics) {
        let source = SourceId::new(0);
        let (file, problems) = upheld_syntax::parse(builtin.name, Format::Yaml, builtin.text.to_owned(), source);
        found.extend(problems);
        let mut writing = Writing::new(source, found);
        for document in file.tree.documents() {
            let texts = |name: &str| document.get(name).into_iter().flat_map(Value::items).map(Value::text);
            let group = document.get("group").map_or("", Value::text);
            for (name, value) in document.get("types").into_iter().flat_map(Value::entries) {
                writing.define(name.text(), value);
            }
            for (name, value) in document.get("kinds").into_iter().flat_map(Value::entries) {
                let schema = Schema {
                    group: group.to_owned(),
                    versions: texts("versions").map(str::to_owned).collect(),
                    universal: texts("forms").any(|form| form == "universal"),
                    spec: writing.shape(value),
                };
                self.by_type.entry(name.text().to_owned()).or_default().push(schema);
            }
        }
    }

    fn named(&self, kind: &str) -> &[Schema] {
        self.by_type.get(kind).map(Vec::as_slice).unwrap_or_default()
    }

    fn of(&self, resource: Resource<'_>) -> Option<&Schema> {
        self.named(resource.kind.text()).iter().find(|schema| schema.describes(resource))
    }
}

impl Schema {
    fn describes(&self, resource: Resource<'_>) -> bool {
        if resource.form == Form::Universal {
            return self.universal;
        }
        let written = resource.document.get("apiVersion").map_or("", Value::text);
        let version = written.rsplit('/').next().unwrap_or_default();
        let of_version = self.versions.is_empty() || self.versions.iter().any(|known| known == version);
        of_version && resource.group() == Some(self.group.as_str())
    }
}

/// What is known of the `spec` of a type in an API group.
pub(crate) fn known(group: &str, kind: &str) -> Option<&'static Shape> {
    BUILTIN.named(kind).iter().find(|schema| schema.group == group).map(|schema| &schema.spec)
}

/// Checks of documents under the kinds that are in force.
#[derive(Debug)]
pub(crate) struct Checks {
    schemas: Schemas,
    /// Types that users define, with their schemas, if they wrote any.
    own: FxHashMap<String, Option<Shape>>,
}

impl Checks {
    pub(crate) fn new(settings: &Companions, kinds: &[PolicyKind], symbols: &Symbols, files: &Files) -> Self {
        let own = kinds.iter().filter(|kind| !is_builtin(files, kind.at));
        let own = own.map(|kind| {
            let schema = files.value(kind.at).and_then(|document| document.get(SCHEMA));
            // What is wrong with it was said where the kind was read.
            let read = |schema| Writing::new(kind.at.source, &mut Diagnostics::default()).shape(schema);
            (symbols.text(kind.governs).to_owned(), schema.map(read))
        });
        Self { schemas: Schemas::of(settings), own: own.collect() }
    }

    /// Holds documents against their schemas; what others found at the same places is not said again.
    pub(crate) fn check<'f>(&self, documents: impl Iterator<Item = &'f Document<'f>>, found: &mut Diagnostics) {
        if self.schemas == Schemas::Off {
            return;
        }
        let mut problems = Diagnostics::default();
        for document in documents {
            work::step();
            if let Some(resource) = document.resource() {
                self.check_one(document.source, resource, &mut problems);
            }
        }
        let place =
            |problem: &Diagnostic| problem.label.as_ref().map(|label| (problem.fault, label.source, label.span));
        let said: BTreeSet<_> = found.as_slice().iter().map(place).collect();
        let mut fresh: Vec<Diagnostic> =
            problems.into_iter().filter(|problem| !said.contains(&place(problem))).collect();
        // Once is enough.
        if let Some(first) = fresh.iter_mut().find(|problem| problem.severity == Severity::Error) {
            first.help.push(OTHER_VERSION.to_owned());
        }
        found.extend(fresh);
    }

    fn check_one(&self, source: SourceId, resource: Resource<'_>, found: &mut Diagnostics) {
        match self.own.get(resource.kind.text()) {
            Some(Some(schema)) => {
                if let Some(body) = resource.spec().or(resource.body()) {
                    check_named(source, body, schema, found);
                }
            }
            // Whoever defines a type says what it looks like.
            Some(None) => {}
            None => {
                if let (Some(schema), Some(spec)) = (BUILTIN.of(resource), resource.spec()) {
                    let mut checker = Checker::new(source, found).under("spec").before_substitution();
                    checker.check(spec, &schema.spec);
                    let warning = checker.left_out().first().and_then(|value| not_filled_in(source, *value));
                    if let Some(warning) = warning {
                        found.push(warning);
                    }
                }
            }
        }
    }
}

/// That something is put in the place of a text before anybody applies the document.
fn not_filled_in(source: SourceId, value: Value<'_>) -> Option<Diagnostic> {
    let name = placeholder(value.text())?;
    let message = format!("`{name}` is filled in later: `{}` is taken as it is written", value.text());
    let warning = Diagnostic::warning(Fault::Assumed, message).at_value(source, value, "not known yet");
    Some(warning.help("read what is applied to have all of it checked, for example what `envsubst` makes of it"))
}

/// The field of a `PolicyKind` that says what its policies look like.
pub(crate) const SCHEMA: &str = "schema";

/// Checks the fields that a schema names; the others are the business of the kind.
fn check_named(source: SourceId, body: Value<'_>, schema: &Shape, found: &mut Diagnostics) {
    let (Shape::Object(fields) | Shape::Open(fields)) = schema else { return };
    for field in fields {
        if let Some(value) = body.get(&field.name).filter(|value| value.kind() != Kind::Null) {
            Checker::new(source, found).under(&field.name).check(value, &field.shape);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_wrong_with_the_schemas_that_are_part_of_the_program() {
        for file in dialects().flat_map(Dialect::schemas) {
            let mut found = Diagnostics::default();
            Library::default().read(file, &mut found);
            assert!(found.as_slice().is_empty(), "{}: {:#?}", file.name, found.as_slice());
        }
        assert!(!BUILTIN.by_type.is_empty());
    }
}
