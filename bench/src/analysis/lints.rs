//! All policies of one set.

use std::hint::black_box;
use std::time::Duration;

use upheld_engine::decide::shifts::{Bounds, Linted, Problem, Verdict, lint, shifts};

use super::Plan;
use crate::access::{Ours, Workload};
use crate::measure::{forget_peak_memory, memory, peak_memory, timed};
use crate::report::{self, Targets, grouped, row, time};

/// So many policies that could go are taken away and compared.
const CHECKED: usize = 20;

struct Found {
    policies: usize,
    spent: Duration,
    memory: Option<usize>,
    linted: Linted,
    wrong: usize,
}

pub(super) fn run(plan: &Plan, targets: &mut Targets) -> Result<usize, String> {
    let mut all = Vec::new();
    for &policies in plan.sizes {
        report::progress(&format!("lint of {}", grouped(policies)));
        all.push(measure(policies)?);
    }
    report::heading("Lint, all requests that there could be");
    row("", all.iter().map(|found| format!("N = {}", grouped(found.policies))));
    row("lint", all.iter().map(|found| time(found.spent)));
    row("memory beyond loading", all.iter().map(|found| report::memory(found.memory)));
    row("classes of paths", all.iter().map(|found| grouped(found.linted.classes)));
    for problem in [Problem::Impossible, Problem::Shadowed, Problem::Covered, Problem::Outweighed, Problem::Redundant] {
        let count = |found: &Found| found.linted.findings.iter().filter(|finding| finding.problem == problem).count();
        row(&format!("{problem:?}"), all.iter().map(|found| count(found).to_string()));
    }
    for (policies, most) in [(1_000, 0.5), (10_000, 5.0)] {
        if let Some(found) = all.iter().find(|found| found.policies == policies) {
            targets.at_most(&format!("lint of {} policies, s", grouped(policies)), found.spent.as_secs_f64(), most);
        }
    }
    Ok(all.iter().map(|found| found.wrong).sum())
}

fn measure(policies: usize) -> Result<Found, String> {
    let workload = Workload::new(policies, 0);
    let decide = Ours::new(&workload.policies)?.decide;
    let resident = memory();
    forget_peak_memory();
    let (linted, spent) = timed(|| black_box(lint(&decide, &Bounds::default())));
    let memory = peak_memory().zip(resident).map(|(peak, resident)| peak.saturating_sub(resident));
    let could_go = linted
        .findings
        .iter()
        .filter(|finding| !matches!(finding.problem, Problem::Conflict | Problem::Tie | Problem::UnreachableDefault));
    let mut wrong = usize::from(linted.bound.is_some());
    for finding in could_go.take(CHECKED) {
        let without = finding.policy.and_then(|policy| decide.without_rule(policy)).ok_or("no policy")?;
        wrong += usize::from(!matches!(shifts(&decide, &without, &Bounds::default()), Verdict::Equal { .. }));
    }
    Ok(Found { policies, spent, memory, linted, wrong })
}
