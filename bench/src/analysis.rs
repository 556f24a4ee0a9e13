//! What changes between two sets of access policies, over all requests that there could be, and what is to be said of one set: against
//! asking one request after the other, which finds only what it happens to ask.
//!
//! ```text
//! diffs     ten edits among many policies, and what one edit costs however many there are
//! lints     all policies of one set
//! hostile   policies that are made to be slow: a bound is met, and said
//! ```

mod diffs;
mod hostile;
mod lints;

use crate::report::Targets;

/// How much to measure.
#[derive(Debug)]
pub(crate) struct Plan {
    /// Numbers of policies, in steps.
    sizes: &'static [usize],
    /// Requests that the rival asks of both sides.
    requests: usize,
    rounds: usize,
    /// Policies of each hostile set.
    hostile: usize,
}

/// What the targets are about.
pub(crate) const FULL: Plan = Plan { sizes: &[100, 1_000, 10_000], requests: 10_000, rounds: 5, hostile: 200 };

/// Enough to see that everything works.
pub(crate) const QUICK: Plan = Plan { sizes: &[100, 1_000], requests: 1_000, rounds: 3, hostile: 40 };

/// Measures and prints; fails on a wrong answer.
pub(crate) fn run(plan: &Plan) -> Result<(), String> {
    let mut targets = Targets::default();
    println!("CPU time of one thread; medians of {} rounds. Policies are loaded before.", plan.rounds);
    let wrong = diffs::run(plan, &mut targets)? + lints::run(plan, &mut targets)? + hostile::run(plan, &mut targets)?;
    targets.finish(wrong)
}
