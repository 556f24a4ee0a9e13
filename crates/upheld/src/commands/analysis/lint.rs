//! `lint`: what is wrong with the policies themselves?

use upheld_answers::World;
use upheld_answers::formats::Findings as Found;
use upheld_model::Severity;

use crate::cli::{Findings, Format, Lint, LintFail, Output, Results};
use crate::commands::Session;
use crate::exit::Exit;
use crate::render::{print_plain, shifts};

pub(in crate::commands) fn run(session: &Session<'_>, wanted: &Lint) -> Exit {
    let Some(loaded) = session.load_beside(None) else { return Exit::Failed };
    let options = session.options();
    let linted = World::new(&loaded.snapshot, &options).lint(loaded.warnings.as_slice()).only(&wanted.only);
    let found = Found { files: loaded.snapshot.files(), linted: &linted };
    let screen = &session.screen;
    match (session.settings.output.value, screen.format) {
        (Output::Report(Findings::Sarif), _) => screen.print_data(&found.sarif()),
        (Output::Report(Findings::Markdown), _) => print_plain(&found.markdown()),
        (Output::Report(Findings::Github), _) => print_plain(&found.github()),
        (Output::Record(Results::Junit), _) => print_plain(&found.junit()),
        (_, Format::Json | Format::Yaml) => screen.print_data(&found.document(loaded.snapshot.digest())),
        (_, Format::Jsonl) => linted.findings.iter().for_each(|finding| {
            screen.print_data(&upheld_answers::diagnostic_json(loaded.snapshot.files(), finding));
        }),
        (_, Format::Name) => {
            print_plain(&linted.findings.iter().map(|one| format!("{}\n", one.fault.code())).collect::<String>());
        }
        (_, Format::Table | Format::Wide) => screen.print(&shifts::linted(&linted, loaded.snapshot.files(), screen)),
    }
    let least = match wanted.fail_on {
        LintFail::Error => Severity::Error,
        LintFail::Warning => Severity::Warning,
        LintFail::Note => Severity::Note,
        LintFail::Never => return Exit::Yes,
    };
    if linted.findings.iter().any(|finding| finding.severity >= least) { Exit::No } else { Exit::Yes }
}
