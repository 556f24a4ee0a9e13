//! What holds at a target: fields with their origins, and who lost them to whom.

use std::ops::Range;
use std::sync::Arc;

use smallvec::SmallVec;
use smol_str::SmolStr;
use upheld_model::{Code, Config, Param, Reason};

use super::fields::Folded;
use super::index::{Attachment, Hierarchy};
use super::question::Question;
use super::rank::{Perspective, Separation};
use crate::ask::{EntryId, Hit, Place};
use crate::merge::Merged;

/// What holds at a target. Numbers in it are places in [`Effective::order`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Effective {
    /// Everything that was folded, in the order of folding.
    pub order: Vec<Member>,
    /// What holds in each scope by itself, the nearest first; for kinds with named fields.
    pub scopes: Vec<InScope>,
    /// The configuration as a whole; for kinds without named fields.
    pub merged: Option<Merged>,
    /// What holds, by name.
    pub fields: Vec<Field>,
    /// What would hold if it meant something at this target, by name.
    pub omitted: Vec<Field>,
    /// What lost as a whole.
    pub hidden: Vec<Lost>,
    /// Who is broken. With any, nothing holds.
    pub broken: Vec<usize>,
}

/// What holds in one scope by itself.
#[derive(Clone, Debug, PartialEq)]
pub struct InScope {
    /// The scope.
    pub scope: u8,
    /// Those that were folded there: places in [`Effective::order`].
    pub members: Range<usize>,
    /// What they come to.
    pub folded: Folded,
}

/// Who says something, in ascending order: places in [`Effective::order`]. Most things are said by one.
pub type Contributors = SmallVec<[usize; 2]>;

/// Something that was folded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    /// The entry; after all entries, what a target says itself.
    pub entry: EntryId,
    /// Where it sits.
    pub place: Place,
    /// How it came there.
    pub attachment: Attachment,
}

impl Member {
    fn hit(self) -> Hit<Attachment> {
        Hit { entry: self.entry, place: self.place, certain: true, measure: self.attachment }
    }
}

/// A field that somebody sets.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Its name.
    pub name: SmolStr,
    /// Which part of it, where several can hold side by side.
    pub part: Option<SmolStr>,
    /// Its value; `None` where it was removed.
    pub value: Option<Arc<Config>>,
    /// Who is in it, in ascending order. Never empty.
    pub by: Contributors,
    /// Who set it in vain.
    pub lost: Vec<Lost>,
}

/// What somebody set in vain.
#[derive(Clone, Debug, PartialEq)]
pub struct Lost {
    /// Who.
    pub by: usize,
    /// What.
    pub value: Arc<Config>,
    /// To whom it lost.
    pub to: usize,
    /// Which rule let the winner win although the order of folding, or what a level says, would prefer the loser.
    pub exception: Exception,
}

/// Whether the winner is the one that the names of things promise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Exception {
    /// It is.
    #[default]
    None,
    /// A level prefers the other side, but only in fields that can be combined.
    Plain,
    /// It turns everything off.
    Off,
    /// It says the same thing first, so that saying it again counts for nothing.
    Known,
}

impl Field {
    /// `name` or `name.part`.
    pub fn title(&self) -> String {
        match &self.part {
            Some(part) => format!("{}.{part}", self.name),
            None => self.name.to_string(),
        }
    }
}

impl Effective {
    /// Who has a part in what holds, in ascending order.
    pub fn contributors(&self) -> Vec<usize> {
        let whole = self.merged.iter().flat_map(Merged::contributors);
        let mut all: Vec<usize> = self.fields.iter().flat_map(|field| field.by.iter().copied()).chain(whole).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Everything that somebody lost: field by field, then as a whole.
    pub fn losses(&self) -> impl Iterator<Item = (Option<&Field>, &Lost)> {
        let of_fields = self.fields.iter().flat_map(|field| field.lost.iter().map(move |lost| (Some(field), lost)));
        of_fields.chain(self.hidden.iter().map(|lost| (None, lost)))
    }
}

impl Hierarchy {
    /// Why a field holds.
    pub fn why_holds(&self, question: &Question<'_>, answer: &Effective, field: &Field) -> Reason {
        let hidden = || answer.hidden.iter().filter(|lost| says(&lost.value, &field.name));
        let beaten = field.lost.iter().min_by_key(|lost| lost.by).or_else(|| hidden().min_by_key(|lost| lost.by));
        match (field.by.as_slice(), beaten) {
            ([winner], Some(lost)) => {
                self.because(question, answer, *winner, lost.by, lost.exception, Perspective::Winner)
            }
            ([_], None) => Reason::new(Code::MergeUncontested, &[]),
            (several, _) => {
                let count = i64::try_from(several.len()).unwrap_or(i64::MAX);
                Reason::new(Code::MergeCombined, &[Param::Number(count)])
            }
        }
    }

    /// Why something was lost.
    pub fn why_lost(&self, question: &Question<'_>, answer: &Effective, lost: &Lost) -> Reason {
        self.because(question, answer, lost.to, lost.by, lost.exception, Perspective::Loser)
    }

    /// The rung on which two that were folded differ.
    pub fn separation(
        &self,
        question: &Question<'_>,
        answer: &Effective,
        one: usize,
        other: usize,
    ) -> Option<Separation> {
        let ranked = |place: usize| self.ranked(question, &answer.order.get(place)?.hit());
        self.separate(&ranked(one)?, &ranked(other)?)
    }

    pub(super) fn because(
        &self,
        question: &Question<'_>,
        answer: &Effective,
        winner: usize,
        loser: usize,
        exception: Exception,
        perspective: Perspective,
    ) -> Reason {
        let ranked = |place: usize| self.ranked(question, &answer.order.get(place)?.hit());
        let (Some(winner), Some(loser)) = (ranked(winner), ranked(loser)) else {
            return Reason::new(Code::MergeIdentity, &[]);
        };
        let reason = self.reason(question, &winner, &loser, perspective);
        match (exception, reason.code) {
            (Exception::Plain, Code::MergeLevel) => Reason { code: Code::MergePlainField, ..reason },
            (Exception::Off, _) => Reason::new(Code::MergeSwitchedOff, &[]),
            (Exception::Known, Code::MergeLevel) => Reason::new(Code::MergeKnown, &[]),
            _ => reason,
        }
    }
}

/// Whether a configuration has something at a path.
fn says(config: &Config, path: &str) -> bool {
    config.entries().iter().any(|(key, value)| match path.strip_prefix(key.as_str()) {
        Some("") => true,
        Some(rest) => rest.strip_prefix('.').is_some_and(|rest| says(value, rest)),
        None => false,
    })
}
