//! What clients asked and saw, and what the database has.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use serde_json::Value as Json;
use upheld_store::{Change, Entry, Revision};

/// What happened in one simulation.
#[derive(Debug, Default)]
pub(super) struct History {
    /// In the order in which they were asked.
    pub(super) asked: Vec<Exchange>,
    /// What was done to machines, wires and the database, and when.
    pub(super) faults: Vec<(u64, Fault)>,
    /// The logs of the database: one, and one more each time it is put back.
    pub(super) logs: Vec<Log>,
    /// How old answers may be, if that is limited.
    pub(super) max_stale: Option<Duration>,
    /// What each server says when everything is mended.
    pub(super) ends: Vec<End>,
}

/// All entries of a log, by revision.
#[derive(Debug, Default)]
pub(super) struct Log(pub(super) BTreeMap<u64, Entry>);

/// Something that is done to a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fault {
    CrashServer(usize),
    StopServer(usize),
    CutWire(usize),
    CrashDatabase,
    ChangeClock(usize),
    PutBack(Revision),
}

/// One question with its answer.
#[derive(Debug)]
pub(super) struct Exchange {
    pub(super) client: usize,
    pub(super) server: usize,
    /// Which start of the server.
    pub(super) start: usize,
    pub(super) question: Question,
    /// Moments of the whole world: no two things have the same.
    pub(super) asked: u64,
    pub(super) answered: u64,
    /// The same by a clock that all share.
    pub(super) times: (Duration, Duration),
    /// Nothing if it did not come.
    pub(super) answer: Option<Answer>,
}

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Question {
    /// Puts or deletes a document.
    Write(Write),
    /// A document.
    Document { key: &'static str },
    /// All documents, at least as new or exactly as old as this.
    List { reader: Reader, which: Which },
    /// Whether a path may be asked for.
    Decision { key: &'static str },
}

/// A write; the same one may be asked several times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Write {
    /// Its number.
    pub(super) number: u64,
    /// What its documents say: the number of this write, or of an earlier one.
    pub(super) text: u64,
    pub(super) changes: Vec<(&'static str, Edit)>,
    pub(super) condition: Condition,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edit {
    Put,
    Delete,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Condition {
    None,
    /// It was last changed in this revision.
    Unchanged(u64),
    /// It is not there.
    Absent,
}

/// Who reads a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reader {
    /// May read everything.
    Admin,
    /// May read `a`, and `b` from a certain time on.
    Guest,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which {
    Current,
    AtLeast(u64),
    At(u64),
}

/// What came back.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    /// Of the view that answered.
    pub(super) revision: Option<u64>,
    pub(super) body: Json,
    /// The clock of the server when it was asked and when it answered: minutes of the day.
    pub(super) minutes: (i8, i8),
}

/// How a server ends.
#[derive(Debug)]
pub(super) struct End {
    pub(super) ready: u16,
    pub(super) revision: Option<u64>,
    pub(super) digest: Option<String>,
}

impl Log {
    /// The last revision.
    pub(super) fn last(&self) -> u64 {
        self.0.last_key_value().map_or(0, |(revision, _)| *revision)
    }

    /// The documents after a revision, by name: what wrote them, and when.
    pub(super) fn documents(&self, at: u64) -> BTreeMap<String, (String, u64)> {
        let mut documents = BTreeMap::new();
        for (revision, entry) in self.0.range(..=at) {
            for change in &entry.changes {
                let name = name(change.key().as_str());
                match change {
                    Change::Put { text, .. } => {
                        let document: Json = serde_json::from_str(text).unwrap_or_default();
                        let author = document["description"].as_str().unwrap_or_default().to_owned();
                        documents.insert(name, (author, *revision));
                    }
                    Change::Delete { .. } => drop(documents.remove(&name)),
                }
            }
        }
        documents
    }

    /// The revision that a write became.
    pub(super) fn revision_of(&self, write: u64) -> Option<u64> {
        let message = message(write);
        self.0.values().find(|entry| entry.message.as_deref() == Some(&message)).map(|entry| entry.revision.0)
    }
}

/// The last part of an id.
pub(super) fn name(key: &str) -> String {
    key.rsplit('/').next().unwrap_or_default().to_owned()
}

/// What the log says about a write.
pub(super) fn message(write: u64) -> String {
    format!("write-{write}")
}

impl History {
    /// What happened how often.
    pub(super) fn counts(&self) -> BTreeMap<&'static str, usize> {
        let mut counts = BTreeMap::new();
        let mut count = |what| *counts.entry(what).or_default() += 1;
        for (_, fault) in &self.faults {
            count(match fault {
                Fault::CrashServer(_) => "servers crashed",
                Fault::StopServer(_) => "servers stopped",
                Fault::CutWire(_) => "wires cut",
                Fault::CrashDatabase => "databases crashed",
                Fault::ChangeClock(_) => "clocks changed",
                Fault::PutBack(_) => "databases put back",
            });
        }
        for exchange in &self.asked {
            let is_write = matches!(exchange.question, Question::Write(_));
            count(match exchange.answer.as_ref().map(|answer| answer.status) {
                None => "questions without an answer",
                Some(201) => "writes acknowledged",
                Some(200) if is_write => "writes that changed nothing",
                Some(200) => "reads answered",
                Some(412) => "conditions that did not hold",
                Some(404) => "documents not found",
                Some(503) => "questions that could not be answered",
                Some(_) => "questions refused",
            });
        }
        counts
    }
}

impl fmt::Display for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (moment, fault) in &self.faults {
            writeln!(f, "{moment:>5}        {fault:?}")?;
        }
        for exchange in &self.asked {
            let Exchange { client, server, start, question, asked, answered, answer, .. } = exchange;
            write!(f, "{asked:>5}-{answered:<5} client {client} server {server}.{start} {question:?}: ")?;
            match answer {
                Some(Answer { status, revision, body, minutes }) => {
                    writeln!(f, "{status} at {revision:?} {minutes:?} {body}")?;
                }
                None => writeln!(f, "nothing")?,
            }
        }
        for (place, log) in self.logs.iter().enumerate() {
            for entry in log.0.values() {
                let changes: Vec<_> = entry.changes.iter().map(|change| change.key().as_str()).collect();
                writeln!(f, "log {place}: {} {:?} {changes:?}", entry.revision, entry.message)?;
            }
        }
        self.ends.iter().try_for_each(|end| writeln!(f, "{end:?}"))
    }
}
