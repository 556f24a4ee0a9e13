//! `explain` and `resolve` for requests: may it go on, and why?

pub(super) mod can;

use std::io::Read;
use std::time::SystemTime;

use upheld_answers::decisions::{self, fill_time, short};
use upheld_answers::stamp::line;
use upheld_answers::{Refused, Stamp, World, document};
use upheld_engine::decide::Request;
use upheld_input::Format as Reading;
use upheld_input::load::Loaded;
use upheld_model::{Diagnostic, Fault, Timestamp};

use super::{Session, tell_refused};
use crate::cli::{AccessRequest, Format};
use crate::exit::Exit;
use crate::render::{self, diagnostics, print_plain};
use crate::report::{Decision, Detail};

/// Explains decisions.
pub(super) fn explain(session: &Session<'_>, asked: &AccessRequest, kind: Option<&str>) -> Exit {
    let Some(decisions) = answer(session, asked, kind, Detail::All) else { return Exit::Failed };
    match session.screen.format {
        Format::Json | Format::Yaml => {
            session.screen.print_data(&document(&decisions.loaded.snapshot, "Explanation", &decisions.all));
        }
        Format::Jsonl => {
            let snapshot = &decisions.loaded.snapshot;
            decisions.all.iter().for_each(|decision| session.screen.print_data(&line(snapshot, decision)));
        }
        Format::Name => print_plain(&names(&decisions.all)),
        Format::Table | Format::Wide => {
            let texts: Vec<String> =
                decisions.all.iter().map(|decision| render::decision::one(decision, &session.screen)).collect();
            let editions = decisions.all.iter().map(|decision| decision.semantics.as_str());
            let stamp = Stamp::new(&decisions.loaded.snapshot, editions);
            session.screen.print(&(texts.join("\n") + &render::stamp(&stamp, &session.screen)));
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
                session.screen.print_data(&short(&decisions.loaded.snapshot, decision));
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
    loaded: Loaded,
}

fn answer(session: &Session<'_>, asked: &AccessRequest, kind: Option<&str>, detail: Detail) -> Option<Decisions> {
    let requests = match requests(session, asked) {
        Ok(requests) => requests,
        Err(refused) => {
            diagnostics::print(&refused.question.unwrap_or_default(), &refused.diagnostics);
            return None;
        }
    };
    let loaded = session.load_beside(asked.request.as_deref())?;
    let options = session.options();
    let decided = World::new(&loaded.snapshot, &options).decisions(&requests, kind, detail);
    match decided {
        Ok(all) => Some(Decisions { all, loaded }),
        Err(refused) => {
            tell_refused(&loaded, &refused);
            None
        }
    }
}

/// The requests that are asked about.
fn requests(session: &Session<'_>, asked: &AccessRequest) -> Result<Vec<Request>, Refused> {
    let now = now(session)?;
    let mut requests = match &asked.request {
        Some(file) => {
            let format = Reading::of_name(file).unwrap_or(Reading::Yaml);
            decisions::read(file, format, read(file)?, session.options().edition())?
        }
        None => vec![decisions::from_words(&asked.plain())?],
    };
    for request in &mut requests {
        fill_time(request, now);
    }
    Ok(requests)
}

/// The moment that the user named, or the clock.
pub(super) fn now(session: &Session<'_>) -> Result<Timestamp, Diagnostic> {
    let Some(text) = &session.common.now else { return Ok(clock()) };
    text.parse().map_err(|_| {
        let message = format!("`--now {text}` is no time");
        Diagnostic::error(Fault::BadSetting, message).help("for example `--now 2025-03-01T12:00:00Z`")
    })
}

/// The moment that the clock shows.
pub(super) fn clock() -> Timestamp {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since.as_nanos()).unwrap_or(i64::MAX))
}

/// The text of a file, or of standard input.
pub(super) fn read(file: &str) -> Result<String, Vec<Diagnostic>> {
    let text = if file == "-" {
        let mut text = String::new();
        std::io::stdin().lock().read_to_string(&mut text).map(|_| text)
    } else {
        std::fs::read_to_string(file)
    };
    text.map_err(|error| vec![Diagnostic::error(Fault::Unreadable, format!("cannot read `{file}`: {error}"))])
}
