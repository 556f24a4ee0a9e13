//! What somebody does to a path before it is looked at, one thing at a time.

use super::BadPath;

/// A change that some reader makes to the whole of a path. Readers differ in which of these they make, and in which order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Every escape is decoded.
    DecodesAll,
    /// Every escape is decoded but those of this one character.
    DecodesAllBut(char),
    /// Escapes of this one character are decoded.
    Decodes(char),
    /// A backslash is a slash.
    TakesBackslashesForSlashes,
    /// What follows a `;` in a segment is left out.
    CutsParameters,
    /// The same, in the last segment only.
    CutsLastParameters,
    /// The path ends at the first of these.
    EndsAt(char),
    /// Dot segments are removed.
    RemovesDots(Dots),
    /// Several slashes are one.
    MergesSlashes,
    /// What follows `//` at the beginning is a host, up to the next slash.
    CutsHost(Slashes),
    /// Tabs and ends of lines are left out, and blanks at the end.
    DropsBlanks,
}

/// Which segments are dot segments, and what is left of the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dots {
    /// `.` and `..`.
    Plain,
    /// Escaped ones, too.
    Escaped,
    /// `.` and `..`; at the end they leave no slash.
    WithoutSlash,
}

/// How many slashes stand before a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slashes {
    /// Two; a third one begins the path.
    Two,
    /// All that there are.
    All,
}

impl Step {
    /// All steps. Those that explain most readings come first.
    pub(super) const ALL: [Self; 20] = [
        Self::RemovesDots(Dots::Plain),
        Self::RemovesDots(Dots::Escaped),
        Self::DecodesAll,
        Self::MergesSlashes,
        Self::TakesBackslashesForSlashes,
        Self::CutsParameters,
        Self::CutsLastParameters,
        Self::EndsAt(';'),
        Self::EndsAt('?'),
        Self::EndsAt('#'),
        Self::RemovesDots(Dots::WithoutSlash),
        Self::CutsHost(Slashes::Two),
        Self::CutsHost(Slashes::All),
        // What is decoded once, and looked at before it is decoded again.
        Self::DecodesAllBut('%'),
        Self::DecodesAllBut('/'),
        Self::Decodes('/'),
        Self::Decodes('\\'),
        Self::Decodes(';'),
        Self::Decodes('.'),
        Self::DropsBlanks,
    ];

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
    while let [first, after @ ..] = rest {
        match escaped(rest) {
            Some(byte) if wanted(byte) => {
                if byte == 0 {
                    return Err(BadPath::Nul);
                }
                bytes.push(byte);
                rest = rest.get(3..).unwrap_or_default();
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
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

/// The byte that an escape at the beginning stands for.
fn escaped(text: &[u8]) -> Option<u8> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    match text {
        [b'%', high, low, ..] => Some(digit(high)? * 16 + digit(low)?),
        _ => None,
    }
}

fn without_parameters(path: &str) -> String {
    let named = |segment: &str| segment.split(';').next().unwrap_or_default().to_owned();
    path.split('/').map(named).collect::<Vec<_>>().join("/")
}

fn merged(path: &str) -> String {
    let mut merged = String::with_capacity(path.len());
    for character in path.chars() {
        if character != '/' || !merged.ends_with('/') {
            merged.push(character);
        }
    }
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

impl Dots {
    /// How many dots a dot segment has.
    fn count(self, segment: &str) -> Option<usize> {
        let (mut rest, mut count) = (segment, 0);
        while !rest.is_empty() && count < 3 {
            let escape = rest.get(..3).filter(|escape| self == Self::Escaped && escape.eq_ignore_ascii_case("%2e"));
            rest = rest.get(escape.map_or(1, str::len)..).filter(|_| escape.is_some() || rest.starts_with('.'))?;
            count += 1;
        }
        matches!(count, 1 | 2).then_some(count)
    }
}
