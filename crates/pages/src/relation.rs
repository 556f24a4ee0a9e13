//! Two related objects, and violations: who has what, why they disagree, and what would end it.

use maud::{Markup, html};
use serde::de::DeserializeOwned;
use serde_json::Value as Json;
use upheld_report::compliance::{AppliedWaiver, Fix, NearMiss};
use upheld_report::visible;

use crate::report::{at, code, link_to, state};
use crate::seen::{Seen, joined};

/// Every violation among the checks of a report.
pub(crate) fn detail(report: &Json) -> Markup {
    if report.raw("family") != "comply" {
        return html! {};
    }
    let violated = report.items("detail/checks").iter().filter(|check| check.raw("state") != "pass");
    let others = joined(report.items("detail/others"));
    html! {
        @for check in violated { (violation(check, report.raw("kind"), "")) }
        @if !others.is_empty() { p.more { "Not about these two, or switched off: " (others) } }
    }
}

/// A violation with its cause and its fixes; classes say what sort it is of.
pub(crate) fn violation(check: &Json, kind: &str, classes: &str) -> Markup {
    let is_one = check.raw("a/ref") == check.raw("b/ref");
    html! {
        article class=(format!("violation {classes}")) id=(check.raw("id")) {
            header {
                (state(&check.raw("state").to_uppercase())) " "
                (link_to(kind, check.raw("policy"), "", &check.text("policy"))) " "
                span.pair {
                    (object(check.part("a"))) @if !is_one { " ~ " (object(check.part("b"))) }
                }
                " " (at(check.part("a/at"), None))
                @for quality in ["severity", "level", "baselineState"] { @if check.has(quality) { " " small { (check.text(quality)) } } }
            }
            p.bc data-part="message" { (check.text("message")) " " (code(check.raw("reason/code"))) }
            @for miss in check.items("nearMiss") { @if let Some(text) = said(miss, NearMiss::sentence) { p.bc { "nearly: " (text) } } }
            @if check.has("cause") { p.bc { "since: " (check.text("cause/text")) } }
            @if check.has("firstSeen") { p.bc { "first seen " (check.text("firstSeen")) } }
            @if let Some(text) = said(check.part("waiver"), AppliedWaiver::sentence) { p.bc { (text) } }
            @if check.has("howToFix") { p { "How to fix: " (check.text("howToFix")) } }
            @let fixes = check.items("fixes");
            @if !fixes.is_empty() {
                ul.fixes { @for fix in fixes { li data-part="fix" { (said(fix, Fix::sentence).unwrap_or_else(|| fix.text("text"))) } } }
            }
            @if check.has("noFix") { p.bc { "no fix was found: " (check.text("noFix/text")) } }
        }
    }
}

/// What a part of an audit says of itself, to be shown; none where it is not whole.
fn said<T: DeserializeOwned>(part: &Json, sentence: impl Fn(&T) -> String) -> Option<String> {
    T::deserialize(part).ok().map(|part| visible(&sentence(&part)))
}

/// An object, as a link to what it is related to.
pub(crate) fn object(side: &Json) -> Markup {
    let reference = side.raw("ref");
    let address = crate::address::Address::of("/search").with("q", reference);
    html! { a.object href=(address) { (side.text("ref")) } " " span.values { "{" (joined(side.items("values"))) "}" } }
}
