//! The tables of the log without a database: what each statement does to them, in the words of the statements.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::log::{Columns, Value, statements};
use crate::{Chain, Digest, Result, StoreError};

/// All rows, as one transaction sees them.
#[derive(Clone, Debug)]
pub(super) struct Tables {
    head: Head,
    entries: BTreeMap<i64, Entry>,
    /// By key and revision.
    changes: BTreeMap<(Arc<str>, i64), Change>,
    idempotency: BTreeMap<Arc<str>, Idempotency>,
}

#[derive(Clone, Debug)]
struct Head {
    revision: i64,
    digest: Arc<str>,
    oldest: i64,
    oldest_digest: Arc<str>,
    chain: Arc<str>,
    chain_revision: i64,
    oldest_chain: Arc<str>,
}

#[derive(Clone, Debug)]
struct Entry {
    time: Arc<str>,
    actor: Arc<str>,
    message: Option<Arc<str>>,
    digest: Arc<str>,
    chain: Arc<str>,
}

#[derive(Clone, Debug)]
struct Change {
    place: i64,
    text: Option<Arc<str>>,
    since: (i64, i64),
}

#[derive(Clone, Debug)]
struct Idempotency {
    request: Arc<str>,
    revision: i64,
    time: Arc<str>,
}

/// A value of a row.
#[derive(Clone, Debug)]
pub(crate) enum Cell {
    Integer(i64),
    Text(Option<Arc<str>>),
}

impl From<i64> for Cell {
    fn from(number: i64) -> Self {
        Self::Integer(number)
    }
}

impl From<&Arc<str>> for Cell {
    fn from(text: &Arc<str>) -> Self {
        Self::Text(Some(Arc::clone(text)))
    }
}

impl From<&Option<Arc<str>>> for Cell {
    fn from(text: &Option<Arc<str>>) -> Self {
        Self::Text(text.clone())
    }
}

/// A row of an answer.
#[derive(Clone, Debug)]
pub(crate) struct Row(Vec<Cell>);

fn no_such(what: &str, column: usize) -> StoreError {
    StoreError::Unusable(format!("column {column} is not {what}"))
}

impl Columns for Row {
    fn integer(&self, column: usize) -> Result<i64> {
        match self.0.get(column) {
            Some(Cell::Integer(number)) => Ok(*number),
            _ => Err(no_such("a number", column)),
        }
    }

    fn text(&self, column: usize) -> Result<&str> {
        self.optional(column)?.ok_or_else(|| no_such("a text", column))
    }

    fn optional(&self, column: usize) -> Result<Option<&str>> {
        match self.0.get(column) {
            Some(Cell::Text(text)) => Ok(text.as_deref()),
            _ => Err(no_such("a text", column)),
        }
    }
}

impl Default for Tables {
    fn default() -> Self {
        let digest: Arc<str> = Digest::default().to_string().into();
        let chain: Arc<str> = Chain::START.to_string().into();
        let head = Head {
            revision: 0,
            digest: Arc::clone(&digest),
            oldest: 0,
            oldest_digest: digest,
            chain: Arc::clone(&chain),
            chain_revision: 0,
            oldest_chain: chain,
        };
        Self { head, entries: BTreeMap::new(), changes: BTreeMap::new(), idempotency: BTreeMap::new() }
    }
}

/// The values of a statement, one after the other.
struct Values<'v>(std::slice::Iter<'v, Value<'v>>);

impl Values<'_> {
    fn integer(&mut self) -> i64 {
        match self.0.next() {
            Some(Value::Integer(number)) => *number,
            _ => 0,
        }
    }

    fn optional(&mut self) -> Option<Arc<str>> {
        match self.0.next() {
            Some(Value::Text(text)) => text.map(Arc::from),
            _ => None,
        }
    }

    fn text(&mut self) -> Arc<str> {
        self.optional().unwrap_or_default()
    }
}

impl Tables {
    /// The last revision.
    pub(super) fn revision(&self) -> i64 {
        self.head.revision
    }

    /// The latest change of a key up to a revision.
    fn latest(&self, key: &Arc<str>, up_to: i64) -> Option<(i64, &Change)> {
        let mut of_key = self.changes.range((Arc::clone(key), i64::MIN)..=(Arc::clone(key), up_to));
        of_key.next_back().map(|((_, revision), change)| (*revision, change))
    }

    fn keys(&self) -> Vec<&Arc<str>> {
        let mut keys: Vec<_> = self.changes.keys().map(|(key, _)| key).collect();
        keys.dedup();
        keys
    }

    /// The rows that a statement asks for.
    pub(super) fn select(&self, statement: &str, values: &[Value<'_>]) -> Result<Vec<Row>> {
        let mut given = Values(values.iter());
        Ok(match statement {
            statements::HEAD | statements::LOCKED_HEAD => vec![self.head.row()],
            statements::DIGEST => self.of_entry(given.integer(), |entry| &entry.digest),
            statements::CHAIN => self.of_entry(given.integer(), |entry| &entry.chain),
            statements::LAST_TIME => self.of_entry(given.integer(), |entry| &entry.time),
            statements::STATE => self.state(given.integer()),
            statements::ENTRIES => {
                let (after, limit) = (given.integer(), usize::try_from(given.integer()).unwrap_or(usize::MAX));
                let later = self.entries.iter().filter(|(revision, _)| **revision > after);
                later.take(limit).map(|(revision, entry)| entry.row(*revision)).collect()
            }
            statements::SUMMARIES => {
                let (after, limit) = (given.integer(), usize::try_from(given.integer()).unwrap_or(usize::MAX));
                let later = self.entries.iter().filter(|(revision, _)| **revision > after);
                later.take(limit).map(|(revision, entry)| self.summary(*revision, entry)).collect()
            }
            statements::FIRST_CHANGES => self.first_changes(given.integer(), given.integer(), given.integer()),
            statements::CHANGES => self.changes_between(given.integer(), given.integer()),
            statements::IDEMPOTENCY => {
                let known = self.idempotency.get(&given.text());
                known.map(|known| Row(vec![Cell::from(&known.request), known.revision.into()])).into_iter().collect()
            }
            _ if statements::PRESENT.has(statement) => {
                let wanted = values.iter().map(|value| Values(std::slice::from_ref(value).iter()).text());
                wanted.filter_map(|key| self.present(&key)).collect()
            }
            other => return Err(unheard_of(other)),
        })
    }

    fn of_entry(&self, revision: i64, column: impl Fn(&Entry) -> &Arc<str>) -> Vec<Row> {
        self.entries.get(&revision).map(|entry| Row(vec![column(entry).into()])).into_iter().collect()
    }

    fn state(&self, at: i64) -> Vec<Row> {
        let row = |key: &Arc<str>| {
            let (revision, change) = self.latest(key, at)?;
            change.text.as_ref()?;
            Some((change.since, Row(vec![key.into(), Cell::from(&change.text), revision.into()])))
        };
        let mut rows: Vec<_> = self.keys().into_iter().filter_map(row).collect();
        rows.sort_by_key(|(since, _)| *since);
        rows.into_iter().map(|(_, row)| row).collect()
    }

    /// The changes after one revision and up to another, with their keys and revisions, in order.
    fn within(&self, after: i64, last: i64) -> Vec<(&(Arc<str>, i64), &Change)> {
        let within = self.changes.iter().filter(|((_, revision), _)| (after + 1..=last).contains(revision));
        let mut within: Vec<_> = within.collect();
        within.sort_by_key(|((_, revision), change)| (*revision, change.place));
        within
    }

    fn changes_between(&self, after: i64, last: i64) -> Vec<Row> {
        let row = |((key, revision), change): (&(Arc<str>, i64), &Change)| {
            Row(vec![(*revision).into(), key.into(), Cell::from(&change.text)])
        };
        self.within(after, last).into_iter().map(row).collect()
    }

    fn first_changes(&self, after: i64, last: i64, keys: i64) -> Vec<Row> {
        let put = |change: &Change| change.text.as_ref().map(|_| Arc::from("put"));
        let first = self.within(after, last).into_iter().filter(|(_, change)| change.place < keys);
        let row = |((key, revision), change): (&(Arc<str>, i64), &Change)| {
            Row(vec![(*revision).into(), key.into(), Cell::Text(put(change))])
        };
        first.map(row).collect()
    }

    fn summary(&self, revision: i64, entry: &Entry) -> Row {
        let own = self.within(revision - 1, revision);
        let changes = own.last().map_or(0, |(_, change)| change.place + 1);
        let deletions = own.iter().filter(|(_, change)| change.text.is_none()).count();
        let Entry { time, actor, message, digest, chain: _ } = entry;
        let deletions = i64::try_from(deletions).unwrap_or(i64::MAX);
        Row(vec![
            revision.into(),
            time.into(),
            actor.into(),
            Cell::from(message),
            digest.into(),
            changes.into(),
            deletions.into(),
        ])
    }

    fn present(&self, key: &Arc<str>) -> Option<Row> {
        let (_, change) = self.latest(key, i64::MAX)?;
        change.text.as_ref()?;
        let (revision, place) = change.since;
        Some(Row(vec![key.into(), Cell::from(&change.text), revision.into(), place.into()]))
    }

    /// What a statement changes.
    pub(super) fn change(&mut self, statement: &str, values: &[Value<'_>]) -> Result<()> {
        let mut given = Values(values.iter());
        match statement {
            statements::SAME_HEAD => {}
            statements::MOVE_HEAD => {
                self.head.revision = given.integer();
                (self.head.digest, self.head.chain) = (given.text(), given.text());
                self.head.chain_revision = self.head.revision;
            }
            statements::MOVE_OLDEST => {
                self.head.oldest = given.integer();
                (self.head.oldest_digest, self.head.oldest_chain) = (given.text(), given.text());
            }
            statements::SET_HEAD_CHAIN => {
                self.head.chain_revision = given.integer();
                self.head.chain = given.text();
            }
            statements::SET_CHAIN => {
                let revision = given.integer();
                if let Some(entry) = self.entries.get_mut(&revision) {
                    entry.chain = given.text();
                }
            }
            statements::ADD_ENTRY => {
                let revision = given.integer();
                let (time, actor) = (given.text(), given.text());
                let message = given.optional();
                let (digest, chain) = (given.text(), given.text());
                let entry = Entry { time, actor, message, digest, chain };
                unique(self.entries.insert(revision, entry).is_none(), "entry")?;
            }
            statements::ADD_IDEMPOTENCY => {
                let (name, request, revision, time) = (given.text(), given.text(), given.integer(), given.text());
                let added = self.idempotency.insert(name, Idempotency { request, revision, time });
                unique(added.is_none(), "idempotency")?;
            }
            statements::FORGET_SUPERSEDED => {
                let up_to = given.integer();
                let later: Vec<_> = self.changes.keys().filter(|(_, revision)| *revision <= up_to).cloned().collect();
                let is_superseded = |(key, revision): &(Arc<str>, i64)| {
                    self.latest(key, up_to).is_some_and(|(latest, _)| latest > *revision)
                };
                let gone: Vec<_> = later.into_iter().filter(is_superseded).collect();
                for key in gone {
                    self.changes.remove(&key);
                }
            }
            statements::FORGET_DELETIONS => {
                let up_to = given.integer();
                self.changes.retain(|(_, revision), change| *revision > up_to || change.text.is_some());
            }
            statements::FORGET_ENTRIES => {
                let up_to = given.integer();
                self.entries.retain(|revision, _| *revision > up_to);
            }
            statements::FORGET_IDEMPOTENCY => {
                let limit = given.text();
                self.idempotency.retain(|_, known| known.time >= limit);
            }
            _ if statements::ADD_CHANGES.has(statement) => {
                const COLUMNS: usize = 6;
                for row in values.chunks(COLUMNS) {
                    let mut given = Values(row.iter());
                    let (revision, place, key) = (given.integer(), given.integer(), given.text());
                    let text = given.optional();
                    let since = (given.integer(), given.integer());
                    let added = self.changes.insert((key, revision), Change { place, text, since });
                    unique(added.is_none(), "change")?;
                }
            }
            other => return Err(unheard_of(other)),
        }
        Ok(())
    }
}

impl Head {
    fn row(&self) -> Row {
        let Self { revision, digest, oldest, oldest_digest, chain, chain_revision, oldest_chain } = self;
        Row(vec![
            (*revision).into(),
            digest.into(),
            (*oldest).into(),
            oldest_digest.into(),
            chain.into(),
            (*chain_revision).into(),
            oldest_chain.into(),
        ])
    }
}

impl Entry {
    fn row(&self, revision: i64) -> Row {
        let Self { time, actor, message, digest, chain } = self;
        Row(vec![revision.into(), time.into(), actor.into(), Cell::from(message), digest.into(), chain.into()])
    }
}

fn unique(added: bool, table: &str) -> Result<()> {
    if added { Ok(()) } else { Err(StoreError::Unusable(format!("a row of the table `{table}` is there twice"))) }
}

fn unheard_of(statement: &str) -> StoreError {
    StoreError::Unusable(format!("the simulated database does not know `{statement}`"))
}
