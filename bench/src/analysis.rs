//! What changes between two sets of access policies, over all requests that there could be, and what is to be said of one set: against
//! asking one request after the other, which finds only what it happens to ask, and against the analysis of Cedar, which asks a solver. And what one
//! policy about connections changes for all of them: against asking about every pair.
//!
//! ```text
//! diffs     ten edits among many policies, and what one edit costs however many there are
//! cedar     the same two questions, answered by Cedar's analysis: do these differ, and do those not?
//! lints     all policies of one set
//! connections   one edited policy among thousands of proxies and services
//! hostile   policies that are made to be slow: a bound is met, and said
//! ```

#[cfg(feature = "peers")]
mod cedar;
mod connections;
mod diffs;
mod hostile;
mod lints;

use crate::report::Targets;
use crate::workload::Size;

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
    /// Meshes in which one policy is edited.
    meshes: &'static [Size],
}

const SMALL: Size = Size { proxies: 1_000, services: 100, policies: 500 };
const LARGE: Size = Size { proxies: 10_000, services: 1_000, policies: 5_000 };

/// What the targets are about.
pub(crate) const FULL: Plan =
    Plan { sizes: &[100, 1_000, 10_000], requests: 10_000, rounds: 5, hostile: 200, meshes: &[SMALL, LARGE] };

/// Enough to see that everything works.
pub(crate) const QUICK: Plan = Plan { sizes: &[100, 1_000], requests: 1_000, rounds: 3, hostile: 40, meshes: &[SMALL] };

/// Measures and prints; fails on a wrong answer.
pub(crate) fn run(plan: &Plan) -> Result<(), String> {
    let mut targets = Targets::default();
    println!("CPU time of one thread; medians of {} rounds. Policies are loaded before.", plan.rounds);
    let wrong = connections::run(plan, &mut targets)?
        + diffs::run(plan, &mut targets)?
        + with_cedar(plan)?
        + lints::run(plan, &mut targets)?
        + hostile::run(plan, &mut targets)?;
    targets.finish(wrong)
}

#[cfg(feature = "peers")]
fn with_cedar(plan: &Plan) -> Result<usize, String> {
    cedar::run(plan)
}

#[cfg(not(feature = "peers"))]
#[expect(clippy::unnecessary_wraps, reason = "with peers it can fail")]
fn with_cedar(_: &Plan) -> Result<usize, String> {
    println!("\nThis build has no peers: `cargo xtask bench analysis` has Cedar's analysis.");
    Ok(0)
}
