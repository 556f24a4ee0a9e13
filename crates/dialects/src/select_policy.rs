//! Policies of the select family: selectors in the fields that their kind names, and a payload that stays opaque.

use upheld_engine::{Column, Empty, Grants, PolicyKind};
use upheld_model::tree::{Kind, Value};
use upheld_model::{
    Diagnostic, Diagnostics, Draft, Fault, NodeRef, Policy, PolicyContent, Selector, SelectorList, SourceId, Sym,
    Symbols, Want,
};

use crate::document::{Form, Resource, Shapes};
use crate::shape::{Checker, Field, Need, Shape, list, map_of, optional, required};

/// Reads the policies of one type, for all kinds that govern it.
#[derive(Debug)]
pub struct PolicyReader {
    shapes: Shapes,
    selector_fields: Vec<(Sym, String)>,
    number_fields: Vec<(Sym, String)>,
    payload: Option<String>,
}

impl PolicyReader {
    /// A reader for a type, given the kinds that govern it (at least one).
    pub fn new(kinds: &[&PolicyKind], symbols: &Symbols) -> Self {
        let mut selector_fields: Vec<(Sym, Need)> = Vec::new();
        let mut number_fields: Vec<Sym> = Vec::new();
        let mut payload: Option<Sym> = None;
        for kind in kinds {
            let Some(select) = kind.select() else { continue };
            payload = payload.or(kind.payload);
            let matches = select.matches.iter().map(|item| {
                (item.field, if item.empty == Empty::Everything { Need::Optional } else { Need::Required })
            });
            let others = select.split.into_iter().chain(select.grants.and_then(Grants::field));
            let ranked = select.rank.rungs().iter().filter_map(|rung| match rung.column {
                Column::TagsIn(field) | Column::ExactTagsIn(field) => Some(field),
                _ => None,
            });
            for (field, need) in matches.chain(others.chain(ranked).map(|field| (field, Need::Required))) {
                if !selector_fields.iter().any(|(known, _)| *known == field) {
                    selector_fields.push((field, need));
                }
            }
            for rung in select.rank.rungs() {
                if let Column::Number(field) = rung.column
                    && !number_fields.contains(&field)
                {
                    number_fields.push(field);
                }
            }
        }
        let body = body_fields(&selector_fields, &number_fields, payload, symbols);
        Self {
            shapes: Shapes::new(&body),
            selector_fields: selector_fields
                .iter()
                .map(|(field, _)| (*field, symbols.text(*field).to_owned()))
                .collect(),
            number_fields: number_fields.iter().map(|field| (*field, symbols.text(*field).to_owned())).collect(),
            payload: payload.map(|field| symbols.text(field).to_owned()),
        }
    }

    /// What these policies look like in a form.
    pub fn shape(&self, form: Form) -> &Shape {
        self.shapes.of(form)
    }

    /// Reads one policy into the draft; every mistake is reported.
    pub fn read(
        &self,
        source: SourceId,
        resource: Resource<'_>,
        draft: &mut Draft,
        found: &mut Diagnostics,
    ) -> Option<Policy> {
        if !Checker::new(source, found).check(resource.document, self.shape(resource.form)) {
            return None;
        }
        let created = resource.created(source, found);
        let symbols = &mut draft.symbols;
        let numbers = self.read_numbers(source, resource, found);
        let mut lists = Vec::with_capacity(self.selector_fields.len());
        for (field, name) in &self.selector_fields {
            if let Some(value) = resource.field(name) {
                lists.push(SelectorList { field: *field, selectors: read_selectors(source, value, symbols) });
            }
        }
        let payload = self.payload.as_deref().and_then(|name| resource.field(name));
        Some(Policy {
            kind: symbols.intern(resource.kind.text()),
            scope: symbols.intern(resource.mesh()),
            name: symbols.intern(&resource.name()),
            title: symbols.intern(&resource.name()),
            created,
            at: NodeRef { source, node: resource.document.number() },
            payload: payload.map(|value| NodeRef { source, node: value.number() }),
            says: PolicyContent::Selectors { lists, numbers },
        })
    }
}

impl PolicyReader {
    /// Numbers below an opaque field are not part of the shape, so they are checked here.
    fn read_numbers(&self, source: SourceId, resource: Resource<'_>, found: &mut Diagnostics) -> Vec<(Sym, i64)> {
        let mut numbers = Vec::new();
        for (field, path) in &self.number_fields {
            let Some(value) = resource.at_path(path).filter(|value| value.kind() != Kind::Null) else { continue };
            match value.as_integer() {
                Some(number) => numbers.push((*field, number)),
                None => found.push(
                    Diagnostic::error(
                        Fault::WrongType,
                        format!("`{path}` ranks the policy, so it must be a whole number"),
                    )
                    .at_value(source, value, "expected a whole number"),
                ),
            }
        }
        numbers
    }
}

/// Reads `- match: {tag: value}` items.
pub fn read_selectors(source: SourceId, value: Value<'_>, symbols: &mut Symbols) -> Vec<Selector> {
    let mut selectors = Vec::with_capacity(value.items().count());
    for item in value.items() {
        let at = NodeRef { source, node: item.number() };
        let wants = item.get("match").into_iter().flat_map(Value::entries).map(|(key, value)| {
            let want = if value.text() == "*" { Want::Any } else { Want::Exactly(symbols.intern(value.text())) };
            (symbols.intern(key.text()), want)
        });
        selectors.push(Selector::new(wants, at));
    }
    selectors
}

fn body_fields(
    selector_fields: &[(Sym, Need)],
    number_fields: &[Sym],
    payload: Option<Sym>,
    symbols: &Symbols,
) -> Vec<Field> {
    let selector = Shape::Object(vec![required("match", map_of(Shape::Text), "tags with values; `*` is any value")]);
    let mut fields = Vec::new();
    for (field, need) in selector_fields {
        let about = "a list of selectors; any of them may match";
        fields.push(Field { name: symbols.text(*field).to_owned(), shape: list(selector.clone()), need: *need, about });
    }
    for field in number_fields {
        let path = symbols.text(*field);
        let shape = if path.contains('.') { Shape::Opaque } else { Shape::Integer };
        let first = path.split('.').next().unwrap_or(path);
        if !fields.iter().any(|known| known.name == first)
            && payload.map(|payload| symbols.text(payload)) != Some(first)
        {
            fields.push(optional(first, shape, "ranks the policy"));
        }
    }
    if let Some(payload) = payload {
        fields.push(optional(symbols.text(payload), Shape::Opaque, "the configuration, kept whole"));
    }
    fields
}
