//! Answers as a page of one file, made of the document that programs get.

use serde_json::Value as Json;
use upheld_answers::{Stamp, Words};
use upheld_pages::{Around, Inspector, Medium, Supposing, command, explanation, supposition};

/// The answer to the words of a question if some policies were not there.
pub(super) fn supposed(words: &Words, without: &[String], document: &Json, digest: &str) -> String {
    let words = serde_json::to_value(words).unwrap_or_default();
    let supposing = Supposing { without: without.to_vec(), ..Supposing::default() };
    let around = Around { medium: Medium::File, digest: Some(digest.to_owned()), ..Around::default() };
    supposition(Inspector::Any, &words, &supposing, document).document(&around)
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
