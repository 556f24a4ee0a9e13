//! Answers about two objects, about changes, and about what would mend violations, for people.

use anstyle::Style;

use super::{HARD, PASS, SOFT};
use crate::render::style::{ANSWER, DIM, HEADING, paint};
use crate::render::table::{Align, Table, indented, wrap};
use crate::render::{Screen, visible};
use crate::report::compliance::{Check, CheckState, Fix, Planned, Relation, Remedy, Ruled, Side, values};

/// How many pairs of a list are shown before "and N more".
const MOST: usize = 20;

/// Two objects held against each other.
pub(crate) fn relation(relation: &Relation, screen: &Screen) -> String {
    let mut text = answer(&relation.answer, screen);
    if !relation.checks.is_empty() {
        let mut table = Table::new(&[
            ("STATE", Align::Left),
            ("POLICY", Align::Left),
            ("ONE SIDE", Align::Left),
            ("OTHER SIDE", Align::Left),
            ("BECAUSE", Align::Left),
        ]);
        for check in &relation.checks {
            let (word, style) = state(check);
            let because = match &check.waiver {
                Some(waiver) => format!("{}; {}", check.reason.text, waiver.told()),
                None => check.reason.text.clone(),
            };
            table.row(style, [word.to_owned(), check.policy.clone(), tagged(&check.a), tagged(&check.b), because]);
        }
        text.push('\n');
        text.push_str(&table.render(screen.width, 1));
    }
    for check in relation.checks.iter().filter(|check| check.state != CheckState::Pass) {
        text.push_str(&details(check, screen));
    }
    if !relation.others.is_empty() && screen.verbose {
        let others = format!("Not about these two, or switched off: {}", relation.others.join(", "));
        text.push('\n');
        text.push_str(&paint(DIM, &indented(&visible(&others), 2, screen.width)));
    }
    text
}

fn state(check: &Check) -> (&'static str, Style) {
    match check.state {
        CheckState::Pass => ("PASS", PASS),
        CheckState::Soft => ("SOFT", SOFT),
        CheckState::Hard => ("HARD", HARD),
        CheckState::Waived => ("OFF", DIM),
    }
}

/// `environment {dev, test}`.
fn tagged(side: &Side) -> String {
    format!("{} {} {{{}}}", side.kind, side.tag, values(&side.values))
}

fn answer(sentence: &str, screen: &Screen) -> String {
    paint(ANSWER, &wrap(&visible(sentence), screen.width)) + "\n"
}

/// What is known beyond the row: cause, near misses, hints and ways to mend.
fn details(check: &Check, screen: &Screen) -> String {
    let mut lines: Vec<String> = Vec::new();
    lines.extend(check.cause.as_ref().map(|cause| format!("since: {}", cause.text)));
    lines.extend(check.near_miss.iter().map(|miss| format!("nearly: {}", miss.told())));
    lines.extend(check.how_to_fix.as_ref().map(|hint| format!("how to fix: {hint}")));
    lines.extend(ways(check));
    if lines.is_empty() {
        return String::new();
    }
    let mut text = format!("\n  {}\n", paint(HEADING, &visible(&check.policy)));
    for line in lines {
        text.push_str(&indented(&visible(&line), 6, screen.width));
    }
    text
}

/// Ways to mend a violation, in one line.
fn ways(check: &Check) -> Option<String> {
    let fixes: Vec<String> = check.fixes.iter().map(Fix::told).collect();
    (!fixes.is_empty()).then(|| format!("fix: {}", fixes.join("; or ")))
}

/// What becomes of a change.
pub(crate) fn ruled(ruled: &Ruled, screen: &Screen) -> String {
    let mut text = answer(&ruled.answer, screen);
    for check in &ruled.violations {
        text.push('\n');
        text.push_str(&violation(check, screen));
    }
    text
}

/// A violation with all that is known of it.
fn violation(check: &Check, screen: &Screen) -> String {
    let mut text = indented(&format!("[{}] {}", visible(&check.policy), visible(&check.message)), 2, screen.width);
    for miss in &check.near_miss {
        text.push_str(&indented(&visible(&format!("nearly: {}", miss.told())), 6, screen.width));
    }
    if let Some(hint) = &check.how_to_fix {
        text.push_str(&indented(&visible(&format!("how to fix: {hint}")), 6, screen.width));
    }
    if let Some(ways) = ways(check) {
        text.push_str(&indented(&visible(&ways), 6, screen.width));
    }
    text
}

/// What changes would do.
pub(crate) fn planned(planned: &Planned, screen: &Screen) -> String {
    let mut text = answer(&planned.answer, screen);
    text.push_str(&format!("\n  {}\n", paint(HEADING, "CHANGES")));
    for step in &planned.steps {
        let style = match step.outcome {
            "allowed" => PASS,
            "soft" => SOFT,
            _ => HARD,
        };
        let why = step.refusal.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
        text.push_str(&format!(
            "  {}  {}{}\n",
            paint(style, &format!("{:9}", step.outcome)),
            visible(&step.what),
            visible(&why)
        ));
        if !matches!(step.outcome, "allowed" | "soft") {
            for check in &step.violations {
                text.push_str(&indented(&visible(&format!("[{}] {}", check.policy, check.message)), 6, screen.width));
                if let Some(ways) = ways(check) {
                    text.push_str(&indented(&visible(&ways), 8, screen.width));
                }
            }
        }
    }
    for (heading, checks) in [
        ("VIOLATIONS ADDED", &planned.added),
        ("VIOLATIONS REMOVED", &planned.removed),
        ("WAIVED THEN", &planned.waived),
        ("COUNTED AGAIN", &planned.unwaived),
    ] {
        let lines = checks.iter().map(|check| format!("[{}] {}", check.policy, check.message));
        text.push_str(&block(heading, &lines.collect::<Vec<_>>(), screen));
    }
    let flips = planned.flipped.iter().map(|flip| {
        let (before, after) = if flip.then == "refused" { ("allowed", "refused") } else { ("refused", "allowed") };
        format!("{} ~ {}: {before} → {after}", flip.a, flip.b)
    });
    text.push_str(&block("DECISIONS THAT FLIP", &flips.collect::<Vec<_>>(), screen));
    let plan =
        format!("Plan {}: `upheld what-if … --plan {}` is refused if anything moved since.", planned.id, planned.id);
    text.push('\n');
    text.push_str(&indented(&plan, 2, screen.width));
    text
}

fn block(heading: &str, lines: &[String], screen: &Screen) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let most = if screen.width.is_none() || screen.verbose { usize::MAX } else { MOST };
    let left = lines.len().saturating_sub(most);
    let mut text = format!("\n  {}\n", paint(HEADING, &format!("{heading} ({})", lines.len())));
    for line in lines.iter().take(most) {
        text.push_str(&indented(&visible(line), 2, screen.width));
    }
    if left > 0 {
        text.push_str(&paint(DIM, &format!("  … and {left} more (--verbose shows all)\n")));
    }
    text
}

/// Edits that would mend violations.
pub(crate) fn remedy(remedy: &Remedy, screen: &Screen) -> String {
    let mut text = answer(&remedy.answer, screen);
    for (number, mend) in remedy.edits.iter().enumerate() {
        if number == 0 {
            text.push('\n');
        }
        let ends = if mend.ends > 1 { format!("   ends {} violations", mend.ends) } else { String::new() };
        let line = format!("{}. {}{ends}", number + 1, mend.fix.told());
        text.push_str(&indented(&visible(&line), 2, screen.width));
    }
    for check in &remedy.violations {
        text.push('\n');
        text.push_str(&violation(check, screen));
    }
    let left = remedy.left.iter().map(|check| format!("[{}] {}", check.policy, check.message));
    text.push_str(&block("LEFT", &left.collect::<Vec<_>>(), screen));
    text
}
