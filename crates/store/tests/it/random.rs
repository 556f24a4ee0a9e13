//! Random histories, compared with those of the naive store in memory.

use std::collections::BTreeMap;

use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use upheld_store::{Batch, Change, Entry, Memory, Revision, Store};

use crate::homes::Home;
use crate::support::{at, batch, delete, named, put, run};

/// How many histories are tried.
const CASES: u32 = 32;

/// Something that is done to a store.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Append {
        /// How far behind its author is.
        behind: u64,
        changes: Vec<Change>,
        name: Option<(u8, u8)>,
        /// How much later than the one before.
        minutes: i64,
    },
    /// Up to how many percent of the revisions.
    Compact(u64),
}

/// Any history.
pub(crate) fn steps() -> impl Strategy<Value = Vec<Step>> {
    vec(step(), 0..20)
}

fn step() -> impl Strategy<Value = Step> {
    let behind = prop_oneof![6 => Just(0), 1 => 1..3_u64];
    let name = option::weighted(0.3, (0..3_u8, prop_oneof![4 => Just(0_u8), 1 => Just(1)]));
    let append = (behind, changes(), name, 0..1_000_i64).prop_map(|(behind, changes, name, minutes)| Step::Append {
        behind,
        changes,
        name,
        minutes,
    });
    prop_oneof![9 => append, 1 => (0..110_u64).prop_map(Step::Compact)]
}

/// One change for each of a few documents, in any order.
fn changes() -> impl Strategy<Value = Vec<Change>> {
    let change = |(name, text): (u8, Option<u8>)| match text {
        Some(text) => put(&name.to_string(), &text.to_string()),
        None => delete(&name.to_string()),
    };
    let changes = move |texts: BTreeMap<_, _>| texts.into_iter().map(change).collect::<Vec<_>>();
    btree_map(0..6_u8, option::weighted(0.7, 0..3_u8), 0..4).prop_map(changes).prop_shuffle()
}

pub(crate) fn histories_equal_the_naive_ones(home: &Home) {
    let config = Config { cases: CASES, failure_persistence: None, max_shrink_iters: 100, ..Config::default() };
    let tried = TestRunner::new(config).run(&steps(), |steps| {
        run(compared(home, &steps));
        Ok(())
    });
    if let Err(error) = tried {
        panic!("{error}");
    }
}

async fn compared(home: &Home, steps: &[Step]) {
    let (naive, store) = (Memory::new(), home.empty().await);
    let (expected, found) = (take(&naive, steps).await, take(&*store, steps).await);
    assert_eq!(found, expected);
    compare(&naive, &*store).await;
}

/// What a store answers to each step.
pub(crate) async fn take(store: &dyn Store, steps: &[Step]) -> Vec<String> {
    let (mut answers, mut time) = (Vec::new(), 0);
    for step in steps {
        let last = store.head().await.unwrap().revision.0;
        answers.push(match step {
            Step::Append { behind, changes, name, minutes } => {
                time += minutes;
                let asked = Batch { time: at(time), ..batch(last.saturating_sub(*behind), changes.clone()) };
                let asked = match name {
                    Some((name, request)) => named(asked, &name.to_string(), &request.to_string()),
                    None => asked,
                };
                format!("{:?}", store.append(asked).await)
            }
            Step::Compact(percent) => format!("{:?}", store.compact(Revision(last * percent / 100)).await),
        });
    }
    answers
}

/// Both stores know the same.
pub(crate) async fn compare(naive: &dyn Store, store: &dyn Store) {
    assert_eq!(store.head().await.unwrap(), naive.head().await.unwrap());
    compare_but_chains(naive, store, |entry| entry).await;
}

/// Both stores know the same of what `seen` leaves of entries.
pub(crate) async fn compare_but_chains(naive: &dyn Store, store: &dyn Store, seen: impl Fn(Entry) -> Entry) {
    let head = naive.head().await.unwrap();
    assert_eq!(store.head().await.unwrap().digest, head.digest);
    assert_eq!(store.state(None).await.unwrap(), naive.state(None).await.unwrap());
    for revision in (0..=head.revision.0 + 1).map(Revision) {
        let [expected, found] = [naive.state(Some(revision)).await, store.state(Some(revision)).await];
        assert_eq!(format!("{found:?}"), format!("{expected:?}"));
        if let Ok(state) = found {
            assert_eq!(state.digest(), state.recount());
            let digests = [naive.digest(revision).await, store.digest(revision).await];
            assert_eq!(digests.map(Result::unwrap), [state.digest(); 2]);
        }
        for limit in [1, 3, 100] {
            let both = [naive.entries(revision, limit).await, store.entries(revision, limit).await];
            let [expected, found] =
                both.map(|entries| entries.map(|all| all.into_iter().map(&seen).collect::<Vec<_>>()));
            assert_eq!(format!("{found:?}"), format!("{expected:?}"));
            for keys in [0, 2, usize::MAX] {
                let summary = |all: &Vec<Entry>| all.iter().map(|entry| entry.summary(keys)).collect::<Vec<_>>();
                let wanted = format!("{:?}", expected.as_ref().map(summary));
                for store in [naive, store] {
                    assert_eq!(format!("{:?}", store.summaries(revision, limit, keys).await), wanted);
                }
            }
        }
    }
}
