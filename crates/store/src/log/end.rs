//! The end of the log, as this process knows it.

use tokio::sync::watch;

use crate::machine::Moment;
use crate::{Contact, Head, Result, Revision};

/// What followers look at.
#[derive(Clone, Debug)]
pub(crate) struct End {
    /// It never goes back.
    revision: watch::Sender<Revision>,
    contact: watch::Sender<Contact>,
}

/// Whether the database answered the last time that it was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    Answers,
    Silent,
    /// It ends before what it had acknowledged.
    WentBack,
}

impl End {
    pub(crate) fn at(contact: Contact) -> Self {
        Self { revision: watch::Sender::new(contact.head.revision), contact: watch::Sender::new(contact) }
    }

    pub(crate) fn follow(&self) -> watch::Receiver<Revision> {
        self.revision.subscribe()
    }

    pub(crate) fn contact(&self) -> watch::Receiver<Contact> {
        self.contact.subscribe()
    }

    /// Tells followers that the log goes up to a revision, unless they know better.
    pub(crate) fn reached(&self, revision: Revision) {
        self.revision.send_if_modified(|known| {
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
        let mut reach = Reach::Answers;
        loop {
            wait().await;
            let (known, at) = (*self.revision.borrow(), Moment::now());
            let now = self.asked(known, at, ask().await, reach);
            if reach != Reach::Answers && now == Reach::Answers {
                tracing::info!("the store answers again");
            }
            reach = now;
        }
    }

    /// Tells followers what was found when the database was asked. `known` is the revision that it had acknowledged before. What is wrong
    /// is logged once.
    fn asked(&self, known: Revision, at: Moment, head: Result<Head>, before: Reach) -> Reach {
        match head {
            Ok(head) if head.revision < known => {
                if before != Reach::WentBack {
                    tracing::warn!(revision = %head.revision, %known, "the store ends before what it acknowledged");
                }
                Reach::WentBack
            }
            Ok(head) => {
                self.reached(head.revision);
                self.contact.send_replace(Contact { head, at });
                Reach::Answers
            }
            Err(error) => {
                if before != Reach::Silent {
                    tracing::warn!(%error, "the end of the log cannot be read");
                }
                Reach::Silent
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use jiff::SignedDuration;

    use super::*;
    use crate::StoreError;
    use crate::testing::simulation::{Machine, run};

    fn head(revision: u64) -> Head {
        Head { revision: Revision(revision), ..Head::default() }
    }

    /// How long ago the last contact was, and of which revision it tells.
    fn told(end: &End) -> (Duration, u64) {
        let contact = *end.contact().borrow();
        (contact.at.elapsed(), contact.head.revision.0)
    }

    const MINUTE: Duration = Duration::from_mins(1);

    #[test]
    fn s11_the_last_contact_is_told_whatever_becomes_of_the_clock() {
        run(1, |machine: Machine| async move {
            let end = End::at(Contact { head: head(3), at: Moment::now() });
            let ask = |answer| end.asked(Revision(3), Moment::now(), answer, Reach::Answers);
            tokio::time::sleep(MINUTE).await;
            assert_eq!(told(&end), (MINUTE, 3));
            let away = || Err(StoreError::Unreachable("away".to_owned()));
            assert_eq!(ask(away()), Reach::Silent);
            assert_eq!(told(&end), (MINUTE, 3), "no answer is no contact");

            machine.put_clock(SignedDuration::from_hours(-1));
            assert_eq!(told(&end), (MINUTE, 3), "a clock that is put back makes nothing younger");
            machine.put_clock(SignedDuration::from_hours(2));
            assert_eq!(told(&end).0, MINUTE + Duration::from_hours(1), "a machine that slept makes everything older");

            assert_eq!(ask(Ok(head(4))), Reach::Answers);
            assert_eq!(told(&end), (Duration::ZERO, 4));
        });
    }

    #[test]
    fn s11_a_store_that_went_back_is_no_contact() {
        run(1, |_| async move {
            let end = End::at(Contact { head: head(3), at: Moment::now() });
            tokio::time::sleep(MINUTE).await;
            // It was asked before the last write ended: that is no reason to doubt it.
            let before = *end.follow().borrow();
            end.reached(Revision(5));
            assert_eq!(end.asked(before, Moment::now(), Ok(head(4)), Reach::Answers), Reach::Answers);
            assert_eq!((told(&end), *end.follow().borrow()), ((Duration::ZERO, 4), Revision(5)));
            tokio::time::sleep(MINUTE).await;
            assert_eq!(end.asked(Revision(5), Moment::now(), Ok(head(4)), Reach::Answers), Reach::WentBack);
            assert_eq!((told(&end), *end.follow().borrow()), ((MINUTE, 4), Revision(5)));
        });
    }
}
