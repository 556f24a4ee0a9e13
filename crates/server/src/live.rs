//! The view that is current, and those of the past.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use arc_swap::ArcSwap;
use tokio::sync::watch;
use upheld_store::machine::{self, Moment};
use upheld_store::{Revision, Store, StoreError};

use crate::limits::{Undone, at_length, heavy};
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
    past: Arc<Kept>,
}

/// Views of the past, the one that was asked last behind all others.
#[derive(Debug, Default)]
struct Kept(Mutex<Vec<Past>>);

impl Kept {
    fn all(&self) -> MutexGuard<'_, Vec<Past>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The view of a revision, if it is at hand.
    fn view(&self, revision: Revision) -> Option<Arc<View>> {
        let mut all = self.all();
        let known = all.iter().position(|one| one.view.revision() == revision)?;
        let Past { view, .. } = all.remove(known);
        all.push(Past::now(&view));
        Some(view)
    }

    /// Keeps a view, in the place of the one that nobody asked for the longest time.
    fn keep(self: &Arc<Self>, view: &Arc<View>) {
        let mut all = self.all();
        if all.is_empty() {
            drop(machine::spawn(forget(Arc::downgrade(self))));
        }
        all.push(Past::now(view));
        let oldest = (all.len() > REMEMBERED).then(|| all.remove(0));
        // To let go of it takes a while.
        drop(all);
        drop(oldest);
    }
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
    /// It was not built to its end.
    Undone(Undone),
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
async fn forget(past: Weak<Kept>) {
    loop {
        tokio::time::sleep(KEPT).await;
        let Some(past) = past.upgrade() else { return };
        let (idle, is_empty) = {
            let mut kept = past.all();
            let idle: Vec<Past> = kept.extract_if(.., |one| one.asked.elapsed() >= KEPT).collect();
            (idle, kept.is_empty())
        };
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
        if let Some(known) = self.past.view(revision) {
            return Ok(known);
        }
        let state = Arc::new(store.state(Some(revision)).await.map_err(NoView::Store)?);
        let (files, choices) = (current.files.clone(), Arc::clone(&current.choices));
        let past = Arc::clone(&self.past);
        let build = move || {
            // While this one waited for its turn, another may have built it.
            if let Some(known) = past.view(revision) {
                return Ok(known);
            }
            let view = Arc::new(View::build(state, files, &choices).map_err(|_| NoView::Unreadable)?);
            past.keep(&view);
            Ok(view)
        };
        at_length(heavy(build)).await.map_err(NoView::Undone)?
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
        assert!(second.upgrade().is_none() && live.past.all().is_empty());
    }
}
