//! `show` for an object whose tags must agree with others.

use serde_json::json;
use smol_str::SmolStr;
use upheld_engine::Snapshot;
use upheld_engine::comply::{Comply, Cut, ObjectId};

use crate::cli::Format;
use crate::commands::Session;
use crate::exit::Exit;
use crate::render::style::{ANSWER, DIM, paint};
use crate::render::{print_plain, visible};
use crate::report::At;
use crate::report::compliance::counted;

/// An object by its reference or by a name that only one has.
pub(in crate::commands) fn find<'s>(snapshot: &'s Snapshot, written: &str) -> Option<(&'s Comply, ObjectId)> {
    snapshot.complies().find_map(|(_, comply)| super::find(comply, written).ok().map(|object| (comply, object)))
}

pub(in crate::commands) fn run(session: &Session<'_>, snapshot: &Snapshot, found: (&Comply, ObjectId)) -> Exit {
    let (comply, object) = found;
    let reference = comply.reference(object).to_string();
    let at = comply.origin(object).and_then(|node| At::of(snapshot.files(), node));
    let mut links: Vec<(String, Option<String>)> = comply
        .links_of(object)
        .into_iter()
        .map(|(a, b, role)| {
            let other = if a == object { b } else { a };
            (comply.reference(other).to_string(), role.map(|role| comply.reference(role).to_string()))
        })
        .collect();
    links.sort();
    let violations = comply.violations_within(&Cut { object: Some(object), ..Cut::default() });
    let screen = &session.screen;
    match screen.format {
        Format::Name => print_plain(&format!("{reference}\n")),
        Format::Json | Format::Yaml | Format::Jsonl => {
            let tags: serde_json::Map<String, serde_json::Value> = comply
                .tags_of(object)
                .iter()
                .map(|(key, values)| (key.to_string(), json!(values.iter().map(SmolStr::as_str).collect::<Vec<_>>())))
                .collect();
            let related: Vec<_> = links.iter().map(|(other, role)| json!({"ref": other, "role": role})).collect();
            screen.print_data(&json!({
                "ref": reference, "name": comply.name_of(object).map(SmolStr::as_str), "tags": tags,
                "related": related, "violations": violations.len(), "at": at,
            }));
        }
        Format::Table | Format::Wide => {
            let place = at.map(|at| format!("   {at}")).unwrap_or_default();
            let mut text = format!("{}{}\n\n", paint(ANSWER, &visible(&reference)), paint(DIM, &visible(&place)));
            for (key, values) in comply.tags_of(object) {
                text.push_str(&visible(&format!("  {key} = {}", values.join(", "))));
                text.push('\n');
            }
            if !links.is_empty() {
                text.push_str(&format!("\n  Related to {}\n", counted(links.len(), "object", "objects")));
                for (other, role) in &links {
                    let role = role.as_ref().map(|role| format!(" as {role}")).unwrap_or_default();
                    text.push_str(&format!("    {}\n", visible(&format!("{other}{role}"))));
                }
            }
            let told = match violations.len() {
                0 => "Violates nothing.".to_owned(),
                some => format!("{}: upheld audit --object {reference}", counted(some, "violation", "violations")),
            };
            text.push_str(&format!("\n  {}\n", visible(&told)));
            screen.print(&text);
        }
    }
    Exit::Yes
}
