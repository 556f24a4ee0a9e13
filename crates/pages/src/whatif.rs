//! What if: the answer without some policies, or to a question that is a little otherwise, and what that changes. Nothing is written.

use maud::{Markup, html};
use serde_json::Value as Json;
use upheld_report::visible;

use crate::address::Address;
use crate::explanation::{Inspector, explanation};
use crate::review;
use crate::seen::Seen;
use crate::shell::Page;

/// What is supposed, as addresses have it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Supposing {
    /// Policies that are not there.
    pub without: Vec<String>,
    /// The question that was asked before, as the query of an address.
    pub was: String,
    /// Whether all other results are shown, too.
    pub everywhere: bool,
}

impl Supposing {
    /// Whether everything is as it is.
    pub fn is_nothing(&self) -> bool {
        self.without.is_empty() && self.was.is_empty()
    }

    /// The address of a question under it.
    pub(crate) fn of(&self, inspector: Inspector, words: &Json) -> Address {
        let asked = Address::of(inspector.path()).with_words(words);
        self.without.iter().fold(asked, |address, name| address.with("without", name))
    }
}

/// The answer to a question under a supposition, over what is otherwise in it.
pub fn supposition(inspector: Inspector, words: &Json, supposing: &Supposing, supposed: &Json) -> Page {
    let page = explanation(inspector, words, supposed.part("answer"), Some(supposing));
    let lead = match supposing.without.as_slice() {
        [] => "Another question than before. Nothing is written.".to_owned(),
        [one] => format!("Supposing that {} is not there. Nothing is written.", visible(one)),
        all => format!("Supposing that {} policies are not there. Nothing is written.", all.len()),
    };
    let main = html! { (supposed_card(inspector, words, supposing, supposed)) (page.main) };
    Page { main, ..page }.lead(lead)
}

fn supposed_card(inspector: Inspector, words: &Json, supposing: &Supposing, supposed: &Json) -> Markup {
    let as_it_is = match supposing.without.as_slice() {
        [] => Address::of(inspector.path()).with_query(&supposing.was),
        _ => Address::of(inspector.path()).with_words(words),
    };
    html! {
        section.card.whatif aria-label="What if" {
            header { h2 { "What if" } span.margin { a.act href=(as_it_is) { "The answer as it is" } } }
            @if !supposing.without.is_empty() {
                ul.rows {
                    @for name in &supposing.without {
                        @let others = supposing.without.iter().filter(|other| *other != name).cloned().collect();
                        @let back = Supposing { without: others, ..Supposing::default() };
                        li { b.st.off { "OFF" } " " span.policy { (visible(name)) } " " a.act href=(back.of(inspector, words)) { "put it back" } }
                    }
                }
            }
            h3 { "In this answer" }
            (otherwise(supposed.part("here"), "Nothing changes in this answer."))
            @if supposed.has("everywhere") {
                h3 { "Everywhere" }
                (otherwise(supposed.part("everywhere"), "No result changes."))
            } @else if !supposing.without.is_empty() {
                p { a.act href=(supposing.of(inspector, words).with("everywhere", "true")) { "What changes elsewhere?" } }
            }
        }
    }
}

/// What is otherwise: its sentence, and each sort of change.
pub(crate) fn otherwise(shifts: &Json, nothing: &str) -> Markup {
    let all = shifts.items("shifts");
    html! {
        @if shifts.has("headline") {
            p.because data-part="otherwise" { (shifts.text("headline/text")) }
            @if all.is_empty() && shifts.items("violations").is_empty() { p.bc { (nothing) } }
            (review::shifts(all))
            (review::violations(shifts))
            @for note in shifts.items("notes") { p.bc { (note.text("text")) } }
        }
    }
}

/// Whatever can be tried with a policy that an answer names.
pub(crate) fn acts(asked: Option<&Address>, kind: &str, scope: &str, name: &str) -> Markup {
    let Some(asked) = asked else { return html! {} };
    let id: Vec<&str> = [kind, scope, name].into_iter().filter(|part| !part.is_empty()).collect();
    let edit =
        Address::of("/find").with("kind", kind).with("scope", scope).with("name", name).with("edit", asked.query());
    html! {
        span.acts {
            a.act href=(asked.clone().with("without", &id.join("/"))) title=(format!("The answer without {}", visible(name))) { "without" }
            " " a.act href=(edit) title=(format!("Edit {} and see what changes", visible(name))) { "edit" }
        }
    }
}
