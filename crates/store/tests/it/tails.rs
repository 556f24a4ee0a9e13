//! What was acknowledged and is not there any more is told, and never lost silently.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use sqlx::{Connection, SqliteConnection};
use upheld_store::{
    Acceptance, Appended, Batch, Evidence, HEAD_FILES, IdempotencyKey, Loss, Remark, Revision, STORE_FILE, Sqlite,
    Store, StoreError, verify,
};

use crate::support::{batch, fill, log, named, put, run};

/// The write-ahead log.
pub(crate) const LOG: &str = "upheld.db-wal";

/// Files that a store is made of.
pub(crate) const FILES: [&str; 4] = [STORE_FILE, LOG, HEAD_FILES[0], HEAD_FILES[1]];

/// What is in them, as a process leaves them that is killed at this moment.
pub(crate) type Files = BTreeMap<&'static str, Vec<u8>>;

pub(crate) fn files(folder: &Path) -> Files {
    FILES.into_iter().filter_map(|name| Some((name, fs::read(folder.join(name)).ok()?))).collect()
}

/// A folder in memory where there is one: nothing here tells what a disk has from what it was given.
pub(crate) fn memory() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

/// A folder with these files.
pub(crate) fn folder(files: &Files) -> tempfile::TempDir {
    let folder = memory();
    for (name, bytes) in files {
        fs::write(folder.path().join(name), bytes).unwrap();
    }
    folder
}

/// A store with so many revisions, killed.
async fn killed(revisions: u64) -> Files {
    let folder = tempfile::tempdir().unwrap();
    let store = Sqlite::open(folder.path()).await.unwrap();
    fill(&store, (0..revisions).map(|number| vec![put(&format!("p{number}"), &number.to_string())]).collect()).await;
    files(folder.path())
}

pub(crate) async fn lost(folder: &Path) -> Loss {
    match Sqlite::open(folder).await {
        Err(StoreError::Lost(loss)) => *loss,
        other => panic!("{other:?}"),
    }
}

/// S5: one bit of the write-ahead log is another one.
#[test]
fn s5_a_flipped_bit_in_the_log_is_no_silent_loss() {
    run(async {
        let mut damaged = killed(100).await;
        let log = damaged.get_mut(LOG).unwrap();
        let place = log.len() / 3;
        log[place] ^= 1;
        let folder = folder(&damaged);
        for _ in 0..2 {
            let loss = lost(folder.path()).await;
            assert!(
                matches!(&loss.evidence, Evidence::Tail(acknowledged) if acknowledged.revision == Revision(100)),
                "{loss:?}"
            );
            let behind = loss.behind.unwrap();
            assert!(behind.commits > 50 && behind.broken <= place as u64, "{behind:?}");
            assert!((1..100).contains(&loss.last.0), "{loss:?}");
            let told = loss.to_string();
            let command = format!("`upheld verify --data {} --accept-loss {}`", folder.path().display(), loss.last);
            let parts = [&format!("lost revisions {} to 100", loss.last.0 + 1), "acknowledged at 20", &command];
            assert!(parts.iter().all(|part| told.contains(*part)), "{told}");
            assert!(files(folder.path()) == damaged, "who refuses changes nothing");
        }
        accepted_by_command(folder.path(), &damaged).await;
    });
}

/// The loss is accepted for the revision that the store ends with, and the store goes on from there.
async fn accepted_by_command(folder: &Path, damaged: &Files) {
    let loss = lost(folder).await;
    let wrong = Sqlite::accept_loss(folder, loss.last.next()).await.unwrap_err();
    assert!(wrong.to_string().contains("nothing was changed"), "{wrong}");
    assert!(files(folder) == *damaged);
    let (store, accepted) = Sqlite::accept_loss(folder, loss.last).await.unwrap();
    let Some(Acceptance { loss: told, log: copied }) = accepted else { panic!("something is lost") };
    assert_eq!(told, loss);
    assert_eq!(fs::read(copied.unwrap()).unwrap(), damaged[LOG], "what could be saved is saved");
    assert_eq!(verify(&store).await.unwrap().revision, loss.last);
    fill(&store, vec![vec![put("next", "1")]]).await;
    store.close().await;
    let store = Sqlite::open(folder).await.unwrap();
    assert_eq!(verify(&store).await.unwrap().revision, loss.last.next());
    match &*store.remarks().await.unwrap() {
        [Remark::Loss(known)] => {
            assert_eq!((known.last, known.acknowledged), (loss.last, loss.evidence.acknowledged()));
        }
        other => panic!("{other:?}"),
    }
    drop(store);
    let (_, nothing) = Sqlite::accept_loss(folder, loss.last).await.unwrap();
    assert_eq!(nothing, None, "it is accepted once");
}

/// A store of a program that kept no head files.
async fn of_an_older_program(revisions: u64) -> Files {
    let home = tempfile::tempdir().unwrap();
    let store = Sqlite::open(home.path()).await.unwrap();
    let mut connection = SqliteConnection::connect(store.file().to_str().unwrap()).await.unwrap();
    sqlx::raw_sql("DROP TABLE store; DROP TABLE loss").execute(&mut connection).await.unwrap();
    fill(&store, (0..revisions).map(|number| vec![put(&number.to_string(), "1")]).collect()).await;
    let mut files = files(home.path());
    for name in HEAD_FILES {
        files.remove(name);
    }
    files
}

#[test]
fn s5_the_log_of_an_older_program_is_looked_through_before_sqlite_forgets_it() {
    run(async {
        let whole = of_an_older_program(30).await;
        let home = folder(&whole);
        let store = Sqlite::open(home.path()).await.unwrap();
        assert_eq!(verify(&store).await.unwrap().revision, Revision(30), "it gets its files without a question");
        assert!(HEAD_FILES.iter().all(|name| home.path().join(name).exists()));
        let mut damaged = whole;
        let log = damaged.get_mut(LOG).unwrap();
        let place = log.len() / 2;
        log[place] ^= 1;
        let home = folder(&damaged);
        let loss = lost(home.path()).await;
        assert_eq!(loss.evidence, Evidence::Log);
        assert!(loss.behind.is_some_and(|behind| behind.commits > 5), "{loss:?}");
        accepted_by_command(home.path(), &damaged).await;
    });
}

/// S11: an older copy over the file that is open, without its log. Nothing is acknowledged that another process would not see.
#[test]
fn s11_a_copy_over_the_open_file_is_noticed() {
    run(async {
        let home = tempfile::tempdir().unwrap();
        let store = Sqlite::open(home.path()).await.unwrap();
        let batches = |from: u64| (from..from + 5).map(|number| vec![put(&number.to_string(), "1")]).collect();
        fill(&store, batches(0)).await;
        let copy = home.path().join("copy.db");
        let mut connection = SqliteConnection::connect(store.file().to_str().unwrap()).await.unwrap();
        let statement = format!("VACUUM INTO '{}'", copy.display());
        sqlx::query(sqlx::AssertSqlSafe(statement)).execute(&mut connection).await.unwrap();
        connection.close().await.unwrap();
        fill(&store, batches(5)).await;
        let older = fs::read(&copy).unwrap();
        fs::write(store.file(), &older).unwrap();
        fs::remove_file(home.path().join(LOG)).unwrap();
        for _ in 0..2 {
            let answers = [
                store.append(batch(10, vec![put("a", "1")])).await.map(drop),
                store.head().await.map(drop),
                store.digest(Revision(10)).await.map(drop),
                store.try_write().await,
            ];
            for answer in answers {
                assert!(
                    matches!(&answer, Err(error @ StoreError::Replaced { own, .. }) if *own == Revision(10) && error.is_other_store()),
                    "{answer:?}"
                );
            }
        }
        let loss = lost(home.path()).await;
        assert_eq!((loss.last, loss.evidence.acknowledged()), (Revision(5), Some(Revision(10))));
        store.close().await;
        drop(store);
        assert_eq!(fs::read(home.path().join(STORE_FILE)).unwrap(), older, "the copy stays what it is");
        // Another process takes over what is there.
        let left = folder(&files(home.path()));
        let (store, accepted) = Sqlite::accept_loss(left.path(), Revision(5)).await.unwrap();
        assert!(accepted.is_some());
        fill(&store, vec![vec![put("b", "1")]]).await;
    });
}

/// S11, where the log has nothing that is not in the file.
#[test]
fn s11_a_copy_over_the_open_file_is_noticed_when_its_log_is_empty() {
    run(async {
        let home = tempfile::tempdir().unwrap();
        let store = Sqlite::open(home.path()).await.unwrap();
        let mut connection = SqliteConnection::connect(store.file().to_str().unwrap()).await.unwrap();
        fill(&store, vec![vec![put("a", "1")]]).await;
        sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").execute(&mut connection).await.unwrap();
        let older = fs::read(store.file()).unwrap();
        fill(&store, vec![vec![put("b", "1")], vec![put("c", "1")]]).await;
        sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").execute(&mut connection).await.unwrap();
        connection.close().await.unwrap();
        assert_eq!(store.head().await.unwrap().revision, Revision(3));
        fs::write(store.file(), older).unwrap();
        for _ in 0..2 {
            let refused = store.append(batch(3, vec![put("d", "1")])).await;
            assert!(
                matches!(refused, Err(StoreError::Diverged { own, last }) if (own.0, last.0) == (3, 1)),
                "{refused:?}"
            );
            assert!(store.head().await.is_err_and(|error| error.is_other_store()));
        }
        assert_eq!(lost(home.path()).await.last, Revision(1));
    });
}

/// A log that is removed while it is open is in the hands of the process that has it, which puts it into the file at its end.
#[test]
fn s11_a_log_that_was_removed_stops_writes_and_is_saved_at_the_end() {
    run(async {
        let home = tempfile::tempdir().unwrap();
        let store = Sqlite::open(home.path()).await.unwrap();
        fill(&store, vec![vec![put("a", "1")], vec![put("b", "1")]]).await;
        fs::remove_file(home.path().join(LOG)).unwrap();
        let refused = store.append(batch(2, vec![put("c", "1")])).await;
        assert!(matches!(refused, Err(StoreError::Replaced { .. })), "{refused:?}");
        store.close().await;
        let left = folder(&files(home.path()));
        let store = Sqlite::open(left.path()).await.unwrap();
        assert_eq!(verify(&store).await.unwrap().revision, Revision(2));
    });
}

/// Another file under its name.
#[test]
fn s11_a_file_that_was_moved_there_is_noticed() {
    run(async {
        let (one, other) = (tempfile::tempdir().unwrap(), killed(7).await);
        let store = Sqlite::open(one.path()).await.unwrap();
        fill(&store, vec![vec![put("a", "1")]]).await;
        let moved = one.path().join("moved.db");
        fs::write(&moved, &other[STORE_FILE]).unwrap();
        fs::rename(moved, store.file()).unwrap();
        let refused = store.append(batch(1, vec![put("b", "1")])).await;
        assert!(matches!(refused, Err(StoreError::Replaced { .. })), "{refused:?}");
    });
}

/// A backup that is put back is an older copy, whether the files with the last head are there or not.
#[test]
fn a_backup_that_is_put_back_is_told_as_a_loss() {
    run(async {
        let home = tempfile::tempdir().unwrap();
        let store = Sqlite::open(home.path()).await.unwrap();
        fill(&store, vec![vec![put("a", "1")], vec![put("b", "1")]]).await;
        store.close().await;
        let backup = files(home.path());
        let store = Sqlite::open(home.path()).await.unwrap();
        fill(&store, vec![vec![put("c", "1")]]).await;
        store.close().await;
        let now = files(home.path());
        // The copy of a database whose files are those of now.
        let mut back = now.clone();
        back.insert(STORE_FILE, backup[STORE_FILE].clone());
        let loss = lost(folder(&back).path()).await;
        assert_eq!((loss.last, loss.evidence.acknowledged()), (Revision(2), Some(Revision(3))));
        // Without any.
        for name in HEAD_FILES {
            back.remove(name);
        }
        let home = folder(&back);
        let loss = lost(home.path()).await;
        assert_eq!((loss.last, &loss.evidence), (Revision(2), &Evidence::NoHead));
        let (store, accepted) = Sqlite::accept_loss(home.path(), Revision(2)).await.unwrap();
        assert_eq!(accepted.map(|accepted| accepted.loss), Some(loss));
        assert_eq!(verify(&store).await.unwrap().revision, Revision(2));
        drop(store);
        drop(Sqlite::open(home.path()).await.unwrap());
        // With its own, it is the store that it was.
        let home = folder(&backup);
        let store = Sqlite::open(home.path()).await.unwrap();
        assert_eq!(verify(&store).await.unwrap().revision, Revision(2));
    });
}

/// The whole past is another one, with as many revisions.
#[test]
fn another_history_of_the_same_length_is_refused() {
    run(async {
        let home = tempfile::tempdir().unwrap();
        let store = Sqlite::open(home.path()).await.unwrap();
        fill(&store, vec![vec![put("a", "1")]]).await;
        store.close().await;
        let fork = files(home.path());
        let mut ends = Vec::new();
        for text in ["2", "3"] {
            let home = folder(&fork);
            let store = Sqlite::open(home.path()).await.unwrap();
            fill(&store, vec![vec![put("a", text)], vec![put("b", text)]]).await;
            store.close().await;
            ends.push(files(home.path()));
        }
        let mut mixed = ends[0].clone();
        mixed.insert(STORE_FILE, ends[1][STORE_FILE].clone());
        let loss = lost(folder(&mixed).path()).await;
        assert!(
            matches!(loss.evidence, Evidence::History(acknowledged) if acknowledged.revision == Revision(3)),
            "{loss:?}"
        );
        let stranger = killed(2).await;
        let mut mixed = ends[0].clone();
        for name in HEAD_FILES {
            mixed.insert(name, stranger[name].clone());
        }
        assert_eq!(lost(folder(&mixed).path()).await.evidence, Evidence::Stranger);
    });
}

/// What is in the database before its head is in the files was not acknowledged yet; a repetition is acknowledged when it is.
#[test]
fn a_head_that_cannot_be_written_is_not_acknowledged() {
    run(async {
        let home = tempfile::tempdir().unwrap();
        let store = Sqlite::open(home.path()).await.unwrap();
        fill(&store, vec![vec![put("a", "1")]]).await;
        let kept = files(home.path());
        for name in HEAD_FILES {
            fs::remove_file(home.path().join(name)).unwrap();
            fs::create_dir(home.path().join(name)).unwrap();
        }
        let wanted = || -> Batch { named(batch(1, vec![put("b", "1")]), "request", "what") };
        let key = IdempotencyKey { name: "request".to_owned(), request: "what".to_owned() };
        for _ in 0..2 {
            let failed = store.append(wanted()).await;
            assert!(matches!(failed, Err(StoreError::Unreachable(_))), "{failed:?}");
            assert!(store.remembered(&key).await.is_err());
            assert!(store.try_write().await.is_err());
            assert_eq!(store.head().await.unwrap().revision, Revision(2), "one was committed, and no more");
        }
        for name in HEAD_FILES {
            fs::remove_dir(home.path().join(name)).unwrap();
        }
        assert_eq!(store.append(wanted()).await.unwrap(), Appended::Before(Revision(2)));
        store.try_write().await.unwrap();
        fill(&store, vec![vec![put("c", "1")]]).await;
        let mut now = files(home.path());
        drop(Sqlite::open(folder(&now).path()).await.unwrap());
        // With files of before, the database is ahead of what was acknowledged.
        for name in HEAD_FILES {
            now.insert(name, kept[name].clone());
        }
        let home = folder(&now);
        let store = Sqlite::open(home.path()).await.unwrap();
        assert_eq!(verify(&store).await.unwrap().revision, Revision(3));
    });
}

/// Two that use a folder at once keep one head, and compaction does not forget what it leads through.
#[test]
fn processes_that_share_a_folder_keep_one_head() {
    run(async {
        let home = tempfile::tempdir().unwrap();
        let (one, other) = (Sqlite::open(home.path()).await.unwrap(), Sqlite::open(home.path()).await.unwrap());
        for number in 0..10_u64 {
            let store = if number % 3 == 0 { &one } else { &other };
            fill(store, vec![vec![put(&number.to_string(), "1")]]).await;
            if number == 7 {
                one.compact(Revision(8)).await.unwrap();
            }
            let left = folder(&files(home.path()));
            let store = Sqlite::open(left.path()).await.unwrap();
            assert_eq!(verify(&store).await.unwrap().revision, Revision(number + 1));
        }
        assert_eq!(log(&one).await.len(), 2);
    });
}
