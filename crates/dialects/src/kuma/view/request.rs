//! A request: the steps of its path and what its query asks for.

use super::InspectError;

/// The path and the query of a request.
#[derive(Debug)]
pub(super) struct Request<'p> {
    /// All of it, as it was asked.
    pub(super) text: &'p str,
    /// The path without the query.
    pub(super) path: &'p str,
    query: Vec<(String, String)>,
}

/// The part of a list that is asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Page {
    pub(super) size: usize,
    pub(super) offset: usize,
}

/// How many items a page has if nobody says.
const DEFAULT_SIZE: usize = 100;
/// How many it may have.
const LARGEST_SIZE: usize = 1000;

impl<'p> Request<'p> {
    pub(super) fn of(text: &'p str) -> Self {
        let (path, query) = text.split_once('?').unwrap_or((text, ""));
        let pairs = query.split('&').filter(|pair| !pair.is_empty());
        let query = pairs.map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decoded(&name.replace('+', " ")), decoded(&value.replace('+', " ")))
        });
        Self { text, path, query: query.collect() }
    }

    /// The steps of the path.
    pub(super) fn steps(&self) -> Vec<String> {
        self.path.strip_prefix('/').unwrap_or(self.path).split('/').map(decoded).collect()
    }

    /// A parameter of the query.
    pub(super) fn parameter(&self, name: &str) -> Option<&str> {
        let said = self.query.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
        said.filter(|value| !value.is_empty())
    }

    /// The page that is asked for.
    pub(super) fn page(&self) -> Result<Page, InspectError> {
        let number = |name: &str, default: usize, detail: &str| match self.parameter(name) {
            None => Ok(default),
            Some(text) => text.parse().map_err(|_| InspectError::BadPage { detail: detail.to_owned() }),
        };
        let size = number("size", DEFAULT_SIZE, BAD_SIZE)?;
        if size == 0 || size > LARGEST_SIZE {
            return Err(InspectError::BadPage { detail: BAD_SIZE.to_owned() });
        }
        Ok(Page { size, offset: number("offset", 0, "Invalid offset")? })
    }

    /// The same request for the page after this one, without the address of a server.
    pub(super) fn next(&self, page: Page) -> String {
        let offset = ("offset".to_owned(), (page.offset + page.size).to_string());
        let others = self.query.iter().filter(|(name, _)| name != "offset").cloned();
        let mut query: Vec<(String, String)> = others.chain([offset]).collect();
        query.sort();
        let query: Vec<String> =
            query.iter().map(|(name, value)| format!("{}={}", encoded(name), encoded(value))).collect();
        format!("{}?{}", self.path, query.join("&"))
    }
}

const BAD_SIZE: &str = "Invalid page size";

/// The text of a percent-encoded one. What is not an encoding stays as it is.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = digits.filter(|_| *first == b'%').and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { after.get(2..).unwrap_or_default() } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn encoded(text: &str) -> String {
    let byte = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => char::from(byte).to_string(),
        b' ' => "+".to_owned(),
        other => format!("%{other:02X}"),
    };
    text.bytes().map(byte).collect()
}
