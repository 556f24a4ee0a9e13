//! The view that is current, and those of the past.

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use tokio::sync::{Mutex, watch};
use upheld_store::{Revision, Store, StoreError, machine};

use crate::view::View;

/// How many views of the past are kept at hand.
const REMEMBERED: usize = 4;

/// The current view. Reading it takes no lock.
#[derive(Debug)]
pub(crate) struct Live {
    current: ArcSwap<View>,
    revision: watch::Sender<Revision>,
    past: Mutex<Vec<Arc<View>>>,
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

impl Live {
    /// Begins with a view.
    pub(crate) fn new(view: Arc<View>) -> Self {
        let revision = watch::Sender::new(view.revision());
        Self { current: ArcSwap::new(view), revision, past: Mutex::default() }
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
        if let Some(known) = past.iter().position(|view| view.revision() == revision) {
            let view = past.remove(known);
            past.push(Arc::clone(&view));
            return Ok(view);
        }
        let state = Arc::new(store.state(Some(revision)).await.map_err(NoView::Store)?);
        let (files, choices) = (current.files.clone(), Arc::clone(&current.choices));
        let built = machine::aside(move || View::build(state, files, &choices)).await;
        let view = Arc::new(built.ok().and_then(Result::ok).ok_or(NoView::Unreadable)?);
        past.push(Arc::clone(&view));
        if past.len() > REMEMBERED {
            past.remove(0);
        }
        Ok(view)
    }
}
