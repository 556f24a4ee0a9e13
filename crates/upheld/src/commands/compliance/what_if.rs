//! `what-if`: what would changes do?

use serde_json::json;
use upheld_answers::compliance::Changes;
use upheld_loader::Format as Reading;

use super::{asked, load};
use crate::cli::{Format, WhatIf};
use crate::commands::decision::read;
use crate::commands::{Session, print_refused, refuse};
use crate::exit::Exit;
use crate::render::{compliance, print_plain};

pub(in crate::commands) fn run(session: &Session<'_>, wanted: &WhatIf) -> Exit {
    let Some(loaded) = load(session, Some(&wanted.changes)) else { return Exit::Failed };
    let Some(asked) = asked(session, &loaded, &wanted.organisation) else { return Exit::Failed };
    let text = match read(&wanted.changes) {
        Ok(text) => text,
        Err(problems) => return refuse(&problems),
    };
    let changes = Changes {
        name: &wanted.changes,
        format: Reading::of_name(&wanted.changes).unwrap_or_else(|| Reading::of_text(&text)),
        text,
        person: wanted.person.person.as_deref(),
        plan: wanted.plan.as_deref(),
    };
    let answer = match asked.what_if(&changes) {
        Ok(answer) => answer,
        Err(refused) => return print_refused(&loaded, &refused),
    };
    let (screen, planned) = (&session.screen, &answer.planned);
    match screen.format {
        Format::Json | Format::Yaml | Format::Jsonl => {
            screen.print_data(&json!({"apiVersion": "upheld/v1", "kind": "Plan", "plan": planned}));
        }
        Format::Name => print_plain(&format!("{}\n", planned.id)),
        Format::Table | Format::Wide => screen.print(&compliance::planned(planned, screen)),
    }
    if answer.is_clean { Exit::Yes } else { Exit::No }
}
