//! One report, the way a browser shows styles: what holds, and below it, struck through, what lost against it and why.

use std::collections::BTreeSet;

use maud::{Markup, html};
use serde_json::Value as Json;
use upheld_report::{counted, one_line, visible};

use crate::address::Address;
use crate::decision;
use crate::relation;
use crate::seen::{Seen, joined, place};
use crate::whatif::acts;

/// How much of a report is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Depth {
    /// The report is what the page is about.
    Whole,
    /// One of several: what matched is shown, the rest can be unfolded.
    Folded,
}

/// How a report is looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look<'a> {
    /// How much of it is shown.
    pub(crate) depth: Depth,
    /// The address of the question, where it can be asked again.
    pub(crate) asked: Option<&'a Address>,
}

/// Where policies are found by what answers call them.
pub(crate) const FIND: &str = "/find";
/// Rows of policies that match.
const MOST: usize = 200;

/// A report as a card.
pub(crate) fn card(report: &Json, id: &str, look: Look<'_>) -> Markup {
    let depth = look.depth;
    let headed = if depth == Depth::Folded { report.text("headline/text") } else { String::new() };
    html! {
        section.card.report #(id) data-kind=(report.text("kind")) {
            header {
                h2 { (report.text("kind")) @if report.has("about/place") { " " small { (placed(report)) } } }
                span.margin { (margin(report)) }
            }
            @if !headed.is_empty() { p.because data-part="headline" { (headed) } }
            @if let Some(ways) = ways(report) { (ways) }
            (decision::banner(report, depth))
            (pane(report, look))
            @if is_table(report) {
                (candidates(report, look))
            } @else if !report.items("candidates").is_empty() || report.has("default") {
                details.evidence open[depth == Depth::Whole] {
                    summary { (evidence(report)) }
                    @if report.has("ranking") { p.because data-part="ranking" { (report.text("ranking/text")) } }
                    (candidates(report, look))
                }
            }
            @for note in report.items("notes") {
                p.note.warn data-part="note" { "! " (note.text("text")) " " (code(note.raw("code"))) }
            }
            (decision::detail(report))
            (relation::detail(report))
            @let next = report.items("next");
            @if !next.is_empty() {
                div.next { h3 { "Next" } ul { @for command in next { li { code { (visible(command.as_str().unwrap_or_default())) } } } } }
            }
        }
    }
}

/// Decisions and relations have no fields: their candidates are the answer.
fn is_table(report: &Json) -> bool {
    matches!(report.raw("family"), "decide" | "comply")
}

/// Where in a proxy it holds.
pub(crate) fn placed(report: &Json) -> String {
    let about = report.part("about");
    let (place, from, to) = (about.text("place"), about.text("from"), about.text("to"));
    match (place.starts_with("outbound"), from.is_empty(), to.is_empty()) {
        _ if place.is_empty() => place,
        (true, _, false) => format!("{place} → {to}"),
        (_, false, false) => format!("{place} ← {from}"),
        _ => place,
    }
}

/// How narrow it was: the rung that decided, and a mark where only a name did.
fn margin(report: &Json) -> Markup {
    let rung = report.part("rung");
    html! {
        @if rung.part("arbitrary") == &Json::Bool(true) {
            b.tie { "!" } " " (rung.text("name")) ", which is arbitrary · " (code("UP201"))
        } @else if rung.has("name") {
            "rung " (rung.number("number")) " of " (rung.number("of")) " (" (rung.text("name")) ")"
        } @else {
            (report.text("outcome")) @if report.has("verdict") { ", " (report.text("verdict")) }
        }
    }
}

/// The ways of requests that get this answer.
fn ways(report: &Json) -> Option<Markup> {
    const WAYS: usize = 6;
    let ways = report.items("about/for");
    if report.raw("family") != "hierarchy" || ways.is_empty() {
        return None;
    }
    Some(html! {
        ul.ways {
            @for way in ways.iter().take(WAYS) { li { code { (visible(way.as_str().unwrap_or_default())) } } }
            @if ways.len() > WAYS { li { "and " (ways.len() - WAYS) " more" } }
        }
    })
}

/// The result, field by field. Losers stay.
fn pane(report: &Json, look: Look<'_>) -> Markup {
    if is_table(report) {
        return html! {};
    }
    let fields = report.items("fields");
    let beside: Vec<&Json> = report.items("candidates").iter().filter(|one| is_beside(report, one)).collect();
    let stands = report.part("default").raw("state") == "WON";
    let (mut rows, mut told) = (Vec::new(), BTreeSet::new());
    for field in fields.iter().take(MOST) {
        rows.push(held(report, field, look, &mut told));
        rows.extend(field.items("over").iter().map(|over| lost(report, field, over, look, &mut told)));
    }
    html! {
        table.pane {
            caption.hidden { "What holds, and what lost against it" }
            thead.hidden { tr { th scope="col" { "Field and value" } th scope="col" { "State" } th scope="col" { "Policy" } th scope="col" { "At" } } }
            tbody {
                @for row in rows { (row) }
                @if fields.len() > MOST { tr { td colspan="4" { "and " (fields.len() - MOST) " more fields" } } }
                @for candidate in beside { (without_fields(report, candidate, look)) }
                @if stands {
                    tr.won {
                        @let (means, why) = (report.text("default/means"), report.text("default/reason/text"));
                        td { span.decl { (means) } @if why != means { p.bc { (why) } } }
                        td { (state("WON")) }
                        td { (report.text("default/name")) }
                        td { (at(report.part("default/at"), None)) }
                    }
                }
            }
        }
    }
}

/// Whether a candidate matched, and no field names it.
fn is_beside(report: &Json, candidate: &Json) -> bool {
    let name = candidate.raw("policy");
    let is_named = |list: &[Json]| list.iter().any(|one| is_of(one.raw("policy"), name));
    let fields = report.items("fields");
    let named = fields.iter().any(|field| is_named(field.items("from")) || is_named(field.items("over")));
    !named && !matches!(candidate.raw("state"), "SKIP" | "OFF")
}

/// Fields name a policy with the number of its part.
fn is_of(written: &str, name: &str) -> bool {
    written.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('['))
}

/// A field with its value and who sets it.
fn held<'r>(report: &'r Json, field: &'r Json, look: Look<'_>, told: &mut BTreeSet<&'r str>) -> Markup {
    let sources = field.items("from");
    let kept = matches!(report.raw("outcome"), "merged" | "aggregated");
    html! {
        tr.won data-field=(field.raw("field")) {
            td {
                (declaration(field.raw("field"), field.part("value")))
                @if field.has("reason") { p.bc { (field.text("reason/text")) } }
            }
            td { @if !sources.is_empty() { (state(if kept { "KEPT" } else { "WON" })) } }
            td {
                @for source in sources {
                    div { (policy(report, source.raw("policy"), "")) @if told.insert(source.raw("policy")) { (tried(report, source.raw("policy"), look)) } @if source.has("via") { p.bc { (source.text("via")) } } }
                }
            }
            td { @for source in sources { div { (at(source.part("at"), Some((report, source.raw("policy"))))) } } }
        }
    }
}

/// A value that does not count.
fn lost<'r>(report: &'r Json, field: &Json, over: &'r Json, look: Look<'_>, told: &mut BTreeSet<&'r str>) -> Markup {
    let by = over.text("takenBy");
    let reason = over.text("reason/text");
    html! {
        tr.lost data-over=(field.raw("field")) {
            td {
                s { (declaration(field.raw("field"), over.part("value"))) }
                p.bc { @if !by.is_empty() { "lost to " (by) @if !reason.is_empty() { ": " } } (reason) }
            }
            td { (state("LOST")) }
            td { (policy(report, over.raw("policy"), "")) @if told.insert(over.raw("policy")) { (tried(report, over.raw("policy"), look)) } @if over.has("via") { p.bc { (over.text("via")) } } }
            td { (at(over.part("at"), Some((report, over.raw("policy"))))) }
        }
    }
}

/// A policy that matched and has no field to show.
fn without_fields(report: &Json, candidate: &Json, look: Look<'_>) -> Markup {
    let word = candidate.raw("state");
    let is_lost = word == "LOST";
    html! {
        tr class=(if is_lost { "lost" } else { "won" }) {
            td {
                @if !is_lost { span.decl { (report.text("summary")) } }
                p.bc { (candidate.text("reason/text")) }
            }
            td { (state(word)) }
            td { @if is_lost { s { (policy_titled(report, candidate)) } } @else { (policy_titled(report, candidate)) } (tried(report, candidate.raw("policy"), look)) }
            td { (at(candidate.part("at"), Some((report, candidate.raw("policy"))))) }
        }
    }
}

/// `interval: 10s`.
fn declaration(path: &str, value: &Json) -> Markup {
    let name = if path.is_empty() { "value".to_owned() } else { visible(path) };
    html! {
        span.decl {
            span.name { (name) } ": "
            @if value.is_null() { i { "(not set)" } } @else { span.value { (one_line(value)) } }
        }
    }
}

/// What can be unfolded, in words.
fn evidence(report: &Json) -> String {
    let all = report.items("candidates");
    let count = |word: &str| all.iter().filter(|one| one.raw("state") == word).count();
    let (lost, skipped) = (count("LOST"), count("SKIP") + count("OFF") + left_out(report));
    let looked_at = counted(all.len() + left_out(report), "policy", "policies");
    format!("{looked_at} looked at: {lost} lost, {skipped} did not match")
}

/// Policies that do not match and are not listed.
fn left_out(report: &Json) -> usize {
    usize::try_from(report.number("leftOut")).unwrap_or(usize::MAX)
}

/// Every policy that was looked at; what it was matched and ranked by are the columns between.
fn candidates(report: &Json, look: Look<'_>) -> Markup {
    let all = report.items("candidates");
    let names = columns(all);
    let (skipped, others): (Vec<&Json>, Vec<&Json>) =
        all.iter().partition(|one| matches!(one.raw("state"), "SKIP" | "OFF"));
    let shown: Vec<&Json> = others.iter().take(MOST).chain(&skipped).copied().collect();
    let (left, left_out) = (all.len() - shown.len(), left_out(report));
    let default = report.part("default");
    if shown.is_empty() && !default.has("state") {
        return html! {};
    }
    html! {
        div.scroll role="region" aria-label=(format!("Policies of {}", report.text("kind"))) tabindex="0" {
            table.rows {
                thead {
                    tr {
                        th scope="col" { "State" } th scope="col" { "Policy" }
                        @for name in &names { th scope="col" { (name) } }
                        th scope="col" { "Because" } th scope="col" { "At" }
                    }
                }
                tbody {
                    @for one in shown {
                        tr class=(one.raw("state").to_lowercase()) data-candidate=(one.raw("policy")) {
                            td data-h="State" { (state(one.raw("state"))) }
                            td data-h="Policy" {
                                @if one.raw("state") == "LOST" {
                                    s { (policy_titled(report, one)) }
                                } @else { (policy_titled(report, one)) }
                                @if is_table(report) && !matches!(one.raw("state"), "SKIP" | "OFF") { (tried(report, one.raw("policy"), look)) }
                            }
                            @for name in &names { td data-h=(name) { (facts(one, name)) } }
                            td data-h="Because" { (one.text("reason/text")) }
                            td data-h="At" { (at(one.part("at"), Some((report, one.raw("policy"))))) }
                        }
                    }
                    @if default.has("state") {
                        tr class=(default.raw("state").to_lowercase()) {
                            td data-h="State" { (state(default.raw("state"))) }
                            td data-h="Policy" { (default.text("name")) }
                            @for name in &names { td data-h=(name) { @if name == "effect" { (default.text("means")) } } }
                            td data-h="Because" { (default.text("reason/text")) }
                            td data-h="At" { (at(default.part("at"), None)) }
                        }
                    }
                }
            }
        }
        @if left > 0 { p.more { "and " (left) " more; the JSON has all of them" } }
        @if left_out > 0 {
            p.more {
                "and " (left_out) " more that " @if left_out == 1 { "does" } @else { "do" } " not match"
                @if let Some(asked) = look.asked { "; " a href=(asked.clone().with("skipped", "all")) { "list them all" } }
            }
        }
    }
}

/// What candidates were matched and ranked by, in the order that all of them have it in: not every one has everything.
fn columns(candidates: &[Json]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for candidate in candidates {
        let mut place = 0;
        for fact in candidate.items("facts") {
            let name = fact.text("name");
            match names.iter().position(|known| *known == name) {
                Some(known) => place = place.max(known + 1),
                None => {
                    names.insert(place, name);
                    place += 1;
                }
            }
        }
    }
    names
}

fn facts(candidate: &Json, name: &str) -> Markup {
    let own = candidate.items("facts").iter().filter(|fact| fact.text("name") == name);
    html! {
        @for fact in own {
            div.fact {
                (one_line(fact.part("value")))
                @if fact.number("others") > 0 { " (+" (fact.number("others")) ")" }
                @match fact.raw("holds") {
                    "yes" => { " " span.yes title="holds" { "✓" } },
                    "no" => { " " span.no title="does not hold" { "✗" } },
                    "unknown" => { " " span.maybe title="unknown" { "?" } },
                    _ => {},
                }
            }
        }
    }
}

/// A state, as a word first: fill, edge and colour only repeat it.
pub(crate) fn state(word: &str) -> Markup {
    html! { b class=(format!("st {}", word.to_lowercase())) { (word) } }
}

/// The name of a candidate, with the number of its part.
fn title(candidate: &Json) -> String {
    let name = candidate.text("policy");
    candidate.part("item").as_u64().map_or_else(|| name.clone(), |item| format!("{name}[{item}]"))
}

fn policy_titled(report: &Json, candidate: &Json) -> Markup {
    link_to(report.raw("kind"), candidate.raw("policy"), candidate.raw("scope"), &title(candidate))
}

/// What can be tried with a policy that a report names.
fn tried(report: &Json, name: &str, look: Look<'_>) -> Markup {
    let candidate = report.items("candidates").iter().find(|one| is_of(name, one.raw("policy")));
    let scope = candidate.map_or("", |one| one.raw("scope"));
    let plain = candidate.map_or(name, |one| one.raw("policy"));
    acts(look.asked, report.raw("kind"), scope, plain)
}

/// A policy, as a link to what it says.
pub(crate) fn policy(report: &Json, name: &str, scope: &str) -> Markup {
    link_to(report.raw("kind"), name, scope, &visible(name))
}

pub(crate) fn link_to(kind: &str, name: &str, scope: &str, title: &str) -> Markup {
    html! { a.policy href=(found(kind, name, scope)) { (title) } }
}

/// Where a policy is found of which only what answers call it is known.
fn found(kind: &str, name: &str, scope: &str) -> Address {
    let plain = name.split_once('[').map_or(name, |(plain, _)| plain);
    Address::of(FIND).with("kind", kind).with("name", plain).with("scope", scope)
}

/// A place in a file; where a policy is written there, it leads to that.
pub(crate) fn at(at: &Json, of: Option<(&Json, &str)>) -> Markup {
    let Some(whole) = place(at) else { return html! {} };
    let short = whole.rsplit('/').next().unwrap_or(&whole).to_owned();
    html! {
        @if let Some((report, name)) = of {
            a.at title=(whole) href=(found(report.raw("kind"), name, "").at(&format!("L{}", at.number("line")))) { (short) }
        } @else {
            span.at title=(whole) { (short) }
        }
    }
}

/// A code, as a link to what it means.
pub(crate) fn code(code: &str) -> Markup {
    html! { a.code href=(Address::below("/codes", &[code])) { (visible(code)) } }
}

/// The policies that a result comes from, in one line.
pub(crate) fn standing(report: &Json) -> String {
    let policies = joined(report.items("policies"));
    if policies.is_empty() { report.text("default/name") } else { policies }
}
