//! The worst case: a million pairs of one kind, all rules about each of them, and an object that is in a tenth of the pairs.

use std::time::Duration;

use smol_str::SmolStr;
use upheld_governance::Action;

use super::audits::{audit, kept_is_true, print};
use super::changes::{act, tag_change};
use super::organisation::Organisation;
use super::{PLANTED, Plan, SEED, ours};
use crate::measure::Spread;
use crate::report::{self, Targets, figure, grouped, ratio, row, time};
use crate::workload::random::Random;

const RULES: usize = 50;
/// How often the tags of the hub change.
const CHANGES: usize = 50;

/// Measures, prints, and returns how many answers were wrong.
pub(super) fn run(plan: &Plan, targets: &mut Targets) -> Result<usize, String> {
    report::progress("the worst case");
    let organisation = Organisation::crowded(plan.crowd, plan.hub, RULES, PLANTED, SEED);
    let mut governed = ours::build(&organisation)?;
    let audited = audit(plan, &organisation, governed.comply())?;
    report::heading(&format!("Worst case: {} pairs, {RULES} rules about each", grouped(audited.pairs)));
    print(&audited);
    targets.at_most("worst case: full audit, ms", audited.ours.as_secs_f64() * 1e3, 60.0);
    targets.at_least("worst case: sets of texts / ours", ratio(audited.rival, audited.ours), 60.0);
    let mut wrong = audited.wrong;

    let hub = organisation.thing(0)?.reference();
    let mut random = Random::new(SEED);
    let mut times: Vec<Duration> = Vec::new();
    for _ in 0..CHANGES {
        let tags = tag_change(&organisation, 0, &mut random)?;
        let action = Action::SetTags { object: SmolStr::new(&hub), tags };
        times.push(act(&mut governed, &ours::administrator(), &action, &mut wrong));
    }
    wrong += usize::from(!kept_is_true(governed.comply()));
    let hub = Spread::of(times);
    row(&format!("tags of a hub with {} pairs: p50, p99", grouped(plan.hub)), [hub.middle, hub.slow].map(time));
    row("a pair", [format!("{} ns", figure(hub.middle.as_secs_f64() * 1e9 / report::number(plan.hub.max(1))))]);
    targets.at_most("tag change, hub of 100 000, p50, ms", hub.middle.as_secs_f64() * 1e3, 20.0);
    targets.at_most("tag change, hub of 100 000, p50, ms, excellent", hub.middle.as_secs_f64() * 1e3, 1.0);
    Ok(wrong)
}
