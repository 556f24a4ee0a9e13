//! Large stores.

use std::time::Instant;

use upheld_store::Store;

use crate::homes::Home;
use crate::support::{fill, put, run};

#[test]
fn sqlite_can_be_large() {
    run(async { a_hundred_thousand_documents_are_one_question(&*Home::sqlite().empty().await).await });
}

#[test]
fn postgres_can_be_large() {
    if let Some(home) = Home::postgres() {
        run(async { a_hundred_thousand_documents_are_one_question(&*home.empty().await).await });
    }
}

async fn a_hundred_thousand_documents_are_one_question(store: &dyn Store) {
    let text = "x".repeat(300);
    let documents = (0..100_000).map(|number| put(&number.to_string(), &text));
    let start = Instant::now();
    fill(store, vec![documents.collect(), vec![put("7", "y")]]).await;
    println!("written in {:?}", start.elapsed());
    let start = Instant::now();
    let state = store.state(None).await.unwrap();
    println!("read in {:?}", start.elapsed());
    assert_eq!(state.len(), 100_000);
    assert_eq!(state.iter().nth(7).map(|(key, document)| (key.name(), &*document.text)), Some(("7", "y")));
}
