//! In which ways a path is read, by docs/paths.md: all steps that readers do, in all orders.

use std::collections::BTreeSet;

use super::facts::Path;

/// As many forms as a path may have.
const MOST: usize = 256;

/// Reads a path as the manifest says.
pub(super) fn read(path: &str, reading: &str) -> Path {
    let path = path.split('?').next().unwrap_or_default();
    if !is_readable(path) {
        return Path::Unreadable;
    }
    match reading {
        "rfc3986" => Path::Read(BTreeSet::from([decoded(&without_dots(&unescaped(path, is_unreserved)))])),
        "decoded" => Path::Read(BTreeSet::from([without_dots(&decoded(path))])),
        _ => every(path),
    }
}

/// Whether it begins with a slash, every `%` has its digits, and it is a text without a zero.
fn is_readable(path: &str) -> bool {
    let whole = escapes(path).all(|escape| escape.is_some());
    path.starts_with('/')
        && whole
        && !path.contains('#')
        && bytes_decoded(path).is_some_and(|text| !text.contains('\0'))
}

/// The bytes that follow each `%`, or nothing where they are none.
fn escapes(path: &str) -> impl Iterator<Item = Option<u8>> {
    path.match_indices('%').map(|(at, _)| escape_at(path, at))
}

fn escape_at(path: &str, at: usize) -> Option<u8> {
    let digits = path.get(at + 1..at + 3)?;
    let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    is_hex.then(|| u8::from_str_radix(digits, 16).ok()).flatten()
}

fn bytes_decoded(path: &str) -> Option<String> {
    let (mut bytes, mut at) = (Vec::new(), 0);
    while at < path.len() {
        if let Some(byte) = escape_at(path, at).filter(|_| path.as_bytes()[at] == b'%') {
            bytes.push(byte);
            at += 3;
        } else {
            bytes.push(path.as_bytes()[at]);
            at += 1;
        }
    }
    String::from_utf8(bytes).ok()
}

/// Decoded once; what cannot be decoded stays.
fn decoded(path: &str) -> String {
    bytes_decoded(path).unwrap_or_else(|| path.to_owned())
}

fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)
}

/// Decoded once, but only these characters.
fn unescaped(path: &str, which: impl Fn(u8) -> bool) -> String {
    let (mut text, mut rest) = (String::new(), path);
    while let Some(at) = rest.find('%') {
        let (before, escaped) = rest.split_at(at);
        text.push_str(before);
        let byte = escape_at(escaped, 0).filter(|byte| byte.is_ascii() && which(*byte));
        let length = if byte.is_some() { 3 } else { 1 };
        text.push_str(&byte.map_or("%".to_owned(), |byte| char::from(byte).to_string()));
        rest = escaped.split_at(length).1;
    }
    text + rest
}

/// RFC 3986, 5.2.4.
fn without_dots(path: &str) -> String {
    without_segments(path, str::to_owned)
}

/// The same where dots may be escaped.
fn without_escaped_dots(path: &str) -> String {
    without_segments(path, |segment| segment.replace("%2e", ".").replace("%2E", "."))
}

fn without_segments(path: &str, meant: impl Fn(&str) -> String) -> String {
    let segments: Vec<&str> = path.strip_prefix('/').unwrap_or(path).split('/').collect();
    let (mut kept, last) = (Vec::new(), segments.len() - 1);
    for (position, segment) in segments.iter().enumerate() {
        match meant(segment).as_str() {
            "." => {
                if position == last {
                    kept.push("");
                }
            }
            ".." => {
                kept.pop();
                if position == last {
                    kept.push("");
                }
            }
            _ => kept.push(segment),
        }
    }
    format!("/{}", kept.join("/"))
}

fn without_parameters(segment: &str) -> &str {
    segment.split(';').next().unwrap_or_default()
}

/// What one step of some reader makes of a path.
fn steps(path: &str) -> Vec<String> {
    let segments = || path.split('/');
    let mut after = vec![
        decoded(path),
        unescaped(path, |byte| byte == b'/'),
        unescaped(path, |byte| byte == b'/' || byte == b'\\'),
        unescaped(path, |byte| byte == b'.'),
        unescaped(path, is_unreserved),
        path.replace('\\', "/"),
        segments().map(without_parameters).collect::<Vec<_>>().join("/"),
        without_parameters(path).to_owned(),
        without_dots(path),
        without_escaped_dots(path),
        path.chars().filter(|character| !matches!(character, '\t' | '\r' | '\n')).collect(),
    ];
    if let Some((before, last)) = path.rsplit_once('/') {
        after.push(format!("{before}/{}", without_parameters(last)));
    }
    let mut merged = path.to_owned();
    while merged.contains("//") {
        merged = merged.replace("//", "/");
    }
    after.push(merged);
    if let Some(host) = path.strip_prefix("//") {
        after.push(host.split_once('/').map_or("/".to_owned(), |(_, rest)| format!("/{rest}")));
    }
    for end in ['?', '#'] {
        after.extend(path.split_once(end).map(|(before, _)| before.to_owned()));
    }
    after
}

fn every(path: &str) -> Path {
    let mut forms = BTreeSet::from([path.to_owned()]);
    let mut waiting = vec![path.to_owned()];
    while let Some(form) = waiting.pop() {
        for next in steps(&form) {
            if forms.insert(next.clone()) {
                waiting.push(next);
            }
        }
        if forms.len() > MOST || forms.iter().map(String::len).sum::<usize>() > 64 * 1024 {
            return Path::Unreadable;
        }
    }
    Path::Read(forms.iter().map(|form| decoded(form)).collect())
}

/// Whether a pattern of policies matches a reading.
pub(super) fn matches(pattern: &str, path: &str) -> bool {
    if pattern == "*" {
        return true;
    }
    let (pattern, path): (Vec<char>, Vec<char>) = (pattern.chars().collect(), path.chars().collect());
    rest_matches(&pattern, &path)
}

fn rest_matches(pattern: &[char], path: &[char]) -> bool {
    let tails = |most: usize| (0..=most).map(|taken| &path[taken..]);
    match pattern {
        [] => path.is_empty(),
        ['*', '*', rest @ ..] => tails(path.len()).any(|tail| rest_matches(rest, tail)),
        ['*', rest @ ..] => {
            let segment = path.iter().position(|character| *character == '/').unwrap_or(path.len());
            tails(segment).any(|tail| rest_matches(rest, tail))
        }
        ['?', rest @ ..] => matches!(path, [first, tail @ ..] if *first != '/' && rest_matches(rest, tail)),
        ['\\', wanted, rest @ ..] | [wanted, rest @ ..] => {
            matches!(path, [first, tail @ ..] if first == wanted && rest_matches(rest, tail))
        }
    }
}

/// Whether a text matches a pattern where `*` is any characters.
pub(super) fn text_matches(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((before, after)) => text.strip_prefix(before).is_some_and(|rest| {
            rest.char_indices().map(|(at, _)| at).chain([rest.len()]).any(|at| text_matches(after, rest.split_at(at).1))
        }),
    }
}
