//! Loading and auditing whole organisations, beside the rival on a sample of the pairs.

use std::collections::HashSet;
use std::hint::black_box;
use std::time::Duration;

use upheld_engine::comply::{Comply, Violating};

use super::naive::Naive;
use super::organisation::{Organisation, Size};
use super::{PLANTED, Plan, SEED, ours};
use crate::measure::{interleaved, timed};
use crate::report::{self, Targets, figure, grouped, number, ratio, row, time};
use crate::workload::random::Random;

/// What an audit found and took.
#[derive(Debug)]
pub(super) struct Audited {
    pub(super) pairs: usize,
    pub(super) checks: usize,
    pub(super) violations: usize,
    pub(super) ours: Duration,
    /// The rival, for as many checks as ours.
    pub(super) rival: Duration,
    /// Checks of the sample.
    pub(super) sampled: usize,
    pub(super) wrong: usize,
    /// Bytes of one object of the rival.
    pub(super) rival_bytes: f64,
}

/// Measures, prints, and returns how many answers were wrong.
pub(super) fn run(plan: &Plan, targets: &mut Targets) -> Result<usize, String> {
    let mut wrong = 0;
    for size in plan.sizes {
        let last = plan.sizes.last().is_some_and(|last| last.letter == size.letter);
        wrong += one(plan, *size, last.then_some(&mut *targets))?;
    }
    if let Some(size) = plan.sizes.last() {
        wrong += planted(plan, *size)?;
    }
    Ok(wrong)
}

fn one(plan: &Plan, size: Size, targets: Option<&mut Targets>) -> Result<usize, String> {
    report::progress(&format!("size {}", size.letter));
    let organisation = Organisation::new(size, PLANTED, SEED);
    let mut built = Err("never built".to_owned());
    let memory = mockalloc::record_allocs(|| built = ours::build(&organisation));
    let built = built?;
    let comply = &**built.comply();
    let audited = audit(plan, &organisation, comply)?;

    let bytes = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
    let kept = bytes(memory.mem_allocated().saturating_sub(memory.mem_freed()));
    let rival = audited.rival_bytes * number(organisation.things.len());
    let [objects, links] = [organisation.things.len(), comply.link_count()].map(grouped);
    let what = format!("{objects} objects, {links} relationships, {} rules", organisation.rules.len());
    report::heading(&format!("Size {}: {what}", size.letter));
    print(&audited);
    row(
        "memory: kept, most while loading",
        [report::memory(Some(kept)), report::memory(Some(bytes(memory.peak_mem())))],
    );
    row("memory of the tags of sets of texts", [format!("{} MB", figure(rival / 1e6))]);
    if let Some(targets) = targets {
        let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
        targets.at_most("full audit, ms", milliseconds(audited.ours), 150.0);
        targets.at_most("full audit, ms, excellent", milliseconds(audited.ours), 30.0);
        targets.at_least("full audit: sets of texts / ours", ratio(audited.rival, audited.ours), 30.0);
        let most = number(bytes(memory.peak_mem())) / 1e6;
        targets.at_most("memory, most while building, MB", most, 500.0);
        targets.at_most("memory, most while building, MB, excellent", most, 150.0);
        targets.at_least("memory: tags of sets of texts / all of ours", rival / number(kept), 10.0);
    }
    Ok(audited.wrong)
}

/// The same organisation with fewer and with more values that do not fit.
fn planted(plan: &Plan, size: Size) -> Result<usize, String> {
    let mut wrong = 0;
    for planted in plan.planted {
        report::progress(&format!("size {} with {planted} of a thousand values that do not fit", size.letter));
        let organisation = Organisation::new(size, *planted, SEED + 1);
        let built = ours::build(&organisation)?;
        let audited = audit(plan, &organisation, built.comply())?;
        report::heading(&format!("Size {}, {} % of the values planted", size.letter, figure(number(*planted) / 10.0)));
        print(&audited);
        wrong += audited.wrong;
    }
    Ok(wrong)
}

pub(super) fn print(audited: &Audited) {
    let share = number(audited.violations) / number(audited.checks.max(1)) * 100.0;
    row("pairs, checks", [audited.pairs, audited.checks].map(grouped));
    row("violations", [grouped(audited.violations), format!("{} %", figure(share))]);
    row("full audit", [time(audited.ours), format!("{} ns a check", figure(each(audited.ours, audited.checks)))]);
    let sampled = format!("from {} checks", grouped(audited.sampled));
    row(
        "sets of texts, extrapolated",
        [time(audited.rival), format!("{} ns a check", figure(each(audited.rival, audited.checks))), sampled],
    );
    row("sets of texts / ours", [figure(ratio(audited.rival, audited.ours))]);
}

fn each(time: Duration, count: usize) -> f64 {
    time.as_secs_f64() * 1e9 / number(count.max(1))
}

/// Audits both ways in turn and compares.
pub(super) fn audit(plan: &Plan, organisation: &Organisation, comply: &Comply) -> Result<Audited, String> {
    let pairs = organisation.pairs();
    let mut random = Random::new(SEED);
    let mut sample: Vec<(usize, usize)> = Vec::with_capacity(plan.sample);
    while sample.len() < plan.sample.min(pairs.len()) {
        sample.extend(pairs.get(random.below(pairs.len())));
    }
    sample.sort_unstable();
    sample.dedup();
    let mut rival = Err("never built".to_owned());
    let memory = mockalloc::record_allocs(|| rival = Naive::new(organisation, &sample));
    let rival = rival?;
    let kept = memory.mem_allocated().saturating_sub(memory.mem_freed());
    let rival_bytes = number(usize::try_from(kept).unwrap_or(usize::MAX)) / number(rival.objects().max(1));

    let [fresh, naive] = interleaved(
        plan.rounds,
        [&mut || Ok(timed(|| black_box(comply.audit())).1), &mut || Ok(timed(|| black_box(rival.audit().0.len())).1)],
    )?;
    let (violations, sampled) = rival.audit();
    let checks = organisation.checks();
    Ok(Audited {
        pairs: pairs.len(),
        checks,
        violations: comply.audit().into_iter().map(Violating::len).sum(),
        ours: fresh,
        rival: naive.mul_f64(number(checks) / number(sampled.max(1))),
        sampled,
        wrong: compare(organisation, comply, &sample, &violations) + usize::from(!kept_is_true(comply)),
        rival_bytes,
    })
}

/// How many verdicts about the sample differ.
fn compare(
    organisation: &Organisation,
    comply: &Comply,
    sample: &[(usize, usize)],
    rival: &[(&str, &str, &str)],
) -> usize {
    let references = |(a, b): &(usize, usize)| {
        Some((organisation.things.get(*a)?.reference(), organisation.things.get(*b)?.reference()))
    };
    let sampled: HashSet<(String, String)> = sample.iter().filter_map(references).collect();
    let all = comply.violations(ours::NOW);
    let ours: HashSet<(&str, &str, &str)> = all
        .iter()
        .map(|own| (own.policy.as_str(), own.a.object.as_str(), own.b.object.as_str()))
        .filter(|(_, a, b)| sampled.contains(&((*a).to_owned(), (*b).to_owned())))
        .collect();
    let rival: HashSet<(&str, &str, &str)> = rival.iter().copied().collect();
    ours.symmetric_difference(&rival).count()
}

/// Whether a fresh audit finds what is known.
pub(super) fn kept_is_true(comply: &Comply) -> bool {
    let known: HashSet<_> = comply.violation_ids().into_iter().collect();
    let fresh: HashSet<_> = comply.audit().into_iter().flat_map(|violating| comply.ids_of(violating)).collect();
    known == fresh
}
