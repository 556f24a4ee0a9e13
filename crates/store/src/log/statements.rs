//! Every statement, once. Those that are about many rows come in two sizes, so that a database prepares two and no more.

use std::sync::LazyLock;

/// How many rows the larger size has.
pub(crate) const MANY: usize = 100;

pub(crate) const HEAD: &str =
    "SELECT revision, digest, oldest, oldest_digest, chain, chain_revision, oldest_chain FROM head";

pub(crate) const LAST: &str = "SELECT revision FROM head";

/// For databases that lock rows.
pub(crate) const LOCKED_HEAD: &str =
    "SELECT revision, digest, oldest, oldest_digest, chain, chain_revision, oldest_chain FROM head FOR UPDATE";

pub(crate) const DIGEST: &str = "SELECT digest FROM entry WHERE revision = $1";

/// The fold: of each key the latest change up to a revision, unless that is a deletion.
pub(crate) const STATE: &str = "\
    SELECT change.key, change.text, change.revision \
    FROM (SELECT key, MAX(revision) AS revision FROM change WHERE revision <= $1 GROUP BY key) AS latest \
    JOIN change ON change.key = latest.key AND change.revision = latest.revision \
    WHERE change.text IS NOT NULL \
    ORDER BY change.since_revision, change.since_place";

pub(crate) const ENTRIES: &str = "\
    SELECT revision, time, actor, message, digest, chain FROM entry WHERE revision > $1 ORDER BY revision LIMIT $2";

pub(crate) const CHANGES: &str = "\
    SELECT revision, key, text FROM change WHERE revision > $1 AND revision <= $2 ORDER BY revision, place";

/// How many changes each entry has, and how many of them are deletions: two looks into an index for each. The places of an entry have no
/// gaps, so the last one tells how many there are.
pub(crate) const SUMMARIES: &str = "\
    SELECT entry.revision, entry.time, entry.actor, entry.message, entry.digest, \
    COALESCE((SELECT change.place + 1 FROM change WHERE change.revision = entry.revision \
    ORDER BY change.place DESC LIMIT 1), 0), \
    (SELECT COUNT(*) FROM change WHERE change.revision = entry.revision AND change.text IS NULL) \
    FROM entry WHERE entry.revision > $1 ORDER BY entry.revision LIMIT $2";

/// The first changes of each entry. The order of a cross join is kept: entry by entry, through the index by place.
pub(crate) const FIRST_CHANGES: &str = "\
    SELECT change.revision, change.key, CASE WHEN change.text IS NULL THEN NULL ELSE 'put' END \
    FROM entry CROSS JOIN change \
    WHERE entry.revision > $1 AND entry.revision <= $2 AND change.revision = entry.revision AND change.place < $3 \
    ORDER BY entry.revision, change.place";

pub(crate) const IDEMPOTENCY: &str = "SELECT request, revision FROM idempotency WHERE name = $1";

pub(crate) const ADD_IDEMPOTENCY: &str =
    "INSERT INTO idempotency (name, request, revision, time) VALUES ($1, $2, $3, $4)";

pub(crate) const ADD_ENTRY: &str =
    "INSERT INTO entry (revision, time, actor, message, digest, chain) VALUES ($1, $2, $3, $4, $5, $6)";

pub(crate) const MOVE_HEAD: &str = "UPDATE head SET revision = $1, digest = $2, chain = $3, chain_revision = $1";

pub(crate) const MOVE_OLDEST: &str = "UPDATE head SET oldest = $1, oldest_digest = $2, oldest_chain = $3";

/// A change that changes nothing: it shows whether the tables can be written.
pub(crate) const SAME_HEAD: &str = "UPDATE head SET revision = revision";

/// What a program that kept no chain left out.
pub(crate) const SET_CHAIN: &str = "UPDATE entry SET chain = $2 WHERE revision = $1";
pub(crate) const SET_HEAD_CHAIN: &str = "UPDATE head SET chain = $2, chain_revision = $1";

pub(crate) const CHAIN: &str = "SELECT chain FROM entry WHERE revision = $1";

/// The latest of each key stays, so the order in which rows go does not matter.
pub(crate) const FORGET_SUPERSEDED: &str = "\
    DELETE FROM change WHERE revision <= $1 AND EXISTS (\
    SELECT 1 FROM change AS later \
    WHERE later.key = change.key AND later.revision > change.revision AND later.revision <= $1)";

/// After what came before them is gone.
pub(crate) const FORGET_DELETIONS: &str = "DELETE FROM change WHERE revision <= $1 AND text IS NULL";

pub(crate) const FORGET_ENTRIES: &str = "DELETE FROM entry WHERE revision <= $1";

pub(crate) const LAST_TIME: &str = "SELECT time FROM entry WHERE revision = $1";

pub(crate) const FORGET_IDEMPOTENCY: &str = "DELETE FROM idempotency WHERE time < $1";

/// Which tables a file has, and whether its program kept a chain: a number with a bit for each.
pub(crate) const TABLES: &str = "\
    SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE name = 'head') \
    + 2 * EXISTS (SELECT 1 FROM sqlite_master WHERE name = 'store') \
    + 4 * EXISTS (SELECT 1 FROM pragma_table_info('head') WHERE name = 'chain_revision')";

/// Only files have these: which store it is, as the files with the last head have it, too, and the losses that were accepted.
pub(crate) const MAKE_STORE: &str =
    "CREATE TABLE IF NOT EXISTS store (only_one INTEGER PRIMARY KEY CHECK (only_one = 1), id TEXT NOT NULL)";
pub(crate) const MAKE_LOSS: &str = "\
    CREATE TABLE IF NOT EXISTS loss (time TEXT NOT NULL, acknowledged TEXT, revision BIGINT NOT NULL, chain TEXT NOT NULL)";
pub(crate) const STORE: &str = "SELECT id FROM store";
pub(crate) const SET_STORE: &str =
    "INSERT INTO store (only_one, id) VALUES (1, $1) ON CONFLICT (only_one) DO UPDATE SET id = excluded.id";
pub(crate) const LOSSES: &str = "SELECT time, acknowledged, revision FROM loss ORDER BY rowid";
pub(crate) const ADD_LOSS: &str = "INSERT INTO loss (time, acknowledged, revision, chain) VALUES ($1, $2, $3, $4)";

/// A statement in two sizes.
pub(crate) struct Sizes {
    pub(super) one: String,
    pub(super) many: String,
}

/// Where documents of given keys are in the order, and what they say.
pub(crate) static PRESENT: LazyLock<Sizes> = LazyLock::new(|| {
    sizes(|rows| {
        let wanted = placeholders(rows, 1);
        format!(
            "WITH wanted (key) AS (VALUES {wanted}) \
            SELECT change.key, change.text, change.since_revision, change.since_place \
            FROM wanted JOIN change ON change.key = wanted.key \
            AND change.revision = (SELECT MAX(latest.revision) FROM change AS latest WHERE latest.key = wanted.key) \
            WHERE change.text IS NOT NULL"
        )
    })
});

pub(crate) static ADD_CHANGES: LazyLock<Sizes> = LazyLock::new(|| {
    sizes(|rows| {
        let rows = placeholders(rows, 6);
        format!("INSERT INTO change (revision, place, key, text, since_revision, since_place) VALUES {rows}")
    })
});

#[cfg(feature = "testing")]
impl Sizes {
    /// Whether a statement is this one, in either size.
    pub(crate) fn has(&self, statement: &str) -> bool {
        [&self.one, &self.many].into_iter().any(|size| size == statement)
    }
}

fn sizes(statement: impl Fn(usize) -> String) -> Sizes {
    Sizes { one: statement(1), many: statement(MANY) }
}

/// `($1, $2), ($3, $4)`.
fn placeholders(rows: usize, columns: usize) -> String {
    let row = |row: usize| {
        let values: Vec<String> = (1..=columns).map(|column| format!("${}", row * columns + column)).collect();
        format!("({})", values.join(", "))
    };
    let rows: Vec<String> = (0..rows).map(row).collect();
    rows.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_counted_through() {
        assert_eq!(placeholders(2, 3), "($1, $2, $3), ($4, $5, $6)");
    }
}
