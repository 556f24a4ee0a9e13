//! The part of `PolicyKind` documents that is about the merge family: what statements are about, how layers rank and meet.

use std::sync::Arc;

use smol_str::SmolStr;
use upheld_engine::merge::Column;
use upheld_engine::{Best, Choices, FacetChoice, Ladder, MergeKind, Payload};
use upheld_model::nearest::nearest;
use upheld_model::tree::Value;
use upheld_model::{Config, Diagnostic, Diagnostics, Facet, Fault, SourceId, Symbols};

use super::layered::COLUMNS;
use crate::merge_strategy::{read_strategy, strategy};
use crate::policy_kind::{KindForm, read_rungs};
use crate::shape::{Field, Shape, list, optional, required};

/// How documents of such kinds are read.
pub(super) const FORM: KindForm = KindForm {
    name: "merge",
    family: "merge",
    is: |document| document.get("hierarchy").is_none(),
    fields,
    read: |source, document, symbols, found| Choices::Merge(read(source, document, symbols, found)),
};

/// The words for facets.
const FACETS: [&str; 5] = ["proxy", "resources", "services", "clients", "inbound"];

/// The fields of such a document besides those that every kind has.
fn fields() -> Vec<Field> {
    let matching = Shape::Object(vec![
        required("field", Shape::Text, "the field of a policy that holds the statements"),
        required("of", Shape::Choice(&FACETS), "what the statements are about"),
        optional("payload", Shape::Text, "the field of a statement with the configuration; `*` is all of it"),
        optional("instead", Shape::Text, "the field that counts where the first is empty"),
        optional("rank", list(Shape::Text), "rungs for these statements; those of the kind when left out"),
    ]);
    let default = Shape::Object(vec![
        required("at", Shape::Text, "a path; `[]` is every item of a list"),
        required("value", Shape::Opaque, "the value where none is written"),
    ]);
    vec![
        required("match", list(matching), "which field is about what"),
        required("rank", list(Shape::Text), "rungs, the first counts most"),
        required("resolve", strategy(), "how layers are merged"),
        optional("grants", Shape::Choice(&["callers"]), "whether the configuration says which callers are allowed"),
        optional("position", Shape::Integer, "its place in listings"),
        optional("defaults", list(default), "values that documents may leave out"),
    ]
}

/// Reads the choices of a document that has the right shape.
fn read(source: SourceId, document: Value<'_>, symbols: &mut Symbols, found: &mut Diagnostics) -> MergeKind {
    let rank = read_ladder(source, document.get("rank"), symbols, found);
    let mut facets: Vec<FacetChoice> = Vec::new();
    for item in document.get("match").into_iter().flat_map(Value::items) {
        let text = |name: &str| item.get(name).map(Value::text);
        let facet = Facet::ALL.into_iter().find(|facet| Some(facet.word()) == text("of"));
        let Some(facet) = facet else { continue };
        if text("field") != Some(field_of(facet)) {
            let message = format!("statements about {} are read from `{}`", facet.word(), field_of(facet));
            found.push(Diagnostic::error(Fault::BrokenKind, message).at_value(source, item, "another field"));
        }
        if facets.iter().any(|known| known.facet == facet) {
            let message = format!("two fields for {}", facet.word());
            found.push(Diagnostic::error(Fault::BrokenKind, message).at_value(source, item, "one field each"));
        }
        let payload = match text("payload") {
            None | Some("*") => Payload::Rest,
            Some(field) => match field.strip_suffix("[0]") {
                Some(field) => Payload::FirstOf(symbols.intern(field)),
                None => Payload::Field(symbols.intern(field)),
            },
        };
        let own = item.get("rank").map(|own| read_ladder(source, Some(own), symbols, found));
        facets.push(FacetChoice {
            facet,
            field: symbols.intern(text("field").unwrap_or_default()),
            instead: text("instead").map(|field| symbols.intern(field)),
            payload,
            rank: own.unwrap_or_else(|| rank.clone()),
        });
    }
    let resolve = document.get("resolve");
    let group = resolve.and_then(|resolve| resolve.get("apart")).map(|field| SmolStr::new(field.text()));
    let position = document.get("position").and_then(Value::as_integer).unwrap_or_default();
    let defaults = document.get("defaults").into_iter().flat_map(Value::items).filter_map(|item| {
        let value: Arc<Config> = Config::of(source, item.get("value")?);
        Some((SmolStr::new(item.get("at")?.text()), Config::made(value.content.clone())))
    });
    MergeKind { facets, rank, strategy: read_strategy(resolve), group, position, defaults: defaults.collect() }
}

/// Where policies with target references have their statements.
fn field_of(facet: Facet) -> &'static str {
    match facet {
        Facet::Whole => "default",
        Facet::Objects | Facet::Services => "to",
        Facet::Clients => "from",
        Facet::Inbound => "rules",
    }
}

fn read_ladder(
    source: SourceId,
    rank: Option<Value<'_>>,
    symbols: &mut Symbols,
    found: &mut Diagnostics,
) -> Ladder<Column> {
    let written = rank.into_iter().flat_map(Value::items);
    Ladder::new(read_rungs(source, written, found, |item, found| {
        let column =
            match item.text() {
                "name" => Column::Title,
                "identity" => Column::Identity,
                "item" => Column::Item,
                mark if COLUMNS.contains(&mark) => Column::Mark(symbols.intern(mark)),
                other => {
                    let names = || ["name", "identity", "item"].into_iter().chain(COLUMNS);
                    let diagnostic = Diagnostic::error(Fault::BrokenKind, format!("there is no rung `{other}`"))
                        .at_value(source, item, "unknown rung");
                    found.push(diagnostic.suggest_or(nearest(other, names()), || {
                        format!("rungs: {}", names().collect::<Vec<_>>().join(", "))
                    }));
                    return None;
                }
            };
        Some((column, Best::Highest))
    }))
}
