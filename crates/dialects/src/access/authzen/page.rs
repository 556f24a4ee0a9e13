//! Results in pages. A token says after which result the next page begins, and for which search that is.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Map, Value as Json};
use sha2::{Digest, Sha256};
use smol_str::SmolStr;

use super::bad_request::{BadRequest, Problem};
use super::parts;

/// Where a page begins and how long it may be.
#[derive(Clone, Debug, Default)]
pub(super) struct Page {
    /// The last result of the page before.
    pub(super) after: Option<Place>,
    /// The most results.
    pub(super) limit: Option<u64>,
    /// Whether the client speaks of pages at all.
    pub(super) asked: Asked,
}

/// Whether a client asked for pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Asked {
    /// It did.
    Yes,
    /// It did not, and gets everything.
    #[default]
    No,
}

/// The place of a result among all: its id, and which of several with that id.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) id: SmolStr,
    pub(super) variant: u32,
}

/// What a search is for, short enough for a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fingerprint([u8; 16]);

impl Fingerprint {
    /// Of the name of a search and its parameters; the order of fields does not matter.
    pub(super) fn of(search: &str, parameters: &[Option<&Json>]) -> Self {
        let mut hash = Sha256::new();
        hash.update(search);
        for parameter in parameters {
            hash_json(parameter.unwrap_or(&Json::Null), &mut hash);
        }
        let mut print = [0; 16];
        print.iter_mut().zip(hash.finalize()).for_each(|(place, byte)| *place = byte);
        Self(print)
    }
}

/// What stands before the rest, so that another layout can be told apart.
const VERSION: u8 = 1;

impl Page {
    /// Reads `page {token, limit}` of a search. Without a limit, that of the page before counts.
    pub(super) fn read(fields: &Map<String, Json>, search: Fingerprint) -> Result<Self, BadRequest> {
        let Some(page) = parts::optional(fields.get("page"), "page", "an object", Json::as_object)? else {
            return Ok(Self::default());
        };
        let token = parts::optional(page.get("token"), "page.token", "text", Json::as_str)?;
        let limit = parts::optional(page.get("limit"), "page.limit", "a whole number from 0 on", Json::as_u64)?;
        // The token after the last page is empty; whoever sends it begins anew.
        let Some(token) = token.filter(|token| !token.is_empty()) else {
            return Ok(Self { after: None, limit, asked: Asked::Yes });
        };
        let bad = |problem: Problem| BadRequest::new("page.token", problem);
        let (of, before) = decode(token).ok_or_else(|| bad(Problem::NotAToken))?;
        if of != search {
            return Err(bad(Problem::OtherSearch));
        }
        Ok(Self { limit: limit.or(before.limit), ..before })
    }

    /// The token of the page after this one, given its last result.
    pub(super) fn next(&self, search: Fingerprint, last: Option<&Place>) -> String {
        let last = last.or(self.after.as_ref());
        let mut bytes = vec![VERSION];
        bytes.extend(search.0);
        bytes.extend(self.limit.unwrap_or(u64::MAX).to_be_bytes());
        if let Some(Place { id, variant }) = last {
            bytes.extend(variant.to_be_bytes());
            bytes.extend(id.bytes());
        }
        URL_SAFE_NO_PAD.encode(bytes)
    }
}

fn decode(token: &str) -> Option<(Fingerprint, Page)> {
    let bytes = URL_SAFE_NO_PAD.decode(token).ok()?;
    let (version, rest) = bytes.split_first()?;
    let (print, rest) = rest.split_first_chunk::<16>()?;
    let (limit, rest) = rest.split_first_chunk::<8>()?;
    let limit = Some(u64::from_be_bytes(*limit)).filter(|limit| *limit != u64::MAX);
    let after = match rest.split_first_chunk::<4>() {
        Some((variant, id)) => {
            let id = SmolStr::new(std::str::from_utf8(id).ok()?);
            Some(Place { id, variant: u32::from_be_bytes(*variant) })
        }
        None if rest.is_empty() => None,
        None => return None,
    };
    (*version == VERSION).then_some((Fingerprint(*print), Page { after, limit, asked: Asked::Yes }))
}

/// Lengths before contents, so that no two values give the same bytes.
fn hash_json(value: &Json, hash: &mut Sha256) {
    match value {
        Json::Object(fields) => {
            let mut sorted: Vec<_> = fields.iter().collect();
            sorted.sort_unstable_by_key(|(name, _)| *name);
            hash.update([b'o']);
            hash.update(sorted.len().to_le_bytes());
            for (name, value) in sorted {
                hash.update(name.len().to_le_bytes());
                hash.update(name);
                hash_json(value, hash);
            }
        }
        Json::Array(items) => {
            hash.update([b'a']);
            hash.update(items.len().to_le_bytes());
            for item in items {
                hash_json(item, hash);
            }
        }
        scalar => {
            // JSON tells `"5"` from `5` by its quotes.
            let text = scalar.to_string();
            hash.update([b's']);
            hash.update(text.len().to_le_bytes());
            hash.update(text);
        }
    }
}
