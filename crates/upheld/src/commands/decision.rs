//! `explain` and `resolve` for requests: may it go on, and why?

mod asked;
pub(super) mod can;

use serde_json::json;
use upheld_engine::decide::{Decide, Request};
use upheld_engine::{KindId, Snapshot};
use upheld_model::nearest::nearest;
use upheld_model::{Diagnostic, Fault};

use self::asked::{BadRequests, requests};
pub(super) use self::asked::{Flags, edition, fill_time, now, read};
use super::{Session, refuse};
use crate::cli::{AccessRequest, Format};
use crate::exit::Exit;
use crate::render::{self, diagnostics, print_plain};
use crate::report::{Decision, Detail, decide};

/// Explains decisions.
pub(super) fn explain(session: &Session<'_>, asked: &AccessRequest, kind: Option<&str>) -> Exit {
    let Some(decisions) = answer(session, asked, kind, Detail::All) else { return Exit::Failed };
    match session.screen.format {
        Format::Json | Format::Yaml => {
            let document = json!({"apiVersion": "upheld/v1", "kind": "Explanation", "snapshot": decisions.digest, "answers": decisions.all});
            session.screen.print_data(&document);
        }
        Format::Jsonl => decisions.all.iter().for_each(|decision| session.screen.print_data(decision)),
        Format::Name => print_plain(&names(&decisions.all)),
        Format::Table | Format::Wide => {
            let texts: Vec<String> =
                decisions.all.iter().map(|decision| render::decision::one(decision, &session.screen)).collect();
            session.screen.print(&texts.join("\n"));
        }
    }
    Exit::Yes
}

/// Just the decisions, for pipes.
pub(super) fn resolve(session: &Session<'_>, asked: &AccessRequest, kind: Option<&str>) -> Exit {
    let Some(decisions) = answer(session, asked, kind, Detail::Answer) else { return Exit::Failed };
    match session.screen.format {
        Format::Table | Format::Wide => {
            let words: String = decisions.all.iter().map(|decision| format!("{}\n", decision.outcome)).collect();
            print_plain(&words);
        }
        Format::Name => print_plain(&names(&decisions.all)),
        Format::Json | Format::Yaml | Format::Jsonl => {
            for decision in &decisions.all {
                let short = json!({"decision": decision.outcome, "policy": decision.policy, "reason": decision.reason});
                session.screen.print_data(&short);
            }
        }
    }
    exit_of(&decisions.all)
}

fn names(decisions: &[Decision]) -> String {
    let name = |decision: &Decision| format!("{}/{}\n", decision.kind, decision.by());
    decisions.iter().map(name).collect()
}

/// No for one denial, undecided for one that nobody can tell, else yes.
pub(super) fn exit_of(decisions: &[Decision]) -> Exit {
    let any = |word: &str| decisions.iter().any(|decision| decision.outcome == word);
    if any("deny") || any("foreign") {
        Exit::No
    } else if any("undecided") {
        Exit::Undecided
    } else {
        Exit::Yes
    }
}

struct Decisions {
    all: Vec<Decision>,
    digest: String,
}

fn answer(session: &Session<'_>, asked: &AccessRequest, kind: Option<&str>, detail: Detail) -> Option<Decisions> {
    let requests = match requests(session, asked) {
        Ok(requests) => requests,
        Err(BadRequests { files, problems }) => {
            diagnostics::print(&files, &problems);
            return None;
        }
    };
    let loaded = session.load_beside(asked.request.as_deref())?;
    let snapshot = &loaded.snapshot;
    let (kind, policies) = match decider(snapshot, kind) {
        Ok(found) => found,
        Err(problem) => {
            refuse(&[problem]);
            return None;
        }
    };
    let tell = |request: &Request| decide(snapshot, kind, policies, request, detail);
    Some(Decisions { all: requests.iter().map(tell).collect(), digest: snapshot.digest().to_owned() })
}

/// The policies that are asked: those of the kind that was named, or the only ones there are.
pub(super) fn decider<'s>(snapshot: &'s Snapshot, named: Option<&str>) -> Result<(KindId, &'s Decide), Diagnostic> {
    let all: Vec<(KindId, &Decide)> = snapshot.decides().collect();
    let name = |id: KindId| snapshot.kind(id).map_or("", |kind| snapshot.text(kind.name));
    if let Some(named) = named {
        if let Some(found) = all.iter().find(|(id, _)| name(*id).eq_ignore_ascii_case(named)) {
            return Ok(*found);
        }
        let message = format!("no policy of kind `{named}` decides requests here");
        let diagnostic = Diagnostic::error(Fault::NotFound, message);
        return Err(match nearest(named, all.iter().map(|(id, _)| name(*id))) {
            Some(meant) => diagnostic.help(format!("did you mean `--kind {meant}`?")),
            None => diagnostic.help("`upheld list policies` shows what was read"),
        });
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
