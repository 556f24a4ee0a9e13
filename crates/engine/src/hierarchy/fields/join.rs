//! The acts. Each keeps track of who is in the value and who lost to whom.

use std::sync::Arc;

use rustc_hash::FxHashSet;
use smallvec::{SmallVec, smallvec};
use upheld_model::Act;
use upheld_model::config::{Config, Content};

use super::combine;
use super::origins::united;
use super::rules::Meeting;
use crate::hierarchy::answer::{Despite, Speakers};

/// The value of one field.
#[derive(Clone, Debug, PartialEq)]
pub struct Joined {
    /// The value.
    pub value: Arc<Config>,
    /// Who is in it, in ascending order. Never empty.
    pub origins: Speakers,
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
    pub despite: Despite,
}

/// Which of two sides is preferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Preferred {
    Acc,
    New,
}

/// Joins something new to what was accumulated.
pub(super) fn join(act: Act, meeting: &Meeting, acc: Joined, new: Joined, despite: Despite) -> Joined {
    let preferred = match act {
        Act::Keep => return keep(acc, new, despite),
        Act::Take => return keep(new, acc, despite),
        Act::KeepOver => Preferred::Acc,
        Act::TakeOver => Preferred::New,
    };
    match meeting {
        Meeting::Plain => prefer(preferred, acc, new),
        Meeting::Cumulative => cumulate(acc, new),
        Meeting::Deep(combiner) => combine::combine(combiner, preferred, acc, new),
    }
}

/// What layers of one level say about a field, the best first. The same as joining each to those before it, without going
/// through all of those again each time: a level may have thousands of layers. `None` if nobody says anything.
pub(super) fn join_all(act: Act, meeting: &Meeting, parts: Parts) -> Option<Joined> {
    match (act, meeting) {
        (Act::Keep, _) | (Act::KeepOver, Meeting::Plain) => first_of(meeting, parts),
        (Act::Take, _) | (Act::TakeOver, Meeting::Plain) => last_of(meeting, parts),
        (Act::KeepOver | Act::TakeOver, Meeting::Cumulative) => {
            let items = parts.iter().flat_map(|part| part.value.items()).cloned().collect();
            together(parts, |_| Config::made(Content::List(items)))
        }
        (Act::KeepOver, Meeting::Deep(combiner)) => combine::combine_all(combiner, parts),
        (Act::TakeOver, Meeting::Deep(_)) => join_each(act, meeting, parts),
    }
}

/// The first one; all others lost to it.
fn first_of(meeting: &Meeting, parts: Parts) -> Option<Joined> {
    let mut parts = parts.into_iter();
    let first = parts.next()?;
    let under: Arc<[usize]> = [first.by].into();
    let mut kept = alone(meeting, first.by, first.value);
    kept.over.extend(parts.map(|part| part.beaten(&under, Despite::Nothing)));
    Some(kept)
}

/// The last one; each of the others lost to the one after it.
fn last_of(meeting: &Meeting, mut parts: Parts) -> Option<Joined> {
    let last = parts.pop()?;
    let next: Vec<usize> = parts.iter().skip(1).map(|part| part.by).chain([last.by]).collect();
    let mut taken = alone(meeting, last.by, last.value);
    taken.over.extend(parts.into_iter().zip(next).map(|(part, by)| part.beaten(&[by].into(), Despite::Nothing)));
    Some(taken)
}

/// One after the other.
pub(super) fn join_each(act: Act, meeting: &Meeting, parts: Parts) -> Option<Joined> {
    let all = parts.into_iter().map(|part| alone(meeting, part.by, part.value));
    all.reduce(|acc, new| join(act, meeting, acc, new, Despite::Nothing))
}

/// A value that all of them are in. What a single one says is left as it is.
pub(super) fn together(parts: Parts, value: impl FnOnce(&[Part]) -> Arc<Config>) -> Option<Joined> {
    let value = match parts.as_slice() {
        [] => return None,
        [only] => only.value.clone(),
        several => value(several),
    };
    let origins: Speakers = parts.iter().map(|part| part.by).collect();
    Some(Joined { value, origins: united(&[], &origins), over: Vec::new(), parts })
}

/// What one layer says about a field, before it meets anything.
pub(super) fn alone(meeting: &Meeting, by: usize, value: Arc<Config>) -> Joined {
    match meeting {
        Meeting::Deep(combiner) => combine::alone(combiner, by, value),
        Meeting::Plain | Meeting::Cumulative => Joined::alone(by, value),
    }
}

/// The preferred side alone.
pub(super) fn prefer(preferred: Preferred, acc: Joined, new: Joined) -> Joined {
    match preferred {
        Preferred::Acc => keep(acc, new, Despite::Nothing),
        Preferred::New => keep(new, acc, Despite::Nothing),
    }
}

/// One of two.
pub(super) fn keep(winner: Joined, loser: Joined, despite: Despite) -> Joined {
    let mut kept = winner;
    kept.lose(loser, despite);
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
    fn beaten(self, under: &Arc<[usize]>, despite: Despite) -> Beaten {
        Beaten { by: self.by, value: self.value, under: under.clone(), despite }
    }
}

impl Joined {
    pub(super) fn alone(by: usize, value: Arc<Config>) -> Self {
        Self { value: value.clone(), origins: smallvec![by], over: Vec::new(), parts: smallvec![Part { by, value }] }
    }

    /// All of the other side loses to this one.
    pub(super) fn lose(&mut self, loser: Self, despite: Despite) {
        let under: Arc<[usize]> = self.origins.as_slice().into();
        // What already lost there stays lost; parts that were not in the value either are listed among them already.
        let listed: FxHashSet<usize> = loser.over.iter().map(|beaten| beaten.by).collect();
        self.over.extend(loser.over);
        let parts = loser.parts.into_iter().filter(|part| !listed.contains(&part.by));
        self.over.extend(parts.map(|part| part.beaten(&under, despite)));
    }
}
