//! All pairs of a mesh under one kind: what many proxies of few classes cost, against one proxy of each class.

use std::time::Duration;

use serde_json::Value as Json;
use upheld_answers::{Options, World};

use super::Plan;
use super::mesh::{Documents, Replicas, Size};
use crate::measure::{median, process_time};
use crate::report::{self, Targets, figure, grouped, ratio, row, time};

/// A kind about what is called, and one about who calls.
const KINDS: [&str; 2] = ["MeshTimeout", "MeshTrafficPermission"];

/// How often it is done before the clock is looked at, which goes in large steps.
const TOGETHER: u32 = 10;

/// All pairs of one mesh.
struct Measured {
    proxies: usize,
    /// For each kind.
    spent: Vec<Duration>,
    documents: Vec<Json>,
}

/// Measures a mesh with one proxy of each class and one with many; returns how many answers were wrong.
pub(super) fn run(plan: &Plan, targets: &mut Targets) -> Result<usize, String> {
    let mut found = Vec::new();
    for proxies in [plan.apps, plan.size.proxies] {
        report::progress(&format!("all pairs of {} proxies in {} classes", grouped(proxies), plan.apps));
        found.push(measure(plan, proxies)?);
    }
    report::heading(&format!("All pairs under one kind, {} classes of proxies; CPU time of all threads", plan.apps));
    row("proxies", found.iter().map(|found| grouped(found.proxies)));
    let mut wrong = 0;
    for (number, kind) in KINDS.into_iter().enumerate() {
        let of_kind = |found: &Measured| found.spent.get(number).copied().unwrap_or_default();
        row(kind, found.iter().map(|found| time(of_kind(found))));
        let documents: Vec<&Json> = found.iter().filter_map(|found| found.documents.get(number)).collect();
        let [few, many] = documents.as_slice() else { return Err("no answers".to_owned()) };
        wrong += usize::from(!is_the_same(few, many));
        row("  pairs", documents.iter().map(|one| count(one, "pairs")));
        if let [few, many] = found.as_slice() {
            let of = format!("{} / {}", grouped(many.proxies), grouped(few.proxies));
            let name = format!("all pairs, {kind}: {of} proxies in {} classes", plan.apps);
            targets.at_most(&name, ratio(of_kind(many), of_kind(few)), 3.0);
        }
    }
    Ok(wrong)
}

fn measure(plan: &Plan, proxies: usize) -> Result<Measured, String> {
    let size = Size { proxies, ..plan.size };
    let snapshot = Documents::with_policies(size, plan.apps, Replicas::Alike).load(&[])?;
    let now = "2026-01-01T00:00:00Z".parse().map_err(|_| "no time")?;
    let options = Options::at(now);
    let world = World::new(&snapshot, &options);
    let mut measured = Measured { proxies, spent: Vec::new(), documents: Vec::new() };
    for kind in KINDS {
        let (mut times, mut document) = (Vec::new(), Json::Null);
        for _ in 0..plan.rounds {
            let before = process_time().ok_or("the system does not tell CPU times")?;
            for _ in 0..TOGETHER {
                let all = world.all_pairs(kind, &()).map_err(|refused| format!("{kind}: {refused:?}"))?;
                document = all.document();
            }
            let after = process_time().ok_or("the system does not tell CPU times")?;
            times.push(after.saturating_sub(before) / TOGETHER);
        }
        measured.spent.push(median(times));
        measured.documents.push(document);
    }
    Ok(measured)
}

/// Whether the same policies count in both, for the same classes: replicas change no answer.
fn is_the_same(few: &Json, many: &Json) -> bool {
    let cells = |document: &Json| -> Vec<(Json, Json)> {
        let cells = document.pointer("/meshes/0/cells").and_then(Json::as_array).cloned().unwrap_or_default();
        let field = |cell: &Json, name: &str| cell.get(name).cloned().unwrap_or_default();
        cells.iter().map(|cell| (field(cell, "policies"), field(cell, "granted"))).collect()
    };
    let (few, many) = (cells(few), cells(many));
    !few.is_empty() && few == many
}

fn count(document: &Json, field: &str) -> String {
    let count = document.pointer(&format!("/meshes/0/{field}")).and_then(Json::as_f64);
    count.map_or_else(String::new, figure)
}
