//! Looking up the configuration of a known resource costs the same, however many resources there are.

use std::hint::black_box;
use std::time::Duration;

use upheld_engine::merge::{About, AdmitScratch, Question, Target, TargetRules, chain};
use upheld_engine::{Scratch, Silent, ask};
use upheld_model::Facet;

use super::Plan;
use super::mesh::{Documents, Replicas, Size, proxies, rules, subjects};
use crate::measure::{median, timed};
use crate::report::{self, Targets, figure, grouped, number, ratio, row, time};

/// Resources that are looked up, again and again: what the memory of the machine holds is not the question.
const LOOKED_UP: usize = 10;

/// What was found for one number of resources.
struct Measured {
    resources: usize,
    rules: usize,
    folded: u64,
    /// Tables that were looked into, for each look-up.
    probes: f64,
    /// A thousand of them.
    lookup: Duration,
    direct: Duration,
    wrong: usize,
}

/// Measures, prints, and returns how many answers were wrong.
pub(super) fn run(plan: &Plan, targets: &mut Targets) -> Result<usize, String> {
    report::progress("looking up resources");
    let found: Result<Vec<Measured>, String> = plan.resources.iter().map(|count| measure(plan, *count)).collect();
    let found = found?;
    report::heading("Looking up a known resource");
    row("resources", found.iter().map(|found| grouped(found.resources)));
    row("rules", found.iter().map(|found| grouped(found.rules)));
    row("folds for them", found.iter().map(|found| found.folded.to_string()));
    row("tables looked into", found.iter().map(|found| figure(found.probes)));
    row("time of 1 000 look-ups", found.iter().map(|found| time(found.lookup)));
    row("time of asking one directly", found.iter().map(|found| time(found.direct)));
    row("answers that differ", found.iter().map(|found| grouped(found.wrong)));
    if let [few, many] = found.as_slice() {
        let name =
            |what: &str| format!("looking up, {} / {} resources: {what}", grouped(many.resources), few.resources);
        targets.at_most(&name("tables looked into"), many.probes / few.probes, 1.0);
        targets.at_most(&name("time"), ratio(many.lookup, few.lookup), 1.5);
    }
    Ok(found.iter().map(|found| found.wrong).sum())
}

fn measure(plan: &Plan, resources: usize) -> Result<Measured, String> {
    let size = Size { proxies: 1, services: resources, policies: 0 };
    let mut documents = Documents::new(size, 1, Replicas::Alike);
    let items = [
        r#"{"targetRef":{"kind":"Mesh"},"default":{"idleTimeout":"1s"}}"#,
        r#"{"targetRef":{"kind":"MeshService","labels":{"team":"team-0"}},"default":{"http":{"requestTimeout":"2s"}}}"#,
        r#"{"targetRef":{"kind":"MeshService","name":"service-1","sectionName":"http"},"default":{"idleTimeout":"3s"}}"#,
    ];
    let named: Vec<String> = (0..resources)
        .map(|number| {
            format!(r#"{{"targetRef":{{"kind":"MeshService","name":"service-{number}"}},"default":{{"connectTimeout":"4s"}}}}"#)
        })
        .collect();
    let to = items.iter().map(ToString::to_string).chain(named).collect::<Vec<_>>().join(",");
    let spec = format!(r#"{{"targetRef":{{"kind":"Mesh"}},"to":[{to}]}}"#);
    documents.line(&format!(r#"{{"type":"MeshTimeout","mesh":"default","name":"all","spec":{spec}}}"#));
    let snapshot = documents.load(&[])?;
    let all = rules(&snapshot)?;
    let rules = all.first().ok_or("no policies")?;
    let proxies = proxies(&snapshot);
    let proxy = subjects(&proxies).first().copied().ok_or("no proxy")?;
    let entries = rules.merge.entries_for(proxy, Facet::Objects, &mut AdmitScratch::default());
    let around = rules.surroundings();
    let listing: TargetRules = rules.merge.target_rules(&entries, &around);

    // Services all over the list, as a whole and by a section that nobody names.
    let service = snapshot.symbols().get("MeshService");
    let grpc = snapshot.symbols().get("grpc");
    let services: Vec<_> =
        snapshot.objects().iter().filter(|(_, object)| Some(object.kind) == service).map(|(id, _)| id).collect();
    let spread = services.iter().step_by((services.len() / LOOKED_UP).max(1)).take(LOOKED_UP);
    let asked: Vec<Target> =
        spread.flat_map(|id| [Target::whole(*id), Target { object: *id, section: grpc }]).collect();

    let probes =
        |target: &Target| chain(*target, &around).iter().take_while(|key| listing.at(**key).is_none()).count() + 1;
    let probes = number(asked.iter().map(probes).sum()) / number(asked.len());
    let mut scratch = Scratch::default();
    let mut direct = |target: &Target| {
        let targets = chain(*target, &around);
        ask(rules.merge, &Question { subject: proxy, about: About::Targets(&targets) }, &mut scratch, &mut Silent)
    };
    let wrong = asked.iter().filter(|target| {
        let found = listing.lookup(**target, &around).map(|rule| rule.results.clone());
        found != Some(direct(target).results)
    });
    let wrong = wrong.count();
    let mut times = Vec::new();
    for _ in 0..=plan.rounds * 2 {
        let ((), spent) = timed(|| {
            for target in asked.iter().cycle().take(plan.lookups) {
                black_box(listing.lookup(black_box(*target), &around));
            }
        });
        times.push(spent.mul_f64(1_000.0 / number(plan.lookups)));
    }
    let ((), spent) = timed(|| asked.iter().for_each(|target| drop(black_box(direct(target)))));
    let direct = spent / u32::try_from(asked.len()).unwrap_or(u32::MAX);
    let (rules, folded) = (listing.len(), listing.folded);
    Ok(Measured { resources, rules, folded, probes, lookup: median(times), direct, wrong })
}
