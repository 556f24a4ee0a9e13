//! `can`: may this happen? A gate: the exit code is the answer.

use std::io::{BufRead, BufReader, Read, Write};

use serde_json::json;
use upheld_dialects::access::decider::{Decider, WhichKind};
use upheld_dialects::access::questions::{edition, short};
use upheld_dialects::access::request;
use upheld_engine::Snapshot;
use upheld_loader::Format as Reading;
use upheld_model::{Diagnostic, Diagnostics, Fault, Severity, SourceId, Timestamp};
use upheld_syntax::parse;

use super::{by, now, obligations, with_obligations};
use crate::cli::{Can, Format, Question};
use crate::commands::{Asked, Session, ask, exit_of, refuse, say};
use crate::exit::Exit;
use crate::render::text::text;
use crate::render::{Document, document, print_names};
use crate::report::{Depth, Report, decide, visible, visible_json};

pub(in crate::commands) fn run(session: &Session<'_>, can: &Can) -> Exit {
    if let Some(file) = &can.batch {
        return batch(session, file, can.kind.as_deref());
    }
    if !can.request.is_asked() {
        let message = "who wants to do what?";
        let help = "for example `upheld can --subject role=admin --action DELETE --resource /api/audit/123`";
        return refuse(&[Diagnostic::error(Fault::IncompleteQuestion, message).help(help)]);
    }
    let question = Question { kind: can.kind.clone(), access: can.request.clone(), ..Question::default() };
    let Some(Asked { loaded, answer, .. }) = ask(session, &question, Depth::Headline) else { return Exit::Failed };
    for report in &answer.reports {
        print(session, &loaded.snapshot, report);
    }
    exit_of(&answer.reports)
}

fn print(session: &Session<'_>, snapshot: &Snapshot, decision: &Report) {
    match session.screen.format {
        Format::Table | Format::Wide => {
            let obligations = obligations(decision).map(|ids| text!("Obligations: {}\n", ids)).unwrap_or_default();
            session.screen.print(&text!("{}\n{}", decision.headline.text, obligations));
        }
        Format::Name => print_names([decision.verdict.word()]),
        Format::Json | Format::Yaml | Format::Jsonl => session.screen.print_data(&short(snapshot, decision)),
    }
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
    let decider = match Decider::of(&loaded.snapshot, WhichKind::of(kind, None), edition(&session.options())) {
        Ok(decider) => decider,
        Err(problem) => return refuse(&[problem]),
    };
    let line = Line { session, snapshot: &loaded.snapshot, decider, now, file };
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
    out: Document,
    format: Format,
    items: usize,
}

impl Written {
    fn new(format: Format) -> Self {
        Self { out: document(), format, items: 0 }
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
    decider: Decider<'a>,
    now: Timestamp,
    file: &'a str,
}

impl Line<'_> {
    fn answer(&self, number: usize, text: &str) -> Result<Report, String> {
        let (parsed, mut problems) = parse(self.file, Reading::Json, text.to_owned(), SourceId::new(0));
        let mut found = Diagnostics::default();
        let document = parsed.tree.documents().next();
        let request =
            document.and_then(|document| request::read(SourceId::new(0), document, self.decider.edition, &mut found));
        problems.extend(found);
        let errors: Vec<&Diagnostic> = problems.iter().filter(|problem| problem.severity == Severity::Error).collect();
        match (request, errors.first()) {
            (Some(request), None) => {
                let request = self.decider.complete(request, Some(self.now));
                Ok(decide(self.snapshot, self.decider.kind, self.decider.decide, &request, Depth::Answer))
            }
            (_, first) => {
                let what = first.map_or("no request", |problem| problem.message.as_str()).to_owned();
                say(&format!("{}:{}: {what}", self.file, number + 1));
                Err(what)
            }
        }
    }

    fn shown(&self, number: usize, decision: &Report) -> String {
        match self.session.screen.format {
            Format::Table | Format::Wide => {
                visible(&format!("{:<9}  {}{}", decision.verdict.word(), by(decision), with_obligations(decision)))
            }
            Format::Name => decision.verdict.word().to_owned(),
            Format::Json | Format::Yaml | Format::Jsonl => {
                let mut answer = short(self.snapshot, decision);
                if let Some(map) = answer.as_object_mut() {
                    map.insert("line".to_owned(), json!(number));
                }
                visible_json(&answer.to_string())
            }
        }
    }

    fn shown_error(&self, number: usize, message: &str) -> String {
        match self.session.screen.format {
            Format::Table | Format::Wide | Format::Name => "error".to_owned(),
            Format::Json | Format::Yaml | Format::Jsonl => {
                visible_json(&json!({"error": message, "line": number}).to_string())
            }
        }
    }
}
