//! Stores that cannot be used, and what is said about them.

use std::net::{Ipv4Addr, TcpListener};

use sqlx::{Connection, PgConnection, SqliteConnection};
use upheld_store::testing::Database;
use upheld_store::{HEAD_FILES, Postgres, STORE_FILE, Sqlite, Store, StoreError};

use crate::support::{batch, fill, put, run};

/// What a newer program would leave behind.
const NEWER: &str = "\
    INSERT INTO upheld_schema (version, description, success, checksum, execution_time) VALUES (7, 'log', true, '', 0)";

const REFUSED: &str = "its schema has version 7, and this program supports versions up to 3: use a newer program";

#[test]
fn a_file_of_a_newer_program_is_refused() {
    run(async {
        let folder = tempfile::tempdir().unwrap();
        drop(Sqlite::open(folder.path()).await.unwrap());
        let file = folder.path().join("upheld.db");
        let mut connection = SqliteConnection::connect(file.to_str().unwrap()).await.unwrap();
        sqlx::query(NEWER).execute(&mut connection).await.unwrap();
        let error = Sqlite::open(folder.path()).await.unwrap_err();
        assert!(matches!(&error, StoreError::Unusable(text) if text.ends_with(REFUSED)), "{error}");
        assert!(error.to_string().contains("upheld.db"), "{error}");
    });
}

#[test]
fn a_file_that_is_no_database_is_refused_and_left_alone() {
    run(async {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("upheld.db");
        let text = "these are the notes of somebody else\n".repeat(100);
        std::fs::write(&file, &text).unwrap();
        let error = Sqlite::open(folder.path()).await.unwrap_err();
        assert!(matches!(&error, StoreError::Unusable(_)), "{error}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
        let below = Sqlite::open(&file).await.unwrap_err();
        assert!(matches!(&below, StoreError::Unusable(_)), "{below}");
    });
}

#[test]
fn a_damaged_row_is_found() {
    run(async {
        let folder = tempfile::tempdir().unwrap();
        let store = Sqlite::open(folder.path()).await.unwrap();
        fill(&store, vec![vec![put("a", "1")]]).await;
        let mut connection = SqliteConnection::connect(store.file().to_str().unwrap()).await.unwrap();
        sqlx::query("UPDATE change SET key = 'nothing'").execute(&mut connection).await.unwrap();
        let error = store.state(None).await.unwrap_err();
        let expected = "the store cannot be used: it is damaged: `nothing` is not the id of a document";
        assert_eq!(error.to_string(), expected);
    });
}

#[test]
fn postgres_is_refused_without_naming_the_password() {
    let Some(database) = Database::start() else { return };
    run(async {
        let url = database.fresh().await.unwrap();
        let store = Postgres::connect(&url).await.unwrap();
        assert_eq!(format!("{store:?}"), "Postgres { .. }");
        drop(store);
        let mut connection = PgConnection::connect(&url).await.unwrap();
        sqlx::query(NEWER).execute(&mut connection).await.unwrap();
        let newer = Postgres::connect(&url).await.unwrap_err();
        assert!(matches!(&newer, StoreError::Unusable(text) if text == REFUSED), "{newer}");

        let wrong = "another-secret";
        let urls = [
            url.replace(Database::PASSWORD, wrong),
            url.replace(Database::PASSWORD, wrong).replace("/postgres?", "/nowhere?"),
            format!("postgres://upheld:{wrong}@127.0.0.1:port/postgres"),
            format!("postgres://upheld:{wrong}@[::1/postgres"),
            format!("upheld:{wrong}"),
        ];
        for url in urls {
            let error = Postgres::connect(&url).await.unwrap_err();
            assert!(matches!(error, StoreError::Unusable(_)), "{error:?}");
            assert!(!format!("{error} {error:?}").contains(wrong), "{error:?}");
        }
    });
}

/// S4: what is acknowledged is on the disk, also where the database is told to hurry.
#[test]
fn s4_commits_are_synchronous_whatever_the_database_does_for_others() {
    const NOTED: &str = "\
        CREATE TABLE noted (setting text); \
        CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS \
            $$ BEGIN INSERT INTO noted VALUES (current_setting('synchronous_commit')); RETURN NEW; END $$; \
        CREATE TRIGGER note AFTER INSERT ON entry FOR EACH ROW EXECUTE FUNCTION note()";
    let Some(database) = Database::start() else { return };
    run(async {
        let url = database.fresh().await.unwrap();
        drop(Postgres::connect(&url).await.unwrap());
        let mut connection = PgConnection::connect(&url).await.unwrap();
        sqlx::raw_sql("ALTER ROLE CURRENT_USER SET synchronous_commit = off").execute(&mut connection).await.unwrap();
        sqlx::raw_sql(NOTED).execute(&mut connection).await.unwrap();
        let mut hurried = PgConnection::connect(&url).await.unwrap();
        let usual: String = sqlx::query_scalar("SHOW synchronous_commit").fetch_one(&mut hurried).await.unwrap();
        assert_eq!(usual, "off", "others are acknowledged early");
        let store = Postgres::connect(&url).await.unwrap();
        fill(&store, vec![vec![put("a", "1")], vec![put("b", "2")]]).await;
        let noted: Vec<String> =
            sqlx::query_scalar("SELECT setting FROM noted").fetch_all(&mut connection).await.unwrap();
        assert_eq!(noted, ["on", "on"]);
    });
}

#[test]
fn a_database_that_never_answers_is_given_up() {
    // The system takes the connection, and nobody ever reads from it.
    let silent = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let url = format!("postgres://upheld@{}/postgres", silent.local_addr().unwrap());
    let error = run(Postgres::connect(&url)).unwrap_err();
    assert!(matches!(error, StoreError::Unreachable(_)), "{error:?}");
}

/// What ends a transaction from inside.
const ENTRY: &str = "CREATE TRIGGER full BEFORE INSERT ON entry BEGIN SELECT RAISE(ROLLBACK, 'disk is full'); END";
const HEAD: &str = "CREATE TRIGGER full BEFORE UPDATE ON head BEGIN SELECT RAISE(ROLLBACK, 'disk is full'); END";

/// S3: SQLite ends a transaction by itself when the disk is full. A trigger does the same.
#[test]
fn a_write_that_was_rolled_back_by_the_file_heals_without_a_restart() {
    run(async {
        let folder = tempfile::tempdir().unwrap();
        let store = Sqlite::open(folder.path()).await.unwrap();
        fill(&store, vec![vec![put("a", "1")]]).await;
        let mut connection = SqliteConnection::connect(store.file().to_str().unwrap()).await.unwrap();
        for (table, full) in [("entry", ENTRY), ("head", HEAD)] {
            sqlx::query(full).execute(&mut connection).await.unwrap();
            for _ in 0..3 {
                let batch = batch(1 + u64::from(table == "head"), vec![put("b", "2")]);
                let error = store.append(batch).await.unwrap_err();
                assert!(error.to_string().contains("disk is full"), "{error}");
            }
            assert_eq!(store.try_write().await.is_err(), table == "head");
            sqlx::query("DROP TRIGGER full").execute(&mut connection).await.unwrap();
            store.try_write().await.unwrap();
            fill(&store, vec![vec![put(table, "2")]]).await;
        }
        assert_eq!(store.head().await.unwrap().revision.0, 3);
    });
}

/// S7: nobody else reads the log.
#[cfg(unix)]
#[test]
fn files_of_a_store_are_for_their_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    run(async {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("new");
        let store = Sqlite::open(&folder).await.unwrap();
        fill(&store, vec![vec![put("a", "1")]]).await;
        let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&folder), 0o700);
        for file in std::fs::read_dir(&folder).unwrap() {
            let path = file.unwrap().path();
            assert_eq!(mode(&path), 0o600, "{}", path.display());
        }
    });
}

/// S8: after a store was closed, its file has everything, and the two beside it say so.
#[test]
fn a_closed_store_is_one_file_and_its_head() {
    run(async {
        let (folder, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let store = Sqlite::open(folder.path()).await.unwrap();
        fill(&store, vec![vec![put("a", "1")], vec![put("b", "2")]]).await;
        store.close().await;
        assert!(!folder.path().join("upheld.db-wal").exists());
        for name in [STORE_FILE].iter().chain(&HEAD_FILES) {
            std::fs::copy(folder.path().join(name), copy.path().join(name)).unwrap();
        }
        let copied = Sqlite::open(copy.path()).await.unwrap();
        assert_eq!(copied.state(None).await.unwrap().len(), 2);
    });
}
