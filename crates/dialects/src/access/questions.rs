//! Requests: may it go on, and why?

mod words;

use std::sync::Arc;

use serde_json::{Value as Json, json};
use upheld_engine::Snapshot;
use upheld_engine::decide::Request;
use upheld_report::stamp::line;
use upheld_report::{About, Answer, Report, decide_about};

pub use self::words::{RequestWords, from_words, read, requests};
use super::Edition;
use super::decider::{Decider, WhichKind};
use crate::question::{Asked, Options, Refused, Thing, Words};

/// How a question is asked.
pub(super) const EXAMPLE: &str = "name a request: `--subject role=admin --action DELETE --resource /api/audit/123`";

/// What words about requests mean.
pub(super) fn parse(words: &Words, options: &Options) -> Option<Result<Thing, Refused>> {
    let parts = [&words.subject, &words.action, &words.resource, &words.env];
    if words.request.is_none() && parts.iter().all(|given| given.is_empty()) {
        return None;
    }
    let requests = words::requests(words, edition(options));
    Some(requests.map(|requests| Thing::AccessRequests(Arc::from(requests))))
}

/// How requests are read.
pub fn edition(options: &Options) -> Edition {
    options.semantics.iter().find_map(|name| Edition::of(name)).unwrap_or_default()
}

/// Decides requests.
pub(super) fn answer(asked: &Asked<'_>) -> Option<Result<Answer, Refused>> {
    let Thing::AccessRequests(requests) = &asked.question.thing else { return None };
    let named = asked.question.kind.as_deref();
    let decider = match Decider::of(
        asked.snapshot,
        WhichKind::of(named, asked.options.deciding_kind.as_deref()),
        edition(asked.options),
    ) {
        Ok(decider) => decider,
        Err(problem) => return Some(Err(problem.into())),
    };
    let report = |request: &Request| {
        let request = decider.complete(request.clone(), Some(asked.options.now));
        let about = About::request(&request);
        let Decider { kind, decide, .. } = decider;
        decide_about(asked.snapshot, kind, decide, &request, about, asked.depth, &asked.options.skipped)
    };
    let reports: Vec<Report> = requests.iter().map(report).collect();
    let about = reports.first().map(|report| report.about.what.clone()).unwrap_or_default();
    Some(Ok(Answer::about(about, reports)))
}

/// Just the decision, for pipes.
pub fn short(snapshot: &Snapshot, report: &Report) -> Json {
    let detail = report.decision();
    let reason = detail.and_then(|detail| detail.reason.as_deref());
    let policy = report.policies.first();
    let Report { verdict, semantics, .. } = report;
    let mut answer = json!({"decision": verdict, "policy": policy, "reason": reason, "semantics": semantics});
    let duties = detail.map(|detail| [("obligations", &detail.obligations), ("advice", &detail.advice)]);
    for (name, duties) in duties.into_iter().flatten().filter(|(_, duties)| !duties.is_empty()) {
        if let Some(fields) = answer.as_object_mut() {
            fields.insert(name.to_owned(), json!(duties));
        }
    }
    line(snapshot, &answer)
}
