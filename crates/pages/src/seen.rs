//! Reading an answer as it was sent. What somebody may not see is not in it, so nothing may be missed that is not there.

use serde_json::Value as Json;
use upheld_report::visible;

static NOTHING: Json = Json::Null;
static NONE: Vec<Json> = Vec::new();

/// Parts of an answer, by their path: `headline/text`.
pub(crate) trait Seen {
    /// What is at a path; null where nothing is.
    fn part(&self, path: &str) -> &Json;

    /// The text at a path, as it was written; empty where there is none.
    fn raw(&self, path: &str) -> &str {
        self.part(path).as_str().unwrap_or_default()
    }

    /// The same to be shown: in one line, and steering nothing.
    fn text(&self, path: &str) -> String {
        visible(self.raw(path))
    }

    /// The items of the list at a path.
    fn items(&self, path: &str) -> &[Json] {
        self.part(path).as_array().unwrap_or(&NONE)
    }

    /// The number at a path.
    fn number(&self, path: &str) -> u64 {
        self.part(path).as_u64().unwrap_or_default()
    }

    /// Whether there is something at a path.
    fn has(&self, path: &str) -> bool {
        !self.part(path).is_null()
    }
}

impl Seen for Json {
    fn part(&self, path: &str) -> &Json {
        path.split('/').try_fold(self, |inside, step| inside.get(step)).unwrap_or(&NOTHING)
    }
}

/// A list of texts in one line.
pub(crate) fn joined(list: &[Json]) -> String {
    list.iter().filter_map(Json::as_str).map(visible).collect::<Vec<_>>().join(", ")
}

/// `file:line` of a place; none if nobody knows it.
pub(crate) fn place(at: &Json) -> Option<String> {
    let (file, line) = (at.text("file"), at.number("line"));
    if file.is_empty() { None } else { Some(format!("{file}:{line}")) }
}
