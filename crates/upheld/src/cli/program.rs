//! The program as the parser of command lines knows it, and how a line is read.

use std::ffi::OsString;

use clap::builder::styling::{AnsiColor, Styles};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use upheld_dialects::dialect::system_settings;

use super::{Cli, Command, Common, Printer, common};

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Yellow.on_default().bold())
    .usage(AnsiColor::Yellow.on_default().bold())
    .literal(AnsiColor::Green.on_default())
    .placeholder(AnsiColor::Cyan.on_default());

/// Which policies apply, which one wins, what is the effective result, and why.
#[derive(Debug, Parser)]
#[command(
    name = "upheld",
    version,
    styles = STYLES,
    max_term_width = 100,
    subcommand_required = true,
    arg_required_else_help = true,
    after_help = "Examples:\n  \
        upheld demo\n  \
        upheld explain --kind TrafficLog --from web-1 --to backend-1\n  \
        upheld explain -f policies/ --from web-1 --to backend-1\n\n\
        Exit codes: 0 yes or fine, 1 no, 2 wrong usage or unreadable input, 3 undecided, 4 server unreachable"
)]
struct Program {
    #[command(flatten)]
    common: Common,
}

impl Program {
    /// The program, with some of its commands.
    fn with(commands: impl IntoIterator<Item = clap::Command>) -> clap::Command {
        let systems = system_settings().map(|system| {
            clap::Arg::new(system.name)
                .long(system.name)
                .value_name("NAME=VALUE")
                .global(true)
                .action(clap::ArgAction::Append)
                .help(format!("{}; repeatable", capitalised(system.about)))
                .help_heading(common::RULES)
                .hide_short_help(true)
        });
        Self::command().args(systems).subcommands(commands)
    }
}

/// The whole command line.
pub(crate) fn command() -> clap::Command {
    Program::with(commands().into_iter().map(complete))
}

/// All commands, with what each has of its own.
fn commands() -> Vec<clap::Command> {
    let mut all = Command::augment_subcommands(clap::Command::default());
    all.get_subcommands_mut().map(std::mem::take).collect()
}

/// A command with what all have. Its help shows examples before options.
fn complete(command: clap::Command) -> clap::Command {
    const TEMPLATE: &str = "{about-with-newline}\n{before-help}{usage-heading} {usage}\n\n{all-args}{after-help}";
    let printer = Printer::of(command.get_name());
    let formats = format!("Formats of --output: {}", printer.formats().join(", "));
    let command = command.help_template(TEMPLATE).after_help(formats);
    // What a server watches is something else.
    if matches!(command.get_name(), SERVE | DOCTOR) { command } else { command.arg(again()) }
}

fn capitalised(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}

const SERVE: &str = "serve";
const DOCTOR: &str = "doctor";
const AGAIN: &str = "again";

/// `--watch` after the name of a command.
fn again() -> clap::Arg {
    clap::Arg::new(AGAIN)
        .short('w')
        .long("watch")
        .action(clap::ArgAction::SetTrue)
        .help("Run again on every change of the files")
        .help_heading(common::FILES)
}

/// Reads a command line that begins with the program. Options of commands that it does not name are not made.
pub(crate) fn parse<W: Into<OsString>>(words: impl IntoIterator<Item = W>) -> Result<Cli, clap::Error> {
    let words: Vec<OsString> = words.into_iter().map(Into::into).collect();
    let (named, others): (Vec<_>, Vec<_>) =
        commands().into_iter().partition(|command| words.iter().any(|word| word == command.get_name()));
    if named.is_empty() {
        // Options of all commands are copied into each, and here none is asked for them.
        let overview = Program::with(others).mut_args(|option| option.global(false));
        let asked = overview.try_get_matches_from(&words).err();
        if let Some(told) = asked.filter(|told| !told.use_stderr()) {
            return Err(told);
        }
    } else if let Ok(cli) = read(Program::with(named.into_iter().map(complete)), &words) {
        return Ok(cli);
    }
    // Only the whole command line says what was meant instead.
    read(command(), &words)
}

fn read(command: clap::Command, words: &[OsString]) -> Result<Cli, clap::Error> {
    let matches = command.try_get_matches_from(words)?;
    let (mut common, command) = (Common::from_arg_matches(&matches)?, Command::from_arg_matches(&matches)?);
    let again = matches.subcommand().and_then(|(_, command)| command.try_get_one::<bool>(AGAIN).ok().flatten());
    common.watch |= again == Some(&true);
    common.systems = system_settings()
        .map(|system| (system.name, matches.get_many::<String>(system.name).into_iter().flatten().cloned().collect()))
        .collect();
    Ok(Cli { common, command })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_that_a_line_does_not_name_change_nothing() {
        let lines = [
            "",
            "--version",
            "-V",
            "-h",
            "--help",
            "help",
            "help explain",
            "explain -h",
            "explain --help",
            "kinds show --help",
            "verison",
            "--verison",
            "-f",
            "-f explain",
            "-f explain list",
            "-f list explain --from a --to b --ascii",
            "list --from a",
            "list -w",
            "-w list",
            "--now 2030-01-01 version -o json",
            "list list",
        ];
        let shown = |read: Result<Cli, clap::Error>| match read {
            Ok(cli) => format!("{cli:?}"),
            Err(told) => told.render().ansi().to_string(),
        };
        for line in lines {
            let words: Vec<OsString> = ["upheld"].into_iter().chain(line.split_whitespace()).map(Into::into).collect();
            assert_eq!(shown(parse(words.clone())), shown(read(command(), &words)), "{line}");
        }
    }
}
