//! How many violations there are, by policy, level, severity and state. Which policies there are is known only when somebody asks.

use std::fmt;
use std::sync::Arc;

use arc_swap::ArcSwap;
use prometheus_client::encoding::{EncodeMetric, MetricEncoder};
use prometheus_client::metrics::MetricType;
use upheld_answers::compliance::{ViolationCounts, next_turn, violation_counts};
use upheld_model::Timestamp;

use crate::view::View;

/// The numbers that were looked up last.
#[derive(Clone, Debug, Default)]
pub(super) struct Violations(Arc<ArcSwap<Counted>>);

/// What was counted, of which documents, and until when it is true.
#[derive(Debug, Default)]
struct Counted {
    digest: String,
    until: Option<Timestamp>,
    counts: Vec<ViolationCounts>,
}

impl Violations {
    /// Counts what violates in a view, unless that is known: who reads numbers all the time counts once for each change, and once when time
    /// alone changes something.
    pub(super) fn set(&self, view: &View, now: Timestamp) {
        let known = self.0.load();
        if known.digest == view.digest() && known.until.is_none_or(|until| now < until) {
            return;
        }
        let (digest, snapshot) = (view.digest().to_owned(), &view.loaded.snapshot);
        let (until, counts) = (next_turn(snapshot, now), violation_counts(snapshot, now));
        self.0.store(Arc::new(Counted { digest, until, counts }));
    }
}

impl EncodeMetric for Violations {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> Result<(), fmt::Error> {
        for counts in &self.0.load().counts {
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
