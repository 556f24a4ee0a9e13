//! One file for each command; what they share is here.

mod all_pairs;
mod analysis;
mod compliance;
mod config;
mod decision;
#[cfg(feature = "server")]
mod doctor;
mod edits;
mod explain;
mod graph;
#[cfg(feature = "server")]
mod health;
mod init;
mod inspect;
mod inventory;
mod kinds;
mod learn;
#[cfg(feature = "server")]
mod open;
#[cfg(feature = "server")]
mod page;
mod reference;
mod resolve;
#[cfg(feature = "server")]
mod serve;
mod show;
mod status;
mod test;
#[cfg(feature = "server")]
mod transfer;

use upheld_answers::{Answer, Options, Question, Refused, Resolved, Words, World, verdict_of};
use upheld_loader::LeftAside;
use upheld_loader::load::{Broken, Loaded};
use upheld_loader::render::Tool;
use upheld_model::{Diagnostic, Fault, Files};

use crate::cli::{self, Cli, Command, Common};
use crate::config::{BadSettings, Setting, Settings, settings};
use crate::exit::Exit;
use crate::remote::{NoAnswer, Server};
use crate::render::text::text;
use crate::render::{Screen, diagnostics, hints, print_aside, screen};
use crate::report::{Depth, Report};
use crate::{demo, load, watch};

/// Runs a command, again and again if the user watches.
pub(crate) fn run(cli: &Cli) -> Exit {
    // Whoever asks for its health depends on nothing that lies here.
    #[cfg(feature = "server")]
    if let Command::Health(wanted) = &cli.command {
        return health::run(wanted, cli.common.server.as_deref());
    }
    hints::remember(&cli.common.files, cli.common.server.as_deref());
    let load = || settings(&cli.common, |name| std::env::var(name).ok());
    let files = || load().map(|settings| settings.files.value).unwrap_or_default();
    let once = || match load() {
        Ok(mut settings) => {
            let server = server(&cli.common).filter(|_| needs_documents(&cli.command));
            let asked = server.as_ref().filter(|_| is_answered_there(&cli.command, &cli.common, &settings)).cloned();
            if let Some(server) = server.filter(|_| asked.is_none())
                && let Err(no_answer) = take_along(&server, &mut settings)
            {
                return not_answered(&no_answer);
            }
            let Common { verbose, ascii, .. } = cli.common;
            let wanted = match &cli.command {
                Command::Explain(explain) => explain.skipped.clone(),
                _ => None,
            };
            let screen = screen(settings.output.value.format(), settings.color.value, verbose, ascii);
            let screen = Screen { wanted, ..screen };
            Session { settings, screen, common: &cli.common, server: asked }.run(&cli.command)
        }
        Err(BadSettings { files, diagnostics }) => {
            diagnostics::print(&files, &diagnostics);
            Exit::Failed
        }
    };
    if cli.common.watch { watch::run(files, once) } else { once() }
}

/// The server in place of files, if there is one.
fn server(common: &Common) -> Option<Server> {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let url = common.server.clone().or_else(|| variable("UPHELD_SERVER").filter(|_| common.files.is_empty()))?;
    let (token, authority) = (variable("UPHELD_TOKEN"), variable("UPHELD_SERVER_CA"));
    Some(Server { url, token, authority, at: common.at.clone() })
}

/// Whether a server answers a command itself, as whom it knows us: what could be done with related objects. It has its own clock and its own
/// editions; whoever names others asks about its documents.
fn is_answered_there(command: &Command, common: &Common, settings: &Settings) -> bool {
    let is_known = match command {
        Command::Can(can) => !can.change_request.change.is_empty(),
        Command::Candidates(_) | Command::Values(_) | Command::WhatIf(_) | Command::Fix(_) | Command::Waivers(_) => {
            true
        }
        _ => false,
    };
    is_known && common.now.is_none() && settings.semantics.origin == "default"
}

/// Whoever looks at a server itself takes nothing along, and whoever compares takes along what each side is.
#[cfg(feature = "server")]
fn needs_documents(command: &Command) -> bool {
    !matches!(command, Command::Doctor(_) | Command::Verify { .. } | Command::Diff(_) | Command::Prove(_))
}

#[cfg(not(feature = "server"))]
fn needs_documents(command: &Command) -> bool {
    !matches!(command, Command::Diff(_) | Command::Prove(_))
}

/// Prints why there is no answer.
fn not_answered(no_answer: &NoAnswer) -> Exit {
    refuse(&no_answer.diagnostics);
    no_answer.exit
}

/// With a server in place of files, its documents are what is read, and its editions are in force unless the user names some.
fn take_along(server: &Server, settings: &mut Settings) -> Result<(), NoAnswer> {
    let remote = server.fetch()?;
    if settings.semantics.origin == "default" && !remote.semantics.is_empty() {
        settings.semantics = Setting { value: remote.semantics.clone(), origin: format!("server {}", server.url) };
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
    /// Whoever answers in our place.
    pub(crate) server: Option<Server>,
}

impl Session<'_> {
    /// Runs a command once.
    pub(crate) fn run(&self, command: &Command) -> Exit {
        let output = self.settings.output.value;
        let printer = command.printer();
        if let Some((message, formats)) = output.refused(printer) {
            return refuse(&[Diagnostic::error(Fault::BadSetting, message).help(formats)]);
        }
        match command {
            #[cfg(feature = "server")]
            Command::Explain(explain) if explain.open => open::question(self, explain),
            Command::Explain(explain) if explain.all_pairs => all_pairs::run(self, &explain.question),
            Command::Can(can) if !can.change_request.change.is_empty() => compliance::can::run(self, can),
            Command::Can(can) => decision::can::run(self, can),
            Command::Reach(wanted) => decision::reach::run(self, wanted),
            Command::Audit(audit) => compliance::audit::run(self, audit),
            Command::Candidates(wanted) => compliance::offers::candidates(self, wanted),
            Command::Values(wanted) => compliance::offers::values(self, wanted),
            Command::WhatIf(wanted) => compliance::what_if::run(self, wanted),
            Command::Fix(wanted) => compliance::fix::run(self, wanted),
            Command::Waivers(wanted) => compliance::waivers::run(self, wanted),
            Command::Diff(wanted) => analysis::diff::run(self, wanted),
            Command::Prove(sides) => analysis::prove::run(self, sides),
            Command::Lint(wanted) => analysis::lint::run(self, wanted),
            Command::Replay(wanted) => analysis::replay::run(self, wanted),
            Command::WhyNot(wanted) => analysis::why_not::run(self, wanted),
            Command::Blame(question) => analysis::blame::run(self, question),
            Command::Bisect(wanted) => analysis::bisect::run(self, wanted),
            Command::Affected(wanted) => analysis::affected::run(self, wanted),
            Command::Test(test) => test::run(self, test),
            Command::Explain(explain) => explain::run(self, explain),
            Command::Resolve(question) => resolve::run(self, question),
            Command::Graph => graph::run(self),
            Command::Status => status::run(self),
            Command::Inspect { path } => inspect::run(self, path),
            Command::List(list) => inventory::run(self, list),
            Command::Show(show) => show::run(self, show),
            Command::Kinds(kinds) => kinds::run(self, kinds),
            Command::Codes { code } => reference::codes(self, code.as_deref()),
            Command::Learn { lesson: None, .. } => learn::list(self),
            Command::Learn { lesson: Some(name), step } => learn::run(self, name, *step),
            Command::Schema { document } => reference::schema(self, document.as_deref()),
            #[cfg(feature = "server")]
            Command::Serve(wanted) => serve::run(self, wanted),
            #[cfg(feature = "server")]
            Command::Open(wanted) => open::run(self, wanted),
            #[cfg(feature = "server")]
            Command::Health(wanted) => health::run(wanted, self.common.server.as_deref()),
            #[cfg(feature = "server")]
            Command::Doctor(wanted) => doctor::run(self, wanted),
            #[cfg(feature = "server")]
            Command::Export { kept, sign } => transfer::export(kept, sign.as_deref()),
            #[cfg(feature = "server")]
            Command::Import { kept, key } => transfer::import(kept, key.as_deref()),
            #[cfg(feature = "server")]
            Command::Verify { kept, accept_loss: Some(last), .. } => transfer::accept_loss(kept, *last),
            #[cfg(feature = "server")]
            Command::Verify { file, kept, key, accept_loss: None } => {
                transfer::verify(file.as_deref(), kept, key.as_deref(), server(self.common))
            }
            #[cfg(feature = "server")]
            Command::Demo { open: true, .. } => open::demo(self),
            Command::Demo { write, .. } => demo::run(self, write.as_deref()),
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
            deciding_kind: None,
            skipped: self.screen.skipped(),
        }
    }

    /// As [`Self::load`], without printing what is wrong.
    fn try_load(&self) -> Result<Loaded, Box<Broken>> {
        let loaded = load::try_snapshot(&self.settings, self.common.at.as_deref())?;
        load::print_warnings(&loaded);
        self.report_set_aside(&loaded);
        Ok(loaded)
    }

    /// The snapshot of the user's files; problems were printed if there is none.
    fn load(&self) -> Option<Loaded> {
        let loaded = load::snapshot(&self.settings, self.common.at.as_deref())?;
        self.report_set_aside(&loaded);
        Some(loaded)
    }

    /// As [`Self::load`], without a file that holds the question; warnings are printed with the answer.
    fn load_beside(&self, question: Option<&str>) -> Option<Loaded> {
        let loaded = load::snapshot_beside(&self.settings, self.common.at.as_deref(), question)?;
        self.report_set_aside(&loaded);
        Some(loaded)
    }

    /// One line for everything that was left aside, and one for what others would make of it.
    fn report_set_aside(&self, loaded: &Loaded) {
        let parts: Vec<String> = self.documents_aside(loaded).into_iter().chain(self.files_aside(loaded)).collect();
        if !parts.is_empty() {
            say(&format!("note: {}", parts.join("; ")));
        }
        let LeftAside { charts, kustomizations, .. } = loaded.left_aside.as_ref();
        for (tool, folders, what) in [
            (Tool::Helm, charts, "a Helm chart: its templates are not read"),
            (
                Tool::Kustomize,
                kustomizations,
                "a Kustomize folder: its files are read as they are before it changes them",
            ),
        ] {
            if let Some(folder) = folders.first() {
                let more = folders.len() - 1;
                let more = if more > 0 { format!(", and {more} more") } else { String::new() };
                let command = tool.command(folder);
                say(&format!(
                    "note: {folder} is {what}{more}; read `{command} | upheld … -f -`, or all of them with --render"
                ));
            }
        }
    }

    /// How many documents are of types that nobody here looks at.
    fn documents_aside(&self, loaded: &Loaded) -> Option<String> {
        let by_type = &loaded.set_aside.by_type;
        let count: usize = by_type.values().sum();
        let mut types: Vec<String> = by_type.iter().map(|(name, count)| format!("{name} ({count})")).collect();
        let shown = if self.screen.verbose { types.len() } else { 5 };
        let more = types.len().saturating_sub(shown);
        types.truncate(shown);
        let more = if more > 0 { format!(" and {more} more types") } else { String::new() };
        let noun = if count == 1 { "document" } else { "documents" };
        (count > 0).then(|| format!("{count} {noun} of types that are not resolved here: {}{more}", types.join(", ")))
    }

    /// How many files are left aside, by why.
    fn files_aside(&self, loaded: &Loaded) -> Option<String> {
        let reasons = loaded.left_aside.by_reason.iter().map(|(why, names)| {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let named = if self.screen.verbose { format!(" ({})", names.join(", ")) } else { String::new() };
            format!("{}{named}", why.counted(names.len()))
        });
        let reasons: Vec<String> = reasons.collect();
        (!reasons.is_empty()).then(|| format!("left aside: {}", reasons.join(", ")))
    }
}

/// An answer, with its question and what it was made of.
struct Asked {
    loaded: Loaded,
    question: Question,
    answer: Answer,
}

/// Asks whatever the user asked; problems were printed if there is no answer.
fn ask(session: &Session<'_>, asked: &cli::Question, depth: Depth) -> Option<Asked> {
    let question = parsed(session, &asked.words(), asked.access.request.as_deref())?;
    let loaded = session.load_beside(asked.access.request.as_deref())?;
    let options = session.options();
    match World::new(&loaded.snapshot, &options).answer_to(&question, depth) {
        Ok(answer) => {
            match depth {
                Depth::All => print_concerning(session, &loaded, &answer),
                _ => load::print_warnings(&loaded),
            }
            Some(Asked { loaded, question, answer })
        }
        Err(refused) => {
            load::print_warnings(&loaded);
            print_refused(&loaded, &refused);
            None
        }
    }
}

/// Prints what is odd about the documents that an answer rests on, and how much else there is.
fn print_concerning(session: &Session<'_>, loaded: &Loaded, answer: &Answer) {
    let all = loaded.warnings.as_slice().iter().chain(&answer.warnings);
    if session.screen.verbose {
        return print_warnings(loaded, &all.cloned().collect::<Vec<_>>());
    }
    let (concerning, others) = answer.concerning(loaded.snapshot.files(), all);
    print_warnings(loaded, &concerning.into_iter().cloned().collect::<Vec<_>>());
    if others > 0 {
        let noun = if others == 1 { "warning" } else { "warnings" };
        say(&format!("note: {others} {noun} about other documents (--verbose shows all)"));
    }
}

/// What the user's words mean, or what a file with requests asks; problems were printed if they mean nothing.
fn parsed(session: &Session<'_>, words: &Words, requests: Option<&str>) -> Option<Question> {
    let parse = || -> Result<Question, Refused> {
        decision::now(session)?;
        match requests {
            Some(file) => Ok(Question::about_requests(decision::from_file(session, file)?, words.kind.as_deref())),
            None => Question::parse(words, &session.options()),
        }
    };
    parse().map_err(|refused| diagnostics::print(&refused.question.unwrap_or_default(), &refused.diagnostics)).ok()
}

/// What scripts learn from some reports.
fn exit_of(reports: &[Report]) -> Exit {
    verdict_of(reports).into()
}

impl From<Resolved> for Exit {
    fn from(resolved: Resolved) -> Self {
        match resolved {
            Resolved::Yes => Self::Yes,
            Resolved::No => Self::No,
            Resolved::Undecided => Self::Undecided,
        }
    }
}

/// Talks to the person, not to the pipe.
pub(crate) fn say(text: &str) {
    print_aside(&text!("{}\n", hints::with_sources(text)));
}

/// What an earlier run of a command found, out of a file.
fn baseline<B>(command: &str, file: &str, read: fn(&str) -> Result<B, String>) -> Result<B, Diagnostic> {
    let unreadable = |problem: String| {
        Diagnostic::error(Fault::Unreadable, format!("cannot read the baseline `{file}`: {problem}"))
            .help(format!("it is made by `upheld {command} -o json` or `-o sarif`"))
    };
    let text = std::fs::read_to_string(file).map_err(|error| unreadable(error.to_string()))?;
    read(&text).map_err(unreadable)
}

/// Prints problems that are not about a place in a file.
fn refuse(problems: &[Diagnostic]) -> Exit {
    diagnostics::print(&Files::default(), problems);
    Exit::Failed
}

/// Prints why there is no answer.
fn print_refused(loaded: &Loaded, refused: &Refused) -> Exit {
    diagnostics::print(refused.files(&loaded.snapshot), &refused.diagnostics);
    Exit::Failed
}

/// Prints what is odd.
fn print_warnings(loaded: &Loaded, warnings: &[Diagnostic]) {
    if !warnings.is_empty() {
        diagnostics::print(loaded.snapshot.files(), warnings);
    }
}
