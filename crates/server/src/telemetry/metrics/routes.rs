//! Answers by route. Routes are known only when somebody asks, so these grow; but there are no more than the router has.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use prometheus_client::encoding::{EncodeMetric, MetricEncoder};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::{MetricType, TypedMetric};

use super::histogram::Histogram;

/// All routes that were asked for. Looking one up takes no lock.
#[derive(Clone, Debug, Default)]
pub(super) struct Routes(Arc<ArcSwap<BTreeMap<Arc<str>, Arc<Route>>>>);

#[derive(Debug, Default)]
struct Route {
    times: Histogram,
    answers: ArcSwap<BTreeMap<(&'static str, u16), Counter>>,
}

impl Routes {
    /// Counts an answer.
    pub(super) fn answered(&self, name: &str, method: &'static str, status: u16, took: Duration) {
        let known = self.0.load();
        if let Some(route) = known.get(name) {
            return route.answered(method, status, took);
        }
        let route = Arc::<Route>::default();
        self.0.rcu(|known| {
            let mut grown = BTreeMap::clone(known);
            grown.entry(name.into()).or_insert_with(|| Arc::clone(&route));
            grown
        });
        // Somebody may have been faster.
        if let Some(route) = self.0.load().get(name) {
            route.answered(method, status, took);
        }
    }
}

impl Route {
    fn answered(&self, method: &'static str, status: u16, took: Duration) {
        self.times.observe(took);
        let key = (method, status);
        if let Some(counter) = self.answers.load().get(&key) {
            counter.inc();
            return;
        }
        self.answers.rcu(|known| {
            let mut grown = BTreeMap::clone(known);
            grown.entry(key).or_default();
            grown
        });
        if let Some(counter) = self.answers.load().get(&key) {
            counter.inc();
        }
    }
}

/// How many answers there were.
#[derive(Debug)]
pub(super) struct Answers(pub(super) Routes);

impl EncodeMetric for Answers {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> Result<(), fmt::Error> {
        for (name, route) in self.0.0.load().iter() {
            for ((method, status), counter) in route.answers.load().iter() {
                let status = status.to_string();
                let labels = [("route", &**name), ("method", *method), ("status", status.as_str())];
                counter.encode(encoder.encode_family(&labels)?)?;
            }
        }
        Ok(())
    }

    fn metric_type(&self) -> MetricType {
        Counter::<u64>::TYPE
    }
}

/// How long they took.
#[derive(Debug)]
pub(super) struct Times(pub(super) Routes);

impl EncodeMetric for Times {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> Result<(), fmt::Error> {
        for (name, route) in self.0.0.load().iter() {
            route.times.encode(encoder.encode_family(&[("route", &**name)])?)?;
        }
        Ok(())
    }

    fn metric_type(&self) -> MetricType {
        Histogram::TYPE
    }
}
