//! How the path of a request is read.
//!
//! Browsers, proxies and services do not read all paths alike: some take `%2F` for a slash, some `\`, some cut off `;…`, some remove dot
//! segments or the second of two slashes, some decode twice. A path that all of them read alike has one reading. Of any other, a policy
//! matches for sure only if it matches every reading, and fails to match for sure only if it matches none.
//!
//! A reader is a sequence of small [`mod@steps`], and so is a proxy with a service behind it. All sequences are tried: what is found is closed
//! under every step, so no reader that is made of these steps has a reading of its own, however many of them stand in a row. A step takes
//! only what is written in one form, so a path in which an escaped character stands beside the plain one is read in either way, too.
//!
//! What forms of a path have in common is looked at once: they are put together of [`mod@pieces`] that each step changes once.
//!
//! What has no reading (a broken escape, bytes that are not UTF-8, a NUL, no slash at the beginning) is not known.

mod forms;
#[cfg(test)]
mod naive;
mod pieces;
mod steps;
#[cfg(test)]
mod tests;

use smol_str::SmolStr;

use forms::{Decoding, Forms};
use steps::{Dots, Step};

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
    /// It can be read in more ways than are looked at.
    TooManyReadings,
    /// It is longer than texts may be that are held against patterns.
    TooLong,
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
            Self::TooManyReadings => "can be read in too many ways",
            Self::TooLong => "is longer than the patterns here can be held against",
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

/// Room for readings, kept from request to request. A path is read once, however often a decision asks for its readings.
#[derive(Debug, Default)]
pub struct Readings {
    all: Vec<SmolStr>,
    last: Option<LastRead>,
    forms: Forms,
}

/// The path whose readings are kept.
#[derive(Debug)]
struct LastRead {
    path: SmolStr,
    wanted: PathReading,
    outcome: Result<(), BadPath>,
}

/// A path that can be read.
pub(super) enum ReadPath<'p> {
    /// In one way.
    One(&'p str),
    /// In several ways, each once.
    Several(&'p [SmolStr]),
}

/// The most forms that a path may take on its way, and how long they may be together, in bytes.
pub(super) const MOST_FORMS: usize = 96;
const MOST_TEXT: usize = 1 << 16;

/// All readings of a path, or the one that is wanted.
pub(super) fn read<'p>(path: &'p str, wanted: PathReading, room: &'p mut Readings) -> Result<ReadPath<'p>, BadPath> {
    if is_plain(path) {
        return Ok(ReadPath::One(path));
    }
    // A query is no part of a path, whoever passes it on.
    let path = path.split('?').next().unwrap_or_default();
    if path.contains('#') {
        return Err(BadPath::Fragment);
    }
    let Readings { all, last, forms } = room;
    match path.as_bytes().first() {
        Some(b'/') => {}
        // Whoever asks for no path at all gets the root, from most.
        None => {
            *last = None;
            all.clear();
            all.extend(["", "/"].map(SmolStr::new_static));
            return Ok(ReadPath::Several(all));
        }
        // What `OPTIONS` asks of a whole server.
        _ if path == "*" => return Ok(ReadPath::One("*")),
        _ => return Err(BadPath::Relative),
    }
    let known = last.as_ref().filter(|last| last.path == path && last.wanted == wanted).map(|last| last.outcome);
    let outcome = known.unwrap_or_else(|| {
        all.clear();
        // A reader that gives up in between leaves no readings of one path for those of another.
        drop(last.take());
        let outcome = read_anew(path, wanted, all, forms);
        *last = Some(LastRead { path: path.into(), wanted, outcome });
        outcome
    });
    outcome?;
    match all.as_slice() {
        [one] => Ok(ReadPath::One(one)),
        several => Ok(ReadPath::Several(several)),
    }
}

fn read_anew(path: &str, wanted: PathReading, all: &mut Vec<SmolStr>, forms: &mut Forms) -> Result<(), BadPath> {
    let decoded = decode(path)?;
    match wanted {
        _ if is_plain(&decoded) => {
            all.push(decoded.into());
            return Ok(());
        }
        PathReading::Every => forms.read(path)?,
        PathReading::Rfc3986 => forms.read_one(path, Step::RemovesDots(Dots::Escaped), Decoding::Last)?,
        PathReading::Decoded => forms.read_one(&decoded, Step::RemovesDots(Dots::Plain), Decoding::Done)?,
    }
    forms.add_texts(all);
    Ok(())
}

/// About how many steps it takes to read a path: forms and bytes.
pub(super) fn steps(path: &str) -> usize {
    if is_plain(path) { 0 } else { MOST_FORMS + path.len().min(MOST_TEXT) }
}

/// Most paths are read as they are: they begin with a slash, and there is nothing that any step would change. Every request comes through
/// here, so letters are looked at many at a time.
fn is_plain(path: &str) -> bool {
    let bytes = path.as_bytes();
    if bytes.first() != Some(&b'/') || bytes.last() == Some(&b' ') {
        return false;
    }
    let Some(end) = bytes.last_chunk() else { return !any_changes(&padded(bytes)) };
    let windows = bytes.windows(LETTERS).step_by(LETTERS - 1).filter_map(<[u8]>::first_chunk);
    !windows.fold(any_changes(end), |found, window| found | any_changes(window))
}

/// As many letters as are looked at together: each but the first with the one before it.
const LETTERS: usize = 17;

fn padded(short: &[u8]) -> [u8; LETTERS] {
    let mut letters = [b'a'; LETTERS];
    for (letter, byte) in letters.iter_mut().zip(short) {
        *letter = *byte;
    }
    letters
}

/// Whether a step would change any of these letters but the first.
fn any_changes(letters: &[u8; LETTERS]) -> bool {
    const OTHERS: usize = LETTERS - 1;
    let (Some(before), Some(at)) = (letters.first_chunk::<OTHERS>(), letters.last_chunk::<OTHERS>()) else {
        return true;
    };
    before.iter().zip(at).fold(0, |found, (before, at)| found | changes(*before, *at)) != 0
}

/// Not zero if a step would change a letter after another. In numbers, because they compile to a few wide instructions without a branch.
fn changes(before: u8, at: u8) -> u8 {
    let is = |letter: u8| u8::from(at == letter);
    let anywhere = u8::from(at < b' ') | is(b'%') | is(b'\\') | is(b';') | is(b'?') | is(b'#');
    anywhere | (u8::from(before == b'/') & (is(b'/') | is(b'.')))
}

/// The path as a client means it. What is broken here was sent by nobody who means well.
fn decode(path: &str) -> Result<String, BadPath> {
    let mut decoded = Vec::with_capacity(path.len());
    let mut bytes = path.bytes();
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
