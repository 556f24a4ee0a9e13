//! `can link a~b`: may this change be made? A gate: the exit code is the answer.

use serde_json::json;
use upheld_answers::compliance::ChangeRequest;
use upheld_governance::Outcome;

use super::{asked, load};
use crate::cli::{Can, Format, Organisation};
use crate::commands::{Session, refuse};
use crate::exit::Exit;
use crate::render::{compliance, print_plain};

pub(in crate::commands) fn run(session: &Session<'_>, can: &Can) -> Exit {
    let organisation = Organisation { policies: can.kind.clone() };
    let Some(loaded) = load(session, None) else { return Exit::Failed };
    let Some(asked) = asked(session, &loaded, &organisation) else { return Exit::Failed };
    let request = ChangeRequest {
        change: can.change_request.change.clone(),
        role: can.change_request.role.clone(),
        inside: can.change_request.inside.clone(),
        person: can.change_request.person.person.clone(),
    };
    let (ruled, outcome) = match asked.would(&request) {
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
