//! All pairs: the engine against the naive reference, which looks at every policy for every pair.

use std::time::Duration;

use upheld_engine::select::reference::{NaiveKind, NaiveRung, winner};

use super::Plan;
use super::engine::{Answers, Cost, Costs, Engine};
use crate::measure;
use crate::report::{self, Targets, figure, grouped, number, ratio, row, time};
use crate::workload::{Mesh, Size};

/// The ladder of the policies, for the reference.
const LADDER: [NaiveRung; 3] = [NaiveRung::MoreTags, NaiveRung::MoreExactTags, NaiveRung::Name];

/// What was found for one mesh.
#[derive(Debug)]
struct Measured {
    size: Size,
    /// The reference, for one pair.
    naive: Duration,
    engine: Cost,
    classes: usize,
    /// The most memory of the process, and how much of it came while the engine worked for the first time.
    peak: Option<usize>,
    grown: Option<usize>,
    checked: usize,
    wrong: usize,
}

/// Measures, prints, and returns how many answers were wrong.
pub(super) fn run(plan: &Plan, targets: &mut Targets) -> Result<usize, String> {
    let mut found = Vec::new();
    for &(size, sample, target) in plan.meshes {
        let measured = measure(size, sample, plan.rounds)?;
        let name = format!("all pairs of {}: naive / engine, prepare included", size.words());
        targets.at_least(&name, measured.speedup(), target);
        found.push(measured);
    }
    print(&found);
    Ok(found.iter().map(|measured| measured.wrong).sum())
}

fn measure(size: Size, sample: usize, rounds: usize) -> Result<Measured, String> {
    report::progress(&format!("all pairs of {}", size.words()));
    let mut mesh = Mesh::new(size);
    let pairs: Vec<(usize, usize)> = (0..sample * rounds).map(|_| mesh.pair()).collect();
    let engine = Engine::load(&mesh)?;

    measure::forget_peak_memory();
    let before = measure::memory();
    let classes = engine.answer()?.classes;
    let peak = measure::peak_memory();

    let (mut naive, mut costs, mut wrong) = (Vec::new(), Costs::default(), 0);
    for pairs in pairs.chunks(sample) {
        let (winners, spent) = measure::timed(|| naive_winners(&mesh, pairs));
        naive.push(spent);
        let answers = engine.answer()?;
        costs.add(&answers);
        wrong += differences(&winners, &answers, pairs);
    }
    Ok(Measured {
        size,
        naive: measure::median(naive).div_f64(number(sample)),
        engine: costs.medians(),
        classes,
        peak,
        grown: peak.zip(before).map(|(peak, before)| peak.saturating_sub(before)),
        checked: pairs.len(),
        wrong,
    })
}

fn naive_winners<'m>(mesh: &'m Mesh, pairs: &[(usize, usize)]) -> Vec<Option<&'m str>> {
    let ends = pairs.iter().filter_map(|&(proxy, service)| mesh.proxies.get(proxy).zip(mesh.services.get(service)));
    let kind = NaiveKind { ladder: LADDER.to_vec(), ..NaiveKind::default() };
    let winners = ends.map(|(proxy, service)| {
        let (source, destination) = (std::slice::from_ref(proxy), std::slice::from_ref(service));
        winner(&mesh.policies, &kind, source, destination).map(|policy| policy.name.as_str())
    });
    winners.collect()
}

fn differences(winners: &[Option<&str>], answers: &Answers, pairs: &[(usize, usize)]) -> usize {
    winners.iter().zip(pairs).filter(|(winner, pair)| **winner != answers.winner(**pair)).count()
}

impl Measured {
    fn pairs(&self) -> f64 {
        number(self.size.pairs())
    }

    /// The reference for all pairs, calculated from the sample.
    fn naive_whole(&self) -> Duration {
        self.naive.mul_f64(self.pairs())
    }

    fn speedup(&self) -> f64 {
        ratio(self.naive_whole(), self.engine.whole())
    }

    /// Nanoseconds of one pair, given the time of all.
    fn nanoseconds(&self, whole: Duration) -> f64 {
        whole.as_secs_f64() * 1e9 / self.pairs()
    }
}

/// A line of the table.
type Line = (&'static str, fn(&Measured) -> Cell);

enum Cell {
    Time(Duration),
    Figure(f64),
    Count(usize),
    Memory(Option<usize>),
}

const LINES: [Line; 13] = [
    ("naive, all pairs (from the sample)", |mesh| Cell::Time(mesh.naive_whole())),
    ("engine, all pairs: prepare", |mesh| Cell::Time(mesh.engine.prepare)),
    ("engine, all pairs: solve", |mesh| Cell::Time(mesh.engine.solve)),
    ("naive, ns/pair", |mesh| Cell::Figure(mesh.nanoseconds(mesh.naive_whole()))),
    ("engine, prepare and solve, ns/pair", |mesh| Cell::Figure(mesh.nanoseconds(mesh.engine.whole()))),
    ("engine, solve only, ns/pair", |mesh| Cell::Figure(mesh.nanoseconds(mesh.engine.solve))),
    ("naive / engine, prepare included", |mesh| Cell::Figure(mesh.speedup())),
    ("naive / engine, solve only", |mesh| Cell::Figure(ratio(mesh.naive_whole(), mesh.engine.solve))),
    ("classes of proxies", |mesh| Cell::Count(mesh.classes)),
    ("peak memory of the process", |mesh| Cell::Memory(mesh.peak)),
    ("of it for the engine and its answers", |mesh| Cell::Memory(mesh.grown)),
    ("pairs checked against naive", |mesh| Cell::Count(mesh.checked)),
    ("of them wrong", |mesh| Cell::Count(mesh.wrong)),
];

impl Cell {
    fn text(&self) -> String {
        match *self {
            Self::Time(value) => time(value),
            Self::Figure(value) => figure(value),
            Self::Count(value) => grouped(value),
            Self::Memory(value) => report::memory(value),
        }
    }

    fn number(&self) -> Option<f64> {
        match *self {
            Self::Time(value) => Some(value.as_secs_f64()),
            Self::Figure(value) => Some(value),
            Self::Count(value) => Some(number(value)),
            Self::Memory(value) => value.map(number),
        }
    }
}

fn print(found: &[Measured]) {
    report::heading("All pairs: who stands for each proxy and each service (proxies x services x policies)");
    let sizes = found.iter().map(|mesh| mesh.size.words());
    row("", sizes.chain((found.len() > 1).then(|| "growth".to_owned())));
    for (name, cell) in LINES {
        let growth = match found {
            [first, .., last] => cell(last).number().zip(cell(first).number()).filter(|(_, first)| *first > 0.0),
            _ => None,
        };
        let growth = growth.map(|(last, first)| format!("x {}", figure(last / first)));
        row(name, found.iter().map(|mesh| cell(mesh).text()).chain(growth));
    }
}
