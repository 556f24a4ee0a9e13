//! `lint`: what is wrong with the policies themselves? With `--fix`, what can go without a change of any result goes.

use upheld_answers::formats::{Findings as Found, FindingsBaseline, json};
use upheld_answers::lint::{Among, Failing, Fixes};
use upheld_answers::replay::{Known, KnownRequests};
use upheld_answers::{LintFinding, LintWanted, Linted, Options, World};
use upheld_loader::load::Loaded;
use upheld_model::{Diagnostic, Fault, Severity};

use super::replay::each_piece;
use crate::cli::{Findings, Format, Lint, LintFail, Output, Results};
use crate::commands::edits::{Edits, no_files, sentence, write_whole};
#[cfg(feature = "server")]
use crate::commands::page;
use crate::commands::{Session, baseline, refuse, say};
use crate::exit::Exit;
use crate::render::{bar, print_document, print_names, shifts};
use crate::report::counted;

pub(in crate::commands) fn run(session: &Session<'_>, wanted: &Lint) -> Exit {
    match lint(session, wanted) {
        Ok(exit) => exit,
        Err(problems) => refuse(&problems),
    }
}

fn lint(session: &Session<'_>, asked: &Lint) -> Result<Exit, Vec<Diagnostic>> {
    let is_patch = session.settings.output.value == Output::Patch;
    if is_patch && !asked.fix {
        let problem = Diagnostic::error(Fault::BadSetting, "without --fix there is nothing to print as a patch");
        return Err(vec![problem.help("upheld lint --fix -o patch")]);
    }
    if asked.fix && session.settings.remote.is_some() {
        return Err(vec![no_files("--fix")]);
    }
    let earlier = asked.baseline.as_deref().map(|file| baseline("lint", file, FindingsBaseline::read));
    let earlier = earlier.transpose().map_err(|problem| vec![problem])?;
    let Some(mut loaded) = session.load_beside(None) else { return Ok(Exit::Failed) };
    let options = session.options();
    let wanted = LintWanted {
        only: asked.only.clone(),
        require: asked.require.clone(),
        require_owner: asked.require_owner,
        known: known(&loaded, &options, &asked.log)?,
        baseline: earlier,
    };
    let found = |loaded: &Loaded| {
        let linted = World::new(&loaded.snapshot, &options).lint(loaded.warnings.as_slice(), &wanted);
        linted.map_err(|refused| refused.diagnostics.clone())
    };
    let mut linted = found(&loaded)?;
    if asked.fix {
        let bar = bar::Bar::new("fixes");
        let fixes = World::new(&loaded.snapshot, &options).lint_fixes(&loaded, &linted, &bar);
        drop(bar);
        let edits = if is_patch { Edits::Printed } else { Edits::Made };
        edits.apply(&fixes.files)?;
        tell(&fixes, edits);
        if let Some(after) = fixes.after {
            linted = found(&after)?;
            loaded = after;
        }
    }
    let failing = failing(asked);
    if !is_patch {
        print(session, &loaded, &linted, failing);
    }
    if let Some(file) = &asked.write_baseline {
        write_baseline(file, &loaded, &linted).map_err(|problem| vec![problem])?;
        return Ok(Exit::Yes);
    }
    Ok(if failing.of(&linted).next().is_some() { Exit::No } else { Exit::Yes })
}

/// What the policies do with the requests of some logs.
fn known(loaded: &Loaded, options: &Options, logs: &[String]) -> Result<Option<KnownRequests>, Vec<Diagnostic>> {
    if logs.is_empty() {
        return Ok(None);
    }
    let mut known = Known::new(&World::new(&loaded.snapshot, options)).map_err(|refused| refused.diagnostics)?;
    each_piece(logs, |lines| known.lines(lines)).map_err(|problem| vec![problem])?;
    let known = known.finish();
    for bad in &known.bad {
        say(&format!("note: {}:{}: {}", bad.file, bad.line, bad.message));
    }
    match (known.requests, known.unreadable) {
        (0, _) => {
            let problem = Diagnostic::error(Fault::Unreadable, format!("{} has no request", logs.join(", ")))
                .help("name a log with a JSON object a line, as `upheld replay` takes it");
            Err(vec![problem])
        }
        (_, 0) => Ok(Some(known)),
        (_, unreadable) => {
            say(&format!(
                "note: {} cannot be read",
                counted(usize::try_from(unreadable).unwrap_or(usize::MAX), "line", "lines")
            ));
            Ok(Some(known))
        }
    }
}

fn failing(wanted: &Lint) -> Failing {
    let least = match wanted.fail_on {
        LintFail::Error => Some(Severity::Error),
        LintFail::Warning => Some(Severity::Warning),
        LintFail::Note => Some(Severity::Note),
        LintFail::Never => None,
    };
    Failing { least, among: if wanted.fail_on_new { Among::New } else { Among::All } }
}

/// What was fixed, and what was not; beside the findings, which are for somebody else.
fn tell(fixes: &Fixes, edits: Edits) {
    for finding in &fixes.fixed {
        say(&format!("fixed: {} {}", finding.code(), finding.problem.message));
    }
    for (finding, why) in &fixes.left {
        say(&format!("left: {} {}: {why}", finding.code(), finding.problem.message));
    }
    if edits == Edits::Made {
        let fixed = counted(fixes.fixed.len(), "finding", "findings");
        say(&format!("{fixed} fixed, no result changes. {}", sentence(&fixes.files)));
    }
}

fn print(session: &Session<'_>, loaded: &Loaded, linted: &Linted, failing: Failing) {
    let found = Found { files: loaded.snapshot.files(), linted };
    let screen = &session.screen;
    match (session.settings.output.value, screen.format) {
        (Output::Report(Findings::Sarif), _) => screen.print_data(&found.sarif()),
        (Output::Report(Findings::Markdown), _) => print_document(&found.markdown()),
        (Output::Report(Findings::Github), _) => print_document(&found.github()),
        #[cfg(feature = "server")]
        (output, _) if output.is_page() => {
            let digest = loaded.snapshot.digest();
            print_document(&page::linted(&found.document(digest), digest));
        }
        (Output::Record(Results::Junit), _) => print_document(&found.junit(failing)),
        (_, Format::Json | Format::Yaml) => screen.print_data(&found.document(loaded.snapshot.digest())),
        (_, Format::Jsonl) => linted.findings.iter().for_each(|finding| screen.print_data(&found.finding(finding))),
        (_, Format::Name) => {
            print_names(linted.findings.iter().map(LintFinding::code));
        }
        (_, Format::Table | Format::Wide) => screen.print(&shifts::linted(linted, loaded.snapshot.files(), screen)),
    }
}

fn write_baseline(file: &str, loaded: &Loaded, linted: &Linted) -> Result<(), Diagnostic> {
    let found = Found { files: loaded.snapshot.files(), linted };
    let text = json(&found.document(loaded.snapshot.digest()));
    write_whole(file, &text)
        .map_err(|error| Diagnostic::error(Fault::Unreadable, format!("cannot write the baseline `{file}`: {error}")))
}
