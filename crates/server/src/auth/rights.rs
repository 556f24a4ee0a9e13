//! Who may do what: access policies like any others, asked like any others.

use std::path::Path;

use smol_str::SmolStr;
use upheld_dialects::access::DEFAULT_SEMANTICS;
use upheld_engine::decide::{By, Outcome, Request};
use upheld_input::load::{Broken, Loaded, load};
use upheld_input::{Format, Input};
use upheld_model::tree::Value;

use super::error::SecurityError;
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
        let snapshot = &self.0.snapshot;
        let Some((_, decide)) = snapshot.decides().next() else {
            return Verdict::Refused { policy: None, reason: None };
        };
        let decided = scratch::decide(decide, request);
        if decided.outcome == Outcome::Permit {
            return Verdict::Permitted;
        }
        let rule = match decided.by {
            By::Policy(entry) => decide.rule(entry),
            By::Default | By::Algorithm | By::Nobody => None,
        };
        let document = rule.and_then(|rule| snapshot.files().value(rule.at));
        Verdict::Refused {
            policy: rule.map(|rule| rule.name.clone()),
            reason: document.and_then(|it| it.get("description")).and_then(Value::as_text).map(str::to_owned),
        }
    }
}

#[cfg(test)]
mod tests;
