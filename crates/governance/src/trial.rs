//! Trying things out. A trial is a copy, which shares with the organisation what it does not change; what is tried is taken back
//! before the next thing is.

use upheld_model::Timestamp;

use crate::{Action, Actor, Decision, Organisation};

/// An organisation to try things out on, at one moment. Nobody else sees what happens to it.
#[derive(Debug)]
pub struct Trial {
    pub(crate) organisation: Organisation,
    pub(crate) now: Timestamp,
}

impl Organisation {
    /// A copy to try things out on.
    pub fn trial(&self, now: Timestamp) -> Trial {
        Trial { organisation: self.clone(), now }
    }
}

impl Trial {
    /// What would become of an action.
    pub fn would(&mut self, actor: &Actor, action: &Action) -> Decision {
        let Self { organisation, now } = self;
        let before = organisation.before();
        let tried = organisation.try_out(*now, actor, action);
        let decision = organisation.decision(tried);
        organisation.roll_back(before);
        organisation.settle();
        decision
    }
}
