//! What a process gets from its machine: the time, tasks, and threads for work that takes long.
//!
//! Store and server take all of these from here. With the feature `testing`, a simulated machine can take the place of the real one
//! (`testing/simulation.rs`): then one seed decides in which order everything happens.

use std::time::Duration;

use jiff::Timestamp;
use tokio::task::JoinHandle;
use tokio::time::Instant;

#[cfg(feature = "testing")]
use crate::testing::simulation;

/// The time on the clock of this machine.
pub fn now() -> Timestamp {
    #[cfg(feature = "testing")]
    if let Some(now) = simulation::now() {
        return now;
    }
    Timestamp::now()
}

/// A moment, to ask later how long ago it was.
///
/// A clock that is put back makes nothing younger, and a machine that slept makes everything older: of what the clock says and what the
/// processor counts, the longer time holds.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    clock: Timestamp,
    counted: Instant,
}

impl Moment {
    /// This one.
    pub fn now() -> Self {
        Self { clock: now(), counted: Instant::now() }
    }

    /// How long ago it was.
    pub fn elapsed(&self) -> Duration {
        let by_clock = Duration::try_from(now().duration_since(self.clock)).unwrap_or_default();
        self.counted.elapsed().max(by_clock)
    }
}

/// Work that goes on beside whoever began it. It does so, too, when this is dropped.
#[derive(Debug)]
pub struct Task(Kind);

#[derive(Debug)]
enum Kind {
    Real(JoinHandle<()>),
    #[cfg(feature = "testing")]
    Simulated(simulation::Task),
}

/// Begins a task.
pub fn spawn(task: impl Future<Output = ()> + Send + 'static) -> Task {
    #[cfg(feature = "testing")]
    if let Some(machine) = simulation::Machine::here() {
        return Task(Kind::Simulated(machine.spawn(task)));
    }
    Task(Kind::Real(tokio::spawn(task)))
}

impl Task {
    /// Ends it, wherever it is.
    pub fn end(&self) {
        match &self.0 {
            Kind::Real(task) => task.abort(),
            #[cfg(feature = "testing")]
            Kind::Simulated(task) => task.end(),
        }
    }

    /// Waits until it is done.
    pub async fn done(self) {
        match self.0 {
            Kind::Real(task) => drop(task.await),
            #[cfg(feature = "testing")]
            Kind::Simulated(task) => task.done().await,
        }
    }
}

/// Work on another thread did not come to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped;

/// Does work that takes long on a thread where no task waits for it.
pub async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Stopped> {
    #[cfg(feature = "testing")]
    if let Some(pause) = simulation::pause() {
        tokio::time::sleep(pause).await;
        return Ok(work());
    }
    tokio::task::spawn_blocking(work).await.map_err(|_| Stopped)
}

/// Whether whoever asks goes on on a simulated machine.
pub fn is_simulated() -> bool {
    #[cfg(feature = "testing")]
    return simulation::Machine::here().is_some();
    #[cfg(not(feature = "testing"))]
    false
}
