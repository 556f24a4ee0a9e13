//! As many policies as routes: everything that holds anywhere, and every status.

use std::time::Duration;

use upheld_dialects::gateways::kgateway::Settings;

use super::Plan;
use super::documents::{Attachment, Documents};
use super::naive;
use super::pass::{Pass, Times, pass};
use crate::measure::{median, median_ratio, timed};
use crate::report::{self, Targets, figure, grouped, memory, number, ratio, row, time};

/// What was found for one number of policies and routes.
struct Measured {
    size: usize,
    bytes: usize,
    times: Times,
    /// Of everything, round by round.
    totals: Vec<Duration>,
    memory: Option<usize>,
    /// Fields that hold, over all ways.
    fields: usize,
    /// Conditions that are reported, over all policies.
    conditions: usize,
    /// The rival, for all routes.
    naive: Duration,
    wrong: usize,
}

/// Measures, prints, and returns how many answers were wrong.
pub(super) fn run(plan: &Plan, targets: &mut Targets) -> Result<usize, String> {
    let mut wrong = 0;
    for attachment in Attachment::ALL {
        report::progress(&format!("all effective policies and statuses, attached {}", attachment.words()));
        let found = measure(plan, attachment)?;
        print(attachment, &found);
        aim(attachment, &found, targets);
        wrong += found.iter().map(|found| found.wrong).sum::<usize>();
    }
    Ok(wrong)
}

fn measure(plan: &Plan, attachment: Attachment) -> Result<Vec<Measured>, String> {
    let documents: Vec<Documents> = plan.sizes.iter().map(|size| Documents::many(*size, attachment)).collect();
    let mut rounds: Vec<Vec<Measured>> = documents.iter().map(|_| Vec::new()).collect();
    for _ in 0..plan.rounds {
        for ((documents, size), found) in documents.iter().zip(plan.sizes).zip(&mut rounds) {
            let look = |pass: &Pass<'_>| look(plan, documents, *size, pass);
            found.push(pass(&documents.text, &Settings::default(), look)?);
        }
    }
    let summed = rounds.into_iter().filter_map(|found| {
        let all: Vec<Times> = found.iter().map(|found| found.times).collect();
        let totals = all.iter().map(Times::total).collect();
        let naive = median(found.iter().map(|found| found.naive).collect());
        let wrong = found.iter().map(|found| found.wrong).sum();
        let memory = found.iter().filter_map(|found| found.memory).max();
        found.into_iter().last().map(|last| Measured {
            times: Times::medians(&all),
            totals,
            memory,
            naive,
            wrong,
            ..last
        })
    });
    Ok(summed.collect())
}

/// Takes the figures of a pass, and compares a sample with the rival.
fn look(plan: &Plan, documents: &Documents, size: usize, pass: &Pass<'_>) -> Measured {
    let found = naive::found(pass.network, plan.sample);
    let routes = found.iter().map(|(route, _)| naive::attached(documents, route));
    let (expected, naive) = timed(|| routes.collect::<Vec<_>>());
    let mut wrong = found.iter().zip(&expected).filter(|((_, found), expected)| found != *expected).count();
    wrong += size.abs_diff(pass.effective.len()) + (size + 2).abs_diff(pass.statuses.len());
    // Every policy reaches something, and there is one gateway.
    wrong += pass.statuses.iter().filter(|status| status.ancestors.len() != 1).count();
    let conditions = pass.statuses.iter().flat_map(|status| &status.ancestors);
    Measured {
        size,
        bytes: documents.text.len(),
        times: pass.times,
        totals: Vec::new(),
        memory: pass.memory,
        fields: pass.effective.iter().map(|answer| answer.fields.len()).sum(),
        conditions: conditions.map(|ancestor| ancestor.conditions.len()).sum(),
        naive: naive.mul_f64(number(size) / number(found.len().max(1))),
        wrong,
    }
}

fn print(attachment: Attachment, found: &[Measured]) {
    report::heading(&format!("All effective policies and all statuses, attached {}", attachment.words()));
    let line = |name: &str, cell: &dyn Fn(&Measured) -> String| row(name, found.iter().map(cell));
    line("policies x routes", &|found| format!("{} x {0}", grouped(found.size)));
    line("bytes of JSON Lines", &|found| grouped(found.bytes));
    line("reading and indexing, on the wall", &|found| time(found.times.reading));
    line("  of that gateways and routes", &|found| time(found.times.topology));
    line("effective policies of all routes", &|found| time(found.times.effective));
    line("statuses of all policies", &|found| time(found.times.statuses));
    line("everything", &|found| time(found.times.total()));
    line("everything, for each policy", &|found| time(found.times.total().div_f64(number(found.size))));
    line("fields that hold; conditions", &|one| format!("{}; {}", grouped(one.fields), grouped(one.conditions)));
    line("naive, matching alone, from a sample", &|found| time(found.naive));
    line("naive matching / all without reading", &|found| figure(ratio(found.naive, found.times.resolving())));
    line("answers that differ", &|found| grouped(found.wrong));
    // Memory that was used before is not given back, so that only the largest size has a peak of its own.
    row("peak memory of the process", [memory(found.iter().filter_map(|found| found.memory).max())]);
}

fn aim(attachment: Attachment, found: &[Measured], targets: &mut Targets) {
    let words = attachment.words();
    let Some((last, smaller)) = found.split_last() else { return };
    for first in smaller {
        let growth = median_ratio(&last.totals, &first.totals) / (number(last.size) / number(first.size));
        let name = format!("{words}: time of each policy, {} / {}", grouped(last.size), grouped(first.size));
        targets.at_most(&name, growth, 1.5);
    }
    let name = format!("{words}: seconds for {} x {0} with reading", grouped(last.size));
    targets.at_most(&name, last.times.total().as_secs_f64(), 3.0);
    if let Some(bytes) = last.memory {
        targets.at_most(&format!("{words}: peak memory in MB"), number(bytes) / 1e6, 1_000.0);
    }
    let name = format!("{words}: naive matching / effective policies and statuses");
    targets.at_least(&name, ratio(last.naive, last.times.resolving()), 3.0);
}
