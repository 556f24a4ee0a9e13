//! An audit as the XML that pipelines read: a suite for each policy, a test case for each pair and rule.

use std::collections::{BTreeMap, BTreeSet};

use crate::formats::xml::{element, parent};
use crate::report::compliance::{Audit, Check, CheckState, Fix, NearMiss, PolicyLine, Unjudged};

/// The whole document.
pub(super) fn document(audit: &Audit) -> String {
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
    let mut total = Total::default();
    let mut inner = String::new();
    for name in names {
        let suite = Suite {
            name,
            policy: audit.policy(name),
            checks: checks.remove(name).unwrap_or_default(),
            errors: errors.remove(name).unwrap_or_default(),
        };
        total = total.plus(&suite.total());
        inner.push_str(&suite.element());
    }
    let body = parent("testsuites", &total.attributes("upheld audit"), &inner);
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{body}")
}

struct Suite<'a> {
    name: &'a str,
    policy: Option<&'a PolicyLine>,
    checks: Vec<&'a Check>,
    errors: Vec<&'a Unjudged>,
}

impl Suite<'_> {
    fn total(&self) -> Total {
        let count = |states: &[CheckState]| self.checks.iter().filter(|check| states.contains(&check.state)).count();
        Total {
            tests: self.checks.len() + self.errors.len(),
            failures: count(&[CheckState::Hard, CheckState::Soft]),
            errors: self.errors.len(),
            skipped: count(&[CheckState::Waived]),
        }
    }

    fn element(&self) -> String {
        let mut inner = self.policy.map(properties).unwrap_or_default();
        inner.extend(self.checks.iter().map(|check| test_case(check)));
        for error in &self.errors {
            let told = element("error", &[("message", error.message.as_str()), ("type", "evaluation")], "");
            inner.push_str(&parent("testcase", &[("classname", self.name), ("name", "evaluation")], &told));
        }
        parent("testsuite", &self.total().attributes(self.name), &inner)
    }
}

fn properties(policy: &PolicyLine) -> String {
    let counts = policy.counts;
    let texts = [("level", policy.level.name()), ("strategy", policy.strategy.as_str())];
    let numbers = [
        ("pairs", policy.pairs),
        ("passed", counts.passed),
        ("hard", counts.hard),
        ("soft", counts.soft),
        ("waived", counts.waived),
        ("vacuous", counts.vacuous),
    ];
    let all = texts.into_iter().map(|(name, value)| (name, value.to_owned()));
    let all = all.chain(numbers.into_iter().map(|(name, number)| (name, number.to_string())));
    let inner: String =
        all.map(|(name, value)| element("property", &[("name", name), ("value", value.as_str())], "")).collect();
    parent("properties", &[("", ""); 0], &inner)
}

fn test_case(check: &Check) -> String {
    let message = check.message.as_str();
    let inner = match check.state {
        CheckState::Pass => String::new(),
        CheckState::Waived => {
            let told = check.waiver.as_ref().map_or_else(String::new, |waiver| format!("{}; ", waiver.sentence()));
            element("skipped", &[("message", format!("{told}would fail: {message}"))], "")
        }
        CheckState::Hard | CheckState::Soft => {
            element("failure", &[("message", message), ("type", check.state.name())], &details(check))
        }
    };
    // The fingerprint comes first: it is what makes the name unique and keeps it over runs.
    let name = format!("{} {} ~ {}", check.id, check.a.reference, check.b.reference);
    let mut attributes = vec![("classname", check.policy.clone()), ("name", name)];
    if let Some(at) = check.b.at.as_ref().or(check.a.at.as_ref()) {
        attributes.extend([("file", at.file().to_owned()), ("line", at.line().to_string())]);
    }
    parent("testcase", &attributes, &inner)
}

fn details(check: &Check) -> String {
    let mut lines = vec![check.message.clone(), format!("level: {}", check.level.name())];
    lines.extend(check.workspace.iter().map(|workspace| format!("workspace: {workspace}")));
    lines.extend(check.cause.iter().map(|cause| format!("cause: {}", cause.text)));
    lines.extend(check.near_miss.iter().map(|miss| format!("nearly: {}", NearMiss::sentence(miss))));
    lines.extend(check.how_to_fix.iter().map(|hint| format!("how to fix: {hint}")));
    lines.extend(check.fixes.iter().map(|fix| format!("fix: {}", Fix::sentence(fix))));
    lines.join("\n")
}

#[derive(Default)]
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
