//! Numbers with labels that are known beforehand.

use std::fmt;
use std::sync::Arc;

use prometheus_client::encoding::{EncodeMetric, MetricEncoder};
use prometheus_client::metrics::{MetricType, TypedMetric};

type Labels = Vec<(&'static str, &'static str)>;

/// One number for each combination of labels, found by its place.
#[derive(Debug)]
pub(super) struct Cells<M>(Arc<[(Labels, M)]>);

impl<M> Clone for Cells<M> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<M: Default> Cells<M> {
    /// A number for each of these.
    pub(super) fn new<const N: usize>(labels: impl IntoIterator<Item = [(&'static str, &'static str); N]>) -> Self {
        Self(labels.into_iter().map(|labels| (labels.to_vec(), M::default())).collect())
    }
}

impl<M> Cells<M> {
    /// The number at a place.
    pub(super) fn at(&self, place: usize) -> Option<&M> {
        self.0.get(place).map(|(_, metric)| metric)
    }
}

impl<M: EncodeMetric + TypedMetric> EncodeMetric for Cells<M> {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> Result<(), fmt::Error> {
        self.0.iter().try_for_each(|(labels, metric)| metric.encode(encoder.encode_family(labels)?))
    }

    fn metric_type(&self) -> MetricType {
        M::TYPE
    }
}
