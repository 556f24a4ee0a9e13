//! Tests as the XML that pipelines read, one suite for each file.

use std::collections::BTreeMap;

use super::{coverage_sentence, difference};
use crate::formats::xml::{element, parent};
use crate::report::{At, MutationReport, Summary, TestReport, TestState, Tested, UNNOTICED};

/// The whole document.
pub fn document(report: &TestReport) -> String {
    let mut suites: BTreeMap<&str, Vec<&Tested>> = BTreeMap::new();
    for case in &report.cases {
        suites.entry(case.at.file()).or_default().push(case);
    }
    let mut inner: String = suites.iter().map(|(file, cases)| suite(file, cases)).collect();
    let mut total = report.summary;
    // A share that was asked for is one more check, so that pipelines show why they stop.
    if let Some((name, short)) = coverage_check(report) {
        let failure = short.map(|message| {
            element("failure", &[("message", message.as_str()), ("type", "coverage")], std::slice::from_ref(&message))
        });
        let case =
            parent("testcase", &[("classname", "coverage"), ("name", &name)], &failure.clone().unwrap_or_default());
        let own = Summary {
            passed: usize::from(failure.is_none()),
            failed: usize::from(failure.is_some()),
            ..Summary::default()
        };
        total.passed += own.passed;
        total.failed += own.failed;
        inner.push_str(&parent("testsuite", &counts("coverage", own), &case));
    }
    if let Some(mutation) = &report.mutation {
        let own = noticing(mutation);
        total.passed += own.passed;
        total.failed += own.failed;
        inner.push_str(&parent("testsuite", &counts(MUTATION, own), &survivors(mutation)));
    }
    let body = parent("testsuites", &counts("upheld test", total), &inner);
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{body}")
}

/// What the suite of changes is called.
const MUTATION: &str = "changes of policies";

/// A change that no test notices is a check that failed; that there is none is one that passed.
fn noticing(mutation: &MutationReport) -> Summary {
    let failed = mutation.survivors.len();
    Summary { passed: usize::from(failed == 0), failed, ..Summary::default() }
}

fn survivors(mutation: &MutationReport) -> String {
    if mutation.survivors.is_empty() {
        return parent("testcase", &[("classname", MUTATION), ("name", mutation.headline.text.as_str())], "");
    }
    let each = mutation.survivors.iter().map(|survivor| {
        let (name, line) = (survivor.name(), survivor.at.as_ref().map(|at| at.line().to_string()).unwrap_or_default());
        let file = survivor.at.as_ref().map_or("", At::file);
        let place = survivor.at.as_ref().map(ToString::to_string).unwrap_or_default();
        let failure = element("failure", &[("message", UNNOTICED), ("type", "survivor")], &[place]);
        let named = [("classname", MUTATION), ("name", name.as_str()), ("file", file), ("line", line.as_str())];
        parent("testcase", &named, &failure)
    });
    each.collect()
}

/// The name of the check of coverage, and why it failed, if it did.
pub(super) fn coverage_check(report: &TestReport) -> Option<(String, Option<String>)> {
    let coverage = report.coverage.as_ref()?;
    let name = format!("tests decide at least {} % of the policies", coverage.at_least?);
    Some((name, coverage.is_short().then(|| coverage_sentence(coverage))))
}

fn suite(file: &str, cases: &[&Tested]) -> String {
    let inner: String = cases.iter().map(|case| test_case(case)).collect();
    parent("testsuite", &counts(file, Summary::of(cases.iter().copied())), &inner)
}

fn test_case(case: &Tested) -> String {
    let because = case.because.as_deref().unwrap_or_default();
    let inner = match case.state {
        TestState::Passed => String::new(),
        TestState::Skipped => element("skipped", &[("message", because)], &[]),
        TestState::Failed | TestState::Undecided => {
            let kind = if case.state == TestState::Undecided { "undecided" } else { "expectation" };
            let (expected, actual) = difference(case);
            let message = format!("expected {expected}; came out {actual}");
            let lines = [
                case.at.to_string(),
                format!("expected: {expected}"),
                format!("came out: {actual}"),
                format!("because: {because}"),
            ];
            element("failure", &[("message", message.as_str()), ("type", kind)], &lines)
        }
    };
    let line = case.at.line().to_string();
    let named = [
        ("classname", case.at.file()),
        ("name", case.name.as_str()),
        ("file", case.at.file()),
        ("line", line.as_str()),
    ];
    parent("testcase", &named, &inner)
}

fn counts(name: &str, of: Summary) -> [(&str, String); 4] {
    [
        ("name", name.to_owned()),
        ("tests", of.all().to_string()),
        ("failures", (of.failed + of.undecided).to_string()),
        ("skipped", of.skipped.to_string()),
    ]
}
