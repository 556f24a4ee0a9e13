//! An audit as the XML that pipelines read: a suite for each policy, a test case for each pair and rule. What fails the run is a
//! failure; what violates and does not fail it, or is excused, is skipped.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use super::{Beside, Failing};
use crate::formats::xml::{close, element, open, parent, put_attribute};
use crate::report::compliance::{
    Audit, BaselineState, Check, CheckState, Fix, NearMiss, Passed, PolicyLine, Severity, Unjudged,
};

/// What the suite is called of what could not be looked at.
const GAPS: &str = "what was looked at";

/// Writes the whole document. What passed is not held: it is written as it is told.
pub(super) fn write(audit: &Audit, beside: &Beside<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut checks: BTreeMap<&str, Vec<&Check>> = BTreeMap::new();
    for check in &audit.checks {
        checks.entry(&check.policy).or_default().push(check);
    }
    let mut errors: BTreeMap<&str, Vec<&Unjudged>> = BTreeMap::new();
    for error in &audit.errors {
        errors.entry(&error.policy).or_default().push(error);
    }
    // A policy that could not be judged may be one that could not be read.
    let named = audit.policies.iter().map(|policy| policy.id.as_str());
    let names: BTreeSet<&str> = named.chain(checks.keys().copied()).chain(errors.keys().copied()).collect();
    let suites: Vec<Suite<'_>> = names
        .into_iter()
        .map(|name| Suite {
            name,
            policy: audit.policy(name),
            checks: checks.remove(name).unwrap_or_default(),
            errors: errors.remove(name).unwrap_or_default(),
            failing: beside.failing,
        })
        .collect();
    let gaps = Total { tests: audit.gaps.len(), errors: audit.gaps.len(), ..Total::default() };
    let total = suites.iter().fold(gaps.clone(), |total, suite| total.plus(&suite.total()));
    out.write_all(b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n")?;
    out.write_all(open("testsuites", &total.attributes("upheld audit")).as_bytes())?;
    if !audit.gaps.is_empty() {
        let cases: String = audit.gaps.iter().map(|unseen| not_seen(&unseen.gap.code, &unseen.gap.text)).collect();
        out.write_all(parent("testsuite", &gaps.attributes(GAPS), &cases).as_bytes())?;
    }
    for suite in suites {
        suite.write(beside, out)?;
    }
    out.write_all(close("testsuites").as_bytes())
}

fn not_seen(code: &str, text: &str) -> String {
    let told = element("error", &[("message", text), ("type", code)], &[]);
    parent("testcase", &[("classname", GAPS), ("name", text)], &told)
}

struct Suite<'a> {
    name: &'a str,
    policy: Option<&'a PolicyLine>,
    checks: Vec<&'a Check>,
    errors: Vec<&'a Unjudged>,
    failing: Failing,
}

impl Suite<'_> {
    fn total(&self) -> Total {
        let failures = self.checks.iter().filter(|check| self.failing.fails(check)).count();
        Total {
            tests: self.policy.map_or(0, |policy| policy.counts.passed) + self.checks.len() + self.errors.len(),
            failures,
            errors: self.errors.len(),
            skipped: self.checks.len() - failures,
        }
    }

    fn write(&self, beside: &Beside<'_>, out: &mut dyn Write) -> io::Result<()> {
        let mut head = open("testsuite", &self.total().attributes(self.name));
        head.push_str(&self.policy.map(properties).unwrap_or_default());
        out.write_all(head.as_bytes())?;
        for check in &self.checks {
            out.write_all(test_case(check, self.failing).as_bytes())?;
        }
        let mut written = Ok(());
        beside.passing.of_policy(self.name, &|passed| passed_cases(self.name, passed), &mut |piece| {
            if written.is_ok() {
                written = out.write_all(piece.as_bytes());
            }
        });
        written?;
        for error in &self.errors {
            let told = element("error", &[("message", error.message.as_str()), ("type", "evaluation")], &[]);
            let case = parent("testcase", &[("classname", self.name), ("name", "evaluation")], &told);
            out.write_all(case.as_bytes())?;
        }
        out.write_all(close("testsuite").as_bytes())
    }
}

fn properties(policy: &PolicyLine) -> String {
    let counts = policy.counts;
    let severity = policy.severity.map(|severity| ("severity", severity.name()));
    let texts = [("level", policy.level.name()), ("strategy", policy.strategy.as_str())].into_iter().chain(severity);
    let numbers = [
        ("pairs", policy.pairs),
        ("passed", counts.passed),
        ("hard", counts.hard),
        ("soft", counts.soft),
        ("waived", counts.waived),
        ("vacuous", counts.vacuous),
    ];
    let all = texts.map(|(name, value)| (name, value.to_owned()));
    let all = all.chain(numbers.into_iter().map(|(name, number)| (name, number.to_string())));
    let inner: String =
        all.map(|(name, value)| element("property", &[("name", name), ("value", value.as_str())], &[])).collect();
    parent("properties", &[("", ""); 0], &inner)
}

/// What passed, a line each.
fn passed_cases(policy: &str, passed: &[Passed<'_>]) -> String {
    let mut text = String::with_capacity(passed.len() * 200);
    let mut name = String::new();
    for Passed { id, a, b, at } in passed {
        text.push_str("<testcase");
        put_attribute(&mut text, "classname", policy);
        name.clear();
        name.extend([id.as_str(), " ", a]);
        if a != b {
            name.extend([" ~ ", b]);
        }
        put_attribute(&mut text, "name", &name);
        if let Some(at) = at {
            let (file, line) = at;
            put_attribute(&mut text, "file", file);
            put_attribute(&mut text, "line", &line.to_string());
        }
        text.push_str("/>\n");
    }
    text
}

fn test_case(check: &Check, failing: Failing) -> String {
    let message = check.message.as_str();
    let inner = if failing.fails(check) {
        element("failure", &[("message", message), ("type", check.state.name())], &details(check))
    } else {
        let skipped = element("skipped", &[("message", format!("{}: {message}", why_not(check)))], &[]);
        skipped + &element("system-out", &[("", ""); 0], &details(check))
    };
    // The fingerprint comes first: it is what makes the name unique and keeps it over runs.
    let sides: Vec<&str> = check.sides().map(|side| side.reference.as_str()).collect();
    let name = format!("{} {}", check.id, sides.join(" ~ "));
    let mut attributes = vec![("classname", check.policy.clone()), ("name", name)];
    if let Some(at) = check.b.at.as_ref().or(check.a.at.as_ref()) {
        attributes.extend([("file", at.file().to_owned()), ("line", at.line().to_string())]);
    }
    parent("testcase", &attributes, &inner)
}

/// Why a violation does not fail the run.
fn why_not(check: &Check) -> String {
    match (&check.waiver, check.baseline_state) {
        (Some(waiver), _) if check.state == CheckState::Waived => format!("{}; would fail", waiver.sentence()),
        (_, Some(BaselineState::Unchanged | BaselineState::Updated)) => "violated before".to_owned(),
        _ => format!("violated, and the policy does not enforce it (level {})", check.level.name()),
    }
}

fn details(check: &Check) -> Vec<String> {
    let mut lines =
        vec![check.message.clone(), format!("state: {}", check.state.name()), format!("level: {}", check.level.name())];
    lines.extend(check.severity.map(|severity| format!("severity: {}", Severity::name(severity))));
    lines.extend(check.baseline_state.map(|state| format!("baseline: {}", state.name())));
    lines.extend(check.workspace.iter().map(|workspace| format!("workspace: {workspace}")));
    lines.extend(check.cause.iter().map(|cause| format!("cause: {}", cause.text)));
    lines.extend(check.near_miss.iter().map(|miss| format!("nearly: {}", NearMiss::sentence(miss))));
    lines.extend(check.how_to_fix.iter().map(|hint| format!("how to fix: {hint}")));
    lines.extend(check.fixes.iter().map(|fix| format!("fix: {}", Fix::sentence(fix))));
    lines.extend(check.no_fix_line());
    lines
}

#[derive(Clone, Default)]
struct Total {
    tests: usize,
    failures: usize,
    errors: usize,
    skipped: usize,
}

impl Total {
    fn plus(&self, other: &Self) -> Self {
        Self {
            tests: self.tests + other.tests,
            failures: self.failures + other.failures,
            errors: self.errors + other.errors,
            skipped: self.skipped + other.skipped,
        }
    }

    fn attributes(&self, name: &str) -> [(&'static str, String); 5] {
        [
            ("name", name.to_owned()),
            ("tests", self.tests.to_string()),
            ("failures", self.failures.to_string()),
            ("errors", self.errors.to_string()),
            ("skipped", self.skipped.to_string()),
        ]
    }
}
