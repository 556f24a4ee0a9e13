//! Runs of tests for other tools, and the words that all ways of telling them share.

pub mod junit;
pub mod tap;

use serde_json::Value as Json;

use super::visible;
use crate::report::{Coverage, Difference, INVARIANT, Summary, Tested};

/// `12 passed, 1 failed, 1 skipped`.
pub fn summary(summary: Summary) -> String {
    let Summary { passed, failed, skipped, undecided } = summary;
    let counts = [(passed, "passed"), (failed, "failed"), (undecided, "undecided"), (skipped, "skipped")];
    let told = counts.iter().filter(|(count, word)| *count > 0 || *word == "passed");
    told.map(|(count, word)| format!("{count} {word}")).collect::<Vec<_>>().join(", ")
}

/// What was expected, and what came out, in one line each.
pub fn difference(case: &Tested) -> (String, String) {
    if case.differences.is_empty() {
        return (inner(&case.expected), "no answer".to_owned());
    }
    let part = |difference: &Difference, value: &Json| {
        let path = &difference.path;
        // A decision needs no name, and neither does an invariant.
        if path == "decision" || path == INVARIANT { inner(value) } else { format!("{path}: {}", inner(value)) }
    };
    let join = |told: Vec<String>| told.join(", ");
    (
        join(case.differences.iter().map(|one| part(one, &one.expected)).collect()),
        join(case.differences.iter().map(|one| part(one, &one.actual)).collect()),
    )
}

/// A value as people write it.
pub fn inner(value: &Json) -> String {
    match value {
        Json::Null => "not there".to_owned(),
        Json::String(text) => visible(text),
        Json::Array(items) if items.iter().all(|item| !item.is_object()) => {
            format!("[{}]", items.iter().map(inner).collect::<Vec<_>>().join(", "))
        }
        Json::Object(map) => {
            let entries: Vec<String> = map.iter().map(|(key, value)| format!("{key}: {}", inner(value))).collect();
            entries.join(", ")
        }
        other => visible(&other.to_string()),
    }
}

/// How much is decided, in a sentence.
pub fn coverage_sentence(coverage: &Coverage) -> String {
    let Coverage { decided, of, percent, at_least, .. } = coverage;
    let noun = if *of == 1 { "policy" } else { "policies" };
    let verb = if *decided == 1 { "is" } else { "are" };
    let mut sentence = if *of == 0 {
        "There are no policies that a test could decide.".to_owned()
    } else {
        format!("{decided} of {of} {noun} {verb} decided by a test ({percent} %).")
    };
    if let Some(least) = at_least.filter(|_| coverage.is_short()) {
        sentence.push_str(&format!(" That is under the {least} % of --fail-under."));
    }
    sentence
}
