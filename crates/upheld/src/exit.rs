//! Exit codes, the same for all commands.

use std::process::ExitCode;

use crate::render::print_usage;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Fine, yes, none.
    Yes,
    /// The answer is negative.
    No,
    /// Wrong usage or unreadable input.
    Failed,
    /// Undecided because a fact is missing.
    Undecided,
    /// Whoever should be asked cannot be.
    Unreachable,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Yes => 0,
            Exit::No => 1,
            Exit::Failed => 2,
            Exit::Undecided => 3,
            Exit::Unreachable => 4,
        })
    }
}

/// Prints what the argument parser has to say: help and version go to standard output and are fine.
pub(crate) fn usage(error: &clap::Error) -> Exit {
    print_usage(error);
    if error.use_stderr() { Exit::Failed } else { Exit::Yes }
}
