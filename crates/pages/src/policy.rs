//! A policy or an object: what it says, line by line as it was written, and where it counts.

use maud::{Markup, html};
use serde_json::Value as Json;
use upheld_report::visible;

use crate::address::Address;
use crate::gutter;
use crate::lists::Sort;
use crate::relation::violation;
use crate::seen::{Seen, joined, place};
use crate::shell::{Page, Section};
use crate::whatif::otherwise;

/// So many who go before are listed.
const LOSSES: usize = 12;

/// What is known of a policy besides what it says.
#[derive(Clone, Debug, Default)]
pub struct Beside {
    /// Where its fields live and die; null where nobody counts that.
    pub survival: Json,
    /// What would change if it were deleted; null where nobody asked.
    pub without: Json,
}

/// Whatever lists have, by its id.
pub fn thing(sort: Sort, shown: &Json, beside: &Beside) -> Page {
    let (kind, name, scope) = (shown.text("kind"), shown.text("name"), shown.text("mesh"));
    let main = html! {
        div.wide-narrow {
            (source(sort, shown, &beside.survival))
            aside aria-label="Where it counts" {
                (counts(shown))
                (losses(&beside.survival))
                @if sort == Sort::Policies { (deleted(shown, &beside.without)) }
                (attached(shown))
                (parts(shown))
                (related(shown))
                (facts(shown))
            }
        }
        @for check in shown.items("violations") { section.card { (violation(check, "", "")) } }
    };
    let page = Page::new(Section::Policies, headline(shown), main).lead(gutter::sentence(&beside.survival));
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

/// The text as it was written, with the numbers of its lines and in how many results each field is alive.
fn source(sort: Sort, shown: &Json, survival: &Json) -> Markup {
    let file = place(shown.part("at")).unwrap_or_default();
    let edit = sort.editor(&[shown.raw("kind"), shown.raw("mesh"), shown.raw("name")]);
    html! {
        section.card.source {
            header {
                h2 { (visible(file.rsplit('/').next().unwrap_or_default())) }
                span.margin { (file) " · " a href=(edit) { "Edit, and see what changes" } }
            }
            div.scroll role="region" aria-label="Source" tabindex="0" { (gutter::table(shown, survival)) }
        }
    }
}

/// Where it matches and somebody else goes before.
fn losses(survival: &Json) -> Markup {
    let all = survival.items("loses");
    html! {
        @if !all.is_empty() {
            section.card {
                header { h2 { "Where it loses, and to whom" } span.margin { (survival.number("results") - survival.number("stands")) " of " (survival.number("results")) " results" } }
                ul.rows {
                    @for death in all.iter().take(LOSSES) {
                        li { span.policy { (death.text("to")) } " " small { (death.number("results")) } p.bc { (death.text("because")) } }
                    }
                    @if all.len() > LOSSES { li { "and " (all.len() - LOSSES) " more" } }
                }
            }
        }
    }
}

/// What would change if it were deleted; that may take a while, so somebody has to ask.
fn deleted(shown: &Json, without: &Json) -> Markup {
    let own = Sort::Policies.address(&[shown.raw("kind"), shown.raw("mesh"), shown.raw("name")]);
    html! {
        section.card {
            header { h2 { "If it were deleted" } }
            @if without.is_null() {
                p { a href=(own.with("if", "deleted")) { "What would change?" } }
            } @else { (otherwise(without, "No result changes.")) }
        }
    }
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
