//! Requests that come together are answered together.
//!
//! A proxy asks by one connection of HTTP/2 about everything that it passes on, and a decision takes less time than to wake a thread or to send an
//! answer. So what was read together is answered by the task of the connection, one request after the other, and sent together. Whatever has to
//! wait goes on in a task of its own, and so does whatever may take long: handlers let others go first (`tokio::task::yield_now`) before they begin.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

use futures::task::AtomicWaker;
use hyper::rt::Executor;

use super::watchdog::Watched;

/// Requests of one connection that nobody has begun to answer. Only the connection adds to them, while its task is at work: nothing is served
/// here that would go on beside a request, as tunnels do.
#[derive(Clone, Default)]
pub(super) struct Asked(Arc<Mutex<Vec<Answering>>>);

/// What answers a request, until the answer is on its way.
type Answering = Pin<Box<dyn Future<Output = ()> + Send>>;

impl<F: Future<Output = ()> + Send + 'static> Executor<F> for Asked {
    fn execute(&self, answering: F) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(Box::pin(answering));
    }
}

/// So many requests are answered before the answers are sent, however many wait.
const AT_ONCE: usize = 32;

/// So often a connection answers before others get their turn.
const ROUNDS: usize = 4;

/// Once answers took so long, those who still wait get tasks of their own, which other threads can take.
pub(super) const LONG: Duration = Duration::from_millis(1);

/// A connection with the requests that come by it.
pub(super) struct Together<C> {
    connection: Pin<Box<C>>,
    asked: Asked,
    /// What is a long time for the answers of a round.
    long: Duration,
    bell: Arc<Bell>,
    waker: Waker,
}

impl<C: Future> Together<C> {
    /// The connection hands its requests over to `asked`; answers that together took `long` make others wait no longer.
    pub(super) fn new(connection: C, asked: Asked, long: Duration) -> Self {
        let bell = Arc::new(Bell::default());
        let waker = Waker::from(Arc::clone(&bell));
        Self { connection: Box::pin(connection), asked, long, waker, bell }
    }

    /// The connection itself.
    pub(super) fn connection(&mut self) -> Pin<&mut C> {
        self.connection.as_mut()
    }

    fn taken(&self, most: usize) -> Vec<Answering> {
        let mut asked = self.asked.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = asked.len().min(most);
        asked.drain(..count).collect()
    }
}

impl<C: Future> Future for Together<C> {
    type Output = C::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<C::Output> {
        let own = &mut *self;
        own.bell.begin(context.waker());
        for _ in 0..ROUNDS {
            own.bell.hear();
            let polled = own.connection.as_mut().poll(&mut Context::from_waker(&own.waker));
            if polled.is_ready() {
                // What was asked is done, whoever is still there to hear of it.
                own.taken(usize::MAX).into_iter().for_each(|answering| drop(tokio::spawn(Watched::new(answering))));
                return polled;
            }
            let asked = own.taken(AT_ONCE);
            if asked.is_empty() {
                own.bell.end();
                return Poll::Pending;
            }
            let begun = Instant::now();
            for answering in asked {
                if begun.elapsed() < own.long {
                    begin(answering);
                } else {
                    drop(tokio::spawn(Watched::new(answering)));
                }
            }
        }
        // There may be more to do, after the others.
        own.bell.rang.store(true, Ordering::SeqCst);
        own.bell.end();
        Poll::Pending
    }
}

impl<C> Drop for Together<C> {
    fn drop(&mut self) {
        // Each of them could hand over more, and keeps the list for that.
        self.asked.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// Answers a request as far as that goes without waiting.
fn begin(mut answering: Answering) {
    // Whoever waits is asked again by the task that it gets, so nobody has to be woken before.
    let poll = || answering.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    match catch_unwind(AssertUnwindSafe(poll)) {
        Ok(Poll::Ready(())) => {}
        Ok(Poll::Pending) => drop(tokio::spawn(Watched::new(answering))),
        Err(_) => tracing::error!("a request failed; others of its connection go on"),
    }
}

/// Wakes the task of a connection; not while that task is at work, which looks again before it rests.
#[derive(Default)]
struct Bell {
    task: AtomicWaker,
    at_work: AtomicBool,
    rang: AtomicBool,
}

impl Bell {
    fn begin(&self, task: &Waker) {
        self.task.register(task);
        self.at_work.store(true, Ordering::SeqCst);
    }

    /// Whatever rang up to now is being looked at.
    fn hear(&self) {
        self.rang.store(false, Ordering::SeqCst);
    }

    /// The task rests, unless it rang since it last looked.
    fn end(&self) {
        self.at_work.store(false, Ordering::SeqCst);
        if self.rang.load(Ordering::SeqCst) {
            self.task.wake();
        }
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.rang.store(true, Ordering::SeqCst);
        if !self.at_work.load(Ordering::SeqCst) {
            self.task.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, poll_fn};
    use std::sync::atomic::AtomicUsize;

    use super::*;

    /// Counts how often it is woken.
    #[derive(Default)]
    struct Counted(AtomicUsize);

    impl Wake for Counted {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// With answers that never take long, whatever else the machine does.
    fn patient<C: Future>(connection: C, asked: Asked) -> Together<C> {
        Together::new(connection, asked, Duration::MAX)
    }

    /// What a connection of the tests was seen to do.
    type Seen = Arc<Mutex<Vec<String>>>;

    fn note(seen: &Seen, what: &str) {
        seen.lock().unwrap().push(what.to_owned());
    }

    /// Notes that it is polled, and reads some requests the first time; each notes its number, and rings as one does that has an answer to send.
    fn connection(asked: &Asked, seen: &Seen, requests: usize) -> impl Future<Output = ()> + use<> {
        let (asked, seen, mut left) = (asked.clone(), Arc::clone(seen), requests);
        poll_fn(move |context| {
            note(&seen, "polled");
            for number in 0..std::mem::take(&mut left) {
                let (seen, waker) = (Arc::clone(&seen), context.waker().clone());
                asked.execute(async move {
                    note(&seen, &number.to_string());
                    waker.wake();
                });
            }
            Poll::Pending
        })
    }

    fn poll<C: Future>(together: &mut Together<C>) -> (Poll<C::Output>, usize) {
        let woken = Arc::new(Counted::default());
        let waker = Waker::from(Arc::clone(&woken));
        let polled = Pin::new(together).poll(&mut Context::from_waker(&waker));
        (polled, woken.0.load(Ordering::SeqCst))
    }

    #[test]
    fn what_was_read_together_is_answered_before_the_connection_sends() {
        let (asked, seen) = (Asked::default(), Seen::default());
        let mut together = patient(connection(&asked, &seen, 3), asked.clone());
        let (polled, woken) = poll(&mut together);
        assert!(polled.is_pending());
        assert_eq!(*seen.lock().unwrap(), ["polled", "0", "1", "2", "polled"]);
        assert_eq!(woken, 0, "nobody is woken to look at what was looked at");
    }

    #[test]
    fn who_asks_without_end_lets_others_have_their_turn() {
        let (asked, seen) = (Asked::default(), Seen::default());
        let mut together = patient(connection(&asked, &seen, 1000), asked.clone());
        let answered = || seen.lock().unwrap().iter().filter(|what| *what != "polled").count();
        assert_eq!((poll(&mut together).1, answered()), (1, ROUNDS * AT_ONCE), "it goes on later");
        while answered() < 1000 {
            assert_eq!(poll(&mut together).1, 1);
        }
        assert_eq!(poll(&mut together).1, 0);
        let seen = seen.lock().unwrap();
        assert!(seen.split(|what| what == "polled").all(|answered| answered.len() <= AT_ONCE));
    }

    #[tokio::test]
    async fn what_has_to_wait_goes_on_by_itself() {
        let (asked, seen) = (Asked::default(), Seen::default());
        let connection = connection(&asked, &seen, 1);
        let (waiting, own) = (Arc::clone(&seen), asked.clone());
        own.execute(async move {
            tokio::task::yield_now().await;
            note(&waiting, "waited");
        });
        let mut together = patient(connection, own);
        assert!(poll(&mut together).0.is_pending());
        assert_eq!(*seen.lock().unwrap(), ["polled", "0", "polled"]);
        tokio::task::yield_now().await;
        assert_eq!(seen.lock().unwrap().last().unwrap(), "waited");
    }

    #[tokio::test]
    async fn who_comes_after_a_long_answer_does_not_wait_for_its_connection() {
        let (asked, seen) = (Asked::default(), Seen::default());
        let connection = connection(&asked, &seen, 1);
        let mut together = Together::new(connection, asked, Duration::ZERO);
        assert!(poll(&mut together).0.is_pending());
        assert_eq!(*seen.lock().unwrap(), ["polled", "polled"]);
        tokio::task::yield_now().await;
        assert_eq!(*seen.lock().unwrap(), ["polled", "polled", "0"]);
    }

    #[test]
    fn a_request_that_fails_leaves_the_others_alone() {
        let (asked, seen) = (Asked::default(), Seen::default());
        asked.execute(async { panic!("on purpose") });
        let mut together = patient(connection(&asked, &seen, 1), asked.clone());
        assert!(poll(&mut together).0.is_pending());
        assert_eq!(*seen.lock().unwrap(), ["polled", "0", "polled"]);
    }

    #[tokio::test]
    async fn what_was_asked_is_done_when_the_connection_has_ended() {
        let (asked, seen) = (Asked::default(), Seen::default());
        let (asking, answering) = (asked.clone(), Arc::clone(&seen));
        let connection = poll_fn(move |_| {
            let seen = Arc::clone(&answering);
            asking.execute(async move { note(&seen, "done") });
            Poll::Ready(())
        });
        patient(connection, asked).await;
        tokio::task::yield_now().await;
        assert_eq!(*seen.lock().unwrap(), ["done"]);
    }

    #[test]
    fn others_wake_a_connection_that_rests() {
        let asked = Asked::default();
        let kept: Arc<Mutex<Option<Waker>>> = Arc::default();
        let keep = Arc::clone(&kept);
        let connection = poll_fn(move |context| {
            *keep.lock().unwrap() = Some(context.waker().clone());
            Poll::<()>::Pending
        });
        let mut together = patient(connection, asked);
        let woken = Arc::new(Counted::default());
        let waker = Waker::from(Arc::clone(&woken));
        assert!(Pin::new(&mut together).poll(&mut Context::from_waker(&waker)).is_pending());
        kept.lock().unwrap().take().unwrap().wake();
        assert_eq!(woken.0.load(Ordering::SeqCst), 1);
    }

    #[test]
    fn a_connection_that_goes_takes_its_requests_with_it() {
        let (asked, held) = (Asked::default(), Arc::new(()));
        let (own, kept) = (asked.clone(), Arc::clone(&held));
        asked.execute(async move {
            let _both = (own, kept);
            pending::<()>().await;
        });
        drop(patient(pending::<()>(), asked));
        assert_eq!(Arc::strong_count(&held), 1);
    }
}
