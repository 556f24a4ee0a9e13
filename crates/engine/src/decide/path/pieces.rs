//! The pieces of which all forms of a path are put together, each kept once: a segment that some step changes, or several in a row that no
//! step does. So a step changes a piece once, in however many forms it stands, and two forms are equal if the numbers of their pieces are.

use std::hash::Hasher;

use hashbrown::HashTable;
use rustc_hash::{FxHashMap, FxHasher};

use super::steps::{Contents, Dots, escaped};
use super::{BadPath, LETTERS, any_changes};
use crate::order::number;

/// No number.
const NONE: u32 = u32::MAX;

/// All pieces so far.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    texts: String,
    all: Vec<Kept>,
    known: HashTable<u32>,
    /// Rows of segments that came to stand side by side.
    joined: FxHashMap<(u32, u32), Piece>,
    /// A segment of nothing, once there was one.
    nothing: Option<Piece>,
    changed: Vec<Changed>,
    /// What changes lead to.
    results: Vec<Piece>,
    /// Room for a text that is changed.
    bytes: Vec<u8>,
    /// Room for what becomes of it.
    own: Vec<Piece>,
}

/// A piece as it stands in forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    number: u32,
    pub(super) contents: Contents,
}

impl Piece {
    pub(super) fn has(self, wanted: Contents) -> bool {
        self.contents.has(wanted)
    }

    /// What makes forms differ.
    pub(super) fn number(self) -> u64 {
        self.number.into()
    }
}

#[derive(Clone, Copy, Debug)]
struct Kept {
    start: usize,
    end: usize,
    /// Where it is kept what each change makes of it.
    changed: [u32; Change::COUNT],
    /// What is left without the last segment of a row.
    shorter: u32,
}

/// A change of one piece by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// Every escape is decoded.
    DecodesAll,
    /// Every escape but those of this one.
    DecodesAllBut(u8),
    /// Escapes of this one.
    Decodes(u8),
    TakesBackslashesForSlashes,
    /// It ends at the first of these.
    EndsAt(u8),
    DropsBlanks,
}

/// What a change makes of a piece.
#[derive(Clone, Copy, Debug)]
struct Changed {
    start: usize,
    end: usize,
    bytes: Bytes,
}

/// What was found while escapes were decoded.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bytes {
    pub(super) has_nul: bool,
    pub(super) is_broken: bool,
    /// A first byte of a character that others may be written as, too long.
    pub(super) has_lead: bool,
}

impl Bytes {
    pub(super) fn with(self, other: Self) -> Self {
        Self {
            has_nul: self.has_nul || other.has_nul,
            is_broken: self.is_broken || other.is_broken,
            has_lead: self.has_lead || other.has_lead,
        }
    }

    /// Whether they can be read. Some take an overlong form of a character for the character; else slashes and dots are where they are,
    /// whatever the other bytes mean.
    pub(super) fn read(self) -> Result<(), BadPath> {
        match self {
            Self { has_nul: true, .. } => Err(BadPath::Nul),
            Self { is_broken: true, has_lead: true, .. } => Err(BadPath::NotUtf8),
            _ => Ok(()),
        }
    }
}

impl Change {
    const COUNT: usize = 12;

    fn place(self) -> usize {
        match self {
            Self::DecodesAll => 0,
            Self::DecodesAllBut(b'%') => 1,
            Self::DecodesAllBut(_) => 2,
            Self::Decodes(b'/') => 3,
            Self::Decodes(b'\\') => 4,
            Self::Decodes(b';') => 5,
            Self::Decodes(_) => 6,
            Self::TakesBackslashesForSlashes => 7,
            Self::EndsAt(b';') => 8,
            Self::EndsAt(b'?') => 9,
            Self::EndsAt(_) => 10,
            Self::DropsBlanks => 11,
        }
    }

    /// A piece without any of these stays as it is.
    pub(super) fn changes(self) -> Contents {
        match self {
            Self::DecodesAll => Contents::ALL_ESCAPES,
            Self::DecodesAllBut(kept) => Contents::ALL_ESCAPES.without(Contents::escape(kept)),
            Self::Decodes(wanted) => Contents::escape(wanted),
            Self::TakesBackslashesForSlashes => Contents::BACKSLASH,
            Self::EndsAt(end) => Contents::of(end),
            Self::DropsBlanks => Contents::BLANK,
        }
    }

    /// The same change for a piece of such contents, by its simplest name.
    fn on(self, contents: Contents) -> Self {
        let is_of_all = match self {
            Self::DecodesAllBut(kept) => !contents.has(Contents::escape(kept)),
            Self::Decodes(wanted) => contents.escapes().has_only(Contents::escape(wanted)),
            _ => false,
        };
        if is_of_all { Self::DecodesAll } else { self }
    }

    fn is_wanted(self, byte: u8) -> bool {
        match self {
            Self::DecodesAll => true,
            Self::DecodesAllBut(kept) => byte != kept,
            Self::Decodes(wanted) => byte == wanted,
            _ => false,
        }
    }
}

impl Pieces {
    /// Forgets all.
    pub(super) fn clear(&mut self) {
        let Self { texts, all, known, joined, nothing, changed, results, bytes: _, own: _ } = self;
        *nothing = None;
        texts.clear();
        all.clear();
        known.clear();
        joined.clear();
        changed.clear();
        results.clear();
    }

    /// How many letters are kept.
    pub(super) fn letters(&self) -> usize {
        self.texts.len()
    }

    pub(super) fn text(&self, piece: Piece) -> &str {
        self.kept(piece).and_then(|kept| self.texts.get(kept.start..kept.end)).unwrap_or_default()
    }

    /// How many bytes it has.
    pub(super) fn length(&self, piece: Piece) -> usize {
        self.kept(piece).map_or(0, |kept| kept.end - kept.start)
    }

    fn kept(&self, piece: Piece) -> Option<&Kept> {
        self.all.get(piece.number as usize)
    }

    /// Adds the pieces of a path, which may be a long row: that is looked through many letters at a time.
    pub(super) fn add_path(&mut self, path: &str, to: &mut Vec<Piece>) {
        let plain = plain_row(path);
        let (row, rest) = path.split_at_checked(plain).unwrap_or_default();
        if let Some(row) = row.strip_suffix('/') {
            self.add_piece(row, Contents::PLAIN, to);
        }
        self.add_text(rest, to);
    }

    /// Adds the piece of nothing.
    pub(super) fn add_nothing(&mut self, to: &mut Vec<Piece>) {
        let nothing = self.nothing.unwrap_or_else(|| self.piece("", Contents::EMPTY));
        self.nothing = Some(nothing);
        to.push(nothing);
    }

    /// Adds the pieces of a text between slashes.
    pub(super) fn add_text(&mut self, text: &str, to: &mut Vec<Piece>) {
        let mut row: Option<usize> = None;
        let mut start = 0;
        loop {
            let (contents, end) = contents_of(text, start);
            if contents == Contents::PLAIN {
                row = row.or(Some(start));
            } else {
                if let Some(row) = row.take().and_then(|row| text.get(row..start - 1)) {
                    self.add_piece(row, Contents::PLAIN, to);
                }
                self.add_piece(text.get(start..end).unwrap_or_default(), contents, to);
            }
            start = end + 1;
            if end == text.len() {
                break;
            }
        }
        if let Some(row) = row.and_then(|row| text.get(row..)) {
            self.add_piece(row, Contents::PLAIN, to);
        }
    }

    fn add_piece(&mut self, text: &str, contents: Contents, to: &mut Vec<Piece>) {
        let piece = self.piece(text, contents);
        self.add(piece, to);
    }

    /// Adds a piece. Rows that come to stand side by side become one.
    #[inline]
    pub(super) fn add(&mut self, piece: Piece, to: &mut Vec<Piece>) {
        if piece.contents == Contents::PLAIN {
            self.add_row(piece, to);
        } else {
            to.push(piece);
        }
    }

    fn add_row(&mut self, row: Piece, to: &mut Vec<Piece>) {
        match to.last_mut() {
            Some(last) if last.contents == Contents::PLAIN => *last = self.join(*last, row),
            _ => to.push(row),
        }
    }

    fn join(&mut self, one: Piece, other: Piece) -> Piece {
        if let Some(known) = self.joined.get(&(one.number, other.number)) {
            return *known;
        }
        let text = [self.text(one), self.text(other)].join("/");
        let piece = self.piece(&text, Contents::PLAIN);
        self.joined.insert((one.number, other.number), piece);
        piece
    }

    fn piece(&mut self, text: &str, contents: Contents) -> Piece {
        let Self { texts, all, known, .. } = self;
        let hash = hash(text);
        let text_of = |piece: u32| all.get(piece as usize).and_then(|piece| texts.get(piece.start..piece.end));
        if let Some(known) = known.find(hash, |piece| text_of(*piece) == Some(text)) {
            return Piece { number: *known, contents };
        }
        let piece = number(all.len());
        known.insert_unique(hash, piece, |piece| text_of(*piece).map_or(0, self::hash));
        let start = texts.len();
        texts.push_str(text);
        let end = texts.len();
        all.push(Kept { start, end, changed: [NONE; Change::COUNT], shorter: NONE });
        Piece { number: piece, contents }
    }

    /// Takes the last segment away.
    pub(super) fn remove_last(&mut self, from: &mut Vec<Piece>) {
        let Some(last) = from.pop() else { return };
        if let Some(before) = self.before_last(last) {
            from.push(before);
        }
    }

    /// What is left of a piece without its last segment.
    fn before_last(&mut self, piece: Piece) -> Option<Piece> {
        let contents = Some(Contents::PLAIN).filter(|plain| piece.contents == *plain)?;
        let Kept { start, shorter, .. } = *self.kept(piece)?;
        if shorter != NONE {
            return Some(Piece { number: shorter, contents });
        }
        let end = memchr::memrchr(b'/', self.text(piece).as_bytes())?;
        let text = self.texts.get(start..start + end)?.to_owned();
        let shorter = self.piece(&text, contents);
        if let Some(kept) = self.all.get_mut(piece.number as usize) {
            kept.shorter = shorter.number;
        }
        Some(shorter)
    }

    /// What is left of a piece without its first segment.
    pub(super) fn after_first(&mut self, piece: Piece) -> Option<Piece> {
        let text = self.text(piece).split_once('/')?.1.to_owned();
        Some(self.piece(&text, Contents::PLAIN))
    }

    /// Adds what a change makes of a piece that it changes.
    pub(super) fn add_changed(&mut self, change: Change, piece: Piece, to: &mut Vec<Piece>) -> Bytes {
        let change = change.on(piece.contents);
        let place = change.place();
        let known = self.kept(piece).and_then(|kept| kept.changed.get(place)).copied();
        let known = known.and_then(|known| self.changed.get(known as usize)).copied();
        let Changed { start, end, bytes } = known.unwrap_or_else(|| {
            let changed = self.change(change, piece);
            let kept = number(self.changed.len());
            self.changed.push(changed);
            let places = self.all.get_mut(piece.number as usize).and_then(|piece| piece.changed.get_mut(place));
            if let Some(place) = places {
                *place = kept;
            }
            changed
        });
        for result in start..end {
            let Some(piece) = self.results.get(result).copied() else { break };
            self.add(piece, to);
        }
        bytes
    }

    fn change(&mut self, change: Change, piece: Piece) -> Changed {
        let mut bytes = std::mem::take(&mut self.bytes);
        bytes.clear();
        let mut found = Bytes::default();
        let text = self.text(piece);
        match change {
            Change::TakesBackslashesForSlashes => {
                bytes.extend(text.bytes().map(|byte| if byte == b'\\' { b'/' } else { byte }));
            }
            Change::EndsAt(end) => {
                let end = memchr::memchr(end, text.as_bytes()).unwrap_or(text.len());
                bytes.extend_from_slice(text.as_bytes().get(..end).unwrap_or_default());
            }
            Change::DropsBlanks => {
                bytes.extend(text.bytes().filter(|byte| !matches!(byte, b'\t' | b'\n' | b'\r')));
            }
            Change::DecodesAll | Change::DecodesAllBut(_) | Change::Decodes(_) => {
                found.has_nul = decode(text.as_bytes(), change, &mut bytes);
            }
        }
        let start = self.results.len();
        // What stood before is no neighbour.
        let mut own = std::mem::take(&mut self.own);
        match str::from_utf8(&bytes) {
            Ok(text) => {
                self.add_text(text, &mut own);
                found.has_lead = own.iter().any(|piece| piece.has(Contents::LEAD));
            }
            Err(_) => {
                found.is_broken = true;
                found.has_lead = bytes.iter().any(|byte| [0xc0, 0xc1, 0xe0, 0xf0].contains(byte));
                self.add_text(&String::from_utf8_lossy(&bytes), &mut own);
            }
        }
        self.results.append(&mut own);
        self.own = own;
        self.bytes = bytes;
        Changed { start, end: self.results.len(), bytes: found }
    }

    /// Adds the part of a piece that stands before a character, or without blanks at the end.
    pub(super) fn add_start(&mut self, piece: Piece, length: usize, to: &mut Vec<Piece>) {
        let start = self.text(piece).get(..length).unwrap_or_default().to_owned();
        self.add_text(&start, to);
    }
}

/// Decodes those escapes that are wanted, and says whether one was a NUL. What is no escape stays as it is.
fn decode(text: &[u8], change: Change, bytes: &mut Vec<u8>) -> bool {
    let mut rest = text;
    let mut has_nul = false;
    // What stands between escapes is copied as it is.
    while let Some(at) = memchr::memchr(b'%', rest) {
        let (before, escape) = rest.split_at(at);
        bytes.extend_from_slice(before);
        let (byte, length) = match escaped(escape) {
            Some(byte) if change.is_wanted(byte) => {
                has_nul |= byte == 0;
                (byte, 3)
            }
            _ => (b'%', 1),
        };
        bytes.push(byte);
        rest = escape.get(length..).unwrap_or_default();
    }
    bytes.extend_from_slice(rest);
    has_nul
}

fn hash(text: &str) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(text.as_bytes());
    hasher.finish()
}

/// How many bytes at the beginning of a text are surely whole plain segments, with a slash after each.
fn plain_row(text: &str) -> usize {
    let bytes = text.as_bytes();
    if matches!(bytes.first(), Some(b'/' | b'.')) {
        return 0;
    }
    let windows = bytes.windows(LETTERS).step_by(LETTERS - 1).filter_map(<[u8]>::first_chunk);
    let is_plain =
        |window: &&[u8; LETTERS]| !any_changes(window) && Contents::of_bytes(window.as_slice()) == Contents::default();
    let plain = windows.take_while(is_plain).count() * (LETTERS - 1);
    bytes.get(..plain).and_then(|plain| memchr::memrchr(b'/', plain)).map_or(0, |last| last + 1)
}

/// What there is in the segment of a text that begins here, and where it ends.
fn contents_of(text: &str, start: usize) -> (Contents, usize) {
    /// Shorter texts are looked through faster than a search begins.
    const SHORT: usize = 32;
    let rest = text.as_bytes().get(start..).unwrap_or_default();
    let length =
        if rest.len() < SHORT { rest.iter().position(|byte| *byte == b'/') } else { memchr::memchr(b'/', rest) };
    let end = start + length.unwrap_or(rest.len());
    let segment = text.get(start..end).unwrap_or_default();
    let mut contents = Contents::of_bytes(segment.as_bytes());
    if contents.has(Contents::PERCENT) {
        let escapes = memchr::memchr_iter(b'%', segment.as_bytes());
        let bytes = escapes.filter_map(|at| segment.as_bytes().get(at..).and_then(escaped));
        contents = bytes.fold(contents, |contents, byte| contents.with(Contents::escape(byte)));
    }
    if contents.has(Contents::SEMICOLON) && memchr::memchr_iter(b';', segment.as_bytes()).count() > 1 {
        contents = contents.with(Contents::MORE_PARAMETERS);
    }
    let dots = match (Dots::Plain.count(segment), Dots::Escaped.count(segment)) {
        (Some(2), _) => Contents::DOTS.with(Contents::PARENT),
        (Some(_), _) => Contents::DOTS,
        (None, Some(2)) => Contents::ESCAPED_DOTS.with(Contents::PARENT),
        (None, Some(_)) => Contents::ESCAPED_DOTS,
        (None, None) => Contents::default(),
    };
    let nothing = if segment.is_empty() { Contents::EMPTY } else { Contents::default() };
    let contents = contents.with(dots).with(nothing);
    (if contents == Contents::default() { Contents::PLAIN } else { contents }, end)
}
