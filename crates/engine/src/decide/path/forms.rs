//! The forms that a path takes under the steps of its readers.
//!
//! A form is a list of numbers of [`Pieces`]: what it costs follows the pieces that are different, and not the letters of all forms.

use std::ops::Range;

use smol_str::SmolStr;

use super::pieces::{Bytes, Change, Piece, Pieces};
use super::steps::{Contents, Dots, Slashes, Step, ascii};
use super::{BadPath, MOST_FORMS, MOST_TEXT};
use crate::order::number;
use crate::work;

/// What each step takes besides the pieces that it looks at.
const EFFORT_OF_A_STEP: usize = 4;
/// So many letters are kept as fast as one piece is looked at.
const LETTERS_OF_A_PIECE: usize = 8;
/// Any path may take this: some twenty forms, each with a few segments that steps change.
const LEAST_EFFORT: usize = 400;
const EFFORT_OF_A_LETTER: usize = 4;
/// Readings together may be so many times as long as the path, and a little more: policies are held against all of them.
const MOST_TIMES: usize = 10;
const MOST_MORE: usize = 256;

/// Room for the forms of one path.
#[derive(Debug, Default)]
pub(super) struct Forms {
    pieces: Pieces,
    /// All forms on the way.
    all: Lists,
    /// What they are, decoded.
    readings: Lists,
    /// The form that is made.
    next: Vec<Piece>,
    /// The form that it is made of.
    given: Vec<Piece>,
    /// What it took so far, in pieces that were looked at.
    effort: usize,
}

/// Lists of pieces, each once. What stands in a list begins with a slash, and so does each of its pieces but the first.
#[derive(Debug, Default)]
struct Lists {
    pieces: Vec<Piece>,
    all: Vec<List>,
    /// By hash, with one more than the number of the list.
    slots: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
struct List {
    start: u32,
    end: u32,
    hash: u64,
    /// The step that led to it first.
    by: Option<Step>,
}

/// Whether a step did something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Taken {
    Something,
    Nothing,
}

impl From<bool> for Taken {
    fn from(has_changed: bool) -> Self {
        if has_changed { Self::Something } else { Self::Nothing }
    }
}

impl Lists {
    /// More than twice as many as there are forms.
    const SLOTS: usize = 256;

    fn clear(&mut self) {
        self.pieces.clear();
        self.all.clear();
        self.slots.clear();
        self.slots.resize(Self::SLOTS, 0);
    }

    fn range(&self, list: usize) -> Option<Range<usize>> {
        self.all.get(list).map(|list| list.start as usize..list.end as usize)
    }

    fn get(&self, list: usize) -> &[Piece] {
        self.range(list).and_then(|range| self.pieces.get(range)).unwrap_or_default()
    }

    /// Where a list belongs that is not there yet.
    fn place(&self, pieces: &[Piece]) -> Option<(usize, u64)> {
        let hash = pieces
            .iter()
            .fold(0_u64, |hash, piece| (hash.rotate_left(5) ^ piece.number()).wrapping_mul(0x517c_c1b7_2722_0a95));
        let mut place = (hash >> 56) as usize;
        loop {
            let list = match self.slots.get(place % Self::SLOTS) {
                Some(0) | None => return Some((place % Self::SLOTS, hash)),
                Some(list) => usize::from(*list) - 1,
            };
            if self.all.get(list).is_some_and(|known| known.hash == hash) && are_same(self.get(list), pieces) {
                return None;
            }
            place += 1;
        }
    }

    fn put(&mut self, pieces: &[Piece], (place, hash): (usize, u64), by: Option<Step>) {
        let start = number(self.pieces.len());
        self.pieces.extend_from_slice(pieces);
        self.all.push(List { start, end: number(self.pieces.len()), hash, by });
        if let (Some(slot), Ok(list)) = (self.slots.get_mut(place), u8::try_from(self.all.len())) {
            *slot = list;
        }
    }
}

impl Forms {
    /// What it took to read the last path, in pieces that were looked at and letters that were kept.
    pub(super) fn effort(&self) -> usize {
        self.effort + self.pieces.letters() / LETTERS_OF_A_PIECE
    }

    /// The most effort that a path of this length may take.
    pub(super) fn most_effort(path: &str) -> usize {
        LEAST_EFFORT + EFFORT_OF_A_LETTER * path.len()
    }

    /// The most bytes that all readings of a path may have together.
    pub(super) fn most_read(path: &str) -> usize {
        MOST_TIMES * path.len() + MOST_MORE
    }

    /// Every form of a path, by all steps in all orders, decoded at last. Where there are too many, or they take too much, the work ends
    /// at once.
    pub(super) fn read(&mut self, path: &str) -> Result<(), BadPath> {
        self.start(path);
        let most_effort = Self::most_effort(path);
        let mut length = path.len();
        let mut form = 0;
        while form < self.all.all.len() {
            work::step();
            let contents = self.give(form);
            let by = self.all.all.get(form).and_then(|form| form.by);
            for step in Step::worth_it(contents).filter(|step| by.is_none_or(|by| !step.is_known_after(by))) {
                let taken = self.take(step)?;
                if self.effort() > most_effort {
                    return Err(BadPath::TooManyReadings);
                }
                if taken == Taken::Nothing {
                    continue;
                }
                let Some(place) = self.all.place(&self.next) else { continue };
                length += self.length();
                if self.all.all.len() == MOST_FORMS || length > MOST_TEXT {
                    return Err(BadPath::TooManyReadings);
                }
                self.all.put(&self.next, place, Some(step));
            }
            form += 1;
        }
        let mut length = 0;
        for form in 0..self.all.all.len() {
            self.give(form);
            if self.decode()? == Taken::Something {
                length += self.length();
            }
            if self.effort() > most_effort || length > Self::most_read(path) {
                return Err(BadPath::TooManyReadings);
            }
        }
        Ok(())
    }

    /// The form that a path takes by one step, decoded.
    pub(super) fn read_one(&mut self, path: &str, step: Step, decoding: Decoding) -> Result<(), BadPath> {
        self.start(path);
        self.give(0);
        if self.take(step)? == Taken::Something {
            std::mem::swap(&mut self.given, &mut self.next);
        }
        match decoding {
            Decoding::Last => self.decode().map(drop),
            Decoding::Done => {
                if let Some(place) = self.readings.place(&self.given) {
                    self.readings.put(&self.given, place, None);
                }
                Ok(())
            }
        }
    }

    /// Adds what was read, as texts.
    pub(super) fn add_texts(&self, texts: &mut Vec<SmolStr>) {
        let mut text = String::new();
        for reading in 0..self.readings.all.len() {
            text.clear();
            for piece in self.readings.get(reading) {
                text.push('/');
                text.push_str(self.pieces.text(*piece));
            }
            texts.push(SmolStr::new(&text));
        }
    }

    /// The path, which begins with a slash.
    fn start(&mut self, path: &str) {
        self.pieces.clear();
        self.all.clear();
        self.readings.clear();
        self.next.clear();
        self.pieces.add_path(path.strip_prefix('/').unwrap_or(path), &mut self.next);
        if let Some(place) = self.all.place(&self.next) {
            self.all.put(&self.next, place, None);
        }
        self.effort = 0;
    }

    /// Makes a form the one that steps are done to; what there is in it.
    fn give(&mut self, form: usize) -> Contents {
        self.given.clear();
        self.given.extend_from_slice(self.all.get(form));
        let Some((last, before)) = self.given.split_last() else { return Contents::default() };
        let host = match self.given.as_slice() {
            [first, second, _, ..] if first.has(Contents::EMPTY) && second.has(Contents::EMPTY) => {
                Contents::HOST.with(Contents::FAR_HOST)
            }
            [first, _, ..] if first.has(Contents::EMPTY) => Contents::HOST,
            _ => Contents::default(),
        };
        let inside = before.iter().fold(Contents::default(), |all, piece| all.with(piece.contents));
        let mut all = inside.with(last.contents).with(host);
        for (is_so, contents) in [
            (inside.has(Contents::EMPTY), Contents::SLASHES),
            (inside.has(Contents::SEMICOLON), Contents::MORE_PARAMETERS),
            (last.has(Contents::DOTS), Contents::LAST_DOTS),
        ] {
            if is_so {
                all = all.with(contents);
            }
        }
        all
    }

    /// How many bytes the form has that was made.
    fn length(&self) -> usize {
        self.next.iter().map(|piece| self.pieces.length(*piece) + 1).sum()
    }

    /// Policies name things without escapes. Whether there is one reading more.
    fn decode(&mut self) -> Result<Taken, BadPath> {
        self.take(Step::DecodesAll)?;
        let Some(place) = self.readings.place(&self.next) else { return Ok(Taken::Nothing) };
        self.readings.put(&self.next, place, None);
        Ok(Taken::Something)
    }

    /// Does a step to the form that is given.
    fn take(&mut self, step: Step) -> Result<Taken, BadPath> {
        let Self { pieces, next, given, effort, .. } = self;
        *effort += EFFORT_OF_A_STEP + given.len();
        next.clear();
        Ok(match step {
            Step::DecodesAll => return each(pieces, Change::DecodesAll, given, next),
            Step::DecodesAllBut(kept) => return each(pieces, Change::DecodesAllBut(ascii(kept)), given, next),
            Step::Decodes(wanted) => return each(pieces, Change::Decodes(ascii(wanted)), given, next),
            Step::TakesBackslashesForSlashes => {
                return each(pieces, Change::TakesBackslashesForSlashes, given, next);
            }
            Step::CutsParameters => return each(pieces, Change::EndsAt(b';'), given, next),
            Step::CutsLastParameters => match given.split_last() {
                Some((last, before)) if last.has(Contents::SEMICOLON) => {
                    next.extend_from_slice(before);
                    pieces.add_changed(Change::EndsAt(b';'), *last, next);
                    Taken::Something
                }
                _ => Taken::Nothing,
            },
            Step::EndsAt(end) => {
                let end = ascii(end);
                let wanted = Contents::of(end);
                let found = given.iter().position(|piece| piece.has(wanted));
                let Some((before, [piece, ..])) = found.and_then(|found| given.split_at_checked(found)) else {
                    return Ok(Taken::Nothing);
                };
                next.extend_from_slice(before);
                pieces.add_changed(Change::EndsAt(end), *piece, next);
                Taken::Something
            }
            Step::RemovesDots(dots) => without_dots(pieces, dots, given, next),
            Step::MergesSlashes => {
                let last = given.len().saturating_sub(1);
                for (place, piece) in given.iter().enumerate() {
                    if place == last || !piece.has(Contents::EMPTY) {
                        pieces.add(*piece, next);
                    }
                }
                Taken::from(next.len() < given.len())
            }
            Step::CutsHost(slashes) => without_host(pieces, slashes, given, next),
            Step::DropsBlanks => without_blanks(pieces, given, next),
        })
    }
}

/// Whether two forms are the same, told without a branch for each piece.
fn are_same(one: &[Piece], other: &[Piece]) -> bool {
    let differing = || one.iter().zip(other).fold(0, |found, (one, other)| found | (one.number() ^ other.number()));
    one.len() == other.len() && differing() == 0
}

/// Whether a form is still to be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decoding {
    Done,
    Last,
}

/// Does a change to each piece.
fn each(pieces: &mut Pieces, change: Change, given: &[Piece], next: &mut Vec<Piece>) -> Result<Taken, BadPath> {
    let changes = change.changes();
    let mut bytes = Bytes::default();
    let same = given.iter().take_while(|piece| !piece.has(changes)).count();
    let (same, changed) = given.split_at_checked(same).unwrap_or_default();
    next.extend_from_slice(same);
    for piece in changed {
        if piece.has(changes) {
            bytes = bytes.with(pieces.add_changed(change, *piece, next));
        } else {
            pieces.add(*piece, next);
        }
    }
    // An unbroken piece matters only beside a broken one.
    if bytes.is_broken {
        let unchanged = given.iter().filter(|piece| !piece.has(changes));
        bytes.has_lead |= unchanged.map(|piece| piece.contents).any(|contents| contents.has(Contents::LEAD));
    }
    bytes.read()?;
    Ok(Taken::from(!changed.is_empty()))
}

/// As RFC 3986 has it; nothing is above the root.
fn without_dots(pieces: &mut Pieces, dots: Dots, given: &[Piece], next: &mut Vec<Piece>) -> Taken {
    let wanted = match dots {
        Dots::Plain | Dots::WithoutSlash => Contents::DOTS,
        Dots::Escaped => Contents::DOTS.with(Contents::ESCAPED_DOTS),
    };
    let last = given.len().saturating_sub(1);
    let mut taken = Taken::Nothing;
    for (place, piece) in given.iter().enumerate() {
        if !piece.has(wanted) {
            pieces.add(*piece, next);
            continue;
        }
        taken = Taken::Something;
        if piece.has(Contents::PARENT) {
            pieces.remove_last(next);
        }
        // `/a/.` and `/a/b/..` are the folder `/a/`; of the root, the slash is all that there is.
        if place == last && (dots != Dots::WithoutSlash || next.is_empty()) {
            pieces.add_nothing(next);
        }
    }
    taken
}

fn without_host(pieces: &mut Pieces, slashes: Slashes, given: &[Piece], next: &mut Vec<Piece>) -> Taken {
    let after = match given {
        [first, after @ ..] if first.has(Contents::EMPTY) && !after.is_empty() => after,
        _ => return Taken::Nothing,
    };
    let host = match slashes {
        Slashes::Two => 0,
        Slashes::All => after.iter().take_while(|piece| piece.has(Contents::EMPTY)).count(),
    };
    if let Some((host, rest)) = after.get(host..).and_then(<[Piece]>::split_first) {
        next.extend(pieces.after_first(*host));
        for piece in rest {
            pieces.add(*piece, next);
        }
    }
    if next.is_empty() {
        pieces.add_nothing(next);
    }
    Taken::Something
}

/// Blanks at the end, and tabs and ends of lines everywhere.
fn without_blanks(pieces: &mut Pieces, given: &[Piece], next: &mut Vec<Piece>) -> Taken {
    let Some((last, before)) = given.split_last() else { return Taken::Nothing };
    let kept = pieces.text(*last).trim_end_matches(|character: char| character <= ' ').len();
    let mut left = before.to_vec();
    if kept < pieces.text(*last).len() {
        pieces.add_start(*last, kept, &mut left);
    } else {
        left.push(*last);
    }
    for piece in left {
        if piece.has(Contents::BLANK) {
            pieces.add_changed(Change::DropsBlanks, piece, next);
        } else {
            pieces.add(piece, next);
        }
    }
    Taken::from(next != given)
}
