//! `can`: may this happen? A gate: the exit code is the answer.

use serde_json::json;
use upheld_dialects::access::request;
use upheld_engine::decide::Decide;
use upheld_engine::{KindId, Snapshot};
use upheld_input::{Format as Reading, parse};
use upheld_model::{Diagnostic, Diagnostics, Fault, Severity, SourceId, Timestamp};

use super::asked::{edition, fill_time, now, read};
use super::{answer, decider, exit_of};
use crate::cli::{Can, Format};
use crate::commands::{Session, refuse, say};
use crate::exit::Exit;
use crate::render::print_plain;
use crate::report::{Decision, Detail, decide};

pub(in crate::commands) fn run(session: &Session<'_>, can: &Can) -> Exit {
    if let Some(file) = &can.batch {
        return batch(session, file, can.kind.as_deref());
    }
    if !can.request.is_asked() {
        let message = "who wants to do what?";
        let help = "for example `upheld can --subject role=admin --action DELETE --resource /api/audit/123`";
        return refuse(&[Diagnostic::error(Fault::IncompleteQuestion, message).help(help)]);
    }
    let Some(decisions) = answer(session, &can.request, can.kind.as_deref(), Detail::Sentence) else {
        return Exit::Failed;
    };
    for decision in &decisions.all {
        tell(session, decision);
    }
    exit_of(&decisions.all)
}

fn tell(session: &Session<'_>, decision: &Decision) {
    match session.screen.format {
        Format::Table | Format::Wide => session.screen.print(&format!("{}\n", decision.answer)),
        Format::Name => print_plain(&format!("{}\n", decision.outcome)),
        Format::Json | Format::Yaml | Format::Jsonl => session.screen.print_data(&short(decision)),
    }
}

fn short(decision: &Decision) -> serde_json::Value {
    let Decision { outcome: word, policy, reason, obligations, advice, .. } = decision;
    let mut answer = json!({"decision": word, "policy": policy, "reason": reason});
    if let Some(map) = answer.as_object_mut() {
        if !obligations.is_empty() {
            map.insert("obligations".to_owned(), json!(obligations));
        }
        if !advice.is_empty() {
            map.insert("advice".to_owned(), json!(advice));
        }
    }
    answer
}

/// Answers a request a line, in the same order; a line that is no request is answered with what is wrong with it.
fn batch(session: &Session<'_>, file: &str, kind: Option<&str>) -> Exit {
    let text = match read(file) {
        Ok(text) => text,
        Err(problems) => return refuse(&problems),
    };
    let now = match now(session) {
        Ok(now) => now,
        Err(problem) => return refuse(&[problem]),
    };
    let Some(loaded) = session.load_beside(Some(file)) else { return Exit::Failed };
    let (kind, policies) = match decider(&loaded.snapshot, kind) {
        Ok(found) => found,
        Err(problem) => return refuse(&[problem]),
    };
    let line = Line { session, snapshot: &loaded.snapshot, kind, policies, now, file };
    let mut decisions = Vec::new();
    let mut broken = false;
    let mut out = String::new();
    for (number, text) in text.lines().enumerate().filter(|(_, text)| !text.trim().is_empty()) {
        match line.answer(number, text) {
            Ok(decision) => {
                out.push_str(&line.shown(&decision));
                decisions.push(decision);
            }
            Err(message) => {
                broken = true;
                out.push_str(&line.shown_error(&message));
            }
        }
    }
    print_plain(&out);
    if broken { Exit::Failed } else { exit_of(&decisions) }
}

struct Line<'a> {
    session: &'a Session<'a>,
    snapshot: &'a Snapshot,
    kind: KindId,
    policies: &'a Decide,
    now: Timestamp,
    file: &'a str,
}

impl Line<'_> {
    fn answer(&self, number: usize, text: &str) -> Result<Decision, String> {
        let (parsed, mut problems) = parse(self.file, Reading::Json, text.to_owned(), SourceId::new(0));
        let mut found = Diagnostics::default();
        let document = parsed.tree.documents().next();
        let request =
            document.and_then(|document| request::read(SourceId::new(0), document, edition(self.session), &mut found));
        problems.extend(found);
        let errors: Vec<&Diagnostic> = problems.iter().filter(|problem| problem.severity == Severity::Error).collect();
        match (request, errors.first()) {
            (Some(mut request), None) => {
                fill_time(&mut request, self.now);
                Ok(decide(self.snapshot, self.kind, self.policies, &request, Detail::Answer))
            }
            (_, first) => {
                let what = first.map_or("no request", |problem| problem.message.as_str()).to_owned();
                say(&format!("{}:{}: {what}", self.file, number + 1));
                Err(what)
            }
        }
    }

    fn shown(&self, decision: &Decision) -> String {
        match self.session.screen.format {
            Format::Table | Format::Wide => format!("{}\n", crate::render::decision::line(decision)),
            Format::Name => format!("{}\n", decision.outcome),
            Format::Json | Format::Yaml | Format::Jsonl => format!("{}\n", short(decision)),
        }
    }

    fn shown_error(&self, message: &str) -> String {
        match self.session.screen.format {
            Format::Table | Format::Wide | Format::Name => "error\n".to_owned(),
            Format::Json | Format::Yaml | Format::Jsonl => format!("{}\n", json!({"error": message})),
        }
    }
}
