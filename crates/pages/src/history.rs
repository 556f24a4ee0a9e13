//! The log: who changed what, when and why; and the difference between two revisions.

use maud::{Markup, html};
use serde_json::Value as Json;
use upheld_report::{counted, visible};

use crate::address::Address;
use crate::difference::{Line, lines};
use crate::pictures::timeline;
use crate::seen::Seen;
use crate::shell::{Page, Section};

/// Entries of the log, newest first, and where older ones are.
pub fn history(entries_: &[Json], last: u64, older: Option<u64>) -> Page {
    let main = html! {
        form.card.question action="/history" {
            p { label for="from" { "From revision" } input #from name="from" type="number" min="0" max=(last) value=(last.saturating_sub(1)); }
            p { label for="to" { "To revision" } input #to name="to" type="number" min="0" max=(last) value=(last); }
            p { button.main { "Show the difference" } " " button formaction="/changes" { "What it changes for whom" } }
        }
        (timeline(entries_))
        section.card { @if entries_.is_empty() { p.empty { "Nothing was written here, or nothing that you may read." } } (entries(entries_)) }
        @if let Some(older) = older { p.pages { a.button rel="next" href=(Address::of("/history").with("before", &older.to_string())) { "Older" } } }
    };
    Page::new(
        Section::History,
        format!("{} written.", counted(usize::try_from(last).unwrap_or(usize::MAX), "revision", "revisions")),
        main,
    )
    .crumb("History", None)
}

/// Entries as rows.
pub(crate) fn entries(entries: &[Json]) -> Markup {
    html! {
        ul.rows.log {
            @for entry in entries {
                @let revision = entry.number("revision");
                li {
                    span.rev { (revision) }
                    div {
                        a href=(between(revision.saturating_sub(1), revision)) { @if entry.has("message") { (entry.text("message")) } @else { "revision " (revision) } }
                        p.bc { (changes(entry)) " · " (entry.text("actor")) }
                    }
                    time.at datetime=(entry.raw("time")) { (entry.raw("time").get(..16).unwrap_or_default().replace('T', " ")) }
                }
            }
        }
    }
}

pub(crate) fn between(from: u64, to: u64) -> Address {
    Address::of("/history").with("from", &from.to_string()).with("to", &to.to_string())
}

/// `+ freeze, − old`.
pub(crate) fn changes(entry: &Json) -> String {
    const SHOWN: usize = 3;
    let named =
        entry.items("changes").iter().take(SHOWN).map(|change| match (change.raw("put"), change.raw("delete")) {
            ("", gone) => format!("− {}", visible(gone)),
            (put, _) => format!("+ {}", visible(put)),
        });
    let mut told: Vec<String> = named.collect();
    let left = (entry.number("puts") + entry.number("deletions")).saturating_sub(told.len() as u64);
    if left > 0 {
        told.push(format!("and {left} more"));
    }
    told.join(", ")
}

/// A document as it was at two revisions.
#[derive(Clone, Debug)]
pub struct Changed {
    /// Its id.
    pub id: String,
    /// What it said.
    pub before: Option<Json>,
    /// What it says.
    pub after: Option<Json>,
}

/// What is otherwise at one revision than at another.
pub fn difference(from: u64, to: u64, changed: &[Changed], left: usize) -> Page {
    let main = html! {
        @for one in changed { (document(one)) }
        @if changed.is_empty() { section.card.empty { p { "Nothing that you may read is otherwise." } } }
        @if left > 0 { p.more { "and " (left) " more documents" } }
    };
    let count = counted(changed.len() + left, "document differs", "documents differ");
    let page = Page::new(Section::History, format!("{count} between revisions {from} and {to}."), main);
    page.crumb("History", Some(Address::of("/history"))).crumb(format!("{from} → {to}"), None)
}

fn document(changed: &Changed) -> Markup {
    let text = |document: &Option<Json>| {
        document.as_ref().map(|document| serde_json::to_string_pretty(document).unwrap_or_default()).unwrap_or_default()
    };
    let (before, after) = (text(&changed.before), text(&changed.after));
    let word = match (&changed.before, &changed.after) {
        (None, _) => "added",
        (_, None) => "deleted",
        _ => "changed",
    };
    html! {
        section.card.source {
            header { h2 { (visible(&changed.id)) } span.margin { (word) } }
            div.scroll role="region" aria-label=(visible(&changed.id)) tabindex="0" {
                table.src.diff {
                    tbody {
                        @for line in lines(&before, &after) {
                            @match line {
                                Line::Same(text) => tr { th.line scope="row" { " " } td { code { (text) } } },
                                Line::Gone(text) => tr.gone { th.line scope="row" { "−" } td { code { (text) } } },
                                Line::New(text) => tr.new { th.line scope="row" { "+" } td { code { (text) } } },
                            }
                        }
                    }
                }
            }
        }
    }
}
