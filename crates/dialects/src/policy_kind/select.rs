//! Kinds of the family select: which fields are matched against which side, the ladder, and what becomes of those that match.

use upheld_engine::kind::Counts;
use upheld_engine::{Best, Choices, Column, Empty, Grants, Granularity, Ladder, Match, Resolve, SelectKind};
use upheld_model::nearest::nearest;
use upheld_model::tree::{Kind, Value};
use upheld_model::{Diagnostic, Diagnostics, Fault, Side, SourceId, Symbols};

use super::{KindForm, read_rungs};
use crate::shape::{Field, Shape, list, optional, required};

/// How documents of such kinds are read.
pub(crate) const FORM: KindForm = KindForm {
    name: "select",
    family: "select",
    is: |_| true,
    fields: select_fields,
    read: |source, document, symbols, found| Choices::Select(read_select(source, document, symbols, found)),
};

/// The field that says how a result is summed up in a line.
pub(crate) const SUMMARY: &str = "summary";

/// By the shares of requests and where they go.
pub(crate) const SHARES: &str = "shares";

/// Rungs that are a word.
const RUNGS: [(&str, Column, Best); 6] = [
    ("more-tags", Column::Tags, Best::Highest),
    ("more-exact-tags", Column::ExactTags, Best::Highest),
    ("fewer-wildcards", Column::WildTags, Best::Lowest),
    ("newest", Column::Created, Best::Highest),
    ("oldest", Column::Created, Best::Lowest),
    ("name", Column::Name, Best::Lowest),
];

/// Rungs that are a word with a field.
const FIELD_RUNGS: [&str; 4] = ["highest", "lowest", "more-tags-in", "more-exact-tags-in"];

fn select_fields() -> Vec<Field> {
    let matching = Shape::Object(vec![
        required("field", Shape::Text, "the field of a policy that holds the selectors"),
        required("side", Shape::Choice(&["source", "destination"]), "the end of the connection that they select"),
        optional("sees", list(Shape::Text), "the only tags that are visible there; all when left out"),
        optional("empty", Shape::Choice(&["nothing", "everything"]), "what a policy without selectors matches"),
        optional("counts", Shape::Bool, "whether matching here adds to the rank; true when left out"),
        optional(
            "each",
            Shape::Choice(&["service", "inbound"]),
            "what a service is asked as; by its name when left out",
        ),
    ]);
    let field_rungs = FIELD_RUNGS.map(|name| optional(name, Shape::Text, "a field of the policy")).to_vec();
    let by_match = Shape::Object(vec![required("by", Shape::Choice(&["match"]), "whoever matches is allowed")]);
    vec![
        required("match", list(matching), "which field is matched against which side"),
        optional("split", Shape::Text, "a field: each of its selectors counts as an entry of its own"),
        required(
            "rank",
            list(Shape::Either(vec![Shape::Text, Shape::Object(field_rungs)])),
            "rungs, the first counts most",
        ),
        required("resolve", Shape::Choice(&["first", "all"]), "whether the best one wins or all count"),
        optional(
            SUMMARY,
            Shape::Choice(&[SHARES]),
            "how a result is summed up: `shares` of requests and where they go; by its fields when left out",
        ),
        optional(
            "grants",
            Shape::Either(vec![Shape::Text, by_match]),
            "who is allowed: a field with the clients of the winner, or whoever matches",
        ),
        optional("payload", Shape::Text, "the field that holds the result"),
    ]
}

fn read_select(source: SourceId, document: Value<'_>, symbols: &mut Symbols, found: &mut Diagnostics) -> SelectKind {
    let text = |name: &str| document.get(name).map(Value::text);
    let matches = read_matches(source, document, symbols, found);
    let rank = read_ladder(source, document, symbols, found);
    let resolve = if text("resolve") == Some("all") { Resolve::All } else { Resolve::First };
    let grants = document.get("grants").map(|grants| match grants.as_text() {
        Some(field) => Grants::Field(symbols.intern(field)),
        None => Grants::Match,
    });
    if let (Resolve::All, Some(Grants::Field(_)), Some(grants)) = (resolve, grants, document.get("grants")) {
        found.push(
            Diagnostic::error(Fault::BrokenKind, "`grants: FIELD` needs a winner, but `resolve: all` has none")
                .at_value(source, grants, "cannot be used with `resolve: all`")
                .help("match the field instead: `- {field: sources, side: source, counts: false}`"),
        );
    }
    SelectKind { matches, split: text("split").map(|field| symbols.intern(field)), rank, resolve, grants }
}

fn read_matches(source: SourceId, document: Value<'_>, symbols: &mut Symbols, found: &mut Diagnostics) -> Vec<Match> {
    let mut matches: Vec<Match> = Vec::new();
    let items = document.get("match").into_iter().flat_map(Value::items);
    for item in items {
        let text = |name: &str| item.get(name).map(Value::text);
        let side = if text("side") == Some("destination") { Side::Destination } else { Side::Source };
        if matches.iter().any(|known| known.side == side) {
            found.push(
                Diagnostic::error(Fault::BrokenKind, format!("two fields for the {}", side.word()))
                    .at_value(source, item, "one field a side")
                    .help("put all selectors of a side into one field"),
            );
        }
        let sees = item.get("sees").map(|keys| keys.items().map(|key| symbols.intern(key.text())).collect());
        let empty = if text("empty") == Some("everything") { Empty::Everything } else { Empty::Nothing };
        let counts = if item.get("counts").and_then(Value::as_bool) == Some(false) { Counts::No } else { Counts::Yes };
        let each = if text("each") == Some("inbound") { Granularity::Inbound } else { Granularity::Service };
        let field = symbols.intern(text("field").unwrap_or_default());
        matches.push(Match { field, side, sees, empty, counts, each });
    }
    if matches.is_empty() {
        let place = document.get("match").unwrap_or(document);
        found.push(
            Diagnostic::error(Fault::BrokenKind, "`match` names no field, so the kind would match nothing")
                .at_value(source, place, "expected at least one field")
                .help("for example `match: [{field: sources, side: source}]`"),
        );
    }
    matches
}

fn read_ladder(
    source: SourceId,
    document: Value<'_>,
    symbols: &mut Symbols,
    found: &mut Diagnostics,
) -> Ladder<Column> {
    let written = document.get("rank").into_iter().flat_map(Value::items);
    Ladder::new(read_rungs(source, written, found, |item, found| read_rung(source, item, symbols, found)))
}

fn read_rung(
    source: SourceId,
    item: Value<'_>,
    symbols: &mut Symbols,
    found: &mut Diagnostics,
) -> Option<(Column, Best)> {
    if item.kind() == Kind::Text {
        if let Some((_, column, best)) = RUNGS.iter().find(|(name, ..)| *name == item.text()) {
            return Some((*column, *best));
        }
        let names = || RUNGS.iter().map(|(name, ..)| *name).chain(FIELD_RUNGS);
        let diagnostic = Diagnostic::error(Fault::BrokenKind, format!("there is no rung `{}`", item.text())).at_value(
            source,
            item,
            "unknown rung",
        );
        let meant = nearest(item.text(), names());
        let meant =
            meant.map(|name| if FIELD_RUNGS.contains(&name) { format!("{name}: FIELD") } else { name.to_owned() });
        found.push(diagnostic.suggest_or(meant, || format!("rungs: {}", names().collect::<Vec<_>>().join(", "))));
        return None;
    }
    let mut entries = item.entries();
    let (Some((name, field)), None) = (entries.next(), entries.next()) else {
        found.push(Diagnostic::error(Fault::BrokenKind, "a rung is one word, or one word with a field").at_value(
            source,
            item,
            "expected one entry, for example `highest: priority`",
        ));
        return None;
    };
    let field = symbols.intern(field.text());
    Some(match name.text() {
        "highest" => (Column::Number(field), Best::Highest),
        "lowest" => (Column::Number(field), Best::Lowest),
        "more-tags-in" => (Column::TagsIn(field), Best::Highest),
        _ => (Column::ExactTagsIn(field), Best::Highest),
    })
}
