//! A watch over the threads that serve: whoever keeps one of them for long keeps all its connections waiting.
//!
//! A thread of its own tells the time, so that looking at it before and after each turn costs next to nothing.

use std::pin::Pin;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::thread;
use std::time::{Duration, Instant};

/// Since it was first asked, in milliseconds, and not more exact than [`TICK`].
static NOW: AtomicU64 = AtomicU64::new(0);
const TICK: Duration = Duration::from_millis(20);

/// How long a turn may take, in milliseconds.
const LONG: u64 = 100;

/// How often turns took longer, in this process.
static BLOCKED: AtomicU64 = AtomicU64::new(0);

static CLOCK: LazyLock<()> = LazyLock::new(|| {
    let begun = Instant::now();
    let ticks = move || loop {
        thread::sleep(TICK);
        NOW.store(u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX), Ordering::Relaxed);
    };
    if let Err(error) = thread::Builder::new().name("upheld-clock".to_owned()).spawn(ticks) {
        tracing::warn!(%error, "nothing tells when a thread is blocked that serves");
    }
});

/// How often a thread that serves was blocked.
pub(crate) fn blocked() -> u64 {
    BLOCKED.load(Ordering::Relaxed)
}

/// Something that goes on on the threads that serve, and is watched.
#[derive(Debug)]
pub(super) struct Watched<F>(F);

impl<F: Future + Unpin> Watched<F> {
    pub(super) fn new(future: F) -> Self {
        LazyLock::force(&CLOCK);
        Self(future)
    }
}

impl<F: Future + Unpin> Future for Watched<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let begun = NOW.load(Ordering::Relaxed);
        let polled = Pin::new(&mut self.0).poll(context);
        let took = NOW.load(Ordering::Relaxed).saturating_sub(begun);
        if took > LONG {
            was_blocked(took);
        }
        polled
    }
}

#[cold]
fn was_blocked(milliseconds: u64) {
    BLOCKED.fetch_add(1, Ordering::Relaxed);
    tracing::warn!(milliseconds, "a thread that serves was blocked; its other connections waited as long");
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use super::*;

    #[tokio::test]
    async fn a_thread_that_was_blocked_is_told() {
        let before = blocked();
        Watched::new(Box::pin(poll_fn(|_| Poll::Ready(())))).await;
        // As long as it takes until the clock has seen it.
        Watched::new(Box::pin(poll_fn(|_| {
            let begun = NOW.load(Ordering::Relaxed);
            while NOW.load(Ordering::Relaxed) <= begun + LONG {
                thread::sleep(TICK);
            }
            Poll::Ready(())
        })))
        .await;
        assert!(blocked() > before);
    }
}
