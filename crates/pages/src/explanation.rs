//! The inspector: every answer to one question. Also what asks: the form of each sort of question.

use std::collections::BTreeSet;

use maud::{Markup, html};
use serde_json::Value as Json;
use upheld_report::{Counted, Several, visible};

use crate::address::Address;
use crate::pairs;
use crate::problem::problem;
use crate::report::{Depth, Look, card, placed, standing};
use crate::seen::Seen;
use crate::shell::{Page, Section};
use crate::whatif::Supposing;

/// Which form stands over the answer; all of them lead to the same question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inspector {
    /// Who calls whom.
    Connection,
    /// A request to a gateway, or a route.
    Gateway,
    /// A request for a decision.
    Access,
    /// Whatever words say.
    Any,
}

impl Inspector {
    /// Where it is.
    pub fn path(self) -> &'static str {
        match self {
            Self::Connection => "/connection",
            Self::Gateway => "/gateway",
            Self::Access => "/access",
            Self::Any => "/explain",
        }
    }

    fn section(self) -> Section {
        match self {
            Self::Connection => Section::Connections,
            Self::Gateway => Section::Gateways,
            Self::Access => Section::Access,
            Self::Any => Section::Ask,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Connection => "Connections",
            Self::Gateway => "Gateways",
            Self::Access => "Access",
            Self::Any => "Ask",
        }
    }

    /// What is asked before anything is.
    fn invitation(self) -> &'static str {
        match self {
            Self::Connection => "What holds between two proxies?",
            Self::Gateway => "What becomes of a request to a gateway?",
            Self::Access => "Is a request permitted, and why?",
            Self::Any => "What holds here, and why?",
        }
    }

    /// Its fields: name, what it is called, an example, and how long texts there are.
    fn fields(self) -> &'static [(&'static str, &'static str, &'static str)] {
        match self {
            Self::Connection => &[
                ("from", "From", "web-1"),
                ("to", "To", "backend-1"),
                ("kind", "Kind", "all kinds"),
                ("path", "Path", "any"),
                ("method", "Method", "any"),
                ("mesh", "Mesh", "any"),
            ],
            Self::Gateway => &[
                ("what", "Route or backend", "a route, or leave it out"),
                ("host", "Host", "shop.example"),
                ("path", "Path", "/cart"),
                ("method", "Method", "GET"),
                ("header", "Header", "name=value"),
                ("kind", "Kind", "all kinds"),
            ],
            Self::Access => &[
                ("subject", "Subject", "role=admin,group=ops"),
                ("action", "Action", "DELETE"),
                ("resource", "Resource", "/api/audit/123"),
                ("env", "Environment", "ip=192.0.2.7"),
            ],
            Self::Any => &[("what", "What", "project/a~workspace/b"), ("kind", "Kind", "all kinds")],
        }
    }
}

/// The form alone, before anything is asked; below it a drawing of what there is, if there is one at an address.
pub fn invitation(inspector: Inspector, drawing: Option<&str>) -> Page {
    let main = html! {
        @if let Some(address) = drawing {
            figure.card.map {
                div.scroll role="region" aria-label="Drawing" tabindex="0" { img src=(address) alt="What leads where, with the policies at each place"; }
                figcaption { "What leads where, with the policies at each place. The same as text: " code { "upheld graph" } }
            }
        }
    };
    let page = Page::new(inspector.section(), inspector.invitation(), main).crumb(inspector.name(), None);
    page.form(form(inspector, &Json::Null, None))
}

/// An answer, in whatever shape it was asked for. Where it can be asked again, what is supposed is part of the question.
pub fn explanation(inspector: Inspector, words: &Json, answer: &Json, supposing: Option<&Supposing>) -> Page {
    if answer.raw("kind") == "AllPairs" {
        return pairs::pairs(words, answer);
    }
    let reports = answer.items("answers");
    let asked_again = supposing.map(|supposing| supposing.of(inspector, words));
    let look = |depth: Depth| Look { depth, asked: asked_again.as_ref() };
    let main = html! {
        @match reports {
            [] => section.card.empty { p { "No kind of policy that can be asked here has a policy." } p { a href="/policies" { "What was read" } } },
            [only] => (card(only, "answer", look(Depth::Whole))),
            several => (beside_each_other(words, inspector, several, look(Depth::Folded))),
        }
    };
    let form = form(inspector, words, asked_again.as_ref());
    let page = Page::new(inspector.section(), headline(words, reports), main).form(form);
    page.crumb(inspector.name(), Some(Address::of(inspector.path()))).crumb(asked(words, reports), None)
}

/// A question that cannot be answered, with the form to ask it better.
pub fn unanswered(inspector: Inspector, words: &Json, told: &Json, address: &str) -> Page {
    problem(inspector.section(), told, address).form(form(inspector, words, None))
}

/// The first sentence: that of the only report, or one over all of them.
pub fn headline(words: &Json, reports: &[Json]) -> String {
    if let [only] = reports {
        let own = only.text("headline/text");
        // A report that was cut says only what it comes to.
        return if own.is_empty() { format!("{}: {}", only.text("kind"), only.text("verdict")) } else { own };
    }
    let kinds = |of: &dyn Fn(&&Json) -> bool| -> Vec<&str> {
        reports.iter().filter(|report| of(report)).map(|report| report.raw("kind")).collect()
    };
    let count = |kinds: &[&str]| kinds.iter().collect::<BTreeSet<_>>().len();
    let speaking = kinds(&|report| !report.items("policies").is_empty());
    let placed = reports.iter().any(|report| report.has("about/place") || report.raw("family") == "hierarchy");
    let several = Several {
        about: asked(words, reports),
        asked: count(&kinds(&|_| true)),
        applied: count(&speaking),
        speaking: speaking.len(),
        ties: reports.iter().filter(|report| is_tie(report)).count(),
        undecided: reports.iter().filter(|report| report.raw("outcome") == "undecided").count(),
        counted: if placed { Counted::Places } else { Counted::Kinds },
    };
    several.text()
}

/// Whether only the order of names decided.
fn is_tie(report: &Json) -> bool {
    let by_field =
        report.raw("family") == "hierarchy" && report.items("notes").iter().any(|note| note.raw("code") == "UP201");
    by_field || report.part("rung/arbitrary") == &Json::Bool(true)
}

/// What was asked about, in words.
fn asked(words: &Json, reports: &[Json]) -> String {
    let mut about = reports.iter().map(|report| report.raw("about/what"));
    if let Some(first) = about.next().filter(|first| !first.is_empty())
        && about.all(|other| other == first)
    {
        return visible(first);
    }
    let list = |name: &str| match words.part(name) {
        Json::Array(all) => all.iter().filter_map(Json::as_str).map(visible).collect::<Vec<_>>().join(","),
        _ => words.text(name),
    };
    let (from, to, what) = (list("from"), list("to"), list("what"));
    match (from.is_empty(), to.is_empty(), what.is_empty()) {
        (false, false, _) => format!("{from} → {to}"),
        (_, false, false) => format!("{what} → {to}"),
        (_, _, false) => what,
        (false, true, true) => from,
        (true, false, true) => to,
        (true, true, true) => {
            let request: Vec<String> = ["subject", "method", "action", "host", "path", "resource"]
                .map(list)
                .into_iter()
                .filter(|text| !text.is_empty())
                .collect();
            request.join(" ")
        }
    }
}

/// Several reports: a list of kinds, and a card for each.
fn beside_each_other(words: &Json, inspector: Inspector, reports: &[Json], look: Look<'_>) -> Markup {
    const MOST: usize = 60;
    html! {
        div.beside {
            nav.kinds aria-label="Kinds" {
                h2 { "Kinds" }
                ul {
                    @for (number, report) in reports.iter().take(MOST).enumerate() {
                        li {
                            a href=(format!("#answer-{number}")) {
                                span { (report.text("kind")) @if is_tie(report) { b.tie { "! tie" } } }
                                @let place = placed(report);
                                @if !place.is_empty() { small { (place) } }
                                small { (report.text("summary")) " · " (standing(report)) }
                            }
                        }
                    }
                }
            }
            div.cards {
                @for (number, report) in reports.iter().take(MOST).enumerate() { (card(report, &format!("answer-{number}"), look)) }
                @if reports.len() > MOST {
                    p.more { "and " (reports.len() - MOST) " more answers: name a kind to see them. " a href=(Address::of(inspector.path()).with_words(words).with("format", "json")) { "All as JSON" } }
                }
            }
        }
    }
}

/// The form of a question, filled in as it was asked. What it was is at hand to compare with.
fn form(inspector: Inspector, words: &Json, asked: Option<&Address>) -> Markup {
    let given = |name: &str| match words.part(name) {
        Json::Array(all) => all.iter().filter_map(Json::as_str).collect::<Vec<_>>().join(","),
        Json::String(text) => text.clone(),
        Json::Null => String::new(),
        other => other.to_string(),
    };
    let known: Vec<&str> = inspector.fields().iter().map(|(name, ..)| *name).collect();
    let others = words.as_object().into_iter().flatten().filter(|(name, _)| !known.contains(&name.as_str()));
    html! {
        form.card.question action=(inspector.path()) {
            @for (name, label, example) in inspector.fields() {
                p {
                    label for=(format!("ask-{name}")) { (label) }
                    input id=(format!("ask-{name}")) name=(name) value=(given(name)) placeholder=(example) autocomplete="off" spellcheck="false";
                }
            }
            @for (name, value) in others {
                @if let Some(text) = value.as_str() { input type="hidden" name=(name) value=(text); }
            }
            p {
                button.main { "Ask" }
                @if let Some(asked) = asked { " " button name="was" value=(asked.query()) title="The answer to this, and what is otherwise than now" { "Compare" } }
            }
        }
    }
}
