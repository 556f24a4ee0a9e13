//! What only decisions have: the verdict at a glance, other algorithms, what would change it, and what must be done along with it.

use maud::{Markup, html};
use serde_json::Value as Json;
use upheld_report::one_line;

use crate::report::{Depth, policy, standing, state};
use crate::seen::Seen;

/// The decision, as one sees it from afar.
pub(crate) fn banner(report: &Json, depth: Depth) -> Markup {
    if report.raw("family") != "decide" {
        return html! {};
    }
    let verdict = report.raw("verdict");
    html! {
        div class=(format!("verdict {verdict}")) {
            b { (verdict.to_uppercase()) }
            div {
                // Where this is the only report, its sentence stands over the page.
                @if depth == Depth::Folded { p data-part="verdict" { (report.text("headline/text")) } }
                p { "by " (standing(report)) ", combined by " code { (report.text("detail/algorithm")) } }
                @if report.has("detail/reason") { p.bc { "“" (report.text("detail/reason")) "”" } }
            }
        }
    }
}

/// Everything below the policies.
pub(crate) fn detail(report: &Json) -> Markup {
    if report.raw("family") != "decide" || !report.has("detail") {
        return html! {};
    }
    let detail = report.part("detail");
    html! {
        div.two {
            (changes(report, detail.items("changes")))
            (algorithms(report, detail))
            (duties("What must be done along with it", detail.items("obligations"), report))
            (duties("What may be done along with it", detail.items("advice"), report))
        }
    }
}

fn changes(report: &Json, changes: &[Json]) -> Markup {
    let verb = if report.raw("verdict") == "permit" { "deny" } else { "permit" };
    html! {
        @if !changes.is_empty() {
            section.box {
                h3 { "Smallest changes that would " (verb) " it" small { "each was tried" } }
                ol { @for change in changes { li data-part="change" { (change.text("text")) } } }
            }
        }
    }
}

fn algorithms(report: &Json, detail: &Json) -> Markup {
    let others = detail.items("otherAlgorithms");
    html! {
        @if !others.is_empty() {
            section.box {
                h3 { "Other algorithms" small { "same policies, same request" } }
                ul.plain {
                    li { (state(&report.raw("verdict").to_uppercase())) " " code { (detail.text("algorithm")) } " in force" }
                    @for other in others {
                        li data-part="algorithm" {
                            (state(&other.raw("decision").to_uppercase())) " " code { (other.text("algorithm")) }
                            @if other.has("by") { " by " (other.text("by")) }
                        }
                    }
                }
            }
        }
    }
}

fn duties(heading: &str, duties: &[Json], report: &Json) -> Markup {
    html! {
        @if !duties.is_empty() {
            section.box {
                h3 { (heading) }
                ul.plain {
                    @for duty in duties {
                        li {
                            code { (duty.text("id")) } " " (duty.text("type"))
                            @if duty.has("from") { ", from " (policy(report, duty.raw("from"), "")) }
                            @if duty.has("properties") { p.bc { code { (one_line(duty.part("properties"))) } } }
                        }
                    }
                }
            }
        }
    }
}
