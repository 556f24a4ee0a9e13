//! Changes on their way into the database.

use std::collections::BTreeMap;

use super::link::{Columns, Link, Value};
use super::{number, statements};
use crate::{Change, Key, Result, Revision};

/// A row of `change`.
#[derive(Debug)]
pub(super) struct Row<'a> {
    pub(super) revision: i64,
    pub(super) place: i64,
    pub(super) key: &'a str,
    pub(super) text: Option<&'a str>,
    pub(super) since: Since,
}

/// Since when a document is there without a break: revision and place of the change that brought it.
pub(super) type Since = (i64, i64);

/// A document that is there before a change.
#[derive(Debug)]
pub(super) struct Present {
    pub(super) text: String,
    pub(super) since: Since,
}

/// The documents of some keys, as far as they are there.
pub(super) async fn present<'k>(link: &mut impl Link, keys: &[&'k Key]) -> Result<BTreeMap<String, Present>> {
    let mut present = BTreeMap::new();
    let sizes = &*statements::PRESENT;
    for (statement, keys) in parts(sizes, keys) {
        let values: Vec<Value<'k>> = keys.iter().map(|key| Value::from(key.as_str())).collect();
        for row in link.fetch(statement, &values).await? {
            let (text, since) = (row.text(1)?.to_owned(), (row.integer(2)?, row.integer(3)?));
            present.insert(row.text(0)?.to_owned(), Present { text, since });
        }
    }
    Ok(present)
}

/// The changes of a revision as rows. `since` says of the keys that are there since when, and is kept up.
pub(super) fn rows<'a>(at: Revision, changes: &'a [Change], since: &mut BTreeMap<String, Since>) -> Vec<Row<'a>> {
    let revision = number(at);
    let rows = (0..).zip(changes).map(|(place, change)| {
        let key = change.key().as_str();
        let (text, since) = match change {
            Change::Put { text, .. } => (Some(&**text), *since.entry(key.to_owned()).or_insert((revision, place))),
            Change::Delete { .. } => (None, since.remove(key).unwrap_or((revision, place))),
        };
        Row { revision, place, key, text, since }
    });
    rows.collect()
}

pub(super) async fn add(link: &mut impl Link, rows: &[Row<'_>]) -> Result<()> {
    let sizes = &*statements::ADD_CHANGES;
    for (statement, rows) in parts(sizes, rows) {
        let values = rows.iter().flat_map(|row| {
            let Row { revision, place, key, text, since } = row;
            [
                Value::Integer(*revision),
                Value::Integer(*place),
                Value::from(*key),
                Value::Text(*text),
                Value::Integer(since.0),
                Value::Integer(since.1),
            ]
        });
        let values: Vec<Value<'_>> = values.collect();
        link.execute(statement, &values).await?;
    }
    Ok(())
}

/// Parts of many as long as there are many, then one by one.
fn parts<'a, T>(
    sizes: &'static statements::Sizes,
    items: &'a [T],
) -> impl Iterator<Item = (&'static str, &'a [T])> + use<'a, T> {
    let many = items.chunks_exact(statements::MANY);
    let rest = many.remainder().chunks(1);
    many.map(|part| (sizes.many.as_str(), part)).chain(rest.map(|part| (sizes.one.as_str(), part)))
}
