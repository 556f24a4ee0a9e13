//! The acts. Each keeps track of who is in the value and who lost to whom.

use std::sync::Arc;

use rustc_hash::FxHashSet;
use smallvec::{SmallVec, smallvec};
use upheld_model::MergeAction;
use upheld_model::config::{Config, Content};

use super::combine;
use super::origins::united;
use super::rules::FieldMerge;
use crate::hierarchy::answer::{Contributors, Exception};

/// The value of one field.
#[derive(Clone, Debug, PartialEq)]
pub struct Joined {
    /// The value.
    pub value: Arc<Config>,
    /// Who is in it, in ascending order. Never empty.
    pub origins: Contributors,
    /// Who said something and is not in it, in the order in which they lost.
    pub over: Vec<Beaten>,
    /// What those said that took part, in the order of folding.
    pub parts: Parts,
}

/// What layers said. Most fields are set by one.
pub type Parts = SmallVec<[Part; 1]>;

/// What one layer said.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Who said it.
    pub by: usize,
    /// What.
    pub value: Arc<Config>,
}

/// What one layer said in vain.
#[derive(Clone, Debug, PartialEq)]
pub struct Beaten {
    /// Who said it.
    pub by: usize,
    /// What.
    pub value: Arc<Config>,
    /// To whom it lost, in ascending order. Those who lost to the same ones share the list.
    pub under: Arc<[usize]>,
    /// What let them win against the order of things.
    pub exception: Exception,
}

/// Which of two sides is preferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Preferred {
    Acc,
    New,
}

/// Joins something new to what was accumulated.
pub(super) fn join(act: MergeAction, meeting: &FieldMerge, acc: Joined, new: Joined, exception: Exception) -> Joined {
    let preferred = match act {
        MergeAction::Keep => return keep(acc, new, exception),
        MergeAction::Take => return keep(new, acc, exception),
        MergeAction::KeepOver => Preferred::Acc,
        MergeAction::TakeOver => Preferred::New,
    };
    match meeting {
        FieldMerge::Plain => prefer(preferred, acc, new),
        FieldMerge::Cumulative => cumulate(acc, new),
        FieldMerge::Deep(combiner) => combine::combine(combiner, preferred, acc, new),
    }
}

/// What layers of one level say about a field, the best first. The same as joining each to those before it, without going
/// through all of those again each time: a level may have thousands of layers. `None` if nobody says anything.
pub(super) fn join_all(act: MergeAction, meeting: &FieldMerge, parts: Parts) -> Option<Joined> {
    match (act, meeting) {
        (MergeAction::Keep, _) | (MergeAction::KeepOver, FieldMerge::Plain) => first_of(meeting, parts),
        (MergeAction::Take, _) | (MergeAction::TakeOver, FieldMerge::Plain) => last_of(meeting, parts),
        (MergeAction::KeepOver | MergeAction::TakeOver, FieldMerge::Cumulative) => {
            let items = parts.iter().flat_map(|part| part.value.items()).cloned().collect();
            together(parts, |_| Config::made(Content::List(items)))
        }
        (MergeAction::KeepOver, FieldMerge::Deep(combiner)) => combine::combine_all(combiner, parts),
        (MergeAction::TakeOver, FieldMerge::Deep(_)) => join_each(act, meeting, parts),
    }
}

/// The first one; all others lost to it.
fn first_of(meeting: &FieldMerge, parts: Parts) -> Option<Joined> {
    let mut parts = parts.into_iter();
    let first = parts.next()?;
    let under: Arc<[usize]> = [first.by].into();
    let mut kept = alone(meeting, first.by, first.value);
    kept.over.extend(parts.map(|part| part.beaten(&under, Exception::None)));
    Some(kept)
}

/// The last one; each of the others lost to the one after it.
fn last_of(meeting: &FieldMerge, mut parts: Parts) -> Option<Joined> {
    let last = parts.pop()?;
    let next: Vec<usize> = parts.iter().skip(1).map(|part| part.by).chain([last.by]).collect();
    let mut taken = alone(meeting, last.by, last.value);
    taken.over.extend(parts.into_iter().zip(next).map(|(part, by)| part.beaten(&[by].into(), Exception::None)));
    Some(taken)
}

/// One after the other.
pub(super) fn join_each(act: MergeAction, meeting: &FieldMerge, parts: Parts) -> Option<Joined> {
    let all = parts.into_iter().map(|part| alone(meeting, part.by, part.value));
    all.reduce(|acc, new| join(act, meeting, acc, new, Exception::None))
}

/// A value that all of them are in. What a single one says is left as it is.
pub(super) fn together(parts: Parts, value: impl FnOnce(&[Part]) -> Arc<Config>) -> Option<Joined> {
    let value = match parts.as_slice() {
        [] => return None,
        [only] => only.value.clone(),
        several => value(several),
    };
    let origins: Contributors = parts.iter().map(|part| part.by).collect();
    Some(Joined { value, origins: united(&[], &origins), over: Vec::new(), parts })
}

/// What one layer says about a field, before it meets anything.
pub(super) fn alone(meeting: &FieldMerge, by: usize, value: Arc<Config>) -> Joined {
    match meeting {
        FieldMerge::Deep(combiner) => combine::alone(combiner, by, value),
        FieldMerge::Plain | FieldMerge::Cumulative => Joined::alone(by, value),
    }
}

/// The preferred side alone.
pub(super) fn prefer(preferred: Preferred, acc: Joined, new: Joined) -> Joined {
    match preferred {
        Preferred::Acc => keep(acc, new, Exception::None),
        Preferred::New => keep(new, acc, Exception::None),
    }
}

/// One of two.
pub(super) fn keep(winner: Joined, loser: Joined, exception: Exception) -> Joined {
    let mut kept = winner;
    kept.lose(loser, exception);
    kept
}

fn cumulate(acc: Joined, new: Joined) -> Joined {
    let items = acc.value.items().iter().chain(new.value.items()).cloned().collect();
    united_as(Config::made(Content::List(items)), acc, new)
}

/// A value that both sides are in.
pub(super) fn united_as(value: Arc<Config>, acc: Joined, new: Joined) -> Joined {
    let mut both = acc;
    both.value = value;
    both.origins = united(&both.origins, &new.origins);
    both.over.extend(new.over);
    both.parts.extend(new.parts);
    both
}

impl Part {
    fn beaten(self, under: &Arc<[usize]>, exception: Exception) -> Beaten {
        Beaten { by: self.by, value: self.value, under: under.clone(), exception }
    }
}

impl Joined {
    pub(super) fn alone(by: usize, value: Arc<Config>) -> Self {
        Self { value: value.clone(), origins: smallvec![by], over: Vec::new(), parts: smallvec![Part { by, value }] }
    }

    /// All of the other side loses to this one.
    pub(super) fn lose(&mut self, loser: Self, exception: Exception) {
        let under: Arc<[usize]> = self.origins.as_slice().into();
        // What already lost there stays lost; parts that were not in the value either are listed among them already.
        let listed: FxHashSet<usize> = loser.over.iter().map(|beaten| beaten.by).collect();
        self.over.extend(loser.over);
        let parts = loser.parts.into_iter().filter(|part| !listed.contains(&part.by));
        self.over.extend(parts.map(|part| part.beaten(&under, exception)));
    }
}
