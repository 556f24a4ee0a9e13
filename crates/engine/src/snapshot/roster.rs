//! Objects and policies of a snapshot: each keeps its id while others come and go, and they are listed by their identity.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rustc_hash::FxHashMap;
use upheld_model::{Id, NodeRef, Object, Pages, Policy, Shards, SourceId, Sym, Symbols};

use crate::work;

/// Type, scope and name.
pub type Identity = (Sym, Sym, Sym);

/// Something that a document describes.
pub trait Described {
    /// Who it is. Two may be alike only where one of them does not count.
    fn identity(&self) -> Identity;
    /// Where it was written.
    fn at(&self) -> NodeRef;
}

impl Described for Object {
    fn identity(&self) -> Identity {
        (self.kind, self.scope, self.name)
    }

    fn at(&self) -> NodeRef {
        self.at
    }
}

impl Described for Policy {
    fn identity(&self) -> Identity {
        (self.kind, self.scope, self.name)
    }

    fn at(&self) -> NodeRef {
        self.at
    }
}

/// Items with ids. A clone shares nearly everything; a change copies what it touches, and the list of ids.
#[derive(Clone, Debug)]
pub struct Roster<T> {
    /// By id; nothing where something was that is gone.
    items: Pages<Option<Arc<T>>>,
    by_identity: Shards<Identity, Id<T>>,
    /// Those with one type and one name, by scope.
    by_name: Shards<(Sym, Sym), Arc<[Id<T>]>>,
    by_source: Shards<SourceId, Arc<[Id<T>]>>,
    /// Ids by type, scope and name.
    sorted: Arc<[Id<T>]>,
}

/// What a change did to a roster.
#[derive(Debug)]
pub(super) struct Replaced<T> {
    pub(super) gone: Vec<(Id<T>, Arc<T>)>,
    pub(super) came: Vec<(Id<T>, Arc<T>)>,
}

impl<T: Described> Roster<T> {
    /// Of all items: sorted, so that the order of arrival is forgotten.
    pub(super) fn new(mut items: Vec<T>, symbols: &Symbols) -> Self {
        items.sort_by(|a, b| texts(a, symbols).cmp(&texts(b, symbols)));
        let mut by_source: BTreeMap<SourceId, Vec<Id<T>>> = BTreeMap::new();
        let mut by_name: FxHashMap<(Sym, Sym), Vec<Id<T>>> = FxHashMap::default();
        let mut by_identity = Shards::default();
        for (index, item) in items.iter().enumerate() {
            work::step();
            let (kind, _, name) = item.identity();
            by_identity.insert(item.identity(), Id::new(index));
            by_name.entry((kind, name)).or_default().push(Id::new(index));
            by_source.entry(item.at().source).or_default().push(Id::new(index));
        }
        Self {
            sorted: (0..items.len()).map(Id::new).collect(),
            by_source: by_source.into_iter().map(|(source, ids)| (source, ids.into())).collect(),
            by_name: by_name.into_iter().map(|(name, ids)| (name, ids.into())).collect(),
            by_identity,
            items: items.into_iter().map(|item| Some(Arc::new(item))).collect(),
        }
    }

    /// The item, unless the id is of another snapshot.
    pub fn get(&self, id: Id<T>) -> Option<&T> {
        self.items.get(id.index())?.as_deref()
    }

    /// The id of somebody.
    pub fn find(&self, identity: Identity) -> Option<Id<T>> {
        self.by_identity.get(&identity).copied()
    }

    /// All items with their ids, by type, scope and name.
    pub fn iter(&self) -> impl Iterator<Item = (Id<T>, &T)> {
        self.sorted.iter().filter_map(|id| Some((*id, self.get(*id)?)))
    }

    /// Those with a type and a name, by scope.
    pub fn named(&self, kind: Sym, name: Sym) -> impl Iterator<Item = (Id<T>, &T)> {
        let ids = self.by_name.get(&(kind, name)).map_or(&[][..], |ids| ids);
        ids.iter().filter_map(|id| Some((*id, self.get(*id)?)))
    }

    /// Those of a type, by scope and name.
    pub fn of_kind(&self, kind: Sym, symbols: &Symbols) -> impl Iterator<Item = (Id<T>, &T)> {
        let text = symbols.text(kind);
        let first =
            self.sorted.partition_point(|id| self.get(*id).is_some_and(|item| symbols.text(item.identity().0) < text));
        let rest = self.sorted.get(first..).unwrap_or_default().iter();
        rest.filter_map(|id| Some((*id, self.get(*id)?))).take_while(move |(_, item)| item.identity().0 == kind)
    }

    /// How many there are of a type.
    pub fn count_of(&self, kind: Sym, symbols: &Symbols) -> usize {
        let text = symbols.text(kind);
        let kind_of = |id: &Id<T>| self.get(*id).map(|item| symbols.text(item.identity().0));
        let first = self.sorted.partition_point(|id| kind_of(id).is_some_and(|known| known < text));
        self.sorted.partition_point(|id| kind_of(id).is_some_and(|known| known <= text)) - first
    }

    /// Those of a type in a scope, by name.
    pub fn in_scope(&self, kind: Sym, scope: Sym, symbols: &Symbols) -> impl Iterator<Item = (Id<T>, &T)> {
        let (kind_text, scope_text) = (symbols.text(kind), symbols.text(scope));
        let first = self.sorted.partition_point(|id| {
            self.get(*id).map(|item| texts(item, symbols)).is_some_and(|(k, s, _)| (k, s) < (kind_text, scope_text))
        });
        let rest = self.sorted.get(first..).unwrap_or_default().iter();
        let rest = rest.filter_map(|id| Some((*id, self.get(*id)?)));
        rest.take_while(move |(_, item)| {
            let (of_kind, of_scope, _) = item.identity();
            (of_kind, of_scope) == (kind, scope)
        })
    }

    /// Those of a name, whatever their type and scope, in the order of all: one look for each type.
    pub fn of_name(&self, name: Sym, symbols: &Symbols) -> Vec<Id<T>> {
        let mut found = Vec::new();
        let mut rest: &[Id<T>] = &self.sorted;
        while let Some(first) = rest.first().and_then(|id| self.get(*id)) {
            work::step();
            let (kind, ..) = first.identity();
            let counts = |(id, item): (Id<T>, &T)| (self.find(item.identity()) == Some(id)).then_some(id);
            found.extend(self.named(kind, name).filter_map(counts));
            let own = symbols.text(kind);
            let is_of_own = |id: &Id<T>| self.get(*id).is_some_and(|item| symbols.text(item.identity().0) <= own);
            rest = rest.get(rest.partition_point(is_of_own).max(1)..).unwrap_or_default();
        }
        found
    }

    /// The same as [`Roster::iter`], to be shared.
    pub(super) fn shared(&self) -> impl Iterator<Item = (Id<T>, &Arc<T>)> {
        self.sorted.iter().filter_map(|id| Some((*id, self.items.get(id.index())?.as_ref()?)))
    }

    /// Those that some file describes.
    pub fn of_source(&self, source: SourceId) -> impl Iterator<Item = (Id<T>, &T)> {
        let ids = self.by_source.get(&source).map_or(&[][..], |ids| ids);
        ids.iter().filter_map(|id| Some((*id, self.get(*id)?)))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.sorted.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.sorted.is_empty()
    }

    /// Whether all items are those of another roster, under the same ids.
    pub fn has_same_items(&self, other: &Self) -> bool {
        let item =
            |roster: &Self, place: usize| roster.items.get(place).and_then(|item| item.as_ref().map(Arc::as_ptr));
        self.items.len() == other.items.len()
            && self.items.differing(&other.items).all(|place| item(self, place) == item(other, place))
    }

    /// Whether there is one of a type.
    pub fn has_kind(&self, kind: &str, symbols: &Symbols) -> bool {
        let kind_of = |id: &Id<T>| self.get(*id).map(|item| symbols.text(item.identity().0));
        let first = self.sorted.partition_point(|id| kind_of(id) < Some(kind));
        self.sorted.get(first).and_then(kind_of) == Some(kind)
    }

    /// How many pages and shards two rosters do not share: what a change has copied.
    pub fn unshared(&self, other: &Self) -> usize {
        self.items.unshared(&other.items)
            + self.by_identity.unshared(&other.by_identity)
            + self.by_name.unshared(&other.by_name)
            + self.by_source.unshared(&other.by_source)
    }

    /// Takes away what some files described, and adds what they describe now. Who is described again keeps the id.
    pub(super) fn replace(&mut self, sources: &BTreeSet<SourceId>, came: Vec<T>, symbols: &Symbols) -> Replaced<T> {
        let mut replaced = Replaced { gone: Vec::new(), came: Vec::new() };
        let mut sorted = self.sorted.to_vec();
        let place = |sorted: &[Id<T>], items: &Pages<Option<Arc<T>>>, item: &T| {
            let key = texts(item, symbols);
            sorted.partition_point(|id| {
                items.get(id.index()).and_then(|item| item.as_deref()).is_some_and(|known| texts(known, symbols) < key)
            })
        };
        let mut free: Vec<(Identity, Id<T>)> = Vec::new();
        for source in sources {
            for id in self.by_source.remove(source).iter().flat_map(|ids| ids.iter().copied()) {
                let Some(item) = self.items.get(id.index()).cloned().flatten() else { continue };
                let first = place(&sorted, &self.items, &item);
                if let Some(at) = sorted.iter().skip(first).position(|known| *known == id) {
                    sorted.remove(first + at);
                }
                if self.find(item.identity()) == Some(id) {
                    self.by_identity.remove(&item.identity());
                }
                self.rename(&item, symbols, |ids, _| ids.retain(|known| *known != id));
                self.items.put(id.index(), None, || None);
                free.push((item.identity(), id));
                replaced.gone.push((id, item));
            }
        }
        for item in came.into_iter().map(Arc::new) {
            let known = free.iter().position(|(identity, _)| *identity == item.identity());
            let id = known.map_or(Id::new(self.items.len()), |known| free.swap_remove(known).1);
            sorted.insert(place(&sorted, &self.items, &item), id);
            self.items.put(id.index(), Some(Arc::clone(&item)), || None);
            self.by_identity.insert(item.identity(), id);
            self.rename(&item, symbols, |ids, place| ids.insert(place, id));
            let others = self.by_source.get(&item.at().source).map_or(&[][..], |ids| ids);
            let ids = others.iter().copied().chain([id]).collect();
            self.by_source.insert(item.at().source, ids);
            replaced.came.push((id, item));
        }
        self.sorted = sorted.into();
        replaced
    }

    /// Changes the list of those with the type and the name of an item, given where it belongs among them.
    fn rename(&mut self, item: &T, symbols: &Symbols, change: impl FnOnce(&mut Vec<Id<T>>, usize)) {
        let ((kind, _, name), key) = (item.identity(), texts(item, symbols));
        let mut ids = self.by_name.get(&(kind, name)).map_or_else(Vec::new, |ids| ids.to_vec());
        let place = ids.partition_point(|id| self.get(*id).is_some_and(|known| texts(known, symbols) < key));
        change(&mut ids, place);
        match ids.as_slice() {
            [] => drop(self.by_name.remove(&(kind, name))),
            ids => drop(self.by_name.insert((kind, name), ids.into())),
        }
    }
}

fn texts<'s, T: Described>(item: &T, symbols: &'s Symbols) -> (&'s str, &'s str, &'s str) {
    let (kind, scope, name) = item.identity();
    (symbols.text(kind), symbols.text(scope), symbols.text(name))
}
