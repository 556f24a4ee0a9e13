//! The value of a policy or set for a request, and the algorithms that combine values.
//!
//! Values are those of XACML 3.0: an unknown value remembers what it could be.

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

    /// What it could be, if it is unknown.
    pub fn could(self) -> Option<PossibleEffect> {
        match self {
            Self::Unknown(could) => Some(could),
            Self::Permit | Self::Deny | Self::Foreign | Self::NotApplicable => None,
        }
    }
}

impl From<Effect> for Value {
    fn from(effect: Effect) -> Self {
        Self::of(effect, Truth::True)
    }
}

impl PossibleEffect {
    /// Of a known effect.
    pub(super) fn of(effect: Effect) -> Self {
        match effect {
            Effect::Permit => Self::Permit,
            Effect::Deny => Self::Deny,
            Effect::Foreign => Self::Either,
        }
    }

    /// What could be if one or the other could.
    pub(super) fn or(self, other: Self) -> Self {
        if self == other { self } else { Self::Either }
    }

    /// Whether it could be this effect.
    pub(super) fn includes(self, effect: Effect) -> bool {
        self == Self::Either || self == Self::of(effect)
    }
}

/// How algorithms treat a policy that may or may not apply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Unknowns {
    /// Its value is the union of what it could be and what follows without it: an unknown fact never opens.
    #[default]
    Union,
    /// By the tables of XACML 3.0: the first unknown member ends the search, and a default replaces no unknown value.
    Xacml,
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
    pub(super) const LAST: Self = Self(u64::MAX);

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
