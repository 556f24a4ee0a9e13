//! An audit: in numbers, then what violates with its fixes, by workspace, then who is related to whom.

use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, html};
use serde_json::Value as Json;
use upheld_report::{counted, visible};

use crate::address::Address;
use crate::command;
use crate::relation::violation;
use crate::report::{at, link_to, state};
use crate::seen::Seen;
use crate::shell::{Around, Medium, Page, Section};

/// Violations that are shown in full on one page.
const MOST: usize = 60;
/// The same in a file, which is there to be kept.
pub const MOST_IN_A_FILE: usize = 5000;
/// Rows and columns of the matrix.
const MATRIX: usize = 40;

/// What an audit found, and which edits would fix most of it.
pub fn compliance(audit: &Json, fixes: Option<&Json>, medium: Medium) -> Page {
    let violations = audit.items("violations");
    let vacuous = audit.number("summary/vacuous");
    let most = if medium == Medium::File { MOST_IN_A_FILE } else { MOST };
    let main = html! {
        @for filter in audit.items("filters") { p.because { "Only " (filter.text("by")) " " code { (filter.text("value")) } } }
        @if audit.has("baseline") { p.because { "Beside the baseline: " (compared(audit.part("baseline"))) } }
        div.wide-narrow {
            div {
                (filters(violations))
                (matrix(violations))
                (by_workspace(audit, most))
                @if violations.is_empty() { section.card.empty { p { "Nothing violates a policy." } } }
                (gaps(audit))
            }
            aside aria-label="In numbers" {
                (numbers(audit))
                (contents(audit))
                @if let Some(fixes) = fixes { (edits(fixes)) }
                (policies(audit))
                (idle(audit))
            }
        }
    };
    let lead = match vacuous {
        0 => String::new(),
        count => format!("{count} passed only because neither side carries the tag. "),
    };
    let lead = format!("{lead}As of {}.", audit.raw("now").get(..16).unwrap_or_default().replace('T', " "));
    Page::new(Section::Compliance, audit.text("answer"), main).lead(lead).crumb("Compliance", None)
}

/// The same as one file. Give it no more than [`MOST_IN_A_FILE`] violations: it shows no others.
pub fn audit_file(audit: &Json) -> String {
    let text = |name: &str| audit.part(name).as_str().map(str::to_owned);
    let around = Around {
        medium: Medium::File,
        command: Some(command::of("audit", None, &[])),
        digest: text("snapshot"),
        semantics: text("semantics"),
        ..Around::default()
    };
    compliance(audit, None, Medium::File).document(&around)
}

/// `2 new, 5 known, 1 gone`.
fn compared(baseline: &Json) -> String {
    let known = baseline.number("unchanged") + baseline.number("updated");
    format!("{} new, {known} known, {} gone.", baseline.number("new"), baseline.items("absent").len())
}

/// What violations can be: the class that they have, and what people read.
const STATES: [(&str, &str); 3] = [
    ("hard", "hard: would be refused"),
    ("soft", "soft: accepted, needs follow-up"),
    ("waived", "waived: excused for a while"),
];
const SEVERITIES: [(&str, &str); 6] = [
    ("critical", "critical"),
    ("high", "high"),
    ("medium", "medium"),
    ("low", "low"),
    ("info", "info"),
    ("unrated", "no severity"),
];

/// A box for everything that some violations are and others are not; the style sheet hides what is not checked, so it takes no script.
fn filters(violations: &[Json]) -> Markup {
    let is = |class: &str| violations.iter().any(|check| classes(check).contains(&class));
    let there = |all: &[(&'static str, &'static str)]| -> Vec<(&'static str, &'static str)> {
        let there: Vec<_> = all.iter().copied().filter(|(class, _)| is(class)).collect();
        if there.len() > 1 { there } else { Vec::new() }
    };
    let boxes = [there(&STATES), there(&SEVERITIES)].concat();
    html! {
        @if !boxes.is_empty() {
            div.sorts role="group" aria-label="What is shown" {
                @for (class, label) in boxes {
                    label for=(format!("show-{class}")) { input id=(format!("show-{class}")) type="checkbox" checked; " " (label) }
                }
            }
        }
    }
}

/// What a violation is, for filters.
fn classes(check: &Json) -> [&str; 2] {
    let severity = check.raw("severity");
    [check.raw("state"), if severity.is_empty() { "unrated" } else { severity }]
}

/// All violations: the workspace with the most first, and in each the worst first.
fn by_workspace(audit: &Json, most: usize) -> Markup {
    let violations = audit.items("violations");
    let mut own: BTreeMap<&str, Vec<&Json>> = BTreeMap::new();
    for check in violations.iter().take(most) {
        own.entry(check.raw("workspace")).or_default().push(check);
    }
    let counted_in = |line: &Json| ["hard", "soft", "waived"].map(|word| line.number(word)).iter().sum::<u64>();
    let found: u64 = audit.items("overview/byWorkspace").iter().map(counted_in).sum();
    let left = usize::try_from(found).unwrap_or(usize::MAX).saturating_sub(violations.len().min(most));
    html! {
        @for (number, line) in audit.items("overview/byWorkspace").iter().enumerate() {
            @if let Some(checks) = own.get(line.raw("workspace")) {
                section.card.workspace id=(format!("w{number}")) {
                    header {
                        h2 { (workspace(line)) }
                        span.margin { (ended(line)) span.alone { " · " a href="#main" { "all workspaces" } } }
                    }
                    @for check in checks { (violation(check, "", &classes(check).join(" "))) }
                }
            }
        }
        @if left > 0 {
            p.more { "and " (counted(left, "more violation", "more violations")) ", the worst of them being shown: " code { "upheld audit -o csv" } " lists all of them" }
        }
    }
}

fn workspace(line: &Json) -> String {
    if line.raw("workspace").is_empty() { "No workspace".to_owned() } else { line.text("workspace") }
}

/// `1 hard, 3 soft`.
fn ended(line: &Json) -> String {
    let parts = ["hard", "soft", "waived"].map(|word| (word, line.number(word)));
    let told: Vec<String> =
        parts.iter().filter(|(_, count)| *count > 0).map(|(word, count)| format!("{count} {word}")).collect();
    told.join(", ")
}

/// How much there is of what; workspaces lead to what they violate.
fn contents(audit: &Json) -> Markup {
    let (workspaces, severities) = (audit.items("overview/byWorkspace"), audit.items("overview/bySeverity"));
    let head = |first: &str| {
        html! { thead { tr { th scope="col" { (first) } @for word in ["Hard", "Soft", "Waived"] { th.number scope="col" { (word) } } } } }
    };
    let numbers = |line: &Json| {
        html! { @for (head, word) in [("Hard", "hard"), ("Soft", "soft"), ("Waived", "waived")] { td.number data-h=(head) { (line.number(word)) } } }
    };
    html! {
        @if !workspaces.is_empty() {
            section.card {
                header { h2 { "Contents" } }
                table.rows.small {
                    (head("Workspace"))
                    tbody {
                        @for (number, line) in workspaces.iter().enumerate().take(MOST_IN_A_FILE) {
                            tr { td data-h="Workspace" { a href=(format!("#w{number}")) { (workspace(line)) } } (numbers(line)) }
                        }
                    }
                }
                table.rows.small {
                    (head("Severity"))
                    tbody {
                        @for line in severities {
                            tr { td data-h="Severity" { @if line.has("severity") { (line.text("severity")) } @else { "none" } } (numbers(line)) }
                        }
                    }
                }
            }
        }
    }
}

/// Waivers that excuse nothing.
fn idle(audit: &Json) -> Markup {
    let idle: Vec<&Json> = audit.items("waivers").iter().filter(|waiver| waiver.raw("state") != "used").collect();
    html! {
        @if !idle.is_empty() {
            section.card {
                header { h2 { "Waivers that cover nothing" } }
                ul.rows { @for waiver in idle { li { code { (waiver.text("id")) } " of " (waiver.text("policy")) ": " (waiver.text("state")) } } }
            }
        }
    }
}

/// How checks ended, as a bar and in numbers. The picture says no more than they do.
fn numbers(audit: &Json) -> Markup {
    let parts = ["passed", "soft", "hard", "waived"].map(|word| (word, audit.number(&format!("summary/{word}"))));
    let total: u64 = parts.iter().map(|(_, count)| count).sum();
    let mut begin = 0;
    let bars: Vec<(&str, u64, u64)> = parts
        .iter()
        .map(|(word, count)| {
            let width = (count * 1000).checked_div(total).unwrap_or_default();
            let bar = (*word, begin, width);
            begin += width;
            bar
        })
        .collect();
    html! {
        section.card {
            header { h2 { (total) " checks" } }
            svg.bar viewBox="0 0 1000 8" preserveAspectRatio="none" aria-hidden="true" {
                @for (word, begin, width) in bars { rect class=(word) x=(begin) y="0" width=(width) height="8" {} }
            }
            dl.numbers { @for (word, count) in parts { div { dt { (word) } dd { (count) } } } }
        }
    }
}

fn edits(fixes: &Json) -> Markup {
    let edits = fixes.items("edits");
    html! {
        @if !edits.is_empty() {
            section.card {
                header { h2 { (fixes.text("answer")) } }
                ul.rows {
                    @for edit in edits.iter().take(20) {
                        li { (edit.text("text")) " " small { "ends " (counted(usize::try_from(edit.number("ends")).unwrap_or(usize::MAX), "violation", "violations")) @if edit.raw("by") == "administrator" { ", needs an administrator" } } }
                    }
                }
            }
        }
    }
}

fn policies(audit: &Json) -> Markup {
    let all = audit.items("policies");
    html! {
        section.card {
            header { h2 { (counted(all.len(), "policy", "policies")) } }
            table.rows.small {
                thead { tr { th scope="col" { "Policy" } th.number scope="col" { "Pass" } th.number scope="col" { "Soft" } th.number scope="col" { "Hard" } } }
                tbody {
                    @for policy in all.iter().take(100) {
                        tr {
                            td data-h="Policy" { (link_to("", policy.raw("id"), "", &policy.text("id"))) @if policy.has("description") { p.bc { (policy.text("description")) } } }
                            td.number data-h="Pass" { (policy.number("passed")) }
                            td.number data-h="Soft" { (policy.number("soft")) }
                            td.number data-h="Hard" { (policy.number("hard")) }
                        }
                    }
                }
            }
        }
    }
}

/// Objects against objects: what each violation is between.
fn matrix(violations: &[Json]) -> Markup {
    let mut rows: BTreeMap<&str, BTreeMap<&str, Vec<&Json>>> = BTreeMap::new();
    let mut columns: BTreeSet<&str> = BTreeSet::new();
    for check in violations {
        columns.insert(check.raw("b/ref"));
        rows.entry(check.raw("a/ref")).or_default().entry(check.raw("b/ref")).or_default().push(check);
    }
    if rows.is_empty() || columns.len() > MATRIX {
        return html! {};
    }
    html! {
        section.card {
            header { h2 { "Who disagrees with whom" } span.margin { "a cell has each violation of a pair" } }
            div.scroll role="region" aria-label="Who disagrees with whom" tabindex="0" {
                table.grid {
                    thead { tr { td {} @for column in &columns { th scope="col" { (visible(column)) } } } }
                    tbody {
                        @for (name, cells) in rows.iter().take(MATRIX) {
                            tr {
                                th scope="row" { (visible(name)) }
                                @for column in &columns {
                                    td {
                                        @for check in cells.get(column).into_iter().flatten() {
                                            a href=(Address::of("/explain").with("what", &format!("{name}~{column}"))) { (state(&check.raw("state").to_uppercase())) } " "
                                            small { (check.text("reason/text")) }
                                        }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// What could not be looked at or judged.
fn gaps(audit: &Json) -> Markup {
    let (gaps, errors) = (audit.items("gaps"), audit.items("errors"));
    html! {
        @if !gaps.is_empty() || !errors.is_empty() {
            section.card {
                header { h2 { "Not looked at" } }
                ul.rows {
                    @for gap in gaps { li { (gap.text("text")) " " (at(gap.part("at"), None)) } }
                    @for error in errors { li { (error.text("policy")) ": " (error.text("message")) " " (at(error.part("at"), None)) } }
                }
            }
        }
    }
}
