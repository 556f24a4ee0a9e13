//! Relationships that end, where they are written: as documents of their own, in the list of a collection, or with an object.

use std::collections::{BTreeMap, BTreeSet};

use smol_str::SmolStr;
use upheld_engine::comply::{Link, NeedsScope};
use upheld_governance::{Edit, words};
use upheld_model::tree::Value;
use upheld_model::{File, NodeRef, SourceId};
use upheld_report::At;
use upheld_syntax::Format;
use upheld_syntax::edit::{Edited, Replacement};

use super::{ByHand, NO_RELATIONSHIP, Organisation};
use crate::comply::documented::written_between;

/// Two who are related.
pub(super) type Related = (SmolStr, SmolStr);

/// A relationship that is written in a file, and is to be there no more.
#[derive(Clone, Debug)]
pub(super) struct Ended {
    /// Of whom.
    pub(super) pair: Related,
    /// The value that says so, and nothing else: a document, or an item of a list.
    number: u32,
}

/// Relationships that end, by file, and those that somebody has to end by hand.
type Found = (BTreeMap<SourceId, Vec<Ended>>, Vec<ByHand>);

impl Organisation<'_> {
    /// Finds relationships in the files in which they are written.
    pub(super) fn ended(&self, mut pairs: BTreeSet<Related>) -> Found {
        let (mut found, mut by_hand): Found = Default::default();
        if pairs.is_empty() {
            return (found, by_hand);
        }
        let resting: Vec<Related> = pairs.iter().flat_map(|pair| self.resting_on(pair)).collect();
        pairs.extend(resting);
        let pairs: Vec<Related> = pairs.into_iter().collect();
        let written = written_between(self.snapshot, self.kind, &pairs);
        for (pair, places) in pairs.into_iter().zip(written) {
            let own: Option<Vec<(SourceId, Ended)>> = places.iter().map(|at| self.written_at(&pair, (*at)?)).collect();
            match own.filter(|own| !own.is_empty()) {
                Some(own) => own.into_iter().for_each(|(source, own)| found.entry(source).or_default().push(own)),
                None => by_hand.push(self.not_ended(&pair, NO_RELATIONSHIP)),
            }
        }
        (found, by_hand)
    }

    /// The relationships that end with one: whoever leaves a scope leaves what is in it.
    fn resting_on(&self, (a, b): &Related) -> Vec<Related> {
        let comply = self.comply();
        let (Ok(scope), Ok(other)) = (comply.lookup(a), comply.lookup(b)) else { return Vec::new() };
        let rests = |link: &Link| {
            comply.relation_of(link).is_some_and(|relation| relation.needs_scope == NeedsScope::Yes)
                && link.b == other
                && link.a != scope
                && comply.scope_of(link.a) == Some(scope)
        };
        let resting = comply.links_of(other).filter(|(_, link)| rests(link));
        resting.map(|(_, link)| (comply.reference(link.a), comply.reference(link.b))).collect()
    }

    pub(super) fn not_ended(&self, (a, b): &Related, why: &'static str) -> ByHand {
        let text = words::edit(&Edit::Unlink { a: a.clone(), b: b.clone() }, &[]);
        let written = written_between(self.snapshot, self.kind, &[(a.clone(), b.clone())]).into_iter().flatten();
        let at = written.flatten().next().and_then(|at| At::of(self.snapshot.files(), at));
        ByHand { text, at: at.or_else(|| self.place_of(a)), why }
    }

    /// What says so at a place, if it says nothing else.
    fn written_at(&self, pair: &Related, at: NodeRef) -> Option<(SourceId, Ended)> {
        let file = self.snapshot.files().get(at.source)?;
        let says_only_that = |own: Value<'_>| {
            let known = |key: &str| matches!(key, "a" | "b" | "to" | "role");
            own.entries().next().is_some() && own.entries().all(|(key, _)| known(key.text()))
        };
        file.tree.value(at.node).filter(|own| says_only_that(*own))?;
        Some((at.source, Ended { pair: pair.clone(), number: at.node }))
    }
}

/// What it takes in the text of a file that relationships are there no more.
pub(super) fn replacements(file: &File, ended: &[Ended]) -> Option<Vec<Replacement>> {
    let text = file.tree.text();
    let roots: Vec<Value<'_>> = file.tree.documents().collect();
    Edited { text, format: Format::of_file(file) }.without(&roots, &numbers(ended))
}

/// The values that are to be there no more.
pub(super) fn numbers(ended: &[Ended]) -> BTreeSet<u32> {
    ended.iter().map(|own| own.number).collect()
}
