//! `prove`: does this change leave every result as it is?

use crate::report::Comparison;

use super::{compare, diff, exit_of};
use crate::cli::{Format, Sides};
use crate::commands::Session;
use crate::exit::Exit;
use crate::render::shifts;

pub(in crate::commands) fn run(session: &Session<'_>, sides: &Sides) -> Exit {
    let compared = match compare(session, sides, &[]) {
        Ok(compared) => compared,
        Err(exit) => return exit,
    };
    #[cfg(feature = "server")]
    if session.settings.output.value.is_page() {
        diff::print(session, &compared);
        return exit_of(&compared.shifts);
    }
    let screen = &session.screen;
    match (screen.format, compared.shifts.verdict) {
        (Format::Table | Format::Wide, verdict) => {
            let word = match verdict {
                Comparison::Equal => "EQUAL",
                Comparison::Differs => "DIFFERS",
                Comparison::Undecided => "UNDECIDED",
            };
            screen.print(&shifts::proof(word, &compared.shifts, screen));
        }
        _ => diff::print(session, &compared),
    }
    exit_of(&compared.shifts)
}
