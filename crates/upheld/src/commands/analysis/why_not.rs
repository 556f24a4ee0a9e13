//! `why-not`: what stands in the way of a policy?

use upheld_answers::World;

use crate::cli::{Format, WhyNot};
use crate::commands::{Session, parsed, print_refused};
use crate::exit::Exit;
use crate::render::{print_names, shifts};

pub(in crate::commands) fn run(session: &Session<'_>, wanted: &WhyNot) -> Exit {
    let requests = wanted.question.access.request.as_deref();
    let Some(question) = parsed(session, &wanted.question.words(), requests) else { return Exit::Failed };
    let Some(loaded) = session.load_beside(requests) else { return Exit::Failed };
    let options = session.options();
    let why = match World::new(&loaded.snapshot, &options).why_not(&loaded, &wanted.policy, &question) {
        Ok(why) => why,
        Err(refused) => return print_refused(&loaded, &refused),
    };
    let screen = &session.screen;
    match screen.format {
        Format::Json | Format::Yaml | Format::Jsonl => screen.print_data(&why.document(loaded.snapshot.digest())),
        Format::Name => print_names(why.edits.iter().map(|tried| &tried.edit)),
        Format::Table | Format::Wide => screen.print(&shifts::why_not(&why, screen)),
    }
    Exit::Yes
}
