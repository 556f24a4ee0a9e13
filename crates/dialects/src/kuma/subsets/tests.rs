//! The meaning of items against the two listings.

use upheld_engine::merge::Strategy;
use upheld_model::config::{Config, Content};

use super::*;

fn subset(tags: &[(&str, &str)]) -> Subset {
    let tag = |(key, value): &(&str, &str)| Tag { key: (*key).to_owned(), value: (*value).to_owned(), not: false };
    Subset { tags: tags.iter().map(tag).collect() }
}

fn item(tags: &[(&str, &str)], action: &str) -> Item {
    let action = Config::made(Content::Text(action.into()));
    Item { subset: subset(tags), conf: Config::made(Content::Map(vec![("action".into(), action)])) }
}

fn client(tags: &[(&str, &str)]) -> Client {
    tags.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

#[test]
fn listing_by_components_agrees_with_the_items_for_every_client() {
    let values = ["", "1", "2"];
    let items = [
        item(&[("p", "1")], "Allow"),
        item(&[("s", "1")], "Deny"),
        item(&[("s", "2"), ("p", "1")], "Allow"),
        item(&[("q", "2")], "Deny"),
        item(&[], "Log"),
    ];
    let listed = rules(&items, Grouping::Components, &Strategy::patch()).unwrap();
    for p in values {
        for q in values {
            for s in values {
                let tags: Vec<_> =
                    [("p", p), ("q", q), ("s", s)].into_iter().filter(|(_, value)| !value.is_empty()).collect();
                let client = client(&tags);
                let meant = items.iter().rev().find(|item| item.speaks_about(&client)).map(|item| item.conf.clone());
                // A client without tags is in no cell but that of everybody.
                if !client.is_empty() {
                    assert_eq!(lookup(&listed, &client).and_then(|rule| rule.conf.clone()), meant, "{client:?}");
                }
            }
        }
    }
}

#[test]
fn listing_by_cliques_lets_an_allowing_cell_overlap_a_denial() {
    let items = [item(&[("p", "1")], "Allow"), item(&[("s", "1")], "Deny"), item(&[("s", "2")], "Deny")];
    let allowed = |grouping| {
        let rules = rules(&items, grouping, &Strategy::patch()).unwrap();
        let both = client(&[("p", "1"), ("s", "1")]);
        rules.iter().any(|rule| rule.subset.has(&both) && rule.conf == Some(items[0].conf.clone()))
    };
    assert!(allowed(Grouping::Cliques), "as Kuma 2.14 lists it");
    assert!(!allowed(Grouping::Components), "the items deny it");
}

#[test]
fn too_many_cells_are_refused() {
    let items: Vec<Item> = (0..20).map(|key| item(&[(&format!("k{key}"), "v")], "Allow")).collect();
    assert_eq!(rules(&items, Grouping::Components, &Strategy::patch()).unwrap_err(), TooManyCells { limit: 100_000 });
}
