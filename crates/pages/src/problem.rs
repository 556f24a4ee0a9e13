//! What went wrong, with the same sentences and next steps as everywhere; what is odd about files; and where one says who one is.

use maud::{Markup, html};
use serde_json::Value as Json;

use crate::address::Address;
use crate::report::{at, code};
use crate::seen::Seen;
use crate::shell::{Page, Section};

/// A problem as a page.
pub fn problem(section: Section, told: &Json, address: &str) -> Page {
    let status = told.number("status");
    let detail = told.text("detail");
    let main = html! {
        section.card.problem {
            p { b.st.hard { (status) } " " (told.text("title")) }
            ul.rows { @for one in told.items("diagnostics") { li { (diagnostic(one)) } } }
            @if status == 401 { p { a.button.main href=(Address::of("/sign-in").with("next", address)) { "Sign in" } } }
            p { a href="/" { "Ask something else" } }
        }
    };
    let headline = if detail.is_empty() { told.text("title") } else { sentence(&detail) };
    Page::new(section, headline, main).crumb("Ask", Some(Address::of("/"))).crumb("no answer", None)
}

/// With a great letter and an end.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    let end = if text.ends_with(['.', '?', '!']) { "" } else { "." };
    format!("{first}{}{end}", letters.as_str())
}

/// One thing that is wrong or odd, with its place and what to do.
pub(crate) fn diagnostic(told: &Json) -> Markup {
    let severity = told.raw("severity");
    html! {
        div.diagnostic {
            b class=(format!("st {}", if severity == "error" { "hard" } else { "soft" })) { (severity.to_uppercase()) } " "
            (code(told.raw("code"))) " " (told.text("message")) " " (at(told, None))
            @for help in told.items("help").iter().filter_map(Json::as_str) { p.bc { (upheld_report::visible(help)) } }
        }
    }
}

/// Everything that is wrong with files, and odd about what was read.
pub fn diagnostics(readiness: &Json, warnings: &[Json]) -> Page {
    let broken = readiness.items("diagnostics");
    let main = html! {
        @if !broken.is_empty() {
            section.card { header { h2 { "What keeps the last change of files out" } } ul.rows { @for one in broken { li { (diagnostic(one)) } } } }
        }
        section.card {
            header { h2 { "What is odd" } }
            @if warnings.is_empty() { p.empty { "Nothing, or nothing that you may see." } }
            ul.rows { @for one in warnings { li { (diagnostic(one)) } } }
        }
    };
    let headline = match readiness.raw("status") {
        "degraded" => "Answers come from the last good snapshot.",
        _ => "What is shown is what the files and the store say.",
    };
    Page::new(Section::Ask, headline, main).crumb("Ask", Some(Address::of("/"))).crumb("Diagnostics", None)
}

/// Where one says who one is. What comes of it is a session, in a cookie that no script reads.
pub fn sign_in(next: &str, refused: Option<&str>) -> Page {
    let main = html! {
        form.card.question method="post" action="/sign-in" {
            input type="hidden" name="next" value=(next);
            p { label for="token" { "Token" } input #token name="token" type="password" autocomplete="current-password" required; }
            p { button.main { "Sign in" } }
        }
        @if let Some(refused) = refused { p.note.warn role="alert" { (refused) } }
    };
    let lead =
        "The browser keeps a session of 8 hours in place of the token, and sends it with nothing but these pages.";
    Page::new(Section::Ask, "Who are you?", main).lead(lead).crumb("Sign in", None)
}
