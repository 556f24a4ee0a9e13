//! Routes that delegate to routes: what a way through ten of them costs, beside ways through one.

use std::time::Duration;

use upheld_dialects::gateways::kgateway::Settings;

use super::Plan;
use super::documents::{Attachment, Documents, delegated, rules};
use super::naive::Target;
use super::pass::{Pass, Times, pass};
use crate::measure::median_ratio;
use crate::report::{self, Targets, figure, grouped, number, row, time};

/// How many routes one leads on to, where it leads on to several.
const FAN_OUT: usize = 3;

/// How levels meet, by turns.
const PRIORITIES: [&str; 4] =
    ["ShallowMergePreferChild", "ShallowMergePreferParent", "DeepMergePreferChild", "DeepMergePreferParent"];

/// Measures, prints, and returns how many answers were wrong.
pub(super) fn run(plan: &Plan, targets: &mut Targets) -> Result<usize, String> {
    let Plan { depth, spread, rounds, .. } = *plan;
    report::progress(&format!("delegation through {depth} routes"));
    let deep = chain(depth, spread);
    let ways = deep.ways;
    let flat = Documents::many(ways, Attachment::ByName);
    let settings = Settings::default();
    let (mut of_deep, mut of_flat, mut wrong) = (Vec::new(), Vec::new(), 0);
    for _ in 0..rounds {
        let check = |pass: &Pass<'_>| {
            let complete = |chain: usize, fields: usize| chain == depth && fields > 0;
            let ways = pass.network.topology().ways().map(|(_, way)| way.chain.len());
            let ways = ways.zip(pass.effective.iter().map(|answer| answer.fields.len()));
            let bad = ways.filter(|(chain, fields)| !complete(*chain, *fields)).count();
            (pass.times, bad + pass.effective.len().abs_diff(deep.ways))
        };
        let (times, bad) = pass(&deep.text, &settings, check)?;
        of_deep.push(times);
        wrong += bad;
        of_flat.push(pass(&flat.text, &settings, |pass| pass.times)?);
    }
    let found = [Times::medians(&of_deep), Times::medians(&of_flat)];
    report::heading(&format!("Delegation: {depth} routes deep, three ways on in the last {spread} steps"));
    row("", [format!("{depth} routes deep"), "one route deep".to_owned()]);
    row("ways", [grouped(ways), grouped(ways)]);
    row("routes, and as many policies", [grouped(deep.routes), grouped(ways)]);
    let line =
        |name: &str, stage: fn(&Times) -> std::time::Duration| row(name, found.iter().map(|times| time(stage(times))));
    line("reading and indexing, on the wall", |times| times.reading);
    line("  of that gateways and routes", |times| times.topology);
    line("effective policies of all ways", |times| times.effective);
    line("statuses of all policies", |times| times.statuses);
    line("everything", Times::total);
    let resolving = |rounds: &[Times]| -> Vec<Duration> { rounds.iter().map(Times::resolving).collect() };
    let steps = median_ratio(&resolving(&of_deep), &resolving(&of_flat)) / number(depth);
    row("effective and status, each step / one route", [figure(steps)]);
    row("answers that differ", [grouped(wrong)]);
    targets.at_most(&format!("{depth} routes deep: each step / a way of one"), steps, 2.0);
    Ok(wrong)
}

/// Documents of a chain that fans out.
struct Chain {
    text: String,
    routes: usize,
    ways: usize,
}

/// One route after the other, then a tree; each has a policy that says one field of its own level and one of all.
fn chain(depth: usize, spread: usize) -> Chain {
    let mut documents = Documents::new();
    let mut level = vec!["/start".to_owned()];
    let mut routes = 0;
    for step in 1..=depth {
        let children = if step + spread >= depth { FAN_OUT } else { 1 };
        let mut next = Vec::new();
        for (place, path) in level.iter().enumerate() {
            let own = name(step, place);
            let below: Vec<String> = (0..children).map(|child| name(step + 1, place * children + child)).collect();
            let backends: Vec<String> = below.iter().map(|child| delegated(child)).collect();
            let last = step == depth;
            let backends = if last { r#"{"name":"service-0","port":80}"#.to_owned() } else { backends.join(",") };
            let priority = PRIORITIES.iter().cycle().nth(step).copied().unwrap_or_default();
            let metadata = format!(r#""annotations":{{"kgateway.dev/inherited-policy-priority":"{priority}"}}"#);
            let parent = if step == 1 { r#""parentRefs":[{"name":"gateway"}],"# } else { "" };
            documents.http_route(&own, &metadata, &format!("{parent}{}", rules(path, &backends)));
            let list = format!(r#"{{"action":"allow","cidrs":["10.{step}.0.0/16"]}}"#);
            let says = format!(r#""acl":{{"defaultAction":"deny","rules":[{list}]}},"retry":{{"attempts":{step}}}"#);
            documents.attach(routes, routes, Target::Name(own), &says);
            routes += 1;
            next.extend((0..children).map(|child| format!("{path}/{child}")));
        }
        if step < depth {
            level = next;
        }
    }
    Chain { text: documents.text, routes, ways: level.len() }
}

fn name(step: usize, place: usize) -> String {
    format!("route-{step}-{place}")
}
