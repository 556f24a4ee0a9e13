//! How the path of a request is read.
//!
//! Browsers, proxies and services do not read all paths alike: some take `%2F` for a slash, some `\`, some cut off `;…`, some remove dot
//! segments or the second of two slashes, some decode twice. A path that all of them read alike has one reading. Of any other, a policy
//! matches for sure only if it matches every reading, and fails to match for sure only if it matches none.
//!
//! What has no reading (a broken escape, bytes that are not UTF-8, a NUL, no slash at the beginning) is not known.

use std::borrow::Cow;

use smol_str::SmolStr;

/// Why a path cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BadPath {
    /// A `%` without two hexadecimal digits.
    BrokenEscape,
    /// What is decoded is not UTF-8.
    NotUtf8,
    /// A NUL, where texts end elsewhere.
    Nul,
    /// It does not begin with a slash.
    Relative,
    /// A `#`, which some cut off with all that follows, and some do not.
    Fragment,
    /// It can be read in more ways than anybody looks at.
    TooManyReadings,
}

impl BadPath {
    /// As a clause: `the path …`.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::BrokenEscape => "has a `%` without two hexadecimal digits",
            Self::NotUtf8 => "is not UTF-8 after decoding",
            Self::Nul => "has a NUL character",
            Self::Relative => "does not begin with `/`",
            Self::Fragment => "has a `#`, which no path has",
            Self::TooManyReadings => "is too long for one that can be read in several ways",
        }
    }
}

/// Who reads paths as policies mean them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PathReading {
    /// Everybody: all readings must agree.
    #[default]
    Every,
    /// RFC 3986, browsers, and proxies that normalize paths: dot segments are removed, an escaped slash is part of a segment.
    Rfc3986,
    /// Those who decode first: an escaped slash is a slash, then dot segments are removed.
    Decoded,
}

impl PathReading {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Every, Self::Rfc3986, Self::Decoded];

    /// The word that users write.
    pub fn word(self) -> &'static str {
        match self {
            Self::Every => "every",
            Self::Rfc3986 => "rfc3986",
            Self::Decoded => "decoded",
        }
    }
}

/// Room for readings, kept from request to request.
#[derive(Debug, Default)]
pub struct Readings {
    all: Vec<SmolStr>,
}

/// A path that can be read.
pub(super) enum ReadPath<'p> {
    /// In one way.
    One(&'p str),
    /// In several ways, each once.
    Several(&'p [SmolStr]),
}

/// Longer paths with several readings are not looked at.
const LONGEST: usize = 8192;

/// All readings of a path, or the one that is wanted.
pub(super) fn read<'p>(path: &'p str, wanted: PathReading, room: &'p mut Readings) -> Result<ReadPath<'p>, BadPath> {
    if !needs_work(path) {
        return Ok(ReadPath::One(path));
    }
    // A query is no part of a path, whoever passes it on.
    let path = path.split('?').next().unwrap_or_default();
    if path.contains('#') {
        return Err(BadPath::Fragment);
    }
    match path.as_bytes().first() {
        Some(b'/') => {}
        // Whoever asks for no path at all gets the root, from most.
        None => {
            room.all = vec![SmolStr::default(), SmolStr::new_static("/")];
            return Ok(ReadPath::Several(&room.all));
        }
        // What `OPTIONS` asks of a whole server.
        _ if path == "*" => return Ok(ReadPath::One("*")),
        _ => return Err(BadPath::Relative),
    }
    let Readings { all } = room;
    all.clear();
    for reader in readers(path, wanted) {
        let reading = match reader.read(path) {
            Ok(reading) => reading,
            // Who decodes twice refuses what cannot be decoded again.
            Err(_) if reader.has(Habit::DecodesTwice) => continue,
            Err(bad) => return Err(bad),
        };
        if !all.contains(&reading) {
            all.push(reading);
        }
        if all.len() > 1 && path.len() > LONGEST {
            return Err(BadPath::TooManyReadings);
        }
    }
    match all.as_slice() {
        [one] => Ok(ReadPath::One(one)),
        several => Ok(ReadPath::Several(several)),
    }
}

/// Most paths are read as they are.
fn needs_work(path: &str) -> bool {
    let mut before = None;
    for byte in path.bytes() {
        let is_special = match byte {
            b'%' | b'\\' | b';' | b'?' | b'#' | 0 => true,
            b'/' | b'.' => before == Some(b'/'),
            _ => before.is_none(),
        };
        if is_special {
            return true;
        }
        before = Some(byte);
    }
    before.is_none()
}

/// What somebody does on top of decoding a path.
#[derive(Clone, Copy, Debug)]
enum Habit {
    /// What was escaped by an escaped `%` is decoded as well: a proxy decodes, and then the service does.
    DecodesTwice,
    /// An escaped slash is a slash.
    SplitsAtEscapedSlashes,
    /// A backslash is a slash, escaped or not.
    SplitsAtBackslashes,
    /// What follows a `;` in a segment is left out.
    CutsParameters,
    /// Dot segments are removed.
    RemovesDots,
    /// Several slashes are one.
    MergesSlashes,
}

/// Somebody who reads paths: their habits, each a bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Reader(u8);

impl Reader {
    const fn with(habits: &[Habit]) -> Self {
        let (mut bits, mut rest) = (0, habits);
        while let [first, others @ ..] = rest {
            bits |= 1 << *first as u8;
            rest = others;
        }
        Self(bits)
    }

    fn has(self, habit: Habit) -> bool {
        self.0 >> habit as u8 & 1 == 1
    }
}

const RFC_3986: Reader = Reader::with(&[Habit::RemovesDots]);
const DECODED: Reader = Reader::with(&[Habit::SplitsAtEscapedSlashes, Habit::RemovesDots]);

/// Everybody who reads the path in a way of their own: a habit counts only where there is something that it changes.
fn readers(path: &str, wanted: PathReading) -> impl Iterator<Item = Reader> + use<> {
    let lower = path.to_ascii_lowercase();
    let has = |some: &[&str]| some.iter().any(|one| lower.contains(one));
    let escapes_twice = has(&["%25"]);
    // What an escaped `%` may turn into is not known before it is decoded.
    let habits = [
        (Habit::DecodesTwice, escapes_twice),
        (Habit::SplitsAtEscapedSlashes, has(&["%2f"])),
        (Habit::SplitsAtBackslashes, has(&["\\", "%5c"])),
        (Habit::CutsParameters, has(&[";", "%3b"])),
        (Habit::RemovesDots, has(&["/.", "%2e", "\\.", "%2f.", "%5c."])),
        (Habit::MergesSlashes, has(&["//", "%2f", "\\", "%5c"])),
    ];
    let matter = habits.into_iter().filter(|(_, matters)| *matters || escapes_twice);
    let mattering = matter.fold(Reader(0), |all, (habit, _)| Reader(all.0 | Reader::with(&[habit]).0));
    (0_u8..64).map(Reader).filter(move |reader| match wanted {
        PathReading::Every => reader.0 & !mattering.0 == 0,
        PathReading::Rfc3986 => *reader == RFC_3986,
        PathReading::Decoded => *reader == DECODED,
    })
}

impl Reader {
    fn read(self, path: &str) -> Result<SmolStr, BadPath> {
        let once = if self.has(Habit::DecodesTwice) { Cow::Owned(decode(path)?) } else { Cow::Borrowed(path) };
        let backslashes = self.has(Habit::SplitsAtBackslashes);
        let mut segments: Vec<String> = Vec::new();
        for raw in once.split(|character: char| character == '/' || backslashes && character == '\\') {
            let decoded = decode(raw)?;
            // Whatever is a slash after decoding, where it is one.
            let again = |character: char| {
                self.has(Habit::SplitsAtEscapedSlashes) && character == '/' || backslashes && character == '\\'
            };
            segments.extend(decoded.split(again).map(str::to_owned));
        }
        if self.has(Habit::CutsParameters) {
            for segment in &mut segments {
                if let Some((name, _)) = segment.split_once(';') {
                    *segment = name.to_owned();
                }
            }
        }
        if self.has(Habit::MergesSlashes) {
            let last = segments.len();
            let mut place = 0;
            segments.retain(|segment| {
                place += 1;
                !segment.is_empty() || place == 1 || place == last
            });
        }
        Ok(if self.has(Habit::RemovesDots) { without_dots(&segments) } else { segments.join("/") }.into())
    }
}

fn decode(text: &str) -> Result<String, BadPath> {
    let mut decoded = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        let byte = if byte == b'%' {
            let mut digit = || bytes.next().and_then(|byte| char::from(byte).to_digit(16));
            let (Some(high), Some(low)) = (digit(), digit()) else { return Err(BadPath::BrokenEscape) };
            u8::try_from(high * 16 + low).unwrap_or_default()
        } else {
            byte
        };
        if byte == 0 {
            return Err(BadPath::Nul);
        }
        decoded.push(byte);
    }
    String::from_utf8(decoded).map_err(|_| BadPath::NotUtf8)
}

/// As RFC 3986 has it; nothing is above the root.
fn without_dots(given: &[String]) -> String {
    let mut segments: Vec<&str> = Vec::new();
    let mut given = given.iter().peekable();
    while let Some(segment) = given.next() {
        if segment != "." && segment != ".." {
            segments.push(segment);
            continue;
        }
        if segment == ".." && segments.len() > 1 {
            segments.pop();
        }
        // `/a/.` and `/a/b/..` are the folder `/a/`.
        if given.peek().is_none() {
            segments.push("");
        }
    }
    segments.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(path: &str, wanted: PathReading) -> Result<Vec<String>, BadPath> {
        let mut room = Readings::default();
        Ok(match read(path, wanted, &mut room)? {
            ReadPath::One(one) => vec![one.to_owned()],
            ReadPath::Several(several) => several.iter().map(ToString::to_string).collect(),
        })
    }

    #[test]
    fn what_everybody_reads_alike_has_one_reading() {
        for (path, expected) in [
            ("/admin", "/admin"),
            ("/admin/", "/admin/"),
            ("/Admin", "/Admin"),
            ("/%61dmin", "/admin"),
            ("/a.b/x..c/d.", "/a.b/x..c/d."),
            ("/caf%C3%A9", "/café"),
            ("/cafe\u{301}", "/cafe\u{301}"),
            ("/a%0Ab", "/a\nb"),
            ("/my%20files", "/my files"),
            ("/a?b=/../c", "/a"),
            ("/", "/"),
            ("*", "*"),
            ("/..c", "/..c"),
            ("/.d", "/.d"),
            ("/100%25", "/100%"),
        ] {
            assert_eq!(all(path, PathReading::Every), Ok(vec![expected.to_owned()]), "{path:?}");
        }
    }

    #[test]
    fn tricks_have_every_reading_that_somebody_has() {
        for (path, some) in [
            ("/public/../admin", &["/public/../admin", "/admin"][..]),
            ("/public/%2e%2e/admin", &["/public/../admin", "/admin"]),
            ("/public%2F..%2fadmin", &["/public/../admin", "/admin"]),
            ("/admin/x%2F..%2F..%2Fpublic/y", &["/admin/x/../../public/y", "/public/y"]),
            ("/public/..;/admin/x", &["/public/..;/admin/x", "/admin/x", "/public/../admin/x"]),
            ("/public/..\\admin", &["/public/..\\admin", "/admin"]),
            ("/public/..%5cadmin", &["/public/..\\admin", "/admin"]),
            ("//admin", &["//admin", "/admin"]),
            ("/%2561dmin", &["/%61dmin", "/admin"]),
            ("/public/%252e%252e/admin", &["/public/%2e%2e/admin", "/admin"]),
            ("/a;b=c/..", &["/a;b=c/..", "/"]),
            ("/admin/.", &["/admin/.", "/admin/"]),
            ("/..", &["/..", "/"]),
            ("", &["", "/"]),
            ("?x", &["", "/"]),
        ] {
            let readings = all(path, PathReading::Every).unwrap();
            for one in some {
                assert!(readings.iter().any(|reading| reading == one), "{path:?} as {one:?}: {readings:?}");
            }
        }
    }

    #[test]
    fn a_reading_may_be_wanted_by_name() {
        for (path, rfc3986, decoded) in [
            ("/public/../admin", "/admin", "/admin"),
            ("/public/%2e%2e/admin", "/admin", "/admin"),
            ("/a%2F..%2Fb", "/a/../b", "/b"),
            ("//admin", "//admin", "//admin"),
            ("/a;b", "/a;b", "/a;b"),
        ] {
            assert_eq!(all(path, PathReading::Rfc3986), Ok(vec![rfc3986.to_owned()]), "{path:?}");
            assert_eq!(all(path, PathReading::Decoded), Ok(vec![decoded.to_owned()]), "{path:?}");
        }
    }

    #[test]
    fn what_nobody_can_read_is_said() {
        for (path, expected) in [
            ("/admin%00", BadPath::Nul),
            ("/admin\0", BadPath::Nul),
            ("/%", BadPath::BrokenEscape),
            ("/%2", BadPath::BrokenEscape),
            ("/%zz", BadPath::BrokenEscape),
            ("/%u002e", BadPath::BrokenEscape),
            ("/%ff", BadPath::NotUtf8),
            ("/%c0%ae", BadPath::NotUtf8),
            ("/a#b", BadPath::Fragment),
            ("/a#/../b?c", BadPath::Fragment),
            ("admin", BadPath::Relative),
            ("http://a/b", BadPath::Relative),
            ("\\admin", BadPath::Relative),
        ] {
            assert_eq!(all(path, PathReading::Every), Err(expected), "{path:?}");
        }
        let long = format!("/{}", "a/../".repeat(2000));
        assert_eq!(all(&long, PathReading::Every), Err(BadPath::TooManyReadings));
    }
}
