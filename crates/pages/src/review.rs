//! Before and after a change: what is wrong with policies, and what changes between two revisions.

use maud::{Markup, html};
use serde_json::Value as Json;

use crate::address::Address;
use crate::problem::diagnostic;
use crate::report::{at, link_to};
use crate::seen::{Seen, joined};
use crate::shell::{Page, Section};

/// Shifts that are shown on one page.
const MOST: usize = 60;

/// What is wrong with the policies themselves.
pub fn findings(linted: &Json) -> Page {
    let all = linted.items("findings");
    let main = html! {
        section.card {
            @if all.is_empty() { p.empty { "Nothing, or nothing that you may see." } }
            ul.rows { @for one in all.iter().take(MOST) { li { (diagnostic(one)) } } }
            @if all.len() > MOST { p.more { "and " (all.len() - MOST) " more; the JSON has all of them" } }
        }
    };
    Page::new(Section::Policies, linted.text("headline"), main)
        .crumb("Policies", Some(Address::of("/policies")))
        .crumb("Findings", None)
}

/// What changes, and for whom: what lets more through first; between two revisions, if that is what was compared.
pub fn changes(shifts: &Json, revisions: Option<(u64, u64)>) -> Page {
    let all = shifts.items("shifts");
    let of = |wanted: &'static str| {
        all.iter().filter(move |shift| (shift.raw("direction") == "widened") == (wanted == "widened"))
    };
    let main = html! {
        (documents(shifts))
        @for (word, heading) in [("widened", "Lets more through"), ("others", "Other results that change")] {
            @if of(word).next().is_some() {
                section.card {
                    header { h2 { (heading) } }
                    @for shift in of(word).take(MOST) { (one(shift)) }
                    @if of(word).count() > MOST { p.more { "and more; the JSON has all of them" } }
                }
            }
        }
        @if !shifts.items("violations").is_empty() {
            section.card { header { h2 { "Violations" } } (violations(shifts)) }
        }
        @if all.is_empty() && shifts.items("violations").is_empty() { section.card { p.empty { "No result changes." } } }
        @for note in shifts.items("notes") { p.note { (note.text("text")) } }
        @if let Some((from, to)) = revisions {
            p { a href=(Address::of("/history").with("from", &from.to_string()).with("to", &to.to_string())) { "What was written" } }
        }
    };
    let page = Page::new(Section::History, shifts.text("headline/text"), main);
    let page = page.crumb("History", Some(Address::of("/history"))).crumb("Review", None);
    match revisions {
        Some((from, to)) => page.form(html! {
            form.card.question action="/changes" {
                p { label for="from" { "From revision" } input #from name="from" type="number" min="0" value=(from); }
                p { label for="to" { "To revision" } input #to name="to" type="number" min="0" value=(to); }
                p { button.main { "Compare" } }
            }
        }),
        None => page,
    }
}

/// The documents that are not the same.
fn documents(shifts: &Json) -> Markup {
    const SHOWN: usize = 20;
    let all = shifts.items("changed");
    html! {
        @if !all.is_empty() {
            section.card {
                header { h2 { "Documents that are not the same" } span.margin { (all.len()) } }
                ul.rows {
                    @for one in all.iter().take(SHOWN) {
                        li {
                            b { (one.text("change")) } " "
                            (link_to(one.raw("kind"), one.raw("name"), one.raw("scope"), &format!("{}/{}/{}", one.text("kind"), one.text("scope"), one.text("name"))))
                            " " (at(one.part("at"), None))
                        }
                    }
                    @if all.len() > SHOWN { li { "and " (all.len() - SHOWN) " more" } }
                }
            }
        }
    }
}

/// Each sort of change, as many as fit.
pub(crate) fn shifts(all: &[Json]) -> Markup {
    html! {
        @for shift in all.iter().take(MOST) { (one(shift)) }
        @if all.len() > MOST { p.more { "and " (all.len() - MOST) " more; the JSON has all of them" } }
    }
}

/// Violations that begin and end.
pub(crate) fn violations(shifts: &Json) -> Markup {
    let all = shifts.items("violations");
    html! {
        @if !all.is_empty() {
            ul.rows {
                @for violation in all.iter().take(MOST) {
                    li { b { (violation.text("turn")) } " (" (violation.text("state")) ") " (violation.text("message")) }
                }
                @if all.len() > MOST { li { "and " (all.len() - MOST) " more" } }
            }
        }
    }
}

/// One sort of change: what it is about, what was, what is, how many, and because of what.
fn one(shift: &Json) -> Markup {
    let causes = shift.items("causes");
    let words = shift.part("example/question");
    let (was, is) = (shift.text("before/verdict"), shift.text("after/verdict"));
    html! {
        div.rows {
            p {
                b { (shift.text("kind")) } " "
                @if was != is { (was) " → " (is) ", " }
                (size(shift.part("size"))) ", for example "
                a href=(Address::of("/explain").with_words(words)) { (shift.text("example/what")) }
            }
            @for field in shift.items("fields") {
                p { code { (field.text("field")) } " " del { (value(field, "before")) } " → " ins { (value(field, "after")) } }
            }
            p.bc { "by " (joined(shift.items("after/policies"))) ", before by " (joined(shift.items("before/policies"))) }
            @if !causes.is_empty() {
                p.bc {
                    "because of "
                    @for (number, cause) in causes.iter().enumerate() {
                        @if number > 0 { ", " }
                        (cause.text("name")) " (" (cause.text("change")) ") " (at(cause.part("at"), None))
                    }
                }
            }
        }
    }
}

fn value(field: &Json, side: &str) -> String {
    if field.has(side) { field.text(side) } else { "not set".to_owned() }
}

/// `{"connections": 3}` in words.
fn size(size: &Json) -> String {
    let counted = size.as_object().and_then(|size| size.iter().next());
    counted.map_or_else(String::new, |(noun, count)| match noun.as_str() {
        "requests" if count == 1 => "1 kind of request".to_owned(),
        "requests" => format!("{count} kinds of requests"),
        noun if count == 1 => format!("1 {}", noun.trim_end_matches('s')),
        noun => format!("{count} {noun}"),
    })
}
