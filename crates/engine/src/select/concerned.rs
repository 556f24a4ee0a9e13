//! Which ends some of the policies can be about: an answer can change only where a changed policy matches.

use upheld_model::{Side, Sym, Symbols, TagSet, Want};

use super::Select;
use super::index::Postings;
use crate::ask::EntryId;
use crate::snapshot::PolicyId;

/// Some of the policies, found by what they want.
#[derive(Debug)]
pub struct Concerned<'s> {
    select: &'s Select,
    postings: [Postings; 2],
}

impl Select {
    /// Whom some policies can be about.
    pub fn concerned(&self, is_meant: impl Fn(PolicyId) -> bool) -> Concerned<'_> {
        let meant = self.entries.iter().flatten().filter(|entry| is_meant(entry.policy));
        let lists: Vec<_> = meant.map(|entry| entry.lists).collect();
        let postings = Side::BOTH.map(|side| {
            let index = self.side(side);
            let mut own = vec![false; index.lists()];
            for [source, destination] in &lists {
                let list = if side == Side::Source { source } else { destination };
                if let Some(known) = own.get_mut(list.index()) {
                    *known = true;
                }
            }
            index.postings(|id| index.lists_of(id).iter().any(|list| own.get(list.index()).copied().unwrap_or(false)))
        });
        Concerned { select: self, postings }
    }
}

impl Select {
    /// The entries of a policy.
    pub fn entries_of(&self, policy: Sym, symbols: &Symbols) -> impl Iterator<Item = EntryId> {
        self.ids_of(policy, symbols).iter().map(|id| EntryId::new(*id as usize))
    }

    /// Tags of which an end must have one, with a value that is known, to be matched by a policy; nothing if it may do without.
    pub fn needs(&self, policy: Sym, symbols: &Symbols, side: Side) -> Option<Vec<(Sym, Sym)>> {
        let index = self.side(side);
        index.item()?;
        let mut all = Vec::new();
        for entry in self.entries_of(policy, symbols).filter_map(|id| self.entry(id)) {
            let [source, destination] = entry.lists;
            let list = if side == Side::Source { source } else { destination };
            for (wants, _, _) in index.list(list) {
                match index.rarest(wants)? {
                    (key, Want::Exactly(value)) => all.push((key, value)),
                    (_, Want::Any) => return None,
                }
            }
        }
        all.sort_unstable();
        all.dedup();
        Some(all)
    }
}

impl Concerned<'_> {
    /// Whether one of the policies may match an end; what is not known of it may.
    pub fn may_match(&self, side: Side, parts: &[TagSet]) -> bool {
        let [source, destination] = &self.postings;
        let postings = if side == Side::Source { source } else { destination };
        let mut found = parts.iter().any(TagSet::has_unknown);
        self.select.side(side).each_match(postings, parts, |_, _| found = true);
        found
    }
}
