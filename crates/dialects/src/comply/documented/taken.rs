//! Takes documents of related objects, and makes organisations of them.

use upheld_model::{Files, NodeRef, SourceId, Sym};

use super::{Collector, Listing, Organisations, Related, claim};
use crate::dialect::{Document, Known, Opening, Reader, Side, Taken};
use crate::recognise::{Recognised, Surroundings, is_builtin};

/// Takes documents, as they were and as they are.
pub(in crate::comply) struct ComplianceReader<'f> {
    known: Known<'f>,
    gone: Collector<'f>,
    came: Collector<'f>,
    /// Whether there was anything to take.
    taken: bool,
    /// Kinds with the types that they govern.
    governs: Vec<(Sym, Sym)>,
}

impl<'f> ComplianceReader<'f> {
    pub(in crate::comply) fn new(opening: Opening<'f, '_>) -> Self {
        let Opening { files, kinds, symbols, known, .. } = opening;
        let collector = |files: &'f Files| Collector::new(files, kinds, symbols, |at| is_builtin(files, at));
        let old = match known {
            Known::Unchanged(before, _) => before.snapshot.files(),
            Known::Nothing | Known::Reusable(_) => files,
        };
        let governs = kinds.iter().map(|kind| (kind.name, kind.governs)).collect();
        let came = collector(files).beside(Surroundings::of(opening.reading.settings));
        Self { known, gone: collector(old), came, taken: false, governs }
    }
}

impl<'f> Collector<'f> {
    /// Takes a document, if it is one of ours.
    pub(super) fn take(&mut self, document: &Document<'f>) -> Taken {
        match document.header {
            Some(header) => self.typed(document.source, header),
            None => match claim(document.value) {
                Some(claim) if self.untyped(document.source, document.value, claim) => Taken::Yes,
                _ => Taken::No,
            },
        }
    }
}

impl<'f> Reader<'f> for ComplianceReader<'f> {
    fn take(&mut self, document: &Document<'f>, side: Side) -> Taken {
        let collector = match side {
            Side::Gone => &mut self.gone,
            Side::Came => &mut self.came,
        };
        let taken = collector.take(document);
        self.taken |= taken != Taken::No;
        taken
    }

    fn words(&self) -> Vec<String> {
        self.came.words()
    }

    fn finish(self: Box<Self>, recognised: &mut Recognised) -> Option<()> {
        let Self { known, gone, came, taken, governs } = *self;
        let Known::Unchanged(before, changed) = known else {
            let Recognised { draft, diagnostics, .. } = recognised;
            let organisations = came.finish(draft, diagnostics);
            keep(organisations, recognised);
            return Some(());
        };
        let organisations: &Organisations = before.snapshot.companion()?;
        if !taken {
            recognised.indexed.complies.extend(organisations.complies());
            return Some(());
        }
        let Related { organisations, policies } = gone.replaced_by(came, organisations)?;
        if policies == Listing::Changed {
            let governs = |name: Sym| governs.iter().find(|(kind, _)| *kind == name).map(|(_, governs)| *governs);
            let is_changed = |at: NodeRef| changed.contains::<SourceId>(&at.source);
            let symbols = &mut recognised.draft.symbols;
            let listed = organisations.listed(governs, is_changed, |text| symbols.intern(text));
            recognised.draft.policies.extend(listed);
        }
        keep(organisations, recognised);
        Some(())
    }
}

fn keep(organisations: Organisations, recognised: &mut Recognised) {
    recognised.indexed.complies.extend(organisations.complies());
    recognised.keep(organisations);
}
