//! The acts. Each keeps track of who is in the value and who lost to whom.

use std::sync::Arc;

use upheld_model::config::{Config, Content};

use super::combine;
use super::origins::united;
use super::rules::{Act, Meeting};

/// The value of one field.
#[derive(Clone, Debug, PartialEq)]
pub struct Joined {
    /// The value.
    pub value: Arc<Config>,
    /// Who is in it, in ascending order. Never empty.
    pub origins: Vec<usize>,
    /// Who said something and is not in it, in the order in which they lost.
    pub over: Vec<Beaten>,
    /// What those said that took part, in the order of folding.
    pub parts: Vec<Part>,
}

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
    /// To whom it lost, in ascending order.
    pub under: Vec<usize>,
}

/// Which of two sides is preferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Preferred {
    Acc,
    New,
}

/// Joins something new to what was accumulated.
pub(super) fn join(act: Act, meeting: &Meeting, acc: Joined, new: Joined) -> Joined {
    let preferred = match act {
        Act::Keep => return keep(acc, new),
        Act::Take => return keep(new, acc),
        Act::AccOver => Preferred::Acc,
        Act::NewOver => Preferred::New,
    };
    match meeting {
        Meeting::Plain => prefer(preferred, acc, new),
        Meeting::Cumulative => cumulate(acc, new),
        Meeting::Deep(combiner) => combine::combine(combiner, preferred, acc, new),
    }
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
        Preferred::Acc => keep(acc, new),
        Preferred::New => keep(new, acc),
    }
}

/// One of two.
pub(super) fn keep(winner: Joined, loser: Joined) -> Joined {
    let mut kept = winner;
    kept.lose(loser);
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

impl Joined {
    pub(super) fn alone(by: usize, value: Arc<Config>) -> Self {
        Self { value: value.clone(), origins: vec![by], over: Vec::new(), parts: vec![Part { by, value }] }
    }

    /// All of the other side loses to this one.
    pub(super) fn lose(&mut self, loser: Self) {
        let under = self.origins.clone();
        let beaten = |part: Part| Beaten { by: part.by, value: part.value, under: under.clone() };
        // What already lost there stays lost; parts that were not in the value either are listed among them already.
        let listed: Vec<usize> = loser.over.iter().map(|beaten| beaten.by).collect();
        self.over.extend(loser.over);
        self.over.extend(loser.parts.into_iter().filter(|part| !listed.contains(&part.by)).map(beaten));
    }
}
