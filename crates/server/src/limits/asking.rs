//! Who asks, and what their request may still take: the same wherever it is worked on.
//!
//! A page asks several endpoints in the name of its reader. All of that is one request: it has one place, one time and one budget.

use std::convert::Infallible;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use smol_str::SmolStr;
use tokio::sync::watch;
use tokio::time::Instant;
use upheld_engine::work::Work;

use super::clients::{Held, network};
use super::lanes::Length;
use crate::app::App;
use crate::auth::{Access, AuthMethod, Caller};
use crate::telemetry::{InFlight, Metrics, Observed, QuestionState};

/// Whose questions wait for each other.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Asker {
    /// Somebody by their name.
    Name(AuthMethod, SmolStr),
    /// Those of one network who do not say who they are.
    Network([u8; 16]),
    /// Somebody of whom nothing is known, or the server itself.
    Unknown,
}

impl Asker {
    /// Of a caller who may be at an address.
    fn of(caller: Option<&Caller>, address: Option<IpAddr>) -> Self {
        match (caller.filter(|caller| caller.how != AuthMethod::Anonymous), address) {
            (Some(caller), _) => Self::Name(caller.how, caller.name.clone()),
            (None, Some(address)) => Self::Network(network(address)),
            (None, None) => Self::Unknown,
        }
    }
}

/// A request that is worked on. When the last of these is gone, its work ends at its next step.
#[derive(Clone, Debug)]
pub(crate) struct Asking(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    asker: Asker,
    work: Work,
    most_steps: u64,
    /// When it should come to an end with what it has.
    hurries: Option<Instant>,
    /// Where questions of somebody are counted.
    metrics: Option<Arc<Metrics>>,
    /// Told when the server is to end.
    ending: Option<watch::Receiver<bool>>,
    /// Bytes of what was asked on the way to the answer.
    held: Mutex<Vec<Held>>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.work.end();
    }
}

tokio::task_local! {
    static HERE: (Asking, Length);
}

impl Asking {
    /// Of whoever made a request.
    pub(crate) fn of(app: &App, observed: &Observed) -> Self {
        let address = observed.access().and_then(Access::address);
        Self::by(app, Asker::of(observed.caller(), address))
    }

    /// Of whoever reads a page.
    pub(crate) fn of_reader(app: &App, caller: Option<&Caller>, address: Option<IpAddr>) -> Self {
        Self::by(app, Asker::of(caller, address))
    }

    fn by(app: &App, asker: Asker) -> Self {
        let most_steps = app.config.limits.steps;
        // What is left is for writing the answer.
        let hurries = Instant::now().checked_add(app.config.limits.time / 4 * 3);
        Self(Arc::new(Inner {
            asker,
            hurries,
            work: Work::of_steps(most_steps),
            most_steps,
            metrics: Some(Arc::clone(&app.metrics)),
            ending: Some(app.ending.subscribe()),
            held: Mutex::default(),
        }))
    }

    /// Of the server itself.
    fn own() -> Self {
        let (work, most_steps) = (Work::default(), u64::MAX);
        Self::unknown(work, most_steps, None)
    }

    fn unknown(work: Work, most_steps: u64, ending: Option<watch::Receiver<bool>>) -> Self {
        let (asker, held) = (Asker::Unknown, Mutex::default());
        Self(Arc::new(Inner { asker, work, most_steps, hurries: None, metrics: None, ending, held }))
    }

    /// Of somebody who may take so many steps.
    #[cfg(test)]
    pub(super) fn of_tests(most_steps: u64, ending: Option<watch::Receiver<bool>>) -> Self {
        Self::unknown(Work::of_steps(most_steps), most_steps, ending)
    }

    /// The request that is worked on here, if there is one.
    pub(crate) fn here() -> Option<Self> {
        HERE.try_with(|(asking, _)| asking.clone()).ok()
    }

    /// The same, with how long it takes.
    pub(super) fn here_or_own() -> (Self, Length) {
        HERE.try_with(Clone::clone).unwrap_or_else(|_| (Self::own(), Length::Short))
    }

    /// Does something for it.
    pub(crate) async fn during<F: Future>(self, length: Length, part: F) -> F::Output {
        HERE.scope((self, length), part).await
    }

    pub(super) fn asker(&self) -> &Asker {
        &self.0.asker
    }

    pub(super) fn work(&self) -> &Work {
        &self.0.work
    }

    pub(super) fn most_steps(&self) -> u64 {
        self.0.most_steps
    }

    /// Waits until it should come to an end with what it has, and says so to its work.
    pub(super) async fn hurries(&self) -> Infallible {
        if let Some(hurries) = self.0.hurries {
            tokio::time::sleep_until(hurries).await;
            self.work().hurry();
        }
        std::future::pending().await
    }

    /// Counts one of its questions, until what is returned goes.
    pub(super) fn counted(&self, lane: Length, state: QuestionState) -> Option<InFlight> {
        self.0.metrics.as_ref()?.question(lane, state)
    }

    /// Waits until the server is to end.
    pub(super) async fn server_ends(&self) {
        let ended = match self.0.ending.clone() {
            Some(mut ending) => ending.wait_for(|ends| *ends).await.is_ok(),
            None => false,
        };
        if !ended {
            std::future::pending::<()>().await;
        }
    }

    /// Keeps bytes counted until it is answered.
    pub(super) fn keep(&self, held: Held) {
        self.0.held.lock().unwrap_or_else(PoisonError::into_inner).push(held);
    }
}

/// Does what turned out to take long among what does.
pub(crate) async fn at_length<F: Future>(part: F) -> F::Output {
    let (asking, _) = Asking::here_or_own();
    asking.during(Length::Long, part).await
}
