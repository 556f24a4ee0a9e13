//! What documents of a store may have, and what no write may bring: policies that never match, and requests that cost too much.

use std::collections::HashSet;

use upheld_dialects::access::claim::STORED;
use upheld_dialects::access::decider::deciders;
use upheld_engine::KindId;
use upheld_loader::load::Broken;
use upheld_model::{Diagnostic, Diagnostics, Fault, Severity};
use upheld_store::Change;

use crate::view::View;

/// Refuses documents that can never match; what was written before such documents were refused stays.
pub(super) fn can_match(view: &View, changes: &[Change]) -> Result<(), Box<Broken>> {
    let files = view.loaded.snapshot.files();
    let written: HashSet<String> = changes.iter().map(|change| format!("{STORED}{}", change.key())).collect();
    let is_written = |warning: &&Diagnostic| {
        let file = warning.label.as_ref().and_then(|label| files.get(label.source));
        file.is_some_and(|file| written.contains(file.name.as_str()))
    };
    let tolerated = view.loaded.warnings.as_slice().iter().filter(|warning| warning.fault == Fault::ImpossibleMatch);
    let refused = tolerated.filter(is_written).cloned();
    refuse(view, refused.map(|warning| Diagnostic { severity: Severity::Error, ..warning }))
}

/// Refuses policies under which one request could take more steps than the limit, unless it could take as many before.
pub(super) fn is_affordable(before: &View, after: &View, most: Option<usize>) -> Result<(), Box<Broken>> {
    let Some(most) = most else { return Ok(()) };
    let worst = |view: &View| -> Vec<(KindId, String, usize)> {
        let snapshot = &view.loaded.snapshot;
        let name = |id: KindId| snapshot.kind(id).map_or("", |kind| snapshot.text(kind.name)).to_owned();
        deciders(snapshot).map(|(id, decide)| (id, name(id), decide.load().worst())).collect()
    };
    let known = worst(before);
    let grown = worst(after).into_iter().filter(|(_, kind, steps)| {
        let was = known.iter().find(|(_, known, _)| known == kind).map_or(0, |(.., steps)| *steps);
        *steps > most && *steps > was
    });
    refuse(
        after,
        grown.map(|(_, kind, steps)| {
            let message =
                format!("one request could take {steps} steps under policies of kind {kind}: the limit is {most}");
            let help = "write texts instead of patterns where you know them, or raise `--max-request-steps`";
            Diagnostic::error(Fault::Limit, message).help(help)
        }),
    )
}

fn refuse(view: &View, problems: impl Iterator<Item = Diagnostic>) -> Result<(), Box<Broken>> {
    let mut diagnostics = Diagnostics::default();
    diagnostics.extend(problems);
    if diagnostics.errors() == 0 {
        return Ok(());
    }
    Err(Box::new(Broken { files: view.loaded.snapshot.files().clone(), diagnostics }))
}
