//! `can link a~b`: may this change be made? A gate: the exit code is the answer.

use serde_json::json;
use upheld_answers::compliance::ChangeRequest;
use upheld_governance::Outcome;

use super::{Question, answer};
use crate::cli::{Can, Format, Organisation};
use crate::commands::Session;
use crate::exit::Exit;
use crate::render::{compliance, print_names};
use crate::report::compliance::Ruled;

pub(in crate::commands) fn run(session: &Session<'_>, can: &Can) -> Exit {
    let organisation = Organisation { policies: can.kind.clone() };
    let person = &can.change_request.person;
    let request = ChangeRequest {
        change: can.change_request.change.clone(),
        role: can.change_request.role.clone(),
        inside: can.change_request.inside.clone(),
        person: person.person.clone(),
    };
    let question = Question { about: "can", organisation: &organisation, person, plan: None };
    let ruled: Ruled = match answer(session, &question, &request, |asked| Ok(asked.would(&request)?.0)) {
        Ok(ruled) => ruled,
        Err(exit) => return exit,
    };
    let screen = &session.screen;
    match screen.format {
        Format::Table | Format::Wide => screen.print(&compliance::ruled(&ruled, screen)),
        Format::Name => print_names([&ruled.outcome]),
        Format::Json | Format::Yaml | Format::Jsonl => screen.print_data(&json!(ruled)),
    }
    match Outcome::of(&ruled.outcome) {
        Some(Outcome::Allowed | Outcome::Soft) => Exit::Yes,
        Some(Outcome::Blocked | Outcome::Forbidden) => Exit::No,
        Some(Outcome::Invalid) | None => Exit::Failed,
    }
}
