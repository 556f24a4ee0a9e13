//! The documents of a case on their way into the engine; one that is refused is an error.

use anyhow::{anyhow, bail};
use serde_json::Value as Json;
use upheld_dialects::recognise::Recognised;
use upheld_engine::{Indexed, Snapshot};
use upheld_loader::{Format, Input};
use upheld_model::{Diagnostic, Files, Severity};

/// Reads documents beside the built-in kinds, into a file that is called `case`.
pub(crate) fn read(documents: &[Json]) -> anyhow::Result<Files> {
    let builtin = upheld_dialects::builtin();
    let mut inputs: Vec<Input> = builtin.map(|kinds| Input::text(kinds.name, Format::Yaml, kinds.text)).collect();
    let lines: Vec<String> = documents.iter().map(Json::to_string).collect();
    inputs.push(Input::text("case", Format::JsonLines, lines.join("\n")));
    let (files, problems) = upheld_loader::read(inputs);
    accept(problems.as_slice())?;
    Ok(files)
}

/// A snapshot of what was recognised in files.
pub(crate) fn snapshot(recognised: Recognised, files: Files) -> anyhow::Result<Snapshot> {
    accept(recognised.diagnostics.as_slice())?;
    match Snapshot::build(recognised.draft, recognised.kinds, Indexed::default(), files.into()) {
        Ok(snapshot) => Ok(snapshot),
        Err((_, problems)) => {
            accept(&problems)?;
            bail!("there is no snapshot, and no reason for that")
        }
    }
}

/// Refuses documents with errors.
pub(crate) fn accept(problems: &[Diagnostic]) -> anyhow::Result<()> {
    let errors: Vec<&Diagnostic> = problems.iter().filter(|problem| problem.severity == Severity::Error).collect();
    if errors.is_empty() { Ok(()) } else { Err(refused(errors)) }
}

/// That there is no snapshot, because of these.
pub(crate) fn refused<'d>(problems: impl IntoIterator<Item = &'d Diagnostic>) -> anyhow::Error {
    let messages: Vec<&str> = problems.into_iter().map(|problem| problem.message.as_str()).collect();
    anyhow!("the documents of the case were refused: {}", messages.join("; "))
}

/// The moment at which the documents of a case appeared, so many seconds after the first.
pub(crate) fn created(second: usize) -> String {
    format!("1970-01-01T{:02}:{:02}:{:02}Z", second / 3600, second / 60 % 60, second % 60)
}
