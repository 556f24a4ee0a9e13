//! `PolicyKind` documents: the three choices of a kind, written by us for the built-in kinds and by users for theirs.

use upheld_engine::kind::Counts;
use upheld_engine::{Best, Choices, Column, Each, Empty, Grants, Ladder, Match, PolicyKind, Resolve, Rung, SelectKind};
use upheld_model::nearest::nearest;
use upheld_model::tree::{Kind, Value};
use upheld_model::{Diagnostic, Diagnostics, Fault, NodeRef, Side, SourceId, Sym, Symbols};

use crate::comply_kind;
use crate::decide_kind;
use crate::document::Header;
use crate::hierarchy_kind;
use crate::merge_kind;
use crate::shape::{Checker, Field, Shape, list, optional, required};

/// The value of `kind:` that marks these documents.
pub const POLICY_KIND: &str = "PolicyKind";

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

/// What a `PolicyKind` document of each family looks like.
pub fn shapes() -> [(&'static str, Shape); 6] {
    let whole = |family: &'static [&'static str], own: Vec<Field>| {
        let mut fields = common_fields();
        fields.push(required("family", Shape::Choice(family), "the family of policies"));
        fields.extend(own);
        Shape::Object(fields)
    };
    [
        ("select", whole(&["select"], select_fields())),
        ("merge", whole(&["merge"], merge_kind::fields())),
        ("hierarchy", whole(&["merge"], hierarchy_kind::fields())),
        ("profile", whole(&["merge"], hierarchy_kind::profile_fields())),
        ("decide", whole(&["decide"], decide_kind::fields())),
        ("comply", whole(&["comply"], comply_kind::fields())),
    ]
}

fn common_fields() -> Vec<Field> {
    let default = Shape::Object(vec![
        optional("name", Shape::Text, "how the row is called"),
        optional("means", Shape::Text, "what it means that nothing matches"),
    ]);
    vec![
        optional("apiVersion", Shape::Choice(&["upheld/v1"]), "the edition of this format"),
        required("kind", Shape::Choice(&[POLICY_KIND]), "marks the document"),
        required("name", Shape::Name, "the name by which users ask"),
        optional("about", Shape::Text, "what policies of this kind decide"),
        optional("governs", Shape::Text, "the type of policies that it is about; the name when left out"),
        optional(
            "semantics",
            Shape::Either(vec![Shape::Text, list(Shape::Text)]),
            "the editions that it belongs to; all when left out",
        ),
        optional("default", default, "what stands when nothing matches"),
    ]
}

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
    let by_match = Shape::Object(vec![required("by", Shape::Choice(&["match"]), "who matches may")]);
    vec![
        required("match", list(matching), "which field is held against which side"),
        optional("split", Shape::Text, "a field: each of its selectors counts as an entry of its own"),
        required(
            "rank",
            list(Shape::Either(vec![Shape::Text, Shape::Object(field_rungs)])),
            "rungs, the first counts most",
        ),
        required("resolve", Shape::Choice(&["first", "all"]), "whether the best one stands or all count"),
        optional(
            "grants",
            Shape::Either(vec![Shape::Text, by_match]),
            "who may: a field with the clients of the winner, or who matches",
        ),
        optional("payload", Shape::Text, "the field that holds the result"),
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
    let [(_, select), (merge_word, merge), (_, hierarchy), (_, profile), (decide_word, decide), (comply_word, comply)] =
        shapes();
    let is_merge = text("family") == Some(merge_word);
    let is_decide = text("family") == Some(decide_word);
    let is_comply = text("family") == Some(comply_word);
    let is_hierarchy = is_merge && document.get("hierarchy").is_some();
    let has_profile = is_hierarchy && document.get("profile").is_some();
    if !is_merge
        && !is_decide
        && !is_comply
        && let Some(family) = document.get("family").filter(|family| family.text() != "select")
    {
        let diagnostic = Diagnostic::error(Fault::BrokenKind, format!("there is no family `{}`", family.text()))
            .at_value(source, family, "expected `select`, `merge`, `decide` or `comply`");
        found.push(diagnostic);
        return None;
    }
    let shape = match (is_hierarchy, is_merge) {
        (true, _) if has_profile => &profile,
        (true, _) => &hierarchy,
        (false, true) => &merge,
        (false, false) if is_decide => &decide,
        (false, false) if is_comply => &comply,
        (false, false) => &select,
    };
    if !Checker::new(source, found).check(document, shape) {
        return None;
    }
    let before = found.errors();
    let name = symbols.intern(text("name").unwrap_or_default());
    let governs = text("governs").map_or(name, |governs| symbols.intern(governs));
    let editions = document.get("semantics").map_or_else(Vec::new, |semantics| match semantics.as_text() {
        Some(one) => vec![symbols.intern(one)],
        None => semantics.items().map(|one| symbols.intern(one.text())).collect(),
    });
    let default = |field: &str| document.get("default").and_then(|default| default.get(field)).map(Value::text);
    let choices = if has_profile {
        Choices::Hierarchy(hierarchy_kind::read_profile(document, symbols))
    } else if is_hierarchy {
        Choices::Hierarchy(hierarchy_kind::read(source, document, symbols, found))
    } else if is_decide {
        Choices::Decide(decide_kind::read(source, document, symbols, found))
    } else if is_comply {
        Choices::Comply(comply_kind::read(source, document, found))
    } else if is_merge {
        Choices::Merge(merge_kind::read(source, document, symbols, found))
    } else {
        Choices::Select(read_select(source, document, symbols, found))
    };
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
        let each = if text("each") == Some("inbound") { Each::Inbound } else { Each::Service };
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

/// The rungs of a ladder of any family; `read` reads one of them. What stands twice is told.
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
            let message = "this rung stands twice, so the second can decide nothing";
            found.push(Diagnostic::error(Fault::BrokenKind, message).at_value(source, item, "stands above already"));
        }
        rungs.push(Rung { column, best });
    }
    rungs
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
