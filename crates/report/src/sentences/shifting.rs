//! What is said about two sets of documents.

use crate::Proved;
use serde::{Deserialize, Serialize};

use super::{Phrase, counted, phrase};
use crate::shift::{Comparison, ReplayCounts, ShiftCounts};

/// The code of what is said about invariants.
pub(crate) const INVARIANT_NOTE: &str = "shift.invariant";

/// What is said about what changes.
#[expect(missing_docs, reason = "fields of sentences are named for what stands in their place")]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "code", content = "parameters", rename_all_fields = "camelCase")]
pub enum Shifting {
    /// What a comparison comes to.
    #[serde(rename = "shift.compared")]
    Compared { documents: usize, verdict: Comparison, counts: ShiftCounts, begin: usize, end: usize },
    /// All possible requests were compared.
    #[serde(rename = "shift.every-request")]
    EveryRequest { kind: String, policies: usize, classes: u64 },
    /// Not all requests could be compared.
    #[serde(rename = "shift.bound")]
    Bound { kind: String, bound: String },
    /// A kind has no answer for something that there is.
    #[serde(rename = "shift.not-compared")]
    NotCompared { what: String, because: String },
    /// Something must stay as it is, and does not; or nobody can tell.
    #[serde(rename = "shift.invariant")]
    Invariant { name: String, verdict: Proved, because: String },
    /// Requests that somebody made were decided again.
    #[serde(rename = "shift.replayed")]
    Replayed { counts: ReplayCounts, widened: u64 },
    /// How many of the requests that somebody made change.
    #[serde(rename = "shift.known-requests")]
    KnownRequests { counts: ReplayCounts },
}

impl Shifting {
    /// In words.
    pub fn text(&self) -> String {
        match self {
            Self::Compared { documents, verdict, counts, begin, end } => {
                let changed = match documents {
                    0 => "No document changed.".to_owned(),
                    count => format!("{} changed.", counted(*count, "document", "documents")),
                };
                format!("{changed} {}", Self::compared(*verdict, counts, *begin, *end))
            }
            Self::EveryRequest { kind, policies, classes } => {
                let policies = counted(*policies, "policy", "policies");
                let classes = counted_large(*classes, "kind of path", "kinds of paths");
                format!("{kind}: every possible request was compared ({policies} changed, {classes}).")
            }
            Self::Bound { kind, bound } => format!("{kind}: not every request could be compared: {bound}."),
            Self::NotCompared { what, because } => format!("{what} was not compared: {because}."),
            Self::Invariant { name, verdict, because } => format!("{} `{name}`: {because}", verdict.word()),
            Self::Replayed { counts, widened } => Self::replayed(counts, *widened),
            Self::KnownRequests { counts } => Self::replayed(counts, 0),
        }
    }

    fn replayed(counts: &ReplayCounts, widened: u64) -> String {
        let of = counted_large(counts.compared, "known request", "known requests");
        let mut text = match counts.changed {
            0 => format!("None of {of} is decided otherwise"),
            1 => format!("1 of {of} is decided otherwise"),
            changed => format!("{changed} of {of} are decided otherwise"),
        };
        if widened > 0 {
            text.push_str("; more is let through than before");
        }
        text.push('.');
        for (count, one, many) in [
            (counts.hidden, "line hides what the decision rests on", "lines hide what the decision rests on"),
            (counts.unknown, "line does not say what was decided", "lines do not say what was decided"),
            (counts.bad, "line cannot be read", "lines cannot be read"),
        ] {
            if count > 0 {
                text.push_str(&format!(" {}.", counted_large(count, one, many)));
            }
        }
        text
    }

    /// What two sets of documents come to, without how many documents are not the same.
    pub fn compared(verdict: Comparison, counts: &ShiftCounts, begin: usize, end: usize) -> String {
        let told = Self::told(verdict, counts, begin, end);
        match counts.beyond {
            0 => told,
            beyond => {
                format!(
                    "{told} The changed documents do not reach {}.",
                    counted_large(beyond, "other place", "other places")
                )
            }
        }
    }

    fn told(verdict: Comparison, counts: &ShiftCounts, begin: usize, end: usize) -> String {
        let of = match counts.compared {
            0 => String::new(),
            compared => format!(" of {}", counted_large(compared, "result", "results")),
        };
        match verdict {
            Comparison::Equal if counts.compared == 0 => return "No result changes.".to_owned(),
            Comparison::Equal => return format!("None{of} changes."),
            Comparison::Undecided => {
                return "Nothing was found that changes, but not everything could be compared.".to_owned();
            }
            Comparison::Differs => {}
        }
        let mut parts = Vec::new();
        if counts.changed > 0 {
            parts.push(format!("{}{of} {}", counts.changed, if counts.changed == 1 { "changes" } else { "change" }));
        }
        if counts.requests > 0 {
            let are = if counts.requests == 1 { "is" } else { "are" };
            let requests = counted_large(counts.requests, "kind of request", "kinds of requests");
            parts.push(format!("{requests} {are} decided otherwise"));
        }
        for (count, verb) in [(counts.began, "begin"), (counts.ended, "end")] {
            if count > 0 {
                let verb = if count == 1 { format!("{verb}s") } else { verb.to_owned() };
                parts.push(format!("{} {verb}", counted_large(count, "result", "results")));
            }
        }
        for (count, verb) in [(begin, "begin"), (end, "end")] {
            if count > 0 {
                let verb = if count == 1 { format!("{verb}s") } else { verb.to_owned() };
                parts.push(format!("{} {verb}", counted(count, "violation", "violations")));
            }
        }
        let widened = match counts.widened {
            0 => String::new(),
            _ => "; more is let through than before".to_owned(),
        };
        format!("{}{widened}.", parts.join(", "))
    }
}

fn counted_large(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

impl From<Shifting> for Phrase {
    fn from(shifting: Shifting) -> Self {
        phrase(&shifting, shifting.text())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_sentences_and_made_again_of_their_parameters() {
        let compared = |verdict, counts, begin, end| Shifting::Compared { documents: 2, verdict, counts, begin, end };
        let none = ShiftCounts::default();
        let counts = |changed, requests, widened| ShiftCounts { compared: 412, changed, requests, widened, ..none };
        for (sentence, text) in [
            (compared(Comparison::Equal, counts(0, 0, 0), 0, 0), "2 documents changed. None of 412 results changes."),
            (compared(Comparison::Equal, none, 0, 0), "2 documents changed. No result changes."),
            (
                compared(Comparison::Differs, counts(38, 2, 1), 1, 2),
                "2 documents changed. 38 of 412 results change, 2 kinds of requests are decided otherwise, 1 violation begins, \
                 2 violations end; more is let through than before.",
            ),
            (
                compared(Comparison::Undecided, none, 0, 0),
                "2 documents changed. Nothing was found that changes, but not everything could be compared.",
            ),
            (
                Shifting::EveryRequest { kind: "AccessPolicy".into(), policies: 1, classes: 42 },
                "AccessPolicy: every possible request was compared (1 policy changed, 42 kinds of paths).",
            ),
            (
                Shifting::Replayed {
                    counts: ReplayCounts {
                        lines: 9,
                        compared: 7,
                        changed: 2,
                        bad: 1,
                        hidden: 1,
                        ..ReplayCounts::default()
                    },
                    widened: 1,
                },
                "2 of 7 known requests are decided otherwise; more is let through than before. 1 line hides what the decision \
                 rests on. 1 line cannot be read.",
            ),
        ] {
            let phrase = Phrase::from(sentence);
            assert_eq!(phrase.text, text);
            assert_eq!(phrase.again().as_deref(), Some(text));
        }
    }
}
