//! All rules of all proxies: once for each class, and what a proxy costs that is like no other.

use std::hint::black_box;
use std::time::{Duration, Instant};

use upheld_dialects::kuma::rules::Rules;
use upheld_engine::merge::{AdmitScratch, ClassTable, Subject, Work};

use super::Plan;
use super::listing::{Listed, all_rules, all_rules_naively, each, list_each, matched_naively};
use super::mesh::{Documents, Replicas, proxies, rules, subjects};
use crate::measure::{interleaved, median, timed};
use crate::report::{self, Targets, figure, grouped, number, ratio, row, time};

/// A table of what was listed.
pub(super) type Table = ClassTable<Result<Listed, String>>;

/// What was found for one mesh.
#[derive(Debug)]
struct Measured {
    name: &'static str,
    reading: Duration,
    table: Duration,
    work: Work,
    /// As many proxies as there are apps, one by one.
    apps: Duration,
    naive: Duration,
    /// Matching alone, of one proxy: through the index, and policy after policy.
    matched: (Duration, Duration),
    matching: f64,
    wrong: usize,
}

/// Measures, prints, and returns how many answers were wrong.
pub(super) fn run(plan: &Plan, targets: &mut Targets) -> Result<usize, String> {
    let alike = measure(plan, "replicas alike", Replicas::Alike)?;
    let different = measure(plan, "all proxies different", Replicas::Different)?;
    let all = [&alike, &different];
    let with_reading = ratio(alike.table + alike.reading, alike.apps + alike.reading);
    let name = format!("all rules: {} classes with reading / {0} proxies with reading", grouped(alike.work.computed));
    targets.at_most(&name, with_reading, 2.0);
    let naive = |found: &Measured| found.naive.mul_f64(number(plan.size.proxies) / number(plan.sample));
    targets.at_least("all rules: naive / classes, replicas alike", ratio(naive(&alike), alike.table), 10.0);

    let types = super::mesh::TYPES.len();
    report::heading(&format!("All rules: {} proxies x services x policies, {types} types", plan.size.words()));
    row("", all.map(|found| found.name));
    row("classes", all.map(|found| grouped(found.work.computed)));
    row("reading and indexing, on the wall", all.map(|found| time(found.reading)));
    row("all rules of all proxies, by class", all.map(|found| time(found.table)));
    row("for each class", all.map(|found| time(each(found.table, found.work.computed))));
    row(&format!("all rules of {} proxies one by one", plan.apps), all.map(|found| time(found.apps)));
    row("by class / so many one by one, without reading", all.map(|found| figure(ratio(found.table, found.apps))));
    row("policies that match a proxy", all.map(|found| figure(found.matching)));
    let looked_at = |found: &Measured| number(usize::try_from(found.work.looked_at).unwrap_or(usize::MAX));
    row("alternatives looked at for each class", all.map(|one| figure(looked_at(one) / number(one.work.computed))));
    row(&format!("naive, from {} proxies", plan.sample), all.map(|found| time(naive(found))));
    row("naive / by class", all.map(|found| figure(ratio(naive(found), found.table))));
    row("matching alone, one proxy, through the index", all.map(|found| time(found.matched.0)));
    row("matching alone, one proxy, naive", all.map(|found| time(found.matched.1)));
    row("proxies compared (different)", all.map(|found| format!("{} ({})", grouped(plan.sample), found.wrong)));
    Ok(all.iter().map(|found| found.wrong).sum())
}

fn measure(plan: &Plan, name: &'static str, replicas: Replicas) -> Result<Measured, String> {
    report::progress(&format!("all rules of {}, {name}", plan.size.words()));
    let documents = Documents::with_policies(plan.size, plan.apps, replicas);
    let mut times = Vec::new();
    let mut snapshot = None;
    for _ in 0..plan.rounds {
        drop(snapshot.take());
        let started = Instant::now();
        snapshot = Some(documents.load(&[])?);
        times.push(started.elapsed());
    }
    let snapshot = snapshot.ok_or("no rounds")?;
    let reading = median(times);
    let rules = rules(&snapshot)?;
    let proxies = proxies(&snapshot);
    let subjects = subjects(&proxies);
    let merges = || rules.iter().map(|rules| rules.merge);
    // Those that are all different take long enough to be measured once.
    let rounds = if replicas == Replicas::Alike { plan.rounds } else { 1 };
    let (mut times, mut built) = (Vec::new(), None);
    for _ in 0..rounds {
        let (table, spent) =
            timed(|| ClassTable::build(merges(), &subjects, |proxy, scratch| all_rules(&rules, proxy, scratch)));
        times.push(spent);
        built = Some(table);
    }
    let (table, work): (Table, Work) = built.ok_or("no rounds")?;
    let mut one_by_one = Vec::new();
    for _ in 0..plan.rounds {
        let (listed, spent) = timed(|| list_each(subjects.get(..plan.apps).unwrap_or(&subjects), &rules));
        listed?;
        one_by_one.push(spent);
    }
    let sample = subjects.iter().enumerate().step_by((subjects.len() / plan.sample).max(1)).take(plan.sample);
    let sample: Vec<(usize, Subject<'_>)> = sample.map(|(number, subject)| (number, *subject)).collect();
    let (naive, naive_time) = timed(|| -> Result<Vec<Listed>, String> {
        sample.iter().map(|(_, subject)| all_rules_naively(&rules, *subject)).collect()
    });
    let naive = naive?;
    let differs = |((place, _), naive): &(&(usize, Subject<'_>), &Listed)| table.get(*place) != Some(&Ok(**naive));
    let wrong = sample.iter().zip(&naive).filter(differs).count();
    let mut scratch = AdmitScratch::default();
    let pairs = || rules.iter().flat_map(|rules| sample.iter().map(move |(_, proxy)| (rules, *proxy)));
    let [index, every] = interleaved(
        plan.rounds,
        [
            &mut || {
                let matched =
                    |(rules, proxy): (&Rules<'_>, _)| drop(black_box(rules.matched_with(proxy, &mut scratch)));
                Ok(timed(|| pairs().for_each(matched)).1)
            },
            &mut || {
                let matched = |(rules, proxy): (&Rules<'_>, _)| drop(black_box(matched_naively(rules, proxy)));
                Ok(timed(|| pairs().for_each(matched)).1)
            },
        ],
    )?;
    let matching = number(naive.iter().map(|listed| listed.matching).sum()) / number(naive.len());
    Ok(Measured {
        name,
        reading,
        table: median(times),
        work,
        apps: median(one_by_one),
        naive: naive_time,
        matched: (each(index, sample.len()), each(every, sample.len())),
        matching,
        wrong,
    })
}
