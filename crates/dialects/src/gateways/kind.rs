//! The part of `PolicyKind` documents that is about policies along a hierarchy: in which places they are looked for, how they rank
//! and how they meet. A document says all of it, or names a profile of the field that does ([`profiles`]).

use std::sync::Arc;

use upheld_engine::hierarchy::fields::{Combiner, FieldMerge, FieldRule, PlainWhenDeep, SameLevel, Switch, Within};
use upheld_engine::hierarchy::rank::RankDirection;
use upheld_engine::hierarchy::wholes::{WholeJoin, WholeRules};
use upheld_engine::hierarchy::{Column, FieldParts, Rules};
use upheld_engine::{Best, Choices, HierarchyFold, HierarchyKind, Ladder, LayerDefaults, Levels, PlaceChoice};
use upheld_model::nearest::nearest;
use upheld_model::tree::{Kind, Value};
use upheld_model::{Diagnostic, Diagnostics, Fault, SourceId, Sym, Symbols};

use super::gateway_api::profiles;
use super::gateway_api::scopes::{self, PLACES, SCOPES};
use super::kgateway::delegation;
use crate::merge_strategy;
use crate::policy_kind::{KindForm, read_rungs};
use crate::shape::{Field, Shape, list, optional, required};

/// How documents of kinds are read that say everything themselves, and of those that name a profile.
pub(super) const FORMS: [KindForm; 2] = [
    KindForm {
        name: "hierarchy",
        family: "merge",
        is: |document| document.get("hierarchy").is_some() && document.get("profile").is_none(),
        fields,
        read: |source, document, symbols, found| Choices::Hierarchy(read(source, document, symbols, found)),
    },
    KindForm {
        name: "profile",
        family: "merge",
        is: |document| document.get("hierarchy").is_some() && document.get("profile").is_some(),
        fields: profile_fields,
        read: |_, document, symbols, _| Choices::Hierarchy(read_profile(document, symbols)),
    },
];

/// Rungs that are a word.
const RUNGS: [(&str, Column, Best); 13] = [
    ("scope", Column::Scope, Best::Lowest),
    ("level", Column::Level, Best::Lowest),
    ("reference", Column::Reference, Best::Lowest),
    ("position", Column::Position, Best::Lowest),
    ("last-position", Column::Position, Best::Highest),
    ("section", Column::Section, Best::Lowest),
    ("overrides", Column::Side, Best::Lowest),
    ("heaviest", Column::Weight, Best::Highest),
    ("oldest", Column::Created, Best::Lowest),
    ("newest", Column::Created, Best::Highest),
    ("namespace", Column::Namespace, Best::Lowest),
    ("name", Column::Name, Best::Lowest),
    ("identity", Column::Identity, Best::Lowest),
];

const COMBINERS: [&str; 4] = ["providers", "preferred-providers", "transformation", "access-list"];

/// The fields of a document that says everything itself.
fn fields() -> Vec<Field> {
    let place = Shape::Object(vec![
        required("scope", Shape::Choice(&scopes::SCOPES), "the scope of the places; a nearer scope hides a wider one"),
        optional("when", Shape::Choice(&scopes::PROTOCOLS), "for which listeners; for all when left out"),
        required("of", list(Shape::Choice(&scopes::PLACES)), "the places, the most specific first"),
    ]);
    let number_rung = ["highest", "lowest"].map(|name| optional(name, Shape::Text, "a field of the policy's spec"));
    let [hierarchy, group] = attached_to();
    vec![
        hierarchy,
        group,
        required("reads", Shape::Choice(&scopes::READERS), "how the documents are read"),
        required("levels", Shape::Choice(&["delegation", "places", "none"]), "what a level is"),
        required("places", list(place), "where policies are looked for"),
        required(
            "rank",
            list(Shape::Either(vec![Shape::Text, Shape::Object(number_rung.to_vec())])),
            "rungs, in the order of which policies are folded",
        ),
        required("resolve", resolve(), "how policies are merged"),
    ]
}

fn resolve() -> Shape {
    let apart = Shape::Object(vec![
        optional("list", Shape::Text, "a list whose items override each other one by one"),
        required("key", Shape::Text, "by which two are the same"),
        required("off", Shape::Text, "what turns all of them off"),
    ]);
    let field = Shape::Object(vec![
        required("field", Shape::Text, "its name"),
        optional(
            "combine",
            Shape::Choice(&COMBINERS),
            "what a deep merge makes of two values; one of them when left out",
        ),
        optional(
            "same-level",
            Shape::Choice(&["first", "combine"]),
            "how policies of one level are merged; the first wins when left out",
        ),
        optional(
            "apart",
            Shape::Either(vec![Shape::Choice(&["entries"]), apart]),
            "which parts override each other between scopes",
        ),
        optional(
            "shares",
            Shape::Text,
            "a part of another field that says the same thing and overrides it between scopes",
        ),
    ]);
    let own = Shape::Object(vec![
        optional("deep", Shape::Choice(&DEEP), "who wins a field that cannot be combined"),
        optional("within", Shape::Choice(&["fields", "levels"]), "how several of one rule are merged"),
        optional("add-up", list(Shape::Text), "fields of which all count"),
    ]);
    let mut strategy = vec![
        required("name", Shape::Text, "by which policies choose it"),
        required("depth", Shape::Choice(&["whole", "shallow", "deep"]), "how deep layers are merged"),
        optional("chain", list(Shape::Text), "lists that add up, by their paths"),
    ];
    let keyed = Shape::Object(vec![
        required("field", Shape::Text, "the list"),
        required("key", Shape::Text, "the field of an item by which two are the same"),
    ]);
    strategy.push(optional("by-key", list(keyed), "lists whose items are merged by a key"));
    Shape::Object(vec![
        required("by", Shape::Choice(&["field", "whole"]), "whether policies are merged field by field or as a whole"),
        optional("deep", Shape::Choice(&DEEP), "who wins a field that cannot be combined, where levels merge deep"),
        optional("fields", list(field), "fields that are special"),
        optional("own", own, "how the rules' own settings are merged"),
        optional("within", Shape::Choice(&JOINS), "how whole policies of one scope are merged"),
        optional("across", Shape::Choice(&JOINS), "how whole policies of several scopes are merged"),
        optional("strategies", list(Shape::Object(strategy)), "what policies may choose from"),
    ])
}

const DEEP: [&str; 3] = ["as-named", "child", "parent"];
const JOINS: [&str; 3] = ["keep", "as-the-nearer-says", "as-the-wider-says"];

/// Reads the choices of a document that has the right shape.
fn read(source: SourceId, document: Value<'_>, symbols: &mut Symbols, found: &mut Diagnostics) -> Arc<HierarchyKind> {
    let text = |value: Value<'_>, name: &str| value.get(name).map_or_else(String::new, |value| value.text().to_owned());
    let rank = read_ladder(source, document, symbols, found);
    let mut places = Vec::new();
    for item in items(document.get("places")) {
        places.push(PlaceChoice {
            scope: scopes::number(&SCOPES, &text(item, "scope")),
            when: item.get("when").map(|when| scopes::number(&scopes::PROTOCOLS, when.text())),
            places: items(item.get("of")).into_iter().map(|place| scopes::number(&PLACES, place.text())).collect(),
        });
    }
    let resolve = document.get("resolve");
    let by_whole = resolve.is_some_and(|resolve| text(resolve, "by") == "whole");
    let mut strategies = Vec::new();
    let fold = if by_whole {
        let join = |name: &str| resolve.and_then(|resolve| resolve.get(name)).map(|join| read_join(join.text()));
        let written = items(resolve.and_then(|resolve| resolve.get("strategies")));
        strategies = written.iter().map(|strategy| symbols.intern(&text(*strategy, "name"))).collect();
        let read = written.iter().map(|strategy| merge_strategy::read_strategy(Some(*strategy)));
        let within = join("within").unwrap_or_default();
        HierarchyFold::Wholes(WholeRules { within, across: join("across"), strategies: read.collect() })
    } else {
        let own = resolve.and_then(|resolve| resolve.get("own"));
        HierarchyFold::Fields { own: read_own(own), policies: read_rules(resolve) }
    };
    Arc::new(HierarchyKind {
        group: symbols.intern(&text(document, "group")),
        reads: symbols.intern(&text(document, "reads")),
        profile: None,
        rank,
        ends: RankDirection::AsRanked,
        fold,
        levels: match text(document, "levels").as_str() {
            "places" => Levels::Places,
            "none" => Levels::None,
            _ => Levels::Delegations,
        },
        scopes: scope_names(symbols),
        places,
        strategies,
        unsaid: LayerDefaults::default(),
    })
}

fn read_join(word: &str) -> WholeJoin {
    match word {
        "as-the-nearer-says" => WholeJoin::AsTheBetterSays,
        "as-the-wider-says" => WholeJoin::AsTheNextSays,
        _ => WholeJoin::Keep,
    }
}

fn read_deep(written: Option<Value<'_>>) -> PlainWhenDeep {
    match written.and_then(|written| written.get("deep")).map(Value::text) {
        Some("as-named") => PlainWhenDeep::AsNamed,
        Some("parent") => PlainWhenDeep::Parent,
        _ => PlainWhenDeep::Child,
    }
}

fn read_rules(resolve: Option<Value<'_>>) -> Rules {
    let written = resolve.and_then(|resolve| resolve.get("fields")).into_iter().flat_map(Value::items);
    let fields = written.map(|field| {
        let text = |name: &str| field.get(name).map(Value::text);
        FieldRule {
            name: text("field").unwrap_or_default().into(),
            meeting: match text("combine") {
                Some("providers") => FieldMerge::Deep(Combiner::Providers(Switch::Absorbs)),
                Some("preferred-providers") => FieldMerge::Deep(Combiner::Providers(Switch::Preferred)),
                Some("transformation") => FieldMerge::Deep(Combiner::Transformation),
                Some("access-list") => FieldMerge::Deep(Combiner::AccessList),
                _ => FieldMerge::Plain,
            },
            same_level: if text("same-level") == Some("combine") { SameLevel::Combine } else { SameLevel::First },
            apart: match text("shares").and_then(|shared| shared.split_once('.')) {
                Some((name, part)) => FieldParts::Shared { name: name.into(), part: part.into() },
                None => field.get("apart").map(read_apart).unwrap_or_default(),
            },
        }
    });
    Rules { fields: fields.collect(), plain_when_deep: read_deep(resolve), within: Within::ByField }
}

fn read_apart(written: Value<'_>) -> FieldParts {
    let text = |name: &str| written.get(name).map(|value| value.text().into());
    match (text("list"), text("key"), text("off")) {
        (Some(list), Some(key), Some(off)) => FieldParts::Items { list, key, off },
        (None, Some(key), Some(off)) => FieldParts::Keyed { key, off },
        _ => FieldParts::Entries,
    }
}

fn read_own(written: Option<Value<'_>>) -> Rules {
    let added = written.and_then(|own| own.get("add-up")).into_iter().flat_map(Value::items);
    let rule = |name: Value<'_>| FieldRule {
        name: name.text().into(),
        meeting: FieldMerge::Cumulative,
        same_level: SameLevel::First,
        apart: FieldParts::Whole,
    };
    let levels = written.and_then(|own| own.get("within")).map(Value::text) == Some("levels");
    let within = if levels { Within::AsLevels } else { Within::ByField };
    Rules { fields: added.map(rule).collect(), plain_when_deep: read_deep(written), within }
}

fn read_ladder(
    source: SourceId,
    document: Value<'_>,
    symbols: &mut Symbols,
    found: &mut Diagnostics,
) -> Ladder<Column> {
    let written = document.get("rank").into_iter().flat_map(Value::items);
    let rungs = read_rungs(source, written, found, |item, found| read_rung(source, item, symbols, found));
    // Groups of scopes and levels are folded by themselves, so nothing may be ranked across them.
    let place = |wanted: Column| rungs.iter().position(|rung| rung.column == wanted);
    let before =
        |wanted: Column| place(wanted).is_none_or(|place| rungs.iter().take(place).all(|rung| is_group(rung.column)));
    if place(Column::Scope) != Some(0) || !before(Column::Level) {
        let message = "policies are ranked by scope first, then by level";
        let at = document.get("rank").unwrap_or(document);
        found.push(
            Diagnostic::error(Fault::BrokenKind, message)
                .at_value(source, at, "expected `scope`, then perhaps `level`")
                .help("for example `rank: [scope, level, section, oldest, identity]`"),
        );
    }
    Ladder::new(rungs)
}

fn is_group(column: Column) -> bool {
    matches!(column, Column::Scope | Column::Level)
}

fn read_rung(
    source: SourceId,
    item: Value<'_>,
    symbols: &mut Symbols,
    found: &mut Diagnostics,
) -> Option<(Column, Best)> {
    if item.kind() != Kind::Text {
        return number_rungs(item, symbols).first().copied();
    }
    let known = RUNGS.iter().find(|(name, ..)| *name == item.text());
    if known.is_none() {
        let names = || RUNGS.iter().map(|(name, ..)| *name);
        let diagnostic = Diagnostic::error(Fault::BrokenKind, format!("there is no rung `{}`", item.text())).at_value(
            source,
            item,
            "unknown rung",
        );
        found.push(diagnostic.suggest_or(nearest(item.text(), names()), || {
            format!("rungs: {}", names().collect::<Vec<_>>().join(", "))
        }));
    }
    known.map(|(_, column, best)| (*column, *best))
}

/// `highest: priority`
fn number_rungs(item: Value<'_>, symbols: &mut Symbols) -> Vec<(Column, Best)> {
    let rung = |(word, field): (Value<'_>, Value<'_>)| {
        let best = if word.text() == "highest" { Best::Highest } else { Best::Lowest };
        (Column::Number(symbols.intern(field.text())), best)
    };
    item.entries().map(rung).collect()
}

/// What all of these documents begin with.
fn attached_to() -> [Field; 2] {
    let about = "what policies are attached to: gateways, listeners, routes and rules";
    [
        required("hierarchy", Shape::Choice(&["gateway"]), about),
        required("group", Shape::Name, "the API group of the policies"),
    ]
}

/// The fields of a document that names a profile.
fn profile_fields() -> Vec<Field> {
    let number_rungs = ["highest", "lowest"].map(|name| optional(name, Shape::Text, "a field of the policy's spec"));
    let [hierarchy, group] = attached_to();
    vec![
        hierarchy,
        group,
        required("profile", Shape::Choice(&profiles::NAMES), "whose rules apply"),
        optional(
            "strategies",
            list(Shape::Choice(&profiles::STRATEGIES)),
            "what policies may choose from; for the profile `gep-713`",
        ),
        optional("resolve", merge_strategy::strategy(), "how fields are merged, if not as in the profile"),
        optional(
            "rank",
            list(Shape::Object(number_rungs.to_vec())),
            "numbers that rank policies of one target before their age",
        ),
    ]
}

/// Reads the choices of a document that names a profile.
fn read_profile(document: Value<'_>, symbols: &mut Symbols) -> Arc<HierarchyKind> {
    let text = |name: &str| document.get(name).map_or("", Value::text);
    let offered = document.get("strategies").into_iter().flat_map(Value::items);
    let offered: Vec<_> = offered.filter_map(|strategy| profiles::MergeStrategy::named(strategy.text())).collect();
    let items = document.get("rank").into_iter().flat_map(Value::items);
    let numbers: Vec<(Column, Best)> = items.flat_map(|item| number_rungs(item, symbols)).collect();
    let name = text("profile");
    let mut profile = profiles::named(name, &offered);
    if let Some(resolve) = document.get("resolve") {
        profile.strategy = merge_strategy::read_strategy(Some(resolve));
    }
    let choice = |scope, places: &[&str]| PlaceChoice {
        scope,
        when: None,
        places: places.iter().map(|place| scopes::number(&PLACES, place)).collect(),
    };
    Arc::new(HierarchyKind {
        group: symbols.intern(text("group")),
        reads: symbols.intern(profile.reader()),
        profile: Some(symbols.intern(name)),
        rank: profile.ladder(&numbers),
        ends: profile.ends(),
        fold: HierarchyFold::Wholes(profile.rules()),
        levels: Levels::Places,
        scopes: scope_names(symbols),
        places: vec![
            choice(scopes::ROUTE, &["rule", "route"]),
            choice(scopes::GATEWAY, &["listener", "set", "gateway"]),
            choice(scopes::BACKEND, &["port", "backend"]),
        ],
        strategies: Vec::new(),
        unsaid: profile.unsaid(),
    })
}

/// What scopes are called; with them come the words for how levels meet.
fn scope_names(symbols: &mut Symbols) -> Vec<Sym> {
    for word in delegation::words() {
        symbols.intern(word);
    }
    SCOPES.map(|scope| symbols.intern(scope)).into()
}

fn items(value: Option<Value<'_>>) -> Vec<Value<'_>> {
    value.into_iter().flat_map(Value::items).collect()
}
