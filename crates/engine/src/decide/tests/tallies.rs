//! Votes that are counted in the order of evaluation, and what may be forgotten then.

use proptest::prelude::*;

use super::world::{algorithm, unknowns};
use crate::EntryId;
use crate::decide::*;

fn votes() -> impl Strategy<Value = Vec<Vote>> {
    let truth = prop::sample::select(vec![Truth::True, Truth::False, Truth::Error]);
    let effect = prop::sample::select(vec![Effect::Permit, Effect::Deny, Effect::Foreign]);
    let one = (effect, truth.clone(), truth, 0..3_i32, any::<bool>());
    prop::collection::vec(one, 0..7).prop_map(|all| {
        let mut all = all;
        // The highest priority comes first.
        all.sort_by_key(|(.., priority, _)| -*priority);
        let vote =
            |(place, (effect, target, conditions, priority, either)): (usize, (Effect, Truth, Truth, i32, bool))| {
                let value = Value::of(effect, target.and(conditions));
                let value = match value {
                    Value::Unknown(_) if either => Value::Unknown(PossibleEffect::Either),
                    value => value,
                };
                let (order, rank) = (u32::try_from(place).unwrap(), Rank::of(f64::from(priority)));
                Vote { order, rank, target, value, by: Some(EntryId::new(place)) }
            };
        all.into_iter().enumerate().map(vote).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, ..ProptestConfig::default() })]

    #[test]
    fn what_is_forgotten_does_not_matter(votes in votes(), algorithm in algorithm(), unknowns in unknowns()) {
        let (mut all, mut some) = (Tally::default(), Tally::default());
        for vote in votes {
            all.add(vote);
            some.add_next(vote, algorithm, unknowns);
            let (all, some) = (all.combine(algorithm, unknowns), some.combine(algorithm, unknowns));
            prop_assert_eq!(all.value, some.value);
            if all.value.effect().is_some() {
                prop_assert_eq!(all.by, some.by);
            }
        }
    }
}
