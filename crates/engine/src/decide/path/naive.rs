//! The steps over texts, one letter after the other: what [`super::forms`] must come to.

use super::BadPath;
use super::steps::{Dots, Slashes, Step, escaped};

impl Step {
    /// The path after this step; nothing if there is nothing to do.
    pub(super) fn take(self, path: &str) -> Result<Option<String>, BadPath> {
        Ok(match self {
            Self::DecodesAll => return decoded(path, |_| true),
            Self::DecodesAllBut(kept) => return decoded(path, |byte| char::from(byte) != kept),
            Self::Decodes(wanted) => return decoded(path, |byte| char::from(byte) == wanted),
            Self::TakesBackslashesForSlashes => path.contains('\\').then(|| path.replace('\\', "/")),
            Self::CutsParameters => path.contains(';').then(|| without_parameters(path)),
            Self::CutsLastParameters => {
                let last = path.rfind('/').unwrap_or_default();
                let at = path.get(last..).and_then(|last| last.find(';'));
                at.and_then(|at| path.get(..last + at)).map(str::to_owned)
            }
            Self::EndsAt(end) => path.split_once(end).map(|(path, _)| path.to_owned()),
            Self::RemovesDots(dots) => without_dots(path, dots),
            Self::MergesSlashes => path.contains("//").then(|| merged(path)),
            Self::CutsHost(slashes) => without_host(path, slashes),
            Self::DropsBlanks => {
                let is_blank = |character: char| character <= ' ';
                let without = path.trim_end_matches(is_blank).replace(['\t', '\n', '\r'], "");
                (without.len() < path.len()).then_some(without)
            }
        })
    }
}

/// With those escapes decoded that are wanted; nothing if there are none. What is no escape stays as it is.
fn decoded(path: &str, wanted: impl Fn(u8) -> bool) -> Result<Option<String>, BadPath> {
    if !path.contains('%') {
        return Ok(None);
    }
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    // What stands between escapes is copied as it is.
    while let Some(at) = rest.iter().position(|byte| *byte == b'%') {
        let (before, escape) = rest.split_at(at);
        bytes.extend_from_slice(before);
        let length = match escaped(escape) {
            Some(byte) if wanted(byte) => {
                if byte == 0 {
                    return Err(BadPath::Nul);
                }
                bytes.push(byte);
                3
            }
            _ => {
                bytes.push(b'%');
                1
            }
        };
        rest = escape.get(length..).unwrap_or_default();
    }
    bytes.extend_from_slice(rest);
    if bytes.len() == path.len() {
        return Ok(None);
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Some(text)),
        // Some take an overlong form of a character for the character.
        Err(bad) if bad.as_bytes().iter().any(|byte| [0xc0, 0xc1, 0xe0, 0xf0].contains(byte)) => Err(BadPath::NotUtf8),
        // Slashes and dots are where they are, whatever the other bytes mean.
        Err(bad) => Ok(Some(String::from_utf8_lossy(bad.as_bytes()).into_owned())),
    }
}

fn without_parameters(path: &str) -> String {
    let mut kept = String::with_capacity(path.len());
    let mut rest = path;
    while let Some((before, after)) = rest.split_once(';') {
        kept.push_str(before);
        rest = after.find('/').and_then(|at| after.get(at..)).unwrap_or_default();
    }
    kept.push_str(rest);
    kept
}

fn merged(path: &str) -> String {
    let mut merged = String::with_capacity(path.len());
    let mut rest = path;
    while let Some(at) = rest.find("//") {
        let (before, after) = rest.split_at(at + 1);
        merged.push_str(before);
        rest = after.trim_start_matches('/');
    }
    merged.push_str(rest);
    merged
}

fn without_host(path: &str, slashes: Slashes) -> Option<String> {
    let after = path.strip_prefix("//")?;
    let after = match slashes {
        Slashes::Two => after,
        Slashes::All => after.trim_start_matches('/'),
    };
    Some(after.find('/').and_then(|at| after.get(at..)).unwrap_or("/").to_owned())
}

/// As RFC 3986 has it; nothing is above the root.
fn without_dots(path: &str, dots: Dots) -> Option<String> {
    if !path.split('/').any(|segment| dots.count(segment).is_some()) {
        return None;
    }
    let mut kept: Vec<&str> = Vec::new();
    let mut changed = false;
    let mut given = path.split('/').peekable();
    while let Some(segment) = given.next() {
        let Some(count) = dots.count(segment) else {
            kept.push(segment);
            continue;
        };
        changed = true;
        if count == 2 && kept.len() > 1 {
            kept.pop();
        }
        // `/a/.` and `/a/b/..` are the folder `/a/`; of the root, the slash is all that there is.
        if given.peek().is_none() && (dots != Dots::WithoutSlash || kept.len() == 1) {
            kept.push("");
        }
    }
    changed.then(|| kept.join("/"))
}
