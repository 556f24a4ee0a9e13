//! What only decisions have: how votes are combined, what would change the decision, and what must be done along with it.

use std::borrow::Cow;

use serde::Serialize;
use upheld_engine::Hit;
use upheld_engine::decide::{Algorithm, By, Effect, Measure, Outcome, Truth};

use super::{DEFAULT, Depth, Reporter, WouldFlip};
use crate::decision::{Decision, Duty};

/// What only decisions have.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DecisionDetail {
    /// How votes were combined.
    pub algorithm: &'static str,
    /// What the policy that decided says about itself, or why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// All policies that apply and have the effect that stands.
    pub determining: Vec<String>,
    /// What other ways to combine would say.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub other_algorithms: Vec<Otherwise>,
    /// The smallest changes that would flip the decision.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<WouldFlip>,
    /// What must be done along with it.
    pub obligations: Vec<Duty>,
    /// What may be done along with it.
    pub advice: Vec<Duty>,
}

/// What another algorithm would say.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Otherwise {
    /// Another way to combine.
    pub algorithm: &'static str,
    /// What it would say.
    pub decision: &'static str,
    /// The policy, or `(default)`; nothing if nobody decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

impl Reporter<'_> {
    pub(super) fn detail(&self, depth: Depth) -> DecisionDetail {
        let all = depth >= Depth::Explained && self.skipped.named().is_none();
        let files = self.snapshot.files();
        let decision = Decision::of(files, self.decide, self.request, &self.decided, self.hits);
        DecisionDetail {
            algorithm: self.decide.algorithm().word(),
            reason: decision.reason.map(Cow::into_owned),
            determining: self.determining(),
            other_algorithms: if all { self.other_algorithms() } else { Vec::new() },
            changes: if all { self.changes() } else { Vec::new() },
            obligations: decision.obligations,
            advice: decision.advice,
        }
    }

    fn determining(&self) -> Vec<String> {
        let effect = match self.decided.outcome {
            Outcome::Permit => Effect::Permit,
            Outcome::Deny => Effect::Deny,
            Outcome::Undecided | Outcome::Foreign => return Vec::new(),
        };
        let counts =
            |hit: &&Hit<Measure>| hit.measure.applies() == Truth::True && self.effect(hit.entry) == Some(effect);
        self.hits.iter().filter(counts).map(|hit| self.name(hit.entry)).collect()
    }

    fn other_algorithms(&self) -> Vec<Otherwise> {
        // Where the request itself is at fault, all say the same.
        if self.decide.failing(self.request).is_some() {
            return Vec::new();
        }
        let others = Algorithm::ALL.into_iter().take(3).filter(|algorithm| *algorithm != self.decide.algorithm());
        let describe = |algorithm: Algorithm| {
            let decided = self.decide.decide_among(self.request, self.hits, algorithm);
            let by = match decided.by {
                By::Policy(entry) => Some(self.name(entry)),
                By::Default => Some(DEFAULT.to_owned()),
                By::Algorithm | By::Nobody => None,
            };
            Otherwise { algorithm: algorithm.word(), decision: decided.outcome.word(), by }
        };
        others.map(describe).collect()
    }
}
