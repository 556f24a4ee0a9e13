//! Random histories, compared with those of the naive store in memory.

use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, TestRunner};
use upheld_store::{Batch, Change, Memory, Revision, Store};

use crate::homes::Home;
use crate::support::{at, batch, delete, named, put};

/// How many histories are tried.
const CASES: usize = 24;

/// Something that is done to a store.
#[derive(Clone, Debug)]
enum Step {
    Append {
        /// How far behind its author is.
        behind: u64,
        changes: Vec<Change>,
        name: Option<(u8, u8)>,
        minutes: i64,
    },
    /// Up to how many percent of the revisions.
    Compact(u64),
}

fn step() -> impl Strategy<Value = Step> {
    let changes = btree_map(0..6_u8, option::weighted(0.7, 0..3_u8), 0..4).prop_shuffle_values();
    let behind = prop_oneof![6 => Just(0), 1 => 1..3_u64];
    let name = option::weighted(0.3, (0..3_u8, prop_oneof![4 => Just(0_u8), 1 => Just(1)]));
    let append = (behind, changes, name, 0..1_000_i64).prop_map(|(behind, changes, name, minutes)| Step::Append {
        behind,
        changes,
        name,
        minutes,
    });
    prop_oneof![9 => append, 1 => (0..110_u64).prop_map(Step::Compact)]
}

/// Documents by number, in any order.
trait Shuffled {
    fn prop_shuffle_values(self) -> BoxedStrategy<Vec<Change>>;
}

impl<S: Strategy<Value = std::collections::BTreeMap<u8, Option<u8>>> + 'static> Shuffled for S {
    fn prop_shuffle_values(self) -> BoxedStrategy<Vec<Change>> {
        let change = |(name, text): (u8, Option<u8>)| match text {
            Some(text) => put(&name.to_string(), &text.to_string()),
            None => delete(&name.to_string()),
        };
        self.prop_map(move |map| map.into_iter().map(change).collect::<Vec<_>>()).prop_shuffle().boxed()
    }
}

pub(crate) async fn histories_equal_the_naive_ones(home: &Home) {
    let mut runner = TestRunner::new(Config::default());
    for _ in 0..CASES {
        let steps = vec(step(), 0..20).new_tree(&mut runner).unwrap().current();
        println!("{steps:?}");
        let (naive, store) = (Memory::new(), home.empty().await);
        let mut time = 0;
        for step in &steps {
            let [expected, found] = [&naive as &dyn Store, &*store].map(|store| take(store, step, time));
            assert_eq!(found.await, expected.await, "{step:?}");
            if let Step::Append { minutes, .. } = step {
                time += minutes;
            }
        }
        compare(&naive, &*store).await;
    }
}

/// What a store answers.
async fn take(store: &dyn Store, step: &Step, time: i64) -> String {
    let last = store.head().await.unwrap().revision.0;
    match step {
        Step::Append { behind, changes, name, minutes } => {
            let asked = Batch { time: at(time + minutes), ..batch(last.saturating_sub(*behind), changes.clone()) };
            let asked = match name {
                Some((name, request)) => named(asked, &name.to_string(), &request.to_string()),
                None => asked,
            };
            format!("{:?}", store.append(asked).await)
        }
        Step::Compact(percent) => format!("{:?}", store.compact(Revision(last * percent / 100)).await),
    }
}

async fn compare(naive: &dyn Store, store: &dyn Store) {
    let head = naive.head().await.unwrap();
    assert_eq!(store.head().await.unwrap(), head);
    assert_eq!(store.state(None).await.unwrap(), naive.state(None).await.unwrap());
    for revision in (0..=head.revision.0 + 1).map(Revision) {
        let [expected, found] = [naive.state(Some(revision)).await, store.state(Some(revision)).await];
        assert_eq!(format!("{found:?}"), format!("{expected:?}"));
        if let Ok(state) = found {
            assert_eq!(state.digest(), state.recount());
        }
        for limit in [1, 3, 100] {
            let [expected, found] = [naive.entries(revision, limit).await, store.entries(revision, limit).await];
            assert_eq!(format!("{found:?}"), format!("{expected:?}"));
        }
    }
}
