//! An audit: in numbers, then what violates with its fixes, then who is related to whom.

use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, html};
use serde_json::Value as Json;
use upheld_report::counted;

use crate::address::Address;
use crate::relation::violation;
use crate::report::{at, link_to, state};
use crate::seen::Seen;
use crate::shell::{Page, Section};

/// Violations that are shown in full on one page.
const MOST: usize = 60;
/// Rows and columns of the matrix.
const MATRIX: usize = 40;

/// What an audit found, and which edits would fix most of it.
pub fn compliance(audit: &Json, fixes: Option<&Json>) -> Page {
    let violations = audit.items("violations");
    let vacuous = audit.number("summary/vacuous");
    let of = |wanted: &'static str| violations.iter().filter(move |check| check.raw("state") == wanted);
    let main = html! {
        div.wide-narrow {
            div {
                (matrix(violations))
                @for (word, heading) in [("hard", "Hard: the change would be refused"), ("soft", "Soft: accepted, and needs follow-up"), ("waived", "Waived: excused for a while")] {
                    @let count = of(word).count();
                    @if count > 0 {
                        section.card {
                            header { h2 { (heading) } (state(&word.to_uppercase())) }
                            @for check in of(word).take(MOST) { (violation(check, "")) }
                            @if count > MOST { p.more { "and " (count - MOST) " more; the JSON has all of them" } }
                        }
                    }
                }
                @if violations.is_empty() { section.card.empty { p { "Nothing violates a policy." } } }
                (gaps(audit))
            }
            aside aria-label="In numbers" {
                (numbers(audit))
                @if let Some(fixes) = fixes { (edits(fixes)) }
                (policies(audit))
            }
        }
    };
    let lead = if vacuous == 0 {
        String::new()
    } else {
        format!("{vacuous} passed only because neither side carries the tag.")
    };
    Page::new(Section::Compliance, audit.text("answer"), main).lead(lead).crumb("Compliance", None)
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
                    thead { tr { td {} @for column in &columns { th scope="col" { (upheld_report::visible(column)) } } } }
                    tbody {
                        @for (name, cells) in rows.iter().take(MATRIX) {
                            tr {
                                th scope="row" { (upheld_report::visible(name)) }
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
