//! Violations for spreadsheets, a row each.

use std::io::{self, Write};

use crate::formats::visible;
use crate::report::compliance::{Audit, BaselineState, Check, Fix, NearMiss, Severity, Side, values};

const COLUMNS: [&str; 30] = [
    "id",
    "workspace",
    "policy",
    "rule",
    "strategy",
    "level",
    "severity",
    "state",
    "a",
    "aName",
    "aTag",
    "aValues",
    "aAt",
    "b",
    "bName",
    "bTag",
    "bValues",
    "bAt",
    "code",
    "reason",
    "message",
    "firstSeen",
    "cause",
    "waiver",
    "waiverExpires",
    "nearMisses",
    "howToFix",
    "fixes",
    "baselineState",
    "noFix",
];

/// Writes the whole file.
pub(super) fn write(audit: &Audit, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(line(COLUMNS.map(str::to_owned)).as_bytes())?;
    audit.violations().try_for_each(|check| out.write_all(line(row(check)).as_bytes()))
}

fn row(check: &Check) -> [String; COLUMNS.len()] {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let [a, a_name, a_tag, a_values, a_at] = side(&check.a);
    let [b, b_name, b_tag, b_values, b_at] = side(&check.b);
    let cause = check.cause.as_ref().map(|cause| cause.text.clone()).unwrap_or_default();
    let waiver = check.waiver.as_ref();
    [
        check.id.clone(),
        text(&check.workspace),
        check.policy.clone(),
        check.rule.to_string(),
        check.strategy.clone(),
        check.level.name().to_owned(),
        check.severity.map(Severity::name).unwrap_or_default().to_owned(),
        check.state.name().to_owned(),
        a,
        a_name,
        a_tag,
        a_values,
        a_at,
        b,
        b_name,
        b_tag,
        b_values,
        b_at,
        check.reason.code.to_string(),
        check.reason.text.clone(),
        check.message.clone(),
        text(&check.first_seen),
        cause,
        waiver.map(|waiver| format!("{}: {}", waiver.id, waiver.reason)).unwrap_or_default(),
        waiver.and_then(|waiver| waiver.expires.clone()).unwrap_or_default(),
        joined(check.near_miss.iter().map(NearMiss::sentence)),
        text(&check.how_to_fix),
        joined(check.fixes.iter().map(Fix::sentence)),
        check.baseline_state.map(BaselineState::name).unwrap_or_default().to_owned(),
        check.no_fix.as_ref().map(|why| why.text.clone()).unwrap_or_default(),
    ]
}

fn side(side: &Side) -> [String; 5] {
    let at = side.at.as_ref().map(ToString::to_string).unwrap_or_default();
    [side.reference.clone(), side.name.clone(), side.tag.clone(), values(&side.values), at]
}

fn joined(texts: impl Iterator<Item = String>) -> String {
    texts.collect::<Vec<_>>().join("; ")
}

fn line(cells: [String; COLUMNS.len()]) -> String {
    cells.map(|text| cell(&text)).join(",") + "\n"
}

/// A cell that spreadsheets take for text: one that begins like a formula would be computed.
fn cell(text: &str) -> String {
    let text = visible(text);
    let guard = if text.starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠']) { "'" } else { "" };
    if text.contains([',', '"']) {
        format!("\"{guard}{}\"", text.replace('"', "\"\""))
    } else {
        guard.to_owned() + &text
    }
}
