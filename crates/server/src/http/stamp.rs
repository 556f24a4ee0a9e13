//! Which snapshot answered, and by which edition of the rules, in every body and every header of ours.

use std::io;
use std::sync::Arc;

use axum::Extension;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::Value as Json;
use upheld_answers::stamp;
use upheld_dialects::access::decider::Decider;
use upheld_engine::work;
use utoipa::ToSchema;

use super::asked::Asked;
use crate::view::View;

/// Which snapshot answered.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Stamp<'v> {
    #[serde(flatten)]
    from: Origin<'v>,
    /// The editions of the rules that gave the answer; where no policy was asked, those in force.
    semantics: &'v [String],
}

/// Where an answer comes from, whoever gave it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Origin<'v> {
    api_version: &'static str,
    /// The revision of the store.
    revision: u64,
    /// The fingerprint of all documents.
    digest: &'v str,
}

impl<'v> Origin<'v> {
    fn of(view: &'v View) -> Self {
        Self { api_version: "upheld/v1", revision: view.revision().0, digest: view.digest() }
    }
}

impl<'v> Stamp<'v> {
    /// Of what no policy was asked for.
    pub(crate) fn of(view: &'v View) -> Self {
        Self { from: Origin::of(view), semantics: view.semantics() }
    }
}

/// The edition of the policies that decide; none for a kind that names none.
pub(crate) fn edition<'v>(view: &'v View, decider: Decider<'v>) -> Option<&'v str> {
    let snapshot = &view.loaded.snapshot;
    stamp::edition(snapshot, snapshot.kind(decider.kind)?)
}

/// The editions that gave an answer, on their way from a handler to the headers.
#[derive(Clone, Debug)]
pub(crate) struct Editions(pub(super) HeaderValue);

impl Editions {
    /// Of policies that decide.
    pub(crate) fn of(view: &View, decider: Decider<'_>) -> Self {
        Self::named(edition(view, decider).unwrap_or_default())
    }

    /// Of an answer that names its own.
    fn in_answer(answer: &Json) -> Option<Self> {
        match answer.get("semantics")? {
            Json::String(one) => Some(Self::named(one)),
            Json::Array(all) => Some(Self::named(&all.iter().filter_map(Json::as_str).collect::<Vec<_>>().join(", "))),
            _ => None,
        }
    }

    /// Of their names.
    pub(super) fn named(text: &str) -> Self {
        Self(HeaderValue::from_str(text).unwrap_or(HeaderValue::from_static("")))
    }
}

/// A decision as JSON, with the stamp after its fields. Where a view comes from is written once for all of its decisions.
pub(super) fn stamped_text(view: &View, decider: Decider<'_>, answer: &impl Serialize) -> Vec<u8> {
    let from = view.stamp.get_or_init(|| serde_json::to_string(&Origin::of(view)).unwrap_or_default());
    let mut text = Vec::with_capacity(from.len() + ROOM);
    // Writing into memory does not fail, and both are objects: the end of the first is where the second goes on.
    serde_json::to_writer(&mut text, answer).ok();
    text.pop();
    text.push(b',');
    text.extend_from_slice(from.as_bytes().get(1..).unwrap_or_default());
    text.pop();
    text.extend_from_slice(br#","semantics":"#);
    serde_json::to_writer(&mut text, edition(view, decider).as_slice()).ok();
    text.push(b'}');
    text
}

/// Bytes that most answers have beside their stamp.
const ROOM: usize = 160;

/// An answer with the stamp in it; one that names its own editions keeps them.
pub(crate) fn stamped(view: &View, answer: Json) -> Json {
    let mut stamped = serde_json::to_value(Stamp::of(view)).unwrap_or_default();
    match (&mut stamped, answer) {
        (Json::Object(fields), Json::Object(answer)) => fields.extend(answer),
        (Json::Object(fields), other) => drop(fields.insert("result".to_owned(), other)),
        _ => {}
    }
    stamped
}

/// Bytes that are written in a step.
const PIECE: usize = 1 << 12;

/// A text that is made step by step: nobody writes it to its end who is told to stop.
struct Written(Vec<u8>);

impl io::Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let before = self.0.len() / PIECE;
        self.0.extend_from_slice(bytes);
        work::steps((self.0.len() / PIECE - before) as u64);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// An answer as the text that programs get. Where it is long, not for threads that answer.
pub(super) fn written(answer: &impl Serialize) -> Vec<u8> {
    let mut written = Written(Vec::new());
    // Writing into memory does not fail.
    serde_json::to_writer(&mut written, answer).ok();
    written.0
}

/// What a body says, on its way to a page of ours, which need not read it again.
#[derive(Clone, Debug)]
pub(super) struct Told(pub(super) Arc<Json>);

/// An answer as a response, with the stamp in its body and its headers. Where it is long, not for threads that answer.
pub(super) fn answered(view: &Arc<View>, answer: Json) -> Response {
    let editions = Editions::in_answer(&answer).map(Extension);
    let told = Arc::new(stamped(view, answer));
    let body = ([(header::CONTENT_TYPE, "application/json")], written(&told));
    (editions, Extension(Asked(Arc::clone(view))), Extension(Told(told)), body).into_response()
}

#[cfg(test)]
mod tests {
    use upheld_engine::work::{Unfinished, Work};

    use super::*;

    /// P1: an answer that nobody waits for any more is not written to its end.
    #[test]
    fn p1_the_text_of_an_answer_is_written_step_by_step() {
        let answer: Json = (0..10_000).map(|number| format!("row {number}")).collect();
        let work = Work::default();
        let text = work.during(|| written(&answer)).unwrap();
        assert_eq!(text, answer.to_string().into_bytes());
        assert_eq!(work.steps(), (text.len() / PIECE) as u64);
        assert!(work.steps() > 20);
        assert_eq!(Work::of_steps(10).during(|| written(&answer)), Err(Unfinished::OutOfSteps));
    }
}
