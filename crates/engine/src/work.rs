//! Work that is counted, and that can be ended while it goes on.
//!
//! Questions about everything ask many small ones. Each of those is a step here, and so is each turn of a loop that is as long as the world.
//! A step of work that was ended, or that used up its steps, leaves the work at once: it unwinds up to [`Work::during`], through threads
//! too, and the message of a panic is not written. Steps outside of any work cost next to nothing.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Work that goes on, seen by those who do it and by those who wait for it.
#[derive(Clone, Debug)]
pub struct Work(Arc<Progress>);

#[derive(Debug)]
struct Progress {
    steps: AtomicU64,
    most: u64,
    is_ended: AtomicBool,
    is_hurried: AtomicBool,
}

/// Why work did not come to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfinished {
    /// It was ended by those who had waited for it.
    Ended,
    /// It took all the steps that it may take.
    OutOfSteps,
}

thread_local! {
    /// What this thread works on.
    static HERE: RefCell<Option<Work>> = const { RefCell::new(None) };
}

impl Default for Work {
    fn default() -> Self {
        Self::of_steps(u64::MAX)
    }
}

impl Work {
    /// Work of so many steps at most.
    pub fn of_steps(most: u64) -> Self {
        let [is_ended, is_hurried] = [false; 2].map(AtomicBool::new);
        Self(Arc::new(Progress { steps: AtomicU64::new(0), most, is_ended, is_hurried }))
    }

    /// Asks it to come to an end with what it has, where it can: [`is_hurried`] says so.
    pub fn hurry(&self) {
        self.0.is_hurried.store(true, Ordering::Relaxed);
    }

    fn is_hurried(&self) -> bool {
        let most_of_it = self.0.most / 4 * 3;
        self.0.is_hurried.load(Ordering::Relaxed) || self.steps() > most_of_it
    }

    /// Ends it: its next step is its last.
    pub fn end(&self) {
        self.0.is_ended.store(true, Ordering::Relaxed);
    }

    /// How many steps it took.
    pub fn steps(&self) -> u64 {
        self.0.steps.load(Ordering::Relaxed)
    }

    /// Does something as a part of this work.
    pub fn during<T>(&self, part: impl FnOnce() -> T) -> Result<T, Unfinished> {
        catch_unwind(AssertUnwindSafe(|| self.entered(part))).map_err(|payload| match payload.downcast() {
            Ok(unfinished) => *unfinished,
            Err(panic) => resume_unwind(panic),
        })
    }

    fn entered<T>(&self, part: impl FnOnce() -> T) -> T {
        let _outer = Outer(HERE.replace(Some(self.clone())));
        part()
    }

    fn takes(&self, steps: u64) -> Result<(), Unfinished> {
        let progress = &self.0;
        if progress.is_ended.load(Ordering::Relaxed) {
            return Err(Unfinished::Ended);
        }
        let taken = progress.steps.fetch_add(steps, Ordering::Relaxed).saturating_add(steps);
        if taken > progress.most { Err(Unfinished::OutOfSteps) } else { Ok(()) }
    }
}

/// What a thread worked on before, and goes on with.
struct Outer(Option<Work>);

impl Drop for Outer {
    fn drop(&mut self) {
        HERE.set(self.0.take());
    }
}

/// The work of this thread, to be handed to others that do a part of it.
#[derive(Clone, Debug)]
pub struct Handed(Option<Work>);

impl Handed {
    /// Does a part of it on another thread.
    pub fn during<T>(&self, part: impl FnOnce() -> T) -> T {
        match &self.0 {
            Some(work) => work.entered(part),
            None => part(),
        }
    }
}

/// What this thread works on, for other threads.
pub fn here() -> Handed {
    Handed(HERE.with_borrow(Clone::clone))
}

/// Whether the work of this thread should come to an end with what it has: somebody asked for that, or three quarters of its steps are taken.
pub fn is_hurried() -> bool {
    HERE.with_borrow(|work| work.as_ref().is_some_and(Work::is_hurried))
}

/// Does something that is no part of the work of this thread: what must not be left half done.
pub fn apart<T>(part: impl FnOnce() -> T) -> T {
    let _outer = Outer(HERE.replace(None));
    part()
}

/// Steps of this process, of all work and of none.
#[cfg(debug_assertions)]
static TOTAL: AtomicU64 = AtomicU64::new(0);

/// How many steps this process took, in builds with debug assertions: tests of growth count them. Others count none.
pub fn total() -> u64 {
    #[cfg(debug_assertions)]
    return TOTAL.load(Ordering::Relaxed);
    #[cfg(not(debug_assertions))]
    0
}

/// One step of the work of this thread.
#[inline]
pub fn step() {
    steps(1);
}

/// Several steps at once.
#[inline]
pub fn steps(count: u64) {
    #[cfg(debug_assertions)]
    TOTAL.fetch_add(count, Ordering::Relaxed);
    HERE.with_borrow(|work| {
        if let Some(work) = work
            && let Err(unfinished) = work.takes(count)
        {
            resume_unwind(Box::new(unfinished));
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_counted_where_work_goes_on() {
        let (outer, inner) = (Work::default(), Work::default());
        step();
        let done = outer.during(|| {
            step();
            inner.during(|| steps(7)).unwrap();
            let handed = here();
            std::thread::scope(|scope| scope.spawn(|| handed.during(step)).join().unwrap());
            "done"
        });
        step();
        assert_eq!((done, outer.steps(), inner.steps()), (Ok("done"), 2, 7));
        assert!(here().0.is_none());
    }

    #[test]
    fn work_ends_at_its_next_step() {
        let work = Work::default();
        let turns = std::cell::Cell::new(0);
        let unfinished = work.during(|| {
            loop {
                turns.set(turns.get() + 1);
                step();
                work.end();
            }
        });
        assert_eq!((unfinished, turns.get()), (Err::<(), _>(Unfinished::Ended), 2));
        assert_eq!(work.during(step), Err(Unfinished::Ended), "for good");
        assert_eq!(work.during(|| "no step"), Ok("no step"));
    }

    #[test]
    fn work_takes_no_more_steps_than_it_may() {
        let work = Work::of_steps(10);
        let turns = std::cell::Cell::new(0);
        let through_threads = || {
            let handed = here();
            std::thread::scope(|scope| {
                let turn = || handed.during(|| steps(4));
                loop {
                    turns.set(turns.get() + 1);
                    scope.spawn(turn).join().unwrap_or_else(|payload| resume_unwind(payload));
                }
            });
        };
        assert_eq!(work.during(through_threads), Err::<(), _>(Unfinished::OutOfSteps));
        assert_eq!(turns.get(), 3);
        assert!(here().0.is_none(), "the thread goes on without it");
    }

    #[test]
    fn work_hurries_when_it_is_asked_to_or_has_few_steps_left() {
        let (asked, few) = (Work::default(), Work::of_steps(100));
        assert_eq!(asked.during(is_hurried), Ok(false));
        asked.hurry();
        assert_eq!(asked.during(is_hurried), Ok(true));
        let by_steps = few.during(|| [70, 20].map(|count| (steps(count), is_hurried()).1));
        assert_eq!((by_steps, is_hurried()), (Ok([false, true]), false));
    }

    #[test]
    fn what_is_apart_is_neither_counted_nor_ended() {
        let work = Work::of_steps(1);
        let done = work.during(|| {
            step();
            apart(|| steps(100));
            "done"
        });
        assert_eq!((done, work.steps()), (Ok("done"), 1));
        assert_eq!(
            work.during(|| {
                apart(step);
                step();
            }),
            Err(Unfinished::OutOfSteps),
            "the work goes on behind it"
        );
    }

    #[test]
    #[should_panic(expected = "a mistake")]
    fn other_panics_go_on() {
        Work::default().during(|| panic!("a mistake")).unwrap_or(());
    }
}
