//! Policies that match nothing must cost next to nothing: all pairs again, with ten times as many of them added.
//!
//! Only solving is held against the target, since every policy has to be prepared once. Preparing the smaller mesh takes
//! longer here than alone: the allocator is busy with what the larger one gave back.

use super::Plan;
use super::engine::{Answers, Cost, Costs, Engine};
use crate::report::{self, Targets, figure, grouped, ratio, row, time};
use crate::workload::{Mesh, Size};

/// Idle policies for each other one.
const TIMES: usize = 10;

/// The distance of two pairs whose winners are compared; no divisor of the services, so that all of them come up.
const COMPARED: usize = 97;

/// What was found for one mesh.
#[derive(Debug)]
struct Measured {
    size: Size,
    without: Cost,
    with: Cost,
    compared: usize,
    wrong: usize,
}

/// Measures, prints, and returns how many answers were wrong.
pub(super) fn run(plan: &Plan, targets: &mut Targets) -> Result<usize, String> {
    let mut found = Vec::new();
    for &(size, ..) in plan.meshes {
        let measured = measure(size, plan.rounds)?;
        let name = format!("idle policies, {}: solve with them / without", size.words());
        targets.at_most(&name, ratio(measured.with.solve, measured.without.solve), 1.3);
        found.push(measured);
    }
    print(&found);
    Ok(found.iter().map(|measured| measured.wrong).sum())
}

fn measure(size: Size, rounds: usize) -> Result<Measured, String> {
    let idle = size.policies * TIMES;
    report::progress(&format!("all pairs of {} with {} idle policies", size.words(), grouped(idle)));
    let mut mesh = Mesh::new(size);
    let without = Engine::load(&mesh)?;
    mesh.add_idle_policies(idle);
    let with = Engine::load(&mesh)?;
    let mut costs = [Costs::default(), Costs::default()];
    for _ in 0..rounds {
        for (engine, costs) in [&without, &with].into_iter().zip(&mut costs) {
            costs.add(&engine.answer()?);
        }
    }
    let (compared, wrong) = differences(&without.answer()?, &with.answer()?, size);
    let [without, with] = costs.map(Costs::medians);
    Ok(Measured { size, without, with, compared, wrong })
}

/// How many pairs were compared, and how many of them have another winner.
fn differences(without: &Answers, with: &Answers, size: Size) -> (usize, usize) {
    let pairs = (0..size.pairs()).step_by(COMPARED);
    let compared = pairs.len();
    let pairs = pairs.map(|pair| (pair / size.services, pair % size.services));
    (compared, pairs.filter(|&pair| without.winner(pair) != with.winner(pair)).count())
}

fn print(found: &[Measured]) {
    report::heading("Idle policies: all pairs again, with ten times as many policies that match nothing");
    row("", found.iter().map(|measured| measured.size.words()));
    row("solve, without them", found.iter().map(|measured| time(measured.without.solve)));
    row("solve, with them", found.iter().map(|measured| time(measured.with.solve)));
    row("solve, with / without", found.iter().map(|m| figure(ratio(m.with.solve, m.without.solve))));
    row("prepare, without them", found.iter().map(|measured| time(measured.without.prepare)));
    row("prepare, with them", found.iter().map(|measured| time(measured.with.prepare)));
    row("pairs compared (different)", found.iter().map(|m| format!("{} ({})", grouped(m.compared), m.wrong)));
}
