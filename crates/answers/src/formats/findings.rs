//! Findings about policies, for other tools.

use serde_json::{Value as Json, json};
use upheld_model::{Diagnostic, Files, Severity};
use upheld_report::{At, diagnostic_json};

use super::audit::SARIF_SCHEMA;
use super::{markdown_text, xml};
use crate::codes;
use crate::lint::Linted;

/// Findings of one set of files.
#[derive(Clone, Copy, Debug)]
pub struct Findings<'a> {
    /// The files.
    pub files: &'a Files,
    /// What was found in them.
    pub linted: &'a Linted,
}

/// So many findings fit into a comment.
const SHOWN: usize = 100;

impl Findings<'_> {
    /// As programs get them.
    pub fn document(&self, digest: &str) -> Json {
        let findings: Vec<Json> = self.linted.findings.iter().map(|one| diagnostic_json(self.files, one)).collect();
        json!({
            "apiVersion": "upheld/v2", "kind": "Findings", "headline": self.linted.sentence(),
            "counts": {
                "error": self.linted.count(Severity::Error), "warning": self.linted.count(Severity::Warning),
                "note": self.linted.count(Severity::Note), "allowed": self.linted.allowed,
                "policies": self.linted.policies,
            },
            "findings": findings, "snapshot": digest,
        })
    }

    /// The Static Analysis Results Interchange Format, version 2.1.0.
    pub fn sarif(&self) -> Json {
        let mut used: Vec<&'static str> = self.linted.findings.iter().map(|one| one.fault.code()).collect();
        used.sort_unstable();
        used.dedup();
        let rules: Vec<Json> = codes::all()
            .filter(|meaning| used.contains(&meaning.code))
            .map(|meaning| {
                json!({
                    "id": meaning.code, "shortDescription": {"text": meaning.title},
                    "fullDescription": {"text": meaning.text}, "help": {"text": format!("Better: {}", meaning.good)},
                })
            })
            .collect();
        let results: Vec<Json> = self.linted.findings.iter().map(|one| self.result(one)).collect();
        json!({
            "$schema": SARIF_SCHEMA, "version": "2.1.0",
            "runs": [{
                "tool": {"driver": {"name": "upheld", "semanticVersion": env!("CARGO_PKG_VERSION"), "rules": rules}},
                "automationDetails": {"id": "upheld/lint/"}, "columnKind": "unicodeCodePoints", "results": results,
            }],
        })
    }

    fn result(&self, finding: &Diagnostic) -> Json {
        let level = finding.severity.word();
        let location = |at: &At| {
            json!({"physicalLocation": {
                "artifactLocation": {"uri": at.file().replace('\\', "/")},
                "region": {"startLine": at.line(), "startColumn": at.column()},
            }})
        };
        let at = self.at(finding);
        let related: Vec<Json> = (finding.related.iter())
            .filter_map(|label| Some((At::of_label(self.files, label)?, &label.text)))
            .map(|(at, text)| {
                let mut place = location(&at);
                if let Some(place) = place.as_object_mut() {
                    place.insert("message".to_owned(), json!({"text": text}));
                }
                place
            })
            .collect();
        json!({
            "ruleId": finding.fault.code(), "level": level, "message": {"text": finding.message},
            "locations": at.iter().map(location).collect::<Vec<_>>(), "relatedLocations": related,
        })
    }

    /// Commands that forges show beside the lines of a change.
    pub fn github(&self) -> String {
        let escaped = |text: &str| text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
        let property = |text: &str| escaped(text).replace(':', "%3A").replace(',', "%2C");
        let line = |finding: &Diagnostic| {
            let word = match finding.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
                Severity::Note => "notice",
            };
            let at = self
                .at(finding)
                .map(|at| format!("file={},line={},col={},", property(at.file()), at.line(), at.column()));
            let code = finding.fault.code();
            format!("::{word} {}title={code}::{}\n", at.unwrap_or_default(), escaped(&finding.message))
        };
        self.linted.findings.iter().map(line).collect()
    }

    /// XML that pipelines read: every finding is a test that failed.
    pub fn junit(&self) -> String {
        let cases = self.linted.findings.iter().map(|finding| {
            let place = self.at(finding).map(|at| at.to_string()).unwrap_or_default();
            let failure = xml::element("failure", &[("type", finding.fault.code())], &finding.message);
            let name = format!("{} {}", finding.fault.code(), finding.message);
            xml::parent("testcase", &[("classname", place.as_str()), ("name", name.as_str())], &failure)
        });
        let count = self.linted.findings.len().to_string();
        let counts = [("name", "upheld lint"), ("tests", count.as_str()), ("failures", count.as_str())];
        let suite = xml::parent("testsuite", &counts, &cases.collect::<String>());
        format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{}", xml::parent("testsuites", &counts, &suite))
    }

    /// A comment on a change.
    pub fn markdown(&self) -> String {
        let mut text = format!("### {}\n", markdown_text(&self.linted.sentence()));
        if !self.linted.findings.is_empty() {
            text.push_str("\n| | Code | Where | What |\n|---|---|---|---|\n");
        }
        for finding in self.linted.findings.iter().take(SHOWN) {
            let at = self.at(finding).map(|at| markdown_text(&at.to_string())).unwrap_or_default();
            let (word, code) = (finding.severity.word(), finding.fault.code());
            text.push_str(&format!("| {word} | {code} | {at} | {} |\n", markdown_text(&finding.message)));
        }
        if let Some(more @ 1..) = self.linted.findings.len().checked_sub(SHOWN) {
            text.push_str(&format!("\n…and {more} more.\n"));
        }
        text
    }

    fn at(&self, finding: &Diagnostic) -> Option<At> {
        At::of_label(self.files, finding.label.as_ref()?)
    }
}
