//! Stores that older programs left behind. For each version of the schema there is a file that a program of that time wrote.

use std::path::{Path, PathBuf};

use sqlx::{AssertSqlSafe, Connection, Row, SqliteConnection};
use upheld_store::{Batch, Chain, Entry, Memory, Revision, Sqlite, Store, verify};

use crate::random::compare_but_chains;
use crate::support::{at, batch, delete, named, put, run};

/// Set to have the file of the newest version written.
const WRITE: &str = "UPHELD_WRITE_VERSION";

fn file(version: i64) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/versions").join(format!("v{version}.db"))
}

/// What every file has in it.
async fn history(store: &dyn Store) {
    let batches = [
        vec![put("a", "{\"a\":1}"), put("b", "{}"), put("c", "{}")],
        vec![delete("b"), put("a", "{\"a\":2}")],
        vec![put("d", "\"🦀\"")],
        vec![delete("c"), delete("nobody")],
        vec![put("b", "{\"b\":5}"), put("c", "{}")],
    ];
    for (after, changes) in (0..).zip(batches) {
        let message = (after % 2 == 0).then(|| format!("the change after {after}"));
        let minutes = after.try_into().unwrap();
        let asked = Batch { time: at(minutes), message, ..batch(after, changes) };
        store.append(named(asked, &format!("request {after}"), "what")).await.unwrap();
    }
    store.compact(Revision(2)).await.unwrap();
}

/// The version of the schema that this program makes.
async fn newest() -> i64 {
    let folder = tempfile::tempdir().unwrap();
    let store = Sqlite::open(folder.path()).await.unwrap();
    let mut connection = SqliteConnection::connect(store.file().to_str().unwrap()).await.unwrap();
    let row = sqlx::query("SELECT MAX(version) FROM upheld_schema").fetch_one(&mut connection).await.unwrap();
    row.get(0)
}

#[test]
fn stores_of_all_versions_open_and_go_on() {
    run(async {
        for version in 1..=newest().await {
            let folder = tempfile::tempdir().unwrap();
            std::fs::copy(file(version), folder.path().join("upheld.db")).unwrap();
            // The files with the last head were not kept.
            let (store, _) = Sqlite::accept_loss(folder.path(), Revision(5)).await.unwrap();
            let naive = Memory::new();
            history(&naive).await;
            // Programs of the first version kept no chain: where the past is forgotten, it begins with what is known.
            let is_chained = version > 1;
            let seen = |entry: Entry| if is_chained { entry } else { Entry { chain: Chain::START, ..entry } };
            compare_but_chains(&naive, &store, seen).await;
            assert_eq!(verify(&store).await.unwrap().entries, 3);
            for after in [4, 5] {
                let asked = named(batch(5, vec![put("c", "6"), put("e", "6")]), &format!("request {after}"), "what");
                assert_eq!(store.append(asked.clone()).await.unwrap(), naive.append(asked).await.unwrap());
            }
            compare_but_chains(&naive, &store, seen).await;
            assert_eq!(is_chained, store.head().await.unwrap() == naive.head().await.unwrap());
            assert_eq!(verify(&store).await.unwrap().entries, 4);
        }
    });
}

#[test]
fn the_newest_version_has_a_file() {
    run(async {
        let version = newest().await;
        let file = file(version);
        if std::env::var_os(WRITE).is_some() {
            let folder = tempfile::tempdir().unwrap();
            let store = Sqlite::open(folder.path()).await.unwrap();
            history(&store).await;
            let mut connection = SqliteConnection::connect(store.file().to_str().unwrap()).await.unwrap();
            let statement = format!("VACUUM INTO '{}'", file.display());
            sqlx::query(AssertSqlSafe(statement)).execute(&mut connection).await.unwrap();
        }
        assert!(
            file.is_file(),
            "there is no {}: once the schema is final, run this test with {WRITE}=1 and keep what it writes",
            file.display()
        );
    });
}
