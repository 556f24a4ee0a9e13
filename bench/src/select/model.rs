//! From texts to the model, on one thread: what reading costs, and where the other measurements begin.

use upheld_dialects::{Recognised, builtin, recognise};
use upheld_engine::{Indexed, KindId, Snapshot};
use upheld_loader::Format;
use upheld_model::{File, Files, SourceId, Sym};
use upheld_syntax::parse;

use crate::workload::documents::{KIND, MESH, SEMANTICS};

/// Parses one text, which has no errors.
pub(super) fn tree(format: Format, text: String, source: SourceId) -> Result<File, String> {
    let (file, problems) = parse("workload", format, text, source);
    match problems.first() {
        None => Ok(file),
        Some(problem) => Err(format!("the workload cannot be read: {}", problem.message)),
    }
}

/// Reads texts and the built-in kinds into the model.
pub(super) fn read(texts: Vec<(Format, String)>) -> Result<(Files, Recognised), String> {
    let builtin = builtin().map(|document| (Format::Yaml, document.text.to_owned()));
    let files: Result<Files, String> = (texts.into_iter().chain(builtin).enumerate())
        .map(|(position, (format, text))| tree(format, text, SourceId::new(position)))
        .collect();
    let files = files?;
    let recognised = recognise(&files, &[SEMANTICS]);
    match recognised.diagnostics.as_slice().first() {
        None => Ok((files, recognised)),
        Some(problem) => Err(format!("the workload is not understood: {}", problem.message)),
    }
}

/// Reads texts and indexes what they say.
pub(super) fn snapshot(texts: Vec<(Format, String)>) -> Result<Snapshot, String> {
    let (files, Recognised { draft, kinds, .. }) = read(texts)?;
    Snapshot::build(draft, kinds, Indexed::default(), files.into())
        .map_err(|_| "the workload does not fit into an index".to_owned())
}

/// The kind and the scope that the measurements ask about.
pub(crate) fn subject(snapshot: &Snapshot) -> Result<(KindId, Sym), String> {
    let kind = snapshot.kinds().iter().find(|(_, kind)| snapshot.text(kind.name) == KIND);
    let scope = snapshot.symbols().get(MESH);
    kind.map(|(id, _)| id).zip(scope).ok_or_else(|| format!("no `{KIND}` in mesh `{MESH}`"))
}
