//! `fix`: which edits would fix violations? With `--apply` they are made, with `-o patch` they are printed as a diff.

use std::path::Path;

use serde_json::json;
use upheld_answers::Progress;
use upheld_answers::compliance::{ByHand, FileEdit, FileEdits, FixQuestion, Organisation};
use upheld_answers::patch::unified;
use upheld_model::{Diagnostic, Fault};

use super::{Question, answer, asked, load};
use crate::cli::{Fix, Format, Output};
use crate::commands::{Session, refuse, say};
use crate::exit::Exit;
use crate::render::bar::Bar;
use crate::render::{compliance, print_plain};
use crate::report::compliance::FixPlan;
use crate::report::counted;

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
            let problem = Diagnostic::error(Fault::BadSetting, "a server has no files that could be edited");
            return refuse(&[problem.help("leave out --apply and -o patch, or name files with -f")]);
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
        Format::Name => print_plain(&answer.objects().iter().map(|name| format!("{name}\n")).collect::<String>()),
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

/// What becomes of edits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Edits {
    /// The files change.
    Made,
    /// They are printed as a diff.
    Printed,
}

fn edit(asked: &Organisation<'_>, question: &FixQuestion, edits: Edits) -> Exit {
    let (plan, fixes) = match with_bar(|tell| asked.remedy(question, tell)) {
        Ok(answer) => answer,
        Err(problems) => return refuse(&problems),
    };
    let FileEdits { files, by_hand } = asked.file_edits(&fixes);
    let unreadable: Vec<Diagnostic> = files.iter().filter_map(|file| current(file).err()).collect();
    if !unreadable.is_empty() {
        return refuse(&unreadable);
    }
    for file in &files {
        match edits {
            Edits::Printed => print_plain(&unified(file, &called(&file.name))),
            Edits::Made => {
                let after = format!("{}{}", current(file).unwrap_or_default(), file.after);
                if let Err(error) = std::fs::write(&file.name, after) {
                    let message = format!("cannot write `{}`: {error}", file.name);
                    return refuse(&[Diagnostic::error(Fault::Unreadable, message)]);
                }
            }
        }
    }
    if edits == Edits::Made {
        let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
        let told = match names.as_slice() {
            [] => "No file was changed.".to_owned(),
            names => format!("{} changed: {}.", counted(names.len(), "file", "files"), names.join(", ")),
        };
        print_plain(&format!("{told}\n"));
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

/// The mark before the text of a file that still says what was read.
fn current(file: &FileEdit) -> Result<&'static str, Diagnostic> {
    const MARK: &str = "\u{feff}";
    let text = std::fs::read_to_string(&file.name).unwrap_or_default();
    match text.strip_prefix(MARK) {
        Some(text) if text == file.before => Ok(MARK),
        None if text == file.before => Ok(""),
        _ => {
            let message = format!("`{}` is no file that says what was read", file.name);
            Err(Diagnostic::error(Fault::Moved, message).help("edits are made in files only: name them with -f"))
        }
    }
}

/// How a file is called from here, where a patch is applied.
fn called(name: &str) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let name = Path::new(name);
    let own = name.strip_prefix(&here).or_else(|_| name.strip_prefix(".")).unwrap_or(name);
    own.to_string_lossy().into_owned()
}
