//! Who may do what: access policies like any others, asked like any others.

use std::borrow::Cow;
use std::path::Path;

use smol_str::SmolStr;
use upheld_dialects::access::decider::{Decider, WhichKind};
use upheld_dialects::access::{DEFAULT_SEMANTICS, Edition, POLICY};
use upheld_engine::decide::{Outcome, Request};
use upheld_loader::load::{Broken, Loaded, load};
use upheld_loader::{Format, Input};

use super::error::SecurityError;
use crate::http::decide::now;
use crate::scratch;

/// The policies when nobody brings others.
const BUILTIN: &str = include_str!("rights.yaml");

/// Policies about callers.
#[derive(Debug)]
pub(crate) struct Rights(Loaded);

/// What they say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It may be done.
    Permitted,
    /// It may not.
    Refused {
        /// The policy that says so; none when no policy permits it.
        policy: Option<SmolStr>,
        /// What that policy says about itself.
        reason: Option<String>,
    },
}

impl Rights {
    /// Those of a file, or the built-in ones.
    pub(crate) fn open(path: Option<&Path>) -> Result<Self, SecurityError> {
        let Some(path) = path else {
            let builtin = Input::text("builtin:rights.yaml", Format::Yaml, BUILTIN);
            return Self::load(builtin)
                .map_err(|broken| SecurityError::Rights { path: "builtin:rights.yaml".into(), broken });
        };
        let rights = Self::load(Input::file(path.display().to_string(), path))
            .map_err(|broken| SecurityError::Rights { path: path.to_owned(), broken })?;
        if rights.0.snapshot.decides().next().is_none() {
            return Err(SecurityError::file(path, "there are no access policies in it: nobody could do anything"));
        }
        Ok(rights)
    }

    fn load(input: Input) -> Result<Self, Box<Broken>> {
        load(vec![input], &[DEFAULT_SEMANTICS]).map(Self)
    }

    /// Whether a request may go on. What is undecided may not.
    pub(crate) fn decide(&self, request: &Request) -> Verdict {
        let Ok(decider) = Decider::of(&self.0.snapshot, WhichKind::Named(POLICY), Edition::Strict) else {
            return Verdict::Refused { policy: None, reason: None };
        };
        let decision = scratch::decide(decider, &decider.complete(request.clone(), Some(now())));
        if decision.outcome == Outcome::Permit {
            return Verdict::Permitted;
        }
        let policy = decision.policy.map(SmolStr::new);
        let reason = decision.reason.filter(|_| policy.is_some()).map(Cow::into_owned);
        Verdict::Refused { policy, reason }
    }
}

#[cfg(test)]
mod tests;
