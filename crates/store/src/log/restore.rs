//! Taking over a history.

use std::collections::BTreeMap;

use super::append::{About, add_entry};
use super::changes::{self, Row, Since};
use super::link::{Link, Value};
use super::{number, read, statements};
use crate::{Entry, History, Result, Revision, State, StoreError};

/// Writes a history into a log without revisions; the caller commits.
pub(crate) async fn restore<L: Link>(link: &mut L, history: &History) -> Result<()> {
    let head = read::ends(link, L::LOCKED_HEAD).await?.head;
    if head.revision != Revision::ZERO {
        return Err(StoreError::Conflict(head.revision));
    }
    let base = history.base();
    let mut since = add_base(link, base).await?;
    for entry in history.entries() {
        changes::add(link, &changes::rows(entry.revision, &entry.changes, &mut since)).await?;
        let Entry { revision, time, actor, message, digest, chain, .. } = entry;
        let (revision, digest, chain) = (*revision, *digest, *chain);
        let (time, message) = (super::time(*time), message.as_deref());
        add_entry(link, About { revision, time: &time, actor, message, digest, chain }).await?;
    }
    let ends = [(base.digest(), history.base_chain()), (history.end().digest(), history.chain())];
    let [(oldest, oldest_chain), (end, chain)] = ends.map(|(digest, chain)| (digest.to_string(), chain.to_string()));
    let values = [Value::Integer(number(base.revision())), Value::from(&*oldest), Value::from(&*oldest_chain)];
    link.execute(statements::MOVE_OLDEST, &values).await?;
    let values = [Value::Integer(number(history.revision())), Value::from(&*end), Value::from(&*chain)];
    link.execute(statements::MOVE_HEAD, &values).await
}

/// The documents keep the revisions that changed them last, and their order.
async fn add_base(link: &mut impl Link, base: &State) -> Result<BTreeMap<String, Since>> {
    let at = number(base.revision());
    let rows: Vec<Row<'_>> = (0..)
        .zip(base.iter())
        .map(|(place, (key, document))| Row {
            revision: number(document.revision),
            place,
            key: key.as_str(),
            text: Some(&document.text),
            since: (at, place),
        })
        .collect();
    changes::add(link, &rows).await?;
    Ok(rows.iter().map(|row| (row.key.to_owned(), row.since)).collect())
}
