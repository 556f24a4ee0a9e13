//! `can link a~b`: may this change be made? A gate: the exit code is the answer.

use serde_json::json;
use upheld_answers::compliance::Deed;
use upheld_engine::comply::Outcome;

use super::{asked, load};
use crate::cli::{Can, Format, Organisation};
use crate::commands::{Session, refuse};
use crate::exit::Exit;
use crate::render::{compliance, print_plain};

pub(in crate::commands) fn run(session: &Session<'_>, can: &Can) -> Exit {
    let organisation = Organisation { policies: can.kind.clone() };
    let Some(loaded) = load(session, None) else { return Exit::Failed };
    let Some(mut asked) = asked(session, &loaded, &organisation) else { return Exit::Failed };
    let deed = Deed {
        change: can.deed.change.clone(),
        role: can.deed.role.clone(),
        inside: can.deed.inside.clone(),
        person: can.deed.person.person.clone(),
    };
    let (ruled, outcome) = match asked.would(&deed) {
        Ok(ruled) => ruled,
        Err(problems) => return refuse(&problems),
    };
    let screen = &session.screen;
    match screen.format {
        Format::Table | Format::Wide => screen.print(&compliance::ruled(&ruled, screen)),
        Format::Name => print_plain(&format!("{}\n", ruled.outcome)),
        Format::Json | Format::Yaml | Format::Jsonl => screen.print_data(&json!(ruled)),
    }
    match outcome {
        Outcome::Allowed | Outcome::Soft => Exit::Yes,
        Outcome::Blocked | Outcome::Forbidden => Exit::No,
        Outcome::Invalid => Exit::Failed,
    }
}
