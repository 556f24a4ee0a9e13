//! Results in pages. A token says after which result the next page begins, and for which search that is.

use serde_json::{Map, Value as Json};

use super::bad_request::{BadRequest, Problem};
use super::parts;
use crate::access::reach::Place;
use crate::access::reach::token::{Fingerprint, Token};

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
        let token = Token::decode(token).ok_or_else(|| bad(Problem::NotAToken))?;
        if token.search != search {
            return Err(bad(Problem::OtherSearch));
        }
        Ok(Self { after: token.after, limit: limit.or(token.limit), asked: Asked::Yes })
    }

    /// The token of the page after this one, given its last result.
    pub(super) fn next(&self, search: Fingerprint, last: Option<Place>) -> String {
        Token { search, limit: self.limit, after: last.or_else(|| self.after.clone()) }.encode()
    }
}
