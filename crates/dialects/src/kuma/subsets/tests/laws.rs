//! A listing equals the reference; the exact grouping equals the meaning; limits hold.

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;

use super::super::{Client, Grouping, Limits, Negations, Subset, Tag, cells_with, exact_items, reference, rules};
use super::{GROUPINGS, client, listed, subset};

const KEYS: [&str; 4] = ["app", "env", "team", "zone"];
const VALUES: [&str; 3] = ["one", "two", "three"];

fn key() -> impl Strategy<Value = &'static str> {
    prop::sample::select(KEYS.to_vec())
}

fn value() -> impl Strategy<Value = &'static str> {
    prop::sample::select(VALUES.to_vec())
}

/// As items of Kuma are: no key twice, nothing negated.
fn plain() -> impl Strategy<Value = Subset> {
    btree_map(key(), value(), 0..=3).prop_map(|tags| subset(&tags.into_iter().collect::<Vec<_>>()))
}

/// As items could be: keys may come twice, contradict each other, and be negated.
fn odd() -> impl Strategy<Value = Subset> {
    let tag = (key(), value(), prop::bool::weighted(0.3));
    let tag = tag.prop_map(|(key, value, not)| Tag { key: key.into(), value: value.into(), not });
    vec(tag, 0..=3).prop_map(|tags| Subset { tags })
}

fn somebody() -> impl Strategy<Value = Client> {
    let tags = btree_map(key(), prop_oneof![3 => value(), 1 => Just("other")], 1..=4);
    tags.prop_map(|tags| client(&tags.into_iter().collect::<Vec<_>>()))
}

fn grouping() -> impl Strategy<Value = Grouping> {
    prop::sample::select(GROUPINGS.to_vec())
}

fn negations() -> impl Strategy<Value = Negations> {
    prop_oneof![Just(Negations::On), Just(Negations::Off)]
}

/// Cells with their items, in order. What was resolved must be what is listed.
fn found(subsets: &[Subset], grouping: Grouping, negations: Negations) -> Vec<(Subset, Vec<usize>)> {
    let rules = rules(subsets, grouping, negations, Limits::default(), <[usize]>::to_vec).unwrap();
    assert!(rules.iter().all(|rule| *rule.items == *rule.conf));
    rules.into_iter().map(|rule| (rule.subset, rule.conf)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_listing_equals_the_reference(
        subsets in vec(plain(), 0..10), grouping in grouping(), negations in negations(),
    ) {
        prop_assert_eq!(found(&subsets, grouping, negations), reference::rules(&subsets, grouping, negations));
    }

    #[test]
    fn a_listing_equals_the_reference_for_odd_items(subsets in vec(odd(), 0..8), negations in negations()) {
        for grouping in [Grouping::Cliques, Grouping::Components] {
            prop_assert_eq!(found(&subsets, grouping, negations), reference::rules(&subsets, grouping, negations));
        }
    }

    #[test]
    fn a_listing_equals_the_reference_for_one_key(
        subsets in vec(odd(), 0..8), grouping in grouping(), negations in negations(),
    ) {
        let one_key = |tag: Tag| Tag { key: "app".into(), ..tag };
        let one_key = |subset: Subset| Subset { tags: subset.tags.into_iter().map(one_key).collect() };
        let subsets: Vec<Subset> = subsets.into_iter().map(one_key).collect();
        if grouping != Grouping::Exact || negations == Negations::Off {
            prop_assert_eq!(found(&subsets, grouping, negations), reference::rules(&subsets, grouping, negations));
        }
    }

    #[test]
    fn an_exact_listing_has_a_client_once_and_as_the_items_mean_it(
        subsets in vec(plain(), 0..14), clients in vec(somebody(), 1..8),
    ) {
        let rules = listed(&subsets, Grouping::Exact);
        for client in clients {
            let found: Vec<Vec<usize>> = cells_with(&rules, &client).map(|rule| rule.items.to_vec()).collect();
            let exact = exact_items(&subsets, &client);
            let expected = if exact.is_empty() { vec![] } else { vec![exact] };
            prop_assert_eq!(found, expected, "{:?}", client);
        }
    }

    #[test]
    fn a_listing_is_refused_exactly_if_it_has_more_cells_than_the_limit(
        subsets in vec(plain(), 0..10), grouping in grouping(), limit in 0_usize..400,
    ) {
        let cells = reference::cell_count(&subsets, grouping);
        let result = rules(&subsets, grouping, Negations::On, Limits { cells: limit }, |_| ());
        prop_assert_eq!(result.is_err(), cells > limit);
        if let Err(refused) = result {
            prop_assert!(refused.limit == limit && refused.cells > limit && refused.cells <= cells, "{:?}", refused);
        }
    }
}
