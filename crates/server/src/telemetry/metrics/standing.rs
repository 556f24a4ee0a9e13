//! Where the server stands: looked up when somebody asks for the numbers.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, UNIX_EPOCH};

use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use upheld_loader::load::Broken;
use upheld_model::Severity;
use upheld_store::{Revision, machine};

use super::violations::Violations;
use crate::view::View;

/// Where the server stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ServerState<'a> {
    /// The current view.
    pub(crate) view: &'a View,
    /// The end of the log, as far as it is known here.
    pub(crate) head: Revision,
    /// For how long the view may be out of date.
    pub(crate) staleness: Duration,
    /// Bytes of large bodies and answers that are on their way.
    pub(crate) held: usize,
    /// What keeps the files out of the view, if anything does.
    pub(crate) problem: Option<&'a Broken>,
    /// Whether whoever asks may know how many documents there are.
    pub(crate) sizes: Sizes,
}

/// Whether numbers of documents are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sizes {
    /// They are.
    Told,
    /// They are left out.
    Hidden,
}

impl Sizes {
    /// The numbers that may be told.
    pub(super) fn cut(self, text: String) -> String {
        const SIZES: [&str; 4] = [
            "upheld_snapshot_policies",
            "upheld_snapshot_objects",
            "upheld_snapshot_documents",
            // Its labels name policies.
            "upheld_violations",
        ];
        let is_size = |line: &str| line.split([' ', '{']).take(3).any(|word| SIZES.contains(&word));
        match self {
            Self::Told => text,
            Self::Hidden => text.lines().filter(|line| !is_size(line)).flat_map(|line| [line, "\n"]).collect(),
        }
    }
}

type Number = Gauge<f64, AtomicU64>;

#[derive(Debug, Default)]
pub(super) struct Gauges {
    revision: Number,
    lag: Number,
    age: Number,
    staleness: Number,
    build: Number,
    policies: Number,
    objects: Number,
    documents: Number,
    broken: Number,
    memory: Number,
    held: Number,
    started: Number,
    violations: Violations,
}

impl Gauges {
    pub(super) fn register(&self, registry: &mut Registry) {
        let mut gauge = |name: &str, help: &str, gauge: &Number| registry.register(name, help, gauge.clone());
        gauge("upheld_snapshot_revision", "The revision that is served", &self.revision);
        gauge("upheld_snapshot_age_seconds", "Age of the snapshot", &self.age);
        let help = "Time since the store last confirmed that the snapshot is the newest";
        gauge("upheld_snapshot_staleness_seconds", help, &self.staleness);
        gauge("upheld_snapshot_build_seconds", "Time that building the snapshot took", &self.build);
        gauge("upheld_snapshot_policies", "Policies in the snapshot", &self.policies);
        gauge("upheld_snapshot_objects", "Objects in the snapshot", &self.objects);
        gauge("upheld_snapshot_documents", "Stored documents in the snapshot", &self.documents);
        gauge("upheld_revision_lag", "Revisions of the store that are not in the snapshot yet", &self.lag);
        gauge("upheld_broken_files", "Watched files that keep the last change out of the snapshot", &self.broken);
        gauge("upheld_held_bytes", "Bytes of large bodies and answers that are on their way", &self.held);
        gauge("process_resident_memory_bytes", "Memory that the process occupies", &self.memory);
        gauge("process_start_time_seconds", "When the process started", &self.started);
        let help = "Violations of policies about related objects, by policy, level, severity and state";
        registry.register("upheld_violations", help, self.violations.clone());
        self.started.set(UNIX_EPOCH.elapsed().unwrap_or_default().as_secs_f64());
    }

    pub(super) fn set(&self, standing: &ServerState<'_>) {
        let ServerState { view, head, staleness, held, problem, .. } = *standing;
        let snapshot = &view.loaded.snapshot;
        self.revision.set(number(view.revision().0));
        self.lag.set(number(head.0.saturating_sub(view.revision().0)));
        self.age.set(machine::now().duration_since(view.built).as_secs_f64().max(0.0));
        self.staleness.set(staleness.as_secs_f64());
        self.build.set(view.took.as_secs_f64());
        self.policies.set(number(snapshot.policies().len() as u64));
        self.objects.set(number(snapshot.objects().len() as u64));
        self.documents.set(number(view.state.len() as u64));
        self.broken.set(number(problem.map_or(0, broken_files)));
        self.held.set(number(held as u64));
        let now = machine::now().as_nanosecond();
        let now = upheld_model::Timestamp(i64::try_from(now).unwrap_or(i64::MAX));
        self.violations.set(view, now);
        if let Some(bytes) = resident_memory() {
            self.memory.set(number(bytes));
        }
    }
}

/// How many files are broken; one, if nobody can say which.
fn broken_files(broken: &Broken) -> u64 {
    let errors = broken.diagnostics.as_slice().iter().filter(|found| found.severity == Severity::Error);
    let files: BTreeSet<_> = errors.filter_map(|found| found.label.as_ref()).map(|label| label.source).collect();
    files.len().max(1) as u64
}

#[expect(clippy::cast_precision_loss, reason = "gauges are floats; nothing here comes near 2^53")]
fn number(count: u64) -> f64 {
    count as f64
}

/// What the process occupies, where the system says so in a file.
fn resident_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kibibytes.saturating_mul(1024))
}
