//! What must and may be done along with a decision.

use super::{Decide, DecideScratch, Measure};
use crate::ask::{EntryId, Hit};
use crate::decide::path::Readings;
use crate::decide::request::Request;
use crate::decide::rule::Duty;
use crate::decide::value::{Combined, Effect, Value};

impl Decide {
    /// What must and may be done along with the decision on a request, given all that matched.
    pub fn duties(&self, request: &Request, hits: &[Hit<Measure>]) -> Vec<(&Duty, Option<EntryId>)> {
        let mut duties = Vec::new();
        if !self.duties {
            return duties;
        }
        let mut scratch = DecideScratch::default();
        let mut room = Readings::default();
        let (root, _) = self.fold(self.asked(request, &mut room), &mut scratch, hits, self.algorithm());
        if let Some(effect) = root.value.effect() {
            self.duties_of_set(0, effect, &scratch, hits, &mut duties);
        }
        duties
    }

    fn duties_of_set<'d>(
        &'d self,
        number: u32,
        effect: Effect,
        scratch: &DecideScratch,
        hits: &[Hit<Measure>],
        duties: &mut Vec<(&'d Duty, Option<EntryId>)>,
    ) {
        let Some(set) = self.sets.get(number as usize) else { return };
        let says = |said: Option<&Combined>| said.and_then(|said| said.value.effect()) == Some(effect);
        if !says(scratch.said.get(number as usize)) {
            return;
        }
        duties.extend(set.duties.iter().filter(|duty| duty.on == effect).map(|duty| (duty, None)));
        // Of the members, those that were asked: all, or none after the one that decides.
        let mut members: Vec<(u32, MemberRef)> = Vec::new();
        for hit in hits {
            if let (Some(head), Some(rule)) = (self.head(hit.entry), self.rule(hit.entry))
                && head.set == number
                && Value::of(rule.effect, hit.measure.applies()).effect() == Some(effect)
            {
                members.push((self.order_of_rule(hit.entry), MemberRef::Rule(hit.entry)));
            }
        }
        for ((child, node), said) in (0..).zip(&self.nodes).zip(&scratch.said) {
            if node.parent == Some(number) && says(Some(said)) {
                members.push((self.order_of_set(child as usize), MemberRef::Set(child)));
            }
        }
        members.sort_unstable_by_key(|(order, _)| *order);
        if set.algorithm.stops_at(effect) {
            members.truncate(1);
        }
        for (_, member) in members {
            match member {
                MemberRef::Rule(entry) => {
                    let own = self.rule(entry).map_or(&[][..], |rule| &rule.duties);
                    duties.extend(own.iter().filter(|duty| duty.on == effect).map(|duty| (duty, Some(entry))));
                }
                MemberRef::Set(child) => self.duties_of_set(child, effect, scratch, hits, duties),
            }
        }
    }
}

enum MemberRef {
    Rule(EntryId),
    Set(u32),
}
