//! For how long the view may be out of date: since the store last said that there is nothing newer.

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use upheld_store::machine::Moment;
use upheld_store::{Contact, Digest, Revision, Store};

use crate::app::App;

/// When the view was known to be the newest.
#[derive(Debug)]
pub(crate) struct Freshness {
    /// The last such moment; none where the store is part of this process, and the view always is.
    newest: Option<ArcSwap<Moment>>,
    /// How long ago it may be at most.
    most: Option<Duration>,
}

/// A view that is older than it may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stale {
    staleness: Duration,
    most: Duration,
}

impl Stale {
    /// In words.
    pub(crate) fn detail(self) -> String {
        format!(
            "the store last confirmed {} s ago that this snapshot is the newest, and `--max-stale` permits {} s; ask another server, or \
             try again when the store answers",
            self.staleness.as_secs(),
            self.most.as_secs()
        )
    }
}

impl Freshness {
    /// Of a view that was made from a store after it was opened.
    pub(crate) fn of(store: &dyn Store, most: Option<Duration>) -> Self {
        let newest = store.contact().map(|contact| ArcSwap::from_pointee(contact.borrow().at));
        Self { newest, most }
    }

    /// For how long the view may be out of date.
    pub(crate) fn staleness(&self) -> Duration {
        self.newest.as_ref().map_or(Duration::ZERO, |newest| newest.load().elapsed())
    }

    /// Whether the view is too old to answer from.
    pub(crate) fn stale(&self) -> Option<Stale> {
        let (most, staleness) = (self.most?, self.staleness());
        (staleness > most).then_some(Stale { staleness, most })
    }

    fn confirm(&self, at: Option<Moment>) {
        if let (Some(newest), Some(at)) = (&self.newest, at) {
            newest.store(Arc::new(at));
        }
    }
}

/// Holds what the store says against the view, until the server ends.
pub(crate) async fn follow(app: Arc<App>) {
    let Some(mut contacts) = app.store.contact() else { return };
    let (mut views, mut comparison) = (app.live.follow(), Comparison::default());
    let mut told = Told::Yet;
    loop {
        let contact = *contacts.borrow_and_update();
        let view = app.live.view();
        app.freshness.confirm(comparison.newest_at(contact, view.revision(), view.state.digest()));
        told = told.after(app.freshness.stale());
        let next = async {
            tokio::select! {
                biased;
                changed = contacts.changed() => changed.is_ok(),
                changed = views.changed() => changed.is_ok(),
            }
        };
        // Without news it still grows old.
        if matches!(tokio::time::timeout(LOOK, next).await, Ok(false)) {
            return;
        }
    }
}

/// How often it is looked whether the view became too old.
const LOOK: Duration = Duration::from_secs(1);

/// What the log has of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Told {
    /// Nothing is wrong.
    Yet,
    /// Answers are refused.
    Stale,
}

impl Told {
    fn after(self, stale: Option<Stale>) -> Self {
        match (self, stale) {
            (Self::Yet, Some(stale)) => {
                tracing::warn!(reason = stale.detail(), "nothing is answered from this snapshot any more");
                Self::Stale
            }
            (Self::Stale, None) => {
                tracing::info!("the snapshot is the newest again");
                Self::Yet
            }
            _ => self,
        }
    }
}

/// Compares contacts with views.
#[derive(Debug, Default)]
struct Comparison {
    /// The first contact that told of something that the view does not have.
    ahead: Option<Contact>,
}

impl Comparison {
    /// When a view was known to be the newest, as far as this contact tells.
    fn newest_at(&mut self, contact: Contact, revision: Revision, digest: Digest) -> Option<Moment> {
        let caught_up = self.ahead.take_if(|ahead| ahead.head.revision <= revision);
        if contact.head.revision > revision {
            self.ahead.get_or_insert(contact);
            return caught_up.map(|contact| contact.at);
        }
        // The same number with other documents is another history.
        let is_other = contact.head.revision == revision && contact.head.digest != digest;
        (!is_other).then_some(contact.at)
    }
}

#[cfg(test)]
mod tests {
    use upheld_store::Head;
    use upheld_store::testing::simulation::run;

    use super::*;

    fn contact(revision: u64, digest: Digest) -> Contact {
        Contact { head: Head { revision: Revision(revision), digest, ..Head::default() }, at: Moment::now() }
    }

    fn digests() -> (Digest, Digest) {
        let change = upheld_store::Change::Put { key: "A/b/c".parse().unwrap(), text: "d".into() };
        (Digest::default(), upheld_store::State::default().with(&[change]).digest())
    }

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn s11_a_view_is_as_old_as_the_last_contact_that_it_has_all_of() {
        run(1, |_| async {
            let (one, other) = digests();
            let mut comparison = Comparison::default();
            let first = contact(3, one);
            tokio::time::sleep(SECOND).await;
            let mut age =
                |contact, revision| comparison.newest_at(contact, Revision(revision), one).map(|at| at.elapsed());
            assert_eq!(age(first, 3), Some(SECOND));
            let second = contact(5, one);
            assert_eq!(age(second, 4), None, "something is missing");
            tokio::time::sleep(SECOND).await;
            let third = contact(6, one);
            assert_eq!(age(third, 4), None, "and more of it");
            assert_eq!(age(third, 5), Some(SECOND), "it has all that there was a second ago");
            assert_eq!(age(third, 5), None);
            assert_eq!(age(third, 6), Some(Duration::ZERO));
            assert_eq!(
                age(contact(5, one), 6),
                Some(Duration::ZERO),
                "it was asked before the last write of this server"
            );
            assert_eq!(age(contact(6, other), 6), None, "another history");
        });
    }

    #[test]
    fn s11_what_is_older_than_it_may_be_is_stale() {
        run(1, |_| async {
            let newest = Some(ArcSwap::from_pointee(Moment::now()));
            let freshness = Freshness { newest, most: Some(Duration::from_secs(30)) };
            tokio::time::sleep(Duration::from_secs(30)).await;
            assert_eq!(freshness.stale(), None);
            tokio::time::sleep(SECOND).await;
            let stale = freshness.stale().unwrap().detail();
            assert!(stale.contains("31 s ago") && stale.contains("permits 30 s"), "{stale}");
            freshness.confirm(None);
            assert!(freshness.stale().is_some());
            freshness.confirm(Some(Moment::now()));
            assert_eq!(freshness.stale(), None, "it heals by itself");
            let boundless = Freshness { most: None, ..freshness };
            tokio::time::sleep(Duration::from_hours(1)).await;
            assert_eq!((boundless.stale(), boundless.staleness()), (None, Duration::from_hours(1)));
            let own = Freshness { newest: None, most: Some(SECOND) };
            assert_eq!((own.stale(), own.staleness()), (None, Duration::ZERO));
        });
    }
}
