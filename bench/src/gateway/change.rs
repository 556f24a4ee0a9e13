//! One policy changes. Nothing is kept from before: a change costs what everything costs, and this says how much that is.

use std::sync::Arc;

use upheld_dialects::gateways::gateway_api::Network;
use upheld_dialects::gateways::kgateway::{PolicyStatus, Settings, Survival};
use upheld_engine::hierarchy::{Effective, Field};

use super::Plan;
use super::documents::{Attachment, Documents};
use super::pass::{Pass, Times, pass, read};
use crate::measure::{interleaved, timed};
use crate::report::{self, Targets, figure, grouped, ratio, row, time};

/// Fields that a change changes.
const CHANGING: [&str; 4] = ["buffer", "httpACL", "retry", "timeouts"];

/// What holds on each way, to compare: fields, who they come from, and what they say.
type Held = Vec<Vec<(String, Vec<usize>, String)>>;

/// Measures, prints, and returns how many answers were wrong.
pub(super) fn run(plan: &Plan, targets: &mut Targets) -> Result<usize, String> {
    report::progress("one policy changed");
    let size = plan.sizes.last().copied().unwrap_or_default();
    let before = Documents::many(size, Attachment::Mixed);
    let settings = Settings::default();
    let (name, old) = pass(&before.text, &settings, |pass| (picked(pass), all(&pass.effective)))?;
    let policy = before.policies.iter().find(|policy| Some(&policy.name) == name.as_ref());
    let policy = policy.ok_or("no policy to change")?;
    let after: String = before.text.lines().map(|line| changed(line, &policy.name) + "\n").collect();
    let new = pass(&after, &settings, |pass| all(&pass.effective))?;
    let differ = old.iter().zip(&new).filter(|(old, new)| old != new).count();
    let reached = before.routes.iter().filter(|(route, labels)| policy.reaches(route, labels)).count();

    let mut one_round = || {
        let snapshot = read(&after, &settings)?;
        let (answer, spent) = timed(|| {
            let network = Network::of(&snapshot)?;
            let gateway = network.topology().gateways.first()?;
            let host = gateway.hosts.first()?;
            Some(network.way(network.kind("TrafficPolicy")?, gateway, host, host.ways.first()?).effective())
        });
        answer.map(|_| spent).ok_or_else(|| "no way to ask about".to_owned())
    };
    let mut times = Vec::new();
    let mut again = || {
        let found = pass(&after, &settings, |pass| pass.times)?;
        times.push(found);
        Ok(found.total())
    };
    let [one, everything] = interleaved(plan.rounds, [&mut one_round, &mut again])?;
    let resolving = Times::medians(&times).resolving();

    report::heading(&format!("One policy changed, of {} on {0} routes: nothing is kept from before", grouped(size)));
    row("everything again, from the documents", [time(everything)]);
    row("all policies again, routes as they were", [time(resolving)]);
    row("everything again / all policies again", [figure(ratio(everything, resolving))]);
    row("one route asked", [time(one)]);
    row("routes that it reaches", [grouped(reached)]);
    row("routes with another answer", [grouped(differ)]);
    targets.at_most("one policy changed: seconds for everything again", everything.as_secs_f64(), 3.0);
    Ok(differ.abs_diff(reached) + old.len().abs_diff(new.len()))
}

/// A policy that reaches several routes and holds on all of them with all that it says.
fn picked(pass: &Pass<'_>) -> Option<String> {
    let holds = |field: &Survival| field.targets > 1 && field.survives == field.targets;
    let says_enough = |field: &Survival| CHANGING.contains(&field.field.as_str());
    let of_routes =
        |status: &&PolicyStatus| status.survival.iter().all(holds) && status.survival.iter().any(says_enough);
    let found = pass.statuses.iter().skip(pass.statuses.len() / 2).find(of_routes)?;
    let snapshot = pass.network.snapshot;
    snapshot.policy(found.policy).map(|policy| snapshot.text(policy.name).to_owned())
}

/// The document of one policy says something else.
fn changed(line: &str, name: &str) -> String {
    if line.contains(&format!(r#""name":"{name}","#)) {
        line.replace("64Ki", "32Ki")
            .replace("\"5s\"", "\"6s\"")
            .replace("10.0.0.0/8", "10.1.0.0/16")
            .replace(":3}", ":4}")
    } else {
        line.to_owned()
    }
}

fn all(effective: &[Arc<Effective>]) -> Held {
    let one = |field: &Field| {
        let said = field.value.as_ref().map(|value| format!("{:?}", value.content));
        (field.title(), field.by.to_vec(), said.unwrap_or_default())
    };
    effective.iter().map(|answer| answer.fields.iter().map(one).collect()).collect()
}
