//! `graph`: objects and what leads where, drawn with the policies that are attached to them.

use upheld_answers::World;

use super::{Session, print_refused, print_warnings};
use crate::cli::{Drawing, Format};
use crate::exit::Exit;
use crate::render::{print_document, print_names};

pub(super) fn run(session: &Session<'_>) -> Exit {
    let Some(loaded) = session.load() else { return Exit::Failed };
    let options = session.options();
    let world = World::new(&loaded.snapshot, &options);
    let drawn = world.graph();
    print_warnings(&loaded, &world.warnings());
    let drawn = match drawn {
        Ok(drawn) => drawn,
        Err(refused) => return print_refused(&loaded, &refused),
    };
    match (session.settings.output.value.drawing(), session.screen.format) {
        (Some(Drawing::Mermaid), _) => print_document(&drawn.mermaid()),
        (Some(Drawing::Svg), _) => print_document(&drawn.svg()),
        (None, Format::Json | Format::Yaml | Format::Jsonl) => session.screen.print_data(&drawn.json()),
        (None, Format::Name) => print_names(drawn.names()),
        (Some(Drawing::Dot), _) | (None, Format::Table | Format::Wide) => print_document(&drawn.dot()),
    }
    Exit::Yes
}
