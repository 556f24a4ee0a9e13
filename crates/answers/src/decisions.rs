//! Requests: may it go on, and why?

mod written;

use serde_json::{Value as Json, json};
use upheld_engine::decide::{Decide, Request};
use upheld_engine::{KindId, Snapshot};
use upheld_model::nearest::nearest;
use upheld_model::{Diagnostic, Fault};

pub(crate) use self::written::Words;
pub use self::written::{fill_time, from_words, read};
use crate::options::Options;
use crate::question::Question;
use crate::refused::Refused;
use crate::report::{Decision, Detail, decide};
use crate::stamp::line;

/// The requests that a question is about.
pub(crate) fn asked(question: &Question, options: &Options) -> Result<Vec<Request>, Refused> {
    written::asked(question, options.edition(), options.now)
}

/// Decides requests.
pub(crate) fn told(
    snapshot: &Snapshot,
    requests: &[Request],
    kind: Option<&str>,
    detail: Detail,
) -> Result<Vec<Decision>, Diagnostic> {
    let (kind, policies) = decider(snapshot, kind)?;
    Ok(requests.iter().map(|request| decide(snapshot, kind, policies, request, detail)).collect())
}

/// Just the decision, for pipes.
pub fn short(snapshot: &Snapshot, decision: &Decision) -> Json {
    let Decision { outcome, policy, reason, semantics, .. } = decision;
    line(snapshot, &json!({"decision": outcome, "policy": policy, "reason": reason, "semantics": semantics}))
}

/// The policies that are asked: those of the kind that was named, or the only ones there are.
pub fn decider<'s>(snapshot: &'s Snapshot, named: Option<&str>) -> Result<(KindId, &'s Decide), Diagnostic> {
    let all: Vec<(KindId, &Decide)> = snapshot.decides().collect();
    let name = |id: KindId| snapshot.kind(id).map_or("", |kind| snapshot.text(kind.name));
    if let Some(named) = named {
        if let Some(found) = all.iter().find(|(id, _)| name(*id).eq_ignore_ascii_case(named)) {
            return Ok(*found);
        }
        let message = format!("no policy of kind `{named}` decides requests here");
        let diagnostic = Diagnostic::error(Fault::NotFound, message);
        return Err(diagnostic.suggest_or(
            nearest(named, all.iter().map(|(id, _)| name(*id))).map(|meant| format!("--kind {meant}")),
            || "`upheld list policies` shows what was read".to_owned(),
        ));
    }
    match all.as_slice() {
        [only] => Ok(*only),
        [] => {
            let message = "there are no policies that decide requests";
            let help = "an access policy has `id`, `effect`, `subjects`, `resources` and `actions`: see docs/access.md";
            Err(Diagnostic::error(Fault::NotFound, message).help(help))
        }
        several => {
            let names: Vec<&str> = several.iter().map(|(id, _)| name(*id)).collect();
            let message = format!("policies of several kinds decide requests: {}", names.join(", "));
            Err(Diagnostic::error(Fault::Ambiguous, message)
                .help(format!("add `--kind {}`", names.first().unwrap_or(&""))))
        }
    }
}
