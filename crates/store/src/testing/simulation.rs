//! Simulated machines: many of them on one thread, with a clock that jumps from one event to the next.
//!
//! A seed decides which of the tasks that could go on goes on next, how long work takes, and everything else that is random. The same seed
//! gives the same run.

mod database;
mod random;
mod tables;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use futures::future::BoxFuture;
use jiff::{SignedDuration, Timestamp};
use tokio::runtime::Builder;
use tokio::sync::oneshot;
use tokio::time::Instant;

pub use database::{Durability, SimulatedDatabase, Wire};
pub use random::Random;

thread_local! {
    /// The machine whose task goes on just now on this thread.
    static HERE: RefCell<Option<Machine>> = const { RefCell::new(None) };
}

/// When every simulation begins: 2026-01-01.
const BEGIN: Timestamp = Timestamp::constant(1_767_225_600, 0);

/// A run that goes on for more steps than this does not end.
const MOST_STEPS: u64 = 5_000_000;

/// Runs a world: its future is told where it begins, and how long it takes is decided by what it waits for.
///
/// # Panics
///
/// If it does not end.
#[expect(clippy::expect_used, reason = "a test cannot go on without")]
pub fn run<T, W: Future<Output = T>>(seed: u64, world: impl FnOnce(Machine) -> W) -> T {
    let runtime = Builder::new_current_thread().enable_time().start_paused(true).build().expect("a runtime");
    let world = async {
        let simulation = Arc::new(Simulation {
            random: Mutex::new(Random::of(seed)),
            begun: Instant::now(),
            tasks: Mutex::default(),
            ready: Arc::default(),
        });
        let outside = simulation.machine();
        let waker = Waker::from(Arc::new(Ring { task: WORLD, ready: Arc::clone(&simulation.ready) }));
        waker.wake_by_ref();
        let mut world = pin!(world(outside.clone()));
        let mut steps = 0;
        let result = std::future::poll_fn(|context| {
            lock(&simulation.ready.0).whole = Some(context.waker().clone());
            while let Some(task) = simulation.next() {
                steps += 1;
                assert!(steps < MOST_STEPS, "seed {seed} does not end");
                if task != WORLD {
                    simulation.go_on(task);
                } else if let Poll::Ready(result) =
                    outside.does(|| world.as_mut().poll(&mut Context::from_waker(&waker)))
                {
                    return Poll::Ready(result);
                }
            }
            Poll::Pending
        });
        let result = result.await;
        outside.does(|| simulation.end());
        result
    };
    // What a test waits for is decided here, and not by how much a task did already.
    runtime.block_on(tokio::task::unconstrained(world))
}

/// The number of the future that a simulation runs for.
const WORLD: u64 = 0;

struct Simulation {
    random: Mutex<Random>,
    begun: Instant,
    tasks: Mutex<Tasks>,
    ready: Arc<Ready>,
}

#[derive(Default)]
struct Tasks {
    /// How many there were.
    begun: u64,
    all: BTreeMap<u64, Slot>,
}

struct Slot {
    machine: Machine,
    waker: Waker,
    /// None while it goes on.
    future: Option<BoxFuture<'static, ()>>,
}

/// Tasks that can go on.
#[derive(Default)]
struct Ready(Mutex<Rung>);

#[derive(Default)]
struct Rung {
    tasks: BTreeSet<u64>,
    /// Wakes all of the simulation.
    whole: Option<Waker>,
}

/// Wakes one task.
struct Ring {
    task: u64,
    ready: Arc<Ready>,
}

impl Wake for Ring {
    fn wake(self: Arc<Self>) {
        let whole = {
            let mut rung = lock(&self.ready.0);
            rung.tasks.insert(self.task);
            rung.whole.clone()
        };
        whole.iter().for_each(Waker::wake_by_ref);
    }
}

impl Simulation {
    fn machine(self: &Arc<Self>) -> Machine {
        Machine(Arc::new(Inside { simulation: Arc::clone(self), state: Mutex::default() }))
    }

    /// Any of the tasks that can go on.
    fn next(&self) -> Option<u64> {
        let mut rung = lock(&self.ready.0);
        let count = rung.tasks.len();
        if count == 0 {
            return None;
        }
        let place = if count == 1 { 0 } else { lock(&self.random).below(count) };
        let task = rung.tasks.iter().nth(place).copied()?;
        rung.tasks.remove(&task);
        Some(task)
    }

    fn go_on(&self, task: u64) {
        let taken = lock(&self.tasks).all.get_mut(&task).and_then(|slot| {
            let future = slot.future.take()?;
            Some((future, slot.machine.clone(), slot.waker.clone()))
        });
        let Some((mut future, machine, waker)) = taken else { return };
        let done = machine.does(|| Pin::new(&mut future).poll(&mut Context::from_waker(&waker)));
        let gone = {
            let mut tasks = lock(&self.tasks);
            match (done, tasks.all.get_mut(&task)) {
                (Poll::Pending, Some(slot)) => {
                    slot.future = Some(future);
                    None
                }
                _ => Some((future, tasks.all.remove(&task))),
            }
        };
        // What ends may begin something else.
        machine.does(|| drop(gone));
    }

    /// Ends all tasks, also those that begin because others end.
    fn end(&self) {
        loop {
            let all = std::mem::take(&mut lock(&self.tasks).all);
            if all.is_empty() {
                return;
            }
        }
    }
}

/// A machine that lives until it crashes.
#[derive(Clone)]
pub struct Machine(Arc<Inside>);

struct Inside {
    simulation: Arc<Simulation>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// By how much its clock is wrong.
    off: SignedDuration,
    is_down: bool,
}

impl fmt::Debug for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Machine").finish_non_exhaustive()
    }
}

/// The time on the clock of the machine whose task goes on.
pub(crate) fn now() -> Option<Timestamp> {
    Machine::here().map(|machine| machine.now())
}

impl Machine {
    /// The one whose task goes on just now on this thread.
    pub fn here() -> Option<Self> {
        HERE.with_borrow(Clone::clone)
    }

    /// One more.
    #[must_use]
    pub fn another(&self) -> Self {
        self.0.simulation.machine()
    }

    /// Something random, from what the seed of this run gives.
    pub fn random<T>(&self, choose: impl FnOnce(&mut Random) -> T) -> T {
        choose(&mut lock(&self.0.simulation.random))
    }

    /// The time on its clock.
    pub fn now(&self) -> Timestamp {
        let passed = self.0.simulation.begun.elapsed();
        let passed = SignedDuration::try_from(passed).unwrap_or_default();
        BEGIN.saturating_add(passed + lock(&self.0.state).off).unwrap_or(BEGIN)
    }

    /// Puts its clock forward, or back.
    pub fn put_clock(&self, by: SignedDuration) {
        lock(&self.0.state).off += by;
    }

    /// Begins a task on it. A machine that is down does nothing.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) -> Task {
        let simulation = Arc::clone(&self.0.simulation);
        let (alive, done) = oneshot::channel();
        let id = {
            let mut tasks = lock(&simulation.tasks);
            tasks.begun += 1;
            tasks.begun
        };
        if !lock(&self.0.state).is_down {
            let future = Box::pin(async move {
                let _alive: oneshot::Sender<()> = alive;
                task.await;
            });
            let waker = Waker::from(Arc::new(Ring { task: id, ready: Arc::clone(&simulation.ready) }));
            waker.wake_by_ref();
            let slot = Slot { machine: self.clone(), waker, future: Some(future) };
            lock(&simulation.tasks).all.insert(id, slot);
        }
        Task { id, simulation, done }
    }

    /// Does something on it and waits for what comes of it; nothing comes if it crashes before.
    pub async fn asked<T: Send + 'static>(&self, work: impl Future<Output = T> + Send + 'static) -> Option<T> {
        let (answers, answer) = oneshot::channel();
        drop(self.spawn(async move { drop(answers.send(work.await)) }));
        answer.await.ok()
    }

    /// Goes down: all of its tasks end where they are, and none begins any more.
    pub fn crash(&self) {
        lock(&self.0.state).is_down = true;
        let mut tasks = lock(&self.0.simulation.tasks);
        let own = |slot: &Slot| Arc::ptr_eq(&slot.machine.0, &self.0);
        let (gone, stay) = std::mem::take(&mut tasks.all).into_iter().partition(|(_, slot)| own(slot));
        tasks.all = stay;
        drop(tasks);
        let gone: BTreeMap<u64, Slot> = gone;
        drop(gone);
    }

    fn does<T>(&self, work: impl FnOnce() -> T) -> T {
        let before = HERE.replace(Some(self.clone()));
        let result = work();
        HERE.set(before);
        result
    }
}

/// How long work takes that goes on beside.
pub(crate) fn pause() -> Option<Duration> {
    Machine::here().map(|machine| machine.random(Random::pause))
}

/// A task of a simulated machine.
pub(crate) struct Task {
    id: u64,
    simulation: Arc<Simulation>,
    done: oneshot::Receiver<()>,
}

impl fmt::Debug for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Task").field("id", &self.id).finish_non_exhaustive()
    }
}

impl Task {
    pub(crate) fn end(&self) {
        let gone = lock(&self.simulation.tasks).all.remove(&self.id);
        drop(gone);
    }

    pub(crate) async fn done(self) {
        // Nothing is ever sent: it ends when the task is gone.
        drop(self.done.await);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What two tasks on two machines do, in the order in which they do it, with the times on their clocks.
    fn story(seed: u64) -> Vec<String> {
        run(seed, |outside| async move {
            let told = Arc::new(Mutex::new(Vec::new()));
            for name in ["a", "b"] {
                let machine = outside.another();
                let told = Arc::clone(&told);
                drop(machine.spawn(async move {
                    for step in 0..4 {
                        let now = Machine::here().unwrap().now();
                        lock(&told).push(format!("{name}{step} {now}"));
                        tokio::time::sleep(pause().unwrap()).await;
                    }
                }));
            }
            tokio::time::sleep(Duration::from_mins(1)).await;
            std::mem::take(&mut *lock(&told))
        })
    }

    #[test]
    fn a_seed_tells_one_story_and_another_seed_tells_another() {
        assert_eq!(story(7), story(7));
        let stories: BTreeSet<Vec<String>> = (0..20).map(story).collect();
        assert!(stories.len() > 10, "{} stories", stories.len());
    }

    #[test]
    fn what_is_on_a_machine_that_crashes_ends() {
        run(1, |outside| async move {
            let machine = outside.another();
            let (other, own) = (outside.another(), machine.clone());
            drop(other.spawn(async move {
                tokio::time::sleep(Duration::from_secs(1)).await;
                own.crash();
            }));
            let never = machine.asked(tokio::time::sleep(Duration::from_secs(2))).await;
            assert_eq!(never, None);
            assert_eq!(machine.asked(async {}).await, None, "and nothing begins on it");
            assert_eq!(other.asked(async { 7 }).await, Some(7));
        });
    }
}
