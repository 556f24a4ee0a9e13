//! `PolicyKind` documents: the three choices of a kind, written by us for the built-in kinds and by users for theirs.
//!
//! What kinds have in common is read here; what is special to a family or to what its policies are attached to is read in the
//! [`KindForm`]s that dialects bring along.

mod select;

pub(crate) use self::select::{SHARES, SUMMARY};

use upheld_engine::{Best, Choices, PolicyKind, Rung};
use upheld_model::tree::Value;
use upheld_model::{Diagnostic, Diagnostics, Fault, NodeRef, SourceId, Sym, Symbols};

use crate::dialect::{Dialect, dialects};
use crate::document::Header;
use crate::schemas::{SCHEMA, Writing};
use crate::shape::{Checker, Field, Shape, list, map_of, optional, required};

/// The value of `kind:` that marks these documents.
pub const POLICY_KIND: &str = "PolicyKind";

/// A form of kinds: what its documents have besides the fields of every kind, and how that is read.
#[derive(Clone, Copy, Debug)]
pub struct KindForm {
    /// How its schema is called.
    pub name: &'static str,
    /// The word under `family`.
    pub family: &'static str,
    /// Whether a document of the family is of this form. The first form that says so reads it.
    pub is: fn(Value<'_>) -> bool,
    /// The fields besides those that every kind has.
    pub fields: fn() -> Vec<Field>,
    /// Reads a document of the right shape; every mistake is reported.
    pub read: fn(SourceId, Value<'_>, &mut Symbols, &mut Diagnostics) -> Choices,
}

impl KindForm {
    fn shape(&'static self) -> Shape {
        let mut fields = common_fields();
        let family = Shape::Choice(std::slice::from_ref(&self.family));
        fields.push(required("family", family, "the family of policies"));
        fields.extend((self.fields)());
        Shape::Object(fields)
    }
}

/// All forms of kinds.
pub fn forms() -> impl Iterator<Item = &'static KindForm> {
    std::iter::once(&select::FORM).chain(dialects().flat_map(Dialect::kind_forms))
}

/// What a `PolicyKind` document of each form looks like.
pub fn shapes() -> impl Iterator<Item = (&'static str, Shape)> {
    forms().map(|form| (form.name, form.shape()))
}

fn common_fields() -> Vec<Field> {
    let default = Shape::Object(vec![
        optional("name", Shape::Text, "the name of the row"),
        optional("means", Shape::Text, "what it means that nothing matches"),
    ]);
    vec![
        optional("apiVersion", Shape::Choice(&["upheld/v1"]), "the edition of this format"),
        required("kind", Shape::Choice(&[POLICY_KIND]), "marks the document"),
        required("name", Shape::Name, "the name to ask for it"),
        optional("about", Shape::Text, "what policies of this kind decide"),
        optional("governs", Shape::Text, "the type of policies that it is about; the name when left out"),
        optional(
            "semantics",
            Shape::Either(vec![Shape::Text, list(Shape::Text)]),
            "the editions that it belongs to; all when left out",
        ),
        optional("default", default, "the result when nothing matches"),
        optional(SCHEMA, map_of(Shape::Opaque), "what fields of the policies look like; any when left out"),
    ]
}

/// Whether a document is one of these.
pub fn is_policy_kind(header: &Header<'_>) -> bool {
    header.kind.is_some_and(|kind| kind.text() == POLICY_KIND)
}

/// A kind as it was written, with the editions that it belongs to.
#[derive(Clone, Debug)]
pub struct Written {
    /// The kind; its edition is not chosen yet.
    pub kind: PolicyKind,
    /// None means all.
    pub editions: Vec<Sym>,
}

/// Reads one; every mistake is reported.
pub fn read(source: SourceId, document: Value<'_>, symbols: &mut Symbols, found: &mut Diagnostics) -> Option<Written> {
    let text = |name: &str| document.get(name).map(Value::text);
    let family = text("family").unwrap_or(select::FORM.family);
    let of_family = || forms().filter(|form| form.family == family);
    let Some(form) = of_family().find(|form| (form.is)(document)).or_else(|| of_family().next()) else {
        found.extend(document.get("family").map(|family| unknown_family(source, family)));
        return None;
    };
    if !Checker::new(source, found).check(document, &form.shape()) {
        return None;
    }
    let before = found.errors();
    if let Some(schema) = document.get(SCHEMA) {
        Writing::new(source, found).shape(schema);
    }
    let name = symbols.intern(text("name").unwrap_or_default());
    let governs = text("governs").map_or(name, |governs| symbols.intern(governs));
    let editions = document.get("semantics").map_or_else(Vec::new, |semantics| match semantics.as_text() {
        Some(one) => vec![symbols.intern(one)],
        None => semantics.items().map(|one| symbols.intern(one.text())).collect(),
    });
    let default = |field: &str| document.get("default").and_then(|default| default.get(field)).map(Value::text);
    let choices = (form.read)(source, document, symbols, found);
    let kind = PolicyKind {
        name,
        governs,
        semantics: None,
        choices,
        payload: text("payload").map(|field| symbols.intern(field)),
        default_name: symbols.intern(default("name").unwrap_or("(default)")),
        default_means: symbols.intern(default("means").unwrap_or("no policy of this kind matches")),
        at: NodeRef { source, node: document.number() },
    };
    (found.errors() == before).then_some(Written { kind, editions })
}

fn unknown_family(source: SourceId, family: Value<'_>) -> Diagnostic {
    let mut known: Vec<String> = Vec::new();
    for name in forms().map(|form| format!("`{}`", form.family)) {
        if !known.contains(&name) {
            known.push(name);
        }
    }
    let diagnostic = Diagnostic::error(Fault::BrokenKind, format!("there is no family `{}`", family.text()));
    diagnostic.at_value(source, family, format!("expected one of {}", known.join(", ")))
}

/// The rungs of a ladder of any family; `read` reads one of them. What stands twice is reported.
pub(crate) fn read_rungs<'d, C: PartialEq>(
    source: SourceId,
    written: impl Iterator<Item = Value<'d>>,
    found: &mut Diagnostics,
    mut read: impl FnMut(Value<'d>, &mut Diagnostics) -> Option<(C, Best)>,
) -> Vec<Rung<C>> {
    let mut rungs: Vec<Rung<C>> = Vec::new();
    for item in written {
        let Some((column, best)) = read(item, found) else { continue };
        if rungs.iter().any(|rung| rung.column == column) {
            let message = "this rung is listed twice, so the second can decide nothing";
            found.push(Diagnostic::error(Fault::BrokenKind, message).at_value(source, item, "already listed above"));
        }
        rungs.push(Rung { column, best });
    }
    rungs
}
