//! What documents come to when some of them change: at a cost that follows the change, where it can be known without all others.

use std::sync::Arc;

use upheld_engine::comply::Comply;
use upheld_governance::Draft;
use upheld_model::{Diagnostics, Files, NodeRef, Policy, Sym};

use super::build::{BEGINNING, Twice, place, read_changes};
use super::{Collector, Documented, OfKind, Organisations, listed};
use crate::comply::SCOPE;
use crate::comply::changes::Change;
use crate::comply::tagged::Schema;

impl Documented {
    /// What this becomes without the documents that are gone and with those that came. Nothing if something is wrong then,
    /// or if what changed is held against all others: definitions, settings and default tags.
    fn after<'f>(&self, mut gone: OfKind<'f>, mut came: OfKind<'f>, old: &Files, new: &Files) -> Option<Self> {
        let documents = self.documents.checked_sub(gone.documents())? + came.documents();
        // What was said of that may not be true any more.
        if self.refused_today > 0 {
            return None;
        }
        let mut found = Diagnostics::default();
        for (side, files) in [(&mut gone, old), (&mut came, new)] {
            let (settings, defaults) = side.open_collections(Twice::among(files), &mut found);
            let about_all = settings.is_some() || defaults.is_some() || !side.definitions.is_empty();
            if about_all || documents == 0 {
                return None;
            }
        }
        let schema = Schema::of(self.base.schema());
        let before = gone.facts(self.base.draft(), &schema, old, &mut found);
        let after = came.facts(self.base.draft(), &schema, new, &mut found);
        let mut next = Self { documents, ..self.clone() };
        let had: Vec<NodeRef> = gone.changes.iter().copied().map(place).collect();
        let has: Vec<NodeRef> = came.changes.iter().copied().map(place).collect();
        next.changes.retain(|at| !had.contains(at));
        next.changes.extend(&has);
        next.changes.sort();
        let profile = self.base.comply().profile();
        for (at, record) in gone.each_accepted(profile, &mut found) {
            next.accepted.remove(at, &record);
        }
        for (at, record) in came.each_accepted(profile, &mut found) {
            next.accepted.add(at, Arc::new(record)).ok()?;
        }
        let remembers = !gone.accepted.is_empty() || !came.accepted.is_empty();
        let on_top = !remembers && !gone.has_facts() && !came.has_facts() && had.is_empty();
        let past = read_changes(if on_top { &has } else { &next.changes }, new, profile, &mut found);
        let is_later = |change: &Change| change.at.is_some_and(|at| at > self.last);
        if on_top && past.iter().all(is_later) {
            next = next.replayed(past, new, &mut found).remembering();
        } else {
            let (base, told) = self.base.revised(&self.told, &before, after)?;
            let past = if on_top { read_changes(&next.changes, new, profile, &mut found) } else { past };
            let organisation = base.clone();
            next = Self { organisation, base, told, history: Vec::new(), last: BEGINNING, refused_today: 0, ..next };
            next = next.replayed(past, new, &mut found).remembering();
        }
        found.as_slice().is_empty().then_some(next)
    }
}

impl OfKind<'_> {
    /// Whether some documents are about what holds before anything happens.
    fn has_facts(&self) -> bool {
        !(self.policies.is_empty()
            && self.waivers.is_empty()
            && self.objects.is_empty()
            && self.mapped.is_empty()
            && self.links.is_empty())
    }

    /// What some documents say, in a draft of their own.
    pub(super) fn facts(&self, mut draft: Draft, schema: &Schema, files: &Files, found: &mut Diagnostics) -> Draft {
        let twice = Twice::among(files);
        self.read_facts(twice, schema, &mut draft.facts, found);
        self.read_waivers(twice, &mut draft.facts, found);
        draft
    }
}

/// What changed documents come to.
#[derive(Debug)]
pub(super) struct Related {
    /// All organisations.
    pub(super) organisations: Organisations,
    /// Whether policies are among what changed.
    pub(super) policies: Listing,
}

/// Whether policies are listed as before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Listing {
    /// They are.
    Same,
    /// Some changed, or moved.
    Changed,
}

impl Collector<'_> {
    /// What organisations become without the documents that this one collected, and with those of another. Nothing if it
    /// takes all documents to find out.
    pub(super) fn replaced_by(self, came: Self, before: &Organisations) -> Option<Related> {
        let (old, new) = (self.files, came.files);
        let (mut organisations, mut policies) = (before.clone(), Listing::Same);
        for (gone, came) in self.kinds.into_iter().zip(came.kinds) {
            if gone.documents() == 0 && came.documents() == 0 {
                continue;
            }
            let of_kind = |(name, _): &&mut (Sym, Documented)| *name == gone.name;
            let (_, documented) = organisations.by_kind.iter_mut().find(of_kind)?;
            if [&gone, &came].into_iter().any(OfKind::has_policies) {
                policies = Listing::Changed;
            }
            *documented = documented.after(gone, came, old, new)?;
        }
        Some(Related { organisations, policies })
    }
}

impl OfKind<'_> {
    fn has_policies(&self) -> bool {
        !self.policies.is_empty() || !self.collections.is_empty()
    }
}

impl Organisations {
    /// Policies as they are listed with those of other families, where they are meant; `governs` is the type of those of a kind.
    pub(super) fn listed(
        &self,
        governs: impl Fn(Sym) -> Option<Sym>,
        is_meant: impl Fn(NodeRef) -> bool,
        mut intern: impl FnMut(&str) -> Sym,
    ) -> Vec<Policy> {
        let scope = intern(SCOPE);
        let mut policies = Vec::new();
        for (kind, documented) in self.iter() {
            let Some(governs) = governs(kind) else { continue };
            for (id, at) in documented.policies().filter(|(_, at)| is_meant(*at)) {
                policies.push(listed(governs, scope, intern(id), at));
            }
        }
        policies
    }

    /// The evaluators, by kind.
    pub fn complies(&self) -> impl Iterator<Item = (Sym, Arc<Comply>)> {
        self.iter().map(|(kind, own)| (kind, Arc::clone(own.organisation.comply())))
    }
}
