//! `affected`: where does a policy count, and what if it went, were switched off or said something else?

use serde_json::Value as Json;
use upheld_answers::{PolicyChange, World};
use upheld_loader::Format as Reading;
use upheld_model::{Diagnostic, Fault, Severity, SourceId};
use upheld_syntax::parse;

use crate::cli::{Affected, Format};
use crate::commands::decision::read;
use crate::commands::{Session, print_refused, refuse};
use crate::exit::Exit;
use crate::render::{print_names, shifts};

pub(in crate::commands) fn run(session: &Session<'_>, wanted: &Affected) -> Exit {
    let supposed = match supposed(&wanted.supposed) {
        Ok(supposed) => supposed,
        Err(problems) => return refuse(&problems),
    };
    let edited = wanted.supposed.get(1).map(String::as_str);
    let Some(loaded) = session.load_beside(edited) else { return Exit::Failed };
    let options = session.options();
    let affected = match World::new(&loaded.snapshot, &options).affected_if(&loaded, &wanted.policy, supposed) {
        Ok(affected) => affected,
        Err(refused) => return print_refused(&loaded, &refused),
    };
    let screen = &session.screen;
    match screen.format {
        Format::Json | Format::Yaml | Format::Jsonl => screen.print_data(&affected.document(loaded.snapshot.digest())),
        Format::Name => print_names([&affected.policy]),
        Format::Table | Format::Wide => screen.print(&shifts::affected(&affected, screen)),
    }
    Exit::Yes
}

/// What is supposed of the policy.
fn supposed(words: &[String]) -> Result<PolicyChange, Vec<Diagnostic>> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["deleted"] => Ok(PolicyChange::Deleted),
        ["disabled"] => Ok(PolicyChange::Disabled),
        ["edited", file] => document(file).map(PolicyChange::Edited),
        ["edited"] => Err(vec![
            Diagnostic::error(Fault::BadSetting, "`--if edited` needs the file with the other version")
                .help("for example `--if edited draft.yaml`; `-` is standard input"),
        ]),
        _ => Err(vec![
            Diagnostic::error(Fault::BadSetting, format!("nothing can be supposed by `--if {}`", words.join(" ")))
                .help("write `--if deleted`, `--if disabled` or `--if edited FILE`"),
        ]),
    }
}

/// The one document of a file.
fn document(file: &str) -> Result<Json, Vec<Diagnostic>> {
    let format = Reading::of_name(file).unwrap_or(Reading::Yaml);
    let (parsed, problems) = parse(file, format, read(file)?, SourceId::new(0));
    if problems.iter().any(|problem| problem.severity == Severity::Error) {
        return Err(problems);
    }
    let documents: Vec<Json> =
        parsed.tree.documents().filter_map(|document| serde_json::to_value(document).ok()).collect();
    match <[Json; 1]>::try_from(documents) {
        Ok([document]) => Ok(document),
        Err(several) => {
            let message = format!("`{file}` has {} documents", several.len());
            Err(vec![
                Diagnostic::error(Fault::BadSetting, message).help("the other version of a policy is one document"),
            ])
        }
    }
}
