//! Is everything in the database that was acknowledged? It is looked at before anything writes to it.

use std::fmt;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::head_files::{KeptHead, NAMES, Pair, StoreId};
use super::wal::FramesBehind;
use crate::log::{self, ChainEnd, Columns, Link, Value, statements};
use crate::{Result, Revision, StoreError};

/// What is missing in a store in a folder, or may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// The folder.
    pub folder: PathBuf,
    /// What speaks for it.
    pub evidence: Evidence,
    /// The last revision that is there.
    pub last: Revision,
    /// What stands in the write-ahead log and is not read.
    pub behind: Option<FramesBehind>,
}

/// What shows that something is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// A revision was acknowledged, and the database ends before it.
    Tail(Acknowledgement),
    /// A revision was acknowledged, and the database has another one of that number, or another past.
    History(Acknowledgement),
    /// The files with the last head, or one of them, are those of another store.
    Stranger,
    /// The files with the last head are gone, or cannot be read.
    NoHead,
    /// There never were such files, and the write-ahead log has transactions that SQLite does not read.
    Log,
    /// There is a write-ahead log, and no database.
    NoDatabase,
}

/// The last revision that was acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acknowledgement {
    /// Which.
    pub revision: Revision,
    /// When.
    pub time: Timestamp,
}

impl Evidence {
    /// The last revision that is known to have been acknowledged.
    pub fn acknowledged(&self) -> Option<Revision> {
        match self {
            Self::Tail(Acknowledgement { revision, .. }) | Self::History(Acknowledgement { revision, .. }) => {
                Some(*revision)
            }
            Self::Stranger | Self::NoHead | Self::Log | Self::NoDatabase => None,
        }
    }
}

impl Loss {
    /// What is missing, without what can be done.
    pub fn what(&self) -> String {
        let (folder, last, [one, other]) = (self.folder.display(), self.last, NAMES);
        let behind = self.behind.map_or_else(String::new, |behind| format!("; {behind}"));
        match &self.evidence {
            Evidence::Tail(Acknowledgement { revision, time }) => format!(
                "the store in {folder} lost revisions {} to {revision}: revision {revision} was acknowledged at {time:.0}, and the database ends with revision {last}{behind}",
                last.next()
            ),
            Evidence::History(Acknowledgement { revision, time }) => format!(
                "the store in {folder} lost what was acknowledged up to revision {revision} at {time:.0}: the database ends with revision {last} and has another history{behind}"
            ),
            Evidence::Stranger => format!(
                "the store in {folder} may have lost revisions: `{one}` and `{other}` do not both belong to it, and the database ends with revision {last}{behind}"
            ),
            Evidence::NoHead => format!(
                "the store in {folder} may have lost revisions: `{one}` and `{other}`, which say what was acknowledged, are missing or damaged, and the database ends with revision {last}{behind}"
            ),
            Evidence::Log => {
                format!("the store in {folder} lost revisions: the database ends with revision {last}{behind}")
            }
            Evidence::NoDatabase => {
                format!("the store in {folder} lost its database, and has a write-ahead log of it{behind}")
            }
        }
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, folder, last) = (self.what(), quoted(&self.folder), self.last);
        write!(
            f,
            "{what}. Nothing was changed: put the missing files back, or accept the loss with `upheld verify --data {folder} --accept-loss {last}`"
        )
    }
}

/// As a shell reads it.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |character: char| character.is_alphanumeric() || "/._-+:@%,=".contains(character);
    if text.chars().all(is_plain) { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

/// A loss that was accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AcceptedLoss {
    /// When.
    pub time: Timestamp,
    /// The last revision that is known to have been acknowledged.
    pub acknowledged: Option<Revision>,
    /// The last one that was there.
    pub last: Revision,
}

impl fmt::Display for AcceptedLoss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { time, acknowledged, last } = self;
        write!(f, "accepted at {time:.0}: the store ended with revision {last}, ")?;
        match acknowledged {
            Some(revision) => write!(f, "and revision {revision} had been acknowledged"),
            None => write!(f, "and it was not known what had been acknowledged"),
        }
    }
}

/// What a database says of itself.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Look {
    pub(super) store: Option<StoreId>,
    pub(super) last: Revision,
}

/// How sure one has to be that the past is the acknowledged one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Proof {
    /// A chain that an older program did not write is completed later.
    Later,
    Now,
}

/// Looks into a database, and holds it against the files.
pub(super) async fn look(
    connection: &mut sqlx::SqliteConnection,
    heads: &Pair,
    proof: Proof,
) -> Result<(Look, Option<Evidence>)> {
    let tables = connection.fetch(statements::TABLES, &[]).await?;
    let tables = tables.first().map_or(Ok(0), |row| row.integer(0))?;
    let [has_head, has_store, has_chain] = [1, 2, 4].map(|table| tables & table != 0);
    let store = if has_store { store(connection).await? } else { None };
    let last = if has_head { log::last(connection).await? } else { Revision::ZERO };
    let seen = Look { store, last };
    let evidence = match evidence(heads, seen) {
        Ok(Some(kept)) if has_chain => {
            let known = log::chain_end(connection).await?;
            let is_later = proof == Proof::Later && known.revision < kept.end.revision;
            let is_same = is_later || log::chain_at(connection, kept.end.revision).await? == Some(kept.end.chain);
            (!is_same).then(|| Evidence::History(kept.acknowledgement()))
        }
        Ok(_) => None,
        Err(evidence) => Some(evidence),
    };
    Ok((seen, evidence))
}

/// Which head the past must lead through, as far as that can be said without the chain. What was acknowledged before the first revision is
/// nothing.
pub(super) fn evidence(heads: &Pair, look: Look) -> std::result::Result<Option<&KeptHead>, Evidence> {
    if heads.is_mixed() {
        return Err(Evidence::Stranger);
    }
    let Some(kept) = heads.newest(look.store) else {
        return match look.store {
            None => Ok(None),
            Some(_) if heads.is_empty() => Err(Evidence::NoHead),
            Some(_) => Err(Evidence::Stranger),
        };
    };
    if kept.end.revision > look.last {
        return Err(Evidence::Tail(kept.acknowledgement()));
    }
    Ok(Some(kept).filter(|kept| kept.end.revision > Revision::ZERO))
}

impl KeptHead {
    fn acknowledgement(&self) -> Acknowledgement {
        Acknowledgement { revision: self.end.revision, time: self.time }
    }
}

async fn store(connection: &mut sqlx::SqliteConnection) -> Result<Option<StoreId>> {
    let rows = connection.fetch(statements::STORE, &[]).await?;
    let id = rows.first().map(|row| row.text(0)).transpose()?;
    id.map(|id| id.parse().map_err(|_| log::damaged("the id of a store", &id))).transpose()
}

/// Makes the tables that only files have, and notes which store it is.
pub(super) async fn name(connection: &mut sqlx::SqliteConnection, store: StoreId) -> Result<()> {
    for statement in [statements::MAKE_STORE, statements::MAKE_LOSS] {
        connection.execute(statement, &[]).await?;
    }
    connection.execute(statements::SET_STORE, &[Value::from(&*store.to_string())]).await
}

/// Notes that a loss was accepted.
pub(super) async fn accept(
    connection: &mut sqlx::SqliteConnection,
    loss: &Loss,
    end: ChainEnd,
    at: Timestamp,
) -> Result<()> {
    let (time, chain) = (log::time(at), end.chain.to_string());
    let acknowledged = loss.evidence.acknowledged().map(|revision| revision.to_string());
    let values = [
        Value::from(&*time),
        Value::Text(acknowledged.as_deref()),
        Value::Integer(log::number(end.revision)),
        Value::from(&*chain),
    ];
    connection.execute(statements::ADD_LOSS, &values).await
}

/// All losses that were accepted.
pub(super) async fn accepted(connection: &mut sqlx::SqliteConnection) -> Result<Vec<AcceptedLoss>> {
    let rows = connection.fetch(statements::LOSSES, &[]).await?;
    let losses = rows.iter().map(|row| {
        let number = |text: &str| text.parse().map_err(|_| log::damaged("a revision", &text));
        Ok(AcceptedLoss {
            time: row.text(0)?.parse().map_err(|_| log::damaged("a time", &"the time of a loss"))?,
            acknowledged: row.optional(1)?.map(number).transpose()?,
            last: log::revision(row.integer(2)?)?,
        })
    });
    losses.collect()
}

impl From<Loss> for StoreError {
    fn from(loss: Loss) -> Self {
        Self::Lost(Box::new(loss))
    }
}
