//! Lessons: how each family resolves, one policy a step. What stands beside a step is the report of the engine, in the same form as everywhere.

use std::collections::BTreeSet;

use maud::{Markup, PreEscaped, html};
use serde_json::Value as Json;
use upheld_report::visible;

use crate::address::Address;
use crate::explanation::headline;
use crate::report::{Depth, FIND, Look, card};
use crate::seen::Seen;
use crate::shell::{Page, Section, with_links};

/// All lessons.
pub fn lessons(listed: &Json) -> Page {
    let main = html! {
        div.two {
            @for lesson in listed.items("items") {
                section.card {
                    header { h2 { a href=(at(lesson, 1)) { (lesson.text("title")) } } span.margin { (lesson.number("steps")) " steps" } }
                    p { (lesson.text("about")) }
                }
            }
        }
        p.more { a href="/kinds" { "Kinds with their ladders" } " · " a href="/codes" { "What codes mean" } }
    };
    let lead = "Each lesson begins small and grows by one policy a step. The answers are those of the engine, to an example that comes with it.";
    Page::new(Section::Reference, "How policies resolve, step by step.", main)
        .lead(lead)
        .crumb("Kinds", Some(Address::of("/kinds")))
        .crumb("Learn", None)
}

/// A lesson after some of its steps.
pub fn lesson(taught: &Json) -> Page {
    let (step, of) = (taught.number("step"), taught.number("steps"));
    let reports = taught.items("answer/answers");
    let look = Look { depth: Depth::Whole, asked: None };
    // Policies of a lesson are on this page and nowhere else.
    let told = |report: &Json| with_links(&card(report, "answer", look).into_string(), |tag| !tag.contains(FIND));
    let main = html! {
        (steps(taught, step, of))
        @if taught.has("before") {
            @let (before, now) = (taught.text("before"), headline(taught.part("question"), reports));
            p.because data-part="before" { @if before == now { "The step before gave the same answer." } @else { "Before this step: " (before) } }
        }
        div.learn {
            div { (documents(taught, step)) (ladder(taught, reports)) }
            div { @for report in reports { (PreEscaped(told(report))) } }
        }
    };
    Page::new(Section::Reference, headline(taught.part("question"), reports), main)
        .lead(taught.text("says"))
        .crumb("Kinds", Some(Address::of("/kinds")))
        .crumb("Learn", Some(Address::of("/learn")))
        .crumb(format!("{}, step {step} of {of}", taught.text("title")), None)
}

/// Where a step of a lesson is.
fn at(lesson: &Json, step: u64) -> Address {
    Address::below("/learn", &[lesson.raw("name")]).with("step", &step.to_string())
}

/// The way through a lesson.
fn steps(taught: &Json, step: u64, of: u64) -> Markup {
    html! {
        nav.steps aria-label="Steps" {
            @if step > 1 { a.button rel="prev" href=(at(taught, step - 1)) { "Back" } } @else { span.button aria-disabled="true" { "Back" } }
            ol { @for number in 1..=of { li { a href=(at(taught, number)) aria-current=[(number == step).then_some("step")] { (number) } } } }
            @if step < of { a.button.main rel="next" href=(at(taught, step + 1)) { "Next" } } @else { a.button.main href="/learn" { "All lessons" } }
        }
    }
}

/// What came in with this step, and what was there before.
fn documents(taught: &Json, step: u64) -> Markup {
    let (new, before): (Vec<&Json>, Vec<&Json>) =
        taught.items("added").iter().partition(|document| document.number("step") == step);
    html! {
        @for document in new {
            section.card.source { header { h2 { "New in this step" } span.margin { (document.text("file")) } } pre tabindex="0" aria-label="New in this step" { (document.raw("text")) } }
        }
        @if !before.is_empty() || !taught.raw("given").is_empty() {
            section.card.source {
                details.evidence {
                    summary { "What was there before" }
                    @for document in before.iter().rev() { pre tabindex="0" aria-label=(document.text("file")) { "# " (document.text("file")) "\n" (document.raw("text")) } }
                    @if !taught.raw("given").is_empty() { pre tabindex="0" aria-label="given.yaml" { "# given.yaml\n" (taught.raw("given")) } }
                }
            }
        }
    }
}

/// The rungs, with those that told policies apart in this step.
fn ladder(taught: &Json, reports: &[Json]) -> Markup {
    let rungs = taught.items("ladder");
    let decided: BTreeSet<&str> = reports.iter().flat_map(deciding).collect();
    html! {
        @if !rungs.is_empty() {
            section.card {
                header { h2 { "The ladder" } span.margin { "the first rung that tells two apart decides" } }
                ol.rungs {
                    @for rung in rungs.iter().filter_map(Json::as_str) {
                        @let decides = decided.contains(rung);
                        li.decides[decides] { (visible(rung)) @if decides { " " b.st.won { "DECIDES" } } }
                    }
                }
            }
        }
    }
}

/// The rungs that a report names: the one that decided, and those that separate layers.
fn deciding(report: &Json) -> impl Iterator<Item = &str> {
    let over = report.items("fields").iter().flat_map(|field| field.items("over"));
    let reasons = report.items("candidates").iter().chain(over).map(|one| one.raw("reason/parameters/rung"));
    std::iter::once(report.raw("rung/name")).chain(reasons).filter(|name| !name.is_empty())
}
