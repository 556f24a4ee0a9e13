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

/// What there is in a path that steps change: found in one look, so that steps with nothing to do cost nothing. A bit for each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Contents(u32);

impl Contents {
    const BACKSLASH: Self = Self(1);
    const QUESTION: Self = Self(1 << 1);
    const HASH: Self = Self(1 << 2);
    const BLANK: Self = Self(1 << 3);
    /// Two slashes after each other.
    const SLASHES: Self = Self(1 << 4);
    /// A segment begins with a dot.
    const DOT: Self = Self(1 << 5);
    const ESCAPED_DOT: Self = Self(1 << 6);
    /// The last segment may be dots alone.
    const LAST_DOT: Self = Self(1 << 7);
    const SEMICOLON: Self = Self(1 << 8);
    /// Several semicolons, or one that is not in the last segment.
    const MORE_PARAMETERS: Self = Self(1 << 9);
    /// Two slashes at the beginning.
    const HOST: Self = Self(1 << 10);
    /// Three slashes at the beginning.
    const FAR_HOST: Self = Self(1 << 11);
    /// The first bit for escapes.
    const ESCAPES: u32 = 16;
    const ALL_ESCAPES: Self = Self(0xff << Self::ESCAPES);

    /// An escape: each of the characters that some step decodes alone has a bit, all others share one.
    fn escape(byte: u8) -> Self {
        let place = [b'%', b'/', b'\\', b';', b'.'].iter().position(|one| *one == byte).unwrap_or(7);
        Self(1 << Self::ESCAPES << place)
    }

    fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    fn has_escapes_but(self, kept: Self) -> bool {
        self.0 & Self::ALL_ESCAPES.0 & !kept.0 != 0
    }

    /// Of a path.
    pub(super) fn of(path: &str) -> Self {
        let when = |is_so: bool, one: Self| if is_so { one } else { Self::default() };
        let bytes = path.as_bytes();
        let mut found = when(path.starts_with("//"), Self::HOST).with(when(path.starts_with("///"), Self::FAR_HOST));
        let mut before = b'/';
        for (at, byte) in bytes.iter().enumerate() {
            let here = match byte {
                b'/' => when(before == b'/' && at > 0, Self::SLASHES)
                    .with(when(found.has(Self::SEMICOLON), Self::MORE_PARAMETERS)),
                b'.' => when(before == b'/', Self::DOT),
                b'\\' => Self::BACKSLASH,
                b';' => Self::SEMICOLON.with(when(found.has(Self::SEMICOLON), Self::MORE_PARAMETERS)),
                b'?' => Self::QUESTION,
                b'#' => Self::HASH,
                b'%' => bytes
                    .get(at..)
                    .and_then(escaped)
                    .map_or(Self::default(), |byte| Self::escape(byte).with(when(byte == b'.', Self::ESCAPED_DOT))),
                0..=b' ' => Self::BLANK,
                _ => Self::default(),
            };
            found = found.with(here);
            before = *byte;
        }
        let may_end = path.ends_with("/.") || path.ends_with("/..") || !path.starts_with('/');
        found.with(when(may_end, Self::LAST_DOT))
    }
}

impl Step {
    /// Whether this step may do something to a path that no step before it does, too.
    pub(super) fn is_worth_it(self, contents: Contents) -> bool {
        match self {
            Self::DecodesAll => contents.has(Contents::ALL_ESCAPES),
            Self::DecodesAllBut(one) | Self::Decodes(one) => {
                let one = Contents::escape(ascii(one));
                contents.has(one) && contents.has_escapes_but(one)
            }
            Self::TakesBackslashesForSlashes => contents.has(Contents::BACKSLASH),
            Self::CutsParameters => contents.has(Contents::SEMICOLON),
            Self::CutsLastParameters | Self::EndsAt(';') => contents.has(Contents::MORE_PARAMETERS),
            Self::EndsAt('?') => contents.has(Contents::QUESTION),
            Self::EndsAt('#') => contents.has(Contents::HASH),
            Self::EndsAt(_) => true,
            Self::RemovesDots(Dots::Plain) => contents.has(Contents::DOT),
            Self::RemovesDots(Dots::Escaped) => contents.has(Contents::ESCAPED_DOT),
            Self::RemovesDots(Dots::WithoutSlash) => contents.has(Contents::LAST_DOT),
            Self::MergesSlashes => contents.has(Contents::SLASHES),
            Self::CutsHost(Slashes::Two) => contents.has(Contents::HOST),
            Self::CutsHost(Slashes::All) => contents.has(Contents::FAR_HOST),
            Self::DropsBlanks => contents.has(Contents::BLANK),
        }
    }

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

/// The byte of a character that steps name.
fn ascii(character: char) -> u8 {
    u8::try_from(character).unwrap_or_default()
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

/// The byte that an escape at the beginning stands for.
fn escaped(text: &[u8]) -> Option<u8> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    match text {
        [b'%', high, low, ..] => Some(digit(high)? * 16 + digit(low)?),
        _ => None,
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

impl Dots {
    /// How many dots a dot segment has.
    fn count(self, segment: &str) -> Option<usize> {
        match (self, segment.as_bytes()) {
            (Self::Escaped, [b'%' | b'.', ..]) | (_, [b'.', ..]) => {}
            _ => return None,
        }
        let (mut rest, mut count) = (segment, 0);
        while !rest.is_empty() && count < 3 {
            let escape = rest.get(..3).filter(|escape| self == Self::Escaped && escape.eq_ignore_ascii_case("%2e"));
            rest = rest.get(escape.map_or(1, str::len)..).filter(|_| escape.is_some() || rest.starts_with('.'))?;
            count += 1;
        }
        matches!(count, 1 | 2).then_some(count)
    }
}
