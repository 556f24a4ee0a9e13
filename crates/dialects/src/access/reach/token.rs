//! Where the next page begins: after which request, and of which search.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value as Json;
use sha2::{Digest, Sha256};
use smol_str::SmolStr;

use super::Place;

/// What a search is for, short enough for a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::access) struct Fingerprint([u8; 16]);

impl Fingerprint {
    /// Of the name of a search and its parameters; the order of fields does not matter.
    pub(in crate::access) fn of(search: &str, parameters: &[Option<&Json>]) -> Self {
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

/// What a page says about the next one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::access) struct Token {
    /// Of which search.
    pub(in crate::access) search: Fingerprint,
    /// The most results of a page.
    pub(in crate::access) limit: Option<u64>,
    /// The last request of the page before.
    pub(in crate::access) after: Option<Place>,
}

/// What stands before the rest, so that another layout can be told apart.
const VERSION: u8 = 2;

impl Token {
    pub(in crate::access) fn encode(&self) -> String {
        let mut bytes = vec![VERSION];
        bytes.extend(self.search.0);
        bytes.extend(self.limit.unwrap_or(u64::MAX).to_be_bytes());
        if let Some(Place { subject, resource, action, variant }) = &self.after {
            bytes.extend(variant.to_be_bytes());
            for text in [&subject.0, &subject.1, &resource.0, &resource.1, action] {
                bytes.extend(u32::try_from(text.len()).unwrap_or(u32::MAX).to_be_bytes());
                bytes.extend(text.bytes());
            }
        }
        URL_SAFE_NO_PAD.encode(bytes)
    }

    pub(in crate::access) fn decode(token: &str) -> Option<Self> {
        let bytes = URL_SAFE_NO_PAD.decode(token).ok()?;
        let (version, rest) = bytes.split_first()?;
        let (print, rest) = rest.split_first_chunk::<16>()?;
        let (limit, rest) = rest.split_first_chunk::<8>()?;
        let limit = Some(u64::from_be_bytes(*limit)).filter(|limit| *limit != u64::MAX);
        let after = if rest.is_empty() { None } else { Some(place(rest)?) };
        (*version == VERSION).then_some(Self { search: Fingerprint(*print), limit, after })
    }
}

fn place(bytes: &[u8]) -> Option<Place> {
    let (variant, mut rest) = bytes.split_first_chunk::<4>()?;
    let mut text = || {
        let (length, after) = rest.split_first_chunk::<4>()?;
        let (text, after) = after.split_at_checked(usize::try_from(u32::from_be_bytes(*length)).ok()?)?;
        rest = after;
        Some(SmolStr::new(std::str::from_utf8(text).ok()?))
    };
    let (subject, resource, action) = ((text()?, text()?), (text()?, text()?), text()?);
    rest.is_empty().then_some(Place { subject, resource, action, variant: u32::from_be_bytes(*variant) })
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
