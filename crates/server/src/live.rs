//! The view that is current, and those of the past.

use std::sync::{Arc, Weak};
use std::time::Duration;

use arc_swap::ArcSwap;
use tokio::sync::{Mutex, watch};
use upheld_store::machine::{self, Moment};
use upheld_store::{Revision, Store, StoreError};

use crate::view::View;

/// How many views of the past are kept at hand.
const REMEMBERED: usize = 4;

/// How long such a view is kept that nobody asks: each takes as much memory as all documents.
const KEPT: Duration = Duration::from_mins(5);

/// The current view. Reading it takes no lock.
#[derive(Debug)]
pub(crate) struct Live {
    current: ArcSwap<View>,
    revision: watch::Sender<Revision>,
    past: Arc<Mutex<Vec<Past>>>,
}

/// A view of the past.
#[derive(Debug)]
struct Past {
    view: Arc<View>,
    /// When it was asked last.
    asked: Moment,
}

impl Past {
    fn now(view: &Arc<View>) -> Self {
        Self { view: Arc::clone(view), asked: Moment::now() }
    }
}

/// Why there is no view of a revision.
#[derive(Debug)]
pub(crate) enum NoView {
    /// It did not come in time.
    NotYet {
        /// The revision that was waited for.
        wanted: Revision,
        /// Where the server is.
        current: Revision,
    },
    /// The store does not have it.
    Store(StoreError),
    /// It cannot be read with the editions that are in force now.
    Unreadable,
}

/// Lets a view go once nobody asks it any more. That takes a while where there are many documents, and whoever asked last should
/// not have to wait for it.
async fn retire(view: Arc<View>) {
    const LOOK: Duration = Duration::from_millis(50);
    while Arc::strong_count(&view) > 1 {
        tokio::time::sleep(LOOK).await;
    }
    machine::aside(move || drop(view)).await.ok();
}

/// Lets go of views of the past once nobody asked them for a while, until there are none.
async fn forget(past: Weak<Mutex<Vec<Past>>>) {
    loop {
        tokio::time::sleep(KEPT).await;
        let Some(past) = past.upgrade() else { return };
        let mut kept = past.lock().await;
        let idle: Vec<Past> = kept.extract_if(.., |one| one.asked.elapsed() >= KEPT).collect();
        let is_empty = kept.is_empty();
        drop(kept);
        machine::aside(move || drop(idle)).await.ok();
        if is_empty {
            return;
        }
    }
}

impl Live {
    /// Begins with a view.
    pub(crate) fn new(view: Arc<View>) -> Self {
        let revision = watch::Sender::new(view.revision());
        Self { current: ArcSwap::new(view), revision, past: Arc::default() }
    }

    /// The current view.
    pub(crate) fn view(&self) -> Arc<View> {
        self.current.load_full()
    }

    /// Replaces the current view. Requests that hold the old one keep it.
    pub(crate) fn swap(&self, view: Arc<View>) {
        let revision = view.revision();
        let old = self.current.swap(view);
        self.revision.send_replace(revision);
        drop(machine::spawn(retire(old)));
    }

    /// Told at every swap.
    pub(crate) fn follow(&self) -> watch::Receiver<Revision> {
        self.revision.subscribe()
    }

    /// The current view, once it has a revision in it.
    pub(crate) async fn at_least(&self, wanted: Revision, wait: Duration) -> Result<Arc<View>, NoView> {
        let mut revisions = self.revision.subscribe();
        let reached = tokio::time::timeout(wait, revisions.wait_for(|revision| *revision >= wanted)).await;
        match reached {
            Ok(Ok(_)) => Ok(self.view()),
            _ => Err(NoView::NotYet { wanted, current: self.view().revision() }),
        }
    }

    /// The view of a revision of the past: stored documents as they were then, files as they are now.
    pub(crate) async fn at(&self, revision: Revision, store: &dyn Store) -> Result<Arc<View>, NoView> {
        let current = self.view();
        if revision == current.revision() {
            return Ok(current);
        }
        let mut past = self.past.lock().await;
        if let Some(known) = past.iter().position(|one| one.view.revision() == revision) {
            let Past { view, .. } = past.remove(known);
            past.push(Past::now(&view));
            return Ok(view);
        }
        let state = Arc::new(store.state(Some(revision)).await.map_err(NoView::Store)?);
        let (files, choices) = (current.files.clone(), Arc::clone(&current.choices));
        let built = machine::aside(move || View::build(state, files, &choices)).await;
        let view = Arc::new(built.ok().and_then(Result::ok).ok_or(NoView::Unreadable)?);
        if past.is_empty() {
            drop(machine::spawn(forget(Arc::downgrade(&self.past))));
        }
        past.push(Past::now(&view));
        if past.len() > REMEMBERED {
            past.remove(0);
        }
        Ok(view)
    }
}

#[cfg(test)]
mod tests {
    use upheld_store::{Batch, Memory};

    use super::*;
    use crate::folders::Contents;

    /// P11: a server keeps no world of the past that nobody asks any more.
    #[tokio::test(start_paused = true)]
    async fn p11_views_of_the_past_go_when_nobody_asks_them() {
        let store = Memory::new();
        for after in 0..3 {
            let (time, actor) = (jiff::Timestamp::UNIX_EPOCH, "ada".to_owned());
            let batch = Batch {
                after: Revision(after),
                seen: None,
                time,
                actor,
                message: None,
                changes: Vec::new(),
                idempotency: None,
            };
            store.append(batch).await.unwrap();
        }
        let state = Arc::new(store.state(None).await.unwrap());
        let view = View::build(state, Contents::of(Vec::new()), &Arc::default()).unwrap();
        let live = Live::new(Arc::new(view));
        let at = async |revision: u64| Arc::downgrade(&live.at(Revision(revision), &store).await.unwrap());
        let (first, second) = (at(1).await, at(2).await);
        assert!(Weak::ptr_eq(&first, &at(1).await), "it is kept");
        tokio::time::sleep(KEPT / 2).await;
        at(2).await;
        tokio::time::sleep(KEPT / 2 + Duration::from_secs(1)).await;
        machine::aside(|| ()).await.unwrap();
        assert!(first.upgrade().is_none() && second.upgrade().is_some(), "one was asked again");
        tokio::time::sleep(KEPT * 2).await;
        machine::aside(|| ()).await.unwrap();
        assert!(second.upgrade().is_none() && live.past.lock().await.is_empty());
    }
}
