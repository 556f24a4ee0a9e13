//! What must and may be done along with a decision.

use super::{Decide, DecideScratch, Measure, Outcome};
use crate::ask::{EntryId, Hit};
use crate::decide::path::Readings;
use crate::decide::request::{Path, Request};
use crate::decide::rule::{Binding, Duty};
use crate::decide::tally::Tally;
use crate::decide::value::{Effect, Unknowns, Value};

impl Decide {
    /// What must and may be done along with the decision on a request, given all that matched.
    ///
    /// A permit must not open without an obligation that may belong to it, so obligations of policies that may apply come along.
    pub fn duties(&self, request: &Request, hits: &[Hit<Measure>]) -> Vec<(&Duty, Option<EntryId>)> {
        let mut duties = Vec::new();
        if !self.duties {
            return duties;
        }
        let (mut scratch, mut open) = (DecideScratch::default(), DecideScratch::default());
        let mut room = Readings::default();
        let asked = self.asked(request, &mut room);
        let (root, about) = self.fold(asked, &mut scratch, hits, self.algorithm());
        let mut decided = self.decided(root, about);
        if decided.outcome == Outcome::Permit && matches!(asked.path, Path::Unknown) {
            let (root, about) = self.fold_with_doubts(asked, &mut scratch, hits);
            decided = self.decided(root, about);
        }
        let effect = match decided.outcome {
            Outcome::Permit => Effect::Permit,
            Outcome::Deny => Effect::Deny,
            Outcome::Undecided | Outcome::Foreign => return duties,
        };
        let openly = |_, tally: &Tally, algorithm| tally.combine_openly(algorithm, self.unknowns);
        self.fold_with(asked, &mut open, hits, self.algorithm(), |_| None, openly);
        // What only comes of doubts is not sure, whatever it is: behind it, others are asked.
        let perhaps = |open: Value| self.says(open, effect).map(|_| Says::Perhaps);
        let both = scratch.said.iter().zip(&open.said);
        let said: Vec<Option<Says>> =
            both.map(|(said, open)| self.says(said.value, effect).or_else(|| perhaps(open.value))).collect();
        if let Some(own) = said.first().copied().flatten() {
            self.duties_of_set((0, own), effect, &said, hits, &mut duties);
        }
        duties
    }

    fn duties_of_set<'d>(
        &'d self,
        (number, own): (u32, Says),
        effect: Effect,
        said: &[Option<Says>],
        hits: &[Hit<Measure>],
        duties: &mut Vec<(&'d Duty, Option<EntryId>)>,
    ) {
        let Some(set) = self.sets.get(number as usize) else { return };
        duties.extend(set.duties.iter().filter(|duty| own.brings(duty, effect)).map(|duty| (duty, None)));
        // Of the members, those that were asked: all, or none after the one that decides.
        let mut members: Vec<(u32, Says, MemberRef)> = Vec::new();
        for hit in hits {
            if let (Some(head), Some(rule)) = (self.head(hit.entry), self.rule(hit.entry))
                && head.set == number
                && let Some(says) = self.says(Value::of(rule.effect, hit.measure.applies()), effect)
            {
                members.push((self.order_of_rule(hit.entry), says.in_set(own), MemberRef::Rule(hit.entry)));
            }
        }
        for ((child, node), says) in (0..).zip(&self.nodes).zip(said) {
            if node.parent == Some(number)
                && let Some(says) = *says
            {
                members.push((self.order_of_set(child as usize), says.in_set(own), MemberRef::Set(child)));
            }
        }
        members.sort_unstable_by_key(|(order, ..)| *order);
        if set.algorithm.stops_at(effect) {
            let last = members.iter().position(|(_, says, _)| *says == Says::Surely);
            members.truncate(last.map_or(members.len(), |last| last + 1));
        }
        for (_, says, member) in members {
            match member {
                MemberRef::Rule(entry) => {
                    let own = self.rule(entry).map_or(&[][..], |rule| &rule.duties);
                    duties.extend(own.iter().filter(|duty| says.brings(duty, effect)).map(|duty| (duty, Some(entry))));
                }
                MemberRef::Set(child) => self.duties_of_set((child, says), effect, said, hits, duties),
            }
        }
    }

    /// Whether a member says this effect, or may say it where that matters.
    fn says(&self, value: Value, effect: Effect) -> Option<Says> {
        let counts = self.unknowns == Unknowns::Union && effect == Effect::Permit;
        match value {
            Value::Unknown(could) => (counts && could.includes(effect)).then_some(Says::Perhaps),
            value => (value.effect() == Some(effect)).then_some(Says::Surely),
        }
    }
}

/// How sure it is that a member says an effect.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Says {
    Surely,
    Perhaps,
}

impl Says {
    /// Of a member, given its set.
    fn in_set(self, set: Self) -> Self {
        if set == Self::Surely { self } else { Self::Perhaps }
    }

    /// Whether a duty comes along: advice only with what is sure.
    fn brings(self, duty: &Duty, effect: Effect) -> bool {
        duty.on == effect && (self == Self::Surely || duty.binding == Binding::Obligation)
    }
}

enum MemberRef {
    Rule(EntryId),
    Set(u32),
}
