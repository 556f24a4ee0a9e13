//! The measurements of family merge, on policies with target references, one part after the other.

mod all_rules;
mod change;
mod clients;
mod every_pair;
mod growth;
pub(crate) mod instructions;
mod listing;
mod lookup;
mod mesh;

use crate::report::Targets;
use mesh::Size;

/// How much to measure.
#[derive(Debug)]
pub(crate) struct Plan {
    size: Size,
    /// Different apps: where replicas are alike, there are so many classes of proxies.
    apps: usize,
    /// Policies that match nothing, beside the others, in steps.
    idle: &'static [usize],
    /// Policies that match every proxy, in steps.
    matching: &'static [usize],
    /// Proxies that the naive rival answers, and of which costs are taken one by one.
    sample: usize,
    /// The least and the most resources of a look-up.
    resources: [usize; 2],
    /// Look-ups of a round.
    lookups: usize,
    /// Rounds of each measurement.
    rounds: usize,
}

/// What the targets are about.
pub(crate) const FULL: Plan = Plan {
    size: Size { proxies: 10_000, services: 1_000, policies: 1_000 },
    apps: 200,
    idle: &[0, 1_000, 9_000],
    matching: &[30, 300, 3_000],
    sample: 200,
    resources: [10, 10_000],
    lookups: 200_000,
    rounds: 3,
};

/// Enough to see that everything works.
pub(crate) const QUICK: Plan = Plan {
    size: Size { proxies: 500, services: 100, policies: 200 },
    apps: 20,
    idle: &[0, 200],
    matching: &[30, 300],
    sample: 20,
    resources: [10, 1_000],
    lookups: 10_000,
    rounds: 3,
};

/// Measures and prints; fails on a wrong answer.
pub(crate) fn run(plan: &Plan) -> Result<(), String> {
    let mut targets = Targets::default();
    println!("CPU time of one thread, reading on the wall; medians of {} rounds.", plan.rounds);
    let mut wrong = all_rules::run(plan, &mut targets)?;
    wrong += growth::run(plan, &mut targets)?;
    wrong += clients::run(plan, &mut targets)?;
    wrong += change::run(plan, &mut targets)?;
    wrong += lookup::run(plan, &mut targets)?;
    wrong += every_pair::run(plan, &mut targets)?;
    targets.finish(wrong)
}
