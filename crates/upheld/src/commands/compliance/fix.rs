//! `fix`: which edits would fix violations?

use serde_json::json;
use upheld_answers::compliance::FixQuestion;

use super::{asked, load};
use crate::cli::{Fix, Format};
use crate::commands::{Session, refuse};
use crate::exit::Exit;
use crate::render::{compliance, print_plain};

pub(in crate::commands) fn run(session: &Session<'_>, wanted: &Fix) -> Exit {
    let Some(loaded) = load(session, None) else { return Exit::Failed };
    let Some(asked) = asked(session, &loaded, &wanted.organisation) else { return Exit::Failed };
    let question = FixQuestion {
        what: wanted.what.clone(),
        workspace: wanted.workspace.clone(),
        policy: wanted.policy.clone(),
        person: wanted.person.person.clone(),
        policies: wanted.organisation.policies.clone(),
    };
    let answer = match asked.fix_plan(&question) {
        Ok(answer) => answer,
        Err(problems) => return refuse(&problems),
    };
    let screen = &session.screen;
    match screen.format {
        Format::Json | Format::Yaml | Format::Jsonl => screen.print_data(&json!(answer)),
        Format::Name => print_plain(&answer.objects().iter().map(|name| format!("{name}\n")).collect::<String>()),
        Format::Table | Format::Wide => screen.print(&compliance::fix_plan(&answer, screen)),
    }
    if answer.is_clean() { Exit::Yes } else { Exit::No }
}
