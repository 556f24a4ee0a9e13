//! How many violations there are, by policy, level, severity and state. Which policies there are is known only when somebody asks.

use std::fmt;
use std::sync::Arc;

use arc_swap::ArcSwap;
use prometheus_client::encoding::{EncodeMetric, MetricEncoder};
use prometheus_client::metrics::MetricType;
use upheld_answers::compliance::ViolationCounts;

/// The numbers that were looked up last.
#[derive(Clone, Debug, Default)]
pub(super) struct Violations(Arc<ArcSwap<Vec<ViolationCounts>>>);

impl Violations {
    pub(super) fn set(&self, counts: Vec<ViolationCounts>) {
        self.0.store(Arc::new(counts));
    }
}

impl EncodeMetric for Violations {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> Result<(), fmt::Error> {
        for counts in self.0.load().iter() {
            let ViolationCounts { policy, level, severity, by_state } = counts;
            for (state, count) in by_state {
                let labels =
                    [("policy", policy.as_str()), ("level", *level), ("severity", *severity), ("state", *state)];
                encoder.encode_family(&labels)?.encode_gauge(&i64::try_from(*count).unwrap_or(i64::MAX))?;
            }
        }
        Ok(())
    }

    fn metric_type(&self) -> MetricType {
        MetricType::Gauge
    }
}
