//! Many policies on one route: each of them meets all others, and no one pays for that.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use upheld_dialects::gateways::kgateway::{PolicyMerge, Settings};
use upheld_engine::hierarchy::Effective;

use super::Plan;
use super::documents::Documents;
use super::naive::Target;
use super::pass::{Pass, Times, pass, read, resolve};
use crate::measure::{median, median_ratio};
use crate::report::{self, Targets, figure, grouped, memory, number, row, time};

/// How many providers there are.
const PROVIDERS: usize = 10;

/// What the policies of a crowd say.
#[derive(Clone, Copy, Debug)]
enum PolicyContent {
    /// A field of which the best one counts.
    Plain,
    /// Access lists that are joined.
    Lists,
    /// Access lists, every other one of which contradicts the best. Those remember all that they lost to, which is many for
    /// each of them: this grows with the square of the policies.
    Contradicting,
    /// Transformations that are applied one after the other.
    Transformations,
    /// Providers, of which there are ten.
    Providers,
}

impl PolicyContent {
    const ALL: [Self; 5] = [Self::Plain, Self::Lists, Self::Contradicting, Self::Transformations, Self::Providers];

    const fn words(self) -> &'static str {
        match self {
            Self::Plain => "plain field",
            Self::Lists => "access lists",
            Self::Contradicting => "lists that contradict",
            Self::Transformations => "transformations",
            Self::Providers => "providers",
        }
    }

    fn spec(self, number: usize) -> String {
        let list = |action: &str| {
            let address = format!("10.{}.{}.0/24", number / 250, number % 250);
            format!(r#""acl":{{"defaultAction":"{action}","rules":[{{"action":"allow","cidrs":["{address}"]}}]}}"#)
        };
        match self {
            Self::Plain => format!(r#""cors":{{"allowOrigins":["https://{number}.example.com"]}}"#),
            Self::Lists => list("deny"),
            Self::Contradicting => list(if number.is_multiple_of(2) { "deny" } else { "allow" }),
            Self::Transformations => {
                let header = format!(r#"{{"name":"x-{number}","value":"1"}}"#);
                format!(r#""transformation":{{"request":{{"set":[{header}]}}}}"#)
            }
            Self::Providers => format!(r#""extAuth":{{"extensionRef":{{"name":"provider-{}"}}}}"#, number % PROVIDERS),
        }
    }

    /// How many of a crowd are in the result.
    const fn joined(self, size: usize) -> usize {
        match self {
            Self::Plain => 1,
            Self::Contradicting => size / 2,
            Self::Lists | Self::Transformations => size,
            Self::Providers => PROVIDERS,
        }
    }
}

/// What one crowd took.
struct Measured {
    /// Round by round.
    spent: Vec<Duration>,
    wrong: usize,
}

/// Measures, prints, and returns how many answers were wrong.
pub(super) fn run(plan: &Plan, targets: &mut Targets) -> Result<usize, String> {
    report::progress("many policies on one route");
    let columns: Result<Vec<Vec<Measured>>, String> =
        PolicyContent::ALL.iter().map(|says| measure(*says, plan.sizes, plan.rounds)).collect();
    let mut columns = columns?;
    // By size, and then by what policies say.
    let mut rows: Vec<(usize, Vec<Measured>)> = Vec::new();
    for size in plan.sizes.iter().rev() {
        rows.push((*size, columns.iter_mut().filter_map(Vec::pop).collect()));
    }
    rows.reverse();
    report::heading("Many policies on one route: the effective policy and all statuses, without reading");
    row("", PolicyContent::ALL.map(PolicyContent::words));
    for (size, found) in &rows {
        row(&format!("{} policies", grouped(*size)), found.iter().map(|found| time(median(found.spent.clone()))));
    }
    let wrong: Vec<usize> = (0..PolicyContent::ALL.len())
        .map(|column| rows.iter().filter_map(|(_, found)| found.get(column)).map(|found| found.wrong).sum())
        .collect();
    row("answers that differ", wrong.iter().map(|wrong| grouped(*wrong)));
    if let (Some((few, first)), Some((many, last))) = (rows.first(), rows.last()) {
        for ((says, first), last) in PolicyContent::ALL.iter().zip(first).zip(last) {
            let growth = median_ratio(&last.spent, &first.spent) / (number(*many) / number(*few));
            let sizes = format!("{} / {}", grouped(*many), grouped(*few));
            let name = format!("one route, {}:", says.words());
            match says {
                PolicyContent::Contradicting => {
                    let name = format!("{name} seconds for {}", grouped(*many));
                    targets.at_most(&name, median(last.spent.clone()).as_secs_f64(), 1.0);
                }
                _ => targets.at_most(&format!("{name} time of each policy, {sizes}"), growth, 2.0),
            }
        }
    }
    Ok(wrong.iter().sum::<usize>() + everywhere(plan)?)
}

/// Policies that select a label that these routes have.
fn crowd(says: PolicyContent, size: usize, routes: usize) -> Documents {
    let mut documents = Documents::new();
    for number in 0..routes {
        documents.labelled_route(number, BTreeMap::from([("app", "crowd".to_owned())]));
    }
    for number in 0..PROVIDERS {
        documents.provider(&format!("provider-{number}"));
    }
    for number in 0..size {
        let target = Target::Labels(BTreeMap::from([("app", "crowd".to_owned())]));
        // The first one is the oldest, and so the best.
        documents.attach(number, number, target, &says.spec(number));
    }
    documents
}

fn settings() -> Settings {
    let policy_merge = PolicyMerge::parse(r#"{"trafficPolicy":{"extAuth":"DeepMerge","transformation":"DeepMerge"}}"#);
    Settings { policy_merge, ..Settings::default() }
}

/// Crowds of several sizes in turn, round after round. Small ones are asked as often as it takes for all of them to be at work
/// for about as long: a clock is too coarse for a few hundred policies.
fn measure(says: PolicyContent, sizes: &[usize], rounds: usize) -> Result<Vec<Measured>, String> {
    let snapshots: Result<Vec<_>, String> =
        sizes.iter().map(|size| read(&crowd(says, *size, 1).text, &settings())).collect();
    let snapshots = snapshots?;
    let largest = sizes.iter().copied().max().unwrap_or_default();
    let mut found: Vec<Measured> = sizes.iter().map(|_| Measured { spent: Vec::new(), wrong: 0 }).collect();
    for _ in 0..=rounds * 2 {
        for ((snapshot, size), found) in snapshots.iter().zip(sizes).zip(&mut found) {
            let look = |pass: &Pass<'_>| {
                let fields = pass.effective.iter().flat_map(|answer| &answer.fields);
                let origins: BTreeSet<usize> = fields.flat_map(|field| field.by.iter().copied()).collect();
                let hold = pass.statuses.iter().filter(|status| status.survival.iter().all(|field| field.survives > 0));
                let expected = says.joined(*size);
                (pass.times.resolving(), origins.len().abs_diff(expected) + hold.count().abs_diff(expected))
            };
            let times = u32::try_from(largest / (*size).max(1)).unwrap_or(1).max(1);
            let mut spent = Duration::ZERO;
            for _ in 0..times {
                let (once, differ) = resolve(snapshot, Times::default(), look)?;
                spent += once;
                found.wrong += differ;
            }
            found.spent.push(spent / times);
        }
    }
    Ok(found)
}

/// Every policy on every one of many routes, as upstream measures attachments.
fn everywhere(plan: &Plan) -> Result<usize, String> {
    let [policies, routes] = plan.everywhere;
    report::progress(&format!("{} policies on each of {} routes", grouped(policies), grouped(routes)));
    let documents = crowd(PolicyContent::Lists, policies, routes);
    let mut all = Vec::new();
    let mut last = (None, 0);
    for _ in 0..plan.rounds {
        let look = |pass: &Pass<'_>| {
            let complete = |answer: &Effective| answer.fields.iter().map(|field| field.by.len()).eq([policies]);
            (pass.times, pass.memory, pass.effective.iter().filter(|answer| !complete(answer)).count())
        };
        let (times, memory, wrong) = pass(&documents.text, &settings(), look)?;
        all.push(times);
        last = (memory, wrong);
    }
    let times = Times::medians(&all);
    report::heading(&format!("{} policies with access lists on each of {} routes", grouped(policies), grouped(routes)));
    row("reading and indexing, on the wall", [time(times.reading)]);
    row("effective policies of all routes", [time(times.effective)]);
    row("statuses of all policies", [time(times.statuses)]);
    row("everything", [time(times.total())]);
    let attachments = number(policies) * number(routes);
    row(
        "everything, for a million attachments",
        [format!("{} ms", figure(times.total().as_secs_f64() * 1e9 / attachments))],
    );
    row("peak memory of the process", [memory(last.0)]);
    row("answers that differ", [grouped(last.1)]);
    Ok(last.1)
}
