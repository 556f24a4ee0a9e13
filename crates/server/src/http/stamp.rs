//! Which snapshot answered, in every body of ours.

use serde::Serialize;
use serde_json::Value as Json;
use utoipa::ToSchema;

use crate::view::View;

/// Which snapshot answered.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Stamp<'v> {
    api_version: &'static str,
    /// The revision of the store.
    revision: u64,
    /// The fingerprint of all documents.
    digest: &'v str,
    /// The editions in force.
    semantics: &'v [String],
}

impl<'v> Stamp<'v> {
    pub(crate) fn of(view: &'v View) -> Self {
        let (digest, semantics) = (view.digest(), view.semantics());
        Self { api_version: "upheld/v1", revision: view.revision().0, digest, semantics }
    }
}

/// An answer as JSON, with the stamp after its fields. The stamp of a view is written once for all of its answers.
pub(super) fn stamped_text(view: &View, answer: &impl Serialize) -> Vec<u8> {
    let stamp = view.stamp.get_or_init(|| serde_json::to_string(&Stamp::of(view)).unwrap_or_default());
    let mut text = Vec::with_capacity(stamp.len() + ROOM);
    // Writing into memory does not fail, and both are objects: the end of the first is where the second goes on.
    serde_json::to_writer(&mut text, answer).ok();
    text.pop();
    text.push(b',');
    text.extend_from_slice(stamp.as_bytes().get(1..).unwrap_or_default());
    text
}

/// Bytes that most answers have beside their stamp.
const ROOM: usize = 128;

/// An answer with the stamp in it.
pub(crate) fn stamped(view: &View, answer: Json) -> Json {
    let mut stamped = serde_json::to_value(Stamp::of(view)).unwrap_or_default();
    match (&mut stamped, answer) {
        (Json::Object(fields), Json::Object(answer)) => fields.extend(answer),
        (Json::Object(fields), other) => drop(fields.insert("result".to_owned(), other)),
        _ => {}
    }
    stamped
}
