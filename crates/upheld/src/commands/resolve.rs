//! `resolve`: just the result, for pipes. For every kind of question.

use serde_json::Value as Json;
use upheld_answers::formats::yaml;
use upheld_answers::{Question, World};
use upheld_dialects::access::questions::short;

use super::{Asked, Session, ask, exit_of, parsed, print_concerning, print_refused, print_warnings, say};
use crate::cli::{self, Format};
use crate::exit::Exit;
use crate::render::text::text;
use crate::render::{print_document, print_names, print_text};
use crate::report::Depth;

pub(super) fn run(session: &Session<'_>, question: &cli::Question) -> Exit {
    if question.access.is_asked() {
        return decisions(session, question);
    }
    let Some(asked) = parsed(session, &question.words(), None) else { return Exit::Failed };
    let Some(loaded) = session.load_beside(None) else { return Exit::Failed };
    let options = session.options();
    let world = World::new(&loaded.snapshot, &options);
    if session.screen.format == Format::Name {
        // Who stands does not depend on the field.
        let asked = Question { field: None, ..asked };
        return match world.answer(&asked) {
            Ok(answer) => {
                print_concerning(session, &loaded, &answer);
                print_names(answer.names());
                exit_of(&answer.reports)
            }
            Err(refused) => print_refused(&loaded, &refused),
        };
    }
    let (resolution, answer) = match world.resolve_with(&asked) {
        Ok(resolved) => resolved,
        Err(refused) => {
            print_warnings(&loaded, loaded.warnings.as_slice());
            return print_refused(&loaded, &refused);
        }
    };
    print_concerning(session, &loaded, &answer);
    if let Some(value) = &resolution.value {
        print(session, value);
    }
    for note in &resolution.notes {
        say(note);
    }
    resolution.verdict.into()
}

/// Just the decisions.
fn decisions(session: &Session<'_>, question: &cli::Question) -> Exit {
    let Some(Asked { loaded, answer, .. }) = ask(session, question, Depth::Answer) else { return Exit::Failed };
    for report in &answer.reports {
        match session.screen.format {
            Format::Table | Format::Wide => {
                print_text(&text!("{}{}\n", report.verdict.word(), super::decision::with_obligations(report)));
            }
            Format::Name => print_names([format!("{}/{}", report.kind, super::decision::by(report))]),
            Format::Json | Format::Yaml | Format::Jsonl => session.screen.print_data(&short(&loaded.snapshot, report)),
        }
    }
    exit_of(&answer.reports)
}

fn print(session: &Session<'_>, value: &Json) {
    match (session.screen.format, value) {
        // A single scalar is most useful bare.
        (Format::Table | Format::Wide, Json::String(text)) => print_names([text]),
        (Format::Table | Format::Wide, _) => print_document(&yaml(value).unwrap_or_default()),
        _ => session.screen.print_data(value),
    }
}
