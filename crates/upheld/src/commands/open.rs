//! `open`: the files at hand in a browser, served to nobody else.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use upheld_pages::Address;
use upheld_server::{Config, Running};

use super::serve::{config, served, until_stopped};
use super::{Session, refuse, say};
use crate::cli::{self, Cli, Explain, Open, Serve};
use crate::config::Settings;
use crate::demo;
use crate::exit::Exit;

/// Opens a page of the files at hand.
pub(super) fn run(session: &Session<'_>, wanted: &Open) -> Exit {
    let named: Vec<PathBuf> = session.settings.files.value.iter().map(PathBuf::from).collect();
    opened(session, named, &wanted.page, if wanted.print { Shown::Told } else { Shown::Browser })
}

/// Opens the page of a question.
pub(super) fn question(session: &Session<'_>, explain: &Explain) -> Exit {
    let mut words = serde_json::to_value(explain.question.words()).unwrap_or_default();
    if let Some(fields) = words.as_object_mut().filter(|_| explain.all_pairs) {
        fields.insert("allPairs".to_owned(), true.into());
    }
    if let Some(fields) = words.as_object_mut().filter(|_| !explain.without.is_empty()) {
        fields.insert("without".to_owned(), explain.without.clone().into());
    }
    // Whoever follows the address later gets the answer of now.
    let Settings { mesh, semantics, .. } = &session.settings;
    let editions = Some(semantics.value.join(",")).filter(|_| semantics.origin != "default");
    for (name, value) in [("mesh", mesh.value.clone()), ("semantics", editions)] {
        if let (Some(fields), Some(value)) = (words.as_object_mut(), value) {
            fields.insert(name.to_owned(), value.into());
        }
    }
    let open = Open { page: Address::of("/explain").with_words(&words).to_string(), print: false };
    run(session, &open)
}

/// Opens the first page of the demo.
pub(super) fn demo(session: &Session<'_>) -> Exit {
    let folder = std::env::temp_dir().join(format!("upheld-demo-{}", std::process::id()));
    if let Err(message) = demo::write_to(&folder) {
        return refuse(&[upheld_model::Diagnostic::error(upheld_model::Fault::Unreadable, message)]);
    }
    let exit = opened(session, vec![folder.clone()], "/", Shown::Browser);
    drop(std::fs::remove_dir_all(folder));
    exit
}

/// Whether a browser is started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    /// It is.
    Browser,
    /// Somebody else does that.
    Told,
}

fn opened(session: &Session<'_>, files: Vec<PathBuf>, page: &str, shown: Shown) -> Exit {
    // As `serve` without a word of its own: nothing is kept, and nobody else can reach it.
    let Ok(Cli { command: cli::Command::Serve(serve), .. }) = cli::parse(["upheld", "serve", "--ephemeral"]) else {
        return Exit::Failed;
    };
    let serve = Serve { listen: SocketAddr::from(([127, 0, 0, 1], 0)), ..*serve };
    let config = match config(session, &serve) {
        Ok(config) => Config { watch: files, ..config },
        Err(problem) => return refuse(&[problem]),
    };
    let page = if page.starts_with('/') { page.to_owned() } else { format!("/{page}") };
    let tell = move |running: &Running| {
        let address = format!("{}{page}", running.url());
        say(&address);
        say("  the files as they are, for this machine alone; Ctrl-C ends it");
        if shown == Shown::Browser && !browse(&address) {
            say("  there is no browser here that can be started: open the address in one");
        }
    };
    served(config, tell, until_stopped)
}

/// Starts a browser; whether there is one.
fn browse(address: &str) -> bool {
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let quiet =
        Command::new(program).arg(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    quiet.is_ok()
}
