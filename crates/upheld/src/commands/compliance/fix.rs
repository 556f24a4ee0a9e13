//! `fix`: which edits would fix violations? With `--apply` they are made, with `-o patch` they are printed as a diff.

use serde_json::json;
use upheld_answers::Progress;
use upheld_answers::compliance::{ByHand, FileEdits, FixQuestion, Organisation};

use super::{Question, answer, asked, load};
use crate::cli::{Fix, Format, Output};
use crate::commands::edits::{Edits, no_files, sentence};
use crate::commands::{Session, refuse, say};
use crate::exit::Exit;
use crate::render::bar::Bar;
use crate::render::text::text;
use crate::render::{compliance, print_names, print_text};
use crate::report::compliance::FixPlan;

pub(in crate::commands) fn run(session: &Session<'_>, wanted: &Fix) -> Exit {
    let question = FixQuestion {
        what: wanted.what.clone(),
        workspace: wanted.workspace.clone(),
        policy: wanted.policy.clone(),
        person: wanted.person.person.clone(),
        allow: wanted.allow.iter().map(|own| own.word().to_owned()).collect(),
        policies: wanted.organisation.policies.clone(),
    };
    let is_patch = session.settings.output.value == Output::Patch;
    if wanted.apply || is_patch {
        if session.server.is_some() {
            return refuse(&[no_files("--apply and -o patch")]);
        }
        let Some(loaded) = load(session, None) else { return Exit::Failed };
        let Some(asked) = asked(session, &loaded, &wanted.organisation) else { return Exit::Failed };
        return edit(&asked, &question, if is_patch { Edits::Printed } else { Edits::Made });
    }
    let (organisation, person) = (&wanted.organisation, &wanted.person);
    let posed = Question { about: "fix", organisation, person, plan: None };
    let answer: Result<FixPlan, Exit> =
        answer(session, &posed, &question, |asked| with_bar(|tell| asked.fix_plan(&question, tell)));
    let answer = match answer {
        Ok(answer) => answer,
        Err(exit) => return exit,
    };
    let screen = &session.screen;
    match screen.format {
        Format::Json | Format::Yaml | Format::Jsonl => screen.print_data(&json!(answer)),
        Format::Name => print_names(answer.objects()),
        Format::Table | Format::Wide => screen.print(&compliance::fix_plan(&answer, screen)),
    }
    if answer.is_clean() { Exit::Yes } else { Exit::No }
}

/// Shows on terminals how far the search is.
fn with_bar<T>(search: impl FnOnce(&mut dyn FnMut(usize, usize)) -> T) -> T {
    let (bar, mut before) = (Bar::new("violations"), None);
    let found = search(&mut |seen, all| {
        if before.is_none() {
            bar.expect(all as u64);
        }
        bar.done((seen - before.unwrap_or(0)) as u64);
        before = Some(seen);
    });
    bar.finish();
    found
}

fn edit(asked: &Organisation<'_>, question: &FixQuestion, edits: Edits) -> Exit {
    let (plan, fixes) = match with_bar(|tell| asked.remedy(question, tell)) {
        Ok(answer) => answer,
        Err(problems) => return refuse(&problems),
    };
    let FileEdits { files, by_hand } = asked.file_edits(&fixes);
    if let Err(problems) = edits.apply(&files) {
        return refuse(&problems);
    }
    if edits == Edits::Made {
        print_text(&text!("{}\n", sentence(&files)));
    }
    for ByHand { text, at, why } in &by_hand {
        let place = at.as_ref().map(|at| format!("{at}: ")).unwrap_or_default();
        say(&format!("by hand: {place}{text}: {why}"));
    }
    for check in &plan.left {
        let why = check.fix_line().unwrap_or_default();
        say(&format!("left: [{}] {} {why}", check.policy, check.message));
    }
    if by_hand.is_empty() && plan.left.is_empty() { Exit::Yes } else { Exit::No }
}
