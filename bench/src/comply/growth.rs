//! What grows with what: decisions with the organisation, audits with pairs and with rules.

use std::hint::black_box;
use std::time::Duration;

use upheld_engine::comply::Comply;

use super::changes::{decide, links};
use super::organisation::{Organisation, Size};
use super::{PLANTED, Plan, SEED, ours};
use crate::measure::{Spread, interleaved, median, timed};
use crate::report::{self, Targets, figure, grouped, number, ratio, row, time};

/// Measures, prints, and returns how many answers were wrong.
pub(super) fn run(plan: &Plan, targets: &mut Targets) -> Result<usize, String> {
    let Some(size) = plan.sizes.iter().rev().find(|size| size.letter != "XXL") else { return Ok(0) };
    report::progress("growth");
    let built = |size: Size| {
        let organisation = Organisation::new(size, PLANTED, SEED);
        ours::build(&organisation).map(|governed| (organisation, governed))
    };
    let (half, whole) = (built(size.part(2))?, built(*size)?);
    let asked = [&half.0, &whole.0].map(|organisation| links(organisation, plan.decisions / 4));
    let [few, many] = &asked;
    let (mut spreads, mut times) = ([const { Vec::new() }; 2], [const { Vec::new() }; 2]);
    for _ in 0..plan.rounds {
        for (((_, governed), asked), (spreads, times)) in
            [(&half, few), (&whole, many)].into_iter().zip(spreads.iter_mut().zip(&mut times))
        {
            let found: Spread = decide(governed, asked).spread;
            spreads.push(found.middle);
            times.push(audit(governed.comply()));
        }
    }
    let [decision, double] = spreads.map(median);
    let [audit_half, audit_whole] = times.map(median);
    let pairs = [&half.1, &whole.1].map(|governed| governed.comply().pair_count());
    let [few, many] = pairs;
    report::heading("Growth");
    row("", ["half", "whole", "whole / half"]);
    let grown = |name: &str, one: Duration, other: Duration| {
        row(name, [time(one), time(other), figure(ratio(other, one))]);
    };
    row("pairs", [grouped(few), grouped(many), figure(number(many) / number(few.max(1)))]);
    grown("a relationship decided, p50", decision, double);
    grown("full audit", audit_half, audit_whole);
    targets.at_most("growth of an admission, twice the organisation", ratio(double, decision), 1.2);
    let linear = ratio(audit_whole, audit_half) / (number(many) / number(few.max(1)));
    targets.at_most("growth of a full audit / growth of the pairs", linear, 1.2);
    drop((half, whole));

    let with = |rules: usize| built(Size { rules, ..*size }).map(|(_, governed)| governed);
    let (some, all) = (with(50)?, with(100)?);
    let [fifty, hundred] =
        interleaved(plan.rounds, [&mut || Ok(audit(some.comply())), &mut || Ok(audit(all.comply()))])?;
    row("full audit, 50 and 100 rules", [time(fifty), time(hundred), figure(ratio(hundred, fifty))]);
    targets.at_most("growth of a full audit, twice the rules", ratio(hundred, fifty), 1.9);
    Ok(0)
}

fn audit(comply: &Comply) -> Duration {
    timed(|| black_box(comply.audit())).1
}
