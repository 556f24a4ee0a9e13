//! Who asks and from where, as far as those are trusted who say so.

use std::net::IpAddr;

use axum::http::{HeaderMap, HeaderValue};
use upheld_dialects::access::enforce::Identity;
use upheld_input::{Format, parse};
use upheld_model::{File, Severity, SourceId};

use super::{IDENTITY, REMOVED};
use crate::client_address::client;

/// What the identity header comes to.
#[derive(Debug)]
pub(super) enum Identified {
    /// There is none.
    Absent,
    /// There is one, from somebody who is not trusted with it.
    Ignored,
    /// There is one that cannot be read.
    Unreadable,
    /// This one.
    Known(Box<File>),
}

impl Identified {
    /// Of the headers of a request.
    pub(super) fn of(headers: &HeaderMap, name: &str, trusted: bool) -> Self {
        let mut values = headers.get_all(name).iter();
        let (Some(value), more) = (values.next(), values.next()) else { return Self::Absent };
        if !trusted {
            return Self::Ignored;
        }
        // Nobody knows which of two is meant.
        let (Ok(text), None) = (std::str::from_utf8(value.as_bytes()), more) else { return Self::Unreadable };
        if text.is_empty() {
            return Self::Absent;
        }
        let (file, problems) = parse("identity", Format::Json, text.to_owned(), SourceId::new(0));
        let broken = problems.iter().any(|problem| problem.severity == Severity::Error);
        if broken { Self::Unreadable } else { Self::Known(Box::new(file)) }
    }

    /// As the enforcement point takes it.
    pub(super) fn identity(&self) -> Identity<'_> {
        match self {
            Self::Absent | Self::Ignored => Identity::Absent,
            Self::Unreadable => Identity::Unreadable,
            Self::Known(file) => file.tree.documents().next().map_or(Identity::Unreadable, Identity::Known),
        }
    }

    /// Tells proxy and operator what was not believed; what was not believed here must not be believed behind the proxy.
    pub(super) fn report(&self, peer: Option<IpAddr>, name: &str, headers: &mut HeaderMap) {
        let word = match self {
            Self::Absent | Self::Known(_) => return,
            Self::Ignored => {
                tracing::warn!(?peer, header = name, "an identity was ignored: its sender is not a trusted peer");
                "ignored"
            }
            Self::Unreadable => {
                tracing::warn!(?peer, header = name, "an identity could not be read");
                "unreadable"
            }
        };
        headers.insert(IDENTITY, HeaderValue::from_static(word));
        if let Ok(name) = HeaderValue::from_str(name) {
            headers.insert(REMOVED, name);
        }
    }
}

/// The address of the client, as far as trusted proxies tell it.
pub(super) fn address(headers: &HeaderMap, peer: Option<IpAddr>, trusted: bool, hops: usize) -> Option<IpAddr> {
    let all: Vec<&str> = headers.get_all("x-forwarded-for").iter().filter_map(|value| value.to_str().ok()).collect();
    let told = (!all.is_empty()).then(|| all.join(","));
    client(peer?, told.as_deref(), if trusted { hops } else { 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_headers_are_one_list_and_strangers_are_not_believed() {
        let peer: IpAddr = "127.0.0.1".parse().unwrap();
        let headers: HeaderMap = ["192.0.2.1", "192.0.2.2"]
            .map(|value| ("x-forwarded-for".parse().unwrap(), value.parse().unwrap()))
            .into_iter()
            .collect();
        assert_eq!(address(&headers, Some(peer), true, 1), "192.0.2.2".parse().ok());
        assert_eq!(address(&headers, Some(peer), true, 2), "192.0.2.1".parse().ok());
        assert_eq!(address(&headers, Some(peer), true, 3), Some(peer), "whoever came past a proxy could say anything");
        assert_eq!(address(&headers, Some(peer), false, 1), Some(peer));
    }
}
