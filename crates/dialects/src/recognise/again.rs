//! What changed since documents were last recognised, where only policies changed that decide requests.

use std::collections::BTreeSet;
use std::sync::Arc;

use upheld_engine::{PolicyKind, Snapshot};
use upheld_model::{Diagnostic, Diagnostics, Files, NodeRef, Policy, SourceId, Symbols};

use super::decisions::{Deciding, Decisions, Written};
use super::{Documents, Reading, documents_of};
use crate::access::Edition;
use crate::access::claim::Claim;

/// What was recognised before, without errors.
#[derive(Clone, Copy, Debug)]
pub struct Before<'b> {
    /// All of it.
    pub snapshot: &'b Snapshot,
    /// Policies that decide requests.
    pub deciding: &'b Deciding,
    /// What was warned of.
    pub warnings: &'b Diagnostics,
}

/// What policies that decide requests came to; all else is as it was.
#[derive(Debug)]
pub struct Again {
    /// By kind.
    pub deciding: Deciding,
    /// As they are listed.
    pub policies: Vec<Policy>,
    /// Those of before, perhaps with more.
    pub symbols: Arc<Symbols>,
    /// What is wrong.
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
    pub(super) fn are_sound(self, files: &'b Files) -> impl Fn(SourceId) -> bool + use<'b> {
        let labels = self.warnings.as_slice().iter().filter_map(|warning| warning.label.as_ref());
        let warned: BTreeSet<SourceId> = labels.map(|label| label.source).collect();
        move |source| files.share(source, self.snapshot.files()) && !warned.contains(&source)
    }

    /// Recognises changed files. `None` if this needs all others as well: because something else changed, too, or because
    /// what a policy means depends on all policies.
    pub fn again(self, reading: Reading<'_>, files: &Files, changed: &BTreeSet<SourceId>) -> Option<Again> {
        if reading.edition() == Edition::Compat {
            return None;
        }
        let Self { snapshot, deciding, warnings } = self;
        let kinds = snapshot.kinds().as_slice();
        let mut decisions = Decisions::new(reading, files, kinds, snapshot.symbols());
        let gone = only_deciding(snapshot.files(), changed, &decisions)?;
        let came = only_deciding(files, changed, &decisions)?;
        let mut diagnostics = Diagnostics::default();
        decisions.untyped(&came.untyped, deciding.seed_files(), &mut diagnostics);
        for at in &came.typed {
            decisions.typed_at(*at, &mut diagnostics);
        }
        let is_same = |source: SourceId| !changed.contains(&source);
        let known = snapshot.policies().deciding().iter().filter(|policy| is_same(policy.at.source));
        let mut policies: Vec<Policy> = known.cloned().collect();
        let mut symbols = snapshot.shared_symbols();
        let intern = |text: &str| match symbols.get(text) {
            Some(known) => known,
            None => Arc::make_mut(&mut symbols).intern(text),
        };
        decisions.list(intern, &mut policies);
        let deciding = decisions.after(deciding, snapshot.files(), &gone)?;
        // What is known is not read again, so nobody warns of it once more.
        let untouched =
            |warning: &Diagnostic| warning.label.iter().chain(&warning.related).all(|at| is_same(at.source));
        let still = |warning: &&Diagnostic| untouched(warning) && !diagnostics.as_slice().contains(warning);
        let still: Vec<Diagnostic> = warnings.as_slice().iter().filter(still).cloned().collect();
        diagnostics.extend(still);
        Some(Again { deciding, policies, symbols, diagnostics })
    }
}

/// The documents of changed files; `None` if one of them is about something else than deciding requests.
fn only_deciding(files: &Files, changed: &BTreeSet<SourceId>, decisions: &Decisions<'_>) -> Option<Written> {
    let files = changed.iter().filter_map(|source| Some((*source, files.get(*source)?)));
    let mut found = Diagnostics::default();
    let Documents { typed, about_access, untyped } = documents_of(files, &mut found);
    let others = !untyped.is_empty()
        || typed.iter().any(|(_, header)| !decisions.know(*header))
        || about_access.iter().any(|(.., claim)| *claim == Claim::Directory)
        || found.errors() > 0;
    let at = |source, node| NodeRef { source, node };
    (!others).then(|| Written {
        untyped: about_access
            .iter()
            .map(|(source, document, claim)| (at(*source, document.number()), *claim))
            .collect(),
        typed: typed.iter().map(|(source, header)| at(*source, header.document.number())).collect(),
    })
}
