//! What is around every page: the way to others, where the answer comes from, and how to ask the same elsewhere.

use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde_json::Value as Json;

use crate::address::Address;
use crate::assets;
use crate::problem::diagnostic;

/// A page without what is around it.
#[derive(Clone, Debug)]
pub struct Page {
    /// Where it belongs.
    pub section: Section,
    /// The first sentence, which is also the title.
    pub headline: String,
    /// What there is to see, from the wide to the narrow, with where that leads.
    pub(crate) crumbs: Vec<(String, Option<Address>)>,
    /// What is said below the first sentence.
    pub(crate) lead: Option<String>,
    /// The form that asks again; a file has none.
    pub(crate) form: Option<Markup>,
    /// Everything else.
    pub(crate) main: Markup,
}

impl Page {
    pub(crate) fn new(section: Section, headline: impl Into<String>, main: Markup) -> Self {
        Self { section, headline: headline.into(), crumbs: Vec::new(), lead: None, form: None, main }
    }

    #[must_use]
    pub(crate) fn form(self, form: Markup) -> Self {
        Self { form: Some(form), ..self }
    }

    #[must_use]
    pub(crate) fn lead(mut self, lead: impl Into<String>) -> Self {
        self.lead = Some(lead.into()).filter(|lead| !lead.is_empty());
        self
    }

    #[must_use]
    pub(crate) fn crumb(mut self, label: impl Into<String>, address: Option<Address>) -> Self {
        self.crumbs.push((label.into(), address));
        self
    }
}

/// The parts of the site. Reviews of changes and findings will be sections of their own, between policies and history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// Where one begins.
    Ask,
    /// Who calls whom.
    Connections,
    /// Requests that come in.
    Gateways,
    /// Permit or deny.
    Access,
    /// Objects whose tags must agree.
    Compliance,
    /// What was read.
    Policies,
    /// What was written, and when.
    History,
    /// What words mean.
    Reference,
}

impl Section {
    /// Those with a place at the top of each page.
    const TOP: [Self; 8] = [
        Self::Ask,
        Self::Connections,
        Self::Gateways,
        Self::Access,
        Self::Compliance,
        Self::Policies,
        Self::History,
        Self::Reference,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Ask => "Ask",
            Self::Connections => "Connections",
            Self::Gateways => "Gateways",
            Self::Access => "Access",
            Self::Compliance => "Compliance",
            Self::Policies => "Policies",
            Self::History => "History",
            Self::Reference => "Kinds",
        }
    }

    fn path(self) -> &'static str {
        match self {
            Self::Ask => "/",
            Self::Connections => "/connections",
            Self::Gateways => "/gateway",
            Self::Access => "/access",
            Self::Compliance => "/compliance",
            Self::Policies => "/policies",
            Self::History => "/history",
            Self::Reference => "/kinds",
        }
    }
}

/// How a page is given to its reader.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Medium {
    /// By a server, which has the other pages, too.
    #[default]
    Served,
    /// As one file, which leads nowhere.
    File,
}

/// Whether what is shown is what the files say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Health {
    /// It is.
    #[default]
    Current,
    /// They are broken; this is what they said before.
    LastGood,
}

/// Whether the server knows who reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reader {
    /// Nobody said.
    #[default]
    Anonymous,
    /// By a token that the browser keeps.
    SignedIn,
}

/// So much of what is wrong with files is told on every page.
const BROKEN: usize = 2;

/// What is known of a page besides what it says.
#[derive(Clone, Debug, Default)]
pub struct Around {
    /// How it is given.
    pub medium: Medium,
    /// Its own address.
    pub address: String,
    /// Where programs get the same.
    pub json: Option<String>,
    /// The command that asks the same.
    pub command: Option<String>,
    /// The revision that answered.
    pub revision: Option<String>,
    /// The fingerprint of what answered.
    pub digest: Option<String>,
    /// The editions that answered.
    pub semantics: Option<String>,
    /// Whether files are broken.
    pub health: Health,
    /// What is wrong with them, as far as whoever reads may know.
    pub broken: Vec<Json>,
    /// Who reads.
    pub reader: Reader,
    /// `light` or `dark`; as the system has it when left out.
    pub theme: Option<String>,
}

impl Page {
    /// The whole document.
    pub fn document(&self, around: &Around) -> String {
        let served = around.medium == Medium::Served;
        let page = html! {
            (DOCTYPE)
            html lang="en" data-theme=[around.theme.as_deref()] data-events=[served.then_some("/pages/events")] {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    title { (self.headline) " · upheld" }
                    @if served {
                        link rel="stylesheet" href=(assets::style());
                        link rel="icon" href=(assets::icon()) type="image/svg+xml";
                        script src=(assets::script()) type="module" {}
                    } @else {
                        meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'";
                        style { (PreEscaped(assets::STYLE)) }
                    }
                }
                body {
                    a.skip href="#main" { "Skip to the answer" }
                    @if served { (self.header(around)) }
                    main #main tabindex="-1" {
                        (self.tools(around))
                        h1 { (self.headline) }
                        @if let Some(lead) = &self.lead { p.lead { (lead) } }
                        @if served && let Some(form) = &self.form { (form) }
                        (self.main)
                    }
                    (footer(around))
                    @if served { (keys()) }
                }
            }
        };
        let page = page.into_string();
        // A file ends with its last line.
        if served { page } else { with_links(&page, |tag| tag.contains("href=\"#")) + "\n" }
    }

    fn header(&self, around: &Around) -> Markup {
        html! {
            header.top {
                a.brand href="/" { img src=(assets::icon()) alt="" width="18" height="18"; "upheld" }
                @if self.section != Section::Ask {
                    form.find role="search" action="/ask" {
                        label.hidden for="q" { "Ask" }
                        input #q name="q" type="search" placeholder="Ask: web-1 → backend-1" autocomplete="off";
                        kbd { "/" }
                    }
                }
                nav aria-label="Sections" {
                    @for section in Section::TOP {
                        a href=(section.path()) aria-current=[(section == self.section).then_some("page")] { (section.name()) }
                    }
                }
                (pill(around))
            }
            @if !around.broken.is_empty() {
                div.note.broken {
                    p { "Files are broken. This is what they said before. " a href="/diagnostics" { "All that is wrong" } }
                    ul { @for one in around.broken.iter().take(BROKEN) { li { (diagnostic(one)) } } }
                }
            }
            p #live .note.news hidden role="status" { span {} " " a href=(around.address) { "Show it" } }
        }
    }

    /// Where this is, and how to take it along.
    fn tools(&self, around: &Around) -> Markup {
        let served = around.medium == Medium::Served;
        html! {
            div.tools {
                nav.crumbs aria-label="Where this is" {
                    @for (label, address) in &self.crumbs {
                        @match address {
                            Some(address) if served => a href=(address) { (label) },
                            _ => span { (label) },
                        }
                    }
                }
                div.take {
                    @if let Some(command) = &around.command {
                        details.cmd {
                            summary { "As command line" }
                            div { code #command { (command) } @if served { button.copy type="button" data-copy="command" hidden { "Copy" } } }
                        }
                    }
                    @if let Some(json) = &around.json { a.button href=(json) { "JSON" } }
                    @if served { button.copy.link type="button" data-copy-link hidden { "Copy link" } }
                }
            }
        }
    }
}

/// What is below: what answered, and how one looks at it.
fn footer(around: &Around) -> Markup {
    let served = around.medium == Medium::Served;
    html! {
        footer {
            span { "upheld " (env!("CARGO_PKG_VERSION")) }
            @if let Some(semantics) = around.semantics.as_ref().filter(|text| !text.is_empty()) {
                span { "Semantics " code { (semantics) } }
            }
            @if !served && let Some(digest) = &around.digest { span { "Snapshot " code { (short(digest)) } } }
            @if served {
                form action="/pages/theme" {
                    input type="hidden" name="next" value=(around.address);
                    button name="theme" value=(if around.theme.as_deref() == Some("dark") { "light" } else { "dark" }) {
                        "Light or dark"
                    }
                }
                @match around.reader {
                    Reader::SignedIn => form method="post" action="/sign-out" { button { "Sign out" } },
                    // A way to sign in that leads back to itself would grow without end.
                    Reader::Anonymous if around.address.starts_with("/sign-in") => {},
                    Reader::Anonymous => a href=(Address::of("/sign-in").with("next", &around.address)) { "Sign in" },
                }
                span.keys { kbd { "/" } " ask " kbd { "j" } kbd { "k" } " rows " kbd { "c" } " copy link " kbd { "?" } " all keys" }
            }
        }
    }
}

/// What was written, with those links alone that are kept. Links have no links in them, and text has no tags: whatever looks like one is one.
pub(crate) fn with_links(page: &str, is_kept: impl Fn(&str) -> bool) -> String {
    let mut all = String::with_capacity(page.len());
    let mut rest = page;
    while let Some((before, link)) = rest.split_once("<a ") {
        all.push_str(before);
        let (tag, inside) = link.split_once('>').unwrap_or((link, ""));
        let (text, after) = inside.split_once("</a>").unwrap_or((inside, ""));
        if is_kept(tag) {
            all.push_str(&format!("<a {tag}>{text}</a>"));
        } else if !tag.contains("class=\"act\"") {
            // What can be tried on a page cannot be tried elsewhere; everything else is still said.
            all.push_str(&format!("<span>{text}</span>"));
        }
        rest = after;
    }
    all + rest
}

/// Which revision this is, and whether it is what the files say.
fn pill(around: &Around) -> Markup {
    let revision = around.revision.as_deref().unwrap_or("–");
    let digest = around.digest.as_deref().map(short).unwrap_or_default();
    html! {
        @match around.health {
            Health::Current => a.pill.good #pill data-revision=[around.revision.as_deref()] href="/history" { "revision " (revision) " " code { (digest) } },
            Health::LastGood => a.pill.warn #pill data-revision=[around.revision.as_deref()] href="/diagnostics" { "! last good snapshot " code { (digest) } },
        }
    }
}

fn short(digest: &str) -> &str {
    digest.get(..8).unwrap_or(digest)
}

/// What the keyboard does.
fn keys() -> Markup {
    html! {
        dialog #keys aria-labelledby="keys-title" {
            h2 #keys-title { "Keys" }
            dl {
                @for (key, what) in [
                    ("/", "ask"),
                    ("j, k", "next and previous row"),
                    ("enter", "open what is marked"),
                    ("e", "open and close the evidence"),
                    ("c", "copy the address"),
                    ("?", "this help"),
                ] {
                    div { dt { kbd { (key) } } dd { (what) } }
                }
            }
            form method="dialog" { button { "Close" } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_leads_nowhere_but_within_itself() {
        let main = html! { a.policy href="/find?name=a" title="<a " { "a" } " and " a href="#main" { "up" } };
        let page = Page::new(Section::Ask, "Which?", main).crumb("Ask", Some(Address::of("/")));
        let file = page.document(&Around { medium: Medium::File, ..Around::default() });
        assert!(file.contains("<span>a</span> and <a href=\"#main\">up</a>"), "{file}");
        assert!(!file.contains("href=\"/") && !file.contains("src=") && file.contains("<style>"), "{file}");
    }
}
