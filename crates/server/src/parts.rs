//! Parts of views, for callers who may not see all of them.
//!
//! Lists, searches, graphs and explanations are asked of the part that a caller may see. So nothing else can be named or counted in them,
//! whatever they are made of.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::http::StatusCode;
use tokio::time::Instant;

use crate::auth::{Access, Operation};
use crate::limits::heavy;
use crate::problem::Problem;
use crate::view::{Seen, View};

/// Parts that were made lately.
#[derive(Debug, Default)]
pub(crate) struct Parts(Mutex<Vec<Part>>);

#[derive(Debug)]
struct Part {
    of: Arc<View>,
    operation: Operation,
    access: Access,
    decided: Instant,
    seen: Arc<Seen>,
    view: Arc<View>,
}

/// How many are kept.
const KEPT: usize = 8;
/// How long rights are not asked again: they may depend on the time.
const FRESH: Duration = Duration::from_secs(1);

impl Parts {
    /// The part of a view that somebody may read, or see in answers: all of it where rights do not tell documents apart.
    pub(crate) async fn of(
        &self,
        view: &Arc<View>,
        access: Option<&Access>,
        operation: Operation,
    ) -> Result<Arc<View>, Problem> {
        let access = access.ok_or_else(unfinished)?;
        if view.is_whole_to(access, operation) {
            return Ok(Arc::clone(view));
        }
        let is_same = |part: &&Part| Arc::ptr_eq(&part.of, view) && part.operation == operation;
        let same: Vec<(Arc<Seen>, Arc<View>)> = {
            let kept = self.kept();
            let mut same = kept.iter().filter(is_same);
            if let Some(part) = same.find(|part| part.access.same_as(access) && part.decided.elapsed() < FRESH) {
                return Ok(Arc::clone(&part.view));
            }
            kept.iter().filter(is_same).map(|part| (Arc::clone(&part.seen), Arc::clone(&part.view))).collect()
        };
        // Nobody holds the lock meanwhile: whoever waits for their turn keeps nobody else waiting.
        let decided = Instant::now();
        let (whole, asker) = (Arc::clone(view), access.clone());
        let seen = heavy(move || whole.seen(&asker, operation)).await;
        let seen = Arc::new(seen?);
        let part = match same.into_iter().find(|(known, _)| **known == *seen) {
            Some((_, part)) => part,
            None => {
                let (whole, seen) = (Arc::clone(view), Arc::clone(&seen));
                let built = heavy(move || whole.part(&seen)).await?;
                Arc::new(built.map_err(|_| unreadable())?)
            }
        };
        let mut kept = self.kept();
        // A later view of the same asker takes the place of the one before.
        kept.retain(|part| !(part.operation == operation && part.access.same_as(access)));
        if kept.len() >= KEPT {
            kept.remove(0);
        }
        let (of, access) = (Arc::clone(view), access.clone());
        kept.push(Part { of, operation, access, decided, seen, view: Arc::clone(&part) });
        Ok(part)
    }

    fn kept(&self) -> MutexGuard<'_, Vec<Part>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn unfinished() -> Problem {
    Problem::unavailable("what you may see was not found out; try again in a moment")
}

/// What is left of documents may make no sense without the others. What is wrong with it would name them.
fn unreadable() -> Problem {
    let detail = "the documents that you may see cannot be read without others; ask for the right to see those";
    Problem::new(StatusCode::FORBIDDEN, "forbidden", detail)
}
