//! A document in an editor: what it would change, before anybody writes it; and who wrote in between.

use maud::{Markup, html};
use serde_json::Value as Json;
use upheld_report::visible;

use crate::address::Address;
use crate::difference::{Line, lines};
use crate::explanation::headline;
use crate::lists::Sort;
use crate::problem::diagnostic;
use crate::report::{Depth, Look, card};
use crate::seen::Seen;
use crate::shell::{Page, Section};
use crate::whatif::otherwise;

/// A document as somebody would have it.
#[derive(Clone, Debug)]
pub struct Draft {
    /// What it is.
    pub sort: Sort,
    /// Kind, scope and name.
    pub id: [String; 3],
    /// The text.
    pub text: String,
    /// The number of its first line, where it was written.
    pub first: u64,
    /// Where that was.
    pub place: String,
    /// The question that it is edited for, as the query of an address.
    pub question: String,
    /// Why.
    pub message: String,
    /// Whether it can be written.
    pub keeper: Keeper,
}

/// Who keeps a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeper {
    /// The store, which last changed it in a revision; nothing if it is not there any more.
    Store(Option<u64>),
    /// The store, and whoever reads may not write.
    StoreOfOthers,
    /// A file, which nobody writes here.
    File,
}

/// What came of it.
#[derive(Clone, Copy, Debug)]
pub enum Tried<'a> {
    /// Nothing was tried yet.
    NotYet,
    /// What would hold, with the words of the question it was edited for.
    Supposed(&'a Json, &'a Json),
    /// What is wrong with it.
    Refused(&'a Json),
    /// Somebody else wrote it in between: what it says now.
    Conflict(&'a Json, &'a str),
}

/// The page of a draft.
pub fn editor(draft: &Draft, tried: Tried<'_>) -> Page {
    let [kind, scope, name] = &draft.id;
    let shown = draft.sort.address(&[kind, scope, name]);
    let main = html! { (form(draft)) (outcome(draft, tried)) };
    let headline = match tried {
        Tried::Conflict(..) => format!("{} {} was changed by somebody else in between.", visible(kind), visible(name)),
        _ => format!("Edit {} {}, and see what changes.", visible(kind), visible(name)),
    };
    let page = Page::new(Section::Policies, headline, main).lead(match draft.keeper {
        Keeper::Store(_) => "Nothing is written until you say so.",
        Keeper::StoreOfOthers => "You may try it out here. Writing it needs the right to.",
        Keeper::File => {
            "It stands in a file, which this server reads and never writes: try it here, then change it there."
        }
    });
    page.crumb(draft.sort.name(), Some(Address::of(draft.sort.path())))
        .crumb(visible(kind), Some(Address::of(draft.sort.path()).with("kind", kind)))
        .crumb(visible(name), Some(shown))
        .crumb("Edit", None)
}

fn form(draft: &Draft) -> Markup {
    let [kind, scope, name] = &draft.id;
    let count = draft.text.lines().count().max(1);
    let numbers: String = (draft.first..).take(count).map(|number| format!("{number}\n")).collect();
    html! {
        form.card.editor method="post" action=(draft.sort.editor(&[kind, scope, name])) data-try data-first=(draft.first) {
            header { h2 { label for="text" { "What it says" } } span.margin { (visible(&draft.place)) } }
            input type="hidden" name="for" value=(draft.question);
            input type="hidden" name="base" value=(base(draft.keeper));
            div.pad {
                pre.lines aria-hidden="true" { (numbers) }
                // The first line break of a text area is not part of its text.
                textarea #text name="text" rows=(count + 1) spellcheck="false" autocapitalize="off" autocomplete="off" wrap="off" { "\n" (draft.text) }
            }
            p.acts {
                button.main name="do" value="try" { "See what changes" }
                @if let Keeper::Store(_) = draft.keeper {
                    label for="message" { "Why" }
                    input #message name="message" value=(draft.message) maxlength="500" autocomplete="off";
                    button name="do" value="write" { "Write this" }
                }
            }
        }
    }
}

/// What somebody saw who writes, as the form has it.
fn base(keeper: Keeper) -> String {
    match keeper {
        Keeper::Store(Some(revision)) => revision.to_string(),
        Keeper::Store(None) | Keeper::StoreOfOthers | Keeper::File => String::new(),
    }
}

/// What came of trying; scripts put another one in its place.
fn outcome(draft: &Draft, tried: Tried<'_>) -> Markup {
    html! {
        div #tried aria-live="polite" {
            @match tried {
                Tried::NotYet => {},
                Tried::Refused(told) => (refused(told)),
                Tried::Supposed(words, supposed) => (supposed_answer(words, supposed)),
                Tried::Conflict(told, theirs) => {
                    section.card.problem {
                        p { b.st.hard { "NOT WRITTEN" } " " (told.text("detail")) ". Your text is above, as you left it." }
                        p.bc { "“Write this” again puts it in the place of what is there now; what is there now is below, and stays in the history." }
                    }
                    (versions(theirs, &draft.text))
                }
            }
        }
    }
}

fn refused(told: &Json) -> Markup {
    let all = told.items("diagnostics");
    html! {
        section.card.problem role="alert" {
            p { b.st.hard { "NOT LIKE THIS" } " " (told.text("detail")) }
            ul.rows { @for one in all { li { (diagnostic(one)) } } }
            @for violation in told.items("violations") { p.bc { (violation.text("message")) } }
        }
    }
}

fn supposed_answer(words: &Json, supposed: &Json) -> Markup {
    let reports = supposed.items("answer/answers");
    let look = Look { depth: Depth::Folded, asked: None };
    html! {
        section.card.whatif {
            header { h2 { "What changes" } span.margin { "nothing is written" } }
            (otherwise(supposed.part("everywhere"), "No result changes."))
            @for one in supposed.items("diagnostics") { div.rows { (diagnostic(one)) } }
        }
        @if !reports.is_empty() {
            section.card.whatif {
                header { h2 { (headline(words, reports)) } span.margin { "the question that you came from" } }
                (otherwise(supposed.part("here"), "Nothing changes in this answer."))
            }
            @for (number, report) in reports.iter().enumerate() { (card(report, &format!("answer-{number}"), look)) }
        }
    }
}

/// Two texts, the lines of one beside those of the other.
fn versions(theirs: &str, mine: &str) -> Markup {
    html! {
        section.card.source {
            header { h2 { "What is there now, and what you have" } span.margin { "− there now, + yours" } }
            div.scroll role="region" aria-label="Both versions" tabindex="0" {
                table.src.diff {
                    tbody {
                        @for line in lines(theirs, mine) {
                            @match line {
                                Line::Same(text) => tr { th.line scope="row" { " " } td { code { (visible(text)) } } },
                                Line::Gone(text) => tr.gone { th.line scope="row" { "−" } td { code { (visible(text)) } } },
                                Line::New(text) => tr.new { th.line scope="row" { "+" } td { code { (visible(text)) } } },
                            }
                        }
                    }
                }
            }
        }
    }
}
