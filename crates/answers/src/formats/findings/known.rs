//! An earlier run of `lint` that a later one is compared with.

use serde_json::Value as Json;

use super::super::baseline::{Content, Earlier, text_at};
use crate::lint::{LintFinding, Linted};

/// What the fingerprint of a finding is called in SARIF.
pub(super) const FINGERPRINT: &str = "finding/v1";

/// The findings of an earlier run: as SARIF, or as the JSON of `upheld lint -o json`.
#[derive(Clone, Debug, Default)]
pub struct FindingsBaseline {
    earlier: Earlier<Said>,
}

/// What makes a finding another one than it was.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Said {
    severity: String,
    message: String,
}

impl FindingsBaseline {
    /// Reads what an earlier run printed. A finding that was gone by then is no part of it.
    pub fn read(text: &str) -> Result<Self, String> {
        Ok(Self { earlier: Earlier::read(text)? })
    }

    /// Says of every finding whether it was there before, and which are gone.
    #[must_use]
    pub fn compared(&self, mut linted: Linted) -> Linted {
        let said = |finding: &LintFinding| Said {
            severity: finding.problem.severity.word().to_owned(),
            message: finding.problem.message.clone(),
        };
        let found = linted.findings.iter().map(|finding| (finding.id.as_str(), said(finding)));
        let (states, compared) = self.earlier.beside(found);
        for (finding, state) in linted.findings.iter_mut().zip(states) {
            finding.baseline_state = Some(state);
        }
        Linted { baseline: Some(compared), ..linted }
    }
}

impl Content for Said {
    const CALLED: &'static str = "run of lint";
    const KIND: &'static str = "Findings";
    const LIST: &'static str = "findings";
    const RULE: &'static str = "code";
    const FINGERPRINT: &'static str = FINGERPRINT;

    fn of_result(result: &Json) -> Option<Self> {
        let message = result.get("message").map_or("", |message| text_at(message, "text")).to_owned();
        Some(Self { severity: text_at(result, "level").to_owned(), message })
    }

    fn of_item(item: &Json) -> Option<Self> {
        let [severity, message] = ["severity", "message"].map(|name| text_at(item, name).to_owned());
        Some(Self { severity, message })
    }
}
