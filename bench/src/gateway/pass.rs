//! One pass: from documents to all effective policies and all statuses.

use std::time::{Duration, Instant};

use upheld_dialects::gateway_api::{self, Topology};
use upheld_dialects::kgateway::{Effective, PolicyStatus, Resolver, Semantics, Settings};
use upheld_engine::Snapshot;
use upheld_input::load::load;
use upheld_input::{Format, Input};

use crate::measure::{forget_peak_memory, median, peak_memory, timed};

/// What each stage took.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Times {
    /// On the wall.
    pub(super) reading: Duration,
    pub(super) topology: Duration,
    /// The policies read and indexed.
    pub(super) resolver: Duration,
    pub(super) effective: Duration,
    pub(super) statuses: Duration,
}

impl Times {
    /// Everything from the policies on.
    pub(super) fn resolving(&self) -> Duration {
        self.resolver + self.effective + self.statuses
    }

    pub(super) fn total(&self) -> Duration {
        self.reading + self.topology + self.resolving()
    }

    /// Of each stage the median.
    pub(super) fn medians(all: &[Self]) -> Self {
        let of = |stage: fn(&Self) -> Duration| median(all.iter().map(stage).collect());
        Self {
            reading: of(|times| times.reading),
            topology: of(|times| times.topology),
            resolver: of(|times| times.resolver),
            effective: of(|times| times.effective),
            statuses: of(|times| times.statuses),
        }
    }
}

/// What one pass came to; all of it is in memory at the end.
#[derive(Debug)]
pub(super) struct Pass<'p> {
    pub(super) topology: &'p Topology<'p>,
    pub(super) resolver: &'p Resolver<'p>,
    /// By way.
    pub(super) effective: Vec<Vec<Effective>>,
    pub(super) statuses: Vec<PolicyStatus>,
    pub(super) times: Times,
    /// The peak of the process since the pass began.
    pub(super) memory: Option<usize>,
}

/// Reads documents.
pub(super) fn read(text: &str) -> Result<Snapshot, String> {
    let input = Input::text("workload.jsonl", Format::JsonLines, text);
    match load(vec![input], &[]) {
        Ok(loaded) => Ok(loaded.snapshot),
        Err(broken) => Err(format!("the workload cannot be read: {:?}", broken.diagnostics.as_slice().first())),
    }
}

/// Makes a pass and shows what it came to.
pub(super) fn pass<T>(text: &str, settings: &Settings, look: impl FnOnce(&Pass<'_>) -> T) -> Result<T, String> {
    forget_peak_memory();
    let started = Instant::now();
    let snapshot = read(text)?;
    let reading = started.elapsed();
    let around = gateway_api::Settings::default();
    let (topology, spent) = timed(|| Topology::build(&snapshot, &around));
    let times = Times { reading, topology: spent, ..Times::default() };
    resolve(&topology, settings, times, look)
}

/// The part of a pass that begins with the policies.
pub(super) fn resolve<T>(
    topology: &Topology<'_>,
    settings: &Settings,
    times: Times,
    look: impl FnOnce(&Pass<'_>) -> T,
) -> Result<T, String> {
    let (resolver, of_resolver) = timed(|| Resolver::new(topology, settings, Semantics::Current));
    let (effective, of_effective) = timed(|| all_effective(topology, &resolver));
    let (statuses, of_statuses) = timed(|| resolver.statuses());
    let times = Times { resolver: of_resolver, effective: of_effective, statuses: of_statuses, ..times };
    let memory = peak_memory();
    if effective.is_empty() {
        return Err("the workload has no ways".to_owned());
    }
    Ok(look(&Pass { topology, resolver: &resolver, effective, statuses, times, memory }))
}

fn all_effective(topology: &Topology<'_>, resolver: &Resolver<'_>) -> Vec<Vec<Effective>> {
    let mut all = Vec::new();
    for gateway in &topology.gateways {
        for host in &gateway.hosts {
            all.extend(host.ways.iter().map(|way| resolver.effective(gateway, host, way)));
        }
    }
    all
}
