//! Which snapshot answered, and by which edition of the rules, in every body and every header of ours.

use std::sync::Arc;

use axum::Extension;
use axum::http::HeaderValue;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::Value as Json;
use upheld_answers::stamp;
use upheld_dialects::access::decider::Decider;
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

/// What a body says, on its way to a page of ours, which need not read it again.
#[derive(Clone, Debug)]
pub(super) struct Told(pub(super) Arc<Json>);

/// An answer as a response, with the stamp in its body and its headers.
pub(super) fn answered(view: &Arc<View>, answer: Json) -> Response {
    let editions = Editions::in_answer(&answer).map(Extension);
    let told = Arc::new(stamped(view, answer));
    let body = axum::Json(Arc::clone(&told));
    (editions, Extension(Asked(Arc::clone(view))), Extension(Told(told)), body).into_response()
}
