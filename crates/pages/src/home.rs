//! Where one begins: a question, what there is, what is odd, and what changed lately.

use maud::{Markup, html};
use serde_json::Value as Json;

use crate::address::Address;
use crate::history::entries;
use crate::problem::diagnostic;
use crate::seen::Seen;
use crate::shell::{Page, Section};

/// Warnings that are shown at once.
const WARNINGS: usize = 12;

/// The first page: what was read, and the last entries of the log, newest first.
pub fn home(contents: &Json, revisions: Option<&[Json]>) -> Page {
    let warnings = contents.items("warnings");
    let main = html! {
        form.ask role="search" action="/ask" {
            label.hidden for="q" { "Ask" }
            input #q name="q" type="search" placeholder="web-1 → backend-1, a request, a route, a policy, two objects" autocomplete="off" spellcheck="false";
            button.main { "Ask" }
        }
        (examples())
        section.card aria-label="In numbers" {
            dl.numbers {
                @for (label, name) in [("policies", "policies"), ("objects", "objects"), ("kinds with policies", "kindsWithPolicies"), ("warnings", "warningCount")] {
                    div { dt { (label) } dd { (contents.number(name)) } }
                }
            }
        }
        div.two {
            section.card {
                header { h2 { "What is odd" } span { a href="/findings" { "findings" } " · " a href="/diagnostics" { "all" } } }
                @if warnings.is_empty() { p.empty { "Nothing, or nothing that you may see." } }
                ul.rows { @for one in warnings.iter().take(WARNINGS) { li { (diagnostic(one)) } } }
            }
            section.card {
                header { h2 { "Recent changes" } a href="/history" { "all" } }
                @match revisions {
                    Some([]) => p.empty { "Nothing was written here yet; files are read as they are." },
                    Some(revisions) => (entries(revisions)),
                    None => p.empty { "You may not read the log." },
                }
            }
        }
        (kinds(contents))
    };
    Page::new(Section::Ask, "Which policy stands here, and why?", main)
}

/// What can be typed.
fn examples() -> Markup {
    html! {
        p.try {
            "Forms of questions: " code { "web-1 → backend-1" } ", " code { "admin DELETE /api/audit/123" } ", " code { "shop.example/cart" } ", "
            code { "project/a ~ landingZone/lz-1" } ", a name, a code such as " code { "UP201" }
        }
    }
}

fn kinds(contents: &Json) -> Markup {
    let kinds = contents.items("kinds");
    let types = contents.items("types");
    html! {
        section.card {
            header { h2 { "Kinds in this snapshot" } span { a href="/learn" { "how they resolve" } " · " a href="/policies" { (contents.number("policies")) " policies" } } }
            @if kinds.is_empty() { p.empty { "There are no policies, or none that you may see." } }
            @else {
                table.rows {
                    thead { tr { th scope="col" { "Kind" } th scope="col" { "How it resolves" } th.number scope="col" { "Policies" } th scope="col" { "What they decide" } } }
                    tbody {
                        @for kind in kinds {
                            tr {
                                td data-h="Kind" { a href=(Address::of("/policies").with("kind", kind.raw("kind"))) { (kind.text("kind")) } }
                                td data-h="Resolves" { (kind.text("resolve")) }
                                td.number data-h="Policies" { (kind.number("policies")) }
                                td data-h="About" { (kind.text("about")) }
                            }
                        }
                    }
                }
            }
            @if !types.is_empty() {
                p.more { "Objects: " @for (number, one) in types.iter().enumerate() { @if number > 0 { ", " } a href=(Address::of("/objects").with("kind", one.raw("kind"))) { (one.text("kind")) } " " (one.number("objects")) } }
            }
        }
    }
}
