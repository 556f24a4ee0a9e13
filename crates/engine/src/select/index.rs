//! The inverted tag index of one side: from tags to the lists of selectors that match them.
//!
//! Equal selectors are one, and so are equal lists; most policies have a list of one. Each selector is found through its
//! rarest exact tag, those with wildcards alone through a key. So the cost follows the selectors that nearly match, not all
//! of them. How they get in, and out again, is in [`super::interning`].

use std::sync::Arc;

use rustc_hash::FxHashMap;
use upheld_model::{Id, Pages, Selector, Shards, Sym, Symbols, TagSet, Want};

use super::rank::Specificity;
use crate::buckets::FlatBuckets;
use crate::kind::Match;

/// A distinct selector of one side.
pub(super) type SelectorId = Id<Distinct>;

/// A distinct list of selectors of one side.
pub(super) type ListId = Id<List>;

/// A selector in the alphabetical order of its keys, so that reasons name the first tag that fails.
pub(super) type Wants = Arc<[(Sym, Want)]>;

/// The wants of a selector in the order in which people read them.
pub(super) fn reading_order(selector: &Selector, symbols: &Symbols) -> Wants {
    let mut wants = selector.wants().to_vec();
    wants.sort_by(|(a, _), (b, _)| symbols.text(*a).cmp(symbols.text(*b)));
    wants.into()
}

/// A list that matches, with what its best matching selector brings.
#[derive(Clone, Copy, Debug)]
pub(super) struct Matching {
    pub(super) list: ListId,
    pub(super) packed: u64,
    pub(super) specificity: Specificity,
}

#[derive(Clone, Debug)]
pub(super) struct Distinct {
    pub(super) wants: Wants,
    /// What a match adds to the specificity of the whole.
    pub(super) specificity: Specificity,
    pub(super) packed: u64,
    /// The lists that have it.
    pub(super) lists: Vec<ListId>,
    /// What it is found through.
    pub(super) filed: Option<(Sym, Want)>,
}

#[derive(Clone, Debug)]
pub(super) struct List {
    pub(super) selectors: Arc<[SelectorId]>,
    /// How many entries have it.
    pub(super) users: u32,
}

/// The selectors of one side of a kind: only those that some entry has.
#[derive(Clone, Debug, Default)]
pub(super) struct SideIndex {
    pub(super) item: Option<Match>,
    /// By id; nothing where no list has the selector any more.
    pub(super) selectors: Pages<Option<Distinct>>,
    /// By id; nothing where no entry has the list any more.
    pub(super) lists: Pages<Option<List>>,
    pub(super) known: Shards<Wants, SelectorId>,
    pub(super) known_lists: Shards<Arc<[SelectorId]>, ListId>,
    /// How many selectors want something.
    pub(super) users: Shards<(Sym, Want), u32>,
    pub(super) postings: Postings,
    /// Ids that nobody has.
    pub(super) free_selectors: Vec<SelectorId>,
    pub(super) free_lists: Vec<ListId>,
}

/// Where selectors are found.
#[derive(Clone, Debug, Default)]
pub(super) struct Postings {
    by_tag: FlatBuckets<(Sym, Sym), SelectorId>,
    by_key: FlatBuckets<Sym, SelectorId>,
    /// Selectors that want nothing.
    always: Vec<SelectorId>,
}

impl Postings {
    /// Files selectors under what they are found through.
    pub(super) fn add(&mut self, selectors: &[(SelectorId, Option<(Sym, Want)>)]) {
        let (mut by_tag, mut by_key) = (Vec::new(), Vec::new());
        for (id, through) in selectors {
            match through {
                Some((key, Want::Exactly(value))) => by_tag.push(((*key, *value), *id)),
                Some((key, Want::Any)) => by_key.push((*key, *id)),
                None => self.always.push(*id),
            }
        }
        self.by_tag.add_all(by_tag);
        self.by_key.add_all(by_key);
    }

    /// Takes a selector out from where it is found.
    pub(super) fn remove(&mut self, id: SelectorId, through: Option<(Sym, Want)>) {
        match through {
            Some((key, Want::Exactly(value))) => self.by_tag.take(&(key, value), |known| *known == id),
            Some((key, Want::Any)) => self.by_key.take(&key, |known| *known == id),
            None => self.always.retain(|known| *known != id),
        }
    }

    pub(super) fn unshared(&self, other: &Self) -> usize {
        self.by_tag.unshared(&other.by_tag) + self.by_key.unshared(&other.by_key)
    }
}

/// What a selector is found through: what the fewest want, and an exact value rather than any.
pub(super) fn rarest(wants: &[(Sym, Want)], users: impl Fn(&(Sym, Want)) -> u32) -> Option<(Sym, Want)> {
    let rank = |want: &&(Sym, Want)| (want.1 == Want::Any, users(want));
    wants.iter().min_by_key(rank).copied()
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

    #[inline]
    fn selector(&self, id: SelectorId) -> Option<&Distinct> {
        self.selectors.get(id.index())?.as_ref()
    }

    /// An index of some of the selectors, for bulk questions in which the others decide nothing.
    pub(super) fn postings(&self, is_meant: impl Fn(SelectorId) -> bool) -> Postings {
        let all = self.selectors.iter().enumerate();
        let all = all.filter_map(|(id, selector)| Some((SelectorId::new(id), selector.as_ref()?)));
        let meant: Vec<(SelectorId, &Distinct)> = all.filter(|(id, _)| is_meant(*id)).collect();
        let mut users: FxHashMap<(Sym, Want), u32> = FxHashMap::default();
        for want in meant.iter().flat_map(|(_, selector)| selector.wants.iter()) {
            *users.entry(*want).or_default() += 1;
        }
        let through = |selector: &Distinct| rarest(&selector.wants, |want| users.get(want).copied().unwrap_or(0));
        let filed: Vec<_> = meant.into_iter().map(|(id, selector)| (id, through(selector))).collect();
        let mut postings = Postings::default();
        postings.add(&filed);
        postings
    }

    /// The lists with a selector that matches any of these sets of tags, each once with its best.
    pub(super) fn matching(&self, parts: &[TagSet], found: &mut Vec<Matching>) {
        found.clear();
        self.each_match(&self.postings, parts, |_, Distinct { packed, specificity, lists, .. }| {
            let matching = |list: &ListId| Matching { list: *list, packed: *packed, specificity: *specificity };
            found.extend(lists.iter().map(matching));
        });
        // Lists of several selectors, and sources of several parts, may be found more than once.
        found.sort_unstable_by_key(|found| {
            (found.list, std::cmp::Reverse((found.packed, found.specificity.fullness())))
        });
        found.dedup_by_key(|found| found.list);
    }

    /// The selectors of an index that match some part; more than once if several parts do.
    pub(super) fn each_match(
        &self,
        postings: &Postings,
        parts: &[TagSet],
        mut take: impl FnMut(SelectorId, &Distinct),
    ) {
        // Nothing at all matches no selector, not even an empty one, unless the kind does not look at this side.
        if !parts.is_empty() || self.item.is_none() {
            for id in &postings.always {
                self.selector(*id).into_iter().for_each(|selector| take(*id, selector));
            }
        }
        let Some(item) = &self.item else { return };
        let visible = |key: Sym| item.sees.as_ref().is_none_or(|keys| keys.contains(&key));
        for part in parts {
            for tag in part.as_slice().iter().filter(|tag| visible(tag.key)) {
                let exact = tag.value.map_or(&[][..], |value| postings.by_tag.get(&(tag.key, value)));
                for &id in exact.iter().chain(postings.by_key.get(&tag.key)) {
                    let holds = |(key, want): &(Sym, Want)| {
                        visible(*key) && part.get(*key).is_some_and(|tag| holds(*want, tag.value))
                    };
                    if let Some(selector) = self.selector(id).filter(|selector| selector.wants.iter().all(holds)) {
                        take(id, selector);
                    }
                }
            }
        }
    }

    /// An index of all selectors.
    pub(super) fn all(&self) -> &Postings {
        &self.postings
    }

    /// Ids of selectors are below this.
    pub(super) fn selectors(&self) -> usize {
        self.selectors.len()
    }

    /// The lists that have a selector.
    pub(super) fn lists_of(&self, id: SelectorId) -> &[ListId] {
        self.selector(id).map_or(&[], |selector| &selector.lists)
    }

    /// What a match adds to the rank.
    pub(super) fn packed(&self, id: SelectorId) -> u64 {
        self.selector(id).map_or(0, |selector| selector.packed)
    }

    /// The part of a selector that the fewest share; nothing if it wants nothing.
    pub(super) fn rarest(&self, wants: &[(Sym, Want)]) -> Option<(Sym, Want)> {
        rarest(wants, |want| self.users.get(want).copied().unwrap_or(0))
    }

    /// The selectors of a list.
    pub(super) fn selectors_of(&self, list: ListId) -> &[SelectorId] {
        self.lists.get(list.index()).and_then(Option::as_ref).map_or(&[], |list| &list.selectors)
    }

    /// Ids of lists are below this.
    pub(super) fn lists(&self) -> usize {
        self.lists.len()
    }

    /// The selectors of a list, with what each brings when it matches.
    pub(super) fn list(&self, list: ListId) -> impl Iterator<Item = (&[(Sym, Want)], Specificity, u64)> {
        let selectors = self.selectors_of(list).iter().filter_map(|id| self.selector(*id));
        selectors.map(|selector| (&*selector.wants, selector.specificity, selector.packed))
    }

    /// Everything that some selector wants.
    pub(super) fn all_wants(&self) -> impl Iterator<Item = (Sym, Want)> {
        self.selectors.iter().flatten().flat_map(|selector| selector.wants.iter().copied())
    }

    /// How many pages and shards two indexes do not share.
    pub(super) fn unshared(&self, other: &Self) -> usize {
        self.selectors.unshared(&other.selectors)
            + self.lists.unshared(&other.lists)
            + self.known.unshared(&other.known)
            + self.known_lists.unshared(&other.known_lists)
            + self.users.unshared(&other.users)
            + self.postings.unshared(&other.postings)
    }
}

fn holds(want: Want, value: Option<Sym>) -> bool {
    match (want, value) {
        (Want::Any, _) => true,
        (Want::Exactly(wanted), Some(value)) => wanted == value,
        (Want::Exactly(_), None) => false,
    }
}
