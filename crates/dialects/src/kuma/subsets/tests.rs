//! Listings by example: what they say, where they go wrong, and what they refuse.

mod laws;

use std::sync::Arc;

use upheld_engine::merge::Strategy;
use upheld_model::config::{Config, Content};

use super::*;

const GROUPINGS: [Grouping; 3] = [Grouping::Cliques, Grouping::Components, Grouping::Exact];

fn subset(tags: &[(&str, &str)]) -> Subset {
    let tag = |(key, value): &(&str, &str)| Tag { key: (*key).into(), value: (*value).into(), not: false };
    Subset { tags: tags.iter().map(tag).collect() }
}

fn client(tags: &[(&str, &str)]) -> Client {
    tags.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

/// Each of some keys with each of some values, one tag in a subset.
fn single_tags(keys: usize, values: usize) -> Vec<Subset> {
    let pairs = (0..keys).flat_map(|key| (0..values).map(move |value| (format!("k{key}"), format!("v{value}"))));
    pairs.map(|(key, value)| subset(&[(&key, &value)])).collect()
}

/// The whole mesh, and pairs of an application and a namespace.
fn mesh_and_pairs(pairs: usize) -> Vec<Subset> {
    let pair = |number| subset(&[("app", &format!("app-{number}")), ("ns", &format!("ns-{number}"))]);
    std::iter::once(Subset::default()).chain((0..pairs).map(pair)).collect()
}

fn listed(subsets: &[Subset], grouping: Grouping) -> Vec<Rule<()>> {
    rules(subsets, grouping, Negations::On, Limits::default(), |_| ()).unwrap()
}

fn refused(subsets: &[Subset], grouping: Grouping, limits: Limits) -> TooManyCells {
    rules(subsets, grouping, Negations::On, limits, |_| ()).unwrap_err()
}

/// Rules as short texts.
fn told(rules: &[Rule<()>]) -> Vec<String> {
    let tag = |tag: &Tag| format!("{}{}{}", tag.key, if tag.not { "≠" } else { "=" }, tag.value);
    let cell = |subset: &Subset| subset.tags.iter().map(tag).collect::<Vec<_>>().join(" ");
    rules.iter().map(|rule| format!("{}: {:?}", cell(&rule.subset), rule.items)).collect()
}

#[test]
fn cells_come_in_the_order_of_kuma() {
    let subsets = [subset(&[]), subset(&[("p", "1")]), subset(&[("p", "2"), ("q", "1")])];
    assert_eq!(
        told(&listed(&subsets, Grouping::Components)),
        [
            "p=1 q=1: [0, 1]",
            "p=2 q=1: [0, 2]",
            "p≠1 p≠2 q=1: [0]",
            "p=2 q≠1: [0]",
            "p=1 q≠1: [0, 1]",
            "p≠1 p≠2 q≠1: [0]",
        ]
    );
}

#[test]
fn groups_come_in_the_order_of_their_numbers_as_text_backwards() {
    let subsets: Vec<Subset> = (0..11).map(|value| subset(&[("p", &format!("{value:02}"))])).collect();
    let first: Vec<usize> = listed(&subsets, Grouping::Cliques).iter().map(|rule| rule.items[0]).collect();
    assert_eq!(first, [9, 8, 7, 6, 5, 4, 3, 2, 10, 1, 0]);
}

#[test]
fn without_negations_one_key_lists_each_subset_once() {
    let subsets = [subset(&[]), subset(&[("p", "2")]), subset(&[("p", "1")]), subset(&[("p", "2")]), subset(&[])];
    let rules = |subsets: &[Subset]| {
        rules(subsets, Grouping::Cliques, Negations::Off, Limits::default(), |_| ()).map(|rules| told(&rules)).unwrap()
    };
    assert_eq!(rules(&subsets), ["p=2: [0, 1, 3, 4]", "p=1: [0, 2, 4]", ": [0, 4]"]);
    let two_keys = [subset(&[("p", "1")]), subset(&[("q", "1")])];
    assert_eq!(rules(&two_keys), ["p=1 q=1: [0, 1]", "p≠1 q=1: [1]", "p=1 q≠1: [0]"]);
}

#[test]
fn each_distinct_list_of_items_is_resolved_once() {
    let mut asked = Vec::new();
    let resolve = |items: &[usize]| asked.push(items.to_vec());
    let rules = rules(&mesh_and_pairs(70), Grouping::Components, Negations::On, Limits::default(), resolve).unwrap();
    assert_eq!((rules.len(), asked.len()), (5041, 71));
    asked.sort();
    asked.dedup();
    assert_eq!(asked.len(), 71);
}

#[test]
fn folding_lets_the_last_item_win() {
    let conf = |action: &str| {
        let action = Config::made(Content::Text(action.into()));
        Config::made(Content::Map(vec![("action".into(), action)]))
    };
    let confs = [conf("Allow"), conf("Deny")];
    let subsets = [subset(&[]), subset(&[("p", "1")])];
    let strategy = Strategy::patch();
    let resolve = folding(&confs, &strategy);
    let rules = rules(&subsets, Grouping::Cliques, Negations::On, Limits::default(), resolve).unwrap();
    let found: Vec<Option<Arc<Config>>> = rules.into_iter().map(|rule| rule.conf).collect();
    assert_eq!(found, [Some(conf("Deny")), Some(conf("Allow"))]);
}

#[test]
fn sizes_of_listings_that_are_known() {
    let sizes = |subsets: &[Subset]| GROUPINGS.map(|grouping| listed(subsets, grouping).len());
    assert_eq!(sizes(&mesh_and_pairs(70)), [280, 5041, 5041]);
    assert_eq!(sizes(&single_tags(3, 5)), [875, 215, 215]);
    assert_eq!(sizes(&single_tags(5, 3)), [7533, 1023, 1023]);
    assert_eq!(sizes(&single_tags(12, 1)), [4095; 3]);
}

#[test]
fn cliques_let_a_cell_without_a_denial_overlap_the_denial() {
    let subsets = [subset(&[("p", "1")]), subset(&[("s", "1")]), subset(&[("s", "2")])];
    let both = client(&[("p", "1"), ("s", "1")]);
    let exact = exact_items(&subsets, &both);
    let misled = |grouping| cells_with(&listed(&subsets, grouping), &both).any(|rule| *rule.items != *exact);
    assert_eq!(GROUPINGS.map(misled), [true, false, false]);
}

#[test]
fn components_go_wrong_where_tags_of_one_occur_in_another() {
    let subsets = [
        // These two meet each other only …
        subset(&[("a", "1"), ("b", "1")]),
        subset(&[("a", "1"), ("b", "1"), ("z", "1")]),
        // … and these are connected, have both tags of the first, and nothing of z.
        subset(&[("a", "1"), ("b", "2"), ("e", "1"), ("f", "1")]),
        subset(&[("b", "2")]),
        subset(&[("a", "2")]),
        subset(&[("a", "2"), ("b", "1")]),
    ];
    let client = client(&[("a", "1"), ("b", "1"), ("e", "1"), ("f", "1"), ("z", "1")]);
    assert_eq!(exact_items(&subsets, &client), [0, 1]);
    let found = |grouping| lookup(&listed(&subsets, grouping), &client).unwrap().items.to_vec();
    assert_eq!(found(Grouping::Components), [0]);
    assert_eq!(found(Grouping::Exact), [0, 1]);
}

#[test]
fn a_client_without_tags_is_in_no_cell_but_that_of_everybody() {
    let nobody = Client::new();
    let subsets = [subset(&[]), subset(&[("p", "1")])];
    assert_eq!(exact_items(&subsets, &nobody), [0]);
    assert!(lookup(&listed(&subsets, Grouping::Exact), &nobody).is_none());
    assert!(lookup(&listed(&subsets[..1], Grouping::Exact), &nobody).is_some());
}

#[test]
fn no_items_have_no_rules() {
    for grouping in GROUPINGS {
        assert!(listed(&[], grouping).is_empty());
    }
}

#[test]
fn too_many_cells_are_refused() {
    for grouping in GROUPINGS {
        let cells = 1 << 40;
        assert_eq!(refused(&single_tags(40, 1), grouping, Limits::default()), TooManyCells { limit: 100_000, cells });
        // More than there are numbers.
        assert_eq!(refused(&single_tags(80, 3), grouping, Limits { cells: usize::MAX - 1 }).cells, usize::MAX);
    }
}

#[test]
fn too_many_groups_are_refused() {
    // 3 to the power of 40 cliques, with two to the power of 40 cells each: the first is one too many.
    assert_eq!(refused(&single_tags(40, 3), Grouping::Cliques, Limits::default()).cells, 1 << 40);
    // 3 to the power of 12 cliques, with 2 to the power of 12 cells each.
    let limit = 1 << 18;
    let expected = TooManyCells { limit, cells: limit + (1 << 12) };
    assert_eq!(refused(&single_tags(12, 3), Grouping::Cliques, Limits { cells: limit }), expected);
}

#[test]
fn too_many_items_in_too_many_cells_are_refused() {
    let subsets = [vec![Subset::default(); 1_000], single_tags(12, 1)].concat();
    for grouping in GROUPINGS {
        let expected = TooManyCells { limit: 10_000, cells: 4096 };
        assert_eq!(refused(&subsets, grouping, Limits { cells: 10_000 }), expected);
    }
}

#[test]
fn too_many_distinct_subsets_are_refused() {
    for grouping in GROUPINGS {
        assert_eq!(refused(&single_tags(1, 40_000), grouping, Limits::default()).limit, 100_000);
    }
}
