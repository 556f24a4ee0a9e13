//! Relationships that end, where they are written: as documents of their own, in the list of a collection, or with an object.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;
use smol_str::SmolStr;
use upheld_engine::comply::{Link, NeedsScope};
use upheld_governance::{Edit, words};
use upheld_model::tree::{Kind, Value};
use upheld_model::{File, NodeRef, SourceId};
use upheld_report::At;
use upheld_syntax::edit::{Edited, Replacement};

use super::{ByHand, NO_RELATIONSHIP, Organisation, format_of};
use crate::comply::documented::written_between;

/// Two who are related.
pub(super) type Related = (SmolStr, SmolStr);

/// A relationship that is written in a file, and is to be there no more.
#[derive(Clone, Debug)]
pub(super) struct Ended {
    /// Of whom.
    pub(super) pair: Related,
    /// The document that says so, from 0.
    document: usize,
    /// Where in it: the list as programs point to it, and the place there; nothing for a document that says nothing else.
    item: Option<(String, usize)>,
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
        let roots: Vec<Value<'_>> = file.tree.documents().collect();
        let document = roots.iter().rposition(|root| root.number() <= at.node)?;
        let root = *roots.get(document)?;
        let item = if root.number() == at.node { None } else { Some(item_at(root, at.node, String::new())?) };
        Some((at.source, Ended { pair: pair.clone(), document, item }))
    }
}

/// The list in which a value stands, and its place there.
fn item_at(within: Value<'_>, node: u32, pointer: String) -> Option<(String, usize)> {
    match within.kind() {
        Kind::Map => within.entries().find_map(|(key, value)| {
            let key = key.text().replace('~', "~0").replace('/', "~1");
            item_at(value, node, format!("{pointer}/{key}"))
        }),
        Kind::List => match within.items().position(|item| item.number() == node) {
            Some(place) => Some((pointer, place)),
            None => {
                (0..).zip(within.items()).find_map(|(place, item)| item_at(item, node, format!("{pointer}/{place}")))
            }
        },
        _ => None,
    }
}

/// What it takes in the text of a file that relationships are there no more.
pub(super) fn replacements(file: &File, ended: &[Ended]) -> Option<Vec<Replacement>> {
    let text = file.tree.text();
    let edited = Edited { text, format: format_of(&file.name, text) };
    let roots: Vec<Value<'_>> = file.tree.documents().collect();
    let mut lists: BTreeMap<(usize, &str), BTreeSet<usize>> = BTreeMap::new();
    let mut replacements = Vec::new();
    for Ended { document, item, .. } in ended {
        match item {
            Some((list, place)) => drop(lists.entry((*document, list)).or_default().insert(*place)),
            None => replacements.extend(edited.without_document(*roots.get(*document)?)?),
        }
    }
    for ((document, pointer), places) in lists {
        let (name, list) = list_at(*roots.get(document)?, pointer)?;
        let places: Vec<usize> = places.into_iter().collect();
        replacements.extend(edited.without_items(name, list, &places)?);
    }
    replacements.sort();
    // Two documents may be parted by one mark.
    replacements.dedup();
    Some(replacements)
}

/// A list by where it is, with the key that it stands under.
fn list_at<'v>(root: Value<'v>, pointer: &str) -> Option<(Option<Value<'v>>, Value<'v>)> {
    let mut found = (None, root);
    for part in pointer.split('/').skip(1) {
        let part = part.replace("~1", "/").replace("~0", "~");
        let (_, within) = found;
        found = match within.kind() {
            Kind::Map => within.entries().find(|(key, _)| key.text() == part).map(|(key, value)| (Some(key), value))?,
            _ => (None, within.items().nth(part.parse().ok()?)?),
        };
    }
    Some(found)
}

/// Documents without relationships that end.
pub(super) fn without(documents: Vec<Json>, ended: &[Ended]) -> Option<Vec<Json>> {
    let mut documents: Vec<Option<Json>> = documents.into_iter().map(Some).collect();
    let mut items: BTreeSet<(usize, &str, usize)> = BTreeSet::new();
    for Ended { document, item, .. } in ended {
        match item {
            Some((list, place)) => drop(items.insert((*document, list, *place))),
            None => *documents.get_mut(*document)? = None,
        }
    }
    // The last first, so that places stay what they are.
    for (document, list, place) in items.into_iter().rev() {
        let list = documents.get_mut(document)?.as_mut()?.pointer_mut(list)?.as_array_mut()?;
        (place < list.len()).then(|| list.remove(place))?;
    }
    Some(documents.into_iter().flatten().filter(|own| !own.is_null()).collect())
}
