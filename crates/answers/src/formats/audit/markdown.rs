//! An audit as a comment on a change, in the Markdown that forges show.

use crate::formats::visible;
use crate::report::compliance::{Audit, Check, CheckState, Fix, NearMiss, Side, WaiverState, values};
use crate::report::counted;

/// By this a pipeline finds its earlier comment, to replace it.
const MARK: &str = "<!-- upheld audit -->";

/// The whole comment.
pub(super) fn document(audit: &Audit) -> String {
    let mut text = format!("{MARK}\n## Compliance audit\n\n**{}**\n", escaped(&audit.answer));
    for filter in &audit.filters {
        text.push_str(&format!("\nOnly {}.\n", escaped(&filter.sentence())));
    }
    for (state, heading) in [
        (CheckState::Hard, "Hard: the change would be refused"),
        (CheckState::Soft, "Soft: accepted, needs follow-up"),
        (CheckState::Waived, "Waived"),
    ] {
        let checks: Vec<&Check> = audit.ended(state).collect();
        if !checks.is_empty() {
            text.push_str(&section(heading, state, &checks));
        }
    }
    if !audit.errors.is_empty() {
        text.push_str("\n### Not evaluated\n\n");
        for error in &audit.errors {
            text.push_str(&format!("- **{}**: {}\n", escaped(&error.policy), escaped(&error.message)));
        }
    }
    text.push_str(&policies(audit));
    text.push_str(&idle_waivers(audit));
    if audit.summary.vacuous > 0 {
        let count = counted(audit.summary.vacuous, "check", "checks");
        text.push_str(&format!("\n{count} passed without evidence: neither side carries the tag.\n"));
    }
    text
}

fn section(heading: &str, state: CheckState, checks: &[&Check]) -> String {
    let last = if state == CheckState::Waived { "Waiver" } else { "Fix" };
    let mut text = format!(
        "\n### {heading} ({})\n\n| Policy | Pair | Workspace | Why | {last} | Id |\n|---|---|---|---|---|---|\n",
        checks.len()
    );
    for check in checks {
        let cells = [
            format!("{} ({})", escaped(&check.policy), check.level.name()),
            format!("{}<br>{}", side(&check.a), side(&check.b)),
            escaped(check.workspace.as_deref().unwrap_or("-")),
            why(check),
            if state == CheckState::Waived { waiver(check) } else { fixes(check) },
            format!("`{}`", escaped(&check.id)),
        ];
        text.push_str(&format!("| {} |\n", cells.join(" | ")));
    }
    text
}

fn side(side: &Side) -> String {
    let name = if side.name == side.id() { String::new() } else { format!(" “{}”", escaped(&side.name)) };
    let values = escaped(&values(&side.values));
    format!("**{}**{name}: {} {{{values}}}", escaped(&side.reference), escaped(&side.tag))
}

fn why(check: &Check) -> String {
    let cause = check.cause.iter().map(|cause| cause.text.clone());
    let lines =
        std::iter::once(check.reason.text.clone()).chain(cause).chain(check.near_miss.iter().map(NearMiss::sentence));
    lines.map(|line| escaped(&line)).collect::<Vec<_>>().join("<br>")
}

fn fixes(check: &Check) -> String {
    let lines = check.how_to_fix.iter().cloned().chain(check.fixes.iter().map(Fix::sentence));
    lines.map(|line| escaped(&line)).collect::<Vec<_>>().join("<br>")
}

fn waiver(check: &Check) -> String {
    check.waiver.as_ref().map(|waiver| escaped(&waiver.sentence())).unwrap_or_default()
}

fn policies(audit: &Audit) -> String {
    let mut text = "\n<details><summary>Policies</summary>\n\n".to_owned();
    text.push_str("| Policy | Level | Strategy | Pairs | Pass | Hard | Soft | Waived | Without evidence |\n");
    text.push_str("|---|---|---|--:|--:|--:|--:|--:|--:|\n");
    for policy in &audit.policies {
        let counts = policy.counts;
        let numbers = [policy.pairs, counts.passed, counts.hard, counts.soft, counts.waived, counts.vacuous];
        text.push_str(&format!(
            "| {} | {} | {} | {} |\n",
            escaped(&policy.id),
            policy.level.name(),
            escaped(&policy.strategy),
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
            let (id, policy) = (escaped(&waiver.id), escaped(&waiver.policy));
            format!("- **{id}** of {policy}: {}\n", waiver.state.name())
        })
        .collect();
    if idle.is_empty() { idle.concat() } else { format!("\n### Waivers that cover nothing\n\n{}", idle.concat()) }
}

/// Text in one line in which nothing is markup, a link, or a call to somebody.
fn escaped(text: &str) -> String {
    let mut safe = String::new();
    for character in visible(text).chars() {
        if "&<>\"'`*_[]\\|~@#$!".contains(character) {
            safe.push_str(&format!("&#{};", u32::from(character)));
        } else {
            safe.push(character);
        }
    }
    // Forges make links of addresses, too.
    safe.replace("://", ":&#47;&#47;").replace("www.", "www&#46;")
}
