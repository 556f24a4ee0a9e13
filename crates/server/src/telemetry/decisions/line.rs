//! One decision, as it is written down.

use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value as Json;

use super::credentials;
use super::redact::Redact;
use crate::telemetry::{DecisionEvent, Details};

/// One decision, before it is written.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    time: Timestamp,
    id: String,
    place: Option<usize>,
    surface: &'static str,
    caller: Option<String>,
    decision: &'static str,
    microseconds: f64,
    details: Details,
}

/// The fields in the order in which they are written.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Written<'l> {
    time: String,
    id: &'l str,
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<usize>,
    surface: &'l str,
    #[serde(skip_serializing_if = "Option::is_none")]
    caller: Option<&'l str>,
    revision: u64,
    request: Json,
    decision: &'l str,
    #[serde(skip_serializing_if = "Option::is_none")]
    policy: Option<&'l str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'l str>,
    microseconds: f64,
    /// Decisions between the line before and this one for which there was no place.
    #[serde(skip_serializing_if = "is_zero")]
    dropped: u64,
    previous: &'l str,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Line {
    pub(super) fn new(time: Timestamp, made: DecisionEvent<'_>, details: Details) -> Self {
        Self {
            time,
            id: made.observed.id().to_owned(),
            place: made.place,
            surface: made.surface.word(),
            caller: made.observed.caller().map(ToString::to_string),
            decision: made.outcome.word(),
            microseconds: made.took.as_secs_f64() * 1e6,
            details,
        }
    }

    /// As JSON, without the end of the line.
    pub(super) fn text(&self, redact: &Redact, previous: &str, dropped: u64) -> String {
        let mut request = serde_json::from_str(&self.details.request).unwrap_or_default();
        redact.apply(&mut request);
        let hidden = self.details.reason.as_deref().and_then(credentials::in_text);
        let written = Written {
            time: self.time.to_string(),
            id: &self.id,
            place: self.place,
            surface: self.surface,
            caller: self.caller.as_deref(),
            revision: self.details.revision.0,
            request,
            decision: self.decision,
            policy: self.details.policy.as_deref(),
            reason: hidden.as_deref().or(self.details.reason.as_deref()),
            microseconds: (self.microseconds * 10.0).round() / 10.0,
            dropped,
            previous,
        };
        serde_json::to_string(&written).unwrap_or_default()
    }
}
