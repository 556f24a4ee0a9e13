//! An audit as a comment on a change, in the Markdown that forges show.

use std::cmp::Reverse;

use crate::formats::markdown_text;
use crate::report::compliance::{
    Audit, BaselineState, Check, CheckState, Fix, NearMiss, Overview, PolicyLine, Severity, Side, Violations,
    WaiverState, values,
};
use crate::report::counted;

/// By this a pipeline finds its earlier comment, to replace it.
const MARK: &str = "<!-- upheld audit -->";

/// Forges refuse longer comments. Their characters are ours or fewer.
const LONGEST: usize = 65_536;
/// What is kept free for the sentence that says what was cut.
const RESERVE: usize = 600;
/// How many policies and workspaces a summary names.
const NAMED: usize = 10;

/// The whole comment. What does not fit is counted.
pub(super) fn document(audit: &Audit) -> String {
    let mut comment = Comment { text: head(audit), cut: Violations::default() };
    for (state, heading) in [
        (CheckState::Hard, "Hard: enforced, and let through by nobody"),
        (CheckState::Soft, "Soft: accepted, needs follow-up"),
        (CheckState::Waived, "Waived"),
    ] {
        let mut checks: Vec<&Check> = audit.ended(state).collect();
        // Who reviews a change looks for what is new.
        checks.sort_by_key(|check| check.baseline_state.is_some_and(|state| state != BaselineState::New));
        comment.section(heading, state, &checks);
    }
    let mut whole = comment.cut.numbers() == [0; 3];
    for part in [not_judged(audit), policies(audit), idle_waivers(audit), vacuous(audit)] {
        whole &= comment.add(&part);
    }
    if !whole {
        comment.text.push_str(&cut(comment.cut));
    }
    comment.text
}

/// A comment that may not become too long.
struct Comment {
    text: String,
    cut: Violations,
}

impl Comment {
    /// Adds something if it fits.
    fn add(&mut self, part: &str) -> bool {
        let fits = self.text.len() + part.len() + RESERVE <= LONGEST;
        if fits {
            self.text.push_str(part);
        }
        fits
    }

    fn section(&mut self, heading: &str, state: CheckState, checks: &[&Check]) {
        let last = if state == CheckState::Waived { "Waiver" } else { "Fix" };
        let head = format!(
            "\n### {heading} ({})\n\n| Policy | Pair | Workspace | Why | {last} | Id |\n|---|---|---|---|---|---|\n",
            checks.len()
        );
        let mut fits = checks.is_empty() || self.add(&head);
        for check in checks {
            // Once a row was too long, a shorter one would stand out of order.
            fits = fits && self.add(&row(check));
            if !fits {
                match state {
                    CheckState::Hard => self.cut.hard += 1,
                    CheckState::Soft => self.cut.soft += 1,
                    CheckState::Waived | CheckState::Pass => self.cut.waived += 1,
                }
            }
        }
    }
}

fn cut(cut: Violations) -> String {
    let [hard, soft, waived] = cut.numbers();
    let what = match hard + soft + waived {
        0 => "Details of policies and waivers are".to_owned(),
        count => {
            let are = if count == 1 { "is" } else { "are" };
            format!("{} ({hard} hard, {soft} soft, {waived} waived) {are}", counted(count, "violation", "violations"))
        }
    };
    format!(
        "\n**{what} not shown**: a comment may have {LONGEST} characters. `upheld audit -o csv` or `-o json` has everything.\n"
    )
}

/// What everybody reads: the answer, what was not looked at, and how much there is of what.
fn head(audit: &Audit) -> String {
    let mut text = format!("{MARK}\n## Compliance audit\n\n**{}**\n", markdown_text(&audit.answer));
    for filter in &audit.filters {
        text.push_str(&format!("\nOnly {}.\n", markdown_text(&filter.sentence())));
    }
    if let Some(compared) = &audit.baseline {
        text.push_str(&format!("\nBeside the baseline: {}.\n", compared.sentence()));
    }
    for unseen in audit.gaps.iter().take(NAMED) {
        text.push_str(&format!("\n- **not looked at**: {}", markdown_text(&unseen.gap.text)));
    }
    if audit.gaps.len() > NAMED {
        text.push_str(&format!("\n- **not looked at**: {} more", audit.gaps.len() - NAMED));
    }
    if !audit.gaps.is_empty() {
        text.push('\n');
    }
    if audit.checks.is_empty() {
        return text;
    }
    let Overview { by_severity, by_workspace } = &audit.overview;
    text.push_str("\n| By severity | Hard | Soft | Waived |\n|---|--:|--:|--:|\n");
    for line in by_severity {
        text.push_str(&counts_row(line.severity.map_or("none", Severity::name), line.counts));
    }
    let mut policies: Vec<&PolicyLine> =
        audit.policies.iter().filter(|policy| policy.violations().numbers() != [0; 3]).collect();
    policies.sort_by_key(|policy| Reverse(policy.violations()));
    text.push_str("\n| By policy | Hard | Soft | Waived |\n|---|--:|--:|--:|\n");
    for policy in policies.iter().take(NAMED) {
        text.push_str(&counts_row(&markdown_text(&policy.id), policy.violations()));
    }
    text.push_str(&more(policies.len()));
    text.push_str("\n| By workspace | Hard | Soft | Waived |\n|---|--:|--:|--:|\n");
    for line in by_workspace.iter().take(NAMED) {
        text.push_str(&counts_row(&markdown_text(line.workspace.as_deref().unwrap_or("-")), line.counts));
    }
    text.push_str(&more(by_workspace.len()));
    text
}

/// How many a summary does not name.
fn more(all: usize) -> String {
    match all.saturating_sub(NAMED) {
        0 => String::new(),
        more => format!("| … and {more} more | | | |\n"),
    }
}

fn counts_row(name: &str, counts: Violations) -> String {
    format!("| {name} | {} |\n", counts.numbers().map(|number| number.to_string()).join(" | "))
}

fn not_judged(audit: &Audit) -> String {
    if audit.errors.is_empty() {
        return String::new();
    }
    let lines = audit.errors.iter();
    let lines: String = lines
        .map(|error| format!("- **{}**: {}\n", markdown_text(&error.policy), markdown_text(&error.message)))
        .collect();
    format!("\n### Not evaluated\n\n{lines}")
}

fn vacuous(audit: &Audit) -> String {
    if audit.summary.vacuous == 0 {
        return String::new();
    }
    let count = counted(audit.summary.vacuous, "check", "checks");
    format!("\n{count} passed only because neither side has the tag.\n")
}

fn row(check: &Check) -> String {
    let cells = [
        format!("{} ({})", markdown_text(&check.policy), qualities(check)),
        check.sides().map(side).collect::<Vec<_>>().join("<br>"),
        markdown_text(check.workspace.as_deref().unwrap_or("-")),
        why(check),
        if check.state == CheckState::Waived { waiver(check) } else { fixes(check) },
        format!("`{}`", markdown_text(&check.id)),
    ];
    format!("| {} |\n", cells.join(" | "))
}

/// `high, warn, new`: how bad, how serious, and whether it was there before.
fn qualities(check: &Check) -> String {
    let severity = check.severity.map(Severity::name);
    let state = check.baseline_state.map(BaselineState::name);
    severity.into_iter().chain([check.level.name()]).chain(state).collect::<Vec<_>>().join(", ")
}

fn side(side: &Side) -> String {
    let name = if side.name == side.id() { String::new() } else { format!(" “{}”", markdown_text(&side.name)) };
    let values = markdown_text(&values(&side.values));
    format!("**{}**{name}: {} {{{values}}}", markdown_text(&side.reference), markdown_text(&side.tag))
}

fn why(check: &Check) -> String {
    let cause = check.cause.iter().map(|cause| cause.text.clone());
    let lines =
        std::iter::once(check.reason.text.clone()).chain(cause).chain(check.near_miss.iter().map(NearMiss::sentence));
    lines.map(|line| markdown_text(&line)).collect::<Vec<_>>().join("<br>")
}

fn fixes(check: &Check) -> String {
    let lines = check.how_to_fix.iter().cloned().chain(check.fixes.iter().map(Fix::sentence));
    let lines = lines.chain(check.no_fix_line());
    lines.map(|line| markdown_text(&line)).collect::<Vec<_>>().join("<br>")
}

fn waiver(check: &Check) -> String {
    check.waiver.as_ref().map(|waiver| markdown_text(&waiver.sentence())).unwrap_or_default()
}

fn policies(audit: &Audit) -> String {
    let mut text = "\n<details><summary>Policies</summary>\n\n".to_owned();
    text.push_str(
        "| Policy | Level | Severity | Strategy | Pairs | Pass | Hard | Soft | Waived | Neither has the tag |\n",
    );
    text.push_str("|---|---|---|---|--:|--:|--:|--:|--:|--:|\n");
    for policy in &audit.policies {
        let counts = policy.counts;
        let numbers = [policy.pairs, counts.passed, counts.hard, counts.soft, counts.waived, counts.vacuous];
        text.push_str(&format!(
            "| {} | {} | {} | {} | {} |\n",
            markdown_text(&policy.id),
            policy.level.name(),
            policy.severity.map_or("-", Severity::name),
            markdown_text(&policy.strategy),
            numbers.map(|number| number.to_string()).join(" | ")
        ));
    }
    text + "\n</details>\n"
}

fn idle_waivers(audit: &Audit) -> String {
    let idle: Vec<String> = audit
        .waivers
        .iter()
        .filter(|waiver| waiver.state != WaiverState::Used)
        .map(|waiver| {
            let (id, policy) = (markdown_text(&waiver.id), markdown_text(&waiver.policy));
            format!("- **{id}** of {policy}: {}\n", waiver.state.name())
        })
        .collect();
    if idle.is_empty() { idle.concat() } else { format!("\n### Waivers that cover nothing\n\n{}", idle.concat()) }
}
