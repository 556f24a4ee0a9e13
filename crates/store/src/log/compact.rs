//! Forgetting.

use jiff::Timestamp;

use super::link::{Columns, Link, Value};
use super::{chain, number, read, statements, time};
use crate::{Result, Revision, retention};

/// Forgets what came before the state of a revision; the caller commits.
pub(crate) async fn compact<L: Link>(link: &mut L, up_to: Revision) -> Result<()> {
    let ends = read::ends(link, L::LOCKED_HEAD).await?;
    let digest = read::digest(link, &ends, up_to).await?.to_string();
    let chain = chain::up_to(link, &ends, up_to).await?.to_string();
    forget_keys(link, ends.head.revision).await?;
    let up_to = Value::Integer(number(up_to));
    for statement in [statements::FORGET_SUPERSEDED, statements::FORGET_DELETIONS, statements::FORGET_ENTRIES] {
        link.execute(statement, &[up_to]).await?;
    }
    link.execute(statements::MOVE_OLDEST, &[up_to, Value::from(&*digest), Value::from(&*chain)]).await
}

async fn forget_keys(link: &mut impl Link, last: Revision) -> Result<()> {
    let rows = link.fetch(statements::LAST_TIME, &[Value::Integer(number(last))]).await?;
    let Some(row) = rows.first() else { return Ok(()) };
    let last: Timestamp = read::read(row.text(0)?, "a time")?;
    let Some(limit) = retention::keys_before(last) else { return Ok(()) };
    link.execute(statements::FORGET_IDEMPOTENCY, &[Value::from(&*time(limit))]).await
}
