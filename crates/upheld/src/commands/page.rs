//! Answers as a page of one file, made of the document that programs get.

use serde_json::Value as Json;
use upheld_answers::{Stamp, Words};
use upheld_pages::{
    Around, Inspector, Medium, Supposing, changes, command, explanation, findings, lesson, supposition,
};

/// The answer to the words of a question if some policies were not there.
pub(super) fn supposed(words: &Words, without: &[String], document: &Json, digest: &str) -> String {
    let words = serde_json::to_value(words).unwrap_or_default();
    let supposing = Supposing { without: without.to_vec(), ..Supposing::default() };
    supposition(Inspector::Any, &words, &supposing, document).document(&file(digest))
}

/// What changes between two sets of documents.
pub(super) fn changed(document: &Json, digest: &str) -> String {
    changes(document, None).document(&file(digest))
}

/// What is wrong with policies.
pub(super) fn linted(document: &Json, digest: &str) -> String {
    findings(document).document(&file(digest))
}

/// A step of a lesson.
pub(super) fn taught(document: &Json, digest: &str) -> String {
    lesson(document).document(&file(digest))
}

/// A page that is a file.
fn file(digest: &str) -> Around {
    Around { medium: Medium::File, digest: Some(digest.to_owned()), ..Around::default() }
}

/// The answer to the words of a question.
pub(super) fn page(words: &Words, answer: &Json, stamp: &Stamp) -> String {
    let words = serde_json::to_value(words).unwrap_or_default();
    let around = Around {
        medium: Medium::File,
        command: command::explain(None, &words),
        digest: Some(stamp.snapshot.clone()),
        semantics: Some(stamp.semantics.join(", ")),
        ..Around::default()
    };
    explanation(Inspector::Any, &words, answer, None).document(&around)
}
