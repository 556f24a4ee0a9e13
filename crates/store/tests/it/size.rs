//! Large stores.

use std::time::Instant;

use sqlx::{Connection, Row, SqliteConnection};
use upheld_store::{Revision, Sqlite, Store};

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
    fill(store, vec![documents.collect()]).await;
    println!("written in {:?}", start.elapsed());
    let start = Instant::now();
    fill(store, vec![(0..10_000).map(|number| put(&number.to_string(), "y")).collect()]).await;
    println!("a tenth replaced in {:?}", start.elapsed());
    let start = Instant::now();
    let state = store.state(None).await.unwrap();
    println!("read in {:?}", start.elapsed());
    assert_eq!(state.len(), 100_000);
    assert_eq!(state.iter().nth(7).map(|(key, document)| (key.name(), &*document.text)), Some(("7", "y")));
}

#[test]
fn a_compacted_file_gives_its_space_back() {
    run(async {
        let folder = tempfile::tempdir().unwrap();
        let store = Sqlite::open(folder.path()).await.unwrap();
        let text = "x".repeat(1_000_000);
        fill(&store, (0..5).map(|number| vec![put("a", &format!("{text}{number}"))]).collect()).await;
        let mut connection = SqliteConnection::connect(store.file().to_str().unwrap()).await.unwrap();
        let mut pages = async || {
            let row = sqlx::query("PRAGMA page_count").fetch_one(&mut connection).await.unwrap();
            row.get::<i64, _>(0)
        };
        let before = pages().await;
        store.compact(Revision(5)).await.unwrap();
        let after = pages().await;
        assert!(after < before / 3, "{before} pages, then {after}");
    });
}
