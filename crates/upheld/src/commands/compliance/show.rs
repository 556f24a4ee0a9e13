//! `show` for an object whose tags must agree with others.

use upheld_answers::compliance::ShownObject;

use crate::cli::Format;
use crate::commands::Session;
use crate::exit::Exit;
use crate::render::style::{ANSWER, DIM, paint};
use crate::render::{print_plain, visible};
use crate::report::counted;

pub(in crate::commands) fn run(session: &Session<'_>, object: &ShownObject) -> Exit {
    let screen = &session.screen;
    match screen.format {
        Format::Name => print_plain(&format!("{}\n", object.reference)),
        Format::Json | Format::Yaml | Format::Jsonl => screen.print_data(&object.json()),
        Format::Table | Format::Wide => screen.print(&text(object)),
    }
    Exit::Yes
}

fn text(object: &ShownObject) -> String {
    let ShownObject { reference, tags, links, violations, at, .. } = object;
    let place = at.as_ref().map(|at| format!("   {at}")).unwrap_or_default();
    let mut text = format!("{}{}\n\n", paint(ANSWER, &visible(reference)), paint(DIM, &visible(&place)));
    for (key, values) in tags {
        text.push_str(&visible(&format!("  {key} = {}", values.join(", "))));
        text.push('\n');
    }
    if !links.is_empty() {
        text.push_str(&format!("\n  Related to {}\n", counted(links.len(), "object", "objects")));
        for (other, role) in links {
            let role = role.as_ref().map(|role| format!(" as {role}")).unwrap_or_default();
            text.push_str(&format!("    {}\n", visible(&format!("{other}{role}"))));
        }
    }
    let told = match violations {
        0 => "Violates nothing.".to_owned(),
        some => format!("{}: upheld audit --object {reference}", counted(*some, "violation", "violations")),
    };
    text.push_str(&format!("\n  {}\n", visible(&told)));
    text
}
