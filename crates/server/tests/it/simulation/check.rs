//! What must hold of every history.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::history::{Answer, Condition, Edit, Exchange, Fault, History, Log, Question, Reader, Which, Write};
use super::world::OPEN_FROM;

/// The first thing that is not as it must be.
pub(super) fn violation(history: &History) -> Option<String> {
    let check = Check::new(history)?;
    check
        .once()
        .or_else(|| history.asked.iter().find_map(|exchange| check.exchange(exchange)))
        .or_else(|| check.monotonic())
        .or_else(|| check.ends())
}

struct Check<'h> {
    history: &'h History,
    /// The log at the end.
    log: &'h Log,
    /// When the database was put back for the last time.
    put_back: Option<u64>,
}

impl<'h> Check<'h> {
    fn new(history: &'h History) -> Option<Self> {
        let log = history.logs.last()?;
        let put_back = history.faults.iter().rev().find(|(_, fault)| matches!(fault, Fault::PutBack(_)));
        Some(Self { history, log, put_back: put_back.map(|(moment, _)| *moment) })
    }

    /// Whether an exchange may be about a log that is gone.
    fn may_be_gone(&self, exchange: &Exchange) -> bool {
        self.put_back.is_some_and(|moment| exchange.asked < moment)
    }

    /// Every entry comes from one write, and every write is there at most once.
    fn once(&self) -> Option<String> {
        let writes = self.history.asked.iter().filter_map(|exchange| match &exchange.question {
            Question::Write(write) => Some((super::history::message(write.number), write)),
            _ => None,
        });
        let writes: BTreeMap<String, &Write> = writes.collect();
        let mut seen = BTreeMap::new();
        for (place, (number, entry)) in self.log.0.iter().enumerate() {
            let expected = u64::try_from(place).unwrap_or_default() + 1;
            if *number != expected {
                return Some(format!("revision {expected} is missing"));
            }
            let message = entry.message.clone().unwrap_or_default();
            let Some(write) = writes.get(&message) else {
                return Some(format!("revision {number} has no author: {message}"));
            };
            if let Some(before) = seen.insert(message.clone(), number) {
                return Some(format!("{message} is there twice: revisions {before} and {number}"));
            }
            let before = self.log.documents(number - 1);
            for change in &entry.changes {
                let name = super::history::name(change.key().as_str());
                if !write.changes.iter().any(|(key, _)| *key == name) {
                    return Some(format!("revision {number} changes `{name}`, which {message} does not"));
                }
                let found = before.get(&name).map(|(_, revision)| *revision);
                let holds = match write.condition {
                    Condition::None => true,
                    Condition::Unchanged(revision) => found == Some(revision),
                    Condition::Absent => found.is_none(),
                };
                if !holds {
                    return Some(format!(
                        "the condition of {message} did not hold before revision {number}: {found:?}"
                    ));
                }
            }
        }
        None
    }

    fn exchange(&self, exchange: &Exchange) -> Option<String> {
        let answer = exchange.answer.as_ref()?;
        let said = |what: &str| Some(format!("{what}: {exchange:?}"));
        if answer.status >= 500 && answer.status != 503 {
            return said("a failure");
        }
        match &exchange.question {
            Question::Write(write) => self.write(exchange, write, answer),
            _ if answer.status != 200 && answer.status != 404 => None,
            // A revision that somebody saw may be gone with the log that it was in.
            Question::List { .. } if answer.status == 404 && self.put_back.is_some() => None,
            read => {
                let Some(revision) = answer.revision else {
                    return said("no revision");
                };
                let logs = self.history.logs.iter().filter(|log| log.last() >= revision);
                let mut logs = logs.peekable();
                if logs.peek().is_none() {
                    return said("an answer of a revision that never was kept");
                }
                if !logs.any(|log| is_right(read, answer, log, revision)) {
                    return said("not what was kept");
                }
                self.is_new_enough(exchange, revision)
            }
        }
    }

    fn write(&self, exchange: &Exchange, write: &Write, answer: &Answer) -> Option<String> {
        let said = |what: String| Some(format!("{what}: {exchange:?}"));
        let revision = answer.body["revision"].as_u64();
        let kept = self.log.revision_of(write.number);
        match answer.status {
            _ if self.may_be_gone(exchange) => None,
            201 if kept != revision => said(format!("acknowledged as {revision:?}, kept as {kept:?}")),
            201 => {
                let earlier = self.acknowledged_before(exchange);
                (earlier >= revision).then_some(())?;
                said(format!("{earlier:?} was acknowledged before it was asked"))
            }
            // The same request came to something before, or there was nothing to do.
            200 => {
                let before = revision.unwrap_or_default();
                let earlier = self.acknowledged_before(exchange);
                if kept.is_none() && earlier > Some(before) {
                    return said(format!(
                        "nothing was to be done at {before}, and {earlier:?} was acknowledged before"
                    ));
                }
                let documents = self.log.documents(before);
                let is_so = write.changes.iter().all(|(key, edit)| match edit {
                    Edit::Put => {
                        documents.get(*key).is_some_and(|(author, _)| *author == super::history::message(write.text))
                    }
                    Edit::Delete => !documents.contains_key(*key),
                });
                (!is_so).then(|| format!("nothing was to be done, and it is not so at {before}: {exchange:?}"))
            }
            412 | 404 => self.refused(exchange, write),
            _ => None,
        }
    }

    /// The last revision that was acknowledged before something was asked.
    fn acknowledged_before(&self, exchange: &Exchange) -> Option<u64> {
        let earlier = self.history.asked.iter().filter(|other| other.answered < exchange.asked);
        earlier.filter(|other| !self.may_be_gone(other)).filter_map(acknowledged).max()
    }

    /// A condition that did not hold: there was a moment, between question and answer, when it did not.
    fn refused(&self, exchange: &Exchange, write: &Write) -> Option<String> {
        let first = self.acknowledged_before(exchange).unwrap_or_default();
        let (key, edit) = write.changes.first()?;
        let fails = |at: u64| {
            let found = self.log.documents(at).get(*key).map(|(_, revision)| *revision);
            let is_there = *edit == Edit::Put || found.is_some();
            !is_there
                || match write.condition {
                    Condition::None => false,
                    Condition::Unchanged(revision) => found != Some(revision),
                    Condition::Absent => found.is_some(),
                }
        };
        let any = (first..=self.log.last()).any(fails);
        (!any).then(|| format!("the condition held all the time: {exchange:?}"))
    }

    /// A server sees what it acknowledged itself, and a reader who says so sees what they know.
    fn is_new_enough(&self, exchange: &Exchange, revision: u64) -> Option<String> {
        let at = match exchange.question {
            Question::List { which: Which::At(at), .. } => {
                return (at != revision).then(|| format!("another revision than asked for: {exchange:?}"));
            }
            Question::List { which: Which::AtLeast(least), .. } if revision < least => {
                return Some(format!("older than asked for: {exchange:?}"));
            }
            _ => revision,
        };
        if let Some(most) = self.history.max_stale.filter(|_| self.put_back.is_none()) {
            let since = exchange.times.0.saturating_sub(most);
            let known = self.history.asked.iter().filter(|other| other.times.1 < since).filter_map(acknowledged).max();
            if known > Some(at) {
                return Some(format!("{known:?} was acknowledged {most:?} before it was asked: {exchange:?}"));
            }
        }
        let own = self
            .history
            .asked
            .iter()
            .filter(|other| other.server == exchange.server && other.answered < exchange.asked);
        let own = own.filter(|other| !self.may_be_gone(other)).filter_map(acknowledged).max();
        let forgot = !self.may_be_gone(exchange) && own > Some(at);
        forgot.then(|| format!("this server acknowledged {own:?} before: {exchange:?}"))
    }

    /// No server goes back.
    fn monotonic(&self) -> Option<String> {
        let reads = || {
            let all = self.history.asked.iter().filter(|exchange| !self.may_be_gone(exchange));
            all.filter_map(|exchange| Some((exchange, current(exchange)?)))
        };
        for (later, revision) in reads() {
            let earlier = reads().filter(|(one, _)| one.server == later.server && one.answered < later.asked);
            // A server that goes on with a log that is gone follows the other one once it is started again.
            let earlier = earlier.filter(|(one, _)| self.put_back.is_none() || one.start == later.start);
            let before = earlier.map(|(_, revision)| revision).max();
            if before > Some(revision) {
                return Some(format!("it was at {before:?} before: {later:?}"));
            }
        }
        None
    }

    /// In the end all servers are ready and say the same; one that follows a log that is gone says that it is not ready.
    fn ends(&self) -> Option<String> {
        let last = self.log.last();
        let mut digests = self.history.ends.iter().filter(|end| end.ready == 200).map(|end| &end.digest);
        let first = digests.next();
        if digests.any(|digest| Some(digest) != first) {
            return Some("servers that are ready do not agree".to_owned());
        }
        let behind = self.history.ends.iter().find(|end| end.ready == 200 && end.revision != Some(last));
        if let Some(end) = behind {
            return Some(format!("it is ready, and not at {last}: {end:?}"));
        }
        let is_mended = self.put_back.is_none();
        let broken = self.history.ends.iter().find(|end| is_mended && end.ready != 200);
        broken.map(|end| format!("it is not ready in the end: {end:?}"))
    }
}

/// The revision of a write that was acknowledged.
fn acknowledged(exchange: &Exchange) -> Option<u64> {
    let answer = exchange.answer.as_ref().filter(|answer| answer.status == 201)?;
    matches!(exchange.question, Question::Write(_)).then(|| answer.body["revision"].as_u64())?
}

/// The revision that a server was at when it answered.
fn current(exchange: &Exchange) -> Option<u64> {
    let answer = exchange.answer.as_ref().filter(|answer| answer.status == 200)?;
    match exchange.question {
        Question::Write(_) | Question::List { which: Which::At(_), .. } => None,
        _ => answer.revision,
    }
}

/// Whether an answer is what a log says at a revision.
fn is_right(question: &Question, answer: &Answer, log: &Log, revision: u64) -> bool {
    let documents = log.documents(revision);
    let body = &answer.body;
    match question {
        Question::Document { key } => match documents.get(*key) {
            Some((author, changed)) => {
                answer.status == 200
                    && body["document"]["description"] == **author
                    && body["changed"].as_u64() == Some(*changed)
            }
            None => answer.status == 404,
        },
        Question::Decision { key } => match documents.get(*key) {
            Some((author, _)) => body["decision"] == "permit" && body["reason"] == **author,
            None => body["decision"] == "deny",
        },
        Question::List { reader, .. } => {
            let listed = body["items"].as_array().map_or(&[][..], Vec::as_slice);
            let listed: BTreeMap<String, (String, u64)> = listed.iter().map(item).collect();
            let (first, last) = answer.minutes;
            let sees = |from_then_on: bool| -> BTreeMap<_, _> {
                let sees = |name: &str| match reader {
                    Reader::Admin => true,
                    Reader::Guest => name == "a" || (name == "b" && from_then_on),
                };
                documents
                    .iter()
                    .filter(|(name, _)| sees(name))
                    .map(|(name, what)| (name.clone(), what.clone()))
                    .collect()
            };
            // Rights are asked again after a second, so the minute before may count as well.
            (last >= OPEN_FROM && listed == sees(true)) || (first <= OPEN_FROM && listed == sees(false))
        }
        Question::Write(_) => true,
    }
}

fn item(item: &Json) -> (String, (String, u64)) {
    let name = super::history::name(item["id"].as_str().unwrap_or_default());
    let author = item["document"]["description"].as_str().unwrap_or_default().to_owned();
    (name, (author, item["changed"].as_u64().unwrap_or_default()))
}
