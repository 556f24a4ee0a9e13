//! What one proxy costs: nothing for policies that do not match it, and its share for each that does.

use std::time::Duration;

use super::Plan;
use super::listing::{Listed, each, list_each};
use super::mesh::{Documents, Replicas, Size, proxies, rules, subjects};
use crate::measure::{median, timed};
use crate::report::{self, Targets, figure, grouped, number, ratio, row, time};

/// What one proxy of a mesh costs.
struct Measured {
    /// Policies of the sort that grows.
    policies: usize,
    spent: Duration,
    matching: f64,
    looked_at: f64,
    listed: Vec<Listed>,
}

impl Measured {
    fn for_each_match(&self) -> Duration {
        self.spent.div_f64(self.matching.max(1.0))
    }
}

/// Measures growing numbers of policies that do not match, then of such that do; returns how many answers were wrong.
pub(super) fn run(plan: &Plan, targets: &mut Targets) -> Result<usize, String> {
    let mut idle = Vec::new();
    for count in plan.idle.iter().copied() {
        report::progress(&format!("all rules of a proxy beside {} idle policies", grouped(count)));
        let size = Size { proxies: plan.sample, ..plan.size };
        let mut documents = Documents::with_policies(size, plan.apps, Replicas::Different);
        documents.add_idle(count);
        idle.push(measure(&documents, count, plan.rounds)?);
    }
    let mut matching = Vec::new();
    for count in plan.matching.iter().copied() {
        report::progress(&format!("all rules of a proxy with {} matching policies", grouped(count)));
        let mut documents = Documents::new(Size { proxies: 10, ..plan.size }, plan.apps, Replicas::Different);
        documents.add_matching(count);
        matching.push(measure(&documents, count, plan.rounds)?);
    }
    print("Policies that do not match: what one proxy costs beside them", &idle);
    print("Policies that match: what one proxy costs", &matching);
    if let (Some(first), Some(last)) = (idle.first(), idle.last()) {
        let name = |what: &str| format!("one proxy: {what} beside {} idle policies / without", grouped(last.policies));
        targets.at_most(&name("time"), ratio(last.spent, first.spent), 1.3);
        targets.at_most(&name("looked at"), last.looked_at / first.looked_at, 1.0);
    }
    if let (Some(first), Some(last)) = (matching.first(), matching.last()) {
        let growth = format!("{} / {}", grouped(last.policies), grouped(first.policies));
        let name = format!("one proxy: time for each of {growth} matching policies");
        targets.at_most(&name, ratio(last.for_each_match(), first.for_each_match()), 2.0);
    }
    let expected = idle.first().map(|first| &first.listed);
    Ok(idle.iter().filter(|found| Some(&found.listed) != expected).count())
}

fn measure(documents: &Documents, policies: usize, rounds: usize) -> Result<Measured, String> {
    let snapshot = documents.load(&[])?;
    let rules = rules(&snapshot)?;
    let proxies = proxies(&snapshot);
    let subjects = subjects(&proxies);
    let mut times = Vec::new();
    let mut last = None;
    for _ in 0..=rounds * 2 {
        let (listed, spent) = timed(|| list_each(&subjects, &rules));
        times.push(each(spent, subjects.len()));
        last = Some(listed?);
    }
    let (listed, looked_at) = last.ok_or("no rounds")?;
    let of_one = |all: usize| number(all) / number(subjects.len());
    let matching = of_one(listed.iter().map(|listed| listed.matching).sum());
    let looked_at = of_one(usize::try_from(looked_at).unwrap_or(usize::MAX));
    Ok(Measured { policies, spent: median(times), matching, looked_at, listed })
}

fn print(heading: &str, found: &[Measured]) {
    report::heading(heading);
    row("policies", found.iter().map(|found| grouped(found.policies)));
    row("all rules of one proxy", found.iter().map(|found| time(found.spent)));
    row("policies that match it", found.iter().map(|found| figure(found.matching)));
    row("alternatives looked at", found.iter().map(|found| figure(found.looked_at)));
    row("for each policy that matches", found.iter().map(|found| time(found.for_each_match())));
}
