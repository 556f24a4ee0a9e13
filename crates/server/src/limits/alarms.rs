//! An end for what takes too long, at next to no cost for what does not.
//!
//! To begin a timer wakes the thread that waits for the earliest one; to move one that runs is a single write. So each connection
//! keeps the timers of its earlier requests.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::{Mutex, PoisonError};
use std::task::Poll;
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep_until};

/// Timers that nobody needs just now.
#[derive(Debug, Default)]
pub(crate) struct Alarms(Mutex<Vec<Pin<Box<Sleep>>>>);

impl Alarms {
    /// What comes of a future, if it comes in time.
    pub(crate) async fn within<F: Future>(&self, limit: Duration, future: F) -> Option<F::Output> {
        let mut future = pin!(future);
        let mut alarm = None;
        let output = poll_fn(|context| {
            if let Poll::Ready(output) = future.as_mut().poll(context) {
                return Poll::Ready(Some(output));
            }
            if alarm.is_none() {
                // What may take longer than clocks can tell never takes too long.
                alarm = Instant::now().checked_add(limit).map(|end| self.begin(end));
            }
            alarm.as_mut().map_or(Poll::Pending, |alarm| alarm.as_mut().poll(context).map(|()| None))
        })
        .await;
        if let Some(alarm) = alarm {
            self.idle().push(alarm);
        }
        output
    }

    fn begin(&self, end: Instant) -> Pin<Box<Sleep>> {
        let idle = self.idle().pop();
        match idle {
            Some(mut alarm) => {
                alarm.as_mut().reset(end);
                alarm
            }
            None => Box::pin(sleep_until(end)),
        }
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Pin<Box<Sleep>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use super::*;

    const SHORT: Duration = Duration::from_millis(20);
    const LONG: Duration = Duration::from_mins(10);

    #[tokio::test(start_paused = true)]
    async fn what_takes_too_long_ends() {
        let alarms = Alarms::default();
        assert_eq!(alarms.within(SHORT, pending::<()>()).await, None);
        assert_eq!(alarms.within(LONG, tokio::time::sleep(SHORT)).await, Some(()));
        assert_eq!(alarms.within(SHORT, async { 7 }).await, Some(7));
        assert_eq!(alarms.within(Duration::MAX, tokio::time::sleep(SHORT)).await, Some(()));
    }

    #[tokio::test(start_paused = true)]
    async fn an_alarm_is_used_again_for_an_earlier_and_for_a_later_end() {
        let alarms = Alarms::default();
        for limit in [LONG, SHORT, SHORT * 3, SHORT] {
            let begun = Instant::now();
            assert_eq!(alarms.within(limit, pending::<()>()).await, None);
            let took = begun.elapsed();
            assert!(took >= limit && took < limit + Duration::from_millis(5), "{took:?} for {limit:?}");
            assert_eq!(alarms.idle().len(), 1);
        }
        // What is over at once needs none.
        alarms.within(SHORT, async {}).await;
        assert_eq!(alarms.idle().len(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn two_at_once_have_an_alarm_each() {
        let alarms = Alarms::default();
        let (first, second) =
            tokio::join!(alarms.within(SHORT, pending::<()>()), alarms.within(SHORT * 2, tokio::time::sleep(SHORT)));
        assert_eq!((first, second), (None, Some(())));
        assert_eq!(alarms.idle().len(), 2);
    }
}
