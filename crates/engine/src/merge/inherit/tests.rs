//! Acts in all mixtures, against the definition on values.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::strategy::Strategy;
use smol_str::SmolStr;

use super::{Config, Content, Extent, Inherited, Loss, Merged, Side, Stance, Stanza, inherit};

const WHOLE_DEFAULTS: Stance = Stance { side: Side::Defaults, extent: Extent::Whole };
const WHOLE_OVERRIDES: Stance = Stance { side: Side::Overrides, extent: Extent::Whole };
const FIELD_DEFAULTS: Stance = Stance { side: Side::Defaults, extent: Extent::Fields };
const FIELD_OVERRIDES: Stance = Stance { side: Side::Overrides, extent: Extent::Fields };

fn stanza(by: usize, stance: Stance, fields: &[(&str, &str)]) -> Stanza {
    let text = |value: &str| Config::made(Content::Text(value.into()));
    let entries = fields.iter().map(|(key, value)| (SmolStr::new(key), text(value))).collect();
    Stanza { by, config: Config::made(Content::Map(entries)), stance }
}

fn shown(inherited: &Inherited) -> Vec<(String, usize)> {
    let leaves = inherited.merged.iter().flat_map(Merged::leaves);
    let mut shown: Vec<_> = leaves.filter(|leaf| leaf.value.is_some()).map(|leaf| (leaf.path, leaf.by)).collect();
    shown.sort();
    shown
}

fn inherited(stanzas: &[Stanza]) -> Inherited {
    inherit(&crate::merge::Strategy::patch(), stanzas)
}

#[test]
fn overrides_survive_levels_of_defaults() {
    let path = [
        stanza(0, WHOLE_OVERRIDES, &[("a", "0")]),
        stanza(1, WHOLE_DEFAULTS, &[("a", "1")]),
        stanza(2, WHOLE_DEFAULTS, &[("a", "2")]),
    ];
    let inherited = inherited(&path);
    assert_eq!(shown(&inherited), [("a".to_owned(), 0)]);
    assert_eq!(inherited.losses(), [Loss { by: 1, under: vec![2] }, Loss { by: 2, under: vec![0] }]);
}

#[test]
fn who_says_nothing_wins_nothing() {
    let path = [stanza(0, WHOLE_DEFAULTS, &[("a", "0")]), stanza(1, WHOLE_OVERRIDES, &[])];
    assert_eq!(shown(&inherited(&path)), [("a".to_owned(), 0)]);
}

#[test]
fn one_at_two_places_counts_where_it_wins() {
    let path = [
        stanza(0, FIELD_DEFAULTS, &[("a", "0")]),
        stanza(1, FIELD_DEFAULTS, &[("a", "1")]),
        stanza(0, FIELD_DEFAULTS, &[("a", "0")]),
    ];
    let inherited = inherited(&path);
    assert_eq!(shown(&inherited), [("a".to_owned(), 0)]);
    assert_eq!(inherited.losses(), [Loss { by: 1, under: vec![0] }]);
}

fn some_path() -> impl Strategy<Value = Vec<Stanza>> {
    let stance = prop::sample::select(vec![WHOLE_DEFAULTS, WHOLE_OVERRIDES, FIELD_DEFAULTS, FIELD_OVERRIDES]);
    let fields = prop::collection::btree_map(prop::sample::select(vec!["a", "b", "c"]), Just("value"), 0..4);
    prop::collection::vec((stance, fields), 0..6).prop_map(|stanzas| {
        let numbered = stanzas.into_iter().enumerate();
        numbered.map(|(by, (stance, fields))| stanza(by, stance, &Vec::from_iter(fields))).collect()
    })
}

/// The definition: f(outer, f(inner, …)), on maps from fields to whoever sets them.
fn defined(path: &[Stanza]) -> BTreeMap<String, usize> {
    let Some((outer, inner)) = path.split_first() else { return BTreeMap::default() };
    let mine = outer.config.entries().iter().map(|(key, _)| (key.to_string(), outer.by)).collect();
    let inner = defined(inner);
    match (outer.stance.extent, outer.stance.side) {
        (Extent::Whole, Side::Overrides) if outer.config.entries().is_empty() => inner,
        (Extent::Whole, Side::Overrides) => mine,
        (Extent::Whole, Side::Defaults) => {
            if inner.is_empty() {
                mine
            } else {
                inner
            }
        }
        (Extent::Fields, Side::Overrides) => inner.into_iter().chain(mine).collect(),
        (Extent::Fields, Side::Defaults) => mine.into_iter().chain(inner).collect(),
    }
}

proptest! {
    #[test]
    fn the_order_of_winning_is_the_fold_from_inside(path in some_path()) {
        prop_assert_eq!(shown(&inherited(&path)), Vec::from_iter(defined(&path)));
    }

    #[test]
    fn removing_who_has_no_part_changes_nothing(path in some_path()) {
        let all = inherited(&path);
        for by in 0..path.len() {
            // A stanza without a word in the result may still hide others as a whole.
            let hides = all.hidden.iter().any(|hidden| hidden.under.contains(&by));
            if !all.origins().contains(&by) && !hides {
                let less: Vec<Stanza> = path.iter().filter(|stanza| stanza.by != by).cloned().collect();
                prop_assert_eq!(shown(&inherited(&less)), shown(&all));
            }
        }
    }
}
