//! Answers about changes, and about what would fix violations, for people.

use super::{HARD, PASS, SOFT};
use crate::render::report::fixes;
use crate::render::style::{ANSWER, DIM, HEADING, paint};
use crate::render::table::{indented, wrap};
use crate::render::text::{Text, text};
use crate::render::{Screen, visible};
use crate::report::compliance::{Check, FixPlan, Planned, Ruled};

/// How many pairs of a list are shown before "and N more".
const MOST: usize = 20;

fn answer(sentence: &str, screen: &Screen) -> Text {
    paint(ANSWER, &wrap(&visible(sentence), screen.width)) + "\n"
}

/// What becomes of a change.
pub(crate) fn ruled(ruled: &Ruled, screen: &Screen) -> Text {
    let mut text = answer(&ruled.answer, screen);
    for check in ruled.violations.iter().chain(&ruled.standing) {
        text.push_str("\n");
        text.push_str(violation(check, screen));
    }
    text
}

/// A violation with all that is known of it.
fn violation(check: &Check, screen: &Screen) -> Text {
    let mut text = indented(&format!("[{}] {}", visible(&check.policy), visible(&check.message)), 2, screen.width);
    for miss in &check.near_miss {
        text.push_str(indented(&visible(&format!("nearly: {}", miss.sentence())), 6, screen.width));
    }
    if let Some(hint) = &check.how_to_fix {
        text.push_str(indented(&visible(&format!("how to fix: {hint}")), 6, screen.width));
    }
    if let Some(fixes) = fixes(check) {
        text.push_str(indented(&visible(&fixes), 6, screen.width));
    }
    text
}

/// What changes would do.
pub(crate) fn planned(planned: &Planned, screen: &Screen) -> Text {
    let mut text = answer(&planned.answer, screen);
    text.push_str(text!("\n  {}\n", paint(HEADING, "CHANGES")));
    for step in &planned.steps {
        let style = match &*step.outcome {
            "allowed" => PASS,
            "soft" => SOFT,
            _ => HARD,
        };
        let why = step.refusal.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
        text.push_str(text!(
            "  {}  {}{}\n",
            paint(style, &format!("{:9}", step.outcome)),
            visible(&step.what),
            visible(&why)
        ));
        if !matches!(&*step.outcome, "allowed" | "soft") {
            for check in &step.violations {
                text.push_str(indented(&visible(&format!("[{}] {}", check.policy, check.message)), 6, screen.width));
                if let Some(fixes) = fixes(check) {
                    text.push_str(indented(&visible(&fixes), 8, screen.width));
                }
            }
        }
    }
    for (heading, checks) in [
        ("VIOLATIONS ADDED", &planned.added),
        ("VIOLATIONS REMOVED", &planned.removed),
        ("WAIVED THEN", &planned.waived),
        ("COUNTED AGAIN", &planned.unwaived),
        ("TAKEN MORE SERIOUSLY", &planned.raised),
        ("TAKEN LESS SERIOUSLY", &planned.lowered),
    ] {
        let lines = checks.iter().map(|check| format!("[{}] {}", check.policy, check.message));
        text.push_str(block(heading, &lines.collect::<Vec<_>>(), screen));
    }
    let flips = planned.flipped.iter().map(|flip| {
        let (before, after) = if flip.then == "refused" { ("allowed", "refused") } else { ("refused", "allowed") };
        let pair = if flip.a == flip.b { flip.a.clone() } else { format!("{} ~ {}", flip.a, flip.b) };
        format!("{pair}: {before} → {after}")
    });
    text.push_str(block("DECISIONS THAT FLIP", &flips.collect::<Vec<_>>(), screen));
    let plan =
        format!("Plan {}: `upheld what-if … --plan {}` is refused if anything moved since.", planned.id, planned.id);
    text.push_str("\n");
    text.push_str(indented(&plan, 2, screen.width));
    text
}

fn block(heading: &str, lines: &[String], screen: &Screen) -> Text {
    if lines.is_empty() {
        return Text::default();
    }
    let most = if screen.width.is_none() || screen.verbose { usize::MAX } else { MOST };
    let left = lines.len().saturating_sub(most);
    let mut text = text!("\n  {}\n", paint(HEADING, &format!("{heading} ({})", lines.len())));
    for line in lines.iter().take(most) {
        text.push_str(indented(&visible(line), 2, screen.width));
    }
    if left > 0 {
        text.push_str(paint(DIM, &text!("  … and {} more (--verbose shows all)\n", left)));
    }
    text
}

/// Edits that would fix violations.
pub(crate) fn fix_plan(fix_plan: &FixPlan, screen: &Screen) -> Text {
    let mut text = answer(&fix_plan.answer, screen);
    for (number, planned) in fix_plan.edits.iter().enumerate() {
        if number == 0 {
            text.push_str("\n");
        }
        let ends = if planned.ends > 1 { format!("   ends {} violations", planned.ends) } else { String::new() };
        let line = format!("{}. {}{ends}", number + 1, planned.fix.sentence());
        text.push_str(indented(&visible(&line), 2, screen.width));
    }
    for check in &fix_plan.violations {
        text.push_str("\n");
        text.push_str(violation(check, screen));
    }
    let left = fix_plan.left.iter().map(|check| {
        let why = check.fix_line().map(|line| format!(" {line}.")).unwrap_or_default();
        format!("[{}] {}{why}", check.policy, check.message)
    });
    text.push_str(block("LEFT", &left.collect::<Vec<_>>(), screen));
    text
}
