//! `diff`: what changes, for whom?

use crate::report::{ChangedDocument, Direction, Shifts, Turn};
use upheld_answers::formats::shifts_markdown;

use super::{Compared, compare, exit_of, suppose};
use crate::cli::{Diff, Findings, Format, Output, Worse};
use crate::commands::Session;
#[cfg(feature = "server")]
use crate::commands::page;
use crate::exit::Exit;
use crate::render::{print_document, print_names, shifts};

pub(in crate::commands) fn run(session: &Session<'_>, wanted: &Diff) -> Exit {
    let supposed = wanted.supposed();
    let compared = if supposed.is_something() {
        suppose(session, &supposed)
    } else {
        compare(session, &wanted.sides, &wanted.log)
    };
    let compared = match compared {
        Ok(compared) => compared,
        Err(exit) => return exit,
    };
    print(session, &compared);
    match (wanted.exit_zero, wanted.fail_on.as_slice()) {
        (true, _) => Exit::Yes,
        (false, []) => exit_of(&compared.shifts),
        (false, worse) if worse.iter().any(|worse| has(&compared.shifts, *worse)) => Exit::No,
        (false, _) => match exit_of(&compared.shifts) {
            Exit::Undecided => Exit::Undecided,
            _ => Exit::Yes,
        },
    }
}

/// Prints what changes, in the format that was asked for.
pub(super) fn print(session: &Session<'_>, compared: &Compared) {
    let Compared { before, after, shifts: found } = compared;
    let screen = &session.screen;
    if session.settings.output.value == Output::Report(Findings::Markdown) {
        return print_document(&shifts_markdown(found));
    }
    #[cfg(feature = "server")]
    if session.settings.output.value.is_page() {
        let document = found.document(before.snapshot.digest(), after.snapshot.digest());
        return print_document(&page::changed(&document, after.snapshot.digest()));
    }
    match screen.format {
        Format::Json | Format::Yaml => {
            screen.print_data(&found.document(before.snapshot.digest(), after.snapshot.digest()));
        }
        Format::Jsonl => found.shifts.iter().for_each(|shift| screen.print_data(shift)),
        Format::Name => {
            print_names(found.changed.iter().map(ChangedDocument::id));
        }
        Format::Table | Format::Wide => screen.print(&shifts::text(found, screen)),
    }
}

/// Whether a change brings what somebody does not want.
fn has(shifts: &Shifts, worse: Worse) -> bool {
    let begins = |state: &str| {
        let mut begun = shifts.violations.iter().filter(|violation| violation.turn == Turn::Begins);
        begun.any(|violation| violation.state == state)
    };
    let goes = |direction: Direction| shifts.shifts.iter().any(|shift| shift.direction == direction);
    match worse {
        Worse::Widened => goes(Direction::Widened),
        Worse::Narrowed => goes(Direction::Narrowed),
        Worse::Hard => begins("hard"),
        Worse::Soft => begins("soft"),
        Worse::Arbitrary => shifts.shifts.iter().any(|shift| shift.after.arbitrary && !shift.before.arbitrary),
        Worse::Invariants => shifts.breaks_invariants(),
    }
}
