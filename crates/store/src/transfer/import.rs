//! Reading a history.

use std::fmt::Display;
use std::io::BufRead;

use serde::de::DeserializeOwned;

use super::TransferError;
use super::line::{AnyHeader, CHAINED, Header, Kept, Line, VERSION};
use crate::{Digest, Document, Entry, History, Key, Revision, State, Store, StoreError, Verified};

/// What was taken over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Imported {
    /// The last revision.
    pub revision: Revision,
    /// The digest after it.
    pub digest: Digest,
    /// How many entries there are.
    pub entries: usize,
    /// How many documents there are at the end.
    pub documents: usize,
}

/// Takes over a history into an empty store: all of it, or nothing if any of it is wrong.
pub async fn import(store: &dyn Store, from: impl BufRead) -> Result<Imported, TransferError> {
    // A store that cannot take it over says so before everything is read.
    let head = store.head().await?;
    if head.revision != Revision::ZERO {
        return Err(TransferError::NotEmpty(head.revision));
    }
    let history = read(from)?;
    let imported = Imported {
        revision: history.revision(),
        digest: history.end().digest(),
        entries: history.entries().len(),
        documents: history.end().len(),
    };
    match store.restore(history).await {
        Err(StoreError::Conflict(revision)) => Err(TransferError::NotEmpty(revision)),
        restored => Ok(restored.map(|()| imported)?),
    }
}

/// Whether an exported history is whole, and what is in it; nothing is taken over.
pub fn check_export(from: impl BufRead) -> Result<Verified, TransferError> {
    let history = read(from)?;
    Ok(Verified {
        revision: history.revision(),
        oldest: history.base().revision(),
        digest: history.end().digest(),
        chain: history.chain(),
        documents: history.end().len(),
        entries: history.entries().len(),
    })
}

/// Reads and checks all of it.
fn read(from: impl BufRead) -> Result<History, TransferError> {
    let mut lines = from.lines().enumerate();
    let (_, first) = lines.next().ok_or_else(|| at(1, &"a history has a first line that describes it"))?;
    let header = header(&first?)?;
    let mut documents: Vec<(Key, Document)> = Vec::new();
    let mut entries: Vec<Entry> = Vec::new();
    for (index, line) in lines {
        match parse(index + 1, &line?)? {
            Line::Document(_) if !entries.is_empty() => {
                return Err(at(index + 1, &"documents come before entries"));
            }
            Line::Document(Kept { key, revision, text }) => documents.push((key, Document { text, revision })),
            Line::Entry(entry) => entries.push(entry),
        }
    }
    let announced = documents.len();
    let base = State::of(header.oldest, header.oldest_digest, documents);
    same("documents", &header.documents, &announced)?;
    same("different documents", &header.documents, &base.len())?;
    if header.version < CHAINED {
        let mut chain = header.oldest_chain;
        for entry in &mut entries {
            chain = entry.chain_after(chain);
            entry.chain = chain;
        }
    }
    let history = History::new(base, header.oldest_chain, entries)?;
    same("as last revision", &header.revision, &history.revision())?;
    if header.version >= CHAINED {
        same("as chain", &header.chain, &history.chain())?;
    }
    same("as digest", &header.digest, &history.end().digest())?;
    Ok(history)
}

fn header(line: &str) -> Result<Header, TransferError> {
    let any: AnyHeader =
        parse(1, line).map_err(|_| at(1, &"this is not an exported history: its first line does not describe one"))?;
    if any.version > VERSION {
        let reason =
            format!("its format has version {}, and this program supports versions up to {VERSION}", any.version);
        return Err(at(1, &reason));
    }
    parse(1, line)
}

fn parse<T: DeserializeOwned>(line: usize, text: &str) -> Result<T, TransferError> {
    serde_json::from_str(text).map_err(|error| at(line, &error))
}

fn at(line: usize, reason: &dyn Display) -> TransferError {
    TransferError::Line { line, reason: reason.to_string() }
}

fn same<T: PartialEq + ToString>(what: &'static str, announced: &T, found: &T) -> Result<(), TransferError> {
    if announced == found {
        return Ok(());
    }
    Err(TransferError::Announced { what, announced: announced.to_string(), found: found.to_string() })
}
