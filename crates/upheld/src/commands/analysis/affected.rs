//! `affected`: where does a policy count, and what if it went?

use upheld_answers::World;

use crate::cli::{Affected, Format};
use crate::commands::{Session, print_refused};
use crate::exit::Exit;
use crate::render::{print_plain, shifts};

pub(in crate::commands) fn run(session: &Session<'_>, wanted: &Affected) -> Exit {
    let Some(loaded) = session.load() else { return Exit::Failed };
    let options = session.options();
    let affected = match World::new(&loaded.snapshot, &options).affected(&loaded, &wanted.policy) {
        Ok(affected) => affected,
        Err(refused) => return print_refused(&loaded, &refused),
    };
    let screen = &session.screen;
    match screen.format {
        Format::Json | Format::Yaml | Format::Jsonl => screen.print_data(&affected.document(loaded.snapshot.digest())),
        Format::Name => print_plain(&format!("{}\n", affected.policy)),
        Format::Table | Format::Wide => screen.print(&shifts::affected(&affected, screen)),
    }
    Exit::Yes
}
