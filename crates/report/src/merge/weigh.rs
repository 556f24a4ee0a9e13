//! What a result comes from and what it means: the part of an answer that takes no words.

use upheld_engine::merge::{Layered, Merged, Question, Subject};
use upheld_engine::{PolicyId, Scratch, Silent, ask};

use super::{Access, AskedLayers};
use crate::{Outcome, Verdict, each_once};

/// What a result comes from and what it means, without a word about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weighed {
    /// The policies that it comes from, the best first.
    pub policies: Vec<PolicyId>,
    /// How it came about.
    pub outcome: Outcome,
    /// What it means.
    pub verdict: Verdict,
    /// What it means for a caller.
    pub(super) access: Access,
}

impl Weighed {
    /// Whether some policy says something, or may.
    pub fn speaks(&self) -> bool {
        !self.policies.is_empty() || self.outcome == Outcome::Undecided
    }
}

/// Asks without explaining. `None` for a kind that has no such facet.
pub fn weigh(asked: &AskedLayers<'_>) -> Option<Weighed> {
    let question = asked.question()?;
    Some(asked.weighed(&ask(asked.merge, &question, &mut Scratch::default(), &mut Silent)))
}

impl<'a> AskedLayers<'a> {
    pub(super) fn question(&self) -> Option<Question<'a>> {
        self.merge.kind().facet(self.about.facet())?;
        let object = self.subject;
        let subject = self.part.map_or_else(|| Subject::of(object), |part| Subject::part(object, part));
        Some(Question { subject, about: self.about })
    }

    pub(super) fn weighed(&self, answer: &Layered) -> Weighed {
        let access = self.vocabulary.access(answer);
        let mut places: Vec<usize> = answer.results.iter().flat_map(Merged::contributors).collect();
        places.sort_unstable();
        places.dedup();
        let depends = self.from.is_some() && access == Access::ByIdentity;
        let outcome = match (answer.undecided || depends, places.len()) {
            (true, _) => Outcome::Undecided,
            (false, 0) => Outcome::Default,
            (false, 1) => Outcome::Decided,
            (false, _) => Outcome::Merged,
        };
        let policy = |place: usize| Some(self.merge.entry(*answer.entries.get(place)?)?.policy);
        let standing = places.into_iter().filter(|_| outcome != Outcome::Undecided).filter_map(policy);
        Weighed { policies: each_once(standing), outcome, verdict: verdict(outcome, access), access }
    }
}

fn verdict(outcome: Outcome, access: Access) -> Verdict {
    match (outcome, access) {
        (Outcome::Undecided, _) => Verdict::Undecided,
        (_, Access::Allowed) => Verdict::Permit,
        (_, Access::Refused) => Verdict::Deny,
        // What is not enforced refuses nobody.
        (Outcome::Default, _) => Verdict::Unset,
        _ => Verdict::Set,
    }
}
