//! `candidates` and `values`: what could be chosen without breaking a policy?

use serde_json::json;
use upheld_engine::comply::{Class, ObjectId};
use upheld_engine::words;
use upheld_model::{Diagnostic, Fault};

use upheld_answers::compliance::not_found;

use super::{Asked, asked, load};
use crate::cli::{Candidates, Format, Values};
use crate::commands::{Session, refuse};
use crate::exit::Exit;
use crate::render::table::{Align, Table};
use crate::render::{print_plain, style};
use crate::report::compliance::{counted, spaced};

pub(in crate::commands) fn candidates(session: &Session<'_>, wanted: &Candidates) -> Exit {
    let Some(loaded) = load(session, None) else { return Exit::Failed };
    let Some(asked) = asked(session, &loaded, &wanted.organisation) else { return Exit::Failed };
    let comply = &asked.comply;
    let role = wanted.role.as_deref().map(|role| asked.object(role)).transpose();
    let (object, role) = match (asked.object(&wanted.object), role) {
        (Ok(object), Ok(role)) => (object, role),
        (object, role) => {
            let problems: Vec<Diagnostic> = [object.err(), role.err()].into_iter().flatten().collect();
            return refuse(&problems);
        }
    };
    let offered = match comply.candidates(object, &wanted.kind, role) {
        Ok(offered) => offered,
        Err(refusal) => return refuse(&[not_found(comply, &refusal)]),
    };
    let all = comply.kinds_of(&wanted.kind).unwrap_or_default();
    if !all.iter().any(|kind| comply.can_relate(object, *kind)) {
        let message = format!("`{}` and objects of the kind `{}` are not related", wanted.object, wanted.kind);
        return refuse(&[Diagnostic::error(Fault::NotFound, message)]);
    }
    let all = comply.objects().into_iter().filter(|other| comply.kind_of(*other).is_some_and(|own| all.contains(&own)));
    let all: Vec<ObjectId> = all.filter(|other| *other != object).collect();
    let names: Vec<String> = offered.iter().map(|object| comply.reference(*object).to_string()).collect();
    let reference = comply.reference(object).to_string();
    let kind = kind_word(&asked, &wanted.kind);
    let noun = spaced(&kind);
    let counted = |all: usize| counted(all, &noun, &format!("{noun}s"));
    let answer = match (offered.len(), all.len()) {
        (_, 0) => format!("There is no {noun}."),
        (0, all) => format!("None of {} could be related to {reference} without breaking a policy.", counted(all)),
        (some, all) => format!("{some} of {} could be related to {reference}.", counted(all)),
    };
    let reasons: Vec<(String, String)> = all
        .iter()
        .filter(|other| !offered.contains(other))
        .map(|other| against(&asked, object, *other, role))
        .collect();
    let screen = &session.screen;
    match screen.format {
        Format::Name => print_plain(&names.iter().map(|name| format!("{name}\n")).collect::<String>()),
        Format::Json | Format::Yaml | Format::Jsonl => {
            let refused: Vec<_> = reasons.iter().map(|(other, why)| json!({"ref": other, "because": why})).collect();
            screen.print_data(&json!({
                "answer": answer, "for": reference, "kind": kind, "candidates": names, "refused": refused,
            }));
        }
        Format::Table | Format::Wide => {
            let mut text = format!("{}\n", style::paint(style::ANSWER, &answer));
            if !names.is_empty() {
                text.push('\n');
                text.extend(names.iter().map(|name| format!("  {name}\n")));
            }
            let shown = if screen.verbose || names.is_empty() { reasons.len() } else { 0 };
            if shown > 0 {
                text.push_str(&format!("\n{}\n", style::paint(style::HEADING, "  NOT OFFERED")));
                text.extend(reasons.iter().map(|(other, why)| format!("  {other}: {why}\n")));
            } else if !reasons.is_empty() {
                let more = format!("\n  {} not offered: --verbose says why\n", reasons.len());
                text.push_str(&style::paint(style::DIM, &more));
            }
            screen.print(&text);
        }
    }
    Exit::Yes
}

/// A kind or subject by its own name, however it was written.
fn kind_word(asked: &Asked<'_>, written: &str) -> String {
    let profile = asked.comply.profile();
    let subject = || profile.subject(written).map(|subject| profile.subject_name(subject));
    profile.kind(written).map(|kind| profile.kind_name(kind)).or_else(subject).unwrap_or(written).to_owned()
}

/// What is against relating two objects.
fn against(asked: &Asked<'_>, object: ObjectId, other: ObjectId, role: Option<ObjectId>) -> (String, String) {
    let comply = &asked.comply;
    let violations = comply.against(object, other, role);
    let told: Vec<String> = violations
        .iter()
        .map(|violation| {
            let (_, why) = words::comply::violated(violation);
            let (a, b) = (&violation.a, &violation.b);
            let (own, others) = (words::comply::braces(&a.values), words::comply::braces(&b.values));
            format!("{}: {} has {own}, {} has {others}: {why}", violation.policy, a.object, b.object)
        })
        .collect();
    let told = if told.is_empty() { "is disabled".to_owned() } else { told.join("; ") };
    (comply.reference(other).to_string(), told)
}

pub(in crate::commands) fn values(session: &Session<'_>, wanted: &Values) -> Exit {
    let Some(loaded) = load(session, None) else { return Exit::Failed };
    let Some(mut asked) = asked(session, &loaded, &wanted.organisation) else { return Exit::Failed };
    let actor = asked.actor(wanted.person.person.as_deref(), Some(Class::EndUser));
    let (object, actor) = match (asked.object(&wanted.object), actor) {
        (Ok(object), Ok(actor)) => (object, actor),
        (object, actor) => {
            let problems: Vec<Diagnostic> = [object.err(), actor.err()].into_iter().flatten().collect();
            return refuse(&problems);
        }
    };
    let judged = match asked.comply.judged_values(&actor, object, &wanted.tag) {
        Ok(judged) => judged,
        Err(refusal) => return refuse(&[not_found(&asked.comply, &refusal)]),
    };
    let reference = asked.comply.reference(object).to_string();
    let (mut allowed, mut refused): (Vec<String>, Vec<(String, String)>) = (Vec::new(), Vec::new());
    for (value, decision) in &judged {
        if decision.outcome.is_done() {
            allowed.push(value.to_string());
            continue;
        }
        let mut policies: Vec<&str> = decision.violations.iter().map(|own| own.policy.as_str()).collect();
        policies.dedup();
        let why = match &decision.refusal {
            Some(refusal) => words::comply::refusal(asked.comply.profile(), refusal),
            None => format!("{} by {}", decision.outcome.word(), policies.join(", ")),
        };
        refused.push((value.to_string(), why));
    }
    let screen = &session.screen;
    let answer = match allowed.as_slice() {
        [] => format!("No value of {} would be accepted for {reference}.", wanted.tag),
        [one] => format!("Only {one} would be accepted as {} of {reference}.", wanted.tag),
        several => format!("{} values would be accepted as {} of {reference}.", several.len(), wanted.tag),
    };
    match screen.format {
        Format::Name => print_plain(&allowed.iter().map(|value| format!("{value}\n")).collect::<String>()),
        Format::Json | Format::Yaml | Format::Jsonl => {
            let refused: Vec<_> = refused.iter().map(|(value, why)| json!({"value": value, "because": why})).collect();
            screen.print_data(&json!({
                "answer": answer, "object": reference, "tag": wanted.tag, "values": allowed, "refused": refused,
            }));
        }
        Format::Table | Format::Wide => {
            let rows = allowed.iter().map(|value| (value.as_str(), "accepted"));
            let rows: Vec<(&str, &str)> =
                rows.chain(refused.iter().map(|(value, why)| (value.as_str(), why.as_str()))).collect();
            let mut table = Table::new(&[("VALUE", Align::Left), ("ANSWER", Align::Left)]);
            for (value, told) in &rows {
                table.row(style::HEADING, [(*value).to_owned(), (*told).to_owned()]);
            }
            let table = if rows.is_empty() { String::new() } else { format!("\n{}", table.render(screen.width, 1)) };
            screen.print(&format!("{}\n{table}", style::paint(style::ANSWER, &answer)));
        }
    }
    Exit::Yes
}
