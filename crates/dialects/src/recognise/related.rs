//! What changed since documents were last recognised, where only documents about related objects changed.

use std::collections::BTreeSet;
use std::sync::Arc;

use upheld_engine::PolicyKind;
use upheld_model::{Diagnostics, Files, Policy, SourceId, Sym, Symbols};

use super::decisions::Decisions;
use super::{Before, Documents, Reading, documents_of, has_target_refs, is_builtin};
use crate::comply::Organisations;
use crate::comply::documented::{Collector, Listing, Related, Taken};
use crate::document::{Header, Resource};
use crate::kuma::resources::ResourceType;
use crate::{gateway_api, policy_kind};

/// What documents about related objects came to; all else is as it was.
#[derive(Debug)]
pub struct RelatedAgain {
    /// All organisations.
    pub organisations: Organisations,
    /// Those policies that decide no requests, as they are listed, if they are listed otherwise.
    pub policies: Option<Vec<Policy>>,
    /// Symbols of before, perhaps with more.
    pub symbols: Arc<Symbols>,
    /// What was warned of, and still is.
    pub diagnostics: Diagnostics,
}

impl Before<'_> {
    /// Recognises changed files. `None` if this needs all others as well: because something else changed, too, or because
    /// what a document means depends on all of them.
    pub fn related_again(
        self,
        reading: Reading<'_>,
        files: &Files,
        changed: &BTreeSet<SourceId>,
    ) -> Option<RelatedAgain> {
        let Self { snapshot, warnings, .. } = self;
        let before = snapshot.companion::<Organisations>()?;
        let [gone, came] = [snapshot.files(), files].map(|files| self.only_related(reading, files, changed));
        let Related { organisations, policies } = gone?.replaced_by(came?, before)?;
        let mut symbols = snapshot.shared_symbols();
        let policies = match policies {
            Listing::Same => None,
            Listing::Changed => Some(self.listed_again(&organisations, &mut symbols)?),
        };
        let untouched = |source: SourceId| !changed.contains(&source);
        let mut diagnostics = Diagnostics::default();
        let still = warnings.as_slice().iter();
        let still = still.filter(|warning| warning.label.iter().chain(&warning.related).all(|at| untouched(at.source)));
        diagnostics.extend(still.cloned());
        Some(RelatedAgain { organisations, policies, symbols, diagnostics })
    }

    /// The documents of changed files; `None` if one of them is about something else, too.
    fn only_related<'f>(
        self,
        reading: Reading<'_>,
        files: &'f Files,
        changed: &BTreeSet<SourceId>,
    ) -> Option<Collector<'f>> {
        let (kinds, symbols) = (self.snapshot.kinds().as_slice(), self.snapshot.symbols());
        let decisions = Decisions::new(reading, files, kinds, symbols);
        let mut collector = Collector::new(files, kinds, symbols, |at| is_builtin(files, at));
        let mut found = Diagnostics::default();
        let texts = changed.iter().filter_map(|source| Some((*source, files.get(*source)?)));
        let Documents { typed, about_access, untyped } = documents_of(texts, &mut found);
        if !about_access.is_empty() || !found.as_slice().is_empty() {
            return None;
        }
        for (source, document, claim) in untyped {
            collector.untyped(source, document, claim).then_some(())?;
        }
        let known = |kind: &PolicyKind| kind.comply().is_none().then(|| symbols.text(kind.governs));
        let known: BTreeSet<&str> = kinds.iter().filter_map(known).collect();
        for (source, header) in typed {
            if decisions.know(header) || is_about_more(&header) {
                return None;
            }
            match collector.typed(source, header) {
                Taken::No => return None,
                Taken::Mapped if is_read_by_others(header, &known) => return None,
                Taken::Mapped | Taken::Yes => {}
            }
        }
        Some(collector)
    }

    /// The policies that decide no requests; `None` if some are about something else: what is known of these has their ids.
    fn listed_again(self, organisations: &Organisations, symbols: &mut Arc<Symbols>) -> Option<Vec<Policy>> {
        let snapshot = self.snapshot;
        let kinds = snapshot.kinds().as_slice();
        let complies = |governs: Sym| kinds.iter().any(|kind| kind.governs == governs && kind.comply().is_some());
        let others = snapshot.policies().len() - snapshot.policies().deciding().len();
        if snapshot.policies().iter().take(others).any(|(_, policy)| !complies(policy.kind)) {
            return None;
        }
        let governs = |name: Sym| kinds.iter().find(|kind| kind.name == name).map(|kind| kind.governs);
        let intern = |text: &str| match symbols.get(text) {
            Some(known) => known,
            None => Arc::make_mut(symbols).intern(text),
        };
        Some(organisations.listed(governs, intern))
    }
}

/// Whether a document says how others are read.
fn is_about_more(header: &Header<'_>) -> bool {
    policy_kind::is_policy_kind(header)
        || gateway_api::is_about_gateways(header)
        || Resource::with_header(*header).is_some_and(has_target_refs)
}

/// Whether others may read a document of another system, too.
fn is_read_by_others(header: Header<'_>, known: &BTreeSet<&str>) -> bool {
    Resource::with_header(header).is_some_and(|resource| {
        let name = resource.kind.text();
        known.contains(name) || ResourceType::of(name).is_some() || gateway_api::claim(resource).is_some()
    })
}
