//! The inverted tag index of one side: from tags to the lists of selectors that match them.
//!
//! Equal selectors are one, and so are equal lists; most policies have a list of one. Each selector is found through its
//! rarest exact tag, those with wildcards alone through a key. So the cost follows the selectors that nearly match, not all
//! of them.

use rustc_hash::{FxHashMap, FxHashSet};
use upheld_model::{Selector, Sym, Symbols, TagSet, Want};

use super::fit::specificity_of;
use super::rank::Specificity;
use crate::kind::{Counts, Empty, Match};

/// A distinct selector of one side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct SelectorId(u32);

impl SelectorId {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A distinct list of selectors of one side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct ListId(u32);

impl ListId {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A selector in the alphabetical order of its keys, so that reasons name the first tag that fails.
pub(super) type Wants = Box<[(Sym, Want)]>;

/// The wants of a selector in the order in which people read them.
pub(super) fn reading_order(selector: &Selector, symbols: &Symbols) -> Wants {
    let mut wants: Wants = selector.wants().into();
    wants.sort_by(|(a, _), (b, _)| symbols.text(*a).cmp(symbols.text(*b)));
    wants
}

/// A list that matches, with what its best matching selector brings.
#[derive(Clone, Copy, Debug)]
pub(super) struct Matching {
    pub(super) list: ListId,
    pub(super) packed: u64,
    pub(super) specificity: Specificity,
}

#[derive(Debug)]
struct Distinct {
    wants: Wants,
    /// What a match adds to the specificity of the whole.
    specificity: Specificity,
    packed: u64,
    /// The lists that have it.
    lists: Vec<ListId>,
}

/// The selectors of one side of a kind.
#[derive(Debug, Default)]
pub(super) struct SideIndex {
    item: Option<Match>,
    selectors: Vec<Distinct>,
    lists: Vec<Box<[SelectorId]>>,
    known: FxHashMap<Wants, SelectorId>,
    known_lists: FxHashMap<Box<[SelectorId]>, ListId>,
    postings: Postings,
}

/// Where selectors are found.
#[derive(Debug, Default)]
pub(super) struct Postings {
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

    /// The list of one entry. A side that the kind does not look at has one selector that wants nothing.
    pub(super) fn intern(&mut self, selectors: &[Selector], symbols: &Symbols) -> ListId {
        let matches_all = self.item.as_ref().is_none_or(|item| item.empty == Empty::Everything);
        let mut seen = FxHashSet::default();
        let mut list: Vec<SelectorId> = Vec::with_capacity(selectors.len());
        if selectors.is_empty() && matches_all {
            list.push(self.intern_wants(Wants::default()));
        }
        for selector in selectors {
            let id = self.intern_wants(reading_order(selector, symbols));
            if seen.insert(id) {
                list.push(id);
            }
        }
        let list: Box<[SelectorId]> = list.into();
        if let Some(known) = self.known_lists.get(&list) {
            return *known;
        }
        let id = ListId(u32::try_from(self.lists.len()).unwrap_or(u32::MAX));
        for selector in &list {
            if let Some(selector) = self.selectors.get_mut(selector.0 as usize) {
                selector.lists.push(id);
            }
        }
        self.lists.push(list.clone());
        self.known_lists.insert(list, id);
        id
    }

    fn intern_wants(&mut self, wants: Wants) -> SelectorId {
        if let Some(id) = self.known.get(&wants) {
            return *id;
        }
        let id = SelectorId(u32::try_from(self.selectors.len()).unwrap_or(u32::MAX));
        let counts = self.item.as_ref().map_or(Counts::No, |item| item.counts);
        let specificity = counts.of(specificity_of(&wants));
        self.selectors.push(Distinct { wants: wants.clone(), specificity, packed: 0, lists: Vec::new() });
        self.known.insert(wants, id);
        id
    }

    /// Builds the index once all selectors are known.
    pub(super) fn finish(&mut self, pack: impl Fn(Specificity) -> u64) {
        for selector in &mut self.selectors {
            selector.packed = pack(selector.specificity);
        }
        self.postings = self.postings(|_| true);
    }

    /// An index of some of the selectors, for bulk questions in which the others decide nothing.
    pub(super) fn postings(&self, is_meant: impl Fn(SelectorId) -> bool) -> Postings {
        let ids = (0..self.selectors.len()).map(|index| SelectorId(u32::try_from(index).unwrap_or(u32::MAX)));
        let meant = || ids.clone().zip(&self.selectors).filter(|(id, _)| is_meant(*id));
        let mut users: FxHashMap<(Sym, Want), u32> = FxHashMap::default();
        for want in meant().flat_map(|(_, selector)| &selector.wants) {
            *users.entry(*want).or_default() += 1;
        }
        let mut postings = Postings::default();
        for (id, selector) in meant() {
            let rarest = |exact: bool| {
                let wants = selector.wants.iter().filter(|(_, want)| matches!(want, Want::Exactly(_)) == exact);
                wants.min_by_key(|want| users.get(want).copied().unwrap_or_default())
            };
            match rarest(true).or_else(|| rarest(false)) {
                Some((key, Want::Exactly(value))) => postings.by_tag.entry((*key, *value)).or_default().push(id),
                Some((key, Want::Any)) => postings.by_key.entry(*key).or_default().push(id),
                None => postings.always.push(id),
            }
        }
        postings
    }

    /// The lists with a selector that matches any of these sets of tags, each once with its best.
    pub(super) fn matching(&self, parts: &[TagSet], found: &mut Vec<Matching>) {
        found.clear();
        self.each_match(&self.postings, parts, |id| {
            let (packed, specificity) = (self.packed(id), self.specificity(id));
            found.extend(self.lists_of(id).iter().map(|&list| Matching { list, packed, specificity }));
        });
        // Lists of several selectors, and sources of several parts, may be found more than once.
        found.sort_unstable_by_key(|found| {
            (found.list, std::cmp::Reverse((found.packed, found.specificity.fullness())))
        });
        found.dedup_by_key(|found| found.list);
    }

    /// The selectors of an index that match some part; more than once if several parts do.
    pub(super) fn each_match(&self, postings: &Postings, parts: &[TagSet], mut take: impl FnMut(SelectorId)) {
        // Nothing at all matches no selector, not even an empty one, unless the kind does not look at this side.
        if !parts.is_empty() || self.item.is_none() {
            postings.always.iter().copied().for_each(&mut take);
        }
        let Some(item) = &self.item else { return };
        let visible = |key: Sym| item.sees.as_ref().is_none_or(|keys| keys.contains(&key));
        for part in parts {
            for tag in part.as_slice().iter().filter(|tag| visible(tag.key)) {
                let exact = tag.value.and_then(|value| postings.by_tag.get(&(tag.key, value)));
                for &id in exact.into_iter().chain(postings.by_key.get(&tag.key)).flatten() {
                    let holds = |(key, want): &(Sym, Want)| {
                        visible(*key) && part.get(*key).is_some_and(|tag| holds(*want, tag.value))
                    };
                    if self.wants(id).iter().all(holds) {
                        take(id);
                    }
                }
            }
        }
    }

    /// An index of all selectors.
    pub(super) fn all(&self) -> &Postings {
        &self.postings
    }

    /// How many selectors there are.
    pub(super) fn selectors(&self) -> usize {
        self.selectors.len()
    }

    /// The lists that have a selector.
    pub(super) fn lists_of(&self, id: SelectorId) -> &[ListId] {
        self.selectors.get(id.index()).map_or(&[], |selector| &selector.lists)
    }

    /// What a match adds to the rank.
    pub(super) fn packed(&self, id: SelectorId) -> u64 {
        self.selectors.get(id.index()).map_or(0, |selector| selector.packed)
    }

    fn specificity(&self, id: SelectorId) -> Specificity {
        self.selectors.get(id.index()).map_or(Specificity::default(), |selector| selector.specificity)
    }

    /// The selectors of a list.
    pub(super) fn selectors_of(&self, list: ListId) -> &[SelectorId] {
        self.lists.get(list.index()).map_or(&[], |list| list)
    }

    /// How many lists there are.
    pub(super) fn len(&self) -> usize {
        self.lists.len()
    }

    /// The selectors of a list, with what each brings when it matches.
    pub(super) fn list(&self, list: ListId) -> impl Iterator<Item = (&[(Sym, Want)], Specificity, u64)> {
        let ids = self.lists.get(list.index()).map_or(&[][..], |list| list);
        let selectors = ids.iter().filter_map(|id| self.selectors.get(id.0 as usize));
        selectors.map(|selector| (&*selector.wants, selector.specificity, selector.packed))
    }

    fn wants(&self, id: SelectorId) -> &[(Sym, Want)] {
        self.selectors.get(id.0 as usize).map_or(&[], |selector| &selector.wants)
    }

    /// Everything that some selector wants.
    pub(super) fn all_wants(&self) -> impl Iterator<Item = (Sym, Want)> {
        self.selectors.iter().flat_map(|selector| selector.wants.iter().copied())
    }
}

fn holds(want: Want, value: Option<Sym>) -> bool {
    match (want, value) {
        (Want::Any, _) => true,
        (Want::Exactly(wanted), Some(value)) => wanted == value,
        (Want::Exactly(_), None) => false,
    }
}

impl Counts {
    fn of(self, specificity: Specificity) -> Specificity {
        match self {
            Self::Yes => specificity,
            Self::No => Specificity::default(),
        }
    }
}
