//! Reading. Each of these asks more than once, so a transaction must hold still what they see.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::Arc;

use super::link::{Columns, Link, Value};
use super::{damaged, number, revision, statements};
use crate::{Chain, Change, Digest, Document, Entry, Head, Key, Result, Revision, State, StoreError};

/// The head with what only the log needs to know.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ends {
    pub(super) head: Head,
    oldest_digest: Digest,
    /// Up to which revision the chain is known: a program that kept none may have gone on from there.
    pub(super) chain_revision: Revision,
}

/// The end of the log.
pub(crate) async fn head(link: &mut impl Link) -> Result<Head> {
    Ok(ends(link, statements::HEAD).await?.head)
}

/// The last revision, also of a program that kept no chain.
pub(crate) async fn last(link: &mut impl Link) -> Result<Revision> {
    let rows = link.fetch(statements::LAST, &[]).await?;
    rows.first().ok_or_else(headless).and_then(|row| revision(row.integer(0)?))
}

fn headless() -> StoreError {
    StoreError::Unusable("it is damaged: it has no head".to_owned())
}

/// Both ends of the log, by a statement that may lock them.
pub(super) async fn ends(link: &mut impl Link, statement: &'static str) -> Result<Ends> {
    let rows = link.fetch(statement, &[]).await?;
    let row = rows.first().ok_or_else(headless)?;
    Ok(Ends {
        head: Head {
            revision: revision(row.integer(0)?)?,
            digest: read(row.text(1)?, "a digest")?,
            chain: read(row.text(4)?, "a digest")?,
            oldest: revision(row.integer(2)?)?,
            oldest_chain: read(row.text(6)?, "a digest")?,
        },
        oldest_digest: read(row.text(3)?, "a digest")?,
        chain_revision: revision(row.integer(5)?)?,
    })
}

/// The fold of the log.
pub(crate) async fn state(link: &mut impl Link, at: Option<Revision>) -> Result<State> {
    let ends = ends(link, statements::HEAD).await?;
    let at = at.unwrap_or(ends.head.revision);
    let digest = digest(link, &ends, at).await?;
    let rows = link.fetch(statements::STATE, &[Value::Integer(number(at))]).await?;
    let documents = rows.iter().map(|row| {
        let key = read(row.text(0)?, "the id of a document")?;
        Ok((key, Document { text: Arc::from(row.text(1)?), revision: revision(row.integer(2)?)? }))
    });
    Ok(State::of(at, digest, documents.collect::<Result<Vec<_>>>()?))
}

/// The digest after a revision that must be known.
pub(super) async fn digest(link: &mut impl Link, ends: &Ends, at: Revision) -> Result<Digest> {
    let Head { revision: last, oldest, digest, .. } = ends.head;
    if at < oldest {
        return Err(StoreError::Compacted { asked: at, oldest });
    }
    if at > last {
        return Err(StoreError::Future { asked: at, last });
    }
    if at == last {
        return Ok(digest);
    }
    if at == oldest {
        return Ok(ends.oldest_digest);
    }
    let rows = link.fetch(statements::DIGEST, &[Value::Integer(number(at))]).await?;
    let row = rows.first().ok_or_else(|| missing(at))?;
    read(row.text(0)?, "a digest")
}

pub(super) fn missing(at: Revision) -> StoreError {
    StoreError::Unusable(format!("it is damaged: it has no revision {at}"))
}

/// The digest after a revision.
pub(crate) async fn digest_after(link: &mut impl Link, at: Revision) -> Result<Digest> {
    let ends = ends(link, statements::HEAD).await?;
    digest(link, &ends, at).await
}

/// A part of the log.
pub(crate) async fn entries(link: &mut impl Link, after: Revision, limit: usize) -> Result<Vec<Entry>> {
    let oldest = head(link).await?.oldest;
    if after < oldest {
        return Err(StoreError::Compacted { asked: after, oldest });
    }
    let (after, limit) = (number(after), i64::try_from(limit).unwrap_or(i64::MAX));
    let rows = link.fetch(statements::ENTRIES, &[Value::Integer(after), Value::Integer(limit)]).await?;
    let Some(last) = rows.last() else { return Ok(Vec::new()) };
    let last = last.integer(0)?;
    let mut changes = changes(link, after, last).await?;
    let entries = rows.iter().map(|row| {
        let number = row.integer(0)?;
        Ok(Entry {
            revision: revision(number)?,
            time: read(row.text(1)?, "a time")?,
            actor: row.text(2)?.to_owned(),
            message: row.optional(3)?.map(str::to_owned),
            digest: read(row.text(4)?, "a digest")?,
            chain: match row.text(5)? {
                // A program that kept none wrote it.
                "" => Chain::START,
                text => read(text, "a digest")?,
            },
            changes: changes.remove(&number).unwrap_or_default(),
        })
    });
    entries.collect()
}

/// The changes after one revision and up to another, by revision.
async fn changes(link: &mut impl Link, after: i64, last: i64) -> Result<BTreeMap<i64, Vec<Change>>> {
    let mut changes = BTreeMap::<i64, Vec<Change>>::new();
    for row in link.fetch(statements::CHANGES, &[Value::Integer(after), Value::Integer(last)]).await? {
        let key: Key = read(row.text(1)?, "the id of a document")?;
        let change = match row.optional(2)? {
            Some(text) => Change::Put { key, text: Arc::from(text) },
            None => Change::Delete { key },
        };
        changes.entry(row.integer(0)?).or_default().push(change);
    }
    Ok(changes)
}

pub(super) fn read<T: FromStr>(text: &str, what: &str) -> Result<T> {
    text.parse().map_err(|_| damaged(what, &text))
}
