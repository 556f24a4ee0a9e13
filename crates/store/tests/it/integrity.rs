//! A store that is not what was written into it is never taken for whole.

use std::fs;
use std::path::Path;

use sqlx::{AssertSqlSafe, Connection, SqliteConnection};
use upheld_store::{
    Batch, HEAD_FILES, NotWhole, STORE_FILE, Sqlite, State, Store, StoreError, check_export, export, verify,
};

use crate::homes::Home;
use crate::support::{at, batch, delete, fill, put, run};

/// A store with a past in a folder, closed; its last state.
async fn written(folder: &Path) -> State {
    let store = Sqlite::open(folder).await.unwrap();
    for number in 0..40_u64 {
        let text = format!("{{\"number\": {number}, \"filler\": \"{}\"}}", "x".repeat(200));
        let mut changes = vec![put(&format!("d{}", number % 13), &text)];
        if number % 7 == 6 {
            changes.push(delete(&format!("d{}", (number + 3) % 13)));
        }
        let message = (number % 2 == 0).then(|| format!("change {number}"));
        let time = at(number.try_into().unwrap());
        store.append(Batch { time, message, ..batch(number, changes) }).await.unwrap();
    }
    let state = store.state(None).await.unwrap();
    drop(store);
    // All of it is in one file.
    let mut connection = SqliteConnection::connect(folder.join(STORE_FILE).to_str().unwrap()).await.unwrap();
    sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    state
}

/// What becomes of a store whose file is put there, beside the files with its last head: nothing if it is refused.
async fn opened(heads: &Path, file: &[u8]) -> Option<State> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(STORE_FILE), file).unwrap();
    for name in HEAD_FILES {
        fs::copy(heads.join(name), folder.path().join(name)).unwrap();
    }
    let store = Sqlite::open(folder.path()).await.ok()?;
    verify(&store).await.ok()?;
    store.state(None).await.ok()
}

#[test]
fn s9_two_hundred_damaged_files_are_refused_or_unaltered() {
    run(async {
        let folder = tempfile::tempdir().unwrap();
        let state = written(folder.path()).await;
        let whole = fs::read(folder.path().join(STORE_FILE)).unwrap();
        assert_eq!(opened(folder.path(), &whole).await.as_ref(), Some(&state));
        let (mut seed, mut refused) = (7_u64, 0);
        let mut random = |most: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(seed >> 33).unwrap() % most
        };
        for round in 0..200 {
            let mut damaged = whole.clone();
            match round % 4 {
                // A bit, some bytes, a page, or the end.
                0 => damaged[random(whole.len())] ^= 1 << random(8),
                1 => {
                    let from = random(whole.len() - 16);
                    damaged[from..from + 16].fill(b'#');
                }
                2 => {
                    let from = random(whole.len() / 4096) * 4096;
                    damaged[from..from + 4096].fill(0);
                }
                _ => damaged.truncate(random(whole.len())),
            }
            match opened(folder.path(), &damaged).await {
                Some(found) => assert_eq!(found, state, "round {round} serves something else"),
                None => refused += 1,
            }
        }
        assert!(refused > 100, "only {refused} of 200 were refused");
    });
}

#[test]
fn s9_whoever_alters_the_past_is_found_out() {
    run(async {
        for (what, statement) in [
            ("a document", "UPDATE change SET text = '{}' WHERE revision = 39"),
            ("a document that was replaced since", "UPDATE change SET text = '{}' WHERE revision = 3"),
            ("who it was", "UPDATE entry SET actor = 'eve' WHERE revision = 5"),
            ("why it was", "UPDATE entry SET message = 'nothing' WHERE revision = 5"),
            ("when it was", "UPDATE entry SET time = '2020-01-01T00:00:00.000000000Z' WHERE revision = 5"),
            ("an entry that is gone", "DELETE FROM entry WHERE revision = 17"),
            ("a change that is gone", "DELETE FROM change WHERE revision = 17"),
            ("the end", "DELETE FROM change WHERE revision > 30; DELETE FROM entry WHERE revision > 30"),
            ("the head", "UPDATE head SET digest = (SELECT digest FROM entry WHERE revision = 12)"),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let _state = written(folder.path()).await;
            let file = folder.path().join(STORE_FILE);
            let mut connection = SqliteConnection::connect(file.to_str().unwrap()).await.unwrap();
            sqlx::raw_sql(AssertSqlSafe(statement)).execute(&mut connection).await.unwrap();
            connection.close().await.unwrap();
            let store = Sqlite::open(folder.path()).await.unwrap();
            let found = verify(&store).await;
            assert!(matches!(found, Err(ref problem) if !matches!(problem, NotWhole::Store(_))), "{what}: {found:?}");
            if what != "the head" {
                assert!(export(&store, Vec::new(), None).await.is_err(), "{what} is exported");
            }
        }
    });
}

#[test]
fn exported_histories_are_checked_without_a_store() {
    run(async {
        let folder = tempfile::tempdir().unwrap();
        written(folder.path()).await;
        let store = Sqlite::open(folder.path()).await.unwrap();
        let mut exported = Vec::new();
        export(&store, &mut exported, None).await.unwrap();
        assert_eq!(check_export(&*exported, None).unwrap().0, verify(&store).await.unwrap());
        let text = String::from_utf8(exported).unwrap();
        for (from, to) in [("\"ada\"", "\"eve\""), ("change 8", "change 9"), ("number\\\": 3,", "number\\\": 4,")] {
            let altered = text.replacen(from, to, 1);
            assert_ne!(altered, text, "{from}");
            assert!(check_export(altered.as_bytes(), None).is_err(), "{from}");
        }
        let cut: Vec<&str> = text.lines().take(20).collect();
        assert!(check_export(cut.join("\n").as_bytes(), None).is_err());
    });
}

/// For every kind of store: the same history, the same chain.
#[test]
fn all_stores_have_the_same_chain() {
    run(async {
        let mut chains = Vec::new();
        for home in [Some(Home::Memory), Some(Home::sqlite()), Home::postgres()].into_iter().flatten() {
            let store = home.empty().await;
            fill(&*store, vec![vec![put("a", "1"), put("b", "2")], vec![delete("a")], vec![put("c", "3")]]).await;
            store.compact(upheld_store::Revision(2)).await.unwrap();
            let verified = verify(&*store).await.unwrap();
            assert_eq!((verified.oldest.0, verified.revision.0, verified.entries), (2, 3, 1));
            chains.push(verified);
        }
        assert!(chains.len() >= 2 && chains.windows(2).all(|pair| pair[0] == pair[1]), "{chains:?}");
    });
}

/// Who read another past writes nothing.
#[test]
fn s4_a_batch_on_top_of_another_history_is_refused() {
    run(async {
        for home in [Some(Home::Memory), Some(Home::sqlite()), Home::postgres()].into_iter().flatten() {
            let (one, other) = (home.empty().await, home.empty().await);
            fill(&*one, vec![vec![put("a", "1")]]).await;
            fill(&*other, vec![vec![put("a", "2")]]).await;
            let seen = Some(other.head().await.unwrap().digest);
            let refused = one.append(Batch { seen, ..batch(1, vec![put("b", "1")]) }).await;
            assert!(matches!(refused, Err(StoreError::Diverged { .. })), "{refused:?}");
            assert_eq!(one.head().await.unwrap().revision.0, 1);
            let seen = Some(one.head().await.unwrap().digest);
            one.append(Batch { seen, ..batch(1, vec![put("b", "1")]) }).await.unwrap();
            assert!(matches!(verify(&*one).await, Ok(verified) if verified.revision.0 == 2));
        }
    });
}

/// A program that kept no chain may still write while a newer one runs: the chain is completed.
#[test]
fn what_an_older_program_wrote_gets_its_place_in_the_chain() {
    run(async {
        let folder = tempfile::tempdir().unwrap();
        written(folder.path()).await;
        let file = folder.path().join(STORE_FILE);
        let mut connection = SqliteConnection::connect(file.to_str().unwrap()).await.unwrap();
        let older = "UPDATE entry SET chain = '' WHERE revision > 35; UPDATE head SET chain_revision = 35, \
                     chain = (SELECT chain FROM entry WHERE revision = 35)";
        sqlx::raw_sql(older).execute(&mut connection).await.unwrap();
        connection.close().await.unwrap();
        let store = Sqlite::open(folder.path()).await.unwrap();
        let verified = verify(&store).await.unwrap();
        assert_eq!(verified.revision.0, 40);
    });
}
