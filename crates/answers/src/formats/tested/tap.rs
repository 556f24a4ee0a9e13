//! Tests in the Test Anything Protocol, version 14.

use serde_json::json;

use super::junit::coverage_check;
use super::{coverage_sentence, difference, summary};
use crate::formats::{visible, visible_json};
use crate::report::{MutationReport, TestReport, TestState, Tested, UNNOTICED};

/// The whole stream.
pub fn document(report: &TestReport) -> String {
    let check = coverage_check(report);
    let count = report.cases.len() + usize::from(check.is_some());
    let changes = report.mutation.as_ref().map_or(0, |mutation| mutation.survivors.len().max(1));
    let mut text = format!("TAP version 14\n1..{}\n", count + changes);
    for (number, case) in (1..).zip(&report.cases) {
        text.push_str(&point(number, case));
    }
    if let Some((name, short)) = check {
        let word = if short.is_some() { "not ok" } else { "ok" };
        text.push_str(&format!("{word} {count} - {}\n", escaped(&name)));
        if let Some(message) = short {
            text.push_str(&block(&[("message", json!(message))]));
        }
    }
    if let Some(mutation) = &report.mutation {
        text.push_str(&survivors(count + 1, mutation));
    }
    text.push_str(&format!("# {}\n", summary(report.summary)));
    if let Some(coverage) = &report.coverage {
        text.push_str(&format!("# {}\n", coverage_sentence(coverage)));
    }
    if let Some(mutation) = &report.mutation {
        text.push_str(&format!("# {}\n", escaped(&mutation.headline.text)));
    }
    text
}

/// Changes that no test notices, numbered from here on; that there is none is a check, too.
fn survivors(first: usize, mutation: &MutationReport) -> String {
    if mutation.survivors.is_empty() {
        return format!("ok {first} - {}\n", escaped(&mutation.headline.text));
    }
    let each = (first..).zip(&mutation.survivors).map(|(number, survivor)| {
        let mut told = vec![("message", json!(UNNOTICED)), ("severity", json!("fail"))];
        told.extend(survivor.at.as_ref().map(|at| ("at", json!({"file": at.file(), "line": at.line()}))));
        format!("not ok {number} - {}\n{}", escaped(&survivor.name()), block(&told))
    });
    each.collect()
}

fn point(number: usize, case: &Tested) -> String {
    let name = escaped(&case.name);
    let because = case.because.as_deref().unwrap_or_default();
    match case.state {
        TestState::Passed => format!("ok {number} - {name}\n"),
        TestState::Skipped => format!("ok {number} - {name} # SKIP {}\n", escaped(because)),
        TestState::Failed | TestState::Undecided => {
            let (expected, actual) = difference(case);
            let told = block(&[
                ("message", json!(because)),
                ("severity", json!("fail")),
                ("expected", json!(expected)),
                ("actual", json!(actual)),
                ("at", json!({"file": case.at.file(), "line": case.at.line()})),
            ]);
            format!("not ok {number} - {name}\n{told}")
        }
    }
}

/// A block of YAML; JSON is YAML, too.
fn block(entries: &[(&str, serde_json::Value)]) -> String {
    let lines: String =
        entries.iter().map(|(name, value)| format!("  {name}: {}\n", visible_json(&value.to_string()))).collect();
    format!("  ---\n{lines}  ...\n")
}

/// Text in which nothing begins a directive.
fn escaped(text: &str) -> String {
    visible(text).replace('\\', "\\\\").replace('#', "\\#")
}
