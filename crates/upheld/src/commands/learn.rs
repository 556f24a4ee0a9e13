//! `learn`: how policies resolve, one policy a step, on examples that come with the program.

use anstyle::Style;
use serde_json::json;
use upheld_answers::lessons::{Lesson, Taught, all, named};

use super::explain::Explained;
#[cfg(feature = "server")]
use super::page::taught;
use super::{Session, refuse};
use crate::cli::Format;
use crate::exit::Exit;
#[cfg(feature = "server")]
use crate::render::print_document;
use crate::render::style::{HEADING, paint};
use crate::render::table::{Align, Table, wrap};
use crate::render::text::{Text, text};
use crate::render::{diagnostics, print_names};

/// All lessons.
pub(super) fn list(session: &Session<'_>) -> Exit {
    let screen = &session.screen;
    match screen.format {
        Format::Json | Format::Yaml | Format::Jsonl => {
            screen.print_data(&json!({"kind": "Lessons", "items": all().iter().map(Lesson::json).collect::<Vec<_>>()}));
        }
        Format::Name => print_names(all().iter().map(|lesson| &lesson.name)),
        Format::Table | Format::Wide => {
            let columns = [("LESSON", Align::Left), ("STEPS", Align::Right), ("SHOWS", Align::Left)];
            let mut table = Table::new(&columns);
            for lesson in all() {
                let about = format!("{}. {}", lesson.title, lesson.about);
                table.row(Style::new(), [lesson.name.clone(), lesson.steps.len().to_string(), about]);
            }
            screen.print(&(table.render(screen.width, 0) + "\n  Begin with one: upheld learn select\n"));
        }
    }
    Exit::Yes
}

/// A lesson after some of its steps.
pub(super) fn run(session: &Session<'_>, name: &str, step: usize) -> Exit {
    let lesson = match named(name) {
        Ok(lesson) => lesson,
        Err(unknown) => return refuse(&[unknown]),
    };
    let reached = lesson.after(step).and_then(|reached| Ok((reached.document()?, reached)));
    let (document, reached) = match reached {
        Ok(reached) => reached,
        Err(refused) => {
            diagnostics::print(&refused.question.unwrap_or_default(), &refused.diagnostics);
            return Exit::Failed;
        }
    };
    #[cfg(feature = "server")]
    if session.settings.output.value.is_page() {
        print_document(&taught(&document, reached.loaded.snapshot.digest()));
        return Exit::Yes;
    }
    match session.screen.format {
        Format::Json | Format::Yaml | Format::Jsonl => session.screen.print_data(&document),
        Format::Name => print_names(reached.answer.names()),
        Format::Table | Format::Wide => session.screen.print(&text(session, &reached)),
    }
    Exit::Yes
}

/// What came in, what to look at, and the answer.
fn text(session: &Session<'_>, reached: &Taught) -> Text {
    let Taught { lesson, step, question, answer, .. } = reached;
    let (said, of) = (reached.says(), lesson.steps.len());
    let mut text = paint(HEADING, &text!("{}, step {} of {}\n", lesson.title, step, of));
    text.push_str(text!("{}\n\n", wrap(&said.say, Some(session.screen.width.unwrap_or(100).min(100)))));
    if !said.add.is_empty() {
        text.push_str(Text::of_lines(&said.add, "  + "));
        text.push_str("\n");
    }
    text.push_str(Explained { session, words: &lesson.question, question, answer }.text());
    text.push_str("\nNext\n");
    let next = if *step < of { format!("learn {} --step {}", lesson.name, step + 1) } else { "learn".to_owned() };
    text + text!("  upheld {}\n", next)
}
