//! Decisions about requests for access: our engine, a plain loop over the policies, and the peers that people would use
//! instead, in one process and in turn.
//!
//! ```text
//! workload      policies, users and requests
//! ours, plain   our side, and the loop that every answer is compared with
//! peers         Cedar, CEL, casbin, regorus
//! contest       loads, checks and times all of them at one size
//! table         what was found, and the targets
//! adversarial   policies that are made to be slow
//! change        one policy written among many
//! instructions  counts of instructions, where valgrind is
//! ```

mod adversarial;
mod change;
mod contest;
mod deciding;
pub(crate) mod instructions;
mod ours;
mod peers;
mod plain;
mod table;
mod workload;

use std::time::Duration;

use crate::report::Targets;
pub(crate) use ours::{Ours, rule};
#[cfg(feature = "peers")]
pub(crate) use peers::cedar_text;
use workload::Request;
pub(crate) use workload::{Effect, Policy, SubjectTest, Workload};

/// Somebody who decides: ours, or a peer.
trait Decider {
    fn name(&self) -> &str;

    /// Whether the request is permitted.
    fn decide(&mut self, request: &Request) -> bool;
}

/// How much to measure.
#[derive(Debug)]
pub(crate) struct Plan {
    /// Numbers of policies, in steps.
    sizes: &'static [usize],
    /// Requests to decide about.
    requests: usize,
    /// How long the plain loop may take to say what is right, and each of the others to be compared with it.
    checking: [Duration; 2],
    /// How long a round of one of them takes, or one decision if that is longer.
    round: Duration,
    /// Whoever would need longer than this to load, or to decide once, is left out.
    longest: [Duration; 2],
    /// Policies of each adversarial set.
    adversarial: usize,
    rounds: usize,
}

/// What the targets are about.
pub(crate) const FULL: Plan = Plan {
    sizes: &[10, 100, 1_000, 10_000, 100_000],
    requests: 10_000,
    checking: [Duration::from_secs(5), Duration::from_secs(1)],
    round: Duration::from_millis(300),
    longest: [Duration::from_secs(15), Duration::from_millis(400)],
    adversarial: 1_000,
    rounds: 5,
};

/// Enough to see that everything works.
pub(crate) const QUICK: Plan = Plan {
    sizes: &[10, 100, 1_000],
    requests: 2_000,
    checking: [Duration::from_secs(1), Duration::from_millis(100)],
    round: Duration::from_millis(20),
    longest: [Duration::from_secs(2), Duration::from_millis(20)],
    adversarial: 200,
    rounds: 5,
};

/// Measures and prints; fails on a wrong answer.
pub(crate) fn run(plan: &Plan) -> Result<(), String> {
    let mut targets = Targets::default();
    println!("CPU time of one thread; medians of {} interleaved rounds.", plan.rounds);
    let mut found: Vec<contest::Size> = Vec::new();
    for &policies in plan.sizes {
        let size = contest::measure(plan, policies, found.last())?;
        found.push(size);
    }
    table::print(&found);
    table::judge(&found, &mut targets);
    let wrong = contest::wrong(&found) + adversarial::run(plan)? + change::run(plan, &mut targets)?;
    targets.finish(wrong)
}
