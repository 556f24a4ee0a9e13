//! Votes that are counted, and what a set says after all of them.

use super::truth::Truth;
use super::value::{Algorithm, Combined, Effect, PossibleEffect, Rank, Unknowns, Value, Vote};

/// The first vote for each value, which is all that any algorithm needs; votes may come in any order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Tally {
    permit: Option<Vote>,
    deny: Option<Vote>,
    foreign: Option<Vote>,
    could_permit: Option<Vote>,
    could_deny: Option<Vote>,
    could_either: Option<Vote>,
    /// The only child that is about the request, if there is one.
    only: Option<Vote>,
    applicable: u32,
    /// The first child of which it is unknown whether it is about the request, and how many there are.
    doubtful: Option<Vote>,
    doubts: u32,
}

impl Tally {
    /// Counts a vote.
    pub fn add(&mut self, vote: Vote) {
        match vote.target {
            Truth::True => {
                self.applicable += 1;
                self.only = Some(vote);
            }
            Truth::Error => {
                self.doubts += 1;
                keep_first(&mut self.doubtful, vote);
            }
            Truth::False => {}
        }
        let place = match vote.value {
            Value::Permit => &mut self.permit,
            Value::Deny => &mut self.deny,
            Value::Foreign => &mut self.foreign,
            Value::Unknown(PossibleEffect::Permit) => &mut self.could_permit,
            Value::Unknown(PossibleEffect::Deny) => &mut self.could_deny,
            Value::Unknown(PossibleEffect::Either) => &mut self.could_either,
            Value::NotApplicable => return,
        };
        keep_first(place, vote);
    }

    /// Counts the next vote in the order of evaluation, and forgets what this algorithm cannot need any more: whoever combines
    /// then gets the same value, and the same policy where it is an effect. So tallies that come to the same are equal, mostly.
    pub(super) fn add_next(&mut self, vote: Vote, algorithm: Algorithm, unknowns: Unknowns) {
        let is_certain = vote.value.effect().is_some();
        // Doubts that were counted before a certain vote stay before it.
        let vote = Vote { order: u32::from(is_certain), by: vote.by.filter(|_| is_certain), ..vote };
        let ranked = algorithm == Algorithm::PriorityDenyOverrides;
        let vote = if ranked { vote } else { Vote { rank: Rank::LAST, ..vote } };
        if algorithm == Algorithm::OnlyOneApplicable {
            if !self.is_clash(unknowns) {
                let next = self.with(vote);
                let Self { only, applicable, doubtful, doubts, .. } = next;
                *self = if next.is_clash(unknowns) {
                    Self { applicable: 2, ..Self::default() }
                } else {
                    Self { only, applicable, doubtful, doubts, ..Self::default() }
                };
            }
            return;
        }
        let vote = Vote { target: Truth::True, ..vote };
        let is_over = match algorithm {
            Algorithm::FirstApplicable => self.ends_the_search(unknowns),
            Algorithm::Unanimous => self.could_either.is_some(),
            Algorithm::PriorityDenyOverrides => {
                self.deny.is_some() || self.permit.is_some_and(|permit| permit.rank < vote.rank)
            }
            _ => [self.permit, self.deny]
                .into_iter()
                .flatten()
                .any(|known| known.value.effect().is_some_and(|effect| algorithm.stops_at(effect))),
        };
        if is_over {
            return;
        }
        let next = Self { only: None, applicable: 0, doubtful: None, doubts: 0, ..self.with(vote) };
        *self = match algorithm {
            Algorithm::DenyUnlessPermit | Algorithm::PermitUnlessDeny => {
                Self { permit: next.permit, deny: next.deny, ..Self::default() }.strongest(algorithm)
            }
            Algorithm::Unanimous => next.or_either(next.unanimous(), vote),
            Algorithm::FirstApplicable => match next.first_applicable(unknowns) {
                Combined {
                    value: Value::NotApplicable | Value::Unknown(PossibleEffect::Permit | PossibleEffect::Deny),
                    ..
                } => next,
                Combined { value: Value::Unknown(PossibleEffect::Either), .. } => next.or_either(EITHER, vote),
                // What was doubtful before says the same.
                _ => Self { only: None, applicable: 0, ..Self::default().with(vote) },
            },
            _ => next.strongest(algorithm),
        };
    }

    /// Itself, or nothing but a doubt where everything is possible already.
    fn or_either(self, combined: Combined, vote: Vote) -> Self {
        if combined.value != EITHER.value {
            return self;
        }
        let could_either = Some(Vote { order: 0, value: EITHER.value, by: None, ..vote });
        Self { could_either, ..Self::default() }
    }

    /// Whether nothing that comes later in the order of evaluation counts for the first that applies.
    fn ends_the_search(&self, unknowns: Unknowns) -> bool {
        let certain = [self.permit, self.deny, self.foreign].iter().any(Option::is_some);
        certain || self.could_either.is_some() || (unknowns == Unknowns::Xacml && self.first().is_some())
    }

    fn with(mut self, vote: Vote) -> Self {
        self.add(vote);
        self
    }

    /// Only the effect that nothing can outweigh, if it is there.
    fn strongest(self, algorithm: Algorithm) -> Self {
        match (self.permit, self.deny) {
            (_, Some(_)) if algorithm.stops_at(Effect::Deny) && algorithm != Algorithm::FirstApplicable => {
                Self { deny: self.deny, ..Self::default() }
            }
            (Some(_), _) if algorithm.stops_at(Effect::Permit) && algorithm != Algorithm::FirstApplicable => {
                Self { permit: self.permit, ..Self::default() }
            }
            _ => self,
        }
    }

    /// Whether some child is about the request, whatever it says.
    pub fn is_about(&self) -> bool {
        self.applicable > 0 || self.doubtful.is_some()
    }

    /// What the set says.
    pub fn combine(&self, algorithm: Algorithm, unknowns: Unknowns) -> Combined {
        match algorithm {
            Algorithm::DenyOverrides | Algorithm::OrderedDenyOverrides => self.overrides(Effect::Deny),
            Algorithm::PermitOverrides | Algorithm::OrderedPermitOverrides => self.overrides(Effect::Permit),
            Algorithm::FirstApplicable => self.first_applicable(unknowns),
            Algorithm::OnlyOneApplicable => self.only_one(unknowns),
            Algorithm::DenyUnlessPermit => unless(self.permit, self.deny, Value::Deny),
            Algorithm::PermitUnlessDeny => unless(self.deny, self.permit, Value::Permit),
            Algorithm::Unanimous => self.unanimous(),
            Algorithm::PriorityDenyOverrides => self.priority_deny_overrides(),
        }
    }

    /// The same, but where somebody could deny, a set does not permit for want of a deny.
    pub fn combine_with_doubts(&self, algorithm: Algorithm, unknowns: Unknowns) -> Combined {
        let could_deny = self.could_either.or(self.could_deny);
        match (algorithm, self.deny, could_deny) {
            (Algorithm::PermitUnlessDeny, None, Some(vote)) => Combined { by: vote.by, ..EITHER },
            _ => self.combine(algorithm, unknowns),
        }
    }

    /// The same, but where somebody could permit, a set does not deny for want of a permit: what may have permitted brings its duties.
    pub(super) fn combine_openly(&self, algorithm: Algorithm, unknowns: Unknowns) -> Combined {
        match (algorithm, self.permit, self.could_either.or(self.could_permit)) {
            (Algorithm::DenyUnlessPermit, None, Some(vote)) => Combined { by: vote.by, ..EITHER },
            _ => self.combine(algorithm, unknowns),
        }
    }

    fn overrides(&self, strong: Effect) -> Combined {
        let (wins, loses, could_win, could_lose) = match strong {
            Effect::Permit => (self.permit, self.deny, self.could_permit, self.could_deny),
            Effect::Deny | Effect::Foreign => (self.deny, self.permit, self.could_deny, self.could_permit),
        };
        let either = |vote: Vote| Combined { by: vote.by, ..EITHER };
        if let Some(vote) = wins {
            vote.into()
        } else if let Some(vote) = self.could_either {
            vote.into()
        } else if let Some(vote) = could_win {
            if loses.is_some() || could_lose.is_some() { either(vote) } else { vote.into() }
        } else {
            loses.or(could_lose).map_or(Combined::NOTHING, Combined::from)
        }
    }

    /// The first that applies. Every doubt before it may be the first, or not.
    fn first_applicable(&self, unknowns: Unknowns) -> Combined {
        if unknowns == Unknowns::Xacml {
            return self.first().map_or(Combined::NOTHING, Combined::from);
        }
        let certain = first_of([self.permit, self.deny, self.foreign]);
        let is_before = |vote: &Vote| certain.is_none_or(|certain| vote.order < certain.order);
        let doubts = [self.could_permit, self.could_deny, self.could_either].map(|doubt| doubt.filter(is_before));
        let Some(doubt) = first_of(doubts) else { return certain.map_or(Combined::NOTHING, Combined::from) };
        let effect = certain.and_then(|vote| vote.value.effect());
        let doubts = doubts.into_iter().flatten().filter_map(|doubt| doubt.value.could());
        let possible = doubts.chain(effect.map(PossibleEffect::of)).reduce(PossibleEffect::or);
        match (certain, possible) {
            (Some(certain), Some(PossibleEffect::Permit | PossibleEffect::Deny)) => certain.into(),
            (_, possible) => {
                let value = Value::Unknown(possible.unwrap_or(PossibleEffect::Either));
                Combined { value, by: doubt.by }
            }
        }
    }

    fn first(&self) -> Option<Vote> {
        first_of([self.permit, self.deny, self.foreign, self.could_permit, self.could_deny, self.could_either])
    }

    /// Judged on who is about the request, whatever is said then.
    fn only_one(&self, unknowns: Unknowns) -> Combined {
        let of = |vote: Vote| if vote.value == Value::NotApplicable { Combined::NOTHING } else { vote.into() };
        match (self.doubtful, self.only) {
            (doubtful, _) if self.is_clash(unknowns) => Combined { by: doubtful.and_then(|vote| vote.by), ..EITHER },
            (Some(vote), _) | (None, Some(vote)) => of(vote),
            (None, None) => Combined::NOTHING,
        }
    }

    /// Whether more than one is about the request, or may be.
    fn is_clash(&self, unknowns: Unknowns) -> bool {
        let most = match unknowns {
            Unknowns::Union => 1,
            Unknowns::Xacml => 0,
        };
        self.doubts > most || self.applicable + self.doubts > 1
    }

    fn unanimous(&self) -> Combined {
        let either = |vote: Option<Vote>| Combined { by: vote.and_then(|vote| vote.by), ..EITHER };
        let permits = self.permit.is_some() || self.could_permit.is_some();
        let denies = self.deny.is_some() || self.could_deny.is_some();
        if self.could_either.is_some() || (permits && denies) {
            return either(self.could_either.or(self.could_deny).or(self.could_permit));
        }
        let (certain, doubtful) = if permits { (self.permit, self.could_permit) } else { (self.deny, self.could_deny) };
        certain.or(doubtful).map_or(Combined::NOTHING, Combined::from)
    }

    fn priority_deny_overrides(&self) -> Combined {
        let rank = |vote: Option<Vote>| vote.map_or(Rank::LAST, |vote| vote.rank);
        let winner = if rank(self.deny) <= rank(self.permit) { self.deny } else { self.permit };
        let either = |vote: Vote| Combined { by: vote.by, ..EITHER };
        let Some(winner) = winner else {
            return match (self.could_either, self.could_deny, self.could_permit) {
                (Some(vote), ..) | (None, Some(vote), Some(_)) => either(vote),
                (None, one, other) => one.or(other).map_or(Combined::NOTHING, Combined::from),
            };
        };
        // A doubtful one counts if it would decide and says otherwise: a deny also at the same priority.
        let outweighs = |vote: &Vote| match (winner.value, vote.value) {
            (Value::Deny, Value::Unknown(PossibleEffect::Permit | PossibleEffect::Either)) => vote.rank < winner.rank,
            (Value::Permit, Value::Unknown(PossibleEffect::Deny | PossibleEffect::Either)) => vote.rank <= winner.rank,
            _ => false,
        };
        let doubts = [self.could_either, self.could_deny, self.could_permit];
        doubts.into_iter().flatten().find(outweighs).map_or_else(|| winner.into(), either)
    }
}

impl From<Vote> for Combined {
    fn from(vote: Vote) -> Self {
        Self { value: vote.value, by: vote.by }
    }
}

/// Everything is possible, and no policy made it so.
const EITHER: Combined = Combined { value: Value::Unknown(PossibleEffect::Either), by: None };

fn first_of<const N: usize>(votes: [Option<Vote>; N]) -> Option<Vote> {
    votes.into_iter().flatten().min_by_key(|vote| vote.order)
}

fn keep_first(place: &mut Option<Vote>, vote: Vote) {
    if place.is_none_or(|known| vote.order < known.order) {
        *place = Some(vote);
    }
}

fn unless(exception: Option<Vote>, same: Option<Vote>, otherwise: Value) -> Combined {
    exception.map_or(Combined { value: otherwise, by: same.and_then(|vote| vote.by) }, Combined::from)
}
