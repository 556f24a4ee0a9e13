//! Proxies, and web servers that stand in front of others.

use super::clients::remove_dot_segments;
use super::{Seen, Server, text};

pub(super) const ALL: [Server; 12] = [
    Server { name: "as it came", reads: |path| Some(Seen::Escaped(path.to_owned())) },
    Server { name: "normalize_path", reads: |path| by_settings(path, EscapedSlashes::Keep, Slashes::Keep) },
    Server { name: "merge_slashes", reads: |path| by_settings(path, EscapedSlashes::Keep, Slashes::Merge) },
    Server { name: "UNESCAPE_AND_FORWARD", reads: |path| by_settings(path, EscapedSlashes::Decode, Slashes::Merge) },
    Server { name: "REJECT_REQUEST", reads: |path| by_settings(path, EscapedSlashes::Refuse, Slashes::Merge) },
    Server { name: "nginx", reads: |path| nginx(path, Slashes::Merge) },
    Server { name: "nginx, merge_slashes off", reads: |path| nginx(path, Slashes::Keep) },
    Server { name: "Caddy", reads: |path| Some(Seen::Decoded(go_clean(&text::unescaped(path, |_| true)?))) },
    Server { name: "Traefik", reads: traefik },
    Server { name: "Apache", reads: |path| apache(path, EscapedSlashes::Refuse) },
    Server { name: "Apache, NoDecode", reads: |path| apache(path, EscapedSlashes::Keep) },
    Server { name: "Apache, AllowEncodedSlashes On", reads: |path| apache(path, EscapedSlashes::Decode) },
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum EscapedSlashes {
    Keep,
    Decode,
    Refuse,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Slashes {
    Keep,
    Merge,
}

/// A proxy that does what it is told to: escaped slashes first, then normalization, then slashes.
fn by_settings(path: &str, escaped: EscapedSlashes, slashes: Slashes) -> Option<Seen> {
    let mut path = path.to_owned();
    let with_slashes = text::unescaped(&path, |byte| byte == b'/' || byte == b'\\')?;
    match escaped {
        EscapedSlashes::Refuse if with_slashes != path => return None,
        EscapedSlashes::Decode => path = with_slashes,
        EscapedSlashes::Refuse | EscapedSlashes::Keep => {}
    }
    let is_unreserved = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    path = remove_dot_segments(&text::unescaped(&path.replace('\\', "/"), is_unreserved)?);
    Some(Seen::Escaped(if slashes == Slashes::Merge { text::with_single_slashes(&path) } else { path }))
}

/// The path that locations are compared with.
fn nginx(path: &str, slashes: Slashes) -> Option<Seen> {
    let mut path = text::unescaped(path, |_| true)?;
    if slashes == Slashes::Merge {
        path = text::with_single_slashes(&path);
    }
    text::below_the_root(&path).map(Seen::Decoded)
}

/// `path.Clean` of Go, with the slash at the end that its router keeps.
pub(super) fn go_clean(path: &str) -> String {
    let names = text::within_the_root(&text::with_single_slashes(path));
    let clean = names.trim_end_matches('/');
    if path.ends_with('/') || clean.is_empty() { format!("{clean}/") } else { clean.to_owned() }
}

/// Normalization of unreserved characters, then dot segments and double slashes.
fn traefik(path: &str) -> Option<Seen> {
    let is_unreserved = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    Some(Seen::Escaped(go_clean(&text::unescaped(path, is_unreserved)?)))
}

/// Unreserved characters and dot segments first; the rest is decoded then, and looked at again.
fn apache(path: &str, escaped: EscapedSlashes) -> Option<Seen> {
    let is_unreserved = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let path = text::with_single_slashes(&text::unescaped(path, is_unreserved)?);
    let path = text::below_the_root(&path)?;
    match escaped {
        EscapedSlashes::Refuse if path.to_lowercase().contains("%2f") => None,
        EscapedSlashes::Keep => Some(Seen::Escaped(path)),
        EscapedSlashes::Refuse | EscapedSlashes::Decode => {
            let path = text::with_single_slashes(&text::unescaped(&path, |_| true)?);
            text::below_the_root(&path).map(Seen::Decoded)
        }
    }
}
