//! Compliance of related objects: audits, decisions about changes, and how they grow, against sets of texts.
//!
//! ```text
//! organisation   workspaces, projects, people, landing zones and rules, made up; archetypes: the tags that they have
//! documents      the same as files of YAML and JSON Lines
//! ours, naive    our side, and the rival: maps of sets of texts
//! audits         loading and auditing, size by size, and memory
//! loading        from files to an audit
//! reports        every check of it, written down, and what would fix it
//! worst          a million pairs and all rules about each of them; a hub
//! changes        decisions, tags, policies, listings and offers; what is kept against a fresh audit
//! growth         twice the organisation, twice the rules
//! instructions   counts of instructions, where valgrind is
//! ```

mod archetypes;
mod audits;
mod changes;
pub(crate) mod documents;
mod growth;
pub(crate) mod instructions;
pub(crate) mod loading;
mod naive;
pub(crate) mod organisation;
mod ours;
pub(crate) mod reports;
mod worst;

use self::organisation::{L, M, Size, XL, XXL};
use crate::report::Targets;

/// How much to measure.
#[derive(Debug)]
pub(crate) struct Plan {
    /// Sizes of organisations; the targets are about the last one.
    sizes: &'static [Size],
    /// How many of a thousand values do not fit.
    planted: &'static [usize],
    /// Pairs that the rival audits.
    sample: usize,
    /// Decisions, changes of tags, changes of policies.
    decisions: usize,
    tags: usize,
    policies: usize,
    /// Pairs of the worst case, and how many of them one project has.
    crowd: usize,
    hub: usize,
    rounds: usize,
}

/// What the targets are about.
pub(crate) const FULL: Plan = Plan {
    sizes: &[M, L, XL],
    planted: &[5, 20, 100],
    sample: 30_000,
    decisions: 100_000,
    tags: 10_000,
    policies: 50,
    crowd: 1_000_000,
    hub: 100_000,
    rounds: 5,
};

/// With ten times the largest one; it needs about ten times the memory.
pub(crate) const HUGE: Plan = Plan { sizes: &[M, L, XL, XXL], planted: &[], ..FULL };

/// Enough to see that everything works.
pub(crate) const QUICK: Plan = Plan {
    sizes: &[M],
    planted: &[20],
    sample: 3_000,
    decisions: 2_000,
    tags: 500,
    policies: 10,
    crowd: 50_000,
    hub: 5_000,
    rounds: 3,
};

/// The seed of all organisations.
pub(crate) const SEED: u64 = 2021;

/// How many of a thousand values do not fit, where nothing else is said.
pub(crate) const PLANTED: usize = 20;

/// Measures and prints; fails on a wrong answer.
pub(crate) fn run(plan: &Plan) -> Result<(), String> {
    let mut targets = Targets::default();
    println!("CPU time of one thread, medians of {} interleaved rounds; single acts on the wall.", plan.rounds);
    let mut wrong = audits::run(plan, &mut targets)?;
    wrong += loading::run(plan, &mut targets)?;
    wrong += reports::run(plan, &mut targets)?;
    wrong += worst::run(plan, &mut targets)?;
    wrong += changes::run(plan, &mut targets)?;
    wrong += growth::run(plan, &mut targets)?;
    targets.finish(wrong)
}

/// Only what is read by people and other tools.
pub(crate) fn run_reports(plan: &Plan) -> Result<(), String> {
    let mut targets = Targets::default();
    let wrong = reports::run(plan, &mut targets)?;
    targets.finish(wrong)
}
