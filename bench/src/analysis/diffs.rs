//! Two sets of policies that differ in a few.

use std::collections::BTreeSet;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use upheld_engine::decide::shifts::{Bounds, Certainty, Decision, Verdict, shifts};
use upheld_engine::decide::{Decide, Effect, Rule, RuleChange};
use upheld_engine::{Scratch, Silent, ask};

use super::Plan;
use crate::access::{Ours, Workload, rule};
use crate::measure::{forget_peak_memory, median, median_ratio, memory, peak_memory, timed};
use crate::report::{self, Targets, grouped, number, row, time};

/// Policies that say something else.
const EDITS: usize = 10;
/// Policies that are edited one by one, the same ones whatever the size.
const FIXED: std::ops::Range<usize> = 1..41;
/// The sizes whose growth is judged.
const GROWTH: [usize; 2] = [1_000, 10_000];

/// What was measured at one size.
struct Found {
    policies: usize,
    /// Snapshots that came out of each other, snapshots that were loaded each for itself, and the first with one edit more of a
    /// policy that is about every path.
    diff: [Duration; 3],
    memory: Option<usize>,
    shifts: usize,
    asking: Duration,
    seen: usize,
    wrong: usize,
}

pub(super) fn run(plan: &Plan, targets: &mut Targets) -> Result<usize, String> {
    let mut all = Vec::new();
    for &policies in plan.sizes {
        report::progress(&format!("{EDITS} edits among {}", grouped(policies)));
        all.push(measure(plan, policies)?);
    }
    report::heading(&format!("{EDITS} edits, all requests that there could be"));
    row("", all.iter().map(|found| format!("N = {}", grouped(found.policies))));
    row("diff, policies that were changed", all.iter().map(|found| time(found.diff[0])));
    row("diff, both loaded", all.iter().map(|found| time(found.diff[1])));
    row("diff, and a policy about every path", all.iter().map(|found| time(found.diff[2])));
    row("memory beyond loading", all.iter().map(|found| report::memory(found.memory)));
    row("sorts of requests that are decided otherwise", all.iter().map(|found| found.shifts.to_string()));
    row(
        &format!("rival: {} requests asked of both", grouped(plan.requests)),
        all.iter().map(|found| time(found.asking)),
    );
    row("sorts that the rival has seen", all.iter().map(|found| found.seen.to_string()));
    if let Some(most) = all.iter().find(|found| found.policies == GROWTH[1]) {
        targets.at_most("ten edits among 10 000 policies that were changed, ms", milliseconds(most.diff[0]), 100.0);
        targets.at_most("ten edits among 10 000 policies, both loaded, ms", milliseconds(most.diff[1]), 100.0);
        let megabytes = most.memory.map_or(f64::INFINITY, |bytes| number(bytes) / 1e6);
        targets.at_most("the same, MB beyond loading", megabytes, 50.0);
    }
    growth(plan, targets)?;
    Ok(all.iter().map(|found| found.wrong).sum())
}

fn measure(plan: &Plan, policies: usize) -> Result<Found, String> {
    let workload = Workload::new(policies, plan.requests);
    let before = Ours::new(&workload.policies)?.decide;
    let places = || (0..EDITS).map(|number| (number * 7919 + 1) % policies);
    let after = edited(&before, places())?;
    let wide = edited(&before, places().chain([0]))?;
    let loaded = Ours::of(after.rules().iter().map(|rule| Arc::new((**rule).clone()))).decide;
    let resident = memory();
    forget_peak_memory();
    let verdict = shifts(&before, &after, &Bounds::default());
    let memory = peak_memory().zip(resident).map(|(peak, resident)| peak.saturating_sub(resident));
    let mut times = [const { Vec::new() }; 3];
    for _ in 0..plan.rounds {
        for (after, times) in [&after, &loaded, &wide].into_iter().zip(&mut times) {
            times.push(timed(|| black_box(shifts(&before, after, &Bounds::default()))).1);
        }
    }
    let (seen, asking) = timed(|| seen(&before, &after, &workload));
    Ok(Found {
        policies,
        diff: times.map(median),
        memory,
        shifts: verdict.shifts().len(),
        asking,
        seen: seen.len(),
        wrong: wrong(&verdict, &seen),
    })
}

/// What the rival has seen and we have not said, and what is said without having been tried.
fn wrong(verdict: &Verdict, seen: &BTreeSet<String>) -> usize {
    let said: BTreeSet<String> =
        verdict.shifts().iter().map(|shift| format!("{:?}", (shift.before, shift.after))).collect();
    let open = verdict.shifts().iter().filter(|shift| shift.certainty != Certainty::Sure).count();
    let undecided = usize::from(matches!(verdict, Verdict::Undecided { .. }));
    seen.iter().filter(|pair| !said.contains(*pair)).count() + open + undecided
}

/// Asks both sides one request after the other.
fn seen(before: &Decide, after: &Decide, workload: &Workload) -> BTreeSet<String> {
    let (mut one, mut other) = (Scratch::default(), Scratch::default());
    let mut seen = BTreeSet::new();
    for request in &workload.requests {
        let decided =
            [ask(before, &&request.own, &mut one, &mut Silent), ask(after, &&request.own, &mut other, &mut Silent)];
        let [before, after] = decided.map(|decided| Decision { outcome: decided.outcome, by: decided.by });
        if before.outcome != after.outcome {
            seen.insert(format!("{:?}", (before, after)));
        }
    }
    seen
}

/// With some policies that have the other effect now.
fn edited(decide: &Decide, places: impl Iterator<Item = usize>) -> Result<Decide, String> {
    let mut changes = Vec::new();
    for place in places {
        let gone = decide.rules().get(place).cloned().ok_or("no policy")?;
        let effect = if gone.effect == Effect::Permit { Effect::Deny } else { Effect::Permit };
        let came = Arc::new(Rule { effect, ..(*gone).clone() });
        changes.extend([RuleChange::Removed(gone), RuleChange::Added(came)]);
    }
    decide.with_changes(&changes, |at| at).ok_or_else(|| "a policy is not there".to_owned())
}

/// One edit after the other, the same ones among few and among many.
fn growth(plan: &Plan, targets: &mut Targets) -> Result<(), String> {
    if !plan.sizes.contains(&GROWTH[1]) {
        return Ok(());
    }
    report::progress("one edit among few and among many");
    let mut all: Vec<(Decide, Vec<Decide>)> = Vec::new();
    for policies in GROWTH {
        let workload = Workload::new(policies, 0);
        let rules: Result<Vec<Rule>, String> =
            (0..).zip(&workload.policies).map(|(place, policy)| rule(policy, place)).collect();
        let before = Ours::of(rules?.into_iter().map(Arc::new)).decide;
        let after: Result<Vec<Decide>, String> = FIXED.map(|place| edited(&before, std::iter::once(place))).collect();
        all.push((before, after?));
    }
    let mut times = [const { Vec::new() }; 2];
    for _ in 0..plan.rounds.max(5) {
        for ((before, after), times) in all.iter().zip(&mut times) {
            let act =
                || after.iter().map(|after| shifts(before, after, &Bounds::default()).shifts().len()).sum::<usize>();
            times.push(timed(|| black_box(act())).1);
        }
    }
    let [few, many] = &times;
    let of_one = |times: &[Duration]| median(times.to_vec()) / u32::try_from(FIXED.len()).unwrap_or(1);
    report::heading("One edit, the same ones among few and among many");
    row("", GROWTH.map(|policies| format!("N = {}", grouped(policies))));
    row("diff", [time(of_one(few)), time(of_one(many))]);
    targets.at_most("growth of the time of a diff, N = 10 000 / N = 1 000", median_ratio(many, few), 1.5);
    Ok(())
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
