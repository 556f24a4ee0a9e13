//! Headlines of decisions.

use serde::{Deserialize, Serialize};
use upheld_model::{Code, State};

use super::{Closest, Sentence};

/// Why one policy wins against another that says the opposite.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rivalry {
    /// The combining algorithm.
    pub algorithm: String,
    /// Why it prefers the one.
    pub why: Preference,
}

/// Why an algorithm prefers a policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Preference {
    /// It comes first, with this priority.
    First(f64),
    /// It has the highest priority.
    Highest(f64),
    /// One deny is stronger than all permits.
    DenyOverrides,
    /// One permit is stronger than all denies.
    PermitOverrides,
    /// Nobody certainly permits.
    NoPermit,
    /// One permit is enough.
    PermitIsEnough,
    /// One deny is enough.
    DenyIsEnough,
    /// Nobody certainly denies.
    NoDeny,
    /// The others do not count.
    OthersDoNotCount,
}

/// What a request could come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Could {
    /// It could be permitted.
    Permit,
    /// It could be denied.
    Deny,
    /// It could be either.
    Both,
}

/// Why nobody can tell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Doubt {
    /// The path can be read in several ways.
    Path(String),
    /// A policy may apply or not.
    Policy(Closest),
    /// A set may be about it or not.
    Set(Closest),
    /// Policies say the opposite of each other.
    Conflict(Vec<(String, String)>),
    /// Conditions together take more steps than these.
    Steps(usize),
    /// It was not looked into.
    NotLookedInto,
}

pub(super) fn text(sentence: &Sentence) -> String {
    match sentence {
        Sentence::Decided { place, decision, policy, rivalry } => {
            let decided = format!("{}{}, decided by {policy}", at(place.as_deref()), decision.to_uppercase());
            match rivalry {
                Some(Rivalry { algorithm, why }) => format!("{decided}: under {algorithm} {}.", why.text()),
                None if decision == "deny" => format!("{decided}: no matching policy permits it."),
                None => format!("{decided}: no matching policy denies it."),
            }
        }
        Sentence::ByDefault { place, decision, uncertain, .. } if !uncertain.is_empty() => {
            let same = super::undecided::same_effect(uncertain, decision);
            format!("{}{} by default effect: {same}.", at(place.as_deref()), decision.to_uppercase())
        }
        Sentence::ByDefault { place, decision, policies, closest, fits, clauses, .. } => {
            let looked = match policies {
                0 => "there are no policies".to_owned(),
                1 => "1 policy looked at, it does not apply".to_owned(),
                many => format!("{many} policies looked at, none applies"),
            };
            let closest = closest.as_ref().map(|Closest { policy, because }| {
                format!(" Closest: {policy} ({fits} of {clauses} clauses; {}).", because.text)
            });
            let (place, decision) = (at(place.as_deref()), decision.to_uppercase());
            format!("{place}{decision} by default effect: {looked}.{}", closest.unwrap_or_default())
        }
        Sentence::ByAlgorithm { place, decision, algorithm, set } => {
            let opposite = if decision == "deny" { "permits" } else { "denies" };
            let of = set.as_ref().map(|set| format!(" of {}", a_set(set))).unwrap_or_default();
            let within = if set.is_some() { " in it" } else { "" };
            let (place, decision) = (at(place.as_deref()), decision.to_uppercase());
            format!("{place}{decision} by {algorithm}{of}: no matching policy{within} {opposite} it.")
        }
        Sentence::BySetDefault { place, decision, set } => {
            let (place, decision) = (at(place.as_deref()), decision.to_uppercase());
            format!("{place}{decision} by the default of {}: no policy in it decides otherwise.", a_set(set))
        }
        Sentence::Doubtful { place, could, doubt } => {
            let could = match could {
                Could::Permit => "it could be permit",
                Could::Deny => "it could be deny",
                Could::Both => "it could be permit or deny",
            };
            let why = match doubt {
                Doubt::Path(problem) => format!("the path {problem}"),
                Doubt::Policy(Closest { policy, because }) => format!("that depends on {policy} ({})", because.text),
                Doubt::Set(Closest { policy, because }) => {
                    format!("that depends on {} ({})", a_set(policy), because.text)
                }
                Doubt::Conflict(policies) => {
                    let all: Vec<String> =
                        policies.iter().map(|(policy, effect)| format!("{policy} says {effect}")).collect();
                    format!("policies conflict ({})", all.join(", "))
                }
                Doubt::Steps(most) => format!("the {}", super::undecided::too_many_steps(*most)),
                Doubt::NotLookedInto => "a fact is missing, or policies conflict".to_owned(),
            };
            // Who decides elsewhere knows what is missing here.
            let enforced = if place.is_none() { " Enforcement denies it." } else { "" };
            format!("{}UNDECIDED, {could}: {why}.{enforced}", at(place.as_deref()))
        }
        _ => String::new(),
    }
}

/// A set by its name.
pub(crate) fn a_set(name: &str) -> String {
    format!("the set {name}")
}

/// What a row calls a set that speaks itself: `returns (default)`.
pub(crate) fn of_set(name: &str, how: &str) -> String {
    if name.is_empty() { format!("({how})") } else { format!("{name} ({how})") }
}

/// Why a set speaks itself.
pub(crate) fn silence(code: Code) -> &'static str {
    match code {
        Code::DecideUnlessPermit => "no policy permits",
        Code::DecideUnlessDeny => "no policy denies",
        _ => "no policy of the set decides otherwise",
    }
}

/// What becomes of the default.
pub(crate) fn of_default(state: State) -> &'static str {
    match state {
        State::Won => "no policy applies",
        State::Unknown => "stands if none of the unknown ones applies",
        _ => "not reached",
    }
}

/// Where a decision holds, before the decision.
fn at(place: Option<&str>) -> String {
    place.map(|place| format!("{place}: ")).unwrap_or_default()
}

impl Preference {
    fn text(&self) -> String {
        match self {
            Self::First(priority) => format!("it is the first that applies (priority {priority})"),
            Self::Highest(priority) => format!("it has the highest priority that applies (priority {priority})"),
            Self::DenyOverrides => "one deny overrides every permit".to_owned(),
            Self::PermitOverrides => "one permit overrides every deny".to_owned(),
            Self::NoPermit => "no policy certainly permits".to_owned(),
            Self::PermitIsEnough => "one permit is enough".to_owned(),
            Self::DenyIsEnough => "one deny is enough".to_owned(),
            Self::NoDeny => "no policy certainly denies".to_owned(),
            Self::OthersDoNotCount => "the others do not count".to_owned(),
        }
    }
}
