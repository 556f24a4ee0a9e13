//! Reading a history.

use std::fmt::Display;
use std::io::BufRead;

use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};

use super::line::{AnyHeader, CHAINED, Header, Kept, Line, SIGNED};
use super::signature::Signature;
use super::{Signed, TransferError, VerifyingKey};
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

/// Takes over a history into an empty store: all of it, or nothing if any of it is wrong. With a key, only what that key signed.
pub async fn import(
    store: &dyn Store,
    from: impl BufRead,
    key: Option<&VerifyingKey>,
) -> Result<Imported, TransferError> {
    // A store that cannot take it over says so before everything is read.
    let head = store.head().await?;
    if head.revision != Revision::ZERO {
        return Err(TransferError::NotEmpty(head.revision));
    }
    let (history, _) = read(from, key)?;
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

/// Whether an exported history is whole, what is in it, and who wrote it; nothing is taken over. With a key, it must be what that key signed.
pub fn check_export(from: impl BufRead, key: Option<&VerifyingKey>) -> Result<(Verified, Signed), TransferError> {
    let (history, signed) = read(from, key)?;
    let verified = Verified {
        revision: history.revision(),
        oldest: history.base().revision(),
        digest: history.end().digest(),
        chain: history.chain(),
        documents: history.end().len(),
        entries: history.entries().len(),
    };
    Ok((verified, signed))
}

/// Reads and checks all of it.
fn read(from: impl BufRead, key: Option<&VerifyingKey>) -> Result<(History, Signed), TransferError> {
    let mut lines = Lines { from, number: 0, content: Sha256::new() };
    let first = lines.next()?.ok_or_else(|| at(1, &"a history has a first line that describes it"))?;
    let header = header(&first)?;
    let mut documents: Vec<(Key, Document)> = Vec::new();
    let mut entries: Vec<Entry> = Vec::new();
    let mut signature = None;
    loop {
        let before = lines.content.clone();
        let Some(line) = lines.next()? else { break };
        match parse(lines.number, &line)? {
            _ if signature.is_some() => return Err(at(lines.number, &"nothing comes after the signature")),
            Line::Document(_) if !entries.is_empty() => {
                return Err(at(lines.number, &"documents come before entries"));
            }
            Line::Document(Kept { key, revision, text }) => documents.push((key, Document { text, revision })),
            Line::Entry(entry) => entries.push(entry),
            Line::Signature(said) => signature = Some((said, before)),
        }
    }
    let signed = signed(signature, &header, key)?;
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
    Ok((history, signed))
}

/// Who wrote it, as far as that is known. What must be signed and is not, or not by whom it must, is an error.
fn signed(
    signature: Option<(Signature, Sha256)>,
    header: &Header,
    key: Option<&VerifyingKey>,
) -> Result<Signed, TransferError> {
    let missing = "its first line announces a signature, and its last line is none";
    match (signature, key) {
        (None, Some(key)) => Err(TransferError::NotSigned(key.name())),
        (None, None) if header.version >= SIGNED => Err(at(1, &missing)),
        (None, None) => Ok(Signed::No),
        (Some((signature, _)), None) => Ok(Signed::Unchecked(signature.key)),
        (Some((signature, content)), Some(key)) if key.verifies(content.clone(), &signature) => {
            Ok(Signed::By(key.name()))
        }
        (Some((signature, _)), Some(key)) => {
            Err(TransferError::WrongSignature { wanted: key.name(), named: signature.key })
        }
    }
}

/// Lines, and the hash of everything up to the last of them.
struct Lines<R> {
    from: R,
    number: usize,
    content: Sha256,
}

impl<R: BufRead> Lines<R> {
    fn next(&mut self) -> Result<Option<String>, TransferError> {
        let mut line = String::new();
        if self.from.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        self.number += 1;
        self.content.update(line.as_bytes());
        line.truncate(line.trim_end_matches(['\n', '\r']).len());
        Ok(Some(line))
    }
}

fn header(line: &str) -> Result<Header, TransferError> {
    let any: AnyHeader =
        parse(1, line).map_err(|_| at(1, &"this is not an exported history: its first line does not describe one"))?;
    if any.version > SIGNED {
        let reason =
            format!("its format has version {}, and this program supports versions up to {SIGNED}", any.version);
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
