//! What would be decided if something were known that is not, and who speaks where no policy does: for explanations.

use super::{Decide, DecideScratch, Decided, Measure, Strictness};
use crate::ask::{EntryId, Hit};
use crate::decide::examine::Examined;
use crate::decide::path::Readings;
use crate::decide::request::Request;
use crate::decide::rule::{Set, Status};
use crate::decide::tally::Tally;
use crate::decide::truth::Truth;
use crate::decide::value::{Algorithm, Combined};

/// Something of which nobody can tell whether it is about a request, or applies to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubtful {
    /// A policy.
    Policy(EntryId),
    /// A set, by its number among [`Decide::sets`].
    Set(usize),
}

/// A set that speaks itself, because no policy in it does.
#[derive(Clone, Copy, Debug)]
pub struct Speaking<'d> {
    /// The set.
    pub set: &'d Set,
    /// Whether it is the outermost one.
    pub outermost: bool,
    /// How.
    pub how: SpeaksBy,
}

/// How a set speaks itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpeaksBy {
    /// By its default.
    Default,
    /// By its algorithm, which always says something.
    Algorithm,
}

/// So many doubtful ones are tried in all combinations.
const MOST_COMBINED: usize = 8;

impl Decide {
    /// The policy on which the original system fails: nothing can be told of a request then, whatever others say.
    pub fn failing(&self, request: &Request) -> Option<EntryId> {
        if self.strictness == Strictness::Strict {
            return None;
        }
        let mut buffer = Readings::default();
        let asked = self.asked(request, &mut buffer);
        let first = self.algorithm() == Algorithm::FirstApplicable;
        for (place, rule) in self.rules().iter().enumerate().filter(|(_, rule)| rule.status == Status::On) {
            match rule.in_order(asked) {
                Truth::Error => return Some(EntryId::new(place)),
                Truth::True if first => return None,
                Truth::True | Truth::False => {}
            }
        }
        None
    }

    /// The target of a set held against a request, by the number of the set.
    pub fn examine_set(&self, number: usize, request: &Request) -> Option<Examined> {
        let mut buffer = Readings::default();
        let asked = self.asked(request, &mut buffer);
        self.sets.get(number).map(|set| Examined::of_target(&set.target, asked))
    }

    /// What nobody can tell about, in the order of evaluation; sets come first.
    pub fn doubtful(&self, request: &Request, hits: &[Hit<Measure>]) -> Vec<Doubtful> {
        let (mut scratch, mut room) = (DecideScratch::default(), Readings::default());
        self.fold(self.asked(request, &mut room), &mut scratch, hits, self.algorithm());
        let unsure = scratch.targets.iter().enumerate().filter(|(_, target)| **target == Truth::Error);
        let mut all: Vec<Doubtful> = unsure.map(|(set, _)| Doubtful::Set(set)).collect();
        let mut policies: Vec<EntryId> = hits.iter().filter(|hit| self.is_doubtful(hit)).map(|hit| hit.entry).collect();
        policies.sort_unstable();
        all.extend(policies.into_iter().map(Doubtful::Policy));
        all
    }

    /// Whether nobody can tell if a policy applies; where only one may be about a request, if it is about it.
    fn is_doubtful(&self, hit: &Hit<Measure>) -> bool {
        let alone = |set: &Set| set.algorithm == Algorithm::OnlyOneApplicable;
        hit.measure.applies() == Truth::Error
            || (hit.measure.target == Truth::Error && self.set_of(hit.entry).is_some_and(alone))
    }

    /// What would be decided if this were known.
    pub fn supposing(&self, request: &Request, hits: &[Hit<Measure>], settled: &[(Doubtful, bool)]) -> Decided {
        let known = |which: Doubtful| settled.iter().find(|(one, _)| *one == which).map(|(_, truth)| *truth);
        let settle = |hit: &Hit<Measure>| match known(Doubtful::Policy(hit.entry)) {
            Some(true) => {
                // A condition that does not hold stays so.
                let conditions = if hit.measure.conditions == Truth::False { Truth::False } else { Truth::True };
                Some(Hit { certain: true, measure: Measure { target: Truth::True, conditions, ..hit.measure }, ..*hit })
            }
            // Whoever is surely about the request stays so, with a condition that does not hold.
            Some(false) if hit.measure.target == Truth::True => {
                let measure = Measure { conditions: Truth::False, ..hit.measure };
                Some(Hit { certain: true, measure, ..*hit })
            }
            Some(false) => None,
            None => Some(*hit),
        };
        let hits: Vec<Hit<Measure>> = hits.iter().filter_map(settle).collect();
        let target = |set: usize| known(Doubtful::Set(set)).map(Truth::from);
        let mut room = Readings::default();
        let asked = self.asked(request, &mut room);
        let mut scratch = DecideScratch::default();
        let combine = |_, tally: &Tally, algorithm| tally.combine(algorithm, self.unknowns);
        let (root, about) = self.fold_with(asked, &mut scratch, &hits, self.algorithm(), target, combine);
        self.decided(root, about)
    }

    /// Those on which an undecided answer depends: it would be another one if they were known. First those that would settle it
    /// alone.
    pub fn culprits(&self, request: &Request, hits: &[Hit<Measure>]) -> Vec<Doubtful> {
        let doubtful = self.doubtful(request, hits);
        let now = self.supposing(request, hits, &[]);
        let mut alone: Vec<(bool, Doubtful)> = Vec::new();
        for one in &doubtful {
            let [yes, no] = [true, false].map(|truth| self.supposing(request, hits, &[(*one, truth)]));
            if yes.value != now.value || no.value != now.value {
                let settles = yes.could().is_none() || no.could().is_none();
                alone.push((!settles, *one));
            }
        }
        alone.sort_by_key(|(unsettled, _)| *unsettled);
        if alone.is_empty() {
            self.together(request, hits, &doubtful)
        } else {
            alone.into_iter().map(|(_, one)| one).collect()
        }
    }

    /// Those that matter only together with others.
    fn together(&self, request: &Request, hits: &[Hit<Measure>], doubtful: &[Doubtful]) -> Vec<Doubtful> {
        let some: Vec<Doubtful> = doubtful.iter().copied().take(MOST_COMBINED).collect();
        let decided = |combination: usize| {
            let settled = some.iter().enumerate().map(|(place, one)| (*one, combination >> place & 1 == 1));
            self.supposing(request, hits, &settled.collect::<Vec<_>>()).value
        };
        let values: Vec<_> = (0..1_usize << some.len()).map(decided).collect();
        let matters = |place: usize| {
            values.iter().enumerate().any(|(combination, value)| values.get(combination ^ 1 << place) != Some(value))
        };
        some.iter().enumerate().filter(|(place, _)| matters(*place)).map(|(_, one)| *one).collect()
    }

    /// What would be decided if nothing applied of which nobody can tell.
    pub fn without_doubt(&self, request: &Request, hits: &[Hit<Measure>]) -> Decided {
        let settled: Vec<(Doubtful, bool)> =
            self.doubtful(request, hits).into_iter().map(|doubtful| (doubtful, false)).collect();
        self.supposing(request, hits, &settled)
    }

    /// A policy or set of which nobody can tell and that would turn the decision round if it applied, though the decision is
    /// made: an algorithm hides it. Told with the set that does so.
    pub fn hidden(&self, request: &Request, hits: &[Hit<Measure>]) -> Option<(Doubtful, &Set)> {
        let now = self.supposing(request, hits, &[]);
        now.value.effect()?;
        let turns = |one: &Doubtful| self.supposing(request, hits, &[(*one, true)]).outcome != now.outcome;
        let hidden = self.doubtful(request, hits).into_iter().find(turns)?;
        let mut around = match hidden {
            Doubtful::Policy(entry) => Some(self.head(entry)?.set),
            Doubtful::Set(set) => self.nodes.get(set)?.parent,
        };
        while let Some(number) = around {
            let set = self.sets.get(number as usize)?;
            if set.algorithm.always_speaks() {
                return Some((hidden, set));
            }
            around = self.nodes.get(number as usize)?.parent;
        }
        None
    }

    /// The set that decides, where no policy does: the outermost by its algorithm, or one inside.
    pub fn speaking(&self, request: &Request, hits: &[Hit<Measure>]) -> Option<Speaking<'_>> {
        let mut scratch = DecideScratch::default();
        let mut room = Readings::default();
        let (Combined { value, by }, _) =
            self.fold(self.asked(request, &mut room), &mut scratch, hits, self.algorithm());
        if by.is_some() || value.effect().is_none() {
            return None;
        }
        let speaks = |set: usize| scratch.said.get(set) == Some(&Combined { value, by: None });
        let mut number = 0;
        // The first member that says the same without a policy is where it comes from.
        while let Some(child) = (0..self.nodes.len())
            .filter(|child| self.nodes.get(*child).and_then(|node| node.parent) == Some(crate::order::number(number)))
            .filter(|child| speaks(*child))
            .min_by_key(|child| self.order_of_set(*child))
        {
            number = child;
        }
        let set = self.sets.get(number)?;
        let how = if set.algorithm.always_speaks() { SpeaksBy::Algorithm } else { SpeaksBy::Default };
        Some(Speaking { set, outermost: number == 0, how })
    }

    /// Where the first that applies decides: a policy of the same set that applies too, has the same priority and says the
    /// opposite, so that only the order of the store put the other one before it.
    pub fn tied(&self, request: &Request, hits: &[Hit<Measure>], decider: EntryId) -> Option<EntryId> {
        let own = self.head(decider)?;
        if self.set_of(decider)?.algorithm != Algorithm::FirstApplicable {
            return None;
        }
        let is_rival = |hit: &&Hit<Measure>| {
            hit.measure.applies() == Truth::True
                && self
                    .head(hit.entry)
                    .is_some_and(|head| head.set == own.set && head.rank == own.rank && head.effect != own.effect)
        };
        let rival = hits.iter().filter(is_rival).map(|hit| hit.entry).min()?;
        // The other way round: would it be another decision?
        let without: Vec<Hit<Measure>> = hits.iter().filter(|hit| hit.entry != decider).copied().collect();
        let first = |hits| self.decide_among(request, hits, self.algorithm()).outcome;
        (first(&without) != first(hits)).then_some(rival)
    }
}
