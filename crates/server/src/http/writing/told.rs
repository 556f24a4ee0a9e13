//! What the author of a write is told: nothing about documents that are not theirs to read.

use upheld_dialects::access::claim::STORED;
use upheld_loader::load::Broken;
use upheld_model::{Diagnostic, Diagnostics, Fault, Files, Label};
use upheld_store::Key;

use crate::auth::redaction::mentions;
use crate::auth::{Access, Operation};
use crate::telemetry::Observed;
use crate::view::View;
use crate::writer::Refusal;

/// Who is told.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Told<'a>(pub(super) Option<&'a Access>);

impl<'a> Told<'a> {
    /// Whoever asked.
    pub(crate) fn of(observed: &'a Observed) -> Self {
        Self(observed.access())
    }

    /// Whether they may read whatever there is, and see it in answers.
    pub(crate) fn everything(self) -> bool {
        self.0.is_some_and(|access| access.may_all(Operation::Read) && access.may_all(Operation::See))
    }

    /// Whether nothing in a view is kept from them, by their roles either.
    pub(super) fn sees_all_of(self, view: &View) -> bool {
        let is_whole =
            |access: &Access| [Operation::Read, Operation::See].iter().all(|own| view.is_whole_to(access, *own));
        self.0.is_some_and(is_whole)
    }

    /// Whether they may know that there is a document.
    pub(crate) fn may_know(self, key: &Key) -> bool {
        let may = |operation| self.0.is_some_and(|access| access.may(operation, key.into()));
        may(Operation::Read) || may(Operation::Write)
    }

    /// Why a write changed nothing, as far as they may know.
    pub(crate) fn refusal(self, refusal: Refusal, view: &View) -> Refusal {
        match refusal {
            Refusal::Broken(broken) if !self.sees_all_of(view) => {
                let Broken { files, diagnostics } = *broken;
                let mut told = Diagnostics::default();
                told.extend(self.diagnostics(&files, diagnostics.as_slice(), view).into_iter().cloned());
                if told.errors() == 0 {
                    let message = "the documents do not go together with others that you may not read";
                    told.push(Diagnostic::error(Fault::WrongValue, message));
                }
                Refusal::Broken(Box::new(Broken { files, diagnostics: told }))
            }
            other => other,
        }
    }

    /// Those of some problems that are about documents that they know, and name no others.
    pub(crate) fn diagnostics<'d>(self, files: &Files, all: &'d [Diagnostic], view: &View) -> Vec<&'d Diagnostic> {
        if all.is_empty() || self.sees_all_of(view) {
            return all.iter().collect();
        }
        let kept = self.0.map(|access| view.kept_from(access)).unwrap_or_default();
        let may_know = |key: &Key| self.may_know(key) && !kept.contains(key.as_str());
        let hidden: Vec<&Key> = view.state.iter().map(|(key, _)| key).filter(|key| !may_know(key)).collect();
        let is_known = |label: &Label| {
            let name = files.get(label.source).and_then(|file| file.name.strip_prefix(STORED));
            name.and_then(|name| name.parse().ok()).is_some_and(|key: Key| may_know(&key))
        };
        let names_hidden = |text: &str| hidden.iter().any(|key| mentions(text, key.name()));
        let may_tell = |found: &&Diagnostic| {
            let labels = found.label.iter().chain(&found.related);
            let texts = std::iter::once(&found.message).chain(&found.help);
            found.label.is_some()
                && labels.clone().all(is_known)
                && !texts.chain(labels.map(|label| &label.text)).any(|text| names_hidden(text))
        };
        all.iter().filter(may_tell).collect()
    }
}
