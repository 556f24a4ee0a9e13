//! `can`: may this happen? A gate: the exit code is the answer.

use std::io::{BufRead, BufReader, BufWriter, Read, StdoutLock, Write};

use serde_json::json;
use upheld_answers::decisions::{decider, fill_time, short as brief};
use upheld_dialects::access::{Edition, request};
use upheld_engine::decide::Decide;
use upheld_engine::{KindId, Snapshot};
use upheld_input::{Format as Reading, parse};
use upheld_model::{Diagnostic, Diagnostics, Fault, Severity, SourceId, Timestamp};

use super::{answer, exit_of, now};
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
        tell(session, &decisions.loaded.snapshot, decision);
    }
    exit_of(&decisions.all)
}

fn tell(session: &Session<'_>, snapshot: &Snapshot, decision: &Decision) {
    match session.screen.format {
        Format::Table | Format::Wide => session.screen.print(&format!("{}\n", decision.answer)),
        Format::Name => print_plain(&format!("{}\n", decision.outcome)),
        Format::Json | Format::Yaml | Format::Jsonl => session.screen.print_data(&short(snapshot, decision)),
    }
}

fn short(snapshot: &Snapshot, decision: &Decision) -> serde_json::Value {
    let Decision { obligations, advice, .. } = decision;
    let mut answer = brief(snapshot, decision);
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

/// Answers a request a line, in the same order and as they come; a line that is no request is answered with what is wrong
/// with it.
fn batch(session: &Session<'_>, file: &str, kind: Option<&str>) -> Exit {
    let now = match now(session) {
        Ok(now) => now,
        Err(problem) => return refuse(&[problem]),
    };
    let mut lines: BufReader<Box<dyn Read>> = match open(file) {
        Ok(input) => BufReader::new(input),
        Err(problem) => return refuse(&[problem]),
    };
    let Some(loaded) = session.load_beside(Some(file)) else { return Exit::Failed };
    let (kind, policies) = match decider(&loaded.snapshot, kind) {
        Ok(found) => found,
        Err(problem) => return refuse(&[problem]),
    };
    let line =
        Line { session, snapshot: &loaded.snapshot, kind, policies, now, edition: session.options().edition(), file };
    let mut out = Written::new(session.screen.format);
    let (mut number, mut text) = (0, String::new());
    let mut worst = Exit::Yes;
    loop {
        text.clear();
        match lines.read_line(&mut text) {
            Ok(0) => break,
            Ok(_) => number += 1,
            Err(error) => {
                let message = format!("cannot read line {} of `{file}`: {error}", number + 1);
                out.finish();
                return refuse(&[Diagnostic::error(Fault::Unreadable, message)]);
            }
        }
        if text.trim().is_empty() {
            continue;
        }
        let answer = line.answer(number - 1, text.trim_end());
        worst = worse(worst, answer.as_ref().map_or(Exit::Failed, |decision| exit_of(std::slice::from_ref(decision))));
        let shown = match answer {
            Ok(decision) => line.shown(number, &decision),
            Err(message) => line.shown_error(number, &message),
        };
        // Whoever reads has enough.
        if !out.put(&shown, lines.buffer().is_empty()) {
            return worst;
        }
    }
    out.finish();
    worst
}

fn open(file: &str) -> Result<Box<dyn Read>, Diagnostic> {
    if file == "-" {
        return Ok(Box::new(std::io::stdin()));
    }
    let opened = std::fs::File::open(file);
    let unreadable = |error| Diagnostic::error(Fault::Unreadable, format!("cannot read `{file}`: {error}"));
    opened.map(|file| Box::new(file) as Box<dyn Read>).map_err(unreadable)
}

/// What a batch comes to: a line that cannot be read before a denial before what nobody can tell.
fn worse(one: Exit, other: Exit) -> Exit {
    let order = [Exit::Failed, Exit::No, Exit::Undecided, Exit::Yes];
    order.into_iter().find(|exit| *exit == one || *exit == other).unwrap_or(Exit::Yes)
}

/// Answers on their way out: lines, or the items of one document.
struct Written {
    out: BufWriter<StdoutLock<'static>>,
    format: Format,
    items: usize,
}

impl Written {
    fn new(format: Format) -> Self {
        Self { out: BufWriter::new(std::io::stdout().lock()), format, items: 0 }
    }

    /// Writes an answer; whether anybody still reads.
    fn put(&mut self, answer: &str, waiting: bool) -> bool {
        let before = match (self.format, self.items) {
            (Format::Json, 0) => "[\n",
            (Format::Json, _) => ",\n",
            (Format::Yaml, _) => "- ",
            _ => "",
        };
        let after = if self.format == Format::Json { "" } else { "\n" };
        self.items += 1;
        let written = write!(self.out, "{before}{answer}{after}");
        let flushed = if waiting { self.out.flush() } else { Ok(()) };
        written.and(flushed).is_ok()
    }

    fn finish(mut self) {
        let end = match (self.format, self.items) {
            (Format::Json | Format::Yaml, 0) => "[]\n",
            (Format::Json, _) => "\n]\n",
            _ => "",
        };
        // A reader that has enough is no failure.
        drop(self.out.write_all(end.as_bytes()).and_then(|()| self.out.flush()));
    }
}

struct Line<'a> {
    session: &'a Session<'a>,
    snapshot: &'a Snapshot,
    kind: KindId,
    policies: &'a Decide,
    now: Timestamp,
    edition: Edition,
    file: &'a str,
}

impl Line<'_> {
    fn answer(&self, number: usize, text: &str) -> Result<Decision, String> {
        let (parsed, mut problems) = parse(self.file, Reading::Json, text.to_owned(), SourceId::new(0));
        let mut found = Diagnostics::default();
        let document = parsed.tree.documents().next();
        let request = document.and_then(|document| request::read(SourceId::new(0), document, self.edition, &mut found));
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

    fn shown(&self, number: usize, decision: &Decision) -> String {
        match self.session.screen.format {
            Format::Table | Format::Wide => crate::render::decision::line(decision),
            Format::Name => decision.outcome.to_owned(),
            Format::Json | Format::Yaml | Format::Jsonl => {
                let mut answer = short(self.snapshot, decision);
                if let Some(map) = answer.as_object_mut() {
                    map.insert("line".to_owned(), json!(number));
                }
                answer.to_string()
            }
        }
    }

    fn shown_error(&self, number: usize, message: &str) -> String {
        match self.session.screen.format {
            Format::Table | Format::Wide | Format::Name => "error".to_owned(),
            Format::Json | Format::Yaml | Format::Jsonl => json!({"error": message, "line": number}).to_string(),
        }
    }
}
