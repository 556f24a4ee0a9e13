//! The log in a simulated database: machines crash, wires are cut, and answers get lost. Whatever was acknowledged is there once, in order.
//!
//! The server's tests simulate servers on top of it; this runs many more seeds in the same time.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use tokio::time::{sleep, timeout};
use upheld_store::testing::simulation::{Durability, Machine, Random, SimulatedDatabase, Wire, run};
use upheld_store::{Appended, Batch, Entry, IdempotencyKey, Result, Revision, State, Store, StoreError};

use crate::support::{batch, put};

/// How many seeds there are.
const SEEDS: &str = "UPHELD_SIMULATIONS";
const USUAL: u64 = 3_000;

#[test]
fn what_is_acknowledged_is_kept_once_and_in_order() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let first = number("PROPTEST_RNG_SEED").unwrap_or_default() % 1_000_000;
    let (mut acknowledged, mut failed) = (0, 0);
    for seed in first..first + number(SEEDS).unwrap_or(USUAL) {
        let (history, log) = simulated(seed, Durability::Kept);
        acknowledged += history.iter().filter(|act| matches!(act.came, Came::To(_))).count();
        failed += history.iter().filter(|act| matches!(act.came, Came::Unknown)).count();
        let violation = violation(&history, &log);
        assert_eq!(violation, None, "seed {seed}: {history:#?} {log:#?}");
    }
    println!("{acknowledged} writes acknowledged, {failed} of which nobody knows");
    assert!(acknowledged > 1000 && failed > 100, "{acknowledged} {failed}");
}

/// The planted fault: a database that acknowledges before it wrote.
#[test]
fn a_commit_that_is_late_on_the_disk_is_found() {
    let is_found = |seed: &u64| {
        let (history, log) = simulated(*seed, Durability::Late);
        violation(&history, &log).is_some()
    };
    let found = (0..500).find(is_found);
    println!("found by seed {found:?}");
    assert!(found.is_some());
}

/// Something that a client did.
#[derive(Debug)]
struct Act {
    number: u64,
    asked: u64,
    answered: u64,
    came: Came,
}

#[derive(Debug)]
enum Came {
    /// A write to a revision.
    To(Revision),
    /// A write to the revision that it came to when it was asked for before.
    Before(Revision),
    /// A read to a state.
    State(State),
    /// It was refused: others were faster.
    Refused,
    Unknown,
}

/// The first thing that is not as it must be.
fn violation(history: &[Act], log: &[Entry]) -> Option<String> {
    let mut at = BTreeMap::new();
    let mut states = vec![State::default()];
    for (place, entry) in (1..).zip(log) {
        if entry.revision != Revision(place) {
            return Some(format!("revision {place} is missing"));
        }
        if at.insert(entry.message.clone().unwrap_or_default(), entry.revision).is_some() {
            return Some(format!("revision {place} is there twice"));
        }
        let mut state = states.last()?.clone();
        state.apply(entry);
        if state.digest() != entry.digest {
            return Some(format!("the digest of revision {place} is not that of its documents"));
        }
        states.push(state);
    }
    history.iter().find_map(|act| {
        let known =
            history.iter().filter(|earlier| earlier.answered < act.asked).filter_map(|earlier| match &earlier.came {
                Came::To(revision) => Some(*revision),
                Came::State(state) => Some(state.revision()),
                Came::Before(_) | Came::Refused | Came::Unknown => None,
            });
        let known = known.max().unwrap_or_default();
        match &act.came {
            Came::To(revision) | Came::Before(revision) if at.get(&act.number.to_string()) != Some(revision) => {
                Some(format!("acknowledged as {revision}, and not there: {}", act.number))
            }
            Came::To(revision) if *revision <= known => Some(format!("{known} was known before {revision}")),
            Came::State(state) if state.revision() < known => {
                Some(format!("{known} was known before {}", state.revision()))
            }
            Came::State(state) => {
                let kept = usize::try_from(state.revision().0).ok().and_then(|place| states.get(place));
                (kept != Some(state)).then(|| format!("another state at {}", state.revision()))
            }
            _ => None,
        }
    })
}

struct World {
    outside: Machine,
    database: SimulatedDatabase,
    hosts: Vec<Host>,
    moments: Cell<u64>,
    history: RefCell<Vec<Act>>,
}

struct Host {
    machine: RefCell<Machine>,
    wire: Wire,
    store: RefCell<Option<Arc<dyn Store>>>,
}

fn simulated(seed: u64, durability: Durability) -> (Vec<Act>, Vec<Entry>) {
    run(seed, |outside| async move {
        let count = outside.random(|random| random.below(3)) + 1;
        let host =
            || Host { machine: RefCell::new(outside.another()), wire: Wire::default(), store: RefCell::default() };
        let world = World {
            database: SimulatedDatabase::new(&outside, durability),
            hosts: (0..count).map(|_| host()).collect(),
            outside: outside.clone(),
            moments: Cell::new(0),
            history: RefCell::default(),
        };
        for host in &world.hosts {
            world.start(host).await;
        }
        let clients = world.random(|random| random.below(3)) + 2;
        let clients = join_all((0..clients as u64).map(|client| world.asks(client * 100)));
        tokio::join!(clients, world.suffers());
        sleep(Duration::from_secs(10)).await;
        let log = world.database.log().await.unwrap();
        (world.history.into_inner(), log)
    })
}

impl World {
    fn random<T>(&self, choose: impl FnOnce(&mut Random) -> T) -> T {
        self.outside.random(choose)
    }

    fn moment(&self) -> u64 {
        self.moments.set(self.moments.get() + 1);
        self.moments.get()
    }

    async fn start(&self, host: &Host) {
        *host.machine.borrow_mut() = self.outside.another();
        loop {
            let (database, wire, machine) = (self.database.clone(), host.wire.clone(), host.machine.borrow().clone());
            let opened = machine.asked(async move { database.open(&wire).await }).await;
            if let Some(Ok(store)) = opened {
                *host.store.borrow_mut() = Some(store);
                return;
            }
            sleep(Duration::from_millis(500)).await;
        }
    }

    async fn wait(&self, from: u64, to: u64) {
        sleep(self.random(|random| random.milliseconds(from, to))).await;
    }

    async fn suffers(&self) {
        for _ in 0..self.random(|random| random.below(6)) {
            self.wait(5, 1_500).await;
            let host = &self.hosts[self.random(|random| random.below(self.hosts.len()))];
            match self.random(|random| random.below(3)) {
                0 => {
                    drop(host.store.borrow_mut().take());
                    host.machine.borrow().crash();
                    self.wait(5, 500).await;
                    self.start(host).await;
                }
                1 => {
                    host.wire.cut();
                    self.wait(5, 4_000).await;
                    host.wire.mend();
                }
                _ => {
                    self.database.crash();
                    self.wait(5, 1_000).await;
                    self.database.start();
                }
            }
        }
    }

    /// Asks one thing after the other.
    async fn asks(&self, client: u64) {
        for number in client..client + 8 {
            sleep(self.random(Random::pause)).await;
            let reads = self.random(|random| random.one_in(3));
            for _ in 0..3 {
                let asked = self.moment();
                let host = &self.hosts[self.random(|random| random.below(self.hosts.len()))];
                let (machine, store) = (host.machine.borrow().clone(), host.store.borrow().clone());
                let came = match store {
                    None => Came::Unknown,
                    Some(store) if reads => {
                        let state = machine.asked(async move { store.state(None).await }).await;
                        state.and_then(Result::ok).map_or(Came::Unknown, Came::State)
                    }
                    Some(store) => {
                        let patience =
                            self.random(|random| if random.one_in(6) { random.milliseconds(0, 50) } else { PATIENCE });
                        let asked = machine.asked(async move { append(&*store, number).await });
                        match timeout(patience, asked).await {
                            Ok(Some(Ok(Appended::Now(revision, _)))) => Came::To(revision),
                            Ok(Some(Ok(Appended::Before(revision)))) => Came::Before(revision),
                            Ok(Some(Err(StoreError::Conflict(_)))) => Came::Refused,
                            _ => Came::Unknown,
                        }
                    }
                };
                let is_known = !matches!(came, Came::Unknown | Came::Refused);
                let answered = self.moment();
                self.history.borrow_mut().push(Act { number, asked, answered, came });
                if is_known {
                    break;
                }
            }
        }
    }
}

/// How long clients wait for an answer.
const PATIENCE: Duration = Duration::from_secs(15);

async fn append(store: &dyn Store, number: u64) -> Result<Appended> {
    let head = store.head().await?;
    let name = number.to_string();
    let key = IdempotencyKey { name: name.clone(), request: name.clone() };
    let changes = vec![put(&format!("k{}", number % 5), &name)];
    let asked = Batch {
        seen: Some(head.digest),
        message: Some(name),
        idempotency: Some(key),
        ..batch(head.revision.0, changes)
    };
    store.append(asked).await
}
