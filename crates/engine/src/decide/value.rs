//! What a policy says of a request, and how the answers of many become one.
//!
//! The values and tables are those of XACML 3.0: an answer that could not be computed remembers what it could have been.

use crate::ask::EntryId;

use super::truth::Truth;

/// What a policy does where it applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Lets the request go on.
    Permit,
    /// Stops it.
    Deny,
    /// A word that no algorithm knows, which the original system hands on as it is. Only its compatibility edition has it.
    Foreign,
}

impl Effect {
    /// The two that mean something.
    pub const BOTH: [Self; 2] = [Self::Permit, Self::Deny];

    /// The word that users see and write.
    pub fn word(self) -> &'static str {
        match self {
            Self::Permit => "permit",
            Self::Deny => "deny",
            Self::Foreign => "foreign",
        }
    }

    /// The effect of a word.
    pub fn of(word: &str) -> Option<Self> {
        Self::BOTH.into_iter().find(|effect| effect.word() == word)
    }
}

/// What a policy or a set of policies says of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    /// Permit.
    Permit,
    /// Deny.
    Deny,
    /// Nothing: it is about something else.
    NotApplicable,
    /// It cannot be computed, and could have been nothing or this.
    Unknown(PossibleEffect),
    /// A word that no algorithm knows.
    Foreign,
}

/// What a value that could not be computed might have been.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PossibleEffect {
    /// Permit.
    Permit,
    /// Deny.
    Deny,
    /// Either of them.
    Either,
}

impl Value {
    /// Of a policy, given whether it applies.
    pub fn of(effect: Effect, applies: Truth) -> Self {
        match (applies, effect) {
            (Truth::False, _) => Self::NotApplicable,
            (Truth::True, Effect::Permit) => Self::Permit,
            (Truth::True, Effect::Deny) => Self::Deny,
            (Truth::True, Effect::Foreign) => Self::Foreign,
            (Truth::Error, Effect::Permit) => Self::Unknown(PossibleEffect::Permit),
            (Truth::Error, Effect::Deny) => Self::Unknown(PossibleEffect::Deny),
            (Truth::Error, Effect::Foreign) => Self::Unknown(PossibleEffect::Either),
        }
    }

    /// Of a set whose policies say this, given whether the set is about the request at all.
    #[must_use]
    pub fn under(self, target: Truth) -> Self {
        match (target, self) {
            (Truth::False, _) => Self::NotApplicable,
            (Truth::Error, Self::Permit) => Self::Unknown(PossibleEffect::Permit),
            (Truth::Error, Self::Deny) => Self::Unknown(PossibleEffect::Deny),
            (Truth::Error, Self::Foreign) => Self::Unknown(PossibleEffect::Either),
            (_, value) => value,
        }
    }

    /// Of a set with a default. What may be nothing may be the default, and if both are the same, it is that.
    #[must_use]
    pub fn or(self, default: Effect) -> Self {
        match (self, default) {
            (Self::NotApplicable, default) => default.into(),
            (Self::Unknown(PossibleEffect::Permit), Effect::Permit) => Self::Permit,
            (Self::Unknown(PossibleEffect::Deny), Effect::Deny) => Self::Deny,
            (Self::Unknown(_), _) => Self::Unknown(PossibleEffect::Either),
            (value, _) => value,
        }
    }

    /// The effect, if it is one.
    pub fn effect(self) -> Option<Effect> {
        match self {
            Self::Permit => Some(Effect::Permit),
            Self::Deny => Some(Effect::Deny),
            Self::Foreign => Some(Effect::Foreign),
            Self::NotApplicable | Self::Unknown(_) => None,
        }
    }
}

impl From<Effect> for Value {
    fn from(effect: Effect) -> Self {
        Self::of(effect, Truth::True)
    }
}

/// How the answers of many become one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// One deny outweighs every permit.
    #[default]
    DenyOverrides,
    /// One permit outweighs every deny.
    PermitOverrides,
    /// The first that applies, by priority and then by position.
    FirstApplicable,
    /// Exactly one may be about the request.
    OnlyOneApplicable,
    /// Permit if somebody permits, deny otherwise; whatever could not be computed is hidden.
    DenyUnlessPermit,
    /// Deny if somebody denies, permit otherwise; whatever could not be computed is hidden.
    PermitUnlessDeny,
    /// As deny-overrides, in order.
    OrderedDenyOverrides,
    /// As permit-overrides, in order.
    OrderedPermitOverrides,
    /// All that apply must agree.
    Unanimous,
    /// The highest priority that applies; there, a deny outweighs every permit.
    PriorityDenyOverrides,
}

impl Algorithm {
    /// All of them, the original three first.
    pub const ALL: [Self; 10] = [
        Self::DenyOverrides,
        Self::PermitOverrides,
        Self::FirstApplicable,
        Self::OnlyOneApplicable,
        Self::DenyUnlessPermit,
        Self::PermitUnlessDeny,
        Self::OrderedDenyOverrides,
        Self::OrderedPermitOverrides,
        Self::Unanimous,
        Self::PriorityDenyOverrides,
    ];

    /// The word that users see and write.
    pub fn word(self) -> &'static str {
        match self {
            Self::DenyOverrides => "deny-overrides",
            Self::PermitOverrides => "permit-overrides",
            Self::FirstApplicable => "first-applicable",
            Self::OnlyOneApplicable => "only-one-applicable",
            Self::DenyUnlessPermit => "deny-unless-permit",
            Self::PermitUnlessDeny => "permit-unless-deny",
            Self::OrderedDenyOverrides => "ordered-deny-overrides",
            Self::OrderedPermitOverrides => "ordered-permit-overrides",
            Self::Unanimous => "unanimous",
            Self::PriorityDenyOverrides => "priority-deny-overrides",
        }
    }

    /// The algorithm of a word.
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|algorithm| algorithm.word() == word)
    }

    /// Whether the first that has an effect decides for it, so that nobody after it is asked.
    pub fn stops_at(self, effect: Effect) -> bool {
        match self {
            Self::FirstApplicable => true,
            Self::DenyOverrides | Self::OrderedDenyOverrides | Self::PermitUnlessDeny => effect == Effect::Deny,
            Self::PermitOverrides | Self::OrderedPermitOverrides | Self::DenyUnlessPermit => effect == Effect::Permit,
            Self::OnlyOneApplicable | Self::Unanimous | Self::PriorityDenyOverrides => false,
        }
    }

    /// Whether it answers also when nobody says anything.
    pub fn always_speaks(self) -> bool {
        matches!(self, Self::DenyUnlessPermit | Self::PermitUnlessDeny)
    }
}

/// A priority as a number whose order is that of evaluation: the higher the priority, the lower.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Rank(u64);

impl Rank {
    /// After all others.
    const LAST: Self = Self(u64::MAX);

    /// Of a priority. Both zeros are one priority.
    pub fn of(priority: f64) -> Self {
        const SIGN: u64 = 1 << 63;
        let bits = (0.0 + priority).to_bits();
        // The bits of numbers have their order, those of negative ones the opposite.
        Self(if bits & SIGN == 0 { !(bits | SIGN) } else { bits })
    }
}

/// What one child of a set says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Vote {
    /// Its place among its siblings: the lower, the earlier.
    pub order: u32,
    /// Its priority.
    pub rank: Rank,
    /// Whether it is about the request at all.
    pub target: Truth,
    /// What it says.
    pub value: Value,
    /// The policy that made it say so.
    pub by: Option<EntryId>,
}

/// What a set says, and the policy that made it say so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Combined {
    /// What it says.
    pub value: Value,
    /// By whom; nobody where the algorithm itself speaks.
    pub by: Option<EntryId>,
}

impl Combined {
    /// Nobody says anything.
    pub(super) const NOTHING: Self = Self { value: Value::NotApplicable, by: None };

    /// Of a set with a default; no policy made it say that.
    #[must_use]
    pub(super) fn or(self, default: Effect) -> Self {
        let with_default = self.value.or(default);
        Self { value: with_default, by: self.by.filter(|_| with_default == self.value) }
    }

    /// Given whether the set is about the request at all.
    #[must_use]
    pub(super) fn under(self, target: Truth) -> Self {
        Self { value: self.value.under(target), ..self }
    }
}

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
    doubtful: Option<Vote>,
}

impl Tally {
    /// Counts a vote.
    pub fn add(&mut self, vote: Vote) {
        match vote.target {
            Truth::True => {
                self.applicable += 1;
                self.only = Some(vote);
            }
            Truth::Error => keep_first(&mut self.doubtful, vote),
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
    pub(super) fn add_next(&mut self, vote: Vote, algorithm: Algorithm) {
        let is_certain = vote.value.effect().is_some();
        let vote = Vote { order: 0, by: vote.by.filter(|_| is_certain), ..vote };
        let ranked = algorithm == Algorithm::PriorityDenyOverrides;
        let vote = if ranked { vote } else { Vote { rank: Rank::LAST, ..vote } };
        if algorithm == Algorithm::OnlyOneApplicable {
            if self.doubtful.is_none() && self.applicable < 2 {
                let Self { only, applicable, doubtful, .. } = self.with(vote);
                let only = only.filter(|_| doubtful.is_none() && applicable < 2);
                *self = Self { only, applicable, doubtful, ..Self::default() };
            }
            return;
        }
        let vote = Vote { target: Truth::True, ..vote };
        let is_over = match algorithm {
            Algorithm::FirstApplicable => self.first().is_some(),
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
        let next = Self { only: None, applicable: 0, doubtful: None, ..self.with(vote) };
        *self = match algorithm {
            Algorithm::DenyUnlessPermit | Algorithm::PermitUnlessDeny => {
                Self { permit: next.permit, deny: next.deny, ..Self::default() }.strongest(algorithm)
            }
            Algorithm::Unanimous => match next.unanimous() {
                Combined { value: Value::Unknown(PossibleEffect::Either), .. } => {
                    let could_either = Some(Vote { value: Value::Unknown(PossibleEffect::Either), by: None, ..vote });
                    Self { could_either, ..Self::default() }
                }
                _ => next,
            },
            _ => next.strongest(algorithm),
        };
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
    pub fn combine(&self, algorithm: Algorithm) -> Combined {
        match algorithm {
            Algorithm::DenyOverrides | Algorithm::OrderedDenyOverrides => self.overrides(Effect::Deny),
            Algorithm::PermitOverrides | Algorithm::OrderedPermitOverrides => self.overrides(Effect::Permit),
            Algorithm::FirstApplicable => self.first().map_or(Combined::NOTHING, Combined::from),
            Algorithm::OnlyOneApplicable => self.only_one(),
            Algorithm::DenyUnlessPermit => unless(self.permit, self.deny, Value::Deny),
            Algorithm::PermitUnlessDeny => unless(self.deny, self.permit, Value::Permit),
            Algorithm::Unanimous => self.unanimous(),
            Algorithm::PriorityDenyOverrides => self.priority_deny_overrides(),
        }
    }

    /// The same, but where somebody could deny, a set does not permit for want of a deny.
    pub fn combine_with_doubts(&self, algorithm: Algorithm) -> Combined {
        let could_deny = self.could_either.or(self.could_deny);
        match (algorithm, self.deny, could_deny) {
            (Algorithm::PermitUnlessDeny, None, Some(vote)) => {
                Combined { value: Value::Unknown(PossibleEffect::Either), by: vote.by }
            }
            _ => self.combine(algorithm),
        }
    }

    fn overrides(&self, strong: Effect) -> Combined {
        let (wins, loses, could_win, could_lose) = match strong {
            Effect::Permit => (self.permit, self.deny, self.could_permit, self.could_deny),
            Effect::Deny | Effect::Foreign => (self.deny, self.permit, self.could_deny, self.could_permit),
        };
        let either = |vote: Vote| Combined { value: Value::Unknown(PossibleEffect::Either), by: vote.by };
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

    fn first(&self) -> Option<Vote> {
        self.votes().into_iter().flatten().min_by_key(|vote| vote.order)
    }

    fn votes(&self) -> [Option<Vote>; 6] {
        [self.permit, self.deny, self.foreign, self.could_permit, self.could_deny, self.could_either]
    }

    /// Judged on who is about the request, whatever is said then.
    fn only_one(&self) -> Combined {
        let either = |by| Combined { value: Value::Unknown(PossibleEffect::Either), by };
        match (self.doubtful, self.applicable, self.only) {
            (Some(vote), _, _) => either(vote.by),
            (None, 0, _) => Combined::NOTHING,
            (None, 1, Some(vote)) if vote.value == Value::NotApplicable => Combined::NOTHING,
            (None, 1, Some(vote)) => vote.into(),
            (None, _, _) => either(None),
        }
    }

    fn unanimous(&self) -> Combined {
        let either = |vote: Option<Vote>| Combined {
            value: Value::Unknown(PossibleEffect::Either),
            by: vote.and_then(|vote| vote.by),
        };
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
        let either = |vote: Vote| Combined { value: Value::Unknown(PossibleEffect::Either), by: vote.by };
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

fn keep_first(place: &mut Option<Vote>, vote: Vote) {
    if place.is_none_or(|known| vote.order < known.order) {
        *place = Some(vote);
    }
}

fn unless(exception: Option<Vote>, same: Option<Vote>, otherwise: Value) -> Combined {
    exception.map_or(Combined { value: otherwise, by: same.and_then(|vote| vote.by) }, Combined::from)
}
