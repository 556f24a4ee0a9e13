//! Every proxy and every service under one kind: equal answers are counted together, then shown as a matrix of cells.

use std::collections::BTreeSet;

use maud::{Markup, html};
use serde_json::Value as Json;
use upheld_report::counted;

use crate::address::Address;
use crate::pictures;
use crate::report::{at, link_to};
use crate::seen::{Seen, joined};
use crate::shell::{Page, Section};

/// A matrix beyond this is read by nobody.
const MOST: usize = 40;

pub(crate) fn pairs(words: &Json, answer: &Json) -> Page {
    let kind = answer.text("policyKind");
    let meshes = answer.items("meshes");
    let total: u64 = meshes.iter().map(|mesh| mesh.number("pairs")).sum();
    // A pair is asked about as everything was, in the mesh that it is in.
    let asked = |mesh: &str| {
        let address =
            Address::of("/connection").with("kind", answer.raw("policyKind")).with("semantics", words.raw("semantics"));
        if meshes.len() > 1 || words.has("mesh") { address.with("mesh", mesh) } else { address }
    };
    let main = html! { @for mesh in meshes { (mesh_of(&asked(mesh.raw("mesh")), answer, mesh)) } };
    let pairs = usize::try_from(total).unwrap_or(usize::MAX);
    let headline = format!("{kind} for {} of caller and called.", counted(pairs, "pair", "pairs"));
    let page = Page::new(Section::Connections, headline, main);
    page.crumb("Connections", Some(Address::of("/connections"))).crumb(kind, None)
}

fn mesh_of(asked: &Address, answer: &Json, mesh: &Json) -> Markup {
    let kind = answer.raw("policyKind");
    html! {
        section.card {
            header { h2 { (mesh.text("mesh")) } span.margin { (mesh.number("proxies")) " proxies, " (mesh.number("destinations")) " destinations, " (mesh.number("classes")) " different answers" } }
            (pictures::matrix(mesh))
            table.rows {
                thead { tr { th scope="col" { "Policy" } th.number scope="col" { "Pairs" } th.number scope="col" { "Proxies" } th.number scope="col" { "Destinations" } th scope="col" { "At" } } }
                tbody {
                    @for policy in mesh.items("policies") {
                        tr {
                            td data-h="Policy" {
                                // What holds where no policy does is written nowhere.
                                @if policy.has("at") { (link_to(kind, policy.raw("policy"), mesh.raw("mesh"), &policy.text("policy"))) } @else { (policy.text("policy")) }
                            }
                            td.number data-h="Pairs" { (policy.number("pairs")) }
                            td.number data-h="Proxies" { (policy.number("proxies")) }
                            td.number data-h="Destinations" { (policy.number("destinations")) }
                            td data-h="At" { (at(policy.part("at"), None)) }
                        }
                    }
                }
            }
            (matrix(asked, mesh))
        }
    }
}

/// Callers that no policy can tell apart are a row, and so are columns.
fn matrix(asked: &Address, mesh: &Json) -> Markup {
    let cells = mesh.items("cells");
    let side = |name: &str| -> Vec<(&str, u64)> {
        let count = if name == "from" { "proxies" } else { "destinations" };
        let all: BTreeSet<(&str, u64)> = cells.iter().map(|cell| (cell.raw(name), cell.number(count))).collect();
        all.into_iter().collect()
    };
    let (rows, columns) = (side("from"), side("to"));
    let cell = |row: &(&str, u64), column: &(&str, u64)| {
        cells.iter().find(|cell| {
            (cell.raw("from"), cell.number("proxies")) == *row
                && (cell.raw("to"), cell.number("destinations")) == *column
        })
    };
    if rows.is_empty() || rows.len() > MOST || columns.len() > MOST {
        return html! { p.more { (cells.len()) " cells; a table of so many would be read by nobody. The JSON has all of them." } };
    }
    html! {
        div.scroll role="region" aria-label="Matrix" tabindex="0" {
            table.grid {
                thead { tr { th scope="col" { "from, to" } @for (name, count) in &columns { th scope="col" { (name) (others(*count)) } } } }
                tbody {
                    @for row in &rows {
                        tr {
                            th scope="row" { (row.0) (others(row.1)) }
                            @for column in &columns {
                                td {
                                    @if let Some(found) = cell(row, column) {
                                        a href=(asked.clone().with("from", row.0).with("to", column.0)) {
                                            @let policies = joined(found.items("policies"));
                                            @if policies.is_empty() { i { "none" } } @else { (policies) }
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

fn others(count: u64) -> Markup {
    html! { @if count > 1 { " " small { "and " (count - 1) " like it" } } }
}

/// Where one chooses what is looked at.
pub fn connections(kinds: &[String]) -> Page {
    let main = html! {
        form.card.question action="/connection" {
            p { label for="ask-from" { "From" } input #ask-from name="from" placeholder="web-1" autocomplete="off"; }
            p { label for="ask-to" { "To" } input #ask-to name="to" placeholder="backend-1" autocomplete="off"; }
            p { button.main { "Ask" } }
        }
        form.card.question.filter action="/connections" {
            p {
                label for="ask-kind" { "Everybody and everything, under one kind" }
                select #ask-kind name="kind" { option value="" { "choose a kind" } @for kind in kinds { option { (kind) } } }
            }
            p { button { "Show" } }
        }
    };
    Page::new(Section::Connections, "What holds between two proxies?", main).crumb("Connections", None)
}
