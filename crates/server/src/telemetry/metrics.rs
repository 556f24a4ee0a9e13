//! Numbers for Prometheus.
//!
//! Counting is an atomic addition: no allocation and no lock on the way of a request. What can be looked up (revision, age,
//! size) is looked up when somebody asks for the numbers.

mod cells;
mod histogram;
mod labels;
mod routes;
mod standing;
mod violations;

pub(crate) use labels::{Asked, Operation, QuestionState, Reloaded, Surface, method_name};
pub(crate) use standing::{ServerState, Sizes};

use std::time::Duration;

use axum::http::Response;
use prometheus_client::encoding::text;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::Registry;
use upheld_engine::decide::Outcome;
use upheld_governance::Outcome as Admission;
use upheld_store::StoreError;

use crate::limits::Length;
use crate::serve::blocked;
use cells::Cells;
use histogram::Histogram;
use labels::{ADMISSIONS, OUTCOMES, REFUSALS, STORE_ERRORS, admission, place, refusal, store_error};
use routes::{Answers, Routes, Times};
use standing::Gauges;

/// All numbers of one server.
#[derive(Debug)]
pub(crate) struct Metrics {
    registry: Registry,
    routes: Routes,
    working: Gauge,
    questions: Cells<Gauge>,
    streams: Gauge,
    refused: Cells<Counter>,
    decisions: Cells<Counter>,
    decision_times: Cells<Histogram>,
    store_errors: Cells<Counter>,
    store_times: Cells<Histogram>,
    store_up: Gauge,
    reloads: Cells<Counter>,
    admissions: Cells<Counter>,
    blocked: Counter,
    pub(super) log: LogCounters,
    gauges: Gauges,
}

/// What is counted of the decision log.
#[derive(Clone, Debug, Default)]
pub(super) struct LogCounters {
    /// Lines that were written.
    pub(super) lines: Counter,
    /// Decisions for which there was no place.
    pub(super) dropped: Counter,
    /// Lines that could not be written.
    pub(super) failed: Counter,
}

impl Metrics {
    /// All at zero.
    pub(crate) fn new() -> Self {
        let surfaces = Surface::ALL.map(|surface| [("surface", surface.word())]);
        let outcomes = Surface::ALL
            .into_iter()
            .flat_map(|surface| OUTCOMES.map(|outcome| [("surface", surface.word()), ("outcome", outcome.word())]));
        let admissions = Asked::ALL
            .into_iter()
            .flat_map(|asked| ADMISSIONS.map(|outcome| [("asked", asked.word()), ("outcome", outcome.word())]));
        let operations = Operation::ALL.map(|operation| [("operation", operation.word())]);
        let questions = Length::ALL
            .into_iter()
            .flat_map(|lane| QuestionState::ALL.map(|state| [("lane", lane.word()), ("state", state.word())]));
        let store_up = Gauge::default();
        store_up.set(1);
        let mut metrics = Self {
            registry: Registry::default(),
            routes: Routes::default(),
            working: Gauge::default(),
            questions: Cells::new(questions),
            streams: Gauge::default(),
            refused: Cells::new(REFUSALS.map(|reason| [("reason", reason)])),
            decisions: Cells::new(outcomes),
            decision_times: Cells::new(surfaces),
            store_errors: Cells::new(STORE_ERRORS.map(|sort| [("sort", sort)])),
            store_times: Cells::new(operations),
            store_up,
            admissions: Cells::new(admissions),
            reloads: Cells::new(Reloaded::ALL.map(|result| [("result", result.word())])),
            blocked: Counter::default(),
            log: LogCounters::default(),
            gauges: Gauges::default(),
        };
        metrics.register();
        metrics
    }

    fn register(&mut self) {
        let registry = &mut self.registry;
        let mut counter = |name: &str, help: &str, cells: &Cells<Counter>| registry.register(name, help, cells.clone());
        counter("upheld_http_refused", "Requests that were refused before they were handled", &self.refused);
        counter("upheld_decisions", "Decisions, by API and outcome", &self.decisions);
        counter("upheld_store_errors", "Errors of the store, by kind", &self.store_errors);
        let help = "Writes that were judged by policies about related objects, by outcome";
        counter("upheld_admissions", help, &self.admissions);
        counter("upheld_reloads", "Reloads of the watched files, by result", &self.reloads);
        let mut single = |name: &str, help: &str, counter: &Counter| registry.register(name, help, counter.clone());
        single("upheld_decision_log_lines", "Lines written to the decision log", &self.log.lines);
        single(
            "upheld_decision_log_dropped",
            "Decisions that were dropped because the queue was full",
            &self.log.dropped,
        );
        let help = "How often a thread that serves was held up for a tenth of a second";
        single("upheld_blocked_threads", help, &self.blocked);
        single("upheld_decision_log_failures", "Lines of the decision log that could not be written", &self.log.failed);
        registry.register("upheld_http_requests", "Answers, by route, method and status", Answers(self.routes.clone()));
        let help = "Time to the headers of the answer, by route";
        registry.register("upheld_http_request_duration_seconds", help, Times(self.routes.clone()));
        let help = "Time of one decision without reading the request, by API";
        registry.register("upheld_decision_duration_seconds", help, self.decision_times.clone());
        let help = "Time that the store took, by operation";
        registry.register("upheld_store_duration_seconds", help, self.store_times.clone());
        registry.register("upheld_http_requests_in_flight", "Requests without an answer yet", self.working.clone());
        let help =
            "Questions that are worked on away from the threads that serve, and those that wait for that, by lane";
        registry.register("upheld_questions", help, self.questions.clone());
        registry.register("upheld_event_streams", "Streams of events that are open", self.streams.clone());
        registry.register(
            "upheld_store_up",
            "Whether the store answered when it was last asked",
            self.store_up.clone(),
        );
        let version = Info::new([("version", env!("CARGO_PKG_VERSION"))]);
        registry.register("upheld_build", "The version of this program", version);
        self.gauges.register(registry);
    }

    /// Counts a decision.
    pub(crate) fn decided(&self, surface: Surface, outcome: Outcome, took: Duration) {
        if let Some(counter) = self.decisions.at(surface as usize * OUTCOMES.len() + place(outcome)) {
            counter.inc();
        }
        if let Some(times) = self.decision_times.at(surface as usize) {
            times.observe(took);
        }
    }

    /// Counts what was said of a write.
    pub(crate) fn admitted(&self, asked: Asked, outcome: Admission) {
        if let Some(counter) = self.admissions.at(asked as usize * ADMISSIONS.len() + admission(outcome)) {
            counter.inc();
        }
    }

    /// Counts an answer.
    pub(super) fn answered<B>(&self, route: &str, method: &'static str, answer: &Response<B>, took: Duration) {
        self.routes.answered(route, method, answer.status().as_u16(), took);
        if let Some(counter) = refusal(answer).and_then(|reason| self.refused.at(reason)) {
            counter.inc();
        }
    }

    /// Counts a stream of events, until what is returned goes.
    pub(crate) fn streaming(&self) -> InFlight {
        self.streams.inc();
        InFlight(self.streams.clone())
    }

    /// Counts a question in a lane, until what is returned goes.
    pub(crate) fn question(&self, lane: Length, state: QuestionState) -> Option<InFlight> {
        let gauge = self.questions.at(lane as usize * QuestionState::ALL.len() + state as usize)?;
        gauge.inc();
        Some(InFlight(gauge.clone()))
    }

    /// Counts a request that is worked on, until what is returned goes.
    pub(super) fn working(&self) -> InFlight {
        self.working.inc();
        InFlight(self.working.clone())
    }

    /// Counts what the store did.
    pub(super) fn stored(&self, operation: Operation, took: Duration, error: Option<&StoreError>) {
        if let Some(times) = self.store_times.at(operation as usize) {
            times.observe(took);
        }
        let away = error.is_some_and(|error| {
            error.is_other_store() || matches!(error, StoreError::Unreachable(_) | StoreError::Unusable(_))
        });
        self.store_up.set(i64::from(!away));
        if let Some(error) = error {
            self.store_failed(error);
        }
    }

    /// Counts what the store could not do.
    pub(crate) fn store_failed(&self, error: &StoreError) {
        if let Some(counter) = self.store_errors.at(store_error(error)) {
            counter.inc();
        }
    }

    /// Counts a reading of the files.
    pub(crate) fn reloaded(&self, result: Reloaded) {
        if let Some(counter) = self.reloads.at(result as usize) {
            counter.inc();
        }
    }

    /// All numbers, as `OpenMetrics` text.
    pub(crate) fn text(&self, standing: &ServerState<'_>) -> String {
        self.gauges.set(standing);
        self.blocked.inc_by(blocked().saturating_sub(self.blocked.get()));
        let mut text = String::new();
        // Writing into a string does not fail.
        text::encode(&mut text, &self.registry).ok();
        standing.sizes.cut(text)
    }
}

/// What is counted as long as this is there.
#[derive(Debug)]
pub(crate) struct InFlight(Gauge);

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.dec();
    }
}

#[cfg(test)]
mod tests;
