//! What changed since documents were last recognised: changed files are read, as they were and as they are, and all else stays.

use std::collections::BTreeSet;
use std::sync::Arc;

use upheld_engine::{Companions, Described, Difference, Identity, PolicyKind, Snapshot};
use upheld_model::{Diagnostic, Diagnostics, Fault, File, Files, NodeRef, SourceId, Symbols};

use super::{Documents, Kustomizations, Reading, Recognised, SetAside, TestFiles};
use crate::dialect::{Known, Side, dialects};

/// What was recognised before, without errors.
#[derive(Clone, Copy, Debug)]
pub struct Before<'b> {
    /// All of it.
    pub snapshot: &'b Snapshot,
    /// What was warned of.
    pub warnings: &'b Diagnostics,
    /// What was left out.
    pub set_aside: &'b SetAside,
    /// Where documents stand that nobody wrote.
    pub implied: SourceId,
}

/// What changed documents come to; all else is as it was.
#[derive(Debug)]
pub struct After {
    /// What the next snapshot is made of.
    pub difference: Difference,
    /// What dialects know of all their documents together, as far as that changed.
    pub companions: Companions,
    /// What is left out.
    pub set_aside: SetAside,
    /// What is wrong, and what still is.
    pub diagnostics: Diagnostics,
}

impl<'b> Before<'b> {
    /// Whether these kinds were in force, written in files that are the same.
    pub(super) fn has_kinds(self, kinds: &[PolicyKind], files: &Files) -> bool {
        let before: BTreeSet<NodeRef> = self.snapshot.kinds().iter().map(|(_, kind)| kind.at).collect();
        let same = |at: &NodeRef| before.contains(at) && files.share(at.source, self.snapshot.files());
        kinds.iter().all(|kind| same(&kind.at)) && kinds.len() == self.snapshot.kinds().len()
    }

    /// Tells of files whether they are the same, and nothing need be said about them once more.
    pub(crate) fn are_sound(self, files: &'b Files) -> impl Fn(SourceId) -> bool + use<'b> {
        let labels = self.warnings.as_slice().iter().filter_map(|warning| warning.label.as_ref());
        let warned: BTreeSet<SourceId> = labels.map(|label| label.source).collect();
        move |source| files.share(source, self.snapshot.files()) && !warned.contains(&source)
    }

    /// Recognises changed files. `None` if this needs all others as well: because something is wrong, so that all of it is to
    /// be reported, or because what some document means depends on all of them.
    pub fn after(self, reading: Reading<'_>, files: &Files, changed: &BTreeSet<SourceId>) -> Option<After> {
        let snapshot = self.snapshot;
        // Which of two counts takes a look at both.
        if self.warnings.as_slice().iter().any(|warning| warning.fault == Fault::DefinedTwice) {
            return None;
        }
        let mut concerned = changed.clone();
        for dialect in dialects() {
            concerned.extend(dialect.concerned(self, reading, files, changed)?);
        }
        let changed = &concerned;
        let kustomizations = Kustomizations::in_snapshot(snapshot);
        let gone = documents(snapshot.files(), changed, kustomizations)?;
        let came = documents(files, changed, kustomizations)?;
        let (mut old, mut new) = (self.nothing(), self.nothing());
        let mut readers = new.readers(reading, files, &came, Known::Unchanged(self, changed));
        readers.take_all(&gone, Side::Gone, &mut old);
        readers.take_all(&came, Side::Came, &mut new);
        readers.finish(&mut new)?;
        new.keep(snapshot.companion::<TestFiles>().cloned().unwrap_or_default().after(changed, &came));
        new.check_schemas(reading, files, &came, |source| changed.contains(&source));
        let Recognised { draft, set_aside, aside, documents: read, indexed, companions, mut diagnostics, .. } = new;
        let (objects, policies) = (draft.objects.into_vec(), draft.policies.into_vec());
        let is_known = |identity: Identity| {
            let policy = snapshot.policies().find(identity).and_then(|id| snapshot.policy(id)).map(Described::at);
            let object = snapshot.objects().find(identity).and_then(|id| snapshot.objects().get(id)).map(Described::at);
            policy.or(object).is_some_and(|at| !changed.contains(&at.source))
        };
        let identities = objects.iter().map(Described::identity).chain(policies.iter().map(Described::identity));
        if diagnostics.errors() > 0 || identities.into_iter().any(is_known) {
            return None;
        }
        // What is known is not read again, so nobody warns of it once more.
        let untouched = |warning: &&Diagnostic| {
            warning.label.iter().chain(&warning.related).all(|at| !changed.contains(&at.source))
        };
        let still = self.warnings.as_slice().iter().filter(untouched);
        let still: Vec<Diagnostic> =
            still.filter(|warning| !diagnostics.as_slice().contains(warning)).cloned().collect();
        diagnostics.extend(still);
        let difference = Difference {
            symbols: Arc::new(draft.symbols),
            files: files.clone(),
            changed: changed.clone(),
            gone: old.documents.into_iter().filter(|at| !old.aside.contains(at)).collect(),
            came: read.into_iter().filter(|at| !aside.contains(at)).collect(),
            objects,
            policies,
            indexed,
        };
        let set_aside = self.set_aside.without(&old.set_aside).with(&set_aside);
        Some(After { difference, companions, set_aside, diagnostics })
    }

    /// Nothing, under the kinds and with the symbols of before.
    fn nothing(self) -> Recognised {
        let mut recognised = Recognised { kinds: self.snapshot.kinds().as_slice().to_vec(), ..Recognised::default() };
        recognised.draft.symbols = Symbols::clone(self.snapshot.symbols());
        recognised
    }
}

/// The documents of changed files; `None` if one of them says how others are read, or is none.
fn documents<'f>(
    files: &'f Files,
    changed: &BTreeSet<SourceId>,
    kustomizations: &'f Kustomizations,
) -> Option<Documents<'f>> {
    if changed_files(files, changed).any(|(_, file)| Kustomizations::is_one(&file.name)) {
        return None;
    }
    let mut found = Diagnostics::default();
    let documents = Documents::of(changed_files(files, changed), kustomizations, &mut found);
    (found.as_slice().is_empty() && documents.kinds.is_empty()).then_some(documents)
}

/// The files that changed and are there.
pub(crate) fn changed_files<'f>(
    files: &'f Files,
    changed: &BTreeSet<SourceId>,
) -> impl Iterator<Item = (SourceId, &'f File)> {
    changed.iter().filter_map(|source| Some((*source, files.get(*source)?)))
}
