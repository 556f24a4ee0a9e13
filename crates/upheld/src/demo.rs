//! `demo`: the first five minutes, on built-in data. The same files are an example folder of the project.

use std::path::{Path, PathBuf};

use upheld_loader::{Format as TextFormat, Input};
use upheld_model::{Diagnostic, Fault, Files};

use crate::cli::{self, Common};
use crate::commands::{Session, say};
use crate::config::{Setting, Settings};
use crate::exit::Exit;
use crate::render::style::{ANSWER, HEADING, paint};
use crate::render::text::{Text, text};
use crate::render::{diagnostics, print_usage};

/// How the demo is named on the command line: `-f builtin:demo`.
pub(crate) const NAME: &str = "builtin:demo";

/// One question for each family, and one that shows the others at a glance.
const QUESTIONS: [(&str, &str); 5] = [
    ("Who decides logging from web to backend?", "explain --kind TrafficLog --from web-1 --to backend-1"),
    ("What else holds on that connection?", "explain --from web-1 --to backend-1"),
    ("Where does this timeout come from?", "explain httproute/checkout --kind TrafficPolicy"),
    ("Why is this request denied?", "explain --subject role=admin --action DELETE --resource /api/audit/123"),
    ("Who breaks the rules, and what would fix it?", "audit"),
];

const FILES: [(&str, &str); 8] = [
    ("mesh.yaml", include_str!("../../../examples/demo/mesh.yaml")),
    ("dataplanes.yaml", include_str!("../../../examples/demo/dataplanes.yaml")),
    ("gateway.yaml", include_str!("../../../examples/demo/gateway.yaml")),
    ("organisation.yaml", include_str!("../../../examples/demo/organisation.yaml")),
    ("policies/access.yaml", include_str!("../../../examples/demo/policies/access.yaml")),
    ("policies/logging.yaml", include_str!("../../../examples/demo/policies/logging.yaml")),
    ("policies/requests.yaml", include_str!("../../../examples/demo/policies/requests.yaml")),
    ("policies/resilience.yaml", include_str!("../../../examples/demo/policies/resilience.yaml")),
];

/// The demo as inputs.
pub(crate) fn inputs() -> impl Iterator<Item = Input> {
    FILES.iter().map(|(name, text)| Input::text(*name, TextFormat::Yaml, *text))
}

/// Asks questions about a small shop, each a command that users can run themselves.
pub(crate) fn run(session: &Session<'_>, write: Option<&Path>) -> Exit {
    let program = program();
    if let Some(folder) = write {
        return write_files(&program, folder);
    }
    let common = Common { files: vec![NAME.to_owned()], ..Common::default() };
    let settings = Settings {
        files: Setting { value: vec![NAME.to_owned()], origin: "demo".to_owned() },
        ..session.settings.clone()
    };
    let screen = session.screen.clone();
    let demo = Session { settings, screen, common: &common, server: None };
    // Programs that ask for data get no prose around it.
    let say_text = |text: Text| {
        if session.screen.for_people() {
            session.screen.print(&text);
        }
    };
    let headline = "Five questions about a small shop. Each is a command that you can run yourself.";
    say_text(text!("{}\n", paint(ANSWER, headline)));
    for (number, (title, arguments)) in (1..).zip(QUESTIONS) {
        say_text(text!("\n{}\n", paint(HEADING, &format!("{number}. {title}"))));
        say_text(text!("$ {} {} -f {}\n\n", program, arguments, NAME));
        let words = std::iter::once("upheld").chain(arguments.split_whitespace());
        match cli::parse(words) {
            Ok(cli) => demo.run(&cli.command),
            Err(error) => {
                print_usage(&error);
                return Exit::Failed;
            }
        };
    }
    say_text(text!(
        "\nNext\n  {} demo --write shop        the same files, to look at and to change\n  \
         {} list -f shop             what is in a folder: yours, too\n  \
         {} explain --help           all that can be asked\n",
        program,
        program,
        program
    ));
    Exit::Yes
}

/// How this program can be called from here: by its name if the shell finds it, by its path otherwise.
fn program() -> String {
    let name = || "upheld".to_owned();
    let Ok(own) = std::env::current_exe() else { return name() };
    let is_own = |folder: PathBuf| folder.join("upheld").canonicalize().is_ok_and(|found| found == own);
    if std::env::var_os("PATH").is_some_and(|path| std::env::split_paths(&path).any(is_own)) {
        return name();
    }
    let here = std::env::current_dir().unwrap_or_default();
    let shown = own.strip_prefix(&here).unwrap_or(&own).display().to_string();
    if shown.contains(char::is_whitespace) { format!("'{shown}'") } else { shown }
}

/// Writes the files into a folder, over nothing that is there.
pub(crate) fn write_to(folder: &Path) -> Result<(), String> {
    for (name, text) in FILES {
        let path = folder.join(name);
        let written = match path.parent() {
            _ if path.exists() => Err(std::io::Error::from(std::io::ErrorKind::AlreadyExists)),
            Some(parent) => std::fs::create_dir_all(parent).and_then(|()| std::fs::write(&path, text)),
            None => Ok(()),
        };
        written.map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    }
    Ok(())
}

fn write_files(program: &str, folder: &Path) -> Exit {
    if let Err(message) = write_to(folder) {
        diagnostics::print(&Files::default(), &[Diagnostic::error(Fault::Unreadable, message)]);
        return Exit::Failed;
    }
    let folder = folder.display();
    say(&format!(
        "Wrote {} files to {folder}. Next: {program} explain -f {folder} --from web-1 --to backend-1",
        FILES.len()
    ));
    Exit::Yes
}
