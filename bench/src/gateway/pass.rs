//! One pass: from documents to all effective policies and all statuses.

use std::sync::Arc;
use std::time::{Duration, Instant};

use upheld_dialects::gateways::gateway_api::{ControllerSettings, Gateways, Network};
use upheld_dialects::gateways::kgateway::{PolicyStatus, Settings};
use upheld_engine::Snapshot;
use upheld_engine::hierarchy::Effective;
use upheld_loader::load::Choices;
use upheld_loader::{Format, Input};

use crate::measure::{forget_peak_memory, median, peak_memory, timed};

/// What each stage took.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Times {
    /// From documents to a snapshot with its indexes and gateways, on the wall.
    pub(super) reading: Duration,
    /// The part of it that sees through gateways and routes, measured by itself.
    pub(super) topology: Duration,
    pub(super) effective: Duration,
    pub(super) statuses: Duration,
}

impl Times {
    /// Everything after reading.
    pub(super) fn resolving(&self) -> Duration {
        self.effective + self.statuses
    }

    pub(super) fn total(&self) -> Duration {
        self.reading + self.resolving()
    }

    /// Of each stage the median.
    pub(super) fn medians(all: &[Self]) -> Self {
        let of = |stage: fn(&Self) -> Duration| median(all.iter().map(stage).collect());
        Self {
            reading: of(|times| times.reading),
            topology: of(|times| times.topology),
            effective: of(|times| times.effective),
            statuses: of(|times| times.statuses),
        }
    }
}

/// What one pass came to; all of it is in memory at the end.
#[derive(Debug)]
pub(super) struct Pass<'p> {
    pub(super) network: Network<'p>,
    /// By way.
    pub(super) effective: Vec<Arc<Effective>>,
    pub(super) statuses: Vec<PolicyStatus>,
    pub(super) times: Times,
    /// The peak of the process since the pass began.
    pub(super) memory: Option<usize>,
}

/// Reads documents.
pub(super) fn read(text: &str, settings: &Settings) -> Result<Snapshot, String> {
    let input = Input::text("workload.jsonl", Format::JsonLines, text);
    let controller = ControllerSettings { policies: settings.clone(), ..ControllerSettings::default() };
    match Choices::default().with(controller).without_schemas().load(vec![input]) {
        Ok(loaded) => Ok(loaded.snapshot),
        Err(broken) => Err(format!("the workload cannot be read: {:?}", broken.diagnostics.as_slice().first())),
    }
}

/// Makes a pass and shows what it came to.
pub(super) fn pass<T>(text: &str, settings: &Settings, look: impl FnOnce(&Pass<'_>) -> T) -> Result<T, String> {
    forget_peak_memory();
    let started = Instant::now();
    let snapshot = read(text, settings)?;
    let reading = started.elapsed();
    let (_, topology) = timed(|| Gateways::of(&snapshot, ControllerSettings::default(), Vec::new()));
    resolve(&snapshot, Times { reading, topology, ..Times::default() }, look)
}

/// The part of a pass that begins with a snapshot.
pub(super) fn resolve<T>(snapshot: &Snapshot, times: Times, look: impl FnOnce(&Pass<'_>) -> T) -> Result<T, String> {
    let network = Network::of(snapshot).ok_or("the snapshot keeps no gateways")?;
    let kind = network.kind("TrafficPolicy").ok_or("there are no traffic policies")?;
    let (effective, of_effective) = timed(|| network.effective_ways(kind));
    let (statuses, of_statuses) = timed(|| network.kgateway_statuses());
    let times = Times { effective: of_effective, statuses: of_statuses, ..times };
    let memory = peak_memory();
    if effective.is_empty() {
        return Err("the workload has no ways".to_owned());
    }
    let effective = effective.into_iter().map(|(_, answer)| answer).collect();
    Ok(look(&Pass { network, effective, statuses, times, memory }))
}
