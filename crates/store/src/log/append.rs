//! Adding an entry.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::changes::{self, Present};
use super::link::{Columns, Link, Value};
use super::{chain, number, read, revision, statements, time};
use crate::chain::Said;
use crate::{Appended, Batch, Chain, Change, Digest, IdempotencyKey, Key, Result, Revision, StoreError};

/// Adds an entry; the caller commits. The head is locked first, so of two that ask at once the second sees what the first did.
pub(crate) async fn append<L: Link>(link: &mut L, batch: &Batch) -> Result<Appended> {
    batch.check()?;
    let ends = read::ends(link, L::LOCKED_HEAD).await?;
    let head = ends.head;
    if let Some(key) = &batch.idempotency
        && let Some(before) = remembered(link, key).await?
    {
        return Ok(Appended::Before(before));
    }
    if batch.after != head.revision {
        return Err(StoreError::Conflict(head.revision));
    }
    batch.check_seen(head.digest)?;
    let revision = head.revision.next();
    let keys: Vec<&Key> = batch.changes.iter().map(Change::key).collect();
    let present = changes::present(link, &keys).await?;
    let digest = digest(head.digest, &batch.changes, &present);
    let mut since = present.into_iter().map(|(key, document)| (key, document.since)).collect();
    changes::add(link, &changes::rows(revision, &batch.changes, &mut since)).await?;
    let before = chain::completed(link, &ends).await?;
    let Batch { time: at, actor, message, changes, .. } = batch;
    let message = message.as_deref();
    let chain = before.after(Said { revision, time: *at, actor, message, digest, changes });
    let time = time(*at);
    let about = About { revision, time: &time, actor, message, digest, chain };
    add_entry(link, about).await?;
    if let Some(key) = &batch.idempotency {
        note(link, key, revision, &time).await?;
    }
    let texts = (digest.to_string(), chain.to_string());
    let values = [Value::Integer(number(revision)), Value::from(&*texts.0), Value::from(&*texts.1)];
    link.execute(statements::MOVE_HEAD, &values).await?;
    Ok(Appended::Now(revision, digest))
}

/// Notes that a request came to the last revision; the caller commits.
pub(crate) async fn remember<L: Link>(
    link: &mut L,
    key: &IdempotencyKey,
    seen: Option<Revision>,
    at: Timestamp,
) -> Result<Revision> {
    let head = read::ends(link, L::LOCKED_HEAD).await?.head;
    if let Some(before) = remembered(link, key).await? {
        return Ok(before);
    }
    if seen.is_some_and(|seen| seen != head.revision) {
        return Err(StoreError::Conflict(head.revision));
    }
    note(link, key, head.revision, &time(at)).await?;
    Ok(head.revision)
}

async fn note(link: &mut impl Link, key: &IdempotencyKey, revision: Revision, time: &str) -> Result<()> {
    let values =
        [Value::from(&*key.name), Value::from(&*key.request), Value::Integer(number(revision)), Value::from(time)];
    link.execute(statements::ADD_IDEMPOTENCY, &values).await
}

/// An entry without its changes.
#[derive(Clone, Copy, Debug)]
pub(super) struct About<'a> {
    pub(super) revision: Revision,
    pub(super) time: &'a str,
    pub(super) actor: &'a str,
    pub(super) message: Option<&'a str>,
    pub(super) digest: Digest,
    pub(super) chain: Chain,
}

pub(super) async fn add_entry(link: &mut impl Link, about: About<'_>) -> Result<()> {
    let About { revision, time, actor, message, digest, chain } = about;
    let (digest, chain) = (digest.to_string(), chain.to_string());
    let values = [
        Value::Integer(number(revision)),
        Value::from(time),
        Value::from(actor),
        Value::Text(message),
        Value::from(&*digest),
        Value::from(&*chain),
    ];
    link.execute(statements::ADD_ENTRY, &values).await
}

/// Which entry a request became when it was made before.
pub(crate) async fn remembered(link: &mut impl Link, key: &IdempotencyKey) -> Result<Option<Revision>> {
    let rows = link.fetch(statements::IDEMPOTENCY, &[Value::from(&*key.name)]).await?;
    let Some(row) = rows.first() else { return Ok(None) };
    if row.text(0)? != key.request {
        return Err(StoreError::KeyReused(key.name.clone()));
    }
    revision(row.integer(1)?).map(Some)
}

/// The digest after some changes, each of another key.
fn digest(before: Digest, changes: &[Change], present: &BTreeMap<String, Present>) -> Digest {
    changes.iter().fold(before, |digest, change| {
        let key = change.key();
        let digest = present.get(key.as_str()).map_or(digest, |old| digest.without(key, &old.text));
        match change {
            Change::Put { text, .. } => digest.with(key, text),
            Change::Delete { .. } => digest,
        }
    })
}
