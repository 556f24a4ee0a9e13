//! Whether selectors match tags, without an index: yes, no and why not, or unknown because a fact is missing.

use upheld_model::{Code, Param, Reason, Side, Sym, TagSet, Want};

use super::index::{ListId, SideIndex, Wants};
use super::rank::Specificity;
use crate::apart::{Lack, lacking};
use crate::ask::Fit;

/// How specific a selector is; it does not depend on what it matches.
pub(super) fn specificity_of(wants: &[(Sym, Want)]) -> Specificity {
    wants.iter().fold(Specificity::default(), |sum, (_, want)| {
        sum.plus(match want {
            Want::Exactly(_) => Specificity { exact: 1, wild: 0 },
            Want::Any => Specificity { exact: 0, wild: 1 },
        })
    })
}

/// How one selector fits one set of tags.
#[derive(Clone, Copy, Debug)]
pub(super) enum Found {
    Yes,
    Unknown(Reason),
    No(Reason),
}

/// Whether any selector of a list matches any part, with the reason of the nearest miss.
pub(super) fn any_selector(selectors: &[Wants], parts: &[TagSet], side: Side) -> Found {
    let mut nearest = (u32::MAX, Found::No(Reason::new(Code::SkipNoSelector, &[Param::Side(side)])));
    let mut wanted = None;
    for wants in selectors {
        for part in parts {
            let (distance, found) = one(wants, part, None, side);
            if distance < nearest.0 {
                nearest = (distance, found);
                wanted = Some(wants);
            }
        }
    }
    match (nearest.1, wanted) {
        (Found::No(reason), Some(wants)) => Found::No(of_all_parts(reason, wants, parts, None, side)),
        (found, _) => found,
    }
}

/// The reason of the nearest miss, unless another part has what the nearest lacks.
fn of_all_parts(nearest: Reason, wants: &[(Sym, Want)], parts: &[TagSet], sees: Option<&[Sym]>, side: Side) -> Reason {
    if parts.len() < 2 {
        return nearest;
    }
    lacking(wants, &parts.iter(), sees).map_or(nearest, |lack| lack_reason(lack, nearest, side))
}

/// What parts lack as a reason. Where the nearest part lacks the same tag, its value is named.
fn lack_reason(lack: Lack, nearest: Reason, side: Side) -> Reason {
    let side = Param::Side(side);
    match lack {
        Lack::Together(tags) => {
            Reason::new(Code::SkipTagsApart, &[side, Param::Number(i64::try_from(tags).unwrap_or(i64::MAX))])
        }
        Lack::Tag(key, want, have) => {
            let key = Param::Text(key);
            let wanted = match want {
                Want::Any => Param::Nothing,
                Want::Exactly(value) => Param::Text(value),
            };
            let same = |reason: &Reason| {
                let [_, its_key, its_want, _] = reason.params;
                reason.code == Code::SkipTag && its_key == key && its_want == wanted
            };
            match (Some(nearest).filter(same), have) {
                (Some(nearest), _) => nearest,
                (None, Some(have)) => Reason::new(Code::SkipTag, &[side, key, wanted, Param::Text(have)]),
                (None, None) => Reason::new(Code::SkipTagAbsent, &[side, key, wanted]),
            }
        }
    }
}

/// One selector against one set of tags: how many wants fail, and the first that does. Unknown ones count half, so
/// that a selector which may match is nearer than one that does not.
fn one(wants: &[(Sym, Want)], part: &TagSet, sees: Option<&[Sym]>, side: Side) -> (u32, Found) {
    let mut distance = 0;
    let mut failed: Option<Reason> = None;
    let mut unknown: Option<Reason> = None;
    for (key, want) in wants {
        let visible = sees.is_none_or(|keys| keys.contains(key));
        let tag = part.get(*key).filter(|_| visible);
        let wanted = match want {
            Want::Any => Param::Nothing,
            Want::Exactly(value) => Param::Text(*value),
        };
        let (side, key) = (Param::Side(side), Param::Text(*key));
        match (tag.map(|tag| tag.value), want) {
            (None, _) => {
                distance += 2;
                failed.get_or_insert_with(|| Reason::new(Code::SkipTagAbsent, &[side, key, wanted]));
            }
            (Some(None), Want::Exactly(_)) => {
                distance += 1;
                unknown.get_or_insert_with(|| Reason::new(Code::UnknownTag, &[side, key, wanted]));
            }
            (Some(Some(have)), Want::Exactly(value)) if have != *value => {
                distance += 2;
                failed.get_or_insert_with(|| Reason::new(Code::SkipTag, &[side, key, wanted, Param::Text(have)]));
            }
            // It is as wanted; any value is whatever it is.
            (Some(_), _) => {}
        }
    }
    let found = match (failed, unknown) {
        (Some(reason), _) => Found::No(reason),
        (None, Some(reason)) => Found::Unknown(reason),
        (None, None) => Found::Yes,
    };
    (distance, found)
}

/// How one side of an entry fits.
#[derive(Clone, Copy, Debug)]
pub(super) struct SideFitness {
    certain: Option<Specificity>,
    uncertain: Option<Specificity>,
    distance: u32,
    reason: Reason,
}

/// How an entry fits a question.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fitness {
    certain: Option<Specificity>,
    uncertain: Option<Specificity>,
    /// How far from a match.
    pub(super) distance: u32,
    /// Why it does not match, or which fact is missing.
    pub(super) reason: Reason,
}

impl SideIndex {
    /// How a list of selectors fits the parts of one side; the best matching selector counts.
    pub(super) fn fitness(&self, list: ListId, parts: Option<&[TagSet]>, side: Side) -> SideFitness {
        let reason = Reason::new(Code::SkipNoSelector, &[Param::Side(side)]);
        let mut fitness = SideFitness { certain: None, uncertain: None, distance: u32::MAX, reason };
        let mut selectors = self.list(list).peekable();
        let Some((item, parts)) = self.item().zip(parts) else {
            // Nobody asked, or the kind does not look at this side: what has a selector is not restricted here.
            if selectors.peek().is_some() {
                fitness = SideFitness { certain: Some(Specificity::default()), distance: 0, ..fitness };
            }
            return fitness;
        };
        let mut best = [(0, (0, 0)); 2];
        let mut nearest = None;
        for (wants, specificity, packed) in selectors {
            let rank = (packed, specificity.fullness());
            for part in parts {
                let (distance, found) = one(wants, part, item.sees.as_deref(), side);
                let [best_certain, best_uncertain] = &mut best;
                match found {
                    Found::Yes if fitness.certain.is_none() || rank > *best_certain => {
                        *best_certain = rank;
                        fitness.certain = Some(specificity);
                    }
                    Found::Unknown(_) if fitness.uncertain.is_none() || rank > *best_uncertain => {
                        *best_uncertain = rank;
                        fitness.uncertain = Some(specificity);
                    }
                    _ => {}
                }
                if distance < fitness.distance
                    && let Found::No(reason) | Found::Unknown(reason) = found
                {
                    fitness.distance = distance;
                    fitness.reason = reason;
                    nearest = Some(wants);
                }
            }
        }
        if fitness.certain.is_some() {
            fitness.distance = 0;
        } else if let Some(wants) = nearest.filter(|_| fitness.uncertain.is_none()) {
            fitness.reason = of_all_parts(fitness.reason, wants, parts, item.sees.as_deref(), side);
        }
        fitness
    }
}

impl SideFitness {
    /// Both sides together; `pack` ranks.
    pub(super) fn and(self, other: Self, pack: impl Fn(Specificity) -> u64) -> Fitness {
        let certain = self.certain.zip(other.certain).map(|(mine, theirs)| mine.plus(theirs));
        let best = |side: &Self| match (side.certain, side.uncertain) {
            (Some(certain), Some(uncertain)) if pack(uncertain) > pack(certain) => Some(uncertain),
            (Some(certain), _) => Some(certain),
            (None, uncertain) => uncertain,
        };
        // An uncertain hit matters only where it ranks above the certain one.
        let uncertain = best(&self)
            .zip(best(&other))
            .map(|(mine, theirs)| mine.plus(theirs))
            .filter(|measure| certain.is_none_or(|certain| pack(*measure) > pack(certain)));
        let fails = |side: &Self| side.certain.is_none() && side.uncertain.is_none();
        let reason = match (fails(&self), fails(&other)) {
            (true, _) => self.reason,
            (_, true) => other.reason,
            _ if self.certain.is_none() || (self.uncertain.is_some() && other.uncertain.is_none()) => self.reason,
            _ => other.reason,
        };
        Fitness { certain, uncertain, distance: self.distance.saturating_add(other.distance), reason }
    }
}

impl Fitness {
    pub(super) fn matches(&self) -> bool {
        self.certain.is_some() || self.uncertain.is_some()
    }

    pub(super) fn fits(&self) -> impl Iterator<Item = Fit<Specificity>> {
        self.certain.map(Fit::Yes).into_iter().chain(self.uncertain.map(Fit::Unknown))
    }
}
