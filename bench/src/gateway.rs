//! The measurements of policies that are attached to gateways and routes, one part after the other.

mod chain;
mod change;
mod crowd;
mod documents;
mod naive;
mod pass;
mod scale;

use crate::report::Targets;

/// How much to measure.
#[derive(Debug)]
pub(crate) struct Plan {
    /// Numbers of policies, and of routes, in steps.
    sizes: &'static [usize],
    /// Routes that the naive rival answers.
    sample: usize,
    /// Policies on each of many routes: so many policies, so many routes.
    everywhere: [usize; 2],
    /// How many routes a request passes, and in how many of the last steps each leads on to three others.
    depth: usize,
    spread: usize,
    /// Rounds of each measurement.
    rounds: usize,
}

/// What the targets are about.
pub(crate) const FULL: Plan =
    Plan { sizes: &[1_000, 3_000, 10_000], sample: 200, everywhere: [10_000, 1_000], depth: 10, spread: 7, rounds: 7 };

/// Enough to see that everything works.
pub(crate) const QUICK: Plan =
    Plan { sizes: &[100, 300], sample: 50, everywhere: [200, 50], depth: 10, spread: 3, rounds: 3 };

/// Measures and prints; fails on a wrong answer.
pub(crate) fn run(plan: &Plan) -> Result<(), String> {
    let mut targets = Targets::default();
    println!("CPU time of one thread, reading on the wall; medians of {} rounds.", plan.rounds);
    let mut wrong = scale::run(plan, &mut targets)?;
    wrong += crowd::run(plan, &mut targets)?;
    wrong += change::run(plan, &mut targets)?;
    wrong += chain::run(plan, &mut targets)?;
    targets.finish(wrong)
}
