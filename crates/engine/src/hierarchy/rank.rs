//! The order of folding: the place first, then what the entry brings.
//!
//! Every column is a key, a number or a text, so every ladder is a total preorder that a document can name. Where layers
//! override, they may want to be read from the other end ([`RankDirection`]).

use std::cmp::Ordering;

use upheld_model::{Code, MergeAction, Param, Reason, Sym, Timestamp};

use super::index::{Attachment, Entry, Hierarchy};
use super::question::{EntrySource, Question, Site};
use crate::ask::Hit;
use crate::kind::HierarchyFold;
use crate::ladder::{self, Best, Rung};

/// What a rung of this family reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Column {
    /// How near the place is.
    Scope,
    /// How many steps above the target the place is.
    Level,
    /// Whether the place refers to the entry (0), or the entry to the place (1).
    Reference,
    /// The number among those that a place refers to.
    Position,
    /// How specific the place is within its level.
    Section,
    /// Whether the layer overrides (0) or gives defaults (1).
    Side,
    /// How much the policy weighs.
    Weight,
    /// A whole number of the policy; absent is after all others.
    Number(Sym),
    /// When it was created; unknown is after all others: what is not there yet will be the newest.
    Created,
    /// The namespace, by its text.
    Namespace,
    /// The name, by its text.
    Name,
    /// Which layer of the policy.
    Layer,
    /// Namespace, name and section as one text.
    Identity,
}

impl ladder::Column for Column {
    const IDENTITY: Self = Self::Identity;

    /// The reason that a difference gives, by the end at which the winner stands.
    fn code(self, end: Best) -> Code {
        match (self, end) {
            (Self::Scope, _) => Code::MergeScope,
            (Self::Level, _) => Code::MergeLevel,
            (Self::Reference, _) => Code::MergeAttachment,
            (Self::Position, Best::Lowest) => Code::MergePosition,
            (Self::Position, Best::Highest) => Code::MergeLastPosition,
            (Self::Section, _) => Code::MergeSection,
            (Self::Side, _) => Code::MergeOverrides,
            (Self::Weight, _) => Code::MergeWeight,
            (Self::Number(_), Best::Highest) => Code::MergeHigherNumber,
            (Self::Number(_), Best::Lowest) => Code::MergeLowerNumber,
            (Self::Created, Best::Lowest) => Code::MergeOlder,
            (Self::Created, Best::Highest) => Code::MergeNewer,
            (Self::Namespace | Self::Name | Self::Identity, Best::Lowest) => Code::MergeIdentity,
            (Self::Namespace | Self::Name | Self::Identity, Best::Highest) => Code::MergeLastIdentity,
            (Self::Layer, _) => Code::MergeLaterItem,
        }
    }

    fn arbitrary(self) -> bool {
        matches!(self, Self::Namespace | Self::Name | Self::Identity | Self::Layer)
    }
}

/// From which end the rungs below [`Column::Side`] are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RankDirection {
    /// As the ladder says.
    #[default]
    AsRanked,
    /// As the ladder says for defaults, from the other end for overrides: the one that would lose defaults wins overrides. Both
    /// are told apart by the rung above, so the order stays one.
    BySide,
}

/// Where two hits differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Separation {
    /// The rung, from zero.
    pub rung: usize,
    /// What it reads.
    pub column: Column,
    /// Less if the first one comes first in the order of folding.
    pub order: Ordering,
}

/// A hit with what ranking reads of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ranked<'h> {
    pub(super) site: &'h Site<'h>,
    pub(super) attachment: Attachment,
    /// Nothing for what a target says itself.
    pub(super) entry: Option<&'h Entry>,
}

impl Hierarchy {
    pub(super) fn ranked<'h>(&'h self, question: &Question<'h>, hit: &Hit<Attachment>) -> Option<Ranked<'h>> {
        let site = question.site(hit.place.0 as usize)?;
        Some(Ranked { site, attachment: hit.measure, entry: self.entry(hit.entry) })
    }

    /// The first rung on which two hits differ.
    pub(super) fn separate(&self, one: &Ranked<'_>, other: &Ranked<'_>) -> Option<Separation> {
        let mut rungs = self.kind.rank.rungs().iter().enumerate();
        rungs.find_map(|(number, rung)| {
            let order = self.compare_on(number, *rung, one, other);
            order.is_ne().then_some(Separation { rung: number, column: rung.column, order })
        })
    }

    /// Less if the first one comes first in the order of folding.
    pub(super) fn compare(&self, one: &Ranked<'_>, other: &Ranked<'_>) -> Ordering {
        self.separate(one, other).map_or(Ordering::Equal, |separation| separation.order)
    }

    fn compare_on(&self, number: usize, rung: Rung<Column>, one: &Ranked<'_>, other: &Ranked<'_>) -> Ordering {
        let ascending = one.compare(other, rung.column);
        let ordered = match rung.best {
            // Who has no number comes last at either end.
            _ if one.lacks(rung.column) != other.lacks(rung.column) => {
                one.lacks(rung.column).cmp(&other.lacks(rung.column))
            }
            Best::Lowest => ascending,
            Best::Highest => ascending.reverse(),
        };
        let below = || self.kind.rank.position(Column::Side).is_some_and(|side| side < number);
        let turned = self.kind.ends == RankDirection::BySide && one.overrides() && other.overrides() && below();
        if turned { ordered.reverse() } else { ordered }
    }

    /// Why the winner beat the loser: the rung on which they differ, told from the loser's side or from the winner's.
    pub(super) fn reason(
        &self,
        question: &Question<'_>,
        winner: &Ranked<'_>,
        loser: &Ranked<'_>,
        perspective: Perspective,
    ) -> Reason {
        let (mine, theirs) = match perspective {
            Perspective::Winner => (winner, loser),
            Perspective::Loser => (loser, winner),
        };
        let Some(Separation { rung, column, order }) = self.separate(winner, loser) else {
            return Reason::new(Code::MergeIdentity, &theirs.title());
        };
        let best = self.kind.rank.rungs().get(rung).map_or(Best::Lowest, |rung| rung.best);
        let end = match winner.compare(loser, column) {
            _ if winner.lacks(column) || loser.lacks(column) => best,
            Ordering::Less => Best::Lowest,
            Ordering::Equal | Ordering::Greater => Best::Highest,
        };
        let code = ladder::Column::code(column, end);
        let scope = |ranked: &Ranked<'_>| {
            self.kind.scopes.get(usize::from(ranked.site.scope)).copied().map_or(Param::Nothing, Param::Text)
        };
        let whole = matches!(self.kind.fold, HierarchyFold::Wholes(_));
        match column {
            // The wider one wins although it comes later: because it overrides.
            Column::Scope | Column::Level if whole && order.is_gt() => {
                Reason::new(Code::MergeFromAbove, &[scope(mine), scope(theirs)])
            }
            Column::Scope if winner.entry.is_none() => Reason::new(Code::MergeBuiltIn, &[]),
            Column::Scope => Reason::new(code, &[scope(mine), scope(theirs)]),
            Column::Level => {
                let wider = if winner.site.level > loser.site.level { winner } else { loser };
                let by = question.level(wider.site.level).word.map_or(Param::Nothing, Param::Text);
                let steps = |ranked: &Ranked<'_>| Param::Number(ranked.site.level.into());
                Reason::new(code, &[steps(mine), steps(theirs), by])
            }
            Column::Position => {
                let number = |ranked: &Ranked<'_>| Param::Number(i64::from(ranked.attachment.position) + 1);
                Reason::new(code, &[number(mine), number(theirs)])
            }
            Column::Weight => {
                let weight = |ranked: &Ranked<'_>| Param::Number(ranked.weight());
                Reason::new(code, &[weight(mine), weight(theirs)])
            }
            Column::Number(name) => {
                let number = |ranked: &Ranked<'_>| ranked.number(name).map_or(Param::Nothing, Param::Number);
                Reason::new(code, &[number(mine), number(theirs), Param::Text(name)])
            }
            Column::Created => Reason::new(code, &[Param::Time(mine.created()), Param::Time(theirs.created())]),
            Column::Namespace | Column::Name | Column::Identity => Reason::new(code, &theirs.title()),
            Column::Reference | Column::Section | Column::Side | Column::Layer => Reason::new(code, &[]),
        }
    }
}

/// From whose side a reason is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Perspective {
    Winner,
    Loser,
}

impl Ranked<'_> {
    /// By one column, the lower key first.
    fn compare(&self, other: &Self, column: Column) -> Ordering {
        match column {
            Column::Scope => self.site.scope.cmp(&other.site.scope),
            Column::Level => self.site.level.cmp(&other.site.level),
            Column::Reference => self.refers().cmp(&other.refers()),
            Column::Position => self.attachment.position.cmp(&other.attachment.position),
            Column::Section => self.site.section.cmp(&other.site.section),
            Column::Side => other.overrides().cmp(&self.overrides()),
            Column::Weight => self.weight().cmp(&other.weight()),
            Column::Number(name) => self.number(name).cmp(&other.number(name)),
            Column::Created => self.age().cmp(&other.age()),
            Column::Namespace => self.namespace().cmp(other.namespace()),
            Column::Name => self.name().cmp(other.name()),
            Column::Layer => self.layer().cmp(&other.layer()),
            Column::Identity => self.identity().cmp(other.identity()),
        }
    }

    /// Whether it has nothing that the column could read.
    fn lacks(&self, column: Column) -> bool {
        matches!(column, Column::Number(name) if self.number(name).is_none())
    }

    fn weight(&self) -> i64 {
        self.entry.map_or(0, |entry| entry.attachments.weight)
    }

    /// 0 if the place refers to it, else 1.
    fn refers(&self) -> u8 {
        match self.site.looks {
            EntrySource::Listed(_) | EntrySource::Own(_) => 0,
            EntrySource::Object { .. } => 1,
        }
    }

    /// Whether its layer wins over what is nearer.
    pub(super) fn overrides(&self) -> bool {
        let meets = self.entry.and_then(Entry::says).and_then(|layer| layer.meets);
        meets.is_some_and(|meets| matches!(meets.act, MergeAction::Take | MergeAction::TakeOver))
    }

    fn number(&self, name: Sym) -> Option<i64> {
        self.entry.and_then(|entry| entry.number(name))
    }

    /// When it was created, whatever has no time last.
    fn age(&self) -> (bool, Option<Timestamp>) {
        (self.created().is_none(), self.created())
    }

    fn created(&self) -> Option<Timestamp> {
        self.entry.and_then(|entry| entry.created)
    }

    fn layer(&self) -> u16 {
        self.entry.map_or(0, |entry| entry.layer)
    }

    fn text(&self) -> &str {
        self.entry.map_or("", |entry| entry.identity.as_str())
    }

    fn namespace(&self) -> &str {
        self.text().split_once('/').map_or("", |(namespace, _)| namespace)
    }

    fn name(&self) -> &str {
        self.text().split_once('/').map_or("", |(_, name)| name)
    }

    /// `namespace/name`, with `/section` where a section is meant.
    fn identity(&self) -> impl Iterator<Item = u8> {
        let section = match self.site.looks {
            EntrySource::Object { section, .. } => section.map(|section| section.text),
            EntrySource::Listed(_) | EntrySource::Own(_) => None,
        };
        let slash = section.map(|_| b'/');
        self.text().bytes().chain(slash).chain(section.unwrap_or_default().bytes())
    }

    /// How the other one is called in a reason.
    fn title(&self) -> [Param; 2] {
        self.entry.map_or([Param::Nothing; 2], |entry| [Param::Text(entry.name), Param::Text(entry.namespace)])
    }
}
