//! The chain of a log that a program wrote in part which kept none.

use serde::{Deserialize, Serialize};

use super::link::{Columns, Link, Value};
use super::read::{self, Ends};
use super::{number, statements};
use crate::{Chain, Result, Revision};

/// A revision with the fingerprint of everything up to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ChainEnd {
    pub(crate) revision: Revision,
    pub(crate) chain: Chain,
}

/// The last revision whose chain is known.
pub(crate) async fn chain_end(link: &mut impl Link) -> Result<ChainEnd> {
    let ends = read::ends(link, statements::HEAD).await?;
    Ok(ChainEnd { revision: ends.chain_revision, chain: ends.head.chain })
}

/// The chain up to a revision, where it is known: not before the oldest revision, and not where a program kept none.
pub(crate) async fn chain_at(link: &mut impl Link, at: Revision) -> Result<Option<Chain>> {
    let ends = read::ends(link, statements::HEAD).await?;
    if at == ends.chain_revision {
        return Ok(Some(ends.head.chain));
    }
    if at == ends.head.oldest {
        return Ok(Some(ends.head.oldest_chain));
    }
    let rows = link.fetch(statements::CHAIN, &[Value::Integer(number(at))]).await?;
    let Some(row) = rows.first() else { return Ok(None) };
    match row.text(0)? {
        "" => Ok(None),
        text => read::read(text, "a digest").map(Some),
    }
}

/// How many entries are read at once.
const PAGE: usize = 500;

/// Adds what is missing of the chain; the caller commits. The head is locked.
pub(crate) async fn complete<L: Link>(link: &mut L) -> Result<()> {
    let ends = read::ends(link, L::LOCKED_HEAD).await?;
    completed(link, &ends).await.map(drop)
}

/// The chain up to the last revision, where the ends are known and locked.
pub(super) async fn completed(link: &mut impl Link, ends: &Ends) -> Result<Chain> {
    let head = ends.head;
    if ends.chain_revision == head.revision {
        return Ok(head.chain);
    }
    let is_known = ends.chain_revision >= head.oldest;
    let (mut after, mut chain) =
        if is_known { (ends.chain_revision, head.chain) } else { (head.oldest, head.oldest_chain) };
    loop {
        let page = read::entries(link, after, PAGE).await?;
        let Some(last) = page.last() else { break };
        after = last.revision;
        for entry in &page {
            chain = entry.chain_after(chain);
            let text = chain.to_string();
            let values = [Value::Integer(number(entry.revision)), Value::from(&*text)];
            link.execute(statements::SET_CHAIN, &values).await?;
        }
    }
    let text = chain.to_string();
    let values = [Value::Integer(number(head.revision)), Value::from(&*text)];
    link.execute(statements::SET_HEAD_CHAIN, &values).await?;
    Ok(chain)
}

/// The chain up to a revision that is known.
pub(super) async fn up_to(link: &mut impl Link, ends: &Ends, at: Revision) -> Result<Chain> {
    let last = completed(link, ends).await?;
    if at == ends.head.revision {
        return Ok(last);
    }
    if at == ends.head.oldest {
        return Ok(ends.head.oldest_chain);
    }
    let rows = link.fetch(statements::CHAIN, &[Value::Integer(number(at))]).await?;
    let row = rows.first().ok_or_else(|| read::missing(at))?;
    read::read(row.text(0)?, "a digest")
}
