//! How long things take.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use prometheus_client::encoding::{EncodeMetric, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::{MetricType, TypedMetric};

/// The upper bounds of the buckets, in microseconds: from a decision to a request that waits for another server.
const BOUNDS: [u32; 19] = [
    10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000,
    2_500_000, 5_000_000, 10_000_000,
];

/// Times in buckets. Observing is two additions.
#[derive(Clone, Debug, Default)]
pub(super) struct Histogram(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    /// One more than there are bounds, for what is above all of them.
    buckets: [AtomicU64; BOUNDS.len() + 1],
    nanoseconds: AtomicU64,
}

impl Histogram {
    /// Counts a time.
    pub(super) fn observe(&self, took: Duration) {
        let place = BOUNDS.partition_point(|bound| Duration::from_micros((*bound).into()) < took);
        if let Some(bucket) = self.0.buckets.get(place) {
            bucket.fetch_add(1, Ordering::Relaxed);
        }
        self.0.nanoseconds.fetch_add(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }
}

impl TypedMetric for Histogram {
    const TYPE: MetricType = MetricType::Histogram;
}

impl EncodeMetric for Histogram {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> Result<(), fmt::Error> {
        let bounds = BOUNDS.iter().map(|bound| f64::from(*bound) / 1e6).chain([f64::INFINITY]);
        let counts = self.0.buckets.iter().map(|bucket| bucket.load(Ordering::Relaxed));
        let buckets: Vec<(f64, u64)> = bounds.zip(counts).collect();
        // Counted from the buckets, so that the two never disagree.
        let count = buckets.iter().map(|(_, count)| count).sum();
        let sum = Duration::from_nanos(self.0.nanoseconds.load(Ordering::Relaxed)).as_secs_f64();
        encoder.encode_histogram::<NoLabelSet>(sum, count, &buckets, None)
    }

    fn metric_type(&self) -> MetricType {
        Self::TYPE
    }
}
