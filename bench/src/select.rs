//! The measurements of family select, one part after the other.

mod engine;
mod explaining;
mod idle;
pub(crate) mod instructions;
pub(crate) mod model;
mod pairs;
pub(crate) mod reading;

use crate::report::Targets;
use crate::workload::Size;

/// How much to measure.
#[derive(Debug)]
pub(crate) struct Plan {
    /// Meshes with the naive pairs of a round, and how many times faster than naive the engine must be.
    meshes: &'static [(Size, usize, f64)],
    /// Documents to read.
    documents: usize,
    /// Policies in the snapshot that is explained.
    explained: usize,
    /// Rounds of each measurement.
    rounds: usize,
}

const SMALL: Size = Size { proxies: 1_000, services: 100, policies: 500 };
const LARGE: Size = Size { proxies: 10_000, services: 1_000, policies: 5_000 };

/// What the targets are about.
pub(crate) const FULL: Plan =
    Plan { meshes: &[(SMALL, 1_000, 500.0), (LARGE, 150, 5_000.0)], documents: 20_000, explained: 5_000, rounds: 9 };

/// Enough to see that everything works.
pub(crate) const QUICK: Plan = Plan { meshes: &[(SMALL, 100, 500.0)], documents: 1_000, explained: 500, rounds: 3 };

/// Measures and prints; fails on a wrong answer.
pub(crate) fn run(plan: &Plan) -> Result<(), String> {
    let mut targets = Targets::default();
    println!("CPU time of one thread; medians of {} interleaved rounds.", plan.rounds);
    let wrong = pairs::run(plan, &mut targets)? + idle::run(plan, &mut targets)?;
    reading::run(plan, &mut targets)?;
    explaining::run(plan)?;
    targets.finish(wrong)
}
