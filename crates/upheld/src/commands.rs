//! One file for each command; what they share is here.

mod all_pairs;
mod compliance;
mod config;
mod decision;
mod explain;
mod gateway;
mod graph;
mod init;
mod inspect;
mod inventory;
mod kinds;
mod reference;
mod resolve;
mod serve;
mod show;
mod status;
mod test;
mod transfer;

use std::io::Write;

use upheld_answers::{About, Options, Refused};
use upheld_input::load::{Broken, Loaded};
use upheld_model::{Diagnostic, Fault, Files};

use crate::cli::{Cli, Command, Common, Explain, Printer};
use crate::config::{BadSettings, Setting, Settings, settings};
use crate::exit::Exit;
use crate::render::{Screen, diagnostics, screen};
use crate::{demo, load, remote, watch};

/// Runs a command, again and again if the user watches.
pub(crate) fn run(cli: &Cli) -> Exit {
    let load = || settings(&cli.common, |name| std::env::var(name).ok());
    let files = || load().map(|settings| settings.files.value).unwrap_or_default();
    let once = || match load() {
        Ok(mut settings) => {
            if let Err(problem) = take_along(&cli.common, &mut settings) {
                refuse(&[problem]);
                return Exit::Unreachable;
            }
            let Common { verbose, ascii, .. } = cli.common;
            let screen = screen(settings.output.value.format(), settings.color.value, verbose, ascii);
            Session { settings, screen, common: &cli.common }.run(&cli.command)
        }
        Err(BadSettings { files, diagnostics }) => {
            diagnostics::print(&files, &diagnostics);
            Exit::Failed
        }
    };
    if cli.common.watch { watch::run(files, once) } else { once() }
}

/// With a server in place of files, its documents are what is read, and its editions are in force unless the user names some.
fn take_along(common: &Common, settings: &mut Settings) -> Result<(), Diagnostic> {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let Some(url) = common.server.clone().or_else(|| variable("UPHELD_SERVER").filter(|_| common.files.is_empty()))
    else {
        return Ok(());
    };
    let (token, authority) = (variable("UPHELD_TOKEN"), variable("UPHELD_SERVER_CA"));
    let remote = remote::Server { url: &url, token, authority, at: common.at.as_deref() }.fetch()?;
    if settings.semantics.origin == "default" && !remote.semantics.is_empty() {
        settings.semantics = Setting { value: remote.semantics.clone(), origin: format!("server {url}") };
    }
    settings.remote = Some(remote);
    Ok(())
}

/// What every command gets.
#[derive(Debug)]
pub(crate) struct Session<'c> {
    pub(crate) settings: Settings,
    pub(crate) screen: Screen,
    pub(crate) common: &'c Common,
}

impl Session<'_> {
    /// Runs a command once.
    pub(crate) fn run(&self, command: &Command) -> Exit {
        let output = self.settings.output.value;
        let printer = match command {
            Command::Graph => Printer::Graph,
            Command::Test(_) => Printer::Test,
            Command::Audit(_) => Printer::Audit,
            _ => Printer::Other,
        };
        if let Some((message, formats)) = output.refused(printer) {
            return refuse(&[Diagnostic::error(Fault::BadSetting, message).help(formats)]);
        }
        match command {
            Command::Explain(explain) if explain.all_pairs => all_pairs::run(self, &explain.question),
            Command::Explain(Explain { question, .. }) if question.access.is_asked() => {
                decision::explain(self, &question.access, question.kind.as_deref())
            }
            Command::Can(can) if !can.change_request.change.is_empty() => compliance::can::run(self, can),
            Command::Can(can) => decision::can::run(self, can),
            Command::Explain(Explain { question, .. }) if question.plain().about() == About::Relation => {
                compliance::explain::run(self, question)
            }
            Command::Audit(audit) => compliance::audit::run(self, audit),
            Command::Candidates(wanted) => compliance::offers::candidates(self, wanted),
            Command::Values(wanted) => compliance::offers::values(self, wanted),
            Command::WhatIf(wanted) => compliance::what_if::run(self, wanted),
            Command::Fix(wanted) => compliance::fix::run(self, wanted),
            Command::Waivers(wanted) => compliance::waivers::run(self, wanted),
            Command::Test(test) => test::run(self, test),
            Command::Resolve(question) if question.access.is_asked() => {
                decision::resolve(self, &question.access, question.kind.as_deref())
            }
            Command::Explain(Explain { question, .. }) if question.plain().about() == About::Gateways => {
                gateway::run(self, question)
            }
            Command::Explain(explain) => explain::run(self, &explain.question),
            Command::Resolve(question) => resolve::run(self, question),
            Command::Graph => graph::run(self),
            Command::Status => status::run(self),
            Command::Inspect { path } => inspect::run(self, path),
            Command::List(list) => inventory::run(self, list),
            Command::Show(show) => show::run(self, show),
            Command::Kinds(kinds) => kinds::run(self, kinds),
            Command::Codes { code } => reference::codes(self, code.as_deref()),
            Command::Schema { document } => reference::schema(self, document.as_deref()),
            Command::Serve(wanted) => serve::run(self, wanted),
            Command::Export { kept } => transfer::export(kept),
            Command::Import { kept } => transfer::import(kept),
            Command::Demo { write } => demo::run(self, write.as_deref()),
            Command::Init { paths } => init::run(paths),
            Command::Config { show_origin } => config::run(self, *show_origin),
            Command::Completion { shell } => reference::completion(*shell),
            Command::Man { dir } => reference::man(dir.as_deref()),
            Command::Version => reference::version(self),
        }
    }

    /// How questions are answered. Commands that a moment matters to have looked at `--now` before.
    fn options(&self) -> Options {
        Options {
            mesh: self.settings.mesh.value.clone(),
            semantics: self.settings.semantics.value.clone(),
            now: decision::now(self).unwrap_or_else(|_| decision::clock()),
        }
    }

    /// As [`Self::load`], without printing what is wrong.
    fn try_load(&self) -> Result<Loaded, Box<Broken>> {
        let loaded = load::try_snapshot(&self.settings, self.common.at.as_deref())?;
        load::tell_warnings(&loaded);
        self.tell_set_aside(&loaded);
        Ok(loaded)
    }

    /// The snapshot of the user's files; problems were printed if there is none.
    fn load(&self) -> Option<Loaded> {
        let loaded = load::snapshot(&self.settings, self.common.at.as_deref())?;
        self.tell_set_aside(&loaded);
        Some(loaded)
    }

    /// As [`Self::load`], without a file that holds the question.
    fn load_beside(&self, question: Option<&str>) -> Option<Loaded> {
        let loaded = load::snapshot_beside(&self.settings, self.common.at.as_deref(), question)?;
        self.tell_set_aside(&loaded);
        Some(loaded)
    }

    fn tell_set_aside(&self, loaded: &Loaded) {
        let by_type = &loaded.set_aside.by_type;
        let count: usize = by_type.values().sum();
        if count == 0 {
            return;
        }
        let mut types: Vec<String> = by_type.iter().map(|(name, count)| format!("{name} ({count})")).collect();
        let shown = if self.screen.verbose { types.len() } else { 5 };
        let more = types.len().saturating_sub(shown);
        types.truncate(shown);
        let more = if more > 0 { format!(" and {more} more types") } else { String::new() };
        let noun = if count == 1 { "document" } else { "documents" };
        say(&format!("note: {count} {noun} of types that are not resolved here: {}{more}", types.join(", ")));
    }
}

/// Talks to the person, not to the pipe.
pub(crate) fn say(text: &str) {
    let mut err = anstream::stderr().lock();
    drop(writeln!(err, "{text}"));
}

/// Prints problems that are not about a place in a file.
fn refuse(problems: &[Diagnostic]) -> Exit {
    diagnostics::print(&Files::default(), problems);
    Exit::Failed
}

/// Prints why there is no answer.
fn tell_refused(loaded: &Loaded, refused: &Refused) -> Exit {
    diagnostics::print(refused.files(&loaded.snapshot), &refused.diagnostics);
    Exit::Failed
}

/// Prints what is odd about gateways.
fn tell_odd(loaded: &Loaded, warnings: &[Diagnostic]) {
    if !warnings.is_empty() {
        diagnostics::print(loaded.snapshot.files(), warnings);
    }
}
