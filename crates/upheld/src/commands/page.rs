//! Answers as a page of one file, made of the document that programs get.

use serde_json::Value as Json;
use upheld_answers::{Stamp, Words};
use upheld_pages::{Around, Inspector, Medium, command, explanation};

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
    explanation(Inspector::Any, &words, answer).document(&around)
}
