//! `what-if`: what would changes do?

use serde_json::json;
use upheld_answers::compliance::{Changes, WhatIf as Answer};
use upheld_loader::Format as Reading;

use super::{Question, asked, load};
use crate::cli::{Format, WhatIf};
use crate::commands::decision::read;
use crate::commands::{Session, print_refused, refuse};
use crate::exit::Exit;
use crate::render::{compliance, print_names};

pub(in crate::commands) fn run(session: &Session<'_>, wanted: &WhatIf) -> Exit {
    let Answer { plan: planned, clean } = match answer(session, wanted) {
        Ok(answer) => answer,
        Err(exit) => return exit,
    };
    let screen = &session.screen;
    match screen.format {
        Format::Json | Format::Yaml | Format::Jsonl => {
            screen.print_data(&json!({"apiVersion": "upheld/v1", "kind": "Plan", "plan": planned}));
        }
        Format::Name => print_names([&planned.id]),
        Format::Table | Format::Wide => screen.print(&compliance::planned(&planned, screen)),
    }
    if clean { Exit::Yes } else { Exit::No }
}

fn answer(session: &Session<'_>, wanted: &WhatIf) -> Result<Answer, Exit> {
    let text = read(&wanted.changes).map_err(|problems| refuse(&problems))?;
    let format = Reading::of_name(&wanted.changes).unwrap_or_else(|| Reading::of_text(&text));
    if let Some(server) = &session.server {
        let WhatIf { person, organisation, plan, .. } = wanted;
        let question = Question { about: "what-if", organisation, person, plan: plan.as_deref() };
        return question.there(server, text, format);
    }
    let loaded = load(session, Some(&wanted.changes)).ok_or(Exit::Failed)?;
    let asked = asked(session, &loaded, &wanted.organisation).ok_or(Exit::Failed)?;
    let (person, plan) = (wanted.person.person.as_deref(), wanted.plan.as_deref());
    let changes = Changes { name: &wanted.changes, format, text, person, plan };
    asked.what_if(&changes).map_err(|refused| print_refused(&loaded, &refused))
}
