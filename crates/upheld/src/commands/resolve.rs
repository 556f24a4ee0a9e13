//! `resolve`: just the result, for pipes.

use serde_json::Value as Json;
use upheld_answers::{Question, Verdict, World};

use super::{Session, say, tell_refused};
use crate::cli::{self, Format};
use crate::exit::Exit;
use crate::render::print_plain;
use crate::render::yaml;

pub(super) fn run(session: &Session<'_>, question: &cli::Question) -> Exit {
    let Some(loaded) = session.load() else { return Exit::Failed };
    let options = session.options();
    let world = World::new(&loaded.snapshot, &options);
    let question = question.plain();
    let by_name = session.screen.format == Format::Name;
    // Who stands does not depend on the field.
    let asked = if by_name { Question { field: None, ..question } } else { question };
    let (resolved, names) = match world.resolved(&asked) {
        Ok(resolved) => resolved,
        Err(refused) => return tell_refused(&loaded, &refused),
    };
    if by_name {
        print_plain(&names.iter().map(|name| format!("{name}\n")).collect::<String>());
    } else {
        if let Some(value) = &resolved.value {
            print(session, value);
        }
        for note in &resolved.notes {
            say(note);
        }
    }
    match resolved.verdict {
        Verdict::Yes => Exit::Yes,
        Verdict::No => Exit::No,
        Verdict::Undecided => Exit::Undecided,
    }
}

fn print(session: &Session<'_>, value: &Json) {
    match (session.screen.format, value) {
        // A single scalar is most useful bare.
        (Format::Table | Format::Wide, Json::String(text)) => print_plain(&format!("{text}\n")),
        (Format::Table | Format::Wide, _) => print_plain(&yaml(value).unwrap_or_default()),
        _ => session.screen.print_data(value),
    }
}
