//! Ranks: what counts first, and that sums of sides keep the order.

use proptest::prelude::*;

use super::super::rank::{Column, Layout, Specificity};
use crate::ladder::{Best, Ladder, Rung};

fn layout(rungs: &[(Column, Best)]) -> Layout {
    let rungs = rungs.iter().map(|(column, best)| Rung { column: *column, best: *best }).collect();
    Layout::new(&Ladder::new(rungs), 100, &[0, 0]).expect("one entry fits")
}

fn specificity() -> impl Strategy<Value = Specificity> {
    (0_u16..50, 0_u16..50).prop_map(|(exact, wild)| Specificity { exact, wild })
}

proptest! {
    #[test]
    fn the_sum_of_both_sides_is_the_whole(source in specificity(), destination in specificity()) {
        let layout = layout(&[(Column::Tags, Best::Highest), (Column::WildTags, Best::Lowest)]);
        let sides = layout.pack_side(source) + layout.pack_side(destination);
        prop_assert_eq!(sides, layout.pack(source.plus(destination)));
    }

    #[test]
    fn tags_count_before_exact_values(a in specificity(), b in specificity()) {
        let layout = layout(&[(Column::Tags, Best::Highest), (Column::ExactTags, Best::Highest)]);
        let expected = (a.tags(), a.exact).cmp(&(b.tags(), b.exact));
        prop_assert_eq!(layout.pack(a).cmp(&layout.pack(b)), expected);
    }
}

#[test]
fn a_rank_that_needs_too_many_bits_is_refused() {
    let rungs = vec![Rung { column: Column::Tags, best: Best::Highest }];
    assert!(Layout::new(&Ladder::new(rungs.clone()), u64::MAX / 4, &[3]).is_err());
    assert!(Layout::new(&Ladder::new(rungs), 4, &[1 << 60]).is_err());
}

#[test]
fn a_rung_of_the_entry_may_stand_before_one_of_the_match() {
    // The higher number beats any number of tags.
    let field = upheld_model::Symbols::default().intern("priority");
    let rungs = vec![
        Rung { column: Column::Number(field), best: Best::Highest },
        Rung { column: Column::Tags, best: Best::Highest },
    ];
    let layout = Layout::new(&Ladder::new(rungs), 10, &[1, 1]).expect("two entries fit");
    let [low, high] = [[1, 0], [0, 1]].map(|numbers| layout.pack_fixed(numbers.into_iter()));
    let many = layout.pack(Specificity { exact: 20, wild: 0 });
    assert!(high > low + many);
}
