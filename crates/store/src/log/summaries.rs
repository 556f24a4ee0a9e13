//! Entries without the texts of documents.

use std::collections::BTreeMap;

use super::link::{Columns, Link, Value};
use super::read::{self, head};
use super::{number, revision, statements};
use crate::{EntrySummary, Key, KeyChange, Result, Revision, StoreError};

/// A part of the log, without texts, and with at most `keys` changes of each entry.
pub(crate) async fn summaries(
    link: &mut impl Link,
    after: Revision,
    limit: usize,
    keys: usize,
) -> Result<Vec<EntrySummary>> {
    let oldest = head(link).await?.oldest;
    if after < oldest {
        return Err(StoreError::Compacted { asked: after, oldest });
    }
    let [after, limit, keys] =
        [number(after), i64::try_from(limit).unwrap_or(i64::MAX), i64::try_from(keys).unwrap_or(i64::MAX)];
    let rows = link.fetch(statements::SUMMARIES, &[Value::Integer(after), Value::Integer(limit)]).await?;
    let Some(last) = rows.last() else { return Ok(Vec::new()) };
    let mut first = first_changes(link, [after, last.integer(0)?, keys]).await?;
    let summaries = rows.iter().map(|row| {
        let number = row.integer(0)?;
        let (changes, deletions) = (count(row.integer(5)?), count(row.integer(6)?));
        Ok(EntrySummary {
            revision: revision(number)?,
            time: read::read(row.text(1)?, "a time")?,
            actor: row.text(2)?.to_owned(),
            message: row.optional(3)?.map(str::to_owned),
            digest: read::read(row.text(4)?, "a digest")?,
            puts: changes.saturating_sub(deletions),
            deletions,
            first: first.remove(&number).unwrap_or_default(),
        })
    });
    summaries.collect()
}

fn count(number: i64) -> usize {
    usize::try_from(number).unwrap_or_default()
}

/// The first changes of the entries after one revision and up to another, by revision.
async fn first_changes(link: &mut impl Link, wanted: [i64; 3]) -> Result<BTreeMap<i64, Vec<KeyChange>>> {
    let mut first = BTreeMap::<i64, Vec<KeyChange>>::new();
    for row in link.fetch(statements::FIRST_CHANGES, &wanted.map(Value::Integer)).await? {
        let key: Key = read::read(row.text(1)?, "the id of a document")?;
        let change = if row.optional(2)?.is_some() { KeyChange::Put(key) } else { KeyChange::Delete(key) };
        first.entry(row.integer(0)?).or_default().push(change);
    }
    Ok(first)
}

#[cfg(test)]
mod tests {
    use sqlx::{AssertSqlSafe, Connection, Row, SqliteConnection};

    use super::*;

    /// P9: the first changes of entries and their number are found through indexes. No statement walks through the rows with the texts.
    #[tokio::test]
    async fn p9_summaries_are_found_through_indexes() {
        let mut connection = SqliteConnection::connect("sqlite::memory:").await.unwrap();
        super::super::migrate(&mut connection).await.unwrap();
        let by_entry = "SEARCH entry USING INDEX sqlite_autoindex_entry_1 (revision>?)";
        let last = "SEARCH change USING COVERING INDEX change_in_order (revision=?)";
        let deletions = "SEARCH change USING COVERING INDEX deletion (revision=? AND text=?)";
        let entries = "SEARCH entry USING COVERING INDEX sqlite_autoindex_entry_1 (revision>? AND revision<?)";
        let first = "SEARCH change USING INDEX change_in_order (revision=? AND place<?)";
        // Of each entry, the few that are named.
        let order = "USE TEMP B-TREE FOR LAST TERM OF ORDER BY";
        let expected = [
            (statements::SUMMARIES, vec![by_entry, last, deletions]),
            (statements::FIRST_CHANGES, vec![entries, first, order]),
        ];
        for (statement, expected) in expected {
            let plan = sqlx::query(AssertSqlSafe(format!("EXPLAIN QUERY PLAN {statement}")));
            let plan = plan.bind(0_i64).bind(10_i64).bind(3_i64).fetch_all(&mut connection).await.unwrap();
            let steps: Vec<String> = plan.iter().map(|step| step.get("detail")).collect();
            let steps: Vec<&String> = steps.iter().filter(|step| !step.starts_with("CORRELATED")).collect();
            assert_eq!(steps, expected);
        }
    }
}
