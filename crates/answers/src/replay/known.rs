//! What policies do with requests that somebody made: which of them apply to any, and how many requests none of them decides.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use rayon::prelude::*;
use serde_json::json;
use upheld_dialects::access::logs::LogReader;
use upheld_dialects::access::questions::edition;
use upheld_dialects::access::request_words;
use upheld_engine::decide::{By, Decide, Request, Status, Truth};
use upheld_engine::{EntryId, Scratch, work};
use upheld_report::{Depth, Example, Refused, decide};

use super::{BadLine, Lines, MOST_BAD, Policies};
use crate::World;

/// What became of requests that somebody made.
#[derive(Clone, Debug, Default)]
pub struct KnownRequests {
    /// The kind of policies that decide them.
    pub kind: String,
    /// How many there are.
    pub requests: u64,
    /// Those that the default effect decides, and no policy.
    pub by_default: u64,
    /// One of these.
    pub example: Option<Example>,
    /// Policies that apply to none of them, whatever is hidden in them.
    pub idle: BTreeSet<String>,
    /// Lines that cannot be read.
    pub unreadable: u64,
    /// The first of these.
    pub bad: Vec<BadLine>,
}

/// Asks policies for requests of logs, one piece after the other.
#[derive(Debug)]
pub struct Known<'s> {
    reader: LogReader,
    policies: Policies<'s>,
    /// Who applies to some request, or may do so.
    applied: BTreeSet<EntryId>,
    by_default: Option<Request>,
    found: KnownRequests,
}

/// What became of a line.
enum Seen {
    Decided { by: By, applied: Vec<EntryId>, request: Box<Request> },
    Bad(String),
}

impl<'s> Known<'s> {
    /// By the policies of a world.
    pub fn new(world: &World<'s>) -> Result<Self, Refused> {
        Ok(Self {
            reader: LogReader::new(edition(world.options()), &[])?,
            policies: Policies::of(world, None)?,
            applied: BTreeSet::new(),
            by_default: None,
            found: KnownRequests::default(),
        })
    }

    /// Decides the requests of some more lines; empty ones are passed over.
    pub fn lines(&mut self, lines: Lines<'_>) {
        let work = work::here();
        let seen: Vec<Option<Seen>> = (lines.lines.par_iter())
            .map_init(Scratch::default, |scratch, line| {
                (!line.trim().is_empty()).then(|| work.during(|| self.seen(line, scratch)))
            })
            .collect();
        for (number, seen) in (lines.first..).zip(seen) {
            match seen {
                None => {}
                Some(Seen::Bad(message)) => {
                    self.found.unreadable += 1;
                    if self.found.bad.len() < MOST_BAD {
                        self.found.bad.push(BadLine { file: lines.file.to_owned(), line: number, message });
                    }
                }
                Some(Seen::Decided { by, applied, request }) => {
                    self.found.requests += 1;
                    self.applied.extend(applied);
                    if by == By::Default {
                        self.found.by_default += 1;
                        self.by_default.get_or_insert(*request);
                    }
                }
            }
        }
    }

    fn seen(&self, line: &str, scratch: &mut Scratch<Decide>) -> Seen {
        let request = match self.reader.read(line) {
            Ok(logged) => logged.request,
            Err(message) => return Seen::Bad(message),
        };
        let completed = self.policies.completed(&request);
        let decided = self.policies.decider.decided(&completed, scratch);
        let applies = scratch.hits().iter().filter(|hit| hit.measure.applies() != Truth::False);
        Seen::Decided { by: decided.by, applied: applies.map(|hit| hit.entry).collect(), request: Box::new(request) }
    }

    /// What all lines came to.
    pub fn finish(self) -> KnownRequests {
        let Self { policies, applied, by_default, found, .. } = self;
        let (snapshot, set, kind) = (policies.snapshot, policies.decider.decide, policies.decider.kind);
        let on = (0..).map(EntryId::new).zip(set.rules()).filter(|(_, rule)| rule.status == Status::On);
        let idle = on.filter(|(entry, _)| !applied.contains(entry)).map(|(_, rule)| rule.name.to_string()).collect();
        let example = by_default.map(|request| {
            let report = decide(snapshot, kind, set, &policies.completed(&request), Depth::Answer);
            let words = request_words(&request, None);
            Example { what: report.about.what, command: words.command(None), question: json!(words) }
        });
        let kind = snapshot.kind(kind).map(|kind| snapshot.text(kind.name).to_owned()).unwrap_or_default();
        KnownRequests { kind, example, idle, ..found }
    }
}
