//! The end of the log, as this process knows it.

use tokio::sync::watch;

use crate::{Head, Result, Revision};

/// What followers look at. It never goes back.
#[derive(Clone, Debug)]
pub(crate) struct End(watch::Sender<Revision>);

impl End {
    pub(crate) fn at(revision: Revision) -> Self {
        Self(watch::Sender::new(revision))
    }

    pub(crate) fn follow(&self) -> watch::Receiver<Revision> {
        self.0.subscribe()
    }

    /// Tells followers that the log goes up to a revision, unless they know better.
    pub(crate) fn reached(&self, revision: Revision) {
        self.0.send_if_modified(|known| {
            let further = revision > *known;
            *known = revision.max(*known);
            further
        });
    }

    /// Asks the database after each wait, and tells followers; goes on until its task is ended.
    pub(crate) async fn follows<W, A>(self, wait: impl Fn() -> W + Send, ask: impl Fn() -> A + Send)
    where
        W: Future<Output = ()> + Send,
        A: Future<Output = Result<Head>> + Send,
    {
        let mut lost = false;
        loop {
            wait().await;
            self.asked(ask().await, &mut lost);
        }
    }

    /// Tells followers what was found when the database was asked. `lost` is whether it did not answer the last time: the log is
    /// told once.
    fn asked(&self, head: Result<Head>, lost: &mut bool) {
        let was_lost = std::mem::replace(lost, head.is_err());
        match head {
            Ok(head) => {
                if was_lost {
                    tracing::info!("the store answers again");
                }
                self.reached(head.revision);
            }
            Err(error) if !was_lost => tracing::warn!(%error, "the end of the log cannot be read"),
            Err(_) => {}
        }
    }
}
