//! What operators see: logs, traces, metrics, and the decision log.
//!
//! ```text
//! request ──observe──▶ span, one line of the log, metrics     observe, logs, traces, metrics
//! decision ──decided──▶ metrics, the decision log         decided, metrics, decisions
//! ```
//!
//! *Invariant: no secret is in any of them.* Bodies, headers and the query of a request are never logged; labels of metrics are
//! out of lists that are known beforehand, and routes stand as they were declared, never as they were asked for.

mod counted_store;
mod decided;
mod decisions;
mod enforced;
mod logs;
mod metrics;
mod observe;
mod traces;

pub(crate) use counted_store::CountedStore;
pub(crate) use decided::{DecisionEvent, Details};
pub(crate) use decisions::{Decisions, Line};
pub(crate) use enforced::outcome;
pub(crate) use metrics::{Asked, InFlight, Metrics, QuestionState, Reloaded, ServerState, Sizes, Surface};
pub(crate) use observe::{Observed, ObservedRequest};

use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::config::Operations;

/// Keeps logs and traces going. What is not sent yet is sent when this goes.
#[derive(Debug)]
#[must_use = "traces end when the guard is dropped"]
pub struct Guard {
    traces: Option<SdkTracerProvider>,
}

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(traces) = &self.traces {
            traces::end(traces);
        }
    }
}

/// Begins to log, and to trace if there is a collector. For the whole process: a second call changes nothing. Call it inside the
/// runtime that serves, and let the guard go before the runtime ends.
pub fn init(operations: &Operations) -> Guard {
    let (filter, unusable) = logs::filter(operations, |name| std::env::var(name).ok());
    let format = logs::format(operations);
    let authority = traces::authority(operations, |name| std::env::var(name).ok());
    let (traces, no_traces) = match traces::endpoint(operations, |name| std::env::var(name).ok()) {
        None => (None, None),
        Some(endpoint) => match traces::provider(&endpoint, authority.as_deref()) {
            Ok(provider) => (Some(provider), None),
            Err(error) => (None, Some((endpoint, error))),
        },
    };
    let logging = tracing_subscriber::registry().with(logs::layer(format, filter, std::io::stderr));
    let begun = match &traces {
        Some(traces) => logging.with(traces::layer(traces)).try_init(),
        // A layer that is none would let spans be made for nobody.
        None => logging.try_init(),
    };
    if let Err(error) = begun {
        tracing::debug!(%error, "a logger is already installed");
    }
    if let Some(error) = unusable {
        tracing::warn!(error, "the log filter is invalid; `info` is used");
    }
    if let Some((endpoint, error)) = no_traces {
        tracing::warn!(endpoint, error, "traces are off");
    }
    Guard { traces }
}
