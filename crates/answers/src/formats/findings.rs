//! Findings about policies, for other tools.

mod known;

use serde_json::{Value as Json, json};
use upheld_model::{Files, Severity, SourceId};
use upheld_report::compliance::{BaselineState, Compared};
use upheld_report::{At, diagnostic_json};
use upheld_syntax::edit::Replacement;

use self::known::FINGERPRINT;
pub use self::known::FindingsBaseline;
use super::audit::SARIF_SCHEMA;
use super::{baseline, markdown_text, xml};
use crate::codes;
use crate::lint::{Failing, Fix, LintFinding, Linted};

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
        let findings: Vec<Json> = self.linted.findings.iter().map(|one| self.finding(one)).collect();
        let fixable = self.linted.findings.iter().filter(|one| one.fix.is_some()).count();
        let mut document = json!({
            "apiVersion": "upheld/v2", "kind": "Findings", "headline": self.linted.sentence(),
            "counts": {
                "error": self.linted.count(Severity::Error), "warning": self.linted.count(Severity::Warning),
                "note": self.linted.count(Severity::Note), "fixable": fixable, "allowed": self.linted.allowed,
                "policies": self.linted.policies,
            },
            "findings": findings, "snapshot": digest,
        });
        if let (Some(Compared { new, unchanged, updated, absent }), Some(fields)) =
            (&self.linted.baseline, document.as_object_mut())
        {
            let absent = absent.iter().map(|gone| json!({"id": gone.id, "code": gone.policy, "message": gone.message}));
            let absent: Vec<Json> = absent.collect();
            let compared = json!({"new": new, "unchanged": unchanged, "updated": updated, "absent": absent});
            fields.insert("baseline".to_owned(), compared);
        }
        document
    }

    /// One finding, as programs get it.
    pub fn finding(&self, finding: &LintFinding) -> Json {
        let mut told = diagnostic_json(self.files, &finding.problem);
        let Some(fields) = told.as_object_mut() else { return told };
        fields.insert("id".to_owned(), json!(finding.id));
        if let Some(fix) = &finding.fix {
            let edits = fix.replacements.iter().filter_map(|own| {
                let [from, to] = self.ends(fix.source, own)?;
                let place = |(line, column): (usize, usize)| json!({"line": line, "column": column});
                Some(json!({"from": place(from), "to": place(to), "text": own.text}))
            });
            let edits: Vec<Json> = edits.collect();
            let file = self.files.get(fix.source).map(|file| file.name.as_str());
            fields.insert("fix".to_owned(), json!({"text": fix.text(), "file": file, "edits": edits}));
        }
        if let Some(state) = finding.baseline_state {
            fields.insert("baselineState".to_owned(), json!(state));
        }
        told
    }

    /// From where to where something is replaced.
    fn ends(&self, source: SourceId, own: &Replacement) -> Option<[(usize, usize); 2]> {
        let tree = &self.files.get(source)?.tree;
        Some([own.span.start, own.span.end].map(|at| tree.position(at)))
    }

    /// The Static Analysis Results Interchange Format, version 2.1.0.
    pub fn sarif(&self) -> Json {
        let mut used: Vec<&'static str> = self.linted.findings.iter().map(LintFinding::code).collect();
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
        let gone = self.linted.baseline.iter().flat_map(|compared| &compared.absent);
        let gone = gone.map(|gone| baseline::absent(gone, FINGERPRINT));
        let results: Vec<Json> = self.linted.findings.iter().map(|one| self.result(one)).chain(gone).collect();
        json!({
            "$schema": SARIF_SCHEMA, "version": "2.1.0",
            "runs": [{
                "tool": {"driver": {"name": "upheld", "semanticVersion": env!("CARGO_PKG_VERSION"), "rules": rules}},
                "automationDetails": {"id": "upheld/lint/"}, "columnKind": "unicodeCodePoints", "results": results,
            }],
        })
    }

    fn result(&self, finding: &LintFinding) -> Json {
        let LintFinding { id, problem, fix, baseline_state } = finding;
        let level = problem.severity.word();
        let location = |at: &At| {
            json!({"physicalLocation": {
                "artifactLocation": {"uri": at.file().replace('\\', "/")},
                "region": {"startLine": at.line(), "startColumn": at.column()},
            }})
        };
        let at = self.at(finding);
        let related: Vec<Json> = (problem.related.iter())
            .filter_map(|label| Some((At::of_label(self.files, label)?, &label.text)))
            .map(|(at, text)| {
                let mut place = location(&at);
                if let Some(place) = place.as_object_mut() {
                    place.insert("message".to_owned(), json!({"text": text}));
                }
                place
            })
            .collect();
        let mut result = json!({
            "ruleId": finding.code(), "level": level, "message": {"text": problem.message},
            "locations": at.iter().map(location).collect::<Vec<_>>(), "relatedLocations": related,
            "partialFingerprints": {FINGERPRINT: id},
        });
        if let Some(fields) = result.as_object_mut() {
            fields.extend(fix.as_ref().and_then(|fix| Some(("fixes".to_owned(), json!([self.sarif_fix(fix)?])))));
            fields.extend(baseline_state.map(|state| ("baselineState".to_owned(), json!(state))));
        }
        result
    }

    fn sarif_fix(&self, fix: &Fix) -> Option<Json> {
        let file = self.files.get(fix.source)?;
        let replacements = fix.replacements.iter().filter_map(|own| {
            let [from, to] = self.ends(fix.source, own)?;
            Some(json!({
                "deletedRegion": {"startLine": from.0, "startColumn": from.1, "endLine": to.0, "endColumn": to.1},
                "insertedContent": {"text": own.text},
            }))
        });
        Some(json!({
            "description": {"text": fix.text()},
            "artifactChanges": [{
                "artifactLocation": {"uri": file.name.replace('\\', "/")},
                "replacements": replacements.collect::<Vec<_>>(),
            }],
        }))
    }

    /// Commands that forges show beside the lines of a change.
    pub fn github(&self) -> String {
        let escaped = |text: &str| text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
        let property = |text: &str| escaped(text).replace(':', "%3A").replace(',', "%2C");
        let line = |finding: &LintFinding| {
            let word = match finding.problem.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
                Severity::Note => "notice",
            };
            let at = self
                .at(finding)
                .map(|at| format!("file={},line={},col={},", property(at.file()), at.line(), at.column()));
            let code = finding.code();
            format!("::{word} {}title={code}::{}\n", at.unwrap_or_default(), escaped(&finding.sentence()))
        };
        // What an earlier run had is known already.
        self.linted.findings.iter().filter(|finding| !is_known(finding)).map(line).collect()
    }

    /// XML that pipelines read: every finding that fails the run is a test that failed, every other one a test that was skipped.
    pub fn junit(&self, failing: Failing) -> String {
        let cases = self.linted.findings.iter().map(|finding| {
            let place = self.at(finding).map(|at| at.to_string()).unwrap_or_default();
            let result = if failing.fails(finding) {
                xml::element("failure", &[("type", finding.code())], &[finding.sentence()])
            } else {
                xml::element("skipped", &[("message", "it does not fail the run")], &[finding.sentence()])
            };
            let name = format!("{} {}", finding.code(), finding.problem.message);
            xml::parent("testcase", &[("classname", place.as_str()), ("name", name.as_str())], &result)
        });
        let (all, failed) = (self.linted.findings.len(), failing.of(self.linted).count());
        let [tests, failures, skipped] = [all, failed, all - failed].map(|count| count.to_string());
        let counts =
            [("name", "upheld lint".to_owned()), ("tests", tests), ("failures", failures), ("skipped", skipped)];
        let suite = xml::parent("testsuite", &counts, &cases.collect::<String>());
        format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{}", xml::parent("testsuites", &counts, &suite))
    }

    /// A comment on a change.
    pub fn markdown(&self) -> String {
        let mut text = format!("### {}\n", markdown_text(&self.linted.sentence()));
        if let Some(compared) = &self.linted.baseline {
            text.push_str(&format!("\nBeside the baseline: {}.\n", compared.sentence()));
        }
        if !self.linted.findings.is_empty() {
            text.push_str("\n| | Code | Where | What |\n|---|---|---|---|\n");
        }
        for finding in self.linted.findings.iter().take(SHOWN) {
            let at = self.at(finding).map(|at| markdown_text(&at.to_string())).unwrap_or_default();
            let state = finding.baseline_state.map(|state| format!(", {}", state.name())).unwrap_or_default();
            let (word, code) = (finding.problem.severity.word(), finding.code());
            text.push_str(&format!("| {word}{state} | {code} | {at} | {} |\n", markdown_text(&finding.sentence())));
        }
        if let Some(more @ 1..) = self.linted.findings.len().checked_sub(SHOWN) {
            text.push_str(&format!("\n…and {more} more.\n"));
        }
        text
    }

    fn at(&self, finding: &LintFinding) -> Option<At> {
        At::of_label(self.files, finding.problem.label.as_ref()?)
    }
}

/// Whether an earlier run had it.
fn is_known(finding: &LintFinding) -> bool {
    finding.baseline_state.is_some_and(|state| state != BaselineState::New)
}
