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
    all.extend(forms.texts().map(SmolStr::from));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work;

    fn all(path: &str, wanted: PathReading) -> Result<Vec<String>, BadPath> {
        let mut room = Readings::default();
        Ok(match read(path, wanted, &mut room)? {
            ReadPath::One(one) => vec![one.to_owned()],
            ReadPath::Several(several) => several.iter().map(ToString::to_string).collect(),
        })
    }

    #[test]
    fn s1_a_path_that_is_given_up_leaves_nothing_for_the_next() {
        let (first, second) = ("/a/..%2fb", "/c/..%2fd;x/%5c");
        let mut room = Readings::default();
        let mut read_of = |path: &str| match read(path, PathReading::Every, &mut room) {
            Ok(ReadPath::Several(several)) => several.to_vec(),
            _ => Vec::new(),
        };
        let expected = read_of(first);
        assert!(!expected.is_empty());
        let given_up = work::Work::of_steps(2).during(|| read_of(second));
        assert_eq!(given_up, Err(work::Unfinished::OutOfSteps));
        assert_eq!(read_of(first), expected);
    }

    /// Every reading by texts alone, as often as there are forms.
    fn naive_readings(path: &str) -> Result<Vec<String>, BadPath> {
        let mut forms = vec![path.to_owned()];
        let (mut next, mut length) = (0, path.len());
        while next < forms.len() {
            for step in Step::ALL {
                let Some(form) = step.take(&forms[next])? else { continue };
                if !forms.contains(&form) {
                    length += form.len();
                    if forms.len() == MOST_FORMS || length > MOST_TEXT {
                        return Err(BadPath::TooManyReadings);
                    }
                    forms.push(form);
                }
            }
            next += 1;
        }
        let mut readings: Vec<String> = Vec::new();
        for form in forms {
            let reading = Step::DecodesAll.take(&form)?.unwrap_or(form);
            if !readings.contains(&reading) {
                readings.push(reading);
            }
        }
        Ok(readings)
    }

    /// Paths of so many parts at most, plain and tricky ones.
    fn random_paths(count: usize, most_parts: u64) -> impl Iterator<Item = String> {
        const PARTS: [&str; 40] = [
            "/",
            "/",
            "/",
            "/a",
            "/a/b",
            "/c/",
            "//",
            "a",
            "b",
            ".",
            "..",
            "/../",
            "/..",
            ";",
            ";x",
            "%2f",
            "%2F",
            "%5c",
            "\\",
            "%3b",
            "%2e",
            "%25",
            "%2525",
            "%20",
            " ",
            "?",
            "%3f",
            "%23",
            "\t",
            "%09",
            "%ff",
            "%25ff",
            "%e0%a4%a0",
            "ठ",
            "é",
            "%c3%a9",
            "%25c0",
            "%2500",
            "%",
            "%2e%2E",
        ];
        let mut random = 7_u64;
        let mut below = move |bound: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % bound
        };
        (0..count).map(move |_| {
            let parts = below(most_parts);
            (0..parts).fold("/".to_owned(), |path, _| path + PARTS[usize::try_from(below(40)).unwrap()])
        })
    }

    #[test]
    fn p37_forms_in_pieces_are_those_of_texts() {
        let (mut several, mut refused, mut forms) = (0, 0, Forms::default());
        for path in random_paths(12_000, 14) {
            let own = forms.read(&path).map(|()| forms.texts().collect::<Vec<_>>());
            let naive = naive_readings(&path);
            several += usize::from(naive.as_ref().is_ok_and(|readings| readings.len() > 1));
            refused += usize::from(naive.is_err());
            assert_eq!(own, naive, "{path:?}");
        }
        assert!(several > 4_000 && refused > 500, "{several} {refused}");
    }

    /// Steps are pieces that were looked at, and texts that were kept. Reading a path as it is takes about one for each letter.
    #[test]
    fn p37_tricks_cost_what_is_different_in_them() {
        let nested = |count: usize| format!("/%{}41/..;x/%2e%2e0", "25".repeat(count));
        for path in [
            format!("/{}..%2f;x/%5c//%3f0", "a/".repeat(100)),
            format!("/..%2f;x/%5c//%3f0/{}", "a/".repeat(100)),
            format!("/{}..%2f;x/%5c/{}", "a/".repeat(50), "a/".repeat(50)),
            nested(90),
        ] {
            let mut forms = Forms::default();
            let _ = forms.read(&path);
            assert!(forms.steps() <= 30 * path.len(), "{} steps for {} letters: {path}", forms.steps(), path.len());
        }
        // A longer row of plain segments costs its letters once, and not for each form.
        let steps = |count: usize| {
            let mut forms = Forms::default();
            let _ = forms.read(&format!("/{}..%2f;x/%5c//%3f0", "a/".repeat(count)));
            forms.steps()
        };
        assert!(steps(300) - steps(100) <= 200, "{} {}", steps(300), steps(100));
    }

    #[test]
    fn p37_one_step_over_pieces_is_that_over_texts() {
        let mut forms = Forms::default();
        for path in random_paths(4_000, 10) {
            for step in Step::ALL {
                let own = forms.read_one(&path, step, Decoding::Done).map(|()| forms.texts().next().unwrap());
                assert_eq!(
                    own,
                    step.take(&path).map(|taken| taken.unwrap_or_else(|| path.clone())),
                    "{path:?} {step:?}"
                );
            }
        }
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
            ("./admin", BadPath::Relative),
            (".admin", BadPath::Relative),
            ("..", BadPath::Relative),
            ("http://a/b", BadPath::Relative),
            ("\\admin", BadPath::Relative),
        ] {
            assert_eq!(all(path, PathReading::Every), Err(expected), "{path:?}");
        }
        assert_eq!(all("/%2500", PathReading::Every), Err(BadPath::Nul));
        assert_eq!(all("/%25c0%25ae", PathReading::Every), Err(BadPath::NotUtf8));
    }

    #[test]
    fn a_path_with_too_many_readings_is_not_read() {
        let long = format!("/{}", "a/../".repeat(20_000));
        assert_eq!(all(&long, PathReading::Every), Err(BadPath::TooManyReadings));
        let forms = "/a/..;/..%3b/..%253b/..\\..%5c..%255c/..%2f..%252f%2e./%252e%2e/x";
        assert_eq!(all(forms, PathReading::Every), Err(BadPath::TooManyReadings));
        let nested = format!("/%{}41", "25".repeat(1000));
        assert_eq!(all(&nested, PathReading::Every), Err(BadPath::TooManyReadings));
        // What is only long is read.
        let plain = format!("/{}", "%C3%A9".repeat(20_000));
        assert!(all(&plain, PathReading::Every).is_ok());
    }

    /// The short cut sees every letter that matters, wherever it stands in paths of every length.
    #[test]
    fn what_a_step_changes_is_not_plain_at_any_place() {
        for length in 1..60 {
            let plain = format!("/{}", "b".repeat(length));
            assert!(is_plain(&plain), "{plain}");
            for (before, after) in (1..=length).filter_map(|place| plain.split_at_checked(place)) {
                for letters in ["%41", "\\", ";", "?", "#", "\0", "\n", "//", "/.", "/./", "/../"] {
                    let path = format!("{before}{letters}{after}");
                    assert!(!is_plain(&path), "{path:?}");
                }
                for letters in ["/", ".", "~", "\u{e4}", " ", "b..", ".b/", "@:!$&'()*+,="] {
                    let path = format!("{before}b{letters}{after}");
                    assert_eq!(is_plain(&path), !path.ends_with(' '), "{path:?}");
                }
            }
        }
        for path in ["", "b", "./b", "//", "/.", "/ ", "b/c"] {
            assert!(!is_plain(path), "{path:?}");
        }
        assert!(is_plain("/"));
    }
}
