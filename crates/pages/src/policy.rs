//! A policy or an object: what it says, line by line as it was written, and where it counts.

use maud::{Markup, html};
use serde_json::Value as Json;
use upheld_report::visible;

use crate::address::Address;
use crate::lists::Sort;
use crate::relation::violation;
use crate::seen::{Seen, joined, place};
use crate::shell::{Page, Section};

/// Whatever lists have, by its id.
pub fn thing(sort: Sort, shown: &Json) -> Page {
    let (kind, name, scope) = (shown.text("kind"), shown.text("name"), shown.text("mesh"));
    let main = html! {
        div.wide-narrow {
            (source(shown))
            aside aria-label="Where it counts" {
                (counts(shown))
                (attached(shown))
                (parts(shown))
                (related(shown))
                (facts(shown))
            }
        }
        @for check in shown.items("violations") { section.card { (violation(check, "")) } }
    };
    let page = Page::new(Section::Policies, headline(shown), main);
    let page = page.crumb(sort.name(), Some(Address::of(sort.path())));
    let page = page.crumb(kind, Some(Address::of(sort.path()).with("kind", shown.raw("kind"))));
    page.crumb(if scope.is_empty() { name } else { format!("{scope} / {name}") }, None)
}

fn headline(shown: &Json) -> String {
    let (kind, name) = (shown.text("kind"), shown.text("name"));
    let counts = shown.part("counts").as_object().into_iter().flatten().next();
    if let Some((_, tally)) = counts {
        let (pairs, of) = (tally.number("pairs"), tally.number("of"));
        return format!("{kind} {name} wins for {pairs} of {of} pairs of caller and called.");
    }
    let attached = shown.part("attached");
    if attached.has("of") {
        let count = attached.items("proxies").len();
        return format!("{kind} {name} is attached to {count} of {} proxies.", attached.number("of"));
    }
    format!("{kind} {name}")
}

/// The text as it was written, with the numbers of its lines; where nobody has it, the document.
fn source(shown: &Json) -> Markup {
    let (text, first) = (shown.raw("source/text"), shown.number("source/line").max(1));
    let file = place(shown.part("at")).unwrap_or_default();
    let plain = serde_json::to_string_pretty(shown.part("document")).unwrap_or_default();
    let lines: Vec<&str> = if text.is_empty() { plain.lines().collect() } else { text.lines().collect() };
    html! {
        section.card.source {
            header { h2 { (visible(file.rsplit('/').next().unwrap_or_default())) } span.margin { (file) } }
            div.scroll role="region" aria-label="Source" tabindex="0" {
                table.src {
                    tbody {
                        @for (number, line) in (first..).zip(lines) {
                            tr #(format!("L{number}")) { th.line scope="row" { (number) } td { code { (shown_line(line)) } } }
                        }
                    }
                }
            }
        }
    }
}

/// A line with its indentation; what steers is shown.
fn shown_line(line: &str) -> String {
    visible(&line.replace('\t', "    "))
}

fn counts(shown: &Json) -> Markup {
    let counts = shown.part("counts").as_object();
    html! {
        @for (kind, tally) in counts.into_iter().flatten() {
            section.card {
                header { h2 { "Where it wins" } a href=(Address::of("/connections").with("kind", kind)) { "all" } }
                dl.numbers {
                    @for (label, name) in [("pairs", "pairs"), ("of", "of"), ("proxies", "proxies"), ("destinations", "destinations")] {
                        div { dt { (label) } dd { (tally.number(name)) } }
                    }
                }
            }
        }
    }
}

fn attached(shown: &Json) -> Markup {
    const MOST: usize = 40;
    let attached = shown.part("attached");
    let proxies = attached.items("proxies");
    html! {
        @if attached.has("of") {
            section.card {
                header { h2 { "Attached to" } span.margin { (proxies.len()) " of " (attached.number("of")) " proxies" } }
                ul.rows {
                    @for proxy in proxies.iter().take(MOST).filter_map(Json::as_str) {
                        li { a href=(Address::of("/explain").with("what", proxy).with("kind", shown.raw("kind"))) { (visible(proxy)) } }
                    }
                    @if proxies.len() > MOST { li { "and " (proxies.len() - MOST) " more" } }
                }
            }
        }
    }
}

fn parts(shown: &Json) -> Markup {
    let parts = shown.items("parts");
    html! {
        @if !parts.is_empty() {
            section.card {
                header { h2 { "Parts" } }
                ul.rows { @for part in parts { li { (part.text("role")) " " (part.text("section")) p.bc { (part.text("tags")) } } } }
            }
        }
    }
}

fn related(shown: &Json) -> Markup {
    let related = shown.items("related");
    let name = |one: &Json| one.as_str().map_or_else(|| one.raw("ref").to_owned(), str::to_owned);
    html! {
        @if !related.is_empty() {
            section.card {
                header { h2 { "Related to" } }
                ul.rows {
                    @for other in related {
                        @let other = name(other);
                        li { a href=(Address::of("/explain").with("what", &format!("{}~{other}", shown.raw("ref")))) { (visible(&other)) } }
                    }
                }
            }
        }
    }
}

fn facts(shown: &Json) -> Markup {
    let tags = shown.part("tags").as_object().into_iter().flatten();
    let computed = shown.part("computed").as_object().into_iter().flatten();
    let text = |value: &Json| match value {
        Json::Array(list) => joined(list),
        other => upheld_report::one_line(other),
    };
    let rows: Vec<(String, String)> = (tags.chain(computed).map(|(name, value)| (visible(name), text(value))))
        .chain(shown.has("created").then(|| ("created".to_owned(), shown.text("created"))))
        .collect();
    html! {
        @if !rows.is_empty() {
            section.card { header { h2 { "Known of it" } } dl.facts { @for (name, value) in rows { div { dt { (name) } dd { (value) } } } } }
        }
    }
}
