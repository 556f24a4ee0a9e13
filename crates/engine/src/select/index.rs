//! The inverted tag index of one side: from tags to the selectors that match them.
//!
//! Equal selectors are one. Each is found through its rarest exact tag; those with wildcards alone through a key. So the
//! cost follows the selectors that nearly match, not all of them.

use rustc_hash::FxHashMap;
use upheld_model::{Selector, Sym, Symbols, TagSet, Want};

use super::Specificity;
use super::fit::specificity_of;
use crate::kind::{Counts, Empty, Match};

/// A distinct selector of one side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct SelectorId(u32);

impl SelectorId {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

#[derive(Debug)]
struct Distinct {
    /// In the alphabetical order of keys, so that reasons name the first tag that fails.
    wants: Box<[(Sym, Want)]>,
    specificity: Specificity,
    packed: u64,
}

/// The selectors of one side of a kind.
#[derive(Debug, Default)]
pub(super) struct SideIndex {
    item: Option<Match>,
    selectors: Vec<Distinct>,
    known: FxHashMap<Box<[(Sym, Want)]>, SelectorId>,
    by_tag: FxHashMap<(Sym, Sym), Vec<SelectorId>>,
    by_key: FxHashMap<Sym, Vec<SelectorId>>,
    /// Selectors that want nothing.
    always: Vec<SelectorId>,
}

impl SideIndex {
    pub(super) fn new(item: Option<Match>) -> Self {
        Self { item, ..Self::default() }
    }

    pub(super) fn item(&self) -> Option<&Match> {
        self.item.as_ref()
    }

    pub(super) fn field(&self) -> Option<Sym> {
        self.item.as_ref().map(|item| item.field)
    }

    /// The ids of the selectors of one entry. A side that the kind does not look at has one selector that wants nothing.
    pub(super) fn intern(&mut self, selectors: &[Selector], symbols: &Symbols) -> Box<[SelectorId]> {
        let matches_all = self.item.as_ref().is_none_or(|item| item.empty == Empty::Everything);
        if selectors.is_empty() && matches_all {
            return Box::new([self.intern_wants(Box::default())]);
        }
        let mut ids: Vec<SelectorId> = Vec::with_capacity(selectors.len());
        for selector in selectors {
            let mut wants: Box<[(Sym, Want)]> = selector.wants().into();
            wants.sort_by(|(a, _), (b, _)| symbols.text(*a).cmp(symbols.text(*b)));
            let id = self.intern_wants(wants);
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        ids.into()
    }

    fn intern_wants(&mut self, wants: Box<[(Sym, Want)]>) -> SelectorId {
        if let Some(id) = self.known.get(&wants) {
            return *id;
        }
        let id = SelectorId(u32::try_from(self.selectors.len()).unwrap_or(u32::MAX));
        let specificity = specificity_of(&wants);
        self.selectors.push(Distinct { wants: wants.clone(), specificity, packed: 0 });
        self.known.insert(wants, id);
        id
    }

    /// Builds the index once all selectors are known.
    pub(super) fn finish(&mut self, pack: impl Fn(Specificity) -> u64) {
        let counts = self.item.as_ref().map_or(Counts::No, |item| item.counts);
        let mut users: FxHashMap<(Sym, Want), u32> = FxHashMap::default();
        for selector in &mut self.selectors {
            selector.packed = pack(counts.of(selector.specificity));
            for want in &selector.wants {
                *users.entry(*want).or_default() += 1;
            }
        }
        for (index, selector) in self.selectors.iter().enumerate() {
            let id = SelectorId(u32::try_from(index).unwrap_or(u32::MAX));
            let rarest = |exact: bool| {
                let wants = selector.wants.iter().filter(|(_, want)| matches!(want, Want::Exactly(_)) == exact);
                wants.min_by_key(|want| users.get(want).copied().unwrap_or_default())
            };
            match rarest(true).or_else(|| rarest(false)) {
                Some((key, Want::Exactly(value))) => self.by_tag.entry((*key, *value)).or_default().push(id),
                Some((key, Want::Any)) => self.by_key.entry(*key).or_default().push(id),
                None => self.always.push(id),
            }
        }
    }

    /// The distinct selectors that match any of these sets of tags, each once.
    pub(super) fn matching(&self, parts: &[TagSet], found: &mut Vec<SelectorId>) {
        found.clear();
        let Some(item) = &self.item else {
            found.extend(&self.always);
            return;
        };
        // Nothing at all matches no selector, not even an empty one.
        if !parts.is_empty() {
            found.extend(&self.always);
        }
        let visible = |key: Sym| item.sees.as_ref().is_none_or(|keys| keys.contains(&key));
        for part in parts {
            for tag in part.as_slice().iter().filter(|tag| visible(tag.key)) {
                let exact = tag.value.and_then(|value| self.by_tag.get(&(tag.key, value)));
                let wild = self.by_key.get(&tag.key);
                for &id in exact.into_iter().chain(wild).flatten() {
                    let holds = |(key, want): &(Sym, Want)| {
                        visible(*key) && part.get(*key).is_some_and(|tag| want.holds(tag.value))
                    };
                    if self.wants(id).iter().all(holds) {
                        found.push(id);
                    }
                }
            }
        }
        if parts.len() > 1 {
            found.sort_unstable();
            found.dedup();
        }
    }

    pub(super) fn len(&self) -> usize {
        self.selectors.len()
    }

    pub(super) fn wants(&self, id: SelectorId) -> &[(Sym, Want)] {
        self.selectors.get(id.index()).map_or(&[], |selector| &selector.wants)
    }

    pub(super) fn own_specificity(&self, id: SelectorId) -> Specificity {
        self.selectors.get(id.index()).map_or(Specificity::default(), |selector| selector.specificity)
    }

    /// What a match adds to the specificity of the whole.
    pub(super) fn specificity(&self, id: SelectorId) -> Specificity {
        let counts = self.item.as_ref().map_or(Counts::No, |item| item.counts);
        counts.of(self.own_specificity(id))
    }

    /// What a match adds to the rank.
    pub(super) fn packed(&self, id: SelectorId) -> u64 {
        self.selectors.get(id.index()).map_or(0, |selector| selector.packed)
    }

    /// Everything that some selector wants.
    pub(super) fn all_wants(&self) -> impl Iterator<Item = (Sym, Want)> {
        self.selectors.iter().flat_map(|selector| selector.wants.iter().copied())
    }
}

trait Holds {
    fn holds(&self, value: Option<Sym>) -> bool;
}

impl Holds for Want {
    fn holds(&self, value: Option<Sym>) -> bool {
        match (self, value) {
            (Self::Any, Some(_)) => true,
            (Self::Exactly(wanted), Some(value)) => *wanted == value,
            (_, None) => false,
        }
    }
}
