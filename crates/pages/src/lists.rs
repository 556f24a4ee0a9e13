//! Lists, page by page: policies, objects, what a search finds, kinds and codes.

use maud::{Markup, html};
use serde_json::Value as Json;
use upheld_report::visible;

use crate::address::Address;
use crate::report::at;
use crate::seen::Seen;
use crate::shell::{Page, Section};

/// What is listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    /// Policies.
    Policies,
    /// Objects.
    Objects,
}

impl Sort {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Policies => "Policies",
            Self::Objects => "Objects",
        }
    }

    /// Where one of them is shown, by kind, scope and name.
    pub fn address(self, id: &[&str]) -> Address {
        Address::below(if self == Self::Objects { "/object" } else { "/policy" }, id)
    }

    /// Where one of them is edited.
    pub fn editor(self, id: &[&str]) -> Address {
        Address::below(if self == Self::Objects { "/edit/object" } else { "/edit/policy" }, id)
    }

    pub(crate) fn path(self) -> &'static str {
        match self {
            Self::Policies => "/policies",
            Self::Objects => "/objects",
        }
    }
}

/// One page of a list, as the server cuts it.
pub fn list(sort: Sort, kind: &str, listed: &Json) -> Page {
    let items = listed.items("items");
    let noun = if kind.is_empty() { sort.name().to_lowercase() } else { visible(kind) };
    let headline = match (items.len(), listed.has("next")) {
        (0, _) => format!("There are no {noun} here, or none that you may see."),
        (count, true) => format!("{count} {noun} of more."),
        (count, false) => format!("{count} {noun}."),
    };
    let main = html! {
        (find())
        section.card { (rows(items)) }
        @if let Some(next) = listed.part("next").as_str() {
            p.pages { a.button rel="next" href=(Address::of(sort.path()).with("kind", kind).with("after", next)) { "Next page" } }
        }
    };
    let page = Page::new(Section::Policies, headline, main);
    let page = page.crumb(sort.name(), Some(Address::of(sort.path())));
    if kind.is_empty() { page } else { page.crumb(visible(kind), None) }
}

/// What a search found; also where a name could be any of several things.
pub fn search(query: &str, found: &Json) -> Page {
    let items = found.items("items");
    let asked = visible(query);
    let headline = match (items.len(), found.has("more")) {
        _ if query.is_empty() => "What do you look for?".to_owned(),
        (0, _) => format!("Nothing is called “{asked}”, or nothing that you may see."),
        (count, false) => format!("{count} found for “{asked}”."),
        (count, true) => format!("The best {count} for “{asked}”."),
    };
    let main = html! { (find_filled(query)) section.card { (rows(items)) } };
    Page::new(Section::Policies, headline, main).crumb("Search", None)
}

fn find() -> Markup {
    find_filled("")
}

fn find_filled(query: &str) -> Markup {
    html! {
        form.card.question action="/search" {
            p { label for="find" { "Name, type or tag" } input #find name="q" type="search" value=(query) autocomplete="off"; }
            p { button.main { "Search" } }
        }
    }
}

fn rows(items: &[Json]) -> Markup {
    html! {
        @if !items.is_empty() {
            table.rows {
                thead { tr { th scope="col" { "Kind" } th scope="col" { "Name" } th scope="col" { "In" } th scope="col" { "Tags" } th scope="col" { "At" } } }
                tbody {
                    @for item in items {
                        tr {
                            td data-h="Kind" { (item.text("kind")) }
                            td data-h="Name" { a href=(thing(item)) { (item.text("name")) } }
                            td data-h="In" { (item.text("mesh")) }
                            td.tags data-h="Tags" { (item.text("tags")) }
                            td data-h="At" { (at(item.part("at"), None)) }
                        }
                    }
                }
            }
        }
    }
}

/// Where a thing of a list is shown.
pub fn thing(item: &Json) -> Address {
    let sort = if item.raw("sort") == "object" { Sort::Objects } else { Sort::Policies };
    sort.address(&[item.raw("kind"), item.raw("mesh"), item.raw("name")])
}

/// The kinds of policies: how each matches, ranks and resolves.
pub fn kinds(listed: &Json) -> Page {
    let items = listed.items("kinds");
    let main = html! {
        section.card {
            table.rows.known {
                thead { tr { th scope="col" { "Kind" } th scope="col" { "Looks at" } th scope="col" { "Ladder" } th scope="col" { "Resolves" } th scope="col" { "Semantics" } th scope="col" { "What it decides" } } }
                tbody {
                    @for kind in items {
                        tr #(kind.raw("kind")) {
                            td data-h="Kind" { a href=(Address::of("/policies").with("kind", kind.raw("kind"))) { (kind.text("kind")) } }
                            td data-h="Looks at" { (kind.text("matches")) }
                            td data-h="Ladder" {
                                @let rungs: Vec<&str> = kind.raw("rank").split(", ").filter(|rung| !rung.is_empty()).collect();
                                ol.ladder { @for rung in rungs { li { (visible(rung)) } } }
                            }
                            td data-h="Resolves" { (kind.text("resolve")) }
                            td data-h="Semantics" { code { (kind.text("semantics")) } }
                            td data-h="About" { (kind.text("about")) }
                        }
                    }
                }
            }
        }
        p.more { a href="/learn" { "How they resolve, step by step" } " · " a href="/codes" { "What codes mean" } }
    };
    let headline = format!("{} kinds of policy are known here.", items.len());
    let lead = "Candidates climb the ladder of their kind from the top; the first rung that tells two apart decides.";
    Page::new(Section::Reference, headline, main).lead(lead).crumb("Kinds", None)
}

/// All codes.
pub fn codes(listed: &Json) -> Page {
    let items = listed.items("items");
    let main = html! {
        section.card {
            table.rows {
                thead { tr { th scope="col" { "Code" } th scope="col" { "Title" } } }
                tbody { @for code in items { tr { td data-h="Code" { (crate::report::code(code.raw("code"))) } td data-h="Title" { (code.text("title")) } } } }
            }
        }
        @if let Some(next) = listed.part("next").as_str() {
            p.pages { a.button rel="next" href=(Address::of("/codes").with("after", next)) { "Next page" } }
        }
    };
    Page::new(Section::Reference, "What codes mean.", main)
        .crumb("Kinds", Some(Address::of("/kinds")))
        .crumb("Codes", None)
}

/// One code.
pub fn code(meaning: &Json) -> Page {
    let example = |heading: &str, text: &str| {
        html! { @if !text.is_empty() { section.box { h2 { (heading) } pre tabindex="0" aria-label=(heading) { (text) } } } }
    };
    let main = html! {
        section.card.text { p { (meaning.text("text")) } }
        div.two { (example("What has it", meaning.raw("bad"))) (example("How it would be right", meaning.raw("good"))) }
    };
    let headline = format!("{}: {}", meaning.text("code"), meaning.text("title"));
    let page = Page::new(Section::Reference, headline, main).crumb("Kinds", Some(Address::of("/kinds")));
    page.crumb("Codes", Some(Address::of("/codes"))).crumb(meaning.text("code"), None)
}
