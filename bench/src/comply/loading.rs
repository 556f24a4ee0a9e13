//! From texts to an audit: what reading takes, and how little of it is judging.

use std::hint::black_box;
use std::time::{Duration, Instant};

use upheld_engine::comply::Comply;
use upheld_input::Format;
use upheld_input::load::{Loaded, load};

use super::documents::{SEMANTICS, Text, inputs, texts};
use super::organisation::Organisation;
use super::{PLANTED, Plan, SEED, ours};
use crate::measure::{self, median, timed};
use crate::report::{self, Targets, figure, number, row, time};

/// Measures, prints, and returns how many answers were wrong.
pub(super) fn run(plan: &Plan, targets: &mut Targets) -> Result<usize, String> {
    let Some(size) = plan.sizes.iter().rev().find(|size| size.letter != "XXL") else { return Ok(0) };
    let organisation = Organisation::new(*size, PLANTED, SEED);
    let right = ours::build(&organisation)?.violations();
    let mut wrong = 0;
    report::heading(&format!("From texts to an audit, size {}, on the wall", size.letter));
    row("", ["load", "load and audit", "share of loading", "most memory"]);
    for (name, format, rounds) in [("JSON Lines", Format::JsonLines, plan.rounds.min(3)), ("YAML", Format::Yaml, 1)] {
        report::progress(&format!("loading {name}"));
        let texts = texts(&organisation, format);
        let (mut loads, mut wholes, mut most) = (Vec::new(), Vec::new(), 0);
        for _ in 0..rounds {
            let found = once(&texts)?;
            loads.push(found.load);
            wholes.push(found.load + found.audit);
            most = most.max(found.most);
            wrong += usize::from(found.violations != right);
        }
        let (load, whole) = (median(loads), median(wholes));
        let share = format!("{} %", figure(load.as_secs_f64() / whole.as_secs_f64() * 100.0));
        let bytes: usize = texts.iter().map(|(_, _, text)| text.len()).sum();
        let name = format!("{name}, {} MB", figure(number(bytes) / 1e6));
        row(&name, [time(load), time(whole), share, report::memory(Some(most))]);
        if format == Format::JsonLines {
            targets.at_most("load JSON Lines and audit, s", whole.as_secs_f64(), 2.0);
            targets.at_most("load JSON Lines and audit, s, excellent", whole.as_secs_f64(), 0.7);
            targets.at_most("memory, most while loading JSON Lines, MB", number(most) / 1e6, 500.0);
        } else {
            targets.at_most("load YAML and audit, s", whole.as_secs_f64(), 3.0);
        }
    }
    let drafts = |_| ours::draft(&organisation).map(|draft| timed(|| black_box(draft.build())).1);
    let builds: Result<Vec<Duration>, String> = (0..plan.rounds.min(3)).map(drafts).collect();
    row("of which relating and judging all objects", [time(median(builds?))]);
    Ok(wrong)
}

/// What loading once took and gave.
struct Once {
    load: Duration,
    audit: Duration,
    most: usize,
    violations: Vec<upheld_engine::comply::Violation>,
}

fn once(texts: &[Text]) -> Result<Once, String> {
    let inputs = inputs(texts);
    let before = measure::memory().unwrap_or_default();
    measure::forget_peak_memory();
    let started = Instant::now();
    let loaded: Loaded = load(inputs, &[SEMANTICS]).map_err(|broken| {
        let first = broken.diagnostics.as_slice().first().map(|problem| problem.message.clone());
        format!("the workload is not understood: {}", first.unwrap_or_default())
    })?;
    let load = started.elapsed();
    let comply: &Comply = loaded.snapshot.complies().next().ok_or("nothing was loaded")?.1;
    let started = Instant::now();
    black_box(comply.audit());
    let audit = started.elapsed();
    let most = measure::peak_memory().unwrap_or_default().saturating_sub(before);
    Ok(Once { load, audit, most, violations: comply.violations() })
}
