//! The compliance corpus: an organisation, and steps that are taken in it one after the other.
//!
//! - [`organisation`]: the state that a case begins with, taken as it is
//! - [`steps`]: what a step asks for, put to the engine, and its answer in the words of the corpus
//! - [`written`]: how values, policies, definitions and waivers are written
//! - [`compared`]: how an answer differs from what is expected of it

mod compared;
mod organisation;
mod steps;
mod written;

use anyhow::Context;

use crate::case::Case;
use crate::outcome::Outcome;

/// Takes all steps of a case; they go on after one that differs, because the later ones may say why.
pub(crate) fn run(case: &Case) -> anyhow::Result<Outcome> {
    let (mut organisation, mut now) = organisation::build(case)?;
    let steps = case.field("steps").as_array().context("the case has no steps")?;
    let mut lines = Vec::new();
    for (number, step) in (1..).zip(steps) {
        let verb = step.get("verb").and_then(serde_json::Value::as_str).unwrap_or_default();
        let answer = steps::take(&mut organisation, &mut now, verb, step)
            .with_context(|| format!("in step {number}, {verb}"))?;
        let expected = step.get("expect").with_context(|| format!("step {number} expects nothing"))?;
        let differences = compared::differences(expected, &answer);
        lines.extend(differences.into_iter().map(|line| format!("step {number}, {verb}: {line}")));
    }
    Ok(if lines.is_empty() { Outcome::Passed } else { Outcome::Failed(lines) })
}
