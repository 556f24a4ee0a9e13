//! What holds for every store.

use std::collections::BTreeSet;
use std::sync::Arc;

use upheld_store::{Appended, Chain, Change, Head, Retention, Revision, Store, StoreError};

use crate::homes::Home;
use crate::random;
use crate::support::{at, batch, delete, fill, log, named, put, run, shown, until};

#[test]
fn memory_keeps_the_laws() {
    hold(&Home::Memory);
}

#[test]
fn sqlite_keeps_the_laws() {
    hold(&Home::sqlite());
}

#[test]
fn postgres_keeps_the_laws() {
    if let Some(home) = Home::postgres() {
        hold(&home);
    }
}

fn hold(home: &Home) {
    run(all(home));
    random::histories_equal_the_naive_ones(home);
}

async fn all(home: &Home) {
    an_empty_store_is_at_zero(&*home.empty().await).await;
    documents_keep_their_place_until_they_are_gone(&*home.empty().await).await;
    everything_about_an_entry_is_kept(&*home.empty().await).await;
    a_stale_batch_changes_nothing(&*home.empty().await).await;
    the_same_request_happens_once(&*home.empty().await).await;
    a_request_that_changed_nothing_is_remembered(&*home.empty().await).await;
    a_batch_that_cannot_be_kept_is_refused(&*home.empty().await).await;
    compaction_forgets_the_past_only(&*home.empty().await).await;
    compaction_forgets_old_names_of_requests(&*home.empty().await).await;
    retention_compacts_as_far_as_it_may(&*home.empty().await).await;
    large_batches_are_kept(&*home.empty().await).await;
    followers_hear_of_it(&*home.empty().await).await;
    what_is_acknowledged_to_many_is_there_once(home.empty().await.into()).await;
}

/// S11: what changed nothing once changes nothing when it is asked again, whatever happened meanwhile.
async fn a_request_that_changed_nothing_is_remembered(store: &dyn Store) {
    fill(store, vec![vec![put("a", "1")]]).await;
    let asked = named(batch(1, vec![put("a", "1")]), "again", "same");
    let key = asked.idempotency.clone().unwrap();
    assert_eq!(store.remember(key.clone(), Some(Revision(1)), at(1)).await.unwrap(), Revision(1));
    fill(store, vec![vec![put("a", "2")]]).await;
    assert_eq!(store.remembered(&key).await.unwrap(), Some(Revision(1)));
    assert_eq!(store.remember(key.clone(), Some(Revision(2)), at(2)).await.unwrap(), Revision(1));
    let appended = store.append(named(batch(2, vec![put("a", "1")]), "again", "same")).await.unwrap();
    assert!(matches!(appended, Appended::Before(Revision(1))));
    let other = named(batch(2, Vec::new()), "again", "another").idempotency.unwrap();
    assert!(matches!(store.remember(other, None, at(3)).await, Err(StoreError::KeyReused(_))));
    let late = named(batch(2, Vec::new()), "late", "late").idempotency.unwrap();
    let behind = store.remember(late.clone(), Some(Revision(1)), at(4)).await;
    assert!(
        matches!(behind, Err(StoreError::Conflict(Revision(2)))),
        "what was judged by an older revision is judged again"
    );
    assert_eq!(store.remembered(&late).await.unwrap(), None);
    assert_eq!(store.head().await.unwrap().revision, Revision(2));
}

async fn an_empty_store_is_at_zero(store: &dyn Store) {
    assert_eq!(store.head().await.unwrap(), Head::default());
    assert!(store.state(None).await.unwrap().is_empty());
    assert!(store.state(Some(Revision::ZERO)).await.unwrap().is_empty());
    assert!(store.entries(Revision::ZERO, 10).await.unwrap().is_empty());
    let future = store.state(Some(Revision(1))).await;
    assert!(matches!(future, Err(StoreError::Future { asked: Revision(1), last: Revision(0) })));
    let far = store.state(Some(Revision(u64::MAX))).await;
    assert!(matches!(far, Err(StoreError::Future { .. })));
    assert!(store.entries(Revision(u64::MAX), 1).await.unwrap().is_empty());
    store.compact(Revision::ZERO).await.unwrap();
}

async fn documents_keep_their_place_until_they_are_gone(store: &dyn Store) {
    let batches = vec![
        vec![put("a", "1"), put("b", "1"), put("c", "1")],
        vec![put("a", "2"), delete("b"), delete("nobody")],
        vec![put("b", "3"), put("d", "3")],
        vec![],
        vec![put("c", "5"), put("b", "5")],
    ];
    fill(store, batches).await;
    let mut states = Vec::new();
    for revision in 0..=5 {
        let state = store.state(Some(Revision(revision))).await.unwrap();
        assert_eq!(state.digest(), state.recount());
        states.push(shown(&state));
    }
    let expected = ["", "a=1@1 b=1@1 c=1@1", "a=2@2 c=1@1", "a=2@2 c=1@1 b=3@3 d=3@3", "a=2@2 c=1@1 b=3@3 d=3@3"];
    assert_eq!(states[..5], expected);
    assert_eq!(states[5], "a=2@2 c=5@5 b=5@5 d=3@3");
    assert_eq!(shown(&store.state(None).await.unwrap()), states[5]);
}

async fn everything_about_an_entry_is_kept(store: &dyn Store) {
    let changes = vec![put("b", "{\"emoji\":\"🦀\",\"quote\":\"'\"}"), delete("z"), put("a", "")];
    let mut asked = batch(0, changes.clone());
    asked.message = Some("because of 'this' and \"that\"\n".to_owned());
    asked.time = "2026-03-04T05:06:07.123456789Z".parse().unwrap();
    let appended = store.append(asked.clone()).await.unwrap();
    fill(store, vec![vec![put("a", "2")]]).await;
    let entries = log(store).await;
    let [first, second] = &entries[..] else { panic!("{entries:?}") };
    assert_eq!(appended, Appended::Now(Revision(1), first.digest));
    assert_eq!((first.time, &first.actor, &first.message), (asked.time, &asked.actor, &asked.message));
    assert_eq!(first.changes, changes);
    assert_eq!((second.revision, &second.message), (Revision(2), &None));
    let head = store.head().await.unwrap();
    let (oldest, oldest_chain) = (Revision::ZERO, Chain::START);
    assert_eq!(head, Head { revision: Revision(2), digest: second.digest, chain: second.chain, oldest, oldest_chain });
    assert_eq!(store.entries(Revision(1), 5).await.unwrap(), std::slice::from_ref(second));
    assert_eq!(store.entries(Revision(0), 1).await.unwrap(), std::slice::from_ref(first));
    assert!(store.entries(Revision(0), 0).await.unwrap().is_empty());
}

async fn a_stale_batch_changes_nothing(store: &dyn Store) {
    fill(store, vec![vec![put("a", "1")], vec![put("a", "2")]]).await;
    let before = store.head().await.unwrap();
    for after in [0, 1, 3, u64::MAX] {
        let answer = store.append(named(batch(after, vec![put("b", "1")]), "name", "request")).await;
        assert!(matches!(answer, Err(StoreError::Conflict(Revision(2)))), "{answer:?}");
    }
    assert_eq!(store.head().await.unwrap(), before);
    assert_eq!(log(store).await.len(), 2);
    let again = store.append(named(batch(2, vec![put("b", "1")]), "name", "request")).await.unwrap();
    assert!(matches!(again, Appended::Now(Revision(3), _)), "the name is not taken by what did not happen");
}

async fn the_same_request_happens_once(store: &dyn Store) {
    let asked = named(batch(0, vec![put("a", "1")]), "name", "request");
    let key = asked.idempotency.clone().unwrap();
    assert_eq!(store.remembered(&key).await.unwrap(), None);
    assert!(matches!(store.append(asked.clone()).await.unwrap(), Appended::Now(Revision(1), _)));
    fill(store, vec![vec![put("a", "2")]]).await;
    assert_eq!(store.append(asked.clone()).await.unwrap(), Appended::Before(Revision(1)));
    store.compact(Revision(2)).await.unwrap();
    assert_eq!(store.append(asked).await.unwrap(), Appended::Before(Revision(1)), "also after a compaction");
    assert_eq!(store.remembered(&key).await.unwrap(), Some(Revision(1)));
    let other = named(batch(2, vec![]), "name", "other");
    let asked = store.remembered(other.idempotency.as_ref().unwrap()).await.map(drop);
    for answer in [asked, store.append(other).await.map(drop)] {
        assert!(matches!(answer, Err(StoreError::KeyReused(name)) if name == "name"));
    }
    assert_eq!(shown(&store.state(None).await.unwrap()), "a=2@2");
}

async fn a_batch_that_cannot_be_kept_is_refused(store: &dyn Store) {
    let zero = "a\0b";
    let mut actor = batch(0, vec![]);
    actor.actor = zero.to_owned();
    let mut message = batch(0, vec![]);
    message.message = Some(zero.to_owned());
    let batches = [
        batch(0, vec![put("a", "1"), delete("a")]),
        batch(0, vec![put("a", zero)]),
        batch(0, vec![put(zero, "1")]),
        named(batch(0, vec![]), zero, ""),
        actor,
        message,
    ];
    for batch in batches {
        let answer = store.append(batch).await;
        assert!(matches!(answer, Err(StoreError::Refused(_))), "{answer:?}");
    }
    assert_eq!(store.head().await.unwrap(), Head::default());
}

async fn compaction_forgets_the_past_only(store: &dyn Store) {
    let batches = vec![
        vec![put("a", "1"), put("b", "1"), put("c", "1")],
        vec![delete("a"), put("b", "2")],
        vec![delete("c"), put("d", "3")],
        vec![put("a", "4"), put("b", "4"), delete("d")],
    ];
    fill(store, batches).await;
    let (entries, third, last) =
        (log(store).await, store.state(Some(Revision(3))).await.unwrap(), store.state(None).await.unwrap());
    for _ in 0..2 {
        store.compact(Revision(3)).await.unwrap();
        assert_eq!(store.head().await.unwrap().oldest, Revision(3));
        assert_eq!(store.state(Some(Revision(3))).await.unwrap(), third);
        assert_eq!(store.state(None).await.unwrap(), last);
        assert_eq!(log(store).await, entries[3..]);
    }
    let compacted = [
        store.state(Some(Revision(2))).await.map(drop),
        store.entries(Revision(2), 1).await.map(drop),
        store.compact(Revision(2)).await,
    ];
    for answer in compacted {
        let expected = matches!(answer, Err(StoreError::Compacted { asked: Revision(2), oldest: Revision(3) }));
        assert!(expected, "{answer:?}");
    }
    assert!(matches!(store.compact(Revision(5)).await, Err(StoreError::Future { .. })));
    store.compact(Revision(4)).await.unwrap();
    assert_eq!(store.state(None).await.unwrap(), last);
    fill(store, vec![vec![put("d", "5"), put("b", "5")]]).await;
    assert_eq!(shown(&store.state(None).await.unwrap()), "b=5@5 a=4@4 d=5@5");
    assert_eq!(store.state(Some(Revision(4))).await.unwrap(), last);
}

async fn compaction_forgets_old_names_of_requests(store: &dyn Store) {
    let day = 24 * 60;
    for (after, (name, minutes)) in (0..).zip([("old", 0), ("young", 1), ("last", day + 1)]) {
        let mut asked = named(batch(after, vec![]), name, "");
        asked.time = at(minutes);
        store.append(asked).await.unwrap();
    }
    store.compact(Revision(1)).await.unwrap();
    let young = store.append(named(batch(3, vec![]), "young", "")).await.unwrap();
    assert_eq!(young, Appended::Before(Revision(2)));
    let old = store.append(named(batch(3, vec![]), "old", "")).await.unwrap();
    assert!(matches!(old, Appended::Now(Revision(4), _)));
}

async fn retention_compacts_as_far_as_it_may(store: &dyn Store) {
    for after in 0..450 {
        let mut asked = batch(after, vec![]);
        asked.time = at(after.try_into().unwrap());
        store.append(asked).await.unwrap();
    }
    let everything = Retention::default();
    assert_eq!(everything.apply(store, at(10_000)).await.unwrap(), None);
    let some = Retention { keep_revisions: Some(10), keep_for: None };
    assert_eq!(some.apply(store, at(450)).await.unwrap(), Some(Revision(441)));
    assert_eq!(store.head().await.unwrap().oldest, Revision(441));
    assert_eq!(some.apply(store, at(450)).await.unwrap(), None, "there is nothing more to do");
}

async fn large_batches_are_kept(store: &dyn Store) {
    let document = |number: u32, text: &str| put(&format!("{number:04}"), text);
    fill(store, vec![(0..250).map(|number| document(number, "1")).collect()]).await;
    let odd = |number: u32| if number % 2 == 1 { delete(&format!("{number:04}")) } else { document(number, "2") };
    fill(store, vec![(0..250).rev().map(odd).collect()]).await;
    let state = store.state(None).await.unwrap();
    assert_eq!(state.len(), 125);
    assert_eq!(state.digest(), state.recount());
    assert!(state.iter().map(|(key, _)| key).is_sorted(), "the order in which they came");
}

async fn followers_hear_of_it(store: &dyn Store) {
    let mut end = store.follow();
    assert_eq!(*end.borrow_and_update(), Revision::ZERO);
    fill(store, vec![vec![put("a", "1")], vec![put("a", "2")]]).await;
    until("the follower is at the second revision", async || *end.borrow() == Revision(2)).await;
    assert!(end.has_changed().unwrap());
}

async fn what_is_acknowledged_to_many_is_there_once(store: Arc<dyn Store>) {
    let writers = (0..4).map(|writer| {
        let store = Arc::clone(&store);
        tokio::spawn(async move {
            let mut acknowledged = Vec::new();
            for number in 0..8 {
                let change = || put(&format!("{writer}-{number}"), "1");
                loop {
                    let after = store.head().await.unwrap().revision.0;
                    match store.append(batch(after, vec![change()])).await {
                        Ok(Appended::Now(revision, digest)) => {
                            acknowledged.push((revision, digest, change()));
                            break;
                        }
                        Err(StoreError::Conflict(_)) => {}
                        other => panic!("{other:?}"),
                    }
                }
            }
            acknowledged
        })
    });
    let mut acknowledged = Vec::new();
    for writer in writers.collect::<Vec<_>>() {
        acknowledged.extend(writer.await.unwrap());
    }
    let entries = log(&*store).await;
    assert_eq!(entries.len(), 32);
    for (revision, digest, change) in &acknowledged {
        let entry = entries.iter().find(|entry| entry.revision == *revision).unwrap();
        assert_eq!((&entry.digest, &entry.changes[..]), (digest, std::slice::from_ref(change)));
    }
    let revisions: BTreeSet<Revision> = acknowledged.iter().map(|(revision, ..)| *revision).collect();
    assert_eq!(revisions.len(), 32);
    let state = store.state(None).await.unwrap();
    assert_eq!((state.len(), state.digest()), (32, state.recount()));
    let puts = entries.iter().flat_map(|entry| &entry.changes);
    assert!(puts.clone().all(|change| matches!(change, Change::Put { .. })));
}
