//! Several servers on one store.

use std::sync::Arc;

use futures::future::join_all;
use upheld_store::{Appended, Revision, Store, StoreError};

use crate::homes::Home;
use crate::support::{batch, fill, log, put, run, shown, until};

#[test]
fn sqlite_can_be_shared() {
    run(shared(&Home::sqlite()));
}

#[test]
fn postgres_can_be_shared() {
    if let Some(home) = Home::postgres() {
        run(shared(&home));
    }
}

async fn shared(home: &Home) {
    others_hear_of_it(home).await;
    many_open_a_new_store_at_once_and_write(home).await;
}

async fn others_hear_of_it(home: &Home) {
    let address = home.address().await.unwrap();
    let (one, other) = (address.open().await, address.open().await);
    let end = other.follow();
    for number in 1..=3 {
        fill(&*one, vec![vec![put("a", &number.to_string())]]).await;
        until("the other one hears of it", async || *end.borrow() == Revision(number)).await;
        assert_eq!(shown(&other.state(None).await.unwrap()), format!("a={number}@{number}"));
    }
    let stale = other.append(batch(2, vec![put("b", "1")])).await;
    assert!(matches!(stale, Err(StoreError::Conflict(Revision(3)))));
    fill(&*other, vec![vec![put("b", "1")]]).await;
    assert_eq!(one.state(None).await.unwrap(), other.state(None).await.unwrap());
    let later = address.open().await;
    assert_eq!(*later.follow().borrow(), Revision(4), "who comes later starts at the end");
}

async fn many_open_a_new_store_at_once_and_write(home: &Home) {
    let address = Arc::new(home.address().await.unwrap());
    let servers = (0..4).map(|server| {
        let address = Arc::clone(&address);
        tokio::spawn(async move {
            let store = address.open().await;
            for number in 0..5 {
                write(&*store, &format!("{server}-{number}")).await;
            }
        })
    });
    for server in join_all(servers).await {
        server.unwrap();
    }
    let store = address.open().await;
    assert_eq!(log(&*store).await.len(), 20);
    let state = store.state(None).await.unwrap();
    assert_eq!((state.len(), state.digest()), (20, state.recount()));
}

/// Again until nobody else was faster.
async fn write(store: &dyn Store, name: &str) {
    loop {
        let after = store.head().await.unwrap().revision.0;
        match store.append(batch(after, vec![put(name, "1")])).await {
            Ok(Appended::Now(..)) => return,
            Err(StoreError::Conflict(_)) => {}
            other => panic!("{other:?}"),
        }
    }
}
