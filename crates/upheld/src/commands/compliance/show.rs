//! `show` for an object whose tags must agree with others.

use upheld_answers::compliance::ShownObject;

use crate::cli::Format;
use crate::commands::Session;
use crate::exit::Exit;
use crate::render::print_names;
use crate::render::style::{ANSWER, DIM, paint};
use crate::render::text::{Text, text};
use crate::report::counted;

pub(in crate::commands) fn run(session: &Session<'_>, object: &ShownObject) -> Exit {
    let screen = &session.screen;
    match screen.format {
        Format::Name => print_names([&object.reference]),
        Format::Json | Format::Yaml | Format::Jsonl => screen.print_data(&object.json()),
        Format::Table | Format::Wide => screen.print(&text(object)),
    }
    Exit::Yes
}

fn text(object: &ShownObject) -> Text {
    let ShownObject { reference, tags, links, violations, at, .. } = object;
    let place = at.as_ref().map(|at| format!("   {at}")).unwrap_or_default();
    let mut text = text!("{}{}\n\n", paint(ANSWER, reference), paint(DIM, &place));
    for (key, values) in tags {
        text.push_str(text!("  {} = {}\n", key, values.join(", ")));
    }
    if !links.is_empty() {
        text.push_str(text!("\n  Related to {}\n", counted(links.len(), "object", "objects")));
        for (other, role) in links {
            let role = role.as_ref().map(|role| format!(" as {role}")).unwrap_or_default();
            text.push_str(text!("    {}{}\n", other, role));
        }
    }
    let told = match violations {
        0 => "Violates nothing.".to_owned(),
        some => format!("{}: upheld audit --object {reference}", counted(*some, "violation", "violations")),
    };
    text.push_str(text!("\n  {}\n", told));
    text
}
