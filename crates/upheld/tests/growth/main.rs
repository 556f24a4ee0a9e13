//! What a question costs follows the question, not the world: every operation, every page and every command is asked in worlds of each
//! system, and again in worlds that are ten times as large, in which its answer keeps its size.
//!
//! ```text
//! worlds     documents of each system, few and many
//! requests   what is asked of a server: its description and its router say what there is
//! commands   what is asked on the command line
//! laws       how each may grow
//! cost       allocations, steps of the engine, documents that are parsed, bytes of the answer
//! ```
//!
//! No clock: figures are the same on every machine. A program of its own and a single test, because it counts all allocations of a process.
//!
//! `UPHELD_GROWTH=kuma-tags,page` prints the figures of one system, of cases that have this in their name.
#![cfg(test)]

mod commands;
mod cost;
mod laws;
mod requests;
mod server;
mod worlds;

use std::alloc::System as Allocator;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

use cost::{Cost, Growth, milliseconds};
use laws::{Law, law};
use worlds::System;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<Allocator> = &INSTRUMENTED_SYSTEM;

/// What is printed, and how large worlds are: `UPHELD_GROWTH=SYSTEM,CASE,FEW,MANY`, each part of which may be empty.
struct Look {
    system: Option<System>,
    case: String,
    sizes: [Option<usize>; 2],
    is_wanted: bool,
}

impl Look {
    fn wanted() -> Self {
        let wanted = std::env::var("UPHELD_GROWTH");
        let parts: Vec<&str> = wanted.as_deref().unwrap_or_default().split(',').collect();
        let part = |place: usize| parts.get(place).copied().unwrap_or_default();
        Self {
            system: System::named(part(0)),
            case: part(1).to_owned(),
            sizes: [part(2).parse().ok(), part(3).parse().ok()],
            is_wanted: wanted.is_ok(),
        }
    }
}

/// What holds of each case, and what is wrong.
#[derive(Default)]
struct Told {
    map: String,
    wrong: Vec<String>,
    asked: BTreeSet<(&'static str, String)>,
    /// How much each case grows, by system.
    growth: BTreeMap<String, BTreeMap<&'static str, String>>,
}

impl Told {
    fn judge(&mut self, system: System, few: &BTreeMap<String, Cost>, many: &BTreeMap<String, Cost>) {
        for (case, more) in many {
            let Some(less) = few.get(case) else { continue };
            let (parts, law) = (more.growth(*less), law(system, case));
            let growth = parts.into_iter().max_by(|one, other| one.ratio.total_cmp(&other.ratio)).unwrap();
            let name = system.name();
            writeln!(self.map, "{name:<14} {case:<70} {less} {more} ×{:<6.1} {law:?}", growth.ratio).unwrap();
            self.asked.insert((name, case.clone()));
            let slowest = if more.time == 0 { String::new() } else { format!(" ({:.1} ms)", milliseconds(more.time)) };
            let row = self.growth.entry(general(system, case)).or_default();
            row.insert(name, format!("{:.1}{slowest}", growth.ratio));
            let grows =
                |growth: Growth| format!("{name}, {case}: ×{:.1} {:?} ({less} → {more})", growth.ratio, growth.part);
            if let Some(growth) = parts.into_iter().find(|growth| growth.ratio > law.most(growth.part)) {
                self.wrong.push(format!("{}; it may be {law:?}", grows(growth)));
            }
            if let Law::Known(known) = law
                && (growth.ratio <= Law::Flat.most(growth.part) || growth.ratio < known / 2.0)
            {
                let mended = "the defect was mended in part or in whole: lower its figure in laws.rs";
                self.wrong.push(format!("{}; {mended} ({known})", grows(growth)));
            }
        }
    }

    /// The growth of every case, as a table of the documentation.
    fn table(&self) -> String {
        let names = System::ALL.map(System::name);
        let line = |cells: Vec<&str>| format!("| {} |\n", cells.join(" | "));
        let head = line([&["asked"][..], &names].concat()) + &line(vec!["---"; names.len() + 1]);
        let row = |(case, cells): (&String, &BTreeMap<&'static str, String>)| {
            let case = format!("`{case}`");
            let cell = |name: &&'static str| cells.get(name).map_or("", String::as_str);
            line(std::iter::once(case.as_str()).chain(names.iter().map(cell)).collect())
        };
        head + &self.growth.iter().map(row).collect::<String>()
    }

    /// What has a law and was not asked.
    fn look_for_laws_without_a_case(&mut self) {
        for (systems, begin) in laws::named() {
            let is_meant = |name: &str| systems.is_empty() || systems.iter().any(|system| system.name() == name);
            if !self.asked.iter().any(|(name, case)| is_meant(name) && case.starts_with(begin)) {
                self.wrong.push(format!("{begin} of {systems:?} has a law and is not asked"));
            }
        }
    }

    /// What there is and was not asked.
    fn look_for_what_is_not_asked(&mut self) {
        let asked: BTreeSet<String> =
            self.asked.iter().map(|(_, case)| case.split(" (").next().unwrap_or_default().to_owned()).collect();
        let there = server::endpoints().into_iter().chain(commands::all());
        self.wrong.extend(there.filter(|case| !asked.contains(case)).map(|case| format!("{case} is not asked")));
    }
}

/// A case as it is called in all systems: what each asks about has other names.
fn general(system: System, case: &str) -> String {
    let case = case.replace(system.policy(), "POLICY");
    let asked = [
        "--subject",
        "--host",
        "--from",
        "dataplane/",
        "HTTPRoute/",
        "project/",
        "requests.jsonl",
        "changes.yaml",
        "/meshes/",
    ];
    let Some((command, rest)) = case.strip_prefix("upheld ").and_then(|case| case.split_once(" (")) else {
        return case;
    };
    let begin = asked.iter().filter_map(|word| rest.find(word)).min();
    let Some(begin) = begin else { return format!("upheld {command} {}", rest.trim_end_matches(')')) };
    let kind = if rest.contains("--kind") { "QUESTION --kind KIND" } else { "QUESTION" };
    let before = rest.get(..begin).unwrap_or_default();
    format!("upheld {command} {before}{kind}")
}

#[test]
fn cost_follows_the_question() {
    let look = Look::wanted();
    let mut told = Told::default();
    for system in System::ALL.into_iter().filter(|system| look.system.is_none_or(|wanted| wanted == *system)) {
        let [few, many] = [0, 1].map(|place| {
            let size = look.sizes[place].unwrap_or(system.sizes()[place]);
            let mut costs = server::costs(system, size, &look.case, &mut told.wrong);
            costs.extend(commands::costs(system, size, &look.case, &mut told.wrong));
            costs
        });
        told.judge(system, &few, &many);
    }
    if look.is_wanted {
        println!("{}\n{}", told.map, told.table());
    }
    if look.system.is_none() && look.case.is_empty() {
        told.look_for_laws_without_a_case();
        told.look_for_what_is_not_asked();
    }
    assert!(told.wrong.is_empty(), "{} of {}:\n{}", told.wrong.len(), told.asked.len(), told.wrong.join("\n"));
}
