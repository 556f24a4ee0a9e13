//! Stores that were damaged in any way: refused, unharmed, or accepted by an explicit command. Stores that were not: opened without a question.

use std::collections::BTreeMap;
use std::fs;

use sqlx::{Connection, SqliteConnection};
use upheld_store::testing::simulation::Random;
use upheld_store::{
    Entry, HEAD_FILES, Remark, Revision, STORE_FILE, Sqlite, State, Store, StoreError, Verified, verify,
};

use crate::support::{fill, log, put, run};
use crate::tails::{FILES, Files, LOG, files, folder, memory};

/// How many stores of each sort are tried.
const STORES: usize = 300;

const REVISIONS: u64 = 90;

/// Up to which revision it is compacted at some time.
const COMPACTED: u64 = 10;

/// A store as it was at a moment, if its process had been killed then.
#[derive(Debug)]
struct Moment {
    /// The last revision that was acknowledged.
    acknowledged: u64,
    /// The oldest that is known.
    oldest: u64,
    files: Files,
}

/// A store with a past: the moments around checkpoints, a log that begins anew, and a compaction.
#[derive(Debug)]
struct Past {
    moments: Vec<Moment>,
    /// All revisions, also those that were compacted away.
    entries: BTreeMap<u64, Entry>,
    /// The documents at the end.
    end: State,
}

async fn past(seed: u64) -> Past {
    let mut random = Random::of(seed);
    let home = memory();
    let store = Sqlite::open(home.path()).await.unwrap();
    let mut connection = SqliteConnection::connect(store.file().to_str().unwrap()).await.unwrap();
    let (mut moments, mut entries) = (Vec::new(), BTreeMap::new());
    for revision in 1..=REVISIONS {
        let changes = (0..=random.below(3)).map(|part| {
            put(&format!("{}-{part}", random.below(20)), &format!("{seed} {revision} ").repeat(1 + random.below(40)))
        });
        let changes: BTreeMap<_, _> = changes.map(|change| (change.key().clone(), change)).collect();
        fill(&store, vec![changes.into_values().collect()]).await;
        match revision {
            20 => drop(sqlx::query("PRAGMA wal_checkpoint(RESTART)").execute(&mut connection).await.unwrap()),
            45 => drop(sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").execute(&mut connection).await.unwrap()),
            50 => store.compact(Revision(COMPACTED)).await.unwrap(),
            71 => drop(sqlx::query("PRAGMA wal_checkpoint(PASSIVE)").execute(&mut connection).await.unwrap()),
            _ => {}
        }
        entries.extend(log(&store).await.into_iter().map(|entry| (entry.revision.0, entry)));
        if matches!(revision, 3 | 4 | 19..=22 | 44..=47 | 49..=51 | 60 | 61 | 70..=73 | 89 | 90) {
            let oldest = store.head().await.unwrap().oldest.0;
            moments.push(Moment { acknowledged: revision, oldest, files: files(home.path()) });
        }
    }
    let end = store.state(None).await.unwrap();
    Past { moments, entries, end }
}

/// What must be in a store that is whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    /// Everything that was acknowledged.
    All,
    /// A part of it, from the beginning.
    Part,
    /// Anything: a part of it is of another store.
    Anything,
}

impl Past {
    /// The last revision of a store that is not refused; nothing if it is not whole.
    async fn found(&self, store: &Sqlite, moment: &Moment, wanted: Wanted, what: &str) -> Option<u64> {
        let Verified { revision, oldest, .. } = verify(store).await.ok()?;
        let found = store.entries(oldest, usize::MAX).await.ok()?;
        assert_eq!(u64::try_from(found.len()).unwrap(), revision.0 - oldest.0, "{what}");
        if wanted != Wanted::Anything {
            let is_own = |entry: &Entry| self.entries.get(&entry.revision.0) == Some(entry);
            assert!(found.iter().all(is_own), "{what}: another past");
        }
        if wanted == Wanted::All {
            assert!(revision.0 >= moment.acknowledged, "{what}: a silent loss: it ends with revision {revision}");
            assert!(
                oldest.0 <= moment.oldest.max(COMPACTED),
                "{what}: a silent loss: it begins with revision {oldest}"
            );
            let is_end = revision.0 < REVISIONS || store.state(None).await.unwrap() == self.end;
            assert!(is_end, "{what}: other documents");
        }
        Some(revision.0)
    }
}

/// What becomes of a damaged store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Unharmed,
    /// It cannot be read, or is not whole.
    Refused,
    /// It is refused as one that lost something, and opens after that was accepted.
    Accepted,
    /// It is refused as one that lost something, and what is left is not whole.
    Ruined,
}

async fn outcome(past: &Past, moment: &Moment, damaged: &Files, left: Wanted, what: &str) -> Outcome {
    let home = folder(damaged);
    let loss = match Sqlite::open(home.path()).await {
        Ok(store) => {
            let found = past.found(&store, moment, Wanted::All, what).await;
            return if found.is_some() { Outcome::Unharmed } else { Outcome::Refused };
        }
        Err(StoreError::Lost(loss)) => loss,
        Err(_) => return Outcome::Refused,
    };
    // Who only reads makes a log that is empty.
    let kept = |files: &Files| files.iter().all(|(name, bytes)| bytes.is_empty() || damaged.get(name) == Some(bytes));
    assert!(kept(&files(home.path())), "{what}: who refuses changes nothing");
    let Ok((store, accepted)) = Sqlite::accept_loss(home.path(), loss.last).await else { return Outcome::Ruined };
    assert_eq!(accepted.map(|accepted| accepted.loss), Some(*loss.clone()), "{what}");
    let Some(left) = past.found(&store, moment, left, what).await else { return Outcome::Ruined };
    assert_eq!(left, loss.last.0, "{what}");
    drop(store);
    let store = Sqlite::open(home.path()).await.unwrap_or_else(|error| panic!("{what}: {error}"));
    assert!(matches!(&*store.remarks().await.unwrap(), [Remark::Loss(known)] if known.last == loss.last), "{what}");
    Outcome::Accepted
}

/// What is done to some files of a store, and what may be left of it.
fn damage(random: &mut Random, moment: &Moment, older: &Moment, other: &Files, files: &mut Files) -> (String, Wanted) {
    const TARGETS: [&[&str]; 8] = [
        &[LOG],
        &[LOG],
        &[STORE_FILE],
        &[HEAD_FILES[0]],
        &[HEAD_FILES[1]],
        &HEAD_FILES,
        &[STORE_FILE, LOG],
        &[LOG, HEAD_FILES[1]],
    ];
    let targets = *random.of_all(&TARGETS).unwrap();
    let sort = random.below(6);
    let mut what = format!("revision {}, {targets:?}: ", moment.acknowledged);
    for name in targets.iter().copied() {
        let length = files.get(name).map_or(0, Vec::len);
        let place = random.below(length);
        match sort {
            0 if length > 0 => {
                let bit = random.below(8);
                files.get_mut(name).unwrap()[place] ^= 1 << bit;
                what += &format!("bit {bit} of byte {place} of {length} ");
            }
            1 if length > 0 => {
                files.get_mut(name).unwrap().truncate(place);
                what += &format!("cut at {place} of {length} ");
            }
            2 if length > 0 => {
                let end = (place + 1 + random.below(9_000)).min(length);
                files.get_mut(name).unwrap()[place..end].fill(0);
                what += &format!("zero from {place} to {end} of {length} ");
            }
            3 => {
                match older.files.get(name) {
                    Some(bytes) => drop(files.insert(name, bytes.clone())),
                    None => drop(files.remove(name)),
                }
                what += &format!("as of revision {} ", older.acknowledged);
            }
            4 => {
                match other.get(name) {
                    Some(bytes) => drop(files.insert(name, bytes.clone())),
                    None => drop(files.remove(name)),
                }
                what += "of another store ";
            }
            _ => {
                drop(files.remove(name));
                what += "removed ";
            }
        }
    }
    if sort == 3 && targets.contains(&STORE_FILE) && random.one_in(2) {
        for name in HEAD_FILES {
            files.remove(name);
        }
        what += "without its head";
    }
    if sort == 5 && random.one_in(3) {
        // Also one for the other.
        let [one, another] = [0, 1].map(|_| *random.of_all(&FILES).unwrap());
        let pair = [one, another].map(|name| moment.files.get(name).cloned().unwrap_or_default());
        let [first, second] = pair;
        files.extend([(one, second), (another, first)]);
        what += &format!("and {one} and {another} changed places");
    }
    (what, if sort == 4 { Wanted::Anything } else { Wanted::Part })
}

#[test]
fn s5_three_hundred_damaged_stores_are_refused_unharmed_or_accepted() {
    run(async {
        let (past, other) = (past(1).await, past(2).await);
        let mut random = Random::of(20_260_101);
        let mut outcomes = BTreeMap::<Outcome, usize>::new();
        let mut losses = 0;
        while outcomes.values().sum::<usize>() < STORES {
            let moment = random.of_all(&past.moments).unwrap();
            let earlier: Vec<&Moment> =
                past.moments.iter().filter(|other| other.acknowledged < moment.acknowledged).collect();
            let Some(older) = random.of_all(&earlier) else { continue };
            let stranger = &random.of_all(&other.moments).unwrap().files;
            let mut damaged = moment.files.clone();
            let (what, left) = damage(&mut random, moment, older, stranger, &mut damaged);
            // A folder that is another one as a whole cannot know it, and one with nothing in it neither.
            let is_whole_copy = [&older.files, stranger].contains(&&damaged);
            if damaged == moment.files || is_whole_copy || damaged.is_empty() {
                continue;
            }
            let outcome = outcome(&past, moment, &damaged, left, &what).await;
            losses += usize::from(matches!(outcome, Outcome::Accepted | Outcome::Ruined));
            *outcomes.entry(outcome).or_default() += 1;
        }
        println!(
            "{STORES} damaged stores: {outcomes:?}; {losses} were refused with the loss; none lost anything silently"
        );
        assert!(outcomes.len() == 4 && losses > 60, "{outcomes:?}");
    });
}

/// The moments of a process between two acknowledgements, at which it may be killed.
fn killed(random: &mut Random, before: &Moment, after: &Moment) -> (Files, &'static str) {
    let mut files = before.files.clone();
    let heads = |files: &mut Files, from: &Files| {
        for name in HEAD_FILES {
            files.insert(name, from[name].clone());
        }
    };
    match random.below(5) {
        0 => (files, "between two writes"),
        // The log is written from the front: it goes on, or begins anew.
        1 if before.files[STORE_FILE] == after.files[STORE_FILE] => {
            let (old, new) = (&before.files[LOG], &after.files[LOG]);
            let common = old.iter().zip(new).take_while(|(old, new)| old == new).count();
            let written = (common + random.below(new.len() - common)).max(32.min(new.len()));
            let rest = old.get(written..).unwrap_or_default();
            files.insert(LOG, [&new[..written], rest].concat());
            (files, "while it wrote the log")
        }
        2 => {
            files = after.files.clone();
            heads(&mut files, &before.files);
            (files, "before it wrote the head")
        }
        3 => {
            files = after.files.clone();
            heads(&mut files, &before.files);
            let name = HEAD_FILES[random.below(2)];
            let written = random.below(512);
            let torn = [&after.files[name][..written], &before.files[name][written..]].concat();
            files.insert(name, torn);
            (files, "while it wrote one file with the head")
        }
        _ => {
            files = after.files.clone();
            let name = HEAD_FILES[random.below(2)];
            let written = random.below(512);
            let torn = [&after.files[name][..written], &before.files[name][written..]].concat();
            files.insert(name, torn);
            (files, "while it wrote the other file with the head")
        }
    }
}

#[test]
fn three_hundred_undamaged_stores_open_without_a_question() {
    run(async {
        let past = past(3).await;
        let mut random = Random::of(20_260_101);
        let mut moments = BTreeMap::<&str, usize>::new();
        while moments.values().sum::<usize>() < STORES {
            let at = random.below(past.moments.len() - 1);
            let [before, after] = [&past.moments[at], &past.moments[at + 1]];
            if before.acknowledged + 1 != after.acknowledged {
                continue;
            }
            let (left, when) = killed(&mut random, before, after);
            let home = folder(&left);
            let what = format!("{when}, after revision {}", before.acknowledged);
            for _ in 0..2 {
                let store = Sqlite::open(home.path()).await.unwrap_or_else(|error| panic!("{what}: {error}"));
                let found = past.found(&store, before, Wanted::All, &what).await;
                assert!(found.is_some(), "{what}: it is not whole");
                assert_eq!(store.remarks().await.unwrap(), [], "{what}");
                drop(store);
            }
            let heads = HEAD_FILES.map(|name| fs::read(home.path().join(name)).unwrap());
            assert_eq!(heads[0], heads[1], "{what}: the head is repaired");
            *moments.entry(when).or_default() += 1;
        }
        println!("{STORES} undamaged stores were opened twice; killed {moments:?}");
    });
}
