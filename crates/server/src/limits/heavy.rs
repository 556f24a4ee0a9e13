//! Work that may take long: lists, explanations, audits, searches, batches. Never on the threads that serve.

use std::time::Duration;

use axum::http::StatusCode;
use upheld_engine::work::Unfinished;
use upheld_store::machine;

use super::asking::Asking;
use super::lanes::Length;
use crate::problem::Problem;
use crate::telemetry::QuestionState;

/// Why work was not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Undone {
    /// Something inside failed.
    Failed,
    /// The server ends.
    Ending,
    /// Too many wait already.
    Full,
    /// The request took all the steps that it may take.
    OutOfSteps(u64),
}

/// How long short questions may go on once the server is to end; what takes long ends at once.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// Works on a thread of its own, when it is the turn of whoever asks. When they leave or the server ends, the work ends at its next step.
pub(crate) async fn heavy<T: Send + 'static>(part: impl FnOnce() -> T + Send + 'static) -> Result<T, Undone> {
    let (asking, length) = Asking::here_or_own();
    let ends = async {
        asking.server_ends().await;
        if length == Length::Short {
            tokio::time::sleep(LAST_WORDS).await;
        }
    };
    let done = async {
        let waits = asking.counted(length, QuestionState::Waiting);
        // Simulated machines do not share the cores of this one.
        let turn = if machine::is_simulated() {
            None
        } else {
            Some(length.lane().enter(asking.asker()).await.map_err(|_| Undone::Full)?)
        };
        drop(waits);
        let work = asking.work().clone();
        let counted = asking.counted(length, QuestionState::Working);
        let working = machine::aside(move || {
            // Whoever is not counted any more has left its place before.
            let _held = (turn, counted);
            work.during(part)
        });
        match working.await {
            Ok(Ok(done)) => Ok(done),
            Ok(Err(Unfinished::OutOfSteps)) => Err(Undone::OutOfSteps(asking.most_steps())),
            Ok(Err(Unfinished::Ended)) => Err(Undone::Ending),
            Err(_) => Err(Undone::Failed),
        }
    };
    tokio::select! {
        biased;
        done = done => done,
        never = asking.hurries() => match never {},
        () = ends => {
            asking.work().end();
            Err(Undone::Ending)
        }
    }
}

impl Undone {
    /// As a sentence.
    pub(crate) fn sentence(self) -> String {
        match self {
            Self::Failed => "the question was not answered".to_owned(),
            Self::Ending => "the server ends; ask again in a moment".to_owned(),
            Self::Full => "too many questions are waiting; try again in a moment".to_owned(),
            Self::OutOfSteps(most) => {
                format!("the answer takes more than {most} steps (`--max-steps`); ask for less at once")
            }
        }
    }
}

impl From<Undone> for Problem {
    fn from(undone: Undone) -> Self {
        let sentence = undone.sentence();
        match undone {
            Undone::Failed => Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", sentence),
            Undone::Ending | Undone::Full => Self::unavailable(sentence),
            Undone::OutOfSteps(_) => Self::new(StatusCode::UNPROCESSABLE_ENTITY, "too-many-steps", sentence),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use upheld_engine::work;

    use super::super::asking::at_length;
    use super::*;

    #[tokio::test]
    async fn work_goes_on_one_by_one_where_it_must() {
        let all = (0..50_u32).map(|number| tokio::spawn(heavy(move || number * 2)));
        let mut sum = 0;
        for one in all.collect::<Vec<_>>() {
            sum += one.await.unwrap().unwrap();
        }
        assert_eq!(sum, 2450);
        assert_eq!(heavy(|| panic!("stops")).await, Err::<(), _>(Undone::Failed), "what stops is told");
        assert!(heavy(|| ()).await.is_ok(), "and leaves its place");
    }

    /// Work without an end, and who hears when it ended.
    fn endless() -> (tokio::sync::oneshot::Receiver<()>, impl FnOnce() + Send + 'static) {
        let (ends, ended) = tokio::sync::oneshot::channel::<()>();
        let part = move || {
            let _ends = ends;
            loop {
                work::step();
            }
        };
        (ended, part)
    }

    #[tokio::test]
    async fn p1_work_ends_when_its_asker_leaves() {
        let (ended, part) = endless();
        assert!(
            tokio::time::timeout(Duration::from_millis(20), heavy(part)).await.is_err(),
            "it has no end of its own"
        );
        assert!(ended.await.is_err(), "it ended");
        assert!(heavy(|| ()).await.is_ok(), "and left its place");
    }

    #[tokio::test]
    async fn p1_work_ends_with_the_server() {
        for length in [Length::Short, Length::Long] {
            let (ended, part) = endless();
            let (ends, ending) = tokio::sync::watch::channel(false);
            let asking = Asking::of_tests(u64::MAX, Some(ending));
            let going = tokio::spawn(asking.during(length, heavy(part)));
            tokio::time::sleep(Duration::from_millis(20)).await;
            assert!(!going.is_finished());
            ends.send_replace(true);
            assert_eq!(going.await.unwrap(), Err(Undone::Ending), "{length:?}");
            assert!(ended.await.is_err());
        }
    }

    #[tokio::test]
    async fn s1_all_that_a_request_does_is_counted_together() {
        let asking = Asking::of_tests(100, None);
        let several = async {
            assert_eq!(heavy(|| work::steps(60)).await, Ok(()));
            let second = at_length(heavy(|| work::steps(60))).await;
            assert_eq!(second, Err(Undone::OutOfSteps(100)));
            assert!(second.unwrap_err().sentence().contains("more than 100 steps"));
        };
        asking.during(Length::Short, several).await;
        assert_eq!(heavy(|| work::steps(60)).await, Ok(()), "others are not charged");
    }
}
