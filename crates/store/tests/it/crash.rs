//! The process is killed in the midst of writing, again and again. What it said is done must be done, and nothing half.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use upheld_store::{Appended, Change, Store, StoreError};

use crate::homes::{Address, Home};
use crate::support::{batch, log, put, run};

/// Where the child finds its store.
const FOLDER: &str = "UPHELD_CRASH_FOLDER";
const URL: &str = "UPHELD_CRASH_URL";

/// How many write at once.
const WRITERS: u32 = 4;

/// How many documents a batch has.
const PARTS: usize = 3;

/// After how many rounds a new store is begun, so that processes also die while they make one.
const FRESH: u32 = 25;

#[test]
fn sqlite_loses_nothing() {
    rounds(&Home::sqlite(), 200);
}

#[test]
fn postgres_loses_nothing() {
    if let Some(home) = Home::postgres() {
        rounds(&home, 50);
    }
}

/// The process that is killed; in other runs it has nothing to do.
#[test]
fn child() {
    let address = match (std::env::var_os(FOLDER), std::env::var(URL)) {
        (Some(folder), _) => Address::Folder(folder.into()),
        (None, Ok(url)) => Address::Url(url),
        (None, Err(_)) => return,
    };
    run(async {
        let store: Arc<dyn Store> = address.open().await.into();
        let writers = (0..WRITERS).map(|writer| tokio::spawn(write(Arc::clone(&store), writer)));
        for writer in writers.collect::<Vec<_>>() {
            writer.await.unwrap();
        }
    });
}

/// Says of each batch that it is done. It would end by itself if nobody killed it.
async fn write(store: Arc<dyn Store>, writer: u32) {
    for number in 0..2_000 {
        let text = number.to_string();
        loop {
            let after = store.head().await.unwrap().revision.0;
            let changes = (0..PARTS).map(|part| put(&format!("{writer}-{part}"), &text)).collect();
            match store.append(batch(after, changes)).await {
                Ok(Appended::Now(revision, digest)) => {
                    writeln!(std::io::stdout().lock(), "\ndone {revision} {digest}").unwrap();
                    break;
                }
                Err(StoreError::Conflict(_)) => {}
                other => panic!("{other:?}"),
            }
        }
    }
}

fn rounds(home: &Home, rounds: u32) {
    let random = RandomState::new();
    let mut address = None;
    let mut acknowledged = BTreeMap::new();
    let mut all = 0;
    for round in 0..rounds {
        if round % FRESH == 0 {
            all += acknowledged.len();
            acknowledged.clear();
            address = run(home.address());
        }
        let address = address.as_ref().unwrap();
        let wait = Duration::from_millis(random.hash_one(round) % 60);
        // Some die before they have written anything.
        let said = killed(start(address), round % 5 != 0, wait);
        for line in &said {
            assert!(!line.contains("panicked"), "{said:?}");
            if let Some(["done", revision, digest]) = line.split(' ').collect::<Vec<_>>().first_chunk() {
                acknowledged.insert(revision.parse::<u64>().unwrap(), (*digest).to_owned());
            }
        }
        run(async { check(&*address.open().await, &acknowledged).await });
    }
    all += acknowledged.len();
    println!("{all} batches were acknowledged in {rounds} rounds");
    assert!(all > 0);
}

fn start(address: &Address) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "crash::child", "--nocapture"]).stdin(Stdio::null());
    match address {
        Address::Folder(folder) => command.env(FOLDER, folder),
        Address::Url(url) => command.env(URL, url),
    };
    command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

/// Kills it a moment after its start, or after it has written something. Returns the whole lines that it said.
fn killed(mut child: Child, writing: bool, wait: Duration) -> Vec<String> {
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut said = Vec::new();
    let mut next = || {
        let mut line = String::new();
        let whole = output.read_line(&mut line).is_ok() && line.ends_with('\n');
        whole.then(|| line.trim_end().to_owned())
    };
    while writing && !said.last().is_some_and(|line: &String| line.starts_with("done")) {
        let Some(line) = next() else { break };
        said.push(line);
    }
    std::thread::sleep(wait);
    child.kill().unwrap();
    child.wait().unwrap();
    said.extend(std::iter::from_fn(next));
    said
}

async fn check(store: &dyn Store, acknowledged: &BTreeMap<u64, String>) {
    let entries = log(store).await;
    for (index, entry) in (1..).zip(&entries) {
        assert_eq!(entry.revision.0, index, "there is no gap");
        assert_eq!(entry.changes.len(), PARTS, "a batch is whole");
        let texts: Vec<_> = entry.changes.iter().map(text).collect();
        assert!(texts.windows(2).all(|pair| pair[0] == pair[1]), "{entry:?}");
    }
    for (revision, digest) in acknowledged {
        let index = usize::try_from(*revision).unwrap() - 1;
        assert_eq!(entries.get(index).map(|entry| entry.digest.to_string()).as_ref(), Some(digest));
    }
    // The database may still carry out what was sent before the end.
    let Some(last) = entries.last() else { return };
    let state = store.state(Some(last.revision)).await.unwrap();
    assert_eq!(state.digest(), last.digest);
    assert_eq!(state.digest(), state.recount());
    assert_eq!(state.len() % PARTS, 0);
    for (key, document) in state.iter() {
        let (writer, _) = key.name().split_once('-').unwrap();
        let same = state.iter().filter(|(key, _)| key.name().starts_with(&format!("{writer}-")));
        assert!(same.map(|(_, other)| other).all(|other| other == document), "one batch wrote all parts");
    }
}

fn text(change: &Change) -> &str {
    match change {
        Change::Put { text, .. } => text,
        Change::Delete { .. } => "",
    }
}
