//! Writing a history.

use std::io::{self, Write};
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use super::line::{Header, Kept, Line, Mark, SIGNED, VERSION};
use super::{SigningKey, TransferError};
use crate::history::Walk;
use crate::{BadHistory, Digest, Revision, Store};

/// How many entries are read at once.
const PAGE: usize = 200;

/// What was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exported {
    /// The last revision.
    pub revision: Revision,
    /// The digest after it.
    pub digest: Digest,
    /// How many entries it has.
    pub entries: usize,
}

/// Writes the history of a store as far as it goes now. What is appended meanwhile is not in it.
pub async fn export(store: &dyn Store, out: impl Write, key: Option<&SigningKey>) -> Result<Exported, TransferError> {
    let mut out = Hashed { out, content: Sha256::new() };
    let head = store.head().await?;
    let base = store.state(Some(head.oldest)).await?;
    let header = Header {
        upheld: Mark::History,
        version: if key.is_some() { SIGNED } else { VERSION },
        revision: head.revision,
        digest: head.digest,
        oldest: head.oldest,
        oldest_digest: base.digest(),
        chain: head.chain,
        oldest_chain: head.oldest_chain,
        documents: base.len(),
    };
    // A history that contradicts itself is not handed out as one.
    let mut walk = Walk::new(base.clone(), head.oldest_chain)?;
    write(&mut out, &header)?;
    for (key, document) in base.iter() {
        let kept = Kept { key: key.clone(), revision: document.revision, text: Arc::clone(&document.text) };
        write(&mut out, &Line::Document(kept))?;
    }
    let mut after = head.oldest;
    let mut entries = 0;
    while after < head.revision {
        let page = store.entries(after, PAGE).await?;
        let Some(last) = page.last() else { break };
        after = last.revision;
        for entry in page.into_iter().filter(|entry| entry.revision <= head.revision) {
            walk.step(&entry)?;
            write(&mut out, &Line::Entry(entry))?;
            entries += 1;
        }
    }
    let is_whole = (walk.state.revision(), walk.state.digest(), walk.chain) == (head.revision, head.digest, head.chain);
    if !is_whole {
        return Err(TransferError::History(BadHistory::Digest(head.revision)));
    }
    if let Some(key) = key {
        let signature = key.sign(out.content.clone());
        write(&mut out, &Line::Signature(signature))?;
    }
    out.flush()?;
    Ok(Exported { revision: head.revision, digest: head.digest, entries })
}

/// Writes, and hashes what it writes.
struct Hashed<W> {
    out: W,
    content: Sha256,
}

impl<W: Write> Write for Hashed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.out.write(bytes)?;
        self.content.update(bytes.get(..count).unwrap_or_default());
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

fn write(out: &mut impl Write, line: &impl serde::Serialize) -> Result<(), TransferError> {
    serde_json::to_writer(&mut *out, line).map_err(std::io::Error::from)?;
    out.write_all(b"\n")?;
    Ok(())
}
