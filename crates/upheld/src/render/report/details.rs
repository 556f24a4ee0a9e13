//! What only one family has: other algorithms, changes and duties of decisions; causes and fixes of violations.

use super::{Report, paint};
use crate::render::style::{DIM, HEADING};
use crate::render::table::indented;
use crate::render::text::{Text, text};
use crate::render::{Screen, visible};
use crate::report::compliance::{Check, CheckState};
use crate::report::{DecisionDetail, Otherwise, RelationDetail, Verdict};

/// How many changes are shown.
const CHANGES: usize = 4;

/// What would be decided otherwise, and what must be done along with it.
pub(super) fn decision(report: &Report, detail: &DecisionDetail, screen: &Screen) -> Text {
    let mut text = other_algorithms(report, detail, screen);
    text.push_str(changes(report, detail, screen));
    for (word, duties) in [("Obligations", &detail.obligations), ("Advice", &detail.advice)] {
        if !duties.is_empty() {
            let all: Vec<&str> = duties.iter().map(|duty| duty.id.as_str()).collect();
            text.push_str(indented(&visible(&format!("{word}: {}", all.join(", "))), 2, screen.width));
        }
    }
    text
}

/// What other algorithms would say; in short where they say the same.
fn other_algorithms(report: &Report, detail: &DecisionDetail, screen: &Screen) -> Text {
    let others = &detail.other_algorithms;
    if others.is_empty() || report.candidates.is_empty() {
        return Text::default();
    }
    let by = report.policies.first().map(String::as_str).or(report.is_by_default().then_some("(default)"));
    let same = others.iter().all(|other| other.decision == report.verdict.word() && other.by.as_deref() == by);
    let said = if same {
        let names: Vec<&str> = others.iter().map(|other| other.algorithm).collect();
        format!("{} → the same", names.join(", "))
    } else {
        let one = |other: &Otherwise| {
            let by = other.by.as_ref().map(|by| format!(" by {by}")).unwrap_or_default();
            format!("{} → {}{by}", other.algorithm, other.decision.to_uppercase())
        };
        others.iter().map(one).collect::<Vec<_>>().join("      ")
    };
    // The headline names the algorithm only where it made a difference.
    let own = if report.headline.text.contains(detail.algorithm) {
        Text::default()
    } else {
        indented(&format!("Algorithm           {}", detail.algorithm), 2, screen.width)
    };
    text!("\n{}{}", own, indented(&format!("Other algorithms    {said}"), 2, screen.width))
}

fn changes(report: &Report, detail: &DecisionDetail, screen: &Screen) -> Text {
    if detail.changes.is_empty() {
        return Text::default();
    }
    let verb = if report.verdict == Verdict::Permit { "deny" } else { "permit" };
    let mut text = text!("  Smallest changes that would {} it\n", verb);
    let limit = if screen.verbose { usize::MAX } else { CHANGES };
    for (number, change) in detail.changes.iter().take(limit).enumerate() {
        text.push_str(indented(&format!("{}. {}", number + 1, visible(&change.text)), 4, screen.width));
    }
    let more = detail.changes.len().saturating_sub(limit);
    if more > 0 {
        text.push_str(paint(DIM, &text!("    … and {} more (--verbose shows all)\n", more)));
    }
    text
}

/// What is known of each violation beyond its row.
pub(super) fn relation(detail: &RelationDetail, screen: &Screen) -> Text {
    let violated = detail.checks.iter().filter(|check| check.state != CheckState::Pass);
    let mut text: Text = violated.map(|check| violation(check, screen)).collect();
    if !detail.others.is_empty() && screen.verbose {
        let one = !detail.checks.is_empty() && detail.checks.iter().all(Check::is_about_one);
        let these = if one { "it" } else { "these two" };
        let others = format!("Not about {these}, or switched off: {}", detail.others.join(", "));
        text.push_str("\n");
        text.push_str(paint(DIM, &indented(&visible(&others), 2, screen.width)));
    }
    text
}

/// Cause, near misses, hints and fixes.
fn violation(check: &Check, screen: &Screen) -> Text {
    let mut lines: Vec<String> = Vec::new();
    lines.extend(check.cause.as_ref().map(|cause| format!("since: {}", cause.text)));
    lines.extend(check.near_miss.iter().map(|miss| format!("nearly: {}", miss.sentence())));
    lines.extend(check.how_to_fix.as_ref().map(|hint| format!("how to fix: {hint}")));
    lines.extend(fixes(check));
    if lines.is_empty() {
        return Text::default();
    }
    let mut text = text!("\n  {}\n", paint(HEADING, &visible(&check.policy)));
    for line in lines {
        text.push_str(indented(&visible(&line), 6, screen.width));
    }
    text
}

/// Fixes for a violation, in one line.
pub(crate) fn fixes(check: &Check) -> Option<String> {
    check.fix_line()
}
