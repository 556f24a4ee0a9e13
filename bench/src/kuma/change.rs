//! One policy changes: which classes are computed again, and what the others are spared.

use std::time::Duration;

use upheld_dialects::kuma::rules::Rules;
use upheld_engine::merge::{AdmitScratch, Change, ClassTable, Merge, Targets as References, Work};
use upheld_engine::{PolicyId, Snapshot};
use upheld_model::layers::Condition;
use upheld_model::{Config, Content, Policy, PolicyContent};

use super::Plan;
use super::all_rules::Table;
use super::listing::all_rules;
use super::mesh::{Documents, Replicas, proxies, rules, subjects};
use crate::measure::timed;
use crate::report::{self, Targets, figure, grouped, number, ratio, row, time};

/// What one change took.
struct Measured {
    name: String,
    reached: usize,
    work: Work,
    put: Duration,
    change: Duration,
    wrong: usize,
}

/// Measures, prints, and returns how many answers were wrong.
pub(super) fn run(plan: &Plan, targets: &mut Targets) -> Result<usize, String> {
    report::progress("one policy changed");
    let documents = Documents::with_policies(plan.size, plan.apps, Replicas::Alike);
    let snapshot = documents.load(&[])?;
    let rules = rules(&snapshot)?;
    let proxies = proxies(&snapshot);
    let subjects = subjects(&proxies);
    let merges = rules.iter().map(|rules| rules.merge);
    let ((table, built), whole): ((Table, Work), Duration) =
        timed(|| ClassTable::build(merges, &subjects, |proxy, scratch| all_rules(&rules, proxy, scratch)));

    let references = References::new(snapshot.objects().iter());
    let mut found = Vec::new();
    for (name, policy) in picked(&snapshot, &rules, &subjects)? {
        let mut table = table.clone();
        let before: &Merge = rules.first().ok_or("no kind")?.merge;
        let (after, put) =
            timed(|| before.clone().change(&[], &[(policy.0, &policy.1)], snapshot.symbols(), &references));
        let slot = after.slot_of(policy.1.name).ok_or("the policy is gone")?;
        let mut now = rules.clone();
        now.first_mut().ok_or("no kind")?.merge = &after;
        let changes = [Change { before, after: &after, slots: &[slot] }];
        let (work, change) =
            timed(|| table.change(&changes, &subjects, |proxy, scratch| all_rules(&now, proxy, scratch)));
        // Counted by asking for each proxy whether the policy speaks to it.
        let speaks = |proxy: &&upheld_engine::merge::Subject<'_>| {
            let admitted = after.audiences().admit(**proxy, &mut AdmitScratch::default());
            admitted.iter().any(|admitted| admitted.slot == slot)
        };
        let mut reached: Vec<Option<usize>> = (subjects.iter().enumerate())
            .filter(|(_, proxy)| speaks(proxy))
            .map(|(number, _)| table.class_of(number))
            .collect();
        reached.sort_unstable();
        reached.dedup();
        let (fresh, _): (Table, Work) =
            ClassTable::build(now.iter().map(|rules| rules.merge), &subjects, |proxy, scratch| {
                all_rules(&now, proxy, scratch)
            });
        let wrong = (0..subjects.len()).filter(|number| fresh.get(*number) != table.get(*number)).count();
        found.push(Measured { name, reached: reached.len(), work, put, change, wrong });
    }

    report::heading(&format!("One policy changed: {} classes, all rules in {}", grouped(built.computed), time(whole)));
    row("", found.iter().map(|found| found.name.as_str()));
    row("classes that it reaches", found.iter().map(|found| grouped(found.reached)));
    row("classes computed again", found.iter().map(|found| grouped(found.work.computed)));
    row("proxies classified again", found.iter().map(|found| grouped(found.work.classified)));
    row("new index of its kind", found.iter().map(|found| time(found.put)));
    row("classes brought up to date", found.iter().map(|found| time(found.change)));
    row("all rules / change", found.iter().map(|found| figure(ratio(whole, found.put + found.change))));
    row("proxies different from a fresh table", found.iter().map(|found| grouped(found.wrong)));
    for one in &found {
        let computed = number(one.work.computed) / number(one.reached.max(1));
        targets.at_most(&format!("one policy changed, {}: classes computed / reached", one.name), computed, 1.0);
    }
    let miscounted = found.iter().filter(|found| found.work.computed != found.reached).count();
    Ok(found.iter().map(|found| found.wrong).sum::<usize>() + miscounted)
}

/// A policy with another configuration.
type Changed = (PolicyId, Policy);

/// Policies of the first kind: those that reach the fewest classes, some, and the most, and a new one for a single proxy,
/// which is picked by a label that nobody looked at so far.
fn picked(
    snapshot: &Snapshot,
    rules: &[Rules<'_>],
    subjects: &[upheld_engine::merge::Subject<'_>],
) -> Result<Vec<(String, Changed)>, String> {
    let merge = rules.first().ok_or("no kind")?.merge;
    let mut reached: std::collections::BTreeMap<u32, usize> = merge.policies().map(|(slot, _)| (slot, 0)).collect();
    let mut scratch = AdmitScratch::default();
    for subject in subjects {
        for admitted in merge.audiences().admit(*subject, &mut scratch) {
            *reached.entry(admitted.slot).or_default() += 1;
        }
    }
    let mut slots: Vec<(usize, u32)> =
        reached.into_iter().map(|(slot, count)| (count, slot)).filter(|(count, _)| *count > 0).collect();
    slots.sort_unstable();
    let between = slots.iter().find(|(count, _)| count * 10 >= subjects.len());
    let picks = [("for one app", slots.first()), ("for some", between), ("for most", slots.last())];
    let mut changed = Vec::new();
    for (name, pick) in picks {
        let attached = pick.and_then(|(_, slot)| merge.policy(*slot)).ok_or("no policy to change")?;
        let mut policy = snapshot.policy(attached.policy).ok_or("no policy to change")?.clone();
        if let PolicyContent::Layers(layers) = &mut policy.says {
            for statement in &mut layers.entries {
                let value = Config::made(Content::Text("7s".into()));
                statement.config = Config::made(Content::Map(vec![("idleTimeout".into(), value)]));
            }
        }
        changed.push((name.to_owned(), (attached.policy, policy)));
    }
    let symbol = |text: &str| snapshot.symbols().get(text).ok_or_else(|| format!("nothing is called `{text}`"));
    let (_, (id, mut policy)) = changed.first().cloned().ok_or("no policy to change")?;
    (policy.name, policy.title) = (symbol("proxy-000001")?, symbol("proxy-000001")?);
    if let PolicyContent::Layers(layers) = &mut policy.says {
        for audience in &mut layers.audiences {
            audience.conditions = vec![Condition::Is(symbol("instance")?, symbol("1")?)];
        }
    }
    changed.push(("new, for one proxy".to_owned(), (id, policy)));
    Ok(changed)
}
