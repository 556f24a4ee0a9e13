//! `demo`: the first five minutes, on built-in data. The same files are an example folder of the project.

use std::path::Path;

use upheld_loader::{Format as TextFormat, Input};
use upheld_model::{Diagnostic, Fault, Files};

use crate::cli::{AccessRequest, Command, Common, Explain, Question};
use crate::commands::{Session, say};
use crate::config::{Setting, Settings};
use crate::exit::Exit;
use crate::render::style::{ANSWER, HEADING, paint};
use crate::render::{Screen, diagnostics};

/// How the demo is named on the command line: `-f builtin:demo`.
pub(crate) const NAME: &str = "builtin:demo";

const FILES: [(&str, &str); 6] = [
    ("mesh.yaml", include_str!("../../../examples/demo/mesh.yaml")),
    ("dataplanes.yaml", include_str!("../../../examples/demo/dataplanes.yaml")),
    ("policies/access.yaml", include_str!("../../../examples/demo/policies/access.yaml")),
    ("policies/logging.yaml", include_str!("../../../examples/demo/policies/logging.yaml")),
    ("policies/requests.yaml", include_str!("../../../examples/demo/policies/requests.yaml")),
    ("policies/resilience.yaml", include_str!("../../../examples/demo/policies/resilience.yaml")),
];

/// The demo as inputs.
pub(crate) fn inputs() -> impl Iterator<Item = Input> {
    FILES.iter().map(|(name, text)| Input::text(*name, TextFormat::Yaml, *text))
}

/// Asks four questions about a small shop, each a command that users can run themselves.
pub(crate) fn run(session: &Session<'_>, write: Option<&Path>) -> Exit {
    if let Some(folder) = write {
        return write_files(folder);
    }
    let question = |kind: Option<&str>, from: &str, to: &str| Question {
        kind: kind.map(str::to_owned),
        from: Some(from.to_owned()),
        to: Some(to.to_owned()),
        ..Question::default()
    };
    let access = AccessRequest {
        subject: vec!["role=admin".to_owned()],
        action: vec!["DELETE".to_owned()],
        resource: vec!["/api/audit/123".to_owned()],
        ..AccessRequest::default()
    };
    let questions = [
        ("Who decides logging from web to backend?", question(Some("TrafficLog"), "web-1", "backend-1")),
        ("Why is this request denied?", Question { access, ..Question::default() }),
        ("What else holds on that connection?", question(None, "web-1", "backend-1")),
        ("Do all proxies of a service get the same retries?", question(Some("Retry"), "api", "backend")),
    ];
    let common = Common { files: vec![NAME.to_owned()], ..Common::default() };
    let settings = Settings {
        files: Setting { value: vec![NAME.to_owned()], origin: "demo".to_owned() },
        ..session.settings.clone()
    };
    let Screen { format, width, verbose, ascii } = session.screen;
    let demo = Session { settings, screen: Screen { format, width, verbose, ascii }, common: &common };
    // Programs that ask for data get no prose around it.
    let say_text = |text: &str| {
        if session.screen.for_people() {
            session.screen.print(text);
        }
    };
    say_text(&format!(
        "{}\n",
        paint(ANSWER, "Four questions about a small shop. Each is a command that you can run yourself.")
    ));
    for (number, (title, question)) in questions.into_iter().enumerate() {
        let mut words = format!("upheld explain -f {NAME}");
        let Question { kind, from, to, access, .. } = &question;
        let flags = [
            ("--kind", kind.as_slice()),
            ("--from", from.as_slice()),
            ("--to", to.as_slice()),
            ("--subject", &access.subject),
            ("--action", &access.action),
            ("--resource", &access.resource),
        ];
        for (flag, values) in flags {
            for value in values {
                words.push_str(&format!(" {flag} {value}"));
            }
        }
        say_text(&format!("\n{}\n$ {words}\n\n", paint(HEADING, &format!("{}. {title}", number + 1))));
        demo.run(&Command::Explain(Explain { question, all_pairs: false }));
    }
    say_text(
        "\nCopy it here and edit: upheld demo --write shop      Your own files: upheld explain -f FOLDER --from … --to …\n",
    );
    Exit::Yes
}

fn write_files(folder: &Path) -> Exit {
    for (name, text) in FILES {
        let path = folder.join(name);
        let written = match path.parent() {
            _ if path.exists() => Err(std::io::Error::from(std::io::ErrorKind::AlreadyExists)),
            Some(parent) => std::fs::create_dir_all(parent).and_then(|()| std::fs::write(&path, text)),
            None => Ok(()),
        };
        if let Err(error) = written {
            let message = format!("cannot write {}: {error}", path.display());
            diagnostics::print(&Files::default(), &[Diagnostic::error(Fault::Unreadable, message)]);
            return Exit::Failed;
        }
    }
    let folder = folder.display();
    say(&format!(
        "Wrote {} files to {folder}. Next: upheld explain -f {folder} --from web-1 --to backend-1",
        FILES.len()
    ));
    Exit::Yes
}
