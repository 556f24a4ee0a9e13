//! Which edition of the rules gave an answer, and out of which documents. Every answer is stamped here, by the kind of policy
//! that gave it: one snapshot has kinds of many editions.

use serde::Serialize;
use serde_json::{Value as Json, json};
use upheld_engine::{PolicyKind, Snapshot};

/// The edition of the rules of a kind; none for a kind that names none.
pub fn edition<'s>(snapshot: &'s Snapshot, kind: &PolicyKind) -> Option<&'s str> {
    let profile = kind.hierarchy().and_then(|hierarchy| hierarchy.profile);
    profile.or(kind.semantics).map(|edition| snapshot.text(edition))
}

/// What answers say about where they come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Stamp {
    /// The editions of the kinds that answered, each once, in the order of the answers.
    pub semantics: Vec<String>,
    /// The fingerprint of everything that was read.
    pub snapshot: String,
}

impl Stamp {
    /// Of the editions that answers name.
    pub fn new<'e>(snapshot: &Snapshot, editions: impl IntoIterator<Item = &'e str>) -> Self {
        Self { semantics: distinct(editions), snapshot: snapshot.digest().to_owned() }
    }
}

/// Editions, each once, in the order in which they come.
pub fn distinct<'e>(editions: impl IntoIterator<Item = &'e str>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for edition in editions {
        if !edition.is_empty() && !all.iter().any(|known| known == edition) {
            all.push(edition.to_owned());
        }
    }
    all
}

/// Answers with what stands around them.
pub fn document(snapshot: &Snapshot, kind: &str, answers: &[impl Serialize]) -> Json {
    let answers: Vec<Json> = answers.iter().map(|answer| json!(answer)).collect();
    let Stamp { semantics, snapshot } = Stamp::new(snapshot, answers.iter().filter_map(named));
    let mut document =
        json!({"apiVersion": "upheld/v2", "kind": kind, "semantics": semantics, "snapshot": snapshot, "answers": []});
    // Answers can be long: they are moved into the document, not copied.
    if let Some(own) = document.get_mut("answers") {
        *own = Json::Array(answers);
    }
    document
}

/// An answer that stands alone, as in a line of its own. The edition is in it already.
pub fn line(snapshot: &Snapshot, answer: &impl Serialize) -> Json {
    let mut answer = json!(answer);
    if let Some(fields) = answer.as_object_mut() {
        fields.insert("snapshot".to_owned(), json!(snapshot.digest()));
    }
    answer
}

/// The edition that an answer names.
fn named(answer: &Json) -> Option<&str> {
    answer.get("semantics")?.as_str()
}
