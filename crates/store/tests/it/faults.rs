//! A disk that is full, read-only or failing, at any write, also while processes are killed: nothing acknowledged is lost, nothing is half,
//! and everything heals by itself.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use upheld_store::testing::{Fault, kill_after};
use upheld_store::{Appended, Change, Sqlite, Store, StoreError, verify};

use crate::support::{batch, log, put, run};

/// Larger than a page, so that no write fits into what is free.
fn large(number: u64) -> String {
    format!("{number} ").repeat(4_000)
}

#[test]
fn a_write_fails_with_the_disk_and_the_next_one_after_it_heals_goes_well() {
    run(async {
        for fault in Fault::ALL {
            let folder = tempfile::tempdir().unwrap();
            let store = Sqlite::open(folder.path()).await.unwrap();
            let mut revision = 0;
            for round in 0..6 {
                store.faults().plan(fault, round % 3, 1 + round % 2);
                let mut failed = 0;
                for number in 0..6 {
                    let changes = vec![put("a", &large(number)), put("b", &large(number))];
                    match store.append(batch(revision, changes)).await {
                        Ok(Appended::Now(now, _)) => revision = now.0,
                        Ok(other) => panic!("{other:?}"),
                        Err(StoreError::Unreachable(_) | StoreError::Unusable(_)) => failed += 1,
                        Err(other) => panic!("{fault:?}: {other}"),
                    }
                    assert_eq!(store.head().await.unwrap().revision.0, revision, "{fault:?}: reads go on");
                }
                // A connection that found the disk full is replaced, and the new one may find room in what the old one gave back.
                let least = if fault == Fault::Full { 1 } else { 1 + round % 2 };
                assert!((least..=1 + round % 2).contains(&failed), "{fault:?}: {failed} of {}", 1 + round % 2);
                verify(&store).await.unwrap();
            }
        }
    });
}

#[test]
fn whether_writes_work_can_be_asked() {
    run(async {
        for fault in [Fault::ReadOnly, Fault::Failing] {
            let folder = tempfile::tempdir().unwrap();
            let store = Sqlite::open(folder.path()).await.unwrap();
            store.try_write().await.unwrap();
            store.faults().plan(fault, 0, u64::MAX);
            for _ in 0..3 {
                assert!(store.try_write().await.is_err(), "{fault:?}");
            }
            store.faults().heal();
            store.try_write().await.unwrap();
        }
    });
}

/// Where the child finds its store, and which fault it suffers.
const FOLDER: &str = "UPHELD_FAULTS_FOLDER";
const FAULT: &str = "UPHELD_FAULTS_FAULT";
const PARTS: usize = 3;

/// Rounds of each sort: the three faults, and a limit of the size of files, which makes the system call fail.
const ROUNDS: u32 = 80;

/// After how many rounds a new store is begun.
const FRESH: u32 = 8;

#[test]
fn processes_that_are_killed_on_a_failing_disk_lose_nothing() {
    let random = RandomState::new();
    let mut folder = tempfile::tempdir().unwrap();
    let mut acknowledged = BTreeMap::new();
    let (mut all, mut failures) = (0, [0; 4]);
    for round in 0..ROUNDS {
        if round % FRESH == 0 {
            all += acknowledged.len();
            acknowledged.clear();
            folder = tempfile::tempdir().unwrap();
        }
        let sort = usize::try_from(round % 4).unwrap();
        let wait = Duration::from_millis(random.hash_one(round) % 40);
        let child = start(folder.path(), sort, random.hash_one((round, sort)));
        let said = kill_after(child, |line| line == "failed", wait);
        for line in &said {
            assert!(!line.contains("panicked"), "{said:?}");
            failures[sort] += u32::from(line == "failed");
            if let Some(["done", revision, digest]) = line.split(' ').collect::<Vec<_>>().first_chunk() {
                acknowledged.insert(revision.parse::<u64>().unwrap(), (*digest).to_owned());
            }
        }
        run(async {
            let store = Sqlite::open(folder.path()).await.unwrap();
            check(&store, &acknowledged).await;
        });
    }
    all += acknowledged.len();
    println!("{all} batches were acknowledged in {ROUNDS} rounds; failed by sort: {failures:?}");
    assert!(all > 0 && failures.iter().all(|count| *count > 0), "{failures:?}");
}

/// The process that is killed; in other runs it has nothing to do.
#[test]
fn child() {
    let (Some(folder), Ok(fault)) = (std::env::var_os(FOLDER), std::env::var(FAULT)) else { return };
    let mut numbers = fault.split(' ').map(|number| number.parse::<u64>().unwrap());
    let (sort, mut seed) = (numbers.next().unwrap(), numbers.next().unwrap());
    let fault = Fault::ALL.get(usize::try_from(sort).unwrap()).copied();
    run(async {
        let Ok(store) = Sqlite::open(Path::new(&folder)).await else { return println!("\nfailed") };
        for number in 0..1_000 {
            if let (Some(fault), true) = (fault, number % 5 == 0) {
                store.faults().plan(fault, seed % 3, 1 + seed / 3 % 2);
                seed = seed.rotate_left(7) ^ number;
            }
            let Ok(head) = store.head().await else { continue };
            let changes = (0..PARTS).map(|part| put(&format!("{}-{part}", number % 7), &large(number))).collect();
            let line = match store.append(batch(head.revision.0, changes)).await {
                Ok(Appended::Now(revision, digest)) => format!("done {revision} {digest}"),
                Err(StoreError::Unreachable(_) | StoreError::Unusable(_)) => "failed".to_owned(),
                other => panic!("{other:?}"),
            };
            writeln!(std::io::stdout().lock(), "\n{line}").unwrap();
        }
    });
}

fn start(folder: &Path, sort: usize, seed: u64) -> Child {
    let program = std::env::current_exe().unwrap();
    let mut command = if sort == 3 {
        // Whatever becomes larger than the file is now fails a little later. Blocks have 512 bytes.
        let now = std::fs::metadata(folder.join("upheld.db")).map_or(0, |file| file.len() / 512);
        let blocks = now + 500 + seed % 1_000;
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"")]).arg(program);
        shell
    } else {
        Command::new(program)
    };
    command.args(["--exact", "faults::child", "--nocapture"]).stdin(Stdio::null());
    command.env(FOLDER, folder).env(FAULT, format!("{sort} {seed}"));
    command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

async fn check(store: &Sqlite, acknowledged: &BTreeMap<u64, String>) {
    verify(store).await.unwrap();
    let entries = log(store).await;
    for (index, entry) in (1..).zip(&entries) {
        assert_eq!((entry.revision.0, entry.changes.len()), (index, PARTS), "a batch is whole, and there is no gap");
        let texts: Vec<_> = entry.changes.iter().map(text).collect();
        assert!(texts.windows(2).all(|pair| pair[0] == pair[1]), "one batch wrote all parts");
    }
    for (revision, digest) in acknowledged {
        let index = usize::try_from(*revision).unwrap() - 1;
        assert_eq!(entries.get(index).map(|entry| entry.digest.to_string()).as_ref(), Some(digest), "{revision}");
    }
}

fn text(change: &Change) -> &str {
    match change {
        Change::Put { text, .. } => text,
        Change::Delete { .. } => "",
    }
}
