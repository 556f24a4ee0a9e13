//! An audit as the reports that Kubernetes tools read: `OpenReports`, and the older `PolicyReport` with the same body.
//! One report for each workspace, and one for what belongs to none.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use jiff::Timestamp;
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::{Beside, Listed};
use crate::formats::yaml;
use crate::report::compliance::{Audit, Check, CheckState, Level, Severity, Side, Unjudged, Unseen, values};

const SOURCE: &str = "upheld";
/// Kubernetes refuses longer names.
const LONGEST_NAME: usize = 253;

/// Which of the two.
#[derive(Debug)]
pub(super) struct Style {
    api_version: &'static str,
    /// The kind for a workspace, and the one for what belongs to none.
    kinds: [&'static str; 2],
    /// The older reports name the source at each result only.
    has_source: bool,
}

/// `PolicyReport`.
pub(super) const OLD: Style =
    Style { api_version: "wgpolicyk8s.io/v1alpha2", kinds: ["PolicyReport", "ClusterPolicyReport"], has_source: false };

/// `OpenReports`.
pub(super) const OPEN: Style =
    Style { api_version: "openreports.io/v1alpha1", kinds: ["Report", "ClusterReport"], has_source: true };

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report<'a> {
    api_version: &'static str,
    kind: &'static str,
    metadata: Metadata,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<Reference<'a>>,
    summary: Summary,
    results: Vec<Outcome<'a>>,
}

#[derive(Serialize)]
struct Metadata {
    name: String,
}

/// An object, as Kubernetes refers to one.
#[derive(Serialize)]
struct Reference<'a> {
    kind: &'a str,
    name: &'a str,
}

#[derive(Default, Serialize)]
struct Summary {
    pass: usize,
    fail: usize,
    warn: usize,
    error: usize,
    skip: usize,
}

#[derive(Serialize)]
struct Outcome<'a> {
    source: &'static str,
    policy: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<String>,
    category: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    severity: Option<&'static str>,
    result: &'static str,
    scored: bool,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    timestamp: Option<Moment>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    resources: Vec<Reference<'a>>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    properties: BTreeMap<&'static str, String>,
}

#[derive(Serialize)]
struct Moment {
    seconds: i64,
    nanos: i32,
}

/// Writes all reports as documents of one YAML stream, a workspace at a time.
pub(super) fn write(audit: &Audit, beside: &Beside<'_>, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let mut violations: BTreeMap<Option<&str>, Vec<&Check>> = BTreeMap::new();
    for check in &audit.checks {
        violations.entry(check.workspace.as_deref()).or_default().push(check);
    }
    let passing = if beside.listed == Listed::All { beside.passing.workspaces() } else { Vec::new() };
    let unseen = !audit.errors.is_empty() || !audit.gaps.is_empty();
    let mut workspaces: BTreeSet<Option<&str>> = violations.keys().copied().collect();
    workspaces.extend(passing.iter().map(Option::as_deref));
    // What could not be judged concerns no workspace more than others.
    workspaces.extend(unseen.then_some(None));
    for workspace in workspaces {
        let mut results = Vec::new();
        if workspace.is_none() {
            results.extend(audit.errors.iter().map(|error| unjudged(audit, error)));
            results.extend(audit.gaps.iter().map(|unseen| not_seen(audit, unseen)));
        }
        results.extend(violations.remove(&workspace).into_iter().flatten().map(|check| outcome(audit, check)));
        let passed = if beside.listed == Listed::All { beside.passing.of_workspace(workspace) } else { Vec::new() };
        results.extend(passed.iter().map(|check| outcome(audit, check)));
        if let Some(text) = yaml(&report(style, workspace, results)) {
            out.write_all(format!("---\n{text}").as_bytes())?;
        }
    }
    Ok(())
}

fn report<'a>(style: &Style, workspace: Option<&'a str>, results: Vec<Outcome<'a>>) -> Report<'a> {
    let [of_workspace, of_none] = style.kinds;
    let scope = workspace.map(reference);
    Report {
        api_version: style.api_version,
        kind: if workspace.is_some() { of_workspace } else { of_none },
        metadata: Metadata {
            name: scope.as_ref().map_or_else(|| SOURCE.to_owned(), |scope| resource_name(scope.name)),
        },
        source: style.has_source.then_some(SOURCE),
        scope,
        summary: Summary::of(&results),
        results,
    }
}

fn outcome<'a>(audit: &Audit, check: &'a Check) -> Outcome<'a> {
    let (result, scored) = match (check.state, check.level) {
        (CheckState::Pass, _) => ("pass", true),
        (CheckState::Waived, _) => ("skip", false),
        (CheckState::Hard | CheckState::Soft, Level::Enforce) => ("fail", true),
        (CheckState::Hard | CheckState::Soft, _) => ("warn", false),
    };
    Outcome {
        source: SOURCE,
        policy: &check.policy,
        rule: Some(check.rule.to_string()),
        category: "compliance",
        severity: check.severity.map(Severity::name),
        result,
        scored,
        message: &check.message,
        timestamp: moment(check.first_seen.as_deref().unwrap_or(&audit.now)),
        resources: check.sides().map(object).collect(),
        properties: properties(check),
    }
}

fn unjudged<'a>(audit: &Audit, error: &'a Unjudged) -> Outcome<'a> {
    Outcome {
        source: SOURCE,
        policy: &error.policy,
        rule: None,
        category: "compliance",
        severity: audit.policy(&error.policy).and_then(|policy| policy.severity).map(Severity::name),
        result: "error",
        scored: false,
        message: &error.message,
        timestamp: moment(&audit.now),
        resources: Vec::new(),
        properties: BTreeMap::new(),
    }
}

/// What could not be looked at, under its code.
fn not_seen<'a>(audit: &Audit, unseen: &'a Unseen) -> Outcome<'a> {
    Outcome {
        source: SOURCE,
        policy: &unseen.gap.code,
        rule: None,
        category: "compliance",
        severity: None,
        result: "error",
        scored: false,
        message: &unseen.gap.text,
        timestamp: moment(&audit.now),
        resources: Vec::new(),
        properties: BTreeMap::new(),
    }
}

fn properties(check: &Check) -> BTreeMap<&'static str, String> {
    let mut properties = BTreeMap::from([
        ("id", check.id.clone()),
        ("state", check.state.name().to_owned()),
        ("strategy", check.strategy.clone()),
        ("aTag", check.a.tag.clone()),
        ("aValues", values(&check.a.values)),
        ("bTag", check.b.tag.clone()),
        ("bValues", values(&check.b.values)),
        ("vacuous", check.vacuous.to_string()),
    ]);
    if let Some(state) = check.baseline_state {
        properties.insert("baselineState", state.name().to_owned());
    }
    if let Some(why) = &check.no_fix {
        properties.insert("noFix", why.text.clone());
    }
    if let Some(seen) = &check.first_seen {
        properties.insert("firstSeen", seen.clone());
    }
    if check.state == CheckState::Waived {
        properties.insert("wouldBe", if check.level == Level::Enforce { "fail" } else { "warn" }.to_owned());
    }
    if let Some(waiver) = &check.waiver {
        properties.insert("waiver", waiver.id.clone());
        properties.insert("waiverReason", waiver.reason.clone());
        if let Some(expires) = &waiver.expires {
            properties.insert("waiverExpires", expires.clone());
        }
    }
    properties
}

impl Summary {
    fn of(results: &[Outcome<'_>]) -> Self {
        results.iter().fold(Self::default(), |mut summary, outcome| {
            *match outcome.result {
                "pass" => &mut summary.pass,
                "fail" => &mut summary.fail,
                "warn" => &mut summary.warn,
                "error" => &mut summary.error,
                _ => &mut summary.skip,
            } += 1;
            summary
        })
    }
}

fn object(side: &Side) -> Reference<'_> {
    Reference { kind: &side.kind, name: side.id() }
}

fn reference(text: &str) -> Reference<'_> {
    let (kind, name) = text.split_once('/').unwrap_or(("workspace", text));
    Reference { kind, name }
}

fn moment(text: &str) -> Option<Moment> {
    let moment: Timestamp = text.parse().ok()?;
    Some(Moment { seconds: moment.as_second(), nanos: moment.subsec_nanosecond() })
}

/// The id of a workspace where Kubernetes takes it for a name; else what is left of it, and a hash that keeps it unique.
fn resource_name(id: &str) -> String {
    let is_plain = |character: char| character.is_ascii_lowercase() || character.is_ascii_digit();
    let is_label = |label: &str| label.starts_with(is_plain) && label.ends_with(is_plain);
    let is_name = id.len() <= LONGEST_NAME
        && id.split('.').all(is_label)
        && id.chars().all(|character| is_plain(character) || character == '-' || character == '.');
    if is_name {
        return id.to_owned();
    }
    let hash: String = Sha256::digest(id).iter().take(5).map(|byte| format!("{byte:02x}")).collect();
    let kept: String = id
        .chars()
        .take(LONGEST_NAME / 2)
        .map(|character| character.to_ascii_lowercase())
        .map(|character| if is_plain(character) { character } else { '-' })
        .collect();
    match kept.trim_matches('-') {
        "" => hash,
        kept => format!("{kept}-{hash}"),
    }
}
